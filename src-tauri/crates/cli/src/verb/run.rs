//! Verbs that give work and stay with it.

use super::Came;
use super::keyring::approval_passphrase;
use crate::approve::TerminalApproval;
use crate::args::{ResolveArgs, RunArgs};
use crate::context::{Context, Signs, absolute};
use crate::live::Live;
use crate::{follow, report};
use host::Session;
use model::receipt::ReceiptClass;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use wire::receipts::ReceiptRow;
use wire::task::{Budget, Part, Reasoner, Settle, Show, Submit};
use wire::{Code, Error, exit};
use words::step::StepKind;
use words::task::Origin;

/// `hermit run`.
pub fn run(context: &Context, args: &RunArgs) -> Came {
    let mut submit = submission(args)?;
    let session = context.writing(Signs::Yes)?;
    // Whoever could raise a limit is there: the person at the terminal of the process that holds the store.
    submit.ask_at_limit = context.terminal.is_some() && session.is_owner();
    take_up(context, &session);
    let code = give(context, &session, &submit);
    session.close();
    code.map(|(code, _)| code)
}

/// Whether a playbook proposes, however it was named.
fn is_playbook(reasoner: &Reasoner) -> bool {
    match reasoner {
        Reasoner::Playbook { .. } => true,
        Reasoner::Address { address } => address.starts_with("playbook:"),
        _ => false,
    }
}

/// Submits, stays, reports; the exit code and how the task stands.
pub fn give(context: &Context, session: &Session, submit: &Submit) -> Result<(u8, follow::Rest), Error> {
    let heard = session.listen();
    if is_playbook(&submit.reasoner) && !submit.goal.trim().is_empty() {
        context.out.note("A playbook does not read the goal: it does what it always does.");
    }
    let submitted = session.call(submit)?;
    if submitted.duplicate {
        context.out.note("You asked for this before; here is how it went.");
    }
    stay_with(context, session, &submitted.task_id, heard)
}

/// Stays with a task and reports.
pub fn stay_with(
    context: &Context,
    session: &Session,
    task: &str,
    heard: Option<std::sync::mpsc::Receiver<wire::Notice>>,
) -> Result<(u8, follow::Rest), Error> {
    let live = Live::new(context, session, task, heard)?;
    stay_on(context, session, task, live)
}

/// Stays with a task that is shown already, and reports.
pub fn stay_on(
    context: &Context,
    session: &Session,
    task: &str,
    live: Live<'_>,
) -> Result<(u8, follow::Rest), Error> {
    let rest = follow::stay(session, task, TerminalApproval::take(context), live)?;
    let receipts = effects(session, task)?;
    report::report(context, session, &rest, &receipts)?;
    Ok((follow::exit_code(&rest), rest))
}

/// Stays with a task that was begun and tells people what it came to; its exit code.
pub fn rejoin(context: &Context, session: &Session, task: &str, live: Live<'_>) -> Came {
    let rest = follow::stay(session, task, TerminalApproval::take(context), live)?;
    let receipts = effects(session, task)?;
    if !context.out.is_json() {
        report::report(context, session, &rest, &receipts)?;
    }
    Ok(follow::exit_code(&rest))
}

/// Receipts of effects of a task, and of parts that its agent gave away; the newest first.
pub fn effects(session: &Session, task: &str) -> Result<Vec<ReceiptRow>, Error> {
    let list = wire::receipts::List { task: Some(task.to_owned()), after: None, limit: None };
    let mut found = session.call(&list)?.rows;
    found.retain(|receipt| receipt.class != ReceiptClass::ApprovalResolution);
    for child in session.call(&Show { task: task.to_owned() })?.children {
        let child = session.call(&Show { task: child })?;
        if child.row.origin == Origin::Agent {
            found.extend(effects(session, &child.row.task_id)?);
        }
    }
    found.sort_by_key(|receipt| std::cmp::Reverse(receipt.issued_at));
    Ok(found)
}

fn submission(args: &RunArgs) -> Result<Submit, Error> {
    let goal = match (args.words.as_ref().or(args.goal.as_ref()), &args.goal_file) {
        (Some(goal), _) => goal.clone(),
        (None, Some(path)) => read_goal(path)?,
        (None, None) => String::new(),
    };
    let nothing = goal.trim().is_empty() && args.steps.is_empty();
    if nothing && args.agent.is_some() {
        return Err(Error::new(Code::Usage, "say what the agent is to do")
            .hint("such as `hermit run --agent codex \"add a test for the parser\"`"));
    }
    if nothing && args.playbook.is_none() && args.model.is_none() {
        return Err(Error::new(Code::Usage, "name a goal or a playbook").hint(
            "try `hermit run --playbook tidy --workspace DIR`, or `hermit run \"what you want\" --model …`",
        ));
    }
    let workspace = args.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
    let attachments = args.attach.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?;
    Ok(Submit {
        goal,
        workspace: absolute(&workspace)?,
        reasoner: reasoner(args)?,
        steps: args.steps.iter().map(|text| part(text)).collect::<Result<_, _>>()?,
        profile: args.profile.clone(),
        attachments,
        spoken: args.spoken,
        budget: Budget {
            iterations_max: args.iterations,
            tokens_max: args.tokens,
            cost_micros_max: args.cost.map(micros).transpose()?,
            ..Budget::default()
        },
        constraints: args.constraint.clone(),
        done_when: args.done_when.clone(),
        title: args.title.clone(),
        idempotency_key: args.idempotency_key.clone(),
        channel: Some("cli".to_owned()),
        fallbacks: args.fallback.clone(),
        fallback_remote: args.fallback_remote,
        ..Submit::default()
    })
}

/// US dollars in millionths.
pub(super) fn micros(dollars: f64) -> Result<u64, Error> {
    if (0.0..=1e6).contains(&dollars) {
        return Ok((dollars * 1e6).round() as u64);
    }
    Err(Error::new(Code::Usage, "a cost is a number of US dollars from 0 to 1000000, such as 2.50"))
}

/// What a step is for, where its words begin with a kind and a colon; and its words.
fn kind_of(text: &str) -> (Option<StepKind>, &str) {
    let written = text.split_once(':').map(|(kind, rest)| (kind.trim().replace(' ', "_"), rest.trim()));
    let known = written.and_then(|(kind, rest)| Some((kind.parse::<StepKind>().ok()?, rest)));
    match known {
        Some((kind, rest)) if StepKind::PLANNED.contains(&kind) && !rest.is_empty() => (Some(kind), rest),
        _ => (None, text),
    }
}

/// A step as it is written on the command line.
fn part(text: &str) -> Result<Part, Error> {
    let Some(name) = text.strip_prefix("playbook:") else {
        let (kind, objective) = kind_of(text);
        return Ok(Part {
            objective: objective.to_owned(),
            kind: kind.map(|k| k.to_string()),
            ..Part::default()
        });
    };
    let reasoner = Some(Reasoner::Playbook {
        name: name.to_owned(),
        text: playbook_file(name)?,
        parameters: BTreeMap::new(),
    });
    Ok(Part { reasoner, ..Part::default() })
}

fn read_goal(path: &Path) -> Result<String, Error> {
    let failed = |e: std::io::Error| {
        Error::new(Code::Usage, format!("cannot read the goal from `{}`: {e}", path.display()))
            .hint("name a file of text, or `-` for standard input")
    };
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(failed)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(failed)
}

fn reasoner(args: &RunArgs) -> Result<Reasoner, Error> {
    let parameters = parameters(&args.params)?;
    if let Some(agent) = &args.agent {
        return guest(args, agent);
    }
    if let Some(name) = &args.playbook {
        return Ok(Reasoner::Playbook { name: name.clone(), text: playbook_file(name)?, parameters });
    }
    if !parameters.is_empty() {
        return Err(Error::new(Code::Usage, "parameters belong to a playbook, and none was named")
            .hint("add `--playbook NAME`, or leave `--param` out"));
    }
    Ok(match &args.model {
        Some(address) => Reasoner::Address { address: address.clone() },
        None => Reasoner::Standard,
    })
}

/// The agent of another program, with what it may reach.
fn guest(args: &RunArgs, agent: &str) -> Result<Reasoner, Error> {
    let pairs = |given: &[String], option: &str| {
        let pair = |text: &String| {
            let parted = text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.to_owned()));
            parted.ok_or_else(|| {
                Error::new(Code::Usage, format!("`{text}` names no variable"))
                    .hint(format!("write it as `{option} VARIABLE=…`"))
            })
        };
        given.iter().map(pair).collect::<Result<BTreeMap<_, _>, Error>>()
    };
    Ok(Reasoner::Guest {
        agent: agent.to_owned(),
        hosts: args.agent_host.clone(),
        secrets: pairs(&args.agent_key, "--agent-key")?,
        reads: args.agent_read.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?,
        environment: pairs(&args.agent_env, "--agent-env")?,
    })
}

/// The text of a playbook that is a file; one that comes with Hermit has none.
pub(super) fn playbook_file(name: &str) -> Result<Option<String>, Error> {
    let path = Path::new(name);
    if !name.contains(['/', '\\']) && path.extension().is_none() && !path.is_file() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(path).map_err(|e| {
        Error::new(Code::Usage, format!("cannot read the playbook `{name}`: {e}"))
            .hint("name one that comes with Hermit, such as `tidy`, or a file of text")
    })?;
    Ok(Some(text))
}

pub(super) fn parameters(given: &[String]) -> Result<BTreeMap<String, String>, Error> {
    let mut parameters = BTreeMap::new();
    for text in given {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Error::new(Code::Usage, format!("`{text}` is no parameter"))
                .hint("write it as `--param name=value`")
        })?;
        if parameters.insert(name.trim().to_owned(), value.to_owned()).is_some() {
            return Err(Error::new(Code::Usage, format!("the parameter `{name}` was given twice")));
        }
    }
    Ok(parameters)
}

/// Whoever hosts the store goes on with what was interrupted, beside its own work (recovery.md 1). What cannot go on
/// now is left as it is: this command is not about it.
pub fn take_up(context: &Context, session: &Session) {
    if session.is_owner()
        && let Err(error) = session.call(&wire::host::Resume {})
    {
        context.out.note(format!("Interrupted tasks could not be resumed: {}", error.message));
    }
}

/// `hermit resume`: everything that can go on, one after the other at a terminal.
pub fn resume_all(context: &Context) -> Came {
    let session = context.writing(Signs::Yes)?;
    let done = go_on(context, &session);
    session.close();
    done
}

fn go_on(context: &Context, session: &Session) -> Came {
    let resumed = session.call(&wire::host::Resume {})?;
    context.out.answer(&resumed, |out, resumed| {
        if resumed.tasks.is_empty() {
            out.line("No task was interrupted. `hermit approvals list` shows what waits for you.");
        }
    })?;
    let mut code = exit::DONE;
    for task in &resumed.tasks {
        let live = Live::new(context, session, task, session.listen())?;
        code = code.max(rejoin(context, session, task, live)?);
    }
    Ok(code)
}

/// `hermit resolve`.
pub fn resolve(context: &Context, args: ResolveArgs) -> Came {
    let session = context.writing(Signs::Yes)?;
    let task = args.task.clone();
    let found = Settle { task: args.task, result: args.result, note: args.note, signed: None };
    let settled = if session.is_attached() {
        approval_passphrase(context, None).and_then(|words| session.settle_by(found, &words))
    } else {
        session.call(&found)
    };
    let done = settled.and_then(|_| stay_with(context, &session, &task, None)).map(|(code, _)| code);
    session.close();
    done
}
