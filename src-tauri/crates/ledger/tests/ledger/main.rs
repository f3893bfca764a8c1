//! The ledger from outside: what it takes, what it refuses, what survives, what verification finds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "this whole crate is a test; clippy only knows those marked as one"
)]

mod appending;
mod backups;
mod checkpoints;
mod crashes;
mod erasing;
mod fencing;
mod groups;
mod histories;
mod immutable;
mod opening;
mod ranges;
mod severing;
mod tampering;
mod world;
