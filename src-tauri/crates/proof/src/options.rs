//! What goes into a bundle.

use model::ReceiptId;
use model::artifact::ArtifactKind;
use std::collections::BTreeSet;

/// Which part of a task is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// All its events, receipts and entries.
    #[default]
    Task,
    /// One receipt: its envelope, the event that records it with its place in the task's tree, its entries.
    Receipt(ReceiptId),
}

/// Whose content goes along. Digests are always there; content is what the receiver may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Include {
    /// Everything the store still keeps.
    All,
    /// Nothing.
    None,
    /// Artifacts of these kinds.
    Kinds(BTreeSet<ArtifactKind>),
}

impl Include {
    /// The records of authority: what was asked, judged, shown, decided, witnessed and granted. Neither what models
    /// were told and said, nor the content of files.
    #[must_use]
    pub fn records() -> Self {
        Self::Kinds(BTreeSet::from([
            ArtifactKind::ActionRequest,
            ArtifactKind::PolicyResult,
            ArtifactKind::ApprovalPacket,
            ArtifactKind::ApprovalDecision,
            ArtifactKind::StateWitness,
            ArtifactKind::CapabilityGrant,
            ArtifactKind::EnvironmentSnapshot,
        ]))
    }

    pub(crate) fn takes(&self, kind: Option<ArtifactKind>) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Kinds(kinds) => kind.is_some_and(|kind| kinds.contains(&kind)),
        }
    }
}

impl Default for Include {
    fn default() -> Self {
        Self::records()
    }
}

/// What is asked of an export. Redaction profiles and `--since` will join here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Task or one receipt.
    pub scope: Scope,
    /// Whose content goes along.
    pub artifacts: Include,
    /// Whether sensitive values can be read; without, only their digests stand there.
    pub disclosures: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { scope: Scope::Task, artifacts: Include::records(), disclosures: true }
    }
}
