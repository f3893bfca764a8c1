//! The room `training` from outside.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a simulation takes its size from outside")]
#![allow(missing_docs, reason = "helpers of tests are read where they are used")]

mod datasets;
mod judging;
mod outer;
mod simulation;
mod together;
