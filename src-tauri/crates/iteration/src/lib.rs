//! The loop core: what a model's answer means, how many turns there were, and when to stop (RX whole).
//!
//! **What this room is for.** It turns an [`model::proposal::Answer`] into typed proposals or into words that help
//! the model to do better, and folds the turns of a run into a [`LoopState`] that says when the run ends.
//!
//! **What it must never do.** Run a command, read or write a file, reach the network, store or send anything,
//! or believe free text: it imports nouns and nothing else. It stays a few hundred lines (RX-13).
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A proposal comes from an explicit call of a known tool with complete, well-typed arguments, or not at all;
//!    one bad call refuses the whole answer.
//! 2. Text without a call is a final answer and nothing else; text that looks like a call but is not one is
//!    malformed, never final.
//! 3. Paths lie below the workspace.
//! 4. Every run ends: by caps in code on turns, malformed answers, failures, and turns without anything new.
//! 5. A state is a pure fold over recorded events: the same events give the same state, and a run goes on from
//!    its last completed turn.
//!
//! **Where to start reading.** [`tools()`], [`parse()`], then [`LoopState`].

mod answer;
mod progress;
mod tools;

pub use answer::{Malformed, parse};
pub use progress::{LoopState, progress_mark};
pub use tools::{Edit, Part, Proposal, ProposedChange, tools};
