//! Tasks: how they begin, and lists of them.

pub(crate) use super::task_control::{
    answer, cancel, edit_goal, note, pause, resume, retry, set_priority, settle,
};
pub(crate) use super::task_show::show;
pub(crate) use super::task_steps::steps;

use super::asker::{Asker, Askers};
use crate::caller::sender;
use crate::convert::{ask, every, opt, opt_word, rows, text, word};
use crate::error::if_kept;
use crate::files::{absolute, open};
use crate::ids::{find, find_opt};
use crate::{Host, Wire as _, usage};
use kernel::Kernel;
use kernel::command::enclose::Encloses;
use kernel::command::ingest::Incoming;
use kernel::command::plan::Part;
use kernel::command::submit::{Reasoning, Submission};
use kernel::sender::Sender;
use model::artifact::TrustTier;
use model::attempt::TerminationReason;
use model::ingress::Channel;
use model::policy::Profile;
use model::task::{Budget, Priority, TaskStatus};
use model::{ArtifactId, ConversationId, TaskId, UnixMs, limits};
use projections::Query;
use projections::query::TaskFilter;
use projections::rows::{QuestionRow, TaskRow};
use std::path::Path;
use wire::task::{
    Count, List, Question, QuestionList, Questions, Submit, Submitted, TaskCounts, Tasks, WorkingState,
    WorkingStateRow, WorkingStates,
};
use wire::{Caller, Error};
use words::task::UndoneExtent;

/// The channel a request names, or the command line. Nobody speaks as Hermit itself.
pub(crate) fn channel(named: Option<&str>) -> Result<Channel, Error> {
    match opt_word(named)?.unwrap_or(Channel::Cli) {
        Channel::System | Channel::Scheduler | Channel::Chat | Channel::Mesh => {
            Err(usage("`channel` is not yours to name: only Hermit itself is that")
                .hint("there are `cli`, `app`, `run_api`, `mcp` and `webhook`"))
        }
        other => Ok(other),
    }
}

pub(crate) fn submit(host: &dyn Host, p: Submit) -> Result<Submitted, Error> {
    match p.message.clone() {
        Some(message) => super::conversations::begin_with_message(host, &message, p),
        None => submit_in(host, p, None),
    }
}

/// As [`submit`], into a conversation; the first one when none is named.
pub(crate) fn submit_in(
    host: &dyn Host,
    p: Submit,
    conversation_id: Option<ConversationId>,
) -> Result<Submitted, Error> {
    let submission = submission(host, p, conversation_id)?;
    let submitted = host.kernel()?.submit(&submission).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

/// What a goal comes to as it is handed in.
pub(crate) fn submission(
    host: &dyn Host,
    p: Submit,
    conversation_id: Option<ConversationId>,
) -> Result<Submission, Error> {
    for_the_owner(host, &p)?;
    let kernel = host.kernel()?;
    let channel = channel(p.channel.as_deref())?;
    let profile = opt_word(p.profile.as_deref())?.unwrap_or(Profile::LocalEditAllowed);
    let priority = opt_word(p.priority.as_deref())?.unwrap_or(Priority::Normal);
    let budget = budget(p.budget)?;
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let steps = parts(host, &p.steps)?;
    // Steps that all say who proposes need nobody else.
    let first = steps.first().and_then(|part| part.reasoning.clone());
    let all_named = steps.iter().all(|part| part.reasoning.is_some());
    let reasoning = match first {
        Some(reasoning) if all_named && p.reasoner == wire::task::Reasoner::Standard => reasoning,
        _ => host.reasoning(&p.reasoner)?,
    };
    let fallbacks = p.fallbacks.into_iter();
    let fallbacks = fallbacks.map(|address| host.reasoning(&wire::task::Reasoner::Address { address }));
    let fallbacks = fallbacks.collect::<Result<Vec<_>, _>>()?;
    let title = title(p.title, &reasoning, &root);
    let goal = match (&reasoning, p.goal.trim()) {
        (_, "") if !steps.is_empty() => {
            let objectives: Vec<&str> = steps.iter().map(|part| part.objective.as_str()).collect();
            objectives.join("; ")
        }
        (Reasoning::Playbook { name, .. }, "") => format!("Run the playbook {name}"),
        (_, goal) => goal.to_owned(),
    };
    let sender = sender(host, channel);
    let encloses = Encloses { files: attached(host, &p.attachments, sender)?, quote: None, spoken: p.spoken };
    Ok(Submission {
        goal,
        title,
        workspace_id: kernel.workspace(&root).wire()?,
        profile,
        reasoning,
        budget,
        priority,
        constraints: p.constraints,
        done_when: p.done_when,
        deadline_at: p.deadline_at.map(UnixMs),
        channel,
        by: Some(sender.by),
        conversation_id,
        parent_task_id: None,
        continuation_anchor: None,
        attachments: Vec::new(),
        encloses,
        steps,
        asks_at_limit: p.ask_at_limit,
        fallbacks,
        fallback_remote: p.fallback_remote,
        scheduled_by: None,
        depends_on: Vec::new(),
        idempotency_key: p.idempotency_key.unwrap_or_else(|| host.fresh_key()),
    })
}

/// What a person alone allows of a task: that what stays on this machine may leave it, and to be asked for more money.
fn for_the_owner(host: &dyn Host, p: &Submit) -> Result<(), Error> {
    let refused = match (host.caller() == Caller::Owner, p.fallback_remote, p.ask_at_limit) {
        (false, true, _) => "that a model on another machine may follow one on this one (`fallback_remote`)",
        (false, false, true) => "that somebody is there to be asked at a limit (`ask_at_limit`)",
        _ => return Ok(()),
    };
    let said = format!("only a person says {refused}, in the process that holds the store");
    Err(Error::new(wire::Code::Forbidden, said)
        .hint("leave it out, or stop that process and begin the task with `hermit run` at a terminal"))
}

pub(crate) fn of_submitted(submitted: &kernel::command::submit::Submitted) -> Submitted {
    Submitted {
        task_id: submitted.task_id.to_string(),
        ingress_id: submitted.ingress_id.to_string(),
        duplicate: submitted.duplicate,
    }
}

/// The goal's parts: each after the one before it, unless it says otherwise.
fn parts(host: &dyn Host, asked: &[wire::task::Part]) -> Result<Vec<Part>, Error> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, part) in asked.iter().enumerate() {
        let before = || parts.last().map(|last| last.name.clone()).into_iter().collect();
        let reasoning = part.reasoner.as_ref().map(|named| host.reasoning(named)).transpose()?;
        let objective = match (&reasoning, part.objective.trim()) {
            (Some(Reasoning::Playbook { name, .. }), "") => format!("Run the playbook {name}"),
            (_, objective) => objective.to_owned(),
        };
        let may = part.may.iter().map(|name| word(name)).collect::<Result<_, _>>()?;
        let name = part.name.clone().unwrap_or_else(|| format!("step {}", at + 1));
        let after = part.after.clone().unwrap_or_else(before);
        let kind = part.kind.as_deref().map(word).transpose()?;
        let (leaves, done_when) = (part.leaves.clone(), part.done_when.clone());
        let undo = part.undo.clone();
        parts.push(Part { name, objective, after, reasoning, may, kind, leaves, done_when, undo });
    }
    Ok(parts)
}

pub(super) fn budget(asked: wire::task::Budget) -> Result<Budget, Error> {
    let usual = Budget::default();
    let iterations_max = asked.iterations_max.unwrap_or(usual.iterations_max);
    if iterations_max == 0 || iterations_max > limits::ITERATIONS_MAX {
        return Err(usage(format!("`budget.iterations_max` is 1 to {}", limits::ITERATIONS_MAX)));
    }
    let wall_ms_max = asked.wall_ms_max.unwrap_or(usual.wall_ms_max);
    if wall_ms_max <= 0 {
        return Err(usage("`budget.wall_ms_max` is at least 1 ms"));
    }
    Ok(Budget {
        iterations_max,
        tokens_max: asked.tokens_max.unwrap_or(usual.tokens_max),
        wall_ms_max,
        cost_micros_max: asked.cost_micros_max.unwrap_or(usual.cost_micros_max),
    })
}

/// Files that are handed over with words are artifacts first.
pub(crate) fn attached(host: &dyn Host, paths: &[String], sender: Sender) -> Result<Vec<ArtifactId>, Error> {
    // What would be refused for its number is not taken in first.
    if paths.len() > limits::ENCLOSED_MAX {
        return Err(usage(format!(
            "{} files are handed over and at most {} are taken at once",
            paths.len(),
            limits::ENCLOSED_MAX
        )));
    }
    let kernel = host.kernel()?;
    let take = |path: &String| {
        let path = absolute("attachments", path)?;
        let (at, ..) = take_in(kernel, &path, None, TrustTier::Untrusted, sender)?;
        Ok(at.artifact_id)
    };
    paths.iter().map(take).collect()
}

/// Takes a file in; its name is the path's last part unless another is given.
pub(crate) fn take_in(
    kernel: &Kernel,
    path: &Path,
    name: Option<String>,
    trust_tier: TrustTier,
    sender: Sender,
) -> Result<(model::artifact::ArtifactRef, u64, String), Error> {
    let mut file = open(path)?;
    if trust_tier != TrustTier::Untrusted
        && let Some(mark) = disk::origin_mark(&file, path)
    {
        return Err(usage(format!("`{}` cannot be relied on: {mark}", path.display()))
            .hint("leave the trust out, or take the mark away first when you know where the file is from"));
    }
    let last = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.or(last).unwrap_or_else(|| "file".to_owned());
    let incoming = Incoming {
        name: name.clone(),
        uri: kernel::workspace::encode_root(path),
        media_type: media_type(&name),
        bytes: &mut file,
        trust_tier,
    };
    let (at, byte_size) = kernel.ingest(incoming, sender).wire()?;
    Ok((at, byte_size, name))
}

/// What a name's ending says of its content.
pub(crate) fn media_type(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "txt" | "log" | "toml" | "yaml" | "yml" | "rs" | "py" | "ts" | "js" | "sh" | "c" | "h" => {
            "text/plain; charset=utf-8"
        }
        "md" => "text/markdown; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "html" | "htm" => "text/html; charset=utf-8",
        "json" => "application/json",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        "webp" => "image/webp",
        _ => "application/octet-stream",
    }
}

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Tasks, Error> {
    let query = host.query()?;
    let statuses = p.status.iter().map(|status| word(status)).collect::<Result<Vec<TaskStatus>, Error>>()?;
    let group = opt_word(p.group.as_deref())?;
    let workspaces =
        p.workspaces.iter().map(|id| word(id)).collect::<Result<Vec<model::WorkspaceId>, Error>>()?;
    let conversation = p.conversation.as_deref().map(|named| super::conversations::conversation(host, named));
    let conversation = conversation.transpose()?;
    let filter = TaskFilter { statuses, group, workspaces, conversation, ..TaskFilter::default() };
    if let Some(words) = &p.search {
        return search(host, &query, words, &filter, p.after.as_deref(), rows(p.limit)?);
    }
    let found = query.tasks(&filter, ask(p.after.as_deref(), p.limit)?).wire()?;
    let told = found.rows.iter().map(|r| row(host, &query, r)).collect::<Result<Vec<_>, Error>>()?;
    Ok(wire::Page { rows: told, next: found.next.map(|next| next.to_string()) })
}

/// Tasks in which the words stand, the one with the newest hit first; the cursor is the last task given.
fn search(
    host: &dyn Host,
    query: &Query,
    words: &str,
    filter: &TaskFilter,
    after: Option<&str>,
    limit: u32,
) -> Result<Tasks, Error> {
    let words = &crate::file_names::words_of(host, words)?;
    let after = after.map(word::<TaskId>).transpose()?;
    let many = usize::try_from(limit).unwrap_or(usize::MAX);
    let most = if after.is_none() { many.saturating_add(1) } else { usize::MAX };
    let found = query.tasks_saying(words, filter, most).wire()?;
    let begin =
        after.map_or(0, |last| found.iter().position(|id| *id == last).map_or(found.len(), |at| at + 1));
    let wanted = found.get(begin..).unwrap_or_default();
    let mut told = Vec::new();
    for id in wanted.iter().take(many) {
        if let Some(found) = query.task(*id).wire()? {
            told.push(row(host, query, &found)?);
        }
    }
    let next = wanted.get(many).and(wanted.get(many.saturating_sub(1))).map(ToString::to_string);
    Ok(wire::Page { rows: told, next })
}

pub(crate) fn count(host: &dyn Host, _: Count) -> Result<TaskCounts, Error> {
    let found = host.query()?.task_counts().wire()?;
    Ok(TaskCounts { all: found.all, waiting: found.waiting, going: found.going, ended: found.ended })
}

/// The row of a list, and who refused what it proposed: `completed` alone reads as if something had been done.
pub(crate) fn row(host: &dyn Host, query: &Query, r: &TaskRow) -> Result<wire::task::TaskRow, Error> {
    // A person's no ends a task as failed, when its proposer found no other way.
    let refused_by = match (r.status, r.termination) {
        (TaskStatus::Completed, _) | (TaskStatus::Failed, Some(TerminationReason::ApprovalDenied)) => {
            query.refused_by(r.task_id).wire()?
        }
        _ => None,
    };
    Ok(wire::task::TaskRow {
        task_id: r.task_id.to_string(),
        title: text(&r.title),
        status: r.status,
        run_status: r.run_status,
        reason: r.reason.clone(),
        priority: r.priority,
        profile: r.profile,
        origin: r.origin,
        from_chat: super::gateways::chat_sender(host, r),
        proposer: r.proposer,
        created_at: r.created_at.0,
        updated_at: r.updated_at.0,
        ended_at: r.ended_at.map(|at| at.0),
        open_approvals: r.open_approvals,
        open_questions: r.open_questions,
        unknown_effects: r.unknown_effects,
        receipts: r.receipts,
        iterations: r.iterations,
        tokens_used: r.tokens_used,
        cost_micros: r.cost_used,
        parent_task_id: opt(r.parent_task_id),
        refused_by,
        because: super::task_show::because(host, query, r)?,
        undone: undone(query, r)?,
        interrupted: super::task_show::is_interrupted(host, r),
        workspace: super::task_show::workspace(host, r)?,
    })
}

/// Receipts of one task that are looked at to tell whether it was undone.
const UNDONE_RECEIPTS_MAX: u32 = 500;

/// How much of what a task changed was undone since.
fn undone(query: &Query, r: &TaskRow) -> Result<Option<UndoneExtent>, Error> {
    if r.receipts == 0 || r.ended_at.is_none() {
        return Ok(None);
    }
    let ask = projections::Ask { limit: UNDONE_RECEIPTS_MAX, ..projections::Ask::default() };
    let found = query.receipts(Some(r.task_id), None, ask).wire()?;
    let changed = found.rows.iter().filter(|row| super::trace::changes(row));
    let (all, gone) = changed.fold((0, 0), |(all, gone): (usize, usize), row| {
        (all + 1, gone + usize::from(row.undone_by.is_some()))
    });
    Ok(match gone {
        0 => None,
        gone if gone == all => Some(UndoneExtent::All),
        _ => Some(UndoneExtent::Part),
    })
}

/// What a list calls a task that nobody named: a playbook, which does not read the goal, and its folder.
fn title(given: Option<String>, reasoning: &Reasoning, root: &std::path::Path) -> String {
    match (given.unwrap_or_default(), reasoning) {
        (given, Reasoning::Playbook { name, .. }) if given.trim().is_empty() => {
            let folder = root.file_name().map(|name| name.to_string_lossy().into_owned());
            let mut words = name.chars();
            let name: String = words.next().into_iter().flat_map(char::to_uppercase).chain(words).collect();
            format!("{name} {}", folder.unwrap_or_else(|| root.display().to_string()))
        }
        (given, _) => given,
    }
}

pub(crate) fn questions(host: &dyn Host, p: Questions) -> Result<QuestionList, Error> {
    let task = find_opt(host, p.task.as_deref())?;
    let status = opt_word(p.status.as_deref())?;
    let query = host.query()?;
    let found = query.questions(task, status, ask(p.after.as_deref(), p.limit)?).wire()?;
    let (mut askers, next) = (Askers::default(), opt(found.next));
    let rows = found.rows.iter().map(|r| question(host, &query, r, &mut askers));
    Ok(wire::Page { rows: rows.collect::<Result<_, _>>()?, next })
}

fn question(host: &dyn Host, query: &Query, r: &QuestionRow, askers: &mut Askers) -> Result<Question, Error> {
    let Asker { part_of, agent, .. } = askers.of(host, query, (r.task_id, Some(r.attempt_id)))?;
    Ok(Question {
        question_id: r.clarification_id.to_string(),
        task_id: r.task_id.to_string(),
        question: text(&r.question),
        choices: r.choices.iter().map(text).collect(),
        status: r.status,
        requested_at: r.requested_at.0,
        expires_at: r.expires_at.0,
        part_of,
        agent,
    })
}

pub(crate) fn working_state(host: &dyn Host, p: WorkingState) -> Result<WorkingStates, Error> {
    let task: TaskId = find(host, &p.task)?;
    let query = host.query()?;
    if query.task(task).wire()?.is_none() {
        return Err(crate::not_found("task", &p.task));
    }
    let store = host.artifacts()?;
    let found = query.working_states(task, ask(p.after.as_deref(), p.limit)?).wire()?;
    let row = |r: &projections::rows::WorkingStateRow| {
        let bytes = if_kept(store.read(&r.sha256))?;
        Ok(WorkingStateRow {
            holder: r.holder.clone(),
            artifact_id: r.artifact_id.to_string(),
            sha256: r.sha256.to_string(),
            revision: r.revision,
            updated_at: r.updated_at.0,
            state: bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default(),
        })
    };
    let rows = found.rows.iter().map(row).collect::<Result<_, Error>>()?;
    Ok(wire::Page { rows, next: opt(found.next) })
}

/// The only open question of a task, where none is named.
pub(crate) fn only_question(host: &dyn Host, task: TaskId) -> Result<model::ClarificationId, Error> {
    let pending = Some(model::ingress::ClarificationStatus::Pending);
    let query = host.query()?;
    let open = every(|ask| query.questions(Some(task), pending, ask))?;
    match open.as_slice() {
        [] => Err(Error::new(wire::Code::Conflict, format!("no question of `{task}` is open"))),
        [one] => Ok(one.clarification_id),
        several => {
            let ids: Vec<String> = several.iter().map(|q| q.clarification_id.to_string()).collect();
            Err(Error::new(wire::Code::Ambiguous, format!("`{task}` has {} open questions", ids.len()))
                .hint(format!("name the one you answer with `--question`: {}", ids.join(", ")))
                .details(serde_json::json!({ "candidates": ids })))
        }
    }
}
