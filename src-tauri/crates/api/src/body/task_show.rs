//! One task with everything a person asks about it first.

use crate::convert::{every, opt, opt_text, text};
use crate::ids::find;
use crate::{Host, Stands, Wire as _, fold, not_found};
use kernel::state::TaskState;
use kernel::{Next, next};
use model::TaskId;
use model::action::ActionClass;
use model::ingress::{Channel, Clarification, ClarificationStatus};
use model::receipt::ResultCode;
use model::task::{ModelChoice, TaskContract, TaskStatus};
use projections::Query;
use projections::query::TaskFilter;
use projections::rows::{ActionRow, AttemptRow, TaskRow, WorkspaceRow};
use std::time::Duration;
use wire::task::{Action, Attempt, Criterion, Show, Task, Waits};
use wire::{Error, Text};
use words::task::{WaitsFor, WordsBy};

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Task, Error> {
    let id: TaskId = find(host, &p.task)?;
    let query = host.query()?;
    let row = query.task(id).wire()?.ok_or_else(|| not_found("task", &p.task))?;
    let contract = contract(host, &row)?;
    let attempts = every(|ask| query.attempts(id, ask))?;
    let actions = every(|ask| query.actions(Some(id), None, ask))?;
    let filter = TaskFilter { parent: Some(id), ..TaskFilter::default() };
    let children = every(|ask| query.tasks(&filter, ask))?;
    let state = fold::task_state(query.reader(), id)?;
    let latest = attempts.last();
    let budget = contract.as_ref().map(|contract| state.budget(contract));
    let (tokens_max, cost_micros_max, wall_ms_max) =
        budget.map_or((0, 0, 0), |most| (most.tokens_max, most.cost_micros_max, most.wall_ms_max));
    let summary_by =
        latest.and_then(|a| a.summary.as_ref().map(|_| words_by(a.answer_ref.is_some(), contract.as_ref())));
    let verified_by = verified_by(&query, id)?;
    let answered = latest.filter(|attempt| attempt.answer_ref.is_some());
    let answer_check =
        answered.map(|a| super::answer_check::of(host, &query, id, a.attempt_id)).transpose()?.flatten();
    let interrupted = is_interrupted(host, &row);
    let under_way = crate::runs::under_way(host, &row, interrupted == Some(true));
    Ok(Task {
        row: super::task::row(host, &query, &row)?,
        conversation_id: row.conversation_id.to_string(),
        goal: text(&row.goal),
        channel: row.channel,
        workspace: workspace(host, &row)?,
        reasoner: contract
            .as_ref()
            .map_or_else(|| "(erased)".to_owned(), |c| crate::runs::model_name(&c.model)),
        criteria: criteria(contract.as_ref(), &state),
        constraints: contract.map(|c| c.constraints).unwrap_or_default(),
        tokens_max,
        cost_micros_max,
        wall_ms: row.wall_ms,
        wall_ms_max,
        deadline_at: row.deadline_at.map(|at| at.0),
        termination: latest.and_then(|a| a.termination),
        summary: latest.and_then(|a| opt_text(a.summary.as_ref())),
        summary_by,
        verified_by,
        answer_ref: opt(latest.and_then(|a| a.answer_ref)),
        answer_check,
        waits_for: waits(host, &state)?.or_else(|| asked(&state)),
        interrupted,
        asking: under_way.asking(),
        writing: under_way.writing.told(),
        thinking: under_way.thinking.told(),
        last_seq: state.seq,
        attempts: attempts.iter().map(attempt).collect(),
        actions: actions.iter().map(|one| action(host, &query, one)).collect::<Result<Vec<_>, Error>>()?,
        follows: opt(row.anchor_task_id),
        children: children.iter().map(|child| child.task_id.to_string()).collect(),
    })
}

/// What must hold at the end: as it was checked last, or as it was given.
fn criteria(contract: Option<&TaskContract>, state: &TaskState) -> Vec<Criterion> {
    let given = contract.map(|c| c.success_criteria.as_slice()).unwrap_or_default();
    let open = |criterion: &String| Criterion {
        criterion: Text::Shown(criterion.clone()),
        outcome: None,
        found: None,
        receipt_id: None,
    };
    let checked = |c: &model::task::CheckedCriterion| Criterion {
        criterion: text(&c.criterion),
        outcome: Some(c.outcome),
        found: Some(text(&c.found)),
        receipt_id: c.receipt_id.map(|id| id.to_string()),
    };
    // At the end of a step its own are checked; those of the task at the end of the last.
    let is_open = |c: &&String| !state.criteria.iter().any(|one| one.criterion.shown() == Some(*c));
    let later = given.iter().filter(is_open).map(open);
    state.criteria.iter().map(checked).chain(later).collect()
}

/// Whose the last words of a run are: an answer that was kept is what the proposer said; without one the words are Hermit's own.
pub(super) fn words_by(was_kept: bool, contract: Option<&TaskContract>) -> WordsBy {
    let by_model = was_kept
        && contract
            .is_none_or(|c| !matches!(c.model, ModelChoice::Playbook { .. } | ModelChoice::Guest { .. }));
    if by_model { WordsBy::Model } else { WordsBy::Hermit }
}

/// Receipts of what was done in a task.
fn verified_by(query: &Query, id: TaskId) -> Result<Vec<String>, Error> {
    let done = every(|ask| query.receipts(Some(id), None, ask))?.into_iter().filter(|r| {
        matches!(r.result_code, ResultCode::Succeeded | ResultCode::Partial)
            && !matches!(r.action_class, ActionClass::ApprovalResolution)
    });
    Ok(done.map(|r| r.receipt_id.to_string()).collect())
}

/// Why a task stopped or paused, in a sentence.
pub(crate) fn because(host: &dyn Host, query: &Query, r: &TaskRow) -> Result<Option<wire::Text>, Error> {
    let last = || Ok::<_, Error>(every(|ask| query.attempts(r.task_id, ask))?.pop());
    match r.status {
        TaskStatus::Failed | TaskStatus::Cancelled => {
            let said = last()?.and_then(|attempt| opt_text(attempt.summary.as_ref()));
            Ok(said.or_else(|| Some(wire::Text::Shown("Stopped before it began.".to_owned()))))
        }
        TaskStatus::Paused => {
            let again = format!("`hermit task resume {}` goes on.", r.task_id);
            let words = match r.reason.as_str() {
                "model_unavailable" => {
                    let turns = match last()? {
                        Some(attempt) => {
                            every(|ask| query.iterations(r.task_id, Some(attempt.attempt_id), ask))?
                        }
                        None => Vec::new(),
                    };
                    let said = turns.last().and_then(|turn| opt_text(turn.trouble.as_ref()));
                    let said =
                        said.map_or_else(|| "the model did not answer".to_owned(), |said| said.to_string());
                    format!("Paused, and nothing is lost: {said}. {again}")
                }
                "day_ceiling" => format!(
                    "Paused before a call of a model: what models may cost today is spent or set aside, and nothing is \
                     lost. It goes on by itself when the day has ended, while Hermit runs; `hermit task pause {}` keeps it paused. \
                     `hermit models costs` shows what is spent. To go on now, raise it with `hermit models ceiling DOLLARS`; \
                     then {again}",
                    r.task_id
                ),
                "goal_too_long" => format!(
                    "Paused: the goal does not fit what the model takes. Shorten it with `hermit task goal {} GOAL`; then {again}",
                    r.task_id
                ),
                _ => format!("Paused: {}. {again}", r.reason),
            };
            Ok(Some(wire::Text::Shown(words)))
        }
        TaskStatus::Completed => Ok(None),
        _ => Ok(broke_off(host, r).map(wire::Text::Shown)),
    }
}

/// Why nobody works on it although somebody should, in the process that would.
fn broke_off(host: &dyn Host, r: &TaskRow) -> Option<String> {
    match host.stands(r.task_id, Duration::ZERO).ok()? {
        Stands::Broke(error) => Some(format!(
            "Work broke off: {}. What passes, such as a full disk, is tried again by itself; `hermit resume` tries now.",
            error.message
        )),
        _ => None,
    }
}

/// It should be at work and this process, which would do the work, does not (RA 5.1). Who only reads can tell where no
/// process holds the store.
pub(crate) fn is_interrupted(host: &dyn Host, row: &TaskRow) -> Option<bool> {
    let may_wait = row.channel == Channel::Mcp || row.status == TaskStatus::Blocked;
    if may_wait && waits_for_others(host, row).ok()? {
        return Some(false);
    }
    if host.kernel().is_ok() {
        return crate::runs::is_interrupted(host, row).ok();
    }
    let nobody = ledger::holder(host.reader().ok()?.dir()).ok()?.is_none();
    let is_open = matches!(
        row.run_status,
        projections::RunStatus::Queued | projections::RunStatus::Running | projections::RunStatus::Cancelling
    );
    nobody.then_some(is_open)
}

/// Nobody drives a session while its agent proposes nothing, nor a task that waits for its parts.
fn waits_for_others(host: &dyn Host, row: &TaskRow) -> Result<bool, Error> {
    if let Ok(kernel) = host.kernel() {
        return kernel.waits_for_others(row.task_id).wire();
    }
    let state = fold::task_state(&host.reader()?, row.task_id)?;
    Ok(matches!(
        next::next(&state, host.now()),
        Next::Wait(kernel::Waiting::Proposer | kernel::Waiting::Dependency)
    ))
}

/// What the task promised, unless its bytes are gone.
pub(super) fn contract(host: &dyn Host, row: &TaskRow) -> Result<Option<TaskContract>, Error> {
    let Some(artifact) = host.query()?.artifact(row.contract_ref).wire()? else { return Ok(None) };
    let bytes = host.artifacts()?.read(&artifact.content_hash).ok();
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

pub(crate) fn workspace(host: &dyn Host, row: &TaskRow) -> Result<Option<Text>, Error> {
    let Some(id) = row.workspace_id else { return Ok(None) };
    let query = host.query()?;
    let found = every(|ask| query.workspaces(ask))?.into_iter().find(|w| w.workspace_id == id);
    Ok(found.map(|row| folder(&row)))
}

/// The folder, for people.
pub(super) fn folder(row: &WorkspaceRow) -> Text {
    match text(&row.root_path) {
        Text::Shown(written) => {
            let path = kernel::workspace::decode_root(&written);
            Text::Shown(path.map_or(written, |path| path.to_string_lossy().into_owned()))
        }
        erased => erased,
    }
}

/// What a task waits for: of one whose agent gave parts away, the part that waits for a person, else the first at work.
fn waits(host: &dyn Host, state: &TaskState) -> Result<Option<Waits>, Error> {
    let Next::Wait(waiting) = next::next(state, host.now()) else { return Ok(None) };
    let (kind, id) = match waiting {
        kernel::Waiting::Approval(id) => (WaitsFor::Approval, Some(id.to_string())),
        kernel::Waiting::Answer(id) => (WaitsFor::Answer, Some(id.to_string())),
        kernel::Waiting::UnknownOutcome => (WaitsFor::UnknownOutcome, None),
        kernel::Waiting::Resume => (WaitsFor::Resume, None),
        kernel::Waiting::Dependency => (WaitsFor::Dependency, child_waited_for(host, state)?),
        kernel::Waiting::Proposer => (WaitsFor::Agent, None),
    };
    Ok(Some(Waits { kind, id }))
}

fn child_waited_for(host: &dyn Host, state: &TaskState) -> Result<Option<String>, Error> {
    let (reader, children) = (host.reader()?, state.children_waited_for());
    for child in &children {
        let waiting = next::next(&fold::task_state(&reader, *child)?, host.now());
        if matches!(waiting, Next::Wait(_)) {
            return Ok(Some(child.to_string()));
        }
    }
    Ok(children.first().map(ToString::to_string))
}

/// What a server of tools asks the person, while its tool is at work.
fn asked(state: &TaskState) -> Option<Waits> {
    let open = |question: &&Clarification| question.status == ClarificationStatus::Pending;
    let question = state.clarifications.values().find(open)?;
    Some(Waits { kind: WaitsFor::Answer, id: Some(question.clarification_id.to_string()) })
}

fn attempt(r: &AttemptRow) -> Attempt {
    Attempt {
        attempt_id: r.attempt_id.to_string(),
        number: r.attempt_no,
        status: r.status,
        reason: r.reason.clone(),
        started_at: r.started_at.0,
        finished_at: r.finished_at.map(|at| at.0),
        iterations: r.iterations,
        termination: r.termination,
    }
}

fn action(host: &dyn Host, query: &Query, r: &ActionRow) -> Result<Action, Error> {
    let in_part = r.receipt_id.filter(|_| r.result_code == Some(ResultCode::Partial));
    let as_chosen = match in_part {
        Some(id) => super::receipts::is_as_chosen(host, query, id)?,
        None => false,
    };
    Ok(Action {
        action_request_id: r.action_request_id.to_string(),
        class: r.action_class,
        tool: r.tool.clone(),
        summary: text(&r.summary),
        state: r.state,
        verdict: r.verdict,
        risk: r.risk_band,
        approval_id: opt(r.approval_id),
        grant_id: opt(r.grant_id),
        receipt_id: opt(r.receipt_id),
        result: r.result_code,
        sandbox: r.sandbox_level,
        requested_at: r.requested_at.0,
        observed_at: r.observed_at.map(|at| at.0),
        trouble: opt_text(r.trouble.as_ref()),
        instead_of: opt(r.instead_of),
        instead_rules: r.instead_rules.clone(),
        as_chosen,
    })
}
