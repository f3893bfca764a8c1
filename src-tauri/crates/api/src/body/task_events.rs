//! The events of a task.

use crate::convert::{opt, rows};
use crate::ids::find;
use crate::lineages::body_value;
use crate::{Host, Wire as _, not_found};
use model::TaskId;
use wire::Error;
use wire::task_events::{Event, Events, List};

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Events, Error> {
    let task: TaskId = find(host, &p.task)?;
    let reader = host.reader()?;
    let limit = usize::try_from(rows(p.limit)?).unwrap_or(1);
    let (last_seq, _) = reader.task_head(task).wire()?.ok_or_else(|| not_found("task", &p.task))?;
    let ended = host.query()?.task(task).wire()?.is_some_and(|row| row.status.is_terminal());
    let mut events = Vec::new();
    for stored in reader.events(task, p.after_seq, limit).wire()? {
        let event = stored.event().wire()?;
        events.push(Event {
            event_id: event.event_id.to_string(),
            seq: event.task_seq,
            body: body_value(&reader, &event)?,
            event_type: event.event_type,
            entity_type: event.entity_type,
            entity_id: event.entity_id,
            step_id: opt(event.step_id),
            attempt_id: opt(event.attempt_id),
            at: event.occurred_at.0,
            actor_type: event.actor_type,
            actor_id: event.actor_id.to_string(),
            causation_id: opt(event.causation_id),
            hash: stored.hash.to_string(),
            prev_hash: event.prev_event_hash.to_string(),
        });
    }
    Ok(Events { task_id: task.to_string(), events, last_seq, ended })
}
