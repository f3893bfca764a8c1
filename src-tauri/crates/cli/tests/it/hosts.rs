//! Two processes, one store; locked keys; a process that died.

use crate::bench::{Bench, VAULT, allow, before, program};
use testkit::pty::Pty;

#[test]
fn while_one_process_owns_the_store_others_read_it_and_write_through_it() {
    let bench = Bench::new();
    let folder = bench.folder();
    let mut terminal =
        bench.terminal(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap()]);
    terminal.expect("Type `allow`");
    // A reader works beside it.
    let listed = bench.run(&["approvals", "list", "--json"]).ends_with(0).json();
    assert_eq!(listed["rows"].as_array().unwrap().len(), 1);
    // A writer is heard by the one that owns it.
    let ran = bench.run(&["task", "note", "task_x", "hello"]).ends_with(2);
    assert!(ran.err.contains("names no task"), "{}", ran.err);
    let task = listed["rows"][0]["task_id"].as_str().unwrap();
    bench.run(&["task", "note", task, "hello"]).ends_with(0);
    terminal.send("later\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
}

#[test]
fn with_locked_keys_an_answer_waits_and_says_so_and_counts_when_they_are_open() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    let home = bench.home();
    let environment = [("HERMIT_HOME", home.to_str().unwrap())];
    let arguments = ["approvals", "approve", &approval];
    let mut terminal = Pty::spawn(program(), &arguments, &environment);
    terminal.expect("Vault passphrase").send("\r");
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert!(shown.contains("receipt key is locked") && shown.contains("hint:"), "{shown}");
    assert_eq!(bench.status(&approval), "pending");
    assert_eq!(bench.files(), before());

    let mut terminal = Pty::spawn(program(), &arguments, &environment);
    terminal.expect("Vault passphrase").send("wrong one\r");
    terminal.expect("does not open");
    terminal.expect("Vault passphrase").send(&format!("{VAULT}\r"));
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn a_process_that_dies_after_dispatch_leaves_a_store_that_finds_out_and_does_nothing_twice() {
    let bench = Bench::new();
    let (task, approval) = bench.waiting();
    let (home, vault) = (bench.home(), bench.path("vault"));
    let environment = [
        ("HERMIT_HOME", home.to_str().unwrap()),
        ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()),
        ("HERMIT_FAULT", "effect.dispatch:after:abort"),
    ];
    let mut terminal = Pty::spawn(program(), &["approvals", "approve", &approval], &environment);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_ne!(code, 0, "{shown}");
    assert_eq!(bench.files(), before(), "it died before it did anything");
    let resumed = bench.run(&["resume"]);
    let shown = bench.run(&["task", "show", &task, "--json"]).ends_with(0).json();
    assert!(matches!(resumed.code, 0 | 1 | 4), "{}{}", resumed.out, resumed.err);
    assert_eq!(shown["attempts"].as_array().unwrap().len(), 1, "the same attempt went on: {shown}");
    bench.run(&["ledger", "verify"]).ends_with(0);
    assert_eq!(bench.files().len(), 3, "no file was lost or doubled");
}
