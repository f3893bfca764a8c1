//! A person overrides policy: one denied act, a reason, a place, a short time; and is asked all the same.

use crate::story::{completed, count, events, state};
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Error, Kernel, Waiting};
use model::action::ActionClass;
use model::body::DecisionRecorded;
use model::decision::{Decision, DecisionClass};
use model::policy::{PolicyResult, Profile, RiskBand, Verdict};
use model::standing::{Cover, StandingGrant, StandingScope};
use model::{ActionRequestId, Body, TaskId};
use testkit::{Person, World, done, say, write};

/// A task under a profile that denies every deletion, whose model tries twice.
fn denied(world: &World) -> (TaskId, ActionRequestId) {
    world.file("a.txt", "text");
    let gone = || say("delete", serde_json::json!({ "path": "a.txt" }));
    world.reasoners.script("delete it", vec![gone(), write("b.txt", "b"), gone(), done("ok")]);
    let reasoning = Reasoning::Scripted { name: "delete it".to_owned() };
    let submission = world.submission("delete it", reasoning);
    let submission = Submission { profile: Profile::DestructiveDenied, ..submission };
    let task = world.kernel().submit(&submission).expect("submitted").task_id;
    world.drive_to_approval(task);
    let first = events(world.kernel(), task).into_iter().find_map(|(_, body)| match body {
        Body::PolicyEvaluated(b) if b.verdict == Verdict::Deny => Some(b.action_request_id),
        _ => None,
    });
    (task, first.expect("policy denied the deletion"))
}

fn overriding(world: &World, task: TaskId, about: ActionRequestId, reason: &str) -> StandingGrant {
    let act = world.kernel().judged_act(&state(world, task), about).expect("it was judged");
    let action = &act.request.action;
    let cover = Cover::Act {
        action_sha256: seal::Digest::of(&seal::canon::to_canonical(action).unwrap()),
        summary: action.as_tool().title(),
    };
    let plain = world.person.standing(world.kernel(), cover, StandingScope::Task { task_id: task }, None);
    StandingGrant {
        override_reason: Some(reason.to_owned()),
        expires_at: plain.issued_at.plus_ms(3_600_000),
        max_uses: 1,
        ..plain
    }
}

fn decisions(kernel: &Kernel, task: TaskId) -> Vec<Decision> {
    let all = events(kernel, task).into_iter().filter_map(|(_, body)| match body {
        Body::DecisionRecorded(DecisionRecorded { decision }) => Some(decision),
        _ => None,
    });
    all.collect()
}

#[conforms::conforms("HK-16.9-1")]
#[test]
fn an_override_is_a_persons_decision_with_a_receipt_a_scope_and_an_end_and_only_asks() {
    let world = World::new(951);
    let (task, about) = denied(&world);
    let kernel = world.kernel();
    let grant = overriding(&world, task, about, "the file is a copy");
    let before = state(&world, task).receipts.len();
    let signed = world.person.sign_standing(&grant);
    assert_eq!(kernel.override_policy(task, about, &signed).unwrap(), grant.grant_id);
    let now = state(&world, task);
    assert_eq!(now.receipts.len(), before + 1);
    let (_, receipt) = kernel.receipt(now.receipts.last().unwrap().receipt_id).unwrap();
    assert_eq!(receipt.action_class, ActionClass::PolicyOverride);
    let decided = decisions(kernel, task).pop().expect("an explicit decision");
    assert_eq!(receipt.decision_ref.value(), Some(&decided.decision_id));
    assert_eq!((decided.decision_type, decided.decided_by), (DecisionClass::Safety, grant.decided_by));
    assert_eq!((decided.effective_until, decided.risk_level), (Some(grant.expires_at), RiskBand::Critical));
    assert_eq!(decided.rationale.shown().unwrap(), "the file is a copy");
    assert!(world.files().contains_key("a.txt"), "nothing happens by it");
    // The write is answered; then the deletion is proposed again, and the person is asked.
    let write = state(&world, task).pending_approvals().next().unwrap().approval.approval_id;
    world.person.allow(kernel, task, write).unwrap();
    let asked = world.drive_to_approval(task);
    let record = &state(&world, task).approvals[&asked];
    let policy: PolicyResult =
        crate::story::object(kernel, &state(&world, task), record.approval.policy_result_ref);
    assert_eq!((policy.verdict, policy.risk_band), (Verdict::RequireApproval, RiskBand::Critical));
    assert!(policy.reasoning_summary.contains("the file is a copy"), "{}", policy.reasoning_summary);
    assert!(policy.determining_rules.iter().any(|rule| rule.starts_with("override:")));
    assert!(policy.determining_rules.iter().any(|rule| rule.starts_with("destructive_denied.")));
    world.person.allow(kernel, task, asked).unwrap();
    assert_eq!(world.drive(task), completed());
    assert!(!world.files().contains_key("a.txt"));
    let last = decisions(kernel, task).pop().unwrap();
    assert_eq!(last.policy_override_ref, Some(decided.decision_id), "the act names the override it rests on");
    assert_eq!(kernel.reader().grant_uses(grant.grant_id).unwrap(), 1);
}

#[test]
fn an_override_that_lapsed_or_was_taken_back_before_its_use_is_worth_nothing() {
    for (seed, revoke) in [(952, true), (953, false)] {
        let world = World::new(seed);
        let (task, about) = denied(&world);
        let kernel = world.kernel();
        let grant = overriding(&world, task, about, "a copy");
        kernel.override_policy(task, about, &world.person.sign_standing(&grant)).unwrap();
        let write = state(&world, task).pending_approvals().next().unwrap().approval.approval_id;
        world.person.allow(kernel, task, write).unwrap();
        let asked = world.drive_to_approval(task);
        world.person.allow(kernel, task, asked).unwrap();
        if revoke {
            kernel.revoke_standing(grant.grant_id, "not after all").unwrap();
        } else {
            world.clock.advance(3_600_000);
        }
        assert_eq!(world.drive(task), completed());
        assert!(world.files().contains_key("a.txt"), "the yes rested on it");
        assert_eq!(count(kernel, task, "approval.invalidated"), 1);
    }
}

#[conforms::conforms(part = "HK-16.9-1")]
#[test]
fn nobody_else_overrides_and_nothing_but_what_was_denied() {
    let world = World::new(954);
    let (task, about) = denied(&world);
    let kernel = world.kernel();
    let good = overriding(&world, task, about, "a copy");
    let refused = |grant: &StandingGrant, person: &Person| {
        kernel.override_policy(task, about, &person.sign_standing(grant)).is_err()
    };
    assert!(refused(&good, &Person::new(0x11)), "another key");
    let machine = StandingGrant { surface: model::approval::Surface::Mcp, ..good.clone() };
    let nameless = StandingGrant { override_reason: Some("  ".to_owned()), ..good.clone() };
    let none = StandingGrant { override_reason: None, ..good.clone() };
    let long = StandingGrant { expires_at: good.issued_at.plus_ms(25 * 3_600_000), ..good.clone() };
    let often = StandingGrant { max_uses: 4, ..good.clone() };
    let everywhere = StandingGrant { scope: StandingScope::User, ..good.clone() };
    let Cover::Act { action_sha256, .. } = good.cover else { panic!("an act") };
    let cover = Cover::Act { action_sha256, summary: "look at a file".to_owned() };
    let lying = StandingGrant { cover, ..good.clone() };
    let cover = Cover::Act { action_sha256: seal::Digest::ZERO, summary: "delete 1 file".to_owned() };
    let other = StandingGrant { cover, ..good.clone() };
    for bad in [machine, nameless, none, long, often, everywhere, lying, other] {
        assert!(refused(&bad, &world.person), "{bad:?}");
    }
    let allowed = kernel.allow_standing(&world.person.sign_standing(&good));
    assert!(matches!(allowed, Err(Error::Refused(_))), "it belongs to the act");
    // What was not denied needs no override.
    let asked = state(&world, task).pending_approvals().next().unwrap().action_request_id;
    let act = overriding(&world, task, asked, "why not");
    let signed = world.person.sign_standing(&act);
    assert!(matches!(kernel.override_policy(task, asked, &signed), Err(Error::Conflict(_))));
    assert_eq!(state(&world, task).receipts.len(), 0);
    assert!(matches!(world.drive(task), DriveOutcome::Waiting(Waiting::Approval(_))));
}
