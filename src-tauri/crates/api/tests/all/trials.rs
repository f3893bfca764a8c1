//! Trials of changes as a surface begins, lists, shows and stops them.

use crate::home::Home;
use api::Drawn;
use model::{Digest, TaskId};
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use successor::{
    Arm, Asked, Case, Evidence, Judged, MeasuredBy, Patch, Planted, Played, PlayedAct, Probe, Used, judge,
    planted,
};
use wire::{Code, Error};
use words::successor::TrialStage;

/// Who would make clones: it draws what is named, leaves out what it is told to, and remembers what it was told.
#[derive(Default)]
struct Clones {
    told: Arc<Mutex<Vec<String>>>,
    fails: bool,
    left_out: Vec<TaskId>,
}

impl api::Trials for Clones {
    fn draw(&self, _: u64, named: &[TaskId], _: usize) -> Result<Drawn, Error> {
        Ok(Drawn { tasks: named.to_vec(), left_out: self.left_out.clone() })
    }

    fn begin(&self, trial_id: &str, ask: Option<&str>) -> Result<(), Error> {
        let asking = ask.map(|ask| format!(" asking {ask}")).unwrap_or_default();
        self.told.lock().unwrap().push(format!("begin {trial_id}{asking}"));
        if self.fails { Err(Error::new(Code::Failed, "no sandbox here")) } else { Ok(()) }
    }

    fn stop(&self, trial_id: &str) {
        self.told.lock().unwrap().push(format!("stop {trial_id}"));
    }

    fn asked(&self, trial_id: &str) -> Option<Asked> {
        let told = self.told.lock().unwrap();
        let begun = told.iter().find_map(|line| line.strip_prefix(&format!("begin {trial_id} asking ")))?;
        Some(Asked { model: begun.to_owned(), parent: 3, successor: 1 })
    }

    fn stage(&self, _: &str) -> Option<TrialStage> {
        Some(TrialStage::Waiting)
    }
}

fn home(seed: u64, fails: bool) -> (Home, String, Arc<Mutex<Vec<String>>>) {
    let mut home = Home::new(seed);
    let told = Arc::default();
    home.trials = Some(Box::new(Clones { told: Arc::clone(&told), fails, left_out: Vec::new() }));
    let (task, _) = home.with_an_act("write it");
    (home, task.to_string(), told)
}

fn patch(rules: &str) -> String {
    json!({ "says": "it asks less", "sources": ["my own idea"], "change": { "kind": "policy", "rules": rules } }).to_string()
}

fn asked(task: &str, patches: &[String]) -> Value {
    json!({ "patches": patches, "about": "it asks less and breaks nothing", "tasks": [task], "seed": 7 })
}

/// Ends a trial as its host would: the parent's arm asked once, and the other one not at all.
fn judged(home: &Home, trial: &str, task: &str) {
    let kernel = home.world.kernel();
    let registry = kernel.trial_registry();
    let record = registry.get(trial).unwrap();
    let patch = Patch::read(&kernel.artifacts().read(&record.patch.sha256).unwrap()).unwrap();
    let action_sha256 = Digest::of(b"an act");
    let recorded = json!({
        "task_id": task, "goal": "write it", "profile": "local_edit_allowed", "ended": "completed", "answers": [],
        "acts": [{ "action_sha256": action_sha256, "action": {}, "summary": "write a.txt", "class": "write_local",
                   "verdict": "require_approval", "answered": "granted", "outcome": {}, "effect_sha256": action_sha256 }],
    });
    let parent_case = Case {
        trial_id: trial.to_owned(),
        seed: record.seed,
        budget: record.budget,
        patch: None,
        rules: String::new(),
        profile: "local_edit_allowed".to_owned(),
        tools: Vec::new(),
        tasks: vec![serde_json::from_value(recorded).unwrap()],
    };
    let successor_case = Case { patch: Some(patch), ..parent_case.clone() };
    let arm = |arm: Arm, case: &Case, verdict: &str, questions: u32| Evidence {
        case_sha256: Digest::of(&case.bytes().unwrap()),
        arm,
        tasks: vec![Played {
            task_id: task.parse().unwrap(),
            ended: "completed".to_owned(),
            acts: vec![PlayedAct {
                action_sha256,
                summary: "write a.txt".to_owned(),
                class: "write_local".to_owned(),
                verdict: verdict.to_owned(),
                rules: Vec::new(),
                effect_sha256: Some(action_sha256),
            }],
            questions,
            tokens: 10,
            turns: 2,
        }],
        probes: vec![Probe { what: "store".to_owned(), refused: true, says: "no such file".to_owned() }],
        used: Used::default(),
        measured_by: Some(MeasuredBy::Parent),
    };
    let parent = arm(Arm::Parent, &parent_case, "require_approval", 1);
    let successor = arm(Arm::Successor, &successor_case, "allow", 0);
    let all = planted(&parent_case).into_iter().map(|(name, _)| Planted { name, refused: true });
    let verdict = judge(&Judged {
        parent_case: &parent_case,
        successor_case: &successor_case,
        parent: &parent,
        successor: &successor,
        ended: "",
        tests: None,
        clean_room: Vec::new(),
        planted: all.collect(),
        asked: Err(""),
        again: None,
        evaluator_sha256: Digest::of(b"the program"),
        about: "it asks less",
    });
    kernel.end_trial(&verdict, &[parent.bytes().unwrap(), successor.bytes().unwrap()]).unwrap();
}

#[test]
fn a_trial_is_shown_with_what_differed_what_it_cost_and_a_signature_that_holds() {
    let (home, task, told) = home(410, false);
    let begun = home.must("successor.try_change", asked(&task, &[patch("allow FileEdit(docs/**)\n")]));
    let row = &begun["trials"][0];
    let id = row["trial_id"].as_str().unwrap().to_owned();
    assert_eq!((row["state"].as_str(), row["kind"].as_str()), (Some("running"), Some("policy")));
    assert_eq!(row["stage"], "waiting", "whoever runs it knows what it is at");
    assert_eq!(*told.lock().unwrap(), [format!("begin {id}")]);
    judged(&home, &id, &task);
    // By the end of its name as well.
    let shown = home.must("successor.show", json!({ "trial": &id[id.len() - 8..] }));
    assert_eq!(
        (shown["trial"]["outcome"].as_str(), shown["trial"]["state"].as_str()),
        (Some("better"), Some("judged"))
    );
    assert_eq!(shown["trial"]["stage"], Value::Null, "it is over");
    let verdict = &shown["verdict"];
    assert_eq!(verdict["is_signed"], true);
    let differs = json!([{
        "task_id": task, "summary": "write a.txt", "class": "write_local", "before": "require_approval", "after": "allow",
        "effect_differs": false,
    }]);
    assert_eq!(verdict["differences"], differs);
    assert_eq!((&verdict["more_differences"], &verdict["has_evidence"]), (&json!(0), &json!(true)));
    assert_eq!(shown["changes"], json!([{ "what": "rules", "text": "allow FileEdit(docs/**)\n" }]));
    assert!(verdict["planted"].as_array().unwrap().iter().all(|one| one["refused"] == true));
    let questions = json!({ "name": "questions", "parent": 1, "successor": 0, "measured_by": "parent" });
    assert_eq!(shown["trial"]["measures"][0], questions);
    let home = home.into_reader();
    assert_eq!(
        home.must("successor.show", json!({ "trial": id })),
        shown,
        "a process that only reads tells the same"
    );
}

#[test]
fn several_changes_race_over_the_same_tasks_and_are_shown_side_by_side() {
    let (home, task, told) = home(411, false);
    let variants = ["look FileEdit(a/**)\n", "ask FileEdit(b/**)\n", "deny FileEdit(c/**)\n"].map(patch);
    let begun = home.must("successor.try_change", asked(&task, &variants));
    let ids: Vec<&str> =
        begun["trials"].as_array().unwrap().iter().map(|row| row["trial_id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), told.lock().unwrap().len()), (3, 3));
    let shown = home.must("successor.show", json!({ "trial": ids[1] }));
    let rivals: Vec<&str> =
        shown["rivals"].as_array().unwrap().iter().map(|row| row["trial_id"].as_str().unwrap()).collect();
    assert_eq!(rivals, [ids[0], ids[2]]);
    assert!(begun["trials"].as_array().unwrap().iter().all(|row| row["seed"] == 7 && row["tasks"] == 1));
    let page = home.must("successor.list", json!({ "limit": 2 }));
    assert_eq!(
        (&page["trials"][0]["trial_id"], &page["trials"][1]["trial_id"]),
        (&json!(ids[2]), &json!(ids[1]))
    );
    let rest = home.must("successor.list", json!({ "cursor": page["next"], "limit": 2 }));
    assert_eq!((&rest["trials"][0]["trial_id"], &rest["next"]), (&json!(ids[0]), &Value::Null));
}

#[test]
fn a_trial_is_stopped_once_and_one_that_cannot_run_says_why() {
    let (home, task, told) = home(412, false);
    let begun = home.must("successor.try_change", asked(&task, &[patch("")]));
    let id = begun["trials"][0]["trial_id"].as_str().unwrap().to_owned();
    let stopped = home.must("successor.stop", json!({ "trial": id, "reason": "not today" }));
    assert_eq!(
        (&stopped["trial"]["state"], &stopped["trial"]["why"]),
        (&json!("stopped"), &json!("not today"))
    );
    assert_eq!(told.lock().unwrap().last().unwrap(), &format!("stop {id}"));
    assert_eq!(home.ask("successor.stop", json!({ "trial": id })).unwrap_err().code, Code::Conflict);

    let (home, task, _) = self::home(413, true);
    let begun = home.must("successor.try_change", asked(&task, &[patch("")]));
    assert_eq!(begun["trials"][0]["state"], "failed");
    assert_eq!(begun["trials"][0]["why"], "no sandbox here");
}

#[test]
fn what_was_drawn_and_is_too_large_is_on_record_and_told() {
    let mut home = Home::new(418);
    let (task, _) = home.with_an_act("write it");
    let large =
        home.world.script("write much", vec![testkit::write("b.txt", "new\n"), testkit::done("wrote")]);
    home.trials = Some(Box::new(Clones { left_out: vec![large], ..Clones::default() }));
    let begun = home.must("successor.try_change", asked(&task.to_string(), &[patch("")]));
    let shown = home.must("successor.show", json!({ "trial": begun["trials"][0]["trial_id"] }));
    assert_eq!((&shown["tasks"], &shown["left_out"]), (&json!([task]), &json!([large])), "{shown}");

    // Where nothing else is there, why there is nothing to try it on says so.
    let nothing =
        home.ask("successor.try_change", json!({ "patches": [patch("")], "about": "less", "tasks": [] }));
    let why = nothing.expect_err("there is no task").message;
    assert!(why.contains("too large for a trial: 1"), "{why}");
}

/// Who says that a trial is to begin, and waits before it cannot.
struct Slow {
    begins: Sender<String>,
    goes_on: Mutex<Receiver<()>>,
}

impl api::Trials for Slow {
    fn draw(&self, _: u64, named: &[TaskId], _: usize) -> Result<Drawn, Error> {
        Ok(Drawn { tasks: named.to_vec(), left_out: Vec::new() })
    }

    fn begin(&self, trial_id: &str, _: Option<&str>) -> Result<(), Error> {
        self.begins.send(trial_id.to_owned()).unwrap();
        self.goes_on.lock().unwrap().recv().unwrap();
        Err(Error::new(Code::Failed, "no sandbox here"))
    }

    fn stop(&self, _: &str) {}
}

#[test]
fn one_that_is_stopped_before_it_begins_takes_no_other_along() {
    let mut home = Home::new(417);
    let ((begins, began), (go, goes_on)) = (channel(), channel());
    home.trials = Some(Box::new(Slow { begins, goes_on: Mutex::new(goes_on) }));
    let (task, _) = home.with_an_act("write it");
    let of = asked(&task.to_string(), &["look FileEdit(a/**)\n", "ask FileEdit(b/**)\n"].map(patch));
    let patience = Duration::from_secs(60);
    std::thread::scope(|scope| {
        let tried = scope.spawn(|| home.must("successor.try_change", of));
        let first = began.recv_timeout(patience).expect("the first is to begin");
        home.must("successor.stop", json!({ "trial": first, "reason": "not today" }));
        go.send(()).unwrap();
        let second = began.recv_timeout(patience).expect("so is the second");
        go.send(()).unwrap();
        let begun = tried.join().unwrap()["trials"].clone();
        let told = |at: usize| (&begun[at]["trial_id"], &begun[at]["state"], &begun[at]["why"]);
        assert_eq!(told(0), (&json!(first), &json!("stopped"), &json!("not today")));
        assert_eq!(told(1), (&json!(second), &json!("failed"), &json!("no sandbox here")));
    });
}

#[test]
fn the_model_that_is_asked_about_words_is_named_and_told_while_it_is_asked() {
    let (home, task, told) = home(416, false);
    let words = json!({
        "says": "brief", "sources": ["my own idea"],
        "change": { "kind": "words", "items": [{ "what": "soul", "name": "SOUL.md", "text": "I am brief.\n" }] },
    });
    let asks = |patch: &str, ask: &str| {
        let mut asks = asked(&task, &[patch.to_owned()]);
        asks["ask"] = json!(ask);
        asks
    };
    let model = "openai:http://127.0.0.1:8080/v1#one";
    let begun = home.must("successor.try_change", asks(&words.to_string(), &format!(" {model} ")));
    let row = &begun["trials"][0];
    let id = row["trial_id"].as_str().unwrap();
    assert_eq!(*told.lock().unwrap(), [format!("begin {id} asking {model}")]);
    assert_eq!(row["asked"], json!({ "model": model, "parent": 3, "successor": 1 }));
    assert_eq!(home.must("successor.show", json!({ "trial": id }))["trial"]["asked"], row["asked"]);
    home.must("successor.stop", json!({ "trial": id }));
    assert_eq!(
        home.must("successor.show", json!({ "trial": id }))["trial"]["asked"],
        Value::Null,
        "nothing asks it any more"
    );

    // Rules are read by no model, and what is no address is none.
    for (patch, ask, says) in [
        (patch(""), model.to_owned(), "words that it reads"),
        (words.to_string(), "  ".to_owned(), "named by its address"),
        (words.to_string(), "x".repeat(201), "named by its address"),
    ] {
        let error = home.ask("successor.try_change", asks(&patch, &ask)).unwrap_err();
        assert!(error.code == Code::Usage && error.message.contains(says), "{error:?}");
    }
    assert_eq!(told.lock().unwrap().len(), 2, "none of these began");
}

#[test]
fn what_a_change_is_and_what_each_clone_might_use_up_is_told_before_anything_is_on_record() {
    let (home, task, told) = home(415, false);
    let code = |diff: &str| {
        let change = json!({ "kind": "code", "source": Digest::of(b"the source").to_string(), "diff": diff });
        json!({ "says": "one less", "sources": ["my own idea"], "change": change }).to_string()
    };
    let words = |what: &str| {
        let change =
            json!({ "kind": "words", "items": [{ "what": what, "name": "terse", "text": "Be brief." }] });
        json!({ "says": "brief", "sources": ["my own idea"], "change": change }).to_string()
    };
    let soul = home.must("successor.preview", json!({ "patches": [words("soul")] }));
    assert_eq!(soul["changes"][0]["kind"], "words");
    assert_eq!(soul["budget"]["wall_ms"], 3_600_000, "a model takes its time");
    let diff = "--- a/tests/a.rs\n+++ b/tests/a.rs\n@@ -1 +1 @@\n-a\n+b\n";
    let patches = [patch("deny FileDelete(**)\n"), code(diff)];
    let previewed = home.must("successor.preview", json!({ "patches": patches, "tokens": 7 }));
    assert_eq!(previewed["changes"][0]["kind"], "policy");
    let of_code =
        json!({ "kind": "code", "says": "one less", "constitutional": [], "edited_tests": ["tests/a.rs"] });
    assert_eq!(previewed["changes"][1], of_code);
    // A race has one budget for all: that of the change that is built.
    assert_eq!(
        (&previewed["budget"]["wall_ms"], &previewed["budget"]["tokens"]),
        (&json!(10_800_000), &json!(7))
    );
    let alone = home.must("successor.preview", json!({ "patches": [patch("")], "wall_seconds": 9 }));
    assert_eq!((&alone["budget"]["wall_ms"], &alone["budget"]["cpu_ms"]), (&json!(9_000), &json!(18_000)));
    // What a trial of it uses up is the same.
    let begun = home.must("successor.try_change", asked(&task, &[patch("")]));
    let shown = home.must("successor.show", json!({ "trial": begun["trials"][0]["trial_id"] }));
    let standard = home.must("successor.preview", json!({ "patches": [patch("")] }));
    assert_eq!(shown["budget"], standard["budget"]);
    assert_eq!((&shown["trial"]["proposed_by"], &shown["edited_tests"]), (&Value::Null, &json!([])));
    for (wrong, says) in [
        (patch("allow FileEdit("), "line 1"),
        (code("no diff"), "diff"),
        ("{}".to_owned(), "change"),
        (code(&"x".repeat(2 * 1024 * 1024)), "bytes at most"),
        (words("skin"), "the skin `terse` cannot be tried: it is no skin"),
        (words("skill"), "the skill `terse` cannot be tried: it does not begin"),
        (words("pinned"), "the pinned `terse` cannot be tried"),
    ] {
        let refused = home.ask("successor.preview", json!({ "patches": [wrong] })).unwrap_err();
        assert!(refused.code == Code::Usage && refused.message.contains(says), "{says}: {refused:?}");
    }
    assert_eq!(told.lock().unwrap().len(), 1, "a look begins nothing");
}

#[test]
fn what_cannot_be_tried_is_refused_before_anything_is_on_record() {
    let (home, task, told) = home(414, false);
    let code = |patches: &[String]| home.ask("successor.try_change", asked(&task, patches)).unwrap_err();
    assert_eq!(code(&[]).code, Code::Usage);
    let many: Vec<String> = (0..9).map(|_| patch("")).collect();
    assert_eq!(code(&many).code, Code::Usage);
    assert!(code(&[patch(""), patch("")]).message.contains("twice"));
    let large = code(&[patch(&"x".repeat(10 * 1024 * 1024))]);
    assert!(large.code == Code::Usage && large.message.contains("bytes at most"), "{large:?}");
    assert!(code(&["{\"says\":1}".to_owned()]).message.contains("change"));
    let nothing = json!({ "patches": [patch("")], "about": "it asks less", "tasks": [] });
    assert!(home.ask("successor.try_change", nothing).unwrap_err().message.contains("no completed task"));
    assert!(told.lock().unwrap().is_empty());
    assert_eq!(home.must("successor.list", json!({}))["trials"], json!([]));
    assert_eq!(home.ask("successor.show", json!({ "trial": "abcd" })).unwrap_err().code, Code::NotFound);
}
