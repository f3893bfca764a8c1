//! What a look into a secret brought is found by no words, whoever repeats it: its values are taken out of what the task says
//! from then on, before that is indexed.

use super::{Seen, text};
use crate::Error;
use model::ArtifactId;
use model::artifact::{Artifact, ArtifactKind, Sensitivity};
use model::limits::INLINE_ARTIFACT_BYTES_MAX;
use rusqlite::{OptionalExtension, params};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Bytes of a value. A shorter one could not be told from ordinary words.
const VALUE_BYTES: RangeInclusive<usize> = 8..=1024;
/// Values of one look. Where there are more, none is kept, and no more words of the task are indexed.
const VALUES_MAX: usize = 256;
/// Signs of one line behind which a value may stand.
const SIGNS_MAX: usize = 16;
/// JSON texts within JSON texts that are looked into.
const DEPTH_MAX: usize = 4;
/// Members that hold what stood there, so that a whole line of them is a value too.
const CONTENT: [&str; 5] = ["text", "stdout", "stderr", "body", "answer"];

const KEEP: &str = "INSERT OR IGNORE INTO view_withheld (task_id, value, artifact_id) VALUES (?1, ?2, ?3)";

/// Keeps the values of what an act brought that was allowed to look into a secret.
pub(super) fn keep(seen: &Seen<'_>, artifact: &Artifact) -> Result<(), Error> {
    if artifact.sensitivity_class != Sensitivity::Secret || !is_brought(artifact.kind) {
        return Ok(());
    }
    let bytes = content(seen, artifact)?;
    let found = bytes.map(|bytes| values(&bytes)).filter(|found| found.len() <= VALUES_MAX);
    // What cannot be read is not known, so nothing can be taken out.
    let found = found.unwrap_or_else(|| BTreeSet::from([String::new()]));
    let (task, artifact) = (text(seen.event.task_id), text(artifact.artifact_id));
    for value in found {
        seen.run(KEEP, params![task, value, artifact])?;
    }
    Ok(())
}

/// Forgets the values of what is no longer kept. From then on no more words of its task are indexed.
pub(super) fn forget(seen: &Seen<'_>, artifact: ArtifactId) -> Result<(), Error> {
    let artifact = text(artifact);
    let statement = "SELECT task_id FROM view_withheld WHERE artifact_id = ?1 LIMIT 1";
    let task: Option<String> =
        seen.conn.prepare_cached(statement)?.query_row([&artifact], |row| row.get(0)).optional()?;
    if let Some(task) = task {
        seen.run("DELETE FROM view_withheld WHERE artifact_id = ?1", [&artifact])?;
        seen.run(KEEP, params![task, "", artifact])?;
    }
    Ok(())
}

/// Words of an event as they may be indexed; none at all where it is not known what has to be taken out.
pub(super) fn without(seen: &Seen<'_>, mut words: String) -> Result<String, Error> {
    let statement = "SELECT value FROM view_withheld WHERE task_id = ?1 ORDER BY length(value) DESC";
    let mut found = seen.conn.prepare_cached(statement)?;
    let mut rows = found.query([text(seen.event.task_id)])?;
    while let Some(row) = rows.next()? {
        let value: String = row.get(0)?;
        if value.is_empty() {
            return Ok(String::new());
        }
        if words.contains(&value) {
            words = words.replace(&value, " ");
        }
    }
    Ok(words)
}

/// Kinds of artifact in which a model is told what an act brought.
const fn is_brought(kind: ArtifactKind) -> bool {
    matches!(
        kind,
        ArtifactKind::ActionResult
            | ArtifactKind::SearchBundle
            | ArtifactKind::CommandTranscript
            | ArtifactKind::WebSnapshot
    )
}

/// Its bytes, where they are committed together with the event that makes it and are still there.
fn content(seen: &Seen<'_>, artifact: &Artifact) -> Result<Option<Vec<u8>>, Error> {
    if usize::try_from(artifact.byte_size).is_ok_and(|bytes| bytes > INLINE_ARTIFACT_BYTES_MAX) {
        return Ok(None);
    }
    let statement = "SELECT bytes FROM blobs WHERE digest = ?1";
    let mut found = seen.conn.prepare_cached(statement)?;
    Ok(found.query_row([artifact.content_hash.0], |row| row.get(0)).optional()?)
}

/// What stands behind a sign that assigns, and what is a line of its own.
fn values(bytes: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => of_value(&value, false, DEPTH_MAX, &mut found),
        Err(_) => of_text(&String::from_utf8_lossy(bytes), true, &mut found),
    }
    found
}

fn of_value(value: &Value, whole_lines: bool, depth: usize, found: &mut BTreeSet<String>) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => match within(text, depth) {
            Some((inside, depth)) => of_value(&inside, false, depth, found),
            None => of_text(text, whole_lines, found),
        },
        Value::Array(items) => items.iter().for_each(|item| of_value(item, whole_lines, depth, found)),
        Value::Object(members) => {
            for (name, member) in members {
                of_value(member, CONTENT.contains(&name.as_str()), depth, found);
            }
        }
    }
}

/// The JSON that a text of JSON is, and how many texts more are looked into.
fn within(text: &str, depth: usize) -> Option<(Value, usize)> {
    let left = depth.checked_sub(1).filter(|_| text.starts_with(['{', '[']))?;
    Some((serde_json::from_str(text).ok()?, left))
}

fn of_text(text: &str, whole_lines: bool, found: &mut BTreeSet<String>) {
    let mut take = |part: &str| {
        let value = part.trim().trim_matches(['"', '\'', ',', ';']);
        if VALUE_BYTES.contains(&value.len()) {
            found.insert(value.to_owned());
        }
    };
    for line in text.lines() {
        if whole_lines {
            take(line);
        }
        for (at, sign) in line.match_indices(['=', ':']).take(SIGNS_MAX) {
            let behind = line.get(at.saturating_add(sign.len())..).unwrap_or_default();
            take(behind);
            take(behind.split_whitespace().next().unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Vec<String> {
        values(bytes).into_iter().collect()
    }

    #[test]
    fn a_value_stands_behind_a_sign_or_alone_in_a_line_of_what_was_read() {
        let read = br#"{"op":"read a thing","result_code":"succeeded","text":"PET=flamingo # a bird\nA='quoted bird'\n"}"#;
        assert_eq!(
            of(read),
            ["A='quoted bird", "PET=flamingo # a bird", "flamingo", "flamingo # a bird", "quoted bird"]
        );
        let hit = br#"{"matches":[{"line":1,"text":"key: kestrel-42"}],"op":"a search"}"#;
        assert_eq!(of(hit), ["kestrel-42", "key: kestrel-42"]);
        let transcript =
            br#"{"transcript":"{\"argv\":[\"cat\",\"a long name\"],\"stdout\":\"MIIEvQIBADAN\\n\"}"}"#;
        assert_eq!(of(transcript), ["MIIEvQIBADAN"]);
        assert_eq!(of(b"no JSON here\n"), ["no JSON here"]);
        assert_eq!(of(br#"{"text":"a=short\n"}"#), Vec::<String>::new());
    }
}
