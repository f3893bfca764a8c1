//! Dual control on the whole path: two different keys have to say yes, one alone does nothing, and what ends the first of them.

use crate::passkeys::{enrolled, yes};
use crate::story::{completed, count, state};
use kernel::Error;
use kernel::command::approve::Answered;
use kernel::command::rotate_keys::Rotation;
use model::approval::{ApprovalStatus, Choice, Surface};
use model::body::KeyPurpose;
use model::ingress::Channel;
use model::policy::Verdict;
use model::receipt::Receipt;
use model::standing::{Cover, PathAct, StandingScope};
use model::{ApprovalId, TaskId};
use seal::{SeedSigner, Signer};
use testkit::{Authenticator, World, done, write};

const HERE: &str = "http://localhost:7717";

/// A store whose person wants two keys for every file that is written.
fn world(seed: u64) -> World {
    let world = World::new(seed);
    std::fs::write(world.store.path().join("policy.rules"), "dual FileEdit(**)\n").unwrap();
    world
}

fn asked(world: &World, names: &[&str]) -> (TaskId, ApprovalId) {
    let mut answers: Vec<_> = names.iter().map(|name| write(name, "words")).collect();
    answers.push(done("ok"));
    let task = world.script("notes", answers);
    (task, world.drive_to_approval(task))
}

const fn accepted(task_id: TaskId, status: ApprovalStatus) -> Answered {
    Answered::Accepted { status, task_id }
}

/// The code with which a yes is refused.
fn refused(said: Result<Answered, Error>) -> &'static str {
    match said {
        Err(Error::Refused(refusal)) => refusal.code,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn receipts(world: &World, task: TaskId) -> Vec<Receipt> {
    let ids = state(world, task).receipts.into_iter().map(|one| one.receipt_id);
    ids.map(|id| world.kernel().receipt(id).unwrap().1).collect()
}

/// Whether nothing is allowed: the question waits, nothing was granted, and nothing is there.
fn waits(world: &World, task: TaskId, approval: ApprovalId) {
    assert_eq!(world.drive_to_approval(task), approval, "it waits still");
    assert_eq!(state(world, task).approvals[&approval].approval.status, ApprovalStatus::Pending);
    assert_eq!(count(world.kernel(), task, "grant.issued"), 0);
    assert_eq!(world.files().len(), 0);
}

#[test]
fn two_different_keys_allow_an_act_and_one_of_them_alone_does_nothing() {
    for passkey_first in [false, true] {
        let mut world = world(3801);
        let mut one = Authenticator::es256(7, HERE);
        enrolled(&world, &one);
        let (task, approval) = asked(&world, &["a.md"]);
        let by_key = world.person.sign(world.kernel(), task, approval, Choice::Once, None);
        let by_passkey = yes(&world, task, approval, &mut one);
        let say = |world: &World, first: bool| match first == passkey_first {
            true => world.kernel().decide_approval_by_passkey(task, approval, &by_passkey),
            false => world.kernel().decide_approval(task, approval, &by_key),
        };
        assert_eq!(say(&world, true).unwrap(), accepted(task, ApprovalStatus::Pending));
        waits(&world, task, approval);
        // Neither the same bytes nor another yes of the same key is the second.
        assert_eq!(say(&world, true).unwrap(), accepted(task, ApprovalStatus::Pending));
        let anew = match passkey_first {
            true => {
                let signed = yes(&world, task, approval, &mut one);
                world.kernel().decide_approval_by_passkey(task, approval, &signed)
            }
            false => {
                world.clock.advance(1_000);
                world.person.allow(world.kernel(), task, approval)
            }
        };
        assert_eq!(refused(anew), "approval_same_key");
        assert_eq!(count(world.kernel(), task, "approval.signed"), 1);
        waits(&world, task, approval);
        // The first yes outlasts the process, and is there once.
        world.reopen();
        waits(&world, task, approval);
        assert_eq!(say(&world, true).unwrap(), accepted(task, ApprovalStatus::Pending));
        assert_eq!(count(world.kernel(), task, "approval.signed"), 1);
        assert_eq!(say(&world, false).unwrap(), accepted(task, ApprovalStatus::Granted));
        let late = Answered::NotActive { status: ApprovalStatus::Granted, task_id: task };
        assert_eq!(say(&world, false).unwrap(), late);
        assert_eq!(world.drive(task), completed());
        assert_eq!(world.files().len(), 1);
        assert_eq!(count(world.kernel(), task, "grant.issued"), 1);
        let first = state(&world, task).approvals[&approval].first.clone().unwrap().envelope.sha256;
        let receipts = receipts(&world, task);
        let both: Vec<&Receipt> =
            receipts.iter().filter(|one| one.authorized.approval_decision_sha256.value().is_some()).collect();
        assert!(both.len() >= 2, "that of the answer, and that of the act");
        assert!(both.iter().all(|one| one.authorized.first_decision_sha256 == Some(first)));
        let told: Vec<String> = both.iter().filter_map(|one| one.result_summary.shown().cloned()).collect();
        assert!(
            told.iter().any(|told| told.ends_with("; and before with another key, in a test")),
            "{told:?}"
        );
    }
}

#[test]
fn a_first_yes_whose_key_may_not_say_yes_any_more_leaves_the_question_unanswered() {
    let world = world(3802);
    let (mut sold, mut other) = (Authenticator::es256(7, HERE), Authenticator::eddsa(8, HERE));
    let id = enrolled(&world, &sold);
    enrolled(&world, &other);
    let (task, approval) = asked(&world, &["a.md", "b.md"]);
    let kernel = world.kernel();
    let signed = yes(&world, task, approval, &mut sold);
    let first = kernel.decide_approval_by_passkey(task, approval, &signed).unwrap();
    assert_eq!(first, accepted(task, ApprovalStatus::Pending));
    kernel.revoke_passkey(id, "the laptop is sold").unwrap();
    // The yes of the other key is the first again.
    let again = world.person.allow(kernel, task, approval).unwrap();
    assert_eq!(again, accepted(task, ApprovalStatus::Pending));
    waits(&world, task, approval);
    let signed = yes(&world, task, approval, &mut other);
    let second = kernel.decide_approval_by_passkey(task, approval, &signed).unwrap();
    assert_eq!(second, accepted(task, ApprovalStatus::Granted));
    let next = world.drive_to_approval(task);
    assert_eq!(world.files().len(), 1);

    // Another approval key ends what the one before said, and every passkey that it let say yes.
    world.person.allow(kernel, task, next).unwrap();
    let key = SeedSigner::from_seed([0x21; 32]);
    let rotation = Rotation { purpose: KeyPurpose::Approval, old: world.person.signer(), new: &key };
    kernel.rotate_keys(&[rotation], None).unwrap();
    let signed = yes(&world, task, next, &mut other);
    assert_eq!(refused(kernel.decide_approval_by_passkey(task, next, &signed)), "passkey_enrolment");
    let person = testkit::Person::new(0x21);
    assert_eq!(person.public(), key.public());
    assert_eq!(person.allow(kernel, task, next).unwrap(), accepted(task, ApprovalStatus::Pending));
    assert_eq!(world.drive_to_approval(task), next);
    assert_eq!(world.files().len(), 1);
}

#[test]
fn a_no_of_anybody_ends_it_after_the_first_yes_too() {
    let world = world(3803);
    let (task, approval) = asked(&world, &["a.md"]);
    world.person.allow(world.kernel(), task, approval).unwrap();
    let denied = world.kernel().deny_approval(task, approval, Surface::Script, None).unwrap();
    assert_eq!(denied, accepted(task, ApprovalStatus::Denied));
    world.drive(task);
    assert_eq!(world.files().len(), 0);
    let receipts = receipts(&world, task);
    assert!(receipts.iter().all(|one| one.authorized.first_decision_sha256.is_none()), "it allowed nothing");
}

#[test]
fn nothing_that_lasts_stands_for_two_keys_or_comes_of_them() {
    let world = world(3804);
    let (task, approval) = asked(&world, &["a.md"]);
    let kernel = world.kernel();
    let cover = || Cover::Paths { glob: "*.md".to_owned(), acts: vec![PathAct::Create] };
    let scope = StandingScope::Task { task_id: task };
    let grant = world.person.standing(kernel, cover(), scope, Some((task, approval)));
    let envelope = world.person.sign(kernel, task, approval, Choice::Once, None);
    let signed = world.person.sign_standing(&grant);
    let lasting = kernel.decide_approval_for_good(task, approval, &envelope, Some(&signed));
    assert_eq!(refused(lasting), "standing_other");
    assert_eq!(count(kernel, task, "approval.signed"), 0, "both or neither");
    kernel.deny_approval(task, approval, Surface::Script, None).unwrap();
    // One that was given elsewhere covers it, and does not answer.
    let (task, _) = {
        let task = world.script("more", vec![write("b.md", "words"), done("ok")]);
        let scope = StandingScope::Task { task_id: task };
        let grant = world.person.standing(kernel, cover(), scope, None);
        kernel.allow_standing(&world.person.sign_standing(&grant)).unwrap();
        (task, world.drive_to_approval(task))
    };
    let record = state(&world, task).approvals.into_values().next().unwrap();
    assert!(record.needs_two);
    let packet = kernel.artifacts().read(&record.approval.approval_packet_sha256).unwrap();
    let packet: acts::ApprovalPacket = serde_json::from_slice(&packet).unwrap();
    let policy = &packet.policy_result;
    assert_eq!((policy.verdict, policy.need, policy.standing), (Verdict::RequireApproval, Some(2), None));
    assert!(policy.reasoning_summary.contains("two different keys have to allow it"));
    assert_eq!(world.files().len(), 0);
}

#[test]
fn where_one_yes_is_enough_nothing_is_said_of_two() {
    let world = World::new(3805);
    let (task, approval) = asked(&world, &["a.md"]);
    let packet = state(&world, task).approvals[&approval].approval.approval_packet_sha256;
    let packet = world.kernel().artifacts().read(&packet).unwrap();
    assert!(!String::from_utf8_lossy(&packet).contains("\"need\""), "the bytes are what they were");
    let said = world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(said, accepted(task, ApprovalStatus::Granted));
    assert_eq!(world.drive(task), completed());
    assert_eq!(count(world.kernel(), task, "approval.signed"), 0);
}

#[test]
fn a_rule_by_which_two_keys_have_to_allow_is_taken_away_by_two() {
    const RULE: &str = "dual FileEdit(**)\n";
    let world = World::new(3806);
    let mut one = Authenticator::es256(7, HERE);
    enrolled(&world, &one);
    let kernel = world.kernel();
    let proposed = |rules: &str, was: &str, key: &str| {
        let by = (Channel::App, key.to_owned());
        let task = kernel.propose_rules(rules, was, by).unwrap().task_id;
        (task, world.drive_to_approval(task))
    };
    let both = format!("{RULE}ask Bash(*)\n");
    for (rules, was, key) in [(RULE, "", "made"), (both.as_str(), RULE, "another beside it")] {
        let (task, approval) = proposed(rules, was, key);
        let said = world.person.allow(kernel, task, approval).unwrap();
        assert_eq!(said, accepted(task, ApprovalStatus::Granted), "{key}");
        world.drive(task);
        assert_eq!(kernel.signed_rules().unwrap(), rules);
    }
    let (task, approval) = proposed("ask Bash(*)\n", &both, "taken away");
    let said = world.person.allow(kernel, task, approval).unwrap();
    assert_eq!(said, accepted(task, ApprovalStatus::Pending));
    assert_eq!(world.drive_to_approval(task), approval);
    assert_eq!(kernel.signed_rules().unwrap(), both);
    let signed = yes(&world, task, approval, &mut one);
    kernel.decide_approval_by_passkey(task, approval, &signed).unwrap();
    world.drive(task);
    assert_eq!(kernel.signed_rules().unwrap(), "ask Bash(*)\n");
}
