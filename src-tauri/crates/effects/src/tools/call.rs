//! Calling a tool of a server.

use super::{Execution, Executor};
use crate::{Executors, Outcome, Progress, Settled, server};
use acts::{ActionRequest, Call};
use model::witness::StateWitness;

impl Executor for Call {
    fn perform(&self, act: &Execution<'_>, _: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        let Execution { executors, scope, request, started, cancelled } = act;
        server::call(executors, scope, request, self, *started, *cancelled)
    }

    fn settle(
        &self,
        executors: &Executors,
        request: &ActionRequest,
        before: &StateWitness,
        settled: &mut Settled,
    ) {
        settled.outcome = server::settle(executors, request, self, before.observed_at);
        settled.repeats = settled.outcome.is_none();
    }

    /// Only where a person said that it may be done again.
    fn roll_forward(&self, act: &Execution<'_>, settled: &Settled) -> Option<Outcome> {
        settled.repeats.then(|| self.perform(act, &mut |_| {}))
    }
}
