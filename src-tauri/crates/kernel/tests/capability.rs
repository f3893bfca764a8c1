//! What changes what Hermit itself may do: its class, and that a person sees each such act, whatever they allowed before.

use crate::story::{completed, count, events, state};
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Waiting};
use model::action::ActionClass;
use model::ingress::Channel;
use model::policy::{PolicyResult, Profile, RiskBand, Verdict};
use model::proposal::Answer;
use model::standing::{Cover, PathAct, StandingScope};
use model::{Body, TaskId};
use serde_json::json;
use testkit::{World, change, done, look, write};

const RULES: &str = ".hermit/policy.rules";

fn give(world: &World, goal: &str, profile: Profile, says: Vec<Answer>) -> TaskId {
    world.reasoners.script(goal, [says, vec![done("tried")]].concat());
    let submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    world.kernel().submit(&Submission { profile, ..submission }).unwrap().task_id
}

/// The latest result of policy in a task.
fn judged(world: &World, task: TaskId) -> PolicyResult {
    let result = events(world.kernel(), task).into_iter().rev().find_map(|(_, body)| match body {
        Body::PolicyEvaluated(b) => Some(b.result),
        _ => None,
    });
    let bytes = world.kernel().artifacts().read(&result.expect("it was judged").sha256).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn a_rule_of_the_project_changes_only_after_a_yes_of_its_own_whatever_was_allowed_before() {
    let world = World::new(1301);
    std::fs::write(world.store.path().join("policy.rules"), "allow FileEdit(**)\nallow FileDelete(**)\n")
        .unwrap();
    world.file(RULES, "deny FileEdit(secret.txt)\n");
    let delete = change(json!([{ "op": "delete", "path": RULES }]));
    let says = vec![write("plain.txt", "x"), look(RULES), delete];
    let first = give(&world, "first", Profile::LocalEditAllowed, says);
    let cover = Cover::Paths {
        glob: RULES.to_owned(),
        acts: vec![PathAct::Create, PathAct::Overwrite, PathAct::Delete],
    };
    let here = StandingScope::Project { workspace_id: state(&world, first).task.workspace_hint.unwrap() };
    let grant = world.person.standing(world.kernel(), cover, here, None);
    world.kernel().allow_standing(&world.person.sign_standing(&grant)).expect("it is a person's");
    let asked = world.drive_to_approval(first);
    assert!(world.files().contains_key("plain.txt"), "what the rules allow is not asked about");
    let policy = judged(&world, first);
    assert_eq!((policy.verdict, policy.standing), (Verdict::RequireApproval, None));
    assert_eq!(policy.action_classes, [ActionClass::CapabilityChange, ActionClass::DeleteLocal]);
    assert_eq!(policy.risk_band, RiskBand::High);
    assert!(policy.determining_rules.iter().any(|rule| rule == "base.capability"), "{policy:?}");
    assert!(policy.decision_required && policy.witness_required);
    world.person.allow(world.kernel(), first, asked).unwrap();
    assert_eq!(world.drive(first), completed());
    assert!(!world.files().contains_key(RULES), "after the yes it is done");
    assert_eq!(count(world.kernel(), first, "decision.recorded"), 1, "and the decision is on record");
    // The next one is asked about again.
    let second = give(&world, "second", Profile::LocalEditAllowed, vec![write(RULES, "ask FileEdit(a)\n")]);
    let waits = world.drive(second);
    assert!(matches!(waits, DriveOutcome::Waiting(Waiting::Approval(_))), "{waits:?}");
    assert_eq!(count(world.kernel(), first, "grant.standing_used"), 0);
}

#[test]
fn it_has_no_lesser_form() {
    let world = World::new(1302);
    let task = give(&world, "look", Profile::ReadonlyAnalysis, vec![write(RULES, "deny FileEdit(a)\n")]);
    assert_eq!(world.drive(task), completed());
    assert_eq!(judged(&world, task).verdict, Verdict::Deny);
    assert_eq!(count(world.kernel(), task, "action.downgraded"), 0);
    // The same write elsewhere is lessened to a look.
    let plain = give(&world, "plain", Profile::ReadonlyAnalysis, vec![write("a.rules", "x")]);
    assert_eq!(world.drive(plain), completed());
    assert_eq!(count(world.kernel(), plain, "action.downgraded"), 1);
}

/// Asks for a change of the person's own rules, up to its card.
fn asked(world: &World, rules: &str, was: &str) -> (TaskId, model::ApprovalId) {
    let by = (Channel::App, format!("rules {rules}"));
    let task = world.kernel().propose_rules(rules, was, by).expect("it is proposed").task_id;
    (task, world.drive_to_approval(task))
}

fn changes(world: &World) -> usize {
    let store = world.kernel().store_state().system_task_id.unwrap();
    count(world.kernel(), store, "policy.rules_changed")
}

#[test]
fn a_persons_own_rules_change_by_their_yes_alone_and_outlive_the_process() {
    let mut world = World::new(1303);
    // No rule answers for the person, whatever it allows, and none stands in the way.
    std::fs::write(
        world.store.path().join("policy.rules"),
        "allow FileEdit(**)\nallow FileDelete(**)\ndeny Bash(*)\n",
    )
    .unwrap();
    let rules = "deny FileEdit(secret.txt)\n";
    let (task, approval) = asked(&world, rules, "");
    let policy = judged(&world, task);
    assert_eq!((policy.verdict, policy.standing), (Verdict::RequireApproval, None));
    assert_eq!(policy.action_classes, [ActionClass::CapabilityChange]);
    assert!(policy.decision_required && policy.witness_required);
    let early = give(&world, "early", Profile::LocalEditAllowed, vec![write("early.txt", "x")]);
    assert_eq!(world.drive(early), completed(), "a question about rules holds up nothing");
    assert_eq!(
        (world.kernel().signed_rules().unwrap().as_str(), changes(&world)),
        ("", 0),
        "nothing before the yes"
    );
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    assert_eq!((world.kernel().signed_rules().unwrap().as_str(), changes(&world)), (rules, 1));
    for kind in
        ["decision.recorded", "witness.validated", "grant.issued", "effect.dispatched", "receipt.issued"]
    {
        assert!(count(world.kernel(), task, kind) >= 1, "{kind}");
    }
    world.crash();
    world.reopen();
    let late = give(&world, "late", Profile::LocalEditAllowed, vec![write("secret.txt", "x")]);
    assert_eq!(world.drive(late), completed());
    assert!(!world.files().contains_key("secret.txt"), "the rule outlives the process");
    assert!(judged(&world, late).determining_rules.contains(&"signed.l1".to_owned()));
}

#[test]
fn a_change_of_rules_is_about_the_rules_that_were_shown_and_a_denial_changes_nothing() {
    let world = World::new(1304);
    let (first, one) = asked(&world, "ask FileEdit(a)\n", "");
    let (second, two) = asked(&world, "ask FileEdit(b)\n", "");
    world.person.allow(world.kernel(), first, one).unwrap();
    assert_eq!(world.drive(first), completed());
    world.person.allow(world.kernel(), second, two).unwrap();
    world.drive(second);
    assert_eq!(
        world.kernel().signed_rules().unwrap(),
        "ask FileEdit(a)\n",
        "the second was asked about no rules"
    );
    let stale = world.kernel().propose_rules("deny FileEdit(c)\n", "", (Channel::App, "stale".to_owned()));
    assert!(matches!(stale, Err(kernel::Error::Conflict(_))), "{stale:?}");
    let wrong = world.kernel().propose_rules(
        "deny FileEdit(/)\n",
        "ask FileEdit(a)\n",
        (Channel::App, "no".to_owned()),
    );
    assert!(matches!(&wrong, Err(kernel::Error::Input(why)) if why.contains("line 1")), "{wrong:?}");
    let (third, three) = asked(&world, "", "ask FileEdit(a)\n");
    world.person.deny(world.kernel(), third, three, "no").unwrap();
    world.drive(third);
    assert_eq!((world.kernel().signed_rules().unwrap().as_str(), changes(&world)), ("ask FileEdit(a)\n", 1));
}

#[test]
fn in_the_folder_of_rules_every_other_task_is_judged_by_them() {
    let world = World::new(1305);
    let (task, approval) = asked(&world, "deny FileEdit(**)\n", "");
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    world.reasoners.script("next", vec![write("here.txt", "x"), done("tried")]);
    let workspace_id = state(&world, task).task.workspace_hint.unwrap();
    let submission = world.submission("next", Reasoning::Scripted { name: "next".to_owned() });
    let next = world.kernel().submit(&Submission { workspace_id, ..submission }).unwrap().task_id;
    assert_eq!(world.drive(next), completed());
    assert_eq!(judged(&world, next).verdict, Verdict::Deny);
}
