//! Calls of an agent outside: each is one turn of its task. A call is known again by its key, in this process and by the
//! next host: what came of it is read from the log, so that the same call again never doubles an act.

use super::DriveOutcome;
use super::came::CallResult;
use crate::Error;
use crate::kernel::{Cell, Kernel, lock};
use crate::next::{Next, Waiting, next};
use crate::state::Turn;
use model::fault::Point;
use model::principal::PrincipalType;
use model::task::TaskStatus;
use model::{ApprovalId, Body, ClarificationId, TaskId, limits};
use reasoning::session::{Call, Said};
use seal::Digest;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

/// Bytes of a key that an agent gives, and of the name of a tool.
const KEY_BYTES_MAX: usize = 128;
/// Keys that are said to be received at once.
const SEEN_MAX: usize = 64;
/// Events read at once.
const STRIDE: usize = 500;

/// A call as it comes in.
#[derive(Debug, Clone, Copy)]
pub struct Proposed<'c> {
    /// The agent's own key for it; without one it is known by what it says.
    pub key: Option<&'c str>,
    /// The tool.
    pub tool: &'c str,
    /// Its arguments.
    pub arguments: &'c Value,
    /// Keys of earlier calls whose results the agent has received.
    pub seen: &'c [String],
}

/// What became of a call that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// It is on its way, or was made before; under this key.
    As(String),
    /// Another one is at work, and nothing of this one was taken.
    Behind {
        /// The tool of the one at work.
        tool: String,
        /// Its key.
        key: String,
    },
}

/// How a call stands.
#[derive(Debug, Clone)]
pub enum CallStanding {
    /// Nobody made it.
    Unknown,
    /// It is on its way.
    Working,
    /// A person is asked to allow it.
    Approval {
        /// The question.
        approval_id: ApprovalId,
        /// The act in one line.
        summary: String,
    },
    /// A person is asked what the agent asks.
    Question(ClarificationId),
    /// It may have happened, and a person settles whether it did.
    UnknownOutcome,
    /// A person has paused the task.
    Paused,
    /// The task has ended, and nothing came of it.
    Ended(TaskStatus),
    /// It is over.
    Over(Box<CallResult>),
}

/// Calls of one task: those in its log, and the one on its way there.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    queued: Option<Call>,
    known: Vec<Known>,
    /// The last event looked at.
    read_to: u64,
    /// Keys whose results were received.
    seen: BTreeSet<String>,
    /// Those of them that no call in the log tells of yet.
    unsaid: Vec<String>,
}

/// A call in the log.
#[derive(Debug, Clone)]
struct Known {
    seq: u64,
    said: Said,
}

impl Calls {
    /// The call of that key in the log, and from where on its story is told.
    fn known(&self, key: &str) -> Option<(u64, &Known)> {
        let at = self.known.iter().position(|known| known.said.key == key)?;
        let from = at.checked_sub(1).and_then(|at| self.known.get(at)).map_or(0, |known| known.seq);
        self.known.get(at).map(|known| (from, known))
    }

    /// The newest call that says the same, when neither has a key of its agent's own.
    fn same(&self, sha256: Digest) -> Option<(String, bool)> {
        let is_same = |named: bool, other: Digest| !named && other == sha256;
        if let Some(call) = self.queued.as_ref().filter(|call| is_same(call.named, call.sha256)) {
            return Some((call.key.clone(), true));
        }
        let known = self.known.iter().rev().find(|known| is_same(known.said.named, known.said.sha256))?;
        Some((known.said.key.clone(), false))
    }

    fn hear(&mut self, seen: &[String]) {
        for key in seen.iter().take(SEEN_MAX) {
            if self.known(key).is_some() && self.seen.insert(key.clone()) {
                self.unsaid.push(key.clone());
            }
        }
        let more = self.unsaid.len().saturating_sub(SEEN_MAX);
        self.unsaid.drain(..more);
    }
}

/// Refuses what no call can be.
fn check(call: &Proposed<'_>) -> Result<Digest, Error> {
    let is_name =
        |text: &str| !text.is_empty() && text.len() <= KEY_BYTES_MAX && !text.chars().any(char::is_control);
    if !is_name(call.tool) || call.key.is_some_and(|key| !is_name(key)) {
        return Err(Error::Input(format!("a tool and a key are a line of {KEY_BYTES_MAX} bytes at most")));
    }
    if !call.arguments.is_object() {
        return Err(Error::Input("the arguments of a call are one JSON object".to_owned()));
    }
    let said = json!({ "arguments": call.arguments, "tool": call.tool });
    let bytes = seal::canon::canonical_value(&said).map_err(|e| Error::Input(format!("a call: {e}")))?;
    if bytes.len() > limits::MODEL_ANSWER_BYTES_MAX {
        return Err(Error::Input(format!(
            "the call has {} bytes, and {} are the most; write a long file in parts",
            bytes.len(),
            limits::MODEL_ANSWER_BYTES_MAX
        )));
    }
    Ok(Digest::of(&bytes))
}

impl Kernel {
    /// The tools that an agent outside may call: those that a model is told of, but for those about servers of tools and
    /// skills, which are offered to a model alone, for `delegate`: only a model gives parts of its task away, and for `try_change`: only
    /// what a model of Hermit's own did can be played again.
    pub fn tools(&self) -> Vec<model::proposal::ToolSpec> {
        iteration::tools()
            .into_iter()
            .filter(|tool| {
                ![
                    super::offered::FIND,
                    super::offered_parts::READ_RESOURCE,
                    super::skills::USE_SKILL,
                    super::children::DELEGATE,
                    super::changes::TRY_CHANGE,
                ]
                .contains(&&*tool.name)
            })
            .collect()
    }

    /// An agent outside waits no longer for a call: one that is queued is taken back, and what of it is at work is stopped, as
    /// a person's wish to stop is. A call
    /// that waits for a person goes on waiting: who answers it decides, and the same call again goes on with it.
    ///
    /// # Errors
    /// As [`Kernel::standing_of_call`].
    pub fn stop_call(&self, task_id: TaskId, key: &str) -> Result<(), Error> {
        let calls = self.calls_of(task_id)?;
        let mut calls = lock(&calls);
        self.catch_up(task_id, &mut calls)?;
        if calls.queued.as_ref().is_some_and(|call| call.key == key) {
            calls.queued = None;
            return Ok(());
        }
        if matches!(self.call_standing(task_id, &calls, key)?, CallStanding::Working) {
            self.cell(task_id)?.stop.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Takes a call of an agent outside; whoever drives its task takes it up. The same call again is the one before, as
    /// long as that one is not over, or did something and nobody has received what came of it.
    ///
    /// # Errors
    /// [`Error::Input`] for what no call can be; [`Error::Conflict`] for a key that was used for another call, for a task
    /// that has ended, and for one that nobody leads from outside.
    pub fn propose(&self, task_id: TaskId, call: &Proposed<'_>) -> Result<Taken, Error> {
        let sha256 = check(call)?;
        let held = call.key.map(|key| self.ports.redactor.now().holds(key.as_bytes())).unwrap_or_default();
        if !held.is_empty() {
            return Err(Error::Secret(crate::redaction::named(held)));
        }
        let calls = self.calls_of(task_id)?;
        let mut calls = lock(&calls);
        self.catch_up(task_id, &mut calls)?;
        calls.hear(call.seen);
        if let Some(found) = self.call_made(task_id, &calls, call.key, sha256)? {
            return Ok(Taken::As(found));
        }
        if let Some((tool, key)) = self.call_at_work(task_id, &calls)? {
            return Ok(Taken::Behind { tool, key });
        }
        let cell = self.cell(task_id)?;
        let status = self.lock_task(&cell)?.task.status;
        if status.is_terminal() {
            return Err(Error::Conflict(format!("the task is {status}; open a new one")));
        }
        let times = calls.known.iter().filter(|known| known.said.sha256 == sha256).count();
        let own: String = sha256.to_string().chars().take(32).collect();
        let is_own = |key: &str| key.strip_prefix(&own).is_some_and(|rest| rest.starts_with('-'));
        let call = Call {
            key: call.key.map_or_else(|| format!("{own}-{times}"), str::to_owned),
            // A key that was made of the call, and comes back with it, is none of the agent's own.
            named: call.key.is_some_and(|key| !is_own(key)),
            tool: call.tool.to_owned(),
            arguments: call.arguments.clone(),
            sha256,
            seen: calls.unsaid.clone(),
        };
        let key = call.key.clone();
        calls.queued = Some(call);
        Ok(Taken::As(key))
    }

    /// The key of the call that this one is, when it was made before.
    fn call_made(
        &self,
        task_id: TaskId,
        calls: &Calls,
        key: Option<&str>,
        sha256: Digest,
    ) -> Result<Option<String>, Error> {
        let Some(key) = key else {
            let Some((key, queued)) = calls.same(sha256) else { return Ok(None) };
            if queued {
                return Ok(Some(key));
            }
            let again = match self.call_standing(task_id, calls, &key)? {
                CallStanding::Over(came) => {
                    let is_told = came.receipt_id.is_some() || came.refused.is_some() || came.answered;
                    is_told && !calls.seen.contains(&key)
                }
                CallStanding::Ended(_) | CallStanding::Unknown => false,
                _ => true,
            };
            return Ok(again.then_some(key));
        };
        let queued = calls.queued.as_ref().filter(|call| call.key == key).map(|call| call.sha256);
        let Some(first) = queued.or_else(|| calls.known(key).map(|(_, known)| known.said.sha256)) else {
            return Ok(None);
        };
        if first != sha256 {
            return Err(Error::Conflict(format!(
                "the key `{key}` was used for another call; give each its own"
            )));
        }
        Ok(Some(key.to_owned()))
    }

    /// The call that is not over yet, when there is one.
    fn call_at_work(&self, task_id: TaskId, calls: &Calls) -> Result<Option<(String, String)>, Error> {
        if let Some(call) = &calls.queued {
            return Ok(Some((call.tool.clone(), call.key.clone())));
        }
        let Some(last) = calls.known.last() else { return Ok(None) };
        let standing = self.call_standing(task_id, calls, &last.said.key)?;
        let over = matches!(standing, CallStanding::Over(_) | CallStanding::Ended(_));
        Ok((!over).then(|| (last.said.tool.clone(), last.said.key.clone())))
    }

    /// Whether the task waits for its agent outside, or for parts that its agent gave away: nobody drives it then.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none.
    pub fn waits_for_others(&self, task_id: TaskId) -> Result<bool, Error> {
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        Ok(matches!(next(&state, self.now_of(&state)), Next::Wait(Waiting::Proposer | Waiting::Dependency)))
    }

    /// How the call of that key stands.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn standing_of_call(&self, task_id: TaskId, key: &str) -> Result<CallStanding, Error> {
        let calls = self.calls_of(task_id)?;
        let mut calls = lock(&calls);
        self.catch_up(task_id, &mut calls)?;
        self.call_standing(task_id, &calls, key)
    }

    fn call_standing(&self, task_id: TaskId, calls: &Calls, key: &str) -> Result<CallStanding, Error> {
        let is_queued = calls.queued.as_ref().is_some_and(|call| call.key == key);
        match calls.known(key) {
            Some((from, known)) => {
                if let Some(came) = self.came_of(task_id, from, known.seq)? {
                    return Ok(CallStanding::Over(Box::new(came)));
                }
            }
            None if is_queued => {}
            None => return Ok(CallStanding::Unknown),
        }
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        Ok(match next(&state, self.now_of(&state)) {
            Next::Wait(Waiting::Approval(approval_id)) => {
                let summary =
                    state.attempt().and_then(|attempt| attempt.act()).map(|act| act.summary.clone());
                CallStanding::Approval { approval_id, summary: summary.unwrap_or_default() }
            }
            Next::Wait(Waiting::Answer(id)) => CallStanding::Question(id),
            Next::Wait(Waiting::UnknownOutcome) => CallStanding::UnknownOutcome,
            Next::Wait(Waiting::Resume) => CallStanding::Paused,
            Next::Ended(status) => CallStanding::Ended(status),
            _ => CallStanding::Working,
        })
    }

    fn calls_of(&self, task_id: TaskId) -> Result<Arc<Mutex<Calls>>, Error> {
        if let Some(known) = lock(&self.calls).get(&task_id) {
            return Ok(Arc::clone(known));
        }
        let cell = self.cell(task_id)?;
        let contract = self.contract(&*self.lock_task(&cell)?)?;
        if !contract.model.proposer().is_led() {
            return Err(Error::Conflict(format!("no agent outside leads the task `{task_id}`")));
        }
        Ok(Arc::clone(lock(&self.calls).entry(task_id).or_default()))
    }

    /// Reads what the log holds of calls since it was read last.
    fn catch_up(&self, task_id: TaskId, calls: &mut Calls) -> Result<(), Error> {
        loop {
            let page = self.reader.events(task_id, calls.read_to, STRIDE)?;
            let Some(last) = page.last() else { return Ok(()) };
            for stored in &page {
                let event = stored.event()?;
                if event.event_type != "attempt.model_responded" {
                    continue;
                }
                let Body::ModelResponded(responded) = self.body_of(&event)? else { continue };
                let bytes = self.artifacts.read(&responded.response.sha256)?;
                let said: Said = serde_json::from_slice(&bytes)
                    .map_err(|e| Error::Broken(format!("a call in the log cannot be read: {e}")))?;
                calls.seen.extend(said.seen.iter().cloned());
                calls.unsaid.retain(|key| !said.seen.contains(key));
                if calls.queued.as_ref().is_some_and(|call| call.key == said.key) {
                    calls.queued = None;
                }
                calls.known.push(Known { seq: stored.task_seq, said });
            }
            calls.read_to = last.task_seq;
        }
    }

    /// The call that waits becomes the answer of this turn; without one the task waits for it.
    pub(super) fn take_call_up(&self, cell: &Cell) -> Result<Option<DriveOutcome>, Error> {
        let task_id = self.lock_task(cell)?.task.task_id;
        let calls = self.calls_of(task_id)?;
        // Until it is in the log, nobody takes it back.
        let mut calls = lock(&calls);
        self.catch_up(task_id, &mut calls)?;
        let Some(call) = calls.queued.clone() else {
            return Ok(Some(DriveOutcome::Waiting(Waiting::Proposer)));
        };
        let reply = call.reply().map_err(|e| Error::Reasoning(e.to_string()))?;
        {
            let state = self.lock_task(cell)?;
            // A wish to stop the call before does not stop this one.
            if !state.pause_requested && state.cancel_requested.is_none() {
                cell.stop.store(false, Ordering::SeqCst);
            }
        }
        let tx = self.begin_tx(cell, Point::ModelRespond, PrincipalType::Agent)?;
        let attempt = tx.attempt().cloned().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let Turn::Asking { request } = &attempt.turn else { return Ok(None) };
        self.answered(tx, &attempt, request.artifact_id, &reply, 0)?;
        Ok(None)
    }
}
