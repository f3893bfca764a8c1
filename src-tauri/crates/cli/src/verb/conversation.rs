//! `hermit conversation`: saying something, and saying what it is about.

use super::Came;
use super::approvals::more;
use crate::args::ConversationVerb;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{plain, time};
use std::time::Duration;
use wire::conversations::{Bind, Candidate, Focus, List, Open, Said, Say, Undecided};
use wire::exit;
use words::task::IngressResolution;

/// What was said has this long to be taken up before this process leaves it to the host or the next one.
const LOOK: Duration = Duration::from_millis(200);

/// `hermit conversation`.
pub fn conversation(context: &Context, verb: ConversationVerb) -> Came {
    match verb {
        ConversationVerb::List(args) => {
            let found = context.reading()?.call(&List { after: args.after, limit: args.limit })?;
            context.out.answer(&found, |out, found| {
                let rows = found.rows.iter().map(|row| {
                    let focus = row.focus_task_id.clone().unwrap_or_else(|| "no task in focus".to_owned());
                    vec![
                        row.conversation_id.clone(),
                        focus,
                        row.open_tasks.to_string(),
                        plain(&row.title.to_string()),
                    ]
                });
                table(out, &["conversation", "focus", "open", "title"], &rows.collect::<Vec<_>>());
                more(out, found.next.as_deref());
            })?;
            Ok(exit::DONE)
        }
        ConversationVerb::Open { title } => writing(context, &Open { title }, |out, opened| {
            out.line(opened.conversation_id.clone());
        }),
        ConversationVerb::Say { text, conversation, task, reply_to } => {
            let channel = Some("cli".to_owned());
            said(context, &Say { conversation, text, task, reply_to, channel, idempotency_key: None })
        }
        ConversationVerb::Undecided(args) => {
            let found = context.reading()?.call(&Undecided { after: args.after, limit: args.limit })?;
            context.out.answer(&found, |out, found| {
                if found.rows.is_empty() {
                    out.line("Every message belongs to a task.");
                }
                for message in &found.rows {
                    out.say(Tone::Bold, plain(&message.text.to_string()));
                    out.line(format!("  {}  {}", message.message_id, time(message.said_at)));
                    ways(out, &message.message_id, &message.candidates);
                }
                more(out, found.next.as_deref());
            })?;
            Ok(exit::DONE)
        }
        ConversationVerb::Bind { message, about, task } => said(context, &Bind { message, about, task }),
        ConversationVerb::Focus { task } => {
            writing(context, &Focus { conversation: None, task }, |out, focused| {
                let at = focused.focus_task_id.as_deref().unwrap_or("no task");
                out.line(format!("Conversation {}, in focus: {at}", focused.conversation_id));
            })
        }
    }
}

fn writing<C: wire::Command>(context: &Context, asked: &C, show: impl FnOnce(&Output, &C::Answer)) -> Came {
    let session = context.writing(Signs::No)?;
    let answer = session.call(asked);
    session.close();
    context.out.answer(&answer?, show)?;
    Ok(exit::DONE)
}

fn said<C: wire::Command<Answer = Said>>(context: &Context, asked: &C) -> Came {
    let session = context.writing(Signs::No)?;
    let answer = session.call(asked);
    let answer = answer.inspect(|said| {
        if let Some(task) = &said.task_id {
            drop(session.stands(task, LOOK));
        }
    });
    session.close();
    context.out.answer(&answer?, |out, said| match &said.task_id {
        Some(task) => out.line(format!("{task}: {}", plain(&said.rationale))),
        None if said.resolution == IngressResolution::PendingDisambiguation => {
            out.line(format!("Saved. Which task is it about? {}", plain(&said.rationale)));
            ways(out, &said.message_id, &said.candidates);
        }
        None => out.line(plain(&said.rationale)),
    })?;
    Ok(exit::DONE)
}

/// The commands that settle an open message.
fn ways(out: &Output, message: &str, candidates: &[Candidate]) {
    for candidate in candidates {
        let title = plain(&candidate.title.to_string());
        out.line(format!(
            "  hermit conversation bind {message} task {}   {} ({})",
            candidate.task_id, title, candidate.status
        ));
    }
    out.line(format!("  hermit conversation bind {message} talk   just a remark"));
}
