//! Durable memory: promoted through the governed path, corrected without deletion (HK-15.5).

use crate::Error;
use crate::drive::{Came, Judged, Then, Yes, summary_of};
use crate::kernel::Kernel;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::Action;
use effects::Outcome;
use knowledge::memory::{Backing, Promotion, promote, promoted};
use model::artifact::ArtifactKind;
use model::attempt::AttemptStatus;
use model::body::EffectObserved;
use model::fault::Point;
use model::knowledge::{MemoryRecord, MemoryStatus};
use model::principal::PrincipalType;
use model::receipt::{Ran, ResultCode, SandboxLevel};
use model::{MemoryId, PrincipalId, TaskId};
use serde_json::json;

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
        let (code, error) = match result {
            Ok(record) => {
                for body in promoted(record) {
                    tx.push(body);
                }
                (ResultCode::Succeeded, None)
            }
            // Not lost: it may stay a belief, and the model is told why (HK-6.3-1).
            Err(degraded) => (ResultCode::Failed, Some(degraded.to_string())),
        };
        let outcome = self.memory_outcome(&judged, code, error, tx.now());
        let told = json!({ "result_code": code.as_str(), "summary": summary_of(&judged.request, &outcome), "claim": claim });
        let new = NewArtifact::audit(ArtifactKind::MemoryPromotion)
            .from(evidence_refs.iter().map(|e| e.artifact_id));
        let result = tx.object(&told, new)?;
        tx.push(EffectObserved {
            action_request_id: judged.request.action_request_id,
            result: result.clone(),
            result_code: code,
            sandbox_level: SandboxLevel::NotApplicable,
            recovered: false,
        });
        tx.set_attempt(AttemptStatus::ReceiptPending, "observed")?;
        tx.hand.came = Some(Came { request: judged.request, outcome, outputs: Vec::new(), result });
        Ok(Then::GoOn)
    }

    fn memory_outcome(
        &self,
        judged: &Judged,
        code: ResultCode,
        error: Option<String>,
        now: model::UnixMs,
    ) -> Outcome {
        Outcome {
            result_code: code,
            changes: Vec::new(),
            outputs: Vec::new(),
            ran: Ran {
                executor: "hermit.memory".to_owned(),
                request_sha256: judged.request_ref.sha256,
                argv: None,
                executable_sha256: None,
                exit_code: None,
                started_at: now,
                finished_at: now,
            },
            sandbox_level: SandboxLevel::NotApplicable,
            observed: Vec::new(),
            error,
            kept: Vec::new(),
        }
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
