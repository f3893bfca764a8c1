//! What goes out through a gateway (schedule.md 2): an outbox of events, and for each message a task of a service whose one act
//! sends it. So it is judged, asked about or answered for by a standing grant, granted, done and receipted as every other act.
//!
//! A message is queued once for each key. A host that dies while one is sent finds its task, and the executor sends it again with
//! the same key; one that dies before the task is made makes it under a key that is the message's own.

use super::background::{BackgroundWork, Initiator};
use super::capability::Planned;
use super::enclose::Encloses;
use super::firing::OWN_KEYS;
use super::gateways::in_messages;
use super::outbound_queue::{Telling, queue};
use super::outbound_words as words;
use super::submit::Reasoning;
use crate::Error;
use crate::gateway_registry::{GatewayRecord, PairedSender, QueuedMessage};
use crate::kernel::{Kernel, lock};
use crate::query::view;
use crate::sender::Sender;
use crate::state::TaskState;
use crate::writeup::Writeup;
use acts::{Message, Tool as _};
use model::approval::ApprovalStatus;
use model::artifact::ArtifactKind;
use model::body::{MessageSending, MessageSettled};
use model::gateway::{
    BUTTON_LETTERS, GatewayState, MessageAbout, MessageButton, MessageState, MessageText, button_digest,
    code_of,
};
use model::ingress::{Channel, ClarificationStatus};
use model::policy::Profile;
use model::receipt::{ReceiptClass, ResultCode};
use model::{Digest, Sensitive, TaskId, UnixMs};
use projections::query::{Ask, TaskFilter};

/// How often a message is tried that was certainly not sent: with the time between, that is most of a day.
const ATTEMPTS_MAX: u32 = 24;
/// Tasks of one sender that are looked at for news, the newest.
const TASKS_MAX: u32 = 50;

/// Whether a message that could not be begun to be sent for this reason never can.
const fn is_for_good(error: &Error) -> bool {
    matches!(
        error,
        Error::Input(_)
            | Error::Conflict(_)
            | Error::Secret(_)
            | Error::NotFound { .. }
            | Error::Artifacts(artifacts::Error::Missing { .. })
    )
}

impl Kernel {
    /// Queues what senders of a gateway are to be told of their tasks by now: how one ended, what it asks, that an approval
    /// waits. `origin`: where a page of this host can be reached from elsewhere, if it can.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the gateway, and when the store cannot be read or written.
    pub fn queue_news(&self, gateway: &str, origin: Option<&str>) -> Result<(), Error> {
        let record = self.standing_gateway(gateway)?;
        if record.state != GatewayState::Active {
            return Ok(());
        }
        for sender in record.all_paired() {
            // Each message is a task of the same conversation, and must not push those out that it is about.
            let (conversation, channel) = (Some(sender.conversation_id), Some(Channel::Chat));
            let filter = TaskFilter { conversation, channel, ..TaskFilter::default() };
            let ask = Ask { limit: TASKS_MAX, ..Ask::default() };
            let rows = self.query()?.tasks(&filter, ask).map_err(view)?.rows;
            let left = if rows.is_empty() { 0 } else { self.line_uses(&record, sender)? };
            for row in rows {
                let has_ended = row.status.is_terminal();
                let is_told = has_ended && self.was_told(&record, &format!("end:{}", row.task_id))?;
                let has_news = !is_told && (has_ended || row.open_questions > 0 || row.open_approvals > 0);
                let has_line = self.may_have_line(&record, row.task_id, (has_ended, left));
                if !has_news && !has_line {
                    continue;
                }
                let state = self.load(row.task_id)?;
                if has_line {
                    self.queue_line(&record, sender, &state, origin)?;
                }
                let news = if has_news { self.news_of(&record, &state, origin)? } else { Vec::new() };
                for telling in news {
                    self.queue_once(&record, sender, telling)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a message with this key was ever to go out; of the newest that is known without a look.
    fn was_told(&self, record: &GatewayRecord, repeat_key: &str) -> Result<bool, Error> {
        let key = format!("queued:{}:{repeat_key}", record.name);
        Ok(record.traffic.has_told(repeat_key) || self.reader.by_idempotency_key(&key)?.is_some())
    }

    /// What is to be told of a task and was not.
    fn news_of(
        &self,
        record: &GatewayRecord,
        state: &TaskState,
        origin: Option<&str>,
    ) -> Result<Vec<Telling>, Error> {
        let task = state.task.task_id;
        let is_told = |key: &str| record.traffic.has_told(key);
        if state.task.status.is_terminal() {
            let key = format!("end:{task}");
            if is_told(&key) {
                return Ok(Vec::new());
            }
            let words = self.outcome_in_words(state)?;
            return Ok(vec![Telling::words(key, MessageAbout::Outcome, words).about_task(Some(task))]);
        }
        let mut news = Vec::new();
        for one in state.clarifications.values().filter(|one| one.status == ClarificationStatus::Pending) {
            let key = format!("question:{}", one.clarification_id);
            if !is_told(&key) {
                let may_answer = super::inbound_use::question_of(state) == Some(one.clarification_id);
                let words = words::question(state, one, may_answer);
                news.push(Telling::words(key, MessageAbout::Question, words).about_task(Some(task)));
            }
        }
        for one in state.approvals.values().filter(|one| one.approval.status == ApprovalStatus::Pending) {
            let (id, at) = (one.approval.approval_id, one.approval.approval_packet_sha256);
            let key = format!("approval:{id}");
            if is_told(&key) {
                continue;
            }
            let (button, sha256) = self.button(record, "Deny");
            let packet = self.artifacts.read(&at)?;
            let page = origin.map(|origin| (origin, self.has_passkey_at(origin)));
            let text = words::approval(state, &packet, (at, button.data.as_str()), page)?;
            let telling = Telling::words(key, MessageAbout::Approval, text).about_task(Some(task));
            news.push(telling.with_button(Some((button, sha256))).about_approval(id));
        }
        Ok(news)
    }

    /// A new button, and the digest that is kept of it.
    pub(super) fn button(&self, record: &GatewayRecord, label: &str) -> (MessageButton, Digest) {
        let mut random = [0_u8; BUTTON_LETTERS];
        self.ports.entropy.fill(&mut random);
        let data = code_of(&random);
        let sha256 = button_digest(&record.name, &data);
        (MessageButton { label: label.to_owned(), data }, sha256)
    }

    /// How a task ended, with its answer and what nothing bears of that.
    pub(super) fn outcome_in_words(&self, state: &TaskState) -> Result<String, Error> {
        let Some(attempt) = state.attempt() else { return Ok(words::ended(state, None)) };
        let Some(answer) = attempt.final_answer() else { return Ok(words::ended(state, None)) };
        let Ok(text) = self.artifacts.read(&answer.sha256) else { return Ok(words::ended(state, None)) };
        let text = String::from_utf8_lossy(&text).into_owned();
        let checks = state.artifacts.values().filter(|one| one.kind == ArtifactKind::AnswerCheck);
        let checks = checks.filter(|one| one.produced_by == Some(attempt.attempt.attempt_id));
        let check = checks.max_by_key(|one| one.created_at).map(|one| one.content_hash);
        let check = check.and_then(|sha256| self.artifacts.read(&sha256).ok());
        let check = check.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(words::ended(state, Some(&words::answer(&text, check.as_ref()))))
    }

    fn queue_once(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        telling: Telling,
    ) -> Result<(), Error> {
        if self.was_told(record, &telling.repeat_key)? {
            return Ok(());
        }
        let actor = self.principal_of(Sender::from(Channel::System))?;
        let mut w = self.heard_writeup(record, actor)?;
        in_messages(&mut w, record, |w| queue(w, record, sender.principal_id, telling))?;
        self.commit_once(w)
    }

    /// Begins to send what waits and is due, one message of each sender at a time, so that they come in order. Answers with the
    /// tasks that are to be driven. `back`: when the service answered its listener again that had not: what was tried before is due.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the gateway, [`Error::Halted`] while nothing may begin, and when the store fails.
    pub fn send_due(&self, gateway: &str, back: Option<UnixMs>) -> Result<Vec<TaskId>, Error> {
        if self.halted().is_some() {
            return Err(Error::Halted);
        }
        let record = self.standing_gateway(gateway)?;
        if record.state != GatewayState::Active {
            return Ok(Vec::new());
        }
        let (now, mut begun, mut seen) = (self.ports.clock.now(), Vec::new(), Vec::new());
        for message in &record.traffic.queue {
            // How a task stood is nothing that an answer waits for.
            let is_late_line = message.about == MessageAbout::State && message.sending.is_none();
            let is_late_line = is_late_line && !message.is_due(now, back);
            if is_late_line || seen.contains(&message.principal_id) {
                continue;
            }
            seen.push(message.principal_id);
            if let Some(task) = message.sending {
                begun.push(task);
                continue;
            }
            match record.sender(message.principal_id) {
                None => {
                    let why = "its sender is not paired any more";
                    self.settle_message(&record, message, (MessageState::Unsent, why), None)?;
                }
                Some(_) if !message.is_due(now, back) => {}
                // What cannot be begun stands in the way of nobody else's.
                Some(sender) => match self.begin_sending(&record, sender, message) {
                    Ok(task) => begun.push(task),
                    Err(Error::Halted) => return Err(Error::Halted),
                    Err(error) if is_for_good(&error) => {
                        let why = "what it says, or where it goes, cannot be had any more";
                        self.settle_message(&record, message, (MessageState::Unsent, why), None)?;
                    }
                    Err(error) => {
                        tracing::warn!(gateway, %error, "a message waits; it is tried again");
                    }
                },
            }
        }
        Ok(begun)
    }

    /// When a message of a gateway is due next, as far as time alone decides.
    pub fn next_message(&self, gateway: &str) -> Option<UnixMs> {
        let store = lock(&self.store);
        let record = store.gateways.standing(gateway).filter(|one| one.state == GatewayState::Active)?;
        let waits = record.traffic.queue.iter().filter(|message| message.sending.is_none());
        let lines = record.traffic.lines.looks(self.ports.clock.now());
        waits.map(|message| message.not_before).chain(lines).min()
    }

    fn begin_sending(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        message: &QueuedMessage,
    ) -> Result<TaskId, Error> {
        let attempt = message.attempts.saturating_add(1);
        let gateway = self.gateway_of(record)?;
        let workspace_id = gateway.workspace_id;
        let (sent, of_tasks) = self.message_of(record, gateway.hosts, (sender, message))?;
        let goal = sent.title();
        let planned = seal::canon::to_canonical(&Planned::Message { message: sent, of_tasks })?;
        let change = String::from_utf8(planned).map_err(|e| Error::Broken(e.to_string()))?;
        let submitted = self.submit_background(
            Initiator::Service,
            BackgroundWork {
                title: String::new(),
                goal,
                // There a person's own rules and those of the project bear on it.
                workspace_id,
                reasoning: Reasoning::Tools { change },
                profile: Profile::ExternalPublishGated,
                conversation_id: Some(sender.conversation_id),
                budget: None,
                deadline_at: None,
                encloses: Encloses::default(),
                scheduled_by: None,
                depends_on: Vec::new(),
                idempotency_key: format!(
                    "{OWN_KEYS}message:{}:{}:{}:{attempt}",
                    // A gateway that was changed since sends by its new version, and the task of the old one sends nothing.
                    record.name,
                    record.version,
                    message.repeat_key
                ),
            },
        )?;
        let actor = self.principal_of(Sender::from(Channel::System))?;
        let mut w = self.heard_writeup(record, actor)?;
        let (name, repeat_key) = (record.name.clone(), message.repeat_key.clone());
        let key = format!("sending:{name}:{repeat_key}:{attempt}");
        let sending = MessageSending { name, repeat_key, sent_by: submitted.task_id, attempt };
        in_messages(&mut w, record, |w| w.push_keyed(Some(key), sending));
        self.commit_once(w)?;
        Ok(submitted.task_id)
    }

    /// The act that sends a message, and the tasks of which it speaks beside that which its key names.
    fn message_of(
        &self,
        record: &GatewayRecord,
        hosts: Vec<String>,
        (sender, message): (&PairedSender, &QueuedMessage),
    ) -> Result<(Message, Vec<TaskId>), Error> {
        let body = self.object_at::<MessageText>(&message.body)?;
        let line = message.about_task_id.filter(|_| message.about == MessageAbout::State);
        let line = line.and_then(|task| record.traffic.lines.of(task));
        let edits = line.and_then(|line| line.message_id.clone());
        // A message of its own is no repeat of a change that did not come about.
        let key = edits.as_ref().map(|edits| format!("{}:{edits}", message.repeat_key));
        let key = key.as_ref().unwrap_or(&message.repeat_key);
        let erased = || Error::Conflict("the chat was erased".to_owned());
        let sent = Message {
            gateway: record.name.clone(),
            version: record.version,
            service: record.service,
            hosts,
            chat: sender.chat.clone().ok_or_else(erased)?,
            to: sender.called().unwrap_or_default().to_owned(),
            text: body.text,
            buttons: body.buttons,
            reply_to: body.reply_to,
            edits,
            file: body.whole,
            repeat_key: format!("hermit-{}", Digest::of(key.as_bytes())),
        };
        Ok((sent, body.of_tasks))
    }

    /// Why a message is not sent after all, if it is not.
    pub(super) fn message_outdated(&self, message: &Message) -> Option<String> {
        let registry = self.gateway_registry();
        let stands = registry.standing(&message.gateway).filter(|record| record.version == message.version);
        let Some(record) = stands.filter(|record| record.state == GatewayState::Active) else {
            return Some(format!("the gateway `{}` is another by now, or paused", message.gateway));
        };
        let is_paired = record.all_paired().any(|one| one.chat.as_ref() == Some(&message.chat));
        (!is_paired).then(|| "nobody is paired in that chat any more".to_owned())
    }

    /// Puts on record what came of the messages whose tasks are over.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the gateway, and when the store fails.
    pub fn settle_sent(&self, gateway: &str) -> Result<(), Error> {
        let record = self.standing_gateway(gateway)?;
        for message in &record.traffic.queue {
            let Some(task) = message.sending else { continue };
            let state = self.load(task)?;
            let is_unknown = state.has_unknown_outcome();
            if !state.task.status.is_terminal() && !is_unknown {
                continue;
            }
            let sent = state.receipts.iter().rfind(|one| one.receipt_class == ReceiptClass::ToolExecution);
            let came = match sent.map(|receipt| receipt.result_code) {
                Some(ResultCode::Succeeded) => (MessageState::Sent, "the service took it"),
                Some(ResultCode::UnknownOutcome) => (MessageState::Unknown, "nobody saw whether it was sent"),
                _ if is_unknown => (MessageState::Unknown, "nobody saw whether it was sent"),
                Some(_) if message.attempts < ATTEMPTS_MAX => {
                    (MessageState::Queued, "it was not sent, and is tried again")
                }
                Some(_) => (MessageState::Unsent, "it was not sent, and is not tried again"),
                None => (MessageState::Unsent, "it was not allowed"),
            };
            // A person reads in the outbox why, and not only in the receipt.
            let (message_id, why) = match (came.0, sent) {
                (MessageState::Sent, _) => (self.told_of_sending(&state, "message_id"), None),
                (MessageState::Queued | MessageState::Unsent, Some(_)) => {
                    (None, self.told_of_sending(&state, "error"))
                }
                _ => (None, None),
            };
            let why = why.map_or_else(|| came.1.to_owned(), |why| format!("{} ({why})", came.1));
            self.settle_message(&record, message, (came.0, &why), message_id)?;
        }
        Ok(())
    }

    /// What the results of a task that sends tell under this name: the service's own id of the message, or why it was not sent.
    fn told_of_sending(&self, state: &TaskState, name: &str) -> Option<String> {
        let results = state.artifacts.values().filter(|one| one.kind == ArtifactKind::ActionResult);
        let read = |sha256: &Digest| -> Option<String> {
            let bytes = self.artifacts.read(sha256).ok()?;
            let value: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
            value.get(name).and_then(|told| told.as_str()).map(str::to_owned)
        };
        results.filter_map(|one| read(&one.content_hash)).next()
    }

    pub(super) fn settle_message(
        &self,
        record: &GatewayRecord,
        message: &QueuedMessage,
        (state, why): (MessageState, &str),
        message_id: Option<String>,
    ) -> Result<(), Error> {
        let actor = self.principal_of(Sender::from(Channel::System))?;
        let mut w = self.heard_writeup(record, actor)?;
        push_settled(&mut w, record, message, (state, why), message_id);
        self.commit_once(w)
    }
}

/// That a message stands so by now. Written into the stream of the gateway's messages.
pub(super) fn push_settled(
    w: &mut Writeup<'_>,
    record: &GatewayRecord,
    message: &QueuedMessage,
    (state, why): (MessageState, &str),
    message_id: Option<String>,
) {
    let (name, repeat_key, settled_at) = (record.name.clone(), message.repeat_key.clone(), w.now);
    // The same try can be said to wait for the next, and then to be the last: its sender is gone meanwhile.
    let key = format!("settled:{name}:{repeat_key}:{}:{state}", message.attempts);
    let why = Sensitive::from(why.to_owned());
    let message_id = message_id.map(Sensitive::from);
    let settled = MessageSettled { name, repeat_key, state, why, settled_at, message_id };
    in_messages(w, record, |w| w.push_keyed(Some(key), settled));
}
