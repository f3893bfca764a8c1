//! The protocol of the mesh, by its published parts and in simulated meshes.

mod fake;
mod nodes;
mod pairing;
mod sealed;
mod simulation;
