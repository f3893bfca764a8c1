//! Changing version control.

use super::{Execution, Executor};
use crate::{Executors, Outcome, Progress, Settled, vcs};
use acts::{ActionRequest, Vcs};
use model::witness::StateWitness;

impl Executor for Vcs {
    fn perform(&self, act: &Execution<'_>, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        let Execution { executors, scope, request, started, cancelled } = act;
        vcs::perform(executors, scope, request, *started, *cancelled, progress)
    }

    fn settle(
        &self,
        executors: &Executors,
        request: &ActionRequest,
        before: &StateWitness,
        settled: &mut Settled,
    ) {
        settled.outcome = Some(vcs::settle(executors, request, before));
    }
}
