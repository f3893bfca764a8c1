//! What comes back from a reasoner, before anything believes it (RX-8).

use crate::BeliefId;
use crate::knowledge::MemoryType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One tool offered to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// The members that a JSON schema of an object requires, by their names.
pub fn required(schema: &Value) -> Vec<&str> {
    let named = schema.get("required").and_then(Value::as_array);
    named.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// One tool asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its name.
    pub name: String,
    /// Its arguments, unchecked.
    pub arguments: Value,
}

/// What a call cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, those of the provider's cache among them.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Price in micro-units, 0 when none is known.
    pub cost_micros: u64,
    /// Tokens that were read out of the provider's cache.
    #[serde(default, skip_serializing_if = "is_none")]
    pub tokens_cached: u64,
    /// Tokens that were written into the provider's cache.
    #[serde(default, skip_serializing_if = "is_none")]
    pub tokens_cache_written: u64,
}

const fn is_none(tokens: &u64) -> bool {
    *tokens == 0
}

crate::names! {
    /// How an answer ended, whatever its provider calls it.
    #[derive(Default)]
    pub enum Stop ("end of an answer") {
        /// It is whole.
        #[default]
        Ended = "ended",
        /// A limit of tokens has cut it.
        Cut = "cut",
        /// The model refused.
        Refused = "refused",
        /// The provider's filter held it back.
        Filtered = "filtered",
    }
}

impl Stop {
    /// Whether the answer is whole.
    pub fn is_whole(&self) -> bool {
        *self == Self::Ended
    }
}

/// A reasoner's answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Free text, shown to people, never executed.
    pub text: String,
    /// What the model reasoned before, as far as its provider tells it: shown to people while it comes, sent to nobody, and
    /// no part of what is kept. Answers of before still have it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Tools asked for, in order.
    pub calls: Vec<ToolCall>,
    /// What it cost.
    pub usage: Usage,
    /// Why the reasoner stopped, in its own word.
    pub finish_reason: String,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Stop::is_whole")]
    pub stop: Stop,
}

impl Answer {
    /// Whether its limit of tokens has cut it.
    pub fn is_cut(&self) -> bool {
        self.stop == Stop::Cut || matches!(self.finish_reason.as_str(), "length" | "max_tokens")
    }

    /// The answer as it is kept: what was reasoned is let go (HK-15.1-1).
    #[must_use]
    pub fn without_reasoning(&self) -> Self {
        Self { reasoning: String::new(), ..self.clone() }
    }
}

/// A claim that a model wants remembered in later tasks, as it spells it (HK-15.5-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedMemory {
    /// The claim.
    pub claim: String,
    /// Where it holds: `project`, a part of it, or `*` for everywhere.
    pub scope: String,
    /// Why it deserves to last.
    pub reason: String,
    /// Artifact identifiers, or paths read in this run.
    pub evidence: Vec<String>,
    /// The belief it comes from.
    #[serde(default)]
    pub belief_id: Option<BeliefId>,
    /// What kind of knowledge it is.
    #[serde(default)]
    pub kind: Option<MemoryType>,
    /// The record whose place it takes: its claim, or its identifier.
    #[serde(default)]
    pub replaces: Option<String>,
    /// For how many days it holds; until somebody says otherwise when absent.
    #[serde(default)]
    pub days: Option<u32>,
}
