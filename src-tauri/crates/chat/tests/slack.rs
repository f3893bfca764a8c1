//! Slack: what its socket and its methods say and take.

use crate::doubles::{Asked, Double, Push, SHORT, Said, SocketDouble, WAIT, adapter, json, said, words};
use chat::{Adapter, Attachment, Button, Fault, OutFile, Outgoing, Service};
use serde_json::{Value, json};

const TOKENS: &str = "xapp-1-SECRET xoxb-2-SECRET";

fn slack(double: &Double) -> Box<dyn Adapter> {
    adapter(Service::Slack, &double.url(), TOKENS, &[])
}

fn message(ts: &str, text: &str) -> Value {
    json!({ "type": "message", "channel": "D1", "channel_type": "im", "user": "U1", "text": text, "ts": ts })
}

fn event(envelope: &str, event: &Value) -> Push {
    Push::Json(json!({ "type": "events_api", "envelope_id": envelope, "payload": { "event": event } }))
}

/// Slack, with this socket, and whatever else a test wants.
fn with_socket(url: String, answer: impl Fn(&Asked) -> Option<Said> + Send + Sync + 'static) -> Double {
    Double::new(move |asked| {
        if let Some(said) = answer(asked) {
            return said;
        }
        if asked.path.contains("apps.connections.open") {
            return json(&json!({ "ok": true, "url": url }));
        }
        if asked.path.contains("users.info") {
            return json(&json!({ "ok": true, "user": { "real_name": "Kim\u{202E} Lee", "profile": {} } }));
        }
        json(&json!({ "ok": false, "error": "unknown_method" }))
    })
}

#[test]
fn what_came_is_acknowledged_once_it_is_kept_and_not_before() {
    let socket = SocketDouble::new(|_, heard| match heard {
        Some(_) => Vec::new(),
        None => vec![
            Push::Json(json!({ "type": "hello" })),
            event("e1", &message("1700000001.000100", "a &lt;b&gt; <@U9>")),
            event("e2", &json!({ "type": "message", "subtype": "message_changed", "channel": "D1" })),
            Push::Json(json!({ "type": "interactive", "envelope_id": "e3", "payload": {
                "type": "block_actions", "user": { "id": "U1" }, "channel": { "id": "C2" }, "message": { "ts": "17.1" },
                "actions": [{ "value": "stop:1", "action_ts": "1700000002.000000" }],
            } })),
        ],
    });
    let double = with_socket(socket.url(), |_| None);
    let mut it = slack(&double);
    let polled = it.poll("", WAIT).unwrap();
    assert_eq!(polled.incoming.len(), 2);
    let (one, press) = (&polled.incoming[0], &polled.incoming[1]);
    assert_eq!((one.text.as_str(), one.message_id.as_str()), ("a <b> @U9", "1700000001.000100"));
    assert_eq!((one.sender.as_str(), one.sender_name.as_str(), one.is_group), ("U1", "Kim Lee", false));
    assert_eq!((press.button.as_deref(), press.reply_to.as_deref()), (Some("stop:1"), Some("17.1")));
    assert!(press.is_group && one.sent_at == 1_700_000_001_000);
    // Only what holds nothing to keep.
    assert_eq!(socket.hear(1), [json!({ "envelope_id": "e2" })]);
    it.poll(&polled.cursor, SHORT).unwrap();
    assert_eq!(socket.hear(3)[1..], [json!({ "envelope_id": "e1" }), json!({ "envelope_id": "e3" })]);
    assert_eq!(double.last("apps.connections.open").headers["authorization"], "Bearer xapp-1-SECRET");
}

#[test]
fn what_was_missed_is_asked_for_when_a_socket_opens() {
    let socket = SocketDouble::new(|number, heard| match (number, heard) {
        (0, None) => vec![Push::Json(json!({ "type": "disconnect", "reason": "refresh_requested" }))],
        (1, None) => vec![Push::Text("no JSON".to_owned())],
        _ => Vec::new(),
    });
    let double = with_socket(socket.url(), |asked| {
        if asked.path.contains("users.conversations") {
            return Some(json(
                &json!({ "ok": true, "channels": [{ "id": "C9" }, { "id": "D1" }, { "id": "D/../x" }] }),
            ));
        }
        asked.path.contains("conversations.history").then(|| {
            if asked.path.contains("channel=C9") {
                return json(&json!({ "ok": false, "error": "not_in_channel" }));
            }
            if asked.path.contains("channel=D%2F") {
                return json(&json!({ "ok": true, "messages": [] }));
            }
            let (messages, next) = match asked.path.contains("cursor=p2") {
                true => (vec![message("1700000101.000000", "one")], ""),
                false => {
                    let mut own = message("1700000103.000000", "mine");
                    own["bot_id"] = json!("B1");
                    (vec![own, message("1700000102.000000", "two")], "p2")
                }
            };
            json(&json!({ "ok": true, "messages": messages, "response_metadata": { "next_cursor": next } }))
        })
    });
    let mut it = slack(&double);
    let polled = it.poll("1700000100000/4", WAIT).unwrap();
    let texts: Vec<&str> = polled.incoming.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(texts, ["one", "two"]);
    assert!(
        double.last("channel=D1").path.contains("oldest=1699999800%2E000000"),
        "{}",
        double.last("channel=D1").path
    );
    // Nothing is passed over before every conversation was asked.
    let mut cursor = polled.cursor;
    for _ in 0..2 {
        cursor = it.poll(&cursor, WAIT).unwrap().cursor;
    }
    assert!(cursor.starts_with("1700000102000/"), "{cursor}");
    assert!(double.count("apps.connections.open") >= 2);
    assert!(matches!(it.poll("x", SHORT), Err(Fault::Refused { .. })));
}

#[test]
fn what_was_not_kept_comes_again() {
    let socket = SocketDouble::new(|_, heard| match heard {
        Some(_) => Vec::new(),
        None => vec![event("e1", &message("1700000001.000100", "hello"))],
    });
    let double = with_socket(socket.url(), |asked| {
        asked.path.contains("users.conversations").then(|| json(&json!({ "ok": true, "channels": [] })))
    });
    let mut it = slack(&double);
    let first = it.poll("1/1", WAIT).unwrap();
    assert_eq!(it.poll("1/1", WAIT).unwrap().incoming, first.incoming);
    assert!(socket.heard().is_empty());
}

#[test]
fn a_socket_or_a_file_elsewhere_is_not_gone_to() {
    let double = with_socket("wss://evil.example/?ticket=1".to_owned(), |asked| {
        asked.path.contains("files.").then(|| {
            json(&json!({ "ok": true, "upload_url": "https://slack.com.evil.example/x", "file_id": "F1",
                "file": { "url_private": "https://evil.example/slack.com" } }))
        })
    });
    let mut it = slack(&double);
    assert!(matches!(it.poll("", SHORT), Err(Fault::Refused { .. })));
    let file = OutFile { name: "a".to_owned(), media_type: "text/plain".to_owned(), bytes: vec![1] };
    assert!(matches!(
        it.send(&Outgoing { file: Some(file), ..words("D1", "x") }),
        Err(Fault::Refused { .. })
    ));
    let at = Attachment { name: String::new(), media_type: String::new(), bytes: 0, handle: "F1".to_owned() };
    assert!(matches!(it.fetch(&at, 10), Err(Fault::Refused { .. })));
}

#[test]
fn a_message_is_posted_with_blocks_and_changed() {
    let double = Double::new(|_| json(&json!({ "ok": true, "ts": "17.2" })));
    let mut it = slack(&double);
    let buttons = vec![Button { label: "Stop".to_owned(), data: "stop:1".to_owned() }];
    let long = "& **x** ".repeat(300);
    let out = Outgoing { reply_to: Some("17.1".to_owned()), buttons, ..words("C1", &long) };
    assert_eq!(it.send(&out).unwrap(), "17.2");
    let asked = double.last("chat.postMessage");
    assert_eq!(asked.headers["authorization"], "Bearer xoxb-2-SECRET");
    let body = asked.json();
    assert_eq!(
        (&body["channel"], &body["thread_ts"], &body["unfurl_links"]),
        (&json!("C1"), &json!("17.1"), &json!(false))
    );
    let blocks = body["blocks"].as_array().unwrap();
    let (actions, sections) = blocks.split_last().unwrap();
    assert_eq!((&actions["elements"][0]["value"], &actions["type"]), (&json!("stop:1"), &json!("actions")));
    let lengths: Vec<usize> =
        sections.iter().map(|one| one["text"]["text"].as_str().unwrap().len()).collect();
    assert!(!lengths.is_empty() && lengths.iter().all(|length| *length <= 3000), "{lengths:?}");
    it.send(&Outgoing { edit_of: Some("17.2".to_owned()), ..words("C1", "done") }).unwrap();
    let body = double.last("chat.update").json();
    assert_eq!((&body["ts"], &body["text"], &body["blocks"]), (&json!("17.2"), &json!("done"), &json!([])));
}

#[test]
fn errors_in_an_answer_are_told_apart() {
    for (error, is) in [
        ("invalid_auth", "token"),
        ("token_revoked", "token"),
        ("ratelimited", "away"),
        ("internal_error", "unknown"),
        ("channel_not_found", "refused"),
        ("xoxb-2-SECRET", "refused"),
    ] {
        let double = Double::new(move |_| json(&json!({ "ok": false, "error": error })));
        let fault = slack(&double).send(&words("C1", "x")).unwrap_err();
        let found = match fault {
            Fault::Token { .. } => "token",
            Fault::Away { .. } => "away",
            Fault::Unknown { .. } => "unknown",
            Fault::Refused { .. } => "refused",
        };
        assert_eq!(found, is, "{error}");
        assert!(!format!("{fault:?}").contains("SECRET"), "{fault:?}");
    }
}

#[test]
fn a_file_goes_in_three_steps_and_comes_with_the_token() {
    let double = Double::new(|asked| {
        let at = format!("http://{}", asked.headers["host"]);
        match asked.path.as_str() {
            path if path.contains("files.getUploadURLExternal") => {
                json(&json!({ "ok": true, "upload_url": format!("{at}/upload"), "file_id": "F1" }))
            }
            path if path.contains("files.info") => {
                json(&json!({ "ok": true, "file": { "url_private_download": format!("{at}/private") } }))
            }
            "/upload" => said(200, "OK - 3"),
            "/private" => said(200, "contents"),
            _ => json(&json!({ "ok": true })),
        }
    });
    let mut it = slack(&double);
    let file =
        OutFile { name: "r.txt".to_owned(), media_type: "text/plain".to_owned(), bytes: b"abc".to_vec() };
    assert_eq!(it.send(&Outgoing { file: Some(file), ..words("D1", "see") }).unwrap(), "F1");
    assert!(double.last("getUploadURLExternal").path.contains("filename=r%2Etxt&length=3"));
    assert_eq!(double.last("/upload").text(), "abc");
    assert_eq!(double.last("/upload").headers.get("authorization"), None);
    assert_eq!(double.last("completeUpload").json()["initial_comment"], "see");
    let at = Attachment { name: String::new(), media_type: String::new(), bytes: 0, handle: "F1".to_owned() };
    assert_eq!(it.fetch(&at, 100).unwrap(), b"contents");
    assert_eq!(double.last("/private").headers["authorization"], "Bearer xoxb-2-SECRET");
    assert!(it.fetch(&at, 3).is_err());
}
