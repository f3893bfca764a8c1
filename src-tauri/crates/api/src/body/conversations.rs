//! Conversations: what is said is bound by the kernel, or waits for a person to say what it is about.

use super::task::channel;
use crate::convert::{ask, opt, opt_text, page, text};
use crate::ids::find_opt;
use crate::{Host, Wire as _, not_found, usage};
use kernel::command::bind::About;
use kernel::command::ingress::{Bound, Saying};
use model::{ConversationId, IngressId, TaskId};
use projections::Ask;
use projections::rows::IngressRow;
use wire::Error;
use wire::conversations::{
    Bind, Candidate, Conversation, Conversations, Focus, Focused, List, Message, Messages, Open, Opened,
    Said, Say, Undecided,
};

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Conversations, Error> {
    let found = host.query()?.conversations(ask(p.after.as_deref(), p.limit)?).wire()?;
    Ok(page(found, |row| Conversation {
        conversation_id: row.conversation_id.to_string(),
        title: text(&row.title),
        opened_at: row.opened_at.0,
        updated_at: row.updated_at.0,
        focus_task_id: opt(row.focus_task_id),
        focus_reason: row.focus_reason.clone(),
        last_focus: opt(row.last_focus),
        open_tasks: row.open_tasks,
    }))
}

pub(crate) fn open(host: &dyn Host, p: Open) -> Result<Opened, Error> {
    let conversation = host.kernel()?.open_conversation(&p.title).wire()?;
    Ok(Opened { conversation_id: conversation.to_string() })
}

pub(crate) fn say(host: &dyn Host, p: Say) -> Result<Said, Error> {
    let kernel = host.kernel()?;
    let conversation_id = p.conversation.as_deref().map(|named| conversation(host, named)).transpose()?;
    let task = find_opt(host, p.task.as_deref())?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let saying = Saying {
        conversation_id,
        text: &p.text,
        sender: crate::caller::sender(host, channel(p.channel.as_deref())?),
        task,
        reply_to: p.reply_to.as_deref(),
        idempotency_key: &key,
    };
    let bound = kernel.say(&saying).wire()?;
    told(host, bound)
}

pub(crate) fn undecided(host: &dyn Host, p: Undecided) -> Result<Messages, Error> {
    let query = host.query()?;
    let found = query.undecided(ask(p.after.as_deref(), p.limit)?).wire()?;
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
        "new" => About::New(needed()?),
        "talk" => About::Talk,
        other => {
            return Err(usage(format!("a message cannot be about `{other}`"))
                .hint("there are `task`, `child`, `new` and `talk`"));
        }
    };
    told(host, kernel.bind_message(id, about).wire()?)
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

fn conversation(host: &dyn Host, named: &str) -> Result<ConversationId, Error> {
    let unknown = || not_found("conversation", named);
    let id = named.trim().parse::<ConversationId>().map_err(|_| unknown())?;
    host.query()?.conversation(id).wire()?.map(|_| id).ok_or_else(unknown)
}

/// What was said goes on as what it was bound to.
fn told(host: &dyn Host, bound: Bound) -> Result<Said, Error> {
    if let Some(task) = bound.task_id {
        host.drive(task)?;
    }
    Ok(Said {
        message_id: bound.ingress_id.to_string(),
        resolution: bound.resolution,
        task_id: opt(bound.task_id),
        candidates: candidates(host, &bound.candidates)?,
        rationale: bound.rationale,
    })
}

fn candidates(host: &dyn Host, tasks: &[TaskId]) -> Result<Vec<Candidate>, Error> {
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
