//! Looking at tasks and receipts, and steering tasks.

use super::Came;
use super::approvals::more;
use super::run::stay_with;
use crate::args::{ReceiptsVerb, TaskVerb};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{paragraph, plain, time};
use std::time::Duration;
use wire::receipts::Link;
use wire::task::{Answer, Cancel, Done, EditGoal, List, Note, Pause, Resume, Retry, Show, Task};
use wire::{Error, exit};

/// How often a followed task is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// A cancelled or paused task has this long to come to rest before this process leaves it.
const REST: Duration = Duration::from_secs(30);

/// `hermit task`.
pub fn task(context: &Context, verb: TaskVerb) -> Came {
    match verb {
        TaskVerb::List { status, group, search, after, limit } => {
            list(context, List { status, group, search, after, limit })
        }
        TaskVerb::Show { task } => {
            let found = context.reading()?.call(&Show { task })?;
            context.out.answer(&found, show)?;
            Ok(exit::DONE)
        }
        TaskVerb::Events { task, follow, after } => events(context, task, follow, after),
        TaskVerb::Pause { task } => wish(context, |session| session.call(&Pause { task: task.clone() })),
        TaskVerb::Cancel { task, reason } => {
            wish(context, |session| session.call(&Cancel { task: task.clone(), reason: reason.clone() }))
        }
        TaskVerb::Goal { task, goal } => wish(context, |session| {
            let channel = Some("cli".to_owned());
            session.call(&EditGoal { task: task.clone(), goal: goal.clone(), channel })
        }),
        TaskVerb::Note { task, text, mode } => {
            let session = context.writing(Signs::No)?;
            let channel = Some("cli".to_owned());
            let noted = session.call(&Note { task, text, mode: Some(mode), idempotency_key: None, channel });
            let noted = noted.inspect(|noted| drop(session.stands(&noted.task_id, LOOK)));
            session.close();
            context.out.answer(&noted?, |out, noted| out.line(format!("added to {}", noted.task_id)))?;
            Ok(exit::DONE)
        }
        TaskVerb::Resume { task } => {
            go_on(context, |session| session.call(&Resume { task: task.clone() }).map(|d| d.task_id))
        }
        TaskVerb::Retry { task } => go_on(context, |session| {
            session.call(&Retry { task: task.clone(), idempotency_key: None }).map(|s| s.task_id)
        }),
        TaskVerb::Answer { task, text, question } => go_on(context, |session| {
            let channel = Some("cli".to_owned());
            let answer =
                Answer { task: task.clone(), question: question.clone(), text: text.clone(), channel };
            session.call(&answer).map(|d| d.task_id)
        }),
    }
}

fn list(context: &Context, list: List) -> Came {
    let found = context.reading()?.call(&list)?;
    context.out.answer(&found, |out, found| {
        if found.rows.is_empty() {
            return out.line("no tasks; `hermit run --playbook tidy --workspace DIR` makes one");
        }
        let rows = found.rows.iter().map(|r| {
            vec![
                r.task_id.clone(),
                r.run_status.clone(),
                time(r.updated_at),
                r.receipts.to_string(),
                plain(&r.title.to_string()),
            ]
        });
        table(out, &["task", "status", "changed", "receipts", "title"], &rows.collect::<Vec<_>>());
        more(out, found.next.as_deref());
    })?;
    Ok(exit::DONE)
}

fn show(out: &Output, task: &Task) {
    let row = &task.row;
    out.say(Tone::Bold, plain(&row.title.to_string()));
    let fact = |name: &str, value: &str| out.line(format!("  {name:<10} {value}"));
    fact("task", &row.task_id);
    fact("status", &format!("{} ({})", row.status, row.run_status));
    if let Some(why) = &task.termination {
        fact("ended", why);
    }
    fact("goal", &plain(&task.goal.to_string()));
    if let Some(workspace) = &task.workspace {
        fact("workspace", &plain(&workspace.to_string()));
    }
    fact("reasoner", &plain(&task.reasoner));
    fact("profile", &row.profile);
    fact("made", &time(row.created_at));
    fact("spent", &format!("{} turns, {} tokens, {} ms", row.iterations, row.tokens_used, task.wall_ms));
    if let Some(waits) = &task.waits_for {
        fact("waits for", &format!("{} {}", waits.kind, waits.id.as_deref().unwrap_or_default()));
    }
    for attempt in &task.attempts {
        out.line(format!(
            "  attempt {}  {}  {} turns  {}",
            attempt.number, attempt.status, attempt.iterations, attempt.attempt_id
        ));
    }
    for action in &task.actions {
        let receipt = action.receipt_id.as_deref().unwrap_or("no receipt");
        out.line(format!(
            "  {:<10} {:<18} {}  {receipt}",
            action.state,
            action.class,
            plain(&action.summary.to_string())
        ));
        if let Some(rules) = &action.instead_rules {
            out.say(Tone::Faint, format!("             instead of what was asked, by {}", plain(rules)));
        }
        if let Some(trouble) = &action.trouble {
            out.say(Tone::Bad, format!("             {}", plain(&trouble.to_string())));
        }
    }
    if let Some(summary) = &task.summary {
        out.line(paragraph(&summary.to_string()));
    }
}

fn events(context: &Context, task: String, follow: bool, after: u64) -> Came {
    let session = context.reading()?;
    let (mut after_seq, mut all) = (after, Vec::new());
    loop {
        let page = session.call(&wire::task_events::List { task: task.clone(), after_seq, limit: None })?;
        after_seq = page.events.last().map_or(after_seq, |e| e.seq);
        for event in page.events {
            if follow {
                context.out.stream(&event)?;
            }
            let about = plain(&event.entity_id);
            context.out.line(format!(
                "{:>5}  {}  {:<28} {about}",
                event.seq,
                time(event.at),
                event.event_type
            ));
            if !follow && context.out.is_json() {
                all.push(event);
            }
        }
        if after_seq >= page.last_seq {
            if !follow {
                context.out.answer(&all, |_, _| {})?;
                return Ok(exit::DONE);
            }
            if page.ended {
                return Ok(exit::DONE);
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// A wish is recorded, and the task has a moment to come to rest.
fn wish(context: &Context, ask: impl Fn(&host::Session) -> Result<Done, Error>) -> Came {
    let session = context.writing(Signs::No)?;
    let came = ask(&session).and_then(|done| {
        session.stands(&done.task_id, REST);
        let now = session.call(&Show { task: done.task_id })?;
        context.out.answer(&now, |out, now| out.line(format!("{}: {}", now.row.task_id, now.row.status)))
    });
    session.close();
    came.map(|()| exit::DONE)
}

/// The task goes on, and this process stays with it.
fn go_on(context: &Context, ask: impl Fn(&host::Session) -> Result<String, Error>) -> Came {
    let session = context.writing(Signs::Yes)?;
    let heard = session.listen();
    let came =
        ask(&session).and_then(|task| stay_with(context, &session, &task, heard)).map(|(code, _)| code);
    session.close();
    came
}

/// `hermit receipts`.
pub fn receipts(context: &Context, verb: ReceiptsVerb) -> Came {
    let session = context.reading()?;
    match verb {
        ReceiptsVerb::List(args) => {
            let found = session.call(&wire::receipts::List {
                task: args.task,
                after: args.after,
                limit: args.limit,
            })?;
            context.out.answer(&found, |out, found| {
                if found.rows.is_empty() {
                    return out.line("no receipts: nothing of consequence was done yet");
                }
                let rows = found.rows.iter().map(|r| {
                    let undone = if r.undone_by.is_some() { "undone" } else { "" };
                    vec![
                        r.receipt_id.clone(),
                        r.result.clone(),
                        r.action_class.clone(),
                        time(r.issued_at),
                        undone.to_owned(),
                        plain(&r.summary.to_string()),
                    ]
                });
                table(out, &["receipt", "result", "class", "issued", "", "what"], &rows.collect::<Vec<_>>());
                more(out, found.next.as_deref());
            })?;
        }
        ReceiptsVerb::Show { receipt } => {
            let found = session.call(&wire::receipts::Show { receipt })?;
            context.out.answer(&found, |out, found| {
                out.say(Tone::Bold, plain(&found.row.summary.to_string()));
                let said = serde_json::to_string_pretty(&found.receipt).unwrap_or_default();
                out.line(paragraph(&said));
                let holds =
                    serde_json::to_value(found.signature).ok().and_then(|v| v.as_str().map(str::to_owned));
                out.line(format!("signature {}", holds.unwrap_or_default()));
                if found.row.reversibility != "irreversible" && found.row.undone_by.is_none() {
                    out.say(Tone::Faint, format!("undo: hermit rollback {}", found.row.receipt_id));
                }
            })?;
        }
    }
    Ok(exit::DONE)
}

/// One part of a chain.
pub fn chain(out: &Output, name: &str, links: &[Link]) {
    for (index, link) in links.iter().enumerate() {
        let head = if index == 0 { name } else { "" };
        let label = link.label.as_ref().map(|l| plain(&l.to_string())).unwrap_or_default();
        out.line(format!("  {head:<10} {} {} {}", link.id, plain(&link.detail), label).trim_end());
    }
}
