//! Chains of identities, under test.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that fails here says so"
)]

mod chain;
mod following;
mod signing;
