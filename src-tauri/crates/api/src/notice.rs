//! What the kernel tells, as surfaces hear it.

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
