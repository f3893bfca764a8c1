//! What a task that follows another is told of its predecessor (HK-8.1.1-8).

use crate::Error;
use crate::kernel::{Cell, Kernel, lock};
use crate::state::{AttemptState, TaskState};
use knowledge::Material;
use model::AttemptId;
use model::artifact::{ArtifactKind, Sensitivity, TrustTier};
use model::ingress::ContinuationAnchor;
use model::receipt::ReceiptClass;
use seal::Digest;
use std::sync::atomic::Ordering;

/// Receipts of the predecessor that are told, the newest.
const RECEIPTS_MAX: usize = 12;
/// Artifacts of the predecessor that are told.
const LEFT_MAX: usize = 16;

/// What was told of the predecessor, and in which attempt.
pub(crate) type Told = (AttemptId, Material);

impl Kernel {
    /// What a task that follows another knows of its predecessor: what was asked, how it ended, what was done with
    /// receipts, and its last words, which a model said and nobody has verified. It is read once for each attempt.
    pub(super) fn predecessor(&self, cell: &Cell, state: &TaskState) -> Result<Option<Material>, Error> {
        let (Some(anchor), Some(attempt)) = (&state.task.continuation_anchor, state.attempt()) else {
            return Ok(None);
        };
        let attempt_id = attempt.attempt.attempt_id;
        let mut told = lock(&cell.predecessor);
        match &*told {
            Some((of, material)) if *of == attempt_id => Ok(Some(material.clone())),
            _ => {
                let material = self.read_predecessor(anchor, state)?;
                *told = Some((attempt_id, material.clone()));
                Ok(Some(material))
            }
        }
    }

    /// Lets go of what tasks at work were told of their predecessors: it is read again, and what was erased is gone.
    pub(crate) fn forget_predecessors(&self) {
        let cells: Vec<_> = lock(&self.tasks).values().cloned().collect();
        for cell in cells {
            *lock(&cell.predecessor) = None;
        }
    }

    fn read_predecessor(&self, anchor: &ContinuationAnchor, state: &TaskState) -> Result<Material, Error> {
        let ended = anchor.outcome_summary.shown().map_or("(erased)", String::as_str);
        let ended = format!("It ended: {}, {ended}\n", anchor.outcome_status) + &because(anchor);
        let cell = match self.cell(anchor.anchor_task_id) {
            Ok(cell) => cell,
            // What a person severed from the log is told by nobody; how it ended is on record here.
            Err(Error::Severed { .. }) => {
                let text = format!("It was asked: (severed)\n{ended}");
                return Ok(material(state.task.task_contract_ref, Sensitivity::Private, text));
            }
            Err(error) => return Err(error),
        };
        // Whoever is at it has it locked; then it is read once more instead of waited for.
        let (own, shared);
        let before: &TaskState = match cell.state.try_lock() {
            Ok(held) if !cell.stale.load(Ordering::SeqCst) => {
                shared = held;
                &shared
            }
            _ => {
                own = self.load(anchor.anchor_task_id)?;
                &own
            }
        };
        let text = format!("It was asked: {}\n{ended}", before.goal_text())
            + &left(anchor, before)
            + &self.deeds_and_words(before)?;
        let answer = before.attempt().and_then(AttemptState::final_answer);
        let answer = answer.and_then(|at| before.artifacts.get(&at.artifact_id));
        let artifact_id = answer.map_or(before.task.task_contract_ref, |answer| answer.artifact_id);
        let sensitivity = answer.map_or(Sensitivity::Private, |answer| answer.sensitivity_class);
        Ok(material(artifact_id, sensitivity, text))
    }

    /// What a task has done, with receipts, and what it said last.
    pub(super) fn deeds_and_words(&self, before: &TaskState) -> Result<String, Error> {
        let mut text = String::new();
        let acts = before
            .receipts
            .iter()
            .filter(|r| r.receipt_class != ReceiptClass::ApprovalResolution && r.action_class.is_important());
        let acts: Vec<_> = acts.collect();
        for receipt in acts.iter().skip(acts.len().saturating_sub(RECEIPTS_MAX)) {
            let did = match self.receipt(receipt.receipt_id) {
                Ok((_, told)) => {
                    told.result_summary.shown().cloned().unwrap_or_else(|| "(erased)".to_owned())
                }
                Err(Error::Artifacts(error)) => self.gone(error)?,
                Err(error) => return Err(error),
            };
            text.push_str(&format!("Done, with a receipt: {did} ({})\n", receipt.result_code));
        }
        let answer = before.attempt().and_then(AttemptState::final_answer);
        let answer = answer.and_then(|at| before.artifacts.get(&at.artifact_id));
        if let Some(answer) = answer {
            let words = self.words_of(&answer.content_hash)?;
            text.push_str(&format!("Its last words, not verified: {words}"));
        }
        Ok(text)
    }

    pub(crate) fn words_of(&self, digest: &Digest) -> Result<String, Error> {
        match self.artifacts.read(digest) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => self.gone(error),
        }
    }

    /// Why content of an ended task is not told. What is lost there does not keep another task from its work.
    pub(super) fn gone(&self, error: artifacts::Error) -> Result<String, Error> {
        match &error {
            artifacts::Error::Missing { digest } if self.reader.is_content_erased(digest)? => {
                Ok("(erased)".to_owned())
            }
            artifacts::Error::Missing { .. } | artifacts::Error::Corrupt { .. } => {
                tracing::warn!(%error, "the predecessor of a task cannot be told whole");
                Ok("(damaged)".to_owned())
            }
            _ => Err(error.into()),
        }
    }
}

/// Why this task goes on from that one, in one line.
fn because(anchor: &ContinuationAnchor) -> String {
    let why = anchor.selection_reason.shown().map_or("(erased)", String::as_str);
    format!("This task goes on from it because: {}\n", why.lines().next().unwrap_or_default())
}

/// What it left and was given, by name and artifact: what a person or a receipt can be asked for.
fn left(anchor: &ContinuationAnchor, before: &TaskState) -> String {
    let known = anchor.source_artifact_refs.iter().filter_map(|id| before.artifacts.get(id));
    let lines = known.take(LEFT_MAX).map(|artifact| {
        let name = artifact.task_local_alias.as_ref().and_then(|name| name.shown().cloned());
        let name = name.unwrap_or_else(|| artifact.kind.to_string());
        let (id, bytes) = (artifact.artifact_id, artifact.byte_size);
        format!("It left: {}, {bytes} bytes, {id}\n", name.lines().next().unwrap_or_default())
    });
    lines.collect()
}

fn material(artifact_id: model::ArtifactId, sensitivity: Sensitivity, text: String) -> Material {
    Material {
        artifact_id,
        kind: ArtifactKind::Answer,
        title: "the task before this one, which this one follows".to_owned(),
        text,
        trust_tier: TrustTier::Untrusted,
        sensitivity,
        order: 0,
        pinned: true,
        rest: "",
        act: None,
        pictures: Vec::new(),
        unseen: Vec::new(),
        number: None,
    }
}
