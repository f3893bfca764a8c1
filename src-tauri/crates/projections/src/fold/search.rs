//! The search index: every readable leaf of every event, and the text of small artifacts that people look for.

use super::{Seen, text};
use model::artifact::{Artifact, ArtifactKind, Sensitivity};
use model::body::Body;
use model::limits::INLINE_ARTIFACT_BYTES_MAX;
use model::{Digest, Event};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

/// Documents one event may have: its row numbers are its place in the log times this, so that live and rebuilt
/// tables number alike.
const DOCS_MAX: i64 = 256;

/// The number of an artifact's own text, behind all leaves.
const CONTENT: i64 = DOCS_MAX - 1;

/// Bytes of an artifact's text that are indexed: enough to find it again.
const TEXT_BYTES_MAX: usize = 16 * 1024;

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    let mut leaves = Vec::new();
    collect(&seen.event.payload, &mut String::new(), &mut leaves);
    // Every leaf has its number, erased or not: an erasure must not renumber the others.
    for (number, (part, digest)) in (0..CONTENT).zip(leaves) {
        // The text as it came is enough; its tidied copy would only be found twice.
        if !part.ends_with("/normalized_text")
            && let Some(words) = disclosed(seen.conn, &digest)?
        {
            index(seen, number, &part, Source::Leaf(digest), &words)?;
        }
    }
    match body {
        Body::ArtifactCreated(b) => content(seen, &b.artifact),
        Body::DisclosuresErased(b) => forget(seen, &b.digests),
        _ => Ok(()),
    }
}

/// Every `{"$sd": digest}` below a value, with its JSON pointer, in the order of the names.
fn collect(value: &Value, pointer: &mut String, found: &mut Vec<(String, Digest)>) {
    let length = pointer.len();
    match value {
        Value::Object(members) => {
            if let (1, Some(Value::String(hex))) = (members.len(), members.get("$sd"))
                && let Ok(digest) = hex.parse()
            {
                found.push((pointer.clone(), digest));
                return;
            }
            let mut names: Vec<_> = members.iter().collect();
            names.sort_by_key(|(name, _)| *name);
            for (name, member) in names {
                pointer.push('/');
                pointer.push_str(name);
                collect(member, pointer, found);
                pointer.truncate(length);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                pointer.push('/');
                pointer.push_str(&at.to_string());
                collect(item, pointer, found);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// The text behind a leaf, unless it was erased or is no text.
pub(crate) fn disclosed(conn: &Connection, digest: &Digest) -> rusqlite::Result<Option<String>> {
    let statement = "SELECT bytes FROM disclosures WHERE digest = ?1";
    let found: Option<Vec<u8>> =
        conn.prepare_cached(statement)?.query_row([digest.0], |row| row.get(0)).optional()?;
    let value = found.and_then(|bytes| serde_json::from_slice::<(String, String, Value)>(&bytes).ok());
    Ok(value.and_then(|(_, _, value)| match value {
        Value::String(text) => Some(text),
        Value::Array(items) => {
            let lines: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            lines.map(|lines| lines.join("\n"))
        }
        _ => None,
    }))
}

enum Source {
    Leaf(Digest),
    Content(Digest),
}

fn index(seen: &Seen<'_>, number: i64, part: &str, source: Source, words: &str) -> rusqlite::Result<()> {
    if words.trim().is_empty() {
        return Ok(());
    }
    let event: &Event = seen.event;
    let doc = seen.seq.saturating_mul(DOCS_MAX).saturating_add(number);
    let (leaf, content) = match source {
        Source::Leaf(digest) => (Some(digest.0), None),
        Source::Content(digest) => (None, Some(digest.0)),
    };
    seen.run(
        "INSERT INTO view_search_docs (doc, seq, kind, id, task_id, part, leaf, content, at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            doc,
            seen.seq,
            event.entity_type.as_str(),
            event.entity_id,
            text(event.task_id),
            part,
            leaf,
            content,
            seen.at(),
        ],
    )?;
    seen.run("INSERT INTO view_search (rowid, text) VALUES (?1, ?2)", params![doc, words]).map(drop)
}

/// Kinds of artifact whose text people look for. What is sent to models and what policy records would only repeat it.
const fn is_looked_for(kind: ArtifactKind) -> bool {
    matches!(
        kind,
        ArtifactKind::Answer
            | ArtifactKind::Message
            | ArtifactKind::CommandTranscript
            | ArtifactKind::FileSnapshot
            | ArtifactKind::WebSnapshot
            | ArtifactKind::SearchBundle
            | ArtifactKind::Patch
            | ArtifactKind::Diff
            | ArtifactKind::TestReport
            | ArtifactKind::Playbook
    )
}

/// The text of a small artifact, which is committed together with the event that makes it.
fn content(seen: &Seen<'_>, artifact: &Artifact) -> rusqlite::Result<()> {
    let small = usize::try_from(artifact.byte_size).is_ok_and(|n| n <= INLINE_ARTIFACT_BYTES_MAX);
    let media = artifact.media_type.as_str();
    let is_text = media.starts_with("text/") || media.starts_with("application/json");
    if !small || !is_text || artifact.sensitivity_class == Sensitivity::Secret || !is_looked_for(artifact.kind) {
        return Ok(());
    }
    let statement = "SELECT bytes FROM blobs WHERE digest = ?1";
    let digest = artifact.content_hash;
    let found: Option<Vec<u8>> =
        seen.conn.prepare_cached(statement)?.query_row([digest.0], |row| row.get(0)).optional()?;
    let Some(bytes) = found else {
        return Ok(());
    };
    let head = bytes.get(..bytes.len().min(TEXT_BYTES_MAX)).unwrap_or_default();
    index(seen, CONTENT, "/content", Source::Content(digest), &String::from_utf8_lossy(head))
}

/// Takes erased leaves out of the index, and their words out of its pages.
fn forget(seen: &Seen<'_>, digests: &[Digest]) -> rusqlite::Result<()> {
    let mut gone = 0;
    for digest in digests {
        let mut found = seen.conn.prepare_cached("SELECT doc FROM view_search_docs WHERE leaf = ?1")?;
        let docs: Vec<i64> = found.query_map([digest.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for doc in docs {
            seen.run("DELETE FROM view_search WHERE rowid = ?1", [doc])?;
            seen.run("DELETE FROM view_search_docs WHERE doc = ?1", [doc])?;
            gone += 1;
        }
    }
    if gone > 0 {
        // A deletion only marks; merging the index into one segment drops the words themselves.
        seen.run("INSERT INTO view_search (view_search) VALUES ('optimize')", [])?;
    }
    Ok(())
}
