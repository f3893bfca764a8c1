//! Full-text search: the newest hit first, each word a prefix, all words needed.

use super::{Ask, Cursor, Page, Query};
use crate::Error;
use crate::cell::Cell;
use crate::fold::disclosed;
use model::event::EntityType;
use model::{Digest, Sensitive, TaskId, UnixMs};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Characters of an excerpt on either side of the first word found.
const AROUND: usize = 80;

/// Words of a search that count; more are ignored.
const WORDS_MAX: usize = 16;

/// One place where the words were found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Hit {
    /// Place in the log of the event that holds it.
    pub seq: u64,
    /// What the event is about.
    pub kind: EntityType,
    /// Which one.
    pub id: String,
    /// The task it belongs to.
    pub task_id: TaskId,
    /// Which part: a JSON pointer into the event's payload, or `/content` of an artifact.
    pub part: String,
    /// When it happened.
    pub at: UnixMs,
    /// The text around the first word found.
    pub excerpt: Sensitive<String>,
}

impl Query {
    /// Places where all words of `text` stand, the newest first; each word also finds longer ones that begin with it.
    ///
    /// # Errors
    /// [`Error::Asked`] when the text holds no word, and as every list.
    pub fn search(&self, text: &str, ask: Ask) -> Result<Page<Hit>, Error> {
        let (wanted, words) = (words(text)?, split(text));
        let before = ask.after.map_or(i64::MAX, |cursor| i64::try_from(cursor.0).unwrap_or(i64::MAX));
        let limit = i64::try_from(ask.rows() + 1).unwrap_or(1);
        let statement = "SELECT d.doc, d.seq, d.kind, d.id, d.task_id, d.part, d.at, d.leaf, d.content \
                         FROM view_search s JOIN view_search_docs d ON d.doc = s.rowid \
                         WHERE s.text MATCH ?1 AND s.rowid < ?2 ORDER BY s.rowid DESC LIMIT ?3";
        let mut hits = self.read(|conn| {
            let mut found = conn.prepare_cached(statement)?;
            let mut rows = found.query(params![wanted, before, limit])?;
            let mut hits = Vec::new();
            while let Some(row) = rows.next()? {
                let doc = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0);
                hits.push((doc, hit(row, conn, &words)?));
            }
            Ok(hits)
        })?;
        let more = hits.len() > ask.rows();
        hits.truncate(ask.rows());
        let next = hits.last().filter(|_| more).map(|(doc, _)| Cursor(*doc));
        Ok(Page { rows: hits.into_iter().map(|(_, hit)| hit).collect(), next })
    }
}

/// The words of a text as the index is asked for them.
pub(super) fn words(text: &str) -> Result<String, Error> {
    let words = split(text);
    if words.is_empty() {
        return Err(Error::Asked { why: format!("`{text}` holds no word to search for") });
    }
    // Quoted, so that nothing in them is an operator.
    Ok(words.iter().map(|w| format!("\"{w}\"*")).collect::<Vec<_>>().join(" AND "))
}

fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.take(WORDS_MAX).map(str::to_lowercase).collect()
}

fn hit(row: &Row<'_>, conn: &Connection, words: &[String]) -> Result<Hit, Error> {
    fn read<T: Cell>(row: &Row<'_>, conn: &Connection, at: usize) -> Result<T, Error> {
        T::read(row.get_ref(at)?, Some(conn)).map_err(|why| Error::Row { table: "view_search_docs", why })
    }
    Ok(Hit {
        seq: read(row, conn, 1)?,
        kind: read(row, conn, 2)?,
        id: read(row, conn, 3)?,
        task_id: read(row, conn, 4)?,
        part: read(row, conn, 5)?,
        at: read(row, conn, 6)?,
        excerpt: text(row, conn)?.map(|text| excerpt(&text, words)),
    })
}

/// The text of a hit: a leaf's, or a small artifact's.
fn text(row: &Row<'_>, conn: &Connection) -> Result<Sensitive<String>, Error> {
    let digest = |bytes: [u8; 32]| Digest(bytes);
    if let Some(leaf) = row.get::<_, Option<[u8; 32]>>(7)?.map(digest) {
        return Ok(disclosed(conn, &leaf)?.map_or(Sensitive::Erased(leaf), Sensitive::Shown));
    }
    let content = row.get::<_, [u8; 32]>(8).map(digest)?;
    let mut found = conn.prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")?;
    let bytes: Option<Vec<u8>> = found.query_row([content.0], |row| row.get(0)).optional()?;
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(text.map_or(Sensitive::Erased(content), Sensitive::Shown))
}

/// The words around the first one found, with `…` where text goes on.
fn excerpt(text: &str, words: &[String]) -> String {
    let chars: Vec<char> = text.chars().collect();
    // One character for one, so that places in both texts agree.
    let lower: Vec<char> = chars.iter().map(|c| c.to_lowercase().next().unwrap_or(*c)).collect();
    let place = |word: &String| {
        let word: Vec<char> = word.chars().collect();
        lower.windows(word.len().max(1)).position(|w| w == word)
    };
    let at = words.iter().filter_map(place).min().unwrap_or(0);
    let (from, to) = (at.saturating_sub(AROUND), at.saturating_add(AROUND).min(chars.len()));
    let middle: String = chars.get(from..to).unwrap_or_default().iter().collect();
    let (before, behind) = (if from > 0 { "…" } else { "" }, if to < chars.len() { "…" } else { "" });
    format!("{before}{}{behind}", middle.trim())
}
