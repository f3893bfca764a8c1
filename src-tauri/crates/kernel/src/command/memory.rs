//! Durable memory: promoted through the governed path, corrected without deletion (HK-15.5).

use crate::Error;
use crate::drive::{Judged, Yes, summary_of};
use crate::kernel::{Kernel, lock};
use crate::state::TaskState;
use crate::track::Track;
use crate::writeup::{NewArtifact, Writeup};
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
    pub(crate) fn remember(
        &self,
        state: &mut TaskState,
        mut w: Writeup<'_>,
        mut track: Track,
        judged: &Judged,
        authorization: &governance::Authorization,
        yes: Option<&Yes>,
    ) -> Result<(), Error> {
        let Action::Remember(acts::Remember { claim, scope, promotion_reason, evidence_refs, belief_id }) =
            &judged.request.action
        else {
            return Err(Error::Broken("not a promotion".to_owned()));
        };
        let person: Option<PrincipalId> = yes.map(|y| y.decision.decided_by);
        let promotion = Promotion {
            memory_id: MemoryId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: state.task.task_id,
            promoted_by: person.unwrap_or(w.actor.actor_id),
            claim: claim.clone(),
            scope: scope.clone(),
            evidence: evidence_refs.clone(),
            reason: promotion_reason.clone(),
            from_belief: *belief_id,
            supersedes: None,
            backing: if person.is_some() { Backing::Person } else { Backing::Evidence },
            now: w.now,
        };
        let source = belief_id.and_then(|id| state.beliefs.get(&id));
        let result = promote(&promotion, source, &self.active_memories()?);
        let seat = self.dispatched(&mut w, judged, yes, authorization)?;
        track.attempt(&mut w, AttemptStatus::Executing, "dispatched")?;
        track.attempt(&mut w, AttemptStatus::Observing, "observed")?;
        let (code, error) = match result {
            Ok(record) => {
                for body in promoted(record) {
                    w.push(body);
                }
                (ResultCode::Succeeded, None)
            }
            // Not lost: it may stay a belief, and the model is told why (HK-6.3-1).
            Err(degraded) => (ResultCode::Failed, Some(degraded.to_string())),
        };
        let outcome = self.memory_outcome(judged, code, error, w.now);
        let told = json!({ "result_code": code.as_str(), "summary": summary_of(&judged.request, &outcome), "claim": claim });
        let new = NewArtifact::audit(ArtifactKind::MemoryPromotion)
            .from(evidence_refs.iter().map(|e| e.artifact_id));
        let at = w.object(&told, new)?;
        w.push(EffectObserved {
            action_request_id: judged.request.action_request_id,
            result: at.clone(),
            result_code: code,
            sandbox_level: SandboxLevel::NotApplicable,
            recovered: false,
        });
        track.attempt(&mut w, AttemptStatus::ReceiptPending, "observed")?;
        let receipt = self.effect_receipt(state, &w, &judged.request, &outcome, &[], &at)?;
        if self.issue(&mut w, receipt, Some(judged.request.action_request_id))? {
            self.end_turn(state, &mut w, &mut track, &at, outcome.error)?;
        } else {
            return Err(Error::KeyLocked("receipt"));
        }
        self.commit(w, Some(state))?;
        seat.moved();
        Ok(())
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
        let mut guard = lock(&cell.state);
        let state = &mut *guard;
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.writeup(Point::KnowledgeChange, state, actor);
        w.push(body);
        self.commit(w, Some(state))?;
        Ok(task_id)
    }

    /// Memory records that are held.
    pub(crate) fn active_memories(&self) -> Result<Vec<MemoryRecord>, Error> {
        self.memories(Some(MemoryStatus::Active))
    }
}
