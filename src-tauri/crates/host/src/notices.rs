//! What the kernel tells, handed on to everybody who listens.

use kernel::ports::{Notice, Observer};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

/// Notices a slow listener may fall behind by. Beyond that some are lost to it: notices are never truth, and
/// whoever hears of a later one looks again.
const BEHIND_MAX: usize = 4_096;

/// Hands notices on; never blocks.
#[derive(Default)]
pub struct Notices(Mutex<Vec<SyncSender<wire::Notice>>>);

impl Notices {
    /// Listens from now on.
    pub fn listen(&self) -> Receiver<wire::Notice> {
        let (send, receive) = sync_channel(BEHIND_MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(send);
        receive
    }

    /// Tells everybody.
    pub fn tell(&self, notice: &wire::Notice) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| {
            !matches!(listener.try_send(notice.clone()), Err(TrySendError::Disconnected(_)))
        });
    }
}

impl Observer for Notices {
    fn notice(&self, notice: Notice) {
        self.tell(&match notice {
            Notice::Event { task_id, task_seq, event_type } => wire::Notice::Event {
                task_id: task_id.to_string(),
                task_seq,
                topics: wire::topics_of(&event_type),
                event_type,
            },
            Notice::Delta { task_id, text } => wire::Notice::Delta { task_id: task_id.to_string(), text },
            Notice::Progress { task_id, what, done, total } => wire::Notice::Progress {
                task_id: Some(task_id.to_string()),
                what: what.to_owned(),
                done,
                total,
            },
        });
    }
}
