//! Memory: knowledge that survives its task, promoted with evidence, corrected without deletion (HK-8.7, HK-15.5).

use crate::belief::grounds;
use crate::{Layer, Refusal, trust};
use model::artifact::{EvidenceRef, TrustTier};
use model::body::{Body, MemoryExpired, MemoryInvalidated, MemoryPromoted, MemoryRevoked};
use model::knowledge::{
    Belief, InvalidationPolicy, MemoryAssertion, MemoryRecord, MemoryRetention, MemoryStatus, MemoryType,
};
use model::{BeliefId, Digest, MemoryId, PrincipalId, TaskId, UnixMs};
use std::collections::BTreeMap;

/// Who stands behind a promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// Only the evidence.
    Evidence,
    /// A person who was asked and said yes.
    Person,
}

/// What is to be promoted (HK-15.5-1, -2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promotion {
    /// The new record's identifier.
    pub memory_id: MemoryId,
    /// The task whose event promotes it (C37).
    pub task_id: TaskId,
    /// Who promotes it.
    pub promoted_by: PrincipalId,
    /// The claim.
    pub claim: String,
    /// Where it holds; must be said, since it outlives its task.
    pub scope: String,
    /// What supports it.
    pub evidence: Vec<EvidenceRef>,
    /// Why it deserves to last.
    pub reason: String,
    /// The belief it comes from.
    pub from_belief: Option<BeliefId>,
    /// The record it replaces.
    pub replaces: Option<MemoryRecord>,
    /// The project it holds in; everywhere when absent.
    pub project_hash: Option<Digest>,
    /// What kind of knowledge it is, where anybody said so.
    pub memory_type: Option<MemoryType>,
    /// For how long it is kept.
    pub retention: MemoryRetention,
    /// Its date, where it has one.
    pub expires_at: Option<UnixMs>,
    /// Who stands behind it.
    pub backing: Backing,
    /// Now.
    pub now: UnixMs,
}

/// Not promoted; the claim stays one layer lower (C29).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}; it stays {}", .refusal.reason, .keep_as)]
pub struct Degraded {
    /// Why.
    pub refusal: Refusal,
    /// The layer it may have instead.
    pub keep_as: Layer,
}

/// The record of a promotion, or the lower layer its claim stays in.
///
/// # Errors
/// [`Degraded`] with `scope_missing`, `reason_missing`, `untrusted_evidence`, `source_not_held`, `already_known`,
/// `not_active` and `less_trusted` of the record it replaces, `past` of its date, or the codes of
/// [`crate::belief::assert()`].
pub fn promote(
    promotion: &Promotion,
    source: Option<&Belief>,
    known: &[MemoryRecord],
) -> Result<MemoryRecord, Degraded> {
    let p = promotion;
    let as_scratch = |refusal| Degraded { refusal, keep_as: Layer::Scratchpad };
    let as_belief = |refusal| Degraded { refusal, keep_as: Layer::Belief };
    let (tier, _) = grounds(&p.claim, &p.scope, 1000, &p.evidence).map_err(as_scratch)?;
    let supersedes = p.replaces.as_ref().map(|old| old.memory_id);
    fit(p, source, known).map_err(as_belief)?;
    let trust_tier = match p.backing {
        Backing::Person => trust::stronger(tier, TrustTier::UserAsserted),
        Backing::Evidence if trust::may_be_promoted(tier) => tier,
        Backing::Evidence => {
            let why = "only untrusted evidence; a person must allow it";
            return Err(as_belief(Refusal::new("untrusted_evidence", why)));
        }
    };
    replaceable(p.replaces.as_ref(), trust_tier).map_err(as_belief)?;
    Ok(MemoryRecord {
        memory_id: p.memory_id,
        promoted_by_task_id: p.task_id,
        promoted_by: p.promoted_by,
        claim: p.claim.trim().to_owned().into(),
        scope: p.scope.trim().to_owned().into(),
        evidence_refs: p.evidence.clone(),
        trust_tier,
        promotion_reason: p.reason.trim().to_owned().into(),
        status: MemoryStatus::Active,
        created_at: p.now,
        promoted_from_belief_id: p.from_belief,
        invalidated_at: None,
        supersedes,
        project_hash: p.project_hash,
        structured_assertion: p.memory_type.map(|memory_type| MemoryAssertion { memory_type }),
        retention_class: Some(match p.expires_at {
            Some(_) => MemoryRetention::Dated,
            None => p.retention,
        }),
        invalidation_policy: Some(match (p.expires_at, p.from_belief) {
            (Some(_), _) => InvalidationPolicy::Expiry,
            (None, Some(_)) => InvalidationPolicy::Source,
            (None, None) => InvalidationPolicy::Correction,
        }),
        expires_at: p.expires_at,
    })
}

/// What does not depend on who stands behind it.
fn fit(p: &Promotion, source: Option<&Belief>, known: &[MemoryRecord]) -> Result<(), Refusal> {
    if p.scope.trim().is_empty() {
        return Err(Refusal::new(
            "scope_missing",
            "no scope; say where the claim holds, or `*` for everywhere",
        ));
    }
    if p.reason.trim().is_empty() {
        return Err(Refusal::new(
            "reason_missing",
            "no promotion reason; say why the claim deserves to last",
        ));
    }
    if source.is_some_and(|b| !crate::belief::is_live(b)) {
        return Err(Refusal::new("source_not_held", "the belief it comes from is no longer held"));
    }
    if p.expires_at.is_some_and(|at| at <= p.now) {
        return Err(Refusal::new("past", "its date is over already; give one that is to come, or none"));
    }
    let replaced = p.replaces.as_ref().map(|old| old.memory_id);
    let same = |m: &&MemoryRecord| {
        m.status == MemoryStatus::Active
            && Some(m.memory_id) != replaced
            && m.project_hash == p.project_hash
            && m.claim.shown().is_some_and(|c| c.trim() == p.claim.trim())
            && m.scope.shown().is_some_and(|s| s.trim() == p.scope.trim())
    };
    if let Some(same) = known.iter().find(same) {
        let why =
            format!("memory `{}` says this already; supersede it to change its evidence", same.memory_id);
        return Err(Refusal::new("already_known", why));
    }
    Ok(())
}

/// What a person said stands until a person says otherwise (memory.md 2).
fn replaceable(old: Option<&MemoryRecord>, by: TrustTier) -> Result<(), Refusal> {
    let Some(old) = old else { return Ok(()) };
    active(old)?;
    if trust::rank(by) >= trust::rank(old.trust_tier) {
        return Ok(());
    }
    let (id, tier) = (old.memory_id, old.trust_tier);
    let why =
        format!("memory `{id}` is {tier}, which {by} evidence does not replace; a person must allow it");
    Err(Refusal::new("less_trusted", why))
}

/// The events of a promotion: the record, and the end of the one it replaces.
pub fn promoted(record: MemoryRecord) -> Vec<Body> {
    let replaced = record.supersedes.map(|old| {
        let reason = "superseded".to_owned().into();
        MemoryInvalidated { memory_id: old, reason, superseded_by: Some(record.memory_id) }.into()
    });
    std::iter::once(MemoryPromoted { record }.into()).chain(replaced).collect()
}

/// Says that a record was found wrong; it stays readable.
///
/// # Errors
/// [`Refusal`] `not_active`.
pub fn invalidate(record: &MemoryRecord, reason: &str) -> Result<Body, Refusal> {
    active(record)?;
    let reason = reason.to_owned().into();
    Ok(MemoryInvalidated { memory_id: record.memory_id, reason, superseded_by: None }.into())
}

/// Takes a record back.
///
/// # Errors
/// [`Refusal`] `not_active`.
pub fn revoke(record: &MemoryRecord, reason: &str) -> Result<Body, Refusal> {
    active(record)?;
    Ok(MemoryRevoked { memory_id: record.memory_id, reason: reason.to_owned().into() }.into())
}

/// Says that a record's time has run out.
///
/// # Errors
/// [`Refusal`] `not_active`.
pub fn expire(record: &MemoryRecord) -> Result<Body, Refusal> {
    active(record)?;
    Ok(MemoryExpired { memory_id: record.memory_id }.into())
}

/// Folds one event, which happened at `at`, into the records by identifier; none is removed.
pub fn fold(records: &mut BTreeMap<MemoryId, MemoryRecord>, body: &Body, at: UnixMs) {
    let (id, status) = match body {
        Body::MemoryPromoted(b) => {
            records.insert(b.record.memory_id, b.record.clone());
            return;
        }
        Body::MemoryInvalidated(b) => (b.memory_id, MemoryStatus::Invalidated),
        Body::MemoryRevoked(b) => (b.memory_id, MemoryStatus::Revoked),
        Body::MemoryExpired(b) => (b.memory_id, MemoryStatus::Expired),
        _ => return,
    };
    if let Some(record) = records.get_mut(&id) {
        record.status = status;
        if status == MemoryStatus::Invalidated {
            record.invalidated_at = Some(at);
        }
    }
}

fn active(record: &MemoryRecord) -> Result<(), Refusal> {
    if record.status == MemoryStatus::Active {
        return Ok(());
    }
    Err(Refusal::new("not_active", format!("memory `{}` is {} already", record.memory_id, record.status)))
}
