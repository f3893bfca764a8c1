//! What bounds the runs of a schedule beside the budget of each: hours, a number within the hour, what a day leaves, and runs
//! that overlap (schedule.md 1, HV-3.5-2).

use super::firing::Run;
use crate::Error;
use crate::kernel::Kernel;
use crate::query::view;
use crate::schedule_registry::ScheduleRecord;
use crate::state::{AttemptState, Stage, TaskState};
use model::principal::PrincipalType;
use model::schedule::{Bounds, DayBudget, PassedOver, Schedule, Settled};
use model::task::Budget;
use model::{Body, TaskId, UnixMs};
use projections::rows::TaskRow;

/// Why a run is ended that a newer one takes the place of.
pub(crate) const OVERTAKEN: &str = "a newer run of its schedule takes its place";
const HOUR_MS: u64 = 3_600_000;
/// When one looks again whether a condition has come to hold, in milliseconds.
const CONDITION_MS: i64 = 300_000;
/// Events of a schedule's stream that are read at once, the newest first.
const PAGE: u64 = 200;

/// What the runs that a schedule began today have used until now, with what is set aside for calls under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Spent {
    runs: u32,
    iterations: u32,
    tokens: u64,
    cost_micros: u64,
    wall_ms: i64,
}

impl Spent {
    fn add(&mut self, row: &TaskRow) {
        let used = |used: u64, set_aside: u64| used.saturating_add(set_aside);
        self.runs = self.runs.saturating_add(1);
        self.iterations = self.iterations.saturating_add(row.iterations);
        self.tokens = self.tokens.saturating_add(used(row.tokens_used, row.tokens_reserved));
        self.cost_micros = self.cost_micros.saturating_add(used(row.cost_used, row.cost_reserved));
        self.wall_ms = self.wall_ms.saturating_add(row.wall_ms);
    }
}

impl Kernel {
    /// Why no run of a schedule begins now by what a person bounded, if none does.
    ///
    /// # Errors
    /// [`Error::Input`] where this machine does not know the zone of its hours.
    pub(super) fn why_out_of_bounds(
        &self,
        record: &ScheduleRecord,
        bounds: &Bounds,
    ) -> Result<Option<PassedOver>, Error> {
        if bounds.are_none() {
            return Ok(None);
        }
        let now = self.ports.clock.now();
        if let Some(hours) = &bounds.hours
            && !schedule::within(hours, now).map_err(|why| Error::Input(why.to_string()))?
        {
            return Ok(Some(PassedOver::OutsideHours));
        }
        if !bounds.only.is_empty() || bounds.battery_above.is_some() {
            let around = self.ports.executors.surroundings(&bounds.only);
            if let Some(why) = schedule::unmet(&bounds.only, |one| around.is(one)) {
                return Ok(Some(why));
            }
            if around.battery_percent.zip(bounds.battery_above).is_some_and(|(has, above)| has <= above) {
                return Ok(Some(PassedOver::BatteryLow));
            }
        }
        if let Some(most) = bounds.per_hour_max {
            let begun = self.begun_within_the_hour(record, now)?.len();
            if begun >= most as usize {
                return Ok(Some(PassedOver::TooOften));
            }
        }
        let Some(day) = &bounds.day else { return Ok(None) };
        let is_spent = left(day, self.spent_today(record)?, Budget::default()).is_none();
        Ok(is_spent.then_some(PassedOver::DaySpent))
    }

    /// When the runs began that began within the hour, the newest first.
    fn begun_within_the_hour(&self, record: &ScheduleRecord, now: UnixMs) -> Result<Vec<UnixMs>, Error> {
        let (query, mut begun) = (self.query()?, Vec::new());
        for run in &record.slots.runs {
            let row = query.task(run.task_id).map_err(view)?;
            // One that began in an hour that a clock ran ahead to does not count for ever.
            begun.extend(row.map(|row| row.created_at).filter(|at| at.0.abs_diff(now.0) < HOUR_MS));
        }
        begun.sort_unstable_by(|a, b| b.cmp(a));
        Ok(begun)
    }

    /// In how many milliseconds a run may begin that is held for this reason now; none where whoever drives another one tells, or
    /// that is further off than an hour.
    pub(super) fn held_ms(
        &self,
        record: &ScheduleRecord,
        bounds: &Bounds,
        why: PassedOver,
    ) -> Result<Option<i64>, Error> {
        let now = self.ports.clock.now();
        let until = match why {
            PassedOver::OutsideHours => {
                let opens = bounds.hours.as_ref().map(|hours| schedule::opens(hours, now));
                opens.transpose().map_err(|why| Error::Input(why.to_string()))?.flatten()
            }
            PassedOver::TooOften => {
                let most = bounds.per_hour_max.unwrap_or(1).max(1) as usize;
                let begun = self.begun_within_the_hour(record, now)?;
                begun.get(most - 1).map(|at| UnixMs(at.0.saturating_add_unsigned(HOUR_MS)))
            }
            PassedOver::DaySpent => Some(self.ports.days.day_of(now).map_err(Error::Gate)?.ends),
            why if why.is_of_a_condition() => Some(now.plus_ms(CONDITION_MS)),
            _ => None,
        };
        Ok(until.map(|until| until.0.saturating_sub(now.0)))
    }

    /// Whether a run at work, or a part that it gave away, is in the middle of an act: what that leaves is on no receipt yet.
    pub(super) fn is_acting(&self, record: &ScheduleRecord, runs: &[Run]) -> bool {
        let at_work = record.slots.runs.iter().zip(runs).filter(|(_, how)| **how == Run::AtWork);
        let mut waiting: Vec<TaskId> = at_work.map(|(run, _)| run.task_id).collect();
        while let Some(task) = waiting.pop() {
            // What cannot be read any more does nothing.
            let Ok(state) = self.load(task) else { continue };
            if acts(&state) {
                return true;
            }
            waiting.extend(&state.children);
        }
        false
    }

    /// What a run that begins now may spend: its own budget, and no more than the day leaves.
    pub(super) fn budget_of_run(&self, record: &ScheduleRecord, of: &Schedule) -> Result<Budget, Error> {
        let Some(day) = &of.bounds.day else { return Ok(of.budget) };
        Ok(left(day, self.spent_today(record)?, of.budget).unwrap_or(Budget { iterations_max: 1, ..NOTHING }))
    }

    fn spent_today(&self, record: &ScheduleRecord) -> Result<Spent, Error> {
        // Settings that cannot be read now are read again in a minute; until then nothing is spent.
        let day = self.ports.days.day_of(self.ports.clock.now()).map_err(Error::Gate)?;
        let (stream, query) = (record.slots_task_id, self.query()?);
        let mut spent = Spent::default();
        let mut end = self.reader.task_head(stream)?.map_or(0, |(seq, _)| seq);
        let mut is_of_day = true;
        while end > 0 && is_of_day {
            let after = end.saturating_sub(PAGE);
            for stored in self.reader.events(stream, after, usize::try_from(PAGE).unwrap_or(usize::MAX))? {
                let event = stored.event()?;
                is_of_day &= event.occurred_at >= day.begins;
                if stored.task_seq > end || event.occurred_at < day.begins || event.occurred_at >= day.ends {
                    continue;
                }
                if let Body::ScheduleFired(b) = self.body_of(&event)?
                    && let Some(row) = query.task(b.about_task_id).map_err(view)?
                {
                    spent.add(&row);
                }
            }
            end = after;
        }
        Ok(spent)
    }

    /// Ends the runs that are not over, because a newer one takes their place; they are to be driven to their end.
    pub(super) fn end_older(&self, record: &ScheduleRecord, runs: &[Run]) -> Result<Vec<TaskId>, Error> {
        let mut ended = Vec::new();
        let open = record.slots.runs.iter().zip(runs);
        for (run, _) in open.filter(|(_, how)| matches!(how, Run::AtWork | Run::Waits)) {
            match self.cancel_as(PrincipalType::Scheduler, run.task_id, OVERTAKEN) {
                Ok(()) => ended.push(run.task_id),
                // It came to its end meanwhile.
                Err(Error::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ended)
    }
}

const NOTHING: Budget = Budget { iterations_max: 0, tokens_max: 0, wall_ms_max: 0, cost_micros_max: 0 };

/// Whether a task has begun an act that leaves a receipt, and has none of it yet.
fn acts(state: &TaskState) -> bool {
    let attempt = state.current.and_then(|attempt| state.attempts.get(&attempt));
    attempt.and_then(AttemptState::act).is_some_and(|act| {
        let is_begun = !matches!(act.stage, Stage::Requested | Stage::Judged(_) | Stage::Asked);
        is_begun && act.leaves_receipt() && act.receipt.is_none()
    })
}

/// Of a budget what a day leaves of it; none where something that the day bounds is used up.
fn left(day: &DayBudget, spent: Spent, own: Budget) -> Option<Budget> {
    if day.runs_max.is_some_and(|most| spent.runs >= most) {
        return None;
    }
    Some(Budget {
        iterations_max: part(day.iterations_max, own.iterations_max, |most| {
            most.saturating_sub(spent.iterations)
        })?,
        tokens_max: part(day.tokens_max, own.tokens_max, |most| most.saturating_sub(spent.tokens))?,
        wall_ms_max: part(day.wall_ms_max, own.wall_ms_max, |most| most.saturating_sub(spent.wall_ms))?,
        cost_micros_max: part(day.cost_micros_max, own.cost_micros_max, |most| {
            most.saturating_sub(spent.cost_micros)
        })?,
    })
}

/// One part of it: what is bounded leaves something, or there is none.
fn part<N: Copy + Ord + Default>(most: Option<N>, own: N, left: impl Fn(N) -> N) -> Option<N> {
    let Some(most) = most else { return Some(own) };
    let left = left(most);
    (left > N::default()).then(|| left.min(own))
}

/// Of slots that fire while a run is at work, the newest waits for it; the others are passed over.
pub(super) fn queued_one(settled: Vec<Settled>) -> Vec<Settled> {
    let newest = settled.iter().rposition(|one| matches!(one, Settled::Fires(_)));
    let one = |(nth, one): (usize, Settled)| match one {
        Settled::Fires(slot) if Some(nth) != newest => {
            let (first, until, why) = (slot.at, slot.at, PassedOver::StillRunning);
            Settled::PassedOver { first, until, slots: Some(1), why }
        }
        other => other,
    };
    settled.into_iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_day_leaves_bounds_the_budget_of_a_run_and_what_it_does_not_bound_stays() {
        let own = Budget { cost_micros_max: 0, ..Budget::default() };
        let spent = Spent { runs: 2, iterations: 20, tokens: 100, cost_micros: 7, wall_ms: 5 };
        let of = |day: DayBudget| left(&day, spent, own);
        let none = DayBudget::default;
        assert_eq!(of(none()), Some(own));
        assert_eq!(of(DayBudget { runs_max: Some(2), ..none() }), None);
        assert_eq!(of(DayBudget { iterations_max: Some(20), ..none() }), None);
        assert_eq!(of(DayBudget { wall_ms_max: Some(5), ..none() }), None);
        let some = DayBudget {
            runs_max: Some(3),
            iterations_max: Some(23),
            tokens_max: Some(u64::MAX),
            // A run that may cost nothing is not held up by what is left.
            cost_micros_max: Some(8),
            wall_ms_max: Some(15),
        };
        assert_eq!(of(some), Some(Budget { iterations_max: 3, wall_ms_max: 10, ..own }));
    }
}
