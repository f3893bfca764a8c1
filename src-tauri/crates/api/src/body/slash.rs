//! Commands behind a slash: each is recorded, and done by the governed command that it stands for. Every surface asks here.

use crate::convert::opt;
use crate::{Host, Wire as _, usage};
use kernel::command::ingress::Saying;
use kernel::sender::Sender;
use model::artifact::TrustTier;
use model::ingress::IngressResolution;
use model::{ConversationId, TaskId};
use projections::rows::{ConversationRow, TaskRow};
use wire::context::Compact;
use wire::conversations::{CommandList, Commands, Said, SlashRow};
use wire::receipts::Rollback;
use wire::task::{Cancel, EditGoal, Pause, Resume, Retry};
use wire::{Code, Error, Text};
use words::slash::{SlashCommand, Written, written};

/// Receipts that are told of one task.
const RECEIPTS_MAX: u32 = 12;

/// What somebody wrote, where, and about which task.
pub(crate) struct Order<'o> {
    /// The conversation.
    pub row: &'o ConversationRow,
    /// The task it is about; else the one in focus, else the last.
    pub task: Option<TaskId>,
    /// Everything that was written.
    pub text: &'o str,
    pub sender: Sender,
    pub channel: Option<String>,
    pub key: &'o str,
}

pub(crate) fn list(_: &dyn Host, _: Commands) -> Result<CommandList, Error> {
    let row = |one: &SlashCommand| SlashRow {
        name: one.to_string(),
        takes: one.takes().to_owned(),
        about: one.about().to_owned(),
    };
    Ok(CommandList { commands: SlashCommand::ALL.iter().map(row).collect() })
}

/// The words that were meant, or the command. Of somebody whom nobody confirms all is words.
pub(crate) fn read<'t>(text: &'t str, sender: Sender) -> Result<Written<'t>, Error> {
    if sender.tier() != TrustTier::UserAsserted {
        return Ok(Written::Words(text));
    }
    written(text).map_err(|unknown| {
        usage(unknown.to_string()).hint("begin with `//` to say words that begin with a slash")
    })
}

/// What was written about a task, once it was looked at.
pub(crate) enum Heard<'t> {
    /// A command, which is done.
    Done(Box<Said>),
    /// Words, as they are meant.
    Words(&'t str),
}

/// The same where a task is named: by a note of it, or over the run API.
pub(crate) fn of_task<'t>(
    host: &dyn Host,
    task: TaskId,
    text: &'t str,
    sender: Sender,
    key: &str,
) -> Result<Heard<'t>, Error> {
    match read(text, sender)? {
        Written::Words(words) => Ok(Heard::Words(words)),
        Written::Command(command, rest) => {
            let query = host.query()?;
            let found = query.task(task).wire()?.map(|row| query.conversation(row.conversation_id).wire());
            let row = found.transpose()?.flatten();
            let row = row.ok_or_else(|| Error::new(Code::NotFound, format!("there is no task `{task}`")))?;
            let channel = Some(sender.channel.to_string());
            let order = Order { row: &row, task: Some(task), text, sender, channel, key };
            Ok(Heard::Done(Box::new(run(host, &order, command, rest)?)))
        }
    }
}

pub(crate) fn run(
    host: &dyn Host,
    order: &Order<'_>,
    command: SlashCommand,
    rest: &str,
) -> Result<Said, Error> {
    let about = order.task.or(order.row.focus_task_id).or(order.row.last_focus);
    if !command.takes().is_empty() && rest.is_empty() {
        return Err(usage(format!("`/{command}` needs {} behind it", command.takes())));
    }
    if command != SlashCommand::Help && about.is_none() {
        return Err(usage(format!(
            "`/{command}` is about a task, and none was begun in this conversation yet"
        ))
        .hint("name a `task`, or say what should be done"));
    }
    let saying = Saying {
        conversation_id: Some(order.row.conversation_id),
        ..Saying::of(order.text, order.sender, order.key)
    };
    let (message, is_new) = host.kernel()?.commanded(&saying, about, command.about()).wire()?;
    let mut said = Said {
        message_id: message.to_string(),
        resolution: IngressResolution::Control,
        task_id: opt(about),
        candidates: Vec::new(),
        rationale: command.about().to_owned(),
        told: Vec::new(),
        conversation_id: order.row.conversation_id.to_string(),
    };
    match about {
        _ if !is_new => {}
        None => said.told = help(),
        Some(task) => done(host, order, command, rest, task, &mut said)?,
    }
    Ok(said)
}

fn done(
    host: &dyn Host,
    order: &Order<'_>,
    command: SlashCommand,
    rest: &str,
    about: TaskId,
    said: &mut Said,
) -> Result<(), Error> {
    let (task, channel, key) = (about.to_string(), order.channel.clone(), format!("slash:{}", order.key));
    match command {
        SlashCommand::Help => said.told = help(),
        SlashCommand::Retry => {
            let made = super::task::retry(host, Retry { task, idempotency_key: Some(key) })?;
            said.task_id = Some(made.task_id);
        }
        SlashCommand::Undo => {
            let asked =
                Rollback { task: Some(task), idempotency_key: Some(key), channel, ..Rollback::default() };
            said.task_id = Some(super::receipts::rollback(host, asked)?.task_id);
        }
        SlashCommand::Explain => said.told = explained(host, about)?,
        SlashCommand::Branch => branch(host, order, about, rest, key, said)?,
        SlashCommand::Goal => {
            drop(super::task::edit_goal(host, EditGoal { task, goal: rest.to_owned(), channel })?)
        }
        SlashCommand::Compress => {
            let made = super::context::compact(host, Compact { task })?;
            said.told = vec![match made.artifact_id {
                Some(_) => {
                    format!("{} results stand in a summary of {} lines now.", made.results, made.lines)
                }
                None => "There is nothing to sum up yet.".to_owned(),
            }];
        }
        SlashCommand::Pause => drop(super::task::pause(host, Pause { task })?),
        SlashCommand::Resume => drop(super::task::resume(host, Resume { task })?),
        SlashCommand::Stop => {
            drop(super::task::cancel(
                host,
                Cancel { task, reason: Some("stopped in a conversation".to_owned()) },
            )?);
        }
    }
    Ok(())
}

fn help() -> Vec<String> {
    let line = |one: &SlashCommand| match one.takes() {
        "" => format!("`/{one}` {}", one.about()),
        takes => format!("`/{one}` and {takes}: {}", one.about()),
    };
    let own = "`//` begins words that begin with a slash".to_owned();
    SlashCommand::ALL.iter().map(line).chain([own]).collect()
}

/// Another conversation in the same folder, whose work begins here.
fn branch(
    host: &dyn Host,
    order: &Order<'_>,
    about: TaskId,
    words: &str,
    key: String,
    said: &mut Said,
) -> Result<(), Error> {
    let kernel = host.kernel()?;
    let row = task(host, about)?;
    let title: String = words.lines().next().unwrap_or_default().chars().take(120).collect();
    let into: ConversationId = kernel.open_conversation(&title, row.workspace_id).wire()?;
    let made = kernel.branch(about, words, into, order.sender, key).wire()?;
    host.drive(made.task_id)?;
    (said.task_id, said.conversation_id) = (Some(made.task_id.to_string()), into.to_string());
    Ok(())
}

fn task(host: &dyn Host, id: TaskId) -> Result<TaskRow, Error> {
    host.query()?
        .task(id)
        .wire()?
        .ok_or_else(|| Error::new(Code::NotFound, format!("there is no task `{id}`")))
}

/// How a task stands, why, and what it did, in sentences.
fn explained(host: &dyn Host, id: TaskId) -> Result<Vec<String>, Error> {
    let query = host.query()?;
    let row = task(host, id)?;
    let words = |text: &Text| text.to_string();
    let told = super::task::row(host, &query, &row)?;
    let mut lines =
        vec![format!("“{}” is {}.", words(&told.title), told.run_status.to_string().replace('_', " "))];
    lines.extend(told.because.as_ref().map(words));
    for wait in [
        (told.open_approvals, "approval"),
        (told.open_questions, "question"),
        (told.unknown_effects, "unknown outcome"),
    ] {
        if wait.0 > 0 {
            lines.push(format!(
                "It waits for you: {} {}{}.",
                wait.0,
                wait.1,
                if wait.0 == 1 { "" } else { "s" }
            ));
        }
    }
    let ask = projections::Ask { limit: RECEIPTS_MAX, ..projections::Ask::default() };
    let receipts = query.receipts(Some(id), None, ask).wire()?.rows;
    let done: Vec<_> = receipts
        .iter()
        .rev()
        .filter(|r| !matches!(r.action_class, model::action::ActionClass::ApprovalResolution))
        .map(|r| {
            format!("Did: {} ({}, receipt {})", crate::convert::text(&r.summary), r.result_code, r.receipt_id)
        })
        .collect();
    if done.is_empty() {
        lines.push("It changed and sent nothing so far.".to_owned());
    }
    lines.extend(done);
    Ok(lines)
}
