//! A person accepts a part: what they chose is asked about by itself, the rest is denied with their words.

use crate::story::{completed, count, events, object, packs, rebuilt, shows, state};
use acts::ApprovalPacket;
use acts::{Action, ActionRequest};
use kernel::command::approve::Answered;
use kernel::command::partial_approval::Chosen;
use kernel::{DriveOutcome, Error, Waiting};
use model::action::{ChangeItem, Prior};
use model::approval::{ApprovalStatus, Surface};
use model::fault::Point;
use model::ingress::Channel;
use model::policy::{PolicyResult, Verdict};
use model::standing::{Cover, PathAct, StandingScope};
use model::witness::Found;
use model::{ApprovalId, Body, TaskId};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::{Edge, Mode, World, change, done, look};

/// Three changes that wait: a new file, one replaced, one deleted.
fn asked(world: &World) -> (TaskId, ApprovalId) {
    world.file("a.txt", "one\n");
    world.file("b.txt", "bye\n");
    let all = json!([
        { "op": "write", "path": "sub/new.txt", "content": "made\n" },
        { "op": "write", "path": "a.txt", "content": "two\n" },
        { "op": "delete", "path": "b.txt" },
    ]);
    let rest = json!([{ "op": "delete", "path": "b.txt" }]);
    let says = vec![look("a.txt"), look("b.txt"), change(all), change(rest), done("as far as I may")];
    let task = world.script("three things", says);
    (task, world.drive_to_approval(task))
}

fn choose(world: &World, task: TaskId, of: ApprovalId, items: &[usize]) -> Result<Answered, Error> {
    let chosen = Chosen { items: items.iter().copied().collect(), ..Chosen::default() };
    world.kernel().choose_part(task, of, Surface::Test, &chosen, Some("keep b"))
}

fn request(world: &World, task: TaskId, approval: ApprovalId) -> ActionRequest {
    let state = state(world, task);
    let packet: ApprovalPacket =
        object(world.kernel(), &state, state.approvals[&approval].approval.approval_packet_ref);
    packet.action_request
}

#[test]
fn a_part_is_asked_about_by_itself_and_the_rest_is_denied_with_the_words_of_the_person() {
    let mut world = World::new(1301);
    let (task, whole) = asked(&world);
    let before = world.files();
    assert!(matches!(choose(&world, task, whole, &[0, 1]), Ok(Answered::Accepted { .. })));
    assert_eq!(world.files(), before, "choosing does nothing");
    let part = world.drive_to_approval(task);
    assert_ne!(part, whole);
    let now = state(&world, task);
    let denied = &now.approvals[&whole];
    assert_eq!(denied.approval.status, ApprovalStatus::Denied);
    let words = denied.feedback.clone().expect("words");
    assert!(words.contains("keep b") && words.contains("left out: \"b.txt\""), "{words}");
    // Exactly the chosen ones, bound to what was asked.
    let (all, chosen) = (request(&world, task, whole), request(&world, task, part));
    assert_eq!(chosen.items(), &all.items()[..2]);
    let named = chosen.instead_of.clone().expect("it says what it is a part of");
    assert_eq!((named.action_request_id, named.mode.as_str()), (all.action_request_id, governance::PART));
    let bytes = seal::canon::to_canonical(&all).unwrap();
    assert_eq!(named.request_sha256, seal::Digest::of(&bytes));
    assert!(!chosen.target_resources.iter().any(|r| r.to_string().contains("b.txt")), "no more is granted");
    let packet = object(world.kernel(), &now, now.approvals[&part].approval.approval_packet_ref);
    let card = governance::approval::card(&packet);
    assert!(card.lines.iter().any(|line| line.text.starts_with("A PART of what was asked")));

    world.person.allow(world.kernel(), task, part).unwrap();
    // The rest is proposed again and was denied: nobody is asked about it once more.
    assert_eq!(world.drive(task), completed());
    assert_eq!(count(world.kernel(), task, "approval.requested"), 2);
    let files = world.files();
    assert_eq!(files["a.txt"], b"two\n");
    assert_eq!(files["sub/new.txt"], b"made\n");
    assert_eq!(files["b.txt"], b"bye\n", "it was left out");
    let told = packs(world.kernel(), task);
    for words in ["approved a part", "denied the rest", "keep b", "b.txt"] {
        assert!(told.iter().any(|pack| shows(pack, words)), "the model is told `{words}`");
    }
    let receipt = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::ReceiptIssued(b) if b.action_request_id == Some(chosen.action_request_id) => Some(b.receipt_id),
        _ => None,
    });
    let receipt = world.kernel().receipt(receipt.expect("its receipt")).unwrap().1;
    assert!(receipt.result_summary.shown().unwrap().contains("the rest was denied"));
    assert!(receipt.observed.iter().any(|s| s.shown().unwrap().contains("a person's choice")));
    let (views, fresh) = rebuilt(&mut world);
    assert_eq!(views, fresh);
}

#[test]
fn nothing_everything_and_what_needs_the_rest_is_no_part() {
    let world = World::new(1302);
    let (task, whole) = asked(&world);
    for wrong in [&[][..], &[0, 1, 2], &[7]] {
        assert!(matches!(choose(&world, task, whole, wrong), Err(Error::Input(_))), "{wrong:?}");
    }
    assert_eq!(state(&world, task).approvals[&whole].approval.status, ApprovalStatus::Pending);

    let world = World::new(1303);
    world.file("a.txt", "one\n");
    let all = json!([
        { "op": "move", "from": "a.txt", "to": "b.txt" },
        { "op": "write", "path": "a.txt", "content": "new\n" },
        { "op": "write", "path": "c.txt", "content": "c\n" },
    ]);
    let task = world.script("bound", vec![look("a.txt"), change(all), done("ok")]);
    let whole = world.drive_to_approval(task);
    for bound in [&[0][..], &[1], &[0, 2]] {
        let refused = choose(&world, task, whole, bound);
        assert!(matches!(&refused, Err(Error::Input(why)) if why.contains("together")), "{refused:?}");
    }
    choose(&world, task, whole, &[0, 1]).unwrap();
    let part = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, part).unwrap();
    world.drive(task);
    assert_eq!(world.files().keys().collect::<Vec<_>>(), ["a.txt", "b.txt"]);
}

#[test]
fn a_choice_is_taken_once_and_a_look_or_one_change_has_no_parts() {
    let world = World::new(1304);
    let (task, whole) = asked(&world);
    choose(&world, task, whole, &[1]).unwrap();
    let late = choose(&world, task, whole, &[0]);
    assert!(matches!(late, Ok(Answered::NotActive { status: ApprovalStatus::Denied, .. })), "{late:?}");
    let part = world.drive_to_approval(task);
    // One change has no parts, and a yes to the whole is no yes to the part.
    assert!(matches!(choose(&world, task, part, &[0]), Err(Error::Input(_))));
    assert!(
        world
            .person
            .allow(world.kernel(), task, whole)
            .is_ok_and(|came| matches!(came, Answered::NotActive { .. }))
    );
    assert!(matches!(world.drive(task), DriveOutcome::Waiting(Waiting::Approval(id)) if id == part));
    world.person.deny(world.kernel(), task, part, "nor that").unwrap();
    let before = world.files();
    world.drive(task);
    assert_eq!(world.files(), before, "a part that is denied is not done either");
}

#[test]
fn no_standing_grant_answers_a_part() {
    let world = World::new(1305);
    let (task, whole) = asked(&world);
    let scope = StandingScope::Project { workspace_id: state(&world, task).task.workspace_hint.unwrap() };
    let acts = vec![PathAct::Create, PathAct::Overwrite, PathAct::Delete];
    let cover = Cover::Paths { glob: "**".to_owned(), acts };
    let grant = world.person.standing(world.kernel(), cover, scope, None);
    world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
    choose(&world, task, whole, &[0, 1]).unwrap();
    let part = world.drive_to_approval(task);
    let now = state(&world, task);
    let policy: PolicyResult = object(world.kernel(), &now, now.approvals[&part].approval.policy_result_ref);
    assert_eq!((policy.verdict, policy.standing), (Verdict::RequireApproval, None));
    assert_eq!(count(world.kernel(), task, "grant.standing_used"), 0);
}

#[test]
fn a_host_that_dies_around_a_choice_has_it_whole_or_not_at_all() {
    for (seed, edge) in [(1306, Edge::Before), (1307, Edge::After)] {
        let mut world = World::new(seed);
        let (task, whole) = asked(&world);
        world.faults.plan(Point::ApprovalDeny, edge, Mode::Abort, 1);
        let died = catch_unwind(AssertUnwindSafe(|| choose(&world, task, whole, &[0])));
        assert!(world.faults.fired(), "it does not come there: {died:?}");
        world.faults.clear();
        world.reopen();
        let waits = world.drive_to_approval(task);
        let request = request(&world, task, waits);
        match edge {
            Edge::Before => assert_eq!((waits, request.items().len()), (whole, 3)),
            Edge::After => {
                assert_eq!(request.items().len(), 1);
                assert!(matches!(request.action, Action::Change(_)));
            }
        }
    }
}

/// Sixty lines, with some of them changed.
fn lines(changed: &[usize]) -> String {
    (1..=60).map(|n| format!("{}{n}\n", if changed.contains(&n) { "new " } else { "" })).collect()
}

/// A file that waits to be replaced, changed in three places far from each other; the same is proposed once more.
fn asked_of_a_text(world: &World) -> (TaskId, ApprovalId) {
    world.file("a.txt", &lines(&[]));
    let all = json!([{ "op": "write", "path": "a.txt", "content": lines(&[3, 30, 55]) }]);
    let says = vec![look("a.txt"), change(all.clone()), look("a.txt"), change(all), done("as far as I may")];
    let task = world.script("a text", says);
    (task, world.drive_to_approval(task))
}

fn take(
    world: &World,
    task: TaskId,
    of: ApprovalId,
    item: usize,
    hunks: &[usize],
) -> Result<Answered, Error> {
    let hunks = [(item, hunks.iter().copied().collect())].into();
    let chosen = Chosen { items: [item].into(), hunks };
    world.kernel().choose_part(task, of, Surface::Test, &chosen, Some("not the\nmiddle"))
}

#[test]
fn hunks_of_a_text_are_taken_and_the_rest_of_it_is_denied_with_the_words_of_the_person() {
    let mut world = World::new(1308);
    let (task, whole) = asked_of_a_text(&world);
    take(&world, task, whole, 0, &[1, 3]).unwrap();
    assert_eq!(world.files()["a.txt"], lines(&[]).as_bytes(), "choosing does nothing");
    let part = world.drive_to_approval(task);
    let now = state(&world, task);
    let words = now.approvals[&whole].feedback.clone().expect("words");
    let said = "not the middle (left out: hunk 2 of 3 in \"a.txt\"; taken: hunks 1, 3 of 3 in \"a.txt\")";
    assert_eq!(words, said);
    // The card binds the bytes that the kernel made.
    let chosen = request(&world, task, part);
    let made = lines(&[3, 55]);
    let [ChangeItem::Write { content_sha256, byte_size, prior, .. }] = chosen.items() else {
        panic!("one write")
    };
    assert_eq!((*content_sha256, *byte_size), (seal::Digest::of(made.as_bytes()), made.len() as u64));
    assert_eq!(*prior, Prior::Sha256(seal::Digest::of(lines(&[]).as_bytes())));
    let effect = chosen.expected_effects.iter().find(|effect| effect.effect == "replace").unwrap();
    assert_eq!(effect.after_sha256, Some(*content_sha256));
    let packet = object(world.kernel(), &now, now.approvals[&part].approval.approval_packet_ref);
    let card = governance::approval::card(&packet);
    assert!(card.lines.iter().any(|line| line.text.contains("hunks 1, 3 of 3")), "{:?}", card.lines);

    world.person.allow(world.kernel(), task, part).unwrap();
    // What was left out is proposed again and was denied: nobody is asked about it once more.
    assert_eq!(world.drive(task), completed());
    assert_eq!(count(world.kernel(), task, "approval.requested"), 2);
    assert_eq!(world.files()["a.txt"], made.as_bytes());
    let told = packs(world.kernel(), task);
    for words in ["approved a part", "hunk 2 of 3", "hunks 1, 3 of 3", "not the middle", "-30", "+new 30"] {
        assert!(told.iter().any(|pack| shows(pack, words)), "the model is told `{words}`");
    }
    let receipt = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::ReceiptIssued(b) if b.action_request_id == Some(chosen.action_request_id) => Some(b.receipt_id),
        _ => None,
    });
    let receipt = receipt.expect("its receipt");
    let issued = world.kernel().receipt(receipt).unwrap().1;
    assert!(issued.observed.iter().any(|s| s.shown().unwrap().contains("hunks 1, 3 of 3 in \"a.txt\"")));
    let (views, fresh) = rebuilt(&mut world);
    assert_eq!(views, fresh);
    // An undo puts the very bytes back that were there before.
    let undo = world.kernel().rollback(receipt, Channel::Cli, "undo".to_owned()).unwrap().task_id;
    let asked = world.drive_to_approval(undo);
    world.person.allow(world.kernel(), undo, asked).unwrap();
    assert_eq!(world.drive(undo), completed());
    assert_eq!(world.files()["a.txt"], lines(&[]).as_bytes());
}

#[test]
fn all_hunks_are_the_file_as_proposed_and_none_leave_it_out() {
    let all = json!([
        { "op": "write", "path": "a.txt", "content": lines(&[3, 30]) },
        { "op": "write", "path": "new.txt", "content": "made\n" },
    ]);
    for (seed, hunks, items) in [(1309, &[1, 2][..], &[0][..]), (1312, &[], &[1])] {
        let world = World::new(seed);
        world.file("a.txt", &lines(&[]));
        let task = world.script("two", vec![look("a.txt"), change(all.clone()), done("ok")]);
        let whole = world.drive_to_approval(task);
        let hunks = [(0, hunks.iter().copied().collect())].into();
        let chosen = Chosen { items: items.iter().copied().collect(), hunks };
        world.kernel().choose_part(task, whole, Surface::Test, &chosen, None).unwrap();
        let part = world.drive_to_approval(task);
        let (asked, chosen) = (request(&world, task, whole), request(&world, task, part));
        let expected: Vec<_> = items.iter().map(|at| asked.items()[*at].clone()).collect();
        assert_eq!(chosen.items(), expected);
        world.person.deny(world.kernel(), task, part, "no").unwrap();
        world.drive(task);
    }
}

#[test]
fn hunks_that_are_not_there_and_files_without_any_are_refused_and_nothing_is_decided() {
    let world = World::new(1310);
    world.file("a.txt", &lines(&[]));
    std::fs::write(world.path("b.bin"), b"a\0b").unwrap();
    world.file("gone.txt", "x\n");
    world.file("from.txt", "y\n");
    world.file("long.txt", &"long\n".repeat(10_001));
    world.file("twice.txt", &format!("one\n{}two\n", "same\n".repeat(20)));
    let all = json!([
        { "op": "write", "path": "a.txt", "content": lines(&[3, 30, 55]) },
        { "op": "write", "path": "b.bin", "content": "text\n" },
        { "op": "write", "path": "new.txt", "content": "n\n" },
        { "op": "delete", "path": "gone.txt" },
        { "op": "move", "from": "from.txt", "to": "to.txt" },
        { "op": "write", "path": "long.txt", "content": "short\n" },
        { "op": "write", "path": "twice.txt", "content": format!("two\n{}one\n", "same\n".repeat(20)) },
        { "op": "move", "from": "twice.txt", "to": "moved.txt" },
    ]);
    let looks = ["a.txt", "b.bin", "long.txt", "twice.txt"].map(look);
    let says = looks.into_iter().chain([change(all), done("ok")]).collect();
    let task = world.script("many", says);
    let whole = world.drive_to_approval(task);
    for (item, hunks, why) in [
        (0, &[4][..], "no hunk 4; it has 3"),
        (0, &[0], "no hunk 0"),
        (0, &[], "nothing was chosen"),
        (1, &[1], "not text"),
        (2, &[1], "only a text that replaces another"),
        (3, &[1], "only a text that replaces another"),
        (4, &[1], "only a text that replaces another"),
        (5, &[1], "lines"),
        (6, &[1], "changed more than once"),
        (99, &[1], "no such change"),
    ] {
        let refused = take(&world, task, whole, item, hunks);
        assert!(
            matches!(&refused, Err(Error::Input(said)) if said.contains(why)),
            "{item} {hunks:?}: {refused:?}"
        );
    }
    assert_eq!(state(&world, task).approvals[&whole].approval.status, ApprovalStatus::Pending);
}

#[test]
fn a_file_that_changed_meanwhile_is_not_cut() {
    let world = World::new(1311);
    let (task, whole) = asked_of_a_text(&world);
    let all = take(&world, task, whole, 0, &[1, 2, 3]);
    assert!(matches!(&all, Err(Error::Input(why)) if why.contains("everything was chosen")), "{all:?}");
    world.file("a.txt", &lines(&[10]));
    let refused = take(&world, task, whole, 0, &[1]);
    assert!(
        matches!(&refused, Err(Error::Conflict(why)) if why.contains("has changed since")),
        "{refused:?}"
    );
    assert_eq!(state(&world, task).approvals[&whole].approval.status, ApprovalStatus::Pending);
    assert_eq!(world.files()["a.txt"], lines(&[10]).as_bytes());
}

/// Two moves that wait: one into folders that are not there, one into a folder that is.
fn asked_to_move(world: &World) -> (TaskId, ApprovalId) {
    world.file("a.txt", "one\n");
    world.file("b.txt", "two\n");
    world.file("there/c.txt", "stays\n");
    let all = json!([
        { "op": "move", "from": "a.txt", "to": "new/deep/a.txt" },
        { "op": "move", "from": "b.txt", "to": "there/b.txt" },
    ]);
    let task = world.script("tidy", vec![look("a.txt"), look("b.txt"), change(all), done("tidied")]);
    (task, world.drive_to_approval(task))
}

fn folders_on_card(world: &World, task: TaskId, of: ApprovalId) -> (Vec<String>, usize) {
    let now = state(world, task);
    let packet: ApprovalPacket =
        object(world.kernel(), &now, now.approvals[&of].approval.approval_packet_ref);
    let card = governance::approval::card(&packet);
    let lines = card.lines.iter().filter(|line| line.text.starts_with("make the folder ")).count();
    (packet.action_request.folders_made().map(ToString::to_string).collect(), lines)
}

#[test]
fn a_card_names_the_folders_that_are_made_on_the_way_and_the_receipt_names_the_same() {
    let world = World::new(1312);
    let (task, asked) = asked_to_move(&world);
    let (promised, lines) = folders_on_card(&world, task, asked);
    assert_eq!((promised.as_slice(), lines), (["new".to_owned(), "new/deep".to_owned()].as_slice(), 2));
    world.person.allow(world.kernel(), task, asked).unwrap();
    assert_eq!(world.drive(task), completed());
    let now = state(&world, task);
    let mut made = Vec::new();
    for known in &now.receipts {
        let (_, receipt) = world.kernel().receipt(known.receipt_id).unwrap();
        for change in receipt.changes {
            if let (Found::Absent, Found::Folder { .. }) = (&change.before, &change.after) {
                let place = change.resource.shown().cloned().unwrap_or_default();
                made.push(place.split_once('/').map(|(_, path)| path.to_owned()).unwrap_or_default());
            }
        }
    }
    assert_eq!(made, promised, "what was promised was made, and nothing else");
}

#[test]
fn the_card_of_a_part_names_the_folders_of_that_part_alone() {
    let world = World::new(1313);
    let (task, whole) = asked_to_move(&world);
    choose(&world, task, whole, &[1]).unwrap();
    let part = world.drive_to_approval(task);
    assert_eq!(folders_on_card(&world, task, part), (Vec::new(), 0));
}
