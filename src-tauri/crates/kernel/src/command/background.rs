//! Tasks that no person began: those of Hermit's own services and of the scheduler (decision 106).
//!
//! What they want to change waits in the inbox. Services read and propose, and spend little; a schedule says what its tasks may,
//! and a standing grant that names it answers in them.

use super::enclose::Encloses;
use super::submit::{Reasoning, Submission, Submitted};
use crate::Error;
use crate::kernel::{Kernel, lock};
use model::ingress::Channel;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::schedule::ScheduledBy;
use model::task::{Budget, Priority};
use model::{ConversationId, PrincipalId, TaskId, UnixMs, WorkspaceId};

/// Which part of Hermit begins a task by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initiator {
    /// A background service.
    Service,
    /// A job of the scheduler.
    Scheduler,
}

/// What such a task comes with; the rest is the same for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundWork {
    /// The goal.
    pub goal: String,
    /// One line for lists.
    pub title: String,
    /// The folder it works in.
    pub workspace_id: WorkspaceId,
    /// Who proposes.
    pub reasoning: Reasoning,
    /// The policy profile.
    pub profile: Profile,
    /// The conversation it reports into; the first one when none is named.
    pub conversation_id: Option<ConversationId>,
    /// What it may spend; what a service may where nothing is said.
    pub budget: Option<Budget>,
    /// When it has expired.
    pub deadline_at: Option<UnixMs>,
    /// What comes with the goal.
    pub encloses: Encloses,
    /// The slot of a schedule that it is for.
    pub scheduled_by: Option<ScheduledBy>,
    /// Tasks whose end it waited for.
    pub depends_on: Vec<TaskId>,
    /// The same key twice is the same task.
    pub idempotency_key: String,
}

impl Kernel {
    /// Begins a task of a service or of the scheduler.
    ///
    /// # Errors
    /// As [`Kernel::submit`].
    pub fn submit_background(&self, by: Initiator, work: BackgroundWork) -> Result<Submitted, Error> {
        let channel = match by {
            Initiator::Service => Channel::System,
            Initiator::Scheduler => Channel::Scheduler,
        };
        let BackgroundWork { goal, workspace_id, reasoning, idempotency_key, .. } = work;
        self.submit(&Submission {
            title: work.title,
            profile: work.profile,
            budget: work.budget.unwrap_or(Budget::BACKGROUND),
            priority: Priority::Low,
            conversation_id: work.conversation_id,
            deadline_at: work.deadline_at,
            encloses: work.encloses,
            scheduled_by: work.scheduled_by,
            depends_on: work.depends_on,
            ..Submission::of(goal, workspace_id, reasoning, channel, idempotency_key)
        })
    }

    /// Who asked for a task that another answers for: a person, who said yes to the schedule that began it (HK-8.1-5).
    pub(super) fn asked_by(
        &self,
        submission: &Submission,
        owner: PrincipalId,
    ) -> Result<Option<PrincipalId>, Error> {
        if submission.scheduled_by.is_none() {
            return Ok(None);
        }
        let person = self.actor(PrincipalType::User)?.actor_id;
        Ok(Some(person).filter(|person| *person != owner))
    }

    /// What a task is filed under: the schedule that began it, or the gateway that it came through (HK-8.1-5).
    pub(super) fn labels_of(&self, submission: &Submission, owner: PrincipalId) -> Vec<String> {
        let schedule = submission.scheduled_by.as_ref().map(|by| format!("schedule:{}", by.name));
        let gateway = || {
            let store = lock(&self.store);
            let label = store.principals.get(&owner)?.labels.first()?;
            Some(format!("gateway:{}", label.strip_prefix("sender:")?))
        };
        schedule.or_else(gateway).into_iter().collect()
    }
}
