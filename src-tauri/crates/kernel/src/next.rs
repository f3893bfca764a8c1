//! What comes next for a task: a pure function of its state. Whoever died before, the next host reads the same answer.
//!
//! The way of an act is the order of [`Next`]: a model is asked, its answer read, a command tried, the request judged, a
//! person asked, the act dispatched, its outcome observed, receipted, and the turn closed. Several stages may be one
//! commit (`drive`), and each of them is asked for here.

use crate::decide::at_limit;
use crate::state::{Act, AttemptState, Stage, TaskState, Turn};
use model::approval::ApprovalStatus;
use model::attempt::{AttemptStatus, TerminationReason};
use model::ingress::ClarificationStatus;
use model::limits;
use model::policy::Verdict;
use model::task::{StepStatus, TaskStatus};
use model::{ApprovalId, ClarificationId, UnixMs};

/// What a task waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    /// A person to allow or refuse.
    Approval(ApprovalId),
    /// A person to answer.
    Answer(ClarificationId),
    /// A person to settle an outcome nobody knows.
    UnknownOutcome,
    /// A person to let it go on.
    Resume,
    /// Child tasks that parts of it were given away to.
    Dependency,
    /// Whoever leads it from outside to propose something.
    Proposer,
}

/// The next thing to do, in the order of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Ready becomes running, with an attempt and its lease.
    Begin,
    /// An attempt that was created gets its lease.
    Lease,
    /// The context pack is compiled and the request to the model stored.
    Compile,
    /// The model is asked with the stored request.
    AskModel,
    /// The stored answer is parsed: what is only said is taken in, and one act of it becomes a request.
    ReadAnswer,
    /// A command is tried in a staged view, and what it did becomes the request.
    Try,
    /// Policy judges the request, for the first time or because its approval was withdrawn.
    Judge,
    /// Policy demands a person: they are shown the request.
    AskPerson,
    /// Policy allows a lesser form: that becomes the request.
    Downgrade,
    /// Policy says no: whoever proposed it is told.
    Forbid,
    /// New input changed what the approval was about: it is withdrawn.
    Withdraw(ApprovalId),
    /// A person allowed it, or policy did: witness, grant, dispatch, execution.
    Dispatch,
    /// A person refused it: whoever proposed it is told.
    Refuse,
    /// Dispatched, outcome not recorded: look, never run.
    Settle,
    /// The outcome is recorded, its receipt is not.
    Receipt,
    /// The outcome is recorded and receipted: the turn is closed.
    Close,
    /// The approval's time ran out.
    ExpireApproval(ApprovalId),
    /// The child tasks that parts were given away to are made.
    StartChildren,
    /// The question's time ran out.
    ExpireQuestion(ClarificationId),
    /// The loop has ended: attempt, step and task follow.
    Finish,
    /// The loop must end for this reason.
    Terminate(TerminationReason),
    /// A person asked for a pause.
    Pause,
    /// A person asked for the end.
    Cancel,
    /// Nothing to do until something comes.
    Wait(Waiting),
    /// It has ended.
    Ended(TaskStatus),
}

/// The next thing to do for this task.
pub fn next(state: &TaskState, now: UnixMs) -> Next {
    match state.task.status {
        TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled | TaskStatus::RolledBack => {
            Next::Ended(state.task.status)
        }
        TaskStatus::Created | TaskStatus::Ready if state.cancel_requested.is_some() => Next::Cancel,
        TaskStatus::Created | TaskStatus::Ready => Next::Begin,
        TaskStatus::Paused if state.cancel_requested.is_some() => Next::Cancel,
        // It is taken up to be ended: nobody waits for a person whose time is up.
        TaskStatus::Paused if is_overdue(state, now) => Next::Begin,
        TaskStatus::Paused => Next::Wait(Waiting::Resume),
        TaskStatus::Running | TaskStatus::Blocked => match state.attempt() {
            None => Next::Begin,
            Some(attempt) => at_work(state, attempt, now),
        },
    }
}

/// The first instant after `after` from which on [`next`] answers otherwise, though nothing was written meanwhile, or at which an
/// act under way is to leave off.
pub fn next_instant(state: &TaskState, after: UnixMs) -> Option<UnixMs> {
    let approvals = state.approvals.values().map(|record| record.approval.expires_at);
    let questions = state.clarifications.values().map(|question| question.expires_at);
    let last = approvals.chain(questions).chain(state.task.deadline_at);
    // What ends at an instant has ended from the next one on.
    let ended = last.map(|last| last.plus_ms(1)).filter(|ended| *ended > after);
    let otherwise = ended.filter(|ended| next(state, ended.plus_ms(-1)) != next(state, *ended));
    // An act under way is looked at when it has ended, and is told to leave off when the deadline passes.
    let acts = state.attempt().is_some_and(|attempt| attempt.attempt.status == AttemptStatus::Executing);
    let leaves_off = state.task.deadline_at.map(|last| last.plus_ms(1)).filter(|at| acts && *at > after);
    otherwise.chain(leaves_off).min()
}

/// Whether the deadline of a task has passed while it has not ended.
pub(crate) fn is_overdue(state: &TaskState, now: UnixMs) -> bool {
    !state.task.status.is_terminal() && state.task.deadline_at.is_some_and(|deadline| now > deadline)
}

fn at_work(state: &TaskState, attempt: &AttemptState, now: UnixMs) -> Next {
    let status = attempt.attempt.status;
    if status.is_ended() {
        return after_end(state);
    }
    // An effect that may have begun is established before anything else, also before a cancel (HK-19.3-1).
    if matches!(status, AttemptStatus::Executing | AttemptStatus::Observing | AttemptStatus::ReceiptPending)
        || attempt.ended().is_some()
    {
        return in_turn(state, attempt, now);
    }
    if state.cancel_requested.is_some() {
        return Next::Cancel;
    }
    if state.pause_requested {
        return Next::Pause;
    }
    if is_overdue(state, now) {
        return Next::Terminate(TerminationReason::Expired);
    }
    match status {
        AttemptStatus::Created => Next::Lease,
        _ => in_turn(state, attempt, now),
    }
}

/// The stage that the turn in hand is at.
fn in_turn(state: &TaskState, attempt: &AttemptState, now: UnixMs) -> Next {
    match &attempt.turn {
        Turn::Thinking { .. } => thinking(attempt),
        // Its call is taken up when it comes; until then there is nobody to ask.
        Turn::Asking { .. } if attempt.loop_state.is_led => Next::Wait(Waiting::Proposer),
        Turn::Asking { .. } => Next::AskModel,
        Turn::Answered { .. } => Next::ReadAnswer,
        Turn::Trying { .. } => Next::Try,
        Turn::Acting { act, .. } => of_act(state, act, now),
        Turn::Questioned(id) => awaiting_input(state, *id, now),
        Turn::Delegated(parts) if parts.children.is_empty() => Next::StartChildren,
        Turn::Delegated(parts) if parts.open().next().is_some() => Next::Wait(Waiting::Dependency),
        Turn::Delegated(_) => Next::Compile,
        Turn::Ended { .. } => Next::Finish,
    }
}

fn of_act(state: &TaskState, act: &Act, now: UnixMs) -> Next {
    match &act.stage {
        Stage::Requested => Next::Judge,
        Stage::Judged(Verdict::Allow) => Next::Dispatch,
        Stage::Judged(Verdict::RequireApproval) => Next::AskPerson,
        Stage::Judged(Verdict::Downgrade) => Next::Downgrade,
        Stage::Judged(Verdict::Deny) => Next::Forbid,
        Stage::Asked => awaiting_approval(state, act, now),
        Stage::Dispatched { .. } => Next::Settle,
        Stage::Uncertain => Next::Wait(Waiting::UnknownOutcome),
        Stage::Observed { .. } | Stage::Resolved(_) if act.receipt.is_none() && act.leaves_receipt() => {
            Next::Receipt
        }
        Stage::Observed { .. } | Stage::Resolved(_) => Next::Close,
    }
}

/// The step decides when its attempt has ended: another attempt while it is ready, the next step when it has
/// succeeded and another is due, else the task follows it.
fn after_end(state: &TaskState) -> Next {
    let goes_on = match state.step().map(|step| step.status) {
        Some(StepStatus::Ready | StepStatus::Running) => true,
        Some(StepStatus::Succeeded) => state.due_step().is_some(),
        _ => false,
    };
    match goes_on {
        false => Next::Finish,
        true if state.cancel_requested.is_some() => Next::Cancel,
        true if state.pause_requested => Next::Pause,
        true => Next::Begin,
    }
}

fn thinking(attempt: &AttemptState) -> Next {
    if let Some(reason) = attempt.loop_state.termination {
        return Next::Terminate(reason);
    }
    let iterations = attempt.loop_state.iteration;
    if iterations >= limits::ITERATIONS_MAX && !attempt.loop_state.is_led {
        return Next::Terminate(TerminationReason::MaxIterations);
    }
    Next::Compile
}

fn awaiting_approval(state: &TaskState, act: &Act, now: UnixMs) -> Next {
    let asked = act.authority.approval.and_then(|id| state.approvals.get(&id));
    let Some(record) = asked else { return Next::Judge };
    let id = record.approval.approval_id;
    // New input may change what the question is about: the packet is not reused silently (HK-16.7-2).
    // What makes one plan has no turn in which it would hear them: its words would be news for ever.
    let open = matches!(record.approval.status, ApprovalStatus::Pending | ApprovalStatus::Granted);
    if open && state.hears_words() && (!state.inputs.is_empty() || state.goal_is_news) {
        return Next::Withdraw(id);
    }
    match record.approval.status {
        ApprovalStatus::Pending if now > record.approval.expires_at => Next::ExpireApproval(id),
        ApprovalStatus::Pending => Next::Wait(Waiting::Approval(id)),
        ApprovalStatus::Granted => Next::Dispatch,
        ApprovalStatus::Denied => Next::Refuse,
        ApprovalStatus::Expired => Next::Terminate(TerminationReason::Expired),
        ApprovalStatus::Invalidated | ApprovalStatus::Cancelled => Next::Judge,
    }
}

fn awaiting_input(state: &TaskState, id: ClarificationId, now: UnixMs) -> Next {
    let Some(question) = state.clarifications.get(&id) else {
        return Next::Compile;
    };
    match question.status {
        ClarificationStatus::Pending if now > question.expires_at => Next::ExpireQuestion(id),
        ClarificationStatus::Pending => Next::Wait(Waiting::Answer(id)),
        ClarificationStatus::Answered => Next::Compile,
        ClarificationStatus::Expired | ClarificationStatus::Cancelled => {
            Next::Terminate(state.limit_of(id).map_or(TerminationReason::Expired, at_limit))
        }
    }
}
