//! How an act comes about, from the words of a model to the views: each step on record before the next.

use crate::objects::says;
use crate::story::{completed, count, die, events, object, packs, place, rebuilt, shows, state, types};
use acts::{Action, ActionRequest};
use kernel::ports::Notice;
use kernel::{DriveOutcome, Waiting};
use model::action::ActionClass;
use model::artifact::{ArtifactKind, ArtifactRef};
use model::attempt::AttemptStatus;
use model::fault::Point;
use model::task::{Priority, TaskStatus};
use model::{Body, TaskId};
use seal::Digest;
use serde_json::{Value, json};
use testkit::{Edge, World, done, look, say, write};

/// Requests of a task with the artifacts that hold them, in order.
fn requests(world: &World, task: TaskId) -> Vec<(ArtifactRef, ActionRequest)> {
    let now = state(world, task);
    let of = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ActionRequested(b) => {
            let request = object(world.kernel(), &now, b.request.artifact_id);
            Some((b.request, request))
        }
        _ => None,
    });
    of.collect()
}

// The parameters stand in the request itself (`action`), so that one digest covers all of it.
#[conforms::conforms("HK-11.3-2", "HK-11.3-3", "HK-10.3-4")]
#[test]
fn whatever_words_a_model_uses_a_request_of_one_form_is_kept_with_every_field() {
    let world = World::new(1_789);
    world.file("a.txt", "one\n");
    world.file("c.txt", "three\n");
    let edit = json!({ "path": "a.txt", "edits": [{ "old": "one", "new": "two" }] });
    let answers = vec![
        look("a.txt"),
        write("b.txt", "b"),
        say("edit", edit),
        say("delete", json!({ "path": "c.txt" })),
        done("ok"),
    ];
    let task = world.script("change", answers);
    assert_eq!(world.drive_allowing(task).0, completed());
    let now = state(&world, task);
    let all = requests(&world, task);
    assert_eq!(all.len(), 4);
    for (at, request) in &all {
        let value: Value = object(world.kernel(), &now, at.artifact_id);
        let fields = [
            "action_request_id",
            "task_id",
            "step_id",
            "attempt_id",
            "action_class",
            "target_resources",
            "action",
            "expected_effects",
            "reversibility_hint",
            "reason",
            "proposed_by",
            "proposed_at",
        ];
        says(&value, &fields);
        let artifact = &now.artifacts[&at.artifact_id];
        assert_eq!((artifact.kind, artifact.content_hash), (ArtifactKind::ActionRequest, at.sha256));
        assert_eq!((request.task_id, Some(request.attempt_id)), (task, now.current));
        let mut sorted = request.target_resources.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted, request.target_resources, "sorted, and each once");
        assert!(!sorted.is_empty());
        assert!(world.kernel().store_state().principals.contains_key(&request.proposed_by));
        assert_eq!(request.action_class, request.gravest(), "its class follows from the act");
    }
    // Three tools came to one form, with what must be there before, which no model said.
    let classes: Vec<ActionClass> = all.iter().map(|(_, request)| request.action_class).collect();
    let (writes, deletes) = (ActionClass::WriteLocal, ActionClass::DeleteLocal);
    assert_eq!(classes, [ActionClass::ReadLocal, writes, writes, deletes]);
    for (_, request) in &all[1..] {
        assert!(matches!(&request.action, Action::Change(change) if change.items.len() == 1), "{request:?}");
        assert!(!request.expected_effects.is_empty());
    }
    let before = all[2].1.expected_effects.iter().filter_map(|effect| effect.before_sha256);
    assert_eq!(before.collect::<Vec<_>>(), [Digest::of(b"one\n")]);
}

#[conforms::conforms("HK-11.1-1", "HK-10.3-2", "HK-10.3-3", part = "HK-10.3-5")]
#[test]
fn an_effect_comes_about_in_sixteen_steps_each_on_record_before_the_next() {
    let mut world = World::new(1_790);
    world.file("a.txt", "text");
    let task = world.script("delete", vec![say("delete", json!({ "path": "a.txt" })), done("ok")]);
    let asked = world.drive_to_approval(task);
    // The model has proposed: that is on record, nothing of it is done, and the attempt is paused.
    let waits = state(&world, task);
    assert_eq!(waits.attempt().unwrap().attempt.status, AttemptStatus::AwaitingApproval);
    assert_eq!((waits.task.status, waits.step().unwrap().status.as_str()), (TaskStatus::Blocked, "blocked"));
    assert_eq!(count(world.kernel(), task, "attempt.model_responded"), 1);
    assert_eq!(count(world.kernel(), task, "effect.dispatched"), 0);
    assert_eq!(world.files()["a.txt"], b"text");
    world.person.allow(world.kernel(), task, asked).unwrap();
    assert_eq!(world.drive(task), completed());
    let order = types(world.kernel(), task);
    let stations = [
        "task.created",
        "step.created",
        "attempt.created",
        "workspace.lease_acquired",
        "attempt.context_compiled",
        "attempt.checkpointed",
        "attempt.model_responded",
        "action.requested",
        "policy.evaluated",
        "approval.requested",
        "approval.granted",
        "witness.validated",
        "grant.issued",
        "effect.dispatched",
        "effect.observed",
    ];
    let places: Vec<usize> = stations.iter().map(|station| place(&order, station)).collect();
    assert!(places.is_sorted(), "{:?}", stations.iter().zip(&places).collect::<Vec<_>>());
    let receipt = order.iter().rposition(|one| one == "receipt.issued").unwrap();
    assert!(receipt > place(&order, "effect.observed"));
    // Each context is an artifact of its kind, and each time that a model is asked is a checkpoint.
    let now = state(&world, task);
    let compiled = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ContextCompiled(b) => Some(now.artifacts[&b.pack.artifact_id].kind),
        _ => None,
    });
    assert_eq!(compiled.collect::<Vec<_>>(), [ArtifactKind::ContextPack; 2]);
    assert_eq!(count(world.kernel(), task, "attempt.checkpointed"), 2);
    // What came out is kept, and views say what events said.
    let (_, receipt) = world.kernel().receipt(now.receipts.last().unwrap().receipt_id).unwrap();
    assert!(receipt.output_refs.iter().all(|at| now.digest_of(at.artifact_id) == Some(at.sha256)));
    let row = world.kernel().query().unwrap().task(task).unwrap().unwrap();
    assert_eq!(row.status, TaskStatus::Completed);
    let (kept, again) = rebuilt(&mut world);
    assert_eq!(kept, again);
}

#[conforms::conforms("HK-11.1-2")]
#[test]
fn one_answer_of_a_model_notes_a_plan_holds_a_belief_asks_for_an_act_or_none_of_these() {
    let world = World::new(1_791);
    world.file("a.txt", "text");
    let mut much = say("note", json!({ "plan": "write what was found" }));
    let believed = json!({ "claim": "a is text", "confidence": 400, "evidence": ["a.txt"] });
    much.calls.extend(say("believe", believed).calls);
    much.calls.extend(write("b.txt", "b").calls);
    let task = world.script("find", vec![look("a.txt"), much, done("b.txt says what was found")]);
    assert_eq!(world.drive_allowing(task), (completed(), 1));
    assert_eq!(count(world.kernel(), task, "attempt.model_responded"), 3, "three answers");
    let now = state(&world, task);
    let (at, _) = now.working_state.clone().expect("the plan is kept");
    let plan: Value = object(world.kernel(), &now, at.artifact_id);
    assert_eq!(plan["plan"], "write what was found");
    assert_eq!(now.beliefs.len(), 1);
    assert_eq!(world.files()["b.txt"], b"b");
    assert_eq!(requests(&world, task).len(), 2, "the look, and the write");
    // The last asks for nothing: its words are what is delivered.
    let answers: Vec<_> = now.artifacts.values().filter(|a| a.kind == ArtifactKind::Answer).collect();
    let [answer] = &answers[..] else { panic!("{answers:?}") };
    let words = world.kernel().artifacts().read(&answer.content_hash).unwrap();
    assert!(String::from_utf8_lossy(&words).contains("b.txt says what was found"));
}

#[conforms::conforms("HK-19.5-1")]
#[test]
fn a_look_that_a_death_interrupted_is_made_again_and_nobody_is_asked() {
    for edge in [Edge::Before, Edge::After] {
        let mut world = World::new(1_792);
        world.file("a.txt", "before the host died");
        // A look that was begun has left nothing: whoever asked for it is asked anew, and looks.
        let task = world.script("look", vec![look("a.txt"), look("a.txt"), done("seen")]);
        die(&mut world, task, Point::EffectDispatch, edge);
        world.file("a.txt", "after the host died");
        assert_eq!(world.drive(task), completed(), "{edge:?}");
        assert!(shows(packs(world.kernel(), task).last().unwrap(), "after the host died"), "{edge:?}");
        assert_eq!(count(world.kernel(), task, "approval.requested"), 0);
        assert_eq!(count(world.kernel(), task, "effect.uncertain"), 0);
        assert_eq!(state(&world, task).receipts.len(), 0);
    }
}

#[conforms::conforms("HK-10.1-2", "HK-10.1-3")]
#[test]
fn tasks_are_made_steered_and_ended_and_whoever_listens_hears_of_each_event_once() {
    let world = World::new(1_793);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    let stands = || world.kernel().query().unwrap().task(task).unwrap().unwrap();
    assert_eq!(stands().status, TaskStatus::Ready);
    world.drive_to_approval(task);
    world.kernel().pause(task).unwrap();
    assert!(matches!(world.drive(task), DriveOutcome::Waiting(Waiting::Resume)));
    assert_eq!(stands().status, TaskStatus::Paused);
    assert!(world.kernel().set_priority(task, Priority::High).unwrap());
    assert_eq!(stands().priority, Priority::High);
    world.kernel().resume(task).unwrap();
    assert_ne!(stands().status, TaskStatus::Paused);
    world.kernel().cancel(task, "enough").unwrap();
    world.drive(task);
    assert_eq!(stands().status, TaskStatus::Cancelled);
    assert!(world.files().is_empty());
    // Every event of it was published, in its order.
    let told = world.listener.0.lock().unwrap();
    let heard: Vec<(u64, String)> = told
        .iter()
        .filter_map(|notice| match notice {
            Notice::Event { task_id, task_seq, event_type } if *task_id == task => {
                Some((*task_seq, event_type.clone()))
            }
            _ => None,
        })
        .collect();
    let kept: Vec<(u64, String)> = events(world.kernel(), task)
        .into_iter()
        .map(|(event, _)| (event.task_seq, event.event_type))
        .collect();
    assert_eq!(heard, kept);
}
