//! Making one folder.

use super::{Execution, Executor};
use crate::change::{self, settle};
use crate::{Executors, Outcome, Progress, Settled};
use acts::{ActionRequest, Folder};
use model::witness::StateWitness;

impl Executor for Folder {
    fn perform(&self, act: &Execution<'_>, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        super::change::outcome(act, change::perform(act, &self.items(), None, progress))
    }

    fn settle(&self, executors: &Executors, request: &ActionRequest, before: &StateWitness, settled: &mut Settled) {
        settle::items(executors, request, &self.items(), before, settled);
    }

    fn roll_forward(&self, act: &Execution<'_>, settled: &Settled) -> Option<Outcome> {
        Some(super::change::outcome(act, change::perform(act, &self.items(), Some(settled), &mut |_| {})))
    }
}
