//! Looking at tasks and receipts, and steering tasks.

use super::Came;
use super::approvals::more;
use super::run::stay_with;
use crate::args::TaskVerb;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::progress::took;
use crate::question::{self, Asking};
use crate::text::{clip, count, plain, short, time};
use crate::{follow, report};
use host::Session;
use model::policy::Verdict;
use model::task::TaskStatus;
use std::time::Duration;
use wire::receipts::Link;
use wire::task::{
    Action, Answer, Cancel, ChatSender, Done, EditGoal, List, Note, Noted, Pause, Resume, Retry, SetPriority,
    Show, StepRow, Steps,
};
use wire::{Error, exit};
use words::act::ActionState;
use words::number::grouped;
use words::step::StepKind;
use words::store::Channel;
use words::task::Origin;
use words::task::UndoneExtent;

/// Letters of a name that a stranger chose.
const NAME_CHARS: usize = 60;

/// How often a followed task is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// A cancelled or paused task has this long to come to rest before this process leaves it.
const REST: Duration = Duration::from_secs(30);

/// Steps that have not ended, or those that stand as they were asked for.
fn steps(context: &Context, task: Option<String>, status: Option<String>, limit: Option<u32>) -> Came {
    let wanted = status
        .map_or_else(|| ["running", "blocked", "ready"].map(str::to_owned).to_vec(), |status| vec![status]);
    let session = context.reading()?;
    let mut found = wire::task::StepList { rows: Vec::new(), next: None };
    for status in wanted {
        let part = session.call(&Steps { task: task.clone(), status: Some(status), after: None, limit })?;
        found.rows.extend(part.rows);
    }
    context.out.answer(&found, |out, found| {
        if found.rows.is_empty() {
            out.line("No step is ready, running or blocked.");
            return;
        }
        let rows = found.rows.iter().map(|row| {
            let words = [&row.task_title, &row.title].map(|text| plain(&text.to_string()));
            let [title, step] = words;
            vec![
                row.status.to_string(),
                row.priority.to_string(),
                row.task_id.clone(),
                title,
                step,
                row.reason.clone(),
            ]
        });
        table(out, &["status", "priority", "task", "title", "step", "why"], &rows.collect::<Vec<_>>());
    })?;
    Ok(exit::DONE)
}

/// `hermit task`.
pub fn task(context: &Context, verb: TaskVerb) -> Came {
    match verb {
        TaskVerb::List { status, group, search, workspace, after, limit } => {
            let workspaces = workspace.map(|folder| super::workspace::project(context, &folder));
            let workspaces = workspaces.transpose()?.unwrap_or_default();
            list(context, List { status, group, search, workspaces, after, limit, ..List::default() })
        }
        TaskVerb::Show { task } => {
            let session = context.reading()?;
            let found = session.call(&Show { task })?;
            let steps = planned(&session, &found)?;
            context.out.answer(&Shown { asking: Asking::of(&session, &found)?, steps }, show)?;
            Ok(exit::DONE)
        }
        TaskVerb::Events { task, follow, after } => events(context, task, follow, after),
        TaskVerb::Pause { task } => wish(context, |session| session.call(&Pause { task: task.clone() })),
        TaskVerb::Cancel { task, reason } => {
            wish(context, |session| session.call(&Cancel { task: task.clone(), reason: reason.clone() }))
        }
        TaskVerb::Priority { task, priority } => wish(context, |session| {
            session.call(&SetPriority { task: task.clone(), priority: priority.clone() })
        }),
        TaskVerb::Steps { task, status, limit } => steps(context, task, status, limit),
        TaskVerb::Goal { task, goal, spoken } => wish(context, |session| {
            let channel = Some("cli".to_owned());
            session.call(&EditGoal { task: task.clone(), goal: goal.clone(), spoken, channel })
        }),
        TaskVerb::Note { task, text, mode, with } => {
            let session = context.writing(Signs::No)?;
            let channel = Some("cli".to_owned());
            let noted = super::conversation::taken_in(&session, &with.attach).and_then(|encloses| {
                let (mode, quotes, passage, spoken) = (Some(mode), with.quote, with.passage, with.spoken);
                let idempotency_key = None;
                session.call(&Note {
                    task,
                    text,
                    mode,
                    quotes,
                    passage,
                    encloses,
                    spoken,
                    idempotency_key,
                    channel,
                })
            });
            let noted = noted.inspect(|noted| drop(session.stands(&noted.task_id, LOOK)));
            session.close();
            context.out.answer(&noted?, told)?;
            Ok(exit::DONE)
        }
        TaskVerb::Compact { task } => super::summary::compact(context, task),
        TaskVerb::Summary { task, artifact, unfold } => super::summary::show(context, task, artifact, unfold),
        TaskVerb::Resume { task, .. } => {
            go_on(context, |session| session.call(&Resume { task: task.clone() }).map(|d| d.task_id))
        }
        TaskVerb::Retry { task, .. } => go_on(context, |session| {
            let begun = session.call(&Retry { task: task.clone(), idempotency_key: None })?.task_id;
            if !begun.contains(task.trim()) {
                let (ended, new) = (short(&task), short(&begun));
                context.out.note(format!("Task {ended} has ended: task {new} does the same again."));
            }
            Ok(begun)
        }),
        TaskVerb::Answer { task, text, question, spoken, .. } => go_on(context, |session| {
            let (channel, question) = (Some("cli".to_owned()), question.clone());
            let answer = Answer { task: task.clone(), question, text: text.clone(), spoken, channel };
            session.call(&answer).map(|d| d.task_id)
        }),
    }
}

/// What a note came to: words stand with the task, a command tells what it did and what it made.
fn told(out: &Output, noted: &Noted) {
    let id = short(&noted.task_id);
    match &noted.told {
        None => out.line(format!("Added to task {id}.")),
        Some(told) => {
            out.line(format!("Command about task {id}:"));
            told.iter().for_each(|line| out.line(format!("  {}", plain(line))));
        }
    }
    if let Some(made) = &noted.made {
        out.line(format!("It made task {}.", short(made)));
    }
}

fn list(context: &Context, list: List) -> Came {
    let found = context.reading()?.call(&list)?;
    context.out.answer(&found, |out, found| {
        if found.rows.is_empty() {
            return out.line("No tasks yet. Start one: hermit run --playbook tidy --workspace FOLDER");
        }
        let rows = found.rows.iter().map(|r| {
            vec![
                short(&r.task_id).to_owned(),
                standing(r).replace('_', " "),
                time(r.updated_at),
                r.receipts.to_string(),
                folder(r),
                match (&r.from_chat, r.origin) {
                    (Some(chat), _) => format!("{} ({})", plain(&r.title.to_string()), in_chat(chat)),
                    (None, Origin::Person) => plain(&r.title.to_string()),
                    (None, origin) => format!("{} ({})", plain(&r.title.to_string()), began(origin)),
                },
            ]
        });
        table(out, &["task", "status", "changed", "receipts", "folder", "title"], &rows.collect::<Vec<_>>());
        for row in found.rows.iter().filter(|row| row.interrupted == Some(true)) {
            let Some(because) = &row.because else { continue };
            out.say(Tone::Warn, format!("{}: {}", short(&row.task_id), plain(&because.to_string())));
        }
        more(out, found.next.as_deref());
    })?;
    Ok(exit::DONE)
}

/// How a task stands, with what came of it since.
fn standing(row: &wire::task::TaskRow) -> &'static str {
    match (row.undone, row.interrupted) {
        (Some(UndoneExtent::All), _) => "undone",
        (Some(UndoneExtent::Part), _) => "partly undone",
        (None, Some(true)) => "interrupted",
        (None, _) if report::ended_by_a_no(row) => "denied by you",
        (None, _) => row.run_status.as_str(),
    }
}

/// The last part of the folder's name.
fn folder(row: &wire::task::TaskRow) -> String {
    let path = row.workspace.as_ref().map(|text| plain(&text.to_string())).unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Who began a task in a chat, as they call themselves there.
fn in_chat(chat: &ChatSender) -> String {
    format!("{} on {}", plain(&clip(&chat.sender_name.to_string(), NAME_CHARS)), chat.service.as_str())
}

/// Who began a task that no person did.
const fn began(origin: Origin) -> &'static str {
    match origin {
        Origin::Person => "you",
        Origin::Program => "another program",
        Origin::Service => "Hermit, in the background",
        Origin::Scheduler => "Hermit, on schedule",
        Origin::Agent => "the agent of another task",
    }
}

/// A task with what it asks, and its steps.
#[derive(serde::Serialize)]
struct Shown<'t> {
    #[serde(flatten)]
    asking: Asking<'t>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<StepRow>,
}

/// The steps of a task in the order of their plan: of one that has several, or whose only step counts on something.
fn planned(session: &Session, task: &wire::task::Task) -> Result<Vec<StepRow>, Error> {
    let of = Some(task.row.task_id.clone());
    let mut steps = session.call(&Steps { task: of, status: None, after: None, limit: None })?.rows;
    steps.reverse();
    let counts = |step: &StepRow| step.contract.as_ref().is_some_and(|contract| !contract.inputs.is_empty());
    if steps.len() < 2 && !steps.iter().any(counts) {
        steps.clear();
    }
    Ok(steps)
}

/// One step: how it stands, what it counts on and what it is to leave.
fn step(out: &Output, step: &StepRow) {
    let (status, title) =
        (step.status.as_str().replace('_', " "), plain(&clip(&step.title.to_string(), 300)));
    let kind = match step.kind {
        StepKind::Pursue => String::new(),
        kind => format!(" ({})", kind.as_str().replace('_', " ")),
    };
    out.line(format!("  step      {title}{kind}: {status}"));
    let Some(contract) = &step.contract else { return };
    for input in &contract.inputs {
        let name = plain(&clip(&input.title.to_string(), 300));
        out.line(match (&input.step_id, input.leaves.is_empty()) {
            (None, _) => format!("            counts on {name}, which came with the goal"),
            (Some(_), true) => format!("            counts on what the step {name} ends with"),
            (Some(_), false) => {
                let leaves = plain(&clip(&input.leaves.join("; "), 300));
                format!("            counts on what the step {name} ends with: {leaves}")
            }
        });
    }
    for left in &contract.leaves {
        out.line(format!("            is to leave {}", plain(&clip(left, 300))));
    }
}

fn show(out: &Output, shown: &Shown<'_>) {
    let asking = &shown.asking;
    let task = asking.task;
    let row = &task.row;
    out.say(Tone::Bold, plain(&row.title.to_string()));
    let fact = |name: &str, value: &str| out.line(format!("  {name:<9} {value}"));
    fact("task", &row.task_id);
    fact("status", &standing(row).replace('_', " "));
    fact("goal", &plain(&task.goal.to_string()));
    if let Some(workspace) = &task.workspace {
        fact("folder", &plain(&workspace.to_string()));
    }
    fact("model", &plain(&task.reasoner));
    if let Some(parent) = row.parent_task_id.as_ref().filter(|_| row.origin == Origin::Agent) {
        fact("part of", short(parent));
    }
    if let Some(before) = &task.follows {
        fact("follows", short(before));
    }
    fact("policy", row.profile.in_words());
    match row.origin {
        _ if task.channel == Channel::Chat => {
            let by = row
                .from_chat
                .as_ref()
                .map_or_else(|| "from a chat".to_owned(), |chat| format!("by {}", in_chat(chat)));
            fact("started", &format!("{} {by}", time(row.created_at)));
        }
        _ if task.channel == Channel::Mesh => {
            fact("started", &format!("{} at another machine of yours", time(row.created_at)));
        }
        Origin::Person => fact("started", &time(row.created_at)),
        origin => fact("started", &format!("{} by {}", time(row.created_at), began(origin))),
    }
    let spent = took(Duration::from_millis(u64::try_from(task.wall_ms).unwrap_or(0)));
    let (turns, tokens) = (count(row.iterations as usize, "turn"), grouped(row.tokens_used));
    fact("used", &format!("{turns}, {tokens} tokens, {spent} of work"));
    shown.steps.iter().for_each(|one| step(out, one));
    task.actions.iter().for_each(|action| acted(out, action));
    if row.status == TaskStatus::Failed {
        let tone = if report::ended_by_a_no(row) { Tone::Warn } else { Tone::Bad };
        out.say(tone, report::failed(task));
    }
    report::words(out, task);
    if let Some(question) = &asking.question {
        out.rows(&question::rows(question));
    }
    follow::next_steps(task).iter().for_each(|line| out.line(line));
}

/// One action: what became of it, its receipt, and what went wrong.
fn acted(out: &Output, action: &Action) {
    let state = match (action.verdict, action.state) {
        (Some(Verdict::Deny), _) => "denied by policy",
        (_, ActionState::Observed) => "done",
        (_, ActionState::AwaitingApproval) => "waiting for you",
        (_, ActionState::Uncertain) => "outcome unknown",
        (_, state) => state.as_str(),
    };
    let receipt = action.receipt_id.as_deref().map(|id| format!("  receipt {}", short(id)));
    let what = plain(&clip(&action.summary.to_string(), 300));
    out.line(format!("  {state:<17} {what}{}", receipt.unwrap_or_default()));
    if let Some(rules) = &action.instead_rules {
        out.say(
            Tone::Faint,
            format!("                    instead of what was asked, by rule {}", plain(rules)),
        );
    }
    match &action.trouble {
        Some(trouble) => out.say(Tone::Bad, format!("                    {}", plain(&trouble.to_string()))),
        None if state == "denied by policy" => {
            let id = &action.action_request_id;
            out.say(Tone::Faint, format!("                    why: hermit policy explain {id}"));
        }
        None => {}
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
        context.out.answer(&now, |out, now| {
            out.line(format!(
                "Task {}: {}",
                short(&now.row.task_id),
                now.row.run_status.as_str().replace('_', " ")
            ))
        })
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

/// One part of a chain.
pub fn chain(out: &Output, name: &str, links: &[Link]) {
    for (index, link) in links.iter().enumerate() {
        let head = if index == 0 { name } else { "" };
        let label = link.label.as_ref().map(|l| plain(&l.to_string())).unwrap_or_default();
        out.line(format!("  {head:<10} {} {} {}", link.id, plain(&link.detail), label).trim_end());
    }
}
