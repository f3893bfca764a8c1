//! What differs between the protocols: where a request goes, how it is written, how an answer is read.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use super::conversation::Conversation;
use super::draft::{Draft, Heard};
use super::{Settings, ToolMode};
use crate::Error;
use crate::port::{Head, Scheme};
use model::proposal::ToolSpec;
use model::task::ModelApi;
use serde_json::{Map, Value};

/// What a request is made of.
pub struct Asking<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The base URL.
    pub url: &'a str,
    /// How tools are offered.
    pub mode: ToolMode,
    /// How the server is asked.
    pub settings: &'a Settings,
    /// What it is told.
    pub conversation: &'a Conversation,
    /// The tools that the model is told of.
    pub offered: &'a [ToolSpec],
    /// The grammar of an answer, where the mode has one.
    pub schema: Option<&'a Value>,
}

impl Asking<'_> {
    /// Whether the server has not refused a parameter.
    pub fn takes(&self, parameter: &str) -> bool {
        !self.settings.without.contains(parameter)
    }

    /// The tools, where they are offered by the protocol's own means.
    pub fn native(&self) -> Option<&[ToolSpec]> {
        (self.mode == ToolMode::Tools && !self.offered.is_empty()).then_some(self.offered)
    }

    /// The grammar, where the server takes one.
    pub fn grammar(&self) -> Option<&Value> {
        self.schema.filter(|_| self.takes("response_format"))
    }

    /// The temperature, where one is set and taken.
    pub fn temperature(&self) -> Option<f64> {
        let milli = self.settings.temperature_milli.filter(|_| self.takes("temperature"));
        milli.map(|milli| f64::from(milli) / 1000.0)
    }

    /// The seed, where one is set and taken.
    pub fn seed(&self) -> Option<u64> {
        self.settings.seed.filter(|_| self.takes("seed"))
    }

    /// The limit of tokens, where it is taken.
    pub fn limit(&self) -> Option<u32> {
        Some(self.settings.answer_tokens).filter(|_| self.takes("max_tokens"))
    }
}

/// One protocol.
pub trait Protocol: Send + Sync {
    /// Where a model is asked.
    fn endpoint(&self, url: &str, model: &str) -> String;

    /// How the key is sent, and what else the head says.
    fn head<'a>(&self, secret: Option<&'a str>) -> Head<'a> {
        Head { secret, scheme: Scheme::Bearer, also: &[] }
    }

    /// Whether each line of a stream is an event, and none is server-sent.
    fn sends_lines(&self) -> bool {
        false
    }

    /// The exact bytes of a request.
    ///
    /// # Errors
    /// [`Error::Garbage`] when a value cannot be written as JSON.
    fn encode(&self, asking: &Asking<'_>) -> Result<Vec<u8>, Error>;

    /// Takes the data of one event, or a whole answer of a server that does not stream.
    ///
    /// # Errors
    /// [`Error::Garbage`] when it is no piece of the protocol or reports an error, [`Error::TooLong`] past the limit.
    fn take(&self, data: &str, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error>;

    /// Where one of [`super::PARAMETERS`] stands in a request; nothing where the protocol does not know it or cannot do
    /// without it.
    fn pointer(&self, parameter: &str) -> Option<&'static str>;
}

/// The protocol behind an address.
pub fn of(api: ModelApi) -> &'static dyn Protocol {
    match api {
        ModelApi::Openai => &chat::Chat,
        ModelApi::Responses => &responses::Responses,
        ModelApi::Anthropic => &anthropic::Anthropic,
        ModelApi::Gemini => &gemini::Gemini,
        ModelApi::Ollama => &ollama::Ollama,
    }
}

/// A JSON object of one event.
fn event(data: &str) -> Result<Map<String, Value>, Error> {
    serde_json::from_str(data).map_err(|e| super::draft::unreadable(&e, data))
}

/// A text inside an event; nothing in place of what is not there.
fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A number inside an event; nothing in place of what is not there.
fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}
