//! A server of models, whichever protocol it speaks: what is asked, sent and heard stands here once, and each protocol is a
//! file in `api`.

pub mod advice;
mod api;
mod conversation;
mod draft;
mod guide;
mod ordered;
mod prices;
mod stream;
mod turns;

use crate::port::{Delta, Head, Pictures};
use crate::{Address, Descriptor, Error, Input, ModelHttp, Question, Reasoner, Reply};
use api::{Asking, Protocol};
use conversation::{Conversation, Tools, Turn};
use model::context::ContextPack;
use model::limits::{MODEL_WAIT_MS_MAX, MODEL_WAITS_MAX};
use model::proposal::ToolSpec;
use model::task::{ModelApi, Proposer};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

pub use prices::Prices;
pub use words::task::ToolMode;

/// Bytes of rules and of all tools in a request, roughly.
const TOOLS_BYTES: usize = 12_000;

/// Contexts up to this many tokens have no room for all tools.
pub const SMALL_CONTEXT_TOKENS: u32 = 4096;
/// What a small model is offered, and what a small context has room for: with more, Qwen2.5-Coder-1.5B loses its way.
pub const FEW_TOOLS: [&str; 8] = ["list", "read", "move", "edit", "write", "delete", "command", "done"];
/// Parameters of a request that a server may not know; what it refuses is left out from then on, and its limit of tokens
/// is named by the other of its two names.
pub const PARAMETERS: [&str; 7] =
    ["max_tokens", "temperature", "seed", "stream_options", "response_format", "tools", "cache_control"];

/// How a server is asked.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How tools are offered.
    pub mode: ToolMode,
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
    /// What its tokens cost.
    pub prices: Prices,
    /// Whether the model is said to see pictures.
    pub sees: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: ToolMode::Auto,
            offer: Vec::new(),
            small: false,
            without: BTreeSet::new(),
            secret: None,
            context_tokens: 4096,
            answer_tokens: 1024,
            temperature_milli: Some(0),
            seed: Some(1),
            timeout_ms: model::limits::MODEL_CALL_MS_MAX,
            prices: Prices::default(),
            sees: false,
        }
    }
}

impl Settings {
    /// Whether all tools are offered.
    pub fn offers_all(&self) -> bool {
        !self.offer.is_empty() || !self.small && self.context_tokens > SMALL_CONTEXT_TOKENS
    }
}

/// A server that speaks one of the protocols.
///
/// It opens no connection itself: everything goes through the [`ModelHttp`] it was given, with the key as a handle.
pub struct ModelServer {
    address: Address,
    base: String,
    model: String,
    protocol: &'static dyn Protocol,
    remote: bool,
    settings: Settings,
    egress: Arc<dyn ModelHttp>,
    /// What the server has refused since this was made.
    refused: Mutex<BTreeSet<String>>,
    learn: Option<Learn>,
}

/// Keeps the name of a parameter that a server has refused.
pub type Learn = Box<dyn Fn(&str) + Send + Sync>;

/// What the head of a request to a server of this protocol says.
pub fn head(api: ModelApi, secret: Option<&str>) -> Head<'_> {
    api::of(api).head(secret)
}

impl ModelServer {
    /// Connects nothing yet.
    ///
    /// # Errors
    /// [`Error::Address`] when the address is not of such a server.
    pub fn new(address: &Address, settings: Settings, egress: Arc<dyn ModelHttp>) -> Result<Self, Error> {
        let Address::Server { api, url, model } = address else {
            return Err(Error::Address {
                text: address.to_string(),
                why: "it names no server of models".to_owned(),
            });
        };
        Ok(Self {
            base: url.clone(),
            model: model.clone(),
            protocol: api::of(*api),
            remote: address.leaves_this_machine(),
            refused: Mutex::new(settings.without.clone()),
            address: address.clone(),
            settings,
            egress,
            learn: None,
        })
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

impl ModelServer {
    fn offers(&self, tool: &str) -> bool {
        match self.settings.offer.as_slice() {
            [] => self.settings.offers_all() || FEW_TOOLS.contains(&tool),
            // Names that are chosen are those of Hermit's own tools.
            chosen => model::tool_server::is_offered_name(tool) || chosen.iter().any(|name| name == tool),
        }
    }

    fn without(&self) -> BTreeSet<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The server does not know a parameter: it is left out from now on, when it was not already.
    fn unlearned(&self, status: u16, body: &[u8], request: &[u8]) -> Option<Error> {
        // The model in the box knows all of them: what it refuses is one request, and the grammar is what holds it.
        if self.address.in_box().is_some() {
            return None;
        }
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let parameter = advice::parameter(status, body, request, &refused, self.protocol);
        let (name, why) = parameter.or_else(|| advice::pictures(status, body, request, &refused))?;
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

    fn mode(&self) -> ToolMode {
        let wanted = match self.settings.mode {
            // Where no server of the protocol enforces a grammar, its own tools are the surer way.
            ToolMode::Auto if self.remote && !self.settings.small || !self.enforces() => ToolMode::Tools,
            ToolMode::Auto => ToolMode::JsonSchema,
            chosen => chosen,
        };
        // What is refused in both forms is written into the prompt, and the answer is read for the call in it.
        let without = self.without();
        match wanted {
            ToolMode::Tools if without.contains("tools") => ToolMode::JsonSchema,
            ToolMode::JsonSchema if without.contains("response_format") && !without.contains("tools") => {
                ToolMode::Tools
            }
            wanted => wanted,
        }
    }

    fn enforces(&self) -> bool {
        self.protocol.pointer("response_format").is_some()
    }

    /// Posts the request and collects what comes; the first thing that goes wrong ends it.
    fn exchange(
        &self,
        request: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Coming, Error> {
        let mut coming = Coming::of(self.protocol);
        let came = self.exchanged(&mut coming, request, on_delta, cancelled);
        if came.is_err() {
            coming.tell_begun(on_delta);
        }
        came.map(|()| coming)
    }

    fn exchanged(
        &self,
        coming: &mut Coming,
        request: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let mut broken = None;
        let url = self.protocol.endpoint(&self.base, &self.model);
        let outcome = {
            let mut on_chunk = |bytes: &[u8]| {
                let result = if cancelled() { Err(Error::Cancelled) } else { coming.take(bytes, on_delta) };
                broken = broken.take().or(result.err());
                broken.is_none()
            };
            let head = self.protocol.head(self.settings.secret.as_deref());
            self.egress.post(&url, &head, request, self.settings.timeout_ms, &mut on_chunk)
        };
        if cancelled() {
            return Err(Error::Cancelled);
        }
        let status = outcome.as_ref().map_or(200, |reply| reply.status);
        // An error page is no stream: its status says more than what its body fails to be.
        if let (Some(error), true) = (broken, status < 400) {
            return Err(error);
        }
        let reply = outcome.map_err(|error| advice::unreached(&self.address, error))?;
        if coming.raw.is_empty() {
            coming
                .take(&reply.body, on_delta)
                .or_else(|error| if status < 400 { Err(error) } else { Ok(()) })?;
        }
        match status {
            200..=299 => Ok(()),
            _ => Err(self.unlearned(status, &coming.raw, request).unwrap_or_else(|| {
                advice::refused(status, reply.retry_after_ms, &coming.raw, &self.address, &self.model)
            })),
        }
    }

    /// Asks once, and once more each time the server says after how long it may be asked again, as long as the task has
    /// that long.
    fn patiently(
        &self,
        (request, wait_ms_max): (&[u8], u64),
        on_delta: &mut dyn FnMut(Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Coming, Error> {
        let mut left = wait_ms_max.min(MODEL_WAIT_MS_MAX);
        for _ in 0..MODEL_WAITS_MAX {
            let error = match self.exchange(request, on_delta, cancelled) {
                Err(error) => error,
                heard => return heard,
            };
            let Error::Refused { retry_after_ms: Some(ms), .. } = &error else { return Err(error) };
            let wait = (*ms).max(1);
            if wait > left || !error.may_retry() || !self.egress.wait(wait, &|| !cancelled()) {
                return Err(if cancelled() { Error::Cancelled } else { error });
            }
            left = left.saturating_sub(wait);
        }
        self.exchange(request, on_delta, cancelled)
    }
}

/// What came so far.
struct Coming {
    raw: Vec<u8>,
    events: stream::Events,
    draft: draft::Draft,
    protocol: &'static dyn Protocol,
}

impl Coming {
    fn of(protocol: &'static dyn Protocol) -> Self {
        let events =
            if protocol.sends_lines() { stream::Events::of_lines() } else { stream::Events::default() };
        Self { raw: Vec::new(), events, draft: draft::Draft::default(), protocol }
    }

    fn take(&mut self, bytes: &[u8], on_delta: &mut dyn FnMut(Delta<'_>)) -> Result<(), Error> {
        if self.raw.len().saturating_add(bytes.len()) > RESPONSE_BYTES_MAX {
            return Err(Error::TooLong { bytes_max: RESPONSE_BYTES_MAX });
        }
        self.raw.extend_from_slice(bytes);
        let (draft, protocol) = (&mut self.draft, self.protocol);
        self.events.feed(bytes, &mut |data| protocol.take(data, draft, on_delta))
    }

    /// Tells with an empty piece that some of an answer came of which nothing comes: calls have no pieces of their own.
    fn tell_begun(&self, on_delta: &mut dyn FnMut(Delta<'_>)) {
        if self.draft.has_begun() {
            on_delta(Delta::Text(""));
        }
    }

    /// The stream is over: what is whole, or why it is not.
    fn finish(&mut self, on_delta: &mut dyn FnMut(Delta<'_>)) -> Result<(), Error> {
        let came = self.finished(on_delta);
        if came.is_err() {
            self.tell_begun(on_delta);
        }
        came
    }

    fn finished(&mut self, on_delta: &mut dyn FnMut(Delta<'_>)) -> Result<(), Error> {
        let (draft, protocol) = (&mut self.draft, self.protocol);
        let last = self.events.finish(&mut |data| protocol.take(data, draft, on_delta));
        if self.events.seen() {
            let is_whole = protocol.sends_lines() && self.raw.trim_ascii_end().ends_with(b"}");
            // A last piece that does not parse is a cut stream, not garbage, unless the server had already finished.
            if self.draft.ended() || is_whole {
                last?;
            }
        } else {
            self.whole(on_delta)?;
        }
        if !self.draft.ended() {
            return Err(advice::cut());
        }
        self.draft.flush(on_delta)
    }

    /// A server that does not stream sends the whole answer as one object.
    fn whole(&mut self, on_delta: &mut dyn FnMut(Delta<'_>)) -> Result<(), Error> {
        let text = std::str::from_utf8(&self.raw)
            .map_err(|_| draft::garbage("its answer is not UTF-8".to_owned()))?;
        if text.trim().is_empty() {
            return Err(advice::cut());
        }
        let none = || draft::garbage(draft::quoted(text));
        if !text.trim_start().starts_with('{') {
            return Err(none());
        }
        self.protocol.take(text, &mut self.draft, on_delta)?;
        if self.draft.ended() { Ok(()) } else { Err(none()) }
    }
}

impl Reasoner for ModelServer {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            provider: Proposer::Model,
            model: self.model.clone(),
            remote: self.remote,
            context_tokens: self.settings.context_tokens,
            prompt_tokens: self.prompt_tokens(),
            few_tools: !self.settings.offers_all(),
            sees: self.settings.sees && !self.without().contains(advice::PICTURES),
            answer_tokens: self.answer_tokens(),
            cost_in_micros: self.settings.prices.most_read(),
            cost_out_micros: self.settings.prices.output,
        }
    }

    fn encode(&self, pack: &ContextPack, tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        self.encode_with(pack, tools, &Pictures::new())
    }

    fn encode_with(
        &self,
        pack: &ContextPack,
        tools: &[ToolSpec],
        pictures: &Pictures,
    ) -> Result<Vec<u8>, Error> {
        let offered: Vec<ToolSpec> = tools.iter().filter(|tool| self.offers(&tool.name)).cloned().collect();
        let settings = Settings {
            without: self.without(),
            answer_tokens: self.answer_tokens(),
            ..self.settings.clone()
        };
        let guided = self.settings.small && self.mode() == ToolMode::JsonSchema;
        let turn = guided.then(|| guide::Turn::of(&offered, pack));
        let tools = Tools {
            offered: &offered,
            usable: turn.as_ref().map_or(&offered, |turn| &turn.usable),
            guided: turn.as_ref().map(|turn| turn.words.as_str()),
        };
        let by_schema = self.mode() == ToolMode::JsonSchema && !offered.is_empty();
        let schema = by_schema.then(|| conversation::actions(tools.usable));
        self.protocol.encode(&Asking {
            model: &self.model,
            url: &self.base,
            mode: self.mode(),
            settings: &settings,
            conversation: &Conversation::of(pack, &tools, by_schema, pictures),
            offered: &offered,
            schema: schema.as_ref(),
        })
    }

    fn propose(
        &self,
        input: &Input<'_>,
        on_delta: &mut dyn FnMut(Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        if cancelled() {
            return Err(Error::Cancelled);
        }
        let mut coming = self.patiently((input.request, input.wait_ms_max), on_delta, cancelled)?;
        coming.finish(on_delta)?;
        let answer = coming.draft.finish(self.mode(), &self.settings.prices);
        Ok(Reply { raw: coming.raw, answer })
    }

    fn encode_question(&self, question: &Question<'_>) -> Result<Vec<u8>, Error> {
        let settings = Settings {
            without: self.without(),
            answer_tokens: question.answer_tokens.min(self.answer_tokens()),
            ..self.settings.clone()
        };
        let turn = |(is_model, text): &(bool, String)| match is_model {
            true => Turn::Model(text.clone()),
            false => Turn::User(text.clone()),
        };
        let turns = question.turns.iter().map(turn).collect();
        self.protocol.encode(&Asking {
            model: &self.model,
            url: &self.base,
            mode: ToolMode::Tools,
            settings: &settings,
            conversation: &Conversation { system: question.system.to_owned(), turns },
            offered: &[],
            schema: None,
        })
    }

    fn answer(
        &self,
        request: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        let mut coming = self.patiently((request, MODEL_WAIT_MS_MAX), on_delta, cancelled)?;
        coming.finish(on_delta)?;
        let mut answer = coming.draft.finish(ToolMode::Tools, &self.settings.prices);
        answer.calls.clear();
        Ok(Reply { raw: coming.raw, answer })
    }
}
