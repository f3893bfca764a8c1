//! What a person reads before a yes, and what the terminal tells afterwards: the very bytes, counts that nothing can
//! push away, questions with their choices, and results in place.

use super::allow;
use crate::bench::{APPROVAL, Bench, before, text};
use crate::cards::{asked, model, tool};
use serde_json::{Value, json};
use testkit::pty::Pty;

/// A run of a model at a terminal.
fn run(bench: &Bench, answers: &[Value]) -> Pty {
    let (folder, model) = (bench.folder(), model(answers));
    let goal = ["run", "do it", "--workspace", folder.to_str().unwrap(), "--model", &model];
    bench.terminal(&goal)
}

fn edit() -> Vec<Value> {
    vec![
        tool("read", json!({ "path": "a.txt" })),
        tool("write", json!({ "path": "a.txt", "content": "alpha\nrm -rf everything\n" })),
        tool("done", json!({ "summary": "All tests pass." })),
    ]
}

#[test]
fn a_replaced_file_is_shown_as_the_difference_at_every_place_where_it_can_be_approved() {
    let bench = Bench::new();
    let mut terminal = run(&bench, &edit());
    terminal.expect("Replaces 1 file").expect("a.txt").expect("-alpha").expect("+rm -rf everything");
    terminal.expect("REPLACES 1 file").expect("Approve?").send("later\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    let waiting = bench.run(&["approvals", "list", "--json"]).ends_with(0).json();
    let approval = text(&waiting["rows"][0]["approval_id"]);
    let short = &approval[approval.len() - 8..];
    // Without a terminal, as JSON, and where the yes is given.
    let shown = bench.run(&["approvals", "show", short]).ends_with(0).out;
    assert!(shown.contains("+rm -rf everything") && shown.contains("REPLACES 1 file"), "{shown}");
    let told = bench.run(&["approvals", "show", short, "--json"]).ends_with(0).json();
    assert_eq!(told["changes"]["files"][0]["after"]["text"], "alpha\nrm -rf everything\n", "{told}");
    let mut terminal = bench.terminal(&["approvals", "approve", short]);
    terminal.expect("+rm -rf everything").expect("Approve?").send("details\r");
    terminal
        .expect("Every value that your signature covers")
        .expect("content_sha256")
        .expect("Approve?")
        .send("y\r");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    // What the model says of itself stands under what was done, and is marked.
    terminal.expect("Done.").expect("Overwrote a.txt").expect("UNVERIFIED").expect("All tests pass.");
    terminal.expect("Undo: hermit rollback ").expect("Receipt: ").expect("Proof: ");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn what_a_command_printed_does_not_push_its_deletions_out_of_sight() {
    let bench = Bench::new();
    let flood = "rm a.txt; echo x > b.jpg; yes '' | head -4090";
    let command = tool("command", json!({ "argv": ["sh", "-c", flood] }));
    let mut terminal = run(&bench, &[command, tool("done", json!({ "summary": "done" }))]);
    // In the line before the question, and everything on one screen or two.
    terminal.expect("DELETES 1 file · REPLACES 1 file").expect("Approve?");
    let shown = terminal.shown();
    assert!(shown.lines().count() < 80, "{} lines", shown.lines().count());
    assert!(shown.contains("more lines not shown here"), "{shown}");
    // Stopped: denied, and the task ends with it.
    terminal.send("stop\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 3, "{shown}");
    assert!(shown.contains("Stopped: you denied it. Nothing was changed."), "{shown}");
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    assert!(matches!(text(&tasks["rows"][0]["status"]).as_str(), "cancelled" | "failed"), "{tasks}");
}

#[test]
fn a_question_is_shown_with_its_choices_and_answered_in_place() {
    let bench = Bench::new();
    let ask = tool("ask", json!({ "question": "Which currency?", "choices": ["EUR", "USD"] }));
    let answers = [ask, tool("done", json!({ "summary": "thank you" }))];
    let waits = asked(&bench, &answers);
    assert_eq!(waits["question"]["question"], "Which currency?", "{waits}");
    assert_eq!(waits["question"]["choices"], json!(["EUR", "USD"]), "{waits}");
    let task = text(&waits["row"]["task_id"]);
    let shown = bench.run(&["task", "show", &task]).ends_with(0).out;
    assert!(shown.contains("It asks: Which currency?") && shown.contains("2  USD"), "{shown}");

    let mut terminal = run(&bench, &answers);
    terminal.expect("It asks: Which currency?").expect("1  EUR").expect("2  USD");
    terminal.expect("Your answer").send("3\r").expect("not one of the choices");
    terminal.expect("Your answer").send("\r").expect("Enter alone answers nothing");
    terminal.expect("Your answer").send("2\r").expect("Done. Nothing was changed.");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let all = bench.run(&["search", "USD"]).ends_with(0).out;
    assert!(all.contains("USD"), "the words of the choice were given: {all}");
}

#[test]
fn a_part_that_was_given_away_asks_at_the_same_terminal_and_its_words_come_back() {
    let bench = Bench::new();
    let part = json!([{ "goal": "write part.txt", "title": "the part" }]);
    let answers = [
        tool("delegate", json!({ "tasks": part })),
        tool("write", json!({ "path": "part.txt", "content": "x\n" })),
        tool("done", json!({ "summary": "part.txt is there" })),
        tool("done", json!({ "summary": "all of it is done" })),
    ];
    let mut terminal = run(&bench, &answers);
    terminal.expect("the part").expect("part.txt");
    // The card says which task of the tree asks, and which agent.
    terminal.expect("Part of: do it").expect("Asked by: words");
    let tasks = bench.run(&["task", "list"]).ends_with(0).out;
    assert!(tasks.contains("running") && !tasks.contains("interrupted"), "{tasks}");
    allow(&mut terminal);
    terminal.expect("Done.").expect("Created part.txt").expect("all of it is done");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(std::fs::read_to_string(bench.folder().join("part.txt")).unwrap(), "x\n");
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    let rows = tasks["rows"].as_array().unwrap();
    let [child, parent] = rows.iter().fold([None; 2], |[child, parent], row| {
        if row["origin"] == "agent" { [Some(row), parent] } else { [child, Some(row)] }
    });
    let (child, parent) = (child.unwrap(), parent.unwrap());
    assert_eq!((&child["parent_task_id"], &child["run_status"]), (&parent["task_id"], &json!("completed")));
    let shown = bench.run(&["task", "show", &text(&child["task_id"])]).ends_with(0).out;
    assert!(shown.contains("the agent of another task") && shown.contains("part of"), "{shown}");
    let asked = bench.run(&["approvals", "list", "--status", "any", "--json"]).ends_with(0).json();
    let row = &asked["rows"][0];
    let whole = json!({ "task_id": parent["task_id"], "goal": "do it" });
    assert_eq!((&row["part_of"], &row["agent"]), (&whole, &json!("words")), "{asked}");
    let receipts = bench.run(&["receipts", "list", "--json"]).ends_with(0).json();
    let mut receipts = receipts["rows"].as_array().unwrap().iter();
    let receipt =
        receipts.find(|row| row["task_id"] == child["task_id"] && row["class"] == "tool_execution").unwrap();
    let shown = bench.run(&["receipts", "show", &text(&receipt["receipt_id"])]).ends_with(0).out;
    assert!(shown.contains("Part of: do it\n") && shown.contains("Asked by: words\n"), "{shown}");
    let mut terminal = bench.terminal(&["rollback", &text(&parent["task_id"])]);
    allow(&mut terminal);
    assert_eq!(terminal.end().0, 0);
    assert!(!bench.folder().join("part.txt").exists(), "what a part did is undone with the whole");
}

#[test]
fn a_part_at_its_limit_asks_at_the_same_terminal_and_goes_on_with_what_it_is_given() {
    let bench = Bench::new();
    // Too few for its first call.
    let part = json!([{ "goal": "look around", "title": "the part", "tokens": 2_000 }]);
    let answers = [
        tool("delegate", json!({ "tasks": part })),
        tool("done", json!({ "summary": "it looked" })),
        tool("done", json!({ "summary": "all of it is done" })),
    ];
    let mut terminal = run(&bench, &answers);
    terminal.expect("the part").expect("This part of a task has used 0 of 2000 tokens");
    terminal.expect("Part of: do it").expect("Your answer").send("100000\r");
    terminal.expect("all of it is done");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    let rows = tasks["rows"].as_array().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row["run_status"] == "completed"), "{tasks}");
}

#[test]
fn a_passphrase_typed_at_the_wrong_place_is_neither_shown_nor_taken() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    terminal.expect("Approve?").send(&format!("{APPROVAL}\r"));
    terminal.expect("That is not one of the answers");
    terminal.expect("Approve?").send("y\r");
    // Typed on while the key is being opened.
    terminal.expect("Approval passphrase: ").send(&format!("wrong\r{APPROVAL}"));
    terminal.expect("is not the approval passphrase");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    // What is said of a wrong one has the same words in it as the right one.
    let shown = shown.replace("that is not the approval passphrase", "");
    assert!(!shown.contains(APPROVAL), "{shown}");
}

#[test]
fn duplicates_are_shown_with_the_file_that_stays() {
    let bench = Bench::new();
    std::fs::write(bench.folder().join("copy.txt"), "alpha").unwrap();
    let folder = bench.folder();
    let words = ["run", "--playbook", "duplicates", "--workspace", folder.to_str().unwrap()];
    let mut terminal = bench.terminal(&words);
    terminal.expect("Moves 1 file; nothing is lost").expect("1 to Duplicates");
    terminal.expect(".txt, same as ").expect("(stays)");
    allow(&mut terminal);
    terminal.expect("Done.").expect("Moved copy.txt to Duplicates");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn first_steps_that_were_left_are_taken_up_again_without_another_sample() {
    let bench = Bench::new();
    let folder = bench.folder();
    let words = ["start", "--workspace", folder.to_str().unwrap()];
    let mut terminal = bench.terminal(&words);
    terminal.expect("Approve?").send("later\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    let mut terminal = bench.terminal(&["start"]);
    terminal.expect("was not finished");
    allow(&mut terminal);
    terminal.expect("Undo: hermit rollback ").expect("valid");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    assert_eq!(tasks["rows"].as_array().unwrap().len(), 1, "{tasks}");
}

#[test]
fn a_part_of_what_a_command_did_is_chosen_at_the_card_and_the_rest_is_denied_with_words() {
    let bench = Bench::new();
    let command = tool("command", json!({ "argv": ["sh", "-c", "rm a.txt; echo x > b.jpg"] }));
    let mut terminal = run(&bench, &[command, tool("done", json!({ "summary": "done" }))]);
    terminal.expect("DELETES 1 file · REPLACES 1 file").expect("Approve?").send("part\r");
    terminal.expect("A file or folder to approve").send("c.txt\r");
    terminal.expect("Another one").send("\r").expect("Reason").send("\r").expect("has no file `c.txt`");
    terminal.expect("Approve?").send("part\r");
    terminal.expect("A file or folder to approve").send("b.jpg\r").expect("Another one").send("\r");
    terminal.expect("Reason").send("a.txt is mine\r");
    // The smaller card, by itself: what was left out is not in it.
    terminal.expect("A PART of what was asked").expect("Approve?");
    let shown = terminal.shown();
    let (_, smaller) = shown.rsplit_once("A PART of what was asked").unwrap();
    assert!(smaller.contains("REPLACES 1 file") && !smaller.contains("DELETES"), "{smaller}");
    terminal.send("y\r").expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    terminal.expect("Done.");
    assert_eq!(terminal.end().0, 0);
    let files = bench.files();
    assert_eq!(files["b.jpg"], "x\n");
    assert!(files.contains_key("a.txt"), "{files:?}");
    let all = bench.run(&["approvals", "list", "--status", "any", "--json"]).ends_with(0).json();
    let denied = all["rows"].as_array().unwrap().iter().find(|row| row["status"] == "denied").unwrap();
    assert_eq!(denied["feedback"], "a.txt is mine (left out: \"a.txt\")", "{denied}");
    // It has one receipt, and is undone like any other.
    let mut terminal = bench.terminal(&["undo"]);
    allow(&mut terminal);
    terminal.expect("Done.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(bench.files(), before());
    bench.run(&["ledger", "verify", "--content"]).ends_with(0);
}

#[test]
fn files_named_with_the_approval_are_the_only_ones_that_are_asked_about() {
    let bench = Bench::new();
    let (task, approval) = bench.waiting();
    let unknown = bench.terminal(&["approvals", "approve", &approval, "--only", "nothing.txt"]).end();
    assert!(unknown.0 == 2 && unknown.1.contains("has no file `nothing.txt`"), "{unknown:?}");
    assert_eq!(bench.status(&approval), "pending");
    // A program cannot choose for a person at a terminal.
    bench.run(&["approvals", "approve", &approval, "--only", "a.txt"]).ends_with(3);
    assert_eq!(bench.status(&approval), "pending");
    let words = ["approvals", "approve", &approval, "--only", "a.txt", "--feedback", "the rest stays"];
    let mut terminal = bench.terminal(&words);
    terminal.expect("A PART of what was asked").expect("moves 1 file");
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(bench.status(&approval), "denied");
    let (then, now) = (before(), bench.files());
    let moved = then.keys().filter(|name| !now.contains_key(*name)).collect::<Vec<_>>();
    assert_eq!(moved, ["a.txt"], "{code}: {shown}");
    let proof = bench.path("part.zip");
    bench.run(&["proof", "export", &task, "-o", proof.to_str().unwrap()]).ends_with(0);
    let verified = bench.run(&["proof", "verify", proof.to_str().unwrap(), "--json"]);
    assert!(
        matches!(verified.json()["verdict"].as_str(), Some("valid" | "unverifiable")),
        "{}",
        verified.out
    );
}

/// The one question that waits.
fn question(bench: &Bench) -> String {
    let rows = bench.run(&["approvals", "list", "--status", "pending", "--json"]).ends_with(0).json();
    let [row] = <[Value; 1]>::try_from(rows["rows"].as_array().unwrap().clone()).expect("one question");
    text(&row["approval_id"])
}

#[test]
fn a_part_of_an_undo_is_taken_and_the_rest_is_undone_another_time() {
    let bench = Bench::new();
    let (_, receipt) = bench.tidied();
    let tidy = bench.files();
    let moved = tidy.keys().find(|name| name.ends_with("/a.txt")).expect("it was moved").clone();
    bench.run(&["rollback", &receipt]).ends_with(4);
    let mut terminal = bench.terminal(&["approvals", "approve", &question(&bench), "--only", &moved]);
    terminal.expect("A PART of what was asked");
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    let now = bench.files();
    assert!(now.contains_key("a.txt") && !now.contains_key(&moved), "{code}: {shown}");
    let back = before().keys().filter(|name| !tidy.contains_key(*name) && now.contains_key(*name)).count();
    assert_eq!(back, 1, "the others stay where they are");
    // The receipt is not undone yet: what is left of it can be.
    bench.run(&["rollback", &receipt]).ends_with(4);
    let mut terminal = bench.terminal(&["approvals", "approve", &question(&bench)]);
    allow(&mut terminal);
    assert_eq!(terminal.end().0, 0);
    assert_eq!(bench.files(), before());
    bench.run(&["ledger", "verify", "--content"]).ends_with(0);
}

#[test]
fn hunks_that_the_card_numbers_are_taken_one_by_one() {
    let bench = Bench::new();
    let lines = |changed: &[usize]| -> String {
        (1..=60).map(|n| format!("{}{n}\n", if changed.contains(&n) { "new " } else { "" })).collect()
    };
    std::fs::write(bench.folder().join("a.txt"), lines(&[])).unwrap();
    let says = [
        tool("read", json!({ "path": "a.txt" })),
        tool("write", json!({ "path": "a.txt", "content": lines(&[3, 30, 55]) })),
        tool("done", json!({ "summary": "done" })),
    ];
    let waiting = asked(&bench, &says);
    let approval = text(&waiting["waits_for"]["id"]);
    let told = bench.run(&["approvals", "show", &approval, "--json"]).ends_with(0).json();
    let edits = told["changes"]["files"][0]["edits"].as_array().unwrap();
    assert_eq!(
        edits.iter().map(|edit| edit["hunk"].as_u64().unwrap()).collect::<Vec<_>>(),
        [1, 2, 3],
        "{told}"
    );
    for (wrong, why) in
        [("a.txt#4", "no hunk 4"), ("a.txt#0", "no file `a.txt#0`"), ("z.txt#1", "no file `z.txt`")]
    {
        let refused = bench.terminal(&["approvals", "approve", &approval, "--only", wrong]).end();
        assert!(refused.0 == 2 && refused.1.contains(why), "{refused:?}");
    }
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    terminal.expect("hunk 1 of 3").expect("Approve?").send("part\r");
    terminal.expect("hunks as file#1,3").send("a.txt#1\r").expect("Another one").send("a.txt#3\r");
    terminal.expect("Another one").send("\r").expect("Reason").send("not that\r");
    terminal.expect("A PART of what was asked");
    allow(&mut terminal);
    terminal.expect("Done.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(bench.files()["a.txt"], lines(&[3, 55]));
    let all = bench.run(&["approvals", "list", "--status", "denied", "--json"]).ends_with(0).json();
    let said = "not that (left out: hunk 2 of 3 in \"a.txt\"; taken: hunks 1, 3 of 3 in \"a.txt\")";
    assert_eq!(all["rows"][0]["feedback"], said, "{all}");
    let mut terminal = bench.terminal(&["undo"]);
    allow(&mut terminal);
    terminal.expect("Done.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(bench.files()["a.txt"], lines(&[]));
}
