//! Every proof that the whole house stands, in one binary.

#![allow(clippy::disallowed_methods, reason = "proofs look at the machine they run on")]

mod conformance;
mod house;
mod journeys;
mod simulation;
