//! State lines as events tell them: of each task that a chat began, the one message that says how it stands (decision 282). And what a
//! button of a message orders.

use super::QueuedMessage;
use model::artifact::ArtifactRef;
use model::body::{MessageQueued, MessageSettled};
use model::gateway::{Denies, MessageAbout, MessageState};
use model::{Digest, TaskId, UnixMs};
use std::collections::BTreeMap;

/// What a button orders that is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ButtonOrder {
    /// To deny an approval.
    Deny(Denies),
    /// To stop a task.
    Stop(TaskId),
}

/// The time between two states of a line, in milliseconds.
pub(crate) const PACE_MS: i64 = 10_000;
/// How often in a row a line could not be changed before it counts as gone.
const TRIES_MAX: u32 = 2;
/// For how long after its last words a line is looked at again by itself, in milliseconds.
const LOOKED_AT_MS: i64 = 24 * 3_600_000;
/// What a line's mark begins with while its task is at work, and nobody is waited for.
pub(crate) const WORKING: &str = "working";
/// The mark of a line whose task is over.
pub(crate) const OVER: &str = "over";

/// The key of a state of a task: how many were queued before it, and what it says in short.
pub(crate) fn key_of(task_id: TaskId, before: u32, mark: &str) -> String {
    format!("state:{task_id}:{before}:{mark}")
}

/// The message that says how a task stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StateLine {
    /// The service's own id of it, once it was sent; none again where it could not be changed.
    pub(crate) message_id: Option<String>,
    /// When it was sent or changed last.
    told_at: Option<UnixMs>,
    /// States that were queued.
    pub(crate) count: u32,
    /// The newest of them, in short.
    pub(crate) mark: String,
    /// Its words.
    pub(crate) body: ArtifactRef,
    /// Its button.
    pub(crate) button: Option<Digest>,
    /// How often in a row it could not be changed.
    failed: u32,
}

/// The lines of a gateway, by their tasks; the line of a task that is over goes when that was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StateLines(BTreeMap<TaskId, StateLine>);

impl StateLines {
    /// The line of a task.
    pub(crate) fn of(&self, task_id: TaskId) -> Option<&StateLine> {
        self.0.get(&task_id)
    }

    /// Whether the line of a task may say something again.
    pub(crate) fn is_due(&self, task_id: TaskId, now: UnixMs) -> bool {
        let told = self.of(task_id).and_then(|line| line.told_at);
        told.is_none_or(|at| now >= at.plus_ms(PACE_MS) || now < at)
    }

    /// When the lines are to be looked at again, as far as time alone decides: one that said something may say the next
    /// thing, and the steps of a task at work grow without a word.
    pub(crate) fn looks(&self, now: UnixMs) -> impl Iterator<Item = UnixMs> {
        self.0.values().filter_map(move |line| {
            let told_at = line.told_at?;
            let due = told_at.plus_ms(PACE_MS);
            let is_at_work = line.mark.starts_with(WORKING) && now < told_at.plus_ms(LOOKED_AT_MS);
            if now < due { Some(due) } else { is_at_work.then_some(now) }
        })
    }

    /// Folds a message that was queued; the task whose line it is, if it is one.
    pub(super) fn queued(&mut self, b: &MessageQueued) -> Option<TaskId> {
        let task_id = b.about_task_id.filter(|_| b.about == MessageAbout::State)?;
        // The key says how many came before, however much of the stream was read.
        let mut parts = b.repeat_key.rsplit(':');
        let mark = parts.next().unwrap_or_default().to_owned();
        let before = parts.next().and_then(|count| count.parse::<u32>().ok()).unwrap_or(0);
        let count = before.saturating_add(1);
        let (body, button) = (b.body.clone(), b.button_sha256);
        let line = self.0.remove(&task_id);
        let (message_id, told_at, failed) =
            line.map_or((None, None, 0), |line| (line.message_id, line.told_at, line.failed));
        self.0.insert(task_id, StateLine { message_id, told_at, count, mark, body, button, failed });
        Some(task_id)
    }

    /// Folds what came of a message, if it is a line. `sent`: as the service names it.
    pub(super) fn settled(&mut self, message: &QueuedMessage, b: &MessageSettled, sent: Option<&str>) {
        let task_id = message.about_task_id.filter(|_| message.about == MessageAbout::State);
        let Some(task_id) = task_id else { return };
        let Some(line) = self.0.get_mut(&task_id) else { return };
        if b.state == MessageState::Sent {
            (line.told_at, line.failed) = (Some(b.settled_at), 0);
            // An edit may have a name of its own; the message keeps its own.
            line.message_id = line.message_id.take().or_else(|| sent.map(str::to_owned));
        } else if message.sending.is_some() {
            line.failed = line.failed.saturating_add(1);
            // An answer may be lost, and the same words are said again. What cannot be changed then may be gone: the next state
            // is a message of its own.
            if line.failed >= TRIES_MAX {
                (line.message_id, line.failed) = (None, 0);
            }
        }
        if line.mark == OVER && b.state != MessageState::Queued {
            self.0.remove(&task_id);
        }
    }
}
