//! What a task that follows another one is told of it: its anchor, what it left and what was done.

use crate::story::{completed, events, log, packs, rebuilt, state};
use kernel::command::bind::About;
use kernel::command::enclose::Encloses;
use kernel::command::ingest::Incoming;
use kernel::command::ingress::{Bound, Saying};
use kernel::command::submit::{Reasoning, Submission};
use model::action::ActionClass;
use model::artifact::TrustTier;
use model::ingress::{Channel, IngressStatus};
use model::task::TaskStatus;
use model::{Body, TaskId};
use testkit::{World, done, write};

/// The anchor of the task that a message made is on record with both, and what it names is there.
fn is_anchored(world: &World, made: &Bound, first: TaskId) {
    let task = made.task_id.unwrap();
    let created = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::TaskCreated(b) => b.task.continuation_anchor,
        _ => None,
    });
    let anchor = created.expect("the anchor is in the event that makes the task");
    let ingress = log(world.kernel()).into_iter().rev().find_map(|(_, body)| match body {
        Body::IngressBound(b) if b.ingress_id == made.ingress_id => Some(b),
        _ => None,
    });
    let ingress = ingress.expect("it is bound");
    assert_eq!(ingress.anchor.as_ref(), Some(&anchor), "and in the record of its message");
    assert_eq!(ingress.chosen_task_id, Some(task));
    assert_eq!((anchor.anchor_task_id, anchor.outcome_status), (first, TaskStatus::Completed));
    let before = state(world, first);
    let left: Vec<Option<String>> = anchor
        .source_artifact_refs
        .iter()
        .map(|id| before.artifacts[id].task_local_alias.as_ref().and_then(|name| name.shown().cloned()))
        .collect();
    assert_eq!(left.len(), 2, "what it was given and what it answered: {left:?}");
    let row = world.kernel().query().unwrap().message(made.ingress_id).unwrap().unwrap();
    assert_eq!((row.anchor_task_id, row.status), (Some(first), IngressStatus::Bound));
}

/// A task that was given a table, and has ended.
fn counted(world: &World) -> TaskId {
    world.reasoners.script("count", vec![done("there are 7"), done("8"), done("9"), done("10")]);
    let bytes = b"a,b\n1,2\n";
    let incoming = Incoming {
        name: "table.csv".to_owned(),
        uri: "/elsewhere/table.csv".to_owned(),
        media_type: "text/csv",
        bytes: &mut &bytes[..],
        trust_tier: TrustTier::Untrusted,
    };
    let (put, _) = world.kernel().ingest(incoming, Channel::App).unwrap();
    let submission = Submission {
        encloses: Encloses { files: vec![put.artifact_id], ..Encloses::default() },
        ..world.submission("count", Reasoning::Scripted { name: "count".to_owned() })
    };
    let first = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(world.drive(first), completed());
    first
}

/// Does this to the views of a store that no host holds.
fn to_views(world: &mut World, change: impl FnOnce(&rusqlite::Connection)) {
    world.crash();
    change(&rusqlite::Connection::open(world.store.path().join("ledger.db")).unwrap());
    world.take_up().unwrap();
}

#[conforms::conforms("HK-8.1.1-8", "HK-10.5-6")]
#[test]
fn what_a_follow_up_carries_is_in_its_message_its_task_and_its_pack_and_needs_no_transcript() {
    let mut world = World::new(3_504);
    let first = counted(&world);
    let said = Saying { task: Some(first), ..Saying::of("and the odd ones?", Channel::App, "a") };
    let next = world.kernel().say(&said).unwrap();
    let follower = next.task_id.expect("a task");
    let conversation = state(&world, first).task.conversation_id;
    // Its context is made without the chat, which is lost for as long.
    to_views(&mut world, |views| {
        assert!(views.execute("DELETE FROM view_messages", []).unwrap() > 0);
    });
    assert_eq!(world.drive(follower), completed());
    to_views(&mut world, |views| {
        projections::rebuild(views, &mut |_| projections::Flow::Continue).unwrap();
    });
    // Another way to the same: a person binds an open message.
    world.kernel().turn_to(conversation, None).unwrap();
    let open = world.kernel().say(&Saying::of("and more?", Channel::App, "b")).unwrap();
    let bound = world.kernel().bind_message(open.ingress_id, About::Task(first)).unwrap();
    world.reopen();
    for made in [&next, &bound] {
        is_anchored(&world, made, first);
    }
    let pack = packs(world.kernel(), follower).remove(0);
    let told = pack
        .items
        .iter()
        .find(|item| item.title.starts_with("the task before"))
        .expect("the anchor is in the pack");
    for words in [
        "It ended: completed",
        "because: the task was named outright",
        "It left: table.csv, 8 bytes, art_",
        "there are 7",
    ] {
        assert!(told.text.contains(words), "{words}: {}", told.text);
    }
    // What it left is in the pack as what it is, too, not only by name.
    let file = pack.items.iter().find(|item| item.text.contains("1,2"));
    assert!(
        file.is_some(),
        "{:?}",
        pack.items.iter().map(|item| (&item.title, &item.text)).collect::<Vec<_>>()
    );
    // The views say the same when they are folded from the log anew.
    let (views, log) = rebuilt(&mut world);
    assert_eq!(views, log);
}

#[conforms::conforms(part = "HK-15.6-2")]
#[test]
fn what_was_done_before_stands_by_its_receipts_in_the_pack_of_what_goes_on_from_it() {
    let world = World::new(3_513);
    let answers = vec![write("table.md", "42"), done("it is written"), done("it is seen")];
    let first = world.script("write the table", answers);
    assert_eq!(world.drive_allowing(first), (completed(), 1));
    let receipts = state(&world, first).receipts;
    let wrote = receipts.iter().find(|receipt| receipt.action_class == ActionClass::WriteLocal).unwrap();
    let (_, receipt) = world.kernel().receipt(wrote.receipt_id).unwrap();
    let said = Saying { task: Some(first), ..Saying::of("and is it right?", Channel::App, "a") };
    let follower = world.kernel().say(&said).unwrap().task_id.expect("a task");
    assert_eq!(world.drive(follower), completed());
    let pack = packs(world.kernel(), follower).remove(0);
    let told = pack.items.iter().find(|item| item.title.starts_with("the task before")).unwrap();
    let did = receipt.result_summary.shown().unwrap();
    let line = format!("Done, with a receipt: {did} (succeeded)");
    assert!(told.text.contains(&line), "`{line}` is not in {}", told.text);
}
