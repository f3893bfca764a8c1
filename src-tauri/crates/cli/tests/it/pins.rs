//! A store that was set back is found out, read, not written, and taken up again only by a person.

use crate::bench::{Bench, Ran, copy, text};
use std::process::Command;

/// More history, and a head over it.
fn more(bench: &Bench, goal: &str) {
    let file = bench.path(goal);
    std::fs::write(&file, goal).unwrap();
    bench.run(&["artifacts", "ingest", file.to_str().unwrap()]).ends_with(0);
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
}

fn export(bench: &Bench, name: &str) -> String {
    let path = bench.path(name).to_str().unwrap().to_owned();
    bench.run(&["checkpoint", "export", "-o", &path]).ends_with(0);
    path
}

fn compare(bench: &Bench, head: &str) -> (i32, String) {
    let ran = bench.run(&["checkpoint", "compare", head, "--json"]);
    (ran.code, text(&ran.json()["standing"]))
}

/// The store as it was, in the place of the store as it is.
fn set_back(bench: &Bench, old: &str) {
    std::fs::remove_dir_all(bench.home()).unwrap();
    copy(&bench.path(old), &bench.home());
}

pub fn refused(ran: &Ran) {
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("hermit checkpoint accept"), "{}", ran.err);
}

#[test]
fn a_store_set_back_is_read_and_not_written_until_a_person_accepts_it() {
    let bench = Bench::new();
    more(&bench, "one");
    let early = export(&bench, "early.note");
    copy(&bench.home(), &bench.path("old"));
    more(&bench, "two");
    let late = export(&bench, "late.note");
    assert_eq!(compare(&bench, &early), (0, "consistent".to_owned()));
    assert_eq!(compare(&bench, &late), (0, "consistent".to_owned()));
    let proof = bench.run(&["checkpoint", "compare", &early, "--json"]).ends_with(0).json();
    assert!(!proof["proof"].as_array().unwrap().is_empty(), "{proof}");

    set_back(&bench, "old");
    assert_eq!(compare(&bench, &late), (7, "older".to_owned()));
    let said = bench.run(&["ledger", "checkpoint"]);
    refused(&said);
    assert!(said.err.contains("set back, or restored from an older copy"), "{}", said.err);
    bench.run(&["task", "list"]).ends_with(0);
    bench.run(&["ledger", "verify"]).ends_with(7);
    refused(&bench.run(&["keys", "rotate", "--yes"]));
    bench.run(&["checkpoint", "accept"]).ends_with(2);
    assert_ne!(bench.accept("a wrong passphrase").code, 0);
    refused(&bench.run(&["ledger", "checkpoint"]));

    let accepted = bench.accept(crate::bench::APPROVAL).ends_with(0);
    assert!(accepted.out.contains("accepted"), "{}", accepted.out);
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    bench.run(&["ledger", "verify"]).ends_with(0);
    assert_eq!(bench.accept(crate::bench::APPROVAL).code, 1, "there is nothing left to accept");
    let aside = std::fs::read_dir(bench.path(".")).unwrap().flatten();
    assert!(aside.into_iter().any(|e| e.file_name().to_string_lossy().contains(".pin.before-")));
    // Whoever kept the lost head still finds out.
    more(&bench, "three");
    more(&bench, "four");
    assert_eq!(compare(&bench, &late).1, "forked");
    assert_eq!(compare(&bench, &late).0, 5);
    assert_eq!(compare(&bench, &early), (0, "consistent".to_owned()));
}

#[test]
fn heads_of_other_logs_and_things_that_are_no_heads_are_told_apart() {
    let (bench, other) = (Bench::new(), Bench::new());
    more(&bench, "one");
    more(&other, "one");
    let theirs = export(&other, "theirs.note");
    assert_eq!(compare(&bench, &theirs), (6, "unusable".to_owned()));
    let nothing = bench.path("nothing");
    std::fs::write(&nothing, "nothing").unwrap();
    assert_eq!(compare(&bench, nothing.to_str().unwrap()), (6, "unusable".to_owned()));
    let printed = bench.run(&["checkpoint", "export"]).ends_with(0);
    assert!(printed.out.starts_with("hermit.local/") && printed.out.contains('\u{2014}'), "{}", printed.out);
    refused_head(&Bench::bare());
}

fn refused_head(bench: &Bench) {
    bench.run(&["checkpoint", "export"]).ends_with(1);
}

/// A store that keeps its head in a second place as well, of this kind, and is set back with the first one taken away.
fn kept_in(place: &str, bench: &Bench) {
    let settings = serde_json::json!({ place: bench.path("second") });
    std::fs::write(bench.home().join("config.json"), settings.to_string()).unwrap();
    more(bench, "one");
    copy(&bench.home(), &bench.path("old"));
    more(bench, "two");
    set_back(bench, "old");
    std::fs::remove_file(bench.path("home.pin")).unwrap();
    let said = bench.run(&["ledger", "checkpoint"]);
    refused(&said);
    assert!(said.err.contains("second"), "it names where: {}", said.err);
    bench.accept(crate::bench::APPROVAL).ends_with(0);
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    let verified = bench.run(&["ledger", "verify", "--json"]).ends_with(0).json();
    assert_eq!(verified["pinned"], true);
}

#[test]
fn a_second_file_keeps_the_head_when_the_first_one_is_taken_back_too() {
    kept_in("pin_file", &Bench::new());
}

#[test]
fn a_git_note_keeps_the_head_when_the_file_is_taken_back_too() {
    let bench = Bench::new();
    let Ok(made) = Command::new("git").args(["init", "-q"]).arg(bench.path("second")).status() else {
        return conforms::lacks("git");
    };
    assert!(made.success());
    kept_in("pin_git", &bench);
}

#[test]
fn a_restored_backup_behind_its_pin_is_named_as_such() {
    let bench = Bench::new();
    more(&bench, "one");
    let copied = bench.path("copied");
    bench.run(&["backup", copied.to_str().unwrap()]).ends_with(0);
    more(&bench, "two");
    copy(&bench.home(), &bench.path("aside"));
    std::fs::remove_dir_all(bench.home()).unwrap();
    std::fs::create_dir(bench.home()).unwrap();
    let restored = bench.run(&["restore", copied.to_str().unwrap()]);
    assert_eq!(restored.code, 7, "{}{}", restored.out, restored.err);
    assert!(restored.out.contains("older than the head kept outside the store"), "{}", restored.out);
    for name in ["keys.json", "vault.key", "approval.key"] {
        copy(&bench.path("aside").join(name), &bench.home());
    }
    bench.run(&["ledger", "verify"]).ends_with(7);
    refused(&bench.run(&["ledger", "checkpoint"]));
    assert_eq!(restored_events(&bench), Vec::<bool>::new(), "nothing is written before a person says so");
    bench.accept(crate::bench::APPROVAL).ends_with(0);
    bench.run(&["ledger", "verify"]).ends_with(0);
    // A person's decision, what was accepted, and where the store came from: in this order, and once.
    assert_eq!(restored_events(&bench), [true]);
    let order = "SELECT event_type FROM events WHERE event_type IN ('person.decided', 'pin.accepted', 'store.restored') ORDER BY log_seq";
    let order = bench.sqlite(order);
    assert_eq!(order, serde_json::json!([["person.decided"], ["pin.accepted"], ["store.restored"]]));
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    assert_eq!(restored_events(&bench).len(), 1);
}

/// Whether it was behind its pin, for each time the log says that the store was restored.
fn restored_events(bench: &Bench) -> Vec<bool> {
    let rows = bench.sqlite("SELECT bytes FROM events WHERE event_type = 'store.restored' ORDER BY log_seq");
    let said = |row: &serde_json::Value| -> serde_json::Value {
        serde_json::from_str(row[0].as_str().unwrap()).unwrap()
    };
    rows.as_array().unwrap().iter().map(|row| said(row)["payload"]["behind_pin"] == true).collect()
}

#[test]
fn a_store_that_was_put_back_says_so_in_its_log_once() {
    let bench = Bench::new();
    more(&bench, "one");
    let copied = bench.path("copied");
    let made = bench.run(&["backup", copied.to_str().unwrap(), "--json"]).ends_with(0).json();
    copy(&bench.home(), &bench.path("aside"));
    std::fs::remove_dir_all(bench.home()).unwrap();
    bench.run(&["restore", copied.to_str().unwrap()]).ends_with(6);
    for name in ["keys.json", "vault.key", "approval.key"] {
        copy(&bench.path("aside").join(name), &bench.home());
    }
    for _ in 0..2 {
        bench.run(&["ledger", "checkpoint"]).ends_with(0);
        assert_eq!(restored_events(&bench), [false]);
    }
    let rows = bench.sqlite("SELECT bytes FROM events WHERE event_type = 'store.restored'");
    assert!(rows[0][0].as_str().unwrap().contains(&text(&made["manifest_sha256"])), "{rows}");
    assert!(!bench.home().join("restored.json").exists(), "what the log has need not be kept beside it");
    bench.run(&["ledger", "verify"]).ends_with(0);
}
