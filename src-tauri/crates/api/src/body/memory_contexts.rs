//! The contexts that a memory record was sent in.

use crate::convert::opt_text;
use crate::ids::find;
use crate::{Host, Wire as _, not_found};
use model::MemoryId;
use projections::Query;
use projections::rows::MemoryUseRow;
use wire::Error;
use wire::knowledge::{MemoryContextList, MemoryContexts, TaskContexts, TurnRange};

/// Tasks that are named at most: those that were told last.
const TASKS_MAX: u32 = 50;

/// Stretches of turns of one task that are named at most: the last.
const RANGES_MAX: usize = 50;

pub(crate) fn memory_contexts(host: &dyn Host, p: MemoryContexts) -> Result<MemoryContextList, Error> {
    let memory: MemoryId = find(host, &p.memory)?;
    let query = host.query()?;
    if query.memory(memory).wire()?.is_none() {
        return Err(not_found("memory record", &p.memory));
    }
    let (rows, all) = query.memory_uses(memory, TASKS_MAX).wire()?;
    let tasks = rows.iter().map(|row| of_task(&query, row)).collect::<Result<Vec<_>, Error>>()?;
    let more = all.saturating_sub(u64::try_from(tasks.len()).unwrap_or(u64::MAX));
    Ok(MemoryContextList { memory_id: memory.to_string(), tasks, more })
}

fn of_task(query: &Query, row: &MemoryUseRow) -> Result<TaskContexts, Error> {
    let mut turns = Vec::new();
    for one in row.turns.iter().skip(row.turns.len().saturating_sub(RANGES_MAX)) {
        let attempt = query.attempt(one.attempt_id).wire()?.map_or(0, |attempt| attempt.attempt_no);
        turns.push(TurnRange { attempt, first: one.first, last: one.last });
    }
    let task = query.task(row.task_id).wire()?;
    Ok(TaskContexts {
        task_id: row.task_id.to_string(),
        title: opt_text(task.as_ref().map(|task| &task.title)),
        contexts: row.contexts,
        turns,
        first_at: row.first_at.0,
        last_at: row.last_at.0,
        helped: row.helped,
        contradicted: row.contradicted,
    })
}
