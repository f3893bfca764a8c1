//! The mesh over the wire: what may be set and by whom, which machine is meant, how far messages came, and one list of receipts.

use crate::home::{Home, PASSPHRASE};
use api::{Host as _, Mesh, MeshLive, MeshShown, Presence};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kernel::command::person::{Matter, Signed, mesh_subject};
use mesh::{Card, Command, Delivered, Fact, Input, NodeId, Part, Peer, ReceiptLine, Says};
use model::ingress::Channel;
use model::{Clock as _, Digest, UnixMs};
use seal::Signer as _;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use wire::mesh::{Carried, Code as PairingCode, PairingState, Set};
use wire::{Caller, Code, Error};

/// What whoever runs the mesh is told, and what they tell of it.
#[derive(Default)]
pub struct Ran {
    shown: Mutex<MeshShown>,
    runs: bool,
    /// Whether a way to another machine is open.
    pub is_reached: AtomicBool,
    here: BTreeMap<NodeId, Presence>,
    said: Mutex<Vec<Command>>,
}

struct Fake(Arc<Ran>);

impl Mesh for Fake {
    fn settings(&self) -> Result<MeshShown, Error> {
        Ok(self.0.shown.lock().unwrap().clone())
    }

    fn set(&self, wanted: &Set) -> Result<(), Error> {
        let mut shown = self.0.shown.lock().unwrap();
        shown.on = wanted.on.unwrap_or(shown.on);
        shown.name = wanted.name.clone().or_else(|| shown.name.clone());
        shown.relays = wanted.relays.clone().unwrap_or_else(|| shown.relays.clone());
        if let Some(folders) = &wanted.folders {
            shown.folders = folders.iter().map(|(alias, path)| (alias.clone(), path.into())).collect();
        }
        Ok(())
    }

    fn live(&self) -> Option<MeshLive> {
        let is_reached = self.0.is_reached.load(Ordering::SeqCst);
        self.0.runs.then(|| MeshLive { is_reached, here: self.0.here.clone(), ..MeshLive::default() })
    }

    fn say(&self, commands: Vec<Command>) -> Result<(), Error> {
        self.0.said.lock().unwrap().extend(commands);
        Ok(())
    }

    fn invite(&self) -> Result<PairingCode, Error> {
        Ok(PairingCode { code: "ABCD-EFGHJK".to_owned(), until: 1, at: Vec::new() })
    }

    fn join(&self, _: &str, _: &[String]) -> Result<PairingState, Error> {
        Ok(self.pairing())
    }

    fn pairing(&self) -> PairingState {
        let state = words::mesh::MeshPairingState::Waiting;
        let code = Some("ABCD-EFGHJK".to_owned());
        PairingState { state, code, until: Some(1), node: None, name: None, tries_left: None, says: None }
    }

    fn export(&self, path: &Path, only: Option<NodeId>) -> Result<Carried, Error> {
        let messages = u64::from(only.is_none());
        Ok(Carried { path: path.display().to_string(), messages, left_out: 0 })
    }

    fn import(&self, path: &Path) -> Result<Carried, Error> {
        self.export(path, None)
    }
}

/// A mesh that runs, and hears nobody.
pub fn running() -> (Box<dyn Mesh>, Arc<Ran>) {
    let ran = Arc::new(Ran { runs: true, ..Ran::default() });
    (Box::new(Fake(Arc::clone(&ran))), ran)
}

fn node(digits: &str) -> NodeId {
    format!("{digits:0<64}").parse().unwrap()
}

fn presence(folders: &[&str]) -> Presence {
    let folders = folders.iter().map(|alias| (*alias).to_owned()).collect::<BTreeSet<_>>();
    let can = mesh::Capabilities { folders, ..mesh::Capabilities::default() };
    Presence { until: UnixMs(i64::MAX), can, load: 40 }
}

/// A machine in a mesh with a desktop and two servers of one name, of which the desktop is heard.
fn meshed(seed: u64, folders: &[&str]) -> (Home, Arc<Ran>) {
    let mut home = Home::new(seed);
    let here = BTreeMap::from([(node("aaaa1"), presence(folders))]);
    let ran = Arc::new(Ran { runs: true, here, ..Ran::default() });
    ran.shown.lock().unwrap().on = true;
    home.mesh = Some(Box::new(Fake(Arc::clone(&ran))));
    let kernel = home.world.kernel();
    kernel.join_mesh(node("eeee1"), "laptop").unwrap();
    let log_key = home.world.keys.log_signer().public();
    let paired = [("aaaa1", "desk"), ("bbbb1", "server"), ("cccc1", "server")].map(|(digits, name)| {
        let (name, relays) = (name.to_owned(), vec!["wss://relay.example".to_owned()]);
        Fact::Paired(Peer { node: node(digits), name, relays, log_key, approval_key: None })
    });
    kernel.record_mesh(&paired, &[], None).unwrap();
    (home, ran)
}

fn code(asked: Result<Value, Error>) -> Code {
    asked.unwrap_err().code
}

#[test]
fn the_mesh_is_off_until_it_is_on_and_says_where_it_runs() {
    let mut home = Home::new(400);
    let shown = home.must("mesh.show", json!({}));
    assert_eq!((&shown["on"], &shown["node"], &shown["alerts"]), (&json!(false), &Value::Null, &json!([])));
    assert_eq!(home.must("mesh.nodes", json!({}))["nodes"], json!([]));
    let send = json!({ "to": "desk", "text": "look" });
    assert_eq!(code(home.ask("mesh.send", send.clone())), Code::NoHost, "nothing here could run it");
    let ran = Arc::new(Ran::default());
    home.mesh = Some(Box::new(Fake(Arc::clone(&ran))));
    let off = home.ask("mesh.send", send.clone()).unwrap_err();
    assert!(off.code == Code::Conflict && off.hint.contains("hermit mesh on"), "{off:?}");
    ran.shown.lock().unwrap().on = true;
    let closed = home.ask("mesh.send", send).unwrap_err();
    assert!(closed.code == Code::NoHost && closed.hint.contains("hermit serve"), "{closed:?}");
}

#[test]
fn what_this_machine_is_in_the_mesh_is_told_right_or_wrong_before_it_is_set() {
    let (home, ran) = meshed(401, &[]);
    let folder = home.world.folder.path().canonicalize().unwrap();
    let odd = format!("{}/../{}", folder.display(), folder.file_name().unwrap().to_str().unwrap());
    let set = json!({ "name": "desk", "relays": ["wss://a.example"], "folders": { " notes": odd } });
    let shown = home.must("mesh.set", set);
    assert_eq!((&shown["name"], &shown["relays"]), (&json!("desk"), &json!(["wss://a.example"])));
    assert_eq!(shown["folders"], json!({ "notes": folder }), "as it is on this machine");
    let before = ran.shown.lock().unwrap().clone();
    for (wrong, expected) in [
        (json!({ "folders": { " ": folder } }), Code::Usage),
        (json!({ "folders": { "a/b": folder } }), Code::Usage),
        (json!({ "folders": { "notes": "notes" } }), Code::Usage),
        (json!({ "folders": { "notes": "/no/such/folder" } }), Code::NotFound),
    ] {
        assert_eq!(code(home.ask("mesh.set", wrong.clone())), expected, "{wrong}");
    }
    assert_eq!(*ran.shown.lock().unwrap(), before);
    assert_eq!(code(home.ask("mesh.join", json!({ "code": "ABCD-EFGHJ0" }))), Code::Usage);
    let waits = home.must("mesh.join", json!({ "code": "abcd efghjk", "at": ["192.168.1.5:7447"] }));
    assert_eq!(waits["state"], "waiting");
}

/// What a person at a terminal signs for a command.
fn signed(home: &Home, command: &str, about: &Value) -> Value {
    let subject = mesh_subject(command, about).unwrap();
    let (log_id, now) = (home.reader().unwrap().log_id().to_owned(), home.world.clock.now());
    let signed = Signed::of(&log_id, Matter::Mesh, subject, now, home.world.person.signer()).unwrap();
    json!({ "text": String::from_utf8(signed.text).unwrap(), "signature": signed.signature.to_string() })
}

#[test]
fn what_a_person_signed_changes_the_mesh_once_and_nothing_else() {
    let (home, ran) = meshed(402, &[]);
    let ask = |params: &Value| api::call_for(&home, Caller::Program, "mesh.set", params.clone(), &[]);
    let is_on = || ran.shown.lock().unwrap().on;
    assert_eq!(code(ask(&json!({ "on": false }))), Code::Forbidden, "a token is no person");
    let all = Set { on: Some(false), ..Set::default() };
    let yes = signed(&home, "mesh.set", &serde_json::to_value(&all).unwrap());
    let with = |on: bool, signed: &Value| json!({ "on": on, "signed": signed });
    assert_eq!(code(ask(&with(true, &yes))), Code::Refused, "it was signed for another value");
    let invite = json!({ "signed": yes });
    assert_eq!(code(api::call_for(&home, Caller::Program, "mesh.invite", invite, &[])), Code::Refused);
    assert!(is_on());
    assert_eq!(ask(&with(false, &yes)).unwrap()["on"], false);
    home.must("mesh.set", json!({ "on": true }));
    let again = ask(&with(false, &yes)).unwrap_err();
    assert!(again.code == Code::Refused && again.message.contains("used before"), "{again:?}");
    home.world.clock.advance(16 * 60 * 1000);
    let late = signed(&home, "mesh.set", &serde_json::to_value(&all).unwrap());
    home.world.clock.advance(16 * 60 * 1000);
    assert_eq!(code(ask(&with(false, &late))), Code::Refused, "it was signed too long ago");
    assert!(is_on());
    // A page of which nobody knows that a person is there, and the passphrase that shows it.
    let page = |params: Value| api::call_for(&home, Caller::Page, "mesh.set", params, &[]);
    assert_eq!(code(page(json!({ "on": false, "signed": yes }))), Code::Forbidden);
    let by_page =
        |words: &str| api::page_approval::mesh(&home, "mesh.set", json!({ "on": false }), words.as_bytes());
    assert_eq!(code(by_page("wrong")), Code::KeyLocked);
    assert!(is_on());
    assert_eq!(by_page(PASSPHRASE).unwrap()["on"], false);
    for other in ["mesh.send", "gate.boot"] {
        let asked = api::page_approval::mesh(&home, other, json!({}), PASSPHRASE.as_bytes());
        assert_eq!(code(asked), Code::Usage, "{other}");
    }
}

#[test]
fn a_program_takes_a_yes_from_a_machine_and_gives_none_and_types_no_passphrase() {
    let (home, _) = meshed(403, &[]);
    let ask = |name: &str, params: Value| api::call_for(&home, Caller::Program, name, params, &[]);
    assert_eq!(code(ask("mesh.approver", json!({ "node": "desk", "allow": true }))), Code::Forbidden);
    assert_ne!(code(ask("mesh.approver", json!({ "node": "desk", "allow": false }))), Code::Forbidden);
    let answer = json!({ "approval": "x", "allow": true, "passphrase": PASSPHRASE });
    assert_eq!(code(ask("mesh.answer", answer)), Code::UnknownField);
    assert_eq!(code(ask("mesh.answer", json!({ "approval": "x", "allow": true }))), Code::Usage);
    // A page that brings it says what it has shown, and none to take a yes away.
    let by_page =
        |name: &str, params: Value| api::page_approval::mesh(&home, name, params, PASSPHRASE.as_bytes());
    assert_eq!(code(by_page("mesh.answer", json!({ "approval": "x", "allow": true }))), Code::Usage);
    let shown = json!({ "approval": "x", "allow": true, "packet_sha256": "00".repeat(32) });
    assert_eq!(code(by_page("mesh.answer", shown)), Code::NotFound);
    assert_eq!(code(by_page("mesh.approver", json!({ "node": "desk", "allow": false }))), Code::Usage);
    // Nor does it read the code that a person has shown, with which it could pair a machine of its own.
    assert_eq!(home.must("mesh.pairing", json!({}))["code"], "ABCD-EFGHJK");
    let stands = ask("mesh.pairing", json!({})).unwrap();
    assert_eq!(
        (&stands["state"], &stands["code"], &stands["until"]),
        (&json!("waiting"), &Value::Null, &json!(1))
    );
    let page = api::call_for(&home, Caller::Page, "mesh.pairing", json!({}), &[]).unwrap();
    assert_eq!(page["code"], Value::Null);
    let at_terminal = api::call_for(&home, api::Asker::page(true), "mesh.pairing", json!({}), &[]).unwrap();
    assert_eq!(at_terminal["code"], "ABCD-EFGHJK");
}

#[test]
fn a_yes_to_what_another_machine_asks_says_the_risk_where_it_is_high_whatever_page_it_comes_from() {
    let (home, _) = meshed(406, &[]);
    let kernel = home.world.kernel();
    let soul = "# A machine\nI keep notes.\n";
    let task = kernel.propose_soul(soul, 0, (Channel::App, "soul".to_owned())).unwrap().task_id;
    let approval = home.world.drive_to_approval(task).to_string();
    let shown = home.must("approvals.show", json!({ "approval": approval }));
    let packet = STANDARD.decode(shown["packet"].as_str().unwrap()).unwrap();
    let (from, whole, now) = (node("aaaa1"), Digest::of(&packet), home.world.clock.now());
    let card = Card {
        approval: approval.clone(),
        packet: whole,
        nonce: Digest::of(b"drawn"),
        person: "somebody".to_owned(),
        asked_at: now,
        expires_at: now.plus_ms(600_000),
        need: 1,
    };
    let part = Part { whole, index: 0, count: 1, data: STANDARD.encode(&packet) };
    let facts = [Fact::Part { from, part }, Fact::Question { from, card, at: now }];
    kernel.record_mesh(&facts, &[], None).unwrap();
    assert_eq!(home.must("mesh.questions", json!({}))["questions"][0]["word"], "high");
    let answer = |allow: bool, word: Value| {
        let given =
            json!({ "approval": approval, "allow": allow, "packet_sha256": whole.to_string(), "word": word });
        api::page_approval::mesh(&home, "mesh.answer", given, PASSPHRASE.as_bytes()).unwrap_err()
    };
    for word in [Value::Null, json!(""), json!("critical"), json!("low")] {
        let error = answer(true, word.clone());
        assert_eq!((error.code, &error.details["word"]), (Code::Usage, &json!("high")), "{word}");
    }
    // From there on it wants the key, which this host has not; and so does a no, which needs no word.
    assert_eq!(answer(true, json!("high")).code, Code::KeyLocked);
    assert_eq!(answer(false, Value::Null).code, Code::KeyLocked);
    // Nor does whoever signs it elsewhere leave it out.
    let signed = json!({ "approval": approval, "allow": true, "signed": STANDARD.encode("{}") });
    let error = home.ask("mesh.answer", signed).unwrap_err();
    assert_eq!((error.code, &error.details["word"]), (Code::Usage, &json!("high")));
}

#[test]
fn a_goal_goes_to_the_machine_and_folder_that_is_meant_or_says_what_there_is() {
    let (home, ran) = meshed(404, &["code", "notes"]);
    let send = |to: &str, folder: Value| {
        home.ask("mesh.send", json!({ "to": to, "folder": folder, "text": "look" }))
    };
    for (to, folder, expected, says) in [
        ("server", Value::Null, Code::Ambiguous, "server (bbbb1000)"),
        ("nobody", Value::Null, Code::NotFound, "desk"),
        ("laptop", Value::Null, Code::Usage, ""),
        ("desk", Value::Null, Code::Usage, "`code`, `notes`"),
        ("desk", json!("music"), Code::Usage, "`code`, `notes`"),
    ] {
        let error = send(to, folder).unwrap_err();
        assert!(error.code == expected && error.hint.contains(says), "{to}: {error:?}");
    }
    assert_eq!(code(home.ask("mesh.send", json!({ "to": "desk", "text": " " }))), Code::Usage);
    assert!(ran.said.lock().unwrap().is_empty(), "nothing was sent");
    let sent = send("DESK", json!("notes")).unwrap();
    assert_eq!(sent["state"], "queued");
    let said = std::mem::take(&mut *ran.said.lock().unwrap());
    let routed = said.iter().any(
        |one| matches!(one, Command::Route { conversation, .. } if *conversation == sent["conversation"]),
    );
    assert!(routed, "{said:?}");
    // A machine that is not heard says itself what it has.
    send("bbbb1", Value::Null).unwrap();
    let rows = home.must("mesh.nodes", json!({}))["nodes"].clone();
    let names: Vec<&str> = rows.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["desk", "server (bbbb1000)", "server (cccc1000)"]);
    assert_eq!((&rows[0]["load"], &rows[0]["folders"]), (&json!(40), &json!(["code", "notes"])));
    assert_eq!((&rows[1]["here_until"], &rows[1]["folders"]), (&Value::Null, &json!([])));
    let stick = home.world.folder.path().join("stick").display().to_string();
    let carried = home.must("mesh.export", json!({ "path": stick, "node": "desk" }));
    assert_eq!((&carried["path"], &carried["messages"]), (&json!(stick), &json!(0)));
    assert_eq!(code(home.ask("mesh.export", json!({ "path": "stick" }))), Code::Usage);
}

#[test]
fn messages_are_told_as_far_as_they_came_and_page_by_page() {
    let (home, _) = meshed(405, &[]);
    let kernel = home.world.kernel();
    let (me, desk) = (node("eeee1"), node("aaaa1"));
    let input = |n: u32| {
        let (conversation, envelope) = (format!("conversation-{n}"), format!("no envelope {n}"));
        Input { conversation, origin: me, envelope, hops: 1 }
    };
    for (number, n) in (1..=3).zip(1..) {
        let queued = Fact::Queued {
            to: desk,
            number,
            says: Says::Input(input(n)),
            at: UnixMs(0),
            before: seal::Digest::ZERO,
        };
        kernel.record_mesh(&[queued], &[], None).unwrap();
    }
    // What passes a conversation with its message, and what machines tell by themselves, is no message of its own.
    let over =
        mesh::HandOver { conversation: "conversation-3".to_owned(), epoch: 2, head: seal::Digest::ZERO };
    for (number, says) in (4..).zip([Says::HandOver(over), Says::Settled { approval: "x".to_owned() }]) {
        let queued = Fact::Queued { to: desk, number, says, at: UnixMs(0), before: seal::Digest::ZERO };
        kernel.record_mesh(&[queued], &[], None).unwrap();
    }
    let way = mesh::Way::Relay("wss://relay.example".to_owned());
    kernel.record_mesh(&[Fact::Accepted { to: desk, number: 2, way }], &[], None).unwrap();
    kernel.record_mesh(&[Fact::Opened { to: desk, upto: 1, chain: seal::Digest::ZERO }], &[], None).unwrap();
    let all = home.must("mesh.messages", json!({}));
    assert_eq!(all["before"], Value::Null);
    let states: Vec<&str> =
        all["messages"].as_array().unwrap().iter().map(|one| one["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["queued", "accepted", "opened"], "the newest first: {all}");
    assert_eq!(all["messages"][1]["accepted_by"], "wss://relay.example");
    assert_eq!(all["messages"][0]["name"], "desk");
    let (mut paged, mut before) = (Vec::new(), Value::Null);
    loop {
        let part = home.must("mesh.messages", json!({ "limit": 1, "before": before }));
        paged.extend(part["messages"].as_array().unwrap().clone());
        before = part["before"].clone();
        if before.is_null() {
            break;
        }
    }
    assert_eq!(Value::from(paged), all["messages"]);
    let shown = home.must("mesh.show", json!({}));
    assert_eq!((&shown["waiting"], &shown["name"]), (&json!(2), &json!("laptop")));
    assert_eq!(code(home.ask("mesh.messages", json!({ "limit": 501 }))), Code::Usage);
    // A conversation is named by a part of it that fits no other.
    let take = |named: &str| home.ask("mesh.take", json!({ "conversation": named }));
    assert_eq!(code(take("conversation-")), Code::Ambiguous);
    assert_eq!(code(take("conversation-9")), Code::NotFound);
}

#[test]
fn receipts_of_all_machines_stand_in_one_list_the_newest_first() {
    let (home, _) = meshed(406, &[]);
    home.with_an_act("write a");
    let own = home.must("receipts.list", json!({}))["rows"].as_array().unwrap().len();
    let (now, desk) = (home.world.clock.now(), node("aaaa1"));
    let line =
        |number: u64, at: UnixMs| ReceiptLine { number, sha256: Digest::of(&number.to_le_bytes()), at };
    let lines = vec![line(1, now.plus_ms(-1_000_000_000)), line(2, now.plus_ms(1_000))];
    home.world.kernel().record_mesh(&[], &[Delivered::Receipts { from: desk, lines }], None).unwrap();
    let all = home.must("mesh.receipts", json!({}))["receipts"].clone();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), own + 2);
    let times: Vec<i64> = all.iter().map(|one| one["at"].as_i64().unwrap()).collect();
    assert!(times.is_sorted_by(|one, other| one >= other), "{times:?}");
    assert_eq!(
        (&all[0]["name"], &all[0]["number"], &all[0]["receipt_id"]),
        (&json!("desk"), &json!(2), &Value::Null)
    );
    assert_eq!(all[own + 1]["number"], 1);
    assert!(all[1..=own].iter().all(|one| one["name"] == "laptop" && one["receipt_id"].is_string()));
    let (mut paged, mut before) = (Vec::new(), Value::Null);
    loop {
        let part = home.must("mesh.receipts", json!({ "limit": 1, "before": before }));
        paged.extend(part["receipts"].as_array().unwrap().clone());
        before = part["before"].clone();
        if before.is_null() {
            break;
        }
    }
    assert_eq!(&paged, all, "page by page it is the same list");
}

#[test]
fn a_token_withdraws_no_machine_hands_over_no_conversation_and_names_no_holder() {
    let (home, ran) = meshed(408, &[]);
    home.with_an_act("write a");
    let (conversation, envelope) = ("conversation-1".to_owned(), "no envelope".to_owned());
    let says = Says::Input(Input { conversation, origin: node("eeee1"), envelope, hops: 1 });
    let (to, before) = (node("aaaa1"), seal::Digest::ZERO);
    let queued = Fact::Queued { to, number: 1, says, at: UnixMs(0), before };
    home.world.kernel().record_mesh(&[queued], &[], None).unwrap();
    let whole = [
        ("mesh.withdraw", json!({ "node": "bbbb1", "reason": null })),
        ("mesh.hand_over", json!({ "conversation": "conversation-1", "to": "desk" })),
        // There is none of this name, as whoever is believed is told.
        ("mesh.hold", json!({ "schedule": "tidy", "nodes": ["desk"], "term_minutes": 10 })),
    ];
    for (name, params) in whole {
        let with = |signed: &Value| {
            let mut all = params.clone();
            all["signed"] = signed.clone();
            all
        };
        let ask = |caller: Caller, params: Value| api::call_for(&home, caller, name, params, &[]);
        let by_page = |words: &str| api::page_approval::mesh(&home, name, params.clone(), words.as_bytes());
        let yes = signed(&home, name, &params);
        assert_eq!(code(ask(Caller::Program, params.clone())), Code::Forbidden, "{name}");
        assert_eq!(code(ask(Caller::Program, with(&Value::Null))), Code::Forbidden, "{name}");
        assert_eq!(code(ask(Caller::Page, with(&yes))), Code::Forbidden, "{name}");
        let of_another = signed(&home, "mesh.take", &params);
        assert_eq!(code(ask(Caller::Program, with(&of_another))), Code::Refused, "{name}");
        assert_eq!(code(by_page("wrong")), Code::KeyLocked, "{name}");
        assert!(ran.said.lock().unwrap().is_empty(), "{name}");
        let with_token = ask(Caller::Program, with(&yes));
        home.world.clock.advance(1);
        for given in [with_token, by_page(PASSPHRASE)] {
            match name {
                "mesh.hold" => assert_eq!(code(given), Code::NotFound),
                _ => drop(given.unwrap()),
            }
        }
        let again = ask(Caller::Program, with(&yes)).unwrap_err();
        assert!(again.code == Code::Refused && again.message.contains("used before"), "{name}: {again:?}");
        let said = std::mem::take(&mut *ran.said.lock().unwrap());
        let gone = |one: &&Command| matches!(one, Command::Withdraw(_) | Command::HandOver { .. });
        assert_eq!(said.iter().filter(gone).count(), if name == "mesh.hold" { 0 } else { 2 }, "{name}");
    }
    let decided = home.must("knowledge.decisions", json!({}))["rows"][0].clone();
    assert_eq!(decided["rationale"], "withdrawn by a person");
}

#[test]
fn a_machine_is_withdrawn_with_a_reason_that_stands_in_the_log() {
    let (home, ran) = meshed(407, &[]);
    assert_eq!(code(home.ask("mesh.withdraw", json!({ "node": "server" }))), Code::Ambiguous);
    home.must("mesh.withdraw", json!({ "node": "bbbb1", "reason": "it was stolen" }));
    let said = ran.said.lock().unwrap();
    assert!(matches!(said.as_slice(), [Command::Withdraw(one)] if *one == node("bbbb1")), "{said:?}");
    let decided = home.must("knowledge.decisions", json!({}))["rows"][0].clone();
    assert_eq!(decided["rationale"], "it was stolen");
    assert!(decided["summary"].as_str().unwrap().contains("server (bbbb1000)"), "{decided}");
}
