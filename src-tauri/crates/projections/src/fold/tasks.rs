//! Rows of tasks while a batch is folded: nearly every event changes the row of its task, which is the widest there
//! is. It is read once, changed here, and written once at the end of the batch.

use super::Seen;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::cell::RefCell;
use std::collections::HashMap;

/// Rows kept before all are written: memory stays bounded.
const KEPT_MAX: usize = 4_096;

/// What of a task's row changes, and its conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TaskRow {
    pub conversation: String,
    pub goal: [u8; 32],
    pub status: String,
    pub run_status: String,
    pub reason: String,
    pub priority: String,
    pub updated_at: i64,
    pub ended_at: Option<i64>,
    pub rolled_back: bool,
    pub cancel_requested: bool,
    pub pause_requested: bool,
    pub attempt: Option<String>,
    pub attempt_status: Option<String>,
    pub termination: Option<String>,
    pub attempts: i64,
    pub iterations: i64,
    pub open_approvals: i64,
    pub open_questions: i64,
    pub unread_inputs: i64,
    pub unknown_effects: i64,
    pub receipts: i64,
    pub tokens_reserved: i64,
    pub tokens_used: i64,
    pub cost_reserved: i64,
    pub cost_used: i64,
    pub wall_ms: i64,
}

/// A row as it stands in the table, and as it will.
struct Kept {
    row: TaskRow,
    changed: bool,
}

/// The rows of a batch. A task that has no row yet is not remembered: it may get one.
#[derive(Default)]
pub(crate) struct Tasks(RefCell<HashMap<String, Kept>>);

const READ: &str = "SELECT conversation_id, goal, status, run_status, reason, priority, updated_at, ended_at, \
                    rolled_back, cancel_requested, pause_requested, attempt_id, attempt_status, termination, \
                    attempts, iterations, open_approvals, open_questions, unread_inputs, unknown_effects, receipts, \
                    tokens_reserved, tokens_used, cost_reserved, cost_used, wall_ms FROM view_tasks WHERE task_id = ?1";

const WRITE: &str = "UPDATE view_tasks SET goal = ?2, status = ?3, run_status = ?4, reason = ?5, priority = ?6, \
                     updated_at = ?7, ended_at = ?8, rolled_back = ?9, cancel_requested = ?10, \
                     pause_requested = ?11, attempt_id = ?12, attempt_status = ?13, termination = ?14, \
                     attempts = ?15, iterations = ?16, open_approvals = ?17, open_questions = ?18, \
                     unread_inputs = ?19, unknown_effects = ?20, receipts = ?21, tokens_reserved = ?22, \
                     tokens_used = ?23, cost_reserved = ?24, cost_used = ?25, wall_ms = ?26 WHERE task_id = ?1";

fn read(row: &Row<'_>) -> rusqlite::Result<TaskRow> {
    Ok(TaskRow {
        conversation: row.get(0)?,
        goal: row.get(1)?,
        status: row.get(2)?,
        run_status: row.get(3)?,
        reason: row.get(4)?,
        priority: row.get(5)?,
        updated_at: row.get(6)?,
        ended_at: row.get(7)?,
        rolled_back: row.get(8)?,
        cancel_requested: row.get(9)?,
        pause_requested: row.get(10)?,
        attempt: row.get(11)?,
        attempt_status: row.get(12)?,
        termination: row.get(13)?,
        attempts: row.get(14)?,
        iterations: row.get(15)?,
        open_approvals: row.get(16)?,
        open_questions: row.get(17)?,
        unread_inputs: row.get(18)?,
        unknown_effects: row.get(19)?,
        receipts: row.get(20)?,
        tokens_reserved: row.get(21)?,
        tokens_used: row.get(22)?,
        cost_reserved: row.get(23)?,
        cost_used: row.get(24)?,
        wall_ms: row.get(25)?,
    })
}

fn write(conn: &Connection, task: &str, r: &TaskRow) -> rusqlite::Result<()> {
    let values = params![
        task,
        r.goal,
        r.status,
        r.run_status,
        r.reason,
        r.priority,
        r.updated_at,
        r.ended_at,
        r.rolled_back,
        r.cancel_requested,
        r.pause_requested,
        r.attempt,
        r.attempt_status,
        r.termination,
        r.attempts,
        r.iterations,
        r.open_approvals,
        r.open_questions,
        r.unread_inputs,
        r.unknown_effects,
        r.receipts,
        r.tokens_reserved,
        r.tokens_used,
        r.cost_reserved,
        r.cost_used,
        r.wall_ms,
    ];
    conn.prepare_cached(WRITE)?.execute(values).map(drop)
}

impl Tasks {
    /// Writes what was changed, and forgets all.
    pub fn flush(&self, conn: &Connection) -> rusqlite::Result<()> {
        for (task, kept) in self.0.borrow_mut().drain().filter(|(_, kept)| kept.changed) {
            write(conn, &task, &kept.row)?;
        }
        Ok(())
    }
}

impl Seen<'_> {
    /// Lends the row of a task; a task without one answers nothing.
    pub(super) fn task<T>(
        &self,
        task: &str,
        with: impl FnOnce(&mut TaskRow) -> T,
    ) -> rusqlite::Result<Option<T>> {
        self.lend(task, |kept| {
            kept.changed = true;
            with(&mut kept.row)
        })
    }

    /// The conversation of a task.
    pub(super) fn conversation_of(&self, task: &str) -> rusqlite::Result<Option<String>> {
        self.lend(task, |kept| kept.row.conversation.clone())
    }

    fn lend<T>(&self, task: &str, with: impl FnOnce(&mut Kept) -> T) -> rusqlite::Result<Option<T>> {
        if !self.tasks.0.borrow().contains_key(task) {
            let mut found = self.conn.prepare_cached(READ)?;
            let Some(row) = found.query_row([task], read).optional()? else {
                return Ok(None);
            };
            if self.tasks.0.borrow().len() >= KEPT_MAX {
                self.tasks.flush(self.conn)?;
            }
            self.tasks.0.borrow_mut().insert(task.to_owned(), Kept { row, changed: false });
        }
        let mut kept = self.tasks.0.borrow_mut();
        Ok(kept.get_mut(task).map(with))
    }

    /// Changes the row of a task, where there is one, and notes when.
    pub(super) fn touch_task(&self, task: &str, with: impl FnOnce(&mut TaskRow)) -> rusqlite::Result<()> {
        let at = self.at();
        self.task(task, |row| {
            with(row);
            row.updated_at = at;
        })
        .map(drop)
    }

    /// The task that a row of another view belongs to.
    pub(super) fn task_of(&self, question: &str, id: &str) -> rusqlite::Result<Option<String>> {
        self.conn.prepare_cached(question)?.query_row([id], |row| row.get(0)).optional()
    }
}
