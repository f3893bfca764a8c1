//! From a request to a verdict, and to the question that a person is asked.

use super::Then;
use super::normalise::Normalised;
use crate::Error;
use crate::command::partial_approval::is_part;
use crate::command::standing::Held;
use crate::decide::{Asking, asking};
use crate::gatepass::Ask;
use crate::kernel::Kernel;
use crate::ports::Executors;
use crate::state::TaskState;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::{ActionRequest, ApprovalPacket};
use effects::Outcome;
use governance::Question;
use governance::approval::{PacketInput, build_packet, packet_bytes};
use model::approval::{Approval, ApprovalStatus, StagedView};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::attempt::AttemptStatus;
use model::body::{ActionRequested, ApprovalRequested, PolicyEvaluated, WitnessCaptured};
use model::fault::Point;
use model::limits;
use model::policy::{PolicyResult, Verdict};
use model::principal::PrincipalType;
use model::witness::{Fingerprint, StateWitness};
use model::{ApprovalId, ArtifactId, PolicyResultId, Sensitive, TaskId, WitnessId, WorkspaceId};
use seal::Digest;
use std::sync::Arc;

/// What a transaction knows of the act in hand beside what its events say, so that nothing is read or looked at twice.
#[derive(Default)]
pub(crate) struct InHand {
    /// How many acts were over in all folders when the transaction began: whatever it saw, it saw since.
    pub(crate) seen: u64,
    /// The request, in its words alone, that was tried in a staged view.
    pub(crate) trial: Option<ArtifactId>,
    /// The request that it put on record.
    pub(crate) requested: Option<Requested>,
    /// What policy said of it.
    pub(crate) judged: Option<Judged>,
    /// A standing grant answers for a person.
    pub(crate) by_standing: bool,
    /// What it came to.
    pub(crate) came: Option<Came>,
    /// Tasks of which it leaves no effect: they are marked by the same commit.
    pub(crate) undone: Vec<TaskId>,
}

/// What an act came to, before its receipt.
pub(crate) struct Came {
    pub(crate) request: ActionRequest,
    pub(crate) outcome: Outcome,
    /// What it produced.
    pub(crate) outputs: Vec<ArtifactRef>,
    /// What its proposer is shown of it.
    pub(crate) result: ArtifactRef,
}

/// A request that was put on record.
pub(crate) struct Requested {
    pub(super) request: ActionRequest,
    pub(super) request_ref: ArtifactRef,
    /// What was found at its resources.
    found: Vec<Fingerprint>,
    /// What a staged run of it did, as a person is shown it.
    view: Option<StagedView>,
}

/// A request that has been judged, ready to be waited for, refused or dispatched.
pub(crate) struct Judged {
    pub(crate) request: ActionRequest,
    pub(crate) request_ref: ArtifactRef,
    pub(crate) policy: PolicyResult,
    pub(crate) policy_ref: ArtifactRef,
    pub(crate) witness: Option<(StateWitness, ArtifactRef)>,
    /// What a staged run of it did, as a person is shown it.
    pub(crate) view: Option<StagedView>,
    /// A person has denied exactly this and has said nothing since; known where they would be asked.
    pub(crate) denied_before: bool,
}

impl Judged {
    /// What the gate is asked about it.
    pub(crate) fn ask(&self, verdict: Verdict, granted_packet: Option<Digest>) -> Ask<'_> {
        Ask { tool: self.request.action.tool(), request: &self.request_ref, verdict, granted_packet }
    }
}

impl Kernel {
    /// Executors in the task's folder.
    pub(crate) fn executors(&self, state: &TaskState) -> Result<Arc<dyn Executors>, Error> {
        let workspace =
            state.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        self.executors_at(&self.workspace_root(state)?, workspace)
    }

    /// Executors in a folder.
    pub(crate) fn executors_at(
        &self,
        root: &std::path::Path,
        workspace: WorkspaceId,
    ) -> Result<Arc<dyn Executors>, Error> {
        let contents = Arc::new(crate::open::Shelf(Arc::clone(&self.artifacts), self.ports.redactor.clone()));
        self.ports.executors.open(root, workspace, contents).map_err(Error::Effects)
    }

    /// Puts a request on record: it is in hand from now on.
    pub(crate) fn request(&self, tx: &mut Tx<'_>, normalised: Normalised) -> Result<(), Error> {
        let Normalised { request, bytes, found, staging } = normalised;
        let inputs: Vec<_> = request.evidence_refs.iter().copied().chain(tx.hand.trial.take()).collect();
        let request_ref =
            tx.artifact(&bytes, NewArtifact::audit(ArtifactKind::ActionRequest).from(inputs))?;
        tx.push(ActionRequested {
            action_request_id: request.action_request_id,
            request: request_ref.clone(),
            action_class: request.action_class,
            tool: request.action.tool().to_owned(),
            summary: Sensitive::from(request.action.as_tool().one_line()),
        });
        let view = staging.map(|staging| self.keep_view(tx, &request, &staging)).transpose()?;
        tx.hand.requested = Some(Requested { request, request_ref, found, view });
        Ok(())
    }

    /// Policy judges the request in hand; what it rests on is witnessed.
    pub(super) fn judge(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        tx.act_as(PrincipalType::PolicyEngine)?;
        let Requested { request, request_ref, found, view } = match tx.hand.requested.take() {
            Some(requested) => requested,
            None => {
                tx.at(Point::ActionJudge);
                let (requested, stale) = self.request_again(tx)?;
                let witness = self.act(tx)?.witness.clone();
                if let (false, Some(witness)) = (stale.is_empty(), witness) {
                    return self.drifted(tx, witness.witness_id, &stale);
                }
                requested
            }
        };
        let id = PolicyResultId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let policy = self.ask_policy(tx, &request, request_ref.sha256, id, tx.now())?;
        let policy_ref = self.keep_policy(tx, &request, &request_ref, &policy)?;
        // What a server has cannot be looked at from here: its witness is what the server itself will compare.
        let demanded = request.classes().iter().any(|class| class.needs_witness());
        let witness =
            if found.is_empty() && !demanded { None } else { Some(self.capture(tx, &request, found)?) };
        tx.set_attempt(AttemptStatus::AwaitingPolicy, "judged")?;
        let asks = policy.verdict == Verdict::RequireApproval;
        let denied_before = asks && self.denied_before(tx, &request)?;
        tx.hand.judged =
            Some(Judged { request, request_ref, policy, policy_ref, witness, view, denied_before });
        Ok(Then::GoOn)
    }

    /// What policy said of a request is on record.
    pub(super) fn keep_policy(
        &self,
        tx: &mut Tx<'_>,
        request: &ActionRequest,
        request_ref: &ArtifactRef,
        policy: &PolicyResult,
    ) -> Result<ArtifactRef, Error> {
        let new = NewArtifact::audit(ArtifactKind::PolicyResult).from([request_ref.artifact_id]);
        let policy_ref = tx.object(policy, new)?;
        tx.push(PolicyEvaluated {
            policy_result_id: policy.policy_result_id,
            action_request_id: request.action_request_id,
            result: policy_ref.clone(),
            verdict: policy.verdict,
            risk_band: policy.risk_band,
            policy_set_sha256: policy.policy_set_sha256,
        });
        Ok(policy_ref)
    }

    /// The request in hand, read and looked at again: its approval was withdrawn or its assumptions changed (HK-11.5-3).
    /// With it, why it cannot be done any more as it is.
    fn request_again(&self, tx: &Tx<'_>) -> Result<(Requested, Vec<String>), Error> {
        let executors = self.executors(tx)?;
        let request = self.request_in_hand(tx)?;
        let request_ref = self.act(tx)?.request.clone();
        let found = executors.observe(&governance::witness::observable(&request.target_resources));
        let mut stale = self.staged_stale(&request, &*executors, &found);
        stale.extend(self.taken_back(tx, &request));
        let view = if stale.is_empty() { self.view_again(tx, &request)? } else { None };
        Ok((Requested { request, request_ref, found, view }, stale))
    }

    /// What policy says; nothing is recorded by asking.
    pub(super) fn ask_policy(
        &self,
        state: &TaskState,
        request: &ActionRequest,
        request_sha256: Digest,
        policy_result_id: PolicyResultId,
        now: model::UnixMs,
    ) -> Result<PolicyResult, Error> {
        let steps_allowed = match state.step() {
            Some(step) => {
                let contract: model::task::StepContract = self.read_object(state, step.contract_ref)?;
                contract.allowed_action_classes
            }
            None => Vec::new(),
        };
        // What a person chose a part of is theirs to approve: nothing that lasts answers it.
        let held = if is_part(request) { Vec::new() } else { self.standing_for(state, request)? };
        let standing: Vec<_> = held.iter().map(Held::in_force).collect();
        Ok(self.policy_for(state)?.evaluate(&Question {
            request,
            request_sha256,
            profile: state.task.policy_profile_ref,
            sandbox: self.ports.executors.sandbox(),
            allow_unconfined: false,
            approved_packet: None,
            packet: None,
            untrusted_in_context: self.saw_untrusted(state)?,
            steps_allowed: &steps_allowed,
            standing: &standing,
            policy_result_id,
            now,
        }))
    }

    /// A witness of what was found, before a person is asked (HK-16.8).
    fn capture(
        &self,
        tx: &mut Tx<'_>,
        request: &ActionRequest,
        found: Vec<Fingerprint>,
    ) -> Result<(StateWitness, ArtifactRef), Error> {
        let witness = self.witness_of(request, found, tx.now())?;
        let at = tx.object(&witness, NewArtifact::audit(ArtifactKind::StateWitness))?;
        tx.push(WitnessCaptured {
            witness_id: witness.witness_id,
            action_request_id: request.action_request_id,
            witness: at.clone(),
            expires_at: witness.expires_at,
        });
        Ok((witness, at))
    }

    pub(super) fn witness_of(
        &self,
        request: &ActionRequest,
        mut fingerprints: Vec<model::witness::Fingerprint>,
        now: model::UnixMs,
    ) -> Result<StateWitness, Error> {
        fingerprints.sort_by(|a, b| a.resource.cmp(&b.resource));
        fingerprints.dedup_by(|a, b| a.resource == b.resource);
        Ok(StateWitness {
            witness_id: WitnessId::fresh(&*self.ports.clock, &*self.ports.entropy),
            action_request_id: request.action_request_id,
            attempt_id: request.attempt_id,
            fingerprints,
            preconditions: vec![request.action.as_tool().precondition()],
            observed_at: now,
            expires_at: now.plus_ms(limits::WITNESS_MS_MAX),
            observed_by: self.actor(PrincipalType::Executor)?.actor_id,
        })
    }

    /// Whether the pack in force held anything untrusted (governance.md 1).
    fn saw_untrusted(&self, state: &TaskState) -> Result<bool, Error> {
        match state.attempt().and_then(|a| a.pack.as_ref()) {
            Some(pack) => Ok(knowledge::pack::holds_untrusted(&self.read_object(state, pack.artifact_id)?)),
            None => Ok(false),
        }
    }

    /// A person is asked, unless they have denied exactly this: the packet is stored, nothing has run (HK-12.4).
    pub(super) fn ask_person(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        let Some(judged) = tx.hand.judged.take() else { return self.judge(tx) };
        match asking(judged.denied_before, tx.pending_approvals().count()) {
            Asking::Person => {}
            Asking::DeniedBefore => return self.deny_again(tx, &judged),
            Asking::TooMany => {
                return Err(Error::Conflict("too many approvals of this task are open already".to_owned()));
            }
        }
        tx.pass(&judged.ask(judged.policy.verdict, None))?;
        tx.act_as(PrincipalType::PolicyEngine)?;
        let packet = build_packet(PacketInput {
            approval_id: ApprovalId::fresh(&*self.ports.clock, &*self.ports.entropy),
            goal: in_card(tx.goal_text()),
            request: judged.request.clone(),
            policy: judged.policy.clone(),
            witness: judged.witness.as_ref().map(|(witness, _)| witness.clone()),
            requested_at: tx.now(),
            expires_at: tx.now().plus_ms(limits::APPROVAL_MS_MAX),
            nonce: self.ports.entropy.salt(),
            staged: judged.view.clone(),
        });
        let bytes = packet_bytes(&packet).map_err(|e| Error::Broken(e.to_string()))?;
        let inputs = [judged.request_ref.artifact_id, judged.policy_ref.artifact_id];
        let at = tx.artifact(&bytes, NewArtifact::audit(ArtifactKind::ApprovalPacket).from(inputs))?;
        // The same request may be asked about again after its approval lapsed: each time is a question of its own.
        let about = packet.action_request.action_request_id;
        let earlier = tx.approvals.values().filter(|r| r.action_request_id == about).count();
        tx.push_keyed(
            Some(format!("approval:{about}:{earlier}")),
            ApprovalRequested {
                approval: waiting(&packet, &at, &judged),
                action_request_id: about,
                risk_band: packet.risk_band,
                nonce: packet.nonce.clone(),
                summary: Sensitive::from(packet.action_request.action.as_tool().one_line()),
                need: packet.policy_result.need,
            },
        );
        tx.at(Point::ApprovalRequest);
        tx.set_attempt(AttemptStatus::AwaitingApproval, "a person is asked")?;
        tx.block("waits for a person")?;
        Ok(Then::Commit)
    }

    /// The act in hand.
    pub(crate) fn act<'s>(&self, state: &'s TaskState) -> Result<&'s crate::state::Act, Error> {
        state
            .attempt()
            .and_then(crate::state::AttemptState::act)
            .ok_or_else(|| Error::Broken("no act is in hand".to_owned()))
    }

    /// Its request.
    pub(crate) fn request_in_hand(&self, state: &TaskState) -> Result<ActionRequest, Error> {
        self.read_object(state, self.act(state)?.request.artifact_id)
    }
}

/// The approval of a packet that was just stored.
fn waiting(packet: &ApprovalPacket, at: &ArtifactRef, about: &Judged) -> Approval {
    Approval {
        approval_id: packet.approval_id,
        task_id: packet.task_id,
        step_id: packet.step_id,
        attempt_id: packet.attempt_id,
        status: ApprovalStatus::Pending,
        approval_type: packet.action_request.action_class,
        requested_action_ref: about.request_ref.artifact_id,
        approval_packet_ref: at.artifact_id,
        approval_packet_sha256: at.sha256,
        requested_at: packet.requested_at,
        resolved_at: None,
        resolved_by: None,
        expires_at: packet.expires_at,
        state_witness_ref: about.witness.as_ref().map(|(witness, _)| witness.witness_id),
        policy_result_ref: about.policy_ref.artifact_id,
    }
}

/// Characters of a goal on a card: a person reads the card, and the whole goal stands in the task.
const CARD_GOAL_CHARS_MAX: usize = 4_000;

fn in_card(goal: String) -> String {
    match goal.char_indices().nth(CARD_GOAL_CHARS_MAX) {
        None => goal,
        Some((at, _)) => {
            let shown = goal.get(..at).unwrap_or_default();
            format!("{shown} … ({} bytes in all; the task has the whole goal)", goal.len())
        }
    }
}
