//! A host that goes on: after a full disk, after it was killed, and with keys that are opened and locked at a terminal.

use super::allow;
use crate::bench::{APPROVAL, Bench, VAULT, before, program};
use crate::serving::{Served, until};
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::pty::Pty;

#[test]
fn a_task_whose_drive_met_a_full_disk_is_driven_again_by_the_same_host() {
    let bench = Bench::new();
    let vault = bench.path("vault");
    let (_, approval) = bench.waiting();
    let full = [
        ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()),
        ("HERMIT_FAULT", "effect.dispatch:before:full"),
    ];
    let _served = Served::begin(&bench, &full);
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    allow(&mut terminal);
    let begun = Instant::now();
    let (_, shown) = terminal.end();
    until("the folder is tidied", || bench.files() != before());
    // The round that a served host makes every half a minute has not come yet.
    assert!(begun.elapsed() < Duration::from_secs(30), "{shown}");
}

/// Whether the host signs, which takes its keys.
fn signs(bench: &Bench) -> bool {
    let ran = bench.run(&["ledger", "checkpoint"]);
    assert!([0, 4].contains(&ran.code), "{}{}", ran.out, ran.err);
    ran.code == 0
}

#[test]
fn a_person_at_a_terminal_opens_and_locks_the_keys_of_a_host_that_runs() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    let served = Served::begin(&bench, &[]);
    assert!(served.1.contains("Keys: locked") && served.1.contains("hermit unlock"), "{}", served.1);
    assert!(!signs(&bench));
    let refused = bench.run(&["unlock"]).ends_with(3);
    assert!(refused.err.contains("at a terminal"), "{}", refused.err);
    let mut terminal = bench.terminal(&["unlock", "--for", "30m"]);
    terminal.expect("Vault passphrase: ").send("a wrong one\r");
    terminal.expect("Vault passphrase: ").send(&format!("{VAULT}\r"));
    let (code, shown) = terminal.end();
    assert!(code == 0 && shown.contains("30 minutes"), "{shown}");
    assert!(signs(&bench));
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    allow(&mut terminal);
    assert_eq!(terminal.end().0, 0);
    assert_ne!(bench.files(), before());
    bench.run(&["lock"]).ends_with(0);
    assert!(!signs(&bench));
    bench.run(&["unlock", "--for", "9d"]).ends_with(2);
}

#[test]
fn a_yes_to_a_host_whose_keys_are_locked_asks_for_them_and_is_carried_out() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    let _served = Served::begin(&bench, &[]);
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    allow(&mut terminal);
    terminal.expect("Hermit's own keys are locked").expect("Vault passphrase: ").send("a wrong one\r");
    terminal.expect("Vault passphrase: ").send("\r");
    let (code, shown) = terminal.end();
    assert!(code != 0 && shown.contains("hermit unlock"), "{shown}");
    assert_eq!((bench.status(&approval).as_str(), bench.files()), ("pending", before()));
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    allow(&mut terminal);
    terminal.expect("Vault passphrase: ").send(&format!("{VAULT}\r"));
    assert_eq!(terminal.end().0, 0);
    assert_ne!(bench.files(), before());
}

#[test]
fn a_run_beside_a_host_whose_keys_are_open_asks_for_the_approval_passphrase_alone() {
    let bench = Bench::new();
    let (home, vault, folder) = (bench.home(), bench.path("vault"), bench.folder());
    let _served = Served::begin(&bench, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())]);
    // The one that runs it has no passphrase file.
    let words = ["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap()];
    let mut terminal = Pty::spawn(program(), &words, &[("HERMIT_HOME", home.to_str().unwrap())]);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("Vault passphrase"), "{shown}");
    assert_ne!(bench.files(), before());
}

#[test]
fn a_doctor_whom_the_host_does_not_answer_says_so() {
    let bench = Bench::new();
    let served = Served::begin(&bench, &[]);
    let pid = served.0.0.id().to_string();
    let signal = |name: &str| assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    signal("-STOP");
    let told = bench.run(&["doctor"]).out;
    signal("-CONT");
    let says = "note told by: this command: the process that has Hermit open did not answer";
    assert!(told.contains(says), "{told}");
}

#[test]
fn keys_are_made_at_a_terminal_while_a_host_runs() {
    let bench = Bench::bare();
    let served = Served::begin(&bench, &[]);
    assert!(served.1.contains("Keys: none") && served.1.contains("hermit keys init"), "{}", served.1);
    // A program has no terminal, whatever it knows.
    assert_ne!(bench.keys().code, 0);
    assert!(!bench.home().join("keys.json").exists());
    let mut terminal = bench.terminal(&["keys", "init"]);
    terminal.expect("8 characters or more");
    for (question, words) in [("Vault passphrase", VAULT), ("Approval passphrase", APPROVAL)] {
        terminal.expect(&format!("{question}: ")).send(&format!("{words}\r"));
        terminal.expect(&format!("{question} once more: ")).send(&format!("{words}\r"));
    }
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(signs(&bench));
}

#[test]
fn a_program_without_a_terminal_opens_nothing_over_the_control_socket() {
    let bench = Bench::new();
    let _served = Served::begin(&bench, &[]);
    let program = "import json, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); words = sys.argv[2].encode()
head = {'act': 'unlock', 'keychain': False, 'vault_bytes': len(words), 'approval_bytes': None, 'open_ms': 60000}
s.sendall(json.dumps(head).encode() + b'\\n' + words)
print(s.makefile().read())";
    let mut command = Command::new("setsid");
    command.args(["--wait", "python3", "-c", program]).arg(bench.home().join("control.sock")).arg(VAULT);
    let ran = bench.finish_in(command).ends_with(0);
    assert!(ran.out.contains("forbidden"), "{}", ran.out);
    assert!(!signs(&bench));
}

#[test]
fn a_link_for_a_phone_is_read_at_a_terminal_of_a_host_that_was_told_its_name() {
    let bench = Bench::new();
    let vault = bench.path("vault");
    let environment = [("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())];
    for wrong in
        ["http://desk.example", "https://*.example", "https://desk.example/hermit", "https://192.0.2.1"]
    {
        let refused = bench.run(&["serve", "--origin", wrong]).ends_with(2);
        assert!(refused.err.contains(wrong), "{}", refused.err);
    }
    let served = Served::begin(&bench, &environment);
    let (code, shown) = bench.terminal(&["open", "--phone"]).end();
    assert!(code == 1 && shown.contains("--origin"), "none was named: {code} {shown}");
    let late = bench.run(&["serve", "--origin", "https://desk.example"]).ends_with(1);
    assert!(late.err.contains("running already"), "{}", late.err);
    drop(served);
    let served = Served::begin_with(&bench, &["--origin", "https://DESK.example:443/"], &environment);
    assert!(
        !served.1.contains("desk.example/#token="),
        "no link for elsewhere is printed unasked: {}",
        served.1
    );
    let refused = bench.run(&["open", "--phone"]).ends_with(3);
    assert!(refused.err.contains("terminal"), "{}", refused.err);
    let (code, shown) = bench.terminal(&["open", "--phone"]).end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("https://desk.example/#token="), "{shown}");
    assert!(shown.contains('\u{2588}'), "the same for a camera: {shown}");
}
