//! What comes back from a reasoner, before anything believes it (RX-8).

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
    /// Tokens read.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Price in micro-units, 0 when none is known.
    pub cost_micros: u64,
}

/// A reasoner's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Free text, shown to people, never executed.
    pub text: String,
    /// Tools asked for, in order.
    pub calls: Vec<ToolCall>,
    /// What it cost.
    pub usage: Usage,
    /// Why the reasoner stopped, in its own word.
    pub finish_reason: String,
}

impl Answer {
    /// Whether its limit of tokens has cut it.
    pub fn is_cut(&self) -> bool {
        matches!(self.finish_reason.as_str(), "length" | "max_tokens")
    }
}
