//! What models may cost in one day: what was settled in it and what is set aside for calls under way, of all tasks, is
//! asked before each call that has a price. Two tasks at once cannot both take what is left.

use super::Then;
use crate::Error;
use crate::kernel::{Cell, Kernel, lock};
use crate::query::view;
use crate::state::{DAY_CEILING, TaskState};
use crate::tx::Tx;
use acts::money;
use model::fault::Point;
use model::principal::PrincipalType;
use model::task::TaskStatus;
use model::{TaskId, UnixMs};
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
        tx.unblock(DAY_CEILING)?;
        // A person asked for a pause meanwhile: no new day ends that one.
        if tx.pause_requested {
            return self.take_pause(tx);
        }
        tx.set_task(TaskStatus::Paused, DAY_CEILING, Some(said.clone()))?;
        let id = tx.task.task_id;
        Ok(Then::Stop(Error::Input(format!(
            "{said}; the task is paused and nothing is lost. It goes on by itself when the day has ended, while Hermit runs. To \
             go on now, raise the ceiling with `hermit models ceiling DOLLARS`, then `hermit task resume {id}`"
        ))))
    }

    /// The instant from which on a task goes on that the ceiling of a day paused; none where none paused it, or where no day
    /// can be told, which the log says.
    pub(super) fn day_of_hold_ends(&self, state: &TaskState) -> Option<UnixMs> {
        match self.ports.days.day_of(state.held_by_day?) {
            Ok(day) => Some(day.ends),
            Err(why) => {
                tracing::warn!(%why, "when a task goes on that the ceiling of a day paused cannot be told");
                None
            }
        }
    }

    /// Whether the ceiling of a day paused a task, and that day is over. What a person paused stays paused.
    pub(super) fn is_held_by_an_old_day(&self, state: &TaskState) -> bool {
        self.day_of_hold_ends(state).is_some_and(|ends| self.now_of(state) >= ends)
    }

    /// Lets a task go on that the ceiling of a day paused which is over.
    pub(super) fn resume_for_a_new_day(&self, cell: &Cell) -> Result<(), Error> {
        let mut tx = self.begin_tx(cell, Point::TaskResume, PrincipalType::System)?;
        // Somebody may have let it go on meanwhile.
        if tx.held_by_day.is_some() {
            tx.set_task(TaskStatus::Ready, "a new day began", None)?;
            tx.commit()?;
        }
        Ok(())
    }
}
