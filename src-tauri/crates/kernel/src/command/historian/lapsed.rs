//! Suggestions that nobody answered in time: a card that lapsed says nothing of its claims, so they are proposed again.

use super::{History, Planned, Suggested, view};
use crate::Error;
use crate::command::submit::Reasoning;
use crate::kernel::Kernel;
use model::TaskId;
use model::approval::ApprovalStatus;
use model::attempt::TerminationReason;
use model::knowledge::HistoryMark;
use model::task::Origin;
use projections::Query;
use projections::query::Ask;
use std::collections::{BTreeMap, BTreeSet};

/// How often a claim is proposed again because nobody answered.
const LAPSES_MAX: usize = 3;

impl Kernel {
    /// What was marked and still says something: no mark of a card that lapsed, unless it has lapsed often.
    pub(super) fn marks_in_force(&self, history: &History) -> Result<Vec<HistoryMark>, Error> {
        let query = self.query()?;
        let mut lapsed = BTreeSet::new();
        for task in history.marked_in.iter().flatten().collect::<BTreeSet<_>>() {
            if has_lapsed(&query, *task)? {
                lapsed.insert(*task);
            }
        }
        let all = history.marks.iter().zip(&history.marked_in);
        let is_lapsed = |(mark, task): &(&HistoryMark, &Option<TaskId>)| {
            mark.proposed && task.is_some_and(|task| lapsed.contains(&task))
        };
        let mut times: BTreeMap<_, usize> = BTreeMap::new();
        for (mark, _) in all.clone().filter(is_lapsed) {
            *times.entry(mark.claim_sha256).or_default() += 1;
        }
        let often =
            |mark: &HistoryMark| times.get(&mark.claim_sha256).is_some_and(|times| *times >= LAPSES_MAX);
        let stands = all.filter(|one| !is_lapsed(one) || often(one.0));
        Ok(stands.map(|(mark, _)| mark.clone()).collect())
    }

    /// The tasks in which was said what a card proposed that lapsed; none of any other task.
    pub(super) fn behind_lapsed(&self, query: &Query, task: TaskId) -> Vec<TaskId> {
        let read = || -> Result<Vec<TaskId>, Error> {
            if !has_lapsed(query, task)? {
                return Ok(Vec::new());
            }
            let state = self.ended_state(task)?;
            let Reasoning::Tools { change } = self.reasoning_of(&state, self.contract(&state)?.model)? else {
                return Ok(Vec::new());
            };
            let Ok(Planned::Suggested(Suggested { lines, .. })) = serde_json::from_str(&change) else {
                return Ok(Vec::new());
            };
            let grounds = lines.iter().flat_map(|line| &line.grounds).map(|ground| ground.task_id);
            Ok(grounds.collect::<BTreeSet<_>>().into_iter().collect())
        };
        read().unwrap_or_else(|error| {
            // What was erased since is not proposed again.
            tracing::warn!(%task, %error, "the historian goes on without a suggestion that it cannot read");
            Vec::new()
        })
    }
}

/// Whether a task of Hermit's own ended because nobody answered its card. Where a person struck lines and then left, what they
/// struck stays struck, and with it the rest.
fn has_lapsed(query: &Query, task: TaskId) -> Result<bool, Error> {
    let row = query.task(task).map_err(view)?;
    let is_over = row.is_some_and(|row| {
        row.origin == Origin::Service && row.termination == Some(TerminationReason::Expired)
    });
    if !is_over {
        return Ok(false);
    }
    let denied = query.approvals(Some(task), Some(ApprovalStatus::Denied), Ask::ALL).map_err(view)?;
    Ok(denied.rows.is_empty())
}
