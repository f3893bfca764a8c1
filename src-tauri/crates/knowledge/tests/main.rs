//! What is held true, under test.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that fails here says so"
)]

mod answers;
mod cited;
mod kit;
mod layers;
mod mutated;
mod pack;
mod soul;
