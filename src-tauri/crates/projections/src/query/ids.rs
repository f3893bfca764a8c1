//! Identifiers by a part of them, as people type and copy them.

use super::Query;
use crate::Error;
use rusqlite::params;

/// Which identifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Tasks.
    Task,
    /// Approvals.
    Approval,
    /// Receipts.
    Receipt,
    /// Artifacts.
    Artifact,
    /// Grants.
    Grant,
    /// Beliefs.
    Belief,
    /// Memory records.
    Memory,
    /// Questions.
    Question,
}

impl Named {
    const fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Task => ("view_tasks", "task_id"),
            Self::Approval => ("view_approvals", "approval_id"),
            Self::Receipt => ("view_receipts", "receipt_id"),
            Self::Artifact => ("view_artifacts", "artifact_id"),
            Self::Grant => ("view_grants", "grant_id"),
            Self::Belief => ("view_beliefs", "belief_id"),
            Self::Memory => ("view_memories", "memory_id"),
            Self::Question => ("view_questions", "clarification_id"),
        }
    }
}

impl Query {
    /// Identifiers that begin with `begin` or end with `end` (an empty text matches nothing), the newest first, at
    /// most `max`.
    ///
    /// # Errors
    /// As every list.
    pub fn ids_like(&self, named: Named, begin: &str, end: &str, max: u32) -> Result<Vec<String>, Error> {
        let (table, column) = named.place();
        let text = format!(
            "SELECT {column} FROM {table} WHERE (?1 <> '' AND substr({column}, 1, length(?1)) = ?1) \
             OR (?2 <> '' AND substr({column}, -length(?2)) = ?2) ORDER BY seq DESC LIMIT ?3"
        );
        self.read(|conn| {
            let mut found = conn.prepare_cached(&text)?;
            let ids = found.query_map(params![begin, end, max], |row| row.get(0))?;
            Ok(ids.collect::<rusqlite::Result<Vec<String>>>()?)
        })
    }
}
