//! Whose no it was that left a task without anything done.

use super::Query;
use crate::Error;
use model::TaskId;
use rusqlite::types::Value;
pub use words::task::RefusedBy;

impl Query {
    /// Who refused what a task proposed, when nothing of it but reading was ever carried out. An approval that lapsed
    /// was refused by nobody.
    ///
    /// # Errors
    /// As every list.
    pub fn refused_by(&self, task: TaskId) -> Result<Option<RefusedBy>, Error> {
        let task = [Value::Text(task.to_string())];
        let acts = |which: &str| format!("SELECT count(*) FROM view_actions WHERE task_id = ?1 AND {which}");
        if self.number(&acts("action_class <> 'read_local' AND dispatched_at IS NOT NULL"), &task)? > 0 {
            return Ok(None);
        }
        if self.number(&acts("verdict = 'deny'"), &task)? > 0 {
            return Ok(Some(RefusedBy::Policy));
        }
        let no = "SELECT count(*) FROM view_approvals WHERE task_id = ?1 AND status = 'denied'";
        Ok((self.number(no, &task)? > 0).then_some(RefusedBy::Person))
    }
}
