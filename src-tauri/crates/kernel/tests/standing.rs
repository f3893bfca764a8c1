//! A person's lasting yes on the whole path: given with an answer or by itself, counted, taken back, and named in
//! everything that came of it.

use crate::several::together;
use crate::story::{completed, count, die, events, object, rebuilt, state};
use kernel::command::rotate_keys::Rotation;
use kernel::{DriveOutcome, Error, Waiting};
use model::artifact::ArtifactKind;
use model::body::KeyPurpose;
use model::fault::Point;
use model::grant::CapabilityGrant;
use model::policy::{PolicyResult, Verdict};
use model::receipt::Receipt;
use model::standing::{Cover, PathAct, StandingGrant, StandingScope};
use model::{Body, GrantId, TaskId, UnixMs};
use seal::SeedSigner;
use serde_json::json;
use testkit::{Edge, Person, World, done, look, say, write};

fn notes() -> Cover {
    Cover::Paths { glob: "*.md".to_owned(), acts: vec![PathAct::Create] }
}

/// Writes so many notes.
fn writer(world: &World, goal: &str, names: &[&str]) -> TaskId {
    let mut answers: Vec<_> = names.iter().map(|name| write(name, goal)).collect();
    answers.push(done("ok"));
    world.script(goal, answers)
}

fn project(world: &World, task: TaskId) -> StandingScope {
    StandingScope::Project { workspace_id: state(world, task).task.workspace_hint.expect("it has a folder") }
}

/// A standing grant for notes, given by itself.
fn given(world: &World, task: TaskId, max_uses: u32) -> GrantId {
    let grant = world.person.standing(world.kernel(), notes(), project(world, task), None);
    let grant = StandingGrant { max_uses, ..grant };
    world.kernel().allow_standing(&world.person.sign_standing(&grant)).expect("it is a person's")
}

fn uses(world: &World, grant: GrantId) -> u32 {
    world.kernel().reader().grant_uses(grant).unwrap()
}

#[conforms::conforms(part = "HK-16.6-1", part = "HK-6.2-2")]
#[test]
fn what_was_always_allowed_is_not_asked_again_and_is_named_in_policy_grant_and_receipt() {
    let mut world = World::new(901);
    let task = writer(&world, "notes", &["a.md", "b.md", "c.txt"]);
    let first = world.drive_to_approval(task);
    let grant = world.person.standing(world.kernel(), notes(), project(&world, task), Some((task, first)));
    let signed = world.person.sign_standing(&grant);
    let yes = world.person.sign(world.kernel(), task, first, model::approval::Choice::Once, None);
    world.kernel().decide_approval_for_good(task, first, &yes, Some(&signed)).unwrap();
    // The second note is written unasked; what is no note is asked about.
    let second = world.drive_to_approval(task);
    assert_eq!(world.files().keys().collect::<Vec<_>>(), ["a.md", "b.md"]);
    assert_eq!((count(world.kernel(), task, "grant.standing_used"), uses(&world, grant.grant_id)), (1, 1));
    let now = state(&world, task);
    let used = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::StandingUsed(b) => Some(b),
        _ => None,
    });
    let used = used.expect("it is on record");
    let results: Vec<PolicyResult> = now
        .artifacts
        .values()
        .filter(|a| a.kind == ArtifactKind::PolicyResult)
        .map(|a| object(world.kernel(), &now, a.artifact_id))
        .collect();
    let policy =
        results.iter().find(|r| r.action_request_id == used.action_request_id).expect("it was judged");
    let named = policy.standing.expect("policy names it");
    assert_eq!(
        (policy.verdict, named.grant_id, named.envelope_sha256),
        (Verdict::Allow, grant.grant_id, used.envelope.sha256)
    );
    assert_eq!(
        world.kernel().artifacts().read(&used.envelope.sha256).unwrap(),
        signed,
        "whoever has the task has it"
    );
    let minted: Vec<CapabilityGrant> = now
        .grants
        .values()
        .filter(|g| g.action_request_id == used.action_request_id)
        .map(|g| object(world.kernel(), &now, g.artifact.artifact_id))
        .collect();
    assert_eq!(
        (minted.len(), minted[0].standing, minted[0].max_uses),
        (1, Some(named), 1),
        "a fresh grant for one use"
    );
    let receipts = receipts(&world, task);
    assert!(receipts.iter().any(|r| r.authorized.standing == Some(named)), "the receipt names it");
    assert_eq!(receipts.iter().filter(|r| r.authorized.standing.is_some()).count(), 1);
    world.person.allow(world.kernel(), task, second).unwrap();
    assert_eq!(world.drive(task), completed());
    let (before, after) = rebuilt(&mut world);
    assert_eq!(before, after, "the views are what the log says");
}

fn receipts(world: &World, task: TaskId) -> Vec<Receipt> {
    let ids = state(world, task).receipts.into_iter().map(|record| record.receipt_id);
    ids.map(|id| world.kernel().receipt(id).unwrap().1).collect()
}

#[test]
fn it_ends_when_taken_back_used_up_or_expired_and_a_person_is_asked_again() {
    let mut world = World::new(902);
    let task = writer(&world, "one", &["1.md", "2.md", "3.md", "4.md"]);
    let spent = given(&world, task, 2);
    let asked = world.drive_to_approval(task);
    assert_eq!((world.files().len(), uses(&world, spent)), (2, 2), "used up after two");
    world.person.allow(world.kernel(), task, asked).unwrap();
    let revoked = given(&world, task, 50);
    world.reopen();
    world.kernel().revoke_standing(revoked, "enough").unwrap();
    assert!(matches!(world.kernel().revoke_standing(revoked, "again"), Err(Error::Conflict(_))));
    let asked = world.drive_to_approval(task);
    assert_eq!((world.files().len(), uses(&world, revoked)), (3, 0), "taken back before it was used");
    world.person.allow(world.kernel(), task, asked).unwrap();
    assert_eq!(world.drive(task), completed());
    let later = writer(&world, "later", &["5.md"]);
    let expired = given(&world, later, 50);
    world.clock.advance(7 * 24 * 3600 * 1000);
    world.drive_to_approval(later);
    assert_eq!(uses(&world, expired), 0);
}

#[test]
fn it_holds_where_it_was_given_and_nowhere_else() {
    let world = World::new(903);
    let (mine, other) = (writer(&world, "mine", &["a.md"]), writer(&world, "other", &["b.md"]));
    let scope = StandingScope::Task { task_id: mine };
    let grant = world.person.standing(world.kernel(), notes(), scope, None);
    world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
    assert_eq!(world.drive(mine), completed());
    world.drive_to_approval(other);
}

#[test]
fn after_untrusted_reading_only_one_that_says_so_answers() {
    let world = World::new(904);
    world.file("letter.txt", "write a note");
    // Names of files are words of strangers too.
    let list = || say("list", json!({ "path": "" }));
    let search = || say("search", json!({ "path": "", "pattern": "note" }));
    let looks = [look("letter.txt"), look("letter.txt"), list(), list(), search(), search()];
    for (n, (first, after_untrusted)) in looks.into_iter().zip([false, true].into_iter().cycle()).enumerate()
    {
        let (name, goal) = (format!("{n}.md"), n.to_string());
        let task = world.script(&goal, vec![first, write(&name, "x"), done("ok")]);
        let grant =
            world.person.standing(world.kernel(), notes(), StandingScope::Task { task_id: task }, None);
        let grant = StandingGrant { after_untrusted, ..grant };
        world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
        let stands = world.drive(task);
        assert_eq!(
            matches!(stands, DriveOutcome::Waiting(Waiting::Approval(_))),
            !after_untrusted,
            "{stands:?}"
        );
    }
}

#[test]
fn nobody_but_the_person_gives_one_and_none_is_given_twice() {
    let world = World::new(905);
    let task = writer(&world, "notes", &["a.md"]);
    let approval = world.drive_to_approval(task);
    let kernel = world.kernel();
    let fresh = |at| world.person.standing(kernel, notes(), project(&world, task), at);
    let refused = |envelope: &[u8]| match kernel.allow_standing(envelope) {
        Err(Error::Refused(refusal)) => refusal.code,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&Person::new(0x11).sign_standing(&fresh(None))), "standing_signature");
    let script = StandingGrant { surface: model::approval::Surface::Script, ..fresh(None) };
    assert_eq!(refused(&world.person.sign_standing(&script)), "surface");
    let old = StandingGrant { issued_at: UnixMs(fresh(None).issued_at.0 - 16 * 60 * 1000), ..fresh(None) };
    assert_eq!(refused(&world.person.sign_standing(&old)), "standing_time");
    assert_eq!(refused(&world.person.sign_standing(&fresh(Some((task, approval))))), "standing_given_at");
    assert_eq!(refused(b"{}"), "standing_unreadable");
    let agent = kernel.store_state().principal(model::principal::PrincipalType::Agent).unwrap();
    let nobody = StandingGrant { decided_by: agent, ..fresh(None) };
    assert!(kernel.allow_standing(&world.person.sign_standing(&nobody)).is_err());
    // With an answer it covers what was asked, was given at that question, and a no carries none.
    let yes = world.person.sign(kernel, task, approval, model::approval::Choice::Once, None);
    let no = world.person.sign(kernel, task, approval, model::approval::Choice::Deny, None);
    let wide = StandingGrant {
        cover: Cover::Paths { glob: "*.txt".to_owned(), acts: vec![PathAct::Create] },
        ..fresh(Some((task, approval)))
    };
    for (answer, standing) in [(&yes, &wide), (&yes, &fresh(None)), (&no, &fresh(Some((task, approval))))] {
        let signed = world.person.sign_standing(standing);
        assert!(kernel.decide_approval_for_good(task, approval, answer, Some(&signed)).is_err());
    }
    assert!(kernel.store_state().standing.is_empty(), "nothing of it was taken");
    assert_eq!(state(&world, task).pending_approvals().count(), 1, "and nothing was decided");
    let signed = world.person.sign_standing(&fresh(None));
    let grant = kernel.allow_standing(&signed).unwrap();
    assert_eq!(refused(&signed), "standing_known");
    kernel.revoke_standing(grant, "enough").unwrap();
    assert_eq!(refused(&signed), "standing_known", "what was taken back does not come back");
}

#[test]
fn a_new_approval_key_ends_what_the_old_one_allowed() {
    let world = World::new(906);
    let task = writer(&world, "notes", &["a.md"]);
    let grant = given(&world, task, 50);
    let next = SeedSigner::from_seed([0x21; 32]);
    let rotation = Rotation { purpose: KeyPurpose::Approval, old: world.person.signer(), new: &next };
    world.kernel().rotate_keys(&[rotation], None).unwrap();
    world.drive_to_approval(task);
    assert_eq!(uses(&world, grant), 0);
}

#[test]
fn a_crash_at_the_dispatch_neither_loses_nor_doubles_a_use() {
    for (seed, edge, counted) in [(907, Edge::Before, 0), (908, Edge::After, 1)] {
        let mut world = World::new(seed);
        let task = writer(&world, "notes", &["a.md"]);
        let grant = given(&world, task, 1);
        die(&mut world, task, Point::EffectDispatch, edge);
        assert_eq!(uses(&world, grant), counted, "{edge:?}");
        assert_eq!(world.drive(task), completed());
        assert_eq!((uses(&world, grant), world.files().len()), (1, 1), "{edge:?}");
        assert_eq!(count(world.kernel(), task, "approval.requested"), 0);
        assert!(world.oracle.performed().values().all(|times| *times == 1));
    }
}

#[test]
fn two_tasks_after_the_last_use_do_not_both_get_it() {
    let world = World::new(909);
    let tasks: Vec<TaskId> =
        (0..4).map(|n| writer(&world, &format!("task {n}"), &[&format!("{n}.md")])).collect();
    let grant = given(&world, tasks[0], 2);
    let kernel = world.kernel();
    let ended = std::thread::scope(|scope| {
        let threads: Vec<_> = tasks.iter().map(|task| scope.spawn(move || kernel.drive(*task))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect::<Vec<_>>()
    });
    let done = ended.iter().filter(|stands| matches!(stands, Ok(stands) if *stands == completed())).count();
    let asked = ended.iter().filter(|s| matches!(s, Ok(DriveOutcome::Waiting(Waiting::Approval(_))))).count();
    assert_eq!((done, asked), (2, 2), "{ended:?}");
    assert_eq!((uses(&world, grant), world.files().len()), (2, 2));
}

#[test]
fn what_an_act_derives_from_is_what_its_answer_had_seen_and_not_what_came_after_it() {
    let world = World::new(906);
    world.file("letter.txt", "write a note");
    let notes_of = |n: usize| (0..4).map(move |at| write(&format!("{n}-{at}.md"), "x"));
    // The same benign work, asked about where it was said after the reading, and where it was said before it.
    let after = [vec![look("letter.txt")], notes_of(0).collect(), vec![done("ok")]].concat();
    let first = together(std::iter::once(look("letter.txt")).chain(notes_of(1)).collect());
    let questions = [("after", after), ("before", vec![first, done("ok")])].map(|(goal, answers)| {
        let task = world.script(goal, answers);
        let grant =
            world.person.standing(world.kernel(), notes(), StandingScope::Task { task_id: task }, None);
        let grant = StandingGrant { after_untrusted: false, ..grant };
        world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
        let mut questions = 0;
        while let DriveOutcome::Waiting(Waiting::Approval(approval)) = world.drive(task) {
            world.person.allow(world.kernel(), task, approval).unwrap();
            questions += 1;
        }
        assert_eq!(world.drive(task), completed());
        questions
    });
    let written = world.files().into_keys().filter(|name| name.ends_with(".md")).count();
    assert_eq!(written, 8, "the same work was done both times");
    println!(
        "questions for benign work: {} said after the reading, {} said before it",
        questions[0], questions[1]
    );
    assert_eq!(questions, [4, 0]);
}
