//! What the kernel tells, as surfaces hear it.

use crate::{Host, Wire as _};
use kernel::ports::Notice;

/// A notice as the wire says it.
pub fn notice(notice: &Notice) -> wire::Notice {
    match notice {
        Notice::Event { task_id, task_seq, event_type } => wire::Notice::Event {
            task_id: task_id.to_string(),
            task_seq: *task_seq,
            event_type: event_type.clone(),
            topics: wire::topics_of(event_type),
        },
        Notice::Delta { task_id, asking, from, text } => wire::Notice::Delta {
            task_id: task_id.to_string(),
            asking: *asking,
            from: *from,
            text: text.clone(),
        },
        Notice::Reasoning { task_id, asking, from, text } => wire::Notice::Reasoning {
            task_id: task_id.to_string(),
            asking: *asking,
            from: *from,
            text: text.clone(),
        },
        Notice::Progress { task_id, what, done, total } => wire::Notice::Progress {
            task_id: Some(task_id.to_string()),
            what: (*what).to_owned(),
            done: *done,
            total: *total,
        },
        Notice::Output { task_id, act, stream, text } => wire::Notice::Output {
            task_id: task_id.to_string(),
            act: act.to_string(),
            stream: (*stream).to_owned(),
            text: text.clone(),
        },
    }
}

/// The conversation of a task, each by its identifier; none where there is no such task.
///
/// # Errors
/// When the store cannot be read.
pub fn conversation_of(host: &dyn Host, task: &str) -> Result<Option<String>, wire::Error> {
    let Ok(task) = task.parse::<model::TaskId>() else { return Ok(None) };
    Ok(host.query()?.task(task).wire()?.map(|row| row.conversation_id.to_string()))
}
