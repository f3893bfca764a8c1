//! Executors under test: what they see, what they change, where they break, and what they take back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on stops where it stands"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests start programs, look at clocks, and are told by the environment"
)]

mod batching;
mod changing;
mod crashing;
mod interleaving;
mod looking;
mod support;
mod undoing;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
