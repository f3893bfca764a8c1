//! A request of the OpenAI-compatible chat API, as far as it means something here.

use serde::Deserialize;
use serde_json::Value;

/// A request.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// What was said.
    pub messages: Value,
    /// Tools that may be called.
    #[serde(default)]
    tools: Option<Value>,
    #[serde(default)]
    response_format: Option<Value>,
    #[serde(default)]
    max_tokens: Option<u32>,
    #[serde(default)]
    max_completion_tokens: Option<u32>,
    #[serde(default)]
    temperature: Option<f32>,
    #[serde(default)]
    seed: Option<u32>,
}

impl Request {
    /// Tools that may be called, where there are any.
    pub fn tools(&self) -> Option<String> {
        let tools = self.tools.as_ref()?;
        tools.as_array().is_some_and(|all| !all.is_empty()).then(|| tools.to_string())
    }

    /// The schema that the answer has.
    pub fn schema(&self) -> Option<String> {
        self.response_format.as_ref()?.pointer("/json_schema/schema").map(Value::to_string)
    }

    /// Tokens of the answer.
    pub fn limit(&self) -> u32 {
        self.max_tokens.or(self.max_completion_tokens).unwrap_or(u32::MAX)
    }

    /// Temperature.
    pub fn temperature(&self) -> f32 {
        self.temperature.unwrap_or(0.7).clamp(0.0, 2.0)
    }

    /// Seed, where one is wished.
    pub fn seed(&self) -> Option<u32> {
        self.seed
    }
}
