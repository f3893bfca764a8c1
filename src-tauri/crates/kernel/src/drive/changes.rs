//! A change of Hermit that the agent of a task proposes to try (successor.md 4): whether it can be read at all, before anybody is asked.

use super::normalise::Unfit;
use crate::Error;
use crate::kernel::Kernel;
use ::successor::Patch;
use acts::{Action, TryChange};
use model::TaskId;

/// The tool by which a model has a change of Hermit tried.
pub(super) const TRY_CHANGE: &str = "try_change";

impl Kernel {
    /// The act of a trial, with its change in the one spelling that its digest is of, or why there can be none.
    pub(super) fn trial_act(&self, change: &TryChange) -> Result<Action, Unfit> {
        self.ports.executors.tries_changes().map_err(Unfit)?;
        let unfit = |e: ::successor::Error| Unfit(format!("nothing was tried: {e}"));
        let patch = Patch::read(change.patch.as_bytes()).map_err(unfit)?;
        let bytes = patch.bytes().map_err(unfit)?;
        let patch = String::from_utf8(bytes).map_err(|e| Unfit(format!("nothing was tried: {e}")))?;
        Ok(Action::TryChange(TryChange { patch, ..change.clone() }))
    }

    /// What is left of a task's budget: tokens, and milliseconds of work.
    ///
    /// # Errors
    /// When there is no such task, or it cannot be read.
    pub fn left_of_budget(&self, task_id: TaskId) -> Result<(u64, u64), Error> {
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        let budget = state.budget(&self.contract(&state)?);
        let tokens = budget.tokens_max.saturating_sub(state.tokens_spent);
        let wall_ms = budget.wall_ms_max.saturating_sub(state.wall_ms);
        Ok((tokens, u64::try_from(wall_ms).unwrap_or(0)))
    }
}
