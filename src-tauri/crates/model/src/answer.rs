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
    /// Words of the record to compare it with, where the sentence is told like them and not every word of it is on record. It is
    /// unverified none the less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// Whether it is bound to what the model cited alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cited: bool,
    /// What the model cited in it, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cites: Vec<AnswerCite>,
}

/// A citation in a sentence of an answer: the model proposes what bears the sentence, and the record is asked whether it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerCite {
    /// Byte of the answer where its mark begins, from 0.
    pub start: u32,
    /// The length of the mark in bytes.
    pub length: u32,
    /// The number that the model gave.
    pub number: u32,
    /// Whether what it names bears the sentence.
    pub bears: bool,
    /// What it names; absent where nothing that was shown has that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<AnswerSource>,
    /// Receipts of the acts that it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<ReceiptId>,
    /// The record's own words: those that bear the sentence, or those to compare it with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
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

    /// How many of the unverified sentences are told like the record.
    pub fn near(&self) -> u32 {
        u32::try_from(self.sentences.iter().filter(|one| one.near.is_some()).count()).unwrap_or(u32::MAX)
    }

    /// How many sentences are bound to what the model cited alone.
    pub fn cited(&self) -> u32 {
        u32::try_from(self.sentences.iter().filter(|one| one.cited).count()).unwrap_or(u32::MAX)
    }
}
