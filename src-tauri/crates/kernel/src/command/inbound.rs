//! What comes in through a gateway (schedule.md 2): one envelope after another, each used once or refused with a reason.
//!
//! A message that is used does what it is for first, under a key that is the service's own id of it, and is on record as received
//! after that. A host that dies in between hears it again, and does nothing twice. What is refused is counted and kept nowhere:
//! a flood of strangers adds a few events, for a count is written when it has doubled.

use super::gateways::{heard_as, in_messages};
use super::inbound_use::Came;
use super::outbound_queue::{Telling, queue};
use crate::Error;
use crate::gateway_registry::matters::{Matters, PLACES_MAX};
use crate::gateway_registry::{GatewayRecord, PairedSender};
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use crate::writeup::{NewArtifact, Writeup};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::{KeyPurpose, MessageReceived, MessageRefused};
use model::envelope::{
    ENVELOPE_BYTES_MAX, ENVELOPE_VERSION, Envelope, EnvelopeAttachment, EnvelopeKind, EnvelopePayload,
    EnvelopeSender,
};
use model::event::Actor;
use model::fault::Point;
use model::gateway::{CHAT_NAME_BYTES_MAX, GatewayState, MessageAbout, MessageRefusal, MessageUse, code_in};
use model::ingress::Channel;
use model::{Digest, PrincipalId, Sensitive, TaskId, UnixMs, limits};
use seal::canon::INTEGER_MAX;
use std::collections::{BTreeMap, BTreeSet};

/// A message older than this is not acted upon: what it asks for may have been done otherwise by now.
const STALE_MS: i64 = 24 * 3600 * 1000;
/// How far ahead of the clock here that of a service may be, in milliseconds.
const AHEAD_MS: i64 = 15 * 60 * 1000;
/// What the digest of a message's own id begins with.
const MESSAGE_DOMAIN: &str = "hermit-chat-message/1";

/// A message as an adapter heard it from its service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// The service's own id of it, which no other has in its chat.
    pub message_id: String,
    /// The chat, as the service names it.
    pub chat: String,
    /// Whether others are in that chat.
    pub is_group: bool,
    /// Who sent it, as the service names them.
    pub sender: String,
    /// As they call themselves.
    pub sender_name: String,
    /// When, as the service says.
    pub sent_at: UnixMs,
    /// The words.
    pub text: String,
    /// The service's own id of what it answers.
    pub reply_to: Option<String>,
    /// The data of the button that was pressed.
    pub button: Option<String>,
    /// Files that came with it, which were taken in before.
    pub attachments: Vec<EnvelopeAttachment>,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// It was used, as this; these tasks are to be driven now.
    Used(MessageUse, Vec<TaskId>),
    /// It was refused: nothing follows from it.
    Refused(MessageRefusal),
}

/// What was refused since this host began, by gateway and reason; and wrong codes, by gateway and sender.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    times: BTreeMap<(String, MessageRefusal), u64>,
    wrong: BTreeMap<(String, String), u32>,
}

impl Kernel {
    /// The envelope of a message, signed by this node: the one form in which messages are heard.
    ///
    /// # Errors
    /// [`Error::KeyLocked`] without the log's key.
    pub fn wrap(&self, gateway: &str, heard: Heard) -> Result<Vec<u8>, Error> {
        let registry = self.gateway_registry();
        let record = registry.standing(gateway);
        let paired = record.and_then(|record| record.paired(&heard.sender, &heard.chat));
        let next = |one: &PairedSender| (Some(one.conversation_id), one.seq.saturating_add(1));
        let (conversation_id, seq) = paired.map_or((None, 1), next);
        let (kind, body) = match heard.button {
            Some(data) => (EnvelopeKind::Button, data),
            None => (EnvelopeKind::Words, heard.text),
        };
        let payload = EnvelopePayload {
            version: ENVELOPE_VERSION,
            kind,
            seq,
            // A stranger may name any time; one that no envelope can hold is as stale as the last that one can.
            sent_at: UnixMs(heard.sent_at.0.clamp(-INTEGER_MAX, INTEGER_MAX)),
            sender: EnvelopeSender {
                gateway: gateway.to_owned(),
                chat: heard.chat,
                is_group: heard.is_group,
                sender: heard.sender,
                name: heard.sender_name,
                message_id: heard.message_id,
            },
            body,
            attachments: heard.attachments,
            in_reply_to: heard.reply_to,
        };
        let signer = self.ports.keys.log().ok_or(Error::KeyLocked("log"))?;
        let node_id = self.reader.log_id().to_owned();
        Ok(Envelope::sign(conversation_id, node_id, payload, &*signer)?.to_bytes()?)
    }

    /// Hears a message: the one way in for all of them.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the gateway; else only what another try may get over, and the message is not received then.
    pub fn receive_message(&self, gateway: &str, envelope: &[u8]) -> Result<Received, Error> {
        let mut refused = lock(&self.hearing);
        let record = self.standing_gateway(gateway)?;
        let came = match self.opened(&record, envelope) {
            Ok(envelope) => self.heard(&record, &envelope, &mut refused)?,
            Err(why) => Err(why),
        };
        match came {
            Ok((used_as, to_drive)) => Ok(Received::Used(used_as, to_drive)),
            Err(why) => {
                self.count_refused(&record, why, &mut refused)?;
                Ok(Received::Refused(why))
            }
        }
    }

    /// An envelope that says what it must, of this node, of now.
    fn opened(&self, record: &GatewayRecord, bytes: &[u8]) -> Result<Envelope, MessageRefusal> {
        if bytes.len() > ENVELOPE_BYTES_MAX {
            return Err(MessageRefusal::TooLarge);
        }
        let envelope = Envelope::from_bytes(bytes).map_err(|_| MessageRefusal::Unreadable)?;
        let payload = &envelope.payload;
        if payload.version != ENVELOPE_VERSION || !is_named(&payload.sender) {
            return Err(MessageRefusal::Unreadable);
        }
        if payload.body.len() > limits::NOTE_BYTES_MAX || payload.attachments.len() > limits::ENCLOSED_MAX {
            return Err(MessageRefusal::TooLarge);
        }
        if envelope.node_id != self.reader.log_id() || payload.sender.gateway != record.name {
            return Err(MessageRefusal::Elsewhere);
        }
        let key = lock(&self.store).keys.get(&KeyPurpose::Log).map(|(_, key)| *key);
        if !key.is_some_and(|key| envelope.is_signed_by(&key)) {
            return Err(MessageRefusal::Unsigned);
        }
        let age = self.ports.clock.now().0.saturating_sub(payload.sent_at.0);
        if !(-AHEAD_MS..=STALE_MS).contains(&age) {
            return Err(MessageRefusal::Stale);
        }
        match record.state {
            GatewayState::Active => Ok(envelope),
            GatewayState::Paused | GatewayState::Removed => Err(MessageRefusal::NotActive),
        }
    }

    /// A message of somebody, which came now for the first time or did not.
    fn heard(
        &self,
        record: &GatewayRecord,
        envelope: &Envelope,
        refused: &mut Refused,
    ) -> Result<Result<(MessageUse, Vec<TaskId>), MessageRefusal>, Error> {
        let (payload, from) = (&envelope.payload, &envelope.payload.sender);
        if self.reader.by_idempotency_key(&format!("message:{}", digest_of(from)))?.is_some() {
            return Ok(Err(MessageRefusal::Repeated));
        }
        // A chat that others came into since is theirs as well: nobody is heard there, so nothing is answered there.
        let paired = record.paired(&from.sender, &from.chat).filter(|_| !from.is_group);
        let Some(sender) = paired else {
            return self.hear_stranger(record, envelope, refused);
        };
        if envelope.conversation_id != Some(sender.conversation_id) {
            return Ok(Err(MessageRefusal::Elsewhere));
        }
        if payload.seq != sender.seq.saturating_add(1) {
            return Ok(Err(MessageRefusal::OutOfOrder));
        }
        // A code that a person gave out since says anew what its sender may do.
        let is_words = payload.kind == EnvelopeKind::Words;
        if is_words && self.open_code(record, &payload.body, self.ports.clock.now()).is_some() {
            return self.hear_stranger(record, envelope, refused);
        }
        let came = match self.use_message(record, sender, envelope)? {
            Ok(came) => came,
            Err(why) => return Ok(Err(why)),
        };
        let mut w = self.heard_writeup(record, heard_as(sender.principal_id))?;
        in_messages(&mut w, record, |w| push_received(w, record, envelope, (sender.principal_id, &came)))?;
        self.commit(w)?;
        Ok(Ok((came.used_as, came.to_drive)))
    }

    /// Somebody whom nobody paired, or who sends a new code: they are heard only as far as they send a code, in a chat of their own, and are answered only
    /// when it is one.
    fn hear_stranger(
        &self,
        record: &GatewayRecord,
        envelope: &Envelope,
        refused: &mut Refused,
    ) -> Result<Result<(MessageUse, Vec<TaskId>), MessageRefusal>, Error> {
        let (payload, from, now) = (&envelope.payload, &envelope.payload.sender, self.ports.clock.now());
        if record.traffic.silenced_until(&from.sender, now).is_some() {
            return Ok(Err(MessageRefusal::Silenced));
        }
        let is_code = payload.kind == EnvelopeKind::Words && code_in(&payload.body).is_some();
        if from.is_group || !is_code {
            return Ok(Err(MessageRefusal::NotPaired));
        }
        let Some(code) = self.open_code(record, &payload.body, now) else {
            self.count_wrong_code(record, &from.sender, &mut refused.wrong)?;
            return Ok(Err(MessageRefusal::WrongCode));
        };
        let mut w = self.heard_writeup(record, heard_as(record.principal_id))?;
        let (principal_id, _) = self.push_paired(&mut w, from, code)?;
        let came = Came {
            reply: Some(super::outbound_words::greeting(code.profile)),
            ..Came::of(MessageUse::Pairing)
        };
        in_messages(&mut w, record, |w| push_received(w, record, envelope, (principal_id, &came)))?;
        self.commit(w)?;
        Ok(Ok((MessageUse::Pairing, Vec::new())))
    }

    /// A writeup in the store's own stream, as whoever is heard.
    pub(super) fn heard_writeup(&self, record: &GatewayRecord, actor: Actor) -> Result<Writeup<'_>, Error> {
        self.store_writeup(Point::IngressReceive, actor, format!("gateway:{}", record.name), None)
    }

    /// Counts what was refused; on record when the count has doubled.
    fn count_refused(
        &self,
        record: &GatewayRecord,
        refusal: MessageRefusal,
        refused: &mut Refused,
    ) -> Result<(), Error> {
        let before = record.traffic.refused.get(&refusal).copied().unwrap_or(0);
        let times = refused.times.entry((record.name.clone(), refusal)).or_insert(before);
        *times = times.saturating_add(1);
        if !times.is_power_of_two() {
            return Ok(());
        }
        let (name, times) = (record.name.clone(), *times);
        let actor = self.principal_of(Sender::from(Channel::System))?;
        let mut w = self.heard_writeup(record, actor)?;
        in_messages(&mut w, record, |w| w.push(MessageRefused { name, refusal, times }));
        self.commit(w).map(drop)
    }

    /// The sender in whose conversation an inbox is, where it is that of one.
    pub(super) fn heard_in(&self, inbox: TaskId) -> Option<Actor> {
        let store = lock(&self.store);
        let conversation = store.conversations.iter().find(|one| one.inbox_task_id == inbox)?;
        store.gateways.sender_in(conversation.conversation_id).map(heard_as)
    }

    /// How far a service was read. It is written when something was received since it was written last, else once in a while:
    /// what was refused may come again.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn gateway_read(&self, gateway: &str, cursor: &str, is_news: bool) -> Result<(), Error> {
        let record = self.standing_gateway(gateway)?;
        let now = self.ports.clock.now();
        let is_due = |read_at: UnixMs| now.0.saturating_sub(read_at.0) >= limits::GATEWAY_READ_MS;
        let is_due = record.traffic.read_at.is_none_or(is_due);
        let wants_list = record.traffic.wants_list();
        let matters = wants_list.then(|| Matters::of(&self.reader, record.messages_task_id)).transpose()?;
        // One that no event can hold is not written: a service that takes nothing may not keep itself from being heard.
        let matters = matters.filter(|places| places.len() <= PLACES_MAX);
        if matters.is_none() && (record.traffic.cursor == cursor || !(is_news || is_due)) {
            return Ok(());
        }
        let mut w = self.heard_writeup(&record, self.principal_of(Sender::from(Channel::System))?)?;
        let (name, cursor) = (record.name.clone(), Sensitive::from(cursor.to_owned()));
        let read = model::body::GatewayRead { name, cursor, read_at: now, matters };
        in_messages(&mut w, &record, |w| w.push(read));
        self.commit(w).map(drop)
    }
}

/// That a message was received, its envelope, and what its sender is told of it.
fn push_received(
    w: &mut Writeup<'_>,
    record: &GatewayRecord,
    envelope: &Envelope,
    (principal_id, came): (PrincipalId, &Came),
) -> Result<(), Error> {
    let id = digest_of(&envelope.payload.sender);
    let kept = keep_envelope(w, envelope)?;
    w.push_keyed(
        Some(format!("message:{id}")),
        MessageReceived {
            name: record.name.clone(),
            principal_id,
            seq: envelope.payload.seq,
            envelope: kept,
            used_as: came.used_as,
            ingress_id: came.ingress_id,
            about_task_id: came.about,
            button_sha256: came.button,
        },
    );
    match &came.reply {
        None => Ok(()),
        Some(text) => {
            let key = format!("reply:{id}");
            // What is kept of the message names them: its key does not.
            let of_tasks: BTreeSet<TaskId> = came.about.iter().chain(&came.speaks_of).copied().collect();
            let telling = Telling::words(key, MessageAbout::Reply, text.clone()).about_task(came.about);
            let telling = telling.speaking_of(of_tasks.into_iter().collect());
            let telling = telling.answering(envelope.payload.sender.message_id.clone());
            queue(w, record, principal_id, telling)
        }
    }
}

fn keep_envelope(w: &mut Writeup<'_>, envelope: &Envelope) -> Result<ArtifactRef, Error> {
    let new = NewArtifact::audit(ArtifactKind::ChatMessage).trust(Sender::from(Channel::Chat).tier());
    w.artifact(&envelope.to_bytes()?, new)
}

/// By what a message is known: the service's own id of it, in its chat, behind its gateway.
pub(super) fn digest_of(of: &EnvelopeSender) -> Digest {
    let EnvelopeSender { gateway, chat, message_id, .. } = of;
    // Lengths keep apart what a name might run together.
    let named = format!("{MESSAGE_DOMAIN}\n{gateway}\n{}\n{chat}\n{message_id}", chat.len());
    Digest::of(named.as_bytes())
}

/// Whether a service named everything, and at no great length.
fn is_named(of: &EnvelopeSender) -> bool {
    let fits = |text: &String| !text.is_empty() && text.len() <= CHAT_NAME_BYTES_MAX;
    [&of.chat, &of.sender, &of.message_id].into_iter().all(fits) && of.name.len() <= CHAT_NAME_BYTES_MAX
}
