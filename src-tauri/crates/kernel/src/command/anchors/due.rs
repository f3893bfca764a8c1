//! What is due by time: what was interrupted, what is pending, what is given up, and heads that are anchored by themselves.

use super::{AnchorTerms, By, ToAnchor, can_be_asked};
use crate::Error;
use crate::anchor_registry::{AnchorRecord, ClockRecord};
use crate::kernel::{Kernel, lock};
use crate::query::view;
use model::anchor::AnchorClock;
use model::{TaskId, UnixMs};

/// Milliseconds of an hour.
const HOUR_MS: i64 = 3_600_000;

impl Kernel {
    /// Does what is due by time: what was interrupted is begun, what is pending is asked about again, what was pending for too
    /// long is given up, and a head is anchored where that is to be done by itself. Answers with the tasks that are to be driven.
    ///
    /// # Errors
    /// [`Error::Halted`] while nothing may begin, and when the store fails.
    pub fn anchors_due(&self, terms: &AnchorTerms) -> Result<Vec<TaskId>, Error> {
        if self.halted().is_some() {
            return Err(Error::Halted);
        }
        let _one = lock(&self.anchoring);
        self.settle_anchors()?;
        let (now, mut begun) = (self.ports.clock.now(), Vec::new());
        for record in self.anchor_registry().all() {
            for (clock, one) in &record.clocks {
                if one.is_asked {
                    continue;
                }
                if one.is_new() {
                    begun.extend(self.begin_interrupted(terms, record, *clock)?);
                } else if one.given_up_at().is_some_and(|at| at <= now) {
                    let why = "it was not proven in two weeks, and is not asked about any more";
                    self.fail_anchor((record.number, *clock), one.attempts, why)?;
                } else if self.next_asking(terms, record, (*clock, one))?.is_some_and(|at| at <= now) {
                    begun.push(self.ask(terms, (record.number, *clock), true, By::Itself)?.task_id);
                }
            }
        }
        if self.next_by_itself(terms).is_some_and(|at| at <= now) {
            let clocks = terms.free();
            let number = self.request_anchor(ToAnchor::Head, &clocks, &format!("itself:{}", now.0))?;
            for clock in clocks {
                begun.push(self.ask(terms, (number, clock), false, By::Itself)?.task_id);
            }
        }
        Ok(begun)
    }

    /// When something of that is due first; none while nothing is set or pending.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn next_anchor(&self, terms: &AnchorTerms) -> Result<Option<UnixMs>, Error> {
        let registry = self.anchor_registry();
        let mut first = self.next_by_itself(terms);
        for record in registry.all() {
            for (clock, one) in &record.clocks {
                let at = match (one.is_asked, one.asked_by) {
                    (true, Some(task)) => {
                        let row = self.query()?.task(task).map_err(view)?;
                        row.is_some_and(|row| row.status.is_terminal()).then_some(UnixMs(0))
                    }
                    _ if one.is_new() => Some(UnixMs(0)),
                    _ => {
                        let asking = self.next_asking(terms, record, (*clock, one))?;
                        asking.into_iter().chain(one.given_up_at()).min()
                    }
                };
                first = first.into_iter().chain(at).min();
            }
        }
        Ok(first)
    }

    /// When the next head is anchored by itself; none while the one before was not taken yet.
    fn next_by_itself(&self, terms: &AnchorTerms) -> Option<UnixMs> {
        if terms.every_hours == 0 || terms.free().is_empty() || self.ports.keys.log().is_none() {
            return None;
        }
        let registry = self.anchor_registry();
        let Some(newest) = registry.newest_head() else { return Some(UnixMs(0)) };
        let waits = |one: &ClockRecord| one.stamped_at.is_none() && (one.is_asked || one.is_new());
        if newest.clocks.values().any(waits) {
            return None;
        }
        Some(newest.requested_at.plus_ms(i64::from(terms.every_hours).saturating_mul(HOUR_MS)))
    }

    /// When a clock is asked again by itself how an anchor stands.
    fn next_asking(
        &self,
        terms: &AnchorTerms,
        record: &AnchorRecord,
        (clock, one): (AnchorClock, &ClockRecord),
    ) -> Result<Option<UnixMs>, Error> {
        if one.is_asked || !can_be_asked(terms, clock, one) {
            return Ok(None);
        }
        let covered = one.again_at(true);
        if covered.is_none_or(|at| at > self.ports.clock.now()) {
            return Ok(covered);
        }
        // Whether a person would be asked is looked at only where it is due.
        let asked = match self.anchor_act(terms, record, clock, true) {
            Ok(asked) => asked,
            Err(Error::Input(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(match self.anchors_left(&asked)? {
            0 => one.again_at(false),
            _ => covered,
        })
    }

    /// Asks a clock for the first time whose task was never made.
    fn begin_interrupted(
        &self,
        terms: &AnchorTerms,
        record: &AnchorRecord,
        clock: AnchorClock,
    ) -> Result<Option<TaskId>, Error> {
        if clock != AnchorClock::OpReturn && terms.has(clock) {
            return Ok(Some(self.ask(terms, (record.number, clock), false, By::Itself)?.task_id));
        }
        let why = "it was interrupted before the clock was asked; ask for another anchor";
        self.fail_anchor((record.number, clock), 0, why)?;
        Ok(None)
    }
}
