//! Asking a server, once.

use super::{Execution, Executor};
use crate::{Hands, Outcome, Progress, Settled, http};
use acts::{ActionRequest, Fetch};
use model::witness::StateWitness;

impl Executor for Fetch {
    fn perform(&self, act: &Execution<'_>, _: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        let Execution { hands, scope, request, started, cancelled } = act;
        http::fetch(hands, scope, request, *started, *cancelled)
    }

    fn settle(&self, hands: &Hands, request: &ActionRequest, before: &StateWitness, settled: &mut Settled) {
        settled.outcome = Some(http::settle(hands, request, before.observed_at));
    }
}
