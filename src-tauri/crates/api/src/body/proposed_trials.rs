//! Trials that the agent of a task proposes (HV-3.2-5, HV-5-1): begun by the same steps as those that a person begins, over the task as far
//! as it came and finished ones beside it, within what is left of the task's budget. What comes of one is told, and adopts nothing.

use super::successor::{budget, fresh_seed, patches, shown};
use super::trials_on_record::not_begun;
use crate::{Drawn, Host, Wire as _, no_host, not_found, usage};
use ::successor::{Budget, PatchKind, TrialState};
use acts::TryChange;
use kernel::command::successor::BegunTrial;
use model::{ActionRequestId, TaskId};
use serde_json::{Value, json};
use wire::successor::{Trial, TrialReason, TrialVerdict, Try};
use wire::{Code, Error};

/// Differences, and reasons, that the agent is told of; a person sees more.
const TOLD_MAX: usize = 20;
/// Characters that it is told of each.
const CHARS_MAX: usize = 200;
/// Milliseconds that a trial is never given less than.
const WALL_MS_MIN: u64 = 1_000;

/// A change that the agent of a task wants tried.
#[derive(Debug, Clone, Copy)]
pub struct ProposedTrial<'a> {
    /// The task.
    pub task_id: TaskId,
    /// The act that proposes it.
    pub act: ActionRequestId,
    /// The change, and how it is tried.
    pub change: &'a TryChange,
}

/// A trial that a task proposed and that has begun.
#[derive(Debug, Clone)]
pub struct BegunProposed {
    /// Its identifier.
    pub trial_id: String,
    /// Why the task itself is not among those that are played, where it is not.
    pub without_own: Option<String>,
}

/// Begins a trial that a task proposes.
///
/// # Errors
/// [`Code::Usage`] for what is no change, and where nothing could be played; [`Code::NoHost`]; what the kernel says.
pub fn begin_proposed(host: &dyn Host, proposed: &ProposedTrial<'_>) -> Result<BegunProposed, Error> {
    let (kernel, change) = (host.kernel()?, proposed.change);
    let trials = host.trials().ok_or_else(no_host)?;
    let asked = Try {
        patches: vec![change.patch.clone()],
        about: change.about.clone(),
        tasks: Vec::new(),
        draw: Some(change.drawn()),
        seed: None,
        wall_seconds: Some(change.seconds()),
        cpu_seconds: None,
        memory_mb: None,
        disk_mb: None,
        processes: None,
        tokens: None,
        ask: None,
    };
    let read = patches(&asked.patches)?;
    let budget = within(budget(&asked, &read), kernel.left_of_budget(proposed.task_id).wire()?)?;
    let seed = fresh_seed(host);
    let most = usize::try_from(change.drawn()).unwrap_or(usize::MAX);
    let Drawn { mut tasks, mut left_out } =
        if most == 0 { Drawn::default() } else { trials.draw(seed, &[], most)? };
    // Of itself the task is told why it is not played.
    left_out.retain(|task| *task != proposed.task_id);
    let so_far = trials.so_far(proposed.task_id);
    match &so_far {
        Ok(()) => tasks.insert(0, proposed.task_id),
        Err(why) if tasks.is_empty() => {
            let says = format!("there is nothing to try it on: no finished task, and of this one {why}");
            return Err(usage(says));
        }
        Err(_) => {}
    }
    let patch = read.into_iter().next().ok_or_else(|| usage("there is no change"))?;
    let begun = BegunTrial { patch, about: asked.about, tasks, left_out, seed, budget };
    let trial_id = kernel.begin_trial_of((proposed.task_id, proposed.act), &begun).wire()?;
    if let Err(error) = trials.begin(&trial_id, None) {
        not_begun(kernel, &trial_id, &error.message)?;
    }
    Ok(BegunProposed { trial_id, without_own: so_far.err() })
}

/// The same budget, and no more than is left to whoever proposes.
fn within(budget: Budget, (tokens, wall_ms): (u64, u64)) -> Result<Budget, Error> {
    if tokens == 0 || wall_ms < WALL_MS_MIN {
        return Err(usage("the budget of the task is used up, so nothing can be tried within it"));
    }
    Ok(Budget {
        wall_ms: budget.wall_ms.min(wall_ms),
        cpu_ms: budget.cpu_ms.min(wall_ms.saturating_mul(2)),
        tokens: budget.tokens.min(tokens),
        ..budget
    })
}

/// What the trial of an act of a task came to: in one line, and as JSON for the agent that proposed it. None while it runs. Of other
/// tasks there is nothing in it but identifiers, rules and counts.
///
/// # Errors
/// [`Code::NotFound`] where it was never begun; [`Code::Failed`] with why there is no verdict.
pub fn proposed_came(
    host: &dyn Host,
    (task, act): (TaskId, ActionRequestId),
) -> Result<Option<(String, Value)>, Error> {
    let registry = host.kernel()?.trial_registry();
    let record = registry.of_act(act).ok_or_else(|| not_found("trial of the act", &act.to_string()))?;
    let (id, outcome) = match (record.state, record.outcome) {
        (TrialState::Running, _) => return Ok(None),
        (TrialState::Judged | TrialState::Adopted | TrialState::Returned, Some(outcome)) => {
            (record.trial_id.clone(), outcome)
        }
        (state, _) => {
            let why = record.why.as_deref().map_or_else(|| "nobody said why".to_owned(), cut);
            return Err(Error::new(
                Code::Failed,
                format!("the trial `{}` is {state}: {why}", record.trial_id),
            ));
        }
    };
    let Trial { mut trial, tasks, verdict, .. } = shown(host, &registry, record)?;
    // Why a person took it back again is said to nobody else.
    trial.why = None;
    trial.measures.truncate(TOLD_MAX);
    let verdict = verdict.map(|verdict| told(verdict, trial.kind, &task.to_string()));
    let first = verdict.as_ref().and_then(|verdict| verdict.reasons.first());
    let because = first.map(|reason| format!(": {}", reason.rule)).unwrap_or_default();
    let told = json!({
        "trial": trial,
        "tasks": tasks,
        "verdict": verdict,
        "adopting": "nothing was changed; a person alone adopts a change",
    });
    Ok(Some((format!("the trial `{id}` came to {outcome}{because}"), told)))
}

/// A verdict as the agent of a task is told it: words of acts are those of this task alone, and of no program that was changed, which
/// says of itself what it likes. Whatever else differs is counted.
fn told(mut verdict: TrialVerdict, kind: PatchKind, task: &str) -> TrialVerdict {
    let mut rules: Vec<TrialReason> = Vec::new();
    for reason in verdict.reasons {
        // What it says names acts of whatever task.
        if rules.len() < TOLD_MAX && !rules.iter().any(|one| one.rule == reason.rule) {
            rules.push(TrialReason { rule: cut(&reason.rule), says: String::new() });
        }
    }
    verdict.reasons = rules;
    let all = verdict.differences.len();
    verdict.differences.retain(|one| kind != PatchKind::Code && one.task_id == task);
    verdict.differences.truncate(TOLD_MAX);
    let more = all.saturating_sub(verdict.differences.len());
    verdict.more_differences =
        verdict.more_differences.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
    for one in &mut verdict.differences {
        let verdicts = one.before.iter_mut().chain(one.after.iter_mut());
        for text in [&mut one.summary, &mut one.class].into_iter().chain(verdicts) {
            *text = cut(text);
        }
    }
    if let Some(tests) = &mut verdict.tests {
        let parent = tests.parent.as_mut().map(|parent| [&mut parent.failed, &mut parent.not_run]);
        for names in [&mut tests.failed, &mut tests.edited].into_iter().chain(parent.into_iter().flatten()) {
            bound(names);
        }
    }
    bound(&mut verdict.constitutional);
    verdict.planted.truncate(TOLD_MAX);
    verdict.opinion = None;
    verdict
}

/// As many of these as are told, each as long as is told.
fn bound(texts: &mut Vec<String>) {
    texts.truncate(TOLD_MAX);
    texts.iter_mut().for_each(|text| *text = cut(text));
}

/// The beginning of a text of whatever length.
fn cut(text: &str) -> String {
    text.chars().take(CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::successor::{TrialBudget, TrialDifference, TrialParentTests, TrialTests};

    fn verdict() -> TrialVerdict {
        let reason = |rule: &str| TrialReason { rule: rule.to_owned(), says: "secret words".to_owned() };
        let difference = |task: &str| TrialDifference {
            task_id: task.to_owned(),
            summary: format!("of {task} {}", "x".repeat(CHARS_MAX)),
            class: "edit".to_owned(),
            before: Some("allow".to_owned()),
            after: None,
            effect_differs: true,
        };
        let long = || vec!["y".repeat(10 * CHARS_MAX); 10 * TOLD_MAX];
        TrialVerdict {
            reasons: vec![reason("costs_more"), reason("costs_more"), reason("denies_more")],
            tests: Some(TrialTests {
                suite: "all".to_owned(),
                passed: 1,
                failed: long(),
                edited: long(),
                parent: Some(TrialParentTests { passed: 1, failed: long(), not_run: long() }),
            }),
            planted: Vec::new(),
            used: TrialBudget {
                wall_ms: 1,
                cpu_ms: 1,
                memory_bytes: 1,
                disk_bytes: 1,
                processes: None,
                tokens: 1,
            },
            ended_for: None,
            constitutional: Vec::new(),
            opinion: Some("secret words".to_owned()),
            differences: vec![difference("other"), difference("own"), difference("other")],
            more_differences: 5,
            has_evidence: true,
            verdict_sha256: String::new(),
            evidence_sha256: Vec::new(),
            evaluator_sha256: String::new(),
            is_signed: Some(true),
        }
    }

    #[test]
    fn of_other_tasks_nothing_is_told_but_identifiers_rules_and_counts() {
        let words = told(verdict(), PatchKind::Words, "own");
        let rules: Vec<(&str, &str)> =
            words.reasons.iter().map(|one| (one.rule.as_str(), one.says.as_str())).collect();
        assert_eq!(rules, [("costs_more", ""), ("denies_more", "")]);
        let tasks: Vec<&str> = words.differences.iter().map(|one| one.task_id.as_str()).collect();
        assert_eq!((tasks, words.more_differences), (vec!["own"], 7));
        assert_eq!(words.differences[0].summary.chars().count(), CHARS_MAX);
        assert_eq!(words.opinion, None);
        // What a changed program says of itself is told of no task.
        let code = told(verdict(), PatchKind::Code, "own");
        assert_eq!((code.differences.len(), code.more_differences), (0, 8));
        let tests = code.tests.unwrap();
        let parent = tests.parent.unwrap();
        for names in [tests.failed, tests.edited, parent.failed, parent.not_run] {
            assert!(names.len() == TOLD_MAX && names.iter().all(|name| name.len() == CHARS_MAX));
        }
    }
}
