//! A webhook: what is posted is signed, and what comes is believed only where it is.

use crate::doubles::{Double, SHORT, adapter, said, words};
use chat::{Adapter, Fault, Incoming, Outgoing, Service, SignedCall, Unsaid};
use serde_json::json;
use std::net::TcpListener;

/// The bytes 0 to 31.
const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NOW: i64 = 1_700_000_000_000;

fn webhook(address: &str) -> Box<dyn Adapter> {
    adapter(Service::Webhook, address, SECRET, &[])
}

/// What a call says that is signed at a time, in seconds.
fn call(id: &str, at: &str, body: &str, signed_with: &str) -> Result<Incoming, Unsaid> {
    let signatures = seal::webhook::sign(signed_with.as_bytes(), id, at, body.as_bytes());
    let call = SignedCall { id, timestamp: at, signatures: &signatures, body: body.as_bytes() };
    chat::said(Some(SECRET.as_bytes()), &call, NOW)
}

/// Whether a failure is the one that was to come.
type Is = fn(&Fault) -> bool;

#[test]
fn a_message_is_posted_signed_under_its_key_and_an_answer_says_what_became_of_it() {
    let double = Double::new(|_| said(204, ""));
    let mut it = webhook(&format!("{}/hermit", double.url()));
    let out = Outgoing { reply_to: Some("m1".to_owned()), ..words("kim", "Done.") };
    let out = Outgoing { repeat_key: "hermit-7".to_owned(), ..out };
    assert_eq!(it.send(&out).unwrap(), "hermit-7");
    let asked = double.last("/hermit");
    let head = |name: &str| asked.headers[name].as_str();
    assert_eq!((asked.method.as_str(), head("webhook-id")), ("POST", "hermit-7"));
    let signed = (head("webhook-id"), head("webhook-timestamp"));
    assert!(seal::webhook::is_signed(SECRET.as_bytes(), signed, &asked.body, head("webhook-signature")));
    let told =
        json!({ "type": "message", "id": "hermit-7", "chat": "kim", "text": "Done.", "reply_to": "m1" });
    assert_eq!(asked.json(), told);
    assert_eq!(it.hosts(), [("127.0.0.1".to_owned(), double.port)]);
    assert!(!it.limits().is_repeat_safe);
    let cases: [(u16, Is); 6] = [
        (400, |fault| matches!(fault, Fault::Refused { .. })),
        (401, |fault| matches!(fault, Fault::Token { .. })),
        (302, |fault| matches!(fault, Fault::Refused { .. })),
        (429, |fault| matches!(fault, Fault::Away { .. })),
        (500, |fault| matches!(fault, Fault::Unknown { .. })),
        (0, |fault| matches!(fault, Fault::Unknown { .. })),
    ];
    for (status, is_fault) in cases {
        let double = Double::new(move |_| said(status, &format!("no: {SECRET}")));
        let fault = webhook(&double.url()).send(&out).unwrap_err();
        assert!(is_fault(&fault) && !format!("{fault:?}").contains("whsec_"), "{status}: {fault:?}");
    }
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(matches!(webhook(&format!("http://{gone}")).send(&out), Err(Fault::Away { .. })));
    let polled = it.poll("", SHORT).unwrap();
    assert_eq!((polled.incoming.len(), polled.cursor.as_str()), (0, ""), "it calls by itself");
}

#[test]
fn a_signed_call_is_a_message_and_nothing_else_is() {
    let body = json!({ "sender": "kim", "name": "Kim\u{202E}", "text": "hello\r\nyou\u{0}", "reply_to": "hermit-7" });
    let one = call("msg_1", "1700000000", &body.to_string(), SECRET).unwrap();
    assert_eq!((one.message_id.as_str(), one.sender.as_str(), one.chat.as_str()), ("msg_1", "kim", "kim"));
    assert_eq!((one.sender_name.as_str(), one.text.as_str(), one.is_group), ("Kim", "hello\nyou", false));
    assert_eq!((one.sent_at, one.reply_to.as_deref()), (NOW, Some("hermit-7")));
    let group = json!({ "sender": "kim", "chat": "team", "is_group": true, "text": "x" }).to_string();
    let group = call("msg_2", "1700000299", &group, SECRET).unwrap();
    assert_eq!((group.chat.as_str(), group.is_group), ("team", true));
    let body = body.to_string();
    for (id, at, with) in [
        ("msg_1", "1700000000", "whsec_AAAA"),
        ("msg_1", "1700000301", SECRET),
        ("msg_1", "1699999699", SECRET),
        ("msg_1", "+1700000000", SECRET),
        ("msg_1", "soon", SECRET),
        ("a.b", "1700000000", SECRET),
        ("a b", "1700000000", SECRET),
        ("", "1700000000", SECRET),
    ] {
        assert_eq!(call(id, at, &body, with), Err(Unsaid::Unsigned), "{id} {at}");
    }
    // Without a secret nothing is signed, be it with the one that time is taken with.
    let signatures = seal::webhook::sign(
        b"whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "msg_1",
        "1700000000",
        body.as_bytes(),
    );
    let signed =
        SignedCall { id: "msg_1", timestamp: "1700000000", signatures: &signatures, body: body.as_bytes() };
    assert_eq!(chat::said(None, &signed, NOW), Err(Unsaid::Unsigned));
    for body in [
        "",
        "[]",
        "{\"sender\":\"kim\"}",
        "{\"sender\":\"\",\"text\":\"x\"}",
        "{\"sender\":\"k m\",\"text\":\"x\"}",
        "{\"sender\":\"kim\",\"text\":\" \"}",
        "{\"sender\":\"kim\",\"text\":\"x\",\"approve\":true}",
        "{\"sender\":\"kim\",\"text\":\"x\",\"chat\":\"\"}",
    ] {
        assert!(matches!(call("msg_1", "1700000000", body, SECRET), Err(Unsaid::Unreadable(_))), "{body}");
    }
}

#[test]
fn a_webhook_has_an_address_with_tls_and_a_secret_that_nobody_guesses() {
    let open = |address: &str, token: &str| {
        let account = chat::Account {
            service: Service::Webhook,
            address: address.to_owned(),
            user: String::new(),
            settings: Default::default(),
        };
        chat::open(&account, zeroize::Zeroizing::new(token.to_owned())).map(|_| ())
    };
    assert_eq!(open("https://chat.example/hermit", SECRET), Ok(()));
    for (address, token) in [
        ("", SECRET),
        ("http://chat.example/hermit", SECRET),
        ("https://kim:pw@chat.example", SECRET),
        ("https://chat.example/hermit", "whsec_AAAA"),
        ("https://chat.example/hermit", "not a secret of this form"),
    ] {
        let why = open(address, token).unwrap_err();
        assert!(!why.contains(SECRET) && !why.contains("pw"), "{address}: {why}");
    }
}
