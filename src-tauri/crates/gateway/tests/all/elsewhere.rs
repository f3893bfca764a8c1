//! The gateway under a name of the person's: who comes in by it, and what its pages may do.

use crate::browsers::{SESSION, carried};
use crate::home::Home;
use crate::person::Page;
use crate::{Got, Open, open, open_as};
use gateway::Origin;
use serde_json::{Value, json};

pub const NAME: &str = "desk.example";
pub const AT: &str = "https://desk.example";

pub fn reached(seed: u64) -> Open {
    open_as(Home::new(seed), None, Some(Origin::parse(AT).expect("an origin")))
}

/// Opens a link as a page at that name does.
pub fn session_at(open: &Open, host: &str, origin: &str, token: &str) -> Got {
    let headers = [("host", host), ("origin", origin), ("sec-fetch-site", "same-origin")];
    open.ask("POST", "/api/session", &headers, json!({ "token": token }).to_string().as_bytes())
}

pub fn post(open: &Open, own: &str, path: &str, body: &Value) -> (u16, Value) {
    let headers = [("host", NAME), ("origin", AT), (SESSION, own), ("content-type", "application/json")];
    open.raw(path, &headers, body.to_string().as_bytes())
}

#[test]
fn a_name_that_was_told_leads_in_with_its_own_origin_and_every_other_is_refused() {
    let open = reached(140);
    let link = open.server.link_elsewhere().expect("a link");
    assert_eq!(link.url, format!("{AT}/#token={}", link.token));
    let (local, origin) = (format!("localhost:{}", open.server.address().port()), open.origin());
    for (host, from) in [
        ("evil.example", AT),
        ("desk.example:8443", AT),
        ("sub.desk.example", AT),
        ("desk.example.", AT),
        (NAME, "http://desk.example"),
        (NAME, "https://desk.example:8443"),
        (NAME, "https://sub.desk.example"),
        (NAME, "https://desk.example.evil.example"),
        (NAME, "null"),
        (NAME, origin.as_str()),
        (local.as_str(), AT),
    ] {
        let got = session_at(&open, host, from, &link.token);
        assert_eq!((got.status, &got.json()["code"]), (403, &json!("forbidden")), "{host} {from}");
    }
    let own = carried(&session_at(&open, NAME, AT, &link.token));
    assert_eq!(post(&open, &own, "/api/host.status", &json!({})).0, 200);
    // Each session stays where its link was opened.
    let here = [(SESSION, own.as_str()), ("origin", origin.as_str())];
    assert_eq!(open.raw("/api/host.status", &here, b"{}").0, 401);
    let page = Page::at_terminal(&open);
    assert_eq!(post(&open, &page.session, "/api/host.status", &json!({})).0, 401);
    assert_eq!(session_at(&open, NAME, AT, &open.server.link().token).status, 401, "a link for this machine");
    let cross = [("host", NAME), ("origin", AT), (SESSION, own.as_str()), ("sec-fetch-site", "cross-site")];
    assert_eq!(open.raw("/api/host.status", &cross, b"{}").0, 403);
}

#[test]
fn no_name_leads_in_unasked_and_no_program_by_one() {
    let plain = open(141);
    let error = plain.server.link_elsewhere().expect_err("none was named");
    assert!(error.hint.contains("--origin"), "{error:?}");
    assert_eq!(plain.ask("GET", "/", &[("host", NAME)], b"").status, 403);
    let open = reached(142);
    let bearer = open.bearer();
    for path in ["/api/host.status", "/api/session/link", "/v1/runs", "/mcp"] {
        let headers = [("host", NAME), ("authorization", bearer.as_str())];
        assert_eq!(open.raw(path, &headers, b"{}").0, 401, "{path}");
    }
    assert_eq!(open.raw("/api/host.status", &[("authorization", &bearer)], b"{}").0, 200);
}

#[test]
fn a_link_for_another_device_works_once_and_for_five_minutes() {
    let open = reached(143);
    let link = open.server.link_elsewhere().expect("a link");
    assert_eq!(session_at(&open, NAME, AT, &link.token).status, 200);
    assert_eq!(session_at(&open, NAME, AT, &link.token).status, 401);
    let late = open.server.link_elsewhere().expect("a link");
    open.home.world.clock.advance(5 * 60 * 1000);
    assert_eq!(session_at(&open, NAME, AT, &late.token).status, 401);
}

#[test]
fn a_person_gives_links_from_a_page_of_a_terminal_and_ends_what_they_opened() {
    let open = reached(144);
    let (program, person) = (Page::of(&open), Page::at_terminal(&open));
    let to = |place: &str| json!({ "to": place });
    for path in ["/api/session/devices", "/api/session/devices/link", "/api/session/devices/end"] {
        assert_eq!(program.post(path, &to("elsewhere")).0, 403, "{path}");
    }
    assert_eq!(person.post("/api/session/devices/link", &to("anywhere")).0, 400);
    let (code, local) = person.post("/api/session/devices/link", &to("localhost"));
    assert_eq!(code, 200, "{local}");
    assert!(local["url"].as_str().expect("a link").starts_with("http://localhost:"), "{local}");
    let (code, link) = person.post("/api/session/devices/link", &to("elsewhere"));
    assert_eq!(code, 200, "{link}");
    let rows = link["code"].as_array().expect("rows for a camera");
    assert!(rows.iter().all(|row| row.as_str().is_some_and(|row| row.len() == rows.len())), "a square");
    let token = link["url"].as_str().and_then(|url| url.split_once("#token=")).expect("a token").1;
    let phone = carried(&session_at(&open, NAME, AT, token));
    // One device does not bring the next.
    assert_eq!(post(&open, &phone, "/api/session/devices/link", &to("elsewhere")).0, 403);
    let (_, told) = person.post("/api/session/devices", &json!({}));
    assert_eq!(told["origin"], AT);
    assert!(!told.to_string().contains(&phone), "what opens it is not told");
    let sessions = told["sessions"].as_array().expect("a list");
    let elsewhere = sessions.iter().find(|one| one["elsewhere"] == true).expect("the phone");
    assert_eq!((&elsewhere["own"], &elsewhere["at_terminal"]), (&json!(false), &json!(true)));
    let number = json!({ "number": elsewhere["number"] });
    assert_eq!(post(&open, &phone, "/api/host.status", &json!({})).0, 200);
    let (code, left) = person.post("/api/session/devices/end", &number);
    assert_eq!((code, left["sessions"].as_array().map(Vec::len)), (200, Some(sessions.len() - 1)), "{left}");
    assert_eq!(post(&open, &phone, "/api/host.status", &json!({})).0, 401);
    assert_eq!(person.post("/api/session/devices/end", &number).0, 404);
}

#[test]
fn a_passkey_is_added_by_a_page_of_a_terminal_at_a_name_for_what_was_asked_of_it() {
    let open = reached(145);
    let token = open.server.link_elsewhere().expect("a link").token;
    let phone = carried(&session_at(&open, NAME, AT, &token));
    let (program, person) = (Page::of(&open), Page::at_terminal(&open));
    let enrolment = json!({
        "name": "Phone", "passphrase": crate::home::PASSPHRASE,
        "attested": { "client_data_json": "", "attestation_object": "", "transports": [] },
    });
    for page in [&program, &person] {
        let expected = if page.session == person.session { 409 } else { 403 };
        assert_eq!(
            page.post("/api/session/passkey/options", &json!({})).0,
            expected,
            "an address of numbers"
        );
        assert_eq!(page.post("/api/session/passkey/enrol", &enrolment).0, expected);
    }
    let enrol = || post(&open, &phone, "/api/session/passkey/enrol", &enrolment);
    let (code, unasked) = enrol();
    assert_eq!((code, &unasked["code"]), (409, &json!("conflict")), "nothing was asked: {unasked}");
    let (code, options) = post(&open, &phone, "/api/session/passkey/options", &json!({}));
    assert_eq!((code, &options["rp_id"]), (200, &json!(NAME)), "{options}");
    let (_, again) = post(&open, &phone, "/api/session/passkey/options", &json!({}));
    assert_ne!(options["challenge"], again["challenge"]);
    let (code, refused) = enrol();
    assert_ne!(code, 200, "nothing was made: {refused}");
    let (code, used) = enrol();
    assert_eq!((code, &used["code"]), (409, &json!("conflict")), "it was for one try: {used}");
    assert_eq!(post(&open, &phone, "/api/session/passkey/options", &json!({})).0, 200);
    open.home.world.clock.advance(5 * 60 * 1000);
    let (code, late) = enrol();
    assert_eq!((code, &late["code"]), (409, &json!("conflict")), "{late}");
}

#[test]
fn a_yes_has_one_signature_and_a_passkey_signs_only_what_it_was_asked() {
    let open = reached(146);
    let (_, approval) = open.home.with_a_question("delete held");
    let token = open.server.link_elsewhere().expect("a link").token;
    let phone = carried(&session_at(&open, NAME, AT, &token));
    let (code, card) = post(&open, &phone, "/api/session/card", &json!({ "approval": approval }));
    assert_eq!(code, 200, "{card}");
    open.home.world.clock.advance(card["arms_in"].as_i64().expect("a time"));
    let asserted = json!({
        "credential_id": "AA", "client_data_json": "AA", "authenticator_data": "AA", "signature": "AA", "decision": "AA",
    });
    let mut yes =
        json!({ "ticket": card["ticket"], "packet_sha256": card["packet_sha256"], "word": card["word"] });
    let allow = |yes: &Value| post(&open, &phone, "/api/session/allow", yes);
    assert_eq!(allow(&yes).0, 400, "neither");
    yes["passkey"] = asserted;
    let (code, unasked) = allow(&yes);
    assert_eq!((code, &unasked["code"]), (409, &json!("conflict")), "nothing was asked of it: {unasked}");
    let mut both = yes.clone();
    both["passphrase"] = json!(crate::home::PASSPHRASE);
    assert_eq!(allow(&both).0, 400, "both");
    let mut lasting = yes.clone();
    lasting["lasting"] = json!({ "scope": null, "number": 0, "days": 1, "uses": 1, "words": "" });
    assert_eq!(allow(&lasting).0, 400, "nothing that lasts");
    // A passkey that was refused keeps nobody from the passphrase.
    let mut typed = yes.clone();
    typed["passkey"] = Value::Null;
    typed["passphrase"] = json!(crate::home::PASSPHRASE);
    let (code, decided) = allow(&typed);
    assert_eq!((code, &decided["status"]), (200, &json!("granted")), "{decided}");
}
