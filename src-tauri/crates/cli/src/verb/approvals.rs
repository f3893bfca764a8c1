//! What waits for a yes or no.

use super::Came;
use super::run::stay_with;
use crate::approve::{Seat, card, no_terminal, not_waiting};
use crate::args::{ApprovalsVerb, ListArgs};
use crate::context::{Context, Signs};
use crate::output::{Tone, table};
use crate::text::{plain, time};
use wire::approvals::{Deny, List, Show};
use wire::exit;

/// `hermit approvals`.
pub fn approvals(context: &Context, verb: ApprovalsVerb) -> Came {
    match verb {
        ApprovalsVerb::List(args) => list(context, args),
        ApprovalsVerb::Show { approval, whole } => {
            let found = context.reading()?.call(&Show { approval })?;
            context.out.answer(&found, |out, found| {
                card(out, found, whole);
                out.line(format!("it is {}", found.row.status));
            })?;
            Ok(exit::DONE)
        }
        ApprovalsVerb::Approve(args) => approve(context, &args.approval),
        ApprovalsVerb::Deny { approval, feedback } => deny(context, approval, feedback),
    }
}

fn list(context: &Context, args: ListArgs) -> Came {
    let list = List { task: args.task, status: args.status, after: args.after, limit: args.limit };
    let found = context.reading()?.call(&list)?;
    context.out.answer(&found, |out, found| {
        if found.rows.is_empty() {
            return out.line("nothing waits for you");
        }
        let rows = found.rows.iter().map(|r| {
            vec![
                r.approval_id.clone(),
                r.status.clone(),
                r.risk.clone(),
                time(r.expires_at),
                plain(&r.summary.to_string()),
            ]
        });
        table(out, &["approval", "status", "risk", "lapses", "what"], &rows.collect::<Vec<_>>());
        more(out, found.next.as_deref());
    })?;
    Ok(exit::DONE)
}

/// Says that a list goes on.
pub fn more(out: &crate::output::Output, next: Option<&str>) {
    if let Some(next) = next {
        out.say(Tone::Faint, format!("more: --after {next}"));
    }
}

fn approve(context: &Context, approval: &str) -> Came {
    if context.terminal.is_none() {
        return Err(no_terminal());
    }
    // What cannot be decided is told before any passphrase is asked for.
    let found = context.reading()?.call(&Show { approval: approval.to_owned() })?;
    if found.row.status != "pending" {
        return Err(not_waiting(&found));
    }
    let session = context.writing(Signs::Yes)?;
    let came = decide(context, &session, &found.row.approval_id, &found.row.task_id);
    session.close();
    came
}

fn decide(context: &Context, session: &host::Session, approval: &str, task: &str) -> Came {
    let heard = session.listen();
    let mut seat = Seat::take(context).ok_or_else(no_terminal)?;
    let Some(decided) = seat.decide(session, approval)? else {
        context.out.line("nothing was decided; it still waits");
        return Ok(exit::WAITING);
    };
    if !decided.accepted {
        context.out.line(format!("it was {} meanwhile; your answer changed nothing", decided.status));
        return Ok(exit::OTHER);
    }
    drop(seat);
    stay_with(context, session, task, heard).map(|(code, _)| code)
}

fn deny(context: &Context, approval: String, feedback: Option<String>) -> Came {
    let session = context.writing(Signs::No)?;
    let surface = if context.terminal.is_some() { "terminal" } else { "script" };
    let came = session.call(&Deny { approval, feedback, surface: Some(surface.to_owned()) });
    let came = came.and_then(|decided| {
        // The task is told, and goes on as far as it can before this process leaves.
        session.stands(&decided.task_id, std::time::Duration::from_secs(30));
        context.out.answer(&decided, |out, decided| {
            if decided.accepted {
                out.line(format!("{} is denied", decided.approval_id));
            } else {
                out.line(format!("it was {} already; nothing changed", decided.status));
            }
        })?;
        Ok(if decided.accepted { exit::DONE } else { exit::OTHER })
    });
    session.close();
    came
}
