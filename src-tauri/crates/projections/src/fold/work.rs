//! Tasks, steps, attempts, leases, turns of the loop, and the status of a run.

use super::tasks::TaskRow;
use super::{Seen, int, json, leaf, maybe, slot, text};
use crate::names::{Ending, RunStatus, run_status};
use model::attempt::{AttemptStatus, WorkspaceLease};
use model::body::{AttemptStatusChanged, Body, RunTerminated, TaskStatusChanged};
use model::task::{Step, Task, TaskStatus};
use model::{AttemptId, IngressId, TaskId};
use rusqlite::params;

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::TaskCreated(b) => task(seen, &b.task, b.ingress_id),
        Body::TaskStatusChanged(b) => status(seen, b),
        Body::TaskPauseRequested(b) => flag(seen, b.about_task_id, |task| task.pause_requested = true),
        Body::TaskCancelRequested(b) => flag(seen, b.about_task_id, |task| task.cancel_requested = true),
        Body::TaskInputAdded(b) => flag(seen, b.about_task_id, |task| task.unread_inputs += 1),
        Body::TaskInputQueued(b) => flag(seen, b.about_task_id, |task| task.unread_inputs += 1),
        Body::TaskInputAbsorbed(b) => {
            flag(seen, b.about_task_id, |task| task.unread_inputs = (task.unread_inputs - 1).max(0))
        }
        Body::TaskGoalChanged(b) => seen.touch_task(&text(b.about_task_id), |task| task.goal = leaf(&b.goal)),
        Body::TaskPriorityChanged(b) => {
            seen.touch_task(&text(b.about_task_id), |task| b.priority.as_str().clone_into(&mut task.priority))
        }
        Body::BudgetReserved(b) => {
            let reserved = (int(b.tokens), int(b.cost_micros));
            let set = |task: &mut TaskRow| (task.tokens_reserved, task.cost_reserved) = reserved;
            seen.task(&text(b.about_task_id), set).map(drop)
        }
        Body::BudgetSettled(b) => {
            let set = |task: &mut TaskRow| {
                (task.tokens_reserved, task.cost_reserved) = (0, 0);
                task.tokens_used = task.tokens_used.saturating_add(int(b.tokens));
                task.cost_used = task.cost_used.saturating_add(int(b.cost_micros));
                task.wall_ms = task.wall_ms.saturating_add(b.wall_ms);
            };
            seen.task(&text(b.about_task_id), set).map(drop)
        }
        Body::StepCreated(b) => step(seen, &b.step),
        Body::StepStatusChanged(b) => {
            let statement =
                "UPDATE view_steps SET status = ?2, reason = ?3, updated_at = ?4 WHERE step_id = ?1";
            seen.run(statement, params![text(b.about_step_id), b.to.as_str(), b.reason, seen.at()]).map(drop)
        }
        _ => attempts(seen, body),
    }
}

fn attempts(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::AttemptCreated(b) => attempt(seen, &b.attempt),
        Body::AttemptStatusChanged(b) => attempt_status(seen, b),
        Body::AttemptCheckpointed(b) => {
            let statement = "UPDATE view_attempts SET checkpoint = ?2, context_pack_ref = coalesce(?3, context_pack_ref), \
                             working_state_ref = coalesce(?4, working_state_ref) WHERE attempt_id = ?1";
            let (pack, state) = (slot(&b.context_pack_ref), slot(&b.working_state_ref));
            seen.run(statement, params![text(b.about_attempt_id), b.iteration, pack, state]).map(drop)
        }
        Body::EnvironmentCaptured(b) => {
            let statement = "UPDATE view_attempts SET environment_ref = ?2 WHERE attempt_id = ?1";
            seen.run(statement, params![text(b.about_attempt_id), text(b.environment.artifact_id)]).map(drop)
        }
        Body::RunTerminated(b) => terminated(seen, b),
        Body::LeaseAcquired(b) => lease(seen, &b.lease),
        Body::LeaseRenewed(b) => {
            let statement = "UPDATE view_leases SET expires_at = ?2 WHERE lease_id = ?1";
            seen.run(statement, params![text(b.lease_id), b.expires_at.0])?;
            let statement = "UPDATE view_attempts SET lease_expires_at = ?2 WHERE attempt_id = \
                             (SELECT attempt_id FROM view_leases WHERE lease_id = ?1) AND lease_id = ?1";
            seen.run(statement, params![text(b.lease_id), b.expires_at.0]).map(drop)
        }
        Body::LeaseReleased(b) => lease_ended(seen, &text(b.lease_id), "released"),
        Body::LeaseLost(b) => lease_ended(seen, &text(b.lease_id), &b.reason),
        _ => turns(seen, body),
    }
}

fn task(seen: &Seen<'_>, t: &Task, ingress: IngressId) -> rusqlite::Result<()> {
    let anchor = t.continuation_anchor.as_ref().map(|a| text(a.anchor_task_id));
    let made = seen.run(
        "INSERT INTO view_tasks (task_id, seq, conversation_id, title, goal, status, run_status, reason, priority, \
         owner, profile, channel, contract_ref, ingress_id, parent_task_id, anchor_task_id, workspace_id, labels, \
         depends_on, created_at, updated_at, deadline_at, ended_at, rolled_back, cancel_requested, pause_requested, \
         attempts, iterations, open_approvals, open_questions, unread_inputs, unknown_effects, receipts, \
         tokens_reserved, tokens_used, cost_reserved, cost_used, wall_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, '', ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, \
         NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT (task_id) DO NOTHING",
        params![
            text(t.task_id),
            seen.seq,
            text(t.conversation_id),
            leaf(&t.title),
            leaf(&t.goal),
            t.status.as_str(),
            RunStatus::Queued.as_str(),
            t.priority.as_str(),
            text(t.owner_principal_id),
            t.policy_profile_ref.as_str(),
            t.source_channel.as_str(),
            text(t.task_contract_ref),
            text(ingress),
            maybe(t.parent_task_id),
            anchor,
            maybe(t.workspace_hint),
            json(&t.labels),
            json(&t.depends_on),
            t.created_at.0,
            t.updated_at.0,
            t.deadline_at.map(|at| at.0),
        ],
    )?;
    if made == 1 {
        let statement =
            "UPDATE view_conversations SET open_tasks = open_tasks + 1 WHERE conversation_id = ?1";
        seen.run(statement, [text(t.conversation_id)])?;
    }
    Ok(())
}

fn status(seen: &Seen<'_>, b: &TaskStatusChanged) -> rusqlite::Result<()> {
    let id = text(b.about_task_id);
    let conversation = seen.task(&id, |task| {
        b.to.as_str().clone_into(&mut task.status);
        task.reason.clone_from(&b.reason);
        task.updated_at = seen.at();
        task.ended_at = b.to.is_terminal().then(|| task.ended_at.unwrap_or_else(|| seen.at()));
        task.rolled_back |= b.to == TaskStatus::RolledBack;
        task.pause_requested &= b.to != TaskStatus::Paused;
        task.conversation.clone()
    })?;
    if let Some(conversation) = conversation
        && b.to.is_terminal()
        && !b.from.is_terminal()
    {
        let statement =
            "UPDATE view_conversations SET open_tasks = max(open_tasks - 1, 0) WHERE conversation_id = ?1";
        seen.run(statement, [conversation])?;
    }
    refresh(seen, b.about_task_id)
}

fn flag(seen: &Seen<'_>, task: TaskId, set: impl FnOnce(&mut TaskRow)) -> rusqlite::Result<()> {
    seen.touch_task(&text(task), set)?;
    refresh(seen, task)
}

/// Sets what a run's status is from what it depends on (T1).
fn refresh(seen: &Seen<'_>, task: TaskId) -> rusqlite::Result<()> {
    let set = |task: &mut TaskRow| {
        let (Ok(status), Ok(before)) = (task.status.parse(), task.run_status.parse()) else {
            return;
        };
        let attempt: Option<AttemptStatus> = task.attempt_status.as_ref().and_then(|a| a.parse().ok());
        let ran_out = task.termination.as_deref() == Some("expired")
            || matches!(task.reason.as_str(), "expired" | "deadline" | "deadline_passed");
        let ending = Ending { cancel_requested: task.cancel_requested, ran_out };
        run_status(status, attempt, ending, before).as_str().clone_into(&mut task.run_status);
    };
    seen.task(&text(task), set).map(drop)
}

fn step(seen: &Seen<'_>, s: &Step) -> rusqlite::Result<()> {
    seen.run(
        "INSERT INTO view_steps (step_id, seq, task_id, kind, title, contract_ref, status, reason, depends_on, \
         max_attempts, attempts, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, '', ?8, ?9, 0, ?10, ?11) \
         ON CONFLICT (step_id) DO NOTHING",
        params![
            text(s.step_id),
            seen.seq,
            text(s.task_id),
            s.kind.as_str(),
            leaf(&s.title),
            text(s.contract_ref),
            s.status.as_str(),
            json(&s.depends_on),
            s.max_attempts,
            s.created_at.0,
            s.updated_at.0,
        ],
    )
    .map(drop)
}

fn attempt(seen: &Seen<'_>, a: &model::attempt::StepAttempt) -> rusqlite::Result<()> {
    seen.run(
        "INSERT INTO view_attempts (attempt_id, seq, task_id, step_id, attempt_no, status, phase, reason, started_at, \
         finished_at, lease_id, context_pack_ref, working_state_ref, environment_ref, resume_from, policy_version, \
         checkpoint, iterations) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'planning', '', ?7, NULL, ?8, ?9, ?10, ?11, ?12, \
         ?13, 0, 0) ON CONFLICT (attempt_id) DO NOTHING",
        params![
            text(a.attempt_id),
            seen.seq,
            text(a.task_id),
            text(a.step_id),
            a.attempt_no,
            a.status.as_str(),
            a.started_at.0,
            slot(&a.workspace_lease_ref),
            slot(&a.context_pack_ref),
            slot(&a.working_state_ref),
            maybe(a.environment_ref),
            maybe(a.resume_from_ref),
            maybe(a.policy_version),
        ],
    )?;
    seen.run("UPDATE view_steps SET attempts = attempts + 1 WHERE step_id = ?1", [text(a.step_id)])?;
    seen.touch_task(&text(a.task_id), |task| {
        task.attempts += 1;
        task.attempt = Some(text(a.attempt_id));
        task.attempt_status = Some(a.status.as_str().to_owned());
        task.termination = None;
    })?;
    refresh(seen, a.task_id)
}

fn attempt_status(seen: &Seen<'_>, b: &AttemptStatusChanged) -> rusqlite::Result<()> {
    let finished = b.to.is_ended().then(|| seen.at());
    let statement = "UPDATE view_attempts SET status = ?2, phase = ?3, reason = ?4, \
                     finished_at = coalesce(finished_at, ?5) WHERE attempt_id = ?1";
    let id = text(b.about_attempt_id);
    seen.run(statement, params![id, b.to.as_str(), b.phase.as_str(), b.reason, finished])?;
    seen.task(&text(seen.event.task_id), |task| {
        if task.attempt.as_ref() == Some(&id) {
            task.attempt_status = Some(b.to.as_str().to_owned());
            task.updated_at = seen.at();
        }
    })?;
    refresh(seen, seen.event.task_id)
}

fn terminated(seen: &Seen<'_>, b: &RunTerminated) -> rusqlite::Result<()> {
    let statement = "UPDATE view_attempts SET termination = ?2, iterations = ?3, summary = ?4, answer_ref = ?5 \
                     WHERE attempt_id = ?1";
    let id = text(b.about_attempt_id);
    let answer = b.answer.as_ref().map(|a| text(a.artifact_id));
    seen.run(statement, params![id, b.reason.as_str(), b.iterations, leaf(&b.summary), answer])?;
    seen.task(&text(seen.event.task_id), |task| {
        if task.attempt.as_ref() == Some(&id) {
            task.termination = Some(b.reason.as_str().to_owned());
        }
    })?;
    refresh(seen, seen.event.task_id)
}

fn lease(seen: &Seen<'_>, l: &WorkspaceLease) -> rusqlite::Result<()> {
    seen.run(
        "INSERT INTO view_leases (lease_id, seq, task_id, attempt_id, workspace_id, root_path, mode, holder, \
         acquired_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (lease_id) DO NOTHING",
        params![
            text(l.lease_id),
            seen.seq,
            text(l.task_id),
            text(l.attempt_id),
            text(l.workspace_id),
            leaf(&l.root_path),
            l.mode.as_str(),
            text(l.holder_principal_id),
            l.acquired_at.0,
            l.expires_at.0,
        ],
    )?;
    let statement = "UPDATE view_attempts SET lease_id = ?2, lease_expires_at = ?3 WHERE attempt_id = ?1";
    seen.run(statement, params![text(l.attempt_id), text(l.lease_id), l.expires_at.0]).map(drop)
}

fn lease_ended(seen: &Seen<'_>, lease: &str, by: &str) -> rusqlite::Result<()> {
    let statement =
        "UPDATE view_leases SET ended_at = ?2, ended_by = ?3 WHERE lease_id = ?1 AND ended_at IS NULL";
    seen.run(statement, params![lease, seen.at(), by])?;
    let statement = "UPDATE view_attempts SET lease_expires_at = NULL WHERE attempt_id = \
                     (SELECT attempt_id FROM view_leases WHERE lease_id = ?1) AND lease_id = ?1";
    seen.run(statement, [lease]).map(drop)
}

/// The row of a turn, made by whatever names it first.
fn turn(seen: &Seen<'_>, attempt: AttemptId, iteration: u32) -> rusqlite::Result<()> {
    let statement = "INSERT INTO view_iterations (attempt_id, iteration, seq, task_id, failures, rejections) \
                     VALUES (?1, ?2, ?3, ?4, 0, 0) ON CONFLICT (attempt_id, iteration) DO NOTHING";
    seen.run(statement, params![text(attempt), iteration, seen.seq, text(seen.event.task_id)]).map(drop)
}

fn turns(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::ContextCompiled(b) => {
            turn(seen, b.about_attempt_id, b.iteration)?;
            let (attempt, pack) = (text(b.about_attempt_id), text(b.pack.artifact_id));
            let statement = "UPDATE view_iterations SET pack_ref = ?3, pack_tokens = ?4, pack_items = ?5, \
                             pack_omissions = ?6 WHERE attempt_id = ?1 AND iteration = ?2";
            seen.run(statement, params![attempt, b.iteration, pack, b.tokens, b.items, b.omissions])?;
            let statement = "UPDATE view_attempts SET context_pack_ref = ?2 WHERE attempt_id = ?1";
            seen.run(statement, params![attempt, pack]).map(drop)
        }
        Body::ModelRequested(b) => {
            turn(seen, b.about_attempt_id, b.iteration)?;
            let statement = "UPDATE view_iterations SET request_ref = ?3, provider = ?4, model = ?5, remote = ?6 \
                             WHERE attempt_id = ?1 AND iteration = ?2";
            let request = text(b.request.artifact_id);
            let values =
                params![text(b.about_attempt_id), b.iteration, request, b.provider, b.model, b.remote];
            seen.run(statement, values).map(drop)
        }
        Body::ModelResponded(b) => {
            turn(seen, b.about_attempt_id, b.iteration)?;
            let statement = "UPDATE view_iterations SET response_ref = ?3, answer_ref = ?4, tokens_in = ?5, \
                             tokens_out = ?6, cost_micros = ?7, finish_reason = ?8 \
                             WHERE attempt_id = ?1 AND iteration = ?2";
            seen.run(
                statement,
                params![
                    text(b.about_attempt_id),
                    b.iteration,
                    text(b.response.artifact_id),
                    text(b.answer.artifact_id),
                    int(b.tokens_in),
                    int(b.tokens_out),
                    int(b.cost_micros),
                    b.finish_reason,
                ],
            )
            .map(drop)
        }
        Body::ModelFailed(b) => trouble(seen, b.about_attempt_id, b.iteration, leaf(&b.error), "failures"),
        Body::ModelOutputRejected(b) => {
            trouble(seen, b.about_attempt_id, b.iteration, leaf(&b.reason), "rejections")
        }
        Body::IterationCompleted(b) => completed(seen, b.about_attempt_id, &b.record),
        _ => Ok(()),
    }
}

fn trouble(
    seen: &Seen<'_>,
    attempt: AttemptId,
    iteration: u32,
    why: [u8; 32],
    count: &str,
) -> rusqlite::Result<()> {
    turn(seen, attempt, iteration)?;
    let statement = format!(
        "UPDATE view_iterations SET {count} = {count} + 1, trouble = ?3 WHERE attempt_id = ?1 AND iteration = ?2"
    );
    seen.run(&statement, params![text(attempt), iteration, why]).map(drop)
}

fn completed(
    seen: &Seen<'_>,
    attempt: AttemptId,
    r: &model::attempt::IterationRecord,
) -> rusqlite::Result<()> {
    turn(seen, attempt, r.step_number)?;
    seen.run(
        "UPDATE view_iterations SET decision = ?3, tool = ?4, tool_input = ?5, tool_output = ?6, error = ?7, \
         summary = ?8, completed_at = ?9 WHERE attempt_id = ?1 AND iteration = ?2",
        params![
            text(attempt),
            r.step_number,
            leaf(&r.model_decision),
            r.tool_invocation,
            maybe(r.tool_input),
            maybe(r.tool_output),
            super::maybe_leaf(r.error.as_ref()),
            leaf(&r.state_summary),
            seen.at(),
        ],
    )?;
    let statement = "UPDATE view_attempts SET iterations = max(iterations, ?2) WHERE attempt_id = ?1";
    seen.run(statement, params![text(attempt), r.step_number])?;
    seen.task(&text(seen.event.task_id), |task| task.iterations += 1).map(drop)
}
