//! The store and its tasks folded from events by a process that only reads.

use crate::Wire as _;
use kernel::StoreState;
use kernel::keyring::KeyHistory;
use kernel::state::TaskState;
use ledger::{Reader, Stored};
use model::{Body, Event, TaskId};
use serde_json::Value;
use wire::Error;

/// Events read at once.
const STRIDE: usize = 1_000;

/// Hands every event of a task to `each`, in order.
pub(crate) fn walk(
    reader: &Reader,
    task: TaskId,
    each: &mut dyn FnMut(&Stored, &Event, &Body) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let events = reader.events(task, after, STRIDE).wire()?;
        let Some(last) = events.last() else { return Ok(()) };
        after = last.task_seq;
        for stored in &events {
            let event = stored.event().wire()?;
            let body = body(reader, &event)?;
            each(stored, &event, &body)?;
        }
    }
}

/// The body of an event with what is still disclosed of it.
pub(crate) fn body(reader: &Reader, event: &Event) -> Result<Body, Error> {
    reader.revealing(|shown| event.body(shown)).wire()?.wire()
}

/// A part of a document that stands at `pointer`, with what is still disclosed of it.
pub(crate) fn revealed(reader: &Reader, part: Value, pointer: &str) -> Result<Value, Error> {
    reader.revealing(|shown| seal::disclose::reveal_at(part, pointer, shown)).wire()?.wire()
}

/// The store as its own stream says: the stream of the first event ever. (The first identifier may be the inbox's,
/// which is made within the same millisecond.)
///
/// # Errors
/// When the store cannot be read.
pub fn store_state(reader: &Reader) -> Result<StoreState, Error> {
    let mut state = StoreState::default();
    if let Some(first) = reader.log(0, 1).wire()?.into_iter().next() {
        walk(reader, first.task_id, &mut |stored, _, body| {
            state.apply(stored.task_seq, body);
            Ok(())
        })?;
    }
    Ok(state)
}

/// Every key the store ever made known.
pub(crate) fn key_history(reader: &Reader) -> Result<KeyHistory, Error> {
    let mut history = KeyHistory::new(reader.log_id());
    if let Some(first) = reader.log(0, 1).wire()?.into_iter().next() {
        walk(reader, first.task_id, &mut |_, event, body| {
            history.take(event.occurred_at, body);
            Ok(())
        })?;
    }
    Ok(history)
}

/// A task as its events say.
pub(crate) fn task_state(reader: &Reader, task: TaskId) -> Result<TaskState, Error> {
    let mut state: Option<TaskState> = None;
    // Of a task that was severed: as it was before that.
    let severed = reader.severed().wire()?;
    let cut = severed.iter().filter(|one| one.task == task).map(|one| one.from_seq).min();
    walk(reader, task, &mut |_, event, body| {
        if cut.is_some_and(|from| event.task_seq >= from) {
            return Ok(());
        }
        match state.as_mut() {
            None => state = Some(TaskState::begin(event, body).wire()?),
            Some(state) => state.apply(event, body).wire()?,
        }
        Ok(())
    })?;
    state.ok_or_else(|| crate::not_found("task", &task.to_string()))
}
