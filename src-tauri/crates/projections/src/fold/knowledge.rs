//! Artifacts, working state, beliefs, memory, decisions.

use super::{Seen, text};
use crate::Error;
use crate::names::ArtifactState;
use crate::rows::{
    ArtifactRow, AttemptRow, BeliefRow, MemoryRow, MemoryUseRow, NewArtifact, NewBelief, NewDecision,
    NewMemory, NewMemoryUse, NewRevision, NewWorkingState, Turns, WorkingStateRow,
};
use model::artifact::Artifact;
use model::body::{Body, WorkingStateUpdated};
use model::decision::Decision;
use model::knowledge::{Belief, BeliefStatus, MemoryRecord, MemoryStatus};
use model::{ArtifactId, AttemptId, BeliefId, MemoryId, Sensitive};

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::ArtifactCreated(b) => artifact(seen, &b.artifact),
        Body::ArtifactReferenced(b) => kept(seen, b.artifact_id, |row| row.uses += 1),
        Body::ArtifactSealed(b) => kept(seen, b.artifact_id, |row| {
            if row.sealed_at.is_none() {
                (row.sealed_at, row.sealed_by) = (Some(seen.at()), Some(b.by.clone()));
            }
        }),
        Body::ArtifactPromoted(b) => kept(seen, b.artifact_id, |row| row.memory_id = Some(b.memory_id)),
        Body::ArtifactCompacted(b) => kept(seen, b.artifact_id, |row| {
            (row.state, row.compacted_into) = (ArtifactState::Compacted, Some(b.into));
        }),
        Body::ArtifactExpired(b) => kept(seen, b.artifact_id, |row| row.state = ArtifactState::Expired),
        Body::WorkingStateUpdated(b) => working_state(seen, b),
        Body::DecisionRecorded(b) => decision(seen, &b.decision),
        _ => claims(seen, body),
    }
}

fn claims(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::BeliefAsserted(b) => belief(seen, &b.belief, None),
        Body::BeliefRevised(b) => belief(seen, &b.belief, Some(&b.reason)),
        Body::BeliefSuperseded(b) => {
            seen.belief(b.belief_id, |row| {
                (row.status, row.updated_at) = (BeliefStatus::Superseded, seen.at());
                row.superseded_by = Some(b.by);
            })?;
            seen.belief(b.by, |row| row.supersedes = Some(b.belief_id))
        }
        Body::BeliefContradicted(b) => {
            let why = Some(b.note.clone());
            over(seen, b.belief_id, BeliefStatus::Contradicted, why)?;
            against(seen, b.belief_id, b.by)?;
            against(seen, b.by, b.belief_id)
        }
        Body::BeliefRevoked(b) => over(seen, b.belief_id, BeliefStatus::Revoked, Some(b.reason.clone())),
        Body::BeliefExpired(b) => over(seen, b.belief_id, BeliefStatus::Expired, None),
        Body::MemoryPromoted(b) => memory(seen, &b.record),
        Body::MemoryInvalidated(b) => {
            ended(seen, b.memory_id, MemoryStatus::Invalidated, Some(&b.reason))?;
            // One that another takes the place of may have been right until then.
            if b.superseded_by.is_none() {
                contradicted(seen, b.memory_id)?;
            }
            seen.set((b.memory_id,), |row: &mut MemoryRow| {
                row.superseded_by = b.superseded_by.or(row.superseded_by);
            })
        }
        Body::MemoryRevoked(b) => ended(seen, b.memory_id, MemoryStatus::Revoked, Some(&b.reason)),
        Body::MemoryExpired(b) => ended(seen, b.memory_id, MemoryStatus::Expired, None),
        _ => Ok(()),
    }
}

fn artifact(seen: &Seen<'_>, a: &Artifact) -> Result<(), Error> {
    seen.add(NewArtifact {
        artifact_id: a.artifact_id,
        task_id: seen.event.task_id,
        class: a.class,
        kind: a.kind,
        uri: a.uri.clone(),
        alias: a.task_local_alias.clone(),
        content_hash: a.content_hash,
        media_type: a.media_type.clone(),
        byte_size: a.byte_size,
        created_at: a.created_at,
        producer: a.producer,
        retention: a.retention_class,
        trust_tier: a.trust_tier,
        sensitivity: a.sensitivity_class,
        produced_by: a.produced_by,
        inputs: a.inputs.clone(),
        state: ArtifactState::Live,
    })
    .map(drop)
}

/// Changes the row of an artifact, where there is one.
fn kept(seen: &Seen<'_>, id: ArtifactId, with: impl FnOnce(&mut ArtifactRow)) -> Result<(), Error> {
    seen.set((id,), with)
}

fn working_state(seen: &Seen<'_>, b: &WorkingStateUpdated) -> Result<(), Error> {
    let attempt = seen.event.attempt_id;
    let holder = attempt.map_or_else(|| text(seen.event.task_id), text);
    let made = seen.add(NewWorkingState {
        holder: holder.clone(),
        task_id: seen.event.task_id,
        attempt_id: attempt,
        artifact_id: b.state.artifact_id,
        sha256: b.state.sha256,
        byte_size: b.byte_size,
        revision: b.revision,
        updated_at: seen.at(),
    })?;
    if !made {
        seen.set((holder,), |row: &mut WorkingStateRow| {
            (row.seq, row.updated_at) = (seen.seq, seen.at());
            (row.artifact_id, row.sha256) = (b.state.artifact_id, b.state.sha256);
            (row.byte_size, row.revision) = (b.byte_size, b.revision);
        })?;
    }
    let set = |row: &mut AttemptRow| row.working_state_ref = Some(b.state.artifact_id);
    attempt.map_or(Ok(()), |attempt| seen.set((attempt,), set))
}

fn decision(seen: &Seen<'_>, d: &Decision) -> Result<(), Error> {
    seen.add(NewDecision {
        decision_id: d.decision_id,
        task_id: d.task_id,
        step_id: d.step_id,
        attempt_id: d.attempt_id,
        class: d.decision_type,
        summary: d.summary.clone(),
        rationale: d.rationale.clone(),
        risk: d.risk_level,
        decided_by: d.decided_by,
        reversible: d.reversible,
        evidence: d.evidence_refs.clone(),
        alternatives: d.alternatives_considered.clone(),
        override_ref: d.policy_override_ref,
        effective_until: d.effective_until,
        created_at: d.created_at,
    })
    .map(drop)
}

fn belief(seen: &Seen<'_>, b: &Belief, reason: Option<&Sensitive<String>>) -> Result<(), Error> {
    let made = seen.add(NewBelief {
        belief_id: b.belief_id,
        task_id: b.task_id,
        step_id: b.step_id,
        attempt_id: b.attempt_id,
        claim: b.claim.clone(),
        scope: b.scope.clone(),
        confidence: b.confidence,
        trust_tier: b.trust_tier,
        status: b.status,
        revision: b.revision,
        evidence: b.evidence_refs.clone(),
        asserted_by: b.asserted_by,
        created_at: b.created_at,
        updated_at: seen.at(),
        expires_at: b.expires_at,
        supersedes: b.supersedes,
        contradicts: b.contradicts.clone(),
        reason: reason.cloned(),
    })?;
    if !made {
        seen.belief(b.belief_id, |row| {
            (row.claim, row.scope) = (b.claim.clone(), b.scope.clone());
            (row.confidence, row.trust_tier) = (b.confidence, b.trust_tier);
            (row.status, row.revision) = (b.status, b.revision);
            row.evidence.clone_from(&b.evidence_refs);
            (row.updated_at, row.expires_at) = (seen.at(), b.expires_at);
            row.reason = reason.cloned();
        })?;
    }
    seen.add(NewRevision {
        belief_id: b.belief_id,
        revision: b.revision,
        confidence: b.confidence,
        trust_tier: b.trust_tier,
        evidence: b.evidence_refs.clone(),
        reason: reason.cloned(),
        at: seen.at(),
    })
    .map(drop)
}

/// Ends a belief without another in its place.
fn over(
    seen: &Seen<'_>,
    id: BeliefId,
    status: BeliefStatus,
    why: Option<Sensitive<String>>,
) -> Result<(), Error> {
    seen.belief(id, |row| {
        (row.status, row.updated_at) = (status, seen.at());
        row.reason = why.or(row.reason.take());
    })
}

/// Notes that one belief stands against another.
fn against(seen: &Seen<'_>, one: BeliefId, other: BeliefId) -> Result<(), Error> {
    seen.belief(one, |row| {
        if !row.contradicts.contains(&other) {
            row.contradicts.push(other);
        }
    })
}

fn memory(seen: &Seen<'_>, m: &MemoryRecord) -> Result<(), Error> {
    seen.add(NewMemory {
        memory_id: m.memory_id,
        task_id: m.promoted_by_task_id,
        claim: m.claim.clone(),
        scope: m.scope.clone(),
        reason: m.promotion_reason.clone(),
        trust_tier: m.trust_tier,
        status: m.status,
        evidence: m.evidence_refs.clone(),
        promoted_by: m.promoted_by,
        from_belief: m.promoted_from_belief_id,
        supersedes: m.supersedes,
        created_at: m.created_at,
        project_hash: m.project_hash,
        memory_type: m.structured_assertion.as_ref().map(|said| said.memory_type),
        retention: m.retention_class,
        invalidation: m.invalidation_policy,
        expires_at: m.expires_at,
        state_leaf: seen.leaf(),
    })
    .map(drop)
}

/// The context pack of a turn holds it.
pub(super) fn used(seen: &Seen<'_>, id: MemoryId, (attempt_id, turn): (AttemptId, u32)) -> Result<(), Error> {
    seen.set((id,), |row: &mut MemoryRow| {
        (row.uses, row.last_used_at) = (row.uses.saturating_add(1), Some(seen.at()));
    })?;
    let (task_id, at, last_seq) = (seen.event.task_id, seen.at(), seen.seq);
    seen.add(NewMemoryUse { memory_id: id, task_id, first_at: at, last_at: at, last_seq })?;
    seen.set((id, task_id), |row: &mut MemoryUseRow| {
        (row.last_at, row.last_seq) = (at, last_seq);
        row.contexts = row.contexts.saturating_add(1);
        sent_in(&mut row.turns, attempt_id, turn);
    })
}

/// Adds a turn: to the last stretch, where it is its last turn once more or the one behind it.
fn sent_in(turns: &mut Vec<Turns>, attempt_id: AttemptId, turn: u32) {
    let goes_on = |last: u32| turn == last || last.checked_add(1) == Some(turn);
    match turns.last_mut().filter(|one| one.attempt_id == attempt_id && goes_on(one.last)) {
        Some(one) => one.last = turn,
        None => turns.push(Turns { attempt_id, first: turn, last: turn }),
    }
}

/// What a task did followed it.
pub(super) fn helped(seen: &Seen<'_>, id: MemoryId) -> Result<(), Error> {
    seen.set((id,), |row: &mut MemoryRow| {
        (row.helped, row.helped_in) = (row.helped.saturating_add(1), Some(seen.event.task_id));
    })?;
    seen.set((id, seen.event.task_id), |row: &mut MemoryUseRow| row.helped = true)
}

/// A person, or what was seen, says otherwise.
pub(super) fn contradicted(seen: &Seen<'_>, id: MemoryId) -> Result<(), Error> {
    seen.set((id,), |row: &mut MemoryRow| {
        row.contradicted = row.contradicted.saturating_add(1);
        row.contradicted_in = Some(seen.event.task_id);
    })?;
    seen.set((id, seen.event.task_id), |row: &mut MemoryUseRow| row.contradicted = true)
}

/// Ends an active record; it stays, with how it ended.
fn ended(
    seen: &Seen<'_>,
    id: MemoryId,
    status: MemoryStatus,
    why: Option<&Sensitive<String>>,
) -> Result<(), Error> {
    seen.set((id,), |row: &mut MemoryRow| {
        if row.status == MemoryStatus::Active {
            (row.status, row.ended_at, row.end_reason) = (status, Some(seen.at()), why.cloned());
            row.ended_seq = Some(seen.seq);
        }
    })
}

impl Seen<'_> {
    /// Changes the row of a belief, where there is one.
    fn belief(&self, id: BeliefId, with: impl FnOnce(&mut BeliefRow)) -> Result<(), Error> {
        self.set((id,), with)
    }
}
