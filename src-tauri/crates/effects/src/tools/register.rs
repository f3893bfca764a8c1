//! Changing what Hermit may do: the kernel does it itself, in the commit that authorises it.

use super::{Execution, Executor};
use crate::{Error, Executors, Outcome, Progress, Settled};
use acts::{ActionRequest, Register};
use model::witness::StateWitness;

impl Executor for Register {
    fn perform(&self, act: &Execution<'_>, _: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        let error = Error::Request("no executor changes what Hermit may do; the kernel does".to_owned());
        act.executors.refused(act.request, act.started, &error)
    }

    /// Written with its commit, or not at all.
    fn settle(&self, _: &Executors, _: &ActionRequest, _: &StateWitness, _: &mut Settled) {}
}
