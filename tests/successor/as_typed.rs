//! Trials as a person types them, over work that was done in a store of its own, and what must hold of its parent after each.
//!
//! A change of the source goes the whole way of a trial: the source unpacked, the difference applied, built and tested, and what was
//! built played as a clone. Only the compiler is another: it takes the program out of the source as it stands there, since to build
//! Hermit takes an hour.

use super::proposed::{allowed, done, task_of, writes};
use super::{processes_with, soon};
use crate::journeys::attached::Served;
use crate::journeys::stage::Stage;
use crate::journeys::tree::{self, Tree};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use testkit::{Chat, Large};

const GOAL: &str = "write a note";
/// Where what is new in a change of the source comes from, a line each.
pub(super) const STATEMENT: [&str; 4] =
    ["Written-from: HV-5-5", "Studied: nothing", "Copied: nothing", "Adds: nothing"];
/// What each clone may use up: little, and more than one that behaves needs on a busy machine.
const BUDGET: [&str; 12] = [
    "--wall-seconds",
    "400",
    "--cpu-seconds",
    "10",
    "--memory-mb",
    "512",
    "--disk-mb",
    "64",
    "--processes",
    "64",
    "--seed",
    "7",
];
/// In the place of cargo: what stands in the source is what is built, and what tests it. Without a program there, it is Hermit as it is,
/// and with changes of its words there, Hermit with these.
const CARGO: &str = r#"#!/bin/sh
case "$1" in
build)
    mkdir -p "$CARGO_TARGET_DIR/debug" || exit 1
    # Without a change there is nothing to build.
    [ -f trial/build.sh ] || exit 0
    sh trial/build.sh || exit 1
    program=trial/program.sh
    [ -f "$program" ] || program="$(dirname "$0")/../hermit"
    if [ -f trial/changes.sed ]; then
        LC_ALL=C sed -f trial/changes.sed "$program" > "$CARGO_TARGET_DIR/debug/hermit"
    else
        cp "$program" "$CARGO_TARGET_DIR/debug/hermit"
    fi && chmod 755 "$CARGO_TARGET_DIR/debug/hermit" ;;
test) [ "$2" = --no-run ] || exec sh trial/suite.sh ;;
esac
"#;
pub(super) const PASSES: &str = "echo 'test it_holds ... ok'";

/// A change of the source, by what that compiler makes of it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// Runs while it is built.
    pub(super) build: &'a str,
    /// Runs while it is tested.
    pub(super) suite: &'a str,
    /// Is what was built; Hermit as it is where nothing is said.
    pub(super) program: Option<&'a str>,
}

/// One that changes nothing that runs.
pub(super) const HONEST: Source<'static> = Source { build: ":", suite: PASSES, program: None };

impl Source<'_> {
    pub(super) fn diff(&self) -> String {
        let mut diff = adds("trial/build.sh", self.build) + &adds("trial/suite.sh", self.suite);
        if let Some(program) = self.program {
            diff += &adds("trial/program.sh", &format!("#!/bin/sh\n{program}"));
        }
        diff
    }
}

/// A difference that adds a file.
pub(super) fn adds(path: &str, text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("+{line}\n")).collect();
    format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n{}", lines.len(), lines.concat())
}

/// A number that stands in the words of no other process.
pub(super) fn mark(of: u32) -> String {
    format!("{}", 900_000_000_u64 + u64::from(std::process::id()) * 10 + u64::from(of))
}

/// A file that can be started.
fn program(stage: &Stage, name: &str, text: &str) {
    let path = stage.at(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it can be started");
}

/// A store whose person had a note written, on a machine with that compiler; the task.
pub(super) fn worked() -> (Stage, String) {
    let mut stage = Stage::new();
    program(&stage, "bin/rustc", &format!("#!/bin/sh\necho {}\n", stage.at("toolchain").display()));
    program(&stage, "toolchain/bin/cargo", CARGO);
    let path = format!("{}:{}", stage.at("bin").display(), std::env::var("PATH").expect("programs"));
    let cargo = stage.at("cargo").display().to_string();
    stage.tells("PATH", path);
    stage.tells("CARGO_HOME", cargo);
    let chat = Chat::saying(Large::STRONG, vec![writes("a.md"), done("written")]);
    allowed(&stage, GOAL, &chat.address());
    let task = task_of(&stage, GOAL);
    (stage, task)
}

/// SHA-256 of the source that changes apply to.
pub(super) fn base(stage: &Stage) -> String {
    let told = stage.hermit(&["source"]).ends(0).json();
    told["source_sha256"].as_str().expect("it carries its source").to_owned()
}

pub(super) fn shown(stage: &Stage, trial: &Value) -> Value {
    stage.hermit(&["successor", "show", trial.as_str().expect("an id")]).ends(0).json()
}

/// Tries changes over this task, side by side where they are several; what is shown of each.
pub(super) fn tried(stage: &Stage, task: &str, changes: &[&str], code: i32) -> Vec<Value> {
    let words = ["successor", "try", "--on", task, "--tasks", "1", "--task", "it breaks nothing"];
    let ran = stage.hermit(&[&words[..], &BUDGET[..], changes].concat()).ends(code).json();
    match ran["trials"].as_array() {
        Some(rows) => rows.iter().map(|row| shown(stage, &row["trial_id"])).collect(),
        None => vec![shown(stage, &ran["trial"]["trial_id"])],
    }
}

/// Tries changes that are written as JSON.
pub(super) fn tried_patches<'v>(
    stage: &Stage,
    task: &str,
    changes: impl Iterator<Item = &'v Value>,
    code: i32,
) -> Vec<Value> {
    let file = |(at, change): (usize, &Value)| {
        let patch = json!({ "says": format!("change {at}"), "sources": ["mine"], "change": change });
        let file = stage.at(&format!("{at}.json"));
        std::fs::write(&file, patch.to_string()).expect("a file");
        file.to_str().expect("UTF-8").to_owned()
    };
    let files: Vec<String> = changes.enumerate().map(file).collect();
    let words: Vec<&str> = files.iter().flat_map(|file| ["--patch", file.as_str()]).collect();
    tried(stage, task, &words, code)
}

/// Tries changes of the source.
pub(super) fn tried_sources(stage: &Stage, task: &str, sources: &[Source<'_>]) -> Vec<Value> {
    let diffs: Vec<String> = sources.iter().map(Source::diff).collect();
    tried_diffs(stage, task, &diffs)
}

/// Tries changes of the source by what is different in each.
pub(super) fn tried_diffs(stage: &Stage, task: &str, diffs: &[String]) -> Vec<Value> {
    let base = base(stage);
    let file = |(at, diff): (usize, &String)| {
        let file = stage.at(&format!("{at}.diff"));
        std::fs::write(&file, diff).expect("a file");
        file.to_str().expect("UTF-8").to_owned()
    };
    let files: Vec<String> = diffs.iter().enumerate().map(file).collect();
    let mut words = vec!["--base", base.as_str()];
    words.extend(files.iter().flat_map(|file| ["--diff", file.as_str()]));
    words.extend(STATEMENT.iter().flat_map(|line| ["--source", *line]));
    let shown = tried(stage, task, &words, 0);
    assert_eq!(shown.len(), diffs.len(), "{shown:?}");
    shown
}

/// The verdict is signed, bad changes that are known were refused in the same run, and this one is not as good as what is there.
#[track_caller]
pub(super) fn is_refused(one: &Value) {
    let outcome = one["trial"]["outcome"].as_str().unwrap_or_else(|| panic!("no verdict: {one}"));
    assert!(["worse", "unsafe", "inconclusive"].contains(&outcome), "{one}");
    is_sound(one);
}

#[track_caller]
pub(super) fn is_sound(one: &Value) {
    assert_eq!(one["verdict"]["is_signed"], true, "{one}");
    let planted = one["verdict"]["planted"].as_array().expect("planted changes");
    assert!(!planted.is_empty() && planted.iter().all(|bad| bad["refused"] == true), "{planted:?}");
}

/// What is a parent's: its files, the folder that was worked in, what was done there, and what holds.
pub(super) struct Parent {
    store: Tree,
    work: Tree,
    told: Vec<Value>,
}

impl Parent {
    pub(super) fn of(stage: &Stage, task: &str) -> Self {
        let lists = [&["policy", "own"][..], &["keys", "list"], &["tools", "list"], &["identity", "show"]];
        let mut told: Vec<Value> = lists.iter().map(|words| stage.hermit(words).ends(0).json()).collect();
        told.extend(stage.events(task));
        let tasks = stage.hermit(&["task", "list"]).ends(0).json();
        told.push(json!(tasks["rows"].as_array().expect("rows").len()));
        Self { store: tree::of(&stage.home()), work: tree::of(&stage.work()), told }
    }

    /// Nothing of it is another, and a trial has put nothing beside it but what is on record, and what is named here.
    #[track_caller]
    pub(super) fn is_as_it_was(&self, stage: &Stage, task: &str, beside: &[&str]) {
        let now = Self::of(stage, task);
        assert_eq!(now.told, self.told);
        assert!(now.work == self.work, "the folder that was worked in is another");
        for (path, thing) in &self.store {
            if !is_of_the_host(path) {
                assert!(now.store.get(path) == Some(thing), "{} is another", path.display());
            }
        }
        // The folder that code is built in stays, with what is built of the source as it is alone.
        let known = |path: &Path| {
            path == Path::new("successor")
                || path.starts_with("successor/base")
                || path.starts_with("artifacts")
                || beside.iter().any(|name| path.starts_with(name))
        };
        for path in now.store.keys().filter(|path| !self.store.contains_key(*path)) {
            assert!(is_of_the_host(path) || known(path), "{} is new", path.display());
        }
    }
}

/// Files that whoever holds a store writes all the time: its log and journal, its lock, what it says of itself, and how it is reached.
fn is_of_the_host(path: &Path) -> bool {
    let name = path.to_string_lossy();
    ["ledger.", "journal.", "logs", "control.sock", "gateway."].iter().any(|begins| name.starts_with(begins))
}

/// Nothing runs any more that has this mark in its words, or was started from this store.
#[track_caller]
pub(super) fn nothing_runs(stage: &Stage, mark: &str) {
    let store = stage.home().to_str().expect("UTF-8").to_owned();
    soon("nothing of a clone is left", || {
        processes_with(mark).is_empty() && processes_with(&store).is_empty()
    });
}

/// Attempts at a parent at work, and at a stranger: each is a command that succeeds for whoever reaches it.
pub(super) fn attempts(stage: &Stage, served: &Served, stranger: &str) -> Vec<String> {
    let (at, folder, pid) = (stage.home(), stage.work(), served.pid());
    let (store, work) = (at.display(), folder.display());
    let files = ["vault.key", "keys.json", "approval.key", "gateway.token", "ledger.db"];
    let mut all: Vec<String> = files.iter().map(|name| format!("cat {store}/{name}")).collect();
    let connects = |address: &str| format!("bash -c 'exec 3<>/dev/tcp/{}'", address.replace(':', "/"));
    all.extend([
        format!("ls {store}"),
        format!("echo x > {store}/left"),
        format!("echo x > {work}/left"),
        format!("kill -0 {pid}"),
        format!("cat /proc/{pid}/environ"),
        connects(&served.address()),
        connects(stranger),
    ]);
    all
}
