//! What a screen draws: the two sides of a change, and the path behind an act.

use crate::home::Home;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
fn a_folder_goes_only_if_it_is_empty_by_then_and_one_that_an_undo_leaves_says_why() {
    let home = Home::new(69);
    let answers = vec![testkit::write("made/by/agent.txt", "agent"), testkit::done("written")];
    let task = home.world.script("write", answers);
    home.world.drive_allowing(task);
    home.world.file("made/person.txt", "person");
    let kernel = home.world.kernel();
    let newest = |task| kernel.task(task).expect("a task").receipts.last().expect("a receipt").receipt_id;
    let undo = kernel.rollback(newest(task), model::ingress::Channel::Cli, "undo".to_owned());
    let undo = undo.expect("it is asked for").task_id;
    let approval = home.world.drive_to_approval(undo).to_string();
    // Of each place: what became of it, and what is noted of it.
    let told = |of: &str| -> BTreeMap<String, (Value, Value)> {
        let changes = home.must("changes.show", json!({ "of": of }));
        let files = changes["files"].as_array().expect("files").clone();
        let told = |file: Value| {
            (
                file["path"].as_str().expect("a path").to_owned(),
                (file["outcome"].clone(), file["note"].clone()),
            )
        };
        files.into_iter().map(told).collect()
    };
    let if_empty = (Value::Null, json!("if it is empty by then"));
    let card = told(&approval);
    assert_eq!((&card["made"], &card["made/by"]), (&if_empty, &if_empty), "{card:?}");
    assert_eq!(card["made/by/agent.txt"], (Value::Null, Value::Null));
    home.world.drive_allowing(undo);
    let done = told(&newest(undo).to_string());
    let stays = json!("stays: it holds files that came later");
    assert_eq!(done["made"], (json!("not_done"), stays), "{done:?}");
    assert_eq!(done["made/by"], (json!("done"), json!("it was empty by then")), "{done:?}");
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

#[test]
fn rows_lines_and_bytes_of_an_approval_are_handed_out_in_parts_that_come_to_all_of_it() {
    let home = Home::new(67);
    let (_, approval) = home.with_a_question("delete held");
    let shown = home.must("approvals.show", json!({ "approval": approval }));
    assert_eq!(shown["outline"]["action_request"]["action"]["items"], json!([]), "lists are given in parts");
    assert_eq!(
        (&shown["resources"], &shown["checked"], &shown["lines_left"]),
        (&json!(1), &json!(1), &json!(0))
    );

    let piece = home.must("approvals.packet", json!({ "approval": approval, "from": 10 }));
    let decode = |text: &serde_json::Value| STANDARD.decode(text.as_str().expect("bytes")).expect("base64");
    let whole = decode(&shown["packet"]);
    assert_eq!(decode(&piece["bytes"]), whole.get(10..).expect("longer"));
    assert!(piece["next"].is_null());

    let lines = |of: &str, more: serde_json::Value| {
        let mut params = json!({ "approval": approval, "of": of });
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        home.must("approvals.lines", params)
    };
    let card = lines("card", json!({ "limit": 500 }));
    assert_eq!(card["rows"], shown["lines"]);
    let mut signed = Vec::new();
    let mut after = json!(null);
    loop {
        let page = lines("signed", json!({ "limit": 7, "after": after }));
        signed.extend(page["rows"].as_array().expect("rows").clone());
        match page.get("next") {
            Some(next) => after = next.clone(),
            None => break,
        }
    }
    let every = governance::approval::values(&whole, "", 0, usize::MAX).expect("values").lines;
    assert_eq!(signed.iter().filter_map(|line| line["text"].as_str()).collect::<Vec<_>>(), every);
    let found = lines("signed", json!({ "find": "HELD.txt" }));
    assert!(
        found["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .all(|l| l["text"].as_str().expect("a text").contains("held.txt"))
    );
    assert!(!found["rows"].as_array().expect("rows").is_empty());
    let other = home.ask("approvals.lines", json!({ "approval": approval, "of": "other" }));
    assert_eq!(other.map_err(|e| e.code), Err(Code::Usage));

    let rows = |more: serde_json::Value| {
        let mut params = json!({ "of": approval });
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        home.must("changes.show", params)
    };
    assert_eq!(
        rows(json!({}))["sum"],
        json!({ "deleted": 1, "replaced": 0, "created": 0, "moved": 0, "folders": 0, "removed": 0 })
    );
    assert_eq!(rows(json!({ "from": 1 }))["files"], json!([]));
    assert_eq!(rows(json!({ "find": "HELD" }))["total"], 1);
    assert_eq!(rows(json!({ "find": "other" }))["total"], 0);
    let brief = rows(json!({ "brief": true }));
    assert_eq!(brief["files"][0]["before"]["missing"], "later");
}

#[test]
fn a_card_of_many_rows_is_short_and_its_parts_come_to_every_row_in_the_order_of_what_they_do() {
    let home = Home::new(68);
    let items: Vec<_> = (0..600)
        .map(|at| json!({ "op": "write", "path": format!("new {at:03}.txt"), "content": format!("text {at}\n") }))
        .collect();
    let task = home.world.script("many", vec![testkit::change(json!(items)), testkit::done("ok")]);
    let approval = home.world.drive_to_approval(task).to_string();
    let shown = home.must("approvals.show", json!({ "approval": approval }));
    let outline = shown["outline"].to_string();
    assert!(!outline.contains("new%20") && outline.len() < 8_000, "{} bytes: {outline}", outline.len());
    assert_eq!((&shown["resources"], &shown["checked"]), (&json!(600), &json!(600)));
    let mut paths = Vec::new();
    loop {
        let part = home.must("changes.show", json!({ "of": approval, "from": paths.len(), "limit": 250 }));
        assert_eq!(part["total"], 600);
        let files = part["files"].as_array().expect("files").clone();
        if files.is_empty() {
            break;
        }
        paths.extend(files.into_iter().map(|file| file["path"].as_str().expect("a path").to_owned()));
    }
    assert_eq!(paths, (0..600).map(|at| format!("new%20{at:03}.txt")).collect::<Vec<_>>());
    let found = home.must("changes.show", json!({ "of": approval, "find": "599" }));
    assert_eq!((&found["total"], &found["files"][0]["after"]["text"]), (&json!(1), &json!("text 599\n")));
    let beyond =
        home.ask("approvals.part", json!({ "approval": approval, "rows": [{ "from": 599, "rows": 2 }] }));
    assert_eq!(beyond.map_err(|e| e.code), Err(Code::Usage));
    let part = json!({ "approval": approval, "rows": [{ "from": 10, "rows": 2 }], "only": ["new 100.txt"], "feedback": "enough" });
    assert_eq!(home.must("approvals.part", part)["status"], "denied");
    let smaller = home.world.drive_to_approval(task).to_string();
    let left = home.must("changes.show", json!({ "of": smaller }));
    let paths: Vec<_> =
        left["files"].as_array().expect("files").iter().map(|file| file["path"].clone()).collect();
    assert_eq!(paths, ["new%20010.txt", "new%20011.txt", "new%20100.txt"]);
}
