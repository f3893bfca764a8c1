//! Durable memory: promoted through the governed path, corrected without deletion (HK-15.5).

use crate::Error;
use crate::drive::{Judged, Then, Yes};
use crate::kernel::Kernel;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::Action;
use knowledge::memory::{Backing, Promotion, promote, promoted};
use model::artifact::ArtifactKind;
use model::attempt::AttemptStatus;
use model::fault::Point;
use model::knowledge::{MemoryRecord, MemoryStatus};
use model::principal::PrincipalType;
use model::{MemoryId, PrincipalId, TaskId};
use serde_json::{Map, json};

impl Kernel {
    /// The executor of memory is the kernel itself: effect, observation and receipt are one commit with the dispatch.
    pub(crate) fn remember(&self, tx: &mut Tx<'_>, judged: Judged, yes: Option<&Yes>) -> Result<Then, Error> {
        let Action::Remember(acts::Remember { claim, scope, promotion_reason, evidence_refs, belief_id }) =
            &judged.request.action
        else {
            return Err(Error::Broken("not a promotion".to_owned()));
        };
        let person: Option<PrincipalId> = yes.map(|y| y.decision.decided_by);
        let promotion = Promotion {
            memory_id: MemoryId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            promoted_by: person.unwrap_or(tx.actor().actor_id),
            claim: claim.clone(),
            scope: scope.clone(),
            evidence: evidence_refs.clone(),
            reason: promotion_reason.clone(),
            from_belief: *belief_id,
            supersedes: None,
            backing: if person.is_some() { Backing::Person } else { Backing::Evidence },
            now: tx.now(),
        };
        let source = belief_id.and_then(|id| tx.beliefs.get(&id));
        let result = promote(&promotion, source, &self.active_memories()?);
        tx.set_attempt(AttemptStatus::Observing, "observed")?;
        let error = match result {
            Ok(record) => {
                for body in promoted(record) {
                    tx.push(body);
                }
                None
            }
            // Not lost: it may stay a belief, and the model is told why (HK-6.3-1).
            Err(degraded) => Some(degraded.to_string()),
        };
        let new = NewArtifact::audit(ArtifactKind::MemoryPromotion)
            .from(evidence_refs.iter().map(|e| e.artifact_id));
        let more = Map::from_iter([("claim".to_owned(), json!(claim))]);
        self.performed_here(tx, judged, error, new, more)
    }

    /// Marks a memory record as wrong; it stays readable (HK-8.7-5).
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown record, [`Error::Conflict`] for one that is not held.
    pub fn invalidate_memory(&self, memory_id: MemoryId, reason: &str) -> Result<TaskId, Error> {
        let record = self
            .memories(None)?
            .into_iter()
            .find(|m| m.memory_id == memory_id)
            .ok_or_else(|| Error::NotFound { kind: "memory record", id: memory_id.to_string() })?;
        let body = knowledge::memory::invalidate(&record, reason).map_err(|r| Error::Conflict(r.reason))?;
        let task_id = record.promoted_by_task_id;
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::KnowledgeChange, PrincipalType::User)?;
        tx.push(body);
        tx.commit()?;
        Ok(task_id)
    }

    /// Memory records that are held.
    pub(crate) fn active_memories(&self) -> Result<Vec<MemoryRecord>, Error> {
        self.memories(Some(MemoryStatus::Active))
    }
}
