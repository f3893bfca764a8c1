//! Programs that other people wrote, at the built `hermit serve`.
//!
//! The client is ours, in the shape of one that is in use: it sends what that one sends, and reads of every answer what
//! that one reads.

use crate::bench::{Bench, text};
use crate::client::{Served, reaches};
use serde_json::{Value, json};

/// What the foreign adapter reads of a control: whether, and the words for a no.
fn controlled(answer: &Value) -> (bool, Option<String>) {
    let accepted = answer.get("ok").is_none_or(|ok| ok.as_bool().unwrap_or_default());
    (accepted, (!accepted).then(|| text(&answer["message"])))
}

const SESSION: &str = "20261122_101500_ab12cd";

/// A start as the foreign client sends it.
fn start(bench: &Bench, differing: Value) -> Value {
    let mut asked = json!({
        "session_id": SESSION, "message": "tidy up", "attachments": [], "workspace": bench.folder(),
        "profile": "default", "provider": "playbook", "model": "tidy", "toolsets": ["web", "terminal"],
        "source": "webui", "metadata": { "route": "/api/chat/start" },
    });
    for (name, value) in differing.as_object().unwrap() {
        asked[name] = value.clone();
    }
    asked
}

#[test]
fn a_client_that_others_wrote_starts_follows_steers_and_understands_a_no() {
    let bench = Bench::new();
    let served = Served::new(&bench);
    std::fs::write(bench.path("notes.md"), "# notes\n").unwrap();
    let fence = json!({
        "session_id": SESSION, "profile": "default", "profile_home": "/home/x/.hermes", "generation": "7", "version": "n1",
        "route": { "workspace": bench.folder(), "model": "tidy", "provider": "playbook", "normalized_model": false },
    });
    let file = json!([{ "name": "notes.md", "path": bench.path("notes.md"), "mime": "text/markdown", "size": 8, "is_image": false }]);
    let asked = start(&bench, json!({ "attachments": file, "owner_fence": fence }));
    let started = served.must("POST", "/v1/runs", &asked);
    let run = text(&started["run_id"]);
    assert_eq!((&started["session_id"], &started["stream_id"]), (&json!(SESSION), &json!(run)));
    assert_eq!(
        (&started["profile"], &started["model"]),
        (&json!("local_edit_allowed"), &json!("playbook:tidy"))
    );
    let mut echoed = started["owner_fence"].clone();
    assert_eq!(echoed.as_object_mut().unwrap().remove("accepted"), Some(json!(true)));
    assert_eq!(echoed, fence, "compared, and told back");
    let status = reaches(&served, &run, "awaiting_approval");
    assert_eq!((&status["session_id"], &status["terminal_state"]), (&json!(SESSION), &Value::Null));

    // It follows by whatever it has: nothing, our cursor, the name of an event, or its number.
    let page = |cursor: &str| served.must("GET", &format!("/v1/runs/{run}/events{cursor}"), &Value::Null);
    let all = page("");
    let events = all["events"].as_array().unwrap();
    assert!(events.len() > 2 && events.iter().all(|event| event["session_id"] == SESSION), "{all}");
    let third = &events[2];
    for cursor in [text(&third["event_id"]).replace(':', "%3A"), third["seq"].to_string()] {
        let rest = page(&format!("?cursor={cursor}"));
        assert_eq!(rest["events"][0]["seq"], events[3]["seq"], "{cursor}: {rest}");
    }
    assert_eq!(page(&format!("?cursor={}", text(&all["cursor"])))["events"], json!([]));

    // What it may not is a no that it understands; what it may is done.
    let approval = json!(text(&status["pending_approval_id"]));
    let answer = |choice: &str| {
        let path = format!("/v1/runs/{run}/approval");
        controlled(&served.must("POST", &path, &json!({ "choice": choice, "approval_id": approval })))
    };
    for choice in ["once", "session", "always", "allow", "yes"] {
        let (accepted, why) = answer(choice);
        assert!(!accepted && why.is_some_and(|why| why.contains("only a person")), "{choice}");
    }
    let steered = json!({ "message": "leave the pictures", "mode": "steer" });
    assert!(controlled(&served.must("POST", &format!("/v1/runs/{run}/messages"), &steered)).0);
    let goal = |action: &str| {
        let asked = json!({ "action": action, "text": "" });
        controlled(&served.must("POST", &format!("/v1/sessions/{SESSION}/goal"), &asked))
    };
    assert!(goal("status").0);
    assert!(controlled(&served.must("POST", &format!("/v1/runs/{run}/cancel"), &json!({}))).0);
    let ended = reaches(&served, &run, "cancelled");
    assert_eq!(ended["terminal_state"], "cancelled", "a word");
    assert_eq!(ended["terminal_event"]["terminal"], true);
    let (accepted, why) = controlled(&served.must("POST", &format!("/v1/runs/{run}/cancel"), &json!({})));
    assert!(!accepted && why.is_some());
    drop(served);

    // A host that was begun anew finds its session by the client's name for it.
    let served = Served::new(&bench);
    let runs = served.must("GET", &format!("/v1/sessions/{SESSION}/runs"), &Value::Null);
    assert_eq!((&runs["session_id"], &runs["runs"][0]["run_id"]), (&json!(SESSION), &json!(run)));
    let second = served.must("POST", "/v1/runs", &start(&bench, json!({ "source": "process_wakeup" })));
    let runs = served.must("GET", &format!("/v1/sessions/{SESSION}/runs"), &Value::Null);
    assert_eq!((&second["session_id"], runs["runs"].as_array().unwrap().len()), (&json!(SESSION), 2));
    drop(served);
}

#[test]
fn what_a_foreign_client_cannot_have_is_said_in_words_and_nothing_is_started() {
    let bench = Bench::new();
    let served = Served::new(&bench);
    let refused = |differing: Value| {
        let (status, answer) = served.by_program("POST", "/v1/runs", &start(&bench, differing));
        (status, answer["message"].as_str().unwrap_or_default().to_owned())
    };
    let stats = || served.must("POST", "/api/ledger.stats", &json!({}));
    let before = stats();
    let long = "x".repeat(200);
    let fence = json!({ "session_id": "another" });
    for (differing, status, words) in [
        (json!({ "workspace": null }), 400, "workspace"),
        (json!({ "provider": "anthropic", "model": "claude" }), 400, "model"),
        (json!({ "provider": null, "model": null }), 400, "model"),
        (json!({ "source": "system" }), 400, "Hermit itself"),
        (json!({ "source": "Scheduler" }), 400, "Hermit itself"),
        (json!({ "session_id": long }), 400, "session_id"),
        (json!({ "toolsets": [long] }), 400, "toolsets"),
        (json!({ "attachments": [{ "name": "x" }] }), 400, "attach"),
        (json!({ "owner_fence": fence }), 409, "owner_fence.session_id"),
        (json!({ "unheard_of": 1 }), 422, "unheard_of"),
    ] {
        let (came, said) = refused(differing.clone());
        assert_eq!(came, status, "{differing}: {said}");
        assert!(said.to_lowercase().contains(&words.to_lowercase()), "{differing}: {said}");
    }
    assert_eq!(stats(), before, "nothing was recorded");
    // A key names one request.
    let bearer = format!("Bearer {}", served.token);
    let with_key = |body: &Value| {
        let headers = [("Authorization", &*bearer), ("Idempotency-Key", "one")];
        served.ask("POST", "/v1/runs", &headers, &body.to_string())
    };
    let (status, first) = with_key(&start(&bench, json!({ "session_id": "" })));
    assert_eq!(status, 200, "{first}");
    assert_eq!(with_key(&start(&bench, json!({ "session_id": "" }))).1["run_id"], first["run_id"]);
    for differing in
        [json!({ "session_id": "", "message": "else" }), json!({ "session_id": "", "model": "inventory" })]
    {
        let (status, answer) = with_key(&start(&bench, differing));
        assert_eq!((status, &answer["code"]), (409, &json!("conflict")), "{answer}");
    }
    let run = text(&first["run_id"]);
    let path = format!("/v1/runs/{run}/messages");
    let say = |words: &str| {
        let body = json!({ "message": words, "mode": "steer" }).to_string();
        let headers = [("Authorization", &*bearer), ("Idempotency-Key", "two")];
        served.ask("POST", &path, &headers, &body)
    };
    assert!(controlled(&say("this").1).0 && controlled(&say("this").1).0);
    assert!(!controlled(&say("that").1).0, "the key of other words");
    drop(served);
    // A provider of its own stands for whoever the person set up here.
    bench.run(&["models", "use", "openai:http://127.0.0.1:9/v1#house"]).ends_with(0);
    let served = Served::new(&bench);
    let started = served.must(
        "POST",
        "/v1/runs",
        &start(&bench, json!({ "provider": "anthropic", "model": "claude" })),
    );
    assert_eq!(started["model"], "openai:http://127.0.0.1:9/v1#house", "and it is said");
    drop(served);
}
