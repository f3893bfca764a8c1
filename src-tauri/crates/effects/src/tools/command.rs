//! Running a program: behind walls in the folder itself, or carried over from its staged view.

use super::{Execution, Executor};
use crate::change::settle;
use crate::{Executors, Outcome, Progress, Settled, command, stage};
use acts::{ActionRequest, Command};
use model::witness::StateWitness;

impl Executor for Command {
    fn perform(&self, act: &Execution<'_>, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        match &act.request.staged {
            Some(staged) => stage::commit::commit(act, staged, None, progress),
            None => {
                let Execution { executors, scope, request, started, cancelled } = act;
                command::run(executors, scope, request, *started, *cancelled, progress)
            }
        }
    }

    fn settle(
        &self,
        executors: &Executors,
        request: &ActionRequest,
        before: &StateWitness,
        settled: &mut Settled,
    ) {
        match &request.staged {
            Some(staged) => settle::items(executors, request, &staged.items, before, settled),
            None => settle::command(executors, request, settled),
        }
    }

    /// What was staged is carried over to its end; a command itself never runs again.
    fn roll_forward(&self, act: &Execution<'_>, settled: &Settled) -> Option<Outcome> {
        let staged = act.request.staged.as_ref()?;
        Some(stage::commit::commit(act, staged, Some(settled), &mut |_| {}))
    }
}
