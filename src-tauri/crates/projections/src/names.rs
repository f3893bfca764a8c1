//! Names that only views have: states that are folded, never stored as truth.

use model::attempt::AttemptStatus;
use model::task::TaskStatus;
pub use words::act::ActionState;
pub use words::artifact::ArtifactState;
pub use words::policy::GrantState;
pub use words::task::{MessageKind, Role, RunStatus};

/// Whether a task was asked to end before it did, and whether it ended because time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ending {
    /// A person asked for the end.
    pub cancel_requested: bool,
    /// An approval, a grant or the deadline ran out.
    pub ran_out: bool,
}

/// Table T1. A task rolled back keeps the status it had (`before`), with a flag beside it.
pub const fn run_status(
    task: TaskStatus,
    attempt: Option<AttemptStatus>,
    ending: Ending,
    before: RunStatus,
) -> RunStatus {
    match task {
        TaskStatus::Created | TaskStatus::Ready => RunStatus::Queued,
        TaskStatus::Paused => RunStatus::Paused,
        TaskStatus::Running | TaskStatus::Blocked if ending.cancel_requested => RunStatus::Cancelling,
        TaskStatus::Running => RunStatus::Running,
        TaskStatus::Blocked => match attempt {
            Some(AttemptStatus::AwaitingApproval) => RunStatus::AwaitingApproval,
            Some(AttemptStatus::AwaitingInput) => RunStatus::AwaitingClarify,
            // Blocked on an outcome that is not known: the run is not over, and nobody is asked by it.
            _ => RunStatus::Running,
        },
        TaskStatus::Failed | TaskStatus::Cancelled if ending.ran_out => RunStatus::Expired,
        TaskStatus::Failed => RunStatus::Failed,
        TaskStatus::Cancelled => RunStatus::Cancelled,
        TaskStatus::Completed => RunStatus::Completed,
        TaskStatus::RolledBack => before,
    }
}
