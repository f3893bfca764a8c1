//! What is taken out of the search index: what was erased or is kept no more, and what can no longer be freed of withheld values.

use super::{CONTENT, DOCS_BEHIND, DOCS_MAX, DOCS_OF, disclosed, doc};
use crate::Error;
use crate::fold::{Seen, int, text};
use crate::rows::ArtifactRow;
use model::artifact::ArtifactKind;
use model::{ArtifactId, Digest, TaskId};
use rusqlite::{Params, params};

/// Takes the text of an artifact whose content is no longer kept out of the index.
pub(super) fn content(seen: &Seen<'_>, artifact: ArtifactId) -> Result<(), Error> {
    // By its number, which is made of the place where the artifact began: looking through all documents for it would make
    // a collection of many artifacts take time with the square of their number.
    let Some(seq) = seen.change((artifact,), |row: &mut ArtifactRow| row.seq)? else {
        return Ok(());
    };
    let number = doc(int(seq), CONTENT);
    // It waits to be written; or stands there, unless it was never indexed.
    if seen.docs.is_some_and(|waiting| waiting.forget(number)) {
        return Ok(());
    }
    let statement = "SELECT doc FROM view_search_docs WHERE content IS NOT NULL AND doc = ?1";
    drop_docs(seen, &numbers(seen, statement, [number])?)
}

/// Takes the words by which a message came in out of the index, once nobody can tell any more what the message names. Whoever folds the
/// log anew does not know that of any message, also of one by which nothing came in.
pub(super) fn message(seen: &Seen<'_>, artifact: ArtifactId) -> Result<(), Error> {
    let of = |row: &mut ArtifactRow| (row.kind == ArtifactKind::Message).then_some(row.seq);
    let Some(kept) = seen.change((artifact,), of)?.flatten() else { return Ok(()) };
    let statement = "SELECT seq FROM view_word_messages WHERE artifact_id = ?1";
    let came = numbers(seen, statement, [text(artifact)])?;
    if let Some(waiting) = seen.docs.filter(|_| !came.is_empty()) {
        waiting.write(seen.conn)?;
    }
    seen.run("DELETE FROM view_word_messages WHERE artifact_id = ?1", [text(artifact)])?;
    for seq in came.iter().copied().chain([int(kept)]) {
        seen.run("DELETE FROM view_word_roots WHERE seq = ?1", [seq])?;
    }
    for seq in came {
        drop_docs(seen, &numbers(seen, DOCS_OF, [doc(seq, 0), doc(seq, CONTENT)])?)?;
    }
    Ok(())
}

/// Takes erased leaves out of the index, and their words out of its pages.
pub(super) fn erased(seen: &Seen<'_>, digests: &[Digest]) -> Result<(), Error> {
    let mut all = Vec::new();
    for digest in digests {
        forget_memory(seen, digest)?;
        // What is gone already was never indexed while the log was folded anew, and there the index by leaf is missing.
        if let Some(waiting) = seen.docs {
            if disclosed(seen.conn, digest)?.is_none() {
                continue;
            }
            waiting.write(seen.conn)?;
        }
        all.extend(numbers(seen, "SELECT doc FROM view_search_docs WHERE leaf = ?1", [digest.0])?);
    }
    drop_docs(seen, &all)
}

/// Takes all words out of the index that were recorded behind this place of the log by the tasks of a root, and those of other events
/// that may repeat what these tasks found.
pub(in crate::fold) fn forget_behind(seen: &Seen<'_>, root: &str, seq: i64) -> Result<(), Error> {
    if let Some(waiting) = seen.docs {
        waiting.write(seen.conn)?;
    }
    let mut docs = docs_behind(seen, root, seq)?;
    // Whoever was told of it said nothing of it before.
    let statement = "SELECT root, max(seq - 1, ?2) FROM view_told WHERE of_root = ?1";
    let mut found = seen.conn.prepare_cached(statement)?;
    let told = found.query_map(params![root, seq], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (told, behind) in told.collect::<Result<Vec<(String, i64)>, _>>()? {
        docs.extend(docs_behind(seen, &told, behind)?);
    }
    let statement = "SELECT seq, first FROM view_word_roots WHERE root = ?1 AND seq > ?2";
    let mut found = seen.conn.prepare_cached(statement)?;
    let repeat = found.query_map(params![root, seq], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (repeats, first) in repeat.collect::<Result<Vec<(i64, i64)>, _>>()? {
        docs.extend(numbers(seen, DOCS_OF, [doc(repeats, first), doc(repeats, CONTENT)])?);
    }
    // That there is such a claim stays known: it is listed, and only its words are not looked up.
    let statement = "SELECT w.seq FROM view_word_roots w JOIN view_memory_docs m ON m.doc = w.seq \
                     WHERE w.root = ?1 AND w.seq > ?2";
    for claim in numbers(seen, statement, params![root, seq])? {
        seen.run("DELETE FROM view_memory_search WHERE rowid = ?1", [claim])?;
        seen.forgotten.memory.set(true);
    }
    docs.sort_unstable();
    docs.dedup();
    drop_docs(seen, &docs)
}

/// The documents of the tasks of a root behind this place of the log. They are found by the events of these tasks: looking through all
/// documents would make a collection of many looks take time with the square of their number.
fn docs_behind(seen: &Seen<'_>, root: &str, seq: i64) -> Result<Vec<i64>, Error> {
    let statement = "SELECT ?1 UNION ALL SELECT task_id FROM view_descent WHERE root = ?1";
    let mut found = seen.conn.prepare_cached(statement)?;
    let tasks: Vec<String> = found.query_map([root], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut docs = Vec::new();
    for task in tasks {
        let task: TaskId =
            task.parse().map_err(|e| Error::Row { table: "view_descent", why: format!("{e}") })?;
        docs.extend(numbers(seen, DOCS_BEHIND, params![task.uuid().as_bytes().as_slice(), seq, DOCS_MAX])?);
    }
    Ok(docs)
}

fn numbers(seen: &Seen<'_>, statement: &str, values: impl Params) -> Result<Vec<i64>, Error> {
    let mut found = seen.conn.prepare_cached(statement)?;
    let numbers: Vec<i64> = found.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(numbers)
}

fn drop_docs(seen: &Seen<'_>, docs: &[i64]) -> Result<(), Error> {
    for doc in docs {
        seen.run("DELETE FROM view_search WHERE rowid = ?1", [doc])?;
        seen.run("DELETE FROM view_search_docs WHERE doc = ?1", [doc])?;
    }
    seen.forgotten.search.set(seen.forgotten.search.get() || !docs.is_empty());
    Ok(())
}

/// Takes an erased claim out of the index of memory, and its words out of the pages.
fn forget_memory(seen: &Seen<'_>, digest: &Digest) -> Result<(), Error> {
    for doc in numbers(seen, "SELECT doc FROM view_memory_docs WHERE leaf = ?1", [digest.0])? {
        seen.run("DELETE FROM view_memory_search WHERE rowid = ?1", [doc])?;
        seen.run("DELETE FROM view_memory_docs WHERE doc = ?1", [doc])?;
        seen.forgotten.memory.set(true);
    }
    Ok(())
}
