//! What a model proposes moves nothing before it is allowed, also where its commands run behind walls beforehand.

use crate::journeys;
use kernel::command::submit::Reasoning;
use kernel::{DriveOutcome, Waiting};
use model::fault::Point;
use model::policy::Profile;
use model::proposal::Answer;
use model::receipt::{ReplayClass, SandboxLevel};
use model::task::TaskStatus;
use model::{ApprovalId, TaskId};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::{Edge, Mode, Server, World, command, done, fetch, say, write};

/// A world whose commands have walls; none, and the test skipped, where this machine has none.
fn walled(seed: u64) -> Option<World> {
    let sandbox = effects::Sandbox::probe(journeys::exec());
    if sandbox.level() == SandboxLevel::Unconfined {
        conforms::lacks_walls("a sandbox (bubblewrap, or Landlock in the kernel)");
        return None;
    }
    Some(behind(seed, sandbox))
}

fn behind(seed: u64, sandbox: effects::Sandbox) -> World {
    let mut world = World::bare(seed);
    world.sandbox = sandbox;
    world.take_up().expect("the store opens");
    world.register_keys().expect("keys are registered");
    world.file("a.txt", "text");
    world
}

fn give(world: &World, goal: &str, profile: Profile, act: Answer) -> TaskId {
    world.reasoners.script(goal, vec![act, done("ok")]);
    let mut submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    submission.profile = profile;
    world.kernel().submit(&submission).expect("submitted").task_id
}

fn count(world: &World, task: TaskId, wanted: &str) -> usize {
    let stored = world.kernel().reader().events(task, 0, 10_000).expect("events");
    stored.iter().filter(|s| s.event().is_ok_and(|event| event.event_type == wanted)).count()
}

fn asked(world: &World, task: TaskId) -> ApprovalId {
    match world.drive(task) {
        DriveOutcome::Waiting(Waiting::Approval(id)) => id,
        other => panic!("expected a question, got {other:?}"),
    }
}

#[conforms::conforms("HK-10.4-1", "HK-11.2-2", part = "HK-11.3-1", "HK-18.5-1", "HK-25.1-6", "HK-27-4")]
#[test]
fn a_command_that_was_tried_in_a_copy_goes_the_whole_way_like_every_other_act() {
    let Some(world) = walled(1_601) else { return };
    let server = Server::agreeing();
    let make = |name: &str| command(&["sh", "-c", &format!("echo made > {name}")]);
    let acts = [
        ("write", write("b.txt", "b")),
        ("delete", say("delete", json!({ "path": "a.txt" }))),
        ("command", make("c.txt")),
        ("send", fetch("POST", &server.url("/orders"), Some("a kettle"))),
        ("look", fetch("GET", &server.url("/prices"), None)),
    ];
    let before = world.files();
    for (goal, act) in acts {
        for allowed in [false, true] {
            let name = format!("{goal} {allowed}");
            let task = give(&world, &name, Profile::ExternalPublishGated, act.clone());
            let tried = world.oracle.tried();
            let performed = world.oracle.performed().len();
            let before_it = server.heard().len();
            let heard = || server.heard().len() - before_it;
            let approval = asked(&world, task);
            assert_eq!(world.oracle.tried() - tried, u32::from(goal == "command"), "{name}: tried once");
            assert_eq!(world.files(), before, "{name}: the folder is as it was");
            assert_eq!(heard(), 0, "{name}: nobody was asked");
            assert_eq!(world.oracle.performed().len(), performed, "{name}: nothing was done");
            for (kind, times) in [
                ("action.requested", 1),
                ("policy.evaluated", 1),
                ("approval.requested", 1),
                ("grant.issued", 0),
            ] {
                assert_eq!(count(&world, task, kind), times, "{name}: {kind}");
            }
            if allowed {
                world.person.allow(world.kernel(), task, approval).expect("allowed");
            } else {
                world.person.deny(world.kernel(), task, approval, "no").expect("denied");
            }
            let DriveOutcome::Ended { status, .. } = world.drive(task) else { panic!("{name}: it ends") };
            let expected = if allowed { TaskStatus::Completed } else { TaskStatus::Failed };
            assert_eq!(status, expected, "{name}");
            let times = usize::from(allowed);
            assert_eq!(world.oracle.performed().len() - performed, times, "{name}");
            for kind in ["grant.issued", "effect.dispatched"] {
                assert_eq!(count(&world, task, kind), times, "{name}: {kind}");
            }
            if allowed {
                let last =
                    world.kernel().task(task).expect("a task").receipts.last().map(|one| one.receipt_id);
                let receipt = world.kernel().receipt(last.expect("a receipt")).expect("it is there").1;
                assert_eq!(receipt.replay_class, replayed(goal), "{name}");
            }
            if !allowed {
                assert_eq!((world.files(), heard()), (before.clone(), 0), "{name}: never");
            } else if matches!(goal, "send" | "look") {
                assert_eq!(heard(), 1);
            } else {
                assert_ne!(world.files(), before, "{name}");
                undo(&world, &before);
            }
        }
    }
}

/// How it can be done again: bytes that are stored as they are, a change of the folder to the same end, a look for what is
/// there by then, and what was sent not at all.
fn replayed(goal: &str) -> ReplayClass {
    match goal {
        "command" => ReplayClass::DeterministicReplay,
        "write" | "delete" => ReplayClass::IdempotentReplay,
        "look" => ReplayClass::ObserveOnly,
        _ => ReplayClass::ExplainOnly,
    }
}

/// The folder as it was, by hand.
fn undo(world: &World, before: &std::collections::BTreeMap<String, Vec<u8>>) {
    for name in world.files().into_keys().filter(|name| !before.contains_key(name)) {
        std::fs::remove_file(world.path(&name)).expect("gone");
    }
    for (name, bytes) in before {
        world.file(name, std::str::from_utf8(bytes).expect("a text"));
    }
}

#[conforms::conforms("HK-6.2-4")]
#[test]
fn a_command_that_policy_forbids_is_not_even_tried() {
    let Some(world) = walled(1_602) else { return };
    let before = world.files();
    let act = command(&["sh", "-c", "rm a.txt"]);
    for profile in [Profile::ReadonlyAnalysis, Profile::DestructiveDenied] {
        let name = format!("forbidden {profile:?}");
        let task = give(&world, &name, profile, act.clone());
        let standing = world.drive(task);
        assert!(matches!(standing, DriveOutcome::Ended { .. }), "{name}: {standing:?}");
        assert_eq!((world.oracle.tried(), world.oracle.performed().len()), (0, 0), "{name}");
        assert_eq!(world.files(), before, "{name}");
        assert_eq!(count(&world, task, "grant.issued"), 0, "{name}");
    }
}

#[conforms::conforms(part = "HK-6.2-4")]
#[test]
fn a_command_that_policy_forbids_by_the_time_the_next_host_comes_is_not_tried_by_it() {
    let Some(mut world) = walled(1_603) else { return };
    let act = command(&["sh", "-c", "rm a.txt"]);
    let task = give(&world, "meanwhile", Profile::LocalEditAllowed, act);
    world.faults.plan(Point::TrialStart, Edge::After, Mode::Abort, 1);
    let died = catch_unwind(AssertUnwindSafe(|| world.kernel().drive(task)));
    assert!(world.faults.fired(), "a trial is on record before it begins: {died:?}");
    world.faults.clear();
    world.reopen();
    assert_eq!((count(&world, task, "trial.started"), world.oracle.tried()), (1, 0));
    world.file(".hermit/policy.rules", "deny Bash(rm:*)\n");
    world.reasoners.script("meanwhile", vec![done("not done")]);
    let before = world.files();
    let outcome = world.drive(task);
    assert!(matches!(outcome, DriveOutcome::Ended { .. }), "{outcome:?}");
    assert_eq!((world.oracle.tried(), world.oracle.performed().len()), (0, 0));
    assert_eq!(world.files(), before);
    for (kind, times) in [("trial.started", 1), ("trial.ended", 1), ("grant.issued", 0)] {
        assert_eq!(count(&world, task, kind), times, "{kind}");
    }
}

/// What staged runs have left in the store.
fn left(world: &World) -> usize {
    let spool = std::fs::read_dir(world.store.path().join("spool"));
    let names = spool.into_iter().flatten().map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().starts_with("stage-")).count()
}

#[test]
fn what_a_staged_run_left_goes_with_the_attempt_that_it_was_for() {
    let Some(world) = walled(1_604) else { return };
    let act = || command(&["sh", "-c", "echo made > c.txt"]);
    let task = give(&world, "again", Profile::LocalEditAllowed, act());
    asked(&world, task);
    assert_eq!(left(&world), 1, "it waits for a yes");
    world.kernel().retry(task, "again".to_owned()).expect("retried");
    assert_eq!(left(&world), 0, "and nobody can say yes to it any more");
    world.reasoners.script("again", vec![act(), done("ok")]);
    asked(&world, task);
    assert_eq!(left(&world), 1);
    let note = kernel::command::add_input::Note::of("something else", model::ingress::Channel::App, "stop");
    world.kernel().stop_and_send(task, &note).expect("sent");
    assert_eq!(left(&world), 0);
}

/// A `hermit-exec` that leaves all files open: what gets through is found before a command is judged.
#[test]
fn where_a_wall_was_taken_away_it_is_named_and_a_command_is_refused_by_policy() {
    if !effects::Sandbox::is_of_namespaces() {
        return conforms::skip("walls are not put up by `hermit-exec` on this system");
    }
    if effects::Sandbox::probe_without_namespaces(journeys::exec()).level() != SandboxLevel::Landlock {
        return conforms::lacks("Landlock, of which a wall is taken away,");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let exec = folder.path().join("open");
    // Another process writes it, so that nobody has it open for writing when it is started.
    let script = r#"printf '#!/bin/sh\nexec "%s" --write / "$@"\n' "$2" >"$1" && chmod 755 "$1""#;
    let mut write = std::process::Command::new("/bin/sh");
    write.args(["-c", script, "sh"]).arg(&exec).arg(journeys::exec());
    assert!(write.status().expect("a shell").success());
    let open = effects::Sandbox::probe_without_namespaces(&exec);
    assert!(open.why().contains("got through: write outside, read outside"), "{}", open.why());

    let world = behind(1_690, open);
    let before = world.files();
    let task = give(&world, "command", Profile::ExternalPublishGated, command(&["sh", "-c", "echo x > b"]));
    let outcome = world.drive(task);
    assert!(!matches!(outcome, DriveOutcome::Waiting(Waiting::Approval(_))), "nobody is asked: {outcome:?}");
    assert!(count(&world, task, "policy.evaluated") > 0, "policy was asked");
    for kind in ["approval.requested", "grant.issued"] {
        assert_eq!(count(&world, task, kind), 0, "{kind}");
    }
    assert_eq!((world.oracle.tried(), world.oracle.performed().len()), (0, 0), "nothing was run");
    assert_eq!(world.files(), before);
}
