//! More input for a task: recorded, and in the same commit a delta that is absorbed at a durable boundary
//! (HK-8.3-10). One commit, so that no crash can leave words on record that their task never hears.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::state::TaskState;
use crate::writeup::Writeup;
use model::body::{DuplicateRefused, IngressBound, IngressReceived, TaskInputAdded};
use model::fault::Point;
use model::ingress::{Channel, IngressRecord, IngressResolution, IngressStatus};
use model::principal::PrincipalType;
use model::{Body, Event, EventId, IngressId, Sensitive, TaskId, limits};

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
        let (mut w, ingress_id) = self.words(state, text, channel, idempotency_key)?;
        w.push(TaskInputAdded { about_task_id: task_id, ingress_id, text: Sensitive::from(text.to_owned()) });
        match self.commit(w, Some(state)) {
            Ok(_) => Ok(ingress_id),
            Err(Error::Ledger(ledger::Error::Duplicate { event_id })) => {
                self.said_before(idempotency_key, event_id)
            }
            Err(error) => Err(error),
        }
    }

    /// The first result stands, and that it came again is recorded (HK-13.3-2).
    fn said_before(&self, idempotency_key: &str, original_event_id: EventId) -> Result<IngressId, Error> {
        let stored = self
            .reader
            .event(original_event_id)?
            .ok_or_else(|| Error::Broken(format!("event `{original_event_id}` is missing")))?;
        let Body::IngressReceived(received) = self.body_of(&Event::from_bytes(&stored.bytes)?)? else {
            return Err(Error::Conflict(format!("`{idempotency_key}` was used for something else")));
        };
        let ingress_id = received.record.ingress_id;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::IngressReceive, actor, ingress_id.to_string(), None)?;
        w.push(DuplicateRefused {
            idempotency_key: idempotency_key.to_owned(),
            original_event_id,
            what: "ingress".to_owned(),
        });
        self.commit(w, None)?;
        Ok(ingress_id)
    }

    /// A writeup that begins with the ingress record of words bound to a task outright, and goes on in that task.
    pub(crate) fn words(
        &self,
        state: &TaskState,
        text: &str,
        channel: Channel,
        idempotency_key: &str,
    ) -> Result<(Writeup<'_>, IngressId), Error> {
        let about = Some(state.task.task_id);
        let (conversation_id, inbox) = self.inbox(None)?;
        let ingress_id = IngressId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let mut w = self.inbox_writeup(Point::IngressBind, inbox, ingress_id.to_string())?;
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
        let in_task = self.writeup(Point::IngressBind, state, w.actor);
        w.scope = in_task.scope;
        w.batch.expect = in_task.batch.expect;
        Ok((w, ingress_id))
    }
}
