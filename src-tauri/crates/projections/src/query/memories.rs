//! Memory as a context pack asks for it: what holds in a project, by its words, and what ran out.

use super::{Is, Query};
use crate::Error;
use crate::rows::{MemoryRow, MemoryUseRow, ViewRow};
use model::knowledge::MemoryStatus;
use model::{BeliefId, Digest, MemoryId, UnixMs};
use rusqlite::types::Value;
use rusqlite::{ToSql, params};
use std::collections::BTreeSet;

/// A word that stands in more records than this says nothing of what one of them is about; without a bound, a look-up for a
/// goal of common words took a second among 100,000 records.
const COMMON: u32 = 5_000;

/// Words that are looked up at most: the rarest.
const TELLING_MAX: usize = 24;

/// What every context of its project holds: what is pinned, what a person set right, and what a person likes better.
const IN_FORCE: &str = "(retention = 'pinned' OR memory_type IN ('preference', 'correction'))";

impl Query {
    /// Memory records that hold in a project, or everywhere, at `now`, and hold any of `words`: the best match first, ties
    /// by identifier, at most `most`; with each, how much of what these words say it holds, in thousandths, where a rare word
    /// says more than a frequent one. The words are compared by their stems; one that stands in thousands of records is
    /// left out.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_saying(
        &self,
        words: &[String],
        project: Option<Digest>,
        now: UnixMs,
        most: u32,
    ) -> Result<Vec<(MemoryRow, u32)>, Error> {
        let wanted = self.telling(words)?;
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let all = self.number("SELECT count(*) FROM view_memory_docs", &[])?;
        let whole: f64 = wanted.iter().map(|(records, _)| rarity(*records, all)).sum();
        let share = |score: f64| (score / whole * 1000.0).round().clamp(0.0, 1000.0) as u32;
        let text = format!(
            "SELECT {}, -bm25(view_memory_search) AS score \
             FROM view_memory_search s JOIN view_memory_docs d ON d.doc = s.rowid \
             JOIN view_memories ON memory_id = d.record \
             WHERE s.text MATCH ?1 AND status = 'active' AND (project_hash IS NULL OR project_hash = ?2) \
             AND (expires_at IS NULL OR expires_at > ?3) ORDER BY score DESC, memory_id LIMIT ?4",
            MemoryRow::COLUMNS
        );
        let asked: Vec<&str> = wanted.iter().map(|(_, word)| word.as_str()).collect();
        self.read(|conn| {
            let mut found = conn.prepare_cached(&text)?;
            let mut read = found.query(params![asked.join(" OR "), hex(project), now.0, most])?;
            let mut rows = Vec::new();
            while let Some(row) = read.next()? {
                rows.push((MemoryRow::read(row, Some(conn))?, share(row.get("score")?)));
            }
            Ok(rows)
        })
    }

    /// Memory records that are held, behind a place in the log, in its order, at most `most`.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_behind(&self, seq: u64, most: u32) -> Result<Vec<MemoryRow>, Error> {
        let text = format!(
            "SELECT {} FROM view_memories WHERE status = 'active' AND seq > ?1 ORDER BY seq LIMIT ?2",
            MemoryRow::COLUMNS
        );
        let after = i64::try_from(seq).unwrap_or(i64::MAX);
        self.rows_of(&text, params![after, most])
    }

    /// How many memory records are held.
    ///
    /// # Errors
    /// As every list.
    pub fn count_memories(&self) -> Result<u64, Error> {
        self.number("SELECT count(*) FROM view_memories WHERE status = 'active'", &[])
    }

    /// How many memory records of a project, or of every one, are held behind a place in the log.
    ///
    /// # Errors
    /// As every list.
    pub fn count_memories_behind(&self, seq: u64, project: Option<Digest>) -> Result<u64, Error> {
        let text = "SELECT count(*) FROM view_memories WHERE status = 'active' AND seq > ?1 \
                    AND (project_hash IS NULL OR project_hash = ?2)";
        let after = Value::Integer(i64::try_from(seq).unwrap_or(i64::MAX));
        self.number(text, &[after, hex(project)])
    }

    /// Every memory record that is held and whose words can be read.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_with_words(&self) -> Result<BTreeSet<MemoryId>, Error> {
        let text = "SELECT record FROM view_memory_docs JOIN view_memories ON memory_id = record \
                    WHERE status = 'active'";
        self.read(|conn| {
            let mut found = conn.prepare_cached(text)?;
            let ids = found.query_map([], |row| row.get::<_, String>(0))?;
            let of = |id: String| {
                id.parse().map_err(|_| Error::Row {
                    table: "view_memory_docs",
                    why: format!("`{id}` is no memory record"),
                })
            };
            ids.map(|id| of(id?)).collect()
        })
    }

    /// Memory records that every context of a project holds at `now`, at most `most`: what is pinned, then the newest first.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_in_force(
        &self,
        project: Option<Digest>,
        now: UnixMs,
        most: u32,
    ) -> Result<Vec<MemoryRow>, Error> {
        // By its own index, for each of both places: a search for either of them would go through all that is held.
        let ids = format!(
            "SELECT memory_id FROM view_memories INDEXED BY view_memories_in_force WHERE status = 'active' \
             AND {IN_FORCE} AND (expires_at IS NULL OR expires_at > ?2) AND project_hash"
        );
        let text = format!(
            "SELECT {} FROM view_memories WHERE memory_id IN ({ids} IS NULL UNION ALL {ids} = ?1) \
             ORDER BY retention = 'pinned' DESC, seq DESC LIMIT ?3",
            MemoryRow::COLUMNS
        );
        self.rows_of(&text, params![hex(project), now.0, most])
    }

    /// Memory records that are held and whose date is over at `now`, the first that ran out first, at most `most`.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_run_out(&self, now: UnixMs, most: u32) -> Result<Vec<MemoryRow>, Error> {
        let text = format!(
            "SELECT {} FROM view_memories WHERE status = 'active' AND expires_at IS NOT NULL AND expires_at <= ?1 \
             ORDER BY expires_at, memory_id LIMIT ?2",
            MemoryRow::COLUMNS
        );
        self.rows_of(&text, params![now.0, most])
    }

    /// Memory records that are held and come from a belief.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_from(&self, belief: BeliefId) -> Result<Vec<MemoryRow>, Error> {
        let conditions = [
            Some(Is::Text("from_belief", belief.to_string())),
            Is::some("status", Some(MemoryStatus::Active)),
        ];
        Ok(self.list(conditions, super::Ask::ALL)?.rows)
    }

    /// Tasks whose contexts held a record, the one that was told of it last first, at most `most`; and how many there are.
    ///
    /// # Errors
    /// As every list.
    pub fn memory_uses(&self, memory: MemoryId, most: u32) -> Result<(Vec<MemoryUseRow>, u64), Error> {
        let text = format!(
            "SELECT {} FROM view_memory_uses WHERE memory_id = ?1 ORDER BY last_seq DESC LIMIT ?2",
            MemoryUseRow::COLUMNS
        );
        let id = memory.to_string();
        let rows = self.rows_of(&text, params![id, most])?;
        let count = "SELECT count(*) FROM view_memory_uses WHERE memory_id = ?1";
        Ok((rows, self.number(count, &[Value::Text(id)])?))
    }

    /// These words as the index is asked for them, each with how many records have it, without those that are common.
    fn telling(&self, words: &[String]) -> Result<Vec<(u64, String)>, Error> {
        let count = "SELECT count(*) FROM (SELECT 1 FROM view_memory_search WHERE text MATCH ?1 LIMIT ?2)";
        let mut telling = Vec::new();
        for word in words {
            // Quoted, so that nothing in it is an operator.
            let word = format!("\"{}\"", word.replace('"', ""));
            let asked = [Value::Text(word.clone()), Value::Integer(i64::from(COMMON) + 1)];
            let records = self.number(count, &asked)?;
            if records <= u64::from(COMMON) {
                telling.push((records, word));
            }
        }
        telling.sort();
        telling.truncate(TELLING_MAX);
        Ok(telling)
    }

    fn rows_of<R: ViewRow>(&self, text: &str, values: &[&dyn ToSql]) -> Result<Vec<R>, Error> {
        self.read(|conn| {
            let mut found = conn.prepare_cached(text)?;
            let mut read = found.query(values)?;
            let mut rows = Vec::new();
            while let Some(row) = read.next()? {
                rows.push(R::read(row, Some(conn))?);
            }
            Ok(rows)
        })
    }
}

/// How much a word says that so many of all records have, as SQLite's `bm25` counts it.
fn rarity(records: u64, all: u64) -> f64 {
    let (records, all) = (records as f64, all.max(records) as f64);
    ((all - records + 0.5) / (records + 0.5)).ln().max(1e-6)
}

/// A digest as its column holds it.
fn hex(digest: Option<Digest>) -> Value {
    digest.map_or(Value::Null, |digest| Value::Text(digest.to_string()))
}
