//! A command that a person wrote in a conversation: recorded as what came in before it does anything (HK-8.1.2-4), and bound as
//! `control` to the task that it is about (HK-8.1.3-1). What it does is done by the command it stands for.

use super::ingress::Saying;
use super::submit::{Submission, Submitted};
use crate::Error;
use crate::kernel::Kernel;
use crate::sender::Sender;
use model::body::IngressBound;
use model::fault::Point;
use model::ingress::{IngressRecord, IngressResolution, IngressStatus};
use model::{ConversationId, IngressId, Sensitive, TaskId};

impl Kernel {
    /// Records a command about a task, or about none. `false` beside its record: it came before, and is not to be done again.
    ///
    /// # Errors
    /// [`Error::Input`] for too much, [`Error::Refused`] for words that are no person's, and what the store says.
    pub fn commanded(
        &self,
        saying: &Saying<'_>,
        about: Option<TaskId>,
        why: &str,
    ) -> Result<(IngressId, bool), Error> {
        let (conversation_id, inbox) = self.inbox(saying.conversation_id)?;
        let Saying { text, sender, idempotency_key: key, .. } = *saying;
        super::add_input::noted(text, sender, key)?;
        if let Some(first) = self.reader.by_idempotency_key(&format!("ingress:{key}"))? {
            return Ok((self.heard_before(first.event_id, key, text)?.ingress_id, false));
        }
        let ingress_id = IngressId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let mut w = self.inbox_writeup(Point::IngressReceive, inbox, ingress_id.to_string(), sender)?;
        let record = IngressRecord {
            ingress_id,
            conversation_id,
            source_channel: sender.channel,
            raw_text: Sensitive::from(text.to_owned()),
            normalized_text: Sensitive::from(text.trim().to_owned()),
            status: IngressStatus::Received,
            resolution: IngressResolution::Control,
            created_at: w.now,
            updated_at: w.now,
            actor: Some(w.actor.actor_id),
            explicit_task_ref: about,
            referenced_artifact_refs: Vec::new(),
            prompt_ref: None,
            reply_to_ref: None,
            quoted_message_ref: None,
            chosen_task_id: about,
            parent_task_id: None,
            rationale: None,
            idempotency_key: key.to_owned(),
        };
        w.receive(record, sender);
        w.push(IngressBound {
            ingress_id,
            resolution: IngressResolution::Control,
            chosen_task_id: about,
            candidates: Vec::new(),
            rationale: Sensitive::from(why.to_owned()),
            confidence: None,
            margin: None,
            anchor: None,
        });
        self.commit(w)?;
        Ok((ingress_id, true))
    }

    /// Work of its own in another conversation, that begins where a task stands: it goes on from one that has ended, and
    /// knows nothing of one at work.
    ///
    /// # Errors
    /// As [`Kernel::submit`].
    pub fn branch(
        &self,
        task: TaskId,
        words: &str,
        into: ConversationId,
        sender: Sender,
        idempotency_key: String,
    ) -> Result<Submitted, Error> {
        let work = {
            let cell = self.cell(task)?;
            let state = self.lock_task(&cell)?;
            let mut work = self.follow_up(&state, idempotency_key)?;
            if !state.task.status.is_terminal() {
                work.continuation_anchor = None;
            }
            if let Some(anchor) = work.continuation_anchor.as_mut() {
                anchor.selection_reason = Sensitive::from("a person branched off from it".to_owned());
            }
            work
        };
        let constraints = super::bind::of_a_person(&work);
        let (goal, title, steps) = (words.to_owned(), String::new(), Vec::new());
        let (channel, by, conversation_id) = (sender.channel, Some(sender.by), Some(into));
        self.submit(&Submission { goal, title, steps, constraints, channel, by, conversation_id, ..work })
    }
}
