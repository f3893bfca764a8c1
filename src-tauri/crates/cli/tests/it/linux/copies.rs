//! Copies of a store, by the program: everything that is alive is in them, damage is told and stops nothing else, nobody
//! else may read them, and what was broken off says so.

use super::allow;
use crate::bench::{Bench, program, text};
use crate::copies::facts;
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn to(bench: &Bench, name: &str) -> String {
    bench.path(name).to_str().unwrap().to_owned()
}

/// A task that waits for a yes to write an inventory of more than a mebibyte.
fn waiting_for_a_large_write(bench: &Bench) -> String {
    let deep = (0..4).fold(bench.folder(), |folder, n| folder.join(format!("{n}-{}", "x".repeat(200))));
    std::fs::create_dir_all(&deep).unwrap();
    for n in 0..1_100 {
        std::fs::write(deep.join(format!("{n:04}-{}", "x".repeat(200))), n.to_string()).unwrap();
    }
    let folder = bench.folder();
    let ran =
        bench.run(&["run", "--playbook", "inventory", "--workspace", folder.to_str().unwrap(), "--json"]);
    let ran = ran.ends_with(4).json();
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    text(&ran["waits_for"]["id"])
}

/// The copy in the place of the store, with the keys beside it.
fn put_back(bench: &Bench, from: &str) {
    std::fs::rename(bench.home(), bench.path("old")).unwrap();
    // The keys are not there yet, so nobody vouches for it.
    bench.run(&["restore", from]).ends_with(6);
    for name in ["vault.key", "approval.key", "keys.json"] {
        std::fs::copy(bench.path("old").join(name), bench.home().join(name)).unwrap();
    }
}

#[test]
fn what_waits_for_a_yes_is_in_a_backup_with_all_its_bytes() {
    let bench = Bench::new();
    let approval = waiting_for_a_large_write(&bench);
    let made = bench.run(&["backup", &to(&bench, "copy"), "--json"]).ends_with(0).json();
    assert_eq!((&made["missing"], &made["damaged"]), (&Value::from(vec![(); 0]), &Value::from(vec![(); 0])));
    assert_eq!(made["not_recorded"], Value::Null, "{made}");
    let told = bench.sqlite("SELECT bytes FROM events WHERE event_type = 'backup.made'");
    let digest = made["manifest_sha256"].as_str().unwrap();
    assert!(
        told.as_array().is_some_and(|rows| rows.len() == 1) && told.to_string().contains(digest),
        "the log tells of the copy once: {told}"
    );
    put_back(&bench, &to(&bench, "copy"));
    bench.run(&["ledger", "verify", "--content"]).ends_with(0);
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(std::fs::metadata(bench.folder().join("INVENTORY.csv")).unwrap().len() > 1 << 20);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn damaged_content_is_named_by_backup_verify_and_doctor_and_stops_none_of_the_rest() {
    let bench = Bench::new();
    waiting_for_a_large_write(&bench);
    let content = files(&bench.home().join("artifacts"));
    assert!(!content.is_empty());
    assert_eq!(facts(&bench, "content check")["level"], "fine");
    let damaged = content.last().unwrap();
    let whole = std::fs::read(damaged).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    std::fs::write(damaged, flipped).unwrap();

    let made = bench.run(&["backup", &to(&bench, "copy"), "--json"]).ends_with(5).json();
    assert_eq!(made["damaged"].as_array().unwrap().len(), 1, "{made}");
    assert_eq!(made["missing"].as_array().unwrap().len(), 0, "{made}");
    bench.run(&["ledger", "verify"]).ends_with(0);
    let report = bench.run(&["ledger", "verify", "--content", "--json"]).ends_with(5).json();
    assert_eq!(report["content"]["damaged"].as_array().unwrap().len(), 1, "{report}");
    let told = facts(&bench, "content check");
    assert_eq!(told["level"], "trouble", "{told}");
    assert!(told["advice"].as_str().unwrap().contains("ledger verify --content"), "{told}");
    // What could be copied is a store.
    put_back(&bench, &to(&bench, "copy"));
    bench.run(&["ledger", "verify"]).ends_with(0);
    bench.run(&["ledger", "verify", "--content"]).ends_with(7);
    std::fs::remove_dir_all(bench.home()).unwrap();
    std::fs::rename(bench.path("old"), bench.home()).unwrap();

    std::fs::remove_file(damaged).unwrap();
    let made = bench.run(&["backup", &to(&bench, "second"), "--json"]);
    assert!(matches!(made.code, 5 | 7), "{}", made.out);
    std::fs::write(damaged, whole).unwrap();
    bench.run(&["backup", &to(&bench, "third")]).ends_with(0);
    bench.run(&["ledger", "verify", "--content"]).ends_with(0);
}

/// What others than its owner may do something with.
fn open_to_others(folder: &Path) -> Vec<String> {
    let mode = |path: &Path| std::fs::symlink_metadata(path).unwrap().permissions().mode();
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if mode(&path) & 0o077 != 0 {
            found.insert(format!("{} {:o}", path.display(), mode(&path)));
        }
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found.into_iter().collect()
}

/// Runs under a mask that closes nothing, and a bound on the length of files when one is given.
fn wide_open(bench: &Bench, bound: &str, words: &[&str]) -> std::process::Output {
    let script = format!("umask 000; {bound} exec \"$0\" \"$@\"");
    let mut command = Command::new("bash");
    command.arg("-c").arg(script).arg(program()).args(words).current_dir(bench.path(""));
    command.env("HERMIT_HOME", bench.home()).env("HERMIT_PASSPHRASE_FILE", bench.path("vault"));
    testkit::output(command.stdin(std::process::Stdio::null()), testkit::TO_THE_END).unwrap()
}

#[test]
fn a_used_store_its_copies_and_its_exports_are_their_owners_alone_whatever_the_mask() {
    let bench = Bench::bare();
    let said =
        "exec \"$0\" keys init --store file --passphrase-fd 3 --approval-passphrase-fd 4 3<vault 4<approval";
    let mut keys = Command::new("bash");
    keys.arg("-c").arg(format!("umask 000; {said}")).arg(program()).current_dir(bench.path(""));
    assert!(keys.env("HERMIT_HOME", bench.home()).status().unwrap().success());
    let folder = bench.folder();
    let words = ["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap(), "--json"];
    let ran: Value = serde_json::from_slice(&wide_open(&bench, "", &words).stdout).unwrap();
    let (task, approval) = (text(&ran["row"]["task_id"]), text(&ran["waits_for"]["id"]));
    let mut terminal = bench.terminal(&["approvals", "approve", &approval]);
    allow(&mut terminal);
    terminal.end();
    wide_open(&bench, "", &["artifacts", "ingest", bench.path("vault").to_str().unwrap()]);
    let copy = to(&bench, "copy");
    for words in [
        &["backup", copy.as_str()][..],
        &["proof", "export", &task, "-o", &to(&bench, "proof.zip")],
        &["proof", "export", &task, "-o", &to(&bench, "proof")],
        &["gate", "export", "-o", &to(&bench, "gate.json")],
        &["checkpoint", "export", "-o", &to(&bench, "head")],
        &["--home", &to(&bench, "again"), "restore", &copy],
        &["--home", &to(&bench, "again"), "task", "list"],
    ] {
        let ran = wide_open(&bench, "", words);
        // A copy is restored without keys, so nobody vouches for it.
        let code = if words.contains(&"restore") { 6 } else { 0 };
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    for name in ["home", "copy", "again", "proof", "proof.zip", "gate.json", "head"] {
        assert!(bench.path(name).exists(), "{name}");
        assert_eq!(open_to_others(&bench.path(name)), Vec::<String>::new(), "{name}");
    }
}

/// The whole file system as it is and nothing writable, but one empty folder for temporary files.
fn read_only(bench: &Bench, words: &[&str]) -> std::process::Output {
    let scratch = bench.path("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let mut command = Command::new("bwrap");
    command
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--bind"])
        .arg(&scratch)
        .arg(&scratch)
        .arg(program());
    command.args(words).env("HERMIT_HOME", bench.home()).env("TMPDIR", &scratch);
    command.stdin(std::process::Stdio::null());
    let ran = testkit::output(&mut command, testkit::TO_THE_END).unwrap();
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "the private copy is gone");
    ran
}

#[test]
fn a_store_whose_host_was_killed_is_read_on_a_file_system_that_takes_no_files() {
    let bench = Bench::new();
    let folder = bench.folder();
    let words = ["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap(), "--json"];
    let vault = bench.path("vault");
    let killed = bench.run_with(
        &words,
        &[
            ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()),
            ("HERMIT_FAULT", "approval.request:after:abort"),
        ],
    );
    assert_ne!(killed.code, 4, "{}", killed.out);
    let wal = bench.home().join("ledger.db-wal");
    assert!(std::fs::metadata(&wal).unwrap().len() > 0, "what was committed last is in the WAL");
    let _ = std::fs::remove_file(bench.home().join("ledger.db-shm"));
    let before = files(&bench.home());
    for (words, code) in
        [(&["task", "list", "--json"][..], 0), (&["ledger", "verify"], 0), (&["approvals", "list"], 0)]
    {
        let ran = read_only(&bench, words);
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {out}{err}");
        assert!(words[0] != "task" || out.contains("task_"), "{out}");
    }
    assert_eq!(files(&bench.home()), before);
}

/// Makes a copy that is killed at its second sync in the copy's folder; those before are the store's own, when it is opened.
fn killed_in_its_copy(bench: &Bench, copy: &str) {
    for at in 2..30 {
        let mut command = Command::new("strace");
        let inject = format!("inject=fsync:signal=KILL:when={at}");
        command.args(["-f", "-qq", "-o", "calls", "-e", "trace=fsync", "-e", &inject]);
        command.arg(program()).args(["backup", copy]);
        let killed = bench.finish_in(command);
        assert_eq!(killed.code, -1, "{}{}", killed.out, killed.err);
        if Path::new(copy).join("ledger.db.partial").exists() {
            return;
        }
    }
    panic!("the copy was never begun");
}

#[test]
fn a_backup_and_a_restore_that_were_killed_say_so_and_are_replaced_by_saying_it_again() {
    let bench = Bench::new();
    bench.tidied();
    let copy = to(&bench, "copy");
    killed_in_its_copy(&bench, &copy);
    assert!(bench.path("copy").join("unfinished.json").exists());
    let refused = bench.run_with(&["--home", &to(&bench, "again"), "restore", &copy], &[]).ends_with(5);
    assert!(refused.err.contains("broken off"), "{}", refused.err);
    bench.run(&["backup", &copy]).ends_with(0);
    assert!(!bench.path("copy").join("unfinished.json").exists());

    let again = to(&bench, "again");
    // A file may not grow beyond this many blocks: the program breaks off in the middle of the copy.
    let broken = wide_open(&bench, "ulimit -f 40;", &["--home", &again, "restore", &copy]);
    assert_eq!(broken.status.code(), Some(1), "{}", String::from_utf8_lossy(&broken.stderr));
    let told = bench.run_with(&["--home", &again, "task", "list"], &[]);
    assert!(told.code != 0 && told.err.contains("broken off"), "{}", told.err);
    bench.run_with(&["--home", &again, "restore", &copy], &[]);
    bench.run_with(&["--home", &again, "task", "list"], &[]).ends_with(0);

    // What is not ours is never replaced, and neither is a store.
    bench.run_with(&["--home", &again, "restore", &copy], &[]).ends_with(1);
    bench.run(&["backup", &copy]).ends_with(1);
    std::fs::create_dir(bench.path("mine")).unwrap();
    std::fs::write(bench.path("mine").join("unfinished.json"), "mine").unwrap();
    bench.run(&["backup", &to(&bench, "mine")]).ends_with(1);
    assert!(bench.path("mine").join("unfinished.json").exists());
}
