//! From an answer to a verdict: parse, take in what is only said, judge what would be done.

use super::answer::empty_answer;
use super::normalise::Normalised;
use crate::Error;
use crate::command::part::is_part;
use crate::command::standing::Held;
use crate::gatepass::{Ask, Seat};
use crate::kernel::{Cell, Kernel, lock};
use crate::ports::Hands;
use crate::state::TaskState;
use crate::track::Track;
use crate::writeup::{NewArtifact, Writeup};
use acts::{ActionRequest, ApprovalPacket};
use governance::Question;
use governance::approval::{PacketInput, build_packet, packet_bytes};
use model::approval::{Approval, ApprovalStatus, StagedView};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::{
    ActionRequested, ApprovalInvalidated, ApprovalRequested, EffectObserved, IterationCompleted,
    PolicyEvaluated, WitnessCaptured,
};
use model::fault::Point;
use model::limits;
use model::policy::{PolicyResult, Verdict};
use model::principal::PrincipalType;
use model::receipt::{ResultCode, SandboxLevel};
use model::witness::StateWitness;
use model::{ApprovalId, PolicyResultId, Sensitive, WitnessId};
use seal::Digest;
use serde_json::json;
use std::sync::Arc;

/// A request that has been judged, ready to be waited for, refused or dispatched.
pub(crate) struct Judged {
    pub(crate) request: ActionRequest,
    pub(crate) request_ref: ArtifactRef,
    pub(crate) policy: PolicyResult,
    pub(crate) policy_ref: ArtifactRef,
    pub(crate) witness: Option<(StateWitness, ArtifactRef)>,
    /// What a staged run of it did, as a person is shown it.
    pub(crate) view: Option<StagedView>,
}

impl Kernel {
    /// Hands in the task's folder.
    pub(crate) fn hands(&self, state: &TaskState) -> Result<Arc<dyn Hands>, Error> {
        let workspace =
            state.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        let contents = Arc::new(crate::open::Shelf(Arc::clone(&self.artifacts), self.ports.redactor.clone()));
        self.ports.hands.open(&self.workspace_root(state)?, workspace, contents).map_err(Error::Effects)
    }

    /// Policy judges a request: a pure function of what is in the log and what was observed.
    pub(crate) fn judge(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        normalised: Normalised,
    ) -> Result<Judged, Error> {
        let Normalised { request, bytes, found, staging } = normalised;
        let inputs = request.evidence_refs.clone();
        let request_ref = w.artifact(&bytes, NewArtifact::audit(ArtifactKind::ActionRequest).from(inputs))?;
        w.push(ActionRequested {
            action_request_id: request.action_request_id,
            request: request_ref.clone(),
            action_class: request.action_class,
            tool: request.action.tool().to_owned(),
            summary: Sensitive::from(request.action.as_tool().one_line()),
        });
        let view = staging.map(|staging| self.keep_view(w, &request, &staging)).transpose()?;
        self.evaluate(state, w, request, request_ref, found, view)
    }

    fn evaluate(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        request: ActionRequest,
        request_ref: ArtifactRef,
        found: Vec<model::witness::Fingerprint>,
        view: Option<StagedView>,
    ) -> Result<Judged, Error> {
        w.actor = self.actor(PrincipalType::PolicyEngine)?;
        let id = PolicyResultId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let policy = self.ask_policy(state, &request, request_ref.sha256, id, w.now)?;
        let new = NewArtifact::audit(ArtifactKind::PolicyResult).from([request_ref.artifact_id]);
        let policy_ref = w.object(&policy, new)?;
        w.push(PolicyEvaluated {
            policy_result_id: policy.policy_result_id,
            action_request_id: request.action_request_id,
            result: policy_ref.clone(),
            verdict: policy.verdict,
            risk_band: policy.risk_band,
            policy_set_sha256: policy.policy_set_sha256,
        });
        // What a server has cannot be looked at from here: its witness is what the server itself will compare.
        let demanded = request.action.classes().iter().any(|class| class.needs_witness());
        let witness =
            if found.is_empty() && !demanded { None } else { Some(self.capture(w, &request, found)?) };
        Ok(Judged { request, request_ref, policy, policy_ref, witness, view })
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
        let held = if is_part(request) { Vec::new() } else { self.standing_for(state)? };
        let standing: Vec<_> = held.iter().map(Held::in_force).collect();
        Ok(self.policy_for(state)?.evaluate(&Question {
            request,
            request_sha256,
            profile: state.task.policy_profile_ref,
            sandbox: self.ports.hands.sandbox(),
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
        w: &mut Writeup<'_>,
        request: &ActionRequest,
        found: Vec<model::witness::Fingerprint>,
    ) -> Result<(StateWitness, ArtifactRef), Error> {
        let witness = self.witness_of(request, found, w.now)?;
        let at = w.object(&witness, NewArtifact::audit(ArtifactKind::StateWitness))?;
        w.push(WitnessCaptured {
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

    /// Allow runs, a question waits, a no is told: one commit each.
    pub(crate) fn proceed(
        &self,
        cell: &Cell,
        mut guard: std::sync::MutexGuard<'_, TaskState>,
        mut w: Writeup<'_>,
        mut track: Track,
        hands: &dyn Hands,
        judged: Judged,
    ) -> Result<(), Error> {
        track.attempt(&mut w, AttemptStatus::AwaitingPolicy, "judged")?;
        match judged.policy.verdict {
            Verdict::Allow => self.dispatch_now(cell, guard, w, track, hands, judged, None),
            Verdict::RequireApproval => match self.denied_before(&guard, &judged.request)? {
                true => self.denied_again(&mut guard, w, track, &judged),
                false => self.ask_person(&mut guard, w, track, judged),
            },
            Verdict::Downgrade => match self.lesser(&guard, &w, hands, &judged)? {
                Some(lesser) => self.lessen(&mut guard, w, track, &judged, lesser),
                None => self.forbid(&mut guard, w, track, &judged),
            },
            Verdict::Deny => self.forbid(&mut guard, w, track, &judged),
        }
    }

    /// The packet is stored, the attempt waits, nothing has run (HK-12.4).
    fn ask_person(
        &self,
        state: &mut TaskState,
        mut w: Writeup<'_>,
        mut track: Track,
        judged: Judged,
    ) -> Result<(), Error> {
        if state.pending_approvals().count() >= limits::OPEN_APPROVALS_MAX {
            return Err(Error::Conflict("too many approvals of this task are open already".to_owned()));
        }
        let mut seat = Seat::take(self)?;
        seat.pass(
            self,
            &mut w,
            &Ask {
                tool: judged.request.action.tool(),
                request: &judged.request_ref,
                verdict: judged.policy.verdict,
                granted_packet: None,
            },
        )?;
        w.actor = self.actor(PrincipalType::PolicyEngine)?;
        let approval_id = ApprovalId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let packet = build_packet(PacketInput {
            approval_id,
            goal: in_card(state.goal_text()),
            request: judged.request.clone(),
            policy: judged.policy.clone(),
            witness: judged.witness.as_ref().map(|(witness, _)| witness.clone()),
            requested_at: w.now,
            expires_at: w.now.plus_ms(limits::APPROVAL_MS_MAX),
            nonce: self.ports.entropy.salt(),
            staged: judged.view.clone(),
        });
        let bytes = packet_bytes(&packet).map_err(|e| Error::Broken(e.to_string()))?;
        let inputs = [judged.request_ref.artifact_id, judged.policy_ref.artifact_id];
        let at = w.artifact(&bytes, NewArtifact::audit(ArtifactKind::ApprovalPacket).from(inputs))?;
        let approval = waiting(&packet, &at, &judged);
        // The same request may be asked about again after its approval lapsed: each time is a question of its own.
        let about = packet.action_request.action_request_id;
        let earlier = state.approvals.values().filter(|r| r.action_request_id == about).count();
        let key = format!("approval:{about}:{earlier}");
        w.push_keyed(
            Some(key),
            ApprovalRequested {
                approval,
                action_request_id: packet.action_request.action_request_id,
                risk_band: packet.risk_band,
                nonce: packet.nonce.clone(),
                summary: Sensitive::from(packet.action_summary.clone()),
            },
        );
        w.batch.point = Point::ApprovalRequest;
        track.attempt(&mut w, AttemptStatus::AwaitingApproval, "a person is asked")?;
        track.block(&mut w, "waits for a person")?;
        self.commit(w, Some(state))?;
        seat.moved();
        Ok(())
    }

    /// Policy said no: nothing runs, and the model is told why.
    fn forbid(
        &self,
        state: &mut TaskState,
        mut w: Writeup<'_>,
        mut track: Track,
        judged: &Judged,
    ) -> Result<(), Error> {
        let mut seat = Seat::take(self)?;
        let ask = Ask {
            tool: judged.request.action.tool(),
            request: &judged.request_ref,
            verdict: judged.policy.verdict,
            granted_packet: None,
        };
        seat.pass(self, &mut w, &ask)?;
        let reason = match &judged.request.instead_of {
            None => judged.policy.reasoning_summary.clone(),
            Some(instead) => {
                format!("{}; it was asked instead of `{}`", judged.policy.reasoning_summary, instead.asked)
            }
        };
        let told = json!({
            "result_code": "denied",
            "summary": format!("not allowed by policy: {reason}"),
            "rules": judged.policy.determining_rules,
        });
        self.tell(&mut w, &judged.request, &told)?;
        let (answer, proposals) =
            self.stored_answer(state).unwrap_or_else(|_| (empty_answer(), Ok(Vec::new())));
        let record = self.record(state, &proposals.unwrap_or_default(), &answer, None, Some(reason))?;
        w.push(IterationCompleted { about_attempt_id: self.attempt_id(state)?, record });
        track.attempt(&mut w, AttemptStatus::CompilingContext, "refused by policy")?;
        self.commit(w, Some(state))?;
        self.unstage(state, judged.request.attempt_id);
        seat.moved();
        Ok(())
    }

    /// A result that the reasoner sees, for an act that did not run.
    pub(super) fn tell(
        &self,
        w: &mut Writeup<'_>,
        request: &ActionRequest,
        told: &serde_json::Value,
    ) -> Result<ArtifactRef, Error> {
        let result = w.object(told, NewArtifact::audit(ArtifactKind::ActionResult))?;
        w.push(EffectObserved {
            action_request_id: request.action_request_id,
            result: result.clone(),
            result_code: ResultCode::Denied,
            sandbox_level: SandboxLevel::NotApplicable,
            recovered: false,
        });
        Ok(result)
    }

    /// The request in hand goes before policy again: its approval was withdrawn or its assumptions changed (HK-11.5-3).
    pub(super) fn rejudge(&self, cell: &Cell) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let hands = self.hands(state)?;
        let request = self.request_in_hand(state)?;
        let request_ref = self.act(state)?.request.clone();
        let found = hands.observe(&governance::witness::observable(&request.target_resources));
        let actor = self.actor(PrincipalType::PolicyEngine)?;
        let mut w = self.writeup(Point::ActionJudge, state, actor);
        let stale = self.staged_stale(&request, &*hands, &found);
        if let (false, Some(at)) = (stale.is_empty(), self.act(state)?.witness.clone()) {
            let approved: StateWitness = self.read_object(state, at.artifact.artifact_id)?;
            let track = Track::of(state);
            return self.drifted(guard, w, track, &approved, &stale);
        }
        let view = self.view_again(state, &request)?;
        let judged = self.evaluate(state, &mut w, request, request_ref, found, view)?;
        let track = Track::of(&guard);
        self.proceed(cell, guard, w, track, &*hands, judged)
    }

    pub(crate) fn act<'s>(&self, state: &'s TaskState) -> Result<&'s crate::state::ActState, Error> {
        state
            .attempt()
            .and_then(|a| a.act.as_ref())
            .ok_or_else(|| Error::Broken("no act is in hand".to_owned()))
    }

    pub(crate) fn request_in_hand(&self, state: &TaskState) -> Result<ActionRequest, Error> {
        self.read_object(state, self.act(state)?.request.artifact_id)
    }

    /// New input changed what was asked: the packet is withdrawn and the context compiled anew (HK-16.7-2).
    pub(super) fn withdraw(&self, cell: &Cell, approval_id: ApprovalId) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::ApprovalLapse, state, actor);
        let mut track = Track::of(state);
        w.push(ApprovalInvalidated { approval_id, reason: "new input came in".to_owned() });
        track.unblock(&mut w, "new input came in")?;
        track.attempt(&mut w, AttemptStatus::CompilingContext, "new input came in")?;
        self.commit(w, Some(state))?;
        self.unstage(state, self.attempt_id(state)?);
        Ok(())
    }

    /// A person said no: the model is told, with their words, and may find another way (HK-12.4-5).
    pub(super) fn refused(&self, cell: &Cell) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let act = self.act(state)?.clone();
        let record = act.approval.and_then(|id| state.approvals.get(&id));
        let feedback = record.and_then(|r| r.feedback.clone());
        let request = self.request_in_hand(state)?;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::IterationComplete, state, actor);
        let mut track = Track::of(state);
        let told = json!({
            "result_code": "denied",
            "summary": match &request.instead_of {
                Some(part) if is_part(&request) => format!("a person refused this; nothing of `{}` was done", part.asked),
                _ => "a person refused this; nothing was done".to_owned(),
            },
            "feedback": feedback,
        });
        let result = self.tell(&mut w, &request, &told)?;
        track.unblock(&mut w, "a person refused")?;
        if matches!(self.contract(state)?.model, model::task::ModelChoice::Rollback { .. }) {
            self.push_end(state, &mut w, TerminationReason::ApprovalDenied, "a person refused the rollback")?;
        } else {
            let (answer, proposals) = self.stored_answer(state)?;
            let proposals = proposals.unwrap_or_default();
            let error =
                Some(feedback.map_or_else(
                    || "refused by a person".to_owned(),
                    |f| format!("refused by a person: {f}"),
                ));
            let record = self.record(state, &proposals, &answer, Some(&result), error)?;
            w.push(IterationCompleted { about_attempt_id: self.attempt_id(state)?, record });
            track.attempt(&mut w, AttemptStatus::CompilingContext, "refused by a person")?;
        }
        self.commit(w, Some(state))?;
        self.unstage(state, request.attempt_id);
        Ok(())
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
