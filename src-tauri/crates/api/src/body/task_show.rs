//! One task with everything a person asks about it first.

use crate::convert::{every, opt, opt_text, text};
use crate::ids::find;
use crate::{Host, Wire as _, fold, not_found};
use kernel::{Next, next};
use model::TaskId;
use model::task::TaskContract;
use projections::query::TaskFilter;
use projections::rows::{ActionRow, AttemptRow, TaskRow};
use wire::task::{Action, Attempt, Show, Task, Waits};
use wire::{Error, Text};

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
    let (tokens_max, cost_micros_max, wall_ms_max) = contract
        .as_ref()
        .map_or((0, 0, 0), |c| (c.budget.tokens_max, c.budget.cost_micros_max, c.budget.wall_ms_max));
    Ok(Task {
        row: super::task::row(&query, &row)?,
        goal: text(&row.goal),
        channel: row.channel.to_string(),
        workspace: workspace(host, &row)?,
        reasoner: contract
            .as_ref()
            .map_or_else(|| "(erased)".to_owned(), |c| crate::runs::model_name(&c.model)),
        constraints: contract.map(|c| c.constraints).unwrap_or_default(),
        tokens_max,
        cost_micros_max,
        wall_ms: row.wall_ms,
        wall_ms_max,
        deadline_at: row.deadline_at.map(|at| at.0),
        termination: opt(latest.and_then(|a| a.termination)),
        summary: latest.and_then(|a| opt_text(a.summary.as_ref())),
        answer_ref: opt(latest.and_then(|a| a.answer_ref)),
        waits_for: waits(next::next(&state, host.now())),
        interrupted: is_interrupted(host, &row),
        last_seq: state.seq,
        attempts: attempts.iter().map(attempt).collect(),
        actions: actions.iter().map(action).collect(),
        children: children.iter().map(|child| child.task_id.to_string()).collect(),
    })
}

/// It should be at work and this process, which would do the work, does not (RA 5.1). Who only reads cannot tell.
fn is_interrupted(host: &dyn Host, row: &TaskRow) -> Option<bool> {
    host.kernel().ok()?;
    crate::runs::is_interrupted(host, row).ok()
}

/// What the task promised, unless its bytes are gone.
fn contract(host: &dyn Host, row: &TaskRow) -> Result<Option<TaskContract>, Error> {
    let Some(artifact) = host.query()?.artifact(row.contract_ref).wire()? else { return Ok(None) };
    let bytes = host.artifacts()?.read(&artifact.content_hash).ok();
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

pub(crate) fn workspace(host: &dyn Host, row: &TaskRow) -> Result<Option<Text>, Error> {
    let Some(id) = row.workspace_id else { return Ok(None) };
    let query = host.query()?;
    let found = every(|ask| query.workspaces(ask))?.into_iter().find(|w| w.workspace_id == id);
    Ok(found.map(|w| match text(&w.root_path) {
        Text::Shown(written) => {
            let path = kernel::workspace::decode_root(&written);
            Text::Shown(path.map_or(written, |path| path.to_string_lossy().into_owned()))
        }
        erased => erased,
    }))
}

fn waits(next: Next) -> Option<Waits> {
    let Next::Wait(waiting) = next else { return None };
    let (kind, id) = match waiting {
        kernel::Waiting::Approval(id) => ("approval", Some(id.to_string())),
        kernel::Waiting::Answer(id) => ("answer", Some(id.to_string())),
        kernel::Waiting::UnknownOutcome => ("unknown_outcome", None),
        kernel::Waiting::Resume => ("resume", None),
        kernel::Waiting::Dependency => ("dependency", None),
    };
    Some(Waits { kind: kind.to_owned(), id })
}

fn attempt(r: &AttemptRow) -> Attempt {
    Attempt {
        attempt_id: r.attempt_id.to_string(),
        number: r.attempt_no,
        status: r.status.to_string(),
        reason: r.reason.clone(),
        started_at: r.started_at.0,
        finished_at: r.finished_at.map(|at| at.0),
        iterations: r.iterations,
        termination: opt(r.termination),
    }
}

fn action(r: &ActionRow) -> Action {
    Action {
        action_request_id: r.action_request_id.to_string(),
        class: r.action_class.to_string(),
        tool: r.tool.clone(),
        summary: text(&r.summary),
        state: r.state.to_string(),
        verdict: opt(r.verdict),
        risk: opt(r.risk_band),
        approval_id: opt(r.approval_id),
        grant_id: opt(r.grant_id),
        receipt_id: opt(r.receipt_id),
        result: opt(r.result_code),
        sandbox: opt(r.sandbox_level),
        requested_at: r.requested_at.0,
        observed_at: r.observed_at.map(|at| at.0),
        trouble: opt_text(r.trouble.as_ref()),
        instead_of: opt(r.instead_of),
        instead_rules: r.instead_rules.clone(),
    }
}
