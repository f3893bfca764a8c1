//! State lines (schedule.md 2): of each task that a chat began one message says how it stands, and is changed in place as the
//! task goes on. Each change is a message of its own on the road of every other, and asks nobody: it is told only where a
//! standing grant answers for it (decision 282).

use super::gateways::in_messages;
use super::outbound::push_settled;
use super::outbound_queue::{Telling, queue};
use super::outbound_words::{self as words, Stand};
use crate::Error;
use crate::gateway_registry::lines::{OVER, StateLine, key_of};
use crate::gateway_registry::{GatewayRecord, PairedSender, QueuedMessage};
use crate::kernel::Kernel;
use crate::sender::Sender;
use crate::state::TaskState;
use model::gateway::{MessageAbout, MessageButton, MessageState, MessageText};
use model::ingress::Channel;
use model::{Digest, TaskId};

/// States of one task that are told at most, beside how it ended.
const STATES_MAX: u32 = 32;
/// Messages that a standing grant keeps for answers and questions: a line uses none of them but for how its task ended.
const USES_KEPT: u32 = 3;

/// Whether a message says how this task stands.
fn is_line(message: &QueuedMessage, task: TaskId) -> bool {
    message.about == MessageAbout::State && message.about_task_id == Some(task)
}

impl Kernel {
    /// How many messages to a sender are answered for by standing grants, where their service can change one that was sent.
    pub(super) fn line_uses(&self, record: &GatewayRecord, sender: &PairedSender) -> Result<u32, Error> {
        match sender.chat.as_deref().filter(|_| record.service.can_edit()) {
            Some(chat) => self.messages_left(&record.name, record.version, chat),
            None => Ok(0),
        }
    }

    /// Whether the line of a task may say something now, as far as that is known without the task. `has_ended`: whether it
    /// has; `left`: messages that are answered for.
    pub(super) fn may_have_line(
        &self,
        record: &GatewayRecord,
        task: TaskId,
        (has_ended, left): (bool, u32),
    ) -> bool {
        let (lines, now) = (&record.traffic.lines, self.ports.clock.now());
        let line = lines.of(task);
        match has_ended {
            true => line.is_some_and(|line| {
                let is_there = line.message_id.is_some();
                let waits = || record.traffic.queue.iter().any(|one| is_line(one, task));
                line.mark != OVER && if is_there { left > 0 } else { waits() }
            }),
            false => {
                let count = line.map_or(0, |line| line.count);
                left > USES_KEPT && count < STATES_MAX && lines.is_due(task, now)
            }
        }
    }

    /// Queues how a task stands, where its line says something else: in place of a state that waits, and never beside one. Of
    /// a task that ended before its line was there, the outcome says it.
    pub(super) fn queue_line(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        state: &TaskState,
        origin: Option<&str>,
    ) -> Result<(), Error> {
        let task = state.task.task_id;
        let line = record.traffic.lines.of(task);
        let waiting = record.traffic.queue.iter().find(|one| is_line(one, task));
        if waiting.is_some_and(|one| one.sending.is_some()) {
            return Ok(());
        }
        let Stand { mark, text, may_stop } = words::stand(state, origin);
        let is_there = line.is_some_and(|line| line.message_id.is_some());
        if mark == OVER && !is_there {
            let why = (MessageState::Unsent, "its task is over, and the outcome says so");
            return waiting.map_or(Ok(()), |one| self.settle_message(record, one, why, None));
        }
        if line.is_some_and(|line| line.mark == mark) {
            return Ok(());
        }
        let button = if may_stop { self.stop_button(record, sender, line) } else { None };
        let text = match record.service.has_buttons() || !may_stop {
            true => text,
            false => format!("{text}\n\n`stop` ends it."),
        };
        let key = key_of(task, line.map_or(0, |line| line.count), &mark);
        // A line that nothing here knows any more is not begun twice in the same words.
        if self.reader.by_idempotency_key(&format!("queued:{}:{key}", record.name))?.is_some() {
            return Ok(());
        }
        let telling = Telling::words(key, MessageAbout::State, text).about_task(Some(task));
        let telling = telling.with_button(button);
        let actor = self.principal_of(Sender::from(Channel::System))?;
        let mut w = self.heard_writeup(record, actor)?;
        if let Some(older) = waiting {
            let why = (MessageState::Unsent, "a newer state takes its place");
            push_settled(&mut w, record, older, why, None);
        }
        in_messages(&mut w, record, |w| queue(w, record, sender.principal_id, telling))?;
        self.commit_once(w)
    }

    /// The button that stops a task: the same in all states of its line, until it is pressed.
    fn stop_button(
        &self,
        record: &GatewayRecord,
        sender: &PairedSender,
        line: Option<&StateLine>,
    ) -> Option<(MessageButton, Digest)> {
        if !record.service.has_buttons() {
            return None;
        }
        let Some(line) = line else { return Some(self.button(record, "Stop")) };
        let sha256 = line.button?;
        record.traffic.button(sha256, sender.principal_id)?;
        let said = self.object_at::<MessageText>(&line.body).ok()?;
        said.buttons.into_iter().next().map(|button| (button, sha256))
    }
}
