//! What a trial left in the spool: shown while a person is asked, forgotten when nobody needs it any more, also behind a host that died.

use crate::Error;
use crate::kernel::Kernel;
use crate::state::{Stage, TaskState};
use model::receipt::ResultCode;
use model::{ActionRequestId, AttemptId, Digest, RelPath, TaskId};

impl Kernel {
    /// Forgets what a host has left in the spool when it died, but for what is still needed.
    pub(crate) fn sweep_spool(&self) {
        match self.ports.executors.sweep(self) {
            Ok(0) => {}
            Ok(swept) => tracing::info!(swept, "what a host that died has left of its acts is forgotten"),
            Err(error) => tracing::warn!(error, "what a host that died has left of its acts is still there"),
        }
    }

    /// The task of an attempt that is at work.
    fn at_work(&self, attempt: AttemptId) -> Result<Option<TaskState>, Error> {
        let broken = |e: projections::Error| Error::Broken(e.to_string());
        let Some(row) = self.query()?.attempt(attempt).map_err(broken)? else { return Ok(None) };
        let state = self.task(row.task_id)?;
        Ok(Some(state).filter(|s| !s.task.status.is_terminal() && s.current == Some(attempt)))
    }

    fn is_staged_run_wanted(&self, attempt: AttemptId) -> Result<bool, Error> {
        let Some(state) = self.at_work(attempt)? else { return Ok(false) };
        match state.attempt().and_then(crate::state::AttemptState::act).map(|act| &act.stage) {
            None | Some(Stage::Observed { .. } | Stage::Resolved(_)) => Ok(false),
            Some(_) => Ok(self.request_in_hand(&state)?.staged.is_some()),
        }
    }

    fn is_act_open(&self, act: ActionRequestId) -> Result<bool, Error> {
        let row = self.query()?.action(act).map_err(|e| Error::Broken(e.to_string()))?;
        let certain = |code: ResultCode| code != ResultCode::UnknownOutcome;
        Ok(row.is_none_or(|row| !row.result_code.is_some_and(certain)))
    }

    /// Bytes that a staged run has left for a path, while they wait for a person; none where they are gone.
    pub fn staged_bytes(
        &self,
        task: TaskId,
        attempt: AttemptId,
        path: &RelPath,
        sha256: &Digest,
    ) -> Option<Vec<u8>> {
        self.executors(&self.task(task).ok()?).ok()?.staged_bytes(attempt, path, sha256).ok()
    }

    /// Nothing of a staged run is needed any more. What stays behind harms nobody and is swept by the next one.
    pub(crate) fn unstage(&self, state: &TaskState, attempt: AttemptId) {
        if state.task.workspace_hint.is_none() {
            return;
        }
        if let Err(error) =
            self.executors(state).and_then(|executors| executors.unstage(attempt).map_err(Error::Input))
        {
            tracing::warn!(%attempt, %error, "what a staged run left is still there");
        }
    }
}

/// What cannot be told is kept: it harms nobody.
impl effects::Needed for Kernel {
    fn staged(&self, attempt: AttemptId) -> bool {
        self.is_staged_run_wanted(attempt).unwrap_or(true)
    }

    fn attempt(&self, attempt: AttemptId) -> bool {
        self.at_work(attempt).map_or(true, |state| state.is_some())
    }

    fn act(&self, act: ActionRequestId) -> bool {
        self.is_act_open(act).unwrap_or(true)
    }
}
