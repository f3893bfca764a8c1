//! What is asked of the room as a whole.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on stops where it stands"
)]

mod harm;
mod models;
mod reading;
mod rooms;
mod verdicts;
mod world;
