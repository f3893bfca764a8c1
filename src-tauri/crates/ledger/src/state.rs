//! What the writer keeps in memory: heads, so that a commit reads nothing it wrote itself.

use crate::rows::{Hash, Id, count};
use crate::{Error, tree};
use model::TaskId;
use rusqlite::{Connection, OptionalExtension};
use seal::Digest;
use seal::merkle::Frontier;
use std::collections::HashMap;

/// Heads kept; beyond it they are read again when needed.
const HEADS_MAX: usize = 65_536;

/// The end of one task's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub seq: u64,
    pub hash: Digest,
}

impl Head {
    const GENESIS: Self = Self { seq: 0, hash: Digest::ZERO };
}

/// The ends of everything that grows.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    pub log_seq: u64,
    pub entry_seq: u64,
    pub gate_head: Digest,
    pub gate: Frontier,
    pub checkpoint_seq: u64,
    pub leaves: u64,
}

#[derive(Debug)]
pub(crate) struct State {
    pub ends: Ends,
    heads: HashMap<TaskId, Head>,
    changed: Vec<(TaskId, Option<Head>)>,
}

/// What to go back to when a batch is refused.
pub(crate) struct Mark(Ends);

impl State {
    pub fn load(conn: &Connection) -> Result<Self, Error> {
        let sql = |e: rusqlite::Error| Error::sql("reading the ends of the log", &e);
        let one = |text: &str| conn.query_row(text, [], |row| row.get::<_, i64>(0)).map(count).map_err(sql);
        let last = "SELECT hash FROM entries ORDER BY entry_seq DESC LIMIT 1";
        let gate_head = conn.query_row(last, [], |row| row.get::<_, Hash>(0)).optional().map_err(sql)?;
        let entry_seq = one("SELECT coalesce(max(entry_seq), 0) FROM entries")?;
        let ends = Ends {
            log_seq: one("SELECT coalesce(max(log_seq), 0) FROM events")?,
            entry_seq,
            gate_head: gate_head.map_or(Digest::ZERO, |h| h.0),
            gate: tree::gate_frontier(conn, entry_seq)?,
            checkpoint_seq: one("SELECT coalesce(max(checkpoint_seq), 0) FROM checkpoints")?,
            leaves: one("SELECT coalesce(max(leaf_index) + 1, 0) FROM checkpoints")?,
        };
        Ok(Self { ends, heads: HashMap::new(), changed: Vec::new() })
    }

    /// The end of a task's chain; the genesis for a task that has no event yet.
    pub fn head(&mut self, conn: &Connection, task: TaskId) -> Result<Head, Error> {
        if let Some(head) = self.heads.get(&task) {
            return Ok(*head);
        }
        let head = stored_head(conn, task)?.unwrap_or(Head::GENESIS);
        if self.heads.len() >= HEADS_MAX && self.changed.is_empty() {
            self.heads.clear();
        }
        self.heads.insert(task, head);
        Ok(head)
    }

    pub fn set_head(&mut self, task: TaskId, head: Head) {
        let before = self.heads.insert(task, head);
        self.changed.push((task, before));
    }

    pub fn mark(&mut self) -> Mark {
        self.changed.clear();
        Mark(self.ends.clone())
    }

    /// Forgets what a refused batch changed.
    pub fn back_to(&mut self, mark: Mark) {
        self.ends = mark.0;
        while let Some((task, before)) = self.changed.pop() {
            match before {
                Some(head) => self.heads.insert(task, head),
                None => self.heads.remove(&task),
            };
        }
    }
}

pub(crate) fn stored_head(conn: &Connection, task: TaskId) -> Result<Option<Head>, Error> {
    let text = "SELECT task_seq, hash FROM events WHERE task_id = ?1 ORDER BY task_seq DESC LIMIT 1";
    let read = |conn: &Connection| {
        conn.prepare_cached(text)?
            .query_row([Id::from(task)], |row| {
                Ok(Head { seq: count(row.get(0)?), hash: row.get::<_, Hash>(1)?.0 })
            })
            .optional()
    };
    read(conn).map_err(|e| Error::sql("reading the end of a task", &e))
}
