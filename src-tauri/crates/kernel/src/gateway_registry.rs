//! Gateways as events tell them: which there are, how each stands and who is paired, from the store's own stream; what came in
//! and waits to go out, from a stream of each (schedule.md 2).

mod due;
pub(crate) mod lines;
pub(crate) mod matters;

use crate::Error;
use crate::command::person::resume_subject;
use due::retry_ms;
use ledger::Reader;
use lines::{ButtonOrder, StateLines};
use model::artifact::ArtifactRef;
use model::body::{Body, GatewayKept, MessageQueued, SenderPaired};
use model::gateway::{
    Denies, GatewayState, MessageAbout, MessageRefusal, MessageState, SenderProfile, Service,
};
use model::{ConversationId, Digest, PrincipalId, TaskId, UnixMs};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Events of a gateway's stream that are read at once.
const PAGE: usize = 1_000;
/// Codes of one gateway that can be sent at the same time.
pub(crate) const CODES_MAX: usize = 8;
/// Senders that are silenced at the same time; further ones are refused one by one, for each of them is an event, and who writes
/// mails has as many names as they like.
const SILENCED_MAX: usize = 100;

/// A sender who is or was paired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairedSender {
    /// Their principal.
    pub principal_id: PrincipalId,
    /// As the service names them; none once that was erased, and then nobody is heard as them.
    pub sender: Option<String>,
    /// As they call themselves.
    pub sender_name: Option<String>,
    /// The chat in which they are heard.
    pub chat: Option<String>,
    /// What they may do.
    pub profile: SenderProfile,
    /// The conversation of their tasks.
    pub conversation_id: ConversationId,
    /// Since when.
    pub since: UnixMs,
    /// Why they are not paired any more.
    pub unpaired: Option<String>,
    /// The number of their last message.
    pub seq: u64,
}

impl PairedSender {
    /// What they call themselves, or their address where they have no name; none once that was erased.
    pub fn called(&self) -> Option<&str> {
        let name = self.sender_name.as_deref()?;
        if name.trim().is_empty() { self.sender.as_deref() } else { Some(name) }
    }
}

/// A code that can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenCode {
    pub(crate) sha256: Digest,
    pub(crate) profile: SenderProfile,
    pub(crate) expires_at: UnixMs,
}

/// A message that goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedMessage {
    /// To whom.
    pub principal_id: PrincipalId,
    /// The same for every repeat of it.
    pub repeat_key: String,
    /// What it tells.
    pub about: MessageAbout,
    /// What it says.
    pub body: ArtifactRef,
    /// The task that it is about.
    pub about_task_id: Option<TaskId>,
    /// The task that sends it just now.
    pub sending: Option<TaskId>,
    /// How often it was tried.
    pub attempts: u32,
    /// Not before this time.
    pub not_before: UnixMs,
}

/// What came in and goes out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How far the service was read.
    pub cursor: String,
    /// When that was said.
    pub read_at: Option<UnixMs>,
    /// What waits to go out, the oldest first.
    pub queue: VecDeque<QueuedMessage>,
    /// The keys of what was to go out, of the newest.
    told: BTreeSet<String>,
    /// The same in order, each with its button.
    order: VecDeque<(String, Option<Digest>)>,
    /// States of lines likewise, counted apart: those of a few tasks push no question and no approval out.
    states: VecDeque<(String, Option<Digest>)>,
    /// The newest messages of ours, by the service's own ids, in order.
    sent: VecDeque<(PrincipalId, String)>,
    /// Events behind the newest list of those that still tell something.
    behind: u64,
    /// Messages that were refused, at least, by why.
    pub refused: BTreeMap<MessageRefusal, u64>,
    /// Senders who are not heard, and until when.
    silenced: BTreeMap<String, UnixMs>,
    /// Buttons that were not pressed yet, by their digests: whose they are, and what they order.
    buttons: BTreeMap<Digest, (PrincipalId, ButtonOrder)>,
    /// For each task, the message that says how it stands.
    pub(crate) lines: StateLines,
    /// The task that a message of ours was about, by the service's own id of it.
    about: BTreeMap<(PrincipalId, String), TaskId>,
    /// The number of each sender's last message.
    seqs: BTreeMap<PrincipalId, u64>,
}

impl Traffic {
    /// Whether a message with this key was to go out, as far back as that is known here.
    pub(crate) fn has_told(&self, repeat_key: &str) -> bool {
        self.told.contains(repeat_key)
    }

    /// Until when a sender is not heard.
    pub(crate) fn silenced_until(&self, sender: &str, now: UnixMs) -> Option<UnixMs> {
        self.silenced.get(sender).copied().filter(|until| now < *until)
    }

    /// Whether one more sender can be silenced.
    pub(crate) fn may_silence(&self, now: UnixMs) -> bool {
        self.silenced.values().filter(|until| now < **until).count() < SILENCED_MAX
    }

    /// What a button of this sender orders, if it was not pressed yet.
    pub(crate) fn button(&self, sha256: Digest, of: PrincipalId) -> Option<ButtonOrder> {
        self.buttons.get(&sha256).filter(|(owner, _)| *owner == of).map(|(_, order)| *order)
    }

    /// The task that a message of ours to this sender was about.
    pub(crate) fn about(&self, of: PrincipalId, message_id: &str) -> Option<TaskId> {
        self.about.get(&(of, message_id.to_owned())).copied()
    }

    /// Folds one event of a gateway's stream, as it was at a time.
    fn apply(&mut self, body: &Body) {
        self.behind = self.behind.saturating_add(1);
        match body {
            Body::MessageReceived(b) => {
                self.seqs.insert(b.principal_id, b.seq);
                if let Some(button) = b.button_sha256 {
                    self.buttons.remove(&button);
                }
            }
            Body::MessageRefused(b) => {
                self.refused.insert(b.refusal, b.times);
            }
            Body::SenderSilenced(b) => {
                self.silenced.extend(b.sender.shown().map(|sender| (sender.clone(), b.until)));
                while self.silenced.len() > SILENCED_MAX {
                    let first = self.silenced.iter().min_by_key(|(_, until)| **until);
                    let Some(first) = first.map(|(sender, _)| sender.clone()) else { break };
                    self.silenced.remove(&first);
                }
            }
            Body::GatewayRead(b) => {
                self.cursor = b.cursor.shown().cloned().unwrap_or_default();
                self.read_at = Some(b.read_at);
                if b.matters.is_some() {
                    self.behind = 0;
                }
            }
            Body::MessageQueued(b) => {
                self.count_queued(b);
                self.queued(b);
                self.forget();
            }
            Body::MessageSending(b) => {
                if let Some(message) = self.waiting(&b.repeat_key) {
                    (message.sending, message.attempts) = (Some(b.sent_by), b.attempt);
                }
            }
            Body::MessageSettled(b) => {
                let sent = b.message_id.as_ref().and_then(|id| id.shown().cloned());
                let message = self.queue.iter_mut().find(|message| message.repeat_key == b.repeat_key);
                let Some(message) = message else { return };
                self.lines.settled(message, b, sent.as_deref());
                message.sending = None;
                message.not_before = b.settled_at.plus_ms(retry_ms(message.attempts));
                let about = (message.principal_id, message.about_task_id);
                if let ((of, Some(task)), Some(sent)) = (about, sent) {
                    // A line is known by the name that it was sent under, and once, however often it is changed.
                    let line = self.lines.of(task).filter(|_| message.about == MessageAbout::State);
                    let is_edit = line.is_some_and(|line| line.message_id.as_ref() != Some(&sent));
                    if !is_edit && self.about.insert((of, sent.clone()), task).is_none() {
                        self.sent.push_back((of, sent));
                    }
                }
                if b.state != MessageState::Queued {
                    self.queue.retain(|message| message.repeat_key != b.repeat_key);
                }
                self.forget();
            }
            _ => {}
        }
    }

    fn queued(&mut self, b: &MessageQueued) {
        if b.about != MessageAbout::State {
            self.told.insert(b.repeat_key.clone());
        }
        if let (Some(sha256), Some(task_id)) = (b.button_sha256, b.about_task_id) {
            let order = match b.approval_id {
                Some(approval_id) => ButtonOrder::Deny(Denies { task_id, approval_id }),
                None => ButtonOrder::Stop(task_id),
            };
            self.buttons.insert(sha256, (b.principal_id, order));
        }
        if let Some(task_id) = self.lines.queued(b).filter(|_| b.button_sha256.is_none()) {
            // What it says now has no button: nothing is stopped by an old one.
            self.buttons.retain(|_, (_, order)| *order != ButtonOrder::Stop(task_id));
        }
        self.queue.push_back(QueuedMessage {
            principal_id: b.principal_id,
            repeat_key: b.repeat_key.clone(),
            about: b.about,
            body: b.body.clone(),
            about_task_id: b.about_task_id,
            sending: None,
            attempts: 0,
            not_before: UnixMs(0),
        });
    }

    fn waiting(&mut self, repeat_key: &str) -> Option<&mut QueuedMessage> {
        self.queue.iter_mut().find(|message| message.repeat_key == repeat_key)
    }
}

/// A gateway that was connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayRecord {
    /// Its name.
    pub name: String,
    /// From 1; it goes on counting when a name is used again.
    pub version: u32,
    /// Its service.
    pub service: Service,
    /// All of it.
    pub gateway: ArtifactRef,
    /// Since when it stands in this version.
    pub since: UnixMs,
    /// The stream of its messages.
    pub messages_task_id: TaskId,
    /// Its principal.
    pub principal_id: PrincipalId,
    /// How it stands.
    pub state: GatewayState,
    /// Why, where it is paused or removed.
    pub why: Option<String>,
    /// Whether it paused itself, where it is paused.
    pub by_itself: bool,
    /// How often it was resumed.
    resumed: u32,
    /// Senders who are or were paired, in order.
    pub senders: Vec<PairedSender>,
    pub(crate) codes: Vec<OpenCode>,
    /// What came in and goes out.
    pub traffic: Traffic,
}

impl GatewayRecord {
    fn of(b: &GatewayKept, before: Option<Self>) -> Self {
        let (senders, traffic, resumed) =
            before.map(|one| (one.senders, one.traffic, one.resumed)).unwrap_or_default();
        Self {
            name: b.name.clone(),
            version: b.version,
            service: b.service,
            gateway: b.gateway.clone(),
            since: b.kept_at,
            messages_task_id: b.messages_task_id,
            principal_id: b.principal_id,
            state: GatewayState::Active,
            why: None,
            by_itself: false,
            resumed,
            senders,
            codes: Vec::new(),
            traffic,
        }
    }

    /// What a person signs to resume it as it is paused now.
    pub fn resume_subject(&self) -> Digest {
        resume_subject("gateway", &self.name, (self.version, self.resumed))
    }

    /// Reads what came in and goes out from its own stream; how many events that took.
    fn read_traffic(&mut self, reader: &Reader) -> Result<u64, Error> {
        let (traffic, read) = Traffic::read(reader, self.messages_task_id)?;
        self.traffic = traffic;
        self.count();
        Ok(read)
    }

    /// The number of each sender's last message, where they are listed.
    fn count(&mut self) {
        for sender in &mut self.senders {
            sender.seq = self.traffic.seqs.get(&sender.principal_id).copied().unwrap_or(0);
        }
    }

    /// The sender of this name in this chat, if they are paired.
    pub fn paired(&self, sender: &str, chat: &str) -> Option<&PairedSender> {
        let is_here = |one: &&PairedSender| {
            one.unpaired.is_none()
                && one.sender.as_deref() == Some(sender)
                && one.chat.as_deref() == Some(chat)
        };
        self.senders.iter().find(is_here)
    }

    /// Senders who are paired.
    pub fn all_paired(&self) -> impl Iterator<Item = &PairedSender> {
        self.senders.iter().filter(|one| one.unpaired.is_none())
    }

    /// The paired sender with this principal.
    pub fn sender(&self, principal_id: PrincipalId) -> Option<&PairedSender> {
        self.all_paired().find(|one| one.principal_id == principal_id)
    }
}

/// Every gateway that was ever connected, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GatewayRegistry(pub BTreeMap<String, GatewayRecord>);

impl GatewayRegistry {
    /// The gateway of this name, unless it is removed.
    pub fn standing(&self, name: &str) -> Option<&GatewayRecord> {
        self.0.get(name).filter(|one| one.state != GatewayState::Removed)
    }

    /// Those that are not removed.
    pub fn all_standing(&self) -> impl Iterator<Item = &GatewayRecord> {
        self.0.values().filter(|one| one.state != GatewayState::Removed)
    }

    /// How many paused themselves and wait for a person.
    pub fn asking(&self) -> usize {
        self.all_standing().filter(|one| one.state == GatewayState::Paused && one.by_itself).count()
    }

    /// Whose conversation it is, where it is that of a sender.
    pub(crate) fn sender_in(&self, conversation: ConversationId) -> Option<PrincipalId> {
        self.whose(conversation).map(|(_, sender)| sender.principal_id)
    }

    /// The gateway, and the sender whose conversation it is, where it is that of one.
    pub fn whose(&self, conversation: ConversationId) -> Option<(&GatewayRecord, &PairedSender)> {
        let all = self.0.values().flat_map(|one| one.senders.iter().map(move |sender| (one, sender)));
        all.filter(|(_, sender)| sender.conversation_id == conversation).next_back()
    }

    /// Reads what came in and goes out of each, beside what the store's own stream says. Answers how many events that took: as many
    /// however long they have been at work.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn read_traffic(&mut self, reader: &Reader) -> Result<u64, Error> {
        self.0
            .values_mut()
            .try_fold(0, |read: u64, record| Ok(read.saturating_add(record.read_traffic(reader)?)))
    }

    /// Whether an event of the store's own stream is about a gateway.
    pub(crate) const fn is_of_store(body: &Body) -> bool {
        matches!(
            body,
            Body::GatewayKept(_)
                | Body::GatewayPaused(_)
                | Body::GatewayResumed(_)
                | Body::GatewayRemoved(_)
                | Body::PairingAllowed(_)
                | Body::SenderPaired(_)
                | Body::SenderUnpaired(_)
        )
    }

    /// Folds one event of the store's own stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::GatewayKept(b) => {
                let before = self.0.remove(&b.name);
                self.0.insert(b.name.clone(), GatewayRecord::of(b, before));
            }
            Body::GatewayPaused(b) => {
                self.stands(&b.name, GatewayState::Paused, b.reason.shown());
                self.change(&b.name, |record| record.by_itself = b.by_itself);
            }
            Body::GatewayRemoved(b) => {
                self.stands(&b.name, GatewayState::Removed, b.reason.shown());
                self.change(&b.name, |record| {
                    record.codes.clear();
                    for one in record.senders.iter_mut().filter(|one| one.unpaired.is_none()) {
                        one.unpaired = Some("the gateway was removed".to_owned());
                    }
                });
            }
            Body::GatewayResumed(b) => self.change(&b.name, |record| {
                (record.state, record.why, record.by_itself) = (GatewayState::Active, None, false);
                record.resumed = record.resumed.saturating_add(1);
            }),
            Body::PairingAllowed(b) => self.change(&b.name, |record| {
                let (sha256, profile, expires_at) = (b.code_sha256, b.profile, b.expires_at);
                record.codes.push(OpenCode { sha256, profile, expires_at });
                let more = record.codes.len().saturating_sub(CODES_MAX);
                record.codes.drain(..more);
            }),
            Body::SenderPaired(b) => self.change(&b.name, |record| {
                record.codes.retain(|code| code.sha256 != b.code_sha256);
                // Whoever pairs again is heard by the newest word of it.
                for one in record.senders.iter_mut().filter(|one| one.unpaired.is_none()) {
                    if one.sender.as_ref() == b.sender.shown() && one.chat.as_ref() == b.chat.shown() {
                        one.unpaired = Some("paired again".to_owned());
                    }
                }
                record.senders.push(paired(b));
            }),
            Body::SenderUnpaired(b) => self.change(&b.name, |record| {
                let why = b.reason.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
                for one in record.senders.iter_mut().filter(|one| one.principal_id == b.principal_id) {
                    one.unpaired.get_or_insert_with(|| why.clone());
                }
            }),
            _ => {}
        }
    }

    /// The gateway in whose own stream an event stands.
    const fn stream_of(body: &Body) -> Option<&String> {
        Some(match body {
            Body::MessageReceived(b) => &b.name,
            Body::MessageRefused(b) => &b.name,
            Body::SenderSilenced(b) => &b.name,
            Body::GatewayRead(b) => &b.name,
            Body::MessageQueued(b) => &b.name,
            Body::MessageSending(b) => &b.name,
            Body::MessageSettled(b) => &b.name,
            _ => return None,
        })
    }

    /// Whether an event stands in a gateway's own stream.
    pub(crate) const fn is_of_messages(body: &Body) -> bool {
        Self::stream_of(body).is_some()
    }

    /// Folds one event of a gateway's own stream.
    pub(crate) fn apply_messages(&mut self, body: &Body) {
        let Some(name) = Self::stream_of(body) else { return };
        self.change(name, |record| {
            record.traffic.apply(body);
            record.count();
        });
    }

    fn change(&mut self, name: &str, change: impl FnOnce(&mut GatewayRecord)) {
        if let Some(record) = self.0.get_mut(name) {
            change(record);
        }
    }

    fn stands(&mut self, name: &str, state: GatewayState, why: Option<&String>) {
        self.change(name, |record| {
            record.state = state;
            record.why = Some(why.cloned().unwrap_or_else(|| "(erased)".to_owned()));
        });
    }
}

fn paired(b: &SenderPaired) -> PairedSender {
    PairedSender {
        principal_id: b.principal_id,
        sender: b.sender.shown().cloned(),
        sender_name: b.sender_name.shown().cloned(),
        chat: b.chat.shown().cloned(),
        profile: b.profile,
        conversation_id: b.conversation_id,
        since: b.paired_at,
        unpaired: None,
        seq: 0,
    }
}
