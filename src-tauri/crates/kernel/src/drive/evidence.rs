//! What a model names as evidence: what its run has looked at, by path, by lines of it or by artifact, and how far that is to be
//! trusted.

use super::Unfit;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::{AttemptState, TaskState};
use knowledge::trust;
use model::artifact::{Artifact, EvidenceRef, Selector, TrustTier};
use model::{ArtifactId, Digest, RelPath};
use std::collections::{BTreeMap, BTreeSet};

/// How what was taken out of a text begins, however many lines it had.
const REDACTED: [&str; 2] = ["[redacted:", "[secret:"];

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

/// Lines of a file, from the first to the last.
type Lines = (u64, u64);

/// The path and the lines that a name such as `notes.md:3-5` or `notes.md:3` has; none where it names no lines.
fn with_lines(name: &str) -> Option<(&str, Lines)> {
    let (path, lines) = name.rsplit_once(':')?;
    let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let number = |text: &str| text.parse::<u64>().ok().filter(|line| *line > 0 && is_number(text));
    Some((path, (number(start)?, number(end)?))).filter(|(_, (start, end))| start <= end)
}

/// Evidence named by the model: artifact identifiers of this task, or paths that this run has read, in the spelling of listings
/// or plain, also with the lines of them that are meant.
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
        let (artifact, selector, excerpt_hash) = match (known.or_else(latest), with_lines(name)) {
            (Some((artifact, place)), _) => {
                let (selector, excerpt_hash) = match place {
                    Some(place) => part(kernel, artifact, place)?,
                    None => (Selector::Whole, artifact.content_hash),
                };
                (artifact, selector, excerpt_hash)
            }
            (None, Some((path, lines))) => {
                let mut newest = looks.iter().rev().filter(|look| own.contains(&look.artifact_id));
                match lines_of(kernel, state, &mut newest, path, lines)? {
                    Some(found) => found,
                    None => {
                        return Ok(Err(Unfit(format!(
                            "`{name}` names lines that this run has not read as text; read them first, or name the path alone"
                        ))));
                    }
                }
            }
            (None, None) => {
                return Ok(Err(Unfit(format!(
                    "`{name}` is no evidence this run has seen; name a path you have read"
                ))));
            }
        };
        let trust_tier = weakest_look(state, &looks, artifact);
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

/// Lines of a file, from the newest of these looks that gives all of them, and the digest of their bytes.
fn lines_of<'s>(
    kernel: &Kernel,
    state: &'s TaskState,
    newest: &mut dyn Iterator<Item = &Look>,
    path: &str,
    (start, end): Lines,
) -> Result<Option<(&'s Artifact, Selector, Digest)>, Error> {
    let Ok(path) = acts::as_written(path) else { return Ok(None) };
    for look in newest {
        let (Some(places), Some(artifact)) = (look.places.get(&path), state.artifacts.get(&look.artifact_id))
        else {
            continue;
        };
        let bytes = kernel.artifacts.read(&artifact.content_hash)?;
        let whole: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        for place in places.iter().rev() {
            let pointer = format!("/results/{place}");
            if let Some(text) = whole.pointer(&pointer).and_then(|one| lines_in(one, (start, end))) {
                let selector = Selector::Lines { start, end, of: Some(pointer) };
                return Ok(Some((artifact, selector, Digest::of(text.as_bytes()))));
            }
        }
    }
    Ok(None)
}

/// The text of these lines, where one result of a look gives all of them. A text that was cut may end inside a line, and where
/// something was taken out of it, nobody can count them as in the file.
fn lines_in(one: &serde_json::Value, (start, end): Lines) -> Option<String> {
    let first = one.get("from").and_then(serde_json::Value::as_u64).unwrap_or(1);
    let mut lines: Vec<&str> = one.get("text")?.as_str()?.split_inclusive('\n').collect();
    if one.get("cut").and_then(serde_json::Value::as_bool) == Some(true) {
        lines.pop();
    }
    let place = |line: u64| usize::try_from(line.checked_sub(first)?).ok();
    let before = lines.get(..=place(end)?)?;
    if before.iter().any(|line| REDACTED.iter().any(|mark| line.contains(mark))) {
        return None;
    }
    Some(before.get(place(start)?..)?.concat())
}

/// What each piece of evidence is, in words for a person: the path by which it was `named`, else what was asked for or called.
pub(crate) fn sources_of(state: &TaskState, named: &[String], evidence: &[EvidenceRef]) -> Vec<String> {
    let words = |(name, one): (&String, &EvidenceRef)| {
        // One look may be at many things: of those, this one was named.
        let path = || {
            let (file, which) = match (&one.selector, with_lines(name)) {
                (Selector::Lines { start, end, .. }, Some((file, _))) if start == end => {
                    (file, format!(", line {start}"))
                }
                (Selector::Lines { start, end, .. }, Some((file, _))) => {
                    (file, format!(", lines {start} to {end}"))
                }
                _ => (name.as_str(), String::new()),
            };
            Some(format!("{}{which}, as it was seen", acts::visible_path(&acts::as_written(file).ok()?)))
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_are_given_where_all_of_them_were_seen_and_can_be_counted() {
        let whole = json!({ "text": "a\nb\nc" });
        assert_eq!(lines_in(&whole, (2, 3)).as_deref(), Some("b\nc"));
        assert_eq!(lines_in(&whole, (3, 4)), None, "it has three");
        let part = json!({ "text": "c\nd\n", "from": 3 });
        assert_eq!(lines_in(&part, (4, 4)).as_deref(), Some("d\n"));
        assert_eq!(lines_in(&part, (2, 3)), None, "the second was not seen");
        let cut = json!({ "text": "a\nb", "cut": true });
        assert_eq!((lines_in(&cut, (1, 1)).as_deref(), lines_in(&cut, (2, 2))), (Some("a\n"), None));
        let taken = json!({ "text": "a\n[redacted: private key]\nlast\n" });
        assert_eq!((lines_in(&taken, (1, 1)).as_deref(), lines_in(&taken, (3, 3))), (Some("a\n"), None));
        assert_eq!(lines_in(&json!({ "base64": "AA==" }), (1, 1)), None);
        let of_windows = json!({ "text": "a\r\nb\r\n" });
        assert_eq!(lines_in(&of_windows, (2, 2)).as_deref(), Some("b\r\n"), "with its own end");
        assert_eq!(lines_in(&of_windows, (3, 3)), None, "behind the last end is no line");
        assert_eq!(lines_in(&json!({ "text": "" }), (1, 1)), None);
        assert_eq!(lines_in(&whole, (1, u64::MAX)), None);
    }

    #[test]
    fn a_name_has_lines_only_where_they_are_numbers_in_order() {
        assert_eq!(with_lines("notes.md:3-5"), Some(("notes.md", (3, 5))));
        assert_eq!(with_lines("a:b.md:7"), Some(("a:b.md", (7, 7))));
        for name in [
            "notes.md",
            "notes.md:0",
            "notes.md:5-3",
            "notes.md:-3",
            "notes.md:3-",
            "notes.md:+3",
            "notes.md:x",
        ] {
            assert_eq!(with_lines(name), None, "{name}");
        }
    }
}
