//! What the views hold, proved through the ledger and against a rebuild.

mod focus;
mod history;
mod rebuilding;
mod store;
mod views;
mod world;
