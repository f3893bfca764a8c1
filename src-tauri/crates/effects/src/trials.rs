//! Trials of changes of Hermit, which are lent. This room knows nothing of clones, cases and verdicts.

use acts::TryChange;
use model::{ActionRequestId, TaskId};

/// A change that the agent of a task wants tried.
#[derive(Debug, Clone, Copy)]
pub struct AskedTrial<'a> {
    /// The task, which is played as far as it came.
    pub task_id: TaskId,
    /// The act by which the trial is known again.
    pub action_request_id: ActionRequestId,
    /// The change, and how it is tried.
    pub change: &'a TryChange,
}

/// What a trial came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialCame {
    /// In one line.
    pub says: String,
    /// The verdict with its reasons, as JSON. It is told of clones, and nobody here believes it.
    pub told: Vec<u8>,
}

/// Tries changes of Hermit.
pub trait Trials: Send + Sync {
    /// Begins a trial and waits for its verdict; it is stopped where `cancelled` says so. `at_work` is told now and then.
    ///
    /// # Errors
    /// In words, where there is no verdict.
    fn try_change(
        &self,
        asked: &AskedTrial<'_>,
        cancelled: &dyn Fn() -> bool,
        at_work: &mut dyn FnMut(),
    ) -> Result<TrialCame, String>;

    /// What the trial of an act of a task came to that nobody waited for to its end. Nothing is begun.
    ///
    /// # Errors
    /// In words, where there is no verdict.
    fn came(&self, task: TaskId, act: ActionRequestId) -> Result<TrialCame, String>;
}

/// No trial of any change.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTrials;

impl Trials for NoTrials {
    fn try_change(
        &self,
        _: &AskedTrial<'_>,
        _: &dyn Fn() -> bool,
        _: &mut dyn FnMut(),
    ) -> Result<TrialCame, String> {
        Err("this process tries no change of Hermit".to_owned())
    }

    fn came(&self, _: TaskId, _: ActionRequestId) -> Result<TrialCame, String> {
        Err("this process tries no change of Hermit".to_owned())
    }
}
