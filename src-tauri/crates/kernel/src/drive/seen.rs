//! What an attempt has seen and was given, as the context compiler takes it: results in plain lines, not in the JSON they
//! are kept in.

use crate::Error;
use crate::kernel::Kernel;
use crate::state::{AttemptState, TaskState};
use knowledge::Material;
use model::artifact::{Artifact, ArtifactClass, TrustTier};
use model::limits::MATERIAL_BYTES_MAX;
use std::collections::BTreeSet;
use std::io::Read as _;

impl Kernel {
    pub(super) fn materials(
        &self,
        state: &TaskState,
        attempt: &AttemptState,
    ) -> Result<Vec<Material>, Error> {
        let mut materials = Vec::new();
        let summed_up = attempt.compacted.as_ref().map_or(0, |compacted| compacted.results);
        for seen in attempt.observed.iter().skip(summed_up) {
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
        self.given(state, &mut materials)?;
        self.earlier_answers(state, attempt, &mut materials)?;
        Ok(materials)
    }

    /// What the task was given with words. What comes with words that wait for their turn waits with them; the same file that
    /// came twice is told once.
    fn given(&self, state: &TaskState, materials: &mut Vec<Material>) -> Result<(), Error> {
        let waits: Vec<_> = state.queued.iter().flat_map(|input| input.encloses.iter().copied()).collect();
        let mut told = BTreeSet::new();
        for artifact in state.artifacts.values().filter(|a| a.class == ArtifactClass::Source) {
            let about = artifact.task_local_alias.as_ref().and_then(|a| a.shown().cloned());
            let Some(title) = about.filter(|_| !waits.contains(&artifact.artifact_id)) else { continue };
            if !told.insert((title.clone(), artifact.content_hash)) {
                continue;
            }
            materials.push(Material {
                artifact_id: artifact.artifact_id,
                kind: artifact.kind,
                title,
                text: self.given_text(artifact)?,
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

    /// The text of what was given, as far as it is a text and is looked at.
    fn given_text(&self, artifact: &Artifact) -> Result<String, Error> {
        let mut bytes = Vec::new();
        let read = match self.artifacts.content(&artifact.content_hash) {
            Ok(mut content) => (&mut content).take(MATERIAL_BYTES_MAX).read_to_end(&mut bytes),
            Err(error) => return self.gone(error),
        };
        if let Err(error) = read {
            tracing::warn!(%error, "a file that came with words cannot be read");
            return Ok("(damaged)".to_owned());
        }
        let size = artifact.byte_size;
        let is_cut = size > bytes.len() as u64;
        let is_text = match std::str::from_utf8(&bytes) {
            Ok(_) => true,
            Err(error) => is_cut && error.error_len().is_none(),
        };
        if !is_text || bytes.contains(&0) {
            let media = &artifact.media_type;
            return Ok(format!("({media}, {size} bytes: it is no text, and what it shows is not told here)"));
        }
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if is_cut {
            text.push_str(&format!("\n[… of {size} bytes, {} are looked at …]", bytes.len()));
        }
        Ok(text)
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
}

/// Words that a task has heard, with what came with them.
pub(super) fn deltas(state: &TaskState) -> Vec<knowledge::Delta> {
    state
        .absorbed
        .iter()
        .chain(&state.inputs)
        .zip(0_u64..)
        .map(|(input, order)| knowledge::Delta {
            ingress_id: input.ingress_id,
            text: input.text.clone(),
            encloses: input.encloses.clone(),
            trust_tier: input.trust_tier,
            order,
        })
        .collect()
}

/// The weakest trust of all that an attempt has seen and heard by now: taint outlives the source's place in the pack.
pub(crate) fn weakest_seen(state: &TaskState, attempt: &AttemptState) -> TrustTier {
    let seen = attempt.observed.iter().filter_map(|o| state.artifacts.get(&o.artifact.artifact_id));
    let sources = state.artifacts.values().filter(|a| a.class == ArtifactClass::Source);
    let answers = state.earlier_answers(attempt).filter_map(|(_, at)| state.artifacts.get(&at.artifact_id));
    let skills = attempt.skill_texts.iter().filter_map(|at| state.artifacts.get(&at.artifact_id));
    let read = seen.chain(sources).chain(answers).chain(skills).map(|a| a.trust_tier);
    let said = state.absorbed.iter().map(|input| input.trust_tier).chain([state.goal_tier()]);
    let tainted = read.chain(said).any(|tier| tier == TrustTier::Untrusted);
    if tainted { TrustTier::Untrusted } else { TrustTier::Observed }
}
