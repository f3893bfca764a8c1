//! The nouns from outside: what is written down keeps its form and its meaning.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "what a test's own functions expect is part of the test"
)]

mod events;
mod file_names;
mod ids;
mod names;
mod objects;
mod paths;
mod tables;
mod visible;
mod web;
