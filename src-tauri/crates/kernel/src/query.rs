//! Where the kernel finds candidates: in projections. What it then does rests on events alone (HK-20.1-3, HK-20.4-1).

use crate::Error;
use crate::kernel::Kernel;
use ledger::Stored;
use model::knowledge::{MemoryAssertion, MemoryRecord};
use model::task::TaskStatus;
use model::{MemoryId, ReceiptId, TaskId};
use projections::query::{Ask, Page, TaskFilter};
use projections::{Query, rows};

impl Kernel {
    /// The views of this store.
    ///
    /// # Errors
    /// When they are of another version; a writer brings them up to date when it opens the store.
    pub fn query(&self) -> Result<Query, Error> {
        Query::over(self.reader.clone()).map_err(view)
    }

    /// Tasks that have not ended.
    pub(crate) fn open_tasks(&self) -> Result<Vec<TaskId>, Error> {
        let open = TaskStatus::ALL.iter().copied().filter(|status| !status.is_terminal()).collect();
        let mut found = self.found(&TaskFilter { statuses: open, ..TaskFilter::default() })?;
        let severed = self.reader.severed()?;
        found.retain(|task| severed.iter().all(|one| one.task != *task));
        Ok(found)
    }

    fn found(&self, filter: &TaskFilter) -> Result<Vec<TaskId>, Error> {
        let query = self.query()?;
        let rows: Vec<rows::TaskRow> = all(|ask| query.tasks(filter, ask))?;
        Ok(rows.into_iter().map(|row| row.task_id).collect())
    }

    /// The event that issued a receipt.
    pub(crate) fn find_receipt(&self, receipt_id: ReceiptId) -> Result<Stored, Error> {
        let unknown = || Error::NotFound { kind: "receipt", id: receipt_id.to_string() };
        let row = self.query()?.receipt(receipt_id).map_err(view)?.ok_or_else(unknown)?;
        let mut after = 0;
        loop {
            let page = self.reader.events(row.task_id, after, 500)?;
            after = page.last().ok_or_else(unknown)?.task_seq;
            for stored in page {
                let event = stored.event()?;
                if event.event_type == "receipt.issued" && event.entity_id == receipt_id.to_string() {
                    return Ok(stored);
                }
            }
        }
    }

    /// One memory record.
    pub(crate) fn memory(&self, memory_id: MemoryId) -> Result<MemoryRecord, Error> {
        let unknown = || Error::NotFound { kind: "memory record", id: memory_id.to_string() };
        self.query()?.memory(memory_id).map_err(view)?.map(record).ok_or_else(unknown)
    }
}

/// A memory record as its view holds it.
pub(crate) fn record(row: rows::MemoryRow) -> MemoryRecord {
    MemoryRecord {
        memory_id: row.memory_id,
        promoted_by_task_id: row.task_id,
        promoted_by: row.promoted_by,
        claim: row.claim,
        scope: row.scope,
        evidence_refs: row.evidence,
        trust_tier: row.trust_tier,
        promotion_reason: row.reason,
        status: row.status,
        created_at: row.created_at,
        promoted_from_belief_id: row.from_belief,
        invalidated_at: row.ended_at,
        supersedes: row.supersedes,
        project_hash: row.project_hash,
        structured_assertion: row.memory_type.map(|memory_type| MemoryAssertion { memory_type }),
        retention_class: row.retention,
        invalidation_policy: row.invalidation,
        expires_at: row.expires_at,
    }
}

/// Every page of a list.
pub(crate) fn all<T>(
    mut ask: impl FnMut(Ask) -> Result<Page<T>, projections::Error>,
) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    let mut next = Ask::ALL;
    loop {
        let page = ask(next).map_err(view)?;
        found.extend(page.rows);
        match page.next {
            Some(cursor) => next = Ask::ALL.after(Some(cursor)),
            None => return Ok(found),
        }
    }
}

pub(crate) fn view(error: projections::Error) -> Error {
    Error::Broken(format!("the views cannot be read: {error}"))
}
