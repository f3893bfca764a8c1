//! An attempt as its events say.

use crate::Error;
use iteration::LoopState;
use model::action::ActionClass;
use model::artifact::ArtifactRef;
use model::attempt::{AttemptStatus, StepAttempt, TerminationReason, WorkspaceLease};
use model::body::{ActionRequested, Body};
use model::policy::{RiskBand, Verdict};
use model::receipt::{ResultCode, SandboxLevel};
use model::standing::StandingRef;
use model::{
    ActionRequestId, ApprovalId, ClarificationId, DecisionId, Event, GrantId, PolicyResultId, ReceiptId,
    Slot, UnixMs, WitnessId, transition,
};
use seal::Digest;

/// What policy said of the act in hand.
#[derive(Debug, Clone)]
pub struct PolicyAt {
    /// Its identifier.
    pub policy_result_id: PolicyResultId,
    /// Its artifact.
    pub artifact: ArtifactRef,
    /// The one result.
    pub verdict: Verdict,
    /// What is at stake.
    pub risk_band: RiskBand,
    /// The policy set it was judged by.
    pub policy_set_sha256: Digest,
}

/// The witness of the act in hand.
#[derive(Debug, Clone)]
pub struct WitnessAt {
    /// Its identifier.
    pub witness_id: WitnessId,
    /// Its artifact.
    pub artifact: ArtifactRef,
    /// Until when it may be compared.
    pub expires_at: UnixMs,
}

/// The act in hand, from request to receipt.
#[derive(Debug, Clone)]
pub struct ActState {
    /// Its identifier.
    pub action_request_id: ActionRequestId,
    /// The request's artifact.
    pub request: ArtifactRef,
    /// The gravest class.
    pub action_class: ActionClass,
    /// The tool.
    pub tool: String,
    /// One line.
    pub summary: String,
    /// What policy said last.
    pub policy: Option<PolicyAt>,
    /// What was observed when it was proposed.
    pub witness: Option<WitnessAt>,
    /// What was observed again before execution.
    pub validated: Option<ArtifactRef>,
    /// The approval asked for.
    pub approval: Option<ApprovalId>,
    /// The decision recorded for it.
    pub decision: Option<DecisionId>,
    /// The grant minted for it.
    pub grant: Option<GrantId>,
    /// The standing grant that answered for a person.
    pub standing: Option<StandingRef>,
    /// When it was dispatched.
    pub dispatched_at: Option<UnixMs>,
    /// The gate entry that let it pass.
    pub audit_entry: Option<Digest>,
    /// Its outcome.
    pub outcome: Option<(ArtifactRef, ResultCode, SandboxLevel)>,
    /// Its outcome is not known.
    pub uncertain: bool,
    /// A person settled it.
    pub resolved: Option<ResultCode>,
    /// Its receipt.
    pub receipt: Option<ReceiptId>,
    /// What was asked, when this is done instead.
    pub instead_of: Option<ActionRequestId>,
}

impl ActState {
    /// An act of which nothing is known but its request.
    fn of(b: &ActionRequested) -> Self {
        Self {
            action_request_id: b.action_request_id,
            request: b.request.clone(),
            action_class: b.action_class,
            tool: b.tool.clone(),
            summary: b.summary.shown().cloned().unwrap_or_default(),
            policy: None,
            witness: None,
            validated: None,
            approval: None,
            decision: None,
            grant: None,
            standing: None,
            dispatched_at: None,
            audit_entry: None,
            outcome: None,
            uncertain: false,
            resolved: None,
            receipt: None,
            instead_of: None,
        }
    }

    /// Whether what becomes of it is told by a receipt, as [`acts::ActionRequest::leaves_receipt`] says.
    pub const fn leaves_receipt(&self) -> bool {
        self.action_class.leaves_receipt() || self.instead_of.is_some()
    }
}

/// Something this attempt has seen, whole.
#[derive(Debug, Clone)]
pub struct ObservedRef {
    /// The result's artifact.
    pub artifact: ArtifactRef,
    /// The tool it came from.
    pub tool: String,
    /// What it was about, one line.
    pub about: String,
}

/// Everything the kernel needs to know of one attempt.
#[derive(Debug, Clone)]
pub struct AttemptState {
    /// The attempt.
    pub attempt: StepAttempt,
    /// Its lease.
    pub lease: Option<WorkspaceLease>,
    /// Whether the lease was given back or lost.
    pub lease_gone: bool,
    /// The turn in hand, from 1; 0 before the first.
    pub iteration: u32,
    /// The loop's own state.
    pub loop_state: LoopState,
    /// Earlier turns, a line each.
    pub turns: Vec<(u32, String)>,
    /// The answer in hand, not yet handled.
    pub answer: Option<ArtifactRef>,
    /// A model failed this many times since it last answered.
    pub model_failures: u32,
    /// The act in hand.
    pub act: Option<ActState>,
    /// What it has seen.
    pub observed: Vec<ObservedRef>,
    /// The environment it runs in.
    pub environment: Option<ArtifactRef>,
    /// The question it waits on.
    pub question: Option<ClarificationId>,
    /// A person refused its last act and nothing was done since.
    pub last_refused: bool,
    /// Policy refused its last act and nothing was done since.
    pub last_forbidden: bool,
    /// Why its loop ended, with the final answer.
    pub terminated: Option<(TerminationReason, Option<ArtifactRef>)>,
    /// The last context pack.
    pub pack: Option<ArtifactRef>,
    /// The exact bytes of the last model request.
    pub model_request: Option<ArtifactRef>,
    /// Answers that came from another machine, with the requests that went there.
    pub remote_calls: Vec<(ArtifactRef, ArtifactRef)>,
    /// Whether the request in hand goes to another machine.
    pub asks_remote: bool,
}

impl AttemptState {
    /// A fresh attempt.
    pub fn new(attempt: StepAttempt, goal: String) -> Self {
        Self {
            attempt,
            lease: None,
            lease_gone: false,
            iteration: 0,
            loop_state: LoopState::new(&goal, model::limits::ITERATIONS_MAX),
            turns: Vec::new(),
            answer: None,
            model_failures: 0,
            act: None,
            observed: Vec::new(),
            environment: None,
            question: None,
            last_refused: false,
            last_forbidden: false,
            terminated: None,
            pack: None,
            model_request: None,
            remote_calls: Vec::new(),
            asks_remote: false,
        }
    }

    /// Whether an act was dispatched whose outcome is not established.
    pub fn unsettled(&self) -> bool {
        self.act
            .as_ref()
            .is_some_and(|act| act.dispatched_at.is_some() && act.outcome.is_none() && act.resolved.is_none())
    }

    /// Whether it waits on a person.
    pub const fn waits(&self) -> bool {
        matches!(self.attempt.status, AttemptStatus::AwaitingApproval | AttemptStatus::AwaitingInput)
    }

    /// Folds one event of this attempt.
    ///
    /// # Errors
    /// When a status change is not in the table.
    pub fn apply(&mut self, event: &Event, body: &Body) -> Result<(), Error> {
        match body {
            Body::AttemptStatusChanged(b) => {
                transition::attempt(b.from, b.to)?;
                if self.attempt.status != b.from {
                    return Err(Error::Broken(format!(
                        "attempt `{}` was {}, not {}",
                        b.about_attempt_id, self.attempt.status, b.from
                    )));
                }
                self.attempt.status = b.to;
                if b.to.is_ended() {
                    self.attempt.finished_at = Some(event.occurred_at);
                }
            }
            Body::AttemptCheckpointed(b) => {
                self.attempt.context_pack_ref = b.context_pack_ref.clone();
                self.attempt.working_state_ref = b.working_state_ref.clone();
            }
            Body::EnvironmentCaptured(b) => self.environment = Some(b.environment.clone()),
            Body::LeaseAcquired(b) => {
                self.attempt.workspace_lease_ref = Slot::Value(b.lease.lease_id);
                self.lease = Some(b.lease.clone());
                self.lease_gone = false;
            }
            Body::LeaseRenewed(b) => {
                if let Some(lease) = self.lease.as_mut() {
                    lease.expires_at = b.expires_at;
                }
            }
            Body::LeaseReleased(_) | Body::LeaseLost(_) => self.lease_gone = true,
            _ => {
                self.apply_loop(body);
                self.apply_act(event, body);
            }
        }
        self.loop_state = self.loop_state.clone().fold(event.event_id, body);
        Ok(())
    }

    fn apply_loop(&mut self, body: &Body) {
        match body {
            Body::ContextCompiled(b) => {
                self.iteration = b.iteration;
                self.pack = Some(b.pack.clone());
                self.answer = None;
                self.act = None;
            }
            Body::ModelRequested(b) => {
                self.model_request = Some(b.request.clone());
                self.asks_remote = b.remote;
            }
            Body::ModelResponded(b) => {
                if let Some(request) = self.model_request.clone().filter(|_| self.asks_remote) {
                    self.remote_calls.push((request, b.response.clone()));
                }
                self.answer = Some(b.answer.clone());
                self.model_failures = 0;
            }
            Body::ModelFailed(_) => self.model_failures = self.model_failures.saturating_add(1),
            Body::ModelOutputRejected(_) => self.answer = None,
            Body::IterationCompleted(b) => {
                self.answer = None;
                self.turns.extend(in_one_line(&b.record).map(|line| (b.record.step_number, line)));
                self.remember_output(b.record.tool_invocation.as_deref());
            }
            Body::RunTerminated(b) => self.terminated = Some((b.reason, b.answer.clone())),
            Body::ClarificationRequested(b) => self.question = Some(b.clarification.clarification_id),
            Body::ClarificationAnswered(_)
            | Body::ClarificationExpired(_)
            | Body::ClarificationCancelled(_) => {
                self.question = None;
            }
            _ => {}
        }
    }

    /// The output of the act in hand joins what the attempt has seen, newest last.
    fn remember_output(&mut self, tool: Option<&str>) {
        let (Some(tool), Some(act)) = (tool, self.act.as_ref()) else { return };
        let Some((artifact, _, _)) = act.outcome.as_ref() else { return };
        let seen =
            ObservedRef { artifact: artifact.clone(), tool: tool.to_owned(), about: act.summary.clone() };
        self.observed.push(seen);
    }

    fn apply_act(&mut self, event: &Event, body: &Body) {
        if let Body::ActionRequested(b) = body {
            self.act = Some(ActState::of(b));
            return;
        }
        let Some(act) = self.act.as_mut() else { return };
        match body {
            Body::ActionDowngraded(b) if b.instead == act.action_request_id => {
                act.instead_of = Some(b.action_request_id);
            }
            Body::PolicyEvaluated(b) => {
                act.policy = Some(PolicyAt {
                    policy_result_id: b.policy_result_id,
                    artifact: b.result.clone(),
                    verdict: b.verdict,
                    risk_band: b.risk_band,
                    policy_set_sha256: b.policy_set_sha256,
                });
            }
            Body::WitnessCaptured(b) => {
                act.witness = Some(WitnessAt {
                    witness_id: b.witness_id,
                    artifact: b.witness.clone(),
                    expires_at: b.expires_at,
                });
                act.validated = None;
            }
            Body::WitnessValidated(b) => act.validated = Some(b.observed.clone()),
            Body::DecisionRecorded(b) => act.decision = Some(b.decision.decision_id),
            Body::ApprovalRequested(b) => act.approval = Some(b.approval.approval_id),
            Body::ApprovalInvalidated(_) => act.approval = None,
            Body::ApprovalDenied(_) => self.last_refused = true,
            Body::GrantIssued(b) => act.grant = Some(b.grant_id),
            Body::StandingUsed(b) => {
                act.standing = Some(StandingRef { grant_id: b.grant_id, envelope_sha256: b.envelope.sha256 });
            }
            Body::EffectDispatched(b) => {
                act.dispatched_at = Some(event.occurred_at);
                act.audit_entry = Some(b.audit_entry_sha256);
            }
            Body::EffectObserved(b) => {
                act.outcome = Some((b.result.clone(), b.result_code, b.sandbox_level));
                act.uncertain = false;
                if act.dispatched_at.is_none() {
                    // A refusal is an outcome too: nothing ran, and the model is told why.
                    self.last_forbidden = !self.last_refused;
                } else if act.action_class.is_important() {
                    self.last_refused = false;
                    self.last_forbidden = false;
                }
            }
            Body::EffectUncertain(_) => act.uncertain = true,
            Body::OutcomeResolved(b) => {
                act.resolved = Some(b.result_code);
                act.uncertain = false;
                act.receipt = Some(b.receipt_id);
            }
            // The receipt of an answer names no request, so this is the act's own.
            Body::ReceiptIssued(b) if b.action_request_id == Some(act.action_request_id) => {
                act.receipt = Some(b.receipt_id);
            }
            _ => {}
        }
    }
}

/// A turn as later turns are told of it, where there is more to tell than the name of its tool: what came of it stands
/// in its result.
fn in_one_line(record: &model::attempt::IterationRecord) -> Option<String> {
    let decision = record.model_decision.shown().map_or("(erased)", String::as_str);
    let tool = record.tool_invocation.as_deref().unwrap_or("nothing");
    match record.error.as_ref().and_then(|e| e.shown()) {
        Some(error) if decision == tool => Some(format!("{tool}: {error}")),
        Some(error) => Some(format!("{tool}: {decision} -> {error}")),
        None if decision == tool => None,
        None => Some(format!("{tool}: {decision}")),
    }
}
