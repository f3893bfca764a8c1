//! More input for a task: recorded, then a delta that is absorbed at a durable boundary (HK-8.3-10).

use crate::kernel::{Kernel, lock};
use crate::Error;
use model::body::{IngressBound, IngressReceived, TaskInputAdded};
use model::fault::Point;
use model::ingress::{Channel, IngressRecord, IngressResolution, IngressStatus};
use model::{IngressId, Sensitive, TaskId, limits};

impl Kernel {
    /// Records words for a task and adds them as input not yet absorbed.
    ///
    /// # Errors
    /// [`Error::Conflict`] for an ended task: it is never reopened by a message; [`Error::Input`] for none or too much.
    pub fn append_note(
        &self,
        task_id: TaskId,
        text: &str,
        channel: Channel,
        idempotency_key: &str,
    ) -> Result<IngressId, Error> {
        if text.trim().is_empty() || text.len() > limits::GOAL_BYTES_MAX {
            return Err(Error::Input(format!("a note has 1 to {} bytes", limits::GOAL_BYTES_MAX)));
        }
        let cell = self.cell(task_id)?;
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        if state.task.status.is_terminal() {
            let status = state.task.status;
            return Err(Error::Conflict(format!("the task is {status}; a follow-up is a task of its own")));
        }
        let ingress_id = self.record_words(text, channel, Some(task_id), idempotency_key)?;
        let actor = self.actor(model::principal::PrincipalType::User)?;
        let mut w = self.writeup(Point::IngressBind, state, actor);
        w.push(TaskInputAdded { about_task_id: task_id, ingress_id, text: Sensitive::from(text.to_owned()) });
        self.commit(w, Some(state))?;
        Ok(ingress_id)
    }

    /// The ingress record of words that are bound to a task outright.
    pub(crate) fn record_words(
        &self,
        text: &str,
        channel: Channel,
        about: Option<TaskId>,
        idempotency_key: &str,
    ) -> Result<IngressId, Error> {
        let (conversation_id, inbox) = self.inbox(None)?;
        let ingress_id = IngressId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let mut w = self.inbox_writeup(Point::IngressReceive, inbox, ingress_id.to_string())?;
        let record = IngressRecord {
            ingress_id,
            conversation_id,
            source_channel: channel,
            raw_text: Sensitive::from(text.to_owned()),
            normalized_text: Sensitive::from(text.trim().to_owned()),
            status: IngressStatus::Received,
            resolution: IngressResolution::AppendNote,
            created_at: w.now,
            updated_at: w.now,
            actor: Some(w.actor.actor_id),
            explicit_task_ref: about,
            referenced_artifact_refs: Vec::new(),
            chosen_task_id: about,
            rationale: None,
            idempotency_key: idempotency_key.to_owned(),
        };
        w.push_keyed(Some(format!("ingress:{idempotency_key}")), IngressReceived { record });
        w.push(IngressBound {
            ingress_id,
            resolution: IngressResolution::AppendNote,
            chosen_task_id: about,
            candidates: Vec::new(),
            rationale: Sensitive::from("the task was named outright".to_owned()),
        });
        self.commit(w, None)?;
        Ok(ingress_id)
    }
}
