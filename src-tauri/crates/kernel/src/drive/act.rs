//! From a yes to an observed effect: witness again, grant, dispatch, perform, observe, receipt (HK-11.1, 10–15).

use super::judge::Judged;
use crate::Error;
use crate::command::standing::{Held, is_overtaken};
use crate::gatepass::{Ask, Seat};
use crate::kernel::{Cell, Kernel, lock};
use crate::ports::{Hands, Notice};
use crate::state::TaskState;
use crate::track::Track;
use crate::writeup::{NewArtifact, Writeup};
use acts::{Action, ActionRequest, ApprovalPacket};
use effects::Progress;
use governance::Authorization;
use governance::approval::verify;
use governance::grant::{Approved, MintInput, mint};
use model::approval::{Approval, ApprovalDecision, ApprovalStatus};
use model::artifact::{ArtifactClass, ArtifactKind, TrustTier};
use model::attempt::AttemptStatus;
use model::body::{
    ApprovalInvalidated, DecisionRecorded, EffectDispatched, GrantIssued, IterationCompleted, KeyPurpose,
    WitnessDrifted, WitnessValidated,
};
use model::decision::{Decision, DecisionClass};
use model::fault::Point;
use model::policy::PolicyResult;
use model::principal::PrincipalType;
use model::receipt::ReceiptClass;
use model::witness::StateWitness;
use model::{DecisionId, GrantId, PrincipalId, Sensitive};
use serde_json::json;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

/// A person's yes with everything it was about, checked again from the log.
pub(crate) struct Yes {
    pub(crate) approval: Approval,
    pub(crate) decision: ApprovalDecision,
    pub(crate) packet: ApprovalPacket,
}

impl Kernel {
    /// A person allowed it. The witness is observed again; only if it holds is anything dispatched (HK-12.4-6).
    pub(super) fn dispatch(&self, cell: &Cell) -> Result<(), Error> {
        let guard = lock(&cell.state);
        let state = &*guard;
        let hands = self.hands(state)?;
        let act = self.act(state)?.clone();
        let request = self.request_in_hand(state)?;
        let policy_at =
            act.policy.as_ref().ok_or_else(|| Error::Broken("an act without a policy result".to_owned()))?;
        let policy: PolicyResult = self.read_object(state, policy_at.artifact.artifact_id)?;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::EffectDispatch, state, actor);
        let track = Track::of(state);
        // A yes does not outlive its time, however it was kept waiting (HK-19.6-1).
        let asked = act.approval.and_then(|id| state.approvals.get(&id));
        if asked.is_some_and(|record| w.now > record.approval.expires_at) {
            return self.reenter(guard, w, track, "the approval ran out before it was used");
        }
        if policy.standing.is_some_and(|named| !self.still_holds(&named, w.now)) {
            return self.reenter(guard, w, track, "the override of policy does not hold any more");
        }
        let yes = self.yes(state)?;
        // Another policy set may judge otherwise: re-entry, not the old yes (HK-19.6-1).
        let in_force = self.policy_for(state)?.policy_set_sha256(state.task.policy_profile_ref);
        if in_force != policy.policy_set_sha256 {
            return self.reenter(guard, w, track, "the policy set has changed");
        }
        let mut witness = None;
        if let Some(at) = &act.witness {
            let approved: StateWitness = self.read_object(state, at.artifact.artifact_id)?;
            let resources = governance::witness::observable(&request.target_resources);
            let observed = self.witness_of(&request, hands.observe(&resources), w.now)?;
            let observed = StateWitness { witness_id: approved.witness_id, ..observed };
            let mut drifts: Vec<String> =
                governance::witness::compare(&approved, &observed).iter().map(ToString::to_string).collect();
            if drifts.is_empty() {
                drifts = self.staged_stale(&request, &*hands, &observed.fingerprints);
            }
            if drifts.is_empty() {
                drifts = led_elsewhere(&request, &*hands);
            }
            if !drifts.is_empty() || w.now > approved.expires_at {
                return self.drifted(guard, w, track, &approved, &drifts);
            }
            let new = NewArtifact::audit(ArtifactKind::StateWitness).from([at.artifact.artifact_id]);
            let at = w.object(&observed, new)?;
            witness = Some((observed, at));
        }
        let judged = Judged {
            request,
            request_ref: act.request,
            policy,
            policy_ref: policy_at.artifact.clone(),
            witness,
            view: None,
        };
        self.dispatch_now(cell, guard, w, track, &*hands, judged, yes)
    }

    /// The yes in the log: envelope, approval as it was when asked, packet; verified again before it is used.
    fn yes(&self, state: &TaskState) -> Result<Option<Yes>, Error> {
        let Some(id) = self.act(state)?.approval else { return Ok(None) };
        let record =
            state.approvals.get(&id).ok_or_else(|| Error::Broken(format!("approval `{id}` is missing")))?;
        let Some(envelope) = &record.envelope else { return Ok(None) };
        let envelope = self.artifacts.read(&envelope.sha256)?;
        let packet_bytes = self.artifacts.read(&record.approval.approval_packet_sha256)?;
        let (_, key) =
            lock(&self.store).keys.get(&KeyPurpose::Approval).cloned().ok_or(Error::KeyLocked("approval"))?;
        let mut asked = record.approval.clone();
        asked.status = ApprovalStatus::Pending;
        // It held when it was given, or it would not be in the log; whether it still does was asked before.
        let given_at = record.approval.resolved_at.unwrap_or(state.latest);
        let decision = verify(&envelope, &asked, &packet_bytes, &key, given_at)?;
        let packet = serde_json::from_slice(&packet_bytes).map_err(|e| Error::Broken(e.to_string()))?;
        Ok(Some(Yes { approval: record.approval.clone(), decision, packet }))
    }

    /// What it was about has changed since: the approval does not count any more (HK-16.8-4).
    pub(super) fn drifted(
        &self,
        mut guard: MutexGuard<'_, TaskState>,
        mut w: Writeup<'_>,
        mut track: Track,
        approved: &StateWitness,
        drifts: &[String],
    ) -> Result<(), Error> {
        let state = &mut *guard;
        w.batch.point = Point::WitnessDrift;
        let request = self.request_in_hand(state)?;
        w.push(WitnessDrifted {
            witness_id: approved.witness_id,
            action_request_id: approved.action_request_id,
            differences: drifts.iter().cloned().map(Sensitive::from).collect(),
        });
        if let Some(approval_id) = self.act(state)?.approval {
            w.push(ApprovalInvalidated {
                approval_id,
                reason: "what was approved has changed since".to_owned(),
            });
        }
        let told = json!({
            "result_code": "drifted",
            "summary": "nothing was done: what was approved has changed since; look again and propose anew",
            "differences": drifts,
        });
        let result = self.tell(&mut w, &request, &told)?;
        track.unblock(&mut w, "what was approved has changed")?;
        if matches!(self.contract(state)?.model, model::task::ModelChoice::Rollback { .. }) {
            // The kernel plans the rollback anew from what is there now.
            track.attempt(&mut w, AttemptStatus::AwaitingPolicy, "drift").ok();
            track.attempt(&mut w, AttemptStatus::CompilingContext, "drift")?;
        } else {
            let (answer, proposals) = self.stored_answer(state)?;
            let error = Some("what was approved has changed since".to_owned());
            let record = self.record(state, &proposals.unwrap_or_default(), &answer, Some(&result), error)?;
            w.push(IterationCompleted { about_attempt_id: self.attempt_id(state)?, record });
            track.attempt(&mut w, AttemptStatus::AwaitingPolicy, "drift").ok();
            track.attempt(&mut w, AttemptStatus::CompilingContext, "drift")?;
        }
        self.commit(w, Some(state))?;
        self.unstage(state, request.attempt_id);
        Ok(())
    }

    /// The same request goes before policy again.
    fn reenter(
        &self,
        mut guard: MutexGuard<'_, TaskState>,
        mut w: Writeup<'_>,
        mut track: Track,
        reason: &str,
    ) -> Result<(), Error> {
        let state = &mut *guard;
        w.batch.point = Point::WitnessDrift;
        if let Some(approval_id) = self.act(state)?.approval {
            w.push(ApprovalInvalidated { approval_id, reason: reason.to_owned() });
        }
        track.unblock(&mut w, reason)?;
        track.attempt(&mut w, AttemptStatus::AwaitingPolicy, reason)?;
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// Witness, decision, grant, gate and dispatch in one commit; then the executor; then what it came to.
    #[allow(clippy::too_many_arguments, reason = "the whole authority of one act, handed over once")]
    pub(super) fn dispatch_now(
        &self,
        cell: &Cell,
        mut guard: MutexGuard<'_, TaskState>,
        mut w: Writeup<'_>,
        mut track: Track,
        hands: &dyn Hands,
        judged: Judged,
        yes: Option<Yes>,
    ) -> Result<(), Error> {
        let state = &mut *guard;
        w.batch.point = Point::EffectDispatch;
        // A lease that ran out while a person was waited for is lost in so many words before anything runs (HK-20.3-2).
        self.renew_lease(state, &mut w)?;
        let authorization = match self.authorise(state, &mut w, &judged, yes.as_ref()) {
            Err(error) if self.overtaken(&judged, &error) => return Ok(()),
            authorised => authorised?,
        };
        track.unblock(&mut w, "allowed")?;
        track.attempt(&mut w, AttemptStatus::Authorized, "granted")?;
        match (self.keep_before_images(&mut w, hands, &judged.request), &judged.witness) {
            (Err(Error::Effects(why)), Some((witness, _))) if yes.is_some() => {
                return self.unkept(guard, witness, why);
            }
            (kept, _) => kept?,
        }
        self.keep_staged(&mut w, hands, &judged.request)?;
        if let Action::Remember(_) = judged.request.action {
            return self.remember(state, w, track, &judged, &authorization, yes.as_ref());
        }
        let seat = self.dispatched(&mut w, &judged, yes.as_ref(), &authorization)?;
        track.attempt(&mut w, AttemptStatus::Executing, "dispatched")?;
        match self.commit(w, Some(state)) {
            Err(error) if self.overtaken(&judged, &error) => return Ok(()),
            committed => drop(committed?),
        }
        seat.moved();
        let task_id = state.task.task_id;
        drop(guard);
        let mut progress = |progress: Progress<'_>| {
            if let Progress::Items { done, of } = progress {
                let notice =
                    Notice::Progress { task_id, what: "changing files", done: done as u64, total: of as u64 };
                self.ports.observer.notice(notice);
            }
        };
        let outcome = hands.perform(
            authorization,
            &judged.request,
            &|| cell.stop.load(Ordering::SeqCst),
            &mut progress,
        );
        self.conclude(cell, &judged.request, outcome, false)
    }

    /// What would be lost cannot be kept: nothing is done, the yes is void, and whoever proposed it is told.
    fn unkept(
        &self,
        guard: MutexGuard<'_, TaskState>,
        approved: &StateWitness,
        why: String,
    ) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::System)?;
        let w = self.writeup(Point::EffectDispatch, &guard, actor);
        let track = Track::of(&guard);
        self.drifted(guard, w, track, approved, &[why])
    }

    /// Whether the standing grant that was to answer does not answer any more: nothing was written, and the next step
    /// of the driver asks policy again.
    fn overtaken(&self, judged: &Judged, error: &Error) -> bool {
        let system = lock(&self.store).system_task_id;
        judged.policy.standing.is_some() && is_overtaken(error, system)
    }

    /// Decision where HK-6.2-3 demands one, witness observed just now, grant, and the token executors take.
    fn authorise(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        judged: &Judged,
        yes: Option<&Yes>,
    ) -> Result<Authorization, Error> {
        let Judged { request, request_ref, policy, witness, .. } = judged;
        w.actor = self.actor(PrincipalType::PolicyEngine)?;
        if let Some((witness, at)) = witness {
            w.push(WitnessValidated {
                witness_id: witness.witness_id,
                action_request_id: request.action_request_id,
                observed: at.clone(),
            });
        }
        let decision_ref =
            if policy.decision_required { Some(self.decide(state, w, judged, yes)?) } else { None };
        let held = policy.standing.as_ref().map(|named| self.standing_named(named)).transpose()?;
        let grant = mint(&MintInput {
            grant_id: GrantId::fresh(&*self.ports.clock, &*self.ports.entropy),
            request,
            request_sha256: request_ref.sha256,
            policy,
            approved: yes.map(|y| Approved {
                approval: &y.approval,
                decision: &y.decision,
                packet: &y.packet,
            }),
            standing: held.as_ref().map(Held::in_force),
            observed: witness.as_ref().map(|(witness, _)| witness),
            decision_ref,
            issued_to: self.actor(PrincipalType::Executor)?.actor_id,
            issued_by: w.actor.actor_id,
            now: w.now,
        })?;
        let inputs = [request_ref.artifact_id, judged.policy_ref.artifact_id];
        let at = w.object(&grant, NewArtifact::audit(ArtifactKind::CapabilityGrant).from(inputs))?;
        w.push_keyed(
            Some(format!("grant:{}", grant.grant_id)),
            GrantIssued {
                grant_id: grant.grant_id,
                action_request_id: request.action_request_id,
                grant: at,
                action_class: grant.action_class,
                issued_to: grant.issued_to_principal_id,
                expires_at: grant.expires_at,
                max_uses: grant.max_uses,
                approval_ref: grant.approval_ref.clone(),
                decision_ref: grant.decision_ref.clone(),
            },
        );
        if let Some(held) = &held {
            self.use_standing(w, held, request.action_request_id)?;
        }
        Ok(governance::authorize(&grant, request, 0, w.now)?)
    }

    /// The decision record of HK-6.2-3: a person's where one was asked, else policy's.
    fn decide(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        judged: &Judged,
        yes: Option<&Yes>,
    ) -> Result<DecisionId, Error> {
        let decided_by: PrincipalId = yes.map_or(w.actor.actor_id, |y| y.decision.decided_by);
        let rationale = match yes {
            Some(yes) => {
                format!("a person allowed it on {}: {}", yes.decision.surface, judged.request.reason)
            }
            None => judged.policy.reasoning_summary.clone(),
        };
        let decision_type = match judged.request.action.as_tool().receipt_class() {
            ReceiptClass::Rollback => DecisionClass::Rollback,
            ReceiptClass::MemoryPromotion => DecisionClass::Memory,
            _ => DecisionClass::Execution,
        };
        let decision = Decision {
            decision_id: DecisionId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: state.task.task_id,
            step_id: Some(judged.request.step_id),
            attempt_id: Some(judged.request.attempt_id),
            decision_type,
            summary: Sensitive::from(judged.policy.action_summary.clone()),
            rationale: Sensitive::from(rationale),
            evidence_refs: Vec::new(),
            risk_level: judged.policy.risk_band,
            decided_by,
            reversible: judged.request.way_back() != model::action::Reversibility::Irreversible,
            created_at: w.now,
            alternatives_considered: Vec::new(),
            policy_override_ref: self.override_behind(state, judged)?,
            effective_until: None,
        };
        let decision_id = decision.decision_id;
        w.push(DecisionRecorded { decision });
        Ok(decision_id)
    }

    /// Bytes that will be gone afterwards are stored with the dispatch, before anything is done (pain 7).
    fn keep_before_images(
        &self,
        w: &mut Writeup<'_>,
        hands: &dyn Hands,
        request: &ActionRequest,
    ) -> Result<(), Error> {
        if request.items().is_empty() {
            return Ok(());
        }
        w.actor = self.actor(PrincipalType::Executor)?;
        for image in hands.before_images(request.items()) {
            let (path, _, bytes) = image.map_err(Error::Effects)?;
            let mut new = NewArtifact::audit(ArtifactKind::FileSnapshot).class(ArtifactClass::Evidence);
            new.media_type = "application/octet-stream";
            new.trust_tier = TrustTier::Untrusted;
            new.alias = Some(format!("before {path}"));
            w.artifact(&bytes, new)?;
        }
        Ok(())
    }

    /// The gate lets it pass and the dispatch consumes the grant.
    pub(crate) fn dispatched(
        &self,
        w: &mut Writeup<'_>,
        judged: &Judged,
        yes: Option<&Yes>,
        authorization: &Authorization,
    ) -> Result<Seat<'_>, Error> {
        let mut seat = Seat::take(self)?;
        let receipt = seat.pass(
            self,
            w,
            &Ask {
                tool: judged.request.action.tool(),
                request: &judged.request_ref,
                verdict: judged.policy.verdict,
                granted_packet: yes.map(|y| y.decision.packet_sha256),
            },
        )?;
        if !receipt.is_accepted() {
            return Err(Error::Gate(receipt.error.unwrap_or_else(|| "not accepted".to_owned())));
        }
        let audit_entry_sha256 =
            receipt.evidence_hash.ok_or_else(|| Error::Broken("the gate gave no entry".to_owned()))?;
        w.actor = self.actor(PrincipalType::Executor)?;
        let key = format!("dispatch:{}", judged.request.action_request_id);
        w.push_keyed(
            Some(key),
            EffectDispatched {
                action_request_id: judged.request.action_request_id,
                grant_id: authorization.grant_id(),
                executor: judged.request.action.executor(),
                audit_entry_sha256,
            },
        );
        w.batch.consume.push((authorization.grant_id(), 1));
        Ok(seat)
    }
}

/// How the words of a command that runs in the folder itself lead elsewhere than when a person was asked: to another
/// program, to files that were not there, to a key that it could not read. What is hidden from it may be more.
fn led_elsewhere(request: &ActionRequest, hands: &dyn Hands) -> Vec<String> {
    let (Some(then), None) = (&request.reach, &request.staged) else { return Vec::new() };
    let now = hands.reach(&request.action);
    let mut said = Vec::new();
    for was in &then.programs {
        match now.programs.iter().find(|is| is.name == was.name) {
            Some(is) if is == was => {}
            Some(is) => said.push(format!("`{}` was {} and is {}", was.name, was.path, is.path)),
            None => said.push(format!("`{}` was {} and is gone", was.name, was.path)),
        }
    }
    let new = now.programs.iter().filter(|is| !then.programs.iter().any(|was| was.name == is.name));
    said.extend(new.map(|is| format!("`{}` is {}, which was not there", is.name, is.path)));
    let come = |now: &[model::RelPath], then: &[model::RelPath]| -> Vec<String> {
        now.iter().filter(|path| !then.contains(path)).map(|path| format!("`{path}` was not there")).collect()
    };
    said.extend(come(&now.files, &then.files));
    said.extend(come(&now.secrets, &then.secrets));
    if now.unsure != then.unsure {
        said.extend(now.unsure.map(|why| format!("what it can read is no longer known: {why}")));
    }
    said
}
