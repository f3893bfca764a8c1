//! Nostr: what relays keep and say, and what nobody vouches for.

use crate::doubles::{LONG, Push, SHORT, SocketDouble, WAIT, adapter, words};
use ::nostr::event::{Event, EventBuilder, FinalizeEvent as _, Kind, Tag, UnsignedEvent};
use ::nostr::key::{Keys, PublicKey};
use ::nostr::nips::nip19::ToBech32 as _;
use ::nostr::nips::nip44;
use ::nostr::nips::nip59::{GiftWrapBuilder, UnwrappedGift};
use ::nostr::types::Timestamp;
use chat::{Adapter, Fault, Incoming, Outgoing, Service};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Keys that stand nowhere else.
const OURS: &str = "1111111111111111111111111111111111111111111111111111111111111111";
const KIM: &str = "2222222222222222222222222222222222222222222222222222222222222222";
const EVE: &str = "3333333333333333333333333333333333333333333333333333333333333333";

fn keys(secret: &str) -> Keys {
    Keys::parse(secret).unwrap()
}

fn key(secret: &str) -> PublicKey {
    keys(secret).public_key()
}

fn npub(secret: &str) -> String {
    key(secret).to_bech32().unwrap()
}

type Kept = Arc<Mutex<Vec<Value>>>;

fn in_list(event: &Value, filter: &Value, of: &str, name: &str) -> bool {
    filter.get(name).and_then(Value::as_array).is_none_or(|all| all.contains(&event[of]))
}

fn is_meant(event: &Value, filter: &Value) -> bool {
    let is_tagged = filter.get("#p").and_then(Value::as_array).is_none_or(|all| {
        event["tags"].as_array().is_some_and(|tags| tags.iter().any(|t| t[0] == "p" && all.contains(&t[1])))
    });
    let at = event["created_at"].as_u64().unwrap_or_default();
    let within = |name: &str| filter.get(name).and_then(Value::as_u64);
    in_list(event, filter, "kind", "kinds")
        && in_list(event, filter, "pubkey", "authors")
        && in_list(event, filter, "id", "ids")
        && is_tagged
        && within("since").is_none_or(|since| at >= since)
        && within("until").is_none_or(|until| at <= until)
}

/// What an honest relay says.
fn answer(kept: &Kept, heard: &Value) -> Vec<Push> {
    let mut kept = kept.lock().unwrap();
    match heard[0].as_str() {
        Some("REQ") => {
            let limit = usize::try_from(heard[2]["limit"].as_u64().unwrap_or(500)).unwrap();
            let mut meant: Vec<&Value> = kept.iter().filter(|event| is_meant(event, &heard[2])).collect();
            meant.sort_by_key(|event| std::cmp::Reverse(event["created_at"].as_u64()));
            let events =
                meant.into_iter().take(limit).map(|event| Push::Json(json!(["EVENT", heard[1], event])));
            events.chain([Push::Json(json!(["EOSE", heard[1]]))]).collect()
        }
        Some("EVENT") => {
            let id = heard[1]["id"].clone();
            kept.push(heard[1].clone());
            vec![Push::Json(json!(["OK", id, true, ""]))]
        }
        _ => Vec::new(),
    }
}

fn relay(events: Vec<Value>) -> (SocketDouble, Kept) {
    let kept = Arc::new(Mutex::new(events));
    let of = Arc::clone(&kept);
    let says = move |_: usize, heard: Option<&Value>| heard.map_or_else(Vec::new, |heard| answer(&of, heard));
    (SocketDouble::new(says), kept)
}

fn at(relays: &[&SocketDouble], settings: &[(&str, &str)]) -> Box<dyn Adapter> {
    let urls: Vec<String> = relays.iter().map(|relay| relay.url()).collect();
    adapter(Service::Nostr, &urls.join(" "), OURS, settings)
}

fn rumour(from: &str, to: &[&str], text: &str, at: Timestamp) -> UnsignedEvent {
    let tags = to.iter().map(|to| Tag::public_key(key(to)));
    UnsignedEvent::new(key(from), at, Kind::PrivateDirectMessage, tags, text)
}

fn wrapped(from: &str, rumour: UnsignedEvent) -> Value {
    json!(GiftWrapBuilder::new(key(OURS), rumour).finalize(&keys(from)).unwrap())
}

fn said(from: &str, text: &str) -> Value {
    wrapped(from, rumour(from, &[OURS], text, Timestamp::now()))
}

/// A wrap of whatever is in it, by a key of nobody.
fn around(seal: &Value) -> Value {
    let nobody = Keys::generate();
    let content =
        nip44::encrypt(nobody.secret_key(), &key(OURS), seal.to_string(), nip44::Version::default()).unwrap();
    json!(
        EventBuilder::new(Kind::GiftWrap, content).tag(Tag::public_key(key(OURS))).finalize(&nobody).unwrap()
    )
}

/// What somebody signs around a rumour, as an event of this kind.
fn sealed(by: &str, rumour: &UnsignedEvent, kind: Kind) -> Event {
    let by = keys(by);
    let content =
        nip44::encrypt(by.secret_key(), &key(OURS), json!(rumour).to_string(), nip44::Version::default())
            .unwrap();
    EventBuilder::new(kind, content).finalize(&by).unwrap()
}

fn texts(incoming: &[Incoming]) -> Vec<&str> {
    incoming.iter().map(|message| message.text.as_str()).collect()
}

#[test]
fn a_message_comes_once_from_two_relays_and_whoever_reads_on_gets_what_came_since() {
    let mut first = rumour(KIM, &[OURS], "hello\u{202E}", Timestamp::now());
    first.tags.push(Tag::custom("e", ["a".repeat(64)]));
    let first = wrapped(KIM, first);
    let (one, _) = relay(vec![first.clone()]);
    let (other, kept) = relay(vec![first]);
    let mut it = at(&[&one, &other], &[]);
    let polled = it.poll("", WAIT).unwrap();
    let [message] = &polled.incoming[..] else { panic!("{:?}", polled.incoming) };
    assert_eq!((message.text.as_str(), message.sender.as_str()), ("hello", npub(KIM).as_str()));
    assert_eq!((message.chat.as_str(), message.is_group), (npub(KIM).as_str(), false));
    assert_eq!(message.reply_to.as_deref(), Some("a".repeat(64).as_str()));
    assert_eq!(message.message_id.len(), 64);
    // Wraps have times that are moved back by up to two days.
    let asked = one.hear(1)[0].clone();
    let since = asked[2]["since"].as_u64().unwrap();
    assert!(
        Timestamp::now().as_secs() - since > 2 * 86_400 && asked[2]["#p"][0] == key(OURS).to_hex(),
        "{asked}"
    );
    // What was given and is not kept comes again, in the same process and in another.
    assert_eq!(texts(&it.poll("", WAIT).unwrap().incoming), ["hello"]);
    kept.lock().unwrap().push(said(KIM, "and then"));
    let next = at(&[&one, &other], &[]).poll(&polled.cursor, WAIT).unwrap();
    assert_eq!(texts(&next.incoming), ["and then"], "only what came since");
    assert_ne!(next.cursor, polled.cursor);
    let last = at(&[&one, &other], &[]).poll(&next.cursor, SHORT).unwrap();
    assert_eq!((texts(&last.incoming), last.cursor), (Vec::new(), next.cursor));
    assert!(matches!(it.poll("12", SHORT), Err(Fault::Refused { .. })));
}

#[test]
fn what_nobody_vouches_for_is_no_message_and_keeps_out_none() {
    let right = said(KIM, "right");
    // Eve says that it is of Kim.
    let lie = rumour(KIM, &[OURS], "I am Kim", Timestamp::now());
    let mut torn = json!(sealed(KIM, &lie, Kind::Seal));
    torn["created_at"] = json!(1);
    let mut other_id = lie.clone();
    other_id.id = Some(::nostr::event::EventId::from_byte_array([7; 32]));
    // The id of the right one, on something else: who takes that for known never reads the right one.
    let mut poison = right.clone();
    poison["content"] = json!("AAAA");
    let mut forged = right.clone();
    forged["sig"] = json!("0".repeat(128));
    let for_eve = json!(
        GiftWrapBuilder::new(key(EVE), rumour(KIM, &[EVE], "for Eve", Timestamp::now()))
            .finalize(&keys(KIM))
            .unwrap()
    );
    let mut turned = for_eve.clone();
    turned["tags"] = json!([["p", key(OURS).to_hex()]]);
    let hostile = vec![
        poison,
        forged,
        around(&json!(sealed(EVE, &lie, Kind::Seal))),
        around(&json!(sealed(KIM, &lie, Kind::TextNote))),
        around(&torn),
        around(&json!(sealed(KIM, &other_id, Kind::Seal))),
        around(&json!("no event")),
        for_eve,
        turned,
        json!(
            EventBuilder::new(Kind::TextNote, "in the clear")
                .tag(Tag::public_key(key(OURS)))
                .finalize(&keys(KIM))
                .unwrap()
        ),
        json!({ "kind": 1059, "tags": [["p", key(OURS).to_hex()]], "content": "A".repeat(1024 * 1024) }),
        json!(17),
    ];
    let evil = SocketDouble::new(move |_, heard| match heard {
        Some(heard) if heard[0] == "REQ" => {
            let mut all = vec![Push::Json(json!("?")), Push::Json(json!({ "EVENT": 1 }))];
            all.extend(hostile.iter().map(|event| Push::Json(json!(["EVENT", heard[1], event]))));
            // What was not asked for.
            all.push(Push::Json(json!(["EVENT", "other", said(EVE, "unasked")])));
            all.push(Push::Json(json!(["EOSE", heard[1]])));
            all
        }
        _ => Vec::new(),
    });
    let mut it = at(&[&evil], &[]);
    let heard = it.poll("", Duration::from_secs(2)).unwrap();
    assert_eq!(texts(&heard.incoming), Vec::<&str>::new());
    assert!(it.notes().iter().any(|note| note.contains("nobody vouches")));
    let (honest, _) = relay(vec![right]);
    let polled = at(&[&evil, &honest], &[]).poll("", LONG).unwrap();
    assert_eq!(texts(&polled.incoming), ["right"]);
}

#[test]
fn times_that_others_choose_keep_nothing_out_and_let_nothing_old_in() {
    let now = Timestamp::now().as_secs();
    let made = |text: &str, at: u64| wrapped(KIM, rumour(KIM, &[OURS], text, Timestamp::from_secs(at)));
    let group = wrapped(KIM, rumour(KIM, &[OURS, EVE], "to both", Timestamp::now()));
    let unnamed = wrapped(KIM, rumour(KIM, &[EVE], "to Eve", Timestamp::now()));
    let own = wrapped(OURS, rumour(OURS, &[KIM], "from here", Timestamp::now()));
    let (one, _) = relay(vec![made("old", now - 3600), made("ahead", now + 90_000), group, unnamed, own]);
    let polled = at(&[&one], &[]).poll("", WAIT).unwrap();
    let mut came: Vec<(&str, bool)> =
        polled.incoming.iter().map(|message| (message.text.as_str(), message.is_group)).collect();
    came.sort_unstable();
    // What is ahead is for the kernel to refuse.
    assert_eq!(came, [("ahead", false), ("to Eve", true), ("to both", true)]);
    let (one, _) = relay(vec![said(KIM, "next")]);
    assert_eq!(texts(&at(&[&one], &[]).poll(&polled.cursor, WAIT).unwrap().incoming), ["next"]);
}

#[test]
fn of_a_relay_that_gives_few_at_a_time_everything_is_read() {
    let now = Timestamp::now();
    let made = |n: u64| {
        let (nobody, text) = (Keys::generate(), n.to_string());
        let seal = json!(sealed(KIM, &rumour(KIM, &[OURS], &text, now), Kind::Seal)).to_string();
        let content =
            nip44::encrypt(nobody.secret_key(), &key(OURS), seal, nip44::Version::default()).unwrap();
        let wrap = EventBuilder::new(Kind::GiftWrap, content).tag(Tag::public_key(key(OURS)));
        let at = Timestamp::from_secs(now.as_secs() - 60 * n);
        json!(wrap.custom_created_at(at).finalize(&nobody).unwrap())
    };
    let kept: Kept = Arc::new(Mutex::new((0..7).map(made).collect()));
    let few = SocketDouble::new(move |_: usize, heard: Option<&Value>| {
        let Some(mut heard) = heard.cloned() else { return Vec::new() };
        if heard[0] == "REQ" {
            heard[2]["limit"] = json!(2);
        }
        answer(&kept, &heard)
    });
    let (mut it, mut cursor, mut came) = (at(&[&few], &[]), String::new(), Vec::new());
    for _ in 0..7 {
        if came.len() < 7 {
            let polled = it.poll(&cursor, WAIT).unwrap();
            came.extend(polled.incoming.into_iter().map(|message| message.text));
            cursor = polled.cursor;
        }
    }
    came.sort();
    assert_eq!(came, ["0", "1", "2", "3", "4", "5", "6"]);
}

#[test]
fn one_relay_that_is_gone_is_nobodys_business_and_all_of_them_are() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (one, kept) = relay(vec![said(KIM, "here")]);
    let both = format!("ws://{gone} {}", one.url());
    let mut it = adapter(Service::Nostr, &both, OURS, &[]);
    assert_eq!(texts(&it.poll("", WAIT).unwrap().incoming), ["here"]);
    it.send(&words(&npub(KIM), "back")).unwrap();
    assert_eq!(kept.lock().unwrap().iter().filter(|event| event["kind"] == 1059).count(), 3);
    assert_eq!(it.hosts(), [(gone.ip().to_string(), gone.port()), ("127.0.0.1".to_owned(), one.port)]);
    let mut it = adapter(Service::Nostr, &format!("ws://{gone}"), OURS, &[]);
    for fault in [
        it.who().unwrap_err(),
        it.poll("", SHORT).unwrap_err(),
        it.send(&words(&npub(KIM), "back")).unwrap_err(),
    ] {
        assert!(matches!(fault, Fault::Away { .. }) && !format!("{fault:?}").contains(OURS), "{fault:?}");
    }
}

/// What Kim reads of what a relay keeps.
fn read_by_kim(kept: &Kept) -> Vec<UnsignedEvent> {
    let all = kept.lock().unwrap();
    let wraps = all.iter().filter(|event| event["kind"] == 1059);
    let wraps = wraps.map(|event| serde_json::from_value::<Event>(event.clone()).unwrap());
    let opened = wraps.filter_map(|wrap| UnwrappedGift::from_gift_wrap(&keys(KIM), &wrap).ok());
    opened.map(|opened| opened.rumor).collect()
}

#[test]
fn a_message_is_the_same_however_often_and_by_whomever_it_is_sent() {
    let (one, kept) = relay(Vec::new());
    let (other, kept_too) = relay(Vec::new());
    let out = Outgoing { reply_to: Some("b".repeat(64)), ..words(&npub(KIM), "Done.") };
    let id = at(&[&one, &other], &[]).send(&out).unwrap();
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(at(&[&one, &other], &[]).send(&out).unwrap(), id, "another process sends the same");
    assert_ne!(at(&[&one], &[]).send(&words(&npub(KIM), "Another.")).unwrap(), id);
    let read = read_by_kim(&kept);
    let ids: Vec<String> = read.iter().map(|rumour| rumour.compute_id().to_hex()).collect();
    assert_eq!((ids.len(), &ids[0], &ids[1]), (3, &id, &id));
    assert_eq!((read[0].content.as_str(), read[0].pubkey), ("Done.", key(OURS)));
    assert!(
        read[0].tags.iter().any(|tag| tag.kind() == "e" && tag.content() == Some("b".repeat(64).as_str()))
    );
    assert_eq!(read_by_kim(&kept_too).len(), 2);
    // Whoever looks on sees no key of this account, and no time.
    for event in kept.lock().unwrap().iter() {
        assert_ne!(event["pubkey"], key(OURS).to_hex());
    }
    assert!(matches!(at(&[&one], &[]).send(&words("@kim", "x")), Err(Fault::Refused { .. })));
}

#[test]
fn what_a_relay_may_keep_is_told_from_what_it_declines() {
    let says = |said: fn(usize, &Value) -> Vec<Push>| {
        let sent = Mutex::new(0_usize);
        SocketDouble::new(move |_, heard| match heard {
            Some(heard) if heard[0] == "REQ" => vec![Push::Json(json!(["EOSE", heard[1]]))],
            Some(heard) if heard[0] == "EVENT" => {
                let mut sent = sent.lock().unwrap();
                *sent += 1;
                said(*sent, heard)
            }
            _ => Vec::new(),
        })
    };
    let declines =
        says(|_, heard| vec![Push::Json(json!(["OK", heard[1]["id"], false, "blocked: not you"]))]);
    let fault = at(&[&declines], &[]).send(&words(&npub(KIM), "x")).unwrap_err();
    assert!(matches!(&fault, Fault::Refused { why } if why.contains("blocked: not you")), "{fault:?}");
    let slower =
        says(|_, heard| vec![Push::Json(json!(["OK", heard[1]["id"], false, "rate-limited: slow down"]))]);
    assert!(matches!(at(&[&slower], &[]).send(&words(&npub(KIM), "x")), Err(Fault::Away { .. })));
    // The copy is nobody's message yet.
    let hangs_up = says(|_, _| vec![Push::HangUp]);
    assert!(matches!(at(&[&hangs_up], &[]).send(&words(&npub(KIM), "x")), Err(Fault::Away { .. })));
    let then_hangs_up = says(|sent, heard| match sent {
        1 => vec![Push::Json(json!(["OK", heard[1]["id"], true, ""]))],
        _ => vec![Push::HangUp],
    });
    assert!(matches!(at(&[&then_hangs_up], &[]).send(&words(&npub(KIM), "x")), Err(Fault::Unknown { .. })));
}

#[test]
fn whoever_reads_elsewhere_is_not_written_to_where_they_do_not_read() {
    let inbox = |by: &str, relay: &str| {
        let tags = [Tag::custom("relay", [relay])];
        json!(EventBuilder::new(Kind::InboxRelays, "").tags(tags).finalize(&keys(by)).unwrap())
    };
    let (one, kept) = relay(vec![inbox(KIM, "wss://elsewhere.example")]);
    let fault = at(&[&one], &[]).send(&words(&npub(KIM), "x")).unwrap_err();
    assert!(matches!(&fault, Fault::Refused { why } if why.contains("wss://elsewhere.example")), "{fault:?}");
    assert_eq!(kept.lock().unwrap().len(), 1, "nothing was sent");
    // What another says of Kim is nothing, whatever the relay says of it.
    let mut forged = inbox(EVE, "wss://elsewhere.example");
    forged["pubkey"] = json!(key(KIM).to_hex());
    let (one, _) = relay(vec![forged]);
    at(&[&one], &[]).send(&words(&npub(KIM), "x")).unwrap();
    let (one, kept) = relay(Vec::new());
    kept.lock().unwrap().push(inbox(KIM, &one.url()));
    at(&[&one], &[]).send(&words(&npub(KIM), "x")).unwrap();
}

#[test]
fn a_relay_that_asks_who_is_there_is_told_and_others_learn_where_to_write_only_if_a_person_said_so() {
    let events = Arc::new(Mutex::new(vec![said(KIM, "for you alone")]));
    let (is_known, of) = (Arc::new(Mutex::new(false)), Arc::clone(&events));
    let known = Arc::clone(&is_known);
    let strict = SocketDouble::new(move |_, heard| {
        let Some(heard) = heard else { return vec![Push::Json(json!(["AUTH", "prove it"]))] };
        if heard[0] == "AUTH" {
            let event: Event = serde_json::from_value(heard[1].clone()).unwrap();
            let tags: Vec<&[String]> = event.tags.iter().map(Tag::as_slice).collect();
            let is_right = event.verify().is_ok()
                && event.kind == Kind::Authentication
                && event.pubkey == key(OURS)
                && tags.contains(&["challenge".to_owned(), "prove it".to_owned()].as_slice());
            *known.lock().unwrap() = is_right;
            return vec![Push::Json(json!(["OK", event.id.to_hex(), is_right, ""]))];
        }
        if !*known.lock().unwrap() {
            return match heard[0].as_str() {
                Some("REQ") => vec![Push::Json(json!(["CLOSED", heard[1], "auth-required: who are you"]))],
                _ => vec![Push::Json(json!(["OK", heard[1]["id"], false, "auth-required: who are you"]))],
            };
        }
        answer(&of, heard)
    });
    assert_eq!(texts(&at(&[&strict], &[]).poll("", WAIT).unwrap().incoming), ["for you alone"]);
    // What such a relay refused before it knew is told to it again.
    *is_known.lock().unwrap() = false;
    let mut account = at(&[&strict], &[("announce", "yes")]);
    account.poll("", WAIT).unwrap();
    let is_told = || events.lock().unwrap().iter().any(|event| event["kind"] == Kind::InboxRelays.as_u16());
    let end = std::time::Instant::now() + WAIT;
    while !is_told() {
        assert!(std::time::Instant::now() < end, "it never learns where this account reads");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let (one, kept) = relay(Vec::new());
    at(&[&one], &[]).poll("", SHORT).unwrap();
    assert_eq!(kept.lock().unwrap().len(), 0);
    at(&[&one], &[("announce", "yes")]).poll("", SHORT).unwrap();
    // Two questions, and what everybody may know.
    one.hear(3);
    let told = kept.lock().unwrap().clone();
    let told: Event = serde_json::from_value(told[0].clone()).unwrap();
    assert_eq!((told.kind, told.pubkey, told.verify().is_ok()), (Kind::InboxRelays, key(OURS), true));
    assert_eq!(told.tags.iter().next().and_then(Tag::content), Some(one.url().as_str()));
}

#[test]
fn accounts_that_cannot_be_are_refused_without_a_word_of_the_key() {
    let open = |address: &str, token: &str| {
        let account = chat::Account {
            service: Service::Nostr,
            address: address.to_owned(),
            user: String::new(),
            settings: Default::default(),
        };
        chat::open(&account, zeroize::Zeroizing::new(token.to_owned())).map(|_| ())
    };
    assert_eq!(open("wss://a.example wss://b.example", OURS), Ok(()));
    let five = "wss://a.example wss://b.example wss://c.example wss://d.example wss://e.example";
    for (address, token) in [
        ("", OURS),
        (five, OURS),
        ("ws://a.example", OURS),
        ("https://a.example", OURS),
        ("wss://kim:pw@a.example", OURS),
        ("wss://a.example", "nsec1qqqqSECRET"),
        ("wss://a.example", ""),
    ] {
        let why = open(address, token).unwrap_err();
        assert!(!why.contains("pw@") && !why.contains(OURS) && !why.contains("SECRET"), "{address}: {why}");
    }
}
