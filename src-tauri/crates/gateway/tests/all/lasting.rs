//! What a person on a page allows from now on, and what they override: read first, signed with the passphrase, each time.

use crate::home::PASSPHRASE;
use crate::person::{Page, status, with};
use crate::{Open, open};
use kernel::DriveOutcome;
use kernel::command::submit::Reasoning;
use model::TaskId;
use model::policy::Profile;
use serde_json::{Value, json};

fn offers(page: &Page<'_>, approval: &str) -> Vec<Value> {
    let asked = json!({ "approval": approval, "scope": "project", "days": 3, "uses": 2 });
    let (code, found) = page.post("/api/session/offers", &asked);
    assert_eq!(code, 200, "{found}");
    found.as_array().expect("a list").clone()
}

fn standing(open: &Open) -> Value {
    open.home.must("grants.standing", json!({}))["rows"].clone()
}

#[test]
fn what_is_allowed_from_now_on_is_the_sentence_that_was_read_and_answers_the_next_question() {
    let open = open(170);
    let (task, approval) = open.home.with_a_question("delete held");
    let page = Page::of(&open);
    let found = offers(&page, &approval);
    let words = "delete `held.txt` in this project, 3 days, 2 times, \
        also after the model has read files or names that may contain instructions";
    assert_eq!((&found[0]["words"], &found[0]["rehearsed"]["answered"]), (&json!(words), &json!(1)));
    let choice = |words: &str, days: u16, uses: u32| json!({ "scope": "project", "number": 0, "days": days, "uses": uses, "words": words });
    let mut yes = page.read(&approval);
    for other in [choice("delete everything", 3, 2), choice(words, 92, 2), choice(words, 3, 10_000)] {
        yes["lasting"] = other;
        let (code, said) = page.allow(&yes);
        assert_eq!((code, &said["code"]), (409, &json!("conflict")), "{said}");
    }
    assert_eq!((&status(&open, &approval)["status"], standing(&open)), (&json!("pending"), json!([])));
    yes["lasting"] = choice(words, 3, 2);
    let (code, said) = page.allow(&with(&yes, "passphrase", "not it"));
    assert_eq!((code, standing(&open)), (409, json!([])), "{said}");
    let (code, decided) = page.allow(&yes);
    assert_eq!((code, &decided["status"]), (200, &json!("granted")), "{decided}");
    let rows = standing(&open);
    assert_eq!(
        (&rows[0]["words"], &rows[0]["surface"], &rows[0]["max_uses"]),
        (&json!(words), &json!("browser"), &json!(2))
    );
    open.home.world.drive(task);
    open.home.world.file("held.txt", "again\n");
    let delete = vec![testkit::say("delete", json!({ "path": "held.txt" })), testkit::done("deleted")];
    let next = open.home.world.script("delete it again", delete);
    assert!(matches!(open.home.world.drive(next), DriveOutcome::Ended { .. }), "nobody was asked");
    assert_eq!(standing(&open)[0]["uses"], 1);
}

/// A task whose deletion policy refused, and that act.
fn denied(open: &Open) -> (TaskId, String) {
    let world = &open.home.world;
    world.file("kept.txt", "mine\n");
    let delete = vec![testkit::say("delete", json!({ "path": "kept.txt" })), testkit::done("no")];
    world.reasoners.script("delete kept", delete);
    let mut asked = world.submission("delete kept", Reasoning::Scripted { name: "delete kept".to_owned() });
    asked.profile = Profile::DestructiveDenied;
    let task = world.kernel().submit(&asked).expect("submitted").task_id;
    world.drive(task);
    let shown = open.home.must("task.show", json!({ "task": task.to_string() }));
    let acts = shown["actions"].as_array().expect("acts");
    let act = acts.iter().find(|act| act["verdict"] == "deny").expect("a denial");
    (task, act["action_request_id"].as_str().expect("an id").to_owned())
}

#[test]
fn an_override_is_read_armed_named_and_signed_with_the_passphrase_and_allows_nothing_itself() {
    let open = open(171);
    let (_, act) = denied(&open);
    let page = Page::of(&open);
    let asked = json!({ "act": act, "reason": "it is a copy", "hours": 1, "uses": 1 });
    let (code, read) = page.post("/api/session/prepare_override", &asked);
    assert_eq!(
        (code, &read["denied"]["verdict"], &read["word"]),
        (200, &json!("deny"), &json!("override")),
        "{read}"
    );
    let sentence = read["words"].as_str().expect("words");
    assert!(sentence.contains("delete 1 file") && sentence.contains("it is a copy"), "{sentence}");
    let sign = |yes: &Value| page.post("/api/session/allow_override", yes);
    let yes = json!({
        "ticket": read["ticket"], "words": sentence, "word": "override", "passphrase": PASSPHRASE,
    });
    assert_eq!(sign(&yes).0, 409, "it has only just been shown");
    open.home.world.clock.advance(read["arms_in"].as_i64().expect("a time"));
    assert_eq!(sign(&with(&yes, "words", "override everything")).0, 409);
    assert_eq!(sign(&with(&yes, "word", "yes")).0, 400);
    assert_eq!(sign(&with(&yes, "ticket", "x")).0, 409);
    let mut card = yes.clone();
    card["packet_sha256"] = json!(sentence);
    card.as_object_mut().expect("an object").remove("words");
    assert_eq!(page.allow(&card).0, 409, "a ticket for a denial is none for a card");
    assert_eq!(standing(&open), json!([]));
    let (code, signed) = sign(&yes);
    assert_eq!(code, 200, "{signed}");
    assert_eq!(sign(&yes).0, 409, "once");
    assert!(open.home.world.path("kept.txt").exists(), "nothing is allowed by it");
    assert_eq!(standing(&open)[0]["surface"], "browser");
}

#[test]
fn neither_offers_nor_overrides_nor_what_lasts_is_for_programs_and_an_override_without_a_reason_is_none() {
    let open = open(172);
    let (_, act) = denied(&open);
    let page = Page::of(&open);
    let bearer = format!("Bearer {}", open.token.reveal());
    for path in ["offers", "prepare_override", "allow_override"] {
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let (code, said) = open.raw(&format!("/api/session/{path}"), &headers, b"{}");
        assert_eq!((code, &said["code"]), (403, &json!("forbidden")), "{path}");
    }
    for (bad, code) in [
        (json!({ "act": act, "reason": "" }), 400),
        (json!({ "act": act, "reason": "so", "hours": 10_000 }), 400),
        (json!({ "act": act, "reason": "so", "uses": -1 }), 400),
        (json!({ "act": act, "reason": "so", "forever": true }), 422),
        (json!({ "act": act }), 400),
    ] {
        assert_eq!(page.post("/api/session/prepare_override", &bad).0, code, "{bad}");
    }
}
