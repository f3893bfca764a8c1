//! OpenAI-compatible chat completions, streamed: llama.cpp, Ollama, vLLM, OpenAI.

use crate::{Address, Descriptor, Egress, Error, Input, Reasoner, Reply};
use model::context::ContextPack;
use model::proposal::ToolSpec;
use std::sync::Arc;

/// How tools are offered to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// `json_schema` on loopback, `tools` elsewhere.
    #[default]
    Auto,
    /// The protocol's own `tools`; text answers are left to the loop core's parser.
    Tools,
    /// `response_format: json_schema` with one alternative for each tool: the server enforces the grammar, which
    /// small local models need.
    JsonSchema,
}

/// How a server is asked.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How tools are offered.
    pub mode: Mode,
    /// Handle of the key in the keychain; the host resolves it.
    pub secret: Option<String>,
    /// Tokens that prompt and answer together may have.
    pub context_tokens: u32,
    /// Tokens of one answer.
    pub answer_tokens: u32,
    /// Temperature in thousandths.
    pub temperature_milli: u32,
    /// Seed, where the server knows one.
    pub seed: Option<u64>,
    /// How long one call may take.
    pub timeout_ms: u64,
    /// Price of a million tokens read, in micro-units.
    pub cost_in_micros: u64,
    /// Price of a million tokens written, in micro-units.
    pub cost_out_micros: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Auto,
            secret: None,
            context_tokens: 4096,
            answer_tokens: 1024,
            temperature_milli: 0,
            seed: Some(1),
            timeout_ms: model::limits::MODEL_CALL_MS_MAX,
            cost_in_micros: 0,
            cost_out_micros: 0,
        }
    }
}

/// A server that speaks the protocol.
pub struct OpenAi {
    url: String,
    model: String,
    remote: bool,
    settings: Settings,
    egress: Arc<dyn Egress>,
}

impl OpenAi {
    /// Connects nothing yet.
    ///
    /// # Errors
    /// [`Error::Address`] when the address is not of such a server.
    pub fn new(address: &Address, settings: Settings, egress: Arc<dyn Egress>) -> Result<Self, Error> {
        let Address::OpenAi { url, model } = address else {
            return Err(Error::Address { text: address.to_string(), why: "its provider is not `openai`".to_owned() });
        };
        let (url, model) = (format!("{url}/chat/completions"), model.clone());
        Ok(Self { url, model, remote: address.is_remote(), settings, egress })
    }
}

impl Reasoner for OpenAi {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            provider: "openai".to_owned(),
            model: self.model.clone(),
            remote: self.remote,
            context_tokens: self.settings.context_tokens,
            cost_in_micros: self.settings.cost_in_micros,
            cost_out_micros: self.settings.cost_out_micros,
        }
    }
    fn encode(&self, _pack: &ContextPack, _tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        Err(Error::Unavailable { why: self.url.clone(), advice: "this is in the making".to_owned() })
    }
    fn propose(&self, _i: &Input<'_>, _d: &mut dyn FnMut(&str), _c: &dyn Fn() -> bool) -> Result<Reply, Error> {
        let _ = &self.egress;
        Err(Error::Unavailable { why: self.url.clone(), advice: "this is in the making".to_owned() })
    }
}
