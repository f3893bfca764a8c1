//! What everybody may know of a machine whose person turned that on.

use crate::nodes::{NOW, One, event_of, relay};
use mesh::public::{PUBLIC_EVERY_MS, PUBLIC_MS, PUBLIC_TAG, TOPIC};
use mesh::sealed::WireEvent;
use mesh::{Capabilities, Command, Happened, Step, Way};
use serde_json::json;
use std::collections::BTreeSet;

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn one(secret: u8, other: u8) -> One {
    let mut one = One::new(secret, &[other]);
    let can = Capabilities {
        tools: names(&["payroll", "letters"]),
        models: names(&["qwen at the attic"]),
        folders: names(&["divorce"]),
    };
    let relays = vec!["wss://relay.example".to_owned()];
    one.does(Happened::Said(Command::Tell { can, load: 12, relays }));
    one.does(Happened::Up(relay()));
    one
}

/// What a step tells everybody, and where.
fn told(step: &Step) -> Vec<(Way, WireEvent)> {
    let events = step.write.iter().filter(|(_, bytes)| bytes.starts_with(b"[\"EVENT\""));
    let events = events.map(|(way, bytes)| (way.clone(), event_of(bytes)));
    events.filter(|(_, event)| event.tags[0] == ["d", PUBLIC_TAG]).collect()
}

fn everybody(one: &mut One, is_on: bool) -> Step {
    one.does(Happened::Said(Command::Public { is_on, head: None }))
}

#[test]
fn nothing_is_public_before_a_person_says_so_and_then_no_name_and_only_at_its_own_relays() {
    let mut this = one(1, 2);
    let other = Way::Relay("wss://peer.example".to_owned());
    this.does(Happened::Up(other));
    let ticks: Vec<Step> = (0..20).map(|n| this.at(Happened::Tick, NOW.plus_ms(n * 60_000))).collect();
    assert!(ticks.iter().all(|step| told(step).is_empty()), "off until it is turned on");
    let later = NOW.plus_ms(20 * 60_000);
    let step = this.at(
        Happened::Said(Command::Public { is_on: true, head: Some("hermit.local/log\n7\nroot\n".to_owned()) }),
        later,
    );
    let all = told(&step);
    let [(way, event)] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((way, event.pubkey), (&relay(), this.id));
    assert_eq!(event.tags[1], ["t", TOPIC]);
    assert_eq!(event.tags[2], ["expiration", &((later.0 + PUBLIC_MS) / 1000).to_string()]);
    let said: serde_json::Value = serde_json::from_str(&event.content).unwrap();
    assert_eq!((&said["tools"], &said["models"], &said["load"]), (&json!(2), &json!(1), &json!(12)));
    assert_eq!(said["head"], "hermit.local/log\n7\nroot\n", "and the newest signed head");
    let whole = serde_json::to_string(event).unwrap();
    for secret in ["payroll", "letters", "qwen", "divorce", "relay.example", "machine"] {
        assert!(!whole.contains(secret), "{secret}: {whole}");
    }
    // It is told again before it expires, and no more often, whatever else it has to tell.
    let grown = Command::Public { is_on: true, head: Some("hermit.local/log\n9\nroot\n".to_owned()) };
    assert!(told(&this.at(Happened::Said(grown), later.plus_ms(60_000))).is_empty());
    let soon = this.at(Happened::Tick, later.plus_ms(PUBLIC_EVERY_MS - 1));
    assert!(told(&soon).is_empty());
    let due = told(&this.at(Happened::Tick, later.plus_ms(PUBLIC_EVERY_MS)));
    assert!(due.len() == 1 && due[0].1.content.contains("\\n9\\n"), "{due:?}");
    // Turned off, what stands at relays is replaced by what expires.
    let off = this.at(
        Happened::Said(Command::Public { is_on: false, head: None }),
        later.plus_ms(PUBLIC_EVERY_MS + 1_000),
    );
    let all = told(&off);
    let said: serde_json::Value = serde_json::from_str(&all[0].1.content).unwrap();
    assert_eq!((all.len(), &said["until"]), (1, &said["at"]));
    let after = this.at(Happened::Tick, later.plus_ms(9 * PUBLIC_EVERY_MS));
    assert!(told(&after).is_empty());
    assert!(told(&everybody(&mut this, false)).is_empty(), "and is taken back once");
}

#[test]
fn a_paired_machine_is_seen_to_be_public_until_that_expires_and_nothing_of_a_stranger_is_read() {
    let (mut this, mut other, mut stranger) = (one(1, 2), one(2, 1), one(3, 1));
    let asks = this.at(Happened::Up(relay()), NOW);
    let asked = asks.write.iter().any(|(_, bytes)| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.starts_with("[\"REQ\"") && text.contains(PUBLIC_TAG) && text.contains(&other.id.to_string())
    });
    assert!(asked, "what paired machines tell everybody is asked for");
    let seen = |this: &One| this.node.public().collect::<Vec<_>>();
    let tells = everybody(&mut other, true);
    this.hears(&everybody(&mut stranger, true));
    assert!(seen(&this).is_empty());
    this.hears(&tells);
    assert_eq!(seen(&this), [other.id]);
    // Somebody else's words under its key, and an old one that a relay shows again.
    let (_, mut bent) = told(&tells).remove(0);
    bent.content = bent.content.replace("\"load\":12", "\"load\":99");
    let bytes = mesh::frame::event(&bent);
    this.does(Happened::Received { way: relay(), bytes });
    let off = other.at(Happened::Said(Command::Public { is_on: false, head: None }), NOW.plus_ms(1_000));
    let gone = NOW.plus_ms(6 * 60_000);
    for (_, bytes) in off.write.iter().chain(&tells.write) {
        this.at(Happened::Received { way: relay(), bytes: bytes.clone() }, gone);
    }
    assert!(seen(&this).is_empty(), "it was taken back");
    let again =
        other.at(Happened::Said(Command::Public { is_on: true, head: None }), NOW.plus_ms(PUBLIC_EVERY_MS));
    for (_, bytes) in again.write {
        this.at(Happened::Received { way: relay(), bytes }, gone);
    }
    assert_eq!(seen(&this), [other.id]);
    this.at(Happened::Tick, NOW.plus_ms(PUBLIC_EVERY_MS + PUBLIC_MS + mesh::CLOCK_DIFFERENCE_MS));
    assert!(seen(&this).is_empty(), "it expired");
}
