//! The tables of HK-12: tasks literally, steps and attempts derived (reconciliation C38).
//!
//! Derivation of the step and attempt tables: HK-11.1 (order of the lifecycle), HK-11.5 (block and resume),
//! HK-12.4 (approval), HK-19 (observation, unknown outcome), RX-3 (the loop goes round inside an attempt).

use crate::Error;
use crate::attempt::AttemptStatus;
use crate::task::{StepStatus, TaskStatus};

/// Task transitions, HK-12.1-2 word for word.
pub const TASK: &[(TaskStatus, TaskStatus)] = {
    use TaskStatus::*;
    &[
        (Created, Ready),
        (Ready, Running),
        (Running, Blocked),
        (Blocked, Running),
        (Running, Paused),
        (Paused, Ready),
        (Running, Completed),
        (Running, Failed),
        (Ready, Cancelled),
        (Running, Cancelled),
        (Blocked, Cancelled),
        (Paused, Cancelled),
        (Completed, RolledBack),
        (Failed, RolledBack),
    ]
};

/// Step transitions.
pub const STEP: &[(StepStatus, StepStatus)] = {
    use StepStatus::*;
    &[
        (Planned, Ready),
        (Ready, Running),
        (Running, Blocked),
        (Blocked, Running),
        (Running, Ready),
        (Running, Succeeded),
        (Running, Failed),
        (Planned, Cancelled),
        (Ready, Cancelled),
        (Running, Cancelled),
        (Blocked, Cancelled),
        (Planned, Superseded),
        (Ready, Superseded),
        (Running, Superseded),
        (Blocked, Superseded),
        (Failed, Ready),
    ]
};

/// Attempt transitions. Nothing leaves `executing` but through `observing`: an effect that may have begun
/// is observed before the attempt can end (HK-19.3-1).
pub const ATTEMPT: &[(AttemptStatus, AttemptStatus)] = {
    use AttemptStatus::*;
    &[
        (Created, Leased),
        (Created, Failed),
        (Created, Cancelled),
        (Created, Superseded),
        (Leased, CompilingContext),
        (Leased, Failed),
        (Leased, Cancelled),
        (Leased, Superseded),
        (CompilingContext, Reasoning),
        (CompilingContext, Failed),
        (CompilingContext, Cancelled),
        (CompilingContext, Superseded),
        (Reasoning, CompilingContext),
        (Reasoning, AwaitingPolicy),
        (Reasoning, AwaitingInput),
        (Reasoning, Succeeded),
        (Reasoning, Failed),
        (Reasoning, Cancelled),
        (Reasoning, Superseded),
        (AwaitingPolicy, Authorized),
        (AwaitingPolicy, AwaitingApproval),
        (AwaitingPolicy, CompilingContext),
        (AwaitingPolicy, Failed),
        (AwaitingPolicy, Cancelled),
        (AwaitingPolicy, Superseded),
        (AwaitingApproval, Authorized),
        (AwaitingApproval, AwaitingPolicy),
        (AwaitingApproval, CompilingContext),
        (AwaitingApproval, Failed),
        (AwaitingApproval, Cancelled),
        (AwaitingApproval, Superseded),
        (AwaitingInput, CompilingContext),
        (AwaitingInput, Failed),
        (AwaitingInput, Cancelled),
        (AwaitingInput, Superseded),
        (Authorized, Executing),
        (Authorized, AwaitingPolicy),
        (Authorized, Failed),
        (Authorized, Cancelled),
        (Authorized, Superseded),
        (Executing, Observing),
        (Observing, ReceiptPending),
        (Observing, CompilingContext),
        (Observing, Failed),
        (ReceiptPending, Observing),
        (ReceiptPending, CompilingContext),
        (ReceiptPending, Succeeded),
        (ReceiptPending, Failed),
        (ReceiptPending, Cancelled),
        (ReceiptPending, Superseded),
    ]
};

/// Whether a task may go from one status to another.
///
/// # Errors
/// [`Error::Transition`] for every pair that the table does not hold.
pub fn task(from: TaskStatus, to: TaskStatus) -> Result<(), Error> {
    check(TASK, (from, to), "task", from.as_str(), to.as_str())
}

/// Whether a step may go from one status to another.
///
/// # Errors
/// [`Error::Transition`] for every pair that the table does not hold.
pub fn step(from: StepStatus, to: StepStatus) -> Result<(), Error> {
    check(STEP, (from, to), "step", from.as_str(), to.as_str())
}

/// Whether an attempt may go from one status to another.
///
/// # Errors
/// [`Error::Transition`] for every pair that the table does not hold.
pub fn attempt(from: AttemptStatus, to: AttemptStatus) -> Result<(), Error> {
    check(ATTEMPT, (from, to), "attempt", from.as_str(), to.as_str())
}

fn check<T: PartialEq>(
    table: &[(T, T)],
    pair: (T, T),
    noun: &'static str,
    from: &'static str,
    to: &'static str,
) -> Result<(), Error> {
    if table.contains(&pair) { Ok(()) } else { Err(Error::Transition { noun, from, to }) }
}
