//! An agent of another program, which proposes call by call over a connection of its own and is never asked.

use crate::{Delta, Descriptor, Error, Input, Reasoner, Reply};
use model::Digest;
use model::context::ContextPack;
use model::proposal::{Answer, Stop, ToolCall, ToolSpec, Usage};
use model::task::Proposer;
use serde::{Deserialize, Serialize};

/// Tokens of the pack that is kept with each call; it is sent to nobody.
const PACK_TOKENS: u32 = 2_000;

/// Who proposes: a program and its version, by its own word.
#[derive(Debug, Clone)]
pub struct Session {
    model: String,
}

/// A call as its agent made it, under the key by which it is known again.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The key.
    pub key: String,
    /// Whether its agent gave the key, and it was not made of the call.
    pub named: bool,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: serde_json::Value,
    /// Digest of tool and arguments.
    pub sha256: Digest,
    /// Keys of earlier calls whose results its agent has received.
    pub seen: Vec<String>,
}

/// What is kept as the exact bytes of a call; its arguments stand in the answer that is kept beside it, without the
/// values of secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// The key.
    pub key: String,
    /// Whether its agent gave the key.
    pub named: bool,
    /// The tool.
    pub tool: String,
    /// Digest of tool and arguments.
    pub sha256: Digest,
    /// Keys of earlier calls whose results its agent has received.
    pub seen: Vec<String>,
}

impl Call {
    /// The call as an answer with one proposal.
    ///
    /// # Errors
    /// When it has no canonical form.
    pub fn reply(&self) -> Result<Reply, Error> {
        let Self { key, named, tool, arguments, sha256, seen } = self.clone();
        let said = Said { key, named, tool: tool.clone(), sha256, seen };
        let answer = Answer {
            text: String::new(),
            reasoning: String::new(),
            calls: vec![ToolCall { name: tool, arguments }],
            usage: Usage::default(),
            finish_reason: "call".to_owned(),
            stop: Stop::Ended,
        };
        Ok(Reply { raw: crate::recorded::json(&said)?, answer })
    }
}

impl Session {
    /// The agent of a program.
    pub fn new(client: &str, version: &str) -> Self {
        Self { model: format!("{client} {version}").trim_end().to_owned() }
    }
}

impl Reasoner for Session {
    fn descriptor(&self) -> Descriptor {
        Descriptor::without_model(Proposer::Session, self.model.clone(), PACK_TOKENS)
    }

    fn encode(&self, pack: &ContextPack, _tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        crate::recorded::json(&serde_json::json!({ "session": self.model, "call": pack.iteration }))
    }

    fn propose(
        &self,
        _input: &Input<'_>,
        _on_delta: &mut dyn FnMut(Delta<'_>),
        _cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        Err(Error::NotAllowed { why: format!("`{}` proposes by itself and is never asked", self.model) })
    }
}
