//! What the kernel tells, handed on to everybody who listens.

use crate::run_stream_thread::Feed;
use kernel::ports::{Notice, Observer};
use model::TaskId;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

/// Notices a slow listener may fall behind by. Beyond that some are lost to it: notices are never truth, and
/// whoever hears of a later one looks again.
const BEHIND_MAX: usize = 4_096;

/// Hands notices on; never blocks.
#[derive(Default)]
pub struct Notices {
    listeners: Mutex<Vec<SyncSender<wire::Notice>>>,
    /// The run stream, while this process keeps one.
    feed: Mutex<Option<Feed>>,
    /// Told of every head that is signed.
    signed: Mutex<Option<SyncSender<()>>>,
    /// Told of every task whose context was compiled.
    compiled: Mutex<Option<SyncSender<TaskId>>>,
    /// Told that memory has changed.
    remembered: Mutex<Option<SyncSender<()>>>,
    /// Told that there may be something to send over a gateway, or one to listen to.
    chatted: Mutex<Option<SyncSender<()>>>,
    /// Told that a task stands otherwise, and may have ended.
    statuses: Mutex<Option<SyncSender<()>>>,
    /// Wakes the mesh, while it is on.
    meshed: Mutex<Option<Wakes>>,
}

/// Wakes a thread; must not block.
pub type Wakes = Box<dyn Fn() + Send>;

impl Notices {
    /// Listens from now on.
    pub fn listen(&self) -> Receiver<wire::Notice> {
        let (send, receive) = sync_channel(BEHIND_MAX);
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(send);
        receive
    }

    /// Feeds the run stream from now on, or no longer.
    pub fn feed(&self, feed: Option<Feed>) {
        *self.feed.lock().unwrap_or_else(PoisonError::into_inner) = feed;
    }

    /// Tells of signed heads from now on, or no longer.
    pub fn tell_of_heads(&self, signed: Option<SyncSender<()>>) {
        *self.signed.lock().unwrap_or_else(PoisonError::into_inner) = signed;
    }

    /// Tells of compiled contexts from now on, or no longer.
    pub fn tell_of_contexts(&self, compiled: Option<SyncSender<TaskId>>) {
        *self.compiled.lock().unwrap_or_else(PoisonError::into_inner) = compiled;
    }

    /// Tells of changes of memory from now on, or no longer.
    pub fn tell_of_memories(&self, remembered: Option<SyncSender<()>>) {
        *self.remembered.lock().unwrap_or_else(PoisonError::into_inner) = remembered;
    }

    /// Tells of what may be news for a chat from now on, or no longer.
    pub fn tell_of_chats(&self, chatted: Option<SyncSender<()>>) {
        *self.chatted.lock().unwrap_or_else(PoisonError::into_inner) = chatted;
    }

    /// Tells of tasks that stand otherwise from now on, or no longer.
    pub fn tell_of_statuses(&self, statuses: Option<SyncSender<()>>) {
        *self.statuses.lock().unwrap_or_else(PoisonError::into_inner) = statuses;
    }

    /// Wakes the mesh whenever something was committed that it may have to say from now on, or no longer.
    pub fn tell_of_commits(&self, meshed: Option<Wakes>) {
        *self.meshed.lock().unwrap_or_else(PoisonError::into_inner) = meshed;
    }

    /// Memory has changed, or how it is found.
    pub fn memories_changed(&self) {
        if let Some(remembered) = &*self.remembered.lock().unwrap_or_else(PoisonError::into_inner) {
            // A word that waits already says the same.
            let _ = remembered.try_send(());
        }
    }

    /// Tells everybody.
    pub fn tell(&self, notice: &wire::Notice) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| {
            !matches!(listener.try_send(notice.clone()), Err(TrySendError::Disconnected(_)))
        });
    }
}

/// Whether an event may be news for a chat: how a task stands, what waits for a person, what is queued, and gateways.
fn is_of_chats(event_type: &str) -> bool {
    const NEWS: [&str; 6] = [
        "task.status_changed",
        "approval.requested",
        "clarification.requested",
        "effect.uncertain",
        "message.queued",
        "message.settled",
    ];
    NEWS.contains(&event_type) || event_type.starts_with("gateway.") && event_type != "gateway.read"
}

impl Observer for Notices {
    fn notice(&self, notice: Notice) {
        if let Notice::Event { event_type, .. } = &notice
            && event_type == "checkpoint.signed"
            && let Some(signed) = &*self.signed.lock().unwrap_or_else(PoisonError::into_inner)
        {
            // A word that waits already says the same.
            let _ = signed.try_send(());
        }
        if let Notice::Event { event_type, task_id, .. } = &notice
            && event_type == "attempt.context_compiled"
            && let Some(compiled) = &*self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
        {
            // What finds no room comes again with the next turn.
            let _ = compiled.try_send(*task_id);
        }
        if let Notice::Event { event_type, .. } = &notice
            && (event_type.starts_with("memory.") || event_type == "disclosure.erased")
        {
            self.memories_changed();
        }
        if let Notice::Event { event_type, .. } = &notice
            && is_of_chats(event_type)
            && let Some(chatted) = &*self.chatted.lock().unwrap_or_else(PoisonError::into_inner)
        {
            // A word that waits already says the same.
            let _ = chatted.try_send(());
        }
        if let Notice::Event { event_type, .. } = &notice
            && event_type == "task.status_changed"
            && let Some(statuses) = &*self.statuses.lock().unwrap_or_else(PoisonError::into_inner)
        {
            // A word that waits already says the same.
            let _ = statuses.try_send(());
        }
        // What it records itself is no news to it.
        if let Notice::Event { event_type, .. } = &notice
            && !event_type.starts_with("mesh.")
            && let Some(wakes) = &*self.meshed.lock().unwrap_or_else(PoisonError::into_inner)
        {
            wakes();
        }
        if let Some(feed) = &*self.feed.lock().unwrap_or_else(PoisonError::into_inner) {
            feed.take(&notice);
        }
        self.tell(&api::notice(&notice));
    }
}
