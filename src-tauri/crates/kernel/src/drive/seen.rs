//! What an attempt has seen and was given, as the context compiler takes it: results in plain lines, not in the JSON they
//! are kept in.

use crate::Error;
use crate::command::enclose::is_given;
use crate::kernel::Kernel;
use crate::state::{AttemptState, TaskState};
use knowledge::Material;
use model::ArtifactId;
use model::artifact::{Artifact, ArtifactClass, Sensitivity, TrustTier};
use model::limits::{GIVEN_BYTES_MAX, MATERIAL_BYTES_MAX};
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
        for (seen, number) in attempt.observed.iter().zip(1..).skip(summed_up) {
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
                    // Of a secret, too: that it may be looked at was allowed for exactly this.
                    sensitivity: Sensitivity::Private,
                    order: materials.len() as u64,
                    pinned: false,
                    rest: told.rest,
                    act: told.act,
                    pictures: Vec::new(),
                    unseen: Vec::new(),
                    number: Some(number),
                });
            }
        }
        self.given(state, &mut materials)?;
        self.earlier_answers(state, attempt, &mut materials)?;
        Ok(materials)
    }

    /// What the task was given with words, the newest looked at first: what is looked at of all of it is bounded.
    fn given(&self, state: &TaskState, materials: &mut Vec<Material>) -> Result<(), Error> {
        let mut left = GIVEN_BYTES_MAX;
        let mut given = Vec::new();
        for (number, artifact, title) in told_once(state).into_iter().rev() {
            given.push(Material {
                artifact_id: artifact.artifact_id,
                kind: artifact.kind,
                title,
                text: self.given_text(artifact, &mut left)?,
                trust_tier: artifact.trust_tier,
                sensitivity: artifact.sensitivity_class,
                order: 0,
                pinned: true,
                rest: "",
                act: None,
                pictures: Vec::new(),
                unseen: Vec::new(),
                number: Some(number),
            });
        }
        materials.extend(given.into_iter().rev());
        Ok(())
    }

    /// The text of what was given, as far as it is a text and is looked at. What is read is taken from what is left to read.
    fn given_text(&self, artifact: &Artifact, left: &mut u64) -> Result<String, Error> {
        let (media, size) = (&artifact.media_type, artifact.byte_size);
        let limit = MATERIAL_BYTES_MAX.min(*left);
        if limit == 0 && size > 0 {
            return Ok(format!(
                "({media}, {size} bytes: not looked at, for what came later with words has the {GIVEN_BYTES_MAX} bytes that \
                 are looked at in one turn)"
            ));
        }
        let mut bytes = Vec::new();
        let mut content = match self.artifacts.content(&artifact.content_hash) {
            Ok(content) => content,
            Err(error) => return self.gone(error),
        };
        // The beginning tells what is no text, and then the rest is not read.
        let mut read = (&mut content).take(limit.min(BEGINNING_BYTES)).read_to_end(&mut bytes);
        if read.is_ok() && text_of(&bytes, true).is_some() {
            let rest = limit.saturating_sub(bytes.len() as u64);
            read = (&mut content).take(rest).read_to_end(&mut bytes);
        }
        let looked_at = bytes.len() as u64;
        *left = left.saturating_sub(looked_at);
        if let Err(error) = read {
            tracing::warn!(%error, "a file that came with words cannot be read");
            return Ok("(damaged)".to_owned());
        }
        let is_cut = size > looked_at;
        let Some(text) = text_of(&bytes, is_cut) else {
            return Ok(format!("({media}, {size} bytes: it is no text, and what it shows is not told here)"));
        };
        match is_cut {
            true => Ok(format!("{text}\n[… of {size} bytes, {looked_at} are looked at …]")),
            false => Ok(text.to_owned()),
        }
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
                pictures: Vec::new(),
                unseen: Vec::new(),
                number: None,
            });
        }
        Ok(())
    }
}

/// So much of the beginning of a file tells whether it is a text.
const BEGINNING_BYTES: u64 = 8 * 1024;

/// Bytes as a text, without a character that the cut goes through; none for what is no text.
fn text_of(bytes: &[u8], is_cut: bool) -> Option<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if is_cut && error.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    (!text.contains('\0')).then_some(text)
}

/// The number of the first thing that a task was given, by which a closing answer cites it: results have those from 1, and
/// neither changes the other's.
const GIVEN_FROM: u32 = 9_001;

/// What a task was given with words and is told by now, in order, with its number and its name. What comes with words that wait
/// for their turn waits with them; the same file that came twice is told once, as the first.
pub(super) fn told_once(state: &TaskState) -> Vec<(u32, &Artifact, String)> {
    let waits: BTreeSet<_> = state.queued.iter().flat_map(|input| input.encloses.iter().copied()).collect();
    let mut told = BTreeSet::new();
    // Its place among all of them stays, whatever comes later or is erased.
    let numbered = (GIVEN_FROM..).zip(state.artifacts.values().filter(|a| is_given(a)));
    let told_by_now = numbered.filter(|(_, a)| !waits.contains(&a.artifact_id));
    let named = told_by_now.filter_map(|(number, a)| Some((number, a, name_of(a)?)));
    named.filter(|(_, a, name)| told.insert((name.clone(), a.content_hash))).collect()
}

fn name_of(artifact: &Artifact) -> Option<String> {
    artifact.task_local_alias.as_ref().and_then(|name| name.shown().cloned())
}

/// Words that a task has heard, with what came with them.
pub(super) fn deltas(state: &TaskState) -> Vec<knowledge::Delta> {
    let told = told_once(state);
    // What came twice stands in the context as the first of it.
    let told_as = |id: ArtifactId| {
        let came = state.artifacts.get(&id)?;
        let name = name_of(came)?;
        let first = told.iter().find(|(_, a, known)| a.content_hash == came.content_hash && *known == name);
        first.map(|(_, a, _)| a.artifact_id)
    };
    state
        .absorbed
        .iter()
        .chain(&state.inputs)
        .zip(0_u64..)
        .map(|(input, order)| knowledge::Delta {
            ingress_id: input.ingress_id,
            text: input.text.clone(),
            encloses: input.encloses.iter().map(|id| told_as(*id).unwrap_or(*id)).collect(),
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
