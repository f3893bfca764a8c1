//! Trials of changes: how long it takes from a large store to a clone that has played, beside reading the log and a shell in the same
//! sandbox; and what a trial costs beside the tests' own time (successor.md 3, 4).

use crate::Asked;
use crate::board::{Board, at, ms, program, timed};
use crate::grown;
use crate::journeys::programs::root;
use ::successor::{Budget, Change, Patch};
use effects::Sandbox;
use host::successor::{
    CLONE_VERB, CaseOf, CloneEnd, CloneProgram, CodeTrial, Handed, ParentPlaces, TrialEnd, TrialRun, draw,
    export, nobody, run_confined, run_trial,
};
use kernel::DriveOutcome;
use model::receipt::SandboxLevel;
use model::task::TaskStatus;
use model::{Digest, TaskId};
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use testkit::{World, done, look, write};

/// Tasks that are played again.
const TASKS: usize = 4;
const SEED: u64 = 7;
const PROFILE: &str = "local_edit_allowed";
/// How often the log is read, and how often a clone plays.
const READS: usize = 3;
const PLAYS: usize = 9;
/// Seconds from a store of 150,000 events to a clone that has played; twice what two quiet cores were seen to need.
const TO_A_CLONE_S: f64 = 10.0;
/// How many times its own build and tests the whole trial of a small workspace may take, with the clones of the arm that plays;
/// twice what was seen.
const OF_ITS_TESTS: f64 = 10.0;
/// Turns the part on that builds Hermit, as in the tests of trials: an hour, and gigabytes of disk.
const LONG: &str = "HERMIT_TEST_BUILDS_HERMIT";

/// A budget that nothing ordinary uses up.
const AMPLE: Budget = Budget {
    wall_ms: 120_000,
    cpu_ms: 120_000,
    memory_bytes: 2 << 30,
    disk_bytes: 1 << 30,
    processes: 200,
    tokens: 1_000_000,
};

pub fn run(asked: &Asked, board: &Board) {
    let Some((hermit, exec)) = program("hermit").zip(program("hermit-exec")) else {
        return board.figure("trials", "`hermit` and `hermit-exec` are not built");
    };
    let sandbox = Sandbox::probe(&exec);
    if !matches!(sandbox.level(), SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces) {
        return board.figure("trials", &format!("no clone can be confined here: {}", sandbox.why()));
    }
    let (world, tasks) = worked(asked.clone_events, board);
    let on = On { world: &world, sandbox: &sandbox, hermit: &hermit, tasks: &tasks };
    to_a_clone(&on, board);
    of_policy(&on, board);
    of_code(&on, board);
}

/// What trials run on.
struct On<'a> {
    world: &'a World,
    sandbox: &'a Sandbox,
    hermit: &'a Path,
    tasks: &'a [TaskId],
}

/// A store with a few tasks that can be played again, behind which many events of others came.
fn worked(events: u64, board: &Board) -> (World, Vec<TaskId>) {
    let mut world = World::new(5);
    world.file("notes/plan.md", "one\ntwo\n");
    let work = |n: usize| {
        let answers = vec![look("notes/plan.md"), write(&format!("notes/{n}.md"), "text\n"), done("written")];
        let task = world.script(&format!("write down number {n}"), answers);
        let (ended, _) = world.drive_allowing(task);
        assert!(matches!(ended, DriveOutcome::Ended { status: TaskStatus::Completed, .. }), "{ended:?}");
        task
    };
    let tasks: Vec<TaskId> = (0..TASKS).map(work).collect();
    world.crash();
    let writer = grown::writer(world.store.path(), false);
    let (took, made) = timed(|| grown::live(&writer, events));
    drop(writer);
    grown::fold(world.store.path());
    world.reopen();
    board.figure("grown by the writer", &format!("{made} events in {took:.1?}; the bound names 150000"));
    (world, tasks)
}

/// From the log to evidence: the tasks are looked for, taken out, and played by a clone.
fn to_a_clone(on: &On<'_>, board: &Board) {
    let kernel = on.world.kernel();
    let log = || {
        let (mut after, mut read) = (0, 0_usize);
        loop {
            let events = kernel.reader().log(after, 1_000).expect("its log");
            let Some(last) = events.last() else { return read };
            after = last.log_seq;
            read += events.len();
        }
    };
    let drawn = |named: &[TaskId]| draw(kernel, SEED, named, TASKS).expect("they can be drawn");
    let (mut raws, mut draws, mut events) = (Vec::new(), Vec::new(), 0);
    for _ in 0..READS {
        let (took, read) = timed(log);
        raws.push(took);
        events = read;
        draws.push(timed(|| drawn(on.tasks)).0);
    }
    let (raw, draw) = (at(&mut raws, 0.5), at(&mut draws, 0.5));
    board.figure(
        "named tasks found in the log",
        &format!("{}, {:.2} of reading its {events} events ({})", ms(draw), draw / raw, ms(raw)),
    );
    let (took, found) = timed(|| drawn(&[]));
    board.figure(
        "tasks drawn by a seed, where hardly any can be played again",
        &format!(
            "{} of them in {}, {:.2} of reading",
            found.tasks.len(),
            ms(took.as_secs_f64()),
            took.as_secs_f64() / raw
        ),
    );
    let mut exports: Vec<_> = (0..PLAYS).map(|_| timed(|| case(on)).0).collect();
    let (handed, exported) = (case(on), at(&mut exports, 0.5));
    let input = serde_json::to_vec(&handed).expect("JSON");
    board.figure(
        "the case taken out of the store",
        &format!("{}; {TASKS} tasks, {} KB", ms(exported), input.len() / 1_024),
    );
    let shell = Path::new("/bin/sh").canonicalize().expect("a shell");
    let reads = CloneProgram::of(&shell, &["-c", "cat > /dev/null"]);
    let plays = CloneProgram::of(on.hermit, &[CLONE_VERB]);
    let (mut shells, mut clones, mut memory) = (Vec::new(), Vec::new(), 0);
    for _ in 0..PLAYS {
        shells.push(timed(|| confined(on, &reads, &input)).0);
        let (took, end) = timed(|| confined(on, &plays, &input));
        clones.push(took);
        memory = end.used.memory_bytes.max(memory);
    }
    let (shell, clone) = (at(&mut shells, 0.5), at(&mut clones, 0.5));
    board.figure(
        "a clone, from its start to its evidence",
        &format!(
            "{}, {:.1} of a shell in the same sandbox that reads the case ({}); {} MB",
            ms(clone),
            clone / shell,
            ms(shell),
            memory >> 20
        ),
    );
    let all = draw + exported + clone;
    board.at_most("from the store to a clone that has played, s", all, TO_A_CLONE_S, "");
}

fn case(on: &On<'_>) -> Handed {
    let of = CaseOf { trial_id: "trial", seed: SEED, budget: AMPLE, profile: PROFILE, tasks: on.tasks };
    export(on.world.kernel(), &of, ParentPlaces::of(on.world.store.path(), None)).expect("a case")
}

fn confined(on: &On<'_>, clone: &CloneProgram, input: &[u8]) -> CloneEnd {
    let end = run_confined(on.sandbox, clone, input.to_vec(), &AMPLE, &|| false).expect("it is confined");
    assert!(end.is_whole(), "{}", end.in_words());
    end
}

/// Runs a trial to its verdict.
fn tried(on: &On<'_>, change: Change, code: Option<CodeTrial<'_>>) -> (Duration, TrialEnd) {
    let sources = vec!["written by the person".to_owned()];
    let patch = Patch { says: "a change".to_owned(), sources, change };
    let run = TrialRun {
        kernel: on.world.kernel(),
        sandbox: on.sandbox,
        program: on.hermit,
        places: ParentPlaces::of(on.world.store.path(), None),
        trial_id: "trial",
        patch: &patch,
        about: "it breaks nothing",
        tasks: on.tasks,
        seed: SEED,
        budget: AMPLE,
        profile: PROFILE,
        model: None,
        asked: Err(String::new()),
        code,
        clean_room: Vec::new(),
        stopped: &|| false,
        at: &nobody,
    };
    timed(|| run_trial(&run).expect("a verdict"))
}

/// A change of which no test is run: clones alone.
fn of_policy(on: &On<'_>, board: &Board) {
    let rules = "allow FileEdit(notes/**)\n".to_owned();
    let (took, end) = tried(on, Change::Policy { rules, profile: None }, None);
    let clones = 2 + end.verdict.planted.len();
    let took = took.as_secs_f64();
    board.figure(
        "a trial of a rule, all of it",
        &format!(
            "{}, {clones} clones, {} each; {:?}",
            ms(took),
            ms(took / clones as f64),
            end.verdict.outcome
        ),
    );
}

const MANIFEST: &str = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
const LOCK: &str = "version = 3\n\n[[package]]\nname = \"small\"\nversion = \"0.1.0\"\n";
const MAIN: &str = "fn main() {\n    println!(\"{}\", small::number());\n}\n";
const LIB: &str = "pub fn number() -> u64 {\n    1\n}\n";
const TEST: &str = "#[test]\nfn it_is_a_number() {\n    assert!(small::number() > 0);\n}\n";
const CHANGE: &str =
    "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,3 +1,3 @@\n pub fn number() -> u64 {\n-    1\n+    2\n }\n";

/// Lays out a workspace of one package with one test.
fn small(at: &Path) -> Result<Digest, String> {
    let files = [
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        ("src/main.rs", MAIN),
        ("src/lib.rs", LIB),
        ("tests/it.rs", TEST),
    ];
    for (name, text) in files {
        let file = at.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).map_err(|e| e.to_string())?;
        std::fs::write(file, text).map_err(|e| e.to_string())?;
    }
    Ok(Digest::of(b"a small workspace"))
}

/// Lays out Hermit as it was committed last.
fn hermits_own(at: &Path) -> Result<Digest, String> {
    let archived = Command::new("sh")
        .arg("-c")
        .arg(r#"git -C "$1" archive HEAD | tar -x -C "$2""#)
        .args([OsStr::new("sh"), root().as_os_str(), at.as_os_str()])
        .status();
    archived.map_err(|e| e.to_string()).map(|_| Digest::of(b"this checkout"))
}

/// Changes of code: the whole trial beside the same build and the same tests without a trial. What is built of the small workspace
/// cannot play, so of its trial the clones of the other arm remain; a trial of Hermit itself has all of them.
fn of_code(on: &On<'_>, board: &Board) {
    let folder = TempDir::new().expect("a folder");
    let Some(toolchain) = toolchain() else {
        return board.figure("a trial of code", "there is no toolchain to build with");
    };
    let code = CodeTrial {
        unpack: &small,
        folder: folder.path().join("build"),
        toolchain,
        cargo_home: folder.path().join("no-registry"),
        warm: None,
        bases: None,
        at: &nobody,
        program: ("small".to_owned(), "small".to_owned()),
        build: Vec::new(),
        suite: ("all of it".to_owned(), Vec::new()),
        budget: AMPLE,
    };
    let (took, tests) = beside_tests(on, board, "a trial of a small workspace", code, CHANGE);
    board.at_most("that / its own build and tests", took / tests, OF_ITS_TESTS, "");
    if std::env::var_os(LONG).is_none() {
        return board
            .figure("a trial of Hermit's own code", &format!("{LONG} is not set; it builds Hermit twice"));
    }
    let diff = "--- /dev/null\n+++ b/src-tauri/crates/seal/NOTE.md\n@@ -0,0 +1 @@\n+A note.\n";
    match CodeTrial::of_hermit(&hermits_own, folder.path().join("build-of-hermit")) {
        Some(code) => {
            let most = Duration::from_millis(code.budget.wall_ms).as_secs_f64();
            let (took, _) = beside_tests(on, board, "a trial of Hermit's own code", code, diff);
            board.at_most("that, s", took, most, "its budget of time");
        }
        None => board.figure("a trial of Hermit's own code", "there is no toolchain to build with"),
    }
}

fn toolchain() -> Option<PathBuf> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let toolchain = PathBuf::from(String::from_utf8(sysroot.stdout).ok()?.trim());
    toolchain.join("bin/cargo").is_file().then_some(toolchain)
}

/// Seconds of the trial, and of the same build and tests without one.
fn beside_tests(on: &On<'_>, board: &Board, what: &str, code: CodeTrial<'_>, diff: &str) -> (f64, f64) {
    let folder = TempDir::new().expect("a folder");
    let (source, tests) = plainly(&code, diff, folder.path());
    drop(folder);
    let diff = diff.to_owned();
    let (took, end) = tried(on, Change::Code { source, diff }, Some(code));
    let ran = end.verdict.tests.as_ref().map_or((0, 0), |tests| (tests.passed, tests.failed.len()));
    let (took, tests) = (took.as_secs_f64(), tests.as_secs_f64());
    board.figure(
        what,
        &format!(
            "{took:.2} s, {:.2} of building and testing it without a trial ({tests:.2} s); {} tests passed, {} failed",
            took / tests,
            ran.0,
            ran.1
        ),
    );
    (took, tests)
}

/// The same change built and tested without a sandbox, from nothing.
fn plainly(code: &CodeTrial<'_>, diff: &str, folder: &Path) -> (Digest, Duration) {
    let at = folder.join("source");
    std::fs::create_dir_all(&at).expect("a folder");
    let source = (code.unpack)(&at).expect("it is laid out");
    let mut apply = Command::new("git")
        .args(["apply", "-p1", "--whitespace=nowarn", "-"])
        .current_dir(&at)
        .env("GIT_CEILING_DIRECTORIES", folder)
        .stdin(Stdio::piped())
        .spawn()
        .expect("git");
    apply.stdin.take().expect("it is piped").write_all(diff.as_bytes()).expect("written");
    assert!(apply.wait().expect("git").success(), "the change does not apply");
    let cargo = |words: Vec<&str>| {
        let mut cargo = Command::new(code.toolchain.join("bin/cargo"));
        cargo.args(words).args(["--offline", "--locked"]).current_dir(&at);
        cargo.env("CARGO_TARGET_DIR", folder.join("target")).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(cargo.status().expect("cargo").success(), "it is not built, or its tests do not pass");
    };
    let (package, program) = &code.program;
    let build = ["build", "-p", package.as_str(), "--bin", program.as_str()].into_iter();
    let build: Vec<&str> = build.chain(code.build.iter().map(String::as_str)).collect();
    let test: Vec<&str> = ["test"].into_iter().chain(code.suite.1.iter().map(String::as_str)).collect();
    let (took, ()) = timed(|| {
        cargo(build);
        cargo(test);
    });
    (source, took)
}
