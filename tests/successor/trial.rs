//! Trials from end to end: tasks that a person and a scripted model did in a world of their own, played again by clones that are real
//! programs, and the verdict over what they left.

use super::{AMPLE, has_walls, sandbox};
use crate::journeys::hermit;
use ::successor::limits::TASK_BYTES_MAX;
use ::successor::{Budget, Change, Evidence, Patch, Verdict, WordsItem};
use conforms::conforms;
use host::successor::{CaseOf, Handed, ParentPlaces, TrialEnd, TrialRun, draw, export, nobody, run_trial};
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Waiting};
use model::TaskId;
use model::policy::Profile;
use model::proposal::Answer;
use model::task::TaskStatus;
use serde_json::{Value, json};
use std::sync::Arc;
use testkit::{World, change, done, look, say, write};
use words::successor::{Arm, BudgetPart, MeasuredBy, VerdictOutcome};

const PROFILE: &str = "local_edit_allowed";

/// A world in which a person has had work done: two notes written, one changed, and a file deleted.
fn worked() -> (World, Vec<TaskId>) {
    let world = World::new(5);
    world.file("notes/plan.md", "one\ntwo\n");
    world.file("keep.md", "kept\n");
    let mut tasks = Vec::new();
    for (at, name) in ["notes/a.md", "notes/b.md"].into_iter().enumerate() {
        let goal = format!("write down number {at}");
        let task = world.script(&goal, vec![look("notes/plan.md"), write(name, "text\n"), done("written")]);
        assert_eq!(ended(&world, task), TaskStatus::Completed);
        tasks.push(task);
    }
    let edit = vec![
        look("notes/plan.md"),
        change(json!([{ "op": "write", "path": "notes/plan.md", "content": "one\ntwo\nthree\n" }])),
        done("changed"),
    ];
    let task = world.script("add a line to the plan", edit);
    assert_eq!(ended(&world, task), TaskStatus::Completed);
    tasks.push(task);
    tasks.push(tidied(&world));
    (world, tasks)
}

fn ended(world: &World, task: TaskId) -> TaskStatus {
    match world.drive_allowing(task).0 {
        DriveOutcome::Ended { status, .. } => status,
        other => panic!("it has ended: {other:?}"),
    }
}

/// A task that deletes a file.
fn tidied(world: &World) -> TaskId {
    let answers =
        vec![look("keep.md"), change(json!([{ "op": "delete", "path": "keep.md" }])), done("deleted")];
    let task = world.script("tidy up", answers);
    assert_eq!(ended(world, task), TaskStatus::Completed);
    task
}

fn policy(rules: &str) -> Patch {
    Patch {
        says: "ask less".to_owned(),
        sources: vec!["written by the person".to_owned()],
        change: Change::Policy { rules: rules.to_owned(), profile: None },
    }
}

/// Runs a trial over these tasks.
pub(super) fn tried(world: &World, tasks: &[TaskId], patch: &Patch) -> TrialEnd {
    tried_within(world, tasks, patch, AMPLE)
}

/// The same with another budget for each clone.
fn tried_within(world: &World, tasks: &[TaskId], patch: &Patch, budget: Budget) -> TrialEnd {
    ran(world, tasks, patch, budget).expect("a verdict")
}

/// The end of a trial, or why it has none.
pub(super) fn ran(
    world: &World,
    tasks: &[TaskId],
    patch: &Patch,
    budget: Budget,
) -> Result<TrialEnd, String> {
    let run = TrialRun {
        kernel: world.kernel(),
        sandbox: &sandbox(),
        program: hermit(),
        places: ParentPlaces::of(world.store.path(), None),
        trial_id: "trial",
        patch,
        about: "it asks less and breaks nothing",
        tasks,
        seed: 7,
        budget,
        profile: PROFILE,
        model: None,
        asked: Err(String::new()),
        code: None,
        clean_room: Vec::new(),
        stopped: &|| false,
        at: &nobody,
    };
    run_trial(&run)
}

pub(super) fn arms(end: &TrialEnd) -> (Evidence, Evidence) {
    let [parent, successor] = end.evidence.as_slice() else { panic!("two arms") };
    (Evidence::read(parent).expect("evidence"), Evidence::read(successor).expect("evidence"))
}

/// What two runs of one trial must have in common: all but what names them, and what the machine needed for them.
fn compared(verdict: &Verdict) -> Value {
    let mut value = serde_json::to_value(verdict).expect("JSON");
    let members = value.as_object_mut().expect("an object");
    for name in ["trial_id", "used", "evidence_sha256"] {
        members.remove(name);
    }
    let of_the_machine =
        |one: &Value| ["wall_ms", "cpu_ms", "memory_bytes"].iter().any(|name| one["name"] == *name);
    let measures = members["measures"].as_array_mut().expect("measures");
    measures.retain(|one| !of_the_machine(one));
    value
}

fn questions(of: &Evidence) -> u32 {
    of.tasks.iter().map(|task| task.questions).sum()
}

#[conforms(part = "HV-5-4")]
#[test]
fn a_recorded_task_is_played_again_act_by_act() {
    if !has_walls() {
        return;
    }
    let (world, tasks) = worked();
    let before = world.files();
    let end = tried(&world, &tasks, &policy("ask FileEdit(elsewhere/**)\n"));
    let (parent, _) = arms(&end);
    assert_eq!(parent.arm, Arm::Parent);
    let of = CaseOf { trial_id: "trial", seed: 7, budget: AMPLE, profile: PROFILE, tasks: &tasks };
    let Handed { case, .. } = export(world.kernel(), &of, ParentPlaces::default()).expect("a case");
    assert_eq!(case.tasks.len(), parent.tasks.len());
    for (recorded, played) in case.tasks.iter().zip(&parent.tasks) {
        assert_eq!(played.ended, recorded.ended, "{played:?}");
        let then: Vec<_> = recorded.acts.iter().map(|act| (act.action_sha256, act.effect_sha256)).collect();
        let now: Vec<_> = played.acts.iter().map(|act| (act.action_sha256, act.effect_sha256)).collect();
        assert_eq!(then, now, "the same acts with the same effects: {played:?}");
        let verdicts = recorded.acts.iter().map(|act| act.verdict.as_str());
        assert!(verdicts.eq(played.acts.iter().map(|act| act.verdict.as_str())), "{played:?}");
        assert!(played.turns > 0 && played.tokens > 0);
    }
    // What was asked then is asked again.
    assert_eq!(questions(&parent), 4);
    assert_eq!(world.files(), before, "what was played again changed nothing of the person's");
}

#[conforms(part = "HV-5-4")]
#[test]
fn a_clone_has_the_registry_of_its_parent_and_no_server_is_called_again() {
    if !has_walls() {
        return;
    }
    let mut world = World::new(8);
    world.servers = Arc::new(testkit::ManyTools);
    world.reopen();
    world.register_many(1);
    world.clock.advance(1_000);
    let goal = "look an entry up";
    world.reasoners.script(goal, vec![say("s00__entry_00", json!({})), done("looked up")]);
    let of = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    let of = Submission { profile: Profile::ExternalPublishGated, ..of };
    let task = world.kernel().submit(&of).expect("submitted").task_id;
    assert_eq!(ended(&world, task), TaskStatus::Completed);
    let of = CaseOf { trial_id: "trial", seed: 7, budget: AMPLE, profile: PROFILE, tasks: &[task] };
    let case = export(world.kernel(), &of, ParentPlaces::default()).expect("a case").case;
    let [server] = case.tools.as_slice() else { panic!("one server: {:?}", case.tools) };
    assert_eq!(server["registration"]["server"], "s00");
    let [recorded] = case.tasks.as_slice() else { panic!("one task") };
    let call = recorded.acts.first().expect("a call");
    assert_eq!(call.outcome["result_code"], "succeeded", "{call:?}");
    // No server answers in a clone, which has no network: what it is told is what was answered then.
    let (parent, _) = arms(&tried(&world, &[task], &policy("ask FileEdit(elsewhere/**)\n")));
    let played = parent.tasks.first().expect("it was played");
    assert_eq!(played.ended, recorded.ended, "{played:?}");
    let digests: Vec<_> = played.acts.iter().map(|act| (act.action_sha256, act.verdict.as_str())).collect();
    let then: Vec<_> = recorded.acts.iter().map(|act| (act.action_sha256, act.verdict.as_str())).collect();
    assert_eq!(digests, then, "{played:?}");
}

#[conforms(part = "HV-5-2", part = "HV-5-5")]
#[test]
fn a_change_of_policy_that_asks_less_is_better_twice_with_the_same_verdict() {
    if !has_walls() {
        return;
    }
    let (world, _) = worked();
    // What was not read before is trusted: there a rule of the person's may answer for them.
    let task = world.script("write one more", vec![write("notes/c.md", "text\n"), done("written")]);
    assert_eq!(ended(&world, task), TaskStatus::Completed);
    let tasks = [task];
    let patch = policy("allow FileEdit(notes/**)\n");
    let first = tried(&world, &tasks, &patch);
    let (parent, successor) = arms(&first);
    assert!(questions(&successor) < questions(&parent), "{successor:?}");
    let costs = |name: &str| {
        let one = first.verdict.measures.iter().find(|one| one.name == name).expect("it is measured");
        // Both arms are the same program, which a change of policy cannot write: its word counts.
        assert_eq!(one.measured_by, Some(MeasuredBy::Parent));
        (one.parent, one.successor)
    };
    let (parents, successors) = costs("tokens");
    assert!(successors <= parents, "{:?}", first.verdict.measures);
    assert_eq!(first.verdict.outcome, VerdictOutcome::Better, "{:?}", first.verdict);
    assert!(!first.verdict.planted.is_empty() && first.verdict.planted.iter().all(|one| one.refused));
    let second = tried(&world, &tasks, &patch);
    assert_eq!(compared(&first.verdict), compared(&second.verdict));
    assert!(parent.probes.iter().chain(&successor.probes).all(|probe| probe.refused));
}

#[conforms(part = "HV-5-2")]
#[test]
fn a_change_of_policy_that_denies_what_was_done_is_worse() {
    if !has_walls() {
        return;
    }
    let (world, tasks) = worked();
    let end = tried(&world, &tasks[..1], &policy("deny FileEdit(notes/**)\n"));
    let (_, successor) = arms(&end);
    assert!(successor.tasks.iter().flat_map(|task| &task.acts).any(|act| act.verdict == "deny"));
    assert!(
        !matches!(end.verdict.outcome, VerdictOutcome::Better | VerdictOutcome::Same),
        "{:?}",
        end.verdict
    );
}

#[conforms(part = "HV-5-2")]
#[test]
fn a_change_of_words_is_played_and_its_cost_measured_twice_with_the_same_verdict() {
    if !has_walls() {
        return;
    }
    let (world, tasks) = worked();
    let long = "# Hermit\n".to_owned() + &"I do what its person asks, and say so in many words.\n".repeat(40);
    let patch = Patch {
        says: "a longer SOUL.md".to_owned(),
        sources: vec!["written by the person".to_owned()],
        change: Change::Words {
            items: vec![WordsItem { what: "soul".to_owned(), name: "SOUL.md".to_owned(), text: long }],
        },
    };
    let first = tried(&world, &tasks[..1], &patch);
    let (parent, successor) = arms(&first);
    let tokens = |of: &Evidence| of.tasks.iter().map(|task| task.tokens).sum::<u64>();
    assert!(tokens(&successor) > tokens(&parent), "words cost: {successor:?}");
    assert_eq!(first.verdict.outcome, VerdictOutcome::Worse, "{:?}", first.verdict);
    let second = tried(&world, &tasks[..1], &patch);
    assert_eq!(compared(&first.verdict), compared(&second.verdict));
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn a_clone_that_uses_up_its_tokens_says_so_and_nothing_is_better_by_it() {
    if !has_walls() {
        return;
    }
    let (world, tasks) = worked();
    let patch = policy("allow FileEdit(notes/**)\n");
    let end = tried_within(&world, &tasks[..1], &patch, Budget { tokens: 1, ..AMPLE });
    assert_eq!(end.verdict.used.ended_for, Some(BudgetPart::Tokens), "{:?}", end.verdict);
    assert!(!matches!(end.verdict.outcome, VerdictOutcome::Better | VerdictOutcome::Same));
}

#[conforms(part = "HV-5-2")]
#[test]
fn tasks_are_drawn_by_a_seed_and_named_ones_come_first() {
    let (world, tasks) = worked();
    let kernel = world.kernel();
    let last = tasks.last().copied().expect("tasks");
    let drawn = draw(kernel, 3, &[last], 3).expect("drawn");
    assert_eq!((drawn.tasks.len(), drawn.tasks.first()), (3, Some(&last)));
    assert_eq!(drawn, draw(kernel, 3, &[last], 3).expect("drawn"));
    assert_eq!(draw(kernel, 3, &[], 100).expect("drawn").tasks.len(), tasks.len());
    // What is under way, and what nobody knows, cannot be played again.
    let open = world.script("write more", vec![write("notes/c.md", "text\n"), done("written")]);
    assert!(matches!(world.drive(open), DriveOutcome::Waiting(Waiting::Approval(_))));
    let why = draw(kernel, 3, &[open], 3).expect_err("it is under way");
    assert!(why.contains("cannot be played again"), "{why}");
    assert_eq!(draw(kernel, 3, &[], 100).expect("drawn").tasks.len(), tasks.len());
}

/// What a model answered is read for a case like everything else, and counts.
#[test]
fn a_drawn_task_that_is_too_large_is_left_out_and_a_named_one_is_refused_with_words() {
    let (world, tasks) = worked();
    let kernel = world.kernel();
    let text = "x".repeat(800_000);
    let many = |at: usize| Answer { text: text.clone(), ..write(&format!("notes/long{at}.md"), "text\n") };
    let script = (0..3).map(many).chain([done("written")]).collect();
    let large = world.script("say much and write little", script);
    assert_eq!(ended(&world, large), TaskStatus::Completed);
    let drawn = draw(kernel, 3, &[], 100).expect("drawn");
    assert_eq!((drawn.tasks.len(), drawn.tasks.contains(&large)), (tasks.len(), false));
    assert_eq!(drawn.left_out, [large]);
    let why = draw(kernel, 3, &[large], 3).expect_err("it is too large");
    assert!(why.contains(&format!("`{large}` cannot be played again")), "{why}");
    assert!(why.contains(&format!("more than {TASK_BYTES_MAX} bytes")), "{why}");
}

/// Each of them could be played, and not all of them together.
#[test]
fn drawn_tasks_that_are_too_large_together_are_left_out_until_the_rest_fits() {
    let (world, tasks) = worked();
    let kernel = world.kernel();
    let text = "x".repeat(800_000);
    for at in 0..7 {
        let many = |part: usize| Answer {
            text: text.clone(),
            ..write(&format!("notes/long{at}-{part}.md"), "text\n")
        };
        let script = (0..2).map(many).chain([done("written")]).collect();
        let task = world.script(&format!("say much, number {at}"), script);
        assert_eq!(ended(&world, task), TaskStatus::Completed);
    }
    let drawn = draw(kernel, 3, &[], 100).expect("drawn");
    assert_eq!((drawn.tasks.len(), drawn.left_out.len()), (tasks.len() + 5, 2));
    assert_eq!(drawn, draw(kernel, 3, &[], 100).expect("drawn"));
    let of = CaseOf { trial_id: "trial", seed: 7, budget: AMPLE, profile: PROFILE, tasks: &drawn.tasks };
    export(kernel, &of, ParentPlaces::default()).expect("it is no larger than a case may be");
}

#[conforms(part = "HV-5-6")]
#[test]
fn no_value_of_a_secret_leaves_with_a_case() {
    let (world, tasks) = worked();
    let value = zeroize::Zeroizing::new(b"written down number".to_vec());
    let redactor = redact::Redactor::new([("handle".to_owned(), value)]).expect("a redactor");
    let of = CaseOf { trial_id: "trial", seed: 7, budget: AMPLE, profile: PROFILE, tasks: &tasks };
    let goal = "written down number one".to_owned();
    let script = vec![look("keep.md"), done("looked")];
    world.reasoners.script(&goal, script);
    let named = Reasoning::Scripted { name: goal.clone() };
    let task = world.kernel().submit(&world.submission(&goal, named)).expect("submitted").task_id;
    assert_eq!(ended(&world, task), TaskStatus::Completed);
    world.redactor.put(redactor);
    let all: Vec<TaskId> = tasks.iter().copied().chain([task]).collect();
    let handed = export(world.kernel(), &CaseOf { tasks: &all, ..of }, ParentPlaces::default());
    let text = serde_json::to_string(&handed.expect("a case")).expect("JSON");
    assert!(text.contains("write down number 0") && !text.contains("written down number"), "{text}");
}

#[conforms(part = "HV-5-2", part = "HV-7-1")]
#[test]
fn a_verdict_is_signed_and_on_record() {
    if !has_walls() {
        return;
    }
    let (world, tasks) = worked();
    let patch = policy("allow FileEdit(notes/**)\n");
    let begun = kernel::command::successor::BegunTrial {
        patch: patch.clone(),
        about: "it asks less and breaks nothing".to_owned(),
        tasks: tasks[..1].to_vec(),
        left_out: Vec::new(),
        seed: 7,
        budget: AMPLE,
    };
    let trial_id = world.kernel().begin_trial(&begun).expect("begun");
    let mut end = tried(&world, &tasks[..1], &patch);
    end.verdict.trial_id.clone_from(&trial_id);
    world.kernel().end_trial(&end.verdict, &end.evidence).expect("on record");
    let registry = world.kernel().trial_registry();
    let trial = registry.get(&trial_id).expect("it is known");
    assert_eq!(trial.state, words::successor::TrialState::Judged);
    assert_eq!(trial.outcome, Some(end.verdict.outcome));
}
