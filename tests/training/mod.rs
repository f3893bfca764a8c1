//! Training by real processes: what cannot be learned from, or begun with, is refused with words, and a run that was damaged loses nothing
//! but its last steps. From a dataset to a model and its recall are `journeys/trained.rs` and, with a real model, `journeys/trained_real.rs`;
//! the program that trains has tests of its own (`cargo xtask trainer test`).

mod refused;
