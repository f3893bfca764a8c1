//! Why a machine of the mesh is believed no more. The mesh tells all machines that it is; the reason stays here.

use crate::Error;
use crate::kernel::Kernel;
use crate::sender::Sender;
use model::body::DecisionRecorded;
use model::decision::{Decision, DecisionClass};
use model::event::Actor;
use model::fault::Point;
use model::policy::RiskBand;
use model::{DecisionId, Sensitive};

impl Kernel {
    /// Puts the decision to withdraw a machine on record, with its reason, as that of whoever gives it.
    ///
    /// # Errors
    /// [`Error::Secret`] when the reason holds one.
    pub fn record_withdrawal(&self, machine: &str, reason: &str, by: impl Into<Sender>) -> Result<(), Error> {
        let actor = self.principal_of(by.into())?;
        let summary = format!("The machine {machine} is withdrawn from the mesh");
        self.record_decision(
            actor,
            format!("mesh:{machine}"),
            DecisionClass::Safety,
            (summary, reason.to_owned()),
        )
    }

    /// Puts a decision about this store on record, of no task: what was decided, and why.
    pub(super) fn record_decision(
        &self,
        actor: Actor,
        correlation: String,
        decision_type: DecisionClass,
        (summary, why): (String, String),
    ) -> Result<(), Error> {
        let mut w = self.store_writeup(Point::DecisionRecord, actor, correlation, None)?;
        let decision = Decision {
            decision_id: DecisionId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: w.scope.task_id,
            step_id: None,
            attempt_id: None,
            decision_type,
            summary: Sensitive::from(summary),
            rationale: Sensitive::from(why),
            evidence_refs: Vec::new(),
            risk_level: RiskBand::Moderate,
            decided_by: actor.actor_id,
            reversible: false,
            created_at: w.now,
            alternatives_considered: Vec::new(),
            policy_override_ref: None,
            effective_until: None,
            constraints_ref: None,
        };
        w.push(DecisionRecorded { decision });
        self.commit(w).map(drop)
    }
}
