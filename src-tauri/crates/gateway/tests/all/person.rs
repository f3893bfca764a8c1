//! A yes on a page: the passphrase each time, for the card that was shown, and never from a program.

use crate::browsers::{SESSION, carried, session};
use crate::home::PASSPHRASE;
use crate::{Open, open};
use conforms::conforms;
use serde_json::{Value, json};

/// A browser with a session.
pub struct Page<'o> {
    open: &'o Open,
    pub session: String,
    origin: String,
}

impl<'o> Page<'o> {
    pub fn of(open: &'o Open) -> Self {
        Self::by(open, &open.server.link().token)
    }

    /// Whose link a person read at a terminal.
    pub fn at_terminal(open: &'o Open) -> Self {
        Self::by(open, &open.server.link_at_terminal().token)
    }

    fn by(open: &'o Open, link: &str) -> Self {
        let session = carried(&session(open, link));
        Self { open, session, origin: open.origin() }
    }

    pub fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let headers = [
            (SESSION, self.session.as_str()),
            ("origin", self.origin.as_str()),
            ("content-type", "application/json"),
        ];
        self.open.raw(path, &headers, body.to_string().as_bytes())
    }

    /// Shows the card and reads it; what a yes brings.
    pub fn read(&self, approval: &str) -> Value {
        let (status, card) = self.post("/api/session/card", &json!({ "approval": approval }));
        assert_eq!(status, 200, "{card}");
        self.open.home.world.clock.advance(card["arms_in"].as_i64().expect("a time"));
        json!({
            "ticket": card["ticket"], "packet_sha256": card["packet_sha256"], "word": card["word"],
            "passphrase": PASSPHRASE,
        })
    }

    pub fn allow(&self, yes: &Value) -> (u16, Value) {
        self.post("/api/session/allow", yes)
    }
}

pub fn with(yes: &Value, name: &str, value: &str) -> Value {
    let mut yes = yes.clone();
    yes[name] = json!(value);
    yes
}

pub fn status(open: &Open, approval: &str) -> Value {
    open.home.must("approvals.show", json!({ "approval": approval }))["row"].clone()
}

#[conforms("HK-27-8")]
#[test]
fn a_person_on_a_page_allows_with_the_passphrase_once_and_it_is_said_where() {
    let open = open(70);
    let (task, approval) = open.home.with_a_question("delete held");
    let page = Page::of(&open);
    let yes = page.read(&approval);
    assert!(open.home.world.path("held.txt").exists(), "to show it is no yes");
    let (code, decided) = page.allow(&yes);
    assert_eq!(
        (code, &decided["accepted"], &decided["status"]),
        (200, &json!(true), &json!("granted")),
        "{decided}"
    );
    assert_eq!(decided["task_id"], task.to_string());
    let row = status(&open, &approval);
    assert_eq!((&row["status"], &row["surface"]), (&json!("granted"), &json!("browser")));
    assert!(!open.home.world.path("held.txt").exists(), "it was done");
    let (code, again) = page.allow(&yes);
    assert_eq!((code, &again["code"]), (409, &json!("conflict")), "a ticket works once: {again}");
    let (code, _) = page.post("/api/session/card", &json!({ "approval": approval }));
    assert_eq!(code, 409, "what is answered is not shown to be answered");
}

#[conforms("HK-27-8")]
#[test]
fn no_token_no_cookie_and_no_other_page_can_allow() {
    let open = open(71);
    let (_, approval) = open.home.with_a_question("delete held");
    let page = Page::of(&open);
    let yes = page.read(&approval).to_string();
    let before = open.home.must("ledger.stats", json!({}));
    let (bearer, origin) = (open.bearer(), open.origin());
    let json = ("content-type", "application/json");
    let (own, cookie) = (("origin", origin.as_str()), (SESSION, page.session.as_str()));
    let token = ("authorization", bearer.as_str());
    for (headers, expected) in [
        // A program, also one that has a browser's cookie, an origin, and the passphrase.
        (vec![token, json], 403),
        (vec![token, own, cookie, json], 403),
        (vec![own, json], 401),
        (vec![cookie, json], 403),
        (vec![cookie, json, ("origin", "http://evil.example")], 403),
        (vec![cookie, json, ("origin", "null")], 403),
        (vec![cookie, json, own, ("sec-fetch-site", "same-site")], 403),
        (vec![cookie, json, own, ("host", "evil.example")], 403),
        // A form sends no JSON without asking first.
        (vec![cookie, own, ("content-type", "text/plain")], 400),
        (vec![cookie, own], 400),
    ] {
        for path in ["/api/session/allow", "/api/session/card"] {
            let body = if path.ends_with("card") {
                json!({ "approval": approval }).to_string()
            } else {
                yes.clone()
            };
            assert_eq!(open.raw(path, &headers, body.as_bytes()).0, expected, "{path} {headers:?}");
        }
    }
    assert_eq!(status(&open, &approval)["status"], "pending");
    assert_eq!(open.home.must("ledger.stats", json!({})), before, "nothing was recorded");
    // The two ways stand in no table, so no other surface offers them; what is signed elsewhere proves itself.
    assert!(wire::COMMANDS.iter().all(|info| !info.name.starts_with("session")));
}

#[test]
fn a_yes_is_for_the_card_that_this_session_was_shown_a_moment_before() {
    let open = open(72);
    let (_, approval) = open.home.with_a_question("delete held");
    let (page, other) = (Page::of(&open), Page::of(&open));
    let (code, card) = page.post("/api/session/card", &json!({ "approval": approval }));
    assert_eq!(code, 200);
    let word = card["word"].as_str().unwrap_or_default().to_owned();
    let yes = json!({
        "ticket": card["ticket"], "packet_sha256": card["packet_sha256"], "word": word, "passphrase": PASSPHRASE,
    });
    let (code, early) = page.allow(&yes);
    assert_eq!(
        (code, early["details"]["armed_at"].is_i64()),
        (409, true),
        "typed before it was there: {early}"
    );
    // The clock of this world moves on by itself with every look.
    open.home.world.clock.advance(600);
    assert_eq!(page.allow(&yes).0, 409);
    open.home.world.clock.advance(100);
    for (wrong, expected) in [
        (with(&yes, "ticket", &"0".repeat(64)), 409),
        (with(&yes, "ticket", ""), 409),
        (with(&yes, "packet_sha256", &"0".repeat(64)), 409),
        (with(&yes, "standing", "yes"), 422),
        (json!({ "ticket": card["ticket"], "passphrase": PASSPHRASE }), 400),
        (json!([]), 400),
    ] {
        assert_eq!(page.allow(&wrong).0, expected, "{wrong}");
    }
    assert_eq!(other.allow(&yes).0, 409, "a ticket of another session");
    assert_eq!(status(&open, &approval)["status"], "pending");
    open.home.world.clock.advance(30 * 60 * 1000);
    assert_eq!(page.allow(&yes).0, 409, "who went away reads it again");
    assert_eq!(page.allow(&page.read(&approval)).0, 200);
    assert_eq!(page.post("/api/session/card", &json!({ "approval": "apr_x" })).0, 400);
}

#[test]
fn what_is_asked_anew_is_not_allowed_by_a_yes_to_what_was_asked_before() {
    let open = open(73);
    let answers =
        vec![testkit::write("a.txt", "one"), testkit::write("a.txt", "another"), testkit::done("done")];
    let task = open.home.world.script("write", answers);
    let first = open.home.world.drive_to_approval(task).to_string();
    let page = Page::of(&open);
    let yes = page.read(&first);
    open.home.world.kernel().append_note(task, "not that", model::ingress::Channel::App, "n").expect("said");
    let second = open.home.world.drive_to_approval(task).to_string();
    assert_ne!(first, second);
    assert_eq!(page.allow(&yes).0, 409, "the card is stale");
    assert!(!open.home.world.path("a.txt").exists());
    let stale = with(&page.read(&second), "packet_sha256", yes["packet_sha256"].as_str().expect("a digest"));
    assert_eq!(page.allow(&stale).0, 409);
    assert_eq!(page.allow(&page.read(&second)).0, 200);
}

#[test]
fn wrong_passphrases_make_everybody_wait_and_longer_each_time() {
    let open = open(74);
    let (_, approval) = open.home.with_a_question("delete held");
    let (page, other) = (Page::of(&open), Page::of(&open));
    let yes = page.read(&approval);
    for _ in 0..3 {
        let (code, answer) = page.allow(&with(&yes, "passphrase", "a guess"));
        assert_eq!((code, &answer["code"]), (409, &json!("key_locked")), "{answer}");
    }
    let clock = &open.home.world.clock;
    let mut waits = Vec::new();
    for _ in 0..10 {
        let now = api::Host::now(&*open.home).0;
        let (code, answer) = page.allow(&yes);
        assert_eq!(code, 429, "the right one is not heard either: {answer}");
        let until = answer["details"]["retry_at"].as_i64().expect("a time");
        waits.push(until - now);
        assert_eq!(
            other.allow(&other.read(&approval)).0,
            if until > api::Host::now(&*open.home).0 { 429 } else { 200 }
        );
        clock.advance(until - api::Host::now(&*open.home).0);
        assert_eq!(page.allow(&with(&page.read(&approval), "passphrase", "a guess")).0, 409);
    }
    assert!(waits.windows(2).all(|pair| pair[1] >= pair[0]), "{waits:?}");
    assert_eq!(
        ((waits[0] + 500) / 1000, (waits[9] + 500) / 1000),
        (5, 900),
        "from five seconds to a quarter of an hour"
    );
    assert_eq!(status(&open, &approval)["status"], "pending");
    clock.advance(900_000);
    assert_eq!(page.allow(&page.read(&approval)).0, 200);
}
