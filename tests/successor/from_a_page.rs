//! A trial as the page Changes begins it: over the API of the process that holds the store, played by clones that are real programs.

use super::has_walls;
use super::proposed::{allowed, done, task_of, trials, writes};
use crate::journeys::attached::Served;
use crate::journeys::stage::Stage;
use conforms::conforms;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{Chat, Large};

fn rules(text: &str) -> String {
    let change = json!({ "kind": "policy", "rules": text });
    json!({ "says": "nothing is deleted", "sources": ["my own idea"], "change": change }).to_string()
}

#[conforms(part = "HV-5-1")]
#[test]
fn a_trial_is_begun_over_the_api_within_the_budget_that_was_shown_and_judged_there() {
    if !has_walls() {
        return;
    }
    let stage = Stage::new();
    let chat = Chat::saying(Large::STRONG, vec![writes("a.md"), done("written")]);
    allowed(&stage, "write a note", &chat.address());
    let task = task_of(&stage, "write a note");
    let served = Served::by(&stage);
    let ask = |command: &str, body: &Value| served.ask(&stage, "POST", &format!("/api/{command}"), body);
    let patches = [rules("deny FileDelete(**)\n")];

    // What it may use up is told before; what can be no change is refused, and so is whoever has no token.
    let budget = json!({ "patches": patches, "wall_seconds": 120 });
    let (status, previewed) = ask("successor.preview", &budget);
    assert_eq!(
        (status, &previewed["changes"][0]["says"]),
        (200, &json!("nothing is deleted")),
        "{previewed}"
    );
    let (status, refused) = ask("successor.preview", &json!({ "patches": [rules("alow FileEdit(**)\n")] }));
    assert!(status >= 400 && refused["message"].to_string().contains("line 1"), "{refused}");
    let begins = json!({
        "patches": patches, "about": "nothing is deleted", "tasks": [task], "draw": 1, "seed": 7, "wall_seconds": 120,
    });
    let (status, refused) = served.ask_with("", ("POST", "/api/successor.try_change"), &begins);
    assert_eq!(status, 401, "{refused}");
    assert!(trials(&stage).is_empty());

    let (status, begun) = ask("successor.try_change", &begins);
    assert_eq!(status, 200, "{begun}");
    let row = &begun["trials"][0];
    assert_eq!((&row["seed"], &row["proposed_by"]), (&json!(7), &Value::Null), "{row}");
    let named = json!({ "trial": row["trial_id"] });
    let shown = || ask("successor.show", &named).1;
    // Each planted change is tried by a clone of its own.
    let by = Instant::now() + Duration::from_secs(300);
    while shown()["trial"]["state"] == "running" {
        assert!(Instant::now() < by, "no verdict: {}", shown());
        std::thread::sleep(Duration::from_millis(100));
    }
    let shown = shown();
    assert_eq!((&shown["trial"]["state"], &shown["tasks"]), (&json!("judged"), &json!([task])), "{shown}");
    assert_eq!(shown["budget"], previewed["budget"]);
    assert_eq!(shown["verdict"]["is_signed"], true, "{shown}");
    let planted = shown["verdict"]["planted"].as_array().expect("planted changes");
    assert!(!planted.is_empty() && planted.iter().all(|one| one["refused"] == true), "{planted:?}");
    // It has its end, so that nothing is left to stop.
    let (status, refused) = ask("successor.stop", &named);
    assert_eq!((status, &refused["code"]), (409, &json!("conflict")), "{refused}");
    drop(served);
    stage.is_sound();
}
