//! Telegram: what its Bot API says and takes.

use crate::doubles::{Asked, Double, LONG, Said, adapter, json, said, words};
use chat::{Adapter, Attachment, Button, Fault, OutFile, Outgoing, Service};
use serde_json::{Value, json};

const TOKEN: &str = "123456:SECRETtoken";

fn telegram(double: &Double) -> Box<dyn Adapter> {
    adapter(Service::Telegram, &double.url(), TOKEN, &[])
}

fn ok(result: &Value) -> Said {
    json(&json!({ "ok": true, "result": result }))
}

fn message(update: i64, text: &str) -> Value {
    json!({ "update_id": update, "message": {
        "message_id": update + 1000, "date": 1_700_000_000 + update, "text": text,
        "chat": { "id": 77, "type": "private" },
        "from": { "id": 77, "is_bot": false, "first_name": "Kim", "last_name": "Lee", "username": "kim" },
    } })
}

/// A bot with these updates, of which it gives all that were not confirmed, in this order, however many are asked for.
fn with_updates(updates: Vec<Value>) -> Double {
    Double::new(move |asked: &Asked| {
        if !asked.path.ends_with("/getUpdates") {
            return ok(&json!(true));
        }
        let body = asked.json();
        let offset = body["offset"].as_i64().unwrap_or(i64::MIN);
        let left: Vec<&Value> =
            updates.iter().filter(|u| u["update_id"].as_i64().is_none_or(|id| id >= offset)).collect();
        ok(&json!(left))
    })
}

#[test]
fn messages_come_in_order_and_the_cursor_confirms_them() {
    let double = with_updates((0..250).rev().map(|n| message(n, &format!("m{n}"))).collect());
    let mut it = telegram(&double);
    let (mut cursor, mut texts) = (String::new(), Vec::new());
    for expected in [100, 100, 50, 0] {
        let polled = it.poll(&cursor, LONG).unwrap();
        assert_eq!(polled.incoming.len(), expected);
        texts.extend(polled.incoming.into_iter().map(|message| message.text));
        cursor = polled.cursor;
    }
    let asked = double.asked();
    assert_eq!(asked[0].path, format!("/bot{TOKEN}/getUpdates"));
    assert_eq!((&asked[0].json()["timeout"], &asked[0].json()["limit"]), (&json!(8), &json!(100)));
    assert_eq!(asked[0].json().get("offset"), None);
    assert_eq!(asked[1].json()["offset"], 100);
    let all: Vec<String> = (0..250).map(|n| format!("m{n}")).collect();
    assert_eq!(texts, all);
}

#[test]
fn what_was_not_confirmed_comes_again_the_same() {
    let double = with_updates(vec![message(5, "hello")]);
    let mut it = telegram(&double);
    let first = it.poll("", LONG).unwrap();
    assert_eq!(telegram(&double).poll("", LONG).unwrap().incoming, first.incoming);
    let one = &first.incoming[0];
    assert_eq!((one.message_id.as_str(), one.chat.as_str(), one.sender.as_str()), ("1005", "77", "77"));
    assert_eq!((one.sender_name.as_str(), one.is_group, one.sent_at), ("Kim Lee", false, 1_700_000_005_000));
    let after = it.poll(&first.cursor, LONG).unwrap();
    assert_eq!((after.incoming.len(), after.cursor), (0, first.cursor));
}

#[test]
fn an_old_cursor_asks_for_no_number() {
    let double = with_updates(vec![message(5, "hello")]);
    let polled = telegram(&double).poll("900@1", LONG).unwrap();
    assert_eq!((polled.incoming.len(), double.asked()[0].json().get("offset")), (1, None));
    assert!(matches!(telegram(&double).poll("s72595_4483", LONG), Err(Fault::Refused { .. })));
}

#[test]
fn a_press_of_a_button_is_a_message_and_is_heard() {
    let press = json!({ "update_id": 9, "callback_query": {
        "id": "4382bfdwdsb323b2d9", "data": "stop:1",
        "from": { "id": 5, "first_name": "Lee" },
        "message": { "message_id": 31, "date": 0, "chat": { "id": -100, "type": "supergroup" } },
    } });
    let double = with_updates(vec![press]);
    let mut it = telegram(&double);
    let polled = it.poll("", LONG).unwrap();
    let one = &polled.incoming[0];
    assert_eq!((one.button.as_deref(), one.reply_to.as_deref()), (Some("stop:1"), Some("31")));
    assert_eq!((one.chat.as_str(), one.sender.as_str(), one.is_group), ("-100", "5", true));
    it.poll(&polled.cursor, LONG).unwrap();
    assert_eq!(double.last("answerCallbackQuery").json()["callback_query_id"], "4382bfdwdsb323b2d9");
}

#[test]
fn what_a_stranger_sends_is_cleaned_and_what_is_no_message_is_passed_over() {
    let mut hostile = message(3, "a\u{202E}b\u{0}c");
    hostile["message"]["from"]["first_name"] = json!(format!("Kim\u{2067}\n{}", "x".repeat(9000)));
    hostile["message"]["document"] = json!({ "file_id": "AbC-1", "file_name": "../../x\u{0}.sh", "mime_type": "text/x-sh\r\nA: b", "file_size": 12 });
    let mut bot = message(4, "I am a bot");
    bot["message"]["from"]["is_bot"] = json!(true);
    let mut long = message(7, "");
    long["message"]["text"] = json!("y".repeat(1_000_000));
    let updates = vec![
        json!(17),
        json!({ "update_id": "x" }),
        json!({ "update_id": 1, "message": { "message_id": "nine" } }),
        json!({ "update_id": 2, "edited_message": {} }),
        hostile,
        bot,
        json!({ "update_id": 5, "message": null }),
        long,
    ];
    let double = with_updates(updates);
    let polled = telegram(&double).poll("", LONG).unwrap();
    assert!(polled.cursor.starts_with("8@"));
    assert_eq!(polled.incoming.len(), 2);
    let one = &polled.incoming[0];
    assert_eq!(one.text, "abc");
    assert!(one.sender_name.starts_with("Kim xxx") && one.sender_name.chars().count() <= 128);
    let file = &one.attachments[0];
    assert_eq!((file.name.as_str(), file.media_type.as_str()), ("x.sh", "application/octet-stream"));
    assert!(polled.incoming[1].text.len() < 70_000);
}

#[test]
fn a_message_is_sent_with_marks_buttons_and_what_it_answers() {
    let double = Double::new(|_| ok(&json!({ "message_id": 501 })));
    let out = Outgoing {
        reply_to: Some("12".to_owned()),
        buttons: vec![Button { label: "Stop".to_owned(), data: "stop:1".to_owned() }],
        ..words("-100", "**done** <b>")
    };
    assert_eq!(telegram(&double).send(&out).unwrap(), "501");
    let asked = double.last("sendMessage").json();
    assert_eq!((&asked["chat_id"], &asked["text"]), (&json!(-100), &json!("<b>done</b> &lt;b&gt;")));
    assert_eq!(
        (&asked["parse_mode"], &asked["reply_parameters"]["message_id"]),
        (&json!("HTML"), &json!(12))
    );
    assert_eq!(
        asked["reply_markup"]["inline_keyboard"][0][0],
        json!({ "text": "Stop", "callback_data": "stop:1" })
    );
    let long = Outgoing { buttons: vec![Button { label: "x".to_owned(), data: "d".repeat(65) }], ..out };
    assert!(matches!(telegram(&double).send(&long), Err(Fault::Refused { .. })));
    assert_eq!(double.count("sendMessage"), 1);
}

#[test]
fn an_edit_that_changes_nothing_is_done_and_marks_that_are_refused_go() {
    let double = Double::new(|asked| {
        let why = match asked.json()["parse_mode"].as_str() {
            Some(_) if asked.path.contains("edit") => {
                "Bad Request: message is not modified: exactly the same"
            }
            Some(_) => "Bad Request: can't parse entities: x",
            None => return ok(&json!({ "message_id": 7 })),
        };
        said(400, &json!({ "ok": false, "error_code": 400, "description": why }).to_string())
    });
    let mut it = telegram(&double);
    assert_eq!(it.send(&Outgoing { edit_of: Some("44".to_owned()), ..words("1", "same") }).unwrap(), "44");
    assert_eq!(double.last("editMessageText").json()["message_id"], 44);
    assert_eq!(it.send(&words("1", "**x**")).unwrap(), "7");
    assert_eq!(double.last("sendMessage").json()["text"], "**x**");
}

#[test]
fn a_file_goes_as_a_form_and_comes_by_its_path() {
    let double = Double::new(|asked| match asked.path.as_str() {
        path if path.ends_with("/getFile") && asked.json()["file_id"] == "evil" => {
            ok(&json!({ "file_path": "../../etc/passwd" }))
        }
        path if path.ends_with("/getFile") => ok(&json!({ "file_path": "documents/file_1.txt" })),
        path if path.contains("/file/") => said(200, "contents"),
        _ => ok(&json!({ "message_id": 8 })),
    });
    let mut it = telegram(&double);
    let file = OutFile {
        name: "a\"\r\nb.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: b"12\r\n--34".to_vec(),
    };
    assert_eq!(it.send(&Outgoing { file: Some(file), ..words("1", "see") }).unwrap(), "8");
    let asked = double.last("sendDocument");
    let kind = asked.headers["content-type"].clone();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    assert!(asked.text().ends_with(&format!("\r\n\r\n12\r\n--34\r\n--{boundary}--\r\n")), "{}", asked.text());
    assert!(asked.text().contains("name=\"document\"; filename=\"a_  b.txt\"\r\n"), "{}", asked.text());
    let mut at =
        Attachment { name: String::new(), media_type: String::new(), bytes: 8, handle: "AbC".to_owned() };
    assert_eq!(it.fetch(&at, 100).unwrap(), b"contents");
    assert_eq!(double.last("/file/").path, format!("/file/bot{TOKEN}/documents/file_1.txt"));
    assert!(matches!(it.fetch(&at, 7), Err(Fault::Refused { .. })));
    at.handle = "evil".to_owned();
    assert!(it.fetch(&at, 100).is_err());
    assert_eq!(double.count("passwd"), 0);
}

#[test]
fn a_bot_that_was_blocked_or_is_read_by_another_is_told_apart() {
    let double = Double::new(|asked| {
        let status = if asked.path.ends_with("getUpdates") { 409 } else { 403 };
        said(
            status,
            &json!({ "ok": false, "description": "Forbidden: bot was blocked by the user" }).to_string(),
        )
    });
    let mut it = telegram(&double);
    assert!(matches!(it.poll("", LONG), Err(Fault::Away { .. })));
    assert!(matches!(it.send(&words("1", "x")), Err(Fault::Refused { .. })));
    assert!(matches!(it.send(&words("@channel", "x")), Err(Fault::Refused { .. })));
}
