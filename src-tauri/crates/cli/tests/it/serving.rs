//! A host that goes on: after a full disk, after it was killed, and with keys that are opened and locked at a terminal.

use crate::bench::{Bench, alone, copy, program};
use crate::without_terminal;
use std::process::Stdio;
use std::time::{Duration, Instant};
use testkit::{Killed, Lines};

/// Nothing here takes longer, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);

/// `hermit serve` in the background, and what it said first; killed at the end.
pub struct Served(pub Killed, pub String);

impl Served {
    /// Begins, and waits until others can attach.
    pub fn begin(bench: &Bench, environment: &[(&str, &str)]) -> Self {
        Self::begin_with(bench, &[], environment)
    }

    /// The same with more of its options.
    pub fn begin_with(bench: &Bench, options: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = without_terminal(program());
        alone(command.arg("serve").args(options).current_dir(bench.path("")))
            .env("HERMIT_HOME", bench.home());
        command.envs(environment.iter().copied()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = Lines::of(child.stdout.take().unwrap());
        // Killed also where it does not say what is waited for.
        let mut served = Self(Killed(child), String::new());
        while !served.1.contains("Ctrl-C ends it") {
            served.1 += &lines.next().expect("it serves");
        }
        served
    }
}

/// Looks until it is so.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        std::thread::yield_now();
    }
}

#[test]
fn the_pin_stands_behind_every_signed_head_however_the_host_ends() {
    let bench = Bench::new();
    let vault = bench.path("vault");
    let pin = bench.path("home.pin");
    let _ = std::fs::remove_file(&pin);
    copy(&bench.home(), &bench.path("old"));
    let mut served = Served::begin(&bench, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())]);
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    let head = bench.run(&["checkpoint", "export"]).ends_with(0).out;
    until("the pin is the head", || std::fs::read_to_string(&pin).is_ok_and(|pin| pin == head));
    served.0.kill().unwrap();
    served.0.wait().unwrap();
    // The ledger of before is put back in its place.
    std::fs::remove_dir_all(bench.home()).unwrap();
    std::fs::rename(bench.path("old"), bench.home()).unwrap();
    let refused = bench.run(&["ledger", "checkpoint"]).ends_with(3);
    assert!(refused.err.contains("hermit checkpoint accept"), "{}", refused.err);
}

#[test]
fn a_host_that_dies_while_it_moves_the_pin_has_lost_nothing() {
    for side in ["before", "after"] {
        let bench = Bench::new();
        let vault = bench.path("vault");
        let fault = format!("pin.move:{side}:abort");
        let environment =
            [("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()), ("HERMIT_FAULT", fault.as_str())];
        assert_ne!(bench.run_with(&["ledger", "checkpoint"], &environment).code, 0, "{fault}");
        bench.run(&["ledger", "checkpoint"]).ends_with(0);
        let head = bench.run(&["checkpoint", "export"]).ends_with(0).out;
        assert_eq!(std::fs::read_to_string(bench.path("home.pin")).unwrap(), head);
        bench.run(&["ledger", "verify"]).ends_with(0);
    }
}

#[test]
fn a_command_that_only_reads_asks_the_host_for_what_only_it_knows_and_tells_where_none_runs() {
    let bench = Bench::new();
    let vault = bench.path("vault");
    // Each key with whether it is open, as far as that is known.
    let keys = || {
        let listed = bench.run(&["keys", "list", "--json"]).ends_with(0).json();
        let all = listed["keys"].as_array().unwrap().iter();
        all.map(|key| (key["purpose"].as_str().unwrap().to_owned(), key["open"].as_bool()))
            .collect::<Vec<_>>()
    };
    let gate = || {
        let told = bench.run(&["gate", "state"]).ends_with(0);
        assert!(told.out.contains("the gate is idle"), "{}", told.out);
        told.err.contains("This is how the gate stood last: Hermit is not running.")
    };
    assert!(keys().iter().all(|(_, open)| open.is_none()) && gate());
    let served = Served::begin(&bench, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())]);
    assert!(keys().contains(&("log".to_owned(), Some(true))) && !gate());
    let told = bench.run(&["keys", "list"]).ends_with(0);
    assert!(told.out.contains("(today), open"), "{}", told.out);
    bench.run(&["lock"]).ends_with(0);
    assert!(keys().contains(&("log".to_owned(), Some(false))));
    drop(served);
    assert!(keys().iter().all(|(_, open)| open.is_none()) && gate());
}

#[test]
fn the_doctor_tells_whether_the_keys_of_the_host_are_open_and_that_the_host_says_so() {
    let bench = Bench::new();
    let vault = bench.path("vault");
    // Without a passphrase, so that the keys can only be open in the host.
    let facts = || {
        let doctor = bench.run_with(&["doctor", "--json"], &[]).json();
        ["told by", "vault"].map(|name| {
            let fact = doctor["facts"].as_array().unwrap().iter().find(|fact| fact["name"] == name);
            fact.unwrap_or_else(|| panic!("no `{name}`"))["value"].as_str().unwrap().to_owned()
        })
    };
    let alone = || {
        let [by, vault] = facts();
        by == "this command: Hermit is not running" && vault.contains("locked")
    };
    // On a busy machine a host may be late to answer, which is said, too.
    let tells = |open: bool| {
        let [by, vault] = facts();
        by == "the process that has Hermit open, of itself" && vault.starts_with("open, in the") == open
    };
    assert!(alone(), "{:?}", facts());
    let served = Served::begin(&bench, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())]);
    until("the host says that its keys are open", || tells(true));
    let told = bench.run(&["doctor"]).out;
    assert!(told.contains("told by: "), "{told}");
    bench.run(&["lock"]).ends_with(0);
    until("the host says that its keys are locked", || tells(false));
    drop(served);
    assert!(alone(), "{:?}", facts());
}
