//! The port: what every provider answers, and the one way out to the network.

use crate::{Error, Prices};
use model::context::ContextPack;
use model::proposal::{Answer, ToolSpec, Usage};
use model::task::Proposer;
use model::{ArtifactId, Digest};
use std::collections::BTreeMap;

/// What a reasoner is, for people, for policy (is it remote?) and for the context compiler (how much fits?).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Descriptor {
    /// Who proposes.
    pub provider: Proposer,
    /// The model's or playbook's name.
    pub model: String,
    /// Whether the context leaves this machine: then a decision, a grant and a receipt are due (reconciliation C15).
    pub remote: bool,
    /// Tokens that prompt and answer together may have.
    pub context_tokens: u32,
    /// Tokens of them that a context may have, beside the answer, rules and tools; 0 when nothing more is known.
    #[serde(default)]
    pub prompt_tokens: u32,
    /// Tokens of one answer; 0 when nothing is known.
    #[serde(default)]
    pub answer_tokens: u32,
    /// Whether it is offered a few of Hermit's own tools and no others.
    #[serde(default)]
    pub few_tools: bool,
    /// Whether it is said to see pictures.
    #[serde(default)]
    pub sees: bool,
    /// Price of a million tokens read, in micro-units, as they cost most: a provider may ask more for what it keeps in its
    /// cache; 0 when none is known.
    pub cost_in_micros: u64,
    /// Price of a million tokens written, in micro-units; 0 when none is known.
    pub cost_out_micros: u64,
}

impl Descriptor {
    /// A reasoner without a model behind it: nothing leaves this machine, and a call costs nothing.
    pub const fn without_model(provider: Proposer, model: String, context_tokens: u32) -> Self {
        Self {
            provider,
            model,
            remote: false,
            context_tokens,
            prompt_tokens: 0,
            answer_tokens: 0,
            few_tools: false,
            sees: false,
            cost_in_micros: 0,
            cost_out_micros: 0,
        }
    }

    /// Tokens that a context may have; a quarter is kept for the answer where nothing more is known.
    pub const fn takes(&self) -> u32 {
        if self.prompt_tokens > 0 {
            return self.prompt_tokens;
        }
        self.context_tokens.saturating_sub(self.context_tokens / 4)
    }

    /// What a call costs at most that reads and writes so many tokens, in micro-units.
    pub fn price(&self, tokens_in: u64, tokens_out: u64) -> u64 {
        let prices = Prices { input: self.cost_in_micros, output: self.cost_out_micros, ..Prices::default() };
        prices.of(&Usage { tokens_in, tokens_out, ..Usage::default() })
    }

    /// Tokens to keep for the answer.
    pub const fn answers(&self) -> u32 {
        if self.answer_tokens > 0 { self.answer_tokens } else { self.context_tokens / 4 }
    }
}

/// One observation of this attempt, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The artifact that holds it.
    pub artifact_id: ArtifactId,
    /// `observe` for looks, `change` for results of change requests, `ask` for a person's answers, `command`.
    pub tool: String,
    /// One line about it.
    pub about: String,
    /// Digest of the bytes.
    pub sha256: Digest,
    /// The artifact's bytes, uncut.
    pub bytes: Vec<u8>,
}

/// Bytes of pictures by their digests.
pub type Pictures = BTreeMap<Digest, Vec<u8>>;

/// What a reasoner is asked with.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The exact bytes of [`Reasoner::encode`], already stored.
    pub request: &'a [u8],
    /// The pack they were made from.
    pub pack: &'a ContextPack,
    /// All observations of this attempt so far, newest last.
    pub observed: &'a [Observed],
    /// The iteration, from 1.
    pub iteration: u32,
    /// How long a server may be waited for that says when it may be asked again.
    pub wait_ms_max: u64,
}

/// A piece of an answer as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'a> {
    /// Words of the answer.
    Text(&'a str),
    /// Reasoning, which is no part of the answer.
    Reasoning(&'a str),
    /// How far the model has read what it was sent, in tokens, before anything of an answer comes.
    Reading {
        /// Read.
        done: u64,
        /// To read.
        of: u64,
    },
}

impl<'a> Delta<'a> {
    /// The words, when it is words of the answer.
    pub const fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Reasoning(_) | Self::Reading { .. } => None,
        }
    }
}

/// A question that is no turn of a task: words alone, and words come back.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// What the model is told first.
    pub system: &'a str,
    /// What was said, in order: whether by the model, and the words.
    pub turns: &'a [(bool, String)],
    /// Tokens of the answer.
    pub answer_tokens: u32,
}

/// What comes back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The exact bytes of the response, for the record.
    pub raw: Vec<u8>,
    /// What was read from them; unbelieved.
    pub answer: Answer,
}

/// Anything that can be asked what to do next (RX-8, HK-11.2: it proposes and never acts).
pub trait Reasoner: Send + Sync {
    /// What it is.
    fn descriptor(&self) -> Descriptor;

    /// The exact bytes that will be sent for this pack; stored before the call.
    ///
    /// # Errors
    /// When the pack cannot be put into this provider's form.
    fn encode(&self, pack: &ContextPack, tools: &[ToolSpec]) -> Result<Vec<u8>, Error>;

    /// The same with the pictures of the pack, by their digests; who shows none leaves them out.
    ///
    /// # Errors
    /// As [`Reasoner::encode`].
    fn encode_with(&self, pack: &ContextPack, tools: &[ToolSpec], _: &Pictures) -> Result<Vec<u8>, Error> {
        self.encode(pack, tools)
    }

    /// Asks. `on_delta` sees words and reasoning as they come; `cancelled` is asked between chunks.
    ///
    /// # Errors
    /// Every way in which no answer came; see [`Error`].
    fn propose(
        &self,
        input: &Input<'_>,
        on_delta: &mut dyn FnMut(Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error>;

    /// The exact bytes that will be sent for a question, which names no tool; stored before the call.
    ///
    /// # Errors
    /// [`Error::NotAllowed`] of whoever is no model.
    fn encode_question(&self, _: &Question<'_>) -> Result<Vec<u8>, Error> {
        Err(no_model())
    }

    /// Asks it, as [`Reasoner::propose`] does. What comes back is words; what a model would call is left out.
    ///
    /// # Errors
    /// As [`Reasoner::propose`], and [`Error::NotAllowed`] of whoever is no model.
    fn answer(
        &self,
        _request: &[u8],
        _on_delta: &mut dyn FnMut(Delta<'_>),
        _cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        Err(no_model())
    }
}

fn no_model() -> Error {
    Error::NotAllowed { why: "whoever proposes in this task is no model that answers questions".to_owned() }
}

/// The end of an HTTP exchange.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpReply {
    /// The status.
    pub status: u16,
    /// The body, unless it went through `on_chunk` already; then it may be empty.
    pub body: Vec<u8>,
    /// After how long the server says that it may be asked again (`Retry-After`, `retry-after-ms`).
    pub retry_after_ms: Option<u64>,
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// `Authorization: Bearer`.
    #[default]
    Bearer,
    /// The value alone, in a header of this name.
    Header(&'static str),
}

/// What the head of a request says besides its length and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head<'a> {
    /// Handle of the key, which the host resolves.
    pub secret: Option<&'a str>,
    /// How it is sent.
    pub scheme: Scheme,
    /// Further lines, none of them secret.
    pub also: &'static [(&'static str, &'static str)],
}

/// Why an HTTP exchange did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelHttpError {
    /// Nobody answers at that address.
    #[error("cannot connect: {0}")]
    Unreachable(String),
    /// It took longer than `timeout_ms`.
    #[error("no answer within {}", words::time::lasting(std::time::Duration::from_millis(*.0)))]
    TimedOut(u64),
    /// The connection ended in the middle.
    #[error("the connection was cut: {0}")]
    Cut(String),
    /// `on_chunk` said stop.
    #[error("stopped by the caller")]
    Stopped,
    /// The host does not allow this exchange, or has no value for the secret's handle.
    #[error("not allowed: {0}")]
    Denied(String),
}

/// The way out, implemented by the host. Secrets go in as handles; the host adds them as the
/// head says.
pub trait ModelHttp: Send + Sync {
    /// Posts `body` as `application/json` and hands every piece of the response body to `on_chunk` as it comes,
    /// whatever the status; stops as soon as `on_chunk` returns false. While nothing comes, an empty piece now and
    /// then (say, each 200 ms) lets the caller notice that it was cancelled.
    ///
    /// # Errors
    /// See [`ModelHttpError`]. An HTTP error status is not an error here.
    fn post(
        &self,
        url: &str,
        head: &Head<'_>,
        body: &[u8],
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError>;

    /// Asks for what is at an address, as [`Self::post`] sends: what a server says of itself.
    ///
    /// # Errors
    /// See [`ModelHttpError`]; ways out that only post refuse it.
    fn get(
        &self,
        _url: &str,
        _head: &Head<'_>,
        _timeout_ms: u64,
        _on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        Err(ModelHttpError::Denied("this way out only posts".to_owned()))
    }

    /// Waits that long while `goes_on` says so. False when it stopped before, or when this way out does not wait.
    fn wait(&self, _ms: u64, _goes_on: &dyn Fn() -> bool) -> bool {
        false
    }
}
