//! The real seal: what it opens, and what it does not.

use crate::fake::{Make as _, Seeded};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mesh::sealed::{
    MESSAGE_KIND, NostrSealing, SEAL_KIND, SUBJECT, Sealing as _, TEXT_BYTES_MAX, WRAP_KIND, WireEvent, fits,
};
use model::UnixMs;
use nostr::event::{EventBuilder, FinalizeEvent as _, Kind, Tag, UnsignedEvent};
use nostr::key::{Keys, PublicKey, SecretKey};
use nostr::nips::nip44::v2::{self, ConversationKey};
use nostr::types::Timestamp;
use serde_json::{Value, json};

const NOW: UnixMs = UnixMs(1_800_000_000_000);

fn two() -> (NostrSealing, NostrSealing, Seeded) {
    (NostrSealing::make([1; 32]), NostrSealing::make([2; 32]), Seeded(7))
}

#[test]
fn only_the_receiver_opens_a_wrap_and_its_time_is_moved_back_by_up_to_two_days() {
    let (one, other, mut chance) = two();
    let third = NostrSealing::make([3; 32]);
    let mut times = Vec::new();
    for _ in 0..40 {
        let wrap = one.wrap(other.node(), "words", NOW, &mut chance).unwrap();
        assert_ne!(wrap.pubkey, one.node());
        assert!(!serde_json::to_string(&wrap).unwrap().contains(&one.node().to_string()));
        let unsealed = other.open(&wrap).unwrap();
        assert_eq!((unsealed.from, unsealed.text.as_str()), (one.node(), "words"));
        assert_eq!(third.open(&wrap), None);
        assert_eq!(one.open(&wrap), None);
        times.push(NOW.0 / 1000 - wrap.created_at);
    }
    assert!(times.iter().all(|back| (0..2 * 86_400).contains(back)));
    assert!(times.iter().max().unwrap() - times.iter().min().unwrap() > 86_400);
}

#[test]
fn a_bent_wrap_is_not_opened_wherever_it_is_bent() {
    let (one, other, mut chance) = two();
    let wrap = one.wrap(other.node(), "words", NOW, &mut chance).unwrap();
    let bent: [fn(&mut WireEvent); 6] = [
        |event| {
            event.content.replace_range(50..51, if event.content.as_bytes()[50] == b'A' { "B" } else { "A" })
        },
        |event| event.created_at += 1,
        |event| event.kind = 1_060,
        |event| event.tags.push(vec!["e".to_owned()]),
        |event| event.sig = "0".repeat(128),
        |event| event.content = "A".repeat(200_000),
    ];
    for (at, bend) in bent.into_iter().enumerate() {
        let mut event = wrap.clone();
        bend(&mut event);
        assert_eq!(other.open(&event), None, "{at}");
    }
    assert!(other.open(&wrap).is_some());
}

fn keys(secret: u8) -> Keys {
    Keys::new(SecretKey::from_slice(&[secret; 32]).unwrap())
}

/// A wrap around a seal around words of somebody: the seal is signed by `sealer`, and bent then.
fn wrapped(words_of: &Keys, sealer: &Keys, to: PublicKey, bend: fn(&mut Value)) -> WireEvent {
    let encrypted = |from: &Keys, text: &str| {
        let shared = ConversationKey::derive(from.secret_key(), &to).unwrap();
        STANDARD.encode(v2::encrypt_to_bytes_with_nonce(&shared, text.as_bytes(), [7; 32]).unwrap())
    };
    let (at, kind) = (Timestamp::from_secs(1_800_000_000), Kind::from(MESSAGE_KIND));
    let tags = [Tag::public_key(to), Tag::custom("subject", [SUBJECT])];
    let mut rumour = UnsignedEvent::new(words_of.public_key(), at, kind, tags, "words");
    rumour.ensure_id();
    let inner = EventBuilder::new(Kind::from(SEAL_KIND), encrypted(sealer, &rumour.as_json()));
    let mut inner = serde_json::to_value(inner.finalize(sealer).unwrap()).unwrap();
    bend(&mut inner);
    let once = keys(9);
    let outer = EventBuilder::new(Kind::from(WRAP_KIND), encrypted(&once, &inner.to_string()));
    let outer = outer.tag(Tag::public_key(to)).finalize(&once).unwrap();
    serde_json::from_str(&serde_json::to_string(&outer).unwrap()).unwrap()
}

#[test]
fn a_forged_seal_and_a_rumour_whose_key_is_not_the_seals_say_nothing() {
    let (one, other, _) = two();
    let (own, thief, to) = (keys(1), keys(3), keys(2).public_key());
    let opened = other.open(&wrapped(&own, &own, to, |_| {})).unwrap();
    assert_eq!((opened.from, opened.text.as_str()), (one.node(), "words"));
    // Whoever knows the key of a paired machine puts words into its mouth, and seals them with their own key.
    assert_eq!(other.open(&wrapped(&own, &thief, to, |_| {})), None);
    // Or names it as the one that sealed, or signs nothing, or something else.
    let forged: [fn(&mut Value); 4] = [
        |inner| inner["pubkey"] = json!(keys(1).public_key().to_hex()),
        |inner| inner["sig"] = json!("0".repeat(128)),
        |inner| inner["created_at"] = json!(1_700_000_000),
        |inner| inner["kind"] = json!(14),
    ];
    for (at, bend) in forged.into_iter().enumerate() {
        assert_eq!(other.open(&wrapped(&thief, &thief, to, bend)), None, "{at}");
    }
}

#[test]
fn the_longest_text_fits_and_a_longer_one_is_refused() {
    let (one, other, mut chance) = two();
    let plain = "x".repeat(TEXT_BYTES_MAX);
    assert!(fits(&plain));
    let wrap = one.wrap(other.node(), &plain, NOW, &mut chance).unwrap();
    // Every reader of NIP-44 takes what this holds: 65,535 bytes, in base64.
    assert!(wrap.content.len() <= 87_472, "{}", wrap.content.len());
    assert_eq!(other.open(&wrap).unwrap().text, plain);
    assert!(one.wrap(other.node(), &format!("{plain}x"), NOW, &mut chance).is_err());
    let quotes = "\"".repeat(TEXT_BYTES_MAX);
    assert!(!fits(&quotes));
    assert!(one.wrap(other.node(), &quotes, NOW, &mut chance).is_err());
}

#[test]
fn a_presence_is_read_by_its_group_alone() {
    let (mut one, mut other, mut chance) = two();
    let third = NostrSealing::make([3; 32]);
    let group = one.add_group(&[9; 32]).unwrap();
    assert_eq!(other.add_group(&[9; 32]).unwrap(), group);
    let told = one.announce(group, "here", NOW, &mut chance).unwrap();
    assert_eq!(other.read_announced(&told).unwrap().text, "here");
    assert_eq!(third.read_announced(&told), None);
    let wrap = one.wrap(group, "to all", NOW, &mut chance).unwrap();
    assert_eq!(other.open(&wrap).unwrap().from, one.node());
    assert_eq!(third.open(&wrap), None);
}

/// The first vector of NIP-44 for `encrypt_decrypt`: secrets 1 and 2, nonce 1, plaintext `a`.
#[test]
fn a_published_vector_of_nip_44_holds() {
    let hex = |last: u8| {
        let mut bytes = [0; 32];
        bytes[31] = last;
        bytes
    };
    let other = Keys::new(SecretKey::from_slice(&hex(2)).unwrap());
    let secret = SecretKey::from_slice(&hex(1)).unwrap();
    let shared = ConversationKey::derive(&secret, &other.public_key()).unwrap();
    let key: String = shared.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(key, "c41c775356fd92eadc63ff5a0dc1da211b268cbea22316767095b2871ea1412d");
    let sealed = v2::encrypt_to_bytes_with_nonce(&shared, b"a", hex(1)).unwrap();
    assert_eq!(
        STANDARD.encode(&sealed),
        "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABee0G5VSK0/9YypIObAtDKfYEAjD35uVkHyB0F4DwrcNaCXlCWZKaArsGrY6M9wnuTMxWfp1RTN9Xga8no+kF5Vsb"
    );
}
