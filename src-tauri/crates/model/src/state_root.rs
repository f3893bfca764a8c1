//! Roots of state: one of every conversation and of the memory of every project, and one over all of them (HV-3.6-1).
//!
//! The tree of a conversation has a leaf for each of its messages, that of a project's memory one for each record in force:
//! both in the order of the log, and each leaf is the exact bytes of the event that said it (RFC 6962). So content that is
//! erased is still proven: an event holds its digest.

use crate::{ConversationId, Digest};
pub use seal::merkle::{Frontier, leaf_hash};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Roots that one event states, about 100 KiB of them; what changed beside them is stated by the next.
pub const ROOTS_MAX: usize = 500;

/// The memory that holds in every project.
const EVERYWHERE: &str = "everywhere";

/// What a root is about: `conversation:<id>`, `memory:<project hash>`, or `memory:everywhere`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum StateSubject {
    /// The messages of a conversation.
    Conversation(ConversationId),
    /// The memory in force in a project; that which holds in every one where none is named.
    Memory(Option<Digest>),
}

impl fmt::Display for StateSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conversation(id) => write!(f, "conversation:{id}"),
            Self::Memory(Some(project)) => write!(f, "memory:{project}"),
            Self::Memory(None) => write!(f, "memory:{EVERYWHERE}"),
        }
    }
}

impl From<StateSubject> for String {
    fn from(subject: StateSubject) -> Self {
        subject.to_string()
    }
}

impl FromStr for StateSubject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.split_once(':') {
            Some(("conversation", id)) => id.parse().ok().map(Self::Conversation),
            Some(("memory", EVERYWHERE)) => Some(Self::Memory(None)),
            Some(("memory", project)) => project.parse().ok().map(|project| Self::Memory(Some(project))),
            _ => None,
        };
        parsed.ok_or_else(|| format!("`{text}` is nothing that a root of state is about"))
    }
}

impl TryFrom<String> for StateSubject {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The root of one conversation or memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateRoot {
    /// What it is about.
    pub subject: StateSubject,
    /// How many leaves: messages, or records in force.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
}

impl StateRoot {
    /// Its leaf in the tree over all subjects: canonical JSON.
    ///
    /// # Errors
    /// [`seal::Error`] for a size beyond what canonical JSON holds.
    pub fn to_leaf(&self) -> Result<Vec<u8>, seal::Error> {
        seal::canon::to_canonical(self)
    }
}

/// The root over all subjects, which come in the order of their texts.
///
/// # Errors
/// As [`StateRoot::to_leaf`].
pub fn over_all<'a>(roots: impl IntoIterator<Item = &'a StateRoot>) -> Result<Digest, seal::Error> {
    let mut tree = Frontier::new();
    for root in roots {
        tree.push(leaf_hash(&root.to_leaf()?));
    }
    Ok(tree.root())
}
