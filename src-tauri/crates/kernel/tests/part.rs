//! A person accepts a part: what they chose is asked about by itself, the rest is denied with their words.

use crate::story::{completed, count, events, object, packs, rebuilt, shows, state};
use kernel::command::approve::Answered;
use kernel::{Error, Standing, Waiting};
use model::action::{Action, ActionRequest};
use model::approval::{ApprovalPacket, ApprovalStatus, Surface};
use model::fault::Point;
use model::policy::{PolicyResult, Verdict};
use model::standing::{Cover, PathAct, StandingScope};
use model::{ApprovalId, Body, TaskId};
use serde_json::json;
use std::collections::BTreeSet;
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
    let chosen: BTreeSet<usize> = items.iter().copied().collect();
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
    assert!(matches!(world.drive(task), Standing::Waiting(Waiting::Approval(id)) if id == part));
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
                assert!(matches!(request.action, Action::Change { .. }));
            }
        }
    }
}
