//! The protocol of the mesh, by its published parts and in simulated meshes.

mod fake;
mod simulation;
