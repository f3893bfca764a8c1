//! A command that a person wrote in a conversation: recorded as what came in before it does anything (HK-8.1.2-4), and bound as
//! `control` to the task that it is about (HK-8.1.3-1). What it does is done by the command it stands for.

use super::enclose::Encloses;
use super::ingress::Saying;
use super::submit::{Submission, Submitted};
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use model::body::{ConversationOpened, IngressBound};
use model::fault::Point;
use model::ingress::{IngressRecord, IngressResolution, IngressStatus};
use model::principal::PrincipalType;
use model::{Body, ConversationId, Event, IngressId, Sensitive, TaskId, WorkspaceId};

/// Letters of the first line of a branch that are its title.
const TITLE: usize = 120;
/// Events of a task that are read at once.
const PAGE: usize = 500;

/// A command as it stands on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commanded {
    /// Its record.
    pub ingress_id: IngressId,
    /// The task that it is about.
    pub about: Option<TaskId>,
    /// It came before: what it does may have been done since its record, or not (a refusal, a host that died).
    pub is_repeat: bool,
    /// Where its record stands in the log: what it did stands behind it.
    log_seq: u64,
}

impl Kernel {
    /// The same command under the same key, if it came before.
    ///
    /// # Errors
    /// [`Error::Conflict`] for the key of other words, [`Error::Refused`] for words that are no person's, and what the
    /// store says.
    pub fn commanded_before(&self, saying: &Saying<'_>) -> Result<Option<Commanded>, Error> {
        saying.sender.speaks_for_the_person("give a command")?;
        let key = saying.idempotency_key;
        let Some(first) = self.reader.by_idempotency_key(&format!("ingress:{key}"))? else { return Ok(None) };
        let bound = self.heard_before(&self.received(&first, key)?, key, saying.text)?;
        if bound.resolution != IngressResolution::Control {
            return Err(super::add_input::used_before(key));
        }
        let (ingress_id, about) = (bound.ingress_id, bound.task_id);
        Ok(Some(Commanded { ingress_id, about, is_repeat: true, log_seq: first.log_seq }))
    }

    /// Records a command about a task, or about none, unless it came before.
    ///
    /// # Errors
    /// [`Error::Input`] for too much, [`Error::Refused`] for words that are no person's, and what the store says.
    pub fn commanded(
        &self,
        saying: &Saying<'_>,
        about: Option<TaskId>,
        why: &str,
    ) -> Result<Commanded, Error> {
        if let Some(before) = self.commanded_before(saying)? {
            return Ok(before);
        }
        let (conversation_id, inbox) = self.inbox(saying.conversation_id)?;
        let Saying { text, sender, idempotency_key: key, .. } = *saying;
        super::add_input::noted(text, sender, key)?;
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
            spoken: saying.encloses.is_some_and(|with| with.spoken),
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
        let log_seq = self.reader.log_head()?;
        match self.commit(w) {
            Ok(_) => Ok(Commanded { ingress_id, about, is_repeat: false, log_seq }),
            Err(Error::Ledger(ledger::Error::Duplicate { event_id })) => {
                let before = self.commanded_before(saying)?;
                before.ok_or_else(|| Error::Broken(format!("event `{event_id}` is missing")))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether its task has an event behind the record of a command by which the command was done.
    ///
    /// # Errors
    /// What the store says.
    pub fn was_done(&self, commanded: &Commanded, does: impl Fn(&Body) -> bool) -> Result<bool, Error> {
        commanded.about.map_or(Ok(false), |task| self.stands_behind(commanded, task, does))
    }

    /// Whether a conversation was given a skin, or none, behind the record of a command: by the command itself, or by whoever spoke
    /// later and is not to be overruled by words that come again.
    ///
    /// # Errors
    /// What the store says.
    pub fn skin_was_chosen(
        &self,
        commanded: &Commanded,
        conversation: ConversationId,
    ) -> Result<bool, Error> {
        let own = lock(&self.store).system_task()?;
        let chooses = |body: &Body| matches!(body, Body::SkinChosen(b) if b.conversation_id == conversation);
        self.stands_behind(commanded, own, chooses)
    }

    /// Whether a stream has such an event behind the record of a command.
    fn stands_behind(
        &self,
        commanded: &Commanded,
        task: TaskId,
        does: impl Fn(&Body) -> bool,
    ) -> Result<bool, Error> {
        let mut after = 0;
        loop {
            let page = self.reader.events(task, after, PAGE)?;
            let Some(last) = page.last() else { return Ok(false) };
            after = last.task_seq;
            for stored in page.iter().filter(|stored| stored.log_seq > commanded.log_seq) {
                if does(&self.body_of(&Event::from_bytes(&stored.bytes)?)?) {
                    return Ok(true);
                }
            }
        }
    }

    /// The task that words under a key began.
    ///
    /// # Errors
    /// What the store says.
    pub fn made_by(&self, key: &str) -> Result<Option<TaskId>, Error> {
        let Some(first) = self.reader.by_idempotency_key(&format!("ingress:{key}"))? else { return Ok(None) };
        let Body::IngressReceived(received) = self.body_of(&Event::from_bytes(&first.bytes)?)? else {
            return Ok(None);
        };
        let row = self.query()?.message(received.record.ingress_id);
        Ok(row.map_err(|e| Error::Broken(e.to_string()))?.and_then(|row| row.chosen_task_id))
    }

    /// Work of its own in a conversation of its own in the same folder, that begins where a task stands: it goes on from
    /// one that has ended, and knows nothing of one at work. The same key is the same conversation and the same task.
    ///
    /// # Errors
    /// As [`Kernel::submit`].
    pub fn branch(
        &self,
        task: TaskId,
        words: &str,
        (sender, spoken): (Sender, bool),
        idempotency_key: String,
    ) -> Result<(Submitted, ConversationId), Error> {
        let into_key = format!("branch:{idempotency_key}");
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
        let into = self.conversation_of(&into_key, words, Some(work.workspace_id))?;
        let constraints = super::bind::of_a_person(&work);
        let (goal, title, steps) = (words.to_owned(), String::new(), Vec::new());
        let (channel, by, conversation_id) = (sender.channel, Some(sender.by), Some(into));
        let encloses = Encloses { spoken, ..work.encloses };
        let work =
            Submission { goal, title, steps, constraints, channel, by, conversation_id, encloses, ..work };
        Ok((self.submit(&work)?, into))
    }

    /// The conversation that was opened under a key, opened when it was not yet.
    fn conversation_of(
        &self,
        key: &str,
        words: &str,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<ConversationId, Error> {
        if let Some(stored) = self.reader.by_idempotency_key(key)? {
            return match self.body_of(&Event::from_bytes(&stored.bytes)?)? {
                Body::ConversationOpened(opened) => Ok(opened.conversation_id),
                _ => Err(super::add_input::used_before(key)),
            };
        }
        let title: String = words.trim().lines().next().unwrap_or_default().chars().take(TITLE).collect();
        let (clock, entropy) = (&*self.ports.clock, &*self.ports.entropy);
        let (conversation_id, inbox_task_id) =
            (ConversationId::fresh(clock, entropy), TaskId::fresh(clock, entropy));
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::IngressBind, actor, conversation_id.to_string(), None)?;
        let title = Sensitive::from(title);
        let opened = ConversationOpened { conversation_id, inbox_task_id, title, workspace_id };
        w.push_keyed(Some(key.to_owned()), opened);
        match self.commit(w) {
            Err(Error::Ledger(ledger::Error::Duplicate { .. })) => {
                self.conversation_of(key, words, workspace_id)
            }
            other => other.map(|_| conversation_id),
        }
    }
}
