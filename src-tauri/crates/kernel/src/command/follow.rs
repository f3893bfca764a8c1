//! Work that begins with words: behind a task that has ended, as a part of one, or beside one.

use super::bind::of_a_person;
use super::enclose::room;
use super::ingress::{Bound, once};
use super::submit::Submission;
use crate::Error;
use crate::kernel::Kernel;
use crate::sender::Sender;
use crate::state::TaskState;
use model::artifact::ArtifactKind;
use model::ingress::IngressResolution;
use model::{IngressId, Sensitive, TaskId};

impl Kernel {
    /// A task that follows one that has ended, anchored to how it ended (HK-8.1.1-4).
    pub(super) fn follow(
        &self,
        ended: TaskId,
        ingress_id: IngressId,
        text: &str,
        sender: Sender,
        why: &str,
        candidates: Vec<TaskId>,
    ) -> Result<Bound, Error> {
        let work = {
            let cell = self.cell(ended)?;
            let state = self.lock_task(&cell)?;
            let mut work = self.work_of(&state, ingress_id)?;
            if let Some(anchor) = work.continuation_anchor.as_mut() {
                anchor.selection_reason = Sensitive::from(why.to_owned());
            }
            work
        };
        room(work.attachments.len(), self.enclosed_in(ingress_id)?.len())?;
        let (goal, title, steps) = (text.to_owned(), String::new(), Vec::new());
        let constraints = of_a_person(&work);
        let (channel, by) = (sender.channel, Some(sender.by));
        let work = Submission { goal, title, steps, constraints, channel, by, ..work };
        self.make(&work, ingress_id, (why, None), candidates)
    }

    /// Work that begins with words, in the folder and by the reasoner of this task.
    pub(super) fn work_of(&self, state: &TaskState, ingress_id: IngressId) -> Result<Submission, Error> {
        self.reasons(state)?;
        self.follow_up(state, format!("bound:{ingress_id}"))
    }

    /// Somebody in this task can do something with words.
    fn reasons(&self, state: &TaskState) -> Result<(), Error> {
        if self.plans_once(state)? {
            let told = "the task did one thing that was asked for, and nothing follows it: say what should be done as a task of its own";
            return Err(Error::Conflict(told.to_owned()));
        }
        Ok(())
    }

    /// Words may begin a task that follows this one, which has room for its files and so many more.
    pub(super) fn fits_behind(&self, ended: TaskId, more: usize) -> Result<(), Error> {
        let cell = self.cell(ended)?;
        let state = self.lock_task(&cell)?;
        self.reasons(&state)?;
        room(super::control::taken_over(&state, ArtifactKind::BinaryAttachment).len(), more)
    }

    pub(super) fn make(
        &self,
        work: &Submission,
        ingress_id: IngressId,
        (why, begun): (&str, Option<String>),
        candidates: Vec<TaskId>,
    ) -> Result<Bound, Error> {
        super::submit::check(work)?;
        self.takes_goals(work.conversation_id, (work.channel, &work.idempotency_key))?;
        let task = self.bind(work, ingress_id, (why, begun), candidates.clone()).map_err(once)?;
        let resolution = match work.parent_task_id {
            Some(_) => IngressResolution::ForkChild,
            None => IngressResolution::StartNewRoot,
        };
        Ok(Bound { ingress_id, resolution, task_id: Some(task), candidates, rationale: why.to_owned() })
    }

    /// Whether somebody in a task can do something with words, whether it has begun or not.
    pub(super) fn heeds(&self, task: TaskId) -> Result<bool, Error> {
        let cell = self.cell(task)?;
        let state = self.lock_task(&cell)?;
        Ok(!self.plans_once(&state)?)
    }

    /// Whether a task does one thing in one plan, and so has no turn in which it would hear words, begun or not.
    pub(super) fn plans_once(&self, state: &TaskState) -> Result<bool, Error> {
        Ok(self.contract(state)?.model.proposer().plans_once())
    }
}
