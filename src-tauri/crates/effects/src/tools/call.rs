//! Calling a tool of a server.

use super::{Execution, Executor};
use crate::change::settle;
use crate::{Executors, Outcome, Progress, Settled, server, stage};
use acts::{ActionRequest, Call};
use model::witness::StateWitness;

impl Executor for Call {
    fn perform(&self, act: &Execution<'_>, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        if let Some(staged) = &act.request.staged {
            return stage::commit::commit(act, staged, None, progress);
        }
        let Execution { executors, scope, request, started, cancelled } = act;
        server::call(executors, scope, request, self, *started, progress, *cancelled)
    }

    fn settle(
        &self,
        executors: &Executors,
        request: &ActionRequest,
        before: &StateWitness,
        settled: &mut Settled,
    ) {
        if let Some(staged) = &request.staged {
            return settle::items(executors, request, &staged.items, before, settled);
        }
        settled.outcome = server::settle(executors, request, self, before.observed_at);
        (settled.repeats, settled.only_looks) = (settled.outcome.is_none(), self.only_looks());
    }

    /// What was staged is carried over to its end; else only where a person said that it may be done again.
    fn roll_forward(&self, act: &Execution<'_>, settled: &Settled) -> Option<Outcome> {
        match &act.request.staged {
            Some(staged) => Some(stage::commit::commit(act, staged, Some(settled), &mut |_| {})),
            None => settled.repeats.then(|| self.perform(act, &mut |_| {})),
        }
    }
}
