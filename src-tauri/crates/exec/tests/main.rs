//! Commands behind walls, and commands whose host is gone.

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

#[cfg(target_os = "linux")]
mod contained;
#[cfg(target_os = "linux")]
mod deep;
#[cfg(target_os = "linux")]
mod destructive;
#[cfg(target_os = "linux")]
mod durable;
#[cfg(target_os = "linux")]
mod escaping;
#[cfg(target_os = "linux")]
mod hidden;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod leaking;
#[cfg(target_os = "linux")]
mod reaching;
#[cfg(target_os = "linux")]
mod refused;
#[cfg(target_os = "linux")]
mod staged;
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "the executors' own tests take the rest")]
#[path = "../../effects/tests/support.rs"]
mod support;
#[cfg(target_os = "linux")]
mod versioning;
#[cfg(windows)]
mod windows;
