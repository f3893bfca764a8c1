//! What the views hold, proved through the ledger and against a rebuild.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    reason = "a test that fails here says so"
)]

mod claims;
mod focus;
mod history;
mod rebuilding;
mod store;
mod told;
mod views;
mod way;
mod withheld;
mod world;
