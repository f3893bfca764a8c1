//! Matrix: what a homeserver says and takes.

use crate::doubles::{Asked, Double, LONG, Said, adapter, json, said, words};
use chat::{Adapter, Attachment, Fault, Incoming, OutFile, Outgoing, Service};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ME: &str = "@hermit:example.org";
const ROOM: &str = "!room:example.org";

fn matrix(double: &Double) -> Box<dyn Adapter> {
    adapter(Service::Matrix, &double.url(), "syt_SECRET", &[("accept_invites", "@kim:example.org")])
}

fn event(n: usize, body: &str) -> Value {
    json!({
        "type": "m.room.message", "event_id": format!("${n}"), "sender": "@kim:example.org",
        "origin_server_ts": 1_700_000_000_000_i64 + n as i64, "content": { "msgtype": "m.text", "body": body },
    })
}

fn joined(user: &str) -> Value {
    json!({ "type": "m.room.member", "state_key": user, "event_id": "$join", "sender": user,
        "content": { "membership": "join" } })
}

/// What `/sync` says, with this timeline in one room.
fn sync(next: &str, timeline: &Value) -> Said {
    json(&json!({ "next_batch": next, "rooms": { "join": { ROOM: { "timeline": timeline } } } }))
}

/// A homeserver whose syncs and whatever else a test wants are like this.
fn homeserver(answer: impl Fn(&Asked, &str) -> Option<Said> + Send + Sync + 'static) -> Double {
    Double::new(move |asked| {
        let since = asked.path.split("since=").nth(1).unwrap_or_default().to_owned();
        if let Some(said) = answer(asked, &since) {
            return said;
        }
        if asked.path.contains("whoami") {
            return json(&json!({ "user_id": ME }));
        }
        if asked.path.contains("joined_members") {
            return json(&json!({ "joined": { ME: {}, "@kim:example.org": {} } }));
        }
        said(404, &json!({ "errcode": "M_UNRECOGNIZED", "error": "?" }).to_string())
    })
}

fn texts(incoming: &[Incoming]) -> Vec<&str> {
    incoming.iter().map(|message| message.text.as_str()).collect()
}

#[test]
fn a_first_sync_gives_nothing_and_the_next_what_is_new() {
    let double = homeserver(|asked, since| {
        asked.path.contains("/sync").then(|| match since {
            "" => sync("s1", &json!({ "events": [event(1, "old")] })),
            "s1" => sync("s2", &json!({ "events": [event(2, "new"), event(3, "newer")] })),
            _ => sync("s2", &json!({ "events": [] })),
        })
    });
    let mut it = matrix(&double);
    let first = it.poll("", LONG).unwrap();
    assert_eq!(texts(&first.incoming), [""; 0]);
    let second = it.poll(&first.cursor, LONG).unwrap();
    assert_eq!(texts(&second.incoming), ["new", "newer"]);
    let one = &second.incoming[0];
    assert_eq!((one.message_id.as_str(), one.chat.as_str(), one.is_group), ("$2", ROOM, false));
    assert_eq!((one.sender.as_str(), one.sent_at), ("@kim:example.org", 1_700_000_000_002));
    let third = it.poll(&second.cursor, LONG).unwrap();
    assert_eq!(it.poll(&third.cursor, LONG).unwrap().cursor, third.cursor);
    assert_eq!(double.last("/sync").headers["authorization"], "Bearer syt_SECRET");
    assert!(double.last("/sync").path.contains("timeout=8000"));
}

#[test]
fn more_messages_than_a_poll_gives_come_in_several_each_once() {
    let double = homeserver(|asked, since| {
        asked.path.contains("/sync").then(|| {
            let rooms: serde_json::Map<String, Value> = (0..5)
                .map(|room| {
                    let events: Vec<Value> =
                        (0..50).map(|n| event(room * 50 + n, &format!("{room}.{n}"))).collect();
                    (format!("!r{room}:x"), json!({ "timeline": { "events": events } }))
                })
                .collect();
            let rooms = if since == "s1" { rooms } else { serde_json::Map::new() };
            json(&json!({ "next_batch": "s2", "rooms": { "join": rooms } }))
        })
    });
    let mut it = matrix(&double);
    let (mut cursor, mut ids) = ("{\"since\":\"s1\",\"at\":1}".to_owned(), Vec::new());
    for expected in [100, 100, 50, 0] {
        let polled = it.poll(&cursor, LONG).unwrap();
        assert_eq!(polled.incoming.len(), expected);
        ids.extend(polled.incoming.into_iter().map(|message| message.message_id));
        cursor = polled.cursor;
    }
    let given = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((given, ids.len()), (250, 250));
}

#[test]
fn what_a_sync_leaves_out_is_asked_for() {
    let double = homeserver(|asked, _| {
        if asked.path.contains("/sync") {
            let events = json!([event(6, "six")]);
            return Some(sync("s2", &json!({ "limited": true, "prev_batch": "p3", "events": events })));
        }
        asked.path.contains("/messages").then(|| match asked.path.contains("from=p3") {
            true => json(&json!({ "chunk": [event(5, "five"), event(4, "four")], "end": "p2" })),
            false => {
                json(&json!({ "chunk": [event(3, "three"), joined(ME), event(1, "before")], "end": "p1" }))
            }
        })
    });
    let polled = matrix(&double).poll("{\"since\":\"s1\",\"at\":1}", LONG).unwrap();
    assert_eq!(texts(&polled.incoming), ["three", "four", "five", "six"]);
    assert!(double.last("/messages").path.contains("to=s1") && double.count("/messages") == 2);
}

#[test]
fn nothing_from_before_the_account_came_is_read() {
    let double = homeserver(|asked, _| {
        let events = json!([event(1, "before"), joined(ME), event(2, "after"), joined("@lee:example.org")]);
        asked.path.contains("/sync").then(|| sync("s2", &json!({ "events": events })))
    });
    let polled = matrix(&double).poll("{\"since\":\"s1\",\"at\":1}", LONG).unwrap();
    assert_eq!(texts(&polled.incoming), ["after"]);
}

#[test]
fn a_cursor_that_the_homeserver_forgot_is_replaced_by_a_time() {
    let double = homeserver(|asked, since| {
        asked.path.contains("/sync").then(|| match since {
            "" => sync("s9", &json!({ "events": [event(1, "known"), event(500, "missed")] })),
            _ => said(400, &json!({ "errcode": "M_INVALID_PARAM", "error": "unknown token" }).to_string()),
        })
    });
    let mut it = matrix(&double);
    let polled = it.poll("{\"since\":\"gone\",\"at\":1700000000100}", LONG).unwrap();
    assert_eq!(texts(&polled.incoming), ["missed"]);
    assert!(polled.cursor.contains("s9"));
    assert!(it.notes()[0].contains("forgotten") && it.notes().is_empty());
    assert!(matches!(it.poll("12@34", LONG), Err(Fault::Refused { .. })));
}

#[test]
fn a_group_is_told_from_two_and_own_changed_or_encrypted_words_are_no_messages() {
    let mut edit = event(2, "* x");
    edit["content"]["m.relates_to"] = json!({ "rel_type": "m.replace", "event_id": "$1" });
    let mut own = event(3, "mine");
    own["sender"] = json!(ME);
    let mut notice = event(4, "beep");
    notice["content"]["msgtype"] = json!("m.notice");
    let mut file = event(6, "a.pdf");
    file["content"] = json!({ "msgtype": "m.file", "body": "see", "filename": "../a\u{202E}.pdf", "url": "mxc://x/y",
        "info": { "mimetype": "application/pdf", "size": 9 } });
    let mut answer = event(7, "> <@h:x> what?\n\nyes\u{202E}");
    answer["content"]["m.relates_to"] = json!({ "m.in_reply_to": { "event_id": "$0" } });
    let encrypted = json!({ "type": "m.room.encrypted", "event_id": "$5", "sender": "@kim:example.org",
        "content": { "ciphertext": "x" } });
    let events =
        json!([edit, own, notice, encrypted, 17, { "type": "m.room.message" }, file, answer, encrypted]);
    let double = homeserver(move |asked, _| {
        if asked.path.contains("joined_members") {
            return Some(json(
                &json!({ "joined": { ME: {}, "@kim:example.org": {}, "@lee:example.org": {} } }),
            ));
        }
        asked.path.contains("/sync").then(|| sync("s2", &json!({ "events": events })))
    });
    let mut it = matrix(&double);
    let polled = it.poll("{\"since\":\"s1\",\"at\":1}", LONG).unwrap();
    assert_eq!(texts(&polled.incoming), ["see", "yes"]);
    assert!(polled.incoming[0].is_group);
    let file = &polled.incoming[0].attachments[0];
    assert_eq!((file.name.as_str(), file.bytes, file.handle.as_str()), ("a.pdf", 9, "mxc://x/y"));
    assert_eq!(polled.incoming[1].reply_to.as_deref(), Some("$0"));
    assert_eq!(it.notes().len(), 1);
    it.poll("{\"since\":\"s1\",\"at\":1}", LONG).unwrap();
    assert_eq!(it.notes().len(), 0);
}

#[test]
fn only_those_who_may_invite_are_followed() {
    let invite = |from: &str| {
        json!({ "invite_state": { "events": [
            { "type": "m.room.member", "state_key": ME, "sender": from, "content": { "membership": "invite" } },
        ] } })
    };
    let rooms = json!({ "!a:x": invite("@kim:example.org"), "!b:x": invite("@mallory:example.org") });
    let double = homeserver(move |asked, _| {
        if asked.path.contains("/join/") {
            // A room whose server is gone keeps nothing else from being read.
            return Some(said(502, "gone"));
        }
        let rooms = json!({ "next_batch": "s1", "rooms": { "invite": rooms } });
        asked.path.contains("/sync").then(|| json(&rooms))
    });
    matrix(&double).poll("", LONG).unwrap();
    assert_eq!((double.count("/join/"), double.count("/join/%21a%3Ax")), (1, 1));
}

#[test]
fn a_repeat_has_the_same_transaction_and_an_edit_replaces() {
    let double =
        homeserver(|asked, _| asked.path.contains("/send/").then(|| json(&json!({ "event_id": "$sent" }))));
    let mut it = matrix(&double);
    let out = Outgoing { reply_to: Some("$1".to_owned()), ..words(ROOM, "**hi** <script>") };
    assert_eq!((it.send(&out).unwrap(), it.send(&out).unwrap()), ("$sent".to_owned(), "$sent".to_owned()));
    let sends = || -> Vec<Asked> {
        double.asked().into_iter().filter(|asked| asked.path.contains("/send/")).collect()
    };
    let asked = sends();
    assert_eq!((&asked[0].path, &asked[0].method), (&asked[1].path, &"PUT".to_owned()));
    assert!(
        asked[0]
            .path
            .starts_with("/_matrix/client/v3/rooms/%21room%3Aexample%2Eorg/send/m.room.message/hermit")
    );
    let content = asked[0].json();
    assert_eq!(content["formatted_body"], "<p><strong>hi</strong> &lt;script&gt;</p>");
    assert_eq!(content["m.relates_to"]["m.in_reply_to"]["event_id"], "$1");
    assert_eq!(content["m.mentions"], json!({}));
    it.send(&Outgoing { edit_of: Some("$sent".to_owned()), ..words(ROOM, "more") }).unwrap();
    let edited = sends().pop().unwrap();
    let content = edited.json();
    assert_ne!(edited.path, asked[0].path);
    assert_eq!(content["m.relates_to"], json!({ "rel_type": "m.replace", "event_id": "$sent" }));
    assert_eq!(content["m.new_content"]["body"], "more");
}

#[test]
fn nothing_is_sent_into_a_room_that_others_came_into_or_that_nobody_can_tell_of() {
    let members = Arc::new(AtomicUsize::new(2));
    let inside = Arc::clone(&members);
    let double = homeserver(move |asked, _| {
        if asked.path.contains("joined_members") {
            return match inside.load(Ordering::SeqCst) {
                0 => Some(said(502, "gone")),
                1 => {
                    Some(said(403, &json!({ "errcode": "M_FORBIDDEN", "error": "not in room" }).to_string()))
                }
                many => {
                    let all: serde_json::Map<String, Value> =
                        (0..many).map(|n| (format!("@{n}:example.org"), json!({}))).collect();
                    Some(json(&json!({ "joined": all })))
                }
            };
        }
        asked.path.contains("/send/").then(|| json(&json!({ "event_id": "$sent" })))
    });
    let mut it = matrix(&double);
    assert_eq!(it.send(&words(ROOM, "hello")).unwrap(), "$sent");
    members.store(3, Ordering::SeqCst);
    let changed = Outgoing { edit_of: Some("$sent".to_owned()), ..words(ROOM, "done") };
    for out in [&words(ROOM, "secret"), &changed] {
        let Err(Fault::Refused { why }) = it.send(out) else { panic!("it was sent") };
        assert!(why.contains("others are in that room"), "{why}");
    }
    members.store(1, Ordering::SeqCst);
    assert!(matches!(it.send(&words(ROOM, "x")), Err(Fault::Refused { .. })));
    members.store(0, Ordering::SeqCst);
    assert!(matches!(it.send(&words(ROOM, "x")), Err(Fault::Away { .. })), "it is tried again");
    assert_eq!(double.count("/send/"), 1);
    members.store(2, Ordering::SeqCst);
    assert!(it.send(&words(ROOM, "x")).is_ok(), "they left again");
}

#[test]
fn a_file_is_uploaded_and_one_that_came_is_fetched_with_the_token() {
    let double = homeserver(|asked, _| match asked.path.as_str() {
        path if path.contains("/upload") => Some(json(&json!({ "content_uri": "mxc://example.org/up" }))),
        path if path.contains("/send/") => Some(json(&json!({ "event_id": "$f" }))),
        path if path.contains("/download/") => Some(said(200, "contents")),
        _ => None,
    });
    let mut it = matrix(&double);
    let file =
        OutFile { name: "r.txt".to_owned(), media_type: "text/plain".to_owned(), bytes: b"abc".to_vec() };
    it.send(&Outgoing { file: Some(file), ..words(ROOM, "") }).unwrap();
    assert_eq!(double.last("/upload").text(), "abc");
    let content = double.last("/send/").json();
    assert_eq!((&content["msgtype"], &content["url"]), (&json!("m.file"), &json!("mxc://example.org/up")));
    assert_eq!((&content["body"], content.get("format")), (&json!("r.txt"), None));
    let handle = "mxc://other.org/a/../b".to_owned();
    let at = Attachment { name: String::new(), media_type: String::new(), bytes: 0, handle };
    assert_eq!(it.fetch(&at, 100).unwrap(), b"contents");
    let asked = double.last("/download/");
    assert_eq!(asked.path, "/_matrix/client/v1/media/download/other%2Eorg/a%2F%2E%2E%2Fb");
    assert_eq!(asked.headers["authorization"], "Bearer syt_SECRET");
    assert!(it.fetch(&at, 3).is_err());
}
