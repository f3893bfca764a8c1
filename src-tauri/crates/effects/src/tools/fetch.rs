//! Asking a server, once.

use super::{Execution, Executor};
use crate::{Executors, Outcome, Progress, Settled, http};
use acts::{ActionRequest, Fetch};
use model::witness::StateWitness;

impl Executor for Fetch {
    fn perform(&self, act: &Execution<'_>, _: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        let Execution { executors, scope, request, started, cancelled } = act;
        http::fetch(executors, scope, request, *started, *cancelled)
    }

    fn settle(
        &self,
        executors: &Executors,
        request: &ActionRequest,
        before: &StateWitness,
        settled: &mut Settled,
    ) {
        settled.outcome = Some(http::settle(executors, request, before.observed_at));
    }
}
