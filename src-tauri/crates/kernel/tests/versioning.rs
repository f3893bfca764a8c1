//! Changes of version control on their governed way. What git does with them is shown where there are walls for it.

use crate::story::{completed, count, object, packs, shows, state};
use acts::ApprovalPacket;
use kernel::DriveOutcome;
use kernel::command::submit::Reasoning;
use model::action::ActionClass;
use model::policy::Profile;
use model::witness::Found;
use model::{ApprovalId, ResourceId, TaskId};
use serde_json::json;
use testkit::{World, done, say};

/// A folder with a repository, made by hand: refs are files.
fn repository(seed: u64) -> World {
    let world = World::new(seed);
    world.file("a.txt", "text");
    world.file(".git/HEAD", "ref: refs/heads/main\n");
    at(&world, 'a');
    world
}

fn at(world: &World, letter: char) {
    world.file(".git/refs/heads/main", &format!("{}\n", letter.to_string().repeat(40)));
}

fn give(world: &World, goal: &str, profile: Profile) -> TaskId {
    let commit = || say("commit", json!({ "paths": ["a.txt"], "message": "what\n\nand why" }));
    world.reasoners.script(goal, vec![commit(), commit(), done("committed")]);
    let mut submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    submission.profile = profile;
    world.kernel().submit(&submission).unwrap().task_id
}

fn packet(world: &World, task: TaskId, approval: ApprovalId) -> ApprovalPacket {
    let state = state(world, task);
    object(world.kernel(), &state, state.approvals[&approval].approval.approval_packet_ref)
}

#[test]
fn a_commit_is_bound_to_the_ref_and_the_files_that_were_shown() {
    let world = repository(1301);
    let task = give(&world, "commit it", Profile::RepoMutationGated);
    let first = world.drive_to_approval(task);
    let packet = packet(&world, task, first);
    assert_eq!(packet.action_request.action_class, ActionClass::VcsMutation);
    let seen = packet.state_witness.clone().unwrap().fingerprints;
    let of_ref = seen.iter().find(|print| matches!(print.resource, ResourceId::Ref(..))).unwrap();
    assert_eq!(of_ref.state, Found::Version { value: "a".repeat(40) });
    assert_eq!(seen.len(), 2, "the ref and the file, and nothing else");
    let card = governance::approval::card(&packet);
    let shown: Vec<&str> = card.lines.iter().map(|line| line.text.as_str()).collect();
    for words in ["file 1: with \"a.txt\"", "commit on \"refs/heads/main\"", "    | what", "    | and why"] {
        assert!(shown.iter().any(|line| line.contains(words)), "`{words}` is not in {shown:#?}");
    }
    world.person.allow(world.kernel(), task, first).unwrap();
    at(&world, 'b');
    let second = world.drive_to_approval(task);
    assert_ne!(first, second, "the ref has moved: the old yes is void");
    assert_eq!(count(world.kernel(), task, "witness.drifted"), 1);
    assert_eq!(count(world.kernel(), task, "effect.dispatched"), 0);
    world.person.allow(world.kernel(), task, second).unwrap();
    // There are no walls in this world, and version control is not changed without.
    assert_eq!(world.drive(task), completed());
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "in a sandbox only"));
    assert_eq!(world.files()[".git/refs/heads/main"], format!("{}\n", "b".repeat(40)).as_bytes());
}

#[test]
fn a_profile_without_version_control_asks_nobody() {
    for (seed, profile) in (1310..).zip([Profile::LocalEditAllowed, Profile::DestructiveDenied]) {
        let world = repository(seed);
        let task = give(&world, "commit it", profile);
        assert!(matches!(world.drive(task), DriveOutcome::Ended { .. }), "{profile}");
        assert_eq!(count(world.kernel(), task, "approval.requested"), 0, "{profile}");
        assert_eq!(count(world.kernel(), task, "effect.dispatched"), 0, "{profile}");
    }
}
