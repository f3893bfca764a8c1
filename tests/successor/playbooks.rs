//! A playbook of a person's own, changed: what it did is done again by its new text, on what was seen then.

use super::trial::{arms, ran, tried};
use super::{AMPLE, has_walls};
use crate::journeys::stage::Stage;
use crate::journeys::tool_servers::{asked, card, put, yes};
use ::successor::{Change, Evidence, Patch, WordsItem};
use conforms::conforms;
use kernel::DriveOutcome;
use kernel::command::submit::Reasoning;
use model::task::TaskStatus;
use model::{Digest, TaskId};
use std::collections::BTreeMap;
use testkit::{World, done, look};
use words::successor::VerdictOutcome;

const NAME: &str = "my-tidy";

/// The playbook that tidies, under a name of the person's own.
fn own() -> String {
    let shipped = reasoning::Playbook::shipped();
    let tidy = shipped.iter().find(|one| one.name() == "tidy").expect("it is shipped");
    tidy.text().replacen("name: tidy", &format!("name: {NAME}"), 1)
}

/// The same with another line in the place of one of its own.
fn changed(line: &str, now: &str) -> Patch {
    let was = own();
    assert!(was.contains(line), "{line}");
    Patch {
        says: "tidy otherwise".to_owned(),
        sources: vec!["written by the person".to_owned()],
        change: Change::Words {
            items: vec![WordsItem {
                what: "playbook".to_owned(),
                name: NAME.to_owned(),
                text: was.replacen(line, now, 1),
            }],
        },
    }
}

fn ended(world: &World, task: TaskId) -> TaskStatus {
    match world.drive_allowing(task).0 {
        DriveOutcome::Ended { status, .. } => status,
        other => panic!("it has ended: {other:?}"),
    }
}

/// A world in which that playbook has tidied a folder.
fn tidied() -> (World, TaskId) {
    let world = World::new(11);
    world.file("one.jpg", "a picture\n");
    world.file("two.txt", "words\n");
    let reasoning = Reasoning::Playbook { name: NAME.to_owned(), text: own(), parameters: BTreeMap::new() };
    let asked = world.submission("tidy up", reasoning);
    let task = world.kernel().submit(&asked).expect("submitted").task_id;
    assert_eq!(ended(&world, task), TaskStatus::Completed);
    (world, task)
}

/// What an arm did: each act, and what it changed.
fn did(of: &Evidence) -> Vec<(Digest, Option<Digest>)> {
    let acts = of.tasks.iter().flat_map(|task| &task.acts);
    acts.map(|act| (act.action_sha256, act.effect_sha256)).collect()
}

#[conforms(part = "HV-5-2")]
#[test]
fn a_changed_playbook_does_again_what_it_did_and_its_verdict_is_about_what_it_does_otherwise() {
    if !has_walls() {
        return;
    }
    let (world, task) = tidied();
    let before = world.files();
    // Other words about itself: it does the same.
    let same = tried(&world, &[task], &changed("about: Moves loose files", "about: Puts loose files"));
    let (parent, successor) = arms(&same);
    assert!(!did(&parent).is_empty());
    assert_eq!(did(&parent), did(&successor), "{successor:?}");
    assert_eq!(same.verdict.outcome, VerdictOutcome::Same, "{:?}", same.verdict);

    // Another place for what it moves: no recording tells what would come of that, and nothing is moved.
    let other = tried(&world, &[task], &changed("value: \"{category}\"", "value: \"Sorted/{category}\""));
    let (parent, successor) = arms(&other);
    assert_ne!(did(&parent), did(&successor), "{successor:?}");
    let outcome = other.verdict.outcome;
    assert!(!matches!(outcome, VerdictOutcome::Better | VerdictOutcome::Same), "{:?}", other.verdict);
    assert_eq!(world.files(), before, "nothing of the parent is touched");
}

#[conforms(part = "HV-5-2")]
#[test]
fn a_playbook_is_tried_on_what_it_did_alone() {
    if !has_walls() {
        return;
    }
    let world = World::new(12);
    world.file("plan.md", "one\n");
    let task = world.script("read the plan", vec![look("plan.md"), done("read")]);
    assert_eq!(ended(&world, task), TaskStatus::Completed);
    let patch = changed("about: Moves loose files", "about: Puts loose files");
    let why = ran(&world, &[task], &patch, AMPLE).err().expect("it shows nothing");
    assert!(why.contains("none of the tasks was done by the playbook `my-tidy`"), "{why}");
}

#[conforms(part = "HV-5-7")]
#[test]
fn a_changed_playbook_is_put_to_its_person_and_runs_by_its_name_from_their_yes_to_the_way_back() {
    if !has_walls() {
        return;
    }
    let stage = Stage::new();
    let file = |name: &str, text: &str| {
        let path = stage.at(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let is_moved = |name: &str| !stage.work().join(name).exists();
    put(&stage, "one.jpg", "a picture\n");
    let (task, approval) = stage.asks(&file("own.yaml", &own()));
    yes(&stage, &approval);
    assert!(is_moved("one.jpg"), "the playbook has tidied");

    let text = own().replacen("about: Moves loose files", "about: Puts loose files", 1);
    let words = format!("playbook={NAME}={}", file("changed.yaml", &text));
    let tries = ["successor", "try", "--words", &words, "--source", "my own idea", "--task", "it says more"];
    let tries = [&tries[..], &["--on", &task, "--tasks", "1"]].concat();
    let shown = stage.hermit(&tries).ends(0).json();
    assert_eq!(shown["trial"]["outcome"], "same", "{shown}");
    let trial = shown["trial"]["trial_id"].as_str().expect("an identifier").to_owned();

    let (work, none) = (stage.work(), "there is no playbook");
    let by_name = ["run", "--playbook", NAME, "--workspace", work.to_str().expect("UTF-8")];
    stage.hermit(&by_name).complains(&[none]);
    let adopt = ["successor", "adopt", &trial, "--although-same"];
    let (_, approval) = asked(&stage.hermit(&adopt).ends(4).json());
    assert!(card(&stage, &approval).contains("Puts loose files"), "the card shows it whole");
    stage.hermit(&by_name).complains(&[none]);
    yes(&stage, &approval);
    put(&stage, "two.jpg", "another picture\n");
    let (_, approval) = stage.asks(NAME);
    yes(&stage, &approval);
    assert!(is_moved("two.jpg"), "it runs by its name");

    let (_, approval) = asked(&stage.hermit(&["successor", "back"]).ends(4).json());
    yes(&stage, &approval);
    stage.hermit(&by_name).complains(&[none]);
    stage.is_sound();
}
