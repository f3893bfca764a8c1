//! Events: bytes, copies, chain, trees.

use super::Run;
use super::notes::Heads;
use super::report::{Place, Stop};
use super::scan::{Fields, fields, is_hex};
use super::trees::{self, Grow};
use crate::rows::{Hash, Id, count};
use model::TaskId;
use seal::Digest;
use std::collections::{BTreeSet, HashMap};

/// Rows between two words about the progress.
pub(super) const TELL_EVERY: u64 = 4_096;

/// What is remembered of a task.
struct Task {
    seq: u64,
    head: Digest,
    /// How many of its events are signed for.
    signed: u64,
}

pub(super) fn check(run: &mut Run<'_>, heads: &Heads, epochs: u64) -> Result<(), Stop> {
    trees::beside(heads.of_tasks(), |leaves| chains(run, heads, epochs, leaves))
}

fn chains(run: &mut Run<'_>, heads: &Heads, epochs: u64, leaves: &mut Grow) -> Result<(), Stop> {
    let conn = run.conn;
    let of: i64 = conn.query_row("SELECT coalesce(max(log_seq), 0) FROM events", [], |row| row.get(0))?;
    let text = "SELECT log_seq, epoch, task_id, task_seq, event_id, event_type, idempotency_key, hash, bytes \
                FROM events ORDER BY log_seq";
    let mut found = conn.prepare(text)?;
    let mut rows = found.query([])?;
    let mut tasks: HashMap<TaskId, Task> = HashMap::new();
    let mut epoch = 0;
    while let Some(row) = rows.next()? {
        let (log_seq, row_epoch) = (count(row.get(0)?), count(row.get(1)?));
        let (task_id, task_seq) = (row.get::<_, Id>(2)?.task(), count(row.get(3)?));
        let at = |why: String| Stop::At(Place::Event { log_seq, task: task_id, task_seq }, why);
        if log_seq != run.report.events + 1 {
            return Err(at(format!("the log goes from {} to {log_seq}", run.report.events)));
        }
        if row_epoch < epoch || row_epoch > epochs {
            return Err(at(format!("it carries epoch {row_epoch} behind epoch {epoch}")));
        }
        epoch = row_epoch;
        let bytes = row.get_ref(8)?.as_blob().map_err(|e| at(e.to_string()))?;
        let hash = Digest::of(bytes);
        if hash != row.get::<_, Hash>(7)?.0 {
            return Err(at("its bytes do not hash to its hash".to_owned()));
        }
        let fields = fields(bytes).map_err(at)?;
        compare(row, &fields, task_id, task_seq).map_err(at)?;
        let task = tasks.entry(task_id).or_insert_with(|| Task::new(heads.signed(task_id)));
        task.push(task_seq, &fields, hash).map_err(at)?;
        if task_seq <= task.signed {
            leaves.leaf(task_id, bytes);
        }
        run.report.events += 1;
        if run.report.events.is_multiple_of(TELL_EVERY) {
            run.tell("events", run.report.events, count(of))?;
        }
    }
    run.report.tasks = tasks.len() as u64;
    let seen: BTreeSet<TaskId> = tasks.keys().copied().collect();
    for (id, task) in &tasks {
        let (seq, signed) = (task.seq, task.signed);
        if seq < signed {
            return Err(Stop::Missing(format!("task `{id}` has {seq} events, and {signed} were signed for")));
        }
        run.report.unsigned_events += seq - signed;
    }
    if let Some((id, size)) = heads.tasks().find(|(id, _)| !seen.contains(id)) {
        return Err(Stop::Missing(format!("task `{id}` has no events, and {size} were signed for")));
    }
    run.tell("events", run.report.events, count(of))
}

fn compare(row: &rusqlite::Row<'_>, fields: &Fields<'_>, task: TaskId, seq: u64) -> Result<(), String> {
    let read = |e: rusqlite::Error| e.to_string();
    let differs = |column: &str| Err(format!("the column `{column}` differs from the bytes"));
    if !is_hex(&fields.task_id, "task_", task.uuid().as_bytes()) {
        return differs("task_id");
    }
    if fields.task_seq != seq {
        return differs("task_seq");
    }
    if !is_hex(&fields.event_id, "evt_", row.get_ref(4).map_err(read)?.as_blob().unwrap_or_default()) {
        return differs("event_id");
    }
    let text = |value: rusqlite::types::ValueRef<'_>, said: &str| value.as_str().is_ok_and(|v| v == said);
    if !text(row.get_ref(5).map_err(read)?, &fields.event_type) {
        return differs("event_type");
    }
    let key = row.get_ref(6).map_err(read)?;
    let same = match &fields.idempotency_key {
        Some(said) => text(key, said),
        None => key == rusqlite::types::ValueRef::Null,
    };
    if same { Ok(()) } else { differs("idempotency_key") }
}

impl Task {
    const fn new(signed: u64) -> Self {
        Self { seq: 0, head: Digest::ZERO, signed }
    }

    /// The next event of the task: its number and its link.
    fn push(&mut self, seq: u64, fields: &Fields<'_>, hash: Digest) -> Result<(), String> {
        if seq != self.seq + 1 {
            return Err(format!("the task goes from {} to {seq}", self.seq));
        }
        if !is_hex(&fields.prev_event_hash, "", self.head.as_bytes()) {
            return Err(format!("it points to `{}`, not to the event before it", fields.prev_event_hash));
        }
        self.seq = seq;
        self.head = hash;
        Ok(())
    }
}
