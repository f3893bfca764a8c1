//! A streamed or whole answer, put together.

use super::Mode;
use crate::Error;
use model::limits::MODEL_ANSWER_BYTES_MAX;
use model::proposal::{Answer, ToolCall, Usage};
use serde::Deserialize;
use serde_json::Value;

/// Calls in one answer: more are a model that runs wild.
const CALLS_MAX: usize = 128;

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    message: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: Option<usize>,
    #[serde(default)]
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// An answer in the making.
#[derive(Debug, Default)]
pub struct Draft {
    text: String,
    calls: Vec<(String, String)>,
    finish_reason: Option<String>,
    usage: Usage,
    ended: bool,
    bytes: usize,
}

impl Draft {
    /// Takes the data of one event; visible text goes to `on_delta`.
    ///
    /// # Errors
    /// [`Error::Garbage`] when it is no piece of the protocol or reports an error, [`Error::TooLong`] past the limit.
    pub fn take(&mut self, data: &str, on_delta: &mut dyn FnMut(&str)) -> Result<(), Error> {
        if data.trim() == "[DONE]" {
            self.ended = true;
            return Ok(());
        }
        let chunk: Chunk =
            serde_json::from_str(data).map_err(|e| garbage(format!("{e} in `{}`", shorten(data))))?;
        if let Some(error) = chunk.error {
            return Err(garbage(format!("it reports `{}`", shorten(&said(&error)))));
        }
        if let Some(tokens) = chunk.usage {
            self.usage.tokens_in = tokens.prompt_tokens;
            self.usage.tokens_out = tokens.completion_tokens;
        }
        // Only one choice is ever asked for.
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        if let Some(delta) = choice.delta.or(choice.message) {
            self.merge(delta, on_delta)?;
        }
        if choice.finish_reason.is_some() {
            self.finish_reason = choice.finish_reason;
            self.ended = true;
        }
        Ok(())
    }

    fn merge(&mut self, delta: Delta, on_delta: &mut dyn FnMut(&str)) -> Result<(), Error> {
        for text in [delta.content, delta.refusal].into_iter().flatten().filter(|text| !text.is_empty()) {
            self.count(text.len())?;
            on_delta(&text);
            self.text.push_str(&text);
        }
        for (position, call) in delta.tool_calls.into_iter().flatten().enumerate() {
            let index = call.index.unwrap_or(position);
            if index >= CALLS_MAX {
                return Err(garbage(format!("it asks for more than {CALLS_MAX} tools at once")));
            }
            while self.calls.len() <= index {
                self.calls.push((String::new(), String::new()));
            }
            let (Some(function), Some(slot)) = (call.function, self.calls.get_mut(index)) else { continue };
            if let Some(name) = function.name {
                self.bytes += name.len();
                slot.0.push_str(&name);
            }
            match function.arguments {
                // Some servers send the object itself instead of its text.
                Some(Value::String(text)) => {
                    self.bytes += text.len();
                    slot.1.push_str(&text);
                }
                Some(Value::Null) | None => {}
                Some(object) => slot.1 = object.to_string(),
            }
        }
        self.count(0)
    }

    fn count(&mut self, more: usize) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(more);
        if self.bytes > MODEL_ANSWER_BYTES_MAX {
            return Err(Error::TooLong { bytes_max: MODEL_ANSWER_BYTES_MAX });
        }
        Ok(())
    }

    /// Whether the server said that it was finished; without that the stream was cut.
    pub const fn ended(&self) -> bool {
        self.ended
    }

    /// The answer, priced.
    pub fn finish(self, mode: Mode, cost_in_micros: u64, cost_out_micros: u64) -> Answer {
        let calls = self.calls.into_iter().filter(|(name, _)| !name.is_empty());
        let mut calls: Vec<ToolCall> =
            calls.map(|(name, arguments)| ToolCall { name, arguments: arguments_of(&arguments) }).collect();
        let mut text = self.text;
        if calls.is_empty()
            && mode == Mode::JsonSchema
            && let Some(call) = action_of(&text)
        {
            calls.push(call);
            text = String::new();
        }
        let price = |tokens: u64, micros: u64| tokens.saturating_mul(micros).div_ceil(1_000_000);
        let mut usage = self.usage;
        usage.cost_micros =
            price(usage.tokens_in, cost_in_micros).saturating_add(price(usage.tokens_out, cost_out_micros));
        let finish_reason = self.finish_reason.unwrap_or_else(|| "stop".to_owned());
        Answer { text, calls, usage, finish_reason }
    }
}

/// Arguments as sent. What is not JSON stays text, which the loop core refuses with a reason (RX-8-2).
fn arguments_of(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    tool: String,
    arguments: Value,
}

fn action_of(text: &str) -> Option<ToolCall> {
    let action: Action = serde_json::from_str(text.trim()).ok()?;
    Some(ToolCall { name: action.tool, arguments: action.arguments })
}

/// What an error object says, in its own words.
pub fn said(error: &Value) -> String {
    let inner = error.get("error").unwrap_or(error);
    match inner.get("message").or_else(|| inner.get("detail")).unwrap_or(inner) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// At most 300 characters, on one line.
pub fn shorten(text: &str) -> String {
    let line: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= 300 { line } else { line.chars().take(299).chain(['…']).collect() }
}

pub fn garbage(why: String) -> Error {
    Error::Garbage {
        why,
        advice:
            "check that the address is the base URL of an OpenAI-compatible server, which often ends in `/v1`"
                .to_owned(),
    }
}
