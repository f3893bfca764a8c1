//! Two processes, one store; locked keys; a process that died.

use super::allow;
use crate::bench::{Bench, VAULT, before, program};
use testkit::pty::Pty;

#[test]
fn while_one_process_owns_the_store_others_read_it_and_write_through_it() {
    let bench = Bench::new();
    let folder = bench.folder();
    let mut terminal =
        bench.terminal(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap()]);
    terminal.expect("Approve?");
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
    // The host asks once more, where its keys are needed; who gives none again has decided nothing.
    terminal.expect("Vault passphrase").send("\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert!(shown.contains("receipt key is locked") && shown.contains("hint:"), "{shown}");
    assert_eq!(bench.status(&approval), "pending");
    assert_eq!(bench.files(), before());

    let mut terminal = Pty::spawn(program(), &arguments, &environment);
    terminal.expect("Vault passphrase").send("wrong one\r");
    terminal.expect("is not the vault passphrase");
    terminal.expect("Vault passphrase").send(&format!("{VAULT}\r"));
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
}

/// An act is allowed by a person, and its process dies at this place.
fn dies_allowing(bench: &Bench, approval: &str, fault: &str) {
    let (home, vault) = (bench.home(), bench.path("vault"));
    let environment = [
        ("HERMIT_HOME", home.to_str().unwrap()),
        ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()),
        ("HERMIT_FAULT", fault),
    ];
    let mut terminal = Pty::spawn(program(), &["approvals", "approve", approval], &environment);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_ne!(code, 0, "{shown}");
}

#[test]
fn work_whose_receipt_needs_locked_keys_says_that_it_waits_for_them_and_ends_when_they_are_open() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    dies_allowing(&bench, &approval, "effect.observe:before:abort");
    // The files are moved, and nothing can be signed.
    let locked = bench.run_with(&["resume"], &[]).ends_with(4);
    assert!(locked.out.starts_with("It waits for your keys. (task "), "{}", locked.out);
    for said in ["its receipt waits for them", "Run `hermit resume`"] {
        assert!(locked.out.contains(said), "`{said}` is not in:\n{}", locked.out);
    }
    assert!(!locked.out.contains("It is running"), "{}", locked.out);
    let open = bench.run(&["resume"]).ends_with(0);
    assert!(open.out.starts_with("Done."), "{}", open.out);
}

#[test]
fn the_one_that_waits_need_not_be_named_and_a_no_with_locked_keys_asks_for_them() {
    let bench = Bench::new();
    let none = bench.run(&["approvals", "deny"]).ends_with(1);
    assert!(none.err.contains("nothing waits for your approval"), "{}", none.err);
    let (_, first) = bench.waiting();
    assert!(bench.run(&["approvals", "show"]).ends_with(0).out.contains("Moves 3 files"));
    let home = bench.home();
    let mut terminal =
        Pty::spawn(program(), &["approvals", "deny"], &[("HERMIT_HOME", home.to_str().unwrap())]);
    terminal.expect("Vault passphrase").send(&format!("{VAULT}\r"));
    terminal.expect("Denied: ");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(bench.status(&first), "denied");

    bench.waiting();
    bench.waiting();
    let several = bench.run(&["approvals", "deny"]).ends_with(2);
    assert!(
        several.err.contains("more than one") && several.err.contains("approvals list"),
        "{}",
        several.err
    );
    assert_eq!(bench.files(), before());
}

#[test]
fn what_is_noted_of_an_act_is_on_disk_before_it_and_gone_when_it_has_its_receipt() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    let (home, vault, calls) = (bench.home(), bench.path("vault"), bench.path("calls"));
    let environment = [
        ("HERMIT_HOME", home.to_str().unwrap()),
        ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()),
        ("HERMIT_FAULT", "effect.observe:after:abort"),
    ];
    let watched = ["-f", "-y", "-qq", "-e", "trace=fsync", "-o", calls.to_str().unwrap()];
    let words = [program().to_str().unwrap(), "approvals", "approve", &approval];
    let all = [&watched[..], &words].concat();
    let mut terminal = Pty::spawn(std::path::Path::new("strace"), &all, &environment);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_ne!(code, 0, "{shown}");
    let calls = std::fs::read_to_string(calls).unwrap();
    // The note of folders that were missing, its folder, and the folder above it.
    for place in ["/spool/act_", "/spool>"] {
        let synced = calls.lines().filter(|line| line.contains("fsync(") && line.contains(place));
        assert!(synced.count() > 0, "`{place}` was not synced: {calls}");
    }
    let left = || -> Vec<String> {
        let names = std::fs::read_dir(home.join("spool")).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert!(left().iter().any(|name| name.starts_with("act_")), "it died before it let go: {:?}", left());
    bench.run(&["resume"]);
    assert_eq!(left(), Vec::<String>::new());
}

#[test]
fn a_process_that_dies_after_dispatch_leaves_a_store_that_finds_out_and_does_nothing_twice() {
    let bench = Bench::new();
    let (task, approval) = bench.waiting();
    dies_allowing(&bench, &approval, "effect.dispatch:after:abort");
    assert_eq!(bench.files(), before(), "it died before it did anything");
    let resumed = bench.run(&["resume"]);
    let shown = bench.run(&["task", "show", &task, "--json"]).ends_with(0).json();
    assert!(matches!(resumed.code, 0 | 1 | 4), "{}{}", resumed.out, resumed.err);
    assert_eq!(shown["attempts"].as_array().unwrap().len(), 1, "the same attempt went on: {shown}");
    bench.run(&["ledger", "verify"]).ends_with(0);
    assert_eq!(bench.files().len(), 3, "no file was lost or doubled");
}
