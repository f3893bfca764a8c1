//! What an identifier that stands in a message names.

use super::ingress::broken;
use crate::Error;
use crate::kernel::Kernel;
use model::{ApprovalId, ClarificationId, IngressId, ReceiptId, TaskId};
use projections::Query;

/// What an identifier stands for.
pub(super) enum Named {
    Task(TaskId),
    Question(TaskId, ClarificationId),
    Approval(TaskId),
}

impl Kernel {
    /// The thing an identifier names, when there is one.
    pub(super) fn named(&self, query: &Query, word: &str) -> Result<Option<Named>, Error> {
        if let Ok(task) = word.parse::<TaskId>() {
            return Ok(query.task(task).map_err(broken)?.map(|row| Named::Task(row.task_id)));
        }
        if let Ok(id) = word.parse::<ApprovalId>() {
            return Ok(query.approval(id).map_err(broken)?.map(|row| Named::Approval(row.task_id)));
        }
        if let Ok(id) = word.parse::<ReceiptId>() {
            return Ok(query.receipt(id).map_err(broken)?.map(|row| Named::Task(row.task_id)));
        }
        if let Ok(id) = word.parse::<ClarificationId>() {
            let row = query.question(id).map_err(broken)?;
            return Ok(row.map(|row| match row.status {
                model::ingress::ClarificationStatus::Pending => Named::Question(row.task_id, id),
                _ => Named::Task(row.task_id),
            }));
        }
        if let Ok(id) = word.parse::<IngressId>() {
            let row = query.message(id).map_err(broken)?;
            return Ok(row.and_then(|row| row.chosen_task_id).map(Named::Task));
        }
        Ok(None)
    }
}
