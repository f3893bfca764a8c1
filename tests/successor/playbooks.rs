//! A playbook of a person's own, changed: what it did is done again by its new text, on what was seen then.

use super::trial::{arms, ran, tried};
use super::{AMPLE, has_walls};
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
