//! The room `training` from outside.

mod datasets;
mod judging;
mod outer;
mod simulation;
