//! What an attempt has seen and was given, as the context compiler takes it: results in plain lines, not in the JSON they
//! are kept in.

use crate::Error;
use crate::kernel::Kernel;
use crate::state::{AttemptState, TaskState};
use knowledge::Material;
use model::artifact::{ArtifactClass, ArtifactKind, Sensitivity, TrustTier};
use model::receipt::ReceiptClass;
use std::sync::TryLockError;

/// Receipts of the task before this one that are told, the newest.
const RECEIPTS_BEFORE: usize = 12;

impl Kernel {
    pub(super) fn materials(
        &self,
        state: &TaskState,
        attempt: &AttemptState,
    ) -> Result<Vec<Material>, Error> {
        let mut materials = Vec::new();
        for seen in &attempt.observed {
            let Some(artifact) = state.artifacts.get(&seen.artifact.artifact_id) else { continue };
            let bytes = self.artifacts.read(&artifact.content_hash)?;
            let content = String::from_utf8_lossy(&bytes);
            for told in reasoning::result_text::told(&seen.tool, &seen.about, &content) {
                materials.push(Material {
                    artifact_id: artifact.artifact_id,
                    kind: artifact.kind,
                    title: told.title,
                    text: told.text,
                    trust_tier: artifact.trust_tier,
                    sensitivity: artifact.sensitivity_class,
                    order: materials.len() as u64,
                    pinned: false,
                    rest: told.rest,
                    act: told.act,
                });
            }
        }
        for artifact in state.artifacts.values().filter(|a| a.class == ArtifactClass::Source) {
            let about = artifact.task_local_alias.as_ref().and_then(|a| a.shown().cloned());
            let Some(title) = about else { continue };
            let bytes = self.artifacts.read(&artifact.content_hash)?;
            materials.push(Material {
                artifact_id: artifact.artifact_id,
                kind: artifact.kind,
                title,
                text: String::from_utf8_lossy(&bytes).into_owned(),
                trust_tier: artifact.trust_tier,
                sensitivity: artifact.sensitivity_class,
                order: 0,
                pinned: true,
                rest: "",
                act: None,
            });
        }
        self.earlier_answers(state, attempt, &mut materials)?;
        self.task_before(state, &mut materials)?;
        Ok(materials)
    }

    /// What the steps before this one ended with. A model said it, so it is believed as little as anything it read.
    fn earlier_answers(
        &self,
        state: &TaskState,
        attempt: &AttemptState,
        materials: &mut Vec<Material>,
    ) -> Result<(), Error> {
        for (earlier, at) in state.earlier_answers(attempt) {
            let Some(artifact) = state.artifacts.get(&at.artifact_id) else { continue };
            let step = state.steps.get(&earlier.attempt.step_id).and_then(|s| s.title.shown());
            materials.push(Material {
                artifact_id: artifact.artifact_id,
                kind: artifact.kind,
                title: format!("result of the earlier step {}", step.map_or("", String::as_str)),
                text: String::from_utf8_lossy(&self.artifacts.read(&artifact.content_hash)?).into_owned(),
                trust_tier: artifact.trust_tier,
                sensitivity: artifact.sensitivity_class,
                order: 0,
                pinned: true,
                rest: "",
                act: None,
            });
        }
        Ok(())
    }

    /// What a task that follows another knows of it: what was asked, how it ended, what was done with receipts, and its last
    /// words, which a model said and nobody has verified (HK-8.1.1-8).
    fn task_before(&self, state: &TaskState, materials: &mut Vec<Material>) -> Result<(), Error> {
        let Some(anchor) = &state.task.continuation_anchor else { return Ok(()) };
        let cell = self.cell(anchor.anchor_task_id)?;
        // Whoever is at it has it locked; then it is read once more instead of waited for.
        let (own, shared);
        let before: &TaskState = match cell.state.try_lock() {
            Ok(held) if !cell.stale.load(std::sync::atomic::Ordering::SeqCst) => {
                shared = held;
                &shared
            }
            Ok(_) | Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => {
                own = self.load(anchor.anchor_task_id)?;
                &own
            }
        };
        let ended = anchor.outcome_summary.shown().map_or("", String::as_str);
        let mut text =
            format!("It was asked: {}\nIt ended: {}, {ended}\n", before.goal_text(), anchor.outcome_status);
        let acts = before
            .receipts
            .iter()
            .filter(|r| r.receipt_class != ReceiptClass::ApprovalResolution && r.action_class.is_important());
        let acts: Vec<_> = acts.collect();
        for receipt in acts.iter().skip(acts.len().saturating_sub(RECEIPTS_BEFORE)) {
            let (_, told) = self.receipt(receipt.receipt_id)?;
            let did = told.result_summary.shown().map_or("(erased)", String::as_str);
            text.push_str(&format!("Done, with a receipt: {did} ({})\n", receipt.result_code));
        }
        let answer = before.attempt().and_then(AttemptState::final_answer);
        let answer = answer.and_then(|at| before.artifacts.get(&at.artifact_id));
        if let Some(answer) = answer {
            let words = self.artifacts.read(&answer.content_hash)?;
            text.push_str(&format!("Its last words, not verified: {}", String::from_utf8_lossy(&words)));
        }
        materials.push(Material {
            artifact_id: answer.map_or(before.task.task_contract_ref, |answer| answer.artifact_id),
            kind: ArtifactKind::Answer,
            title: "the task before this one, which this one follows".to_owned(),
            text,
            trust_tier: TrustTier::Untrusted,
            sensitivity: answer.map_or(Sensitivity::Private, |answer| answer.sensitivity_class),
            order: 0,
            pinned: true,
            rest: "",
            act: None,
        });
        Ok(())
    }
}
