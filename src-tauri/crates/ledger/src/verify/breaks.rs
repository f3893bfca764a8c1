//! Where each task's chain breaks: what a person is shown before anything is severed.

use super::events::{compare, fault};
use super::fields::fields;
use super::notes::Heads;
use super::report::Stop;
use crate::reader::Reader;
use crate::rows::{Hash, Id, count};
use crate::severed::{self, Severed};
use crate::{CheckpointKind, Error};
use model::TaskId;
use rusqlite::{Connection, Row};
use seal::Digest;
use seal::chain::ChainVerifier;
use seal::merkle::{Frontier, leaf_hash};
use std::collections::BTreeMap;

/// The first event of a task that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// Whose.
    pub task: TaskId,
    /// Its number; one more than there are when the end was cut off.
    pub from_seq: u64,
    /// What is wrong there.
    pub why: String,
}

/// The first break of every task that has one and was not severed there; the log is followed task by task. Breaks of
/// anything else (the gate, notes, the schema) are [`super::verify`]'s to find, and no task can be severed for them.
///
/// # Errors
/// [`Error::Io`], [`Error::Corrupt`].
pub fn breaks(reader: &Reader) -> Result<Vec<Break>, Error> {
    reader.with(|conn| {
        let tx = conn.unchecked_transaction().map_err(|e| Error::sql("verifying", &e))?;
        found(&tx).map_err(Stop::into_error)
    })
}

/// A task as far as it was followed.
struct Task<'a> {
    id: TaskId,
    known: &'a [Severed],
    ahead: Vec<(u64, Digest, u64)>,
    chain: ChainVerifier,
    /// How many events the last checkpoint that fits covers.
    signed: u64,
    log_seq: u64,
    tree: Frontier,
    broken: Option<(u64, String)>,
}

fn found(conn: &Connection) -> Result<Vec<Break>, Stop> {
    let known = severed::all(conn)?;
    let mut ahead = Heads::load(conn, &known)?.of_tasks();
    let text = "SELECT log_seq, epoch, task_id, task_seq, event_id, event_type, idempotency_key, hash, bytes \
                FROM events ORDER BY task_id, task_seq";
    let mut found = conn.prepare(text)?;
    let mut rows = found.query([])?;
    let (mut breaks, mut task) = (Vec::new(), None::<Task<'_>>);
    while let Some(row) = rows.next()? {
        let id = row.get::<_, Id>(2)?.task();
        if task.as_ref().is_none_or(|task| task.id != id) {
            breaks.extend(task.take().and_then(Task::end));
            task = Some(Task::new(id, &known, &mut ahead));
        }
        if let Some(task) = &mut task {
            task.follow(row)?;
        }
    }
    breaks.extend(task.and_then(Task::end));
    // Signed for, and not one event of it is there.
    for (task, ahead) in ahead {
        if let Some((size, ..)) = ahead.first() {
            breaks.push(Break {
                task,
                from_seq: 1,
                why: format!("it has no events, and {size} were signed for"),
            });
        }
    }
    breaks.sort_by_key(|one| one.task);
    Ok(breaks)
}

impl<'a> Task<'a> {
    fn new(id: TaskId, known: &'a [Severed], ahead: &mut BTreeMap<TaskId, Vec<(u64, Digest, u64)>>) -> Self {
        let ahead = ahead.remove(&id).unwrap_or_default();
        Self {
            id,
            known,
            ahead,
            chain: ChainVerifier::new(),
            signed: 0,
            log_seq: 0,
            tree: Frontier::new(),
            broken: None,
        }
    }

    fn end(self) -> Option<Break> {
        let seq = self.chain.len();
        let cut = self.ahead.first().filter(|(size, ..)| *size > seq);
        let cut =
            cut.map(|(size, ..)| (seq + 1, format!("it ends there, and {size} events were signed for")));
        let (from_seq, why) = self.broken.or(cut)?;
        Some(Break { task: self.id, from_seq, why })
    }

    fn follow(&mut self, row: &Row<'_>) -> Result<(), Stop> {
        if self.broken.is_some() {
            return Ok(());
        }
        let (log_seq, seq) = (count(row.get(0)?), count(row.get(3)?));
        let bytes = row.get_ref(8)?.as_blob().unwrap_or_default();
        let hash = row.get::<_, Hash>(7)?.0;
        if severed::covered(self.known, self.id, seq, log_seq) {
            for lost in self.chain.len() + 1..seq {
                self.grow(lost, leaf_hash(b""));
            }
            self.grow(seq, leaf_hash(bytes));
            self.chain = ChainVerifier::resume(seq, hash);
            self.log_seq = self.log_seq.max(log_seq);
            return Ok(());
        }
        if log_seq <= self.log_seq {
            // It stands before the one that it follows: nobody can say which of the two was moved.
            self.broken = Some((self.chain.len().max(1), format!("event {seq} stands before it in the log")));
            return Ok(());
        }
        let next = self.chain.len() + 1;
        if let Err(why) = self.fits(row, bytes, hash, seq) {
            self.broken = Some((next.min(seq.max(1)), why));
            return Ok(());
        }
        self.log_seq = log_seq;
        self.grow(seq, leaf_hash(bytes));
        Ok(())
    }

    fn fits(&mut self, row: &Row<'_>, bytes: &[u8], hash: Digest, seq: u64) -> Result<(), String> {
        if Digest::of(bytes) != hash {
            return Err("its bytes do not hash to its hash".to_owned());
        }
        let fields = fields(bytes)?;
        compare(row, &fields, self.id, seq)?;
        self.chain.follow(seq, fields.link()?, hash).map_err(fault)
    }

    /// The next leaf; and where a checkpoint signed for another root, the task breaks behind the checkpoint before it.
    fn grow(&mut self, seq: u64, leaf: Digest) {
        self.tree.push(leaf);
        while let Some((size, root, number)) = self.ahead.last().copied().filter(|(size, ..)| *size <= seq) {
            if self.tree.root() != root && self.broken.is_none() {
                let kind = CheckpointKind::Task;
                let why = format!("checkpoint {number} ({kind}) signed for other events up to {size}");
                self.broken = Some((self.signed + 1, why));
            }
            self.signed = size;
            self.ahead.pop();
        }
    }
}
