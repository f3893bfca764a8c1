//! The historian's second look: the model of a task that ended, where it runs on this machine and nothing is at work, chooses of what a
//! person said and no rule understood (memory.md 4).

use crate::kernel::Kernel;
use crate::state::TaskState;
use knowledge::historian::Found;
use knowledge::historian::second::{ASKED, Left, chosen, numbered};
use std::sync::atomic::Ordering;

/// How long it is waited for; what it has not chosen by then is left.
const PATIENCE_MS: i64 = 30_000;

impl Kernel {
    /// What the model chooses; nothing where there is none at hand, it does not answer, or says more than numbers. After one that
    /// did not answer none is asked any more in this look: a server that hangs holds it up once.
    pub(super) fn second_look(&self, state: &TaskState, left: &[Left], asks: &mut bool) -> Vec<Found> {
        let Some(words) = numbered(left).filter(|_| *asks) else { return Vec::new() };
        let Some(reasoner) = self.at_hand(state).filter(|_| self.is_idle()) else { return Vec::new() };
        let until = self.ports.clock.now().plus_ms(PATIENCE_MS);
        let stopped =
            || self.winding.load(Ordering::SeqCst) || !self.is_idle() || self.ports.clock.now() > until;
        let Some((_, reply)) = self.asked_at_hand(&*reasoner, (ASKED, &words), &stopped) else {
            *asks = false;
            return Vec::new();
        };
        chosen(state.task.task_id, left, &reply.answer.text, &reasoner.descriptor().model)
    }
}
