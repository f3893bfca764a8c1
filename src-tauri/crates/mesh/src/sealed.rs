//! What is sealed for one node or for the group: NIP-59 wraps over NIP-44 v2, opened only as far as each layer answers for the next.
//!
//! Whoever carries a wrap learns for whom it is and about how long it is; not whose it is, what it says, or when it was made.

use crate::{Chance, Error, NodeId};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::UnixMs;
use nostr::event::{Event, EventBuilder, FinalizeEvent as _, Kind, Tag, UnsignedEvent};
use nostr::key::{Keys, PublicKey, SecretKey};
use nostr::nips::nip44::v2::{self, ConversationKey};
use nostr::types::Timestamp;
use seal::Digest;
use serde::{Deserialize, Serialize};

/// The kind of a wrap (NIP-59).
pub const WRAP_KIND: u16 = 1059;
/// The kind of a seal (NIP-59).
pub const SEAL_KIND: u16 = 13;
/// The kind of the message in a seal (NIP-17).
pub const MESSAGE_KIND: u16 = 14;
/// The kind of what a node says of itself: an addressable event of an application (NIP-78).
pub const PRESENCE_KIND: u16 = 30_078;
/// The `d` tag of a presence.
pub const PRESENCE_TAG: &str = "hermit-mesh-presence/1";
/// The subject that a sealed message bears, so that a reader of another make can tell it from a chat.
pub const SUBJECT: &str = "hermit-mesh/1";
/// The kind of a signed notice. It goes to no relay as it is, only inside a seal.
pub const NOTICE_KIND: u16 = 4_179;
/// The longest text that is sealed, in bytes. With what wraps it, it stays below the 65,535 bytes that every reader of NIP-44 takes.
pub const TEXT_BYTES_MAX: usize = 32 * 1024;
/// The longest content of an event that is looked at, in bytes.
pub const CONTENT_BYTES_MAX: usize = 96 * 1024;
/// Tags of an event that is looked at.
pub const TAGS_MAX: usize = 16;
/// The longest rumour, in bytes, of which the two layers of encryption stay below 65,535 bytes.
const RUMOUR_BYTES_MAX: usize = 40_960 - 2;
/// What stands around the text in a rumour, in bytes, and some to spare.
const RUMOUR_AROUND: usize = 512;
/// By how many seconds the time of a wrap is moved back at most.
pub const MOVED_SECS: u32 = 2 * 86_400;

/// An event of Nostr (NIP-01), as it is written and read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireEvent {
    /// SHA-256 of what it says.
    pub id: Digest,
    /// Whose it is.
    pub pubkey: NodeId,
    /// When, in seconds, as it says.
    pub created_at: i64,
    /// Its kind.
    pub kind: u16,
    /// Its tags.
    pub tags: Vec<Vec<String>>,
    /// Its content.
    pub content: String,
    /// BIP-340 over the id, in hex.
    pub sig: String,
}

impl WireEvent {
    /// Whether it is small enough to be looked at.
    pub fn is_bounded(&self) -> bool {
        let tags = || self.tags.iter().flatten();
        self.content.len() <= CONTENT_BYTES_MAX
            && self.sig.len() == 128
            && self.tags.len() <= TAGS_MAX
            && tags().count() <= 4 * TAGS_MAX
            && tags().all(|text| text.len() <= 512)
    }

    /// The node or group that it is for: its first `p` tag.
    pub fn receiver(&self) -> Option<NodeId> {
        let tag = self.tags.iter().find(|tag| tag.first().is_some_and(|name| name == "p"))?;
        tag.get(1)?.parse().ok()
    }
}

/// Whether a text can be sealed: it stands in the rumour as a JSON string, in which each quotation mark takes two bytes.
pub fn fits(text: &str) -> bool {
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\' | 0..=31)).count();
    text.len() <= TEXT_BYTES_MAX && text.len() + escaped + RUMOUR_AROUND <= RUMOUR_BYTES_MAX
}

/// What was in a wrap or a presence: whose it is, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsealed {
    /// Who signed the seal.
    pub from: NodeId,
    /// The text.
    pub text: String,
}

/// What seals, opens and signs with the key of a node. The key stays behind it, and so does what makes a simulation cheap.
pub trait Sealing {
    /// The node.
    fn node(&self) -> NodeId;
    /// Takes in the secret of a group; the newest of them seals for the group, each of them opens.
    fn add_group(&mut self, secret: &[u8; 32]) -> Result<NodeId, Error>;
    /// The groups whose wraps are opened, the newest last.
    fn groups(&self) -> Vec<NodeId>;
    /// The secret of a group of this node, for a peer that has an older one.
    fn group_secret(&self, group: NodeId) -> Option<[u8; 32]>;
    /// Draws the secret of a new group.
    fn draw_group(&self, chance: &mut dyn Chance) -> [u8; 32];
    /// Signs a text, which is not encrypted.
    fn sign(&self, text: &str, now: UnixMs) -> Result<WireEvent, Error>;
    /// Whether an event is signed by whose it says it is.
    fn is_signed(&self, event: &WireEvent) -> bool;
    /// Seals a text for a node or a group.
    fn wrap(&self, to: NodeId, text: &str, now: UnixMs, chance: &mut dyn Chance) -> Result<WireEvent, Error>;
    /// Opens a wrap for this node or a group of its; none where any layer does not hold.
    fn open(&self, event: &WireEvent) -> Option<Unsealed>;
    /// An addressable event of this node that a group reads, and of which a relay keeps the newest.
    fn announce(
        &self,
        group: NodeId,
        text: &str,
        now: UnixMs,
        chance: &mut dyn Chance,
    ) -> Result<WireEvent, Error>;
    /// Reads what another node announced to a group.
    fn read_announced(&self, event: &WireEvent) -> Option<Unsealed>;
    /// Signs tags and words under the node's key, which anybody reads.
    fn sign_open(
        &self,
        kind: u16,
        tags: Vec<Vec<String>>,
        content: &str,
        now: UnixMs,
    ) -> Result<WireEvent, Error>;
    /// Whether an event of a kind is signed by whose it says it is.
    fn is_open(&self, event: &WireEvent, kind: u16) -> bool;
}

/// [`Sealing`] by the library of Nostr.
pub struct NostrSealing {
    keys: Keys,
    groups: Vec<Keys>,
}

impl std::fmt::Debug for NostrSealing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NostrSealing").field("node", &id_of(&self.keys.public_key())).finish_non_exhaustive()
    }
}

fn failed(what: &'static str) -> Error {
    Error::Sealing(what)
}

fn keys_of(secret: &[u8]) -> Result<Keys, Error> {
    SecretKey::from_slice(secret).map(Keys::new).map_err(|_| failed("a secret is no key"))
}

fn id_of(key: &PublicKey) -> NodeId {
    NodeId(Digest(*key.as_bytes()))
}

fn key_of(node: NodeId) -> Result<PublicKey, Error> {
    PublicKey::from_slice(node.0.as_bytes()).map_err(|_| failed("a node's key is no key"))
}

fn encrypt(from: &Keys, to: &PublicKey, text: &[u8], chance: &mut dyn Chance) -> Result<String, Error> {
    let shared =
        ConversationKey::derive(from.secret_key(), to).map_err(|_| failed("no key was agreed on"))?;
    let mut nonce = [0; 32];
    chance.fill(&mut nonce);
    let sealed = v2::encrypt_to_bytes_with_nonce(&shared, text, nonce);
    sealed.map(|bytes| STANDARD.encode(bytes)).map_err(|_| failed("it cannot be encrypted"))
}

fn decrypt(by: &Keys, from: &PublicKey, content: &str) -> Option<String> {
    let bytes = STANDARD.decode(content).ok()?;
    let shared = ConversationKey::derive(by.secret_key(), from).ok()?;
    String::from_utf8(v2::decrypt_to_bytes(&shared, &bytes).ok()?).ok()
}

/// A time in seconds, moved back by chance.
fn moved(now: UnixMs, chance: &mut dyn Chance) -> Timestamp {
    let back = u64::from(chance.below(MOVED_SECS));
    Timestamp::from_secs(secs(now).saturating_sub(back))
}

fn secs(now: UnixMs) -> u64 {
    u64::try_from(now.0 / 1000).unwrap_or(0)
}

fn to_wire(event: &Event) -> Result<WireEvent, Error> {
    serde_json::from_str(&event.try_as_json().map_err(|_| failed("an event has no JSON"))?)
        .map_err(|_| failed("an event has another form"))
}

/// The event of the library, where its id and signature hold.
fn signed(event: &WireEvent, kind: u16) -> Option<Event> {
    if event.kind != kind || !event.is_bounded() {
        return None;
    }
    let event: Event = serde_json::from_value(serde_json::to_value(event).ok()?).ok()?;
    event.verify().is_ok().then_some(event)
}

/// Whether an event is of a kind, of bounded size and signed by whose it says it is.
pub fn is_event(event: &WireEvent, kind: u16) -> bool {
    signed(event, kind).is_some()
}

/// An event by a key that is drawn for it and forgotten.
///
/// # Errors
/// When it cannot be signed.
pub fn signed_once(
    kind: u16,
    tag: [&str; 2],
    content: &str,
    now: UnixMs,
    chance: &mut dyn Chance,
) -> Result<WireEvent, Error> {
    let [name, value] = tag;
    let builder = EventBuilder::new(Kind::from(kind), content)
        .tag(Tag::custom(name, [value]))
        .custom_created_at(Timestamp::from_secs(secs(now)));
    to_wire(&builder.finalize(&drawn(chance)).map_err(|_| failed("it cannot be signed"))?)
}

impl NostrSealing {
    /// By the secret of the instance's key.
    ///
    /// # Errors
    /// When the bytes are no secret.
    pub fn new(secret: &[u8; 32]) -> Result<Self, Error> {
        Ok(Self { keys: keys_of(secret)?, groups: Vec::new() })
    }

    /// Signs tags without words.
    pub(crate) fn sign_tags(
        &self,
        kind: u16,
        tags: Vec<Vec<String>>,
        now: UnixMs,
    ) -> Result<WireEvent, Error> {
        self.sign_event(kind, tags, "", now)
    }

    /// Signs words and tags, which anybody reads.
    pub(crate) fn sign_event(
        &self,
        kind: u16,
        tags: Vec<Vec<String>>,
        content: &str,
        now: UnixMs,
    ) -> Result<WireEvent, Error> {
        let tags = tags.into_iter().filter_map(|tag| Tag::parse(tag).ok());
        let builder = EventBuilder::new(Kind::from(kind), content)
            .tags(tags)
            .custom_created_at(Timestamp::from_secs(secs(now)));
        to_wire(&builder.finalize(&self.keys).map_err(|_| failed("it cannot be signed"))?)
    }

    fn for_receiver(&self, node: NodeId) -> Option<&Keys> {
        let mut all = std::iter::once(&self.keys).chain(self.groups.iter().rev());
        all.find(|keys| id_of(&keys.public_key()) == node)
    }
}

impl Sealing for NostrSealing {
    fn node(&self) -> NodeId {
        id_of(&self.keys.public_key())
    }

    fn add_group(&mut self, secret: &[u8; 32]) -> Result<NodeId, Error> {
        let keys = keys_of(secret)?;
        let id = id_of(&keys.public_key());
        self.groups.retain(|group| group.public_key() != keys.public_key());
        self.groups.push(keys);
        // A wrap is kept for two days and a little; older groups than the last few have none left.
        if self.groups.len() > crate::GROUPS_KEPT {
            self.groups.remove(0);
        }
        Ok(id)
    }

    fn groups(&self) -> Vec<NodeId> {
        self.groups.iter().map(|keys| id_of(&keys.public_key())).collect()
    }

    fn group_secret(&self, group: NodeId) -> Option<[u8; 32]> {
        let keys = self.groups.iter().find(|keys| id_of(&keys.public_key()) == group)?;
        Some(keys.secret_key().to_secret_bytes())
    }

    fn draw_group(&self, chance: &mut dyn Chance) -> [u8; 32] {
        drawn(chance).secret_key().to_secret_bytes()
    }

    fn sign(&self, text: &str, now: UnixMs) -> Result<WireEvent, Error> {
        let builder = EventBuilder::new(Kind::from(NOTICE_KIND), text)
            .custom_created_at(Timestamp::from_secs(secs(now)));
        to_wire(&builder.finalize(&self.keys).map_err(|_| failed("it cannot be signed"))?)
    }

    fn is_signed(&self, event: &WireEvent) -> bool {
        signed(event, NOTICE_KIND).is_some()
    }

    fn wrap(&self, to: NodeId, text: &str, now: UnixMs, chance: &mut dyn Chance) -> Result<WireEvent, Error> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Error::TooLarge);
        }
        let receiver = key_of(to)?;
        let tags = [Tag::public_key(receiver), Tag::custom("subject", [SUBJECT])];
        let at = Timestamp::from_secs(secs(now));
        let mut rumour = UnsignedEvent::new(self.keys.public_key(), at, Kind::from(MESSAGE_KIND), tags, text);
        rumour.ensure_id();
        let rumour = rumour.as_json();
        if rumour.len() > RUMOUR_BYTES_MAX {
            return Err(Error::TooLarge);
        }
        let content = encrypt(&self.keys, &receiver, rumour.as_bytes(), chance)?;
        let inner = EventBuilder::new(Kind::from(SEAL_KIND), content).custom_created_at(moved(now, chance));
        let inner = inner.finalize(&self.keys).map_err(|_| failed("a seal cannot be signed"))?;
        let once = drawn(chance);
        let content = encrypt(&once, &receiver, inner.as_json().as_bytes(), chance)?;
        let outer = EventBuilder::new(Kind::from(WRAP_KIND), content)
            .tag(Tag::public_key(receiver))
            .custom_created_at(moved(now, chance));
        to_wire(&outer.finalize(&once).map_err(|_| failed("a wrap cannot be signed"))?)
    }

    fn open(&self, event: &WireEvent) -> Option<Unsealed> {
        let by = self.for_receiver(event.receiver()?)?;
        let wrap = signed(event, WRAP_KIND)?;
        let inner: WireEvent = serde_json::from_str(&decrypt(by, &wrap.pubkey, &wrap.content)?).ok()?;
        // A sender may have sealed nothing, and signed the same bytes as something else.
        let inner = signed(&inner, SEAL_KIND)?;
        let rumour = UnsignedEvent::from_json(decrypt(by, &inner.pubkey, &inner.content)?).ok()?;
        let is_theirs = rumour.pubkey == inner.pubkey
            && rumour.kind == Kind::from(MESSAGE_KIND)
            && rumour.tags.len() <= TAGS_MAX
            && rumour.content.len() <= TEXT_BYTES_MAX
            && rumour.verify_id().is_ok()
            && rumour.tags.iter().any(|tag| tag.as_slice() == ["subject", SUBJECT]);
        is_theirs.then(|| Unsealed { from: id_of(&inner.pubkey), text: rumour.content.clone() })
    }

    fn announce(
        &self,
        group: NodeId,
        text: &str,
        now: UnixMs,
        chance: &mut dyn Chance,
    ) -> Result<WireEvent, Error> {
        let receiver = key_of(group)?;
        if text.len() > TEXT_BYTES_MAX {
            return Err(Error::TooLarge);
        }
        let content = encrypt(&self.keys, &receiver, text.as_bytes(), chance)?;
        let builder = EventBuilder::new(Kind::from(PRESENCE_KIND), content)
            .tags([Tag::custom("d", [PRESENCE_TAG]), Tag::public_key(receiver)])
            .custom_created_at(Timestamp::from_secs(secs(now)));
        to_wire(&builder.finalize(&self.keys).map_err(|_| failed("a presence cannot be signed"))?)
    }

    fn read_announced(&self, event: &WireEvent) -> Option<Unsealed> {
        let group = event.receiver()?;
        let by = self.groups.iter().rev().find(|keys| id_of(&keys.public_key()) == group)?;
        let event = signed(event, PRESENCE_KIND)?;
        let text = decrypt(by, &event.pubkey, &event.content)?;
        (text.len() <= TEXT_BYTES_MAX).then(|| Unsealed { from: id_of(&event.pubkey), text })
    }

    fn sign_open(
        &self,
        kind: u16,
        tags: Vec<Vec<String>>,
        content: &str,
        now: UnixMs,
    ) -> Result<WireEvent, Error> {
        self.sign_event(kind, tags, content, now)
    }

    fn is_open(&self, event: &WireEvent, kind: u16) -> bool {
        is_event(event, kind)
    }
}

/// A key that is used once.
fn drawn(chance: &mut dyn Chance) -> Keys {
    loop {
        let mut secret = zeroize::Zeroizing::new([0; 32]);
        chance.fill(&mut *secret);
        if let Ok(keys) = keys_of(secret.as_slice()) {
            return keys;
        }
    }
}
