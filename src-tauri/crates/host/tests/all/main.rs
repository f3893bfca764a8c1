//! A host with its gateway, over real sockets, as programs of the same user see it.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "helpers of tests fail by panicking, as tests do"
)]

mod bad_input;
mod bench;
mod captured;
mod contract;
mod controls;
mod ends;
mod layers;
mod matrix;
mod model;
mod pushes;
mod rebuilt;
mod runs;
mod same;
mod served;
mod sessions;
mod shown;
mod streams;
mod telemetry;
