//! An attempt begins: its number, its lease, the environment it runs in.

use super::Then;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::AttemptState;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use model::artifact::ArtifactKind;
use model::attempt::{AttemptStatus, LeaseMode, StepAttempt, WorkspaceLease};
use model::body::{AttemptCreated, EnvironmentCaptured, LeaseAcquired, LeaseLost, LeaseRenewed};
use model::fault::Point;
use model::limits;
use model::policy::Profile;
use model::task::{Proposer, StepStatus, TaskStatus};
use model::{LeaseId, ResourceId, Sensitive, Slot, StepId, transition};
use serde_json::json;

impl Kernel {
    /// Ready becomes running: a new attempt, or the one that paused goes on (HK-11.5-2).
    pub(super) fn begin(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        tx.at(Point::TaskStart);
        let step = tx.due_step();
        let step = step.ok_or_else(|| Error::Broken("the task has no step to attempt".to_owned()))?;
        let (step_id, step_at) = (step.step_id, step.status);
        if transition::task(tx.task.status, TaskStatus::Ready).is_ok() {
            tx.set_task(TaskStatus::Ready, "accepted", None)?;
        }
        tx.set_task(TaskStatus::Running, "picked up", None)?;
        if transition::step(step_at, StepStatus::Ready).is_ok() {
            tx.set_step_of(step_id, StepStatus::Ready, "dependencies met")?;
        }
        if tx.attempt().is_none_or(|a| a.attempt.status.is_ended()) {
            tx.set_step_of(step_id, StepStatus::Running, "attempted")?;
            self.new_attempt(tx, step_id)?;
            return Ok(Then::Commit);
        }
        self.renew_lease(tx);
        if tx.attempt().is_some_and(AttemptState::waits) {
            tx.set_task(TaskStatus::Blocked, "still waits for a person", None)?;
        } else {
            tx.set_step_of(step_id, StepStatus::Running, "resumed")?;
        }
        Ok(Then::Commit)
    }

    /// An attempt number of its own, and its lease (HK-12.3-2, HK-17.1).
    fn new_attempt(&self, tx: &mut Tx<'_>, step_id: StepId) -> Result<(), Error> {
        let last = tx.attempt().filter(|a| a.attempt.step_id == step_id);
        let attempt_no = last.map_or(1, |a| a.attempt.attempt_no.saturating_add(1));
        let resume_from_ref = last.map(|a| a.attempt.attempt_id);
        let attempt_id = self.fresh_attempt();
        let contract = self.contract(tx)?;
        let proposer = self.choice_in(tx, &contract, tx.steps.get(&step_id))?.proposer();
        let idempotency_key = format!("{step_id}:attempt:{attempt_no}");
        tx.scope(step_id, attempt_id);
        let attempt = StepAttempt {
            attempt_id,
            task_id: tx.task.task_id,
            step_id,
            attempt_no,
            status: AttemptStatus::Created,
            context_pack_ref: Slot::NOT_REQUIRED,
            working_state_ref: Slot::NOT_REQUIRED,
            workspace_lease_ref: Slot::NOT_REQUIRED,
            idempotency_key: idempotency_key.clone(),
            started_at: tx.now(),
            finished_at: None,
            resume_from_ref,
            proposer: Some(proposer),
            executor_mode: Some(lease_mode(tx.task.policy_profile_ref, proposer)),
            policy_version: None,
            state_witness_ref: None,
            environment_ref: None,
        };
        tx.push_keyed(Some(idempotency_key), AttemptCreated { attempt });
        self.take_lease(tx)
    }

    /// The attempt that was created gets its lease.
    pub(super) fn lease(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        tx.at(Point::AttemptLease);
        self.take_lease(tx)?;
        Ok(Then::Commit)
    }

    fn take_lease(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        let root = self.workspace_root(tx)?;
        let attempt_id = self.attempt_id(tx)?;
        let workspace_id =
            tx.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        let lease = WorkspaceLease {
            lease_id: LeaseId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            attempt_id,
            workspace_id,
            root_path: Sensitive::from(crate::workspace::encode_root(&root)),
            holder_principal_id: tx.actor().actor_id,
            acquired_at: tx.now(),
            expires_at: tx.now().plus_ms(limits::LEASE_MS_MAX),
            mode: lease_mode(tx.task.policy_profile_ref, self.proposer(tx)?),
            resource_scope: vec![Sensitive::from(
                ResourceId::File(workspace_id, model::RelPath::ROOT).to_string(),
            )],
        };
        tx.push(LeaseAcquired { lease });
        let mut facts = self.ports.executors.environment(&root);
        if let Some(facts) = facts.as_object_mut() {
            let head =
                self.executors_at(&root, workspace_id).and_then(|at| at.head().map_err(Error::Effects));
            let repository = match head {
                Ok(head) => json!({ "branch": head.branch, "commit": head.commit }),
                Err(why) => json!({ "not_known": why.to_string() }),
            };
            facts.insert("repository".to_owned(), repository);
        }
        let environment = tx.object(&facts, NewArtifact::audit(ArtifactKind::EnvironmentSnapshot))?;
        tx.push(EnvironmentCaptured { about_attempt_id: attempt_id, environment });
        tx.set_attempt(AttemptStatus::Leased, "lease taken")
    }

    /// A lease that ran out while the task waited is lost in so many words, and taken anew (HK-20.3-2).
    pub(super) fn renew_lease(&self, tx: &mut Tx<'_>) {
        let Some(lease) = tx.attempt().and_then(|a| a.lease.clone()) else { return };
        let now = tx.now();
        let expires_at = now.plus_ms(limits::LEASE_MS_MAX);
        if now > lease.expires_at {
            tx.push(LeaseLost { lease_id: lease.lease_id, reason: "expired".to_owned() });
            let lease_id = LeaseId::fresh(&*self.ports.clock, &*self.ports.entropy);
            tx.push(LeaseAcquired {
                lease: WorkspaceLease { lease_id, acquired_at: now, expires_at, ..lease },
            });
        } else if lease.expires_at.0.saturating_sub(now.0) < limits::LEASE_MS_MAX / 2 {
            tx.push(LeaseRenewed { lease_id: lease.lease_id, expires_at });
        }
    }
}

/// What a lease of this profile permits. A guest works on a copy of the folder, whatever else is permitted.
const fn lease_mode(profile: Profile, proposer: Proposer) -> LeaseMode {
    if matches!(proposer, Proposer::Guest) {
        return LeaseMode::Isolated;
    }
    match profile {
        Profile::ReadonlyAnalysis => LeaseMode::Readonly,
        Profile::LocalEditAllowed | Profile::DestructiveDenied | Profile::Service => {
            LeaseMode::ExternalEffectsDisabled
        }
        Profile::NetworkReadAllowed | Profile::RepoMutationGated | Profile::ExternalPublishGated => {
            LeaseMode::Mutable
        }
    }
}
