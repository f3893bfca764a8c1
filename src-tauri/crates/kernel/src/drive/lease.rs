//! An attempt begins: its number, its lease, the environment it runs in.

use crate::Error;
use crate::kernel::{Cell, Kernel, lock};
use crate::state::{AttemptState, TaskState};
use crate::track::Track;
use crate::writeup::{NewArtifact, Writeup};
use model::artifact::ArtifactKind;
use model::attempt::{AttemptStatus, LeaseMode, StepAttempt, WorkspaceLease};
use model::body::{AttemptCreated, EnvironmentCaptured, LeaseAcquired, LeaseLost, LeaseRenewed};
use model::fault::Point;
use model::limits;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::task::{StepStatus, TaskStatus};
use model::{LeaseId, ResourceId, Sensitive, Slot, StepId};

impl Kernel {
    /// Ready becomes running: a new attempt, or the one that paused goes on (HK-11.5-2).
    pub(super) fn begin(&self, cell: &Cell) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::TaskStart, state, actor);
        let step =
            state.due_step().ok_or_else(|| Error::Broken("the task has no step to attempt".to_owned()))?;
        let step_id = step.step_id;
        let mut track = Track::at_step(state, step);
        track.task(&mut w, TaskStatus::Ready, "accepted", None).ok();
        track.task(&mut w, TaskStatus::Running, "picked up", None)?;
        track.step(&mut w, StepStatus::Ready, "dependencies met").ok();
        let live = state.attempt().is_some_and(|a| !a.attempt.status.is_ended());
        if live {
            self.renew_lease(state, &mut w)?;
            if !state.attempt().is_some_and(AttemptState::waits) {
                track.step(&mut w, StepStatus::Running, "resumed")?;
            } else {
                track.task(&mut w, TaskStatus::Blocked, "still waits for a person", None)?;
            }
        } else {
            track.step(&mut w, StepStatus::Running, "attempted")?;
            self.new_attempt(state, &mut w, &mut track, step_id)?;
        }
        self.commit(w, Some(state))?;
        Ok(())
    }

    /// An attempt number of its own, and its lease (HK-12.3-2, HK-17.1).
    fn new_attempt(
        &self,
        state: &TaskState,
        w: &mut Writeup<'_>,
        track: &mut Track,
        step_id: StepId,
    ) -> Result<(), Error> {
        let last = state.attempt().filter(|a| a.attempt.step_id == step_id);
        let attempt_no = last.map_or(1, |a| a.attempt.attempt_no.saturating_add(1));
        let attempt_id = self.fresh_attempt();
        let idempotency_key = format!("{step_id}:attempt:{attempt_no}");
        w.scope.step_id = Some(step_id);
        w.scope.attempt_id = Some(attempt_id);
        let attempt = StepAttempt {
            attempt_id,
            task_id: state.task.task_id,
            step_id,
            attempt_no,
            status: AttemptStatus::Created,
            context_pack_ref: Slot::NOT_REQUIRED,
            working_state_ref: Slot::NOT_REQUIRED,
            workspace_lease_ref: Slot::NOT_REQUIRED,
            idempotency_key: idempotency_key.clone(),
            started_at: w.now,
            finished_at: None,
            resume_from_ref: last.map(|a| a.attempt.attempt_id),
            executor_mode: Some(lease_mode(state.task.policy_profile_ref)),
            policy_version: None,
            state_witness_ref: None,
            environment_ref: None,
        };
        w.push_keyed(Some(idempotency_key), AttemptCreated { attempt });
        track.adopt(attempt_id);
        self.take_lease(state, w, track)
    }

    /// The attempt that was created gets its lease.
    pub(super) fn lease(&self, cell: &Cell) -> Result<(), Error> {
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::AttemptLease, state, actor);
        let mut track = Track::of(state);
        self.take_lease(state, &mut w, &mut track)?;
        self.commit(w, Some(state))?;
        Ok(())
    }

    fn take_lease(&self, state: &TaskState, w: &mut Writeup<'_>, track: &mut Track) -> Result<(), Error> {
        let root = self.workspace_root(state)?;
        let attempt_id =
            w.scope.attempt_id.ok_or_else(|| Error::Broken("no attempt to lease for".to_owned()))?;
        let workspace_id =
            state.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        let lease = WorkspaceLease {
            lease_id: LeaseId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: state.task.task_id,
            attempt_id,
            workspace_id,
            root_path: Sensitive::from(crate::workspace::encode_root(&root)),
            holder_principal_id: w.actor.actor_id,
            acquired_at: w.now,
            expires_at: w.now.plus_ms(limits::LEASE_MS_MAX),
            mode: lease_mode(state.task.policy_profile_ref),
            resource_scope: vec![Sensitive::from(
                ResourceId::File(workspace_id, model::RelPath::ROOT).to_string(),
            )],
        };
        w.push(LeaseAcquired { lease });
        let facts = self.ports.hands.environment(&root);
        let environment = w.object(&facts, NewArtifact::audit(ArtifactKind::EnvironmentSnapshot))?;
        w.push(EnvironmentCaptured { about_attempt_id: attempt_id, environment });
        track.attempt(w, AttemptStatus::Leased, "lease taken")
    }

    /// A lease that ran out while the task waited is lost in so many words, and taken anew (HK-20.3-2).
    pub(super) fn renew_lease(&self, state: &TaskState, w: &mut Writeup<'_>) -> Result<(), Error> {
        let Some(lease) = state.attempt().and_then(|a| a.lease.clone()) else { return Ok(()) };
        let expires_at = w.now.plus_ms(limits::LEASE_MS_MAX);
        if w.now > lease.expires_at {
            w.push(LeaseLost { lease_id: lease.lease_id, reason: "expired".to_owned() });
            let lease_id = LeaseId::fresh(&*self.ports.clock, &*self.ports.entropy);
            w.push(LeaseAcquired {
                lease: WorkspaceLease { lease_id, acquired_at: w.now, expires_at, ..lease },
            });
        } else if lease.expires_at.0.saturating_sub(w.now.0) < limits::LEASE_MS_MAX / 2 {
            w.push(LeaseRenewed { lease_id: lease.lease_id, expires_at });
        }
        Ok(())
    }
}

/// What a lease of this profile permits.
const fn lease_mode(profile: Profile) -> LeaseMode {
    match profile {
        Profile::ReadonlyAnalysis => LeaseMode::Readonly,
        Profile::LocalEditAllowed | Profile::DestructiveDenied => LeaseMode::ExternalEffectsDisabled,
        Profile::NetworkReadAllowed | Profile::RepoMutationGated | Profile::ExternalPublishGated => {
            LeaseMode::Mutable
        }
    }
}
