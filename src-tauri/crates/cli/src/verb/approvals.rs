//! What waits for a yes or no.

use super::Came;
use super::run::{stay_on, stay_with};
use crate::approve::{ONE_OF_TWO, TerminalApproval, no_terminal, not_waiting};
use crate::args::{ApprovalsVerb, ApproveArgs, ListArgs};
use crate::card::{Card, Extent};
use crate::context::{Context, Signs};
use crate::live::Live;
use crate::output::{Tone, table};
use crate::text::{plain, short, time};
use host::Session;
use model::approval::ApprovalStatus;
use wire::approvals::{Approval, Deny, List, Part, Show};
use wire::{Code, Error, exit};

/// `hermit approvals`.
pub fn approvals(context: &Context, verb: ApprovalsVerb) -> Came {
    match verb {
        ApprovalsVerb::List(args) => list(context, args),
        ApprovalsVerb::Show { approval, whole } => {
            let session = context.reading()?;
            let mut found = Card::read(&session, &named(&session, approval)?)?;
            if whole {
                found.complete(&session)?;
            }
            context.out.answer(&found, |out, found| {
                found.print(out, if whole { Extent::Whole } else { Extent::screen() });
                let (tone, stakes) = found.stakes();
                out.say(tone, stakes);
                out.line(match found.approval.row.status {
                    ApprovalStatus::Pending => format!(
                        "Waiting for you: hermit approvals approve {}",
                        short(&found.approval.row.approval_id)
                    ),
                    status => format!("It is {status}."),
                });
            })?;
            Ok(exit::DONE)
        }
        ApprovalsVerb::Approve(args) => approve(context, &args),
        ApprovalsVerb::Deny { approval, feedback } => deny(context, approval, feedback),
    }
}

/// The approval that was named, or the only one that waits.
fn named(session: &Session, approval: Option<String>) -> Result<String, Error> {
    if let Some(approval) = approval {
        return Ok(approval);
    }
    let mut waiting = session.call(&List { limit: Some(2), ..List::default() })?.rows;
    match (waiting.pop(), waiting.is_empty()) {
        (Some(only), true) => Ok(only.approval_id),
        (None, _) => Err(Error::new(Code::NotFound, "nothing waits for your approval")),
        (Some(_), false) => Err(Error::new(Code::Usage, "more than one action waits for your approval")
            .hint("name one; `hermit approvals list` lists them")),
    }
}

fn list(context: &Context, args: ListArgs) -> Came {
    let list = List { task: args.task, status: args.status, after: args.after, limit: args.limit };
    let found = context.reading()?.call(&list)?;
    context.out.answer(&found, |out, found| {
        if found.rows.is_empty() {
            return out.line("Nothing to approve.");
        }
        let rows = found.rows.iter().map(|r| {
            vec![
                short(&r.approval_id).to_owned(),
                r.status.to_string(),
                r.risk.to_string(),
                time(r.expires_at),
                plain(&r.summary.to_string()),
            ]
        });
        table(out, &["approval", "status", "risk", "expires", "what"], &rows.collect::<Vec<_>>());
        more(out, found.next.as_deref());
    })?;
    Ok(exit::DONE)
}

/// Says that a list goes on.
pub fn more(out: &crate::output::Output, next: Option<&str>) {
    if let Some(next) = next {
        out.say(Tone::Faint, format!("More: --after {next}"));
    }
}

fn approve(context: &Context, args: &ApproveArgs) -> Came {
    if context.terminal.is_none() {
        return Err(no_terminal());
    }
    // What cannot be decided is told before any passphrase is asked for.
    let reading = context.reading()?;
    let found = reading.call(&Show { approval: named(&reading, args.approval.clone())? })?;
    drop(reading);
    if found.row.status != ApprovalStatus::Pending {
        return Err(not_waiting(&found));
    }
    let session = context.writing(Signs::Yes)?;
    let came = match args.only.is_empty() {
        true => decide(context, &session, &found.row.approval_id, &found.row.task_id),
        false => choose(context, &session, args, &found),
    };
    session.close();
    came
}

/// The files that were named: the rest is denied, and the person is asked about these.
fn choose(context: &Context, session: &Session, args: &ApproveArgs, of: &Approval) -> Came {
    let heard = session.listen();
    let decided = session.call(&Part {
        approval: of.row.approval_id.clone(),
        only: args.only.clone(),
        rows: Vec::new(),
        hunks: Vec::new(),
        feedback: args.feedback.clone(),
        surface: Some("terminal".to_owned()),
    })?;
    if !decided.accepted {
        context.out.line(format!("It was {} meanwhile; your choice changed nothing.", decided.status));
        return Ok(exit::OTHER);
    }
    stay_with(context, session, &of.row.task_id, heard).map(|(code, _)| code)
}

fn decide(context: &Context, session: &Session, approval: &str, task: &str) -> Came {
    let mut live = Live::new(context, session, task, session.listen())?;
    let mut person = TerminalApproval::take(context).ok_or_else(no_terminal)?;
    let decided = match live.front() {
        Some(front) => person.decide(front, session, approval)?,
        None => return Err(no_terminal()),
    };
    match decided {
        Some(decided) if decided.accepted && decided.status == ApprovalStatus::Pending => {
            drop(live);
            context.out.line(ONE_OF_TWO);
            Ok(exit::WAITING)
        }
        Some(decided) if decided.accepted => {
            drop(person);
            stay_on(context, session, task, live).map(|(code, _)| code)
        }
        Some(decided) => {
            drop(live);
            context.out.line(format!("It was {} meanwhile; your answer changed nothing.", decided.status));
            Ok(exit::OTHER)
        }
        None => {
            drop(live);
            context.out.line("Nothing was decided. It still waits for you.");
            Ok(exit::WAITING)
        }
    }
}

fn deny(context: &Context, approval: Option<String>, feedback: Option<String>) -> Came {
    // As for a yes: that nothing waits is told before any passphrase is asked for.
    let approval = named(&context.reading()?, approval)?;
    let session = context.writing(Signs::Yes)?;
    let surface = if context.terminal.is_some() { "terminal" } else { "script" };
    let came = session.call(&Deny { approval, feedback, surface: Some(surface.to_owned()), stop: false });
    let came = came.and_then(|decided| {
        // The task is told, and goes on as far as it can before this process leaves.
        session.stands(&decided.task_id, std::time::Duration::from_secs(30));
        context.out.answer(&decided, |out, decided| {
            if decided.accepted {
                out.line(format!("Denied: {}", short(&decided.approval_id)));
            } else {
                out.line(format!("It was {} already; nothing changed.", decided.status));
            }
        })?;
        Ok(if decided.accepted { exit::DONE } else { exit::OTHER })
    });
    session.close();
    came
}
