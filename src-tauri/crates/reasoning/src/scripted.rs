//! Answers handed over by a test.

use crate::{Descriptor, Error, Input, Reasoner, Reply};
use model::context::ContextPack;
use model::proposal::{Answer, ToolCall, ToolSpec};
use model::task::Proposer;
use serde_json::Value;
use std::sync::Mutex;

type Say = Box<dyn FnMut(&Input<'_>) -> Result<Answer, Error> + Send>;

/// A reasoner that says what it was told to say.
pub struct Scripted {
    say: Mutex<Say>,
    descriptor: Descriptor,
}

impl Scripted {
    /// Gives these answers one after another; asked once more, it is unavailable.
    pub fn new(answers: Vec<Answer>) -> Self {
        let mut answers = answers.into_iter();
        Self::with(move |_| {
            answers.next().ok_or_else(|| Error::Unavailable {
                why: "the script has no more answers".to_owned(),
                advice: "give it more".to_owned(),
            })
        })
    }

    /// Asks the closure each time.
    pub fn with(say: impl FnMut(&Input<'_>) -> Result<Answer, Error> + Send + 'static) -> Self {
        Self {
            say: Mutex::new(Box::new(say)),
            descriptor: Descriptor::without_model(
                Proposer::Scripted,
                "script".to_owned(),
                model::limits::CONTEXT_TOKENS_DEFAULT,
            ),
        }
    }

    /// An answer of one tool call.
    pub fn call(name: &str, arguments: Value) -> Answer {
        Self::calls(vec![ToolCall { name: name.to_owned(), arguments }])
    }

    /// An answer of several tool calls.
    pub fn calls(calls: Vec<ToolCall>) -> Answer {
        Answer { calls, finish_reason: "tool_calls".to_owned(), ..Answer::default() }
    }

    /// An answer of text alone.
    pub fn text(text: &str) -> Answer {
        Answer { text: text.to_owned(), finish_reason: "stop".to_owned(), ..Answer::default() }
    }
}

impl Reasoner for Scripted {
    fn descriptor(&self) -> Descriptor {
        self.descriptor.clone()
    }

    fn encode(&self, pack: &ContextPack, tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        let names: Vec<&str> = tools.iter().map(|t| t.name.as_str()).collect();
        crate::recorded::json(&serde_json::json!({ "pack": pack, "tools": names }))
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
        // A poisoned script is a test that panicked while answering; its state is still whole.
        let mut say = self.say.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let answer = (*say)(input)?;
        if !answer.text.is_empty() {
            on_delta(crate::Delta::Text(&answer.text));
        }
        Ok(Reply { raw: crate::recorded::json(&answer)?, answer })
    }
}
