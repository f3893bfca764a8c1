//! Another model at work in a recording: what a look comes to, whatever the order.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use ::successor::RecordedAct;
use model::Sensitive;
use model::action::ReadItem;
use uuid::Uuid;

fn look(path: &str) -> Action {
    Action::Observe(acts::Observe { items: vec![ReadItem::Read { path: path.parse().unwrap() }] })
}

fn act(action_sha256: Digest, turn: u32, changes: Vec<Change>) -> RecordedAct {
    let came = Recording { turn, result_code: Some(ResultCode::Succeeded), changes, ..Recording::default() };
    RecordedAct {
        action_sha256,
        action: serde_json::Value::Null,
        summary: "an act".to_owned(),
        class: "read_local".to_owned(),
        verdict: "allow".to_owned(),
        answered: None,
        outcome: serde_json::to_value(&came).unwrap(),
        effect_sha256: None,
    }
}

/// A file that is read, written, and read again.
fn world(live: bool) -> RecordedWorld {
    let read = action_digest(&look("notes/a.md")).unwrap();
    let workspace = WorkspaceId::new(Uuid::from_u128(1));
    let written = Change {
        resource: Sensitive::from(format!("file:{workspace}/notes/a.md")),
        before: Found::Absent,
        after: Found::File { sha256: Digest::of(b"x"), byte_size: 1, mode: None },
        before_image: None,
        outcome: ItemOutcome::Done,
    };
    let acts = vec![
        act(read, 1, Vec::new()),
        act(Digest::of(b"a write"), 2, vec![written]),
        act(read, 3, Vec::new()),
        act(action_digest(&look("other.md")).unwrap(), 4, Vec::new()),
    ];
    let task = RecordedTask {
        task_id: model::TaskId::new(Uuid::from_u128(2)),
        goal: "a goal".to_owned(),
        profile: "local_edit_allowed".to_owned(),
        ended: "completed".to_owned(),
        answers: Vec::new(),
        acts,
    };
    RecordedWorld::of(&task, live).unwrap()
}

fn told(world: &RecordedWorld, path: &str) -> Option<usize> {
    let action = look(path);
    world.telling(&world.played(), &action, &action_digest(&action).unwrap())
}

fn done(world: &RecordedWorld, at: usize) {
    *world.played().done.get_mut(at).unwrap() = true;
}

#[test]
fn a_look_sees_what_it_saw_then_only_where_the_same_was_written_before_it() {
    let before = world(true);
    assert_eq!(told(&before, "notes/a.md"), Some(0));
    done(&before, 0);
    assert_eq!(told(&before, "notes/a.md"), Some(0), "the same look may be taken again");
    done(&before, 1);
    assert_eq!(told(&before, "notes/a.md"), Some(2), "what was written since is seen");
    let at_once = world(true);
    done(&at_once, 1);
    assert_eq!(told(&at_once, "notes/a.md"), Some(2), "also by one that never looked before");
    assert_eq!(told(&at_once, "other.md"), Some(3));
    assert_eq!(told(&at_once, "never.md"), None, "what was never looked at is told by nothing");
}

#[test]
fn the_recorded_model_looks_as_often_as_it_did() {
    let recorded = world(false);
    for at in [0, 2] {
        assert_eq!(told(&recorded, "notes/a.md"), Some(at));
        done(&recorded, at);
    }
    assert_eq!(told(&recorded, "notes/a.md"), None);
}
