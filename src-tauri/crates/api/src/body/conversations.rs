//! Conversations: what is said is bound by the kernel, or waits for a person to say what it is about.

use super::slash::{Order, read};
use super::task::channel;
use crate::caller::sender;
use crate::convert::{ask, every, opt, opt_text, text};
use crate::files::absolute;
use crate::ids::find_opt;
use crate::{Host, Wire as _, not_found, usage};
use kernel::command::bind::About;
use kernel::command::ingress::{Bound, Saying};
use kernel::command::submit::Submission;
use model::ingress::IngressResolution;
use model::task::Origin;
use model::{ConversationId, IngressId, TaskId, WorkspaceId};
use projections::query::{TaskFilter, TaskGroup};
use projections::rows::{ConversationRow, IngressRow, WorkspaceRow};
use projections::{Ask, Query};
use wire::conversations::{
    Bind, Candidate, Conversation, Conversations, Focus, Focused, List, Message, Messages, Open, Opened,
    Said, Say, Show, Undecided,
};
use wire::task::{Submit, Submitted};
use wire::{Code, Error};
use words::slash::Written;

pub(crate) use super::encloses::files;
pub(crate) use super::slash::list as commands;
pub(crate) use super::thread::lines;

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Conversations, Error> {
    let query = host.query()?;
    let found = query.conversations_by_use(ask(p.after.as_deref(), p.limit)?).wire()?;
    let folders = every(|ask| query.workspaces(ask))?;
    let rows = found.rows.iter().map(|row| shown(&query, &folders, row)).collect::<Result<_, Error>>()?;
    Ok(wire::Page { rows, next: opt(found.next) })
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Conversation, Error> {
    let query = host.query()?;
    let row = query.conversation(conversation(host, &p.conversation)?).wire()?;
    let row = row.ok_or_else(|| not_found("conversation", &p.conversation))?;
    shown(&query, &every(|ask| query.workspaces(ask))?, &row)
}

/// Tasks of one conversation that are counted as waiting.
const WAITING_MAX: u32 = 100;

fn shown(query: &Query, folders: &[WorkspaceRow], row: &ConversationRow) -> Result<Conversation, Error> {
    let id = row.conversation_id;
    let filter =
        TaskFilter { conversation: Some(id), group: Some(TaskGroup::Waiting), ..TaskFilter::default() };
    let waiting = query.tasks(&filter, Ask { limit: WAITING_MAX, ..Ask::default() }).wire()?.rows.len();
    // The end of a task says nothing where it ended well.
    let newest = query.messages(id, None, Ask { limit: 4, ..Ask::default() }).wire()?.rows;
    let last = newest.into_iter().find(|line| line.text.is_some());
    let own = folders.iter().find(|folder| Some(folder.workspace_id) == row.workspace_id);
    Ok(Conversation {
        conversation_id: id.to_string(),
        title: text(&row.title),
        opened_at: row.opened_at.0,
        updated_at: row.updated_at.0,
        focus_task_id: opt(row.focus_task_id),
        focus_reason: row.focus_reason.clone(),
        last_focus: opt(row.last_focus),
        open_tasks: row.open_tasks,
        waiting: u32::try_from(waiting).unwrap_or(WAITING_MAX),
        workspace_id: opt(row.workspace_id),
        folder: own.map(super::task_show::folder),
        last_said: last.and_then(|line| opt_text(line.text.as_ref())),
    })
}

pub(crate) fn open(host: &dyn Host, p: Open) -> Result<Opened, Error> {
    let kernel = host.kernel()?;
    let folder = p.folder.as_deref().map(str::trim).filter(|folder| !folder.is_empty());
    let root = folder.map(|folder| host.workspace(&absolute("folder", folder)?)).transpose()?;
    let workspace = root.map(|root| kernel.workspace(&root).wire()).transpose()?;
    let conversation = kernel.open_conversation(&p.title, workspace).wire()?;
    Ok(Opened { conversation_id: conversation.to_string() })
}

pub(crate) fn say(host: &dyn Host, p: Say) -> Result<Said, Error> {
    let kernel = host.kernel()?;
    let row = meant(host, p.conversation.as_deref())?;
    let task = find_opt(host, p.task.as_deref())?;
    let key = p.idempotency_key.clone().unwrap_or_else(|| host.fresh_key());
    let sender = crate::caller::sender(host, channel(p.channel.as_deref())?);
    let encloses =
        super::encloses::named(host, p.quotes.as_deref(), p.passage.as_deref(), &p.encloses, p.spoken)?;
    let p = match read(&p.text, sender)? {
        Written::Command(command, rest) => {
            super::encloses::none_with_a_command(&encloses)?;
            let channel = p.channel.clone();
            let order =
                Order { row: &row, task, text: &p.text, sender, channel, spoken: p.spoken, key: &key };
            return super::slash::run(host, &order, command, rest);
        }
        Written::Words(words) if words.len() == p.text.len() => p,
        Written::Words(words) => Say { text: words.to_owned(), ..p },
    };
    match p.about.as_deref() {
        None => {}
        Some("new") => {
            let work = work(host, &row, task, &p, key)?;
            return begin(host, &row, &Submission { encloses, ..work });
        }
        Some("child") if task.is_some() => {}
        Some("child") => return Err(usage("a part needs the `task` that it is a part of")),
        Some(other) => {
            return Err(usage(format!("what is said cannot be about `{other}`"))
                .hint("there are `new` and `child`; leave it out to have it bound to what it names"));
        }
    }
    // Only the first words in a folder can begin its work by themselves: nothing else is there that they may be about.
    let is_first = row.workspace_id.is_some() && row.focus_task_id.is_none() && row.last_focus.is_none();
    let names = task.is_some() || p.reply_to.is_some() || encloses.quote.is_some();
    let begins = if is_first && !names { Some(work(host, &row, None, &p, key.clone())?) } else { None };
    let saying = Saying {
        conversation_id: Some(row.conversation_id),
        task: task.filter(|_| p.about.is_none()),
        part_of: task.filter(|_| p.about.is_some()),
        reply_to: p.reply_to.as_deref(),
        encloses: Some(&encloses),
        begins: begins.as_ref(),
        ..Saying::of(&p.text, sender, &key)
    };
    let bound = kernel.say(&saying).wire()?;
    told(host, bound)
}

/// Words that begin work of their own.
fn begin(host: &dyn Host, row: &ConversationRow, work: &Submission) -> Result<Said, Error> {
    let made = host.kernel()?.submit(work).wire()?;
    host.drive(made.task_id)?;
    Ok(Said {
        message_id: made.ingress_id.to_string(),
        resolution: IngressResolution::StartNewRoot,
        task_id: Some(made.task_id.to_string()),
        candidates: Vec::new(),
        rationale: "it was said to be work of its own".to_owned(),
        told: Vec::new(),
        conversation_id: row.conversation_id.to_string(),
    })
}

/// The work that words begin: in the folder that is named, else that of the task they name, of the conversation, or of the
/// task that was last in focus in it.
fn work(
    host: &dyn Host,
    row: &ConversationRow,
    like: Option<TaskId>,
    p: &Say,
    key: String,
) -> Result<Submission, Error> {
    let query = host.query()?;
    let of_task = |task: Option<TaskId>| -> Result<Option<WorkspaceId>, Error> {
        let found = task.map(|task| query.task(task).wire()).transpose()?.flatten();
        Ok(found.and_then(|task| task.workspace_id))
    };
    let known = of_task(like)?.or(row.workspace_id);
    let known =
        known.map_or_else(|| of_task(row.focus_task_id.or(row.last_focus)), |known| Ok(Some(known)))?;
    let named = p.workspace.clone().filter(|folder| !folder.trim().is_empty());
    let folder = match (named, known) {
        (Some(named), _) => named,
        (None, Some(known)) => {
            let found = every(|ask| query.workspaces(ask))?.into_iter().find(|one| one.workspace_id == known);
            match found.as_ref().map(super::task_show::folder) {
                Some(wire::Text::Shown(folder)) => folder,
                _ => {
                    return Err(
                        usage("the folder of this conversation was erased").hint("name a `workspace`")
                    );
                }
            }
        }
        (None, None) => {
            return Err(usage("this conversation has no folder, and work needs one")
                .hint("name a `workspace`, or open a conversation in a folder"));
        }
    };
    let submit = Submit {
        goal: p.text.clone(),
        workspace: folder,
        reasoner: p.reasoner.clone(),
        channel: p.channel.clone(),
        idempotency_key: Some(key),
        ..Submit::default()
    };
    super::task::submission(host, submit, Some(row.conversation_id))
}

/// The conversation that is named, or the first one.
pub(super) fn meant(host: &dyn Host, named: Option<&str>) -> Result<ConversationRow, Error> {
    let query = host.query()?;
    let missing = || not_found("conversation", named.unwrap_or("first"));
    match named {
        Some(named) => query.conversation(conversation(host, named)?).wire()?.ok_or_else(missing),
        None => {
            let first = query.conversations(Ask { limit: 1, ..Ask::default() }.oldest_first()).wire()?;
            first.rows.into_iter().next().ok_or_else(missing)
        }
    }
}

pub(crate) fn undecided(host: &dyn Host, p: Undecided) -> Result<Messages, Error> {
    let query = host.query()?;
    let found = query
        .ingress_by_status(
            model::ingress::IngressStatus::PendingDisambiguation,
            ask(p.after.as_deref(), p.limit)?,
        )
        .wire()?;
    let mut rows = Vec::new();
    for row in &found.rows {
        rows.push(message(host, row)?);
    }
    Ok(wire::Page { rows, next: opt(found.next) })
}

fn message(host: &dyn Host, row: &IngressRow) -> Result<Message, Error> {
    Ok(Message {
        message_id: row.ingress_id.to_string(),
        conversation_id: row.conversation_id.to_string(),
        channel: row.channel,
        trust: row.trust_tier,
        text: text(&row.text),
        said_at: row.created_at.0,
        candidates: candidates(host, &row.candidates)?,
        confidence: row.confidence,
        margin: row.margin,
        rationale: opt_text(row.rationale.as_ref()),
    })
}

pub(crate) fn bind(host: &dyn Host, p: Bind) -> Result<Said, Error> {
    let kernel = host.kernel()?;
    let id: IngressId = p.message.trim().parse().map_err(|_| not_found("message", &p.message))?;
    let task = find_opt(host, p.task.as_deref())?;
    let needed = || task.ok_or_else(|| usage(format!("`{}` needs a `task`", p.about)));
    let about = match p.about.as_str() {
        "task" => About::Task(needed()?),
        "child" => About::Child(needed()?),
        "new" if task.is_none() => return begin_with(host, id, p.message),
        "new" => About::New(needed()?),
        "talk" => About::Talk,
        other => {
            return Err(usage(format!("a message cannot be about `{other}`"))
                .hint("there are `task`, `child`, `new` and `talk`"));
        }
    };
    told(host, kernel.bind_message(id, about).wire()?)
}

/// An open message begins this work. Its words are the goal and stay those of whoever sent them, whoever begins it. What stands
/// beside them is the sender's in the log as well, so only a person writes it.
pub(super) fn begin_with_message(host: &dyn Host, named: &str, p: Submit) -> Result<Submitted, Error> {
    if !p.goal.trim().is_empty() || !p.attachments.is_empty() || p.spoken {
        return Err(usage("the words of a `message` are the goal, and nothing stands beside them")
            .hint("leave out `goal`, `attachments` and `spoken`, or leave out `message`"));
    }
    if sender(host, channel(p.channel.as_deref())?).origin() != Origin::Person {
        let said = "only a person begins a task with an open message: its rules and steps would be those of whoever sent it";
        return Err(Error::new(Code::Forbidden, said)
            .hint("submit a `goal` of your own, or ask a person to say what the message is about"));
    }
    let missing = || not_found("message", named);
    let id: IngressId = named.trim().parse().map_err(|_| missing())?;
    let (kernel, work) = (host.kernel()?, super::task::submission(host, p, None)?);
    let begun = kernel.begin_once(id, &work).wire()?;
    host.drive(begun.task_id)?;
    Ok(super::task::of_submitted(&begun))
}

/// An open message begins work in the folder of its conversation.
fn begin_with(host: &dyn Host, id: IngressId, named: String) -> Result<Said, Error> {
    let query = host.query()?;
    let message = query.message(id).wire()?.ok_or_else(|| not_found("message", &named))?;
    let row = query.conversation(message.conversation_id).wire()?;
    let row = row.ok_or_else(|| not_found("conversation", &message.conversation_id.to_string()))?;
    let work = work(host, &row, None, &Say { text: named, ..Say::default() }, format!("bound:{id}"))?;
    told(host, host.kernel()?.begin_with(id, work).wire()?)
}

pub(crate) fn focus(host: &dyn Host, p: Focus) -> Result<Focused, Error> {
    let kernel = host.kernel()?;
    let task: Option<TaskId> = find_opt(host, p.task.as_deref())?;
    let query = host.query()?;
    let of_task =
        task.map(|task| query.task(task).wire()).transpose()?.flatten().map(|row| row.conversation_id);
    let conversation = match (p.conversation.as_deref(), of_task) {
        (Some(named), _) => conversation(host, named)?,
        (None, Some(of_task)) => of_task,
        (None, None) => {
            let first = query.conversations(Ask::ALL.oldest_first()).wire()?.rows.into_iter().next();
            first.ok_or_else(|| not_found("conversation", "first"))?.conversation_id
        }
    };
    kernel.turn_to(conversation, task).wire()?;
    Ok(Focused { conversation_id: conversation.to_string(), focus_task_id: opt(task) })
}

pub(crate) fn conversation(host: &dyn Host, named: &str) -> Result<ConversationId, Error> {
    let unknown = || not_found("conversation", named);
    let id = named.trim().parse::<ConversationId>().map_err(|_| unknown())?;
    host.query()?.conversation(id).wire()?.map(|_| id).ok_or_else(unknown)
}

/// What was said goes on as what it was bound to.
fn told(host: &dyn Host, bound: Bound) -> Result<Said, Error> {
    let message = host.query()?.message(bound.ingress_id).wire()?;
    let conversation_id = message.map(|row| row.conversation_id);
    let conversation_id =
        conversation_id.ok_or_else(|| not_found("message", &bound.ingress_id.to_string()))?;
    if let Some(task) = bound.task_id {
        host.drive(task)?;
    }
    Ok(Said {
        message_id: bound.ingress_id.to_string(),
        resolution: bound.resolution,
        task_id: opt(bound.task_id),
        candidates: candidates(host, &bound.candidates)?,
        rationale: bound.rationale,
        told: Vec::new(),
        conversation_id: conversation_id.to_string(),
    })
}

pub(crate) fn candidates(host: &dyn Host, tasks: &[TaskId]) -> Result<Vec<Candidate>, Error> {
    let query = host.query()?;
    let mut found = Vec::new();
    for task in tasks {
        let Some(row) = query.task(*task).wire()? else { continue };
        found.push(Candidate {
            task_id: row.task_id.to_string(),
            title: text(&row.title),
            status: row.run_status,
            updated_at: row.updated_at.0,
        });
    }
    Ok(found)
}
