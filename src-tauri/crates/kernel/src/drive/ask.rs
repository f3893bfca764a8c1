//! Asking a model with the request that is on record, and what came of it.

use super::saying::Saying;
use super::{DriveOutcome, Then};
use crate::Error;
use crate::kernel::{Cell, Kernel};
use crate::next::is_overdue;
use crate::ports::Notice;
use crate::state::{AttemptState, MODEL_UNAVAILABLE, Turn};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use model::artifact::{ArtifactKind, TrustTier};
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::{BudgetSettled, ModelFailed, ModelResponded};
use model::context::ContextPack;
use model::fault::Point;
use model::principal::PrincipalType;
use model::proposal::Answer;
use model::task::TaskStatus;
use model::{ArtifactId, Sensitive, TaskId};
use reasoning::{Delta, Input, Reasoner};
use seal::Digest;
use std::borrow::Cow;
use std::cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// For how long a busy server is waited for where another model may be asked instead.
const FOLLOWED_WAIT_MS_MAX: u64 = 30_000;

/// Kept in the place of an answer's exact bytes when the value of a secret lies in them.
const WITHHELD: &[u8] =
    b"the exact bytes of this answer held the value of a secret and are not kept; see model.answer";

/// Kept in the place of an answer's exact bytes when what the model reasoned lies in them: what it reasons is a scratchpad.
fn let_go(raw: &[u8]) -> Vec<u8> {
    let (bytes, digest) = (raw.len(), Digest::of(raw));
    let what = "the exact bytes of this answer held what the model reasoned, which is not kept";
    format!("{what}: {bytes} bytes, SHA-256 {digest}; see model.answer").into_bytes()
}

/// What a model is asked, as it is on record.
struct Stored {
    attempt: AttemptState,
    reasoner: Arc<dyn Reasoner>,
    request: (ArtifactId, Vec<u8>),
    pack: ContextPack,
    /// What was set aside for it.
    cost_micros: u64,
    wait_ms_max: u64,
}

/// What came of it.
struct Heard {
    reply: Result<reasoning::Reply, reasoning::Error>,
    /// Some of an answer came.
    flowed: bool,
    wall_ms: i64,
}

/// What a model does that is told while it is waited for.
const READS: &str = "the model reads what it was sent";
const WRITES: &str = "the model writes its answer";

impl Kernel {
    /// Asks with the stored bytes, where the day still has room for it.
    pub(super) fn ask_model(&self, cell: &Cell) -> Result<Option<DriveOutcome>, Error> {
        let task_id = self.lock_task(cell)?.task.task_id;
        let came = self.ask_in_day(cell, task_id);
        self.promise_kept(task_id);
        came
    }

    fn ask_in_day(&self, cell: &Cell, task_id: TaskId) -> Result<Option<DriveOutcome>, Error> {
        let Some(stored) = self.stored(cell)? else { return self.without_what_is_gone(cell) };
        // It may have been stored on another day or under another ceiling, or have failed since.
        if let Err(said) = self.within_day(task_id, stored.cost_micros)? {
            let mut tx = self.begin_tx(cell, Point::ContextCompile, PrincipalType::System)?;
            let then: Then = self.day_is_full(&mut tx, said)?;
            return self.go_through(cell, tx, then);
        }
        let Heard { reply, flowed, wall_ms } = self.hear(cell, task_id, &stored)?;
        match reply {
            Ok(reply) => {
                let tx = self.begin_tx(cell, Point::ModelRespond, PrincipalType::Agent)?;
                self.answered(tx, &stored.attempt, stored.request.0, &reply, wall_ms).map(|()| None)
            }
            Err(reasoning::Error::Cancelled) if flowed && stored.cost_micros > 0 => {
                let mut tx = self.begin_tx(cell, Point::ModelFail, PrincipalType::System)?;
                settle_reserve(&mut tx, wall_ms);
                tx.commit()?;
                Ok(None)
            }
            Err(reasoning::Error::Cancelled) => Ok(None),
            Err(error) => {
                let tx = self.begin_tx(cell, Point::ModelFail, PrincipalType::System)?;
                self.unanswered(tx, &stored.attempt, &error, (flowed, wall_ms))
            }
        }
    }

    /// What is on record to be asked, the bytes of each picture in the place of its name; none where one of them is gone.
    fn stored(&self, cell: &Cell) -> Result<Option<Stored>, Error> {
        let state = self.lock_task(cell)?;
        // A wish to stop that was taken, as by a retry, does not stop what came after it.
        let is_overdue = is_overdue(&state, self.now_of(&state));
        if !state.pause_requested && state.cancel_requested.is_none() && !is_overdue {
            cell.stop.store(false, Ordering::SeqCst);
        }
        let attempt = state.attempt().cloned().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let (Turn::Asking { request }, Some(pack)) = (&attempt.turn, &attempt.pack) else {
            return Err(Error::Broken("the request to the model is not stored".to_owned()));
        };
        let (request_id, kept) = (request.artifact_id, self.artifacts.read(&request.sha256)?);
        let pack: ContextPack = self.read_object(&state, pack.artifact_id)?;
        let Some(pictures) = self.pictures_named(&state, &pack)? else { return Ok(None) };
        let request = (request_id, reasoning::pictures::with_bytes(kept, &pictures));
        let contract = self.contract(&state)?;
        let reasoner = self.reasoner(&state, &contract)?;
        let wall_ms = state.budget(&contract).wall_ms_max.saturating_sub(state.wall_ms);
        let wait_ms_max = u64::try_from(wall_ms).unwrap_or_default();
        // Who has somebody else to ask waits less for a server that is busy.
        let is_followed = self.chain(&state, &contract, state.step())?.len() > state.fallen.saturating_add(1);
        let wait_ms_max = if is_followed { wait_ms_max.min(FOLLOWED_WAIT_MS_MAX) } else { wait_ms_max };
        Ok(Some(Stored { attempt, reasoner, request, pack, cost_micros: state.cost_reserved, wait_ms_max }))
    }

    /// A picture of the request cannot be read any more: it is made anew, and says so.
    fn without_what_is_gone(&self, cell: &Cell) -> Result<Option<DriveOutcome>, Error> {
        let mut tx = self.begin_tx(cell, Point::ModelFail, PrincipalType::System)?;
        let about_attempt_id = self.attempt_id(&tx)?;
        let iteration = tx.attempt().map_or(0, |attempt| attempt.iteration);
        let say = "nothing was sent: the bytes of a picture of the request cannot be read any more";
        tx.push(ModelFailed {
            about_attempt_id,
            iteration,
            error: Sensitive::from(say.to_owned()),
            retryable: true,
        });
        tx.set_attempt(AttemptStatus::CompilingContext, "asks again without a picture that is gone")?;
        tx.commit()?;
        Ok(None)
    }

    /// The lock is not held while the model thinks, so that a person can speak.
    fn hear(&self, cell: &Cell, task_id: TaskId, stored: &Stored) -> Result<Heard, Error> {
        let observed = self.observations(&stored.attempt.observed)?;
        let input = Input {
            request: &stored.request.1,
            pack: &stored.pack,
            observed: &observed,
            iteration: stored.pack.iteration,
            wait_ms_max: stored.wait_ms_max,
        };
        let mut stream = redact::Stream::new(self.ports.redactor.now());
        let mut thoughts = redact::Stream::new(self.ports.redactor.now());
        let saying = Saying::begin(self, cell, task_id);
        let think = |text: String| saying.thinks(text);
        let tell = |text: String| saying.says(text);
        let mut prose = reasoning::answer_text::Prose::default();
        let flowed = cell::Cell::new(false);
        let reads = cell::Cell::new(false);
        let goes = |what, done, total| {
            self.ports.observer.notice(Notice::Progress { task_id, what, done, total });
        };
        let mut on_delta = |piece: Delta<'_>| {
            if let Delta::Reading { done, of } = piece {
                reads.set(true);
                return goes(READS, done, of);
            }
            if reads.take() {
                goes(WRITES, 0, 0);
            }
            flowed.set(true);
            match piece {
                Delta::Text(text) => tell(stream.push_text(&prose.push(text))),
                Delta::Reasoning(text) => think(thoughts.push_text(text)),
                Delta::Reading { .. } => {}
            }
        };
        let started = self.ports.clock.now();
        let stopped = || cell.stop.load(Ordering::SeqCst) || self.winding.load(Ordering::SeqCst);
        let reply = stored.reasoner.propose(&input, &mut on_delta, &stopped);
        think(thoughts.end_text());
        tell(stream.push_text(&prose.end()));
        tell(stream.end_text());
        let wall_ms = self.ports.clock.now().0.saturating_sub(started.0);
        Ok(Heard { reply, flowed: flowed.get(), wall_ms })
    }

    pub(super) fn answered(
        &self,
        mut tx: Tx<'_>,
        attempt: &AttemptState,
        request: ArtifactId,
        reply: &reasoning::Reply,
        wall_ms: i64,
    ) -> Result<(), Error> {
        let about_attempt_id = attempt.attempt.attempt_id;
        let new = |kind| NewArtifact::audit(kind).trust(TrustTier::Untrusted);
        let as_json = |answer: &Answer| serde_json::to_vec(answer).map_err(|e| Error::Broken(e.to_string()));
        let (whole, answer) = (as_json(&reply.answer)?, as_json(&reply.answer.without_reasoning())?);
        let is_led = attempt.loop_state.is_led;
        // A streamed answer is cut into pieces that no value is whole in; its pieces are not kept then.
        // What an agent outside has called is told in its answer alone.
        let held = !is_led && !tx.redactor().holds(&whole).is_empty();
        let raw = match held {
            true => Cow::Borrowed(WITHHELD),
            false if !is_led && !reply.answer.reasoning.is_empty() => Cow::Owned(let_go(&reply.raw)),
            false => Cow::Borrowed(reply.raw.as_slice()),
        };
        let response = tx.artifact(&raw, new(ArtifactKind::ModelResponse).from([request]))?;
        let answer = tx.artifact(&answer, new(ArtifactKind::ModelAnswer).from([response.artifact_id]))?;
        let usage = reply.answer.usage;
        let (mut tokens, mut cost_micros) =
            (usage.tokens_in.saturating_add(usage.tokens_out), usage.cost_micros);
        if tokens == 0 && tx.cost_reserved > 0 {
            // Nobody says what it used.
            (tokens, cost_micros) = (tx.tokens_reserved, tx.cost_reserved);
        }
        tx.push(ModelResponded {
            about_attempt_id,
            iteration: attempt.iteration,
            response,
            answer,
            tokens_in: usage.tokens_in,
            tokens_out: usage.tokens_out,
            cost_micros: usage.cost_micros,
            finish_reason: reply.answer.finish_reason.clone(),
        });
        tx.push(BudgetSettled { about_task_id: tx.task.task_id, tokens, cost_micros, wall_ms });
        tx.commit()?;
        Ok(())
    }

    /// No answer: the task pauses with the reason, and nothing is lost.
    fn unanswered(
        &self,
        mut tx: Tx<'_>,
        attempt: &AttemptState,
        error: &reasoning::Error,
        (flowed, wall_ms): (bool, i64),
    ) -> Result<Option<DriveOutcome>, Error> {
        let has_come = matches!(error, reasoning::Error::Garbage { .. } | reasoning::Error::TooLong { .. });
        if flowed || has_come {
            settle_reserve(&mut tx, wall_ms);
        }
        tx.push(ModelFailed {
            about_attempt_id: attempt.attempt.attempt_id,
            iteration: attempt.iteration,
            error: Sensitive::from(error.to_string()),
            retryable: error.may_retry(),
        });
        if matches!(error, reasoning::Error::Parameter { .. }) {
            // The request is made anew without it; a server has few parameters to refuse, and each is refused once.
            tx.set_attempt(AttemptStatus::CompilingContext, "asks again in other words")?;
            tx.commit()?;
            return Ok(None);
        }
        if error.can_be_mended() {
            if self.fall_back(&mut tx, attempt, error)? {
                tx.commit()?;
                return Ok(None);
            }
            tx.set_task(TaskStatus::Paused, MODEL_UNAVAILABLE, Some(error.to_string()))?;
            let task_id = tx.task.task_id;
            tx.commit()?;
            // What is on record was cleaned when it was written; this goes to whoever waits for the task.
            let said = self.ports.redactor.now().text(&error.to_string()).rest.into_owned();
            return Err(Error::Reasoning(format!(
                "{said}; the task is paused and nothing is lost: `hermit task resume {task_id}`"
            )));
        }
        let said = format!("Stopped: {error}. Put that right, or choose another model, and run it again.");
        self.push_end(&mut tx, TerminationReason::ModelUnavailable, &said)?;
        tx.commit()?;
        Ok(None)
    }
}

/// A call ended and nobody says what it used: what was set aside for it counts, where it has a price.
fn settle_reserve(tx: &mut Tx<'_>, wall_ms: i64) {
    let (tokens, cost_micros) = (tx.tokens_reserved, tx.cost_reserved);
    if cost_micros > 0 {
        tx.push(BudgetSettled { about_task_id: tx.task.task_id, tokens, cost_micros, wall_ms });
    }
}
