//! What people and machines get wrong. Each gets an error that says what to do, and nothing is lost.

use super::server::{self, Manner};
use super::stage::{Ran, Stage};
use super::tree;
use serde_json::json;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn run(stage: &Stage, words: &[&str]) -> Ran {
    let work = stage.work();
    let all: Vec<&str> =
        ["run", "--workspace", text(&work)].into_iter().chain(words.iter().copied()).collect();
    stage.hermit(&all)
}

/// A transcript written by hand: these calls, one a turn.
fn transcript(stage: &Stage, calls: &[(&str, serde_json::Value)]) -> String {
    let line = |(name, arguments): &(&str, serde_json::Value)| {
        let usage = json!({ "tokens_in": 1, "tokens_out": 1, "cost_micros": 0 });
        let calls = json!([{ "name": name, "arguments": arguments }]);
        json!({ "answer": { "text": "", "calls": calls, "usage": usage, "finish_reason": "tool_calls" } })
            .to_string()
    };
    let path = stage.at("by hand.jsonl");
    std::fs::write(&path, calls.iter().map(line).collect::<Vec<_>>().join("\n")).expect("a file");
    format!("recorded:{}", path.display())
}

#[test]
fn a_folder_that_is_not_there_no_folder_or_not_readable_is_refused_before_a_task_is_made() {
    let stage = Stage::new();
    let closed = stage.at("closed");
    std::fs::create_dir(&closed).expect("a folder");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).expect("closed");
    for path in [stage.at("nothing"), stage.at("vault.txt"), closed.clone()] {
        let ran = stage.hermit(&["run", "--playbook", "tidy", "--workspace", text(&path)]).ends(1);
        ran.complains(&["not_found", text(&path), "name a folder that is there and that you may read"]);
    }
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).expect("open");
    let odd = stage.at("x").with_file_name(OsString::from_vec(b"caf\xe9".to_vec()));
    std::fs::create_dir(&odd).expect("a folder");
    let ran =
        Stage::ran(stage.command(&["--json", "run", "--playbook", "tidy", "--workspace"]).arg(&odd)).ends(2);
    ran.complains(&["is not UTF-8", "name the folder above it"]);
    let store = stage.home();
    stage
        .hermit(&["run", "--playbook", "tidy", "--workspace", text(&store)])
        .ends(3)
        .complains(&["Hermit's own store"]);
    let listed = stage.hermit(&["task", "list"]).ends(0).json();
    assert_eq!(listed["rows"].as_array().map(Vec::len), Some(0), "{listed}");
    stage.is_sound();
}

#[test]
fn a_playbook_with_a_fault_is_refused_with_its_line() {
    let stage = Stage::new();
    let path = stage.at("mine.yaml");
    for (body, words) in [
        ("playbook: 1\nname: x\ntitle: X\nsteps:\n  - frobnicate: {}\n", ["line 5", "frobnicate"]),
        ("playbook: 1\nname: [", ["line", "correct the file"]),
        ("", ["cannot be used", "correct the file"]),
    ] {
        std::fs::write(&path, body).expect("a file");
        run(&stage, &["--playbook", text(&path)]).ends(2).complains(&words);
    }
    std::fs::write(&path, [0xff, 0xfe, 0x00]).expect("a file");
    run(&stage, &["--playbook", text(&path)]).ends(2).complains(&["cannot read the playbook"]);
    run(&stage, &["--playbook", "nothing"]).ends(1).complains(&["`nothing`", "`tidy`", "`inventory`"]);
    run(&stage, &["--playbook", "tidy", "--param", "by=colour"]).ends(2).complains(&["`colour`", "category"]);
    stage.is_sound();
}

#[test]
fn a_goal_of_a_megabyte_is_refused_with_its_limit() {
    let stage = Stage::new();
    let path = stage.at("goal.txt");
    std::fs::write(&path, "x".repeat(1 << 20)).expect("a file");
    let ran = run(&stage, &["--goal-file", text(&path), "--model", &server::nobody()]).ends(2);
    ran.complains(&["1048576", "262144", "put the text into a file"]);
    stage.is_sound();
}

#[test]
fn a_model_that_is_down_or_answers_garbage_leaves_a_task_that_can_go_on() {
    for (address, words) in [
        (server::nobody(), "start the model's server"),
        (server::begin(Manner::Broken), "status 500"),
        (server::begin(Manner::Page), "not an answer"),
        (server::begin(Manner::Cut), "cut"),
    ] {
        let stage = Stage::new();
        std::fs::write(stage.work().join("kept.txt"), "kept\n").expect("a file");
        let before = tree::of(&stage.work());
        let ran = run(&stage, &["--goal", "do nothing", "--model", &address]);
        assert_eq!(ran.code, 1, "{address}: {ran:?}");
        _ = ran.complains(&[words, "nothing is lost"]);
        assert_eq!(tree::of(&stage.work()), before);
        // The server may be mended: the task waits for it.
        let rows = stage.hermit(&["task", "list"]).ends(0).json()["rows"].clone();
        assert_eq!(rows[0]["status"], "paused", "{rows}");
        stage.is_sound();
    }
}

#[test]
fn a_model_that_says_no_action_is_asked_again_and_then_left() {
    let stage = Stage::new();
    let ran = run(&stage, &["--goal", "do nothing", "--model", &server::begin(Manner::Prose)]);
    let shown = ran.json();
    assert!(matches!(ran.code, 0 | 1), "{ran:?}");
    assert!(shown["row"]["ended_at"].is_i64(), "it came to an end: {shown}");
    stage.is_sound();
}

#[test]
fn a_slow_model_is_waited_for_and_a_silent_one_can_be_left() {
    let stage = Stage::new();
    let ran = run(&stage, &["--goal", "say done", "--model", &server::begin(Manner::Dripping)]).ends(0);
    assert_eq!(ran.json()["row"]["status"], "completed");

    let silent = server::begin(Manner::Silent);
    let work = stage.work();
    let words = ["run", "--goal", "wait", "--workspace", text(&work), "--model", &silent];
    let mut waiting = stage.command(&words);
    let mut child = waiting
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let until = Instant::now() + Duration::from_secs(60);
    let rows = loop {
        let rows = stage.hermit(&["task", "list", "--status", "running"]).ends(0).json()["rows"].clone();
        if rows.as_array().is_some_and(|rows| !rows.is_empty()) || Instant::now() > until {
            break rows;
        }
    };
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
    // A second process gives its work to the one that has the store; reading needs nobody's leave.
    let second = run(&stage, &["--playbook", "inventory"]).ends(4).json();
    assert_eq!(second["row"]["run_status"], "awaiting_approval");
    stage.hermit(&["task", "list"]).ends(0);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is there");
    let ended = testkit::ends(&mut child);
    assert_eq!(ended.code(), Some(4), "it paused");
    let rows = stage.hermit(&["task", "list", "--status", "paused"]).ends(0).json()["rows"].clone();
    assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
    stage.is_sound();
}

#[test]
fn a_damaged_or_newer_store_is_left_as_it_is() {
    let stage = Stage::new();
    stage.asks("inventory");
    let path = stage.home().join("ledger.db");
    let whole = std::fs::read(&path).expect("the ledger");
    let verbs: [&[&str]; 4] = [&["task", "list"], &["ledger", "verify"], &["resume"], &["ledger", "rebuild"]];
    let mut garbled = whole.clone();
    garbled.iter_mut().take(9_000).enumerate().for_each(|(n, byte)| *byte ^= (n * 31) as u8 | 1);
    for damaged in [garbled, whole[..3_000].to_vec(), Vec::from(*b"no database at all")] {
        std::fs::write(&path, &damaged).expect("writable");
        for verb in verbs {
            stage.hermit(verb).ends(5).complains(&["damaged", "keep the file", "restore the newest backup"]);
        }
        assert_eq!(std::fs::read(&path).expect("there"), damaged, "nobody writes to a damaged ledger");
    }
    std::fs::write(&path, &whole).expect("writable");
    let database = rusqlite::Connection::open(&path).expect("a database");
    let known: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version");
    database.pragma_update(None, "user_version", known + 1).expect("set");
    for verb in verbs {
        stage.hermit(verb).ends(1).complains(&["newer_version", "open it with a newer Hermit"]);
    }
    database.pragma_update(None, "user_version", known).expect("set");
    drop(database);
    assert_eq!(stage.waiting().len(), 1, "the question waits as before");
    stage.is_sound();
}

#[test]
fn links_out_of_the_folder_are_neither_read_nor_written_through() {
    let stage = Stage::new();
    let outside = stage.at("outside");
    std::fs::create_dir(&outside).expect("a folder");
    std::fs::write(outside.join("secret.txt"), "the word is petrichor\n").expect("a file");
    symlink(outside.join("secret.txt"), stage.work().join("file")).expect("a link");
    symlink(&outside, stage.work().join("folder")).expect("a link");
    let model = transcript(
        &stage,
        &[
            ("read", json!({ "path": "file" })),
            ("read", json!({ "path": "folder/secret.txt" })),
            ("read", json!({ "path": "../outside/secret.txt" })),
            ("done", json!({ "summary": "tried" })),
        ],
    );
    let ran = run(&stage, &["--goal", "look around", "--model", &model]);
    assert!(matches!(ran.code, 0 | 1), "{ran:?}");
    let task = ran.json()["row"]["task_id"].as_str().expect("a task").to_owned();
    let events = format!("{:?}", stage.events(&task));
    assert!(!events.contains("petrichor"));
    let found = stage.hermit(&["search", "petrichor"]).json();
    assert!(!found.to_string().contains("artifact"), "{found}");

    let model = transcript(&stage, &[("write", json!({ "path": "folder/new.txt", "content": "x" }))]);
    let ran = run(&stage, &["--goal", "write through a link", "--model", &model]);
    if let Some(approval) = stage.waiting().first() {
        let _ = stage.allow(approval["approval_id"].as_str().expect("an id"), &[]).end();
    }
    assert!(!outside.join("new.txt").exists(), "{ran:?}");
    assert_eq!(tree::of(&outside).len(), 1);
    stage.is_sound();
}

#[test]
fn locked_keys_and_a_wrong_passphrase_change_nothing() {
    let stage = Stage::new();
    std::fs::write(stage.work().join("one.txt"), "one\n").expect("a file");
    let wrong = stage.at("wrong.txt");
    std::fs::write(&wrong, "some other words").expect("a file");
    let work = stage.work();
    let words = ["--json", "run", "--playbook", "tidy", "--workspace", text(&work)];
    let ran = Stage::ran(stage.command(&words).env("HERMIT_PASSPHRASE_FILE", &wrong)).ends(4);
    ran.complains(&["key_locked", "is not the vault passphrase", "nothing was changed"]);

    let (task, approval) = stage.asks("tidy");
    let home = stage.home();
    let mut pty = stage.terminal(
        &["--home", text(&home), "approvals", "approve", &approval],
        &[("HERMIT_PASSPHRASE_FILE", "")],
    );
    pty.expect("Vault passphrase").send("\r");
    super::stage::say_yes(&mut pty, "moderate");
    pty.expect("Hermit's own keys are locked").expect("Vault passphrase").send("\r");
    let (code, screen) = pty.end();
    assert_eq!(code, 4, "{screen}");
    assert!(screen.contains("receipt key is locked") && screen.contains("hermit unlock"), "{screen}");
    assert!(work.join("one.txt").exists(), "nothing was done that nobody could sign for");
    assert_eq!(stage.waiting().len(), 1, "the question waits as before");
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    assert!(work.join("Documents/one.txt").exists());
    stage.is_sound();
}

/// Fills the disk under the store, tries to work, makes room, and goes on. In a mount namespace of its own.
const FULL: &str = r#"
set -u
mount -t tmpfs -o size=64m tmpfs "$1" || exit 77
cp -a "$2/." "$1/" && chmod 700 "$1"
export HERMIT_HOME="$1" HERMIT_PASSPHRASE_FILE="$4"
left=$(df --output=avail -B1 "$1" | tail -1)
head -c $((left - 40960)) /dev/zero > "$1/ballast"
"$3" --json run --playbook inventory --workspace "$5" > "$6.out" 2> "$6.err" < /dev/null
echo "full $?"
rm "$1/ballast"
"$3" --json ledger checkpoint > /dev/null 2>&1 < /dev/null
"$3" --json ledger verify > "$6.verify" 2>&1; echo "verify $?"
"$3" --json resume > "$6.resume" 2>&1 < /dev/null; echo "resume $?"
"$3" --json run --playbook inventory --workspace "$5" > "$6.again" 2>&1 < /dev/null; echo "again $?"
"#;

#[test]
fn a_full_disk_is_told_and_nothing_is_lost() {
    let stage = Stage::new();
    let (mount, said) = (stage.at("full"), stage.at("said"));
    std::fs::create_dir(&mount).expect("a folder");
    std::fs::write(stage.work().join("one.txt"), "one\n").expect("a file");
    let before = tree::of(&stage.work());
    let ran = Stage::ran(
        Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", FULL, "sh"])
            .args([&mount, &stage.home()])
            .arg(super::programs::hermit())
            .args([stage.at("vault.txt"), stage.work(), said.clone()])
            .stdin(std::process::Stdio::null()),
    );
    if ran.code == 77 || !ran.out.contains("full ") {
        return conforms::skip(&format!(
            "this machine mounts nothing for us, so no disk is full: {}",
            ran.err
        ));
    }
    let read = |kind: &str| std::fs::read_to_string(format!("{}.{kind}", said.display())).unwrap_or_default();
    assert!(ran.out.contains("full 1"), "{}\n{}", ran.out, read("err"));
    let err = read("err");
    assert!(err.contains("disk_full") && err.contains("free"), "{err}");
    assert!(ran.out.contains("verify 0"), "{}", read("verify"));
    assert!(ran.out.contains("again 4"), "{}", read("again"));
    assert_eq!(tree::of(&stage.work()), before);
}

/// `hermit --json` on a machine of which nothing is written but an empty folder for what is temporary.
fn on_a_read_only_disk(stage: &Stage, home: &Path, words: &[&str]) -> Ran {
    let scratch = stage.at("scratch");
    std::fs::create_dir_all(&scratch).expect("a folder");
    let mut command = Command::new("bwrap");
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--bind"]).arg(&scratch).arg(&scratch);
    command.arg(super::programs::hermit()).arg("--json").args(words);
    command.env("HERMIT_HOME", home).env("TMPDIR", &scratch).env("XDG_STATE_HOME", stage.at("state"));
    command.env("HERMIT_PASSPHRASE_FILE", stage.at("vault.txt")).stdin(std::process::Stdio::null());
    Stage::ran(&mut command)
}

#[test]
fn a_profile_folder_that_is_read_only_is_told_with_what_to_do_and_nothing_is_lost() {
    if !Command::new("bwrap")
        .args(["--ro-bind", "/", "/", "true"])
        .output()
        .is_ok_and(|ran| ran.status.success())
    {
        return conforms::lacks("bubblewrap, and the right to make namespaces,");
    }
    let stage = Stage::new();
    std::fs::write(stage.work().join("one.txt"), "one\n").expect("a file");
    let (task, approval) = stage.asks("tidy");
    let (home, work) = (stage.home(), stage.work());
    let before = tree::of(&home);
    let run = ["run", "--playbook", "inventory", "--workspace", text(&work)];
    for words in [&run[..], &["task", "cancel", &task], &["approvals", "deny", &approval], &["serve"]] {
        let ran = on_a_read_only_disk(&stage, &home, words).ends(1);
        let (_, message, hint) = ran.complaint();
        assert!(message.contains("Read-only file system"), "{words:?}: {message}");
        assert!(hint.contains("its disk is not full or read-only"), "{words:?}: `{hint}`");
    }
    // A store that is not there is made nowhere else.
    let ran = on_a_read_only_disk(&stage, &stage.at("none"), &run).ends(1);
    ran.complains(&["cannot make", "its disk is not full or read-only"]);
    // Who only looks is told everything.
    let listed = on_a_read_only_disk(&stage, &home, &["task", "list"]).ends(0);
    assert!(listed.out.contains(&task), "{}", listed.out);
    assert_eq!(tree::of(&home), before);
    let (code, screen) = stage.approve(&approval);
    assert_eq!((code, stage.work().join("Documents/one.txt").is_file()), (0, true), "{screen}");
    stage.is_sound();
}
