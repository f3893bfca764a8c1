//! The protocol of the mesh, by its published parts and in simulated meshes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a simulation takes its size and seed from outside")]
#![allow(missing_docs, reason = "helpers of tests are read where they are used")]

mod asking;
mod auth;
mod direct;
mod fake;
mod heads;
mod moves;
mod nodes;
mod owned;
mod pairing;
mod parcels;
mod public;
mod published;
mod put_back;
mod sealed;
mod simulation;
mod slots;
mod waits;
