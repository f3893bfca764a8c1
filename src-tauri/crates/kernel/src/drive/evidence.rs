//! What a model names as evidence: what its run has looked at, by path or by artifact, and how far that is to be trusted.

use super::Unfit;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::{AttemptState, TaskState};
use knowledge::trust;
use model::artifact::{Artifact, EvidenceRef, Selector, TrustTier};
use model::{ArtifactId, Digest, RelPath};
use std::collections::{BTreeMap, BTreeSet};

/// Letters of the words for a source.
const SOURCE_CHARS_MAX: usize = 300;

/// What a look has found, by the places of its results.
struct Look {
    artifact_id: ArtifactId,
    places: BTreeMap<RelPath, Vec<usize>>,
    results: usize,
}

impl Look {
    /// The one place where a path stands among several others.
    fn one_of_several(&self, path: &RelPath) -> Option<usize> {
        match self.places.get(path).map(Vec::as_slice) {
            Some([place]) if self.results > 1 => Some(*place),
            _ => None,
        }
    }
}

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
        let known = id.and_then(|id| state.artifacts.get(&id)).map(|artifact| (artifact, None));
        let latest = || {
            let path = acts::as_written(name).ok()?;
            let mut newest = looks.iter().rev();
            let look =
                newest.find(|look| own.contains(&look.artifact_id) && look.places.contains_key(&path))?;
            Some((state.artifacts.get(&look.artifact_id)?, look.one_of_several(&path)))
        };
        let Some((artifact, place)) = known.or_else(latest) else {
            return Ok(Err(Unfit(format!(
                "`{name}` is no evidence this run has seen; name a path you have read"
            ))));
        };
        let trust_tier = weakest_look(state, &looks, artifact);
        let (selector, excerpt_hash) = match place {
            Some(place) => part(kernel, artifact, place)?,
            None => (Selector::Whole, artifact.content_hash),
        };
        refs.push(EvidenceRef {
            artifact_id: artifact.artifact_id,
            selector,
            excerpt_hash,
            capture_method: "observed by executor".to_owned(),
            confidence: if trust_tier == TrustTier::Untrusted { 500 } else { 900 },
            trust_tier,
        });
    }
    Ok(Ok(refs))
}

/// One result of a look at several things, and the digest of its canonical form: a claim about one of ten files rests on that
/// file, and not on the nine that were read with it.
fn part(kernel: &Kernel, of: &Artifact, place: usize) -> Result<(Selector, Digest), Error> {
    let bytes = kernel.artifacts.read(&of.content_hash)?;
    let whole: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let pointer = format!("/results/{place}");
    // What has no canonical form, because of a number such as 0.5, is named with all that was seen beside it.
    let one = whole.pointer(&pointer).and_then(|one| seal::canon::canonical_value(one).ok());
    Ok(match one {
        Some(one) => (Selector::JsonPath { pointer }, Digest::of(&one)),
        None => (Selector::Whole, of.content_hash),
    })
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
fn looks(kernel: &Kernel, state: &TaskState) -> Result<Vec<Look>, Error> {
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
        let mut places: BTreeMap<RelPath, Vec<usize>> = BTreeMap::new();
        for (place, one) in results.into_iter().flatten().enumerate() {
            let path = one.get("path").and_then(|path| path.as_str()).and_then(|path| path.parse().ok());
            if let Some(path) = path {
                places.entry(path).or_default().push(place);
            }
        }
        let results = results.map_or(0, Vec::len);
        looks.push(Look { artifact_id: look.artifact.artifact_id, places, results });
    }
    Ok(looks)
}

/// The trust of what was looked at: the lowest of all looks at any of its paths. Who has read what a file says knows more of it
/// than its digest, whatever is named as evidence.
fn weakest_look(state: &TaskState, looks: &[Look], of: &Artifact) -> TrustTier {
    let own = looks.iter().find(|look| look.artifact_id == of.artifact_id);
    let is_at_one =
        |look: &&Look| own.is_some_and(|own| own.places.keys().any(|path| look.places.contains_key(path)));
    let same = looks.iter().filter(is_at_one);
    let tiers = same.filter_map(|look| state.artifacts.get(&look.artifact_id)).map(|a| a.trust_tier);
    tiers.fold(of.trust_tier, trust::weaker)
}
