//! The search index: every readable leaf of every event, and the text of small artifacts that people look for.

use super::{Seen, text};
use model::artifact::{Artifact, ArtifactKind, Sensitivity};
use model::body::Body;
use model::limits::INLINE_ARTIFACT_BYTES_MAX;
use model::{Digest, Event};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::cell::{Cell, RefCell};

/// Documents one event may have: its row numbers are its place in the log times this, so that live and rebuilt
/// tables number alike.
const DOCS_MAX: i64 = 256;

/// The number of an artifact's own text, behind all leaves.
const CONTENT: i64 = DOCS_MAX - 1;

/// Bytes of an artifact's text that are indexed: enough to find it again.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// Bytes of words that wait at most, before they go to the index.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// Words that wait for the index. It sorts what it is given in one go; given a little at a time, between other writes,
/// it makes a heap of small pieces and merges them again and again.
#[derive(Default)]
pub(crate) struct Words {
    waiting: RefCell<Vec<(i64, String)>>,
    bytes: Cell<usize>,
}

impl Words {
    fn put(&self, conn: &Connection, doc: i64, words: String) -> rusqlite::Result<()> {
        self.bytes.set(self.bytes.get() + words.len());
        self.waiting.borrow_mut().push((doc, words));
        if self.bytes.get() < WAITING_BYTES_MAX { Ok(()) } else { self.flush(conn) }
    }

    /// Hands over what waits.
    pub fn flush(&self, conn: &Connection) -> rusqlite::Result<()> {
        self.bytes.set(0);
        let mut insert = conn.prepare_cached(INDEX)?;
        for (doc, words) in self.waiting.borrow_mut().drain(..) {
            insert.execute(params![doc, words])?;
        }
        Ok(())
    }
}

/// Whether words were taken out of the index, which only marks them.
#[derive(Default)]
pub(crate) struct Forgotten(Cell<bool>);

impl Forgotten {
    /// Drops the words themselves. The whole index is written anew for it: once for a batch, however much went.
    pub fn drop_words(&self, conn: &Connection) -> rusqlite::Result<()> {
        if self.0.take() {
            conn.execute("INSERT INTO view_search (view_search) VALUES ('optimize')", [])?;
        }
        Ok(())
    }
}

const INDEX: &str = "INSERT INTO view_search (rowid, text) VALUES (?1, ?2)";

/// A sensitive leaf of an event.
pub(crate) struct Leaf {
    part: String,
    digest: Digest,
    text: Text,
}

/// What is known of a leaf's text before the tables are asked.
enum Text {
    /// It is recorded with the event: the words, unless it is no text.
    Here(Option<String>),
    /// It is recorded elsewhere, or erased.
    Ask,
    /// The text as it came is enough; its tidied copy would only be found twice.
    Twice,
}

/// Disclosures recorded with an event: digest and bytes.
pub(crate) type Opened<'a> = &'a [(Digest, &'a [u8])];

pub(super) fn fold(seen: &Seen<'_>, body: &Body, leaves: Vec<Leaf>) -> rusqlite::Result<()> {
    // Every leaf has its number, erased or not: an erasure must not renumber the others.
    for (number, Leaf { part, digest, text }) in (0..CONTENT).zip(leaves) {
        let words = match text {
            Text::Here(words) => words,
            Text::Ask => disclosed(seen.conn, &digest)?,
            Text::Twice => None,
        };
        if let Some(words) = words {
            index(seen, number, &part, Source::Leaf(digest), words)?;
        }
    }
    match body {
        Body::ArtifactCreated(b) => content(seen, &b.artifact),
        Body::DisclosuresErased(b) => forget(seen, &b.digests),
        Body::ArtifactExpired(b) => forget_content(seen, &text(b.artifact_id)),
        _ => Ok(()),
    }
}

/// Every sensitive leaf of a payload, with the text of those that were recorded with the event.
pub(super) fn leaves(payload: &Value, opened: Opened<'_>) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(payload, &mut String::new(), &mut found);
    let leaf = |(part, digest): (String, Digest)| {
        let here = || opened.iter().find(|(known, _)| *known == digest);
        let text = match part.ends_with("/normalized_text") {
            true => Text::Twice,
            false => here().map_or(Text::Ask, |(_, bytes)| Text::Here(words(bytes))),
        };
        Leaf { part, digest, text }
    };
    found.into_iter().map(leaf).collect()
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
    let mut found = conn.prepare_cached("SELECT bytes FROM disclosures WHERE digest = ?1")?;
    let mut rows = found.query([digest.0])?;
    match rows.next()? {
        Some(row) => Ok(words(row.get_ref(0)?.as_bytes()?)),
        None => Ok(None),
    }
}

/// The text that a disclosure opens: a string, or a list of strings as its lines.
fn words(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Text {
        One(String),
        Lines(Vec<String>),
    }
    let (_, _, text) = serde_json::from_slice::<(IgnoredAny, IgnoredAny, Text)>(bytes).ok()?;
    Some(match text {
        Text::One(text) => text,
        Text::Lines(lines) => lines.join("\n"),
    })
}

enum Source {
    Leaf(Digest),
    Content(Digest),
}

fn index(seen: &Seen<'_>, number: i64, part: &str, source: Source, words: String) -> rusqlite::Result<()> {
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
    match seen.words {
        Some(waiting) => waiting.put(seen.conn, doc, words),
        None => seen.run(INDEX, params![doc, words]).map(drop),
    }
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
    if !small
        || !is_text
        || artifact.sensitivity_class == Sensitivity::Secret
        || !is_looked_for(artifact.kind)
    {
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
    index(seen, CONTENT, "/content", Source::Content(digest), String::from_utf8_lossy(head).into_owned())
}

/// Takes the text of an artifact whose content is no longer kept out of the index.
fn forget_content(seen: &Seen<'_>, artifact: &str) -> rusqlite::Result<()> {
    // By its number, which is made of the place where the artifact began: looking through all documents for it would make
    // a collection of many artifacts take time with the square of their number.
    let statement = "SELECT doc FROM view_search_docs WHERE content IS NOT NULL AND doc = ?2 + ?3 * \
                     (SELECT seq FROM view_artifacts WHERE artifact_id = ?1)";
    let mut found = seen.conn.prepare_cached(statement)?;
    let docs: Vec<i64> =
        found.query_map(params![artifact, CONTENT, DOCS_MAX], |row| row.get(0))?.collect::<Result<_, _>>()?;
    drop_docs(seen, &docs)
}

/// Takes erased leaves out of the index, and their words out of its pages.
fn forget(seen: &Seen<'_>, digests: &[Digest]) -> rusqlite::Result<()> {
    let mut all = Vec::new();
    for digest in digests {
        // What is gone already was never indexed while the log was folded anew, and there the index by leaf is missing.
        if seen.words.is_some() && disclosed(seen.conn, digest)?.is_none() {
            continue;
        }
        let mut found = seen.conn.prepare_cached("SELECT doc FROM view_search_docs WHERE leaf = ?1")?;
        let docs: Vec<i64> = found.query_map([digest.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
        all.extend(docs);
    }
    drop_docs(seen, &all)
}

fn drop_docs(seen: &Seen<'_>, docs: &[i64]) -> rusqlite::Result<()> {
    if let Some(waiting) = seen.words.filter(|_| !docs.is_empty()) {
        waiting.flush(seen.conn)?;
    }
    for doc in docs {
        seen.run("DELETE FROM view_search WHERE rowid = ?1", [doc])?;
        seen.run("DELETE FROM view_search_docs WHERE doc = ?1", [doc])?;
    }
    seen.forgotten.0.set(seen.forgotten.0.get() || !docs.is_empty());
    Ok(())
}
