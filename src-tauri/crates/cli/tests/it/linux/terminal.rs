//! What a person at a terminal can do.

use super::allow;
use crate::bench::{APPROVAL, Bench, before, text};

#[test]
fn a_person_allows_a_tidy_sees_it_done_and_takes_it_back() {
    let bench = Bench::new();
    let folder = bench.folder();
    let mut terminal =
        bench.terminal(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap()]);
    terminal.expect("Moves 3 files; nothing is lost").expect("1 to Documents").expect("a.txt");
    assert_eq!(bench.files(), before(), "nothing moves before the yes");
    allow(&mut terminal);
    terminal.expect("Done.").expect("Undo: hermit rollback ");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains(APPROVAL), "the passphrase is never shown");
    assert!(!bench.files().contains_key("a.txt"));
    assert_eq!(bench.files().len(), 3);

    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    let receipt = bench.receipt(&text(&tasks["rows"][0]["task_id"]));
    let mut terminal = bench.terminal(&["rollback", &receipt]);
    // Putting things back is of moderate risk: one word and the passphrase.
    terminal.expect("Moderate risk").expect("Approve?").send("yes\r");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(bench.files(), before());
    let shown = bench.run(&["receipts", "show", &receipt, "--json"]).ends_with(0).json();
    assert!(shown["row"]["undone_by"].is_string(), "{shown}");
    assert_eq!(shown["signature"], "holds");
}

#[test]
fn enter_alone_decides_nothing() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    // However often: it is asked again, and nothing ends by it.
    for _ in 0..5 {
        terminal.expect("Approve?").send("\r").expect("Enter alone decides nothing");
    }
    terminal.expect("Approve?").send("later\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert!(shown.contains("Nothing was decided"));
    assert_eq!(bench.status(&approval), "pending");
    assert_eq!(bench.files(), before());
}

#[test]
fn keys_typed_before_the_card_was_shown_approve_nothing() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    // Everything that would say yes, before the question is there.
    terminal.send(&format!("y\rhigh\r{APPROVAL}\r"));
    terminal.expect("Approve?").send("later\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert_eq!(bench.status(&approval), "pending");
    assert_eq!(bench.files(), before());
}

#[test]
fn a_wrong_passphrase_signs_nothing_and_can_be_corrected() {
    let bench = Bench::new();
    let (task, approval) = bench.waiting();
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    terminal.expect("Approve?").send("allow\r");
    terminal.expect("Approval passphrase: ").send("not it at all\r");
    terminal.expect("is not the approval passphrase");
    terminal.expect("Approval passphrase: ").send("\r");
    terminal.expect("Nothing was decided").expect("Approve?").send("later\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert_eq!(bench.status(&approval), "pending");

    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(bench.status(&approval), "granted");
    assert_eq!(bench.run(&["task", "show", &task, "--json"]).json()["row"]["status"], "completed");
}

#[test]
fn the_second_word_is_needed_at_high_risk() {
    let bench = Bench::new();
    // What acts later as code is of high risk wherever it comes to lie; that many files are moved is not.
    for number in 0..25 {
        std::fs::write(bench.folder().join(format!("note{number}.txt")), "words").unwrap();
    }
    std::fs::write(bench.folder().join("setup.py"), "print()").unwrap();
    let (_, approval) = bench.waiting();
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    terminal.expect("Approve?").send("y\r");
    terminal.expect("High risk. Type `high`").send("y\r");
    terminal.expect("Type `high`").send("no\r");
    terminal.expect("Nothing was decided").expect("Approve?").send("later\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert_eq!(bench.status(&approval), "pending");
}

#[test]
fn a_no_at_the_terminal_ends_with_three_and_moves_nothing() {
    let bench = Bench::new();
    let folder = bench.folder();
    let mut terminal =
        bench.terminal(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap()]);
    terminal.expect("Approve?").send("n\r");
    terminal.expect("Reason (optional").send("leave them\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 3, "{shown}");
    assert_eq!(bench.files(), before());
    // It is told as a decision; the status on record stays what it is.
    assert!(shown.contains("Denied by you."), "{shown}");
    assert!(!shown.contains("Failed"), "{shown}");
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    assert_eq!(text(&tasks["rows"][0]["status"]), "failed", "{tasks}");
    let listed = bench.run(&["task", "list"]).ends_with(0);
    assert!(listed.out.contains("denied by you"), "{}", listed.out);
}

#[test]
fn first_steps_at_a_terminal_lead_to_a_proof_that_verifies() {
    let bench = Bench::bare();
    let folder = bench.folder();
    let home = bench.home();
    let environment =
        [("HERMIT_HOME", home.to_str().unwrap()), ("TMPDIR", home.parent().unwrap().to_str().unwrap())];
    let arguments = ["start", "--workspace", folder.to_str().unwrap()];
    let mut terminal = testkit::pty::Pty::spawn(crate::bench::program(), &arguments, &environment);
    terminal.expect("No keychain works here").expect("8 characters or more");
    for (question, words) in [("Vault passphrase", crate::bench::VAULT), ("Approval passphrase", APPROVAL)] {
        terminal.expect(&format!("{question}: ")).send(&format!("{words}\r"));
        terminal.expect(&format!("{question} once more: ")).send(&format!("{words}\r"));
    }
    allow(&mut terminal);
    terminal.expect("hermit rollback ").expect("valid");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(bench.files().len(), 3);
}

#[test]
fn a_task_is_undone_at_a_terminal_after_its_plan_and_one_yes_and_a_no_leaves_it() {
    let bench = Bench::new();
    let (task, _) = bench.tidied();
    let tidied = bench.files();
    assert_ne!(tidied, before(), "there is something to undo");

    let mut terminal = bench.terminal(&["rollback", &task, "--plan"]);
    terminal
        .expect("the newest first")
        .expect("It would")
        .expect(" back to \"a.txt\"")
        .expect("remove the folder")
        .expect("if it is empty by then");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("Approve?"), "a plan asks nobody: {shown}");

    let mut terminal = bench.terminal(&["rollback", &task]);
    terminal.expect("It would").expect("Approve?").send("deny\r");
    terminal.expect("Reason (optional").send("\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 3, "{shown}");
    assert_eq!(bench.files(), tidied, "a no leaves everything");

    // By the last digits of its identifier.
    let mut terminal = bench.terminal(&["rollback", &task[task.len() - 8..]]);
    terminal
        .expect("It would")
        .expect("Moves 3 files")
        .expect("Removes 3 folders, each if it is empty by then");
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(bench.files(), before());

    let mut terminal = bench.terminal(&["rollback", &task]);
    terminal.expect("there is nothing to undo");
    let (code, shown) = terminal.end();
    assert_eq!(code, 1, "{shown}");
}

#[test]
fn the_last_change_is_undone_without_naming_it_and_then_there_is_nothing_left_to_undo() {
    let bench = Bench::new();
    bench.tidied();
    let mut terminal = bench.terminal(&["undo"]);
    terminal.expect("Undo: ").expect("Moves 3 files");
    allow(&mut terminal);
    terminal.expect("Done.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(bench.files(), before());
    let mut terminal = bench.terminal(&["undo"]);
    terminal.expect("there is nothing to undo");
    assert_eq!(terminal.end().0, 1);
}

#[test]
fn what_is_remembered_since_keeps_nobody_from_undoing_the_change_of_files_before_it() {
    let bench = Bench::new();
    bench.tidied();
    let folder = bench.folder();
    let add = ["memory", "add", "the logo is blue", "--workspace", folder.to_str().unwrap()];
    bench.run(&add).ends_with(4);
    let mut terminal = bench.terminal(&["approvals", "approve"]);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("hermit rollback"), "no undo is offered that would be refused: {shown}");
    let mut terminal = bench.terminal(&["undo"]);
    terminal.expect("Undo: ").expect("Moves 3 files");
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(bench.files(), before());
}

const FOUR: &str = r#"
playbook: 1
name: four
title: Write four files
description: Writes two notes, what acts as code, and another note.
steps:
  - write: { path: "one.md", content: "a note" }
  - write: { path: "two.md", content: "a note" }
  - write: { path: "setup.py", content: "print()" }
  - write: { path: "three.md", content: "a note" }
  - done: { summary: "written" }
"#;

#[test]
fn the_approval_key_stays_open_in_one_process_for_small_risks_and_is_asked_for_at_every_other() {
    let bench = Bench::new();
    std::fs::write(bench.path("four.yaml"), FOUR).unwrap();
    let (playbook, folder) = (bench.path("four.yaml"), bench.folder());
    let words = ["run", "--playbook", playbook.to_str().unwrap(), "--workspace", folder.to_str().unwrap()];
    let mut terminal = bench.terminal(&words);
    terminal.expect("one.md");
    allow(&mut terminal);
    // Open now: a word is enough, and what comes next is the next card.
    terminal.expect("two.md").expect("Approve?").send("y\r");
    // What is grave asks for it, though it is open, and leaves it closed.
    terminal.expect("setup.py").expect("Approve?").send("y\r");
    terminal.expect("High risk. Type `high`").send("high\r");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    terminal.expect("three.md").expect("Approve?").send("y\r");
    terminal.expect("Approval passphrase: ").send("\r");
    terminal.expect("Nothing was decided").expect("Approve?").send("later\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert_eq!(shown.matches("Approval passphrase: ").count(), 3, "{shown}");
    let written: Vec<String> =
        bench.files().into_keys().filter(|name| !before().contains_key(name)).collect();
    assert_eq!(written, ["one.md", "setup.py", "two.md"], "the last was left");
    // Another process has no open key.
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    let task = text(&tasks["rows"][0]["task_id"]);
    let shown = bench.run(&["task", "show", &task, "--json"]).ends_with(0).json();
    let mut terminal = bench.terminal(&["approvals", "approve", &text(&shown["waits_for"]["id"])]);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(bench.files().contains_key("three.md"));
}
