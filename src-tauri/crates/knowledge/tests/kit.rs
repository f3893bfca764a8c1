//! Beliefs, evidence and inputs for the tests of this room.

use knowledge::{Material, PackInput, Recalled, belief};
use model::artifact::{ArtifactKind, EvidenceRef, Selector, Sensitivity, TrustTier};
use model::knowledge::{Belief, BeliefStatus, MemoryRecord, MemoryStatus};
use model::task::{Budget, ModelChoice, TaskContract};
use model::{ArtifactId, BeliefId, Digest, PrincipalId, TaskId, UnixMs};
use std::str::FromStr;

/// The identifier of its kind with this number inside.
pub fn id<T: FromStr>(prefix: &str, n: u64) -> T {
    format!("{prefix}_{n:032x}").parse().unwrap_or_else(|_| panic!("{prefix} {n}"))
}

pub fn artifact(n: u64) -> ArtifactId {
    id("art", n)
}

pub fn evidence(n: u64, trust_tier: TrustTier) -> EvidenceRef {
    EvidenceRef {
        artifact_id: artifact(n),
        selector: Selector::Lines { start: 1, end: 3, of: None },
        excerpt_hash: Digest::of(b"three lines"),
        capture_method: "observe".into(),
        confidence: 1000,
        trust_tier,
    }
}

pub fn belief(n: u64, claim: &str, scope: &str, trust_tier: TrustTier, confidence: u16) -> Belief {
    Belief {
        belief_id: id::<BeliefId>("blf", n),
        task_id: id::<TaskId>("task", 1),
        claim: claim.to_owned().into(),
        scope: scope.to_owned().into(),
        evidence_refs: vec![evidence(n, trust_tier)],
        confidence,
        trust_tier,
        status: BeliefStatus::Active,
        created_at: UnixMs(n as i64),
        asserted_by: id::<PrincipalId>("prn", 1),
        revision: 1,
        step_id: None,
        attempt_id: None,
        supersedes: None,
        contradicts: vec![],
        expires_at: None,
    }
}

pub fn claim(claim: &str, tiers: &[TrustTier]) -> belief::Claim {
    belief::Claim {
        claim: claim.into(),
        scope: "repo".into(),
        confidence: 1000,
        evidence: tiers.iter().enumerate().map(|(n, t)| evidence(n as u64, *t)).collect(),
        expires_at: None,
    }
}

pub fn holding(n: u64) -> belief::Holding {
    belief::Holding {
        belief_id: id("blf", n),
        task_id: id("task", 1),
        step_id: Some(id("step", 1)),
        attempt_id: Some(id("att", 1)),
        asserted_by: id("prn", 1),
        now: UnixMs(100),
    }
}

pub fn contract(goal: &str) -> TaskContract {
    TaskContract {
        goal: goal.into(),
        model: ModelChoice::Scripted { name: "test".into() },
        budget: Budget::default(),
        success_criteria: vec!["the tests pass".into()],
        constraints: vec!["never touch the folder `keep`".into()],
        asks_at_limit: false,
        fallbacks: Vec::new(),
    }
}

pub fn input(tokens_max: u32) -> PackInput {
    let mut input = PackInput::new(id("task", 1), id("att", 1), artifact(900), contract("tidy the folder"));
    input.tokens_max = tokens_max;
    input.now = UnixMs(1_000);
    input
}

pub fn material(n: u64, text: &str) -> Material {
    Material {
        rest: "",
        act: None,
        pictures: Vec::new(),
        unseen: Vec::new(),
        number: None,
        artifact_id: artifact(n),
        kind: ArtifactKind::FileSnapshot,
        title: format!("file {n}"),
        text: text.into(),
        trust_tier: TrustTier::Observed,
        sensitivity: Sensitivity::Private,
        order: n,
        pinned: false,
    }
}

/// A record of memory of any task.
pub fn memory(n: u64) -> MemoryRecord {
    MemoryRecord {
        memory_id: id("mem", n),
        promoted_by_task_id: id("task", 9),
        promoted_by: id("prn", 1),
        claim: format!("remembered thing {n}").into(),
        scope: "repo".to_owned().into(),
        evidence_refs: vec![evidence(800 + n, TrustTier::Verified)],
        trust_tier: TrustTier::Verified,
        promotion_reason: "it lasts".to_owned().into(),
        status: MemoryStatus::Active,
        created_at: UnixMs(n as i64),
        promoted_from_belief_id: None,
        invalidated_at: None,
        supersedes: None,
        project_hash: None,
        structured_assertion: None,
        retention_class: None,
        invalidation_policy: None,
        expires_at: None,
    }
}

/// One that words alone have found.
pub fn recalled(place: u32, record: MemoryRecord) -> Recalled {
    Recalled { record, place, found_by: None }
}
