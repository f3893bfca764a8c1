//! What models may cost in one day: what was settled in it and what is set aside for calls under way, of all tasks, is
//! asked before each call that has a price. Two tasks at once cannot both take what is left.

use super::Then;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::query::view;
use crate::tx::Tx;
use acts::money;
use model::TaskId;
use model::fault::Point;
use model::task::TaskStatus;
use std::collections::BTreeMap;

impl Kernel {
    /// Sets money aside for a call of a task where the ceiling of the day leaves it; else says in words why not.
    pub(super) fn within_day(&self, task: TaskId, cost: u64) -> Result<Result<(), String>, Error> {
        if cost == 0 {
            return Ok(Ok(()));
        }
        let day = self.ports.days.day_of(self.ports.clock.now()).map_err(Error::Input)?;
        let Some(max) = day.cost_micros_max else { return Ok(Ok(())) };
        let mut promised = lock(&self.promised);
        let query = self.query()?;
        // What is set aside is read first: a call that is settled in between counts twice, and never not at all.
        let mut held: BTreeMap<TaskId, u64> = query.set_aside().map_err(view)?.into_iter().collect();
        let spent = query.spent(day.begins, day.ends).map_err(view)?;
        let spent = spent.iter().map(|on| on.cost_micros).fold(0, u64::saturating_add);
        for (of, cost) in &*promised {
            let set = held.entry(*of).or_default();
            *set = (*set).max(*cost);
        }
        // What this task had set aside is over, or it would not ask again.
        held.remove(&task);
        let taken = held.values().copied().fold(spent, u64::saturating_add);
        if taken.saturating_add(cost) <= max {
            promised.insert(task, cost);
            return Ok(Ok(()));
        }
        let aside = taken.saturating_sub(spent);
        let aside = if aside == 0 {
            String::new()
        } else {
            format!(", {} is set aside for calls under way", money(aside))
        };
        Ok(Err(format!(
            "models may cost {} today: {} is spent{aside}, and this call may cost {}. The day ends at {}",
            money(max),
            money(spent),
            money(cost),
            day.ends_in_words
        )))
    }

    /// What a call sets aside is on record, or the call is over: it need not be remembered here.
    pub(super) fn promise_kept(&self, task: TaskId) {
        lock(&self.promised).remove(&task);
    }

    /// The ceiling of the day leaves no room for the next call: the task pauses before it, and says so.
    pub(super) fn day_is_full(&self, tx: &mut Tx<'_>, said: String) -> Result<Then, Error> {
        tx.at(Point::ContextCompile);
        tx.unblock("day_ceiling")?;
        tx.set_task(TaskStatus::Paused, "day_ceiling", Some(said.clone()))?;
        let id = tx.task.task_id;
        Ok(Then::Stop(Error::Input(format!(
            "{said}; the task is paused and nothing is lost: raise the ceiling with `hermit models ceiling DOLLARS`, or \
             wait, then `hermit task resume {id}`"
        ))))
    }
}
