//! Passkeys over the gateway, with an authenticator in software: added at a name with the passphrase, and a yes by one.

use crate::browsers::SESSION;
use crate::elsewhere::{AT, post, reached, session_at};
use crate::home::{Home, PASSPHRASE};
use crate::person::{Page, status};
use crate::{Open, elsewhere, open, open_on};
use seal::webauthn::{base64url, base64url_decode};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use testkit::Authenticator;

/// A phone that a person opened, and its authenticator.
struct Phone {
    open: Open,
    session: String,
    one: Authenticator,
}

impl Phone {
    fn new(seed: u64) -> Self {
        let open = reached(seed);
        let token = open.server.link_elsewhere().expect("a link").token;
        let session = crate::browsers::carried(&session_at(&open, elsewhere::NAME, AT, &token));
        Self { open, session, one: Authenticator::es256(7, AT) }
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        post(&self.open, &self.session, &format!("/api/session/{path}"), body)
    }

    /// What the browser makes for a challenge that was asked for now.
    fn attested(&self) -> Value {
        let (code, options) = self.post("passkey/options", &json!({}));
        assert_eq!(code, 200, "{options}");
        let challenge = options["challenge"].as_str().and_then(|text| base64url_decode(text).ok());
        let said = self.one.client_data("webauthn.create", &challenge.expect("a challenge"));
        json!({
            "client_data_json": base64url(&said), "attestation_object": base64url(&self.one.attestation()),
            "transports": ["internal"],
        })
    }

    /// What signs a page in that has no session, for a challenge of its own or a given one.
    fn signed_in(&mut self, challenge: Option<&str>) -> (u16, Value) {
        let (code, asked) = post(&self.open, "", "/api/session/passkey/sign_in_options", &json!({}));
        assert_eq!((code, &asked["rp_id"]), (200, &json!(elsewhere::NAME)), "{asked}");
        assert_eq!(
            asked.as_object().map(serde_json::Map::len),
            Some(3),
            "which passkeys there are is not told"
        );
        let challenge = challenge.or(asked["challenge"].as_str()).expect("a challenge").to_owned();
        let came = self.one.answer(&base64url_decode(&challenge).expect("bytes"));
        let body = json!({
            "ticket": asked["ticket"], "credential_id": base64url(&came.credential_id),
            "client_data_json": base64url(&came.client_data_json),
            "authenticator_data": base64url(&came.authenticator_data), "signature": base64url(&came.signature),
        });
        post(&self.open, "", "/api/session/passkey/sign_in", &body)
    }

    fn enrol(&self, attested: &Value, passphrase: &str) -> (u16, Value) {
        let body = json!({ "name": "Phone", "attested": attested, "passphrase": passphrase });
        self.post("passkey/enrol", &body)
    }

    /// Shows a card and has the passkey sign what is asked for it.
    fn signed(&mut self, approval: &str) -> Value {
        let (code, card) = self.post("card", &json!({ "approval": approval }));
        assert_eq!(code, 200, "{card}");
        let shown = json!({ "ticket": card["ticket"], "packet_sha256": card["packet_sha256"] });
        let (code, asked) = self.post("passkey/ask", &shown);
        assert_eq!(code, 200, "{asked}");
        self.open.home.world.clock.advance(card["arms_in"].as_i64().expect("a time"));
        let decision = asked["decision"].as_str().expect("a decision");
        let came = self.one.sign("", &base64url_decode(decision).expect("bytes")).webauthn;
        json!({
            "ticket": card["ticket"], "packet_sha256": card["packet_sha256"], "word": card["word"],
            "passkey": {
                "credential_id": base64url(&came.credential_id), "client_data_json": base64url(&came.client_data_json),
                "authenticator_data": base64url(&came.authenticator_data), "signature": base64url(&came.signature),
                "decision": decision,
            },
        })
    }
}

#[test]
fn a_passkey_is_added_once_with_the_right_passphrase_and_says_yes_to_the_card_that_was_shown() {
    let mut phone = Phone::new(150);
    let attested = phone.attested();
    let (code, wrong) = phone.enrol(&attested, "a guess");
    assert_eq!((code, &wrong["code"]), (409, &json!("key_locked")), "{wrong}");
    let (code, passkey) = phone.enrol(&attested, PASSPHRASE);
    assert_eq!((code, &passkey["origin"]), (200, &json!(AT)), "typed again, made once: {passkey}");
    assert_eq!(phone.enrol(&attested, PASSPHRASE).0, 409, "a challenge is for one passkey");
    let (task, approval) = phone.open.home.with_a_question("delete held");
    let yes = phone.signed(&approval);
    let (code, decided) = phone.post("allow", &yes);
    assert_eq!((code, &decided["accepted"]), (200, &json!(true)), "{decided}");
    assert_eq!(decided["task_id"], task.to_string());
    assert_eq!(status(&phone.open, &approval)["surface"], "browser");
    assert!(!phone.open.home.world.path("held.txt").exists(), "it was done");
    let (code, again) = phone.post("allow", &yes);
    assert_eq!((code, &again["code"]), (409, &json!("conflict")), "said twice: {again}");
}

#[test]
fn refused_passkeys_make_passkeys_wait_and_not_the_passphrase() {
    let mut phone = Phone::new(151);
    let attested = phone.attested();
    assert_eq!(phone.enrol(&attested, PASSPHRASE).0, 200);
    let (_, approval) = phone.open.home.with_a_question("delete held");
    // Present, and not verified.
    phone.one.flags = 0x01;
    let unverified = phone.signed(&approval);
    assert_eq!(phone.post("allow", &unverified).0, 403);
    phone.one.flags = 0x05;
    let first = phone.signed(&approval);
    let mut second = phone.signed(&approval);
    let passkey = second["passkey"].take();
    second["passkey"] = first["passkey"].clone();
    assert_eq!(phone.post("allow", &second).0, 409, "what was asked under another ticket");
    second["passkey"] = passkey;
    phone.one.origin = "https://evil.example".to_owned();
    for _ in 0..2 {
        let foreign = phone.signed(&approval);
        assert_eq!(phone.post("allow", &foreign).0, 403);
    }
    let (code, waits) = phone.post("allow", &second);
    assert_eq!((code, waits["details"]["retry_at"].is_i64()), (429, true), "{waits}");
    assert_eq!(status(&phone.open, &approval)["status"], "pending");
    second["passkey"] = Value::Null;
    second["passphrase"] = json!(PASSPHRASE);
    let (code, decided) = phone.post("allow", &second);
    assert_eq!((code, &decided["status"]), (200, &json!("granted")), "{decided}");
}

#[test]
fn wrong_passphrases_keep_no_passkey_waiting() {
    let mut phone = Phone::new(152);
    let attested = phone.attested();
    assert_eq!(phone.enrol(&attested, PASSPHRASE).0, 200);
    let (_, approval) = phone.open.home.with_a_question("delete held");
    let yes = phone.signed(&approval);
    let mut typed = yes.clone();
    typed["passkey"] = Value::Null;
    typed["passphrase"] = json!("a guess");
    for _ in 0..3 {
        assert_eq!(phone.post("allow", &typed).0, 409);
    }
    assert_eq!(phone.post("allow", &typed).0, 429);
    let (code, decided) = phone.post("allow", &yes);
    assert_eq!((code, &decided["status"]), (200, &json!("granted")), "{decided}");
}

#[test]
fn where_another_program_listens_at_localhost_no_passkey_is_asked_there() {
    let asks = |at: &Open| {
        let name = format!("localhost:{}", at.server.address().port());
        let origin = format!("http://{name}");
        let opened = session_at(at, &name, &origin, &at.server.link_at_terminal().token);
        let session = crate::browsers::carried(&opened);
        let headers = [
            ("host", name.as_str()),
            ("origin", origin.as_str()),
            (SESSION, session.as_str()),
            ("content-type", "application/json"),
        ];
        at.raw("/api/session/passkey/options", &headers, b"{}")
    };
    let (code, options) = asks(&open(153));
    assert_eq!((code, &options["rp_id"]), (200, &json!("localhost")), "{options}");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    // Where a system has no such address, nobody listens there.
    let Ok(_other) = TcpListener::bind(("::1", port)) else { return };
    let (code, refused) = asks(&open_on(listener, Home::new(154), None, None));
    assert_eq!((code, &refused["code"]), (409, &json!("conflict")), "{refused}");
}

#[test]
fn a_page_whose_session_is_gone_is_signed_in_by_its_passkey_and_ends_with_it() {
    let mut phone = Phone::new(155);
    assert_eq!(phone.signed_in(None).0, 403, "none is enrolled");
    let attested = phone.attested();
    let (_, passkey) = phone.enrol(&attested, PASSPHRASE);
    let (code, opened) = phone.signed_in(None);
    assert_eq!((code, &opened["kind"]), (200, &json!("browser")), "{opened}");
    let session = opened["session"].as_str().expect("a session").to_owned();
    assert_ne!(session, phone.session);
    phone.session = session;
    assert_eq!(post(&phone.open, &phone.session, "/api/host.status", &json!({})).0, 200);
    let (_, told) = phone.post("devices", &json!({}));
    let pages = told["sessions"].as_array().expect("a list");
    assert!(pages.iter().any(|one| one["own"] == true && one["by_passkey"] == true), "{told}");
    assert_eq!(phone.post("devices/link", &json!({ "to": "elsewhere" })).0, 403, "it brings no other");
    // What was asked for a card signs nobody in.
    let (_, approval) = phone.open.home.with_a_question("delete held");
    let yes = phone.signed(&approval);
    let decision = base64url_decode(yes["passkey"]["decision"].as_str().expect("a decision")).expect("bytes");
    let (code, refused) = phone.signed_in(Some(&base64url(seal::Digest::of(&decision).as_bytes())));
    assert_eq!((code, &refused["code"]), (403, &json!("refused")), "{refused}");
    assert_eq!(status(&phone.open, &approval)["status"], "pending");
    // It is a person's, and nobody shows by it that they sit at this machine.
    assert_eq!(phone.post("push", &json!({})).0, 200);
    let (_, keys) = phone.post("keys", &json!({}));
    assert_eq!((&keys["at_terminal"], &keys["by_passkey"]), (&json!(false), &json!(true)), "{keys}");
    let words = json!({ "passphrase": PASSPHRASE });
    for (path, body) in [("keys/unlock", &words), ("passkey/options", &json!({}))] {
        let (code, refused) = phone.post(path, body);
        assert_eq!((code, &refused["code"]), (403, &json!("forbidden")), "{path}: {refused}");
    }
    let paused = json!({ "name": "roll-out" });
    let (code, refused) = post(&phone.open, &phone.session, "/api/schedules.resume", &paused);
    assert_eq!((code, &refused["code"]), (403, &json!("forbidden")), "{refused}");
    let body = json!({ "passkey": passkey["passkey_id"] });
    std::thread::scope(|scope| {
        let (open, own) = (&phone.open, phone.session.clone());
        let listening = scope.spawn(move || {
            let headers = [("host", elsewhere::NAME), (SESSION, own.as_str())];
            open.ask("GET", "/api/notices", &headers, b"").status
        });
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(post(open, &phone.session, "/api/passkeys.revoke", &body).0, 200);
        let until = Instant::now() + Duration::from_secs(20);
        while !listening.is_finished() {
            assert!(Instant::now() < until, "it listens no longer than the passkey holds");
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = listening.join().expect("it ended");
        assert!(matches!(status, 200 | 401), "{status}");
    });
    assert_eq!(post(&phone.open, &phone.session, "/api/host.status", &json!({})).0, 401);
    assert_eq!(phone.signed_in(None).0, 403, "revoked");
}

#[test]
fn refused_sign_ins_make_those_wait_who_sign_in_and_no_yes() {
    let mut phone = Phone::new(156);
    let attested = phone.attested();
    assert_eq!(phone.enrol(&attested, PASSPHRASE).0, 200);
    let (_, approval) = phone.open.home.with_a_question("delete held");
    // A stranger's passkey is refused as often as it comes, and makes nobody wait.
    let own = std::mem::replace(&mut phone.one, Authenticator::es256(8, AT));
    for _ in 0..4 {
        assert_eq!(phone.signed_in(None).0, 403);
    }
    phone.one = own;
    // Present, and not verified.
    phone.one.flags = 0x01;
    assert_eq!(phone.signed_in(None).0, 403);
    phone.one.flags = 0x05;
    phone.one.origin = "https://evil.example".to_owned();
    assert_eq!(phone.signed_in(None).0, 403);
    assert_eq!(phone.signed_in(None).0, 403);
    phone.one.origin = AT.to_owned();
    let (code, waits) = phone.signed_in(None);
    assert_eq!((code, waits["details"]["retry_at"].is_i64()), (429, true), "{waits}");
    let yes = phone.signed(&approval);
    let (code, decided) = phone.post("allow", &yes);
    assert_eq!((code, &decided["status"]), (200, &json!("granted")), "{decided}");
}

#[test]
fn only_a_page_of_a_person_sees_and_changes_which_devices_are_notified() {
    let open = reached(157);
    let (program, person) = (Page::of(&open), Page::at_terminal(&open));
    for path in ["push", "push/key", "push/subscribe", "push/end"] {
        assert_eq!(program.post(&format!("/api/session/{path}"), &json!({})).0, 403, "{path}");
    }
    let (code, told) = person.post("/api/session/push", &json!({}));
    assert_eq!((code, &told["devices"]), (200, &json!([])), "{told}");
    let (code, refused) = person.post("/api/session/push/key", &json!({}));
    assert_eq!((code, &refused["code"]), (409, &json!("conflict")), "an address of numbers: {refused}");
    let (code, refused) = person.post("/api/session/push/end", &json!({ "subscription": "0a" }));
    assert_eq!((code, &refused["code"]), (404, &json!("not_found")), "{refused}");
}
