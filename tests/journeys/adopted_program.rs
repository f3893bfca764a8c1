//! A program that a person adopted, through the built program: it is started once it is healthy, left alone where it is not, and
//! returned from also where it cannot do anything, so that the store is never without a program that opens it.

use super::programs::{hermit, root};
use super::stage::{Stage, VAULT, say_yes};
use super::tool_servers::{asked, yes};
use api::Host as _;
use host::launch;
use host::programs::{Pointer, keep_built};
use host::{Home, Local, Unlock};
use kernel::command::successor::BegunTrial;
use model::Digest;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use successor::{Budget, Evidence, Patch, Verdict};
use zeroize::Zeroizing;

const FILE: &str = "src-tauri/crates/lineage/src/lib.rs";
const DIFF: &str = "--- a/src-tauri/crates/lineage/src/lib.rs\n+++ b/src-tauri/crates/lineage/src/lib.rs\n@@ -1 +1 @@\n-one\n+two\n";
/// Says that it is healthy, and then what it was asked.
const HEALTHY: &str = r#"#!/bin/sh
if [ "$1" = successor-health ]; then
  printf '{"healthy":"%s","events":1}\n' "$(sha256sum "$0" | cut -d' ' -f1)"
  exit 0
fi
echo "the adopted program: $*"
"#;
const BUDGET: Budget = Budget {
    wall_ms: 60_000,
    cpu_ms: 60_000,
    memory_bytes: 1 << 30,
    disk_bytes: 1 << 30,
    processes: 32,
    tokens: 0,
};

fn home(stage: &Stage) -> Home {
    Home::find(Some(&stage.home())).expect("a place")
}

/// A stand-in for a program.
fn script(stage: &Stage, name: &str, text: &str) -> PathBuf {
    let path = stage.at(name);
    std::fs::write(&path, text).expect("a file");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("it can be started");
    path
}

fn evidence(arm: &str) -> Vec<u8> {
    let of = Digest::of(b"the case").to_string();
    let left = json!({ "case_sha256": of, "arm": arm, "tasks": [], "probes": [] });
    let left: Evidence = serde_json::from_value(left).expect("evidence");
    left.bytes().expect("bytes")
}

/// A trial that built this program and calls it better, as the store has it.
fn judged(stage: &Stage, played: &str, program: &Path) -> String {
    judged_as(stage, played, (program, DIFF), &json!({}))
}

/// The same of another difference, with what a test says otherwise of the verdict.
fn judged_as(stage: &Stage, played: &str, (program, diff): (&Path, &str), otherwise: &Value) -> String {
    let words = Zeroizing::new(VAULT.as_bytes().to_vec());
    let local = Local::owning(home(stage), &Unlock::Words(words)).expect("the store opens");
    let kernel = local.kernel().expect("it owns the store");
    let change = json!({ "kind": "code", "source": Digest::of(b"source").to_string(), "diff": diff });
    let patch = json!({ "says": "it is faster", "sources": ["this test"], "change": change });
    let patch: Patch = serde_json::from_value(patch).expect("a change");
    let tasks = vec![played.parse().expect("a task")];
    let begun = BegunTrial {
        patch: patch.clone(),
        about: "faster".to_owned(),
        tasks,
        left_out: Vec::new(),
        seed: 7,
        budget: BUDGET,
    };
    let trial_id = kernel.begin_trial(&begun).expect("it begins");
    let built = keep_built(&home(stage), &trial_id, program, &root()).expect("it is kept");
    let evidence = [evidence("parent"), evidence("successor")];
    let of: Vec<String> = evidence.iter().map(|bytes| Digest::of(bytes).to_string()).collect();
    let evaluator = Digest::of(&std::fs::read(hermit()).expect("the program"));
    let mut verdict = json!({
        "trial_id": trial_id,
        "patch_sha256": Digest::of(&patch.bytes().expect("bytes")).to_string(),
        "kind": "code",
        "outcome": "better",
        "reasons": [],
        "measures": [],
        "tests": { "suite": "npm test", "passed": 3, "failed": [], "edited": [] },
        "built": built,
        "planted": [{ "name": "allows everything", "refused": true }],
        "used": { "wall_ms": 1, "cpu_ms": 1, "memory_bytes": 1, "disk_bytes": 1, "tokens": 0 },
        "evaluator_sha256": evaluator.to_string(),
        "seed": 7,
        "evidence_sha256": of,
        "constitutional": [],
    });
    for (field, value) in otherwise.as_object().expect("fields") {
        verdict[field] = value.clone();
    }
    let verdict: Verdict = serde_json::from_value(verdict).expect("a verdict");
    kernel.end_trial(&verdict, &evidence).expect("it is judged");
    local.close();
    trial_id
}

/// Adopts a program by a card and two reviews.
fn adopt(stage: &Stage, played: &str, program: &Path) -> String {
    let trial = judged(stage, played, program);
    let [ada, bob] = reviews(stage);
    stage.hermit(&["successor", "adopt", &trial, "--review", &ada]).complains(&["2 distinct"]);
    let ran = stage.hermit(&["successor", "adopt", &trial, "--review", &ada, "--review", &bob]).ends(4);
    let (_, approval) = asked(&ran.json());
    assert!(Pointer::read(&home(stage)).expect("read").is_none(), "a card is no yes");
    yes(stage, &approval);
    trial
}

/// Files with reviews by two.
fn reviews(stage: &Stage) -> [String; 2] {
    let review = |by: &str| {
        let path = stage.at(&format!("{by}.jsonl"));
        let line = json!({ "file": FILE, "line": 1, "says": "sound", "by": by });
        std::fs::write(&path, format!("{line}\n")).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    [review("ada"), review("bob")]
}

fn adopted(stage: &Stage, trial: &str) -> Value {
    let listed = stage.hermit(&["successor", "adopted"]).ends(0).json();
    let all = listed["adoptions"].as_array().expect("adoptions").clone();
    all.into_iter().find(|one| one["trial_id"] == trial).expect("it was adopted")
}

#[conforms::conforms(part = "HV-7-1")]
#[test]
fn a_change_that_edits_tests_is_adopted_once_each_difference_was_looked_at_and_named() {
    let stage = Stage::new();
    std::fs::write(stage.work().join("a.txt"), "a").expect("a file");
    let (played, approval) = stage.asks("tidy");
    yes(&stage, &approval);
    let program = script(&stage, "crashes", "#!/bin/sh\nexit 3\n");
    let test = "src-tauri/crates/lineage/tests/all.rs";
    let diff = format!("{DIFF}--- a/{test}\n+++ b/{test}\n@@ -1 +1 @@\n-holds\n+returns\n");
    let as_before = json!({ "passed": 3, "failed": [], "not_run": [] });
    let otherwise = json!({
        "outcome": "inconclusive",
        "reasons": [{ "rule": "edits_tests", "says": "it edits a test; look at that first" }],
        "tests": { "suite": "npm test", "passed": 3, "failed": [], "edited": [test], "parent": as_before },
    });
    let trial = judged_as(&stage, &played, (&program, &diff), &otherwise);
    let shown = stage.hermit(&["successor", "show", &trial]).ends(0).json();
    assert_eq!(shown["waits_for_look"], true, "{shown}");
    let edit = &shown["edited_tests"][0];
    assert!(edit["file"] == test && edit["difference"].to_string().contains("+returns"), "{edit}");
    let sha256 = edit["sha256"].as_str().expect("a digest");
    let digits = |most: usize| sha256.get(..most).expect("digits");
    let [ada, bob] = reviews(&stage);
    let adopt = |more: &[&str]| {
        let words: [&str; 7] = ["successor", "adopt", &trial, "--review", &ada, "--review", &bob];
        stage.hermit(&[&words[..], more].concat())
    };
    adopt(&["--although-same"]).complains(&["nobody has looked", test, sha256]);
    adopt(&["--although-same", "--looked", &"0".repeat(64)]).complains(&["no tests that this change edits"]);
    adopt(&["--although-same", "--looked", digits(4)]).complains(&["no tests that this change edits"]);
    adopt(&["--looked", sha256]).complains(&["--although-same"]);
    let (task, approval) = asked(&adopt(&["--although-same", "--looked", digits(12)]).ends(4).json());
    yes(&stage, &approval);
    assert_eq!(adopted(&stage, &trial)["task_id"], json!(task));
    stage.is_sound();
}

#[conforms::conforms(part = "HV-1-1", part = "HV-5-7", part = "HV-8-1", part = "HV-8-2")]
#[test]
fn an_adopted_program_that_crashes_is_left_and_a_healthy_one_is_hermit_until_a_person_goes_back() {
    let stage = Stage::new();
    std::fs::write(stage.work().join("a.txt"), "a").expect("a file");
    let (played, approval) = stage.asks("tidy");
    yes(&stage, &approval);
    let crashes = script(&stage, "crashes", "#!/bin/sh\nexit 3\n");
    let trial = adopt(&stage, &played, &crashes);
    let pointer = Pointer::read(&home(&stage)).expect("read").expect("it is pointed at");
    assert_eq!((pointer.trial_id.as_str(), pointer.healthy), (trial.as_str(), false));
    // The one that was installed goes on by itself, and says so on record once it has the store.
    stage.hermit(&["identity", "show"]).ends(0).json();
    let pointer = Pointer::read(&home(&stage)).expect("read").expect("it is pointed at");
    assert!(pointer.failed.is_some_and(|why| why.contains("ended at its start")));
    stage.hermit(&["ledger", "checkpoint"]).ends(0);
    let left = adopted(&stage, &trial);
    assert_eq!(left["at_work"], false, "{left}");
    assert!(left["why"].as_str().is_some_and(|why| why.contains("ended at its start")), "{left}");
    assert!(Pointer::read(&home(&stage)).expect("read").is_none());
    // A healthy one is asked once, and is Hermit from then on.
    let healthy = script(&stage, "healthy", HEALTHY);
    adopt(&stage, &played, &healthy);
    for _ in 0..2 {
        let ran = Stage::ran(&mut stage.command(&["identity", "show"])).ends(0);
        assert_eq!(ran.out.trim(), "the adopted program: identity show");
    }
    assert!(Pointer::read(&home(&stage)).expect("read").is_some_and(|pointer| pointer.healthy));
    // The same folder elsewhere starts nothing of it: nobody adopted it for that one.
    let copy = stage.at("copy");
    let copied = Command::new("cp").arg("-a").arg(stage.home()).arg(&copy).status().expect("a copy");
    assert!(copied.success());
    let ran = Stage::ran(stage.command(&["identity", "show"]).env("HERMIT_HOME", &copy)).ends(0);
    assert!(!ran.out.contains("the adopted program"), "{}", ran.out);
    // It knows of no store. Going back is the installed one's, with the card at the same terminal.
    let mut terminal = stage.terminal(&["successor", "back", "--reason", "it only talks"], &[]);
    say_yes(&mut terminal, "high");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(Pointer::read(&home(&stage)).expect("read").is_none(), "{screen}");
    stage.hermit(&["identity", "show"]).ends(0).json();
    stage.hermit(&["ledger", "verify"]).ends(0);
}

#[conforms::conforms(part = "HV-5-7")]
#[test]
fn a_program_says_that_it_is_healthy_by_opening_the_store_and_one_that_hangs_or_lies_is_ended_in_time() {
    let stage = Stage::new();
    stage.hermit(&["ledger", "checkpoint"]).ends(0);
    let (home, soon) = (home(&stage), Duration::from_millis(500));
    let digest = |path: &Path| Digest::of(&std::fs::read(path).expect("the program"));
    // Another build of Hermit opens the same store: this one, with a byte more.
    let mut bytes = std::fs::read(hermit()).expect("the program");
    bytes.push(b'\n');
    let real = stage.at("hermit");
    std::fs::write(&real, &bytes).expect("a file");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&real, mode).expect("it can be started");
    let health =
        launch::asked(&home, &real, Digest::of(&bytes), Duration::from_secs(60)).expect("it is healthy");
    assert!(health.events > 0);
    let hangs = script(&stage, "hangs", "#!/bin/sh\nsleep 600\n");
    let began = Instant::now();
    let why = launch::asked(&home, &hangs, digest(&hangs), soon).expect_err("it says nothing");
    assert!(why.contains("said nothing"), "{why}");
    assert!(began.elapsed() < Duration::from_secs(10), "it was ended in time");
    let lies = script(&stage, "lies", "#!/bin/sh\necho healthy\n");
    let why = launch::asked(&home, &lies, digest(&lies), soon * 10).expect_err("it lies");
    assert!(why.contains("did not say that it is healthy"), "{why}");
    let healthy = script(&stage, "healthy", HEALTHY);
    let why = launch::asked(&home, &healthy, Digest::of(b"another"), soon * 10).expect_err("it is another");
    assert!(why.contains("another program"), "{why}");
    // Whoever asked has the store again, and nobody holds it.
    stage.hermit(&["ledger", "verify"]).ends(0);
}
