//! What finished work is learned from: each reason to leave a turn out, datasets as they were shown, recalls, and erasing.

use crate::home::Home;
use api::Host as _;
use kernel::DriveOutcome;
use kernel::Waiting;
use kernel::command::enclose::Encloses;
use kernel::command::erase::Erasure;
use kernel::command::ingest::Incoming;
use kernel::command::person::{Matter, Signed};
use kernel::command::submit::{Reasoning, Submission};
use kernel::command::training::{FinishedRun, RecallOf};
use kernel::training_registry::{DatasetRecord, RunRecord};
use mesh::NodeId;
use model::artifact::TrustTier;
use model::context::{ContextPack, Section};
use model::ingress::Channel;
use model::proposal::{Answer, ToolSpec};
use model::{ArtifactId, Clock as _, Digest, TaskId};
use projections::query::Ask;
use reasoning::{Delta, Descriptor, Error, Input, Reasoner, Reply, Scripted};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use testkit::{done, look, write};
use wire::Code;
use wire::training::{Join, Run, RunStands, Together};

/// A script that is sent messages, as a model is: fixed words, and what was seen.
struct Chatty {
    words: String,
    script: Scripted,
}

impl Reasoner for Chatty {
    fn descriptor(&self) -> Descriptor {
        self.script.descriptor()
    }

    fn encode(&self, pack: &ContextPack, _: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        let seen = pack.items.iter().filter(|item| item.section == Section::Artifacts);
        let seen: Vec<String> =
            seen.map(|item| item.text.lines().filter(|line| line.contains("planted")).collect()).collect();
        let asked = format!("{}\nturn {}\n{}", self.words, pack.iteration, seen.concat());
        let messages =
            json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": asked }]);
        Ok(json!({ "messages": messages }).to_string().into_bytes())
    }

    fn propose(
        &self,
        input: &Input<'_>,
        on_delta: &mut dyn FnMut(Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        self.script.propose(input, on_delta, cancelled)
    }
}

/// Marks folders, and runs nothing.
#[derive(Default)]
struct Stub(Mutex<Vec<PathBuf>>);

fn home_of(seed: u64) -> Home {
    let mut home = Home::new(seed);
    home.trainer = Some(Box::new(Stub::default()));
    home
}

impl api::Trainer for Stub {
    fn stands(&self) -> RunStands {
        let (resumable, invitations, private) = (Vec::new(), Vec::new(), Vec::new());
        RunStands { run: None, resumable, invitations, private, trouble: None }
    }

    fn begin(&self, _: &DatasetRecord, _: &Run) -> Result<(), wire::Error> {
        Ok(())
    }

    fn together(&self, _: &DatasetRecord, _: &Together, _: &[NodeId]) -> Result<(), wire::Error> {
        Ok(())
    }

    fn join(&self, _: &DatasetRecord, wanted: &Join, _: Option<NodeId>) -> Result<NodeId, wire::Error> {
        Err(api::not_found("invitation", &wanted.name))
    }

    fn go_on(&self, run_id: &str) -> Result<(), wire::Error> {
        Err(api::not_found("run", run_id))
    }

    fn pause(&self) -> Result<(), wire::Error> {
        Ok(())
    }

    fn stop(&self) -> Result<(), wire::Error> {
        Ok(())
    }

    fn prove(&self, run_id: &str) -> Result<(), wire::Error> {
        Err(api::not_found("run", run_id))
    }

    fn export(&self, _: &RunRecord, _: Option<&str>) -> Result<(), wire::Error> {
        Ok(())
    }

    fn forget(&self) {}

    fn private(&self) -> Result<Vec<PathBuf>, wire::Error> {
        Ok(self.0.lock().expect("no poison").clone())
    }

    fn set_private(&self, folder: &Path, is_private: bool) -> Result<Vec<PathBuf>, wire::Error> {
        let mut all = self.0.lock().expect("no poison");
        all.retain(|known| known != folder);
        all.extend(is_private.then(|| folder.to_owned()));
        Ok(all.clone())
    }

    fn standard(&self) -> Option<(String, String)> {
        self.weights_of("box:own").map(|sha256| ("box:own".to_owned(), sha256))
    }

    fn weights_of(&self, address: &str) -> Option<String> {
        (address == "box:own").then(|| Digest::of(b"weights").to_string())
    }
}

/// Every writing command about training.
pub fn writes(folder: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("training.preview", json!({})),
        ("training.curate", json!({ "shown": "x" })),
        ("training.together", json!({ "name": "x", "with": ["another", "a third"] })),
        ("training.join", json!({ "name": "x" })),
        ("training.run", json!({ "base": "x" })),
        ("training.stands", json!({})),
        ("training.pause", json!({})),
        ("training.stop", json!({})),
        ("training.prove", json!({ "run": "x" })),
        ("training.export", json!({ "run": "x" })),
        ("training.recall", json!({ "source": "abcd" })),
        ("training.private", json!({ "folder": folder, "private": true })),
    ]
}

fn reasoner(home: &Home, name: &str, words: &str, answers: Vec<Answer>) -> Reasoning {
    let (words, script) = (words.to_owned(), Scripted::new(answers));
    home.world.reasoners.put(name, Arc::new(Chatty { words, script }));
    Reasoning::Scripted { name: name.to_owned() }
}

/// A task in the world's folder whose model is told these words.
fn begin(home: &Home, name: &str, words: &str, answers: Vec<Answer>) -> TaskId {
    let reasoning = reasoner(home, name, words, answers);
    let submission = home.world.submission(name, reasoning);
    home.world.clock.advance(60_000);
    home.world.kernel().submit(&submission).expect("submitted").task_id
}

fn task(home: &Home, name: &str, answers: Vec<Answer>) -> TaskId {
    let task = begin(home, name, &format!("Do what is called {name}."), answers);
    home.world.drive_allowing(task);
    task
}

/// A task that writes a file of its name and says so.
fn written(home: &Home, name: &str) -> TaskId {
    let file = format!("{name}.txt");
    task(home, name, vec![write(&file, &format!("of {name}\n")), done(&format!("Wrote-{name}."))])
}

fn preview(home: &Home) -> Value {
    home.must("training.preview", json!({ "by_time": true }))
}

/// Turns of a task that are left out, by the reason.
fn out(home: &Home, task: TaskId) -> BTreeMap<String, u64> {
    let found = preview(home);
    let rows = found["left_out"].as_array().expect("rows");
    let of =
        rows.iter().filter(|row| row["tasks"].as_array().expect("tasks").contains(&json!(task.to_string())));
    of.map(|row| (row["why"].as_str().expect("a word").to_owned(), row["turns"].as_u64().expect("a number")))
        .collect()
}

fn only(why: &str, turns: u64) -> BTreeMap<String, u64> {
    BTreeMap::from([(why.to_owned(), turns)])
}

fn keep(home: &Home) -> Value {
    let shown = preview(home)["sha256"].clone();
    home.must("training.curate", json!({ "by_time": true, "shown": shown }))
}

#[conforms::conforms(part = "HV-3.8-2")]
#[test]
fn finished_work_is_learned_from_and_each_turn_that_is_not_says_why() {
    let home = home_of(3801);
    for name in ["one", "two", "three", "four", "five"] {
        written(&home, name);
    }
    let found = preview(&home);
    assert_eq!(
        (&found["examples"], &found["left_out"], &found["trouble"]),
        (&json!(10), &json!([]), &json!(null))
    );
    // Unfinished: nobody has answered yet.
    let stuck = begin(&home, "stuck", "Do what is called stuck.", vec![write("stuck.txt", "of it\n")]);
    home.world.drive_to_approval(stuck);
    assert_eq!(out(&home, stuck), only("unfinished", 1));
    // Without a receipt.
    let looked = task(&home, "looked", vec![look("one.txt"), done("Looked.")]);
    assert_eq!(out(&home, looked), only("unreceipted", 2));
    // Denied: what was asked for, and not what was done after it.
    home.world.file("held.txt", "before\n");
    let denied = begin(
        &home,
        "denied",
        "Do what a person will deny.",
        vec![
            testkit::say("delete", json!({ "path": "held.txt" })),
            write("instead.txt", "x\n"),
            done("Did-another."),
        ],
    );
    let DriveOutcome::Waiting(Waiting::Approval(approval)) = home.world.drive(denied) else {
        panic!("it asks")
    };
    home.world.person.deny(home.world.kernel(), denied, approval, "no").expect("denied");
    home.world.drive_allowing(denied);
    let why = out(&home, denied);
    assert_eq!(why.get("denied"), Some(&1), "{why:?}");
    // A secret that the model was shown.
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).expect("letters"));
    home.world.file("seen.txt", &format!("planted {token}\n"));
    let secret = task(&home, "secret", vec![look("seen.txt"), write("told.txt", "x\n"), done("Told.")]);
    assert!(out(&home, secret).get("secret").is_some_and(|turns| *turns >= 1), "{:?}", out(&home, secret));
    // Undone by its person.
    let undone = written(&home, "undone");
    assert_eq!(out(&home, undone), BTreeMap::new());
    let rows = home.query().expect("views").receipts(Some(undone), None, Ask::ALL).expect("receipts").rows;
    let acts = rows.iter().filter(|row| row.class == model::receipt::ReceiptClass::ToolExecution);
    let acts: Vec<_> = acts.map(|row| row.receipt_id).collect();
    let goal = ("Undo it".to_owned(), Channel::Cli, "undo it".to_owned());
    let undo = home
        .world
        .kernel()
        .rollback_many(&acts, Some(undone), goal.0, goal.1, goal.2)
        .expect("a task")
        .task_id;
    home.world.drive_allowing(undo);
    assert_eq!(out(&home, undone), only("undone", 2));
    // The same words and answers again.
    let answers = || vec![write("same.txt", "same\n"), done("Same.")];
    let first = begin(&home, "first", "Say the same.", answers());
    home.world.drive_allowing(first);
    std::fs::remove_file(home.world.path("same.txt")).expect("it is there");
    let again = begin(&home, "again", "Say the same.", answers());
    home.world.drive_allowing(again);
    assert_eq!((out(&home, first), out(&home, again)), (BTreeMap::new(), only("duplicate", 2)));
}

#[test]
fn what_came_from_elsewhere_taints_and_a_private_folder_is_left_out() {
    let home = home_of(3802);
    for name in ["one", "two", "three"] {
        written(&home, name);
    }
    let bytes = b"planted by somebody else";
    let incoming = Incoming {
        name: "letter.txt".to_owned(),
        uri: "/elsewhere/letter.txt".to_owned(),
        media_type: "text/plain; charset=utf-8",
        bytes: &mut &bytes[..],
        trust_tier: TrustTier::Untrusted,
    };
    let file = home.world.kernel().ingest(incoming, Channel::App).expect("taken in").0.artifact_id;
    let reasoning =
        reasoner(&home, "letter", "Read the letter.", vec![write("reply.txt", "x\n"), done("Replied.")]);
    let submission = Submission {
        encloses: Encloses { files: vec![file], ..Encloses::default() },
        ..home.world.submission("letter", reasoning)
    };
    let letter = home.world.kernel().submit(&submission).expect("submitted").task_id;
    home.world.drive_allowing(letter);
    assert_eq!(out(&home, letter), only("tainted", 2));
    // What a person's own folder holds taints nothing.
    let own = task(&home, "own", vec![look("one.txt"), write("own.txt", "x\n"), done("Own.")]);
    assert_eq!(out(&home, own), BTreeMap::new());

    let folder = home.world.folder.path().canonicalize().expect("a folder");
    let above = folder.parent().expect("a folder above").display().to_string();
    let kept = keep(&home)["dataset_id"].clone();
    let marked = home.must("training.private", json!({ "folder": above, "private": true }));
    assert_eq!((&marked["folders"], &marked["missing"]), (&json!([above]), &json!([])));
    assert_eq!(marked["learned"], json!([kept]), "what was learned from before is told");
    let found = preview(&home);
    assert_eq!((&found["examples"], found["trouble"].is_string()), (&json!(0), true), "{found}");
    assert_eq!(out(&home, own).into_keys().collect::<Vec<_>>(), ["private"]);
    home.must("training.private", json!({ "folder": above, "private": false }));
    assert_eq!(out(&home, own), BTreeMap::new());
    // Work above a private folder may have read it.
    let below = folder.join("kept apart");
    std::fs::create_dir(&below).expect("a folder");
    home.must("training.private", json!({ "folder": below, "private": true }));
    assert_eq!(out(&home, own).into_keys().collect::<Vec<_>>(), ["private"]);
    // A mark does not follow a folder that is moved, and says so.
    std::fs::rename(&below, folder.join("moved")).expect("moved");
    assert_eq!(preview(&home)["missing"], json!([below]));
}

#[conforms::conforms(part = "HV-3.8-2")]
#[test]
fn a_recall_takes_examples_out_marks_adapters_and_holds_for_what_is_curated_later() {
    let home = home_of(3803);
    let tasks: Vec<TaskId> = ["one", "two", "three", "four", "five"].map(|name| written(&home, name)).into();
    let stale = preview(&home)["sha256"].clone();
    written(&home, "six");
    let error =
        home.ask("training.curate", json!({ "by_time": true, "shown": stale })).expect_err("another one");
    assert_eq!(error.code, Code::Conflict);
    let kept = keep(&home);
    assert_eq!((&kept["examples"], &kept["gone"]), (&json!(12), &json!(false)));
    let (kernel, registry) = (home.world.kernel(), home.world.kernel().training());
    let dataset = registry.dataset(None).expect("a dataset").dataset.clone();
    let lines = home.artifacts().expect("a store").read(&dataset.sha256).expect("lines");
    let examples = training::read_lines(&lines).expect("a dataset");
    assert_eq!(training::receipts_root(&examples).to_string(), kept["receipts_root"]);
    assert!(examples.iter().all(|one| one.receipts.iter().all(|id| id.starts_with("rcp_"))));
    let run = FinishedRun {
        run_id: "run_1".to_owned(),
        dataset: dataset.clone(),
        base_sha256: Digest::of(b"base"),
        adapter: b"numbers",
        measures: b"{}",
        offered: true,
    };
    kernel.finish_training(&run).expect("on record");
    kernel.export_training("run_1", ("own", Digest::of(b"weights")), b"# A card\n").expect("exported");
    let refused = home.ask("models.standard", json!({ "address": "box:own" }));
    assert!(refused.as_ref().err().is_none_or(|error| !error.message.contains("recalled")), "{refused:?}");

    let recalled = home.must("training.recall", json!({ "source": tasks[1].to_string() }));
    assert_eq!(recalled["recall"]["runs"], json!(["run_1"]));
    assert!(recalled["standard"].as_str().is_some_and(|words| words.contains("box:own")), "{recalled}");
    let listed = home.must("training.list", json!({}));
    let [newest, before] = [&listed["datasets"][0], &listed["datasets"][1]];
    assert_eq!((&newest["examples"], &newest["replaces"]), (&json!(10), &before["dataset_id"]));
    assert_eq!((&before["gone"], &newest["gone"]), (&json!(true), &json!(false)));
    assert_eq!(listed["runs"][0]["offered"], json!(false));
    assert!(listed["runs"][0]["recalled"].is_i64(), "{listed}");
    assert!(
        home.artifacts().expect("a store").read(&dataset.sha256).is_err(),
        "what was recalled is kept nowhere"
    );
    let refused = home.ask("models.standard", json!({ "address": "box:own" })).expect_err("it saw it");
    assert!(refused.message.contains("recalled"), "{refused:?}");
    assert!(kernel.export_training("run_1", ("own", Digest::of(b"weights")), b"# A card\n").is_err());
    assert_eq!(out(&home, tasks[1]), only("recalled", 2));
    // By a receipt, and by a folder.
    let receipt =
        home.must("receipts.list", json!({ "task": tasks[2].to_string() }))["rows"][0]["receipt_id"].clone();
    let by_receipt = home.must("training.recall", json!({ "source": receipt }));
    assert_eq!(by_receipt["recall"]["datasets"].as_array().map(Vec::len), Some(1));
    let folder = home.world.folder.path().canonicalize().expect("a folder").display().to_string();
    home.must("training.recall", json!({ "source": folder }));
    assert!(home.world.kernel().training().dataset(None).is_none(), "nothing of it is left");
    assert_eq!(preview(&home)["examples"], json!(0));
    // More than one event holds.
    let ports = home.world.kernel().ports();
    let requests = (0..9_000).map(|_| ArtifactId::fresh(&*ports.clock, &*ports.entropy)).collect();
    let many = RecallOf { said: "many".to_owned(), requests, ..RecallOf::default() };
    home.world.kernel().recall_training(&many, Channel::Cli).expect("in parts");
}

#[test]
fn what_is_erased_of_a_task_is_in_no_dataset_any_more() {
    let home = home_of(3804);
    let tasks: Vec<TaskId> = ["one", "two", "three"].map(|name| written(&home, name)).into();
    keep(&home);
    let plan = home.must("erasure.plan", json!({ "task": tasks[0].to_string() }));
    let rows = |name: &str| plan[name].as_array().expect("rows").clone();
    let text = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
    let mut erasure = Erasure {
        values: rows("values").iter().map(|row| text(row, "digest").parse().expect("a digest")).collect(),
        contents: rows("contents")
            .iter()
            .map(|row| {
                (
                    text(row, "artifact_id").parse().expect("an id"),
                    text(row, "sha256").parse().expect("a digest"),
                )
            })
            .collect(),
        written: rows("written").iter().map(|row| text(row, "sha256").parse().expect("a digest")).collect(),
        tasks: rows("tasks").iter().map(|row| row.as_str().expect("an id").parse().expect("an id")).collect(),
    };
    erasure.values.sort_unstable();
    erasure.contents.sort_unstable();
    erasure.written.sort_unstable();
    erasure.tasks.sort_unstable();
    let (world, kernel) = (&home.world, home.world.kernel());
    let before = kernel.training().dataset(None).expect("a dataset").dataset.sha256;
    let (log_id, now) = (kernel.reader().log_id().to_owned(), world.clock.now());
    let sha256 = erasure.sha256().expect("a digest");
    let signed = Signed::of(&log_id, Matter::Erase, sha256, now, world.person.signer()).expect("signed");
    kernel.erase(&erasure, &signed).expect("erased");
    let registry = kernel.training();
    let left = registry.dataset(None).expect("what is left").clone();
    assert_eq!((left.examples, registry.recalls.len()), (4, 1));
    assert!(home.artifacts().expect("a store").read(&before).is_err());
    let lines = home.artifacts().expect("a store").read(&left.dataset.sha256).expect("lines");
    assert!(!String::from_utf8(lines).expect("text").contains("called one."));
}
