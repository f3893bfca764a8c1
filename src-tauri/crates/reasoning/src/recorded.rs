//! A transcript of answers: made by a [`Recorder`] around any reasoner, replayed by [`Recorded`].
//!
//! JSON Lines. The first line may name what was recorded, `{"descriptor":{…}}`; every other line is one exchange:
//! `{"request_sha256":"sha256:…","raw":"…text…"}` or `"raw_base64"` where the bytes are not UTF-8, and `"answer"`.

use crate::{Descriptor, Error, Input, Reasoner, Reply};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::Digest;
use model::context::ContextPack;
use model::proposal::{Answer, ToolSpec};
use model::task::Proposer;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// One exchange of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Digest of the request's bytes; a transcript written by hand may leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sha256: Option<Digest>,
    /// The response, when it is UTF-8 and tells nothing that the model reasoned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The response, when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_base64: Option<String>,
    /// What was read from it.
    pub answer: Answer,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    descriptor: Descriptor,
}

/// What was recorded, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// What was recorded, where the transcript says so.
    pub descriptor: Option<Descriptor>,
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
}

impl Transcript {
    /// Reads JSON Lines; empty lines are passed over.
    ///
    /// # Errors
    /// [`Error::Transcript`] naming the line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut transcript = Self { descriptor: None, exchanges: Vec::new() };
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if transcript.exchanges.is_empty()
                && transcript.descriptor.is_none()
                && let Ok(head) = serde_json::from_str::<Head>(line)
            {
                transcript.descriptor = Some(head.descriptor);
                continue;
            }
            let exchange: Exchange =
                serde_json::from_str(line).map_err(|e| misfit(format!("line {}: {e}", index + 1)))?;
            exchange.bytes().map_err(|e| misfit(format!("line {}: {e}", index + 1)))?;
            transcript.exchanges.push(exchange);
        }
        Ok(transcript)
    }
}

impl Exchange {
    /// Where the model reasoned, its answer stands for the exact bytes: what it reasons is in no file (HK-15.1).
    fn new(request: &[u8], reply: &Reply) -> Self {
        let request_sha256 = Some(Digest::of(request));
        if !reply.answer.reasoning.is_empty() {
            let answer = reply.answer.without_reasoning();
            return Self { request_sha256, raw: None, raw_base64: None, answer };
        }
        let text = String::from_utf8(reply.raw.clone()).ok();
        let coded = if text.is_none() { Some(STANDARD.encode(&reply.raw)) } else { None };
        Self { request_sha256, raw: text, raw_base64: coded, answer: reply.answer.clone() }
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        match (&self.raw, &self.raw_base64) {
            (Some(text), None) => Ok(text.clone().into_bytes()),
            (None, Some(coded)) => STANDARD.decode(coded).map_err(|e| format!("`raw_base64`: {e}")),
            (None, None) => serde_json::to_vec(&self.answer).map_err(|e| e.to_string()),
            (Some(_), Some(_)) => Err("`raw` and `raw_base64` exclude each other".to_owned()),
        }
    }
}

/// What a replay does with a request that is not the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// Refuses with [`Error::Transcript`].
    Strict,
    /// Goes on in order; [`Recorded::differing`] lists where it differed.
    Ordered,
    /// As [`Self::Ordered`], and the nth exchange answers the nth turn: a process that takes up an attempt goes on
    /// where the last one was.
    ByTurn,
}

/// Replays a transcript in order.
pub struct Recorded {
    transcript: Transcript,
    matching: Matching,
    state: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    next: usize,
    differing: Vec<usize>,
}

impl Recorded {
    /// Replays from the first exchange.
    pub fn new(transcript: Transcript, matching: Matching) -> Self {
        Self { transcript, matching, state: Mutex::new(Progress::default()) }
    }

    /// Indexes, from 0, of the exchanges whose request differed from the recorded one.
    pub fn differing(&self) -> Vec<usize> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).differing.clone()
    }

    /// How many exchanges are left.
    pub fn left(&self) -> usize {
        let next = self.state.lock().unwrap_or_else(PoisonError::into_inner).next;
        self.transcript.exchanges.len().saturating_sub(next)
    }
}

impl Reasoner for Recorded {
    fn descriptor(&self) -> Descriptor {
        let recorded = self.transcript.descriptor.clone();
        let name = recorded.as_ref().map_or_else(|| "transcript".to_owned(), |d| d.model.clone());
        let tokens = recorded.map_or(model::limits::CONTEXT_TOKENS_DEFAULT, |d| d.context_tokens);
        Descriptor::without_model(Proposer::Recorded, name, tokens)
    }

    fn encode(&self, pack: &ContextPack, tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        let names: Vec<&str> = tools.iter().map(|t| t.name.as_str()).collect();
        json(&serde_json::json!({ "pack": pack, "tools": names }))
    }

    fn propose(
        &self,
        input: &Input<'_>,
        on_delta: &mut dyn FnMut(crate::Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        if cancelled() {
            return Err(Error::Cancelled);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let index = match self.matching {
            Matching::ByTurn => usize::try_from(input.iteration.saturating_sub(1)).unwrap_or(usize::MAX),
            Matching::Strict | Matching::Ordered => state.next,
        };
        let exchange = self.transcript.exchanges.get(index).ok_or_else(|| {
            misfit(format!("it has {} answers and was asked for one more", self.transcript.exchanges.len()))
        })?;
        let asked = Digest::of(input.request);
        if exchange.request_sha256.is_some_and(|recorded| recorded != asked) {
            if self.matching == Matching::Strict {
                return Err(misfit(format!("request {} is not the one that was recorded", index + 1)));
            }
            state.differing.push(index);
        }
        state.next = index.saturating_add(1);
        if !exchange.answer.text.is_empty() {
            on_delta(crate::Delta::Text(&exchange.answer.text));
        }
        Ok(Reply { raw: exchange.bytes().map_err(misfit)?, answer: exchange.answer.clone() })
    }
}

/// Passes everything through and writes each turn down, one line each, flushed at once.
pub struct Recorder<R> {
    inner: R,
    out: Mutex<Box<dyn Write + Send>>,
}

impl<R: Reasoner> Recorder<R> {
    /// Writes the head line, then records around `inner`.
    ///
    /// # Errors
    /// [`Error::Transcript`] when it cannot be written.
    pub fn new(inner: R, out: Box<dyn Write + Send>) -> Result<Self, Error> {
        let recorder = Self { inner, out: Mutex::new(out) };
        recorder.line(&Head { descriptor: recorder.inner.descriptor() })?;
        Ok(recorder)
    }

    /// Goes on with a transcript that has its head line already.
    pub fn continuing(inner: R, out: Box<dyn Write + Send>) -> Self {
        Self { inner, out: Mutex::new(out) }
    }

    fn line(&self, value: &impl Serialize) -> Result<(), Error> {
        let mut bytes = json(value)?;
        bytes.push(b'\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(|e| misfit(format!("cannot write it: {e}")))
    }
}

impl<R: Reasoner> Reasoner for Recorder<R> {
    fn descriptor(&self) -> Descriptor {
        self.inner.descriptor()
    }

    fn encode(&self, pack: &ContextPack, tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        self.inner.encode(pack, tools)
    }

    fn propose(
        &self,
        input: &Input<'_>,
        on_delta: &mut dyn FnMut(crate::Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        let reply = self.inner.propose(input, on_delta, cancelled)?;
        self.line(&Exchange::new(input.request, &reply))?;
        Ok(reply)
    }

    fn encode_question(&self, question: &crate::Question<'_>) -> Result<Vec<u8>, Error> {
        self.inner.encode_question(question)
    }

    fn answer(
        &self,
        request: &[u8],
        on_delta: &mut dyn FnMut(crate::Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        // Beside the turns, and no turn: a replay, which answers none, would take it for the next one.
        self.inner.answer(request, on_delta, cancelled)
    }
}

pub(crate) fn json(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value)
        .map_err(|e| Error::Garbage { why: e.to_string(), advice: "report this as a defect".to_owned() })
}

fn misfit(why: impl Into<String>) -> Error {
    Error::Transcript { why: why.into() }
}
