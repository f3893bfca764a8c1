//! What came from what, under test.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that fails here says so"
)]

mod asking;
mod recalling;
mod tale;
