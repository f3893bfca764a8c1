//! The redactor's invariants.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking, as tests do"
)]

mod finding;
mod readings;
mod streaming;
mod support;
mod unnamed;
