//! A person overrides policy: for one act that was denied, with a reason, in one place, for a short time (HK-16.9).
//!
//! An override lets nothing happen by itself. Where policy says no to exactly this act, the person is asked instead,
//! at critical risk, and everything else of the governed path stays as it is.

use crate::Error;
use crate::drive::Judged;
use crate::kernel::Kernel;
use crate::state::TaskState;
use acts::ActionRequest;
use governance::Refusal;
use governance::standing::{covers, in_words};
use model::action::ActionClass;
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::DecisionRecorded;
use model::decision::{Decision, DecisionClass};
use model::event::Actor;
use model::fault::Point;
use model::policy::{PolicyResult, RiskBand, Verdict};
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ResultCode};
use model::slot::Absence;
use model::standing::{Cover, StandingGrant, StandingScope};
use model::{ActionRequestId, DecisionId, GrantId, Sensitive, Slot, TaskId};

/// An act that policy has judged.
pub struct JudgedAct {
    /// The request.
    pub request: ActionRequest,
    /// Its artifact.
    pub request_ref: ArtifactRef,
    /// What policy said last.
    pub policy: PolicyResult,
    /// The result's artifact.
    pub policy_ref: ArtifactRef,
}

impl Kernel {
    /// Records a person's override of what policy denied: a decision, a receipt and the override itself, in one
    /// commit.
    ///
    /// # Errors
    /// [`Error::Refused`] when the envelope is no person's, or about another act or place; [`Error::Conflict`] when
    /// policy has not denied the act; [`Error::KeyLocked`] without the receipt key.
    pub fn override_policy(
        &self,
        task_id: TaskId,
        about: ActionRequestId,
        envelope: &[u8],
    ) -> Result<GrantId, Error> {
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        let grant = self.signed_standing(envelope)?;
        let act = self.judged_act(&state, about)?;
        check(&state, &grant, &act)?;
        let actor = Actor { actor_type: PrincipalType::User, actor_id: grant.decided_by };
        let mut tx = self.tx(&cell, state, Point::DecisionRecord, actor);
        let decision = self.decision_to_override(&tx, &grant, &act, tx.now());
        let decision_id = decision.decision_id;
        tx.push(DecisionRecorded { decision });
        let mut receipt = self.blank(&tx, ActionClass::PolicyOverride)?;
        let none = Absence::NotRequired;
        receipt.receipt_class = ReceiptClass::ApprovalResolution;
        receipt.action_request_ref = Slot::Value(act.request_ref.clone());
        receipt.policy_result_ref = Slot::Value(act.policy_ref.clone());
        receipt.approval_ref = Slot::Absent(none);
        receipt.capability_grant_ref = Slot::Absent(none);
        receipt.decision_ref = Slot::Value(decision_id);
        receipt.authorized = model::receipt::Authorized {
            policy_result_sha256: Slot::Value(act.policy_ref.sha256),
            approval_packet_sha256: Slot::Absent(none),
            approval_decision_sha256: Slot::Absent(none),
            capability_grant_sha256: Slot::Absent(none),
            witness_sha256: Slot::Absent(none),
            audit_entry_sha256: Slot::Absent(none),
            standing: None,
            first_decision_sha256: None,
        };
        receipt.result_code = ResultCode::Granted;
        receipt.result_summary = Sensitive::from(in_words(&grant));
        receipt.idempotency_key = format!("receipt:override:{}", grant.grant_id);
        if !self.issue(&mut tx, receipt, None)? {
            return Err(Error::KeyLocked("receipt"));
        }
        self.push_standing(tx.writeup(), &grant, envelope)?;
        tx.commit()?;
        Ok(grant.grant_id)
    }

    /// An act of a task with what policy said to it last.
    ///
    /// # Errors
    /// [`Error::NotFound`] when policy has judged no such act in this task.
    pub fn judged_act(&self, state: &TaskState, about: ActionRequestId) -> Result<JudgedAct, Error> {
        let unknown = || Error::NotFound { kind: "judged act", id: about.to_string() };
        let results = state.artifacts.values().rev().filter(|a| a.kind == ArtifactKind::PolicyResult);
        for at in results {
            let policy: PolicyResult = self.read_object(state, at.artifact_id)?;
            if policy.action_request_id != about {
                continue;
            }
            let found = state.artifacts.values().find(|a| {
                a.kind == ArtifactKind::ActionRequest && a.content_hash == policy.action_request_sha256
            });
            let found = found.ok_or_else(unknown)?;
            let request: ActionRequest = self.read_object(state, found.artifact_id)?;
            let request_ref = ArtifactRef { artifact_id: found.artifact_id, sha256: found.content_hash };
            let policy_ref = ArtifactRef { artifact_id: at.artifact_id, sha256: at.content_hash };
            return Ok(JudgedAct { request, request_ref, policy, policy_ref });
        }
        Err(unknown())
    }

    fn decision_to_override(
        &self,
        state: &TaskState,
        grant: &StandingGrant,
        act: &JudgedAct,
        now: model::UnixMs,
    ) -> Decision {
        Decision {
            decision_id: DecisionId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: state.task.task_id,
            step_id: Some(act.request.step_id),
            attempt_id: Some(act.request.attempt_id),
            decision_type: DecisionClass::Safety,
            summary: Sensitive::from(in_words(grant)),
            rationale: Sensitive::from(grant.override_reason.clone().unwrap_or_default()),
            evidence_refs: [&act.request_ref, &act.policy_ref].map(crate::decide::cited).into(),
            risk_level: RiskBand::Critical,
            decided_by: grant.decided_by,
            reversible: true,
            created_at: now,
            alternatives_considered: Vec::new(),
            policy_override_ref: None,
            effective_until: Some(grant.expires_at),
            constraints_ref: Some(state.task.task_contract_ref),
        }
    }

    /// The decision by which policy was overridden for an act, when it was.
    pub(crate) fn override_behind(
        &self,
        state: &TaskState,
        judged: &Judged,
    ) -> Result<Option<DecisionId>, Error> {
        let Some(named) = judged.policy.standing else { return Ok(None) };
        let words = in_words(self.standing_named(&named)?.in_force().grant);
        let by = |d: &&Decision| {
            d.decision_type == DecisionClass::Safety && d.summary.shown().is_some_and(|text| *text == words)
        };
        Ok(state.decisions.iter().rev().find(by).map(|d| d.decision_id))
    }
}

/// The override is about exactly what was denied, where it was denied.
fn check(state: &TaskState, grant: &StandingGrant, act: &JudgedAct) -> Result<(), Error> {
    let no = |why: String| Error::Refused(Refusal::new("override_other", why));
    if grant.override_reason.is_none() {
        return Err(no("this is no override of policy".to_owned()));
    }
    if act.policy.verdict != Verdict::Deny {
        return Err(Error::Conflict(format!("policy has not denied this; it said {}", act.policy.verdict)));
    }
    covers(grant, &act.request).map_err(|why| no(format!("this override does not fit: {why}")))?;
    let here = match &grant.scope {
        StandingScope::Task { task_id } => *task_id == state.task.task_id,
        StandingScope::Project { workspace_id } => state.task.workspace_hint == Some(*workspace_id),
        StandingScope::User | StandingScope::Schedule { .. } => false,
    };
    let said = match &grant.cover {
        Cover::Act { summary, .. } => *summary == act.request.action.as_tool().title(),
        Cover::Command { .. }
        | Cover::Paths { .. }
        | Cover::Host { .. }
        | Cover::Chat { .. }
        | Cover::Anchor { .. } => false,
    };
    if here && said { Ok(()) } else { Err(no("this override is about another act or place".to_owned())) }
}
