//! Words of what is known.

use clap::Subcommand;

/// `hermit memory`.
#[derive(Debug, Subcommand)]
pub enum MemoryVerb {
    /// Lists what is remembered; `--status any` lists what ended, too.
    List(super::ListArgs),
    /// Lists beliefs.
    Beliefs(super::ListArgs),
    /// Lists what a belief was from revision to revision.
    History {
        /// The belief.
        belief: String,
    },
    /// Takes a belief back: it stays readable, and no model is told of it any more.
    Revoke {
        /// The belief.
        belief: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Lists decisions.
    Decisions(super::ListArgs),
    /// Marks a record as wrong.
    Invalidate {
        /// The record.
        memory: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}
