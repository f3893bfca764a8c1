//! What a model names as evidence: what its run has looked at, by path or by artifact, and how far that is to be trusted.

use super::Unfit;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::{AttemptState, TaskState};
use knowledge::trust;
use model::artifact::{Artifact, EvidenceRef, Selector, TrustTier};
use model::{ArtifactId, RelPath};
use std::collections::BTreeSet;

/// Letters of the words for a source.
const SOURCE_CHARS_MAX: usize = 300;

/// Evidence named by the model: artifact identifiers of this task, or paths that this run has read, in the spelling of listings
/// or plain.
pub(crate) fn evidence_refs(
    kernel: &Kernel,
    state: &TaskState,
    named: &[String],
) -> Result<Result<Vec<EvidenceRef>, Unfit>, Error> {
    if named.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let mut refs = Vec::new();
    let looks = looks(kernel, state)?;
    let seen = state.attempt().map(AttemptState::seen).unwrap_or_default();
    let own: BTreeSet<_> = seen.iter().map(|look| look.artifact.artifact_id).collect();
    for name in named {
        let id: Option<ArtifactId> = name.parse().ok();
        let known = id.and_then(|id| state.artifacts.get(&id));
        let latest = || {
            let path = acts::as_written(name).ok()?;
            let mut newest = looks.iter().rev();
            newest.find(|(id, paths)| own.contains(id) && paths.contains(&path)).map(|(id, _)| *id)
        };
        let Some(artifact) = known.or_else(|| latest().and_then(|id| state.artifacts.get(&id))) else {
            return Ok(Err(Unfit(format!(
                "`{name}` is no evidence this run has seen; name a path you have read"
            ))));
        };
        let trust_tier = weakest_look(state, &looks, artifact);
        refs.push(EvidenceRef {
            artifact_id: artifact.artifact_id,
            selector: Selector::Whole,
            excerpt_hash: artifact.content_hash,
            capture_method: "observed by executor".to_owned(),
            confidence: if trust_tier == TrustTier::Untrusted { 500 } else { 900 },
            trust_tier,
        });
    }
    Ok(Ok(refs))
}

/// What each piece of evidence is, in words for a person: the path by which it was `named`, else what was asked for or called.
pub(crate) fn sources_of(state: &TaskState, named: &[String], evidence: &[EvidenceRef]) -> Vec<String> {
    let words = |(name, one): (&String, &EvidenceRef)| {
        // One look may be at many things: of those, this one was named.
        let path = || Some(format!("{}, as it was seen", acts::visible_path(&acts::as_written(name).ok()?)));
        let source = match name.parse::<ArtifactId>() {
            Ok(id) => about(state, id),
            Err(_) => path().unwrap_or_else(|| about(state, one.artifact_id)),
        };
        let short: String = source.chars().take(SOURCE_CHARS_MAX).collect();
        if short.len() < source.len() { format!("{short}…") } else { short }
    };
    named.iter().zip(evidence).map(words).collect()
}

/// What an artifact is of: the look, request or call that it came of, else its own name or kind.
fn about(state: &TaskState, id: ArtifactId) -> String {
    let seen = state.attempts.values().flat_map(|attempt| &attempt.observed);
    let mut looks = seen.filter(|look| look.artifact.artifact_id == id);
    let about = looks.next().map(|look| look.about.clone()).filter(|about| !about.is_empty());
    let kept = || {
        let artifact = state.artifacts.get(&id)?;
        let alias = artifact.task_local_alias.as_ref().and_then(|alias| alias.shown().cloned());
        Some(alias.unwrap_or_else(|| artifact.kind.as_str().replace('_', " ")))
    };
    about.or_else(kept).unwrap_or_else(|| "not known any more".to_owned())
}

/// What the task has looked at in any of its attempts, oldest first, with the paths that each look names.
fn looks(kernel: &Kernel, state: &TaskState) -> Result<Vec<(ArtifactId, BTreeSet<RelPath>)>, Error> {
    let mut looks = Vec::new();
    for look in state.attempts.values().flat_map(|attempt| &attempt.observed) {
        let bytes = match kernel.artifacts.read(&look.artifact.sha256) {
            Ok(bytes) => bytes,
            // What was erased names no path, and stops no other evidence.
            Err(artifacts::Error::Missing { digest }) if kernel.reader.is_content_erased(&digest)? => {
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        // What is no such list names no path.
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let results = value.get("results").and_then(|results| results.as_array());
        let paths = results.into_iter().flatten().filter_map(|one| one.get("path")?.as_str()?.parse().ok());
        looks.push((look.artifact.artifact_id, paths.collect()));
    }
    Ok(looks)
}

/// The trust of what was looked at: the lowest of all looks at any of its paths. Who has read what a file says knows more of it
/// than its digest, whatever is named as evidence.
fn weakest_look(state: &TaskState, looks: &[(ArtifactId, BTreeSet<RelPath>)], of: &Artifact) -> TrustTier {
    let paths = looks.iter().find(|(id, _)| *id == of.artifact_id).map(|(_, paths)| paths);
    let same = looks.iter().filter(|(_, others)| paths.is_some_and(|paths| !paths.is_disjoint(others)));
    let tiers = same.filter_map(|(id, _)| state.artifacts.get(id)).map(|artifact| artifact.trust_tier);
    tiers.fold(of.trust_tier, trust::weaker)
}
