//! `kill -9` of the host while a hook is called and while what the call is for begins, at times nobody chose. Whoever calls again
//! under the same id until they are answered has each call told to one task, once.

use super::attached::Served;
use super::stage::{Stage, until};
use ledger::Reader;
use model::body::Body;
use model::schedule::SeenChange;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Deaths in the suite, each while another call is made.
const DEATHS: usize = 8;
/// Calls of one store: fewer than runs may begin within an hour.
const CALLS_OF_ONE: usize = 8;
/// A host has taken a call and ended its task by then, on a machine that is not busy.
const WORKS_MS: u64 = 500;
const SCHEDULE: &str = "roll-out";

/// A store that waits for a hook, and the secret of its calls.
fn waits() -> (Stage, String) {
    let stage = Stage::new();
    let work = stage.work();
    let at = work.to_str().expect("UTF-8");
    let add = ["schedule", "add", "when the hook deploy is called", "--playbook", "tidy", "--name", SCHEDULE];
    let asked = stage.hermit(&[&add[..], &["--workspace", at][..]].concat()).ends(4).json();
    let (code, screen) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{screen}");
    let made = stage.hermit(&["schedule", "secret", SCHEDULE]).ends(0).json();
    let secret = made["secret"].as_str().expect("a secret").to_owned();
    (stage, secret)
}

/// Calls the hook; the status of the answer, where one comes.
fn calls(address: &str, secret: &str, (id, body): &(String, String)) -> Option<u16> {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs().to_string();
    let signature = seal::webhook::sign(secret.as_bytes(), id, &at, body.as_bytes());
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    write!(
        stream,
        "POST /v1/hooks/deploy HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nwebhook-id: {id}\r\n\
         webhook-timestamp: {at}\r\nwebhook-signature: {signature}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    text.split(' ').nth(1)?.parse().ok()
}

fn is_taken(status: Option<u16>) -> bool {
    matches!(status, Some(200 | 202))
}

/// Makes a call, and kills the host after this time; whether the call was answered.
fn calls_and_kills(host: Served, time: Duration, secret: &str, call: &(String, String)) -> bool {
    let (address, pid) = (host.address(), host.pid());
    let status = std::thread::scope(|scope| {
        let killed = scope.spawn(|| {
            std::thread::sleep(time);
            Command::new("kill").args(["-KILL", &pid]).status().expect("kill")
        });
        let status = calls(&address, secret, call);
        assert!(killed.join().expect("no panic").success(), "the host was there");
        status
    });
    drop(host);
    is_taken(status)
}

/// What the log says: how often each call was told to a task, slots that fired, and tasks that were made for them.
fn told(stage: &Stage) -> (BTreeMap<u64, usize>, usize, usize) {
    let reader = Reader::open(&stage.home()).expect("the store");
    let mut told: BTreeMap<u64, usize> = BTreeMap::new();
    let (mut fired, mut made) = (Vec::new(), Vec::new());
    for stored in reader.log(0, 100_000).expect("its log") {
        let event = stored.event().expect("an event");
        match reader.revealing(|shown| event.body(shown)).expect("read").expect("a body") {
            Body::ScheduleSettled(b) => {
                for at in b.seen.iter().filter_map(|seen| seen.change.as_ref()) {
                    let bytes = reader.blob(&at.sha256).expect("read").expect("a small artifact");
                    let change: SeenChange = serde_json::from_slice(&bytes).expect("a change");
                    let SeenChange::Called { calls, .. } = change else { panic!("calls: {change:?}") };
                    calls.iter().for_each(|call| *told.entry(call.number).or_default() += 1);
                }
            }
            Body::ScheduleFired(b) => fired.push(b.slot_at),
            Body::TaskCreated(b) => made.extend(b.task.scheduled_by.as_ref().map(|by| by.slot_at)),
            _ => {}
        }
    }
    let (all_fired, all_made) = (fired.len(), made.len());
    for slots in [&mut fired, &mut made] {
        slots.sort_unstable();
        slots.dedup();
    }
    assert_eq!((fired.len(), made.len()), (all_fired, all_made), "no slot fired or was made twice");
    (told, fired.len(), made.len())
}

#[test]
fn a_host_that_is_killed_while_it_is_called_loses_no_call_and_begins_no_task_twice() {
    let asked = std::env::var("HERMIT_HOOK_DEATHS").ok().and_then(|text| text.parse().ok());
    let asked = asked.unwrap_or(DEATHS).max(DEATHS);
    let (mut deaths, mut chance) = (0, 0x9E37_79B9_7F4A_7C15_u64);
    while deaths < asked {
        let (stage, secret) = waits();
        let mut open: Option<(String, String)> = None;
        for nth in 0..CALLS_OF_ONE {
            let host = Served::by(&stage);
            // Whoever was not answered calls again before anything else.
            if let Some(again) = open.take() {
                assert!(is_taken(calls(&host.address(), &secret, &again)), "{}: it is answered", again.0);
            }
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let call = (format!("msg-{nth}"), serde_json::json!({ "build": nth }).to_string());
            let time = Duration::from_millis((chance >> 33) % WORKS_MS);
            let is_answered = calls_and_kills(host, time, &secret, &call);
            open = (!is_answered).then_some(call);
            deaths += 1;
        }
        let host = Served::by(&stage);
        if let Some(again) = open {
            assert!(is_taken(calls(&host.address(), &secret, &again)), "{}: it is answered", again.0);
        }
        let all: BTreeMap<u64, usize> = (1..).map(|number| (number, 1)).take(CALLS_OF_ONE).collect();
        until("each call was told to a task", || told(&stage).0.len() == all.len());
        until("the newest task has ended", || {
            let shown = stage.hermit(&["schedule", "show", SCHEDULE]).ends(0).json();
            let (_, fired, made) = told(&stage);
            fired == made && shown["runs"][0]["status"] == "completed"
        });
        drop(host);
        assert_eq!(told(&stage).0, all, "each call is told once");
        stage.is_sound();
    }
    println!("called: {deaths} deaths of hermit while it was called");
}
