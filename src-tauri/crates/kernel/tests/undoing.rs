//! Undo of a task and of everything since a time: one plan, one card, one receipt; nothing of a person's is lost.

use crate::story::{completed, die, events, state};
use kernel::command::add_input::Note;
use kernel::command::ingress::Saying;
use kernel::{DriveOutcome, Error, Waiting};
use model::ingress::IngressResolution::PendingDisambiguation;
use model::ingress::{Channel, IngressStatus};
use model::receipt::{ItemOutcome, ResultCode};
use model::task::TaskStatus;
use model::{Body, ReceiptId, TaskId};
use projections::query::Ask;
use projections::rows::IngressRow;
use serde_json::json;
use testkit::{Edge, World, change, done, look, write};

/// Receipts of acts on files, the newest first.
fn acts(world: &World, task: TaskId) -> Vec<ReceiptId> {
    use model::receipt::ReceiptClass::{CommandExecution, Rollback, ToolExecution};
    let of = |r: &kernel::state::ReceiptRecord| {
        matches!(r.receipt_class, ToolExecution | CommandExecution | Rollback)
    };
    state(world, task).receipts.iter().rev().filter(|r| of(r)).map(|r| r.receipt_id).collect()
}

fn undo(world: &World, receipts: &[ReceiptId], parent: Option<TaskId>) -> TaskId {
    let key = format!("undo {receipts:?}");
    let goal = "Undo it".to_owned();
    world.kernel().rollback_many(receipts, parent, goal, Channel::Cli, key).unwrap().task_id
}

/// A task that writes one file twice, makes one, deletes one and moves one, in five acts.
fn busy(world: &World) -> TaskId {
    for (name, text) in
        [("twice.txt", "one\ntwo\nthree\nfour\nfive\n"), ("gone.txt", "gone"), ("at.txt", "at")]
    {
        world.file(name, text);
    }
    let task = world.script(
        "busy",
        vec![
            look("twice.txt"),
            write("twice.txt", "ONE\ntwo\nthree\nfour\nfive\n"),
            write("new/made.txt", "made"),
            look("gone.txt"),
            change(json!([{ "op": "delete", "path": "gone.txt" }])),
            look("at.txt"),
            change(json!([{ "op": "move", "from": "at.txt", "to": "to.txt" }])),
            look("twice.txt"),
            write("twice.txt", "ONE\ntwo\nTHREE\nfour\nfive\n"),
            done("ok"),
        ],
    );
    assert_eq!(world.drive_allowing(task).0, completed());
    task
}

#[test]
fn a_task_is_undone_by_one_card_one_receipt_and_the_undo_by_another() {
    let world = World::new(901);
    let task = busy(&world);
    let after = world.files();
    assert_eq!(after.len(), 3, "{after:?}");
    let receipts = acts(&world, task);
    assert_eq!(receipts.len(), 5);
    let plan = world.kernel().preview_rollback(&receipts).unwrap();
    assert_eq!((plan.undone.len(), plan.left.len()), (5, 0), "{plan:?}");
    let once = plan.items.iter().filter(|item| format!("{item:?}").contains("twice.txt")).count();
    assert_eq!(once, 1, "two writes of one file are one step back: {:?}", plan.items);
    let undone = undo(&world, &receipts, Some(task));
    let (standing, cards) = world.drive_allowing(undone);
    assert_eq!((standing, cards), (completed(), 1));
    let files = world.files();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["at.txt", "gone.txt", "twice.txt"]);
    assert_eq!(files["twice.txt"], b"one\ntwo\nthree\nfour\nfive\n");
    assert!(!world.path("new").exists());
    assert_eq!(state(&world, task).task.status, TaskStatus::RolledBack);
    let of_undo = acts(&world, undone);
    assert_eq!(of_undo.len(), 1, "one receipt for all of it");
    for receipt in &receipts {
        assert!(world.kernel().is_undone(*receipt).unwrap());
        let row = world.kernel().query().unwrap().receipt(*receipt).unwrap().unwrap();
        assert_eq!(row.undone_by, Some(of_undo[0]));
    }
    let again = world.kernel().rollback(of_undo[0], Channel::Cli, "again".to_owned()).unwrap().task_id;
    assert_eq!(world.drive_allowing(again).0, completed());
    assert_eq!(world.files(), after, "undo of undo is identity");
    assert!(!world.kernel().is_undone(receipts[0]).unwrap(), "what was undone stands again");
}

#[test]
fn what_a_person_did_since_stays_and_is_named_and_the_rest_is_undone() {
    let world = World::new(902);
    let task = busy(&world);
    // A line of a text that the acts did not touch, the whole of a made file, and a new file where one was deleted.
    world.file("twice.txt", "ONE\ntwo\nTHREE\nfour\nFIVE, mine\n");
    world.file("new/made.txt", "mine now");
    std::fs::write(world.path("gone.txt"), [0_u8, 1, 2]).unwrap();
    let receipts = acts(&world, task);
    let undone = undo(&world, &receipts, Some(task));
    assert_eq!(world.drive_allowing(undone).0, completed());
    let files = world.files();
    assert_eq!(files["twice.txt"], b"one\ntwo\nthree\nfour\nFIVE, mine\n", "merged around the person's line");
    assert_eq!(files["new/made.txt"], b"mine now");
    assert_eq!(files["gone.txt"], [0, 1, 2]);
    assert_eq!(files["at.txt"], b"at");
    let beside =
        files.iter().find(|(name, _)| name.starts_with("gone.before-")).expect("the earlier version");
    assert_eq!(beside.1, b"gone");
    let (_, receipt) = world.kernel().receipt(acts(&world, undone)[0]).unwrap();
    assert_eq!(receipt.result_code, ResultCode::Partial);
    let left: Vec<String> = receipt
        .changes
        .iter()
        .filter(|c| c.outcome == ItemOutcome::NotDone)
        .filter_map(|c| c.resource.shown().cloned())
        .collect();
    // The folder of what stays is among it.
    assert_eq!(left.len(), 3, "{left:?}");
    for end in ["/new/made.txt", "/gone.txt", "/new"] {
        assert!(left.iter().any(|l| l.ends_with(end)), "{end}: {left:?}");
    }
    assert_eq!(state(&world, task).task.status, TaskStatus::Completed, "something of it is left");
    let told: Vec<Body> = events(world.kernel(), undone).into_iter().map(|(_, body)| body).collect();
    let parts = told.iter().find_map(|body| match body {
        Body::ReceiptsUndone(b) => Some((b.undone.len(), b.partly.len())),
        _ => None,
    });
    assert_eq!(parts, Some((3, 2)));
    // What was left is asked for again: nothing more can be done, and no second copy is made.
    let open: Vec<ReceiptId> =
        receipts.into_iter().filter(|r| !world.kernel().is_undone(*r).unwrap()).collect();
    assert_eq!(open.len(), 2);
    let again = undo(&world, &open, Some(task));
    assert!(matches!(world.drive_allowing(again).0, DriveOutcome::Ended { .. }), "it ends and says why");
    assert_eq!(world.files(), files);
}

#[test]
fn acts_of_two_tasks_on_one_file_are_undone_the_newest_first() {
    let world = World::new(903);
    world.file("a.txt", "zero\n");
    let first = world.script("first", vec![look("a.txt"), write("a.txt", "one\n"), done("ok")]);
    assert_eq!(world.drive_allowing(first).0, completed());
    let second = world.script("second", vec![look("a.txt"), write("a.txt", "two\n"), done("ok")]);
    assert_eq!(world.drive_allowing(second).0, completed());
    let receipts = [acts(&world, second), acts(&world, first)].concat();
    let undone = undo(&world, &receipts, None);
    assert_eq!(world.drive_allowing(undone), (completed(), 1));
    assert_eq!(world.files()["a.txt"], b"zero\n");
    for task in [first, second] {
        assert_eq!(state(&world, task).task.status, TaskStatus::RolledBack);
    }
    // Alone, the earlier one is under the later one, on the same line: nothing is overwritten.
    let again = acts(&world, undone)[0];
    let redo = world.kernel().rollback(again, Channel::Cli, "redo".to_owned()).unwrap().task_id;
    assert_eq!(world.drive_allowing(redo).0, completed());
    assert_eq!(world.files()["a.txt"], b"two\n");
    let alone = world.kernel().rollback(receipts[1], Channel::Cli, "alone".to_owned()).unwrap().task_id;
    assert!(!matches!(world.drive_allowing(alone).0, DriveOutcome::Waiting(Waiting::Approval(_))));
    assert_eq!(world.files()["a.txt"], b"two\n");
}

#[test]
fn a_host_that_dies_in_an_undo_of_many_finishes_it_once() {
    use model::fault::Point;
    for (point, edge) in [
        (Point::ApprovalRequest, Edge::Before),
        (Point::ApprovalRequest, Edge::After),
        (Point::EffectDispatch, Edge::After),
        (Point::ItemRename, Edge::After),
        (Point::EffectObserve, Edge::Before),
        (Point::TaskEnd, Edge::Before),
    ] {
        let mut world = World::new(904);
        let task = busy(&world);
        let receipts = acts(&world, task);
        let undone = undo(&world, &receipts, Some(task));
        if !matches!(point, Point::ApprovalRequest) {
            let approval = world.drive_to_approval(undone);
            world.person.allow(world.kernel(), undone, approval).unwrap();
        }
        die(&mut world, undone, point, edge);
        assert_eq!(world.drive_allowing(undone).0, completed(), "{point} {edge:?}");
        let files = world.files();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["at.txt", "gone.txt", "twice.txt"], "{point} {edge:?}");
        assert_eq!(files["twice.txt"], b"one\ntwo\nthree\nfour\nfive\n");
        assert_eq!(acts(&world, undone).len(), 1, "{point} {edge:?}: one receipt");
        assert_eq!(state(&world, task).task.status, TaskStatus::RolledBack, "{point} {edge:?}");
    }
}

#[test]
fn nothing_and_too_much_are_refused_before_anything_begins() {
    let world = World::new(905);
    let none = world.kernel().rollback_many(&[], None, "x".to_owned(), Channel::Cli, "k".to_owned());
    assert!(matches!(none, Err(Error::Conflict(_))));
    let task = busy(&world);
    let many = vec![acts(&world, task)[0]; kernel::command::rollback::UNDO_RECEIPTS_MAX + 1];
    let many = world.kernel().rollback_many(&many, None, "x".to_owned(), Channel::Cli, "k".to_owned());
    assert!(matches!(many, Err(Error::Conflict(_))));
}

#[test]
fn words_to_a_waiting_undo_are_refused_in_words_and_its_card_stays() {
    let world = World::new(906);
    world.file("a.txt", "as it was");
    let task = world.script("write", vec![look("a.txt"), write("a.txt", "new"), done("ok")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    let undone = undo(&world, &acts(&world, task), None);
    let card = world.drive_to_approval(undone);
    let kernel = world.kernel();
    let before = events(kernel, undone).len();
    let note = Note::of("thanks", Channel::App, "words");
    let refused = [
        kernel.steer(undone, &note).map(drop),
        kernel.queue(undone, &note).map(drop),
        kernel.stop_and_send(undone, &note).map(drop),
        kernel.change_goal(undone, "undo less", Channel::App).map(drop),
    ];
    for each in refused {
        assert!(matches!(&each, Err(Error::Conflict(why)) if why.contains("answer its card")), "{each:?}");
    }
    // Words that name nothing are not for it, whatever else is open, and nothing follows it.
    let said = kernel.say(&Saying::of("make the title shorter", Channel::App, "open")).unwrap();
    assert_eq!(
        (said.resolution, said.task_id, &*said.candidates),
        (PendingDisambiguation, None, &[task][..])
    );
    let part = Saying { part_of: Some(undone), ..Saying::of("and a part", Channel::App, "part") };
    assert!(matches!(kernel.say(&part), Err(Error::Conflict(_))));
    let here = state(&world, undone).task.conversation_id;
    assert!(
        matches!(kernel.turn_to(here, Some(undone)), Err(Error::Conflict(_))),
        "nor does it take the focus"
    );
    let open = kernel.query().unwrap().ingress(here, Ask::ALL).unwrap().rows;
    let waits = |row: &&IngressRow| row.status == IngressStatus::PendingDisambiguation;
    assert_eq!(open.iter().filter(waits).count(), 1, "what was refused is not on record");
    assert_eq!(world.drive(undone), DriveOutcome::Waiting(Waiting::Approval(card)), "the same card");
    assert_eq!(events(kernel, undone).len(), before, "and nothing was written for them");
    world.person.allow(kernel, undone, card).unwrap();
    assert_eq!(world.drive(undone), completed());
    let named = Saying { task: Some(undone), ..Saying::of("and the other file", Channel::App, "follow") };
    let follow = kernel.say(&named);
    assert!(matches!(&follow, Err(Error::Conflict(why)) if why.contains("a task of its own")), "{follow:?}");
}

/// Stores in which such words were taken before they were refused: the question is not put for ever.
#[test]
fn what_plans_once_is_not_asked_anew_for_words_that_it_never_hears() {
    let world = World::new(907);
    world.file("a.txt", "as it was");
    let task = world.script("write", vec![look("a.txt"), write("a.txt", "new"), done("ok")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    let undone = undo(&world, &acts(&world, task), None);
    let card = world.drive_to_approval(undone);
    let mut heard = state(&world, undone);
    heard.goal_is_news = true;
    assert_eq!(
        kernel::next::next(&heard, model::Clock::now(&*world.clock)),
        kernel::Next::Wait(Waiting::Approval(card))
    );
}
