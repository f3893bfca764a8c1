//! The room's tests, in one binary: playbooks on real folders, servers on real sockets, transcripts, addresses.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "the functions that tests share may fail like tests"
)]

#[cfg(unix)]
mod bench;
#[cfg(unix)]
mod chat;
mod malformed;
mod others;
#[cfg(unix)]
mod playbooks;
#[cfg(unix)]
mod post;
#[cfg(unix)]
mod recordings;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod wires;
