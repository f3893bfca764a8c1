//! A person settles an outcome nobody knows; the settlement has its own receipt (HK-19.4).

use super::person::{Matter, Signed};
use crate::Error;
use crate::kernel::Kernel;
use crate::state::{Act, AttemptState, Stage};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use model::Sensitive;
use model::action::Reversibility;
use model::artifact::ArtifactKind;
use model::body::{DecisionRecorded, OutcomeResolved};
use model::decision::{Decision, DecisionClass};
use model::fault::Point;
use model::policy::RiskBand;
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ReplayClass, ResultCode};
use model::{DecisionId, TaskId};
use seal::Digest;

impl Kernel {
    /// Records what a person found: it happened, it did not, or in part.
    ///
    /// # Errors
    /// [`Error::Conflict`] when no outcome of the task is open; [`Error::KeyLocked`] without the receipt key.
    pub fn resolve_outcome(&self, task_id: TaskId, result_code: ResultCode, note: &str) -> Result<(), Error> {
        self.resolve_signed(task_id, result_code, note, None)
    }

    /// As [`Kernel::resolve_outcome`], by what a person signed about [`settle_subject`]; it stands beside the outcome.
    ///
    /// # Errors
    /// As [`Kernel::resolve_outcome`]; [`Error::Refused`] when no person signed exactly that.
    pub fn resolve_signed(
        &self,
        task_id: TaskId,
        result_code: ResultCode,
        note: &str,
        signed: Option<&Signed>,
    ) -> Result<(), Error> {
        if !matches!(result_code, ResultCode::Succeeded | ResultCode::Failed | ResultCode::Partial) {
            return Err(Error::Input(
                "an outcome is settled as `succeeded`, `failed` or `partial`".to_owned(),
            ));
        }
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::EffectResolve, PrincipalType::User)?;
        let act = tx.attempt().and_then(AttemptState::act).cloned();
        let act = act.filter(|act| matches!(act.stage, Stage::Uncertain));
        let act = act.ok_or_else(|| Error::Conflict("no outcome of this task is open".to_owned()))?;
        let decided = signed
            .map(|signed| self.decided(Matter::Settle, settle_subject(task_id, result_code, note), signed))
            .transpose()?;
        let decision = self.settlement(&tx, &act, result_code, note);
        let decision_id = decision.decision_id;
        tx.push(DecisionRecorded { decision });
        let finding = tx.artifact(
            note.as_bytes(),
            NewArtifact::audit(ArtifactKind::Message).media("text/plain; charset=utf-8"),
        )?;
        let mut receipt = self.blank(&tx, act.action_class)?;
        receipt.receipt_class = ReceiptClass::ObservationResolution;
        receipt.decision_ref = model::Slot::Value(decision_id);
        receipt.output_refs = vec![finding];
        receipt.observed = vec![Sensitive::from(note.to_owned())];
        receipt.result_code = result_code;
        receipt.result_summary = Sensitive::from(format!("settled by a person: {result_code}"));
        receipt.replay_class = ReplayClass::ExplainOnly;
        receipt.rollback.reversibility = Reversibility::Irreversible;
        receipt.idempotency_key = format!("receipt:{}:resolved", act.action_request_id);
        let receipt_id = receipt.receipt_id;
        if !self.issue(&mut tx, receipt, None)? {
            return Err(Error::KeyLocked("receipt"));
        }
        tx.push_keyed(
            Some(format!("resolve:{}", act.action_request_id)),
            OutcomeResolved {
                action_request_id: act.action_request_id,
                result_code,
                note: Sensitive::from(note.to_owned()),
                receipt_id,
            },
        );
        if let Some(decided) = decided {
            tx.push(decided);
        }
        let committed = tx.commit()?;
        self.forget_act(&committed.state, act.action_request_id);
        Ok(())
    }

    /// What a person decided about an act whose end nobody saw.
    fn settlement(&self, tx: &Tx<'_>, act: &Act, result_code: ResultCode, note: &str) -> Decision {
        Decision {
            decision_id: DecisionId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            step_id: tx.step().map(|s| s.step_id),
            attempt_id: tx.current,
            decision_type: DecisionClass::UncertaintyResolution,
            summary: Sensitive::from(format!("{} was settled as {result_code}", act.summary)),
            rationale: Sensitive::from(note.to_owned()),
            evidence_refs: vec![crate::decide::cited(&act.request)],
            risk_level: act.policy.as_ref().map_or(RiskBand::High, |p| p.risk_band),
            decided_by: tx.actor().actor_id,
            reversible: false,
            created_at: tx.now(),
            alternatives_considered: Vec::new(),
            policy_override_ref: None,
            effective_until: None,
            constraints_ref: Some(tx.task.task_contract_ref),
        }
    }
}

/// What a settlement is about: the task, what was found, and the person's words.
pub fn settle_subject(task_id: TaskId, result_code: ResultCode, note: &str) -> Digest {
    Digest::of(format!("settle\n{task_id}\n{result_code}\n{note}").as_bytes())
}
