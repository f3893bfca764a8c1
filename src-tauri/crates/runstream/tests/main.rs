//! The run stream under test: what is written, replayed, mirrored, and left after a crash.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests make folders and threads, and a test that fails here says so"
)]

mod crash;
mod mirrors;
mod replay;
mod streams;
mod tale;
