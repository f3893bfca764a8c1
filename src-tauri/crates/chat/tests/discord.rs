//! Discord: what its gateway and its REST interface say and take.

use crate::doubles::{Asked, Double, Push, SHORT, Said, SocketDouble, WAIT, adapter, json, said, words};
use chat::{Adapter, Attachment, Button, Fault, OutFile, Outgoing, Service};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn discord(double: &Double) -> Box<dyn Adapter> {
    adapter(Service::Discord, &double.url(), "MTk4.SECRET", &[])
}

fn message(id: &str, text: &str) -> Value {
    json!({ "id": id, "channel_id": "50", "type": 0, "content": text, "author": { "id": "7", "username": "kim",
        "global_name": "Kim\u{202E}" }, "attachments": [] })
}

fn hello() -> Push {
    Push::Json(json!({ "op": 10, "d": { "heartbeat_interval": 1000 } }))
}

fn dispatch(seq: u64, kind: &str, data: &Value) -> Push {
    Push::Json(json!({ "op": 0, "s": seq, "t": kind, "d": data }))
}

/// What the gateway says when a session begins, given its own address.
fn ready(url: &str) -> Push {
    dispatch(1, "READY", &json!({ "session_id": "s-1", "resume_gateway_url": url, "user": { "id": "1" } }))
}

fn is_op(heard: Option<&Value>, op: u64) -> bool {
    heard.is_some_and(|heard| heard["op"] == op)
}

/// Discord, with this gateway, and whatever else a test wants.
fn with_gateway(url: String, answer: impl Fn(&Asked) -> Option<Said> + Send + Sync + 'static) -> Double {
    Double::new(move |asked| {
        if let Some(said) = answer(asked) {
            return said;
        }
        if asked.path.contains("/gateway/bot") {
            return json(&json!({ "url": url }));
        }
        said(404, "{\"message\":\"Unknown Channel\"}")
    })
}

#[test]
fn a_session_begins_gives_what_comes_and_is_taken_up_again() {
    let socket = SocketDouble::new(|_, heard| match heard {
        None => vec![hello()],
        heard if is_op(heard, 2) => {
            let mut bot = message("60", "beep");
            bot["author"]["bot"] = json!(true);
            // The address of the gateway is that of the test; it is not gone to before the session is taken up again.
            vec![
                ready("ws://127.0.0.1:9"),
                dispatch(2, "MESSAGE_CREATE", &message("61", "hello")),
                dispatch(3, "MESSAGE_CREATE", &bot),
                dispatch(4, "TYPING_START", &json!({})),
                Push::Json(json!(17)),
            ]
        }
        _ => Vec::new(),
    });
    let double = with_gateway(socket.url(), |_| None);
    let mut it = discord(&double);
    let polled = it.poll("", WAIT).unwrap();
    let one = &polled.incoming[0];
    assert_eq!((polled.incoming.len(), one.text.as_str(), one.message_id.as_str()), (1, "hello", "61"));
    assert_eq!((one.sender.as_str(), one.sender_name.as_str(), one.is_group), ("7", "Kim", false));
    let cursor: Value = serde_json::from_str(&polled.cursor).unwrap();
    assert_eq!((&cursor["session"], &cursor["last"]["50"]), (&json!("s-1"), &json!("61")));
    let identified = &socket.heard()[0];
    assert_eq!(
        (&identified["d"]["token"], &identified["d"]["intents"]),
        (&json!("MTk4.SECRET"), &json!(4096))
    );
    // Somebody else goes on where this stopped.
    let resumed = cursor["seq"].as_u64().unwrap();
    let cursor = json!({ "session": "s-1", "url": socket.url(), "seq": resumed, "last": {} }).to_string();
    discord(&double).poll(&cursor, SHORT).unwrap();
    let mut taken_up = None;
    for number in 2..5 {
        taken_up = taken_up.or_else(|| socket.hear(number).into_iter().find(|heard| heard["op"] == 6));
    }
    let taken_up = taken_up.unwrap();
    assert_eq!(taken_up["d"], json!({ "token": "MTk4.SECRET", "session_id": "s-1", "seq": resumed }));
}

#[test]
fn a_channel_with_others_in_it_is_a_group() {
    let socket = SocketDouble::new(|_, heard| match heard {
        None => vec![hello()],
        heard if is_op(heard, 2) => {
            let of = |seq: u64, id: &str, part: &str, value: Value| {
                let mut sent = message(id, "x");
                sent[part] = value;
                dispatch(seq, "MESSAGE_CREATE", &sent)
            };
            vec![
                ready("ws://127.0.0.1:9"),
                of(2, "61", "channel_type", json!(1)),
                of(3, "62", "channel_type", json!(3)),
                of(4, "63", "guild_id", json!("9")),
            ]
        }
        _ => Vec::new(),
    });
    let double = with_gateway(socket.url(), |_| None);
    let polled = discord(&double).poll("", WAIT).unwrap();
    let groups: Vec<bool> = polled.incoming.iter().map(|one| one.is_group).collect();
    assert_eq!(groups, [false, true, true]);
}

#[test]
fn where_a_session_is_over_channels_are_asked_for_what_was_missed() {
    let socket = SocketDouble::new(|number, heard| match heard {
        None => vec![hello()],
        heard if is_op(heard, 6) && number == 0 => vec![Push::Json(json!({ "op": 9, "d": false }))],
        heard if is_op(heard, 2) => vec![ready("ws://127.0.0.1:9")],
        _ => Vec::new(),
    });
    let double = with_gateway(socket.url(), |asked| {
        asked.path.starts_with("/channels/50/messages").then(|| match asked.path.contains("after=100") {
            true => {
                json(&Value::Array((101..201).rev().map(|n| message(&n.to_string(), "missed")).collect()))
            }
            false => json(&json!([message("301", "last"), message("x", "hostile")])),
        })
    });
    let mut it = discord(&double);
    let mut cursor =
        json!({ "session": "old", "url": socket.url(), "seq": 9, "last": { "50": "100", "51": "7" } })
            .to_string();
    let mut ids = Vec::new();
    for _ in 0..20 {
        if ids.len() > 100 {
            break;
        }
        let polled = it.poll(&cursor, WAIT).unwrap();
        ids.extend(polled.incoming.into_iter().map(|message| message.message_id));
        cursor = polled.cursor;
    }
    assert_eq!(ids, (101..=200).chain([301]).map(|n| n.to_string()).collect::<Vec<_>>());
    let cursor: Value = serde_json::from_str(&cursor).unwrap();
    assert_eq!(
        (&cursor["session"], &cursor["last"]["50"], &cursor["seq"]),
        (&json!("s-1"), &json!("301"), &json!(1))
    );
    assert!(matches!(it.poll("s:1", SHORT), Err(Fault::Refused { .. })));
}

#[test]
fn a_gateway_hears_that_this_side_lives_and_one_that_does_not_answer_is_left() {
    let socket = SocketDouble::new(|_, heard| match heard {
        None => vec![hello()],
        heard if is_op(heard, 2) => vec![ready("ws://127.0.0.1:9")],
        _ => Vec::new(),
    });
    let double = with_gateway(socket.url(), |_| None);
    let mut it = discord(&double);
    let polled = it.poll("", Duration::from_secs(4)).unwrap();
    assert_eq!(socket.heard().iter().filter(|heard| heard["op"] == 1).count(), 1);
    assert!(polled.cursor.contains("s-1"));
    // The address that the session is taken up at is nobody's.
    assert!(matches!(it.poll(&polled.cursor, SHORT), Err(Fault::Away { .. })));
}

#[test]
fn a_press_of_a_button_is_heard_at_once() {
    let socket = SocketDouble::new(|_, heard| match heard {
        None => vec![hello()],
        heard if is_op(heard, 2) => {
            let press = json!({ "id": "70", "token": "aW50/x", "type": 3, "channel_id": "50", "user": { "id": "7" },
                "message": { "id": "61" }, "data": { "component_type": 2, "custom_id": "stop:1" } });
            vec![ready("ws://127.0.0.1:9"), dispatch(2, "INTERACTION_CREATE", &press)]
        }
        _ => Vec::new(),
    });
    let double = with_gateway(socket.url(), |asked| asked.path.contains("/callback").then(|| said(204, "")));
    let polled = discord(&double).poll("", WAIT).unwrap();
    let one = &polled.incoming[0];
    assert_eq!((one.button.as_deref(), one.reply_to.as_deref()), (Some("stop:1"), Some("61")));
    let asked = double.last("/callback");
    assert_eq!(
        (asked.path.as_str(), asked.json()),
        ("/interactions/70/aW50%2Fx/callback", json!({ "type": 6 }))
    );
    assert_eq!(asked.headers.get("authorization"), None);
}

#[test]
fn a_token_that_the_gateway_refuses_and_a_gateway_elsewhere_are_told() {
    let socket = SocketDouble::new(|_, heard| match heard {
        None => vec![hello()],
        Some(_) => vec![Push::Close(4004)],
    });
    let double = with_gateway(socket.url(), |_| None);
    assert!(matches!(discord(&double).poll("", WAIT), Err(Fault::Token { .. })));
    for url in ["wss://discord.gg.evil.example", "ws://example.org", "x"] {
        let double = with_gateway(url.to_owned(), |_| None);
        assert!(matches!(discord(&double).poll("", SHORT), Err(Fault::Refused { .. })), "{url}");
    }
    let hung_up = SocketDouble::new(|_, _| vec![Push::HangUp]);
    let double = with_gateway(hung_up.url(), |_| None);
    assert!(matches!(discord(&double).poll("", SHORT), Err(Fault::Away { .. })));
}

#[test]
fn a_message_whose_answer_was_lost_is_sent_again_under_its_nonce() {
    let calls = AtomicUsize::new(0);
    let double = Double::new(move |_| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => said(0, ""),
        _ => json(&json!({ "id": "90" })),
    });
    let mut it = discord(&double);
    let buttons = (0..6).map(|n| Button { label: format!("b{n}"), data: format!("d{n}") }).collect();
    let out = Outgoing { reply_to: Some("61".to_owned()), buttons, ..words("50", "**hi** @everyone") };
    assert_eq!(it.send(&out).unwrap(), "90");
    let asked = double.asked();
    assert_eq!((asked.len(), &asked[0].body), (2, &asked[1].body));
    let body = asked[0].json();
    assert_eq!((&body["content"], &body["enforce_nonce"]), (&json!("**hi** @everyone"), &json!(true)));
    assert!(body["nonce"].as_str().unwrap().len() <= 25);
    assert_eq!(body["allowed_mentions"], json!({ "parse": [] }));
    assert_eq!(body["message_reference"]["message_id"], "61");
    assert_eq!(
        (body["components"].as_array().unwrap().len(), &body["components"][1]["components"][0]["custom_id"]),
        (2, &json!("d5"))
    );
    assert_eq!(it.send(&Outgoing { edit_of: Some("90".to_owned()), ..words("50", "more") }).unwrap(), "90");
    let edit = double.last("/messages/90");
    assert_eq!((edit.method.as_str(), edit.headers["authorization"].as_str()), ("PATCH", "Bot MTk4.SECRET"));
    for chat in ["", "50/../51", "x"] {
        assert!(matches!(it.send(&words(chat, "x")), Err(Fault::Refused { .. })), "{chat}");
    }
}

#[test]
fn a_file_goes_as_a_form_and_comes_by_its_message() {
    let double = Double::new(|asked| {
        let at = format!("http://{}", asked.headers["host"]);
        match asked.path.as_str() {
            "/cdn/a.txt" => said(200, "contents"),
            "/channels/50/messages/61" => json(&json!({ "attachments": [
                { "id": "1", "url": "https://evil.example/a" }, { "id": "2", "url": format!("{at}/cdn/a.txt") },
            ] })),
            _ => json(&json!({ "id": "91" })),
        }
    });
    let mut it = discord(&double);
    let file =
        OutFile { name: "r.txt".to_owned(), media_type: "text/plain".to_owned(), bytes: b"abc".to_vec() };
    assert_eq!(it.send(&Outgoing { file: Some(file), ..words("50", "see") }).unwrap(), "91");
    let asked = double.asked()[0].text();
    assert!(asked.contains("name=\"payload_json\"\r\nContent-Type: application/json\r\n\r\n{"), "{asked}");
    assert!(
        asked.contains("name=\"files[0]\"; filename=\"r.txt\"") && asked.contains("\r\n\r\nabc\r\n--"),
        "{asked}"
    );
    let at = |handle: &str| Attachment {
        name: String::new(),
        media_type: String::new(),
        bytes: 0,
        handle: handle.to_owned(),
    };
    assert_eq!(it.fetch(&at("50/61/2"), 100).unwrap(), b"contents");
    assert_eq!(double.last("/cdn/").headers.get("authorization"), None);
    for handle in ["50/61/1", "50/61/3", "50/../61", "x"] {
        assert!(matches!(it.fetch(&at(handle), 100), Err(Fault::Refused { .. })), "{handle}");
    }
}
