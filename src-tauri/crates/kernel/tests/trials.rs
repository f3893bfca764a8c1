//! Trials of changes of Hermit: on record before anything runs, judged by what was compared, signed, and never the change itself.

use crate::story::{in_store, log};
use conforms::conforms;
use kernel::Error;
use kernel::command::successor::BegunTrial;
use model::fault::Point;
use model::{Body, Digest, TaskId};
use seal::{Signature, Signer as _, dsse};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use successor::{
    Arm, Budget, Case, Change, Evidence, Judged, MeasuredBy, Patch, PatchKind, Planted, Played, PlayedAct,
    Probe, TrialState, Used, VERDICT_PAYLOAD_TYPE, Verdict, VerdictOutcome, judge, planted,
};
use testkit::{Edge, Mode, World, done, write};

const BUDGET: Budget = Budget {
    wall_ms: 60_000,
    cpu_ms: 60_000,
    memory_bytes: 1 << 30,
    disk_bytes: 1 << 28,
    processes: 64,
    tokens: 1_000,
};

fn worked(world: &World) -> TaskId {
    let task = world.script("write it", vec![write("a.txt", "new\n"), done("wrote it")]);
    world.drive_allowing(task);
    task
}

fn begun(task: TaskId, rules: &str) -> BegunTrial {
    let change = Change::Policy { rules: rules.to_owned(), profile: None };
    BegunTrial {
        patch: Patch { says: "it asks less".to_owned(), sources: vec!["my own idea".to_owned()], change },
        about: "it asks less and breaks nothing".to_owned(),
        tasks: vec![task],
        left_out: Vec::new(),
        seed: 7,
        budget: BUDGET,
    }
}

/// A run of a trial as its host would hand it in: `after` is what policy said of the one act with the change.
struct Ran {
    parent_case: Case,
    successor_case: Case,
    parent: Evidence,
    successor: Evidence,
}

impl Ran {
    fn of(trial: &str, task: TaskId, patch: &Patch, (before, after): (&str, &str)) -> Self {
        let action_sha256 = Digest::of(b"an act");
        let recorded = json!({
            "task_id": task, "goal": "write it", "profile": "local_edit_allowed", "ended": "completed", "answers": [],
            "acts": [{ "action_sha256": action_sha256, "action": {}, "summary": "write a.txt", "class": "write_local",
                       "verdict": before, "outcome": {}, "effect_sha256": action_sha256 }],
        });
        let parent_case = Case {
            trial_id: trial.to_owned(),
            seed: 7,
            budget: BUDGET,
            patch: None,
            rules: String::new(),
            profile: "local_edit_allowed".to_owned(),
            tools: Vec::new(),
            tasks: vec![serde_json::from_value(recorded).unwrap()],
        };
        let successor_case = Case { patch: Some(patch.clone()), ..parent_case.clone() };
        let evidence = |arm: Arm, case: &Case, verdict: &str| Evidence {
            case_sha256: Digest::of(&case.bytes().unwrap()),
            arm,
            tasks: vec![Played {
                task_id: task,
                ended: "completed".to_owned(),
                acts: vec![PlayedAct {
                    action_sha256,
                    summary: "write a.txt".to_owned(),
                    class: "write_local".to_owned(),
                    verdict: verdict.to_owned(),
                    rules: Vec::new(),
                    effect_sha256: Some(action_sha256),
                }],
                questions: u32::from(verdict == "require_approval"),
                tokens: 10,
                turns: 2,
            }],
            probes: vec![Probe { what: "store".to_owned(), refused: true, says: "no such file".to_owned() }],
            used: Used::default(),
            measured_by: Some(MeasuredBy::Parent),
        };
        let parent = evidence(Arm::Parent, &parent_case, before);
        let mut successor = evidence(Arm::Successor, &successor_case, after);
        if patch.kind() == PatchKind::Code {
            successor.measured_by = Some(MeasuredBy::Successor);
        }
        Self { parent_case, successor_case, parent, successor }
    }

    fn verdict(&self) -> Verdict {
        let all = planted(&self.parent_case).into_iter().map(|(name, _)| Planted { name, refused: true });
        judge(&Judged {
            parent_case: &self.parent_case,
            successor_case: &self.successor_case,
            parent: &self.parent,
            successor: &self.successor,
            ended: "",
            tests: None,
            clean_room: Vec::new(),
            planted: all.collect(),
            asked: Err(""),
            again: None,
            evaluator_sha256: Digest::of(b"the program that judges"),
            about: "it asks less",
        })
    }

    fn evidence(&self) -> Vec<Vec<u8>> {
        vec![self.parent.bytes().unwrap(), self.successor.bytes().unwrap()]
    }
}

/// The task that proposes it is under way, and is played as far as it came; of no other is that so.
#[conforms(part = "HV-5-1")]
#[test]
fn a_trial_that_an_act_of_a_task_proposes_is_known_by_that_act_and_begins_once() {
    let world = World::new(705);
    let task = worked(&world);
    let open = world.script("write more", vec![write("b.txt", "more\n"), done("wrote more")]);
    assert!(matches!(world.drive(open), kernel::DriveOutcome::Waiting(_)));
    let kernel = world.kernel();
    let asked = BegunTrial { tasks: vec![open, task], ..begun(task, "allow FileEdit(docs/**)\n") };
    assert!(
        matches!(kernel.begin_trial(&asked), Err(Error::Input(_))),
        "a person's is over what is complete"
    );
    let act = model::ActionRequestId::fresh(&*world.clock, &*world.entropy);
    let id = kernel.begin_trial_of((open, act), &asked).unwrap();
    let registry = kernel.trial_registry();
    let trial = registry.of_act(act).unwrap();
    assert_eq!((&trial.trial_id, trial.proposed_by, &trial.tasks), (&id, Some(act), &asked.tasks));
    assert!(matches!(kernel.begin_trial_of((open, act), &asked), Err(Error::Conflict(_))));
    let (tokens, wall_ms) = kernel.left_of_budget(open).unwrap();
    let whole = model::task::Budget::default();
    assert!(tokens <= whole.tokens_max && wall_ms <= whole.wall_ms_max.unsigned_abs(), "{tokens} {wall_ms}");
    assert!(!kernel.task(open).unwrap().task.status.is_terminal(), "it waits as before");
}

#[test]
fn trials_that_end_at_the_same_moment_are_all_on_record() {
    let world = World::new(707);
    let task = worked(&world);
    let kernel = world.kernel();
    for round in 0..8 {
        let begun = begun(task, "allow FileEdit(docs/**)\n");
        let ids: Vec<String> = (0..8).map(|_| kernel.begin_trial(&begun).unwrap()).collect();
        let all_at_once = std::sync::Barrier::new(ids.len());
        std::thread::scope(|scope| {
            for id in &ids {
                scope.spawn(|| {
                    all_at_once.wait();
                    kernel
                        .fail_trial(id, "the machine is too small")
                        .unwrap_or_else(|e| panic!("{round}: {e}"));
                });
            }
        });
        assert!(ids.iter().all(|id| kernel.trial_registry().get(id).unwrap().state == TrialState::Failed));
    }
}

/// The change is kept and nothing of it holds; the verdict is signed, and what it was made of is kept beside it (HV-5-2: no subagent on a
/// task of the person).
#[conforms(part = "HV-5-2")]
#[test]
fn a_trial_is_on_record_judged_and_signed_and_changes_nothing() {
    let world = World::new(700);
    let task = worked(&world);
    let kernel = world.kernel();
    let (rules, tasks) = (
        kernel.signed_rules().unwrap(),
        log(kernel).iter().filter(|(_, b)| matches!(b, Body::TaskCreated(_))).count(),
    );
    let begun = begun(task, "allow FileEdit(docs/**)\n");
    let id = kernel.begin_trial(&begun).unwrap();
    let registry = kernel.trial_registry();
    let trial = registry.get(&id).unwrap();
    assert_eq!(
        (trial.state, trial.seed, &trial.tasks, trial.budget),
        (TrialState::Running, 7, &vec![task], BUDGET)
    );
    assert_eq!(kernel.artifacts().read(&trial.patch.sha256).unwrap(), begun.patch.bytes().unwrap());
    let ran = Ran::of(&id, task, &begun.patch, ("require_approval", "allow"));
    let verdict = ran.verdict();
    assert_eq!(verdict.outcome, VerdictOutcome::Better, "{:?}", verdict.reasons);
    kernel.end_trial(&verdict, &ran.evidence()).unwrap();
    let registry = kernel.trial_registry();
    let trial = registry.get(&id).unwrap();
    assert_eq!((trial.state, trial.outcome), (TrialState::Judged, Some(VerdictOutcome::Better)));
    let bytes = kernel.artifacts().read(&trial.verdict.as_ref().unwrap().sha256).unwrap();
    assert_eq!(Verdict::read(&bytes).unwrap(), verdict);
    let (signature, keyid) = trial.signature.clone().unwrap();
    let signature: Signature = signature.parse().unwrap();
    let key = world.keys.log_signer().public();
    assert_eq!(keyid, key.keyid());
    key.verify(&dsse::pae(VERDICT_PAYLOAD_TYPE, &bytes), &signature).unwrap();
    assert!(key.verify(&bytes, &signature).is_err(), "it is a signature of a verdict and of nothing else");
    for (kept, of) in trial.evidence.iter().zip(ran.evidence()) {
        assert_eq!(kernel.artifacts().read(&kept.sha256).unwrap(), of);
    }
    assert_eq!(kernel.signed_rules().unwrap(), rules, "the change holds nowhere");
    let now = log(kernel).iter().filter(|(_, body)| matches!(body, Body::TaskCreated(_))).count();
    assert_eq!(now, tasks, "a trial is no task");
}

/// Two of the three hard constraints, each by an attempt: a trial without a budget does not begin, and one whose tests failed is never good.
/// The last gate is a person's, which is shown where a change is adopted.
#[conforms(part = "HV-7-1")]
#[test]
fn a_trial_has_a_budget_and_a_change_that_fails_a_test_is_worse() {
    let world = World::new(701);
    let task = worked(&world);
    let kernel = world.kernel();
    let spoils: [fn(&mut Budget); 4] = [
        |budget: &mut Budget| budget.wall_ms = 0,
        |budget: &mut Budget| budget.memory_bytes = 0,
        |budget: &mut Budget| budget.processes = 0,
        |budget: &mut Budget| budget.disk_bytes = u64::MAX,
    ];
    for spoil in spoils {
        let mut without = begun(task, "");
        spoil(&mut without.budget);
        assert!(matches!(kernel.begin_trial(&without), Err(Error::Input(_))));
    }
    let diff =
        "--- a/src-tauri/crates/cli/src/lib.rs\n+++ b/src-tauri/crates/cli/src/lib.rs\n@@ -1 +1 @@\n-a\n+b\n";
    let change = Change::Code { source: Digest::of(b"source"), diff: diff.to_owned() };
    let mut code = begun(task, "");
    code.patch.change = change;
    let id = kernel.begin_trial(&code).unwrap();
    let ran = Ran::of(&id, task, &code.patch, ("require_approval", "require_approval"));
    let outcome = |failed: &[&str]| {
        let failed = failed.iter().map(|test| (*test).to_owned()).collect();
        let (suite, edited) = ("npm test".to_owned(), Vec::new());
        let tests = successor::TestsRun { suite, passed: 10, failed, edited, parent: None };
        judge(&Judged {
            parent_case: &ran.parent_case,
            successor_case: &ran.successor_case,
            parent: &ran.parent,
            successor: &ran.successor,
            ended: "",
            tests: Some(tests),
            clean_room: Vec::new(),
            planted: planted(&ran.parent_case)
                .into_iter()
                .map(|(name, _)| Planted { name, refused: true })
                .collect(),
            asked: Err(""),
            again: None,
            evaluator_sha256: Digest::ZERO,
            about: "",
        })
    };
    assert_eq!(outcome(&[]).outcome, VerdictOutcome::Same);
    let failed = outcome(&["journeys::first"]);
    assert_eq!(failed.outcome, VerdictOutcome::Worse);
    kernel.end_trial(&failed, &ran.evidence()).unwrap();
    assert_eq!(kernel.trial_registry().get(&id).unwrap().outcome, Some(VerdictOutcome::Worse));
}

#[test]
fn a_verdict_on_something_else_is_not_taken() {
    let world = World::new(702);
    let task = worked(&world);
    let kernel = world.kernel();
    let begun = begun(task, "allow FileEdit(docs/**)\n");
    let id = kernel.begin_trial(&begun).unwrap();
    let ran = Ran::of(&id, task, &begun.patch, ("require_approval", "allow"));
    let (right, evidence) = (ran.verdict(), ran.evidence());
    let refused = |spoil: fn(&mut Verdict), evidence: &[Vec<u8>]| {
        let mut wrong = right.clone();
        spoil(&mut wrong);
        assert!(matches!(
            kernel.end_trial(&wrong, evidence),
            Err(Error::Conflict(_) | Error::NotFound { .. } | Error::Input(_))
        ));
    };
    refused(|verdict| verdict.trial_id = "trial_none".to_owned(), &evidence);
    refused(|verdict| verdict.patch_sha256 = Digest::ZERO, &evidence);
    refused(|verdict| verdict.kind = successor::PatchKind::Words, &evidence);
    refused(|verdict| verdict.seed = 8, &evidence);
    refused(|verdict| verdict.constitutional.push("gate".to_owned()), &evidence);
    refused(|verdict| verdict.evidence_sha256.swap(0, 1), &evidence);
    refused(|_| {}, &evidence[..1]);
    // A third is of an arm that a model was asked in once more, and here none was asked.
    let three = [evidence[0].clone(), evidence[1].clone(), evidence[0].clone()];
    refused(|verdict| verdict.evidence_sha256.extend_from_within(..1), &three);
    refused(|_| {}, &[evidence[0].clone(), b"{}".to_vec()]);
    assert_eq!(in_store(&world, "successor.judged"), 0);
    world.keys.lock(true);
    assert!(
        matches!(kernel.end_trial(&right, &evidence), Err(Error::KeyLocked("log"))),
        "no verdict is unsigned"
    );
    world.keys.lock(false);
    kernel.end_trial(&right, &evidence).unwrap();
    assert!(matches!(kernel.end_trial(&right, &evidence), Err(Error::Conflict(_))), "there is one verdict");
    assert!(matches!(kernel.stop_trial(&id, "late"), Err(Error::Conflict(_))));
    assert_eq!(in_store(&world, "successor.judged"), 1);
}

#[test]
fn what_races_is_over_the_same_tasks_and_only_so_many_run() {
    let world = World::new(703);
    let task = worked(&world);
    let kernel = world.kernel();
    let variant = |number: usize| begun(task, &format!("ask FileEdit(a{number}/**)\n"));
    let first = kernel.begin_trial(&variant(0)).unwrap();
    let second = kernel.begin_trial_beside(&first, &variant(1)).unwrap();
    let third = kernel.begin_trial_beside(&second, &variant(2)).unwrap();
    let registry = kernel.trial_registry();
    assert_eq!(registry.get(&third).unwrap().group.as_deref(), Some(first.as_str()));
    let other = BegunTrial { seed: 8, ..variant(3) };
    assert!(matches!(kernel.begin_trial_beside(&first, &other), Err(Error::Conflict(_))));
    for number in 3..8 {
        kernel.begin_trial(&variant(number)).unwrap();
    }
    assert!(matches!(kernel.begin_trial(&variant(9)), Err(Error::Conflict(_))), "eight run");
    kernel.stop_trial(&first, "enough").unwrap();
    kernel.begin_trial(&variant(9)).unwrap();
    let undone = world.script("not yet", vec![done("no")]);
    assert!(
        matches!(kernel.begin_trial(&begun(undone, "")), Err(Error::Input(_))),
        "only what is complete is played"
    );
    let twice = BegunTrial { tasks: vec![task, task], ..variant(10) };
    assert!(matches!(kernel.begin_trial(&twice), Err(Error::Input(_))));
    let left_out = vec![undone; successor::limits::LEFT_OUT_MAX + 1];
    assert!(matches!(kernel.begin_trial(&BegunTrial { left_out, ..variant(11) }), Err(Error::Input(_))));
}

#[test]
fn a_host_that_dies_leaves_no_trial_running_and_the_next_one_says_so() {
    let mut world = World::new(704);
    let task = worked(&world);
    let id = world.kernel().begin_trial(&begun(task, "")).unwrap();
    world.reopen();
    let registry = world.kernel().trial_registry();
    let trial = registry.get(&id).unwrap();
    assert_eq!(trial.state, TrialState::Stopped);
    assert!(trial.why.as_deref().unwrap().contains("ended before there was a verdict"), "{:?}", trial.why);
    world.reopen();
    assert_eq!(in_store(&world, "successor.stopped"), 1, "and once");

    // A death at the boundary itself leaves it wholly there or not at all.
    for edge in [Edge::Before, Edge::After] {
        world.faults.plan(Point::TrialRecord, edge, Mode::Abort, 1);
        let died = catch_unwind(AssertUnwindSafe(|| {
            world.kernel().begin_trial(&begun(task, "deny FileEdit(x/**)\n"))
        }));
        assert!(!matches!(died, Ok(Ok(_))) && world.faults.fired(), "{died:?}");
        world.faults.clear();
        world.reopen();
        assert!(world.kernel().trial_registry().all().all(|one| !one.is_running()));
    }
    assert_eq!(in_store(&world, "successor.began"), 2);
}
