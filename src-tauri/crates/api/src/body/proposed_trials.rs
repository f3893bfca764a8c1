//! Trials that the agent of a task proposes (HV-3.2-5, HV-5-1): begun by the same steps as those that a person begins, over the task as far
//! as it came and finished ones beside it, within what is left of the task's budget. What comes of one is told, and adopts nothing.

use super::successor::{budget, fresh_seed, patches, shown};
use crate::{Host, Wire as _, no_host, not_found, usage};
use ::successor::{Budget, TrialState};
use acts::TryChange;
use kernel::command::successor::BegunTrial;
use model::{ActionRequestId, TaskId};
use serde_json::{Value, json};
use wire::successor::{Trial, Try};
use wire::{Code, Error};

/// Differences, and reasons, that the agent is told of; a person sees more.
const TOLD_MAX: usize = 20;
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
    };
    let read = patches(&asked.patches)?;
    let budget = within(budget(&asked, &read), kernel.left_of_budget(proposed.task_id).wire()?)?;
    let seed = fresh_seed(host);
    let most = usize::try_from(change.drawn()).unwrap_or(usize::MAX);
    let mut tasks = if most == 0 { Vec::new() } else { trials.draw(seed, &[], most)? };
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
    let begun = BegunTrial { patch, about: asked.about, tasks, seed, budget };
    let trial_id = kernel.begin_trial_of((proposed.task_id, proposed.act), &begun).wire()?;
    if let Err(error) = trials.begin(&trial_id) {
        kernel.fail_trial(&trial_id, &error.message).wire()?;
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

/// What the trial of an act came to: in one line, and as JSON for the agent that proposed it. None while it runs.
///
/// # Errors
/// [`Code::NotFound`] where it was never begun; [`Code::Failed`] with why there is no verdict.
pub fn proposed_came(host: &dyn Host, act: ActionRequestId) -> Result<Option<(String, Value)>, Error> {
    let registry = host.kernel()?.trial_registry();
    let record = registry.of_act(act).ok_or_else(|| not_found("trial of the act", &act.to_string()))?;
    let (id, outcome) = match (record.state, record.outcome) {
        (TrialState::Running, _) => return Ok(None),
        (TrialState::Judged | TrialState::Adopted | TrialState::Returned, Some(outcome)) => {
            (record.trial_id.clone(), outcome)
        }
        (state, _) => {
            let why = record.why.clone().unwrap_or_else(|| "nobody said why".to_owned());
            return Err(Error::new(
                Code::Failed,
                format!("the trial `{}` is {state}: {why}", record.trial_id),
            ));
        }
    };
    let Trial { trial, tasks, mut verdict, .. } = shown(host, &registry, record)?;
    if let Some(verdict) = &mut verdict {
        verdict.reasons.truncate(TOLD_MAX);
        let more = verdict.differences.len().saturating_sub(TOLD_MAX);
        verdict.differences.truncate(TOLD_MAX);
        verdict.more_differences =
            verdict.more_differences.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
    }
    let first = verdict.as_ref().and_then(|verdict| verdict.reasons.first());
    let because = first.map(|reason| format!(": {}", reason.says)).unwrap_or_default();
    let told = json!({
        "trial": trial,
        "tasks": tasks,
        "verdict": verdict,
        "adopting": "nothing was changed; a person alone adopts a change",
    });
    Ok(Some((format!("the trial `{id}` came to {outcome}{because}"), told)))
}
