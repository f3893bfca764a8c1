//! Calls of hooks: what is signed is taken once, by nobody who shows a token; the rest is refused in the same words.

use crate::elsewhere::{NAME, reached};
use crate::{Got, Open, open};
use api::Host as _;
use seal::webhook::sign;
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::TcpStream;

/// The bytes 0 to 31.
pub const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A schedule that waits for the hook `deploy`, which a person kept.
pub fn with_a_hook(seed: u64) -> Open {
    waiting(open(seed))
}

fn waiting(open: Open) -> Open {
    let world = &open.home.world;
    let asked = open.home.must(
        "schedules.keep",
        json!({
            "name": "roll-out", "said": "when the hook deploy is called", "workspace": world.folder.path().canonicalize().unwrap(),
            "reasoner": { "kind": "playbook", "name": "tidy", "parameters": {} },
        }),
    );
    let task = asked["task_id"].as_str().unwrap().parse().unwrap();
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    world.drive(task);
    open
}

impl Open {
    /// Seconds from now.
    fn at(&self, seconds: i64) -> String {
        (self.home.now().0 / 1000 + seconds).to_string()
    }

    /// A call in the form of Standard Webhooks.
    fn call(&self, name: &str, (id, at, body): (&str, &str, &[u8]), signature: &str) -> Got {
        let headers = [("webhook-id", id), ("webhook-timestamp", at), ("webhook-signature", signature)];
        self.ask("POST", &format!("/v1/hooks/{name}"), &headers, body)
    }

    fn signed(&self, name: &str, id: &str, body: &[u8]) -> Got {
        let at = self.at(0);
        self.call(name, (id, &at, body), &sign(SECRET.as_bytes(), id, &at, body))
    }

    /// A call in the form of GitHub.
    fn of_github(&self, id: &str, signature: &str, body: &[u8]) -> Got {
        let headers =
            [("x-github-delivery", id), ("x-hub-signature-256", signature), ("x-github-event", "push")];
        self.ask("POST", "/v1/hooks/deploy", &headers, body)
    }

    fn hook(&self) -> Value {
        self.home.must("schedules.show", json!({ "name": "roll-out" }))["hook"].clone()
    }
}

#[test]
fn a_signed_call_is_taken_once_without_a_token_and_gives_none() {
    let open = with_a_hook(320);
    assert_eq!(
        (&open.hook()["path"], &open.hook()["secret"]),
        (&json!("/v1/hooks/deploy"), &json!("hook.deploy"))
    );
    let first = open.signed("deploy", "msg_1", b"{\"what\":1}");
    assert_eq!((first.status, first.json()), (202, json!({ "duplicate": false })));
    assert!(first.header("set-cookie").is_none() && first.header("x-hermit-session").is_none());
    for _ in 0..2 {
        let again = open.signed("deploy", "msg_1", b"{\"what\":2}");
        assert_eq!((again.status, again.json()), (200, json!({ "duplicate": true })));
    }
    // With Python: hmac.new(SECRET, b'{"ref":"main"}', sha256).
    let signature = "sha256=c6a1e6d6212424b3a237cf6837be166ed1be4e6b66115592c97750ad80f7ff4e";
    let body = b"{\"ref\":\"main\"}";
    assert_eq!(open.of_github("1", signature, body).status, 202);
    assert_eq!(
        open.of_github("2", signature, body).json(),
        json!({ "duplicate": true }),
        "only the body is signed"
    );
    assert_eq!((&open.hook()["called"], &open.hook()["waiting"]), (&json!(2), &json!(2)));
    let kernel = open.home.world.kernel();
    kernel.look_due().unwrap();
    let [run] = kernel.fire_due().unwrap()[..] else { panic!("one task") };
    assert_eq!((&open.hook()["called"], &open.hook()["waiting"]), (&json!(2), &json!(0)));
    let month = open.home.must("schedules.calendar", json!({ "name": "roll-out", "zone": "UTC" }));
    assert_eq!(month["entries"][0]["because"], "the hook deploy was called 2 times", "{run}: {month}");
}

#[test]
fn what_is_refused_is_refused_in_the_same_words_whatever_is_wrong_and_on_record_where_somebody_waits() {
    let open = with_a_hook(321);
    let (now, body) = (open.at(0), b"{}".as_slice());
    let right = sign(SECRET.as_bytes(), "msg_1", &now, body);
    let other = sign(b"whsec_AAAA", "msg_1", &now, body);
    let late = |seconds: i64| {
        let at = open.at(seconds);
        open.call("deploy", ("msg_1", &at, body), &sign(SECRET.as_bytes(), "msg_1", &at, body))
    };
    let bearer = open.bearer();
    let refused = [
        open.call("nobody", ("msg_1", &now, body), &right),
        // It has a secret, and nobody waits for it.
        open.call("unheard", ("msg_1", &now, body), &right),
        open.call("De%2Fploy", ("msg_1", &now, body), &right),
        open.call("deploy", ("msg_1", &now, body), &other),
        open.call("deploy", ("msg_1", &now, b"{ }"), &right),
        open.call("deploy", ("msg_2", &now, body), &right),
        open.call("deploy", ("a.b", &now, body), &sign(SECRET.as_bytes(), "a.b", &now, body)),
        open.call("deploy", ("msg_1", "soon", body), &sign(SECRET.as_bytes(), "msg_1", "soon", body)),
        open.of_github("1", "sha256=00", body),
        open.ask("POST", "/v1/hooks/deploy", &[], body),
        open.ask("POST", "/v1/hooks/deploy", &[("authorization", &bearer)], body),
        late(-302),
        late(302),
    ];
    for (at, got) in refused.iter().enumerate() {
        assert_eq!((got.status, &got.body), (403, &refused[0].body), "{at}: {}", got.json());
    }
    assert_eq!(refused[0].json()["code"], "forbidden");
    let hook = open.hook();
    assert_eq!(
        (&hook["called"], &hook["refused"], &hook["last_refused"]),
        (&json!(0), &json!(1), &json!("signature"))
    );
    assert_eq!((late(-290).status, open.signed("deploy", "msg_3", body).status), (202, 202));
    // The path opens nothing beside it, and no page of another origin calls it.
    assert_eq!(open.ask("GET", "/v1/hooks/deploy", &[], &[]).status, 405);
    assert_eq!(open.ask("POST", "/v1/runs", &[], body).status, 401);
    let at = open.at(0);
    let signature = sign(SECRET.as_bytes(), "msg_9", &at, body);
    for foreign in
        [("host", "hooks.example.org"), ("origin", "http://example.org"), ("sec-fetch-site", "cross-site")]
    {
        let headers = [
            ("webhook-id", "msg_9"),
            ("webhook-timestamp", &*at),
            ("webhook-signature", &*signature),
            foreign,
        ];
        assert_eq!(open.ask("POST", "/v1/hooks/deploy", &headers, body).status, 403, "{foreign:?}");
    }
    assert_eq!(open.hook()["called"], 2);
}

#[test]
fn a_call_is_as_long_as_it_may_be_and_of_more_than_some_that_are_refused_nothing_is_told() {
    let open = with_a_hook(322);
    let longest = vec![b'x'; 64 * 1024];
    assert_eq!(open.signed("deploy", "msg_1", &longest).status, 202);
    let longer = vec![b'x'; 64 * 1024 + 1];
    assert_eq!(open.signed("deploy", "msg_2", &longer).status, 413);
    assert_eq!(open.signed("nobody", "msg_2", &longer).status, 413);
    assert_eq!(open.hook()["last_refused"], "too_large");
    let statuses: Vec<u16> =
        (0..640).map(|_| open.ask("POST", "/v1/hooks/nobody", &[], b"x").status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 403).count(), 598, "two came before");
    assert_eq!((statuses[0], statuses[639]), (403, 429));
    assert_eq!(open.ask("POST", "/v1/hooks/deploy", &[], b"x").status, 429, "whether it is there or not");
    assert_eq!(open.signed("deploy", "msg_3", &longer).status, 429);
    assert_eq!(open.signed("deploy", "msg_3", b"{}").status, 202, "what is signed comes through");
    open.home.world.clock.advance(60_000);
    assert_eq!(open.ask("POST", "/v1/hooks/nobody", &[], b"x").status, 403);
}

#[test]
fn a_thousand_calls_that_nobody_signed_and_bodies_that_do_not_come_hold_up_none_that_is_signed() {
    let open = with_a_hook(324);
    let address = open.server.address();
    let slow: Vec<TcpStream> = (0..70)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            let head =
                format!("POST /v1/hooks/deploy HTTP/1.1\r\nhost: {address}\r\ncontent-length: 9\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let (mut refused, body) = (0, b"{}".as_slice());
    for n in 0..1_000 {
        let (id, at) = (format!("bad_{n}"), open.at(0));
        let got = match n % 3 {
            0 => open.ask("POST", "/v1/hooks/nobody", &[], body),
            1 => open.ask("POST", "/v1/hooks/deploy", &[], body),
            _ => open.call("deploy", (&id, &at, body), &sign(b"whsec_AAAA", &id, &at, body)),
        };
        refused += u32::from(matches!(got.status, 403 | 429));
        if n % 250 == 249 {
            assert_eq!(open.signed("deploy", &format!("good_{n}"), body).status, 202, "after {n}");
        }
    }
    assert_eq!(refused, 1_000);
    assert_eq!(open.hook()["called"], 4);
    drop(slow);
}

#[test]
fn no_hook_is_called_by_the_name_for_other_devices() {
    let open = waiting(reached(323));
    let (at, body) = (open.at(0), b"{}".as_slice());
    let signature = sign(SECRET.as_bytes(), "msg_1", &at, body);
    let headers = [
        ("host", NAME),
        ("webhook-id", "msg_1"),
        ("webhook-timestamp", &*at),
        ("webhook-signature", &*signature),
    ];
    let got = open.ask("POST", "/v1/hooks/deploy", &headers, body);
    assert_eq!((got.status, open.hook()["called"].clone()), (403, json!(0)), "{}", got.json());
    assert_eq!(open.signed("deploy", "msg_1", body).status, 202);
}
