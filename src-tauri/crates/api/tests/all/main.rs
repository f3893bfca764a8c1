//! Every command against a real store and a real kernel.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of tests fail by panicking, as tests do"
)]

mod acts;
mod askers;
mod drafted;
mod drawings;
mod enclosed;
mod erased;
mod gateways;
mod groups;
mod home;
mod inspected;
mod lapsed;
mod lasting;
mod machines;
mod memory_contexts;
mod memory_then;
mod passkeys;
mod policies;
mod proofs;
mod reads;
mod refusals;
mod schedules;
mod secrets;
mod skills;
mod skins;
mod slash;
mod slash_again;
mod stamped;
mod suggestions;
mod traces;
mod training;
mod trials;
