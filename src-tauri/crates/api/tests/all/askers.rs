//! Who asks, and of which whole: what stands beside a card, a question and a receipt, and in nothing that is signed.

use crate::home::Home;
use kernel::command::submit::Reasoning;
use model::TaskId;
use serde_json::{Value, json};

fn id(of: &Value) -> TaskId {
    of.as_str().expect("an identifier").parse().expect("a task")
}

/// A task whose agent gave away one part, which gives these answers.
fn with_a_part(home: &Home, of_the_part: Vec<model::proposal::Answer>) -> (TaskId, TaskId) {
    let given = json!({ "tasks": [{ "goal": "write the part", "title": "the part" }] });
    let mut answers = vec![testkit::say("delegate", given)];
    answers.extend(of_the_part);
    answers.push(testkit::done("all of it is done"));
    home.world.reasoners.script("agents", answers);
    let goal = "tidy all of it\nand whatever is beside it";
    let submission = home.world.submission(goal, Reasoning::Scripted { name: "agents".to_owned() });
    let whole = home.world.kernel().submit(&submission).expect("submitted").task_id;
    home.world.drive(whole);
    let shown = home.must("task.show", json!({ "task": whole.to_string() }));
    (whole, id(&shown["children"][0]))
}

/// Neither a whole nor an agent.
fn is_plain(row: &Value) -> bool {
    row.is_object() && row.get("part_of").is_none() && row.get("agent").is_none()
}

#[test]
fn a_row_a_card_and_a_receipt_of_a_part_name_the_whole_and_the_agent() {
    let home = Home::new(601);
    let answers = vec![testkit::write("part.txt", "x\n"), testkit::done("it is there")];
    let (whole, part) = with_a_part(&home, answers);
    let approval = home.world.drive_to_approval(part).to_string();
    let row = home.must("approvals.list", json!({}))["rows"][0].clone();
    let named = json!({ "task_id": whole.to_string(), "goal": "tidy all of it…" });
    assert_eq!((&row["part_of"], &row["agent"]), (&named, &json!("script")), "{row}");
    let folder = home.must("task.show", json!({ "task": part.to_string() }))["workspace"].clone();
    assert!(folder.is_string(), "{folder}");
    assert_eq!(row["workspace"], folder, "the folder is named as the task names it");
    let card = home.must("approvals.show", json!({ "approval": approval }));
    assert_eq!(card["row"], row);
    assert!(!card["outline"].to_string().contains("tidy all of it"), "it is not signed");
    home.world.drive_allowing(part);
    let receipts = home.must("receipts.list", json!({ "task": part.to_string() }));
    let mut rows = receipts["rows"].as_array().expect("rows").iter();
    let receipt = rows.find(|row| row["class"] == "tool_execution").expect("a receipt of the write");
    let receipt = receipt["receipt_id"].clone();
    let shown = home.must("receipts.show", json!({ "receipt": receipt }));
    assert_eq!((&shown["part_of"], &shown["agent"]), (&named, &json!("script")), "{shown}");
    assert!(!shown["receipt"].to_string().contains("tidy all of it"), "it is not signed");

    // An undo has a task before it, and is no part of it; Hermit itself asks for it.
    let undo = home.must("receipts.rollback", json!({ "receipt": receipt }));
    let approval = home.world.drive_to_approval(id(&undo["task_id"])).to_string();
    let card = home.must("approvals.show", json!({ "approval": approval }));
    assert!(is_plain(&card["row"]), "{card}");
}

#[test]
fn a_question_of_a_part_names_the_whole_and_the_agent() {
    let home = Home::new(602);
    let ask = testkit::say("ask", json!({ "question": "Which colour?" }));
    let (whole, part) = with_a_part(&home, vec![ask]);
    home.world.drive(part);
    let row = home.must("task.questions", json!({ "task": part.to_string() }))["rows"][0].clone();
    assert_eq!(row["part_of"]["task_id"], whole.to_string(), "{row}");
    assert_eq!((&row["part_of"]["goal"], &row["agent"]), (&json!("tidy all of it…"), &json!("script")));
}

#[test]
fn what_is_no_part_and_what_no_agent_asked_for_names_neither() {
    let home = Home::new(603);
    home.world.file("one.txt", "same\n");
    home.world.file("two.txt", "same\n");
    let task = home.world.playbook("duplicates");
    home.world.drive_to_approval(task);
    let row = home.must("approvals.list", json!({}))["rows"][0].clone();
    assert!(is_plain(&row), "{row}");
    home.world.drive_allowing(task);
    let receipts = home.must("receipts.list", json!({ "task": task.to_string() }));
    let mut rows = receipts["rows"].as_array().expect("rows").iter();
    let receipt = rows.find(|row| row["class"] == "tool_execution").expect("a receipt of the move");
    assert!(is_plain(&home.must("receipts.show", json!({ "receipt": receipt["receipt_id"] }))));
    // A task of its own has an agent and no whole.
    home.with_a_question("delete held");
    let row = home.must("approvals.list", json!({}))["rows"][0].clone();
    assert_eq!((row.get("part_of"), &row["agent"]), (None, &json!("script")), "{row}");
}
