//! The store and the proofs that the programs of 6cc1eb4 wrote: today's programs open, verify and fold the store, finish
//! the task that was killed there in the middle of a change, undo what was done there, and every proof still verifies.
//!
//! `data/store-6cc1eb4.tar.xz` was written by [`make`], built and run in a checkout of that commit. A later version keeps
//! it as it is and adds its own.

use super::programs::root;
use super::server;
use super::stage::{Ran, Stage, agreed, verified};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use testkit::Server;

/// Files that the killed task moves.
const FILES: usize = 40;

/// Proofs in the archive: of each task but the killed one, of a receipt, of a span of events, with all content, with
/// names withheld, with nothing but digests.
const PROOFS: usize = 12;

/// The profile of the task that commits, in a folder of its own.
const VCS: &str = "repo_mutation_gated";

fn say(tool: &str, arguments: Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

fn id(value: &Value) -> String {
    value.as_str().expect("an identifier").to_owned()
}

/// Lets a model say these in turn under a profile; the task, and the approval that it waits for.
fn asks(stage: &Stage, profile: &str, goal: &str, says: &[Value]) -> (String, String) {
    let asked = runs(stage, profile, goal, says).ends(4).json();
    assert_eq!(asked["waits_for"]["kind"], "approval", "{asked}");
    (id(&asked["row"]["task_id"]), id(&asked["waits_for"]["id"]))
}

fn runs(stage: &Stage, profile: &str, goal: &str, says: &[Value]) -> Ran {
    let model = server::script(&[says, &[say("done", json!({ "summary": "done" }))]].concat());
    let folder = stage.at(if profile == VCS { "repo" } else { "work" });
    let words = ["run", "--goal", goal, "--workspace", folder.to_str().expect("UTF-8"), "--model", &model];
    stage.hermit(&[&words[..], &["--profile", profile]].concat())
}

fn allow(stage: &Stage, approval: &str) {
    let (code, screen) = stage.approve(approval);
    assert_eq!(code, 0, "{screen}");
}

/// Files in a folder of the work.
fn lying(stage: &Stage, folder: &str) -> usize {
    let entries = std::fs::read_dir(stage.work().join(folder)).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".md")).count()
}

fn git(stage: &Stage, words: &[&str]) {
    let name = ["-c", "user.name=A Person", "-c", "user.email=a@example.org"];
    let ran = Command::new("git").current_dir(stage.at("repo")).args(name).args(words).status();
    assert!(ran.expect("git").success(), "{words:?}");
}

/// Tasks of each kind that this version knew: a file written, a file written and put back, a change refused, a command, a
/// request, a memory, a commit.
fn story(stage: &Stage) -> Vec<String> {
    let edit = "local_edit_allowed";
    std::fs::create_dir(stage.at("repo")).expect("a folder");
    for folder in ["work", "repo"] {
        std::fs::write(stage.at(folder).join("notes.txt"), "one\n").expect("a file");
    }
    git(stage, &["init", "-q", "-b", "main"]);
    git(stage, &["add", "."]);
    git(stage, &["commit", "-q", "-m", "first"]);
    let write = |name: &str| say("write", json!({ "path": name, "content": format!("this is {name}\n") }));
    let (kept, approval) = asks(stage, edit, "write a file", &[write("kept.txt")]);
    allow(stage, &approval);
    let (undone, approval) = asks(stage, edit, "write another file", &[write("undone.txt")]);
    allow(stage, &approval);
    let back = stage.hermit(&["rollback", &id(&stage.receipt(&undone)["receipt_id"])]).ends(4).json();
    let rollback = id(&back["row"]["task_id"]);
    allow(stage, &id(&back["waits_for"]["id"]));
    let (refused, approval) =
        asks(stage, edit, "delete the notes", &[say("delete", json!({ "path": "notes.txt" }))]);
    stage.hermit(&["approvals", "deny", &approval, "--feedback", "they are needed"]).ends(0);
    stage.hermit(&["resume"]);
    let command = json!({ "argv": ["cat", "notes.txt"] });
    let command = runs(stage, edit, "read the notes", &[say("command", command)]).ends(0).json();
    let command = id(&command["row"]["task_id"]);
    let place = Server::agreeing();
    let order = json!({ "method": "POST", "url": place.url("/orders?n=1"), "body": "one kettle" });
    let (fetched, approval) = asks(stage, "external_publish_gated", "order a kettle", &[say("fetch", order)]);
    allow(stage, &approval);
    let remember =
        json!({ "claim": "the notes are text", "scope": "*", "reason": "asked", "evidence": ["notes.txt"] });
    let says = [say("read", json!({ "path": "notes.txt" })), say("remember", remember)];
    let (remembered, approval) = asks(stage, edit, "look and remember", &says);
    allow(stage, &approval);
    std::fs::write(stage.at("repo").join("notes.txt"), "one\ntwo\n").expect("a file");
    let commit = json!({ "paths": ["notes.txt"], "message": "say two" });
    let (committed, approval) = asks(stage, VCS, "commit the notes", &[say("commit", commit)]);
    allow(stage, &approval);
    vec![kept, undone, rollback, refused, command, fetched, remembered, committed]
}

/// A task that was killed with half of its files moved.
fn killed(stage: &Stage) -> String {
    for n in 0..FILES {
        std::fs::write(stage.work().join(format!("{n:03}.md")), format!("number {n}\n")).expect("a file");
    }
    let (task, approval) = stage.asks("tidy");
    let pty = stage.allow(&approval, &[]);
    let until = Instant::now() + Duration::from_secs(60);
    while lying(stage, "Documents") < 5 {
        assert!(Instant::now() < until, "it never began: {}", pty.shown());
        std::thread::yield_now();
    }
    // Letting go of the terminal kills what runs on it with SIGKILL.
    drop(pty);
    assert!(lying(stage, "") > 0, "it was done before it could be killed");
    task
}

/// Writes the archive, by the programs that stand beside this test.
fn make(into: &Path) {
    let stage = Stage::fixed();
    stage.furnish();
    let stage = stage.with_keys();
    let tasks = story(&stage);
    stage.is_sound();
    let proofs = stage.at("proofs");
    std::fs::create_dir(&proofs).expect("a folder");
    let export = |name: &str, words: &[&str]| {
        let to = proofs.join(format!("{name}.zip"));
        stage.hermit(&[&["proof", "export"], words, &["-o", to.to_str().expect("UTF-8")]].concat()).ends(0);
    };
    let names = ["kept", "undone", "rollback", "refused", "command", "fetched", "remembered", "committed"];
    for (name, task) in names.iter().zip(&tasks) {
        export(name, &[task]);
    }
    export("receipt", &[&id(&stage.receipt(&tasks[0])["receipt_id"])]);
    export("span", &[&tasks[4], "--events", "3..9"]);
    export("whole", &[&tasks[4], "--artifacts", "all"]);
    export("withheld", &[&tasks[4], "--redact", "all"]);
    let facts = json!({ "log": stage.key("log"), "manifest": stage.key("manifest"), "tasks": tasks, "killed": killed(&stage) });
    std::fs::write(stage.at("facts.json"), facts.to_string()).expect("a file");
    let packed = Command::new("tar").arg("-C").arg(stage.at("")).arg("-cJf").arg(into).arg(".").status();
    assert!(packed.expect("tar").success());
}

/// The archive where it was written: the store names its folder.
struct Golden {
    stage: Stage,
    facts: Value,
}

impl Golden {
    fn new() -> Self {
        if let Some(into) = std::env::var_os("HERMIT_WRITE_GOLDEN") {
            make(Path::new(&into));
        }
        let stage = Stage::fixed();
        let archive = root().join("tests/journeys/data/store-6cc1eb4.tar.xz");
        let unpacked = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(stage.at("")).status();
        assert!(unpacked.expect("tar").success());
        let facts = std::fs::read(stage.at("facts.json")).expect("facts");
        Self { stage, facts: serde_json::from_slice(&facts).expect("JSON") }
    }

    fn task(&self, n: usize) -> String {
        id(&self.facts["tasks"][n])
    }
}

/// Receipts of a task's effects that left something, the newest first.
fn receipts(stage: &Stage, task: &str) -> Vec<String> {
    let rows = stage.hermit(&["receipts", "list", "--task", task]).ends(0).json();
    let mut rows = rows["rows"].as_array().expect("rows").clone();
    rows.retain(|row| row["class"] != "approval_resolution");
    rows.sort_by_key(|row| std::cmp::Reverse(row["issued_at"].as_u64()));
    rows.iter().map(|row| id(&row["receipt_id"])).collect()
}

/// The lists, folded anew from the log, are those that stand there, byte for byte.
fn folds_anew(stage: &Stage) {
    let conn = rusqlite::Connection::open(stage.home().join(ledger::FILE)).expect("the ledger");
    let live = projections::tables(&conn).expect("the lists");
    projections::rebuild(&conn, &mut |_| projections::Flow::Continue).expect("they fold");
    assert!(live == projections::tables(&conn).expect("the lists"), "lists differ from the log");
}

/// Principals that a store of this version lacked are registered by the first host that takes it, and once.
fn knows_services(stage: &Stage) {
    let conn = rusqlite::Connection::open(stage.home().join(ledger::FILE)).expect("the ledger");
    let text = "SELECT count(*) FROM view_principals WHERE kind = ?1";
    let count = |kind: &str| conn.query_row(text, [kind], |row| row.get::<_, u32>(0)).expect("the list");
    assert_eq!((count("service"), count("scheduler"), count("user")), (2, 1, 1));
}

#[test]
fn a_store_of_6cc1eb4_verifies_folds_and_goes_on_by_todays_programs() {
    let golden = Golden::new();
    let stage = &golden.stage;
    let verified = stage.hermit(&["ledger", "verify"]).json();
    assert_eq!(verified["verdict"], "valid", "{verified}");
    let killed = id(&golden.facts["killed"]);
    let at_work = || stage.count(&killed, "effect.dispatched") - stage.count(&killed, "effect.observed");
    assert_eq!(at_work(), 1, "it was killed at work");
    let moved = lying(stage, "Documents");
    assert!(0 < moved && moved < FILES, "{moved} of {FILES}");

    // What was dispatched is looked at, not done again. Its grant ran out long ago, so the rest is asked for anew.
    stage.hermit(&["resume"]).ends(4);
    assert_eq!((at_work(), lying(stage, "Documents")), (0, moved));
    let [waits] = <[Value; 1]>::try_from(stage.waiting()).expect("one question");
    allow(stage, &id(&waits["approval_id"]));
    assert_eq!((at_work(), lying(stage, "Documents"), lying(stage, "")), (0, FILES, 0));
    folds_anew(stage);

    // What was done there is undone here, the newest first.
    let kept = stage.work().join("kept.txt");
    let back = |receipt: &str| {
        let asked = stage.hermit(&["rollback", receipt]).ends(4).json();
        allow(stage, &id(&asked["waits_for"]["id"]));
    };
    receipts(stage, &killed).iter().for_each(|receipt| back(receipt));
    assert_eq!((lying(stage, "Documents"), lying(stage, ""), kept.is_file()), (0, FILES, true));
    receipts(stage, &golden.task(0)).iter().for_each(|receipt| back(receipt));
    assert!(!kept.exists());
    stage.is_sound();
    folds_anew(stage);
    knows_services(stage);
    for n in 0..golden.facts["tasks"].as_array().expect("tasks").len() {
        stage.prove(&golden.task(n));
    }
    stage.prove(&killed);
}

#[test]
fn proofs_of_6cc1eb4_verify_by_both_verifiers() {
    let golden = Golden::new();
    let (log, manifest) = (id(&golden.facts["log"]), id(&golden.facts["manifest"]));
    let proofs = std::fs::read_dir(golden.stage.at("proofs")).expect("proofs").flatten();
    let mut seen = 0;
    for proof in proofs.map(|entry| entry.path()) {
        verified(&proof, &["--trust", &log, "--trust", &manifest]).ends(0);
        verified(&proof, &[]).ends(6);
        // In a span of events no receipt may tie the key of the manifest to that of the log.
        let tied = !proof.ends_with("span.zip");
        for (key, enough) in [(&log, tied), (&manifest, true)] {
            let said = agreed(&proof, key);
            assert_eq!(said["verdict"] == "valid", enough, "{}: {said}", proof.display());
        }
        seen += 1;
    }
    assert_eq!(seen, PROOFS);
}
