//! How the tasks of other machines ended, told to the machine that took the goal in: once, and only what its person would read here.
//! Before that it is told whether they wait for a person here.

use super::goals::reply_to;
use crate::Error;
use crate::kernel::Kernel;
use crate::mesh_registry::MeshRegistry;
use mesh::{Answer, Command};
use model::TaskId;
use model::ingress::ClarificationStatus;

/// Bytes that an answer takes in a letter, as it is escaped there.
const ANSWER_BYTES_MAX: usize = 20 * 1024;
/// Answers that are told at once.
const AT_ONCE_MAX: usize = 64;
/// What stands at the end of an answer that was cut.
const CUT: &str = "\n… (cut short; the whole answer is on that machine)";

impl Kernel {
    /// The answers of tasks that ended.
    pub(super) fn news_of_replies(&self, registry: &MeshRegistry) -> Result<Vec<Command>, Error> {
        let Some(state) = registry.state() else { return Ok(Vec::new()) };
        let mut news = Vec::new();
        for (id, one) in registry.unanswered() {
            let Some(task) = one.task_id else { continue };
            if news.len() >= AT_ONCE_MAX {
                break;
            }
            let Some(body) = self.ending_of(task)? else { continue };
            let (conversation, answers) = (one.conversation.clone(), *id);
            news.extend(reply_to(state, one.node, Answer { conversation, answers, body, refused: false }));
        }
        Ok(news)
    }

    /// Whether the tasks of other machines wait for a person here: their yes, or their answer. The node tells what is new of it; of each
    /// machine only so many goals are at work at once.
    pub(super) fn news_of_waits(&self, registry: &MeshRegistry) -> Vec<Command> {
        let Some(state) = registry.state() else { return Vec::new() };
        let open = registry.unanswered().iter().filter(|(_, one)| state.is_peer(one.node));
        let told = open.filter_map(|(message, one)| {
            let (to, conversation, message) = (one.node, one.conversation.clone(), *message);
            Some(Command::Waits { to, conversation, message, waits: self.waits_for_a_person(one.task_id?)? })
        });
        told.collect()
    }

    /// Whether a task waits for a person; none where it never asked one, has ended, or cannot be read.
    fn waits_for_a_person(&self, task: TaskId) -> Option<bool> {
        let cell = self.cell(task).ok()?;
        let state = self.lock_task(&cell).ok()?;
        let is_asked = || state.clarifications.values().any(|one| one.status == ClarificationStatus::Pending);
        let waits = state.pending_approvals().next().is_some() || is_asked();
        let has_asked = !(state.approvals.is_empty() && state.clarifications.is_empty());
        (has_asked && !state.task.status.is_terminal()).then_some(waits)
    }

    /// How a task ended, with its answer, if it has ended.
    fn ending_of(&self, task: TaskId) -> Result<Option<String>, Error> {
        let cell = match self.cell(task) {
            Ok(cell) => cell,
            Err(Error::Severed { .. } | Error::NotFound { .. }) => {
                return Ok(Some("What was recorded of its task there cannot be read any more.".to_owned()));
            }
            Err(error) => return Err(error),
        };
        let state = self.lock_task(&cell)?;
        if !state.task.status.is_terminal() {
            return Ok(None);
        }
        self.outcome_in_words(&state).map(Some)
    }
}

/// An answer that fits into a letter whatever it says: characters that a letter escapes count as what they become there.
pub(super) fn bounded(answer: Answer) -> Answer {
    let (mut body, mut bytes) = (String::new(), CUT.len());
    for c in answer.body.chars() {
        if c.is_control() && !matches!(c, '\n' | '\t') {
            continue;
        }
        bytes += match c {
            '"' | '\\' => 4,
            '\n' | '\t' => 3,
            c => c.len_utf8(),
        };
        if bytes > ANSWER_BYTES_MAX {
            body.push_str(CUT);
            break;
        }
        body.push(c);
    }
    Answer { body, ..answer }
}
