//! The artifact store from outside: what it keeps, what it refuses to return, what a crash leaves.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "this whole crate is a test; clippy only knows those marked as one"
)]

mod chunks;
mod crashes;
mod garbage;
mod keeping;
mod racing;
mod world;
