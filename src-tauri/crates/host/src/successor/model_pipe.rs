//! What a clone and its parent say to each other about a model that is asked. The clone has no network: it names a context and the tools,
//! its parent writes the request, and sends what it wrote itself, and nothing else, when the clone asks for the answer to it.
//!
//! A line each way, on the clone's standard output and input.

use super::recorded_executors::RecordedWorld;
use super::recording::decoded;
use model::Digest;
use model::context::ContextPack;
use model::proposal::{Answer, ToolSpec};
use reasoning::{Delta, Descriptor, Error, Input, Reasoner, Reply};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::Arc;

/// What a line of a clone begins with that asks something; evidence begins otherwise.
pub(super) const ASKS: &[u8] = b"ask ";
/// Bytes of one line that is read.
pub(super) const LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What a clone asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Ask {
    /// The bytes of the request for a context.
    Write {
        /// The context.
        pack: Box<ContextPack>,
        /// The tools that the task offers.
        tools: Vec<ToolSpec>,
    },
    /// The model's answer to the request that was written last.
    Answer {
        /// The task, by its place in the case.
        task: usize,
        /// Digest of that request.
        request_sha256: Digest,
    },
}

/// What it is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Told {
    /// The bytes of the request, in base64.
    Request(String),
    /// What the model answered.
    Answer(Answer),
    /// The model's server does not know a parameter: the request is to be written again.
    Without {
        /// Which.
        name: String,
        /// What the server said.
        why: String,
    },
    /// The answer was longer than an answer may be.
    TooLong,
    /// Nothing was asked, and why.
    No(String),
}

/// The model that a clone's parent asks for it.
pub(super) struct PipedModel {
    task: usize,
    descriptor: Descriptor,
    world: Arc<RecordedWorld>,
}

impl PipedModel {
    /// At work on a task of the case, by its place there.
    pub(super) fn new(task: usize, descriptor: Descriptor, world: &Arc<RecordedWorld>) -> Self {
        Self { task, descriptor, world: Arc::clone(world) }
    }
}

impl Reasoner for PipedModel {
    fn descriptor(&self) -> Descriptor {
        self.descriptor.clone()
    }

    fn encode(&self, pack: &ContextPack, tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        let ask = Ask::Write { pack: Box::new(pack.clone()), tools: tools.to_vec() };
        match asked(&ask)? {
            Told::Request(text) => decoded(&text).ok_or_else(|| silent(&"the request cannot be read")),
            other => Err(refusal(other)),
        }
    }

    fn propose(
        &self,
        input: &Input<'_>,
        _: &mut dyn FnMut(Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        if cancelled() {
            return Err(Error::Cancelled);
        }
        // What it is answered from here on is told by no recording.
        if self.world.diverged().is_some() {
            return Err(Error::Transcript { why: "the task has left its recording".to_owned() });
        }
        let ask = Ask::Answer { task: self.task, request_sha256: Digest::of(input.request) };
        match asked(&ask)? {
            Told::Answer(answer) => {
                let raw = serde_json::to_vec(&answer).map_err(|e| silent(&e))?;
                Ok(Reply { raw, answer })
            }
            other => Err(refusal(other)),
        }
    }
}

fn silent(why: &dyn Display) -> Error {
    Error::NotAllowed { why: format!("whoever made this clone gives no answer: {why}") }
}

fn refusal(told: Told) -> Error {
    match told {
        Told::Without { name, why } => Error::Parameter { name, why },
        Told::TooLong => Error::TooLong { bytes_max: model::limits::MODEL_ANSWER_BYTES_MAX },
        Told::No(why) => Error::NotAllowed { why },
        Told::Request(_) | Told::Answer(_) => silent(&"it answers something else"),
    }
}

/// Asks, and waits for what is told.
fn asked(ask: &Ask) -> Result<Told, Error> {
    let mut line = ASKS.to_vec();
    serde_json::to_writer(&mut line, ask).map_err(|e| silent(&e))?;
    line.push(b'\n');
    {
        let mut out = std::io::stdout().lock();
        out.write_all(&line).and_then(|()| out.flush()).map_err(|e| silent(&e))?;
    }
    let mut told = Vec::new();
    std::io::stdin().lock().take(LINE_BYTES_MAX).read_until(b'\n', &mut told).map_err(|e| silent(&e))?;
    serde_json::from_slice(&told).map_err(|e| silent(&e))
}
