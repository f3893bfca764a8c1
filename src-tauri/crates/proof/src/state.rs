//! The root of a conversation or of memory as a bundle carries it: its leaves, and its place under the root over all (HV-3.6-1).

use model::state_root::{StateRoot, StateSubject};
use seal::Digest;
use serde::{Deserialize, Serialize};

/// Leaves of one subject that go along; a line of more would be longer than a verifier reads.
pub const STATE_LEAVES_MAX: usize = 50_000;

/// A line of `state/subjects.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubjectProof {
    /// Its place among all subjects, from 0, in the order of their texts.
    pub index: u64,
    /// Hashes of its leaves, in order.
    pub leaves: Vec<Digest>,
    /// The path from its own leaf to the root over all subjects.
    pub path: Vec<Digest>,
    /// The root over its leaves.
    pub root: Digest,
    /// How many leaves.
    pub size: u64,
    /// What it is about.
    pub subject: StateSubject,
}

impl SubjectProof {
    /// What the tree over all subjects holds of it.
    pub(crate) fn stated(&self) -> StateRoot {
        StateRoot { subject: self.subject, size: self.size, root: self.root }
    }
}

/// Whether every event of this type is a message of its task's conversation.
pub(crate) fn is_message(event_type: &str) -> bool {
    matches!(
        event_type,
        "clarification.requested" | "approval.requested" | "receipt.issued" | "attempt.terminated"
    )
}

/// Whether an event of this type is a message of a conversation, or the beginning of a memory record.
pub(crate) fn is_leaf(event_type: &str) -> bool {
    matches!(
        event_type,
        "ingress.received"
            | "clarification.requested"
            | "approval.requested"
            | "receipt.issued"
            | "attempt.terminated"
            | "task.status_changed"
            | "memory.promoted"
    )
}
