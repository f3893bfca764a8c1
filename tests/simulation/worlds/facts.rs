//! What the log says of one task, and what each thing that happens to it makes of that.

use super::stock::{Numbered, Still, stock};
use kernel::state::{Act, ApprovalRecord, Authority, Stage, TaskState, Turn};
use kernel::{Next, Waiting};
use model::ApprovalId;
use model::approval::ApprovalStatus;
use model::attempt::{AttemptStatus, TerminationReason};
use model::receipt::{ResultCode, SandboxLevel};
use model::task::{StepStatus, TaskStatus};
use model::transition;

/// A question put to the person: which of its task, and at which time.
pub type Asked = (u8, u8);

/// A signed answer. It may arrive at any time, and as often as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter {
    pub asked: Asked,
    pub signed: u8,
    pub yes: bool,
    /// By a key that is not the person's.
    pub forged: bool,
}

/// What the log says of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Facts {
    /// Events.
    pub seq: u8,
    pub task: TaskStatus,
    pub step: StepStatus,
    pub attempt: Option<AttemptStatus>,
    pub answered: bool,
    /// The question in hand and where it stands.
    pub question: Option<(Asked, ApprovalStatus)>,
    /// What settled it.
    pub letter: Option<Letter>,
    /// Questions put so far.
    pub put: u8,
    pub dispatched: bool,
    /// When its grant was minted.
    pub granted: u8,
    pub outcome: Option<ResultCode>,
    pub uncertain: bool,
    pub resolved: bool,
    pub receipt: bool,
    pub terminated: Option<TerminationReason>,
    pub cancel: bool,
    /// Acts that were dispatched, and those of them that were closed.
    pub dispatches: u8,
    pub closed: u8,
    pub receipts: u8,
}

impl Facts {
    pub const NEW: Self = Self {
        seq: 0,
        task: TaskStatus::Ready,
        step: StepStatus::Ready,
        attempt: None,
        answered: false,
        question: None,
        letter: None,
        put: 0,
        dispatched: false,
        granted: 0,
        outcome: None,
        uncertain: false,
        resolved: false,
        receipt: false,
        terminated: None,
        cancel: false,
        dispatches: 0,
        closed: 0,
        receipts: 0,
    };

    /// What the kernel does next, asked once of each state that it can tell apart.
    pub fn next(&self, now: u8) -> Next {
        let none = Self::NEW;
        let (letter, granted) = (none.letter, none.granted);
        let counted =
            Self { seq: 0, put: 0, dispatches: 0, closed: 0, receipts: 0, letter, granted, ..*self };
        let ask = || kernel::next::next(&counted.state(), stock().at(now));
        stock().nexts.lock().expect("no poison").entry((counted, now)).or_insert_with(ask).clone()
    }

    /// The kernel's own state that says the same.
    pub fn state(&self) -> TaskState {
        let mut state = stock().waiting.clone();
        state.task.status = self.task;
        state.cancel_requested = self.cancel.then(|| "enough".to_owned());
        state.steps.values_mut().for_each(|step| step.status = self.step);
        state.approvals.clear();
        let Some(status) = self.attempt else {
            state.current = None;
            return state;
        };
        let id = state.current.expect("an attempt");
        let attempt = state.attempts.get_mut(&id).expect("an attempt");
        attempt.attempt.status = status;
        let act = attempt.act().expect("an act").clone();
        let asked = self.question.map(|(asked, status)| stock().approval(asked, status));
        attempt.turn = self.turn(status, act, asked.as_ref().map(|approval| approval.approval_id));
        if let Some(approval) = asked {
            let known = stock().waiting.approvals.values().next().expect("an approval").clone();
            state.approvals.insert(approval.approval_id, ApprovalRecord { approval, ..known });
        }
        state
    }

    fn turn(&self, status: AttemptStatus, act: Act, approval: Option<ApprovalId>) -> Turn {
        let artifact = act.request.clone();
        if let Some(reason) = self.terminated {
            return Turn::Ended { reason, answer: None, last: None };
        }
        let Some((_, question)) = self.question else {
            return match (self.answered, status) {
                (true, _) => Turn::Answered { answer: artifact },
                (false, AttemptStatus::Reasoning) => Turn::Asking { request: artifact },
                (false, _) => Turn::Thinking { last: None },
            };
        };
        let stage = if self.resolved {
            Stage::Resolved(ResultCode::Partial)
        } else if let Some(result_code) = self.outcome {
            let sandbox_level = SandboxLevel::Beneath;
            Stage::Observed { result: artifact.clone(), result_code, sandbox_level }
        } else if self.uncertain {
            Stage::Uncertain
        } else if self.dispatched {
            Stage::Dispatched { at: stock().at(0) }
        } else if matches!(question, ApprovalStatus::Invalidated | ApprovalStatus::Cancelled) {
            Stage::Requested
        } else {
            Stage::Asked
        };
        let receipt = self.receipt.then(|| model::ReceiptId::fresh(&Still(stock().at(0)), &Numbered(1, 1)));
        let authority = Authority { approval, ..act.authority.clone() };
        let act = Box::new(Act { authority, stage, receipt, ..act });
        Turn::Acting { answer: Some(artifact), act }
    }

    pub fn attempt(&mut self, to: AttemptStatus) -> Result<(), model::Error> {
        let from = self.attempt.unwrap_or(AttemptStatus::Created);
        if from != to {
            transition::attempt(from, to)?;
        }
        self.attempt = Some(to);
        Ok(())
    }

    pub fn task(&mut self, to: TaskStatus) -> Result<(), model::Error> {
        if self.task != to {
            transition::task(self.task, to)?;
        }
        self.task = to;
        Ok(())
    }

    pub fn step(&mut self, to: StepStatus) -> Result<(), model::Error> {
        if self.step != to {
            transition::step(self.step, to)?;
        }
        self.step = to;
        Ok(())
    }

    pub fn unblock(&mut self) -> Result<(), model::Error> {
        self.task(TaskStatus::Running)?;
        self.step(StepStatus::Running)
    }

    /// The act in hand is behind it.
    pub fn next_turn(&mut self) {
        (self.question, self.letter, self.answered) = (None, None, false);
        (self.dispatched, self.outcome, self.uncertain) = (false, None, false);
        (self.resolved, self.receipt) = (false, false);
    }

    pub fn ask(&mut self, now: u8) -> Result<(), model::Error> {
        self.attempt(AttemptStatus::AwaitingPolicy)?;
        self.attempt(AttemptStatus::AwaitingApproval)?;
        self.question = Some(((self.put, now), ApprovalStatus::Pending));
        self.letter = None;
        self.put += 1;
        self.task(TaskStatus::Blocked)?;
        self.step(StepStatus::Blocked)
    }

    pub fn observed(&mut self, code: ResultCode) -> Result<(), model::Error> {
        self.attempt(AttemptStatus::Observing)?;
        if code == ResultCode::UnknownOutcome {
            self.uncertain = true;
            self.task(TaskStatus::Blocked)?;
            return self.step(StepStatus::Blocked);
        }
        self.outcome = Some(code);
        Ok(())
    }

    pub fn end(&mut self) -> Result<(), model::Error> {
        let reason = self.terminated.unwrap_or(TerminationReason::Done);
        let (attempt, step, task) = match reason {
            TerminationReason::Done => {
                (AttemptStatus::Succeeded, StepStatus::Succeeded, TaskStatus::Completed)
            }
            TerminationReason::Cancelled => {
                (AttemptStatus::Cancelled, StepStatus::Cancelled, TaskStatus::Cancelled)
            }
            _ => (AttemptStatus::Failed, StepStatus::Failed, TaskStatus::Failed),
        };
        if self.attempt.is_some_and(|status| !status.is_ended()) {
            self.attempt(attempt)?;
        }
        if task != TaskStatus::Cancelled {
            self.unblock()?;
        }
        self.step(step)?;
        self.task(task)
    }
}

impl Facts {
    /// Outcome and receipt in one commit, with the end of the turn.
    pub fn conclude(&mut self, code: ResultCode) -> Result<(), model::Error> {
        self.observed(code)?;
        self.receipts += 1;
        if code != ResultCode::UnknownOutcome {
            self.close()?;
        }
        Ok(())
    }

    pub fn close(&mut self) -> Result<(), model::Error> {
        self.unblock()?;
        self.attempt(AttemptStatus::ReceiptPending)?;
        self.attempt(AttemptStatus::CompilingContext)?;
        self.closed += 1;
        self.next_turn();
        Ok(())
    }

    pub fn waits_for(&self, now: u8) -> Option<Waiting> {
        match self.next(now) {
            Next::Wait(waiting) => Some(waiting),
            _ => None,
        }
    }
}
