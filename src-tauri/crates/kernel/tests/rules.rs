//! Rules of a person, a project and a task on the whole path.

use crate::story::{completed, count, state};
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Error, Waiting};
use model::TaskId;
use testkit::{World, done, write};

fn writer(world: &World, goal: &str, names: &[&str], constraints: &[&str]) -> TaskId {
    let mut answers: Vec<_> = names.iter().map(|name| write(name, goal)).collect();
    answers.push(done("ok"));
    world.reasoners.script(goal, answers);
    let submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    let constraints = constraints.iter().map(|text| (*text).to_owned()).collect();
    world.kernel().submit(&Submission { constraints, ..submission }).expect("submitted").task_id
}

#[conforms::conforms(part = "HV-3.3-3")]
#[test]
fn deny_wins_over_allow_and_a_project_only_tightens() {
    let world = World::new(961);
    std::fs::write(world.store.path().join("policy.rules"), "allow FileEdit(*.md)\nallow FileEdit(*.txt)\n")
        .unwrap();
    let allowed = writer(&world, "mine", &["a.md"], &[]);
    assert_eq!(world.drive(allowed), completed(), "nobody is asked about what my rules allow");
    assert_eq!(count(world.kernel(), allowed, "approval.requested"), 0);
    world.file(".hermit/policy.rules", "deny FileEdit(*.txt)\nask FileEdit(b*)\n");
    let both = writer(&world, "both", &["c.txt", "c.md", "b.md"], &[]);
    assert!(
        matches!(world.drive(both), DriveOutcome::Waiting(Waiting::Approval(_))),
        "the project asks about b.md"
    );
    let files = world.files();
    assert!(files.contains_key("c.md") && !files.contains_key("c.txt") && !files.contains_key("b.md"));
    let task = writer(&world, "task", &["d.md", "e.md"], &["rule: deny FileEdit(d*)", "be brief"]);
    assert_eq!(world.drive(task), completed());
    assert!(!world.files().contains_key("d.md") && world.files().contains_key("e.md"));
    world.file(".hermit/policy.rules", "allow FileEdit(**)\n");
    let wide = writer(&world, "wide", &["f.bin"], &[]);
    let error = world.kernel().drive(wide).expect_err("a project allows nothing");
    assert!(matches!(&error, Error::Input(why) if why.contains("line 1")), "{error}");
    assert!(!world.files().contains_key("f.bin"));
    world.file(".hermit/policy.rules", "");
    assert!(
        matches!(world.drive(wide), DriveOutcome::Waiting(Waiting::Approval(_))),
        "the file is put right"
    );
}

#[test]
fn rules_that_changed_since_the_yes_are_asked_again() {
    let world = World::new(962);
    let task = writer(&world, "notes", &["a.txt", "b.txt"], &[]);
    let asked = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, asked).unwrap();
    world.file(".hermit/policy.rules", "deny FileEdit(a*)\n");
    let second = world.drive_to_approval(task);
    assert_ne!(asked, second);
    assert!(!world.files().contains_key("a.txt"), "the old yes was given under other rules");
    assert_eq!(state(&world, task).pending_approvals().count(), 1);
}
