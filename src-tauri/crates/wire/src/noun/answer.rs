//! What bears the closing answer of a task.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::answers;
use words::knowledge::AnswerSupport;

answers! {
    /// What bears a closing answer, sentence by sentence. The binding is made without a model, when the answer is given; where the
    /// model cites, it proposes, and the record is asked.
    AnswerCheck {
        /// The name of the method, with its version.
        method: String,
        sentences: Vec<AnswerSentence>,
    }

    /// A sentence of an answer.
    AnswerSentence {
        /// What stands between it and the sentence before: white space.
        gap: String,
        text: String,
        /// The text without the marks by which the model cites; absent where it has none.
        plain: Option<String>,
        support: AnswerSupport,
        /// Receipts of the acts that it claims.
        receipts: Vec<String>,
        /// Where its words stand.
        sources: Vec<AnswerSource>,
        /// Why nothing bears it.
        because: Option<String>,
        /// Words of the record to compare it with, where the sentence is told like them and not every word of it is on record. It is
        /// unverified none the less.
        near: Option<String>,
        /// Whether it is bound to what the model cited alone.
        cited: bool,
        /// What the model cited in it.
        cites: Vec<AnswerCite>,
    }

    /// A citation in a sentence of an answer.
    AnswerCite {
        /// The number that the model gave.
        number: u32,
        /// Whether what it names bears the sentence.
        bears: bool,
        /// What it names, where that was looked at.
        source: Option<AnswerSource>,
        /// Receipts of the acts that it names.
        receipts: Vec<String>,
        /// The record's own words: those that bear the sentence, or those to compare it with.
        quote: Option<String>,
    }

    /// Something that was seen, in which the words of a sentence stand.
    AnswerSource {
        artifact_id: String,
        /// A path, a search, a command.
        title: String,
    }
}
