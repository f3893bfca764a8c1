//! Memory as a context pack asks for it: what holds in a project, by its words, and what ran out.

use super::{Is, Query};
use crate::Error;
use crate::rows::{MemoryRow, ViewRow as _};
use model::knowledge::MemoryStatus;
use model::{BeliefId, Digest, UnixMs};
use rusqlite::types::Value;
use rusqlite::{ToSql, params};

/// What every context of its project holds: what is pinned, what a person set right, and what a person likes better.
const IN_FORCE: &str = "(retention = 'pinned' OR memory_type IN ('preference', 'correction'))";

impl Query {
    /// Memory records that hold in a project, or everywhere, at `now`, and hold any of `words`: the best match first, ties
    /// by identifier, at most `most`. The words are compared by their stems.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_saying(
        &self,
        words: &[String],
        project: Option<Digest>,
        now: UnixMs,
        most: u32,
    ) -> Result<Vec<MemoryRow>, Error> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        // Quoted, so that nothing in them is an operator.
        let wanted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.replace('"', ""))).collect();
        let text = format!(
            "SELECT {} FROM view_memory_search s JOIN view_memory_docs d ON d.doc = s.rowid \
             JOIN view_memories ON memory_id = d.record \
             WHERE s.text MATCH ?1 AND status = 'active' AND (project_hash IS NULL OR project_hash = ?2) \
             AND (expires_at IS NULL OR expires_at > ?3) ORDER BY bm25(view_memory_search), memory_id LIMIT ?4",
            MemoryRow::COLUMNS
        );
        self.memory_rows(&text, params![wanted.join(" OR "), hex(project), now.0, most])
    }

    /// Memory records that every context of a project holds at `now`, the newest first, at most `most`.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_in_force(
        &self,
        project: Option<Digest>,
        now: UnixMs,
        most: u32,
    ) -> Result<Vec<MemoryRow>, Error> {
        let text = format!(
            "SELECT {} FROM view_memories WHERE status = 'active' AND {IN_FORCE} \
             AND (project_hash IS NULL OR project_hash = ?1) AND (expires_at IS NULL OR expires_at > ?2) \
             ORDER BY seq DESC LIMIT ?3",
            MemoryRow::COLUMNS
        );
        self.memory_rows(&text, params![hex(project), now.0, most])
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
        self.memory_rows(&text, params![now.0, most])
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

    fn memory_rows(&self, text: &str, values: &[&dyn ToSql]) -> Result<Vec<MemoryRow>, Error> {
        self.read(|conn| {
            let mut found = conn.prepare_cached(text)?;
            let mut read = found.query(values)?;
            let mut rows = Vec::new();
            while let Some(row) = read.next()? {
                rows.push(MemoryRow::read(row, Some(conn))?);
            }
            Ok(rows)
        })
    }
}

/// A digest as its column holds it.
fn hex(digest: Option<Digest>) -> Value {
    digest.map_or(Value::Null, |digest| Value::Text(digest.to_string()))
}
