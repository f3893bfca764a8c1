//! OpenAI-compatible chat completions, streamed: llama.cpp, Ollama, vLLM, OpenAI.

pub mod advice;
mod guide;
mod ordered;
mod reply;
mod request;
mod sse;
mod turns;

use crate::{Address, Descriptor, Error, Input, ModelHttp, Reasoner, Reply};
use model::context::ContextPack;
use model::proposal::ToolSpec;
use model::task::Proposer;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of rules and of all tools in a request, roughly.
const TOOLS_BYTES: usize = 12_000;

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

/// Contexts up to this many tokens have no room for all tools.
pub const SMALL_CONTEXT_TOKENS: u32 = 4096;
/// What a small model is offered, and what a small context has room for: with more, Qwen2.5-Coder-1.5B loses its way.
pub const FEW_TOOLS: [&str; 8] = ["list", "read", "move", "edit", "write", "delete", "command", "done"];
/// Parameters of a request that a server may not know; what it refuses is left out from then on, and its limit of tokens
/// is named by the other of its two names.
pub const PARAMETERS: [&str; 6] =
    ["max_tokens", "temperature", "seed", "stream_options", "response_format", "tools"];

/// How a server is asked.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How tools are offered.
    pub mode: Mode,
    /// Names of the tools that are offered to the model; empty leaves the choice: all of them, but [`FEW_TOOLS`] to a
    /// small model and where the context has no more than [`SMALL_CONTEXT_TOKENS`].
    pub offer: Vec<String>,
    /// Whether the model is known to be small.
    pub small: bool,
    /// Those of [`PARAMETERS`] that the server has refused.
    pub without: BTreeSet<String>,
    /// Handle of the key in the keychain; the host resolves it.
    pub secret: Option<String>,
    /// Tokens that prompt and answer together may have.
    pub context_tokens: u32,
    /// Tokens of one answer.
    pub answer_tokens: u32,
    /// Temperature in thousandths; none for models that know no other than their own.
    pub temperature_milli: Option<u32>,
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
            offer: Vec::new(),
            small: false,
            without: BTreeSet::new(),
            secret: None,
            context_tokens: 4096,
            answer_tokens: 1024,
            temperature_milli: Some(0),
            seed: Some(1),
            timeout_ms: model::limits::MODEL_CALL_MS_MAX,
            cost_in_micros: 0,
            cost_out_micros: 0,
        }
    }
}

impl Settings {
    /// Whether all tools are offered.
    pub fn offers_all(&self) -> bool {
        !self.offer.is_empty() || !self.small && self.context_tokens > SMALL_CONTEXT_TOKENS
    }
}

/// A server that speaks the protocol.
///
/// It opens no connection itself: everything goes through the [`ModelHttp`] it was given, with the key as a handle.
pub struct OpenAi {
    url: String,
    model: String,
    remote: bool,
    settings: Settings,
    egress: Arc<dyn ModelHttp>,
    /// What the server has refused since this was made.
    refused: Mutex<BTreeSet<String>>,
    learn: Option<Learn>,
}

/// Keeps the name of a parameter that a server has refused.
pub type Learn = Box<dyn Fn(&str) + Send + Sync>;

impl OpenAi {
    /// Connects nothing yet.
    ///
    /// # Errors
    /// [`Error::Address`] when the address is not of such a server.
    pub fn new(address: &Address, settings: Settings, egress: Arc<dyn ModelHttp>) -> Result<Self, Error> {
        let Address::OpenAi { url, model } = address else {
            return Err(Error::Address {
                text: address.to_string(),
                why: "its provider is not `openai`".to_owned(),
            });
        };
        let (url, model) = (format!("{url}/chat/completions"), model.clone());
        let (remote, refused) = (address.is_remote(), Mutex::new(settings.without.clone()));
        Ok(Self { url, model, remote, settings, egress, refused, learn: None })
    }

    /// The same, telling what its server refuses to somebody who keeps it.
    #[must_use]
    pub fn learning(mut self, learn: Learn) -> Self {
        self.learn = Some(learn);
        self
    }
}

/// Bytes of a whole response: each token comes wrapped in some 250 bytes of protocol, and the answer inside has
/// its own, smaller limit.
const RESPONSE_BYTES_MAX: usize = 64 * 1024 * 1024;

impl OpenAi {
    fn offers(&self, tool: &str) -> bool {
        match self.settings.offer.as_slice() {
            [] => self.settings.offers_all() || FEW_TOOLS.contains(&tool),
            chosen => chosen.iter().any(|name| name == tool),
        }
    }

    fn without(&self) -> BTreeSet<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The server does not know a parameter: it is left out from now on, when it was not already.
    fn unlearned(&self, status: u16, body: &[u8], request: &[u8]) -> Option<Error> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, why) = advice::parameter(status, body, request, &refused)?;
        refused.insert(name.to_owned());
        drop(refused);
        if let Some(learn) = &self.learn {
            learn(name);
        }
        Some(Error::Parameter { name: name.to_owned(), why })
    }

    /// Tokens that are left for a context beside the answer, the rules and the tools.
    fn prompt_tokens(&self) -> u32 {
        let context = self.settings.context_tokens;
        if context <= SMALL_CONTEXT_TOKENS {
            return context.saturating_sub(context / 4);
        }
        // Three bytes a token: tools are JSON, which takes more tokens than prose.
        let tools = if self.settings.small { TOOLS_BYTES / 4 } else { TOOLS_BYTES };
        let around = u32::try_from(tools / 3).unwrap_or(u32::MAX);
        context.saturating_sub(self.answer_tokens()).saturating_sub(around).max(context / 4)
    }

    /// Tokens of one answer: never so many that nothing is left to ask with.
    fn answer_tokens(&self) -> u32 {
        self.settings.answer_tokens.min(self.settings.context_tokens / 2)
    }

    fn mode(&self) -> Mode {
        let wanted = match self.settings.mode {
            Mode::Auto if self.remote && !self.settings.small => Mode::Tools,
            Mode::Auto => Mode::JsonSchema,
            chosen => chosen,
        };
        // What is refused in both forms is written into the prompt, and the answer is read for the call in it.
        let without = self.without();
        match wanted {
            Mode::Tools if without.contains("tools") => Mode::JsonSchema,
            Mode::JsonSchema if without.contains("response_format") && !without.contains("tools") => {
                Mode::Tools
            }
            wanted => wanted,
        }
    }

    /// Posts the request and collects what comes; the first thing that goes wrong ends it.
    fn exchange(
        &self,
        request: &[u8],
        on_delta: &mut dyn FnMut(&str),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Heard, Error> {
        let mut heard = Heard::default();
        let mut broken = None;
        let outcome = {
            let mut on_chunk = |bytes: &[u8]| {
                let result = if cancelled() { Err(Error::Cancelled) } else { heard.take(bytes, on_delta) };
                broken = broken.take().or(result.err());
                broken.is_none()
            };
            let secret = self.settings.secret.as_deref();
            self.egress.post(&self.url, secret, request, self.settings.timeout_ms, &mut on_chunk)
        };
        if cancelled() {
            return Err(Error::Cancelled);
        }
        let status = outcome.as_ref().map_or(200, |reply| reply.status);
        // An error page is no stream: its status says more than what its body fails to be.
        if let (Some(error), true) = (broken, status < 400) {
            return Err(error);
        }
        let reply = outcome.map_err(|error| advice::unreached(&self.url, &self.model, error))?;
        if heard.raw.is_empty() {
            heard
                .take(&reply.body, on_delta)
                .or_else(|error| if status < 400 { Err(error) } else { Ok(()) })?;
        }
        match status {
            200..=299 => Ok(heard),
            _ => Err(self
                .unlearned(status, &heard.raw, request)
                .unwrap_or_else(|| advice::refused(status, &heard.raw, &self.url, &self.model))),
        }
    }
}

/// What came so far.
#[derive(Default)]
struct Heard {
    raw: Vec<u8>,
    events: sse::Events,
    draft: reply::Draft,
}

impl Heard {
    fn take(&mut self, bytes: &[u8], on_delta: &mut dyn FnMut(&str)) -> Result<(), Error> {
        if self.raw.len().saturating_add(bytes.len()) > RESPONSE_BYTES_MAX {
            return Err(Error::TooLong { bytes_max: RESPONSE_BYTES_MAX });
        }
        self.raw.extend_from_slice(bytes);
        let draft = &mut self.draft;
        self.events.feed(bytes, &mut |data| draft.take(data, on_delta))
    }

    /// The stream is over: what is whole, or why it is not.
    fn finish(&mut self, on_delta: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let draft = &mut self.draft;
        // A last piece that does not parse is a cut stream, not garbage, unless the server had already finished.
        let last = self.events.finish(&mut |data| draft.take(data, on_delta));
        if self.events.seen() {
            return if self.draft.ended() { last } else { Err(advice::cut()) };
        }
        // A server that does not stream sends the whole completion as one object.
        let text = std::str::from_utf8(&self.raw)
            .map_err(|_| reply::garbage("its answer is not UTF-8".to_owned()))?;
        if text.trim().is_empty() {
            return Err(advice::cut());
        }
        if !text.trim_start().starts_with('{') {
            return Err(reply::garbage(format!("`{}`", reply::shorten(text))));
        }
        self.draft.take(text, on_delta)?;
        if self.draft.ended() { Ok(()) } else { Err(reply::garbage(format!("`{}`", reply::shorten(text)))) }
    }
}

impl Reasoner for OpenAi {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            provider: Proposer::Model,
            model: self.model.clone(),
            remote: self.remote,
            context_tokens: self.settings.context_tokens,
            prompt_tokens: self.prompt_tokens(),
            answer_tokens: self.answer_tokens(),
            cost_in_micros: self.settings.cost_in_micros,
            cost_out_micros: self.settings.cost_out_micros,
        }
    }

    fn encode(&self, pack: &ContextPack, tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        let offered: Vec<ToolSpec> = tools.iter().filter(|tool| self.offers(&tool.name)).cloned().collect();
        let settings = Settings {
            without: self.without(),
            answer_tokens: self.answer_tokens(),
            ..self.settings.clone()
        };
        let guided = self.settings.small && self.mode() == Mode::JsonSchema;
        let turn = guided.then(|| guide::Turn::of(&offered, pack));
        let tools = request::Tools {
            offered: &offered,
            usable: turn.as_ref().map_or(&offered, |turn| &turn.usable),
            guided: turn.as_ref().map(|turn| turn.words.as_str()),
        };
        request::encode(&self.model, &self.url, self.mode(), &settings, pack, &tools)
    }

    fn propose(
        &self,
        input: &Input<'_>,
        on_delta: &mut dyn FnMut(&str),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        if cancelled() {
            return Err(Error::Cancelled);
        }
        let mut heard = self.exchange(input.request, on_delta, cancelled)?;
        heard.finish(on_delta)?;
        let answer =
            heard.draft.finish(self.mode(), self.settings.cost_in_micros, self.settings.cost_out_micros);
        Ok(Reply { raw: heard.raw, answer })
    }
}
