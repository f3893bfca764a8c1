//! The one persisted contract: every event type keeps its bytes and its meaning.

use model::body::REGISTRY;
use model::event::{Actor, Draft, EntityType};
use model::principal::PrincipalType;
use model::{Body, Digest, Error, Event, UnixMs};
use proptest::prelude::*;
use seal::disclose::Disclosure;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// One payload of every registered type, all optional fields in it, sensitive leaves plain.
const SAMPLES: &str = include_str!("../data/samples.json");
/// The bytes of each sample's event, one a line, in the order of the registry. Frozen: see `the_bytes_are_frozen`.
const GOLDEN_EVENTS: &str = include_str!("../data/events.jsonl");
/// The disclosures that open them, one a line.
const GOLDEN_DISCLOSURES: &str = include_str!("../data/disclosures.jsonl");

fn samples() -> BTreeMap<String, Value> {
    serde_json::from_str(SAMPLES).expect("samples are JSON")
}

fn version(event_type: &str) -> u32 {
    REGISTRY
        .iter()
        .find(|(name, _)| *name == event_type)
        .map(|(_, version)| *version)
        .expect("a registered type")
}

pub(crate) fn sample(event_type: &str) -> Body {
    let value = samples().remove(event_type).unwrap_or_else(|| panic!("`{event_type}` has no sample"));
    Body::read(event_type, version(event_type), value).unwrap_or_else(|e| panic!("{event_type}: {e}"))
}

fn id<T: std::str::FromStr>(prefix: &str, n: usize) -> T
where
    T::Err: std::fmt::Debug,
{
    format!("{prefix}_0190a1b2c3d47e8f9a0b1c2d{n:08x}").parse().expect("an identifier")
}

fn draft(event_type: &str, at: usize) -> Draft {
    Draft {
        event_id: id("evt", at + 1),
        task_id: id("task", 1),
        step_id: Some(id("step", 1)),
        attempt_id: Some(id("att", 1)),
        occurred_at: UnixMs(1_700_000_000_000),
        actor: Actor { actor_type: PrincipalType::System, actor_id: id("prn", 1) },
        body: sample(event_type),
        causation_id: Some(id("evt", 99)),
        correlation_id: "req_1".to_owned(),
        idempotency_key: Some(format!("sample:{at}")),
        workspace_id: Some(id("wsp", 1)),
    }
}

/// Salts that count.
fn salts(at: usize) -> impl FnMut() -> [u8; 16] {
    let mut salt = [0_u8; 16];
    move || {
        salt[0] += 1;
        salt[1] = u8::try_from(at).expect("few types");
        salt
    }
}

/// The sample's event at a place.
pub(crate) fn placed(event_type: &str, at: usize) -> (Event, Vec<Disclosure>) {
    let head = Digest::of(event_type.as_bytes());
    draft(event_type, at).place(at as u64 + 1, head, &mut salts(at)).expect("it canonicalises")
}

#[test]
fn a_draft_made_ready_before_its_place_has_the_bytes_of_one_placed_at_once() {
    for (at, (name, _)) in REGISTRY.iter().enumerate() {
        let ready = draft(name, at).ready(&mut salts(at)).expect("it canonicalises");
        for seq in [1, 9, 10, 12_345, 9_007_199_254_740_991] {
            let head = Digest::of(&[u8::try_from(at).expect("few types")]);
            let (event, disclosures) =
                draft(name, at).place(seq, head, &mut salts(at)).expect("it canonicalises");
            let bytes = event.to_bytes().expect("it has canonical bytes");
            assert_eq!(String::from_utf8(ready.form.filled(seq, head)), String::from_utf8(bytes), "{name}");
            assert_eq!(ready.disclosures, disclosures, "{name}");
            let at_its_place = Event { task_seq: seq, prev_event_hash: head, ..ready.event.clone() };
            assert_eq!(at_its_place, event, "{name}");
        }
    }
}

fn lookup(disclosures: &[Disclosure]) -> impl Fn(&Digest) -> Option<Vec<u8>> + '_ {
    |digest| disclosures.iter().find(|d| d.digest == *digest).map(|d| d.bytes.clone())
}

#[test]
fn every_registered_type_has_a_sample_and_every_sample_a_type() {
    let registered: Vec<&str> = REGISTRY.iter().map(|(name, _)| *name).collect();
    let samples = samples();
    for name in &registered {
        assert!(samples.contains_key(*name), "`{name}` has no sample; add one to tests/data/samples.json");
    }
    for name in samples.keys() {
        assert!(registered.contains(&name.as_str()), "`{name}` is no registered type");
    }
    for (at, name) in registered.iter().enumerate() {
        assert!(!registered[at + 1..].contains(name), "`{name}` is registered twice");
    }
}

#[conforms::conforms("HK-13.1-2")]
#[test]
fn every_type_round_trips_through_its_bytes_with_its_disclosures() {
    for (at, (name, version)) in REGISTRY.iter().enumerate() {
        let body = sample(name);
        assert_eq!((body.event_type(), body.version()), (*name, *version));
        let (event, disclosures) = placed(name, at);
        let bytes = event.to_bytes().expect("it has canonical bytes");
        assert!(bytes.len() <= model::limits::EVENT_BYTES_MAX);
        let read = Event::from_bytes(&bytes).expect("it reads back");
        assert_eq!(read, event, "{name}");
        assert_eq!(read.to_bytes().expect("it has canonical bytes"), bytes);
        assert_eq!(read.body(&lookup(&disclosures)).expect("it is disclosed"), body, "{name}");
        assert_eq!((read.entity_type, read.entity_id.clone()), body.entity());
        assert!(!read.entity_id.is_empty());
    }
}

/// The value with each `{"$plain": …}` taken for a `{"$sd": …}`, whatever its digest.
fn shape(value: &Value, concealed: bool) -> Value {
    match value {
        Value::Object(o) if o.contains_key("$plain") && concealed => Value::from("leaf"),
        Value::Object(o) if o.contains_key("$sd") => Value::from("leaf"),
        Value::Object(o) => o.iter().map(|(k, v)| (k.clone(), shape(v, concealed))).collect(),
        Value::Array(a) => a.iter().map(|v| shape(v, concealed)).collect(),
        other => other.clone(),
    }
}

#[test]
fn every_type_reads_without_its_disclosures_and_lacks_only_the_sensitive_leaves() {
    for (at, (name, _)) in REGISTRY.iter().enumerate() {
        let (event, disclosures) = placed(name, at);
        let erased = event.body(&|_| None).unwrap_or_else(|e| panic!("{name} erased: {e}"));
        let plain = sample(name).to_value().expect("it serialises");
        let left = erased.to_value().expect("it serialises");
        assert_eq!(shape(&left, false), shape(&plain, true), "{name}");
        let leaves = SAMPLES.lines().find(|l| l.contains(&format!("\"{name}\":"))).expect("its line");
        assert_eq!(disclosures.len(), leaves.matches("$plain").count(), "{name}: one disclosure a leaf");
        // An erased body can be carried on: placing it again keeps the digests.
        assert_eq!(left, event.payload, "{name}");
    }
}

#[test]
fn no_sensitive_text_stands_in_the_bytes_of_an_event() {
    for (at, (name, _)) in REGISTRY.iter().enumerate() {
        let (event, disclosures) = placed(name, at);
        let text = String::from_utf8(event.to_bytes().expect("bytes")).expect("text");
        assert!(!text.contains("$plain"), "{name}");
        for disclosure in disclosures {
            let (_, pointer, value) = seal::disclose::verify_disclosure(&disclosure.bytes).expect("it opens");
            assert!(pointer.starts_with("/payload/"), "{name}: {pointer}");
            let words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert!(words.len() < 6 || !text.contains(&words), "{name} shows `{words}`");
        }
    }
}

#[test]
fn the_bytes_are_frozen() {
    let (mut events, mut disclosed) = (String::new(), String::new());
    for (at, (name, _)) in REGISTRY.iter().enumerate() {
        let (event, disclosures) = placed(name, at);
        events += &String::from_utf8(event.to_bytes().expect("bytes")).expect("text");
        events += "\n";
        for disclosure in disclosures {
            disclosed += &String::from_utf8(disclosure.bytes).expect("text");
            disclosed += "\n";
        }
    }
    if events != GOLDEN_EVENTS || disclosed != GOLDEN_DISCLOSURES {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(folder.join("events.jsonl"), &events).expect("it can be written");
        std::fs::write(folder.join("disclosures.jsonl"), &disclosed).expect("it can be written");
        let differing = events.lines().zip(GOLDEN_EVENTS.lines()).find(|(now, then)| now != then);
        panic!(
            "stored bytes changed: {differing:?}\nA landed event never changes: give the body a new version. Only for \
             a type that is new, copy events.jsonl and disclosures.jsonl from {} to tests/data",
            folder.display()
        );
    }
}

#[test]
fn what_was_stored_reads_with_the_meaning_it_had() {
    let disclosures: Vec<Disclosure> = GOLDEN_DISCLOSURES
        .lines()
        .map(|line| Disclosure { digest: Digest::of(line.as_bytes()), bytes: line.as_bytes().to_vec() })
        .collect();
    let mut read = 0;
    for line in GOLDEN_EVENTS.lines() {
        let event = Event::from_bytes(line.as_bytes()).expect("stored bytes read");
        let body = event.body(&lookup(&disclosures)).expect("stored bytes have a body");
        assert_eq!(body, sample(&event.event_type));
        read += 1;
    }
    assert_eq!(read, REGISTRY.len());
}

#[test]
fn unknown_types_versions_and_fields_are_refused() {
    let (event, _) = placed("task.created", 0);
    let newer = Event { schema_version: 2, ..event.clone() };
    assert!(matches!(newer.body(&|_| None), Err(Error::UnknownEvent { version: 2, .. })));
    let other = Event { event_type: "task.teleported".to_owned(), ..event.clone() };
    assert!(matches!(other.body(&|_| None), Err(Error::UnknownEvent { .. })));
    for (name, version) in REGISTRY {
        let mut more = sample(name).to_value().expect("it serialises");
        more["surprise"] = Value::Null;
        assert!(matches!(Body::read(name, *version, more), Err(Error::Malformed { .. })), "{name}");
    }
    let mut value = serde_json::to_value(&event).expect("it serialises");
    value["surprise"] = Value::Null;
    let bytes = seal::canon::canonical_value(&value).expect("canonical");
    assert!(matches!(Event::from_bytes(&bytes), Err(Error::Malformed { .. })));
}

#[test]
fn every_required_field_of_every_body_is_required() {
    for (name, version) in REGISTRY {
        let whole = sample(name).to_value().expect("it serialises");
        for field in whole.as_object().expect("an object").keys() {
            let mut lacking = whole.clone();
            lacking.as_object_mut().expect("an object").remove(field);
            let optional = matches!(
                (*name, field.as_str()),
                ("checkpoint.signed", "about_task_id")
                    | ("conversation.focus_changed", "focus_task_id")
                    | ("conversation.skin_chosen", "name" | "skin_sha256")
                    | ("ingress.bound", "chosen_task_id")
                    | ("task.status_changed", "note")
                    | ("attempt.terminated", "answer")
                    | ("approval.granted", "receipt_id")
                    | ("approval.denied", "envelope" | "feedback")
                    | ("receipt.issued", "action_request_id" | "rolls_back")
                    | ("memory.invalidated", "superseded_by")
                    | ("trial.ended", "reason")
                    | ("effect.progressed", "done" | "total" | "checkpoint")
                    | ("tools.sampling_set", "terms")
                    | ("tools.passed_on", "action_request_id")
                    | ("sampling.ended", "answer" | "error")
                    | ("tools.logged_in", "expires_at")
                    | ("attempt.skill_loaded", "file")
                    | ("store.history_read", "proposed_in")
                    | ("message.received", "ingress_id" | "about_task_id" | "button_sha256")
                    | ("message.queued", "about_task_id" | "approval_id" | "button_sha256")
                    | ("message.settled", "message_id")
                    | ("push.subscribed", "passkey")
                    | ("identity.soul_written", "previous")
                    | ("anchor.stamped", "proof")
                    | ("successor.began", "group")
                    | ("successor.adopted", "previous")
                    | ("training.curated", "replaces")
                    | ("anchor.completed", "block")
            );
            assert_eq!(Body::read(name, *version, lacking).is_ok(), optional, "{name} without `{field}`");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_but_canonical_ones_are_an_event(at in 0..REGISTRY.len(), flip in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let (event, _) = placed(REGISTRY[at].0, at);
        let bytes = event.to_bytes().expect("bytes");
        let mut changed = bytes.clone();
        let place = flip.index(bytes.len());
        changed[place] ^= 1 << bit;
        if let Ok(read) = Event::from_bytes(&changed) {
            prop_assert_ne!(&read, &event, "a changed byte is a changed event");
            prop_assert_eq!(read.to_bytes().expect("bytes"), changed, "and it is canonical");
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Event::from_bytes(&bytes).is_err());
    }
}

#[conforms::conforms("HK-13.5-1")]
#[test]
fn every_durable_object_has_events() {
    let about: Vec<EntityType> = REGISTRY.iter().map(|(name, _)| sample(name).entity().0).collect();
    for entity in EntityType::ALL {
        assert!(about.contains(entity), "no event is about a {entity}");
    }
}
