//! Every proof that the whole house stands, in one binary.

#![allow(clippy::disallowed_methods, reason = "proofs look at the machine they run on")]

mod conformance;
#[cfg(target_os = "linux")]
mod desktop;
mod house;
mod journeys;
mod mesh;
mod simulation;
#[cfg(target_os = "linux")]
mod successor;
#[cfg(target_os = "linux")]
mod training;
