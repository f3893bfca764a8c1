//! Commands behind a slash: each is recorded, and done by the governed command that it stands for. Every surface asks here.
//! What was recorded and not done, because it was refused or its host died, is done when the same key comes again.

use crate::convert::opt;
use crate::{Host, Wire as _, usage};
use kernel::command::commanded::Commanded;
use kernel::command::enclose::Encloses;
use kernel::command::ingress::Saying;
use kernel::sender::Sender;
use model::artifact::TrustTier;
use model::attempt::AttemptStatus;
use model::ingress::IngressResolution;
use model::task::TaskStatus;
use model::{Body, TaskId};
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
    /// The task that is named; else it is found ([`super::slash_target`]).
    pub task: Option<TaskId>,
    /// Everything that was written.
    pub text: &'o str,
    pub sender: Sender,
    pub channel: Option<String>,
    /// Whether it was spoken.
    pub spoken: bool,
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
    spoken: bool,
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
            let order = Order { row: &row, task: Some(task), text, sender, channel, spoken, key };
            Ok(Heard::Done(Box::new(run(host, &order, command, rest)?)))
        }
    }
}

/// Whether words are a command.
pub(crate) fn is_command(text: &str) -> bool {
    matches!(written(text), Ok(Written::Command(..)))
}

/// Whether they are a command that makes something: work that stands twice when it is done twice.
pub(crate) fn makes(text: &str) -> bool {
    use SlashCommand::{Branch, Retry, Undo};
    matches!(written(text), Ok(Written::Command(Retry | Undo | Branch, _)))
}

pub(crate) fn run(
    host: &dyn Host,
    order: &Order<'_>,
    command: SlashCommand,
    rest: &str,
) -> Result<Said, Error> {
    if !command.takes().is_empty() && rest.is_empty() {
        return Err(usage(format!("`/{command}` needs {} behind it", command.takes())));
    }
    let kernel = host.kernel()?;
    let with = Encloses { spoken: order.spoken, ..Encloses::default() };
    let saying = Saying {
        conversation_id: Some(order.row.conversation_id),
        encloses: Some(&with),
        ..Saying::of(order.text, order.sender, order.key)
    };
    let recorded = match kernel.commanded_before(&saying).wire()? {
        Some(before) => before,
        None => {
            let about = super::slash_target::about(host, order, command)?;
            if command == SlashCommand::Skin {
                super::skins::named_here(host, rest)?;
            }
            if let Some(task) = about {
                may_be_done(host, command, task)?;
            }
            kernel.commanded(&saying, about, command.about()).wire()?
        }
    };
    let mut said = Said {
        message_id: recorded.ingress_id.to_string(),
        resolution: IngressResolution::Control,
        task_id: opt(recorded.about),
        candidates: Vec::new(),
        rationale: command.about().to_owned(),
        told: Vec::new(),
        conversation_id: order.row.conversation_id.to_string(),
    };
    let here = order.row.conversation_id;
    if command == SlashCommand::Skin
        && recorded.is_repeat
        && kernel.skin_was_chosen(&recorded, here).wire()?
    {
        said.told = super::skins::stands_here(host, order)?;
        return Ok(said);
    }
    let Some(about) = recorded.about else {
        said.told = match command {
            SlashCommand::Skin => super::skins::chosen_here(host, order, rest)?,
            _ => help(),
        };
        return Ok(said);
    };
    let made = if recorded.is_repeat { kernel.made_by(&made_key(order)).wire()? } else { None };
    if let Some(made) = made {
        host.drive(made)?;
        let conversation = task(host, made)?.conversation_id;
        (said.task_id, said.conversation_id) = (Some(made.to_string()), conversation.to_string());
    } else if recorded.is_repeat && was_done(host, &recorded, command, rest)? {
        host.drive(about)?;
    } else {
        done(host, order, command, rest, about, &mut said)?;
    }
    Ok(said)
}

/// The key of what a command makes.
fn made_key(order: &Order<'_>) -> String {
    format!("slash:{}", order.key)
}

/// What a task's status refuses is refused before it is recorded.
fn may_be_done(host: &dyn Host, command: SlashCommand, about: TaskId) -> Result<(), Error> {
    use SlashCommand::{Goal, Pause, Resume, Stop};
    let row = task(host, about)?;
    let status = row.status;
    if command == Goal && !row.hears_words() {
        let only = "the task does one thing that was asked for, and has no goal to edit; answer its card, or cancel it";
        return Err(Error::new(Code::Conflict, only));
    }
    let (may, only) = match command {
        Pause => (matches!(status, TaskStatus::Running | TaskStatus::Blocked), "is at work"),
        Resume => (status == TaskStatus::Paused, "is paused"),
        Stop | Goal => (!status.is_terminal(), "has not ended"),
        _ => (true, ""),
    };
    if may {
        return Ok(());
    }
    let only = format!("the task is {status}; `/{command}` is for a task that {only}");
    Err(Error::new(Code::Conflict, only))
}

/// Whether a command that came before was done since. What makes a task has a key of its own instead.
fn was_done(host: &dyn Host, recorded: &Commanded, command: SlashCommand, rest: &str) -> Result<bool, Error> {
    let does = |body: &Body| match (command, body) {
        (SlashCommand::Pause, Body::TaskPauseRequested(_))
        | (SlashCommand::Stop, Body::TaskCancelRequested(_)) => true,
        (SlashCommand::Resume, Body::TaskStatusChanged(b)) => b.from == TaskStatus::Paused,
        (SlashCommand::Goal, Body::TaskGoalChanged(b)) => b.goal.shown().is_none_or(|goal| goal == rest),
        (SlashCommand::Retry, Body::AttemptStatusChanged(b)) => b.to == AttemptStatus::Superseded,
        _ => false,
    };
    host.kernel()?.was_done(recorded, does).wire()
}

fn done(
    host: &dyn Host,
    order: &Order<'_>,
    command: SlashCommand,
    rest: &str,
    about: TaskId,
    said: &mut Said,
) -> Result<(), Error> {
    let (task, channel, key) = (about.to_string(), order.channel.clone(), made_key(order));
    match command {
        SlashCommand::Help => said.told = help(),
        SlashCommand::Skin => said.told = super::skins::chosen_here(host, order, rest)?,
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
        SlashCommand::Branch => {
            let (made, into) =
                host.kernel()?.branch(about, rest, (order.sender, order.spoken), key).wire()?;
            host.drive(made.task_id)?;
            (said.task_id, said.conversation_id) = (Some(made.task_id.to_string()), into.to_string());
        }
        SlashCommand::Goal => {
            let (goal, spoken) = (rest.to_owned(), order.spoken);
            drop(super::task::edit_goal(host, EditGoal { task, goal, spoken, channel })?);
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
