//! What a driver decides when it looks at a task: the kernel's `next`, and the commits that its executors would make of it.

use super::facts::Facts;
use super::facts::{Asked, Letter};
use super::stock::stock;
use super::{Bounds, File, Without};
use kernel::Next;
use model::approval::ApprovalStatus;
use model::attempt::{AttemptStatus, TerminationReason};
use model::receipt::ResultCode;
use model::task::{StepStatus, TaskStatus};

/// What a driver makes of one look at a task.
pub enum Decided {
    Commit {
        facts: Facts,
        acts: bool,
        asks: bool,
    },
    /// It goes on with an act under the grant that was consumed for it.
    RollForward,
    Nothing,
}

impl Bounds {
    pub fn decide(&self, task: usize, facts: &Facts, file: &File, now: u8) -> Result<Decided, model::Error> {
        let (mut f, mut acts) = (*facts, false);
        let before = f.put;
        match facts.next(now) {
            Next::Begin => {
                f.unblock()?;
                f.attempt(AttemptStatus::Leased)?;
            }
            Next::Lease => f.attempt(AttemptStatus::Leased)?,
            Next::Compile => {
                f.attempt(AttemptStatus::CompilingContext)?;
                f.attempt(AttemptStatus::Reasoning)?;
            }
            Next::AskModel => f.answered = true,
            // The model proposes as often as it may, until something was done.
            Next::ReadAnswer if f.put < self.questions && f.closed == 0 => f.ask(now)?,
            Next::ReadAnswer => f.terminated = Some(TerminationReason::Done),
            Next::Judge if f.put < self.questions => f.ask(now)?,
            Next::Judge => f.terminated = Some(TerminationReason::Expired),
            Next::Dispatch => acts = self.dispatch(&mut f, file, now)?,
            Next::Refuse => {
                f.unblock()?;
                f.attempt(AttemptStatus::CompilingContext)?;
                f.next_turn();
            }
            Next::Settle => match self.found(task, facts, file, now) {
                None => return Ok(Decided::RollForward),
                Some(code) => f.conclude(code)?,
            },
            Next::Receipt => (f.receipt, f.receipts) = (true, f.receipts + 1),
            Next::Close => f.close()?,
            Next::ExpireApproval(_) => {
                f.question = f.question.map(|(asked, _)| (asked, ApprovalStatus::Expired))
            }
            Next::Finish => f.end()?,
            Next::Terminate(reason) => f.terminated = Some(reason),
            Next::Cancel if f.attempt.is_none() => {
                f.step(StepStatus::Cancelled)?;
                f.task(TaskStatus::Cancelled)?;
            }
            Next::Cancel => {
                f.question = f.question.map(|(asked, _)| (asked, ApprovalStatus::Cancelled));
                f.terminated = Some(TerminationReason::Cancelled);
            }
            // No commands and no child tasks here; and what policy says is one commit with the request.
            Next::Try | Next::AskPerson | Next::Downgrade | Next::Forbid | Next::StartChildren => {
                return Ok(Decided::Nothing);
            }
            Next::Withdraw(_) | Next::ExpireQuestion(_) | Next::Pause | Next::Wait(_) | Next::Ended(_) => {
                return Ok(Decided::Nothing);
            }
        }
        let asks = f.put > before;
        Ok(Decided::Commit { facts: f, acts, asks })
    }

    /// Witness again, grant, dispatch: one commit; or the yes is void.
    pub fn dispatch(&self, f: &mut Facts, file: &File, now: u8) -> Result<bool, model::Error> {
        let (Some((asked, _)), Some(letter)) = (f.question, f.letter) else { return Ok(false) };
        f.unblock()?;
        // As the kernel's `dispatch` asks before it verifies anything again.
        if now > asked.1 {
            f.question = Some((asked, ApprovalStatus::Invalidated));
            f.attempt(AttemptStatus::AwaitingPolicy)?;
            return Ok(false);
        }
        if !self.grants(letter, asked, now, file.witnessed) {
            f.attempt(AttemptStatus::AwaitingPolicy)?;
            f.attempt(AttemptStatus::CompilingContext)?;
            f.next_turn();
            return Ok(false);
        }
        f.attempt(AttemptStatus::Authorized)?;
        f.attempt(AttemptStatus::Executing)?;
        (f.dispatched, f.granted, f.dispatches) = (true, now, f.dispatches + 1);
        Ok(true)
    }

    /// What can be told of an act whose host is gone; none, if it is certain that it was not done and may still be. The
    /// first task changes a file; the second runs a command, of which no more is known than that it was started.
    pub fn found(&self, task: usize, facts: &Facts, file: &File, now: u8) -> Option<ResultCode> {
        match (task, file.begun > 0) {
            _ if self.without == Some(Without::Looking) => None,
            (0, _) if file.done => Some(ResultCode::Succeeded),
            (0, _) if !file.witnessed => Some(ResultCode::UnknownOutcome),
            (0, _) if facts.granted == now => None,
            (_, true) => Some(ResultCode::UnknownOutcome),
            _ => Some(ResultCode::Failed),
        }
    }

    fn grants(&self, letter: Letter, asked: Asked, now: u8, witnessed: bool) -> bool {
        match self.without {
            Some(Without::Verification) => true,
            Some(Without::Witness) => stock().grants(letter, asked, now, true),
            _ => stock().grants(letter, asked, now, witnessed),
        }
    }

    /// Whether a letter answers this question now.
    pub fn answers(&self, letter: Letter, asked: Asked, now: u8) -> bool {
        self.without == Some(Without::Verification) || stock().answers(letter, asked, now)
    }
}
