//! The task that a command behind a slash is about when none is named. Nobody guesses: the one in focus, else the only one
//! that is open, else, for what may be about one that has ended, the one that ended last.

use super::slash::Order;
use crate::convert::text;
use crate::{Host, Wire as _, usage};
use model::TaskId;
use model::task::TaskStatus;
use projections::query::{Ask, TaskFilter};
use projections::rows::TaskRow;
use serde_json::json;
use wire::{Code, Error};
use words::slash::SlashCommand;

/// Candidates named in a refusal.
const NAMED: usize = 10;

pub(super) fn about(
    host: &dyn Host,
    order: &Order<'_>,
    command: SlashCommand,
) -> Result<Option<TaskId>, Error> {
    if order.task.is_some() {
        return Ok(order.task);
    }
    // It is about the conversation.
    if command == SlashCommand::Skin {
        return Ok(None);
    }
    let open = roots(host, order, |status| !status.is_terminal())?;
    let focus = order.row.focus_task_id.filter(|focus| open.iter().any(|row| row.task_id == *focus));
    match (focus, open.as_slice()) {
        (Some(focus), _) => Ok(Some(focus)),
        (None, [one]) => Ok(Some(one.task_id)),
        (None, _) if command == SlashCommand::Help => Ok(None),
        (None, []) => ended(host, order, command).map(Some),
        (None, several) => Err(which(command, several)),
    }
}

/// The one that ended last, for what may be about it.
fn ended(host: &dyn Host, order: &Order<'_>, command: SlashCommand) -> Result<TaskId, Error> {
    use SlashCommand::{Branch, Explain, Retry, Undo};
    let last = roots(host, order, TaskStatus::is_terminal)?.into_iter().max_by_key(|row| row.ended_at);
    match last {
        Some(last) if matches!(command, Retry | Undo | Explain | Branch) => Ok(last.task_id),
        Some(_) => {
            Err(usage(format!("`/{command}` is about a task at work, and none is open in this conversation"))
                .hint("name a `task`, or say what should be done"))
        }
        None => {
            Err(usage(format!("`/{command}` is about a task, and none was begun in this conversation yet"))
                .hint("name a `task`, or say what should be done"))
        }
    }
}

/// Tasks of the conversation that are part of no other.
fn roots(host: &dyn Host, order: &Order<'_>, stands: fn(TaskStatus) -> bool) -> Result<Vec<TaskRow>, Error> {
    let statuses = TaskStatus::ALL.iter().copied().filter(|status| stands(*status)).collect();
    let conversation = Some(order.row.conversation_id);
    let filter = TaskFilter { statuses, conversation, ..TaskFilter::default() };
    let mut rows = host.query()?.tasks(&filter, Ask::ALL).wire()?.rows;
    // An undo, or what Hermit itself proposes, is answered by its card.
    rows.retain(|row| row.parent_task_id.is_none() && row.hears_words());
    Ok(rows)
}

fn which(command: SlashCommand, open: &[TaskRow]) -> Error {
    let named = |row: &TaskRow| format!("`{}` {}", acts::short(&row.task_id), text(&row.title));
    let names: Vec<_> = open.iter().take(NAMED).map(named).collect();
    let ids: Vec<_> = open.iter().take(NAMED).map(|row| row.task_id.to_string()).collect();
    let more = if open.len() > NAMED { ", and others" } else { "" };
    Error::new(
        Code::Ambiguous,
        format!(
            "`/{command}` is about one task, and {} are open here: {}{more}",
            open.len(),
            names.join(", ")
        ),
    )
    .hint("turn to one of them, or name its `task`")
    .details(json!({ "candidates": ids }))
}
