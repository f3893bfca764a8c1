//! Bad input: each its own answer, and nothing in the store changes.

use crate::bench::Bench;
use serde_json::{Value, json};

#[test]
fn bad_input_has_its_status_and_changes_nothing() {
    let bench = Bench::new();
    let (run, approval) = bench.asking();
    let before = bench.stats();
    let long = "x".repeat(129);
    let work = bench.path("work");
    let start = |more: Value| {
        let mut body = json!({ "message": "x", "workspace": work, "provider": "playbook", "model": "tidy" });
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        ("/v1/runs".to_owned(), body.to_string())
    };
    let to = |path: &str, body: &str| (format!("/v1/{path}"), body.to_owned());
    for ((path, body), status, code) in [
        (to("runs", "{"), 400, "usage"),
        (to("runs", "[]"), 400, "usage"),
        (to("runs", "{\"message\": 7}"), 400, "usage"),
        (start(json!({ "unheard": 1 })), 422, "unknown_field"),
        (start(json!({ "workspace": "" })), 400, "usage"),
        (start(json!({ "workspace": "relative" })), 400, "usage"),
        (start(json!({ "workspace": "/no/such/folder" })), 404, "not_found"),
        (start(json!({ "session_id": long })), 400, "usage"),
        (start(json!({ "provider": "oracle" })), 400, "usage"),
        (start(json!({ "model": "no such playbook" })), 404, "not_found"),
        (start(json!({ "toolsets": [long] })), 400, "usage"),
        (start(json!({ "profile": long })), 400, "usage"),
        (start(json!({ "source": "system" })), 400, "usage"),
        (start(json!({ "metadata": { "title": 7 } })), 400, "usage"),
        (start(json!({ "attachments": ["/no/such/file"] })), 404, "not_found"),
        (to(&format!("runs/{run}/cancel"), "{\"why\":1}"), 422, "unknown_field"),
        (to(&format!("runs/{run}/approval"), "{\"approval_id\":\"x\"}"), 400, "usage"),
        (
            to(
                &format!("runs/{run}/approval"),
                &json!({ "approval_id": approval, "choice": "deny", "token": "x" }).to_string(),
            ),
            422,
            "unknown_field",
        ),
        (to(&format!("runs/{run}/messages"), "{\"message\":\"x\",\"mode\":\"shout\"}"), 400, "usage"),
        (to(&format!("runs/{run}/messages"), "{\"message\":\" \",\"mode\":\"queue\"}"), 400, "usage"),
        (to("sessions/x/goal", "{\"action\":\"dream\"}"), 400, "usage"),
        (to("sessions/x/goal", "{\"action\":\"set\"}"), 400, "usage"),
    ] {
        let (found, answer) = bench.ask("POST", &path, &[], &body);
        assert_eq!((found, &answer["code"]), (status, &json!(code)), "{path} {body}: {answer}");
        assert!(answer["message"].as_str().is_some_and(|words| !words.is_empty()), "{answer}");
        if code == "unknown_field" {
            assert!(body.contains(answer["details"]["field"].as_str().expect("it is named")));
        }
    }
    for path in ["runs/task_x", "runs/task_x/events", "sessions/x/runs"] {
        let (status, answer) = bench.ask("GET", &format!("/v1/{path}"), &[], "");
        assert_eq!((status, &answer["code"]), (404, &json!("not_found")), "{path}");
    }
    let large = format!("{{\"message\":\"{}\"}}", "x".repeat(gateway::BODY_BYTES_MAX));
    assert_eq!(bench.ask("POST", "/v1/runs", &[], &large).0, 413);
    for headers in [[("authorization", "Bearer 0")], [("authorization", "")]] {
        assert_eq!(bench.ask("POST", "/v1/runs", &headers, "{}").0, 401);
        assert_eq!(bench.ask("GET", &format!("/v1/runs/{run}/events"), &headers, "").0, 401);
    }
    for headers in [[("origin", "http://evil.example")], [("host", "evil.example")]] {
        assert_eq!(bench.ask("POST", "/v1/runs", &headers, "{}").0, 403);
        assert_eq!(bench.ask("GET", "/v1/capabilities", &headers, "").0, 403);
    }
    assert_eq!(bench.ask("DELETE", "/v1/runs", &[], "").0, 405);
    assert_eq!(bench.stats(), before, "nothing changed");
    assert_eq!(bench.get(&format!("/v1/runs/{run}"))["pending_approval_id"], approval);
}
