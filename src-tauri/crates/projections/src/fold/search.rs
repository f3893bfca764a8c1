//! The search index: every readable leaf of every event, and the text of small artifacts that people look for.

mod forgetting;

pub(super) use forgetting::forget_behind;

use super::withheld::{self, Withheld};
use super::{Seen, int, text};
use crate::Error;
use model::artifact::{Artifact, ArtifactKind, Sensitivity};
use model::body::Body;
use model::knowledge::MemoryRecord;
use model::limits::INLINE_ARTIFACT_BYTES_MAX;
use model::{Digest, Event, Sensitive, concealed_in};
use rusqlite::{Connection, OptionalExtension, Statement, params};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Documents one event may have: its row numbers are its place in the log times this, so that live and rebuilt
/// tables number alike.
const DOCS_MAX: i64 = 256;

/// The number of an artifact's own text, behind all leaves.
pub(super) const CONTENT: i64 = DOCS_MAX - 1;

/// Bytes of an artifact's text that are indexed: enough to find it again.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// Bytes of documents that wait at most, before they are written.
const WAITING_BYTES_MAX: usize = 64 << 20;

/// Documents that wait to be written, by their numbers, while a log is folded anew. The index sorts what it is given in
/// one go; given a little at a time, between other writes, it makes a heap of small pieces and merges them again and
/// again. What is forgotten while it waits is never written.
#[derive(Default)]
pub(crate) struct Docs {
    waiting: RefCell<BTreeMap<i64, Doc>>,
    bytes: Cell<usize>,
}

impl Docs {
    fn put(&self, conn: &Connection, number: i64, doc: Doc) -> rusqlite::Result<()> {
        self.bytes.set(self.bytes.get() + doc.bytes());
        self.waiting.borrow_mut().insert(number, doc);
        if self.bytes.get() < WAITING_BYTES_MAX { Ok(()) } else { self.write(conn) }
    }

    /// Writes what waits.
    pub fn write(&self, conn: &Connection) -> rusqlite::Result<()> {
        self.bytes.set(0);
        let waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        let mut insert = conn.prepare_cached(DOC)?;
        for (number, doc) in &waiting {
            doc.insert(&mut insert, *number)?;
        }
        let mut insert = conn.prepare_cached(INDEX)?;
        for (number, doc) in &waiting {
            insert.execute(params![number, doc.words])?;
        }
        Ok(())
    }

    /// Forgets what waits under a number; answers whether something did.
    fn forget(&self, number: i64) -> bool {
        let doc = self.waiting.borrow_mut().remove(&number);
        self.bytes.set(self.bytes.get() - doc.as_ref().map_or(0, Doc::bytes));
        doc.is_some()
    }
}

/// A document of the search, and its words.
struct Doc {
    seq: i64,
    kind: &'static str,
    id: String,
    task: String,
    part: String,
    source: Source,
    at: i64,
    words: String,
}

impl Doc {
    /// Roughly what it takes.
    const fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.task.len() + self.part.len() + self.words.len()
    }

    fn insert(&self, insert: &mut Statement<'_>, number: i64) -> rusqlite::Result<usize> {
        let (leaf, content) = match self.source {
            Source::Leaf(digest) => (Some(digest.0), None),
            Source::Content(digest) => (None, Some(digest.0)),
        };
        let Self { seq, kind, id, task, part, at, .. } = self;
        insert.execute(params![number, seq, kind, id, task, part, leaf, content, at])
    }
}

/// Whether words were taken out of the index, which only marks them.
#[derive(Default)]
pub(crate) struct Forgotten {
    search: Cell<bool>,
    memory: Cell<bool>,
}

impl Forgotten {
    /// Drops the words themselves. The whole index is written anew for it: once for a batch, however much went.
    pub fn drop_words(&self, conn: &Connection) -> rusqlite::Result<()> {
        if self.search.take() {
            conn.execute("INSERT INTO view_search (view_search) VALUES ('optimize')", [])?;
        }
        if self.memory.take() {
            conn.execute("INSERT INTO view_memory_search (view_memory_search) VALUES ('optimize')", [])?;
        }
        Ok(())
    }
}

const DOC: &str = "INSERT INTO view_search_docs (doc, seq, kind, id, task_id, part, leaf, content, at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
/// The documents with these numbers.
const DOCS_OF: &str = "SELECT doc FROM view_search_docs WHERE doc BETWEEN ?1 AND ?2";
/// The documents of a task behind a place of the log.
const DOCS_BEHIND: &str = "SELECT d.doc FROM events e CROSS JOIN view_search_docs d \
                           ON d.doc BETWEEN e.log_seq * ?3 AND e.log_seq * ?3 + ?3 - 1 \
                           WHERE e.task_id = ?1 AND e.log_seq > ?2";
const INDEX: &str = "INSERT INTO view_search (rowid, text) VALUES (?1, ?2)";

/// A sensitive leaf of an event.
pub(crate) struct Leaf {
    part: String,
    digest: Digest,
    text: Text,
}

impl Leaf {
    fn new(part: String, digest: Digest, text: Text) -> Self {
        let text = if part.ends_with("/normalized_text") { Text::Twice } else { text };
        Self { part, digest, text }
    }
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

pub(super) fn fold(seen: &Seen<'_>, body: &Body, leaves: Vec<Leaf>) -> Result<(), Error> {
    // What nodes of the mesh tell each other is for programs; what of it a person says stands in its task.
    if matches!(body, Body::MeshStepped(_)) {
        return Ok(());
    }
    if let Body::TaskCreated(b) = body {
        withheld::descends(seen, &b.task)?;
    }
    if let Body::ArtifactCreated(b) = body {
        withheld::is_told(seen, &b.artifact)?;
    }
    let has_words = !leaves.is_empty() || matches!(body, Body::ArtifactCreated(_));
    let withheld = if has_words { Withheld::of(seen, body)? } else { Withheld::NOTHING };
    // Every leaf has its number, erased or not: an erasure must not renumber the others.
    for (number, Leaf { part, digest, text }) in (0..CONTENT).zip(leaves) {
        let words = match text {
            Text::Here(words) => words,
            Text::Ask => disclosed(seen.conn, &digest)?,
            Text::Twice => None,
        };
        if let Some(words) = words {
            let words = withheld.out_of(words);
            index(seen, number, part, Source::Leaf(digest), words)?;
        }
    }
    match body {
        Body::MemoryPromoted(b) => memory(seen, &withheld, &b.record),
        Body::ArtifactCreated(b) => {
            withheld::keep(seen, &b.artifact)?;
            let message = (b.artifact.kind == ArtifactKind::Message)
                .then(|| Withheld::of_message(seen, &b.artifact))
                .transpose()?;
            content(seen, message.as_ref().unwrap_or(&withheld), &b.artifact)
        }
        Body::DisclosuresErased(b) => forgetting::erased(seen, &b.digests),
        Body::ArtifactExpired(b) => {
            withheld::forget(seen, b.artifact_id)?;
            forgetting::message(seen, b.artifact_id)?;
            forgetting::content(seen, b.artifact_id)
        }
        _ => Ok(()),
    }
}

/// Every sensitive leaf of a payload's canonical text, with the text of those that were recorded with the event. Where
/// all of them were, their disclosures say their places, too.
pub(super) fn leaves(payload: &str, opened: Opened<'_>) -> Vec<Leaf> {
    let here = |digest: Digest| opened.iter().find(|(known, _)| *known == digest).map(|(_, bytes)| *bytes);
    let known = |digest: Digest| {
        let (place, text) = disclosure(here(digest)?)?;
        // A name with a character that places escape is looked for in the payload itself.
        let part = place.strip_prefix("/payload").filter(|part| !part.contains('~'))?;
        Some(Leaf::new(part.to_owned(), digest, Text::Here(text)))
    };
    let digests = concealed_in(payload.as_bytes()).map(|hex| std::str::from_utf8(hex).ok()?.parse().ok());
    let all: Option<Vec<Leaf>> = digests.map(|digest| known(digest?)).collect();
    all.unwrap_or_else(|| {
        let mut found = Vec::new();
        // It was typed from this text, so it is one value.
        collect(&serde_json::from_str(payload).unwrap_or_default(), &mut String::new(), &mut found);
        let text = |digest| here(digest).map_or(Text::Ask, |bytes| Text::Here(words(bytes)));
        found.into_iter().map(|(part, digest)| Leaf::new(part, digest, text(digest))).collect()
    })
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
    disclosure(bytes)?.1
}

/// The place that a disclosure was made for, and its text, unless it opens none.
fn disclosure(bytes: &[u8]) -> Option<(String, Option<String>)> {
    fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<(String, T)> {
        serde_json::from_slice::<(IgnoredAny, String, T)>(bytes).ok().map(|(_, place, text)| (place, text))
    }
    let one = || read::<String>(bytes).map(|(place, text)| (place, Some(text)));
    let lines = || read::<Vec<String>>(bytes).map(|(place, lines)| (place, Some(lines.join("\n"))));
    let none = || read::<IgnoredAny>(bytes).map(|(place, _)| (place, None));
    one().or_else(lines).or_else(none)
}

enum Source {
    Leaf(Digest),
    Content(Digest),
}

/// Indexes words, unless there are none that may be found.
fn index(
    seen: &Seen<'_>,
    number: i64,
    part: String,
    source: Source,
    words: Option<String>,
) -> Result<(), Error> {
    let Some(words) = words.filter(|words| !words.trim().is_empty()) else { return Ok(()) };
    let event: &Event = seen.event;
    let (seq, at) = (int(seen.seq), seen.at().0);
    let number = doc(seq, number);
    let kind = event.entity_type.as_str();
    let (id, task) = (event.entity_id.clone(), text(event.task_id));
    let doc = Doc { seq, kind, id, task, part, source, at, words };
    match seen.docs {
        Some(waiting) => waiting.put(seen.conn, number, doc)?,
        None => {
            doc.insert(&mut *seen.conn.prepare_cached(DOC)?, number)?;
            seen.run(INDEX, params![number, doc.words])?;
        }
    }
    Ok(())
}

/// The number of a document of the event in this place.
const fn doc(seq: i64, number: i64) -> i64 {
    seq.saturating_mul(DOCS_MAX).saturating_add(number)
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

/// Bytes that are kept in the store itself, unless they are no longer there.
pub(super) fn kept(seen: &Seen<'_>, digest: Digest) -> Result<Option<Vec<u8>>, Error> {
    let mut found = seen.conn.prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?;
    Ok(found.query_row([digest.0], |row| row.get(0)).optional()?)
}

/// The text of a small artifact, which is committed together with the event that makes it.
fn content(seen: &Seen<'_>, withheld: &Withheld, artifact: &Artifact) -> Result<(), Error> {
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
    let digest = artifact.content_hash;
    let Some(bytes) = kept(seen, digest)? else {
        return Ok(());
    };
    // Taken out before the rest is cut off: half a value at the cut would stay.
    let most = if withheld.is_nothing() { TEXT_BYTES_MAX } else { INLINE_ARTIFACT_BYTES_MAX };
    let head = bytes.get(..bytes.len().min(most)).unwrap_or_default();
    let mut words = withheld.out_of(String::from_utf8_lossy(head).into_owned());
    if let Some(words) = &mut words {
        words.truncate(words.floor_char_boundary(TEXT_BYTES_MAX));
    }
    index(seen, CONTENT, "/content".to_owned(), Source::Content(digest), words)
}

/// The claim of a memory record by its words. Where it is not known what has to be taken out of them, it is listed and no words find it.
fn memory(seen: &Seen<'_>, withheld: &Withheld, record: &MemoryRecord) -> Result<(), Error> {
    // A stored event shows no leaf: its digest is what the text is kept under.
    let Sensitive::Erased(leaf) = &record.claim else { return Ok(()) };
    let Some(words) = disclosed(seen.conn, leaf)? else { return Ok(()) };
    let (doc, id) = (int(seen.seq), text(record.memory_id));
    let insert = "INSERT INTO view_memory_docs (doc, record, leaf) VALUES (?1, ?2, ?3)";
    seen.run(insert, params![doc, id, leaf.0])?;
    if let Some(words) = withheld.out_of(words) {
        seen.run("INSERT INTO view_memory_search (rowid, text) VALUES (?1, ?2)", params![doc, words])?;
    }
    Ok(())
}
