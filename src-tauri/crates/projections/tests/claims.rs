//! Beliefs and memory of made histories, and the contexts that hold them.

use crate::world::{Place, World, person, words};
use model::artifact::TrustTier;
use model::body::ContextCompiled;
use model::knowledge::*;
use model::*;

impl World {
    pub fn belief(&mut self, place: Place) -> Belief {
        Belief {
            belief_id: self.fresh("blf"),
            task_id: place.task,
            claim: words("claim", self.n),
            scope: words("scope", self.n),
            evidence_refs: vec![self.evidence()],
            confidence: 700,
            trust_tier: TrustTier::Observed,
            status: BeliefStatus::Active,
            created_at: UnixMs(self.now),
            asserted_by: person(),
            revision: 1,
            step_id: place.step,
            attempt_id: place.attempt,
            supersedes: None,
            contradicts: vec![],
            expires_at: None,
        }
    }

    pub fn memory(&mut self, place: Place, supersedes: Option<MemoryId>) -> MemoryRecord {
        MemoryRecord {
            memory_id: self.fresh("mem"),
            promoted_by_task_id: place.task,
            promoted_by: person(),
            claim: words("remembered", self.n),
            scope: words("scope", self.n),
            evidence_refs: vec![self.evidence()],
            trust_tier: TrustTier::Observed,
            promotion_reason: words("it lasts", self.n),
            status: MemoryStatus::Active,
            created_at: UnixMs(self.now),
            promoted_from_belief_id: None,
            invalidated_at: None,
            supersedes,
            project_hash: self.n.is_multiple_of(2).then(|| Digest::of(b"a project")),
            structured_assertion: Some(MemoryAssertion { memory_type: MemoryType::Pattern }),
            retention_class: Some(MemoryRetention::Kept),
            invalidation_policy: Some(InvalidationPolicy::Correction),
            expires_at: None,
        }
    }

    /// A pack of the attempt in this place, with these memory records in it.
    pub fn compiled(&mut self, place: Place, iteration: u32, memories: &[MemoryId]) -> ContextCompiled {
        ContextCompiled {
            about_attempt_id: place.attempt.expect("an attempt"),
            iteration,
            pack: self.some_ref(),
            tokens: 900,
            items: 7,
            omissions: 1,
            memories: (!memories.is_empty()).then(|| memories.to_vec()),
            pinned: None,
        }
    }
}
