//! Trials of changes of Hermit that tasks propose (HV-3.2-5, HV-5-1): begun as a person's are, waited for by the act, and stopped with it.

use crate::Local;
use api::{BegunProposed, Host as _, ProposedTrial, begin_proposed, proposed_came};
use effects::{AskedTrial, TrialCame, Trials};
use model::{ActionRequestId, TaskId};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// How often it is looked whether there is a verdict.
const LOOK: Duration = Duration::from_millis(50);

/// Trials by the process that holds the store, once it is known.
#[derive(Default)]
pub struct OwnTrials(OnceLock<Weak<Local>>);

impl OwnTrials {
    /// The process is this one; the first one stays.
    pub(crate) fn of(&self, local: &Arc<Local>) {
        self.0.get_or_init(|| Arc::downgrade(local));
    }

    /// Whether there is a store by which they are made.
    ///
    /// # Errors
    /// Why not, in words.
    pub(crate) fn are_of_a_store(&self) -> Result<(), String> {
        self.local().map(drop)
    }

    fn local(&self) -> Result<Arc<Local>, String> {
        self.0.get().and_then(Weak::upgrade).ok_or_else(|| "this process makes no trials".to_owned())
    }
}

impl Trials for OwnTrials {
    fn try_change(
        &self,
        asked: &AskedTrial<'_>,
        cancelled: &dyn Fn() -> bool,
        at_work: &mut dyn FnMut(),
    ) -> Result<TrialCame, String> {
        let (began, left, begun) = {
            let local = self.local()?;
            let kernel = local.kernel().map_err(|e| e.message)?;
            let (_, wall_ms) = kernel.left_of_budget(asked.task_id).map_err(|e| e.to_string())?;
            let proposed =
                ProposedTrial { task_id: asked.task_id, act: asked.action_request_id, change: asked.change };
            let begun = begin_proposed(&*local, &proposed).map_err(|e| e.message)?;
            (Instant::now(), Duration::from_millis(wall_ms), begun)
        };
        let BegunProposed { trial_id, without_own } = begun;
        let is_over = || match (cancelled(), began.elapsed() > left) {
            (true, _) => Some("the task that proposed it was stopped"),
            (false, true) => Some("the time of the task that proposed it was used up"),
            (false, false) => None,
        };
        let came = self.waited(asked, &trial_id, &is_over, at_work);
        if came.is_err()
            && let Ok(local) = self.local()
        {
            // Nobody waits for it any more, for whatever reason; one that has its end keeps it.
            let _ = stop(&local, &trial_id, "the task that proposed it waits for it no more");
        }
        let mut came = came?;
        let why = without_own.map(|why| format!(" (it was played without this task: {why})"));
        came.says.push_str(&why.unwrap_or_default());
        Ok(came)
    }

    fn came(&self, task: TaskId, act: ActionRequestId) -> Result<TrialCame, String> {
        let local = self.local()?;
        came_of(&local, (task, act))?.ok_or_else(|| "it was interrupted, and goes on by itself".to_owned())
    }
}

impl OwnTrials {
    /// Waits for a trial to its end, and stops it where `is_over` says why.
    fn waited(
        &self,
        asked: &AskedTrial<'_>,
        trial_id: &str,
        is_over: &dyn Fn() -> Option<&'static str>,
        at_work: &mut dyn FnMut(),
    ) -> Result<TrialCame, String> {
        loop {
            // Held no longer than for a look: a process that ends is not kept.
            let local = self.local()?;
            if let Some(came) = came_of(&local, (asked.task_id, asked.action_request_id))? {
                return Ok(came);
            }
            if let Some(why) = is_over() {
                stop(&local, trial_id, why)?;
            }
            drop(local);
            at_work();
            std::thread::sleep(LOOK);
        }
    }
}

/// What the trial of an act of a task came to; none while it runs.
fn came_of(local: &Local, of: (TaskId, ActionRequestId)) -> Result<Option<TrialCame>, String> {
    let Some((says, told)) = proposed_came(local, of).map_err(|e| e.message)? else { return Ok(None) };
    let told = serde_json::to_vec(&told).map_err(|e| e.to_string())?;
    Ok(Some(TrialCame { says, told }))
}

/// Ends a trial for a reason, which no person said; one that has its end keeps it.
///
/// # Errors
/// In words, where that is not on record. What runs of it ends all the same.
fn stop(local: &Local, trial_id: &str, why: &str) -> Result<(), String> {
    let on_record = match local.kernel() {
        Ok(kernel) => match kernel.stop_trial_unasked(trial_id, why) {
            Ok(()) | Err(kernel::Error::Conflict(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        },
        Err(error) => Err(error.message),
    };
    if let Some(trials) = local.trials() {
        trials.stop(trial_id);
    }
    on_record.map_err(|error| {
        tracing::warn!(trial = trial_id, %error, "that a trial was stopped is not on record");
        format!("{why}, and that is not on record: {error}")
    })
}
