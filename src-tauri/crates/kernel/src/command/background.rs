//! Tasks that no person began: those of Hermit's own services and of the scheduler (decision 106).
//!
//! What they want to change waits in the inbox. Services read and propose, and spend little; a schedule says what its tasks may,
//! and a standing grant that names it answers in them.

use super::enclose::Encloses;
use super::submit::{Reasoning, Submission, Submitted};
use crate::Error;
use crate::kernel::Kernel;
use model::ingress::Channel;
use model::policy::Profile;
use model::schedule::ScheduledBy;
use model::task::{Budget, Priority};
use model::{ConversationId, UnixMs, WorkspaceId};

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
            ..Submission::of(goal, workspace_id, reasoning, channel, idempotency_key)
        })
    }
}
