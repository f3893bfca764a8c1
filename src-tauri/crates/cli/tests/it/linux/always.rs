//! "Always allow this": offered at the card, signed with the passphrase, listed, taken back; and never by a machine.

use crate::bench::{APPROVAL, Bench, text};

const NOTES: &str = r#"
playbook: 1
name: notes
title: Write notes
description: Writes two notes into a folder.
parameters:
  - name: first
    help: The name of the note.
    default: one
steps:
  - write: { path: "notes/{first}.md", content: "a note" }
  - write: { path: "notes/{first}-more.md", content: "another" }
  - done: { summary: "written" }
"#;

/// What a run of the notes needs beside its name.
fn run(bench: &Bench, first: &str) -> Vec<String> {
    std::fs::write(bench.path("notes.yaml"), NOTES).unwrap();
    let (playbook, folder) = (bench.path("notes.yaml"), bench.folder());
    let words = ["run", "--playbook", playbook.to_str().unwrap(), "--workspace", folder.to_str().unwrap()];
    let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    words.extend(["--param".to_owned(), format!("first={first}")]);
    words
}

fn as_words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn what_a_person_always_allows_at_a_card_is_not_asked_again_until_it_is_taken_back() {
    let bench = Bench::new();
    let words = run(&bench, "one");
    let mut terminal = bench.terminal(&as_words(&words));
    terminal.expect("Approve?").send("always\r");
    terminal
        .expect("the narrowest rule first")
        .expect("create `notes/one.md` in this project, 7 days, 50 times");
    terminal.expect("create `notes/*.md` in this project").expect("would have answered 1 of 1 questions");
    terminal.expect("Number of the rule").send("2 3 20\r");
    terminal.expect("You always approve: create `notes/*.md` in this project, 3 days, 20 times");
    terminal.expect("also after the model has read files or names that may contain instructions");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    terminal.expect("Done.").expect("You were not asked: your standing approval");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(bench.files().contains_key("notes/one-more.md"), "the second was not asked about");

    let listed = bench.run(&["grants", "list", "--json"]).ends_with(0).json();
    let row = &listed["standing"][0];
    assert_eq!(
        (&row["uses"], &row["max_uses"], text(&row["state"])),
        (&1.into(), &20.into(), "active".to_owned())
    );
    let said = bench.run(&["grants", "list"]).ends_with(0).out;
    assert!(said.contains("Standing approvals") && said.contains("used 1 of 20"), "{said}");
    // Unattended work runs on it.
    bench.run(&as_words(&run(&bench, "two"))).ends_with(0);
    // Taken back, a person is asked again.
    let grant = text(&row["grant_id"]);
    bench.run(&["grants", "revoke", &grant, "--reason", "enough"]).ends_with(0);
    bench.run(&as_words(&run(&bench, "three"))).ends_with(4);
    let proof = bench.path("task.zip");
    let tasks = bench.run(&["task", "list", "--json"]).ends_with(0).json();
    let second = tasks["rows"].as_array().unwrap().iter().find(|t| t["status"] == "completed").unwrap();
    let task = text(&second["task_id"]);
    bench.run(&["proof", "export", &task, "-o", proof.to_str().unwrap()]).ends_with(0);
    let verified = bench.run(&["proof", "verify", proof.to_str().unwrap()]);
    assert!(matches!(verified.code, 0 | 6), "{}\n{}", verified.out, verified.err);
    bench.run(&["ledger", "verify"]).ends_with(0);
}

#[test]
fn a_person_may_allow_it_beforehand_and_sees_what_it_would_have_answered() {
    let bench = Bench::new();
    bench.run(&as_words(&run(&bench, "one"))).ends_with(4);
    let folder = bench.folder();
    // It has looked into a folder before, whose names nobody vouches for.
    let asked = [
        "grants",
        "allow",
        "--project",
        folder.to_str().unwrap(),
        "--paths",
        "notes/**",
        "--act",
        "create",
        "--after-untrusted",
    ];
    let refused = bench.run(&asked).ends_with(3);
    assert!(refused.err.contains("only a person at a terminal"), "{}", refused.err);
    let mut terminal = bench.terminal(&asked);
    terminal
        .expect("create `notes/**` in this project, 7 days, 50 times")
        .expect("would have answered 1 of 1");
    terminal.expect("Type `always`").send("yes\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    let mut terminal = bench.terminal(&asked);
    terminal.expect("Type `always`").send("always\r");
    terminal.expect("Approval passphrase: ").send("not it\r");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    terminal.expect("is in force");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    bench.run(&as_words(&run(&bench, "two"))).ends_with(0);
    // What runs whatever stands behind it is not allowed by its beginning.
    let wide = ["grants", "allow", "--changes", "**", "--command", "sh", "-c"];
    let mut terminal = bench.terminal(&wide);
    terminal.expect("runs whatever stands behind it");
    assert_eq!(terminal.end().0, 2);
}

#[test]
fn a_project_may_be_allowed_in_before_any_task_has_worked_there() {
    let bench = Bench::new();
    let folder = bench.folder();
    let folder = folder.to_str().unwrap();
    let asked = ["grants", "allow", "--project", folder, "--paths", "notes/**", "--act", "create"];
    let asked = [&asked[..], &["--after-untrusted"]].concat();
    let mut terminal = bench.terminal(&asked);
    terminal.expect("create `notes/**` in this project, 7 days, 50 times").expect("Type `always`");
    terminal.send("always\r");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    terminal.expect("is in force");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    // The first task there is not asked, and one in another folder is.
    bench.run(&as_words(&run(&bench, "one"))).ends_with(0);
    assert!(bench.files().contains_key("notes/one.md"));
    let other = bench.path("other");
    std::fs::create_dir(&other).unwrap();
    let (playbook, other) = (bench.path("notes.yaml"), other.to_str().unwrap().to_owned());
    bench.run(&["run", "--playbook", playbook.to_str().unwrap(), "--workspace", &other]).ends_with(4);
    // What is no folder is no project.
    let nowhere = bench.path("nowhere");
    let mut terminal = bench.terminal(&[
        "grants",
        "allow",
        "--project",
        nowhere.to_str().unwrap(),
        "--paths",
        "*",
        "--act",
        "create",
    ]);
    terminal.expect("nowhere");
    assert_eq!(terminal.end().0, 1);
}
