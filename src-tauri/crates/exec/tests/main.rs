//! Commands behind walls, and commands whose host is gone.

#![cfg(target_os = "linux")]
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

mod contained;
mod deep;
mod destructive;
mod durable;
mod escaping;
mod hidden;
mod killed;
mod leaking;
mod reaching;
mod refused;
mod staged;
#[allow(dead_code, reason = "the executors' own tests take the rest")]
#[path = "../../effects/tests/support.rs"]
mod support;
mod versioning;
