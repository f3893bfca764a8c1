//! The historian's second look: the model of a task that ended, where it runs on this machine and nothing is at work, chooses of what a
//! person said and no rule understood (memory.md 4).

use super::STRIDE;
use crate::Error;
use crate::drive::weakest_seen;
use crate::kernel::Kernel;
use crate::query::view;
use crate::state::TaskState;
use knowledge::historian::second::{ASKED, Left, chosen, numbered};
use knowledge::historian::{Found, Reading, Rule};
use model::TaskId;
use model::artifact::TrustTier;
use projections::query::Brought;
use std::sync::atomic::Ordering;

/// Events of one task that are read; what lies behind them is left in its history.
const TASK_EVENTS_MAX: usize = 50_000;
/// How long it is waited for; what it has not chosen by then is left.
const PATIENCE_MS: i64 = 30_000;

/// Whether a look asks a model.
pub(super) struct Asks<'a> {
    /// Whether whoever looks goes on with it.
    pub(super) goes_on: &'a dyn Fn() -> bool,
    /// One did not answer.
    pub(super) is_over: bool,
}

impl Kernel {
    /// What the rules find in one task, and a model where it is asked; and how many events were read for it.
    pub(super) fn found_in(&self, task_id: TaskId, asks: &mut Asks<'_>) -> Result<(Vec<Found>, u64), Error> {
        let state = self.ended_state(task_id)?;
        let mut reading = Reading::new(task_id);
        let (mut after, mut count) = (0, 0);
        loop {
            let page = self.reader.events(task_id, after, STRIDE)?;
            let Some(last) = page.last().filter(|_| count < TASK_EVENTS_MAX) else { break };
            (after, count) = (last.task_seq, count.saturating_add(page.len()));
            for stored in page {
                let event = stored.event()?;
                let body = self.body_of(&event)?;
                reading.take(event.event_id, &body, self.is_typed(&state, &event, &body)?);
            }
        }
        let seen = state.attempt().map_or(TrustTier::Untrusted, |attempt| weakest_seen(&state, attempt));
        let brought = self.query()?.brought(&[task_id], &[]).map_err(view)?;
        let mut left = reading.left();
        left.retain(|one| brought.repeated_in(&one.text).is_none());
        let chosen = self.second_look(&state, &left, asks);
        let all = reading.found(seen).into_iter().chain(chosen);
        let found = all.filter(|one| is_without_secrets(&brought, one)).collect();
        Ok((found, u64::try_from(count).unwrap_or(u64::MAX)))
    }

    /// What the model chooses; nothing where there is none at hand, it does not answer, or says more than numbers. After one that
    /// did not answer none is asked any more in this look: a server that hangs holds it up once.
    fn second_look(&self, state: &TaskState, left: &[Left], asks: &mut Asks<'_>) -> Vec<Found> {
        let goes_on = asks.goes_on;
        let Some(words) = numbered(left).filter(|_| !asks.is_over && goes_on()) else { return Vec::new() };
        let Some(reasoner) = self.at_hand(state).filter(|_| self.is_idle()) else { return Vec::new() };
        let until = self.ports.clock.now().plus_ms(PATIENCE_MS);
        let stopped = || {
            !goes_on()
                || self.winding.load(Ordering::SeqCst)
                || !self.is_idle()
                || self.ports.clock.now() > until
        };
        let Some((_, reply)) = self.asked_at_hand(&*reasoner, (ASKED, &words), &stopped) else {
            asks.is_over = true;
            return Vec::new();
        };
        chosen(state.task.task_id, left, &reply.answer.text, &reasoner.descriptor().model)
    }
}

/// Whether a claim repeats nothing of a look into a secret. Behind one, what holds words of models and of acts is none: those are cut and
/// written otherwise, so a part of a value could stand in it. A person's own words are told whole.
fn is_without_secrets(brought: &Brought, one: &Found) -> bool {
    let is_own = matches!(one.rule, Rule::Correction | Rule::Chosen);
    (is_own || !brought.has_looked())
        && brought.repeated_in(&format!("{}\n{}", one.claim, one.reason)).is_none()
}
