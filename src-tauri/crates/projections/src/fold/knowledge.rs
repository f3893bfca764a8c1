//! Artifacts, working state, beliefs, memory, decisions.

use super::rows::{Artifact as ArtifactRow, Attempt};
use super::{Seen, int, json, leaf, maybe, maybe_leaf, text};
use crate::names::ArtifactState;
use model::artifact::Artifact;
use model::body::Body;
use model::decision::Decision;
use model::knowledge::{Belief, MemoryRecord};
use model::{ArtifactId, MemoryId, Sensitive};
use rusqlite::{OptionalExtension, params};

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::ArtifactCreated(b) => artifact(seen, &b.artifact),
        Body::ArtifactReferenced(b) => kept(seen, b.artifact_id, |row| row.uses += 1),
        Body::ArtifactSealed(b) => kept(seen, b.artifact_id, |row| {
            if row.sealed_at.is_none() {
                (row.sealed_at, row.sealed_by) = (Some(seen.at()), Some(b.by.clone()));
            }
        }),
        Body::ArtifactPromoted(b) => kept(seen, b.artifact_id, |row| row.memory_id = Some(text(b.memory_id))),
        Body::ArtifactCompacted(b) => kept(seen, b.artifact_id, |row| {
            ArtifactState::Compacted.as_str().clone_into(&mut row.state);
            row.compacted_into = Some(text(b.into));
        }),
        Body::ArtifactExpired(b) => kept(seen, b.artifact_id, |row| {
            ArtifactState::Expired.as_str().clone_into(&mut row.state);
        }),
        Body::WorkingStateUpdated(b) => {
            let attempt = maybe(seen.event.attempt_id);
            let holder = attempt.clone().unwrap_or_else(|| text(seen.event.task_id));
            seen.run(
                "INSERT INTO view_working_states (holder, seq, task_id, attempt_id, artifact_id, sha256, byte_size, \
                 revision, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
                 ON CONFLICT (holder) DO UPDATE SET seq = excluded.seq, artifact_id = excluded.artifact_id, \
                 sha256 = excluded.sha256, byte_size = excluded.byte_size, revision = excluded.revision, \
                 updated_at = excluded.updated_at",
                params![
                    holder,
                    seen.seq,
                    text(seen.event.task_id),
                    attempt,
                    text(b.state.artifact_id),
                    text(b.state.sha256),
                    int(b.byte_size),
                    b.revision,
                    seen.at(),
                ],
            )?;
            let set = |row: &mut Attempt| row.working_state_ref = Some(text(b.state.artifact_id));
            attempt.map_or(Ok(None), |attempt| seen.change((attempt,), set)).map(drop)
        }
        Body::DecisionRecorded(b) => decision(seen, &b.decision),
        _ => claims(seen, body),
    }
}

fn claims(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::BeliefAsserted(b) => belief(seen, &b.belief, None),
        Body::BeliefRevised(b) => belief(seen, &b.belief, Some(&b.reason)),
        Body::BeliefSuperseded(b) => {
            let statement = "UPDATE view_beliefs SET status = 'superseded', superseded_by = ?2, updated_at = ?3 \
                             WHERE belief_id = ?1";
            seen.run(statement, params![text(b.belief_id), text(b.by), seen.at()])?;
            let statement = "UPDATE view_beliefs SET supersedes = ?2 WHERE belief_id = ?1";
            seen.run(statement, params![text(b.by), text(b.belief_id)]).map(drop)
        }
        Body::BeliefContradicted(b) => {
            let (one, other) = (text(b.belief_id), text(b.by));
            let statement = "UPDATE view_beliefs SET status = 'contradicted', reason = ?2, updated_at = ?3 \
                             WHERE belief_id = ?1";
            seen.run(statement, params![one, leaf(&b.note), seen.at()])?;
            against(seen, &one, &other)?;
            against(seen, &other, &one)
        }
        Body::BeliefRevoked(b) => {
            let statement = "UPDATE view_beliefs SET status = 'revoked', reason = ?2, updated_at = ?3 \
                             WHERE belief_id = ?1";
            seen.run(statement, params![text(b.belief_id), leaf(&b.reason), seen.at()]).map(drop)
        }
        Body::BeliefExpired(b) => {
            let statement =
                "UPDATE view_beliefs SET status = 'expired', updated_at = ?2 WHERE belief_id = ?1";
            seen.run(statement, params![text(b.belief_id), seen.at()]).map(drop)
        }
        Body::MemoryPromoted(b) => memory(seen, &b.record),
        Body::MemoryInvalidated(b) => {
            ended(seen, b.memory_id, "invalidated", Some(&b.reason))?;
            let statement =
                "UPDATE view_memories SET superseded_by = ?2 WHERE memory_id = ?1 AND ?2 IS NOT NULL";
            seen.run(statement, params![text(b.memory_id), maybe(b.superseded_by)]).map(drop)
        }
        Body::MemoryRevoked(b) => ended(seen, b.memory_id, "revoked", Some(&b.reason)),
        Body::MemoryExpired(b) => ended(seen, b.memory_id, "expired", None),
        _ => Ok(()),
    }
}

fn artifact(seen: &Seen<'_>, a: &Artifact) -> rusqlite::Result<()> {
    seen.add(ArtifactRow {
        artifact_id: text(a.artifact_id),
        seq: seen.seq,
        task_id: text(seen.event.task_id),
        class: a.class.as_str().to_owned(),
        kind: a.kind.as_str().to_owned(),
        uri: leaf(&a.uri),
        alias: maybe_leaf(a.task_local_alias.as_ref()),
        content_hash: text(a.content_hash),
        media_type: a.media_type.clone(),
        byte_size: int(a.byte_size),
        created_at: a.created_at.0,
        producer: text(a.producer),
        retention: a.retention_class.as_str().to_owned(),
        trust_tier: a.trust_tier.as_str().to_owned(),
        sensitivity: a.sensitivity_class.as_str().to_owned(),
        produced_by: maybe(a.produced_by),
        inputs: json(&a.inputs),
        state: ArtifactState::Live.as_str().to_owned(),
        ..ArtifactRow::default()
    })
    .map(drop)
}

/// Changes the row of an artifact, where there is one.
fn kept(seen: &Seen<'_>, id: ArtifactId, with: impl FnOnce(&mut ArtifactRow)) -> rusqlite::Result<()> {
    seen.change((text(id),), with).map(drop)
}

fn decision(seen: &Seen<'_>, d: &Decision) -> rusqlite::Result<()> {
    seen.run(
        "INSERT INTO view_decisions (decision_id, seq, task_id, step_id, attempt_id, class, summary, rationale, risk, \
         decided_by, reversible, evidence, alternatives, override_ref, effective_until, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) \
         ON CONFLICT (decision_id) DO NOTHING",
        params![
            text(d.decision_id),
            seen.seq,
            text(d.task_id),
            maybe(d.step_id),
            maybe(d.attempt_id),
            d.decision_type.as_str(),
            leaf(&d.summary),
            leaf(&d.rationale),
            d.risk_level.as_str(),
            text(d.decided_by),
            d.reversible,
            json(&d.evidence_refs),
            json(&d.alternatives_considered),
            maybe(d.policy_override_ref),
            d.effective_until.map(|at| at.0),
            d.created_at.0,
        ],
    )
    .map(drop)
}

fn belief(seen: &Seen<'_>, b: &Belief, reason: Option<&Sensitive<String>>) -> rusqlite::Result<()> {
    seen.run(
        "INSERT INTO view_beliefs (belief_id, seq, task_id, step_id, attempt_id, claim, scope, confidence, trust_tier, \
         status, revision, evidence, asserted_by, created_at, updated_at, expires_at, supersedes, contradicts, reason) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19) \
         ON CONFLICT (belief_id) DO UPDATE SET claim = excluded.claim, scope = excluded.scope, \
         confidence = excluded.confidence, trust_tier = excluded.trust_tier, status = excluded.status, \
         revision = excluded.revision, evidence = excluded.evidence, updated_at = excluded.updated_at, \
         expires_at = excluded.expires_at, reason = excluded.reason",
        params![
            text(b.belief_id),
            seen.seq,
            text(b.task_id),
            maybe(b.step_id),
            maybe(b.attempt_id),
            leaf(&b.claim),
            leaf(&b.scope),
            b.confidence,
            b.trust_tier.as_str(),
            b.status.as_str(),
            b.revision,
            json(&b.evidence_refs),
            text(b.asserted_by),
            b.created_at.0,
            seen.at(),
            b.expires_at.map(|at| at.0),
            maybe(b.supersedes),
            json(&b.contradicts),
            maybe_leaf(reason),
        ],
    )?;
    seen.run(
        "INSERT INTO view_belief_revisions (belief_id, revision, seq, confidence, trust_tier, evidence, reason, at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (belief_id, revision) DO NOTHING",
        params![
            text(b.belief_id),
            b.revision,
            seen.seq,
            b.confidence,
            b.trust_tier.as_str(),
            json(&b.evidence_refs),
            maybe_leaf(reason),
            seen.at(),
        ],
    )
    .map(drop)
}

/// Notes that one belief stands against another.
fn against(seen: &Seen<'_>, one: &str, other: &str) -> rusqlite::Result<()> {
    let statement = "SELECT contradicts FROM view_beliefs WHERE belief_id = ?1";
    let found: Option<String> =
        seen.conn.prepare_cached(statement)?.query_row([one], |row| row.get(0)).optional()?;
    let Some(found) = found else {
        return Ok(());
    };
    let mut list: Vec<String> = serde_json::from_str(&found).unwrap_or_default();
    if !list.iter().any(|id| id == other) {
        list.push(other.to_owned());
        let statement = "UPDATE view_beliefs SET contradicts = ?2 WHERE belief_id = ?1";
        seen.run(statement, params![one, json(&list)])?;
    }
    Ok(())
}

fn memory(seen: &Seen<'_>, m: &MemoryRecord) -> rusqlite::Result<()> {
    seen.run(
        "INSERT INTO view_memories (memory_id, seq, task_id, claim, scope, reason, trust_tier, status, evidence, \
         promoted_by, from_belief, supersedes, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT (memory_id) DO NOTHING",
        params![
            text(m.memory_id),
            seen.seq,
            text(m.promoted_by_task_id),
            leaf(&m.claim),
            leaf(&m.scope),
            leaf(&m.promotion_reason),
            m.trust_tier.as_str(),
            m.status.as_str(),
            json(&m.evidence_refs),
            text(m.promoted_by),
            maybe(m.promoted_from_belief_id),
            maybe(m.supersedes),
            m.created_at.0,
        ],
    )
    .map(drop)
}

/// Ends an active record; it stays, with how it ended.
fn ended(
    seen: &Seen<'_>,
    id: MemoryId,
    status: &str,
    why: Option<&Sensitive<String>>,
) -> rusqlite::Result<()> {
    let statement = "UPDATE view_memories SET status = ?2, ended_at = ?3, end_reason = ?4 \
                     WHERE memory_id = ?1 AND status = 'active'";
    seen.run(statement, params![text(id), status, seen.at(), maybe_leaf(why)]).map(drop)
}
