//! A streamed or whole answer, put together: words, thoughts and calls, each apart.

use super::{Prices, ToolMode};
use crate::Error;
use crate::port::Delta;
use model::limits::{MODEL_ANSWER_BYTES_MAX, MODEL_REASONING_BYTES_MAX};
use model::proposal::{Answer, Stop, ToolCall, Usage};
use serde::Deserialize;
use serde_json::Value;

/// Calls in one answer: more are a model that runs wild.
const CALLS_MAX: usize = 128;
/// Marks between which many open models write their thoughts, at the beginning of an answer.
const THINKS: (&str, &str) = ("<think>", "</think>");

/// How servers name what a model reasons, in what tells it.
const REASONED: [&str; 4] = ["reasoning", "thinking", "thought", THINKS.0];

/// Who hears an answer as it comes.
pub type Heard<'a> = &'a mut dyn FnMut(Delta<'_>);

/// A call in the making.
#[derive(Debug, Default)]
pub struct Slot {
    /// The tool's name.
    pub name: String,
    /// Its arguments, as text.
    pub arguments: String,
}

/// Where a text stands whose beginning may be a thought between marks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    #[default]
    Beginning,
    Thought,
    /// Behind a thought, where white space is no word.
    Behind,
    Words,
}

/// An answer in the making.
#[derive(Debug, Default)]
pub struct Draft {
    text: String,
    reasoning: String,
    at: At,
    /// What may still become a mark.
    held: String,
    calls: Vec<Slot>,
    reason: Option<String>,
    stop: Stop,
    /// What it has cost, as its server tells it.
    pub usage: Usage,
    ended: bool,
}

impl Draft {
    /// Takes words; thoughts between marks at their beginning are told apart.
    ///
    /// # Errors
    /// [`Error::TooLong`] past the limit.
    pub fn say(&mut self, piece: &str, heard: Heard<'_>) -> Result<(), Error> {
        match self.at {
            At::Words => return self.words(piece, heard),
            At::Behind => return self.behind(piece, heard),
            At::Beginning | At::Thought => {}
        }
        self.held.push_str(piece);
        if self.at == At::Beginning {
            let begins = self.held.trim_start();
            if let Some(rest) = begins.strip_prefix(THINKS.0) {
                self.held = rest.to_owned();
                self.at = At::Thought;
            } else if !THINKS.0.starts_with(begins) {
                self.at = At::Words;
                let held = std::mem::take(&mut self.held);
                return self.words(&held, heard);
            }
        }
        if self.at == At::Thought {
            return self.thought(heard);
        }
        self.measure()
    }

    /// Tells the thought that is held, as far as it is known to be none of the mark that ends it.
    fn thought(&mut self, heard: Heard<'_>) -> Result<(), Error> {
        let mut held = std::mem::take(&mut self.held);
        if let Some((thought, words)) = held.split_once(THINKS.1) {
            self.think(thought, heard);
            self.at = At::Behind;
            return self.behind(words, heard);
        }
        let may_begin = |at: &usize| THINKS.1.starts_with(held.get(*at..).unwrap_or("?"));
        let keep = held.char_indices().map(|(at, _)| at).find(may_begin).unwrap_or(held.len());
        self.held = held.split_off(keep);
        self.think(&held, heard);
        Ok(())
    }

    fn behind(&mut self, piece: &str, heard: Heard<'_>) -> Result<(), Error> {
        let words = piece.trim_start();
        if !words.is_empty() {
            self.at = At::Words;
        }
        self.words(words, heard)
    }

    fn words(&mut self, piece: &str, heard: Heard<'_>) -> Result<(), Error> {
        if piece.is_empty() {
            return Ok(());
        }
        self.text.push_str(piece);
        self.measure()?;
        heard(Delta::Text(piece));
        Ok(())
    }

    /// Takes a piece of reasoning; what passes its limit is dropped, and no answer is lost by it.
    pub fn think(&mut self, piece: &str, heard: Heard<'_>) {
        let room = MODEL_REASONING_BYTES_MAX.saturating_sub(self.reasoning.len());
        let piece = piece.get(..piece.floor_char_boundary(room)).unwrap_or_default();
        if !piece.is_empty() {
            self.reasoning.push_str(piece);
            heard(Delta::Reasoning(piece));
        }
    }

    /// The call at a place of the answer.
    ///
    /// # Errors
    /// [`Error::Garbage`] beyond [`CALLS_MAX`].
    pub fn call(&mut self, at: usize) -> Result<&mut Slot, Error> {
        let many = || garbage(format!("it asks for more than {CALLS_MAX} tools at once"));
        if at >= CALLS_MAX {
            return Err(many());
        }
        while self.calls.len() <= at {
            self.calls.push(Slot::default());
        }
        self.calls.get_mut(at).ok_or_else(many)
    }

    /// A further call.
    ///
    /// # Errors
    /// As [`Draft::call`].
    pub fn next_call(&mut self) -> Result<&mut Slot, Error> {
        self.call(self.calls.len())
    }

    /// Whether the answer is still small enough.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    pub fn measure(&self) -> Result<(), Error> {
        let calls = self.calls.iter().map(|slot| slot.name.len().saturating_add(slot.arguments.len()));
        let bytes = calls.fold(self.text.len().saturating_add(self.held.len()), usize::saturating_add);
        if bytes > MODEL_ANSWER_BYTES_MAX {
            return Err(Error::TooLong { bytes_max: MODEL_ANSWER_BYTES_MAX });
        }
        Ok(())
    }

    /// Why the model stopped, in its server's word and in ours; what is graver stays.
    pub fn reason(&mut self, word: &str, stop: Stop) {
        self.reason = Some(word.to_owned()).filter(|word| !word.is_empty());
        self.stop(stop);
    }

    /// How the answer ends; what is graver stays.
    pub fn stop(&mut self, stop: Stop) {
        if self.stop == Stop::Ended {
            self.stop = stop;
        }
    }

    /// The server says that it is finished, and why the model stopped.
    pub fn finished(&mut self, word: &str, stop: Stop) {
        self.reason(word, stop);
        self.end();
    }

    /// The server says that it is finished.
    pub const fn end(&mut self) {
        self.ended = true;
    }

    /// Whether the server said that it was finished; without that the stream was cut.
    pub const fn ended(&self) -> bool {
        self.ended
    }

    /// Whether anything of an answer came yet.
    pub fn has_begun(&self) -> bool {
        !self.text.is_empty() || !self.held.is_empty() || !self.calls.is_empty() || self.has_thought()
    }

    /// Whether any reasoning came yet.
    pub fn has_thought(&self) -> bool {
        !self.reasoning.is_empty()
    }

    /// Nothing more comes: what was held back is told.
    ///
    /// # Errors
    /// As [`Draft::say`].
    pub fn flush(&mut self, heard: Heard<'_>) -> Result<(), Error> {
        let held = std::mem::take(&mut self.held);
        match self.at {
            At::Thought => {
                self.think(&held, heard);
                Ok(())
            }
            At::Beginning | At::Behind | At::Words => self.words(&held, heard),
        }
    }

    /// The answer, priced.
    pub fn finish(self, mode: ToolMode, prices: &Prices) -> Answer {
        let calls = self.calls.into_iter().filter(|slot| !slot.name.is_empty());
        let mut calls: Vec<ToolCall> = calls
            .map(|slot| ToolCall { name: slot.name, arguments: arguments_of(&slot.arguments) })
            .collect();
        let mut text = self.text;
        let may_be_action = calls.is_empty() && mode == ToolMode::JsonSchema;
        let mut action = if may_be_action { action_of(&text) } else { None };
        let mut reasoning = self.reasoning;
        // Some servers tell the mark that ends a thought, and not the one that begins it.
        if action.is_none()
            && let Some((thought, words)) = text.split_once(THINKS.1)
            && reasoning.is_empty()
            && !thought.contains(THINKS.0)
        {
            reasoning.push_str(thought);
            text = words.trim_start().to_owned();
            action = if may_be_action { action_of(&text) } else { None };
        }
        if let Some(call) = action {
            calls.push(call);
            text = String::new();
        }
        let usage = Usage { cost_micros: prices.of(&self.usage), ..self.usage };
        let finish_reason = self.reason.unwrap_or_else(|| "stop".to_owned());
        Answer { text, reasoning, calls, usage, finish_reason, stop: self.stop }
    }
}

/// Arguments as sent. What is not JSON stays text, which the loop core refuses with a reason (RX-8-2).
fn arguments_of(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    model::json::read(text.as_bytes()).unwrap_or_else(|_| Value::String(text.to_owned()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    tool: String,
    arguments: Value,
}

fn action_of(text: &str) -> Option<ToolCall> {
    let text = text.trim();
    // What names a tool twice is no action; read as a value, the last of both would count.
    let Action { tool, .. } = serde_json::from_str(text).ok()?;
    let Action { arguments, .. } = model::json::read_as(text.as_bytes()).ok()?;
    Some(ToolCall { name: tool, arguments })
}

/// What an error object says, in its own words. Gemini wraps it in a list where it does not stream.
pub fn said(error: &Value) -> String {
    let first = error.as_array().and_then(|all| all.first()).unwrap_or(error);
    let inner = first.get("error").unwrap_or(first);
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

/// What does not read, as an error quotes it: how it begins, and not a word where it may tell what the model reasons, which no
/// file holds (HK-15.1).
pub fn quoted(data: &str) -> String {
    match tells_reasoning(data) {
        true => format!("{} bytes that may tell what the model reasons", data.len()),
        false => format!("`{}`", shorten(data)),
    }
}

fn tells_reasoning(data: &str) -> bool {
    REASONED.iter().any(|word| data.contains(word))
}

/// Something that is no event of its protocol. What its reader says of it may quote it as well.
pub fn unreadable(error: &serde_json::Error, data: &str) -> Error {
    match tells_reasoning(data) {
        true => garbage(format!(
            "an error at line {} column {} in {}",
            error.line(),
            error.column(),
            quoted(data)
        )),
        false => garbage(format!("{error} in {}", quoted(data))),
    }
}

pub fn garbage(why: String) -> Error {
    Error::Garbage {
        why,
        advice: "check that the address names the protocol that the server speaks, and ends with its base URL, often in \
                 `/v1`"
            .to_owned(),
    }
}
