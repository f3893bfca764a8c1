//! A turn of a guest: in a staged view, whose difference is told and not carried over.

use super::{Execution, Executor};
use crate::{Executors, Outcome, Progress, Settled, stage};
use acts::{ActionRequest, Guest};
use model::witness::StateWitness;

impl Executor for Guest {
    fn perform(&self, act: &Execution<'_>, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        stage::guest::run(act, self, progress)
    }

    /// Nothing of it can be in the folder, and it ended with its host.
    fn settle(
        &self,
        executors: &Executors,
        request: &ActionRequest,
        before: &StateWitness,
        settled: &mut Settled,
    ) {
        settled.outcome = Some(stage::guest::interrupted(executors, request, self, before.observed_at));
    }
}
