//! What a small model is taught and how that is judged: examples, runs, measures, and training together (HV-3.8, HV-7-3).
//!
//! **What this room is for.** Everything of training that needs no weights: which examples there are and which of them
//! are learned from, what a run may be asked for, what the program that trains says, whether an adapter is better than
//! what was there, and how several machines make one adapter of what each has learned.
//!
//! **What it must never do.** Read a store, a file or a clock, draw chance, hold a model, or sign. Where the examples
//! come from and who may use them is decided above; the program `hermit-train` does the arithmetic.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. The same candidates give the same dataset, in whatever order they come.
//! 2. Nothing that is learned from is of a project that is held out, or as late as anything that is.
//! 3. A dataset that is read is checked as one that is made: ids, bounds, and what is held out.
//! 4. A run that cannot be done within its bounds is refused in words before anything is loaded; so is a base whose
//!    licence does not allow it.
//! 5. An adapter is offered only where it is better than its base in one measure, worse in none, and better than the
//!    most frequent answer.
//! 6. What a peer did not send is kept by it and sent later; what was sent and not counted goes back to it.
//! 7. Fewer poisoned peers than are trimmed move no coordinate further than honest ones do, and nothing that is not a
//!    number gets in.
//! 8. Two that count the same messages of a round have the same state after it.
//! 9. What a round counts is fixed once, and holds of each machine one message that its key signed for that very round.
//!
//! **Where to start reading.** [`Example`], [`assemble`], [`RunSpec`], [`Said`], [`judge`], then [`outer`].

mod dataset;
mod example;
mod measure;
mod near;
pub mod outer;
mod protocol;
mod spec;

pub use dataset::{
    Dataset, LeftOut, SplitRule, Why, assemble, check, is_by_time_alone, read_lines, recall, receipts,
    receipts_root, write_lines,
};
pub use example::{
    DATASET_BYTES_MAX, EXAMPLE_BYTES_MAX, EXAMPLES_MAX, Example, RECEIPTS_MAX, Role, Split, TURNS_MAX, Turn,
    content_id,
};
pub use measure::{Baseline, HELD_OUT_MIN, Measures, Shapes, Tally, Verdict, is_same_act, judge, majority};
pub use protocol::{Control, RanOn, Said};
pub use spec::{
    BATCH_MAX, Base, Budget, DatasetFile, LICENCES, Quant, RANK_MAX, RunSpec, SECONDS_MAX, SEQUENCE_MAX,
    STEPS_MAX, THREADS_MAX,
};

/// Why something of training is refused, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Examples or a dataset.
    #[error("the dataset cannot be used: {0}")]
    Dataset(String),
    /// What a run is asked for.
    #[error("the run cannot be done: {0}")]
    Run(String),
    /// What a peer sent.
    #[error("the message of a peer is not counted: {0}")]
    Peer(String),
}
