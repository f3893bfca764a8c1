//! What a message of a paired sender is used as: words for a task, or one of the few orders that a chat may give. None of them
//! allows anything.

use super::add_input::{Note, Words, noted};
use super::approve::Answered;
use super::enclose::{Enclosed, Encloses};
use super::inbound::digest_of;
use super::schedules::reasoning;
use super::submit::Submission;
use crate::Error;
use crate::drive::asked::is_asked_by_server;
use crate::gateway_registry::lines::ButtonOrder;
use crate::gateway_registry::{GatewayRecord, PairedSender};
use crate::kernel::Kernel;
use crate::sender::Sender;
use crate::state::TaskState;
use model::approval::Surface;
use model::body::TaskCancelRequested;
use model::envelope::{Envelope, EnvelopeKind, EnvelopePayload, EnvelopeSender};
use model::fault::Point;
use model::gateway::{
    BUTTON_LETTERS, CODE_ALPHABET, MessageRefusal, MessageUse, SenderProfile, button_digest,
};
use model::ingress::{Channel, ClarificationStatus};
use model::policy::Profile;
use model::{ClarificationId, Digest, IngressId, Sensitive, TaskId};
use std::sync::atomic::Ordering;

/// What a message came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Came {
    pub(super) used_as: MessageUse,
    pub(super) ingress_id: Option<IngressId>,
    /// The task that it is about.
    pub(super) about: Option<TaskId>,
    /// Tasks that the reply speaks of.
    pub(super) speaks_of: Vec<TaskId>,
    /// The button that is used up by it.
    pub(super) button: Option<Digest>,
    /// What its sender is told.
    pub(super) reply: Option<String>,
    pub(super) to_drive: Vec<TaskId>,
}

impl Came {
    /// A message that was used as this, and nothing else is known of.
    pub(super) const fn of(used_as: MessageUse) -> Self {
        Self {
            used_as,
            ingress_id: None,
            about: None,
            speaks_of: Vec::new(),
            button: None,
            reply: None,
            to_drive: Vec::new(),
        }
    }

    /// One that could not be used, for a reason that its sender is told.
    fn unusable(why: String) -> Self {
        Self { reply: Some(why), ..Self::of(MessageUse::Unusable) }
    }
}

/// What a sender orders, where it is no goal.
enum Order {
    Status,
    Stop,
    Deny(String),
}

/// The order that a text is; none where it is words.
fn order(text: &str) -> Option<Order> {
    let text = text.trim();
    let text = text.strip_prefix('/').unwrap_or(text);
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match text.split_once(char::is_whitespace) {
        None if is("status") => Some(Order::Status),
        None if is("stop") => Some(Order::Stop),
        Some((deny, data)) if deny.eq_ignore_ascii_case("deny") => {
            let data = data.trim().to_ascii_uppercase();
            let is_data =
                data.len() == BUTTON_LETTERS && data.bytes().all(|one| CODE_ALPHABET.contains(&one));
            is_data.then_some(Order::Deny(data))
        }
        _ => None,
    }
}

impl Kernel {
    /// Does what a message of a paired sender is for.
    pub(super) fn use_message(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        envelope: &Envelope,
    ) -> Result<Result<Came, MessageRefusal>, Error> {
        let body = envelope.payload.body.as_str();
        let came = match (envelope.payload.kind, order(body)) {
            (EnvelopeKind::Button, _) => self.press(record, sender, &envelope.payload)?,
            (EnvelopeKind::Words, Some(Order::Deny(data))) => self.deny_by_button(record, sender, &data)?,
            (EnvelopeKind::Words, Some(Order::Status)) => Ok(self.tell_status(sender)?),
            (EnvelopeKind::Words, Some(Order::Stop)) => {
                Ok(self.stop_own(record, sender, &envelope.payload)?)
            }
            (EnvelopeKind::Words, None) => Ok(self.hear_words(record, sender, envelope)?),
        };
        Ok(came)
    }

    /// Does what a button is for. It is used once, by whom it was sent to, in the chat that they were sent it in.
    fn press(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        payload: &EnvelopePayload,
    ) -> Result<Result<Came, MessageRefusal>, Error> {
        let button = button_digest(&record.name, &payload.body);
        match record.traffic.button(button, sender.principal_id) {
            None => Ok(Err(MessageRefusal::WrongButton)),
            Some(ButtonOrder::Deny(_)) => self.deny_by_button(record, sender, &payload.body),
            Some(ButtonOrder::Stop(task_id)) => {
                let came = self.stop_task(sender, Some(task_id), &payload.sender)?;
                Ok(Ok(Came { button: Some(button), used_as: MessageUse::Stop, ..came }))
            }
        }
    }

    /// Denies what a button is about. It is used once, by whom it was sent to, in the chat that they were sent it in.
    fn deny_by_button(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        data: &str,
    ) -> Result<Result<Came, MessageRefusal>, Error> {
        let button = button_digest(&record.name, data);
        let Some(ButtonOrder::Deny(denies)) = record.traffic.button(button, sender.principal_id) else {
            return Ok(Err(MessageRefusal::WrongButton));
        };
        let said = format!("denied through the gateway {}", record.name);
        let (task_id, about) = (denies.task_id, denies.approval_id);
        let reply = match self.deny_approval(task_id, about, Surface::Chat, Some(said)) {
            Ok(Answered::Accepted { .. }) => "Denied.".to_owned(),
            Ok(Answered::NotActive { status, .. }) => format!("That approval is {status} already."),
            Err(error @ (Error::NotFound { .. } | Error::Conflict(_) | Error::Refused(_))) => {
                error.to_string()
            }
            Err(error) => return Err(error),
        };
        Ok(Ok(Came {
            about: Some(task_id),
            button: Some(button),
            reply: Some(reply),
            to_drive: vec![task_id],
            ..Came::of(MessageUse::Deny)
        }))
    }

    /// How the sender's own tasks stand, in a line each.
    fn tell_status(&self, sender: &PairedSender) -> Result<Came, Error> {
        let open = self.open_of(sender)?;
        let mut lines = Vec::new();
        for task in &open {
            let state = self.load(*task)?;
            let title = state.task.title.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
            let waits = match state.pending_approvals().count() {
                0 => String::new(),
                waits => format!("; {waits} of its acts wait for a yes at the machine"),
            };
            lines.push(format!("{title}: {}{waits}", state.task.status));
        }
        let text = if lines.is_empty() { "No task of yours is open.".to_owned() } else { lines.join("\n") };
        let about = open.first().copied();
        Ok(Came { reply: Some(text), about, speaks_of: open, ..Came::of(MessageUse::Status) })
    }

    /// Stops the task that the sender answers a message about, else the newest open one that they began.
    fn stop_own(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        payload: &EnvelopePayload,
    ) -> Result<Came, Error> {
        let answered = payload.in_reply_to.as_ref();
        let answered = answered.and_then(|id| record.traffic.about(sender.principal_id, id));
        self.stop_task(sender, answered, &payload.sender)
    }

    /// Stops an open task that the sender began: the one that is meant, else the newest. Heard again after a crash, it stops no
    /// other.
    fn stop_task(
        &self,
        sender: &PairedSender,
        meant: Option<TaskId>,
        from: &EnvelopeSender,
    ) -> Result<Came, Error> {
        let key = format!("chat.stop:{}", digest_of(from));
        let before = self.reader.by_idempotency_key(&key)?.map(|stored| stored.task_id);
        let open = self.open_of(sender)?;
        let task_id = before.or_else(|| match meant {
            Some(task) => open.contains(&task).then_some(task),
            None => open.first().copied(),
        });
        let Some(task_id) = task_id else {
            let why = if meant.is_some() { "That task is not open." } else { "No task of yours is open." };
            return Ok(Came { about: meant, ..Came::unusable(why.to_owned()) });
        };
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        if before.is_none() && !state.task.status.is_terminal() && state.cancel_requested.is_none() {
            let actor = super::gateways::heard_as(sender.principal_id);
            let mut tx = self.tx(&cell, state, Point::TaskCancel, actor);
            let reason = Sensitive::from("stopped by who began it, in a chat".to_owned());
            tx.push_keyed(Some(key), TaskCancelRequested { about_task_id: task_id, reason });
            tx.commit()?;
            cell.stop.store(true, Ordering::SeqCst);
        }
        Ok(Came { about: Some(task_id), to_drive: vec![task_id], ..Came::of(MessageUse::Stop) })
    }

    /// Words: the answer to a question of the sender's task, more input for it, or a goal where none of theirs is open.
    fn hear_words(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        envelope: &Envelope,
    ) -> Result<Came, Error> {
        let (payload, open) = (&envelope.payload, self.open_of(sender)?);
        let answered = payload.in_reply_to.as_ref();
        let answered = answered.and_then(|id| record.traffic.about(sender.principal_id, id));
        let target = match (answered, open.as_slice()) {
            // Who answers about a task that is over means no other: it is a goal that follows.
            (Some(task), _) => Some(task).filter(|task| open.contains(task)),
            (None, [one]) => Some(*one),
            (None, []) => None,
            (None, _) => {
                let why = "Several of your tasks are open: reply to a message about the one that you mean.";
                return Ok(Came::unusable(why.to_owned()));
            }
        };
        let key = format!("{}chat:{}", super::firing::OWN_KEYS, digest_of(&payload.sender));
        let files = payload.attachments.iter().map(|one| one.artifact_id).collect();
        let encloses = Encloses { files, ..Encloses::default() };
        let said = match target {
            Some(task) => self.hear_for(task, &payload.body, (Channel::Chat, key.as_str()), &encloses),
            None => self.begin_task(record, sender, &payload.body, (key.clone(), encloses)),
        };
        match said {
            Ok(task) => {
                let stored = self.reader.by_idempotency_key(&format!("ingress:{key}"))?;
                let received = stored.map(|stored| self.received(&stored, &key)).transpose()?;
                Ok(Came {
                    ingress_id: received.map(|received| received.ingress_id),
                    about: Some(task),
                    to_drive: vec![task],
                    ..Came::of(MessageUse::Words)
                })
            }
            Err(Error::Input(why) | Error::Conflict(why) | Error::Reasoning(why)) => Ok(Came::unusable(why)),
            Err(Error::Refused(refusal)) => Ok(Came::unusable(refusal.reason)),
            Err(error @ Error::NotFound { .. }) => Ok(Came::unusable(error.to_string())),
            // Heard again it would be refused again, and nobody behind it would be heard.
            Err(Error::Secret(_)) => {
                Ok(Came::unusable("It holds the value of a secret, so nothing was done with it.".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    /// Words for a task that is at work: the answer to its one question, or input.
    pub(super) fn hear_for(
        &self,
        task: TaskId,
        text: &str,
        (channel, key): (Channel, &str),
        encloses: &Encloses,
    ) -> Result<TaskId, Error> {
        let is_known = self.reader.by_idempotency_key(&format!("ingress:{key}"))?.is_some();
        let question = if is_known { None } else { question_of(&self.load(task)?) };
        let sender = Sender::from(channel);
        match question.filter(|_| encloses.is_bare()) {
            Some(question) => {
                let with = Enclosed::default();
                let why = "the task waits for one answer of who began it";
                let words = Words { why, with: Some(&with), ..noted(text, sender, key)? };
                self.answer_as(task, question, words)?;
            }
            None => {
                let note = Note { encloses: Some(encloses), ..Note::of(text, sender, key) };
                self.steer(task, &note)?;
            }
        }
        Ok(task)
    }

    /// A goal of a sender: a task in their own conversation, as the gateway says.
    fn begin_task(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        goal: &str,
        (key, encloses): (String, Encloses),
    ) -> Result<TaskId, Error> {
        let gateway = self.gateway_of(record)?;
        let profile = match sender.profile {
            SenderProfile::Goals => gateway.profile,
            SenderProfile::Ask => Profile::ReadonlyAnalysis,
        };
        let reasoning = reasoning(gateway.proposer);
        let submitted = self.submit(&Submission {
            profile,
            budget: gateway.budget,
            conversation_id: Some(sender.conversation_id),
            encloses,
            ..Submission::of(goal.to_owned(), gateway.workspace_id, reasoning, Channel::Chat, key)
        })?;
        Ok(submitted.task_id)
    }

    /// Tasks that the sender began and that have not ended, those worked on last first.
    pub(super) fn open_of(&self, sender: &PairedSender) -> Result<Vec<TaskId>, Error> {
        let query = self.query()?;
        let open = self.open_in(&query, sender.conversation_id)?;
        let own = open.into_iter().filter(|row| row.channel == Channel::Chat);
        Ok(own.map(|row| row.task_id).collect())
    }
}

/// The one question that a task waits with and that a chat may answer: not one of a server of tools, which a person answers, nor
/// that about a limit, which only they raise.
pub(super) fn question_of(state: &TaskState) -> Option<ClarificationId> {
    if is_asked_by_server(state) {
        return None;
    }
    let mut open = state.clarifications.values().filter(|one| one.status == ClarificationStatus::Pending);
    let (first, more) = (open.next()?.clarification_id, open.next());
    (more.is_none() && state.limit_of(first).is_none()).then_some(first)
}
