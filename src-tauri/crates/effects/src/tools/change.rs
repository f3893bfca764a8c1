//! Changing files.

use super::{Execution, Executor};
use crate::change::{self, settle};
use crate::{Executors, Outcome, Progress, Settled};
use acts::{ActionRequest, Change};
use model::receipt::SandboxLevel;
use model::witness::StateWitness;

impl Executor for Change {
    fn perform(&self, act: &Execution<'_>, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        outcome(act, change::perform(act, &self.items, None, progress))
    }

    fn settle(
        &self,
        executors: &Executors,
        request: &ActionRequest,
        before: &StateWitness,
        settled: &mut Settled,
    ) {
        settle::items(executors, request, &self.items, before, settled);
    }

    fn roll_forward(&self, act: &Execution<'_>, settled: &Settled) -> Option<Outcome> {
        Some(outcome(act, change::perform(act, &self.items, Some(settled), &mut |_| {})))
    }
}

/// What a change set came to, as an outcome.
pub(super) fn outcome(act: &Execution<'_>, done: change::Done) -> Outcome {
    let Execution { executors, request, started, .. } = act;
    let items = match &request.action {
        acts::Action::Change(change) => change.items.as_slice(),
        _ => &[],
    };
    let told = request.guest.iter().flat_map(|work| acts::unreported(work, items));
    Outcome {
        result_code: done.result_code(),
        changes: done.changes,
        outputs: Vec::new(),
        ran: executors.ran(&request.action.executor(), request, *started),
        sandbox_level: SandboxLevel::Beneath,
        observed: told.chain(done.observed).collect(),
        error: done.error,
        kept: Vec::new(),
    }
}
