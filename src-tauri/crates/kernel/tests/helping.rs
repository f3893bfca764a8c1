//! Whether a memory record helped in a task, or was contradicted there, as its end says (memory.md 2).

use crate::story::{completed, events};
use kernel::command::memory::Memorandum;
use kernel::command::partial_approval::Chosen;
use kernel::command::plan::Part;
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::approval::Surface;
use model::ingress::Channel;
use model::knowledge::MemoryType;
use model::{Body, MemoryId, TaskId};
use projections::query::Ask;
use projections::rows::MemoryRow;
use std::collections::{BTreeMap, BTreeSet};
use testkit::{World, done, look, write};

fn remember(world: &World, claim: &str) -> MemoryRow {
    let said = Memorandum {
        claim: claim.to_owned(),
        scope: String::new(),
        everywhere: false,
        reason: "it was said".to_owned(),
        memory_type: Some(MemoryType::Correction),
        pinned: false,
        days: None,
        replaces: None,
    };
    let root = world.folder.path().canonicalize().unwrap();
    let task = world.kernel().propose_memory(said, &root, (Channel::Cli, claim.to_owned())).unwrap().task_id;
    assert_eq!(world.drive_allowing(task).0, completed());
    row(world, claim)
}

fn row(world: &World, claim: &str) -> MemoryRow {
    let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    rows.into_iter().find(|row| row.claim.shown().is_some_and(|said| said == claim)).unwrap()
}

/// What the end of a task says of memory.
fn judged(world: &World, task: TaskId) -> (Vec<MemoryId>, Vec<MemoryId>) {
    let mut ends = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::RunTerminated(b) => Some((b.helped.unwrap_or_default(), b.contradicted.unwrap_or_default())),
        _ => None,
    });
    ends.next_back().expect("it ended")
}

#[test]
fn an_act_that_follows_a_memory_and_an_answer_that_cites_it_help_and_nothing_else_does() {
    let mut world = World::new(8_801);
    world.file("a.txt", "text");
    let memory = remember(&world, "drafts belong into the folder entwurf");
    assert_eq!((memory.helped, memory.contradicted), (0, 0));
    // An act whose words are those of the record, and of nobody else.
    let followed =
        world.script("Draft a letter", vec![write("drafts/entwurf/letter.md", "Dear"), done("Written.")]);
    assert_eq!(world.drive_allowing(followed).0, completed());
    assert_eq!(judged(&world, followed), (vec![memory.memory_id], vec![]));
    // It was told, and what was done is something else.
    let other = world.script("Write a letter", vec![write("letter.md", "Dear"), done("Written.")]);
    assert_eq!(world.drive_allowing(other).0, completed());
    assert_eq!(judged(&world, other), (vec![], vec![]));
    // The goal says all of it itself.
    let goal = "Write drafts belonging to the folder entwurf, they belong there";
    let said =
        world.script(goal, vec![write("drafts/entwurf/b.md", "Dear"), done("drafts in folder entwurf")]);
    assert_eq!(world.drive_allowing(said).0, completed());
    assert_eq!(judged(&world, said), (vec![], vec![]));
    let cited = world.script("Where do they go?", vec![look("a.txt"), done("Drafts go into entwurf.")]);
    assert_eq!(world.drive_allowing(cited).0, completed());
    assert_eq!(judged(&world, cited), (vec![memory.memory_id], vec![]));
    let now = row(&world, "drafts belong into the folder entwurf");
    assert_eq!((now.helped, now.helped_in, now.contradicted), (2, Some(cited), 0));
    assert!(now.uses >= 4, "it was told in each");
    // The views say the same when they are folded anew.
    world.reopen();
    assert_eq!(row(&world, "drafts belong into the folder entwurf").helped, 2);
}

#[test]
fn what_a_person_refuses_or_finds_wrong_contradicts_the_memory_that_was_followed() {
    let world = World::new(8_802);
    let memory = remember(&world, "drafts belong into the folder entwurf");
    let task = world.script("Write it down", vec![write("drafts/entwurf/letter.md", "Dear"), done("Left.")]);
    let at = world.drive_to_approval(task);
    world.person.deny(world.kernel(), task, at, "not there").unwrap();
    while let DriveOutcome::Waiting(Waiting::Approval(_)) = world.drive(task) {}
    assert_eq!(judged(&world, task), (vec![], vec![memory.memory_id]));
    let now = row(&world, "drafts belong into the folder entwurf");
    assert_eq!((now.helped, now.contradicted, now.contradicted_in), (0, 1, Some(task)));
    // A refusal by a program in the person's name is nobody's word.
    let again = world.script("Write it again", vec![write("drafts/entwurf/b.md", "Dear"), done("Left.")]);
    let at = world.drive_to_approval(again);
    world.kernel().deny_approval(again, at, Surface::RunApi, Some("no".to_owned())).unwrap();
    while let DriveOutcome::Waiting(Waiting::Approval(_)) = world.drive(again) {}
    assert_eq!(judged(&world, again), (vec![], vec![]));
    world.kernel().invalidate_memory(memory.memory_id, "they go elsewhere").unwrap();
    assert_eq!(row(&world, "drafts belong into the folder entwurf").contradicted, 2);
}

#[test]
fn a_yes_to_a_part_is_no_word_against_a_memory() {
    let world = World::new(8_803);
    let memory = remember(&world, "drafts belong into the folder entwurf");
    let text = |first: &str, last: &str| format!("{first}\n{}{last}\n", "the same\n".repeat(12));
    world.file("drafts/entwurf/letter.md", &text("Dear", "Yours"));
    let says = vec![
        look("drafts/entwurf/letter.md"),
        write("drafts/entwurf/letter.md", &text("Hello", "Bye")),
        done("As far as I may."),
        done("Left."),
    ];
    let task = world.script("Be less formal", says);
    let at = world.drive_to_approval(task);
    let hunks = BTreeMap::from([(0, BTreeSet::from([1]))]);
    let chosen = Chosen { items: BTreeSet::from([0]), hunks };
    world.kernel().choose_part(task, at, Surface::Test, &chosen, Some("one is enough")).unwrap();
    assert_eq!(world.drive_allowing(task).0, completed());
    assert_eq!(judged(&world, task), (vec![memory.memory_id], vec![]));
}

#[test]
fn of_a_task_of_several_steps_it_is_judged_once_at_the_last_and_by_all_of_them() {
    let world = World::new(8_804);
    let memory = remember(&world, "drafts belong into the folder entwurf");
    let mut submission = world.submission("all of it", Reasoning::Scripted { name: "nobody".to_owned() });
    for (name, after, says) in
        [("one", None, "Drafts go into entwurf."), ("two", Some("one"), "Nothing more.")]
    {
        world.file("a.txt", "text");
        world.reasoners.script(name, vec![look("a.txt"), done(says)]);
        submission.steps.push(Part {
            name: name.to_owned(),
            objective: format!("the part {name}"),
            after: after.map(str::to_owned).into_iter().collect(),
            reasoning: Some(Reasoning::Scripted { name: name.to_owned() }),
            ..Part::default()
        });
    }
    let task = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(world.drive_allowing(task).0, completed());
    let ends = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::RunTerminated(b) => Some(b.helped),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [None, Some(vec![memory.memory_id])]);
    assert_eq!(row(&world, "drafts belong into the folder entwurf").helped, 1);
}
