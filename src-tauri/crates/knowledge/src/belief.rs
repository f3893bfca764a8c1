//! Beliefs: provisional, revisable, bound to evidence (HK-8.6, HK-15.3).
//!
//! Every function returns the event body that records the change, or the reason why there must be none.

use crate::{Refusal, scope, trust};
use model::artifact::{EvidenceRef, TrustTier};
use model::body::{
    BeliefAsserted, BeliefContradicted, BeliefExpired, BeliefRevised, BeliefRevoked, BeliefSuperseded, Body,
};
use model::knowledge::{Belief, BeliefStatus};
use model::limits::{CLAIM_BYTES_MAX, EVIDENCE_REFS_MAX};
use model::{AttemptId, BeliefId, PrincipalId, StepId, TaskId, UnixMs};
use std::collections::BTreeMap;

/// What is claimed, and on what grounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The claim.
    pub claim: String,
    /// Where it holds: parts joined by `/`, wide to narrow; empty or `*` is everywhere.
    pub scope: String,
    /// From 0 to 1000; lowered to what its evidence carries.
    pub confidence: u16,
    /// What supports it.
    pub evidence: Vec<EvidenceRef>,
    /// When it goes stale.
    pub expires_at: Option<UnixMs>,
}

/// Who claims it, where and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The new belief's identifier.
    pub belief_id: BeliefId,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// The step it came from.
    pub step_id: Option<StepId>,
    /// The attempt it came from.
    pub attempt_id: Option<AttemptId>,
    /// Who holds it.
    pub asserted_by: PrincipalId,
    /// Now.
    pub now: UnixMs,
}

/// Two beliefs that say otherwise of the same place.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// What records it; both beliefs stay.
    pub body: Body,
    /// Which of the two is marked: the one with less behind it.
    pub marked: BeliefId,
    /// Whether a person should look (HK-15.4).
    pub needs_review: bool,
}

/// Holds a new belief. Its tier is that of its best evidence, its confidence at most what that tier carries.
///
/// # Errors
/// [`Refusal`] `claim_empty`, `claim_too_long`, `evidence_missing`, `evidence_too_much`, `already_held`.
pub fn assert(claim: &Claim, holding: &Holding, held: &[Belief]) -> Result<Body, Refusal> {
    let (tier, confidence) = grounds(&claim.claim, &claim.scope, claim.confidence, &claim.evidence)?;
    if let Some(same) = held.iter().find(|b| is_live(b) && says(b, &claim.claim, &claim.scope)) {
        return Err(Refusal::new(
            "already_held",
            format!("belief `{}` says this already; revise it instead", same.belief_id),
        ));
    }
    let belief = Belief {
        belief_id: holding.belief_id,
        task_id: holding.task_id,
        claim: claim.claim.trim().to_owned().into(),
        scope: claim.scope.trim().to_owned().into(),
        evidence_refs: claim.evidence.clone(),
        confidence,
        trust_tier: tier,
        status: BeliefStatus::Active,
        created_at: holding.now,
        asserted_by: holding.asserted_by,
        revision: 1,
        step_id: holding.step_id,
        attempt_id: holding.attempt_id,
        supersedes: None,
        contradicts: Vec::new(),
        expires_at: claim.expires_at,
    };
    Ok(BeliefAsserted { belief }.into())
}

/// The next revision of a belief: another confidence, other evidence. One that was contradicted is held again.
///
/// # Errors
/// [`Refusal`] `not_live` for a belief that has ended, `erased` for one whose claim is gone, and as [`assert()`].
pub fn revise(
    belief: &Belief,
    confidence: u16,
    evidence: &[EvidenceRef],
    reason: &str,
) -> Result<Body, Refusal> {
    live(belief)?;
    let (Some(claim), Some(scope)) = (belief.claim.shown(), belief.scope.shown()) else {
        return Err(Refusal::new("erased", format!("the claim of belief `{}` was erased", belief.belief_id)));
    };
    let (trust_tier, confidence) = grounds(claim, scope, confidence, evidence)?;
    let belief = Belief {
        evidence_refs: evidence.to_vec(),
        confidence,
        trust_tier,
        status: BeliefStatus::Active,
        revision: belief.revision.saturating_add(1),
        ..belief.clone()
    };
    Ok(BeliefRevised { belief, reason: reason.to_owned().into() }.into())
}

/// Lets one belief take the place of another; both stay on record.
///
/// # Errors
/// [`Refusal`] `not_live`, `itself`, or `less_trusted` when the newcomer has less behind it than the old one.
pub fn supersede(old: &Belief, new: &Belief) -> Result<Body, Refusal> {
    live(old)?;
    live(new)?;
    apart(old, new)?;
    if trust::rank(new.trust_tier) < trust::rank(old.trust_tier) {
        return Err(Refusal::new(
            "less_trusted",
            format!(
                "belief `{}` is {} and cannot supersede `{}`, which is {}; mark a contradiction instead",
                new.belief_id, new.trust_tier, old.belief_id, old.trust_tier
            ),
        ));
    }
    Ok(BeliefSuperseded { belief_id: old.belief_id, by: new.belief_id }.into())
}

/// Marks that two beliefs contradict each other. Neither is deleted; beliefs of different scopes may both stand.
///
/// # Errors
/// [`Refusal`] `not_live`, `itself`, or `scopes_differ`.
pub fn contradict(a: &Belief, b: &Belief, note: &str) -> Result<Contradiction, Refusal> {
    live(a)?;
    live(b)?;
    apart(a, b)?;
    if !may_conflict(a, b) {
        return Err(Refusal::new(
            "scopes_differ",
            format!(
                "beliefs `{}` and `{}` hold in different scopes; both may stand",
                a.belief_id, b.belief_id
            ),
        ));
    }
    let (marked, by) = if standing(a) < standing(b) { (a, b) } else { (b, a) };
    let body =
        BeliefContradicted { belief_id: marked.belief_id, by: by.belief_id, note: note.to_owned().into() }
            .into();
    let needs_review = trust::contradiction_needs_review(by.trust_tier, marked.trust_tier);
    Ok(Contradiction { body, marked: marked.belief_id, needs_review })
}

/// Takes a belief back.
///
/// # Errors
/// [`Refusal`] `not_live`.
pub fn revoke(belief: &Belief, reason: &str) -> Result<Body, Refusal> {
    live(belief)?;
    Ok(BeliefRevoked { belief_id: belief.belief_id, reason: reason.to_owned().into() }.into())
}

/// Ends a belief whose time is over, whatever was said of it before.
///
/// # Errors
/// [`Refusal`] `not_live`.
pub fn end(belief: &Belief) -> Result<Body, Refusal> {
    live(belief)?;
    Ok(BeliefExpired { belief_id: belief.belief_id }.into())
}

/// The events for every belief whose time has run out.
pub fn expire<'a>(held: impl IntoIterator<Item = &'a Belief>, now: UnixMs) -> Vec<Body> {
    let stale = held.into_iter().filter(|b| is_live(b) && b.expires_at.is_some_and(|at| at <= now));
    stale.map(|b| BeliefExpired { belief_id: b.belief_id }.into()).collect()
}

/// Whether two beliefs can contradict each other at all: their scopes share a place. An erased scope is everywhere.
pub fn may_conflict(a: &Belief, b: &Belief) -> bool {
    let scope = |b: &Belief| b.scope.shown().cloned().unwrap_or_default();
    scope::overlap(&scope(a), &scope(b))
}

/// Whether it may still change: held, or contradicted and not yet settled.
pub const fn is_live(belief: &Belief) -> bool {
    match belief.status {
        BeliefStatus::Active | BeliefStatus::Contradicted => true,
        BeliefStatus::Superseded | BeliefStatus::Revoked | BeliefStatus::Expired => false,
    }
}

/// Folds one event into the beliefs by identifier: the latest revision of each, none removed.
pub fn fold(beliefs: &mut BTreeMap<BeliefId, Belief>, body: &Body) {
    match body {
        Body::BeliefAsserted(b) => drop(beliefs.insert(b.belief.belief_id, b.belief.clone())),
        Body::BeliefRevised(b) => drop(beliefs.insert(b.belief.belief_id, b.belief.clone())),
        Body::BeliefSuperseded(b) => {
            mark(beliefs, b.belief_id, BeliefStatus::Superseded);
            if let Some(new) = beliefs.get_mut(&b.by) {
                new.supersedes = Some(b.belief_id);
            }
        }
        Body::BeliefContradicted(b) => {
            mark(beliefs, b.belief_id, BeliefStatus::Contradicted);
            for (one, other) in [(b.belief_id, b.by), (b.by, b.belief_id)] {
                if let Some(belief) =
                    beliefs.get_mut(&one).filter(|belief| !belief.contradicts.contains(&other))
                {
                    belief.contradicts.push(other);
                }
            }
        }
        Body::BeliefRevoked(b) => mark(beliefs, b.belief_id, BeliefStatus::Revoked),
        Body::BeliefExpired(b) => mark(beliefs, b.belief_id, BeliefStatus::Expired),
        _ => {}
    }
}

fn mark(beliefs: &mut BTreeMap<BeliefId, Belief>, id: BeliefId, status: BeliefStatus) {
    if let Some(belief) = beliefs.get_mut(&id) {
        belief.status = status;
    }
}

/// The tier and confidence a claim may have, or why it may not be held.
pub(crate) fn grounds(
    claim: &str,
    scope: &str,
    confidence: u16,
    evidence: &[EvidenceRef],
) -> Result<(TrustTier, u16), Refusal> {
    if claim.trim().is_empty() {
        return Err(Refusal::new("claim_empty", "the claim is empty; say what is held true"));
    }
    if claim.len() + scope.len() > CLAIM_BYTES_MAX {
        return Err(Refusal::new(
            "claim_too_long",
            format!(
                "the claim has more than {CLAIM_BYTES_MAX} bytes; keep the text as an artifact and claim less"
            ),
        ));
    }
    if evidence.len() > EVIDENCE_REFS_MAX {
        return Err(Refusal::new(
            "evidence_too_much",
            format!("{} pieces of evidence, {EVIDENCE_REFS_MAX} are allowed; name the best", evidence.len()),
        ));
    }
    let Some(tier) = trust::of_evidence(evidence) else {
        return Err(Refusal::new("evidence_missing", "no evidence; name the artifacts that show it"));
    };
    Ok((tier, confidence.min(trust::confidence_max(tier))))
}

fn live(belief: &Belief) -> Result<(), Refusal> {
    if is_live(belief) {
        return Ok(());
    }
    Err(Refusal::new(
        "not_live",
        format!("belief `{}` is {} and changes no more; hold a new one", belief.belief_id, belief.status),
    ))
}

fn apart(a: &Belief, b: &Belief) -> Result<(), Refusal> {
    if a.belief_id != b.belief_id {
        return Ok(());
    }
    Err(Refusal::new("itself", format!("belief `{}` cannot stand against itself", a.belief_id)))
}

/// How much is behind it: tier, then confidence, then the older one.
fn standing(belief: &Belief) -> (u8, u16, std::cmp::Reverse<(UnixMs, BeliefId)>) {
    let age = std::cmp::Reverse((belief.created_at, belief.belief_id));
    (trust::rank(belief.trust_tier), belief.confidence, age)
}

fn says(belief: &Belief, claim: &str, scope: &str) -> bool {
    belief.claim.shown().is_some_and(|c| c.trim() == claim.trim())
        && belief.scope.shown().is_some_and(|s| s.trim() == scope.trim())
}
