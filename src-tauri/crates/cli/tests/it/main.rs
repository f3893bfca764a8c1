//! The real program, run as a person or a script would.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::disallowed_methods, reason = "tests start programs and read the environment")]

mod always;
mod bench;
mod collecting;
mod erasing;
mod exits;
mod hosts;
mod human_only;
mod keyring;
mod models;
mod pins;
mod proofs;
mod secrets;
mod severed;
mod showing;
mod terminal;
mod troubles;
mod witnesses;
