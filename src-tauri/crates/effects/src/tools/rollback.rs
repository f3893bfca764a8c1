//! Undoing what receipts tell of: the inverse change set, which `undo` has planned.

use super::{Execution, Executor};
use crate::change::{self, settle};
use crate::{Executors, Outcome, Progress, Settled};
use acts::{ActionRequest, Rollback};
use model::receipt::ResultCode;
use model::witness::StateWitness;

impl Executor for Rollback {
    fn perform(&self, act: &Execution<'_>, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        outcome(self, act, change::perform(act, &self.items, None, progress))
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
        Some(outcome(self, act, change::perform(act, &self.items, Some(settled), &mut |_| {})))
    }
}

/// The outcome of an undo. What was left was never an item: it is named, place by place, as not done.
fn outcome(undo: &Rollback, act: &Execution<'_>, mut done: change::Done) -> Outcome {
    let result_code = match done.result_code() {
        ResultCode::Succeeded if !undo.left.is_empty() => ResultCode::Partial,
        code => code,
    };
    if !undo.left.is_empty() {
        done.leave(act.executors, &undo.left);
    }
    Outcome { result_code, ..super::change::outcome(act, done) }
}
