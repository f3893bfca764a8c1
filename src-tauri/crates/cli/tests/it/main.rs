//! The real program, run as a person or a script would.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::disallowed_methods, reason = "tests start programs and read the environment")]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of tests fail by panicking, as tests do"
)]

mod always;
mod anchors;
mod bench;
mod boxed;
mod cards;
mod collecting;
mod completing;
mod copies;
mod cramped;
mod erasing;
mod examples;
mod exchanged;
mod exits;
mod foreign;
mod forgetting;
mod gateways;
mod hosts;
mod human_only;
mod keyring;
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
mod screen;
mod secrets;
mod security_keys;
mod service;
mod serving;
mod severed;
mod showing;
mod successor;
mod terminal;
mod troubles;
mod witnesses;
