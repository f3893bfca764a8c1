//! Reads beside each other: of one answer, looks, fetches and calls that only look, and that nobody need be asked about,
//! run at the same time when they follow each other, up to a limit that a person sets. Each has its own request, judgement,
//! grant, dispatch, outcome and receipt: they are dispatched by one commit, and what came of them is recorded in the order of
//! the answer. What changes something is never among them.

use super::judge::{Judged, Requested};
use super::several::{Plan, news};
use super::{DriveOutcome, Perform};
use crate::Error;
use crate::folders::FolderTurn;
use crate::kernel::{Cell, Kernel};
use crate::ports::Executors;
use crate::state::TaskState;
use crate::tx::Tx;
use acts::{Action, ActionRequest};
use effects::Outcome;
use governance::Authorization;
use iteration::Proposal;
use model::policy::{PolicyResult, Verdict};
use model::principal::PrincipalType;
use model::task::Proposer;
use model::{Digest, PolicyResultId, TaskId, limits};
use std::sync::Arc;

/// Acts of one thread, in their order, each with its place in the answer.
type Lane<'p> = Vec<(usize, &'p ActionRequest, Authorization)>;

impl Kernel {
    /// Dispatches the reads that follow `first` in its answer, as far as they may run beside it. None, where `first`
    /// changes something, or is not what the answer asked for.
    pub(super) fn dispatch_beside(
        &self,
        tx: &mut Tx<'_>,
        executors: &Arc<dyn Executors>,
        first: &ActionRequest,
    ) -> Result<Vec<(ActionRequest, Authorization)>, Error> {
        let at_once = self.ports.executors.parallel_reads();
        let mut width = width(first, at_once);
        let is_asked_for = tx.attempt().is_some_and(|attempt| attempt.turn.answer().is_some());
        // What somebody has said since comes before all that follows.
        if news(tx).is_some() || !only_looks(first) || !is_asked_for || self.proposer(tx)? == Proposer::Guest
        {
            return Ok(Vec::new());
        }
        let (answer, proposals) = self.stored_answer(tx)?;
        let proposals = proposals.unwrap_or_default();
        let reason = self.reason_of(tx, &answer);
        let mut dispatched = Vec::new();
        let mut through = Plan::of(&proposals, tx.attempt().map_or(0, |attempt| attempt.taken)).through();
        while width < at_once && self.has_a_turn_left(tx, dispatched.len()) {
            let plan = Plan::of(&proposals, through);
            let Some(act) = plan.act.as_ref().filter(|act| plan.said.is_empty() && may_look(act)) else {
                break;
            };
            let Ok(normalised) = self.normalise(tx, &**executors, act, &reason, None)? else { break };
            let request_sha256 = Digest::of(&normalised.bytes);
            let own = self::width(&normalised.request, at_once);
            if !only_looks(&normalised.request) || width.saturating_add(own) > at_once {
                break;
            }
            let id = PolicyResultId::fresh(&*self.ports.clock, &*self.ports.entropy);
            let policy = self.ask_policy(tx, &normalised.request, request_sha256, id, tx.now())?;
            if !self.goes_along(tx, &normalised.request, &policy) {
                break;
            }
            tx.act_as(PrincipalType::Agent)?;
            self.request(tx, normalised)?;
            dispatched.push(self.dispatch_one_beside(tx, policy)?);
            (width, through) = (width.saturating_add(own), plan.through());
        }
        Ok(dispatched)
    }

    /// The request that was just put on record, with what policy said of it: granted and dispatched.
    fn dispatch_one_beside(
        &self,
        tx: &mut Tx<'_>,
        policy: PolicyResult,
    ) -> Result<(ActionRequest, Authorization), Error> {
        let requested = tx.hand.requested.take();
        let Requested { request, request_ref, .. } =
            requested.ok_or_else(|| Error::Broken("a request beside another was lost".to_owned()))?;
        tx.act_as(PrincipalType::PolicyEngine)?;
        let policy_ref = self.keep_policy(tx, &request, &request_ref, &policy)?;
        let (witness, view, denied_before) = (None, None, false);
        let judged = Judged { request, request_ref, policy, policy_ref, witness, view, denied_before };
        let authorization = self.authorise(tx, &judged, None)?;
        self.dispatched(tx, &judged, None, &authorization)?;
        tx.hand.by_standing |= judged.policy.standing.is_some();
        Ok((judged.request, authorization))
    }

    /// Whether policy lets it be done without a person, a witness or a decision of its own.
    fn goes_along(&self, tx: &Tx<'_>, request: &ActionRequest, policy: &PolicyResult) -> bool {
        policy.verdict == Verdict::Allow
            && !policy.decision_required
            && !request.classes().iter().any(|class| class.needs_witness() || class.is_important())
            && policy.standing.as_ref().is_none_or(|named| self.answers_again(tx, named))
    }

    /// Whether the run has a turn for one more act than these.
    fn has_a_turn_left(&self, state: &TaskState, beside: usize) -> bool {
        let taken = state.attempt().map_or(u32::MAX, |attempt| attempt.loop_state.iteration);
        let more = u32::try_from(beside).unwrap_or(u32::MAX).saturating_add(1);
        taken.saturating_add(more) < limits::ITERATIONS_MAX
    }

    /// Acts that one commit dispatched run at the same time; what came of them is recorded in their order. What cannot be
    /// recorded, because one before it waits, is settled by looking when it is in hand.
    pub(super) fn perform_together(
        &self,
        cell: &Cell,
        task_id: TaskId,
        acts: Vec<Perform>,
    ) -> Result<Option<DriveOutcome>, Error> {
        // One commit dispatches for one workspace: they share their executors.
        let Some(executors) = acts.first().map(|(executors, ..)| Arc::clone(executors)) else {
            return Ok(None);
        };
        let (mut requests, mut lent, mut turns) = (Vec::new(), Vec::new(), Vec::new());
        for (_, request, authorization, turn) in acts {
            turns.extend(turn.map(FolderTurn::begin));
            requests.push(*request);
            lent.push(authorization);
        }
        let outcomes = self.outcomes_of(cell, task_id, &*executors, &requests, lent);
        for (request, outcome) in requests.into_iter().zip(outcomes) {
            let in_hand = self.lock_task(cell)?.attempt().and_then(|attempt| {
                attempt.act().filter(|act| act.is_dispatched()).map(|act| act.action_request_id)
            });
            if in_hand != Some(request.action_request_id) {
                return Ok(None);
            }
            if let Some(standing) = self.observed(cell, request, outcome, false)? {
                return Ok(Some(standing));
            }
        }
        drop(turns);
        Ok(None)
    }

    /// Performs each, in a thread of its own; calls of one server one after the other, because it remembers them.
    fn outcomes_of(
        &self,
        cell: &Cell,
        task_id: TaskId,
        executors: &dyn Executors,
        requests: &[ActionRequest],
        lent: Vec<Authorization>,
    ) -> Vec<Outcome> {
        let mut lanes: Vec<Lane<'_>> = Vec::new();
        for (at, (request, authorization)) in requests.iter().zip(lent).enumerate() {
            let server = server_of(request);
            let same = |lane: &&mut Lane<'_>| {
                server.is_some() && lane.first().is_some_and(|(_, first, _)| server_of(first) == server)
            };
            match lanes.iter_mut().find(same) {
                Some(lane) => lane.push((at, request, authorization)),
                None => lanes.push(vec![(at, request, authorization)]),
            }
        }
        let mut outcomes: Vec<(usize, Outcome)> = std::thread::scope(|threads| {
            let perform = |lane: Lane<'_>| -> Vec<(usize, Outcome)> {
                let one = |(at, request, authorization)| {
                    (at, self.perform(cell, task_id, executors, request, authorization))
                };
                lane.into_iter().map(one).collect()
            };
            let started: Vec<_> =
                lanes.into_iter().map(|lane| threads.spawn(move || perform(lane))).collect();
            let joined = started.into_iter().flat_map(|thread| match thread.join() {
                Ok(outcomes) => outcomes,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect()
        });
        outcomes.sort_by_key(|(at, _)| *at);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }
}

/// The server that a call goes to.
const fn server_of(request: &ActionRequest) -> Option<&Digest> {
    match &request.action {
        Action::Call(call) => Some(&call.registration_sha256),
        _ => None,
    }
}

/// Whether a proposal may come to a look at all.
const fn may_look(act: &Proposal) -> bool {
    matches!(
        act,
        Proposal::Observe(_)
            | Proposal::Act(Action::Fetch(_))
            | Proposal::Call { .. }
            | Proposal::ReadResource { .. }
    )
}

/// Whether a request is a look, exactly as it was asked for, whose server asks no model meanwhile.
fn only_looks(request: &ActionRequest) -> bool {
    let looks = match &request.action {
        Action::Observe(_) => true,
        Action::Fetch(fetch) => !fetch.method.changes(),
        Action::Call(call) => call.only_looks() && call.sampling.is_none(),
        _ => false,
    };
    looks && request.staged.is_none() && request.instead_of.is_none()
}

/// How many reads it is.
fn width(request: &ActionRequest, at_once: usize) -> usize {
    match &request.action {
        Action::Observe(look) => look.items.len().clamp(1, at_once.max(1)),
        _ => 1,
    }
}
