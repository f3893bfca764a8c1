//! A person says what an open message is about. Its words stay those of whoever sent them.

use super::add_input::{Answers, Recorded, Words, used_before};
use super::ingress::{Bound, bound, broken, once};
use super::submit::{Submission, Submitted};
use crate::Error;
use crate::kernel::Kernel;
use crate::redaction;
use crate::sender::Sender;
use model::body::DuplicateRefused;
use model::fault::Point;
use model::ingress::{Channel, IngressResolution, IngressStatus};
use model::principal::PrincipalType;
use model::task::{Origin, Task, TaskContract};
use model::{Body, IngressId, TaskId};
use projections::rows::IngressRow;

/// What a person says an open message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// This task: more input for it, or a task that follows it when it has ended.
    Task(TaskId),
    /// Work of its own under this task, which gets none of its working state.
    Child(TaskId),
    /// Work of its own, in the folder and by the reasoner of this task.
    New(TaskId),
    /// Talk that starts no work.
    Talk,
}

const SAID: &str = "a person said what it is about";

impl Kernel {
    /// A person says what an open message is about. It is bound once.
    ///
    /// # Errors
    /// [`Error::NotFound`], and [`Error::Conflict`] when it is bound already.
    pub fn bind_message(&self, ingress_id: IngressId, about: About) -> Result<Bound, Error> {
        let (row, text) = self.open_message(ingress_id)?;
        let (why, sender) = (SAID, self.sender_of(&row)?);
        match about {
            About::Task(task) if self.has_ended(task)? => {
                self.follow(task, ingress_id, &text, sender, why, row.candidates)
            }
            About::Task(task) => self.add_to(task, &row, &text, sender, why),
            About::Child(task) => {
                let mut work = self.work_like(task, &text, sender, ingress_id)?;
                work.parent_task_id = Some(task);
                self.make(&work, ingress_id, (why, None), row.candidates)
            }
            About::New(task) => {
                let work = self.work_like(task, &text, sender, ingress_id)?;
                self.make(&work, ingress_id, (why, None), row.candidates)
            }
            About::Talk => {
                let (_, inbox) = self.inbox(Some(row.conversation_id))?;
                let sender = Sender::from(Channel::App);
                let mut w = self.inbox_writeup(Point::IngressBind, inbox, ingress_id.to_string(), sender)?;
                bound(&mut w, ingress_id, IngressResolution::ChatOnly, None, row.candidates.clone(), why);
                self.commit(w).map_err(once)?;
                let resolution = IngressResolution::ChatOnly;
                Ok(Bound {
                    ingress_id,
                    resolution,
                    task_id: None,
                    candidates: row.candidates,
                    rationale: why.into(),
                })
            }
        }
    }

    /// An open message begins this work, whose goal are its words: they stay those of whoever sent them.
    ///
    /// # Errors
    /// As [`Kernel::bind_message`], and as [`Kernel::submit`].
    pub fn begin_with(&self, ingress_id: IngressId, work: Submission) -> Result<Bound, Error> {
        let (row, goal) = self.open_message(ingress_id)?;
        let sender = self.sender_of(&row)?;
        let (channel, by, conversation_id) = (sender.channel, Some(sender.by), Some(row.conversation_id));
        let work = Submission { goal, channel, by, conversation_id, ..work };
        let begun = Some(begun(&work.idempotency_key));
        self.make(&work, ingress_id, (SAID, begun), row.candidates)
    }

    /// As [`Kernel::begin_with`], once for each key: whoever asks again, because no answer came, gets the task that it began.
    ///
    /// # Errors
    /// As [`Kernel::begin_with`], and [`Error::Conflict`] when the key was used for another request.
    pub fn begin_once(&self, ingress_id: IngressId, work: &Submission) -> Result<Submitted, Error> {
        let again = |task_id| Submitted { task_id, ingress_id, duplicate: true };
        if let Some(task) = self.begun_with(ingress_id, work)? {
            return Ok(again(task));
        }
        match self.begin_with(ingress_id, work.clone()) {
            Ok(Bound { task_id: Some(task_id), .. }) => {
                Ok(Submitted { task_id, ingress_id, duplicate: false })
            }
            Ok(_) => Err(Error::NotFound { kind: "message", id: ingress_id.to_string() }),
            // The same request may have come at the same time, and before this one.
            Err(Error::Conflict(why)) => match self.begun_with(ingress_id, work)? {
                Some(task) => Ok(again(task)),
                None => Err(Error::Conflict(why)),
            },
            Err(other) => Err(other),
        }
    }

    /// The task that the same request began with this message before; none where it did not. That it came again is recorded (HK-13.3-2).
    fn begun_with(&self, ingress_id: IngressId, work: &Submission) -> Result<Option<TaskId>, Error> {
        let key = redaction::key(&self.ports.redactor.now(), &begun(&work.idempotency_key));
        let Some(stored) = self.reader.by_idempotency_key(&key)? else { return Ok(None) };
        let Body::TaskCreated(first) = self.body_of(&stored.event()?)? else {
            return Err(used_before(&work.idempotency_key));
        };
        let is_same = first.ingress_id == ingress_id
            && first.task.workspace_hint == Some(work.workspace_id)
            && first.task.policy_profile_ref == work.profile
            && self.is_same_work(&first.task, work)?;
        if !is_same {
            return Err(used_before(&work.idempotency_key));
        }
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::IngressReceive, actor, ingress_id.to_string(), None)?;
        w.push(DuplicateRefused {
            idempotency_key: work.idempotency_key.clone(),
            original_event_id: stored.event_id,
            what: "ingress".to_owned(),
        });
        self.commit(w)?;
        Ok(Some(first.task.task_id))
    }

    /// Whether a task was begun by the same reasoner and under the same terms.
    fn is_same_work(&self, task: &Task, work: &Submission) -> Result<bool, Error> {
        let cell = self.cell(task.task_id)?;
        let state = self.lock_task(&cell)?;
        let contract: TaskContract = self.read_object(&state, task.task_contract_ref)?;
        let reasoning = self.reasoning_of(&state, contract.model.clone())?;
        let fallbacks = contract.fallbacks.iter().map(|next| self.reasoning_of(&state, next.clone()));
        let fallbacks = fallbacks.collect::<Result<Vec<_>, _>>()?;
        let same = |now: &Submission| {
            now.reasoning == reasoning
                && now.fallbacks == fallbacks
                && now.budget == contract.budget
                && now.constraints == contract.constraints
                && now.done_when == contract.success_criteria
                && now.asks_at_limit == contract.asks_at_limit
        };
        // It was kept without the values of secrets.
        let bytes = serde_json::to_vec(work).map_err(|e| Error::Input(e.to_string()))?;
        let kept = serde_json::from_slice(&self.ports.redactor.now().bytes(&bytes).rest);
        Ok(same(work) || kept.is_ok_and(|kept| same(&kept)))
    }

    /// A message of which nobody has said yet what it is about, and its words.
    fn open_message(&self, ingress_id: IngressId) -> Result<(IngressRow, String), Error> {
        let row = self.query()?.message(ingress_id).map_err(broken)?;
        let row = row.ok_or_else(|| Error::NotFound { kind: "message", id: ingress_id.to_string() })?;
        if row.status == IngressStatus::Bound {
            return Err(Error::Conflict("the message is bound already".to_owned()));
        }
        let text = row.text.shown().cloned();
        let text = text.ok_or_else(|| Error::Conflict("the message was erased".to_owned()))?;
        Ok((row, text))
    }

    /// An open message becomes input of a task at work.
    fn add_to(
        &self,
        task: TaskId,
        row: &IngressRow,
        text: &str,
        sender: Sender,
        why: &str,
    ) -> Result<Bound, Error> {
        let cell = self.cell(task)?;
        let state = self.lock_task(&cell)?;
        // It may have ended since it was looked at.
        self.hears_words(&state)?;
        let (_, inbox) = self.inbox(Some(row.conversation_id))?;
        let mut w = self.inbox_writeup(Point::IngressBind, inbox, row.ingress_id.to_string(), sender)?;
        let (ingress_id, resolution) = (row.ingress_id, IngressResolution::AppendNote);
        let given = self.enclosed_in(ingress_id)?;
        let (answers, with) = (Answers::default(), None);
        let words = Words { text, sender, key: "", resolution, why, answers, with, names: false };
        bound(&mut w, ingress_id, resolution, Some(task), row.candidates.clone(), why);
        self.go_on_in(&mut w, &state);
        let given = super::enclose::hand_over(&mut w, &given);
        let mut tx = self.tx_from(&cell, state, w);
        tx.push(words.added(task, &Recorded { ingress_id, given }));
        tx.commit().map_err(once)?;
        let candidates = row.candidates.clone();
        Ok(Bound { ingress_id, resolution, task_id: Some(task), candidates, rationale: why.to_owned() })
    }

    /// Work of its own in the folder and by the reasoner of another task; of what that one knows it gets nothing.
    pub(super) fn work_like(
        &self,
        task: TaskId,
        text: &str,
        sender: Sender,
        ingress_id: IngressId,
    ) -> Result<Submission, Error> {
        let cell = self.cell(task)?;
        let state = self.lock_task(&cell)?;
        let like = self.work_of(&state, ingress_id)?;
        let attachments = Vec::new();
        let (goal, title, steps) = (text.to_owned(), String::new(), Vec::new());
        let (channel, by, constraints) = (sender.channel, Some(sender.by), of_a_person(&like));
        let continuation_anchor = None;
        Ok(Submission {
            goal,
            title,
            steps,
            constraints,
            channel,
            by,
            attachments,
            continuation_anchor,
            ..like
        })
    }
}

/// What must be kept to in work like this: as far as a person said so, else it would become the word of who follows.
pub(super) fn of_a_person(like: &Submission) -> Vec<String> {
    if like.sender().origin() == Origin::Person { like.constraints.clone() } else { Vec::new() }
}

/// The key of the task that a request with this key begins with an open message.
fn begun(key: &str) -> String {
    format!("begun:{key}")
}
