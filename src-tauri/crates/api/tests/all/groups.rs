//! Tasks by how they stand: each in one group, found there page by page, counted, and found again by its words.

use crate::home::Home;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const GROUPS: [&str; 4] = ["waiting", "going", "done", "otherwise"];

/// Which group a row of the list belongs to, as a person who reads it would say.
fn group_of(row: &Value) -> &'static str {
    let number = |name: &str| row[name].as_u64().expect("a number");
    if number("open_approvals") + number("open_questions") + number("unknown_effects") > 0 {
        "waiting"
    } else if row["ended_at"].is_null() {
        "going"
    } else if row["run_status"] == "completed" && row["refused_by"].is_null() {
        "done"
    } else {
        "otherwise"
    }
}

fn ids(page: &Value) -> Vec<String> {
    let rows = page["rows"].as_array().expect("rows");
    rows.iter().map(|row| row["task_id"].as_str().expect("an id").to_owned()).collect()
}

/// Every page of a list.
fn walked(home: &Home, asked: &Value, limit: u32) -> Vec<String> {
    let (mut found, mut after) = (Vec::new(), Value::Null);
    loop {
        let mut part = asked.clone();
        (part["limit"], part["after"]) = (json!(limit), after);
        let page = home.must("task.list", part);
        assert!(ids(&page).len() <= limit as usize);
        found.extend(ids(&page));
        match page.get("next") {
            Some(next) => after = next.clone(),
            None => return found,
        }
    }
}

/// Of every kind at least one: asked and open, asked and refused, allowed, cancelled, not begun, done without an act.
fn many() -> Home {
    let home = Home::new(11);
    for n in 0..3 {
        let task = home.world.script(&format!("goal quiet {n}"), vec![testkit::done("nothing to do")]);
        home.world.drive(task);
    }
    home.with_an_act("goal act");
    let (refused, approval) = home.with_a_question("goal refused");
    home.must("approvals.deny", json!({ "approval": approval }));
    home.world.drive(refused);
    let (left, _) = home.with_a_question("goal left");
    home.must("task.cancel", json!({ "task": left.to_string() }));
    home.world.script("goal later", vec![testkit::done("later")]);
    home.with_a_question("goal open");
    home
}

#[test]
fn every_task_is_in_exactly_the_group_its_row_tells_of_and_is_counted_there() {
    let home = many();
    let all = home.must("task.list", json!({ "limit": 500 }));
    let mut expected: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in all["rows"].as_array().expect("rows") {
        expected.entry(group_of(row)).or_default().push(row["task_id"].as_str().expect("an id").to_owned());
    }
    for group in GROUPS {
        let wanted = expected.get(group).cloned().unwrap_or_default();
        assert!(!wanted.is_empty(), "the store has none that is {group}: {all:#}");
        for limit in [1, 2, 500] {
            assert_eq!(walked(&home, &json!({ "group": group }), limit), wanted, "{group} by {limit}");
        }
    }
    let of = |group: &str| expected.get(group).map_or(0, Vec::len);
    let counts = json!({
        "all": ids(&all).len(), "waiting": of("waiting"), "going": of("going"),
        "ended": all["rows"].as_array().expect("rows").iter().filter(|row| !row["ended_at"].is_null()).count(),
    });
    assert_eq!(home.must("task.count", json!({})), counts);
    let ended = walked(&home, &json!({ "group": "ended" }), 2);
    assert_eq!(ended.len(), of("done") + of("otherwise"));
    assert_eq!(
        home.ask("task.list", json!({ "group": "asleep" })).expect_err("no group").code,
        wire::Code::Usage
    );
}

#[test]
fn a_search_finds_the_tasks_of_a_group_in_the_order_of_the_newest_hit_by_any_page() {
    let home = many();
    let all = walked(&home, &json!({ "search": "goal" }), 500);
    assert_eq!(all.len(), 8, "each is named by its goal");
    for limit in [1, 3] {
        assert_eq!(walked(&home, &json!({ "search": "goal" }), limit), all);
    }
    for group in GROUPS {
        let listed = walked(&home, &json!({ "group": group }), 500);
        let found = walked(&home, &json!({ "group": group, "search": "goal" }), 1);
        let wanted: Vec<String> = all.iter().filter(|id| listed.contains(id)).cloned().collect();
        assert_eq!(found, wanted, "{group}");
    }
    assert!(walked(&home, &json!({ "search": "goal nowhere" }), 500).is_empty());
}
