//! A person answers a question (reconciliation C25).

use super::add_input::{Answers, Words, noted};
use super::enclose::Enclosed;
use crate::Error;
use crate::drive::asked::is_asked_by_server;
use crate::drive::awaited::may_answer;
use crate::kernel::Kernel;
use crate::sender::Sender;
use model::attempt::AttemptStatus;
use model::body::ClarificationAnswered;
use model::fault::Point;
use model::ingress::{Channel, ClarificationStatus};
use model::{ClarificationId, TaskId};

impl Kernel {
    /// Records the answer as an ingress bound to the task, and lets the attempt go on.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the question is closed; [`Error::Refused`] for words that are not a person's.
    pub fn answer(
        &self,
        task_id: TaskId,
        clarification_id: ClarificationId,
        text: &str,
        sender: impl Into<Sender>,
    ) -> Result<(), Error> {
        self.answer_heard(task_id, clarification_id, text, sender, false)
    }

    /// The same, with the mark whether the answer was spoken and written down by a machine (RA-3-15). It is the same answer.
    ///
    /// # Errors
    /// As [`Kernel::answer`].
    pub fn answer_heard(
        &self,
        task_id: TaskId,
        clarification_id: ClarificationId,
        text: &str,
        sender: impl Into<Sender>,
        spoken: bool,
    ) -> Result<(), Error> {
        let (key, with) = (format!("answer:{clarification_id}"), Enclosed::heard(spoken));
        let words = noted(text, sender, &key)?;
        let why = "the question was named outright";
        self.answer_as(task_id, clarification_id, Words { why, with: Some(&with), ..words })
    }

    /// The same, with what makes it harmless when it comes again and why it is the answer.
    pub(crate) fn answer_as(
        &self,
        task_id: TaskId,
        clarification_id: ClarificationId,
        words: Words<'_>,
    ) -> Result<(), Error> {
        let is_put_there = words.sender.channel == Channel::Chat;
        if !is_put_there {
            words.sender.speaks_for_the_person("answer a question")?;
        }
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        let question = state
            .clarifications
            .get(&clarification_id)
            .ok_or_else(|| Error::NotFound { kind: "question", id: clarification_id.to_string() })?;
        if question.status != ClarificationStatus::Pending {
            return Err(Error::Conflict(format!("the question is {} already", question.status)));
        }
        if let Some(limit) = state.limit_of(clarification_id) {
            words.sender.speaks_for_the_person("raise a limit")?;
            let answers = Answers { prompt: Some(clarification_id), ..words.answers };
            return self.answer_limit(&cell, state, (clarification_id, limit), Words { answers, ..words });
        }
        may_answer(&state, question, &words)?;
        // One commit: an answer on record that the question never got could not be given again.
        let answers = Answers { prompt: Some(clarification_id), ..words.answers };
        let words = Words { answers, ..words };
        let is_for_server = is_asked_by_server(&state);
        if is_for_server {
            words.sender.speaks_for_the_person("answer a server of tools")?;
        }
        if is_for_server && words.with.is_some_and(|with| !with.is_empty()) {
            let why = "a server of tools asks, and gets your words alone; answer without a file and without a quotation";
            return Err(Error::Input(why.to_owned()));
        }
        let (w, as_recorded) = self.words(&state, words)?;
        let mut tx = self.tx_from(&cell, state, w);
        tx.at(Point::ClarificationAnswer);
        tx.push_keyed(
            Some(format!("resolve:{clarification_id}")),
            ClarificationAnswered { clarification_id, ingress_id: as_recorded.ingress_id },
        );
        // What is said to a server is not said to the model.
        if !is_for_server {
            tx.push(words.added(task_id, &as_recorded));
        }
        if tx.task.status == model::task::TaskStatus::Blocked {
            tx.unblock("answered")?;
            tx.set_attempt(AttemptStatus::CompilingContext, "answered")?;
        }
        tx.commit()?;
        if is_for_server {
            self.say_to_server(&cell, clarification_id, words.text);
        }
        Ok(())
    }
}
