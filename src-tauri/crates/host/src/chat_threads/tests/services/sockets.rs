//! Services that tell what is new through a socket: Slack and Discord.

use super::super::doubles::{Asked, Double, json};
use super::{EVE, FORGER, KIM, Line, Peer, Room, Written, empty, lock, server, taken};
use model::gateway::Service;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where the clock of Discord's ids begins.
const DISCORD_EPOCH_MS: i64 = 1_420_070_400_000;
/// How often a socket looks for what is new.
const TICK: Duration = Duration::from_millis(10);
/// The place of a connection that has said nothing, and of one that waits to be told where to begin.
pub(super) const NOWHERE: usize = usize::MAX;
const GREETED: usize = usize::MAX - 1;

/// A socket; its port. `says`: what is said now, or to what was heard, given how far this connection was told.
pub(super) fn socket(says: impl Fn(&mut usize, Option<&Value>) -> Vec<Value> + Send + Sync + 'static) -> u16 {
    server(move |stream| {
        let mut socket = tungstenite::accept(stream).ok()?;
        socket.get_ref().set_read_timeout(Some(TICK)).ok()?;
        let (mut place, mut heard) = (NOWHERE, None::<Value>);
        loop {
            for one in says(&mut place, heard.as_ref()) {
                socket.send(tungstenite::Message::text(one.to_string())).ok()?;
            }
            heard = match socket.read() {
                Ok(message) => serde_json::from_str(message.to_text().ok()?).ok(),
                Err(tungstenite::Error::Io(e))
                    if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    None
                }
                Err(_) => return None,
            };
        }
    })
}

fn slack_names(who: &str) -> (String, String) {
    let who = who.to_uppercase();
    (format!("U{who}"), format!("D{who}"))
}

fn slack_event(one: &Written) -> Value {
    let (user, channel) = slack_names(one.who);
    json!({
        "type": "message", "channel": channel, "channel_type": "im", "user": user, "text": one.text,
        "ts": format!("{}.{:06}", one.at / 1000, one.id),
    })
}

/// Whether an event is younger than the time that a history is asked for from.
fn is_since(event: &Value, path: &str) -> bool {
    let oldest = path.split("oldest=").nth(1).and_then(|rest| rest.split('&').next()).unwrap_or_default();
    event["ts"].as_str() > Some(oldest.replace("%2E", ".").as_str())
}

pub fn slack() -> Peer {
    let room = empty();
    let (of, told) = (Arc::clone(&room), Arc::clone(&room));
    let events = Line::to(socket(move |place, _| {
        let room = lock(&told);
        if *place == NOWHERE {
            *place = room.written.len();
            return vec![json!({ "type": "hello" })];
        }
        let new = room.written.iter().enumerate().skip(*place);
        let new = new.map(|(number, one)| {
            json!({ "type": "events_api", "envelope_id": format!("e{number}"), "payload": { "event": slack_event(one) } })
        });
        let new = new.collect();
        *place = room.written.len();
        new
    }));
    let url = format!("{}/", events.url("ws"));
    let double = Double::new(move |asked: &Asked| {
        let (mut room, path) = (lock(&of), asked.path.as_str());
        if path.contains("apps.connections.open") {
            return json(&json!({ "ok": true, "url": url }));
        }
        if path.contains("users.info") {
            return json(&json!({ "ok": true, "user": { "real_name": "Kim", "profile": {} } }));
        }
        if path.contains("users.conversations") {
            let all = [KIM, EVE, FORGER].map(|who| json!({ "id": slack_names(who).1 }));
            return json(&json!({ "ok": true, "channels": all }));
        }
        if path.contains("conversations.history") {
            let of = room.written.iter().rev().map(slack_event);
            let of = of.filter(|event| {
                path.contains(&format!("channel={}", event["channel"].as_str().unwrap_or("-")))
            });
            let of: Vec<Value> = of.filter(|event| is_since(event, path)).collect();
            return json(&json!({ "ok": true, "messages": of }));
        }
        if path.contains("chat.postMessage") {
            let text = asked.json()["text"].as_str().unwrap_or_default().to_owned();
            let answer = |number: usize| json!({ "ok": true, "ts": format!("1800000000.{number:06}") });
            return taken(room.takes(None, text, false), answer);
        }
        json(&json!({ "ok": false, "error": "unknown_method" }))
    });
    let line = Line::to(double.port);
    Peer {
        service: Service::Slack,
        address: line.url("http"),
        settings: BTreeMap::new(),
        token: "xapp-SECRETtoken xoxb-SECRETtoken",
        names: slack_names,
        knows_repeats: false,
        calls: false,
        room,
        lines: vec![line, events],
    }
}

fn discord_names(who: &str) -> (String, String) {
    let number = match who {
        KIM => 7,
        EVE => 6,
        _ => 5,
    };
    (number.to_string(), format!("{number}0"))
}

fn discord_event(one: &Written) -> Value {
    let (user, channel) = discord_names(one.who);
    let id = ((one.at - DISCORD_EPOCH_MS) << 22) | one.id;
    json!({
        "id": id.to_string(), "channel_id": channel, "type": 0, "content": one.text, "attachments": [],
        "author": { "id": user, "username": "kim", "global_name": "Kim" },
    })
}

/// What Discord's gateway says, which is reached there.
fn discord_says(room: &Room, url: &str, place: &mut usize, heard: Option<&Value>) -> Vec<Value> {
    if *place == NOWHERE {
        *place = GREETED;
        return vec![json!({ "op": 10, "d": { "heartbeat_interval": 60_000 } })];
    }
    match heard.and_then(|heard| heard["op"].as_u64()) {
        Some(1) => return vec![json!({ "op": 11 })],
        Some(2) => {
            *place = room.written.len();
            let data = json!({ "session_id": "s-1", "resume_gateway_url": url, "user": { "id": "1" } });
            return vec![json!({ "op": 0, "s": *place + 1, "t": "READY", "d": data })];
        }
        Some(6) => {
            // The first message is the second event.
            let seq = heard.and_then(|heard| heard["d"]["seq"].as_u64()).unwrap_or(1);
            *place = usize::try_from(seq).unwrap_or(1).saturating_sub(1);
        }
        _ => {}
    }
    if *place == GREETED {
        return Vec::new();
    }
    let new = room.written.iter().enumerate().skip(*place);
    let new = new.map(
        |(number, one)| json!({ "op": 0, "s": number + 2, "t": "MESSAGE_CREATE", "d": discord_event(one) }),
    );
    let new = new.collect();
    *place = room.written.len();
    new
}

pub fn discord() -> Peer {
    let room = empty();
    let (of, told) = (Arc::clone(&room), Arc::clone(&room));
    // Where it is reached is known only when it is there.
    let place: Arc<Mutex<String>> = Arc::default();
    let own = Arc::clone(&place);
    let events = Line::to(socket(move |at, heard| {
        let url = own.lock().unwrap().clone();
        discord_says(&lock(&told), &url, at, heard)
    }));
    let url = format!("{}/", events.url("ws"));
    place.lock().unwrap().clone_from(&url);
    let double = Double::new(move |asked: &Asked| {
        let mut room = lock(&of);
        if asked.path.contains("/gateway/bot") {
            return json(&json!({ "url": url }));
        }
        if asked.method == "POST" && asked.path.ends_with("/messages") {
            let body = asked.json();
            let word = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
            let answer = |number: usize| json!({ "id": format!("9{number}") });
            return taken(room.takes(Some(word("nonce")), word("content"), true), answer);
        }
        json(&json!([]))
    });
    let line = Line::to(double.port);
    Peer {
        service: Service::Discord,
        address: line.url("http"),
        settings: BTreeMap::new(),
        token: "MTk4.SECRETtoken",
        names: discord_names,
        knows_repeats: true,
        calls: false,
        room,
        lines: vec![line, events],
    }
}
