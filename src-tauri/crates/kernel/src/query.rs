//! Where the kernel finds candidates. What it then does rests on events alone (HK-20.1-3, HK-20.4-1).

use crate::kernel::Kernel;
use crate::state::TaskState;
use crate::Error;
use ledger::Stored;
use model::knowledge::MemoryRecord;
use model::{Body, Event, MemoryId, ReceiptId, TaskId};
use std::collections::BTreeMap;

impl Kernel {
    /// Every task but the reserved ones.
    fn tasks_of_people(&self) -> Result<Vec<TaskId>, Error> {
        let reserved = self.store_state();
        let mut ids = self.reader.task_ids()?;
        ids.retain(|id| {
            Some(*id) != reserved.system_task_id && !reserved.conversations.iter().any(|c| c.inbox_task_id == *id)
        });
        Ok(ids)
    }

    /// Tasks that have not ended.
    pub(crate) fn open_tasks(&self) -> Result<Vec<TaskId>, Error> {
        let mut open = Vec::new();
        for id in self.tasks_of_people()? {
            if !self.load(id)?.task.status.is_terminal() {
                open.push(id);
            }
        }
        Ok(open)
    }

    /// Tasks derived from this one.
    pub(crate) fn children(&self, parent: TaskId) -> Result<Vec<TaskState>, Error> {
        let mut children = Vec::new();
        for id in self.tasks_of_people()? {
            let state = self.load(id)?;
            if state.task.parent_task_id == Some(parent) {
                children.push(state);
            }
        }
        Ok(children)
    }

    /// The event that issued a receipt.
    pub(crate) fn find_receipt(&self, receipt_id: ReceiptId) -> Result<Stored, Error> {
        let mut after = 0;
        loop {
            let page = self.reader.log(after, 1_000)?;
            let Some(last) = page.last() else {
                return Err(Error::NotFound { kind: "receipt", id: receipt_id.to_string() });
            };
            after = last.log_seq;
            for stored in page {
                let event = Event::from_bytes(&stored.bytes)?;
                if event.event_type == "receipt.issued" && event.entity_id == receipt_id.to_string() {
                    return Ok(stored);
                }
            }
        }
    }

    /// Memory records with their standing.
    pub(crate) fn memories(&self) -> Result<Vec<MemoryRecord>, Error> {
        let mut records: BTreeMap<MemoryId, MemoryRecord> = BTreeMap::new();
        let mut after = 0;
        loop {
            let page = self.reader.log(after, 1_000)?;
            let Some(last) = page.last() else { return Ok(records.into_values().collect()) };
            after = last.log_seq;
            for stored in &page {
                let event = Event::from_bytes(&stored.bytes)?;
                if event.event_type.starts_with("memory.") {
                    let body: Body = self.body_of(&event)?;
                    knowledge::memory::fold(&mut records, &body, event.occurred_at);
                }
            }
        }
    }
}
