//! The real program, run as a person or a script would.
#![allow(missing_docs, clippy::disallowed_methods, reason = "tests start programs and read the environment")]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of tests fail by panicking, as tests do"
)]

use std::path::Path;
use std::process::Command;

mod anchors;
mod bench;
mod cards;
mod client;
mod collecting;
mod completing;
mod copies;
mod erasing;
mod examples;
mod exits;
mod foreign;
mod forgetting;
mod gateways;
mod hosts;
mod keyring;
#[cfg(target_os = "linux")]
mod linux;
mod logging;
mod machines;
mod making;
mod models;
mod naming;
mod passphrases;
mod pins;
mod proofs;
mod providers;
mod reattached;
mod secrets;
mod serving;
mod severed;
mod showing;
mod successor;
mod terminal;
mod troubles;
mod witnesses;

/// A program that no terminal of whoever runs the tests reaches: it begins a session of its own, where there is `setsid`.
#[cfg(not(windows))]
fn without_terminal(program: &Path) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(setsid) = std::env::split_paths(&path).map(|at| at.join("setsid")).find(|at| at.is_file())
    else {
        return Command::new(program);
    };
    let mut command = Command::new(setsid);
    command.arg(program);
    command
}

/// A program that no console of whoever runs the tests reaches: it has none, and is given none.
#[cfg(windows)]
fn without_terminal(program: &Path) -> Command {
    use std::os::windows::process::CommandExt as _;
    const DETACHED_PROCESS: u32 = 0x8;
    let mut command = Command::new(program);
    command.creation_flags(DETACHED_PROCESS);
    command
}
