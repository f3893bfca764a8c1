//! Suggestions that nobody answered in time: a card that lapsed says nothing of its claims, so they are proposed again.

use super::{History, Planned, Suggested, view};
use crate::Error;
use crate::command::submit::Reasoning;
use crate::kernel::Kernel;
use model::TaskId;
use model::attempt::TerminationReason;
use model::knowledge::HistoryMark;
use model::task::Origin;
use projections::Query;
use std::collections::BTreeSet;

impl Kernel {
    /// What was marked and still says something: no mark of a card that lapsed.
    pub(super) fn marks_in_force(&self, history: &History) -> Result<Vec<HistoryMark>, Error> {
        let query = self.query()?;
        let mut lapsed = BTreeSet::new();
        for task in history.marked_in.iter().flatten().collect::<BTreeSet<_>>() {
            if has_lapsed(&query, *task)? {
                lapsed.insert(*task);
            }
        }
        let of = |(mark, task): (&HistoryMark, &Option<TaskId>)| match task {
            Some(task) if lapsed.contains(task) => None,
            _ => Some(mark.clone()),
        };
        Ok(history.marks.iter().zip(&history.marked_in).filter_map(of).collect())
    }

    /// The tasks in which was said what a card proposed that lapsed; none of any other task.
    pub(super) fn behind_lapsed(&self, query: &Query, task: TaskId) -> Result<Vec<TaskId>, Error> {
        if !has_lapsed(query, task)? {
            return Ok(Vec::new());
        }
        let state = self.ended_state(task)?;
        let reasoning = self.contract(&state).and_then(|contract| self.reasoning_of(&state, contract.model));
        // What was erased since is not proposed again.
        let Ok(Reasoning::Tools { change }) = reasoning else { return Ok(Vec::new()) };
        let Ok(Planned::Suggested(Suggested { lines, .. })) = serde_json::from_str(&change) else {
            return Ok(Vec::new());
        };
        let grounds = lines.iter().flat_map(|line| &line.grounds).map(|ground| ground.task_id);
        Ok(grounds.collect::<BTreeSet<_>>().into_iter().collect())
    }
}

/// Whether a task of Hermit's own ended because nobody answered its card.
fn has_lapsed(query: &Query, task: TaskId) -> Result<bool, Error> {
    let row = query.task(task).map_err(view)?;
    Ok(row.is_some_and(|row| {
        row.origin == Origin::Service && row.termination == Some(TerminationReason::Expired)
    }))
}
