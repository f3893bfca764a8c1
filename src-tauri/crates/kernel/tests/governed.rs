//! The governed path, link by link.

use crate::story::events;
use kernel::{DriveOutcome, Waiting};
use model::Body;
use model::attempt::TerminationReason;
use model::receipt::ItemOutcome;
use model::task::TaskStatus;
use serde_json::json;
use testkit::{World, change, done, look, say, write};

fn ended(status: TaskStatus, reason: TerminationReason) -> DriveOutcome {
    DriveOutcome::Ended { status, reason: Some(reason) }
}

#[test]
fn a_write_waits_for_a_person_and_then_happens_once() {
    let world = World::new(1);
    let task = world.script("write a note", vec![write("note.txt", "hello\n"), done("written")]);
    let approval = world.drive_to_approval(task);
    assert!(world.files().is_empty(), "nothing happens before the yes");
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), ended(TaskStatus::Completed, TerminationReason::Done));
    assert_eq!(world.files()["note.txt"], b"hello\n");
    let state = world.kernel().task(task).unwrap();
    assert_eq!(state.receipts.len(), 2, "one for the answer, one for the effect");
    assert_eq!(state.attempts.len(), 1, "the same attempt goes on after the pause");
}

#[test]
fn a_no_reaches_the_model_and_nothing_is_done() {
    let world = World::new(2);
    let task = world.script("write a note", vec![write("note.txt", "hello\n"), done("not written")]);
    let approval = world.drive_to_approval(task);
    world.person.deny(world.kernel(), task, approval, "not in this folder").unwrap();
    assert_eq!(world.drive(task), ended(TaskStatus::Failed, TerminationReason::ApprovalDenied));
    assert!(world.files().is_empty());
}

#[test]
fn what_is_too_large_to_be_kept_for_an_undo_is_refused_before_a_person_is_asked() {
    let world = World::new(4);
    let file = std::fs::File::create(world.path("large.bin")).unwrap();
    file.set_len(model::limits::ARTIFACT_BYTES_MAX + 1).unwrap();
    let answers = vec![say("delete", json!({ "path": "large.bin" })), done("left it")];
    let task = world.script("clean up", answers);
    let (stands, asked) = world.drive_allowing(task);
    assert_eq!((asked, &stands), (0, &ended(TaskStatus::Completed, TerminationReason::Done)));
    assert_eq!(file.metadata().unwrap().len(), model::limits::ARTIFACT_BYTES_MAX + 1);
    assert!(world.path("large.bin").exists());
    let kernel = world.kernel();
    let artifacts = kernel.task(task).unwrap().artifacts;
    let read = |digest| String::from_utf8_lossy(&kernel.artifacts().read(digest).unwrap()).into_owned();
    assert!(
        artifacts.values().any(|artifact| read(&artifact.content_hash).contains("268435456")),
        "the model is told how large is too large"
    );
}

#[test]
fn a_file_changed_after_the_yes_makes_it_ask_again() {
    let world = World::new(3);
    world.file("a.txt", "one");
    let replace = || change(json!([{ "op": "move", "from": "a.txt", "to": "b/a.txt" }]));
    let task = world.script("move it", vec![replace(), replace(), done("moved")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    world.file("a.txt", "two");
    let again = world.drive_to_approval(task);
    assert_ne!(approval, again);
    assert_eq!(world.files()["a.txt"], b"two", "nothing ran on the old yes");
    world.person.allow(world.kernel(), task, again).unwrap();
    assert_eq!(world.drive(task), ended(TaskStatus::Completed, TerminationReason::Done));
    assert_eq!(world.files()["b/a.txt"], b"two");
}

#[test]
fn a_write_onto_a_file_that_was_not_read_is_sent_back() {
    let world = World::new(4);
    world.file("a.txt", "theirs");
    let task = world.script(
        "replace it",
        vec![write("a.txt", "mine"), look("a.txt"), write("a.txt", "mine"), done("replaced")],
    );
    let (standing, asked) = world.drive_allowing(task);
    assert_eq!(standing, ended(TaskStatus::Completed, TerminationReason::Done));
    assert_eq!(asked, 1);
    assert_eq!(world.files()["a.txt"], b"mine");
}

#[test]
fn what_a_model_wrote_itself_it_writes_again_unless_a_person_edited_it_since() {
    let world = World::new(4);
    world.file("c.txt", "old");
    let to = |from: &str, to: &str| change(json!([{ "op": "move", "from": from, "to": to }]));
    let task = world.script(
        "draft it",
        vec![
            write("a.txt", "one"),
            write("a.txt", "two"),
            to("a.txt", "b/a.txt"),
            write("b/a.txt", "three"),
            change(json!([{ "op": "delete", "path": "c.txt" }])),
            write("b/a.txt", "four"),
            done("drafted"),
        ],
    );
    for drafted in [None, Some("one"), Some("two"), Some("two")] {
        let asked = world.drive_to_approval(task);
        let files = world.files();
        let there = files.get("a.txt").or_else(|| files.get("b/a.txt"));
        assert_eq!(there.map(Vec::as_slice), drafted.map(str::as_bytes));
        world.person.allow(world.kernel(), task, asked).unwrap();
    }
    let asked = world.drive_to_approval(task);
    assert_eq!(world.files()["b/a.txt"], b"three");
    world.file("b/a.txt", "a person's");
    world.person.allow(world.kernel(), task, asked).unwrap();
    assert_eq!(world.drive(task), ended(TaskStatus::Completed, TerminationReason::Done));
    assert_eq!(world.files()["b/a.txt"], b"a person's", "the last write was sent back");
}

#[test]
fn a_change_set_is_undone_and_the_undo_is_undone() {
    let world = World::new(5);
    world.file("a.txt", "one");
    world.file("c.txt", "old");
    let before = world.files();
    let items = json!([
        { "op": "move", "from": "a.txt", "to": "b/a.txt" },
        { "op": "delete", "path": "c.txt" },
        { "op": "write", "path": "d.txt", "content": "new" },
    ]);
    let task = world.script("change", vec![change(items), done("changed")]);
    world.drive_allowing(task);
    let after = world.files();
    assert_ne!(before, after);
    let receipt = world.kernel().task(task).unwrap().receipts.last().unwrap().receipt_id;
    let undo = world.kernel().rollback(receipt, model::ingress::Channel::Cli, "undo".into()).unwrap().task_id;
    let (standing, asked) = world.drive_allowing(undo);
    assert_eq!(standing, ended(TaskStatus::Completed, TerminationReason::Done));
    assert_eq!(asked, 1);
    assert_eq!(world.files(), before);
    assert_eq!(world.kernel().task(task).unwrap().task.status, TaskStatus::RolledBack);
    let receipt = world.kernel().task(undo).unwrap().receipts.last().unwrap().receipt_id;
    let redo = world.kernel().rollback(receipt, model::ingress::Channel::Cli, "redo".into()).unwrap().task_id;
    world.drive_allowing(redo);
    assert_eq!(world.files(), after);
}

#[test]
fn an_undo_that_leaves_a_folder_with_a_later_file_says_so_where_it_ends_and_on_its_receipt() {
    let world = World::new(5);
    let task = world.script("write", vec![write("made/by/agent.txt", "agent"), done("written")]);
    world.drive_allowing(task);
    world.file("made/person.txt", "person");
    let receipt = world.kernel().task(task).unwrap().receipts.last().unwrap().receipt_id;
    let undo = world.kernel().rollback(receipt, model::ingress::Channel::Cli, "undo".into()).unwrap().task_id;
    let (standing, _) = world.drive_allowing(undo);
    assert_eq!(standing, ended(TaskStatus::Completed, TerminationReason::Done));
    assert_eq!(world.files()["made/person.txt"], b"person");
    let told = events(world.kernel(), undo).into_iter().find_map(|(_, body)| match body {
        Body::RunTerminated(b) => b.summary.shown().cloned(),
        _ => None,
    });
    assert_eq!(
        told.as_deref(),
        Some("Undone, but for one place: the folder \"made\" stays: it holds files that came later")
    );
    let receipt = world.kernel().task(undo).unwrap().receipts.last().unwrap().receipt_id;
    let receipt = world.kernel().receipt(receipt).unwrap().1;
    let summary = receipt.result_summary.shown().unwrap();
    assert!(summary.starts_with("2 of 3 changes done"), "{summary}");
    let left = receipt.changes.iter().find(|c| c.resource.shown().unwrap().ends_with("/made")).unwrap();
    assert_eq!(left.outcome, ItemOutcome::NotDone);
}

#[test]
fn an_undo_never_loses_a_later_edit() {
    let world = World::new(6);
    let task = world.script("write", vec![write("a.txt", "agent"), done("written")]);
    world.drive_allowing(task);
    world.file("a.txt", "person");
    let receipt = world.kernel().task(task).unwrap().receipts.last().unwrap().receipt_id;
    let undo = world.kernel().rollback(receipt, model::ingress::Channel::Cli, "undo".into()).unwrap().task_id;
    let (standing, _) = world.drive_allowing(undo);
    assert_eq!(standing, ended(TaskStatus::Failed, TerminationReason::FatalToolError));
    assert_eq!(world.files()["a.txt"], b"person");
    let told = events(world.kernel(), undo).into_iter().find_map(|(_, body)| match body {
        Body::RunTerminated(b) => b.summary.shown().cloned(),
        _ => None,
    });
    let told = told.expect("it says why it ended");
    assert!(told.starts_with("Not undone, nothing was changed: ") && told.contains("a.txt"), "{told}");
    assert!(told.ends_with('.') && !told.ends_with(".."), "{told}");
}

#[test]
fn the_tidy_playbook_waits_across_a_restart_and_finishes_once() {
    let mut world = World::new(7);
    for (name, text) in
        [("photo.jpg", "jpg"), ("notes.txt", "txt"), ("song.mp3", "mp3"), ("keep/inner.txt", "inner")]
    {
        world.file(name, text);
    }
    let task = world.playbook("tidy");
    let approval = world.drive_to_approval(task);
    world.reopen();
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::Approval(approval)));
    world.person.allow(world.kernel(), task, approval).unwrap();
    world.reopen();
    assert_eq!(world.drive(task), ended(TaskStatus::Completed, TerminationReason::Done));
    let files = world.files();
    assert_eq!(files.len(), 4);
    assert!(files.contains_key("keep/inner.txt"));
    assert!(!files.contains_key("photo.jpg"));
}

#[test]
fn a_question_waits_and_its_answer_goes_on() {
    let world = World::new(8);
    let task = world
        .script("ask", vec![say("ask", json!({ "question": "which?", "choices": ["a", "b"] })), done("a")]);
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("no question") };
    world.kernel().answer(task, question, "a", model::ingress::Channel::Cli).unwrap();
    assert_eq!(world.drive(task), ended(TaskStatus::Completed, TerminationReason::Done));
}

#[test]
fn a_folder_of_three_hundred_files_is_tidied_with_one_question() {
    let world = World::new(9);
    for number in 0..300 {
        world.file(&format!("note{number}.txt"), &format!("note {number}"));
    }
    let task = world.playbook("tidy");
    let (standing, asked) = world.drive_allowing(task);
    assert_eq!(standing, ended(TaskStatus::Completed, TerminationReason::Done));
    assert_eq!(asked, 1, "three hundred moves are one card");
    assert!(world.files().keys().all(|name| name.starts_with("Documents/")));
}
