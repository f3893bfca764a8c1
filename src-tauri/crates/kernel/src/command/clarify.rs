//! A person answers a question (reconciliation C25).

use super::add_input::{Voice, Words, noted};
use crate::Error;
use crate::kernel::Kernel;
use model::attempt::AttemptStatus;
use model::body::{ClarificationAnswered, TaskInputAdded};
use model::fault::Point;
use model::ingress::ClarificationStatus;
use model::{ClarificationId, Sensitive, TaskId};

impl Kernel {
    /// Records the answer as an ingress bound to the task, and lets the attempt go on.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the question is closed.
    pub fn answer(
        &self,
        task_id: TaskId,
        clarification_id: ClarificationId,
        text: &str,
        voice: impl Into<Voice>,
    ) -> Result<(), Error> {
        let key = format!("answer:{clarification_id}");
        self.answer_as(task_id, clarification_id, text, voice.into(), &key, "the question was named outright")
    }

    /// The same, with what makes it harmless when it comes again and why it is the answer.
    pub(crate) fn answer_as(
        &self,
        task_id: TaskId,
        clarification_id: ClarificationId,
        text: &str,
        voice: Voice,
        key: &str,
        why: &str,
    ) -> Result<(), Error> {
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        let question = state
            .clarifications
            .get(&clarification_id)
            .ok_or_else(|| Error::NotFound { kind: "question", id: clarification_id.to_string() })?;
        if question.status != ClarificationStatus::Pending {
            return Err(Error::Conflict(format!("the question is {} already", question.status)));
        }
        // One commit: an answer on record that the question never got could not be given again.
        let (w, ingress_id) = self.words(&state, Words { why, ..noted(text, voice, key)? })?;
        let mut tx = self.tx_from(&cell, state, w);
        tx.at(Point::ClarificationAnswer);
        tx.push_keyed(
            Some(format!("resolve:{clarification_id}")),
            ClarificationAnswered { clarification_id, ingress_id },
        );
        tx.push(TaskInputAdded {
            about_task_id: task_id,
            ingress_id,
            text: Sensitive::from(text.to_owned()),
        });
        if tx.task.status == model::task::TaskStatus::Blocked {
            tx.unblock("answered")?;
            tx.set_attempt(AttemptStatus::CompilingContext, "answered")?;
        }
        tx.commit()?;
        Ok(())
    }
}
