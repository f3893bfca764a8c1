//! Whose words the historian reads: those that a person typed, and nobody else's.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::query::view;
use crate::state::TaskState;
use model::ingress::Channel;
use model::principal::PrincipalType;
use model::task::{ModelChoice, Origin, Task};
use model::{Body, Event, TaskId};
use std::sync::Arc;

impl Kernel {
    /// A task that ended, which is not kept in memory for having been read.
    pub(in crate::command) fn ended_state(&self, task_id: TaskId) -> Result<TaskState, Error> {
        let held = lock(&self.tasks).get(&task_id).map(Arc::clone);
        match held {
            Some(cell) => Ok(self.lock_task(&cell)?.clone()),
            None => self.load(task_id),
        }
    }

    /// Whether the words of an event were typed by a person: they came through the terminal or a window or page of this machine,
    /// in the name of the person, and neither a program nor the kernel worded them. What cannot be told is not.
    pub(super) fn is_typed(&self, state: &TaskState, event: &Event, body: &Body) -> Result<bool, Error> {
        let ingress = match body {
            // The words of a goal that is edited have the same sender as the event: a program's have another actor.
            Body::TaskGoalChanged(_) => return Ok(event.actor_type == PrincipalType::User),
            Body::TaskCreated(b) if self.is_said_before(&b.task)? || self.is_worded_here(state) => {
                return Ok(false);
            }
            Body::TaskCreated(b) => b.ingress_id,
            Body::TaskInputAdded(b) => b.ingress_id,
            _ => return Ok(false),
        };
        let Some(row) = self.query()?.message(ingress).map_err(view)? else { return Ok(false) };
        let at_this_machine = matches!(row.channel, Channel::Cli | Channel::App);
        Ok(at_this_machine && self.sender_of(&row)?.by == Origin::Person)
    }

    /// Whether a task was begun again with the goal of the one that it follows: nobody said anything new.
    fn is_said_before(&self, task: &Task) -> Result<bool, Error> {
        let Some(anchor) = &task.continuation_anchor else { return Ok(false) };
        let first = self.query()?.task(anchor.anchor_task_id).map_err(view)?;
        Ok(first.is_none_or(|first| first.goal.shown().is_none() || first.goal.shown() == task.goal.shown()))
    }

    /// Whether the kernel worded the goal itself: of a change of tools or rules, of something to remember, of an undoing.
    fn is_worded_here(&self, state: &TaskState) -> bool {
        let model = self.contract(state).map(|contract| contract.model);
        !model.is_ok_and(|model| !matches!(model, ModelChoice::Tools { .. } | ModelChoice::Rollback { .. }))
    }
}
