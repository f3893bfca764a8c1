//! What bears the sentences of a closing answer (product.md, moonshot 9).

use crate::artifact::ArtifactRef;
use crate::{ArtifactId, AttemptId, ReceiptId};
use serde::{Deserialize, Serialize};
pub use words::knowledge::AnswerSupport;

/// A sentence of an answer, with what bears it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerSentence {
    /// Byte of the answer where it begins, from 0.
    pub start: u32,
    /// Its length in bytes.
    pub length: u32,
    /// What bears it.
    pub support: AnswerSupport,
    /// Receipts that do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<ReceiptId>,
    /// Where its words stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<AnswerSource>,
    /// Why nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// Something that was seen, in which the words of a sentence stand.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AnswerSource {
    /// Its artifact.
    pub artifact_id: ArtifactId,
    /// What it is: a path, a search, a command.
    pub title: String,
}

/// What bears a closing answer, sentence by sentence, stored as artifact `answer.check`. It is made without a model, from what
/// was on record when the attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerCheck {
    /// The attempt.
    pub attempt_id: AttemptId,
    /// The answer.
    pub answer: ArtifactRef,
    /// The name of the method, with its version.
    pub method: String,
    /// Its sentences, in their order.
    pub sentences: Vec<AnswerSentence>,
}

impl AnswerCheck {
    /// How many sentences are borne by that.
    pub fn count(&self, support: AnswerSupport) -> u32 {
        u32::try_from(self.sentences.iter().filter(|one| one.support == support).count()).unwrap_or(u32::MAX)
    }
}
