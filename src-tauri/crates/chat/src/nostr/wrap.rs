//! Private messages of Nostr (NIP-17): a rumour in a seal in a gift wrap, opened only as far as each layer vouches for the next.

use super::ID_LETTERS;
use ::nostr::event::{Event, EventBuilder, FinalizeEvent as _, Kind, Tag, UnsignedEvent};
use ::nostr::key::{Keys, PublicKey, SecretKey};
use ::nostr::nips::nip44::{self, Nip44 as _};
use ::nostr::nips::nip59::{GiftWrapBuilder, GiftWrapSealBuilder};
use ::nostr::types::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// Bytes of what a wrap, or the seal in it, encloses.
const CONTENT_BYTES_MAX: usize = 256 * 1024;
/// Tags of an event.
const TAGS_MAX: usize = 256;
/// By how much the time of a wrap is moved back at most, so that nobody can tell when it was made.
pub(super) const MOVED_SECS: u64 = 2 * 86_400;
/// What the key of a copy is made from, besides the own key.
const COPY_DOMAIN: &str = "hermit-nostr-copy/1";

/// A message that was opened: whose it is, and what it says.
pub(super) struct Opened {
    pub(super) sender: PublicKey,
    pub(super) rumour: UnsignedEvent,
}

/// An event that is signed, of a kind that was asked for, and of bounded size; none where it is not.
pub(super) fn signed(event: &Value, kind: Kind) -> Option<Event> {
    let content = event.get("content").and_then(Value::as_str)?;
    let tags = event.get("tags").and_then(Value::as_array)?;
    let is_kind = event.get("kind").and_then(Value::as_u64) == Some(u64::from(kind.as_u16()));
    if !is_kind || content.len() > CONTENT_BYTES_MAX || tags.len() > TAGS_MAX {
        return None;
    }
    let event: Event = serde_json::from_value(event.clone()).ok()?;
    event.verify().is_ok().then_some(event)
}

/// An event of any kind whose id and signature hold, of bounded size, as JSON that says nothing else; none where they do not.
pub(super) fn held(event: &Value) -> Option<Value> {
    let kind = event.get("kind").and_then(Value::as_u64)?;
    let event = signed(event, Kind::from(u16::try_from(kind).ok()?))?;
    serde_json::to_value(&event).ok()
}

/// Opens a wrap that is signed. The sender is whoever signed the seal, and nobody else may stand in the rumour.
pub(super) fn open(keys: &Keys, wrap: &Event) -> Option<Opened> {
    let seal = keys.nip44_decrypt(&wrap.pubkey, &wrap.content).ok()?;
    let seal: Value = serde_json::from_str(&seal).ok()?;
    // A sender may have sealed nothing, and signed the same bytes as something else.
    let seal = signed(&seal, Kind::Seal)?;
    let rumour = keys.nip44_decrypt(&seal.pubkey, &seal.content).ok()?;
    let rumour = UnsignedEvent::from_json(rumour).ok()?;
    let is_theirs = rumour.pubkey == seal.pubkey && rumour.tags.len() <= TAGS_MAX;
    // An id that is written there is none: the rumour's own is made from what it says.
    (is_theirs && rumour.verify_id().is_ok()).then_some(Opened { sender: seal.pubkey, rumour })
}

/// A message of words.
pub(super) fn rumour(from: &Keys, to: PublicKey, text: &str, reply_to: Option<&str>) -> UnsignedEvent {
    let answers = reply_to.filter(|id| is_id(id)).map(|id| Tag::custom("e", [id]));
    let tags = [Tag::public_key(to)].into_iter().chain(answers);
    let mut rumour =
        UnsignedEvent::new(from.public_key(), Timestamp::now(), Kind::PrivateDirectMessage, tags, text);
    rumour.ensure_id();
    rumour
}

/// Whether two rumours say the same to the same, whenever.
pub(super) fn is_same(one: &UnsignedEvent, other: &UnsignedEvent) -> bool {
    one.pubkey == other.pubkey
        && one.kind == other.kind
        && one.tags == other.tags
        && one.content == other.content
}

/// The wrap in which a message goes to its receiver, by a key that was drawn for it.
pub(super) fn wrapped(keys: &Keys, to: PublicKey, rumour: UnsignedEvent) -> Option<Event> {
    GiftWrapBuilder::new(to, rumour).finalize(keys).ok()
}

/// The key of the copy that the sender keeps at the relays: the same for each repeat of a message, and nobody else can make it.
pub(super) fn copy_keys(keys: &Keys, repeat_key: &str) -> Option<Keys> {
    let digest = digest(keys, "key", repeat_key);
    SecretKey::from_slice(&digest).ok().map(Keys::new)
}

/// The copy: it says which rumour a message is, to whoever sends the message again.
pub(super) fn copy(keys: &Keys, own: &Keys, rumour: UnsignedEvent, repeat_key: &str) -> Option<Event> {
    let to = keys.public_key();
    let seal = GiftWrapSealBuilder::new(rumour, to).finalize(keys).ok()?;
    let content =
        nip44::encrypt(own.secret_key(), &to, seal.try_as_json().ok()?, nip44::Version::default()).ok()?;
    let moved = digest(keys, "time", repeat_key).iter().take(4).fold(0, |n, b| (n << 8) | u64::from(*b));
    let at = Timestamp::now().as_secs().saturating_sub(moved % MOVED_SECS);
    let wrap = EventBuilder::new(Kind::GiftWrap, content).tag(Tag::public_key(to));
    wrap.custom_created_at(Timestamp::from_secs(at)).finalize(own).ok()
}

fn digest(keys: &Keys, of: &str, repeat_key: &str) -> Zeroizing<Vec<u8>> {
    let secret = Zeroizing::new(keys.secret_key().to_secret_bytes());
    let mut hash = Sha256::new();
    for part in
        [COPY_DOMAIN.as_bytes(), secret.as_slice(), of.as_bytes(), b"\n".as_slice(), repeat_key.as_bytes()]
    {
        hash.update(part);
    }
    Zeroizing::new(hash.finalize().iter().copied().collect())
}

/// Whether a text is the id of an event.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == ID_LETTERS && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
