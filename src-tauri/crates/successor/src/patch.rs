//! A change of Hermit, as whoever proposes it hands it in.

use serde::{Deserialize, Serialize};
use words::successor::PatchKind;

/// A change of Hermit, canonical JSON (successor.md 2). Its digest is that of these bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// What it is for, in one line.
    pub says: String,
    /// Where what is new in it comes from, one line for each source; the clean-room rule asks for at least one (successor.md 5).
    pub sources: Vec<String>,
    /// What it changes.
    pub change: Change,
}

/// What a change changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// A person's own rules of policy, whole, as they would be; `profile` where the standard profile changes too.
    Policy {
        /// The rules as `policy.change_rules` takes them.
        rules: String,
        /// A profile by its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
    },
    /// Words that stand in contexts, and limits within their bounds.
    Words {
        /// Each of them.
        items: Vec<WordsItem>,
    },
    /// Another standard model.
    Model {
        /// Its address, as `models.standard` takes it.
        address: String,
        /// Digest of its file, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sha256: Option<model::Digest>,
    },
    /// The source of Hermit.
    Code {
        /// Digest of the source that it applies to.
        source: model::Digest,
        /// A unified diff, with paths from the root of the source.
        diff: String,
    },
}

/// One piece of words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordsItem {
    /// `skin`, `skill`, `playbook`, `pinned` or `soul`.
    pub what: String,
    /// Its name.
    pub name: String,
    /// Its new text, whole.
    pub text: String,
}

impl Patch {
    /// The kind of the change.
    pub const fn kind(&self) -> PatchKind {
        match &self.change {
            Change::Policy { .. } => PatchKind::Policy,
            Change::Words { .. } => PatchKind::Words,
            Change::Model { .. } => PatchKind::Model,
            Change::Code { .. } => PatchKind::Code,
        }
    }

    /// Whether it changes words that a model reads: recorded answers show nothing of what a model makes of these. A playbook is read by
    /// none.
    pub fn is_read_by_models(&self) -> bool {
        matches!(&self.change, Change::Words { items } if items.iter().any(|item| item.what != "playbook"))
    }
}
