//! What is held true? Working state, beliefs, memory promotion, context packing and precedence.
//!
//! **What this room is for.** The rules of HK-15: which of the four layers a piece of knowledge belongs to, what a
//! claim must bring before it is believed or remembered, how far its trust tier lets it reach, and how everything
//! that is known becomes the one bounded pack a model is given to think with.
//!
//! **What it must never do.** Read a clock, a disk or the ledger; call a model; delete a claim. It says which
//! event would record a change, or why there must be none; somebody else writes it.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. No claim without evidence: neither a belief nor a memory record leaves this room with an empty
//!    `evidence_refs`.
//! 2. Nothing is overwritten or deleted: a change is a new revision, a supersession, a contradiction mark, a
//!    revocation or an expiry.
//! 3. Untrusted evidence alone never becomes durable memory unless a person stands behind it.
//! 4. The contract, the step contract, policy, rules and constraints are in every pack, whole.
//! 5. Whatever does not make it into a pack, whole or in part, is named in its omissions.
//! 6. The same knowledge gives the same pack, byte for byte, in whatever order it is handed over.
//! 7. Content of artifacts stands inside a fence that the content cannot close.
//! 8. A value that looks like a secret is taken out before it is counted, hashed or packed.
//!
//! **Where to start reading.** [`trust`], then [`belief`] and [`memory`], then [`pack`], [`summary`] and [`answer`].

pub mod answer;
pub mod belief;
pub mod dreamer;
pub mod followed;
pub mod historian;
pub mod layer;
pub mod meaning;
pub mod memory;
pub mod pack;
mod ranking;
mod refusal;
pub mod relevance;
mod scope;
pub mod summary;
pub mod tokens;
pub mod trust;
pub mod working_state;

pub use layer::Layer;
pub use pack::{
    Delta, Material, PackInput, Pinned, SkillLine, SkillText, SkinWords, Summarised, Turn, compile,
    compile_with, pack_tokens,
};
pub use ranking::{Described, ranked};
pub use refusal::{Error, Refusal};
pub use relevance::{Looked, Recalled};
pub use tokens::count_tokens;
