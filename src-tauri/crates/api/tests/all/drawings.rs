//! What a screen draws: the two sides of a change, and the path behind an act.

use crate::home::Home;
use serde_json::json;
use wire::Code;

#[test]
fn what_an_approval_would_change_is_shown_with_the_bytes_that_are_there() {
    let home = Home::new(61);
    let (_, approval) = home.with_a_question("delete held");
    let changes = home.must("changes.show", json!({ "of": approval }));
    assert_eq!(changes["tense"], "ahead");
    let files = changes["files"].as_array().expect("files");
    assert_eq!(files.len(), 1);
    assert_eq!((&files[0]["op"], &files[0]["path"]), (&json!("delete"), &json!("held.txt")));
    assert_eq!(files[0]["before"]["text"], "before\n");
    assert!(files[0]["after"].is_null());
}

#[test]
fn bytes_that_have_drifted_since_are_told_and_not_shown() {
    let home = Home::new(62);
    let (_, approval) = home.with_a_question("delete held");
    home.world.file("held.txt", "somebody wrote this meanwhile\n");
    let changes = home.must("changes.show", json!({ "of": approval }));
    let before = &changes["files"][0]["before"];
    assert_eq!(before["missing"], "drifted");
    assert!(before["text"].is_null());
}

#[test]
fn what_a_receipt_says_was_changed_is_shown_as_it_is_now() {
    let home = Home::new(63);
    let (_, receipt) = home.with_an_act("write a");
    let changes = home.must("changes.show", json!({ "of": receipt }));
    assert_eq!(changes["tense"], "done");
    let file = &changes["files"][0];
    assert_eq!(
        (&file["op"], &file["path"], &file["outcome"]),
        (&json!("write"), &json!("a.txt"), &json!("done"))
    );
    assert_eq!(file["after"]["text"], "new\n");
    assert!(file["before"].is_null());
}

#[test]
fn a_drawing_holds_the_focus_its_causes_and_only_edges_between_what_it_shows() {
    let home = Home::new(64);
    let (task, receipt) = home.with_an_act("write a");
    let drawing = home.must("lineage.draw", json!({ "of": receipt }));
    let nodes = drawing["nodes"].as_array().expect("nodes");
    let ids: Vec<&str> = nodes.iter().filter_map(|n| n["id"].as_str()).collect();
    assert!(ids.contains(&receipt.as_str()));
    assert!(
        nodes.iter().any(|n| n["kind"] == "effect" && n["feeds"] == true),
        "the effect feeds its receipt"
    );
    for edge in drawing["edges"].as_array().expect("edges") {
        for end in ["from", "to"] {
            assert!(ids.contains(&edge[end].as_str().expect("an id")), "{edge}");
        }
    }
    let mut places: Vec<_> = nodes.iter().map(|n| (n["layer"].as_u64(), n["row"].as_u64())).collect();
    places.sort();
    let all = places.len();
    places.dedup();
    assert_eq!(places.len(), all, "no two things stand in one place");
    let whole = home.must("lineage.draw", json!({ "of": task.to_string() }));
    assert!(whole["nodes"].as_array().expect("nodes").len() >= all);
}

#[test]
fn a_drawing_keeps_to_its_limit_and_says_what_it_left_out() {
    let home = Home::new(65);
    let (_, receipt) = home.with_an_act("write a");
    let whole = home.must("lineage.draw", json!({ "of": receipt }));
    let part = home.must("lineage.draw", json!({ "of": receipt, "limit": 4 }));
    let count = |drawing: &serde_json::Value| drawing["nodes"].as_array().expect("nodes").len() as u64;
    assert_eq!(count(&part), 4);
    assert_eq!(part["left_out"].as_u64(), Some(count(&whole) - 4));
}

#[test]
fn what_is_not_there_cannot_be_drawn_or_compared() {
    let home = Home::new(66);
    home.with_an_act("write a");
    let gone = "rcp_01a20108ed0a798a985236a898b60875";
    assert_eq!(home.ask("lineage.draw", json!({ "of": gone })).map_err(|e| e.code), Err(Code::NotFound));
    assert_eq!(home.ask("changes.show", json!({ "of": gone })).map_err(|e| e.code), Err(Code::NotFound));
    assert_eq!(home.ask("changes.show", json!({ "of": "a.txt" })).map_err(|e| e.code), Err(Code::Usage));
}
