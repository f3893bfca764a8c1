//! Tasks, steps, attempts, leases, turns of the loop, and the status of a run.

use super::rows::{Attempt, Conversation, Iteration, Step, Task};
use super::{Seen, int, json, leaf, maybe, maybe_leaf, slot, text};
use crate::names::{Ending, RunStatus, run_status};
use model::attempt::{AttemptStatus, WorkspaceLease};
use model::body::{AttemptStatusChanged, Body, RunTerminated, TaskStatusChanged};
use model::task::TaskStatus;
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
            let set = |task: &mut Task| (task.tokens_reserved, task.cost_reserved) = reserved;
            seen.task(&text(b.about_task_id), set).map(drop)
        }
        Body::BudgetSettled(b) => {
            let set = |task: &mut Task| {
                (task.tokens_reserved, task.cost_reserved) = (0, 0);
                task.tokens_used = task.tokens_used.saturating_add(int(b.tokens));
                task.cost_used = task.cost_used.saturating_add(int(b.cost_micros));
                task.wall_ms = task.wall_ms.saturating_add(b.wall_ms);
            };
            seen.task(&text(b.about_task_id), set).map(drop)
        }
        Body::StepCreated(b) => step(seen, &b.step),
        Body::StepStatusChanged(b) => {
            let set = |step: &mut Step| {
                b.to.as_str().clone_into(&mut step.status);
                step.reason.clone_from(&b.reason);
                step.updated_at = seen.at();
            };
            seen.change((text(b.about_step_id),), set).map(drop)
        }
        _ => attempts(seen, body),
    }
}

fn attempts(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::AttemptCreated(b) => attempt(seen, &b.attempt),
        Body::AttemptStatusChanged(b) => attempt_status(seen, b),
        Body::AttemptCheckpointed(b) => {
            let set = |attempt: &mut Attempt| {
                attempt.checkpoint = b.iteration;
                attempt.context_pack_ref = slot(&b.context_pack_ref).or(attempt.context_pack_ref.take());
                attempt.working_state_ref = slot(&b.working_state_ref).or(attempt.working_state_ref.take());
            };
            seen.attempt(b.about_attempt_id, set)
        }
        Body::EnvironmentCaptured(b) => {
            let environment = text(b.environment.artifact_id);
            seen.attempt(b.about_attempt_id, |attempt| attempt.environment_ref = Some(environment))
        }
        Body::RunTerminated(b) => terminated(seen, b),
        Body::LeaseAcquired(b) => lease(seen, &b.lease),
        Body::LeaseRenewed(b) => {
            let statement = "UPDATE view_leases SET expires_at = ?2 WHERE lease_id = ?1";
            seen.run(statement, params![text(b.lease_id), b.expires_at.0])?;
            leased(seen, &text(b.lease_id), Some(b.expires_at.0))
        }
        Body::LeaseReleased(b) => lease_ended(seen, &text(b.lease_id), "released"),
        Body::LeaseLost(b) => lease_ended(seen, &text(b.lease_id), &b.reason),
        _ => turns(seen, body),
    }
}

fn task(seen: &Seen<'_>, t: &model::task::Task, ingress: IngressId) -> rusqlite::Result<()> {
    let made = seen.add(Task {
        task_id: text(t.task_id),
        seq: seen.seq,
        conversation_id: text(t.conversation_id),
        title: leaf(&t.title),
        goal: leaf(&t.goal),
        status: t.status.as_str().to_owned(),
        run_status: RunStatus::Queued.as_str().to_owned(),
        priority: t.priority.as_str().to_owned(),
        owner: text(t.owner_principal_id),
        profile: t.policy_profile_ref.as_str().to_owned(),
        channel: t.source_channel.as_str().to_owned(),
        contract_ref: text(t.task_contract_ref),
        ingress_id: text(ingress),
        parent_task_id: maybe(t.parent_task_id),
        anchor_task_id: t.continuation_anchor.as_ref().map(|a| text(a.anchor_task_id)),
        workspace_id: maybe(t.workspace_hint),
        labels: json(&t.labels),
        depends_on: json(&t.depends_on),
        created_at: t.created_at.0,
        updated_at: t.updated_at.0,
        deadline_at: t.deadline_at.map(|at| at.0),
        ..Task::default()
    })?;
    if made {
        seen.conversation(&text(t.conversation_id), |conversation| conversation.open_tasks += 1)?;
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
        task.conversation_id.clone()
    })?;
    if let Some(conversation) = conversation
        && b.to.is_terminal()
        && !b.from.is_terminal()
    {
        let end = |row: &mut Conversation| row.open_tasks = (row.open_tasks - 1).max(0);
        seen.conversation(&conversation, end)?;
    }
    refresh(seen, b.about_task_id)
}

fn flag(seen: &Seen<'_>, task: TaskId, set: impl FnOnce(&mut Task)) -> rusqlite::Result<()> {
    seen.touch_task(&text(task), set)?;
    refresh(seen, task)
}

/// Sets what a run's status is from what it depends on (T1).
fn refresh(seen: &Seen<'_>, task: TaskId) -> rusqlite::Result<()> {
    let set = |task: &mut Task| {
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

fn step(seen: &Seen<'_>, s: &model::task::Step) -> rusqlite::Result<()> {
    seen.add(Step {
        step_id: text(s.step_id),
        seq: seen.seq,
        task_id: text(s.task_id),
        kind: s.kind.as_str().to_owned(),
        title: leaf(&s.title),
        contract_ref: text(s.contract_ref),
        status: s.status.as_str().to_owned(),
        depends_on: json(&s.depends_on),
        max_attempts: s.max_attempts,
        created_at: s.created_at.0,
        updated_at: s.updated_at.0,
        ..Step::default()
    })
    .map(drop)
}

fn attempt(seen: &Seen<'_>, a: &model::attempt::StepAttempt) -> rusqlite::Result<()> {
    seen.add(Attempt {
        attempt_id: text(a.attempt_id),
        seq: seen.seq,
        task_id: text(a.task_id),
        step_id: text(a.step_id),
        attempt_no: a.attempt_no,
        status: a.status.as_str().to_owned(),
        phase: "planning".to_owned(),
        started_at: a.started_at.0,
        lease_id: slot(&a.workspace_lease_ref),
        context_pack_ref: slot(&a.context_pack_ref),
        working_state_ref: slot(&a.working_state_ref),
        environment_ref: maybe(a.environment_ref),
        resume_from: maybe(a.resume_from_ref),
        policy_version: maybe(a.policy_version),
        ..Attempt::default()
    })?;
    seen.change((text(a.step_id),), |step: &mut Step| step.attempts += 1)?;
    seen.touch_task(&text(a.task_id), |task| {
        task.attempts += 1;
        task.attempt_id = Some(text(a.attempt_id));
        task.attempt_status = Some(a.status.as_str().to_owned());
        task.termination = None;
    })?;
    refresh(seen, a.task_id)
}

fn attempt_status(seen: &Seen<'_>, b: &AttemptStatusChanged) -> rusqlite::Result<()> {
    let finished = b.to.is_ended().then(|| seen.at());
    let id = text(b.about_attempt_id);
    seen.attempt(b.about_attempt_id, |attempt| {
        b.to.as_str().clone_into(&mut attempt.status);
        b.phase.as_str().clone_into(&mut attempt.phase);
        attempt.reason.clone_from(&b.reason);
        attempt.finished_at = attempt.finished_at.or(finished);
    })?;
    seen.task(&text(seen.event.task_id), |task| {
        if task.attempt_id.as_ref() == Some(&id) {
            task.attempt_status = Some(b.to.as_str().to_owned());
            task.updated_at = seen.at();
        }
    })?;
    refresh(seen, seen.event.task_id)
}

fn terminated(seen: &Seen<'_>, b: &RunTerminated) -> rusqlite::Result<()> {
    let id = text(b.about_attempt_id);
    seen.attempt(b.about_attempt_id, |attempt| {
        attempt.termination = Some(b.reason.as_str().to_owned());
        attempt.iterations = b.iterations;
        attempt.summary = Some(leaf(&b.summary));
        attempt.answer_ref = b.answer.as_ref().map(|a| text(a.artifact_id));
    })?;
    seen.task(&text(seen.event.task_id), |task| {
        if task.attempt_id.as_ref() == Some(&id) {
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
    seen.attempt(l.attempt_id, |attempt| {
        (attempt.lease_id, attempt.lease_expires_at) = (Some(text(l.lease_id)), Some(l.expires_at.0));
    })
}

fn lease_ended(seen: &Seen<'_>, lease: &str, by: &str) -> rusqlite::Result<()> {
    let statement =
        "UPDATE view_leases SET ended_at = ?2, ended_by = ?3 WHERE lease_id = ?1 AND ended_at IS NULL";
    seen.run(statement, params![lease, seen.at(), by])?;
    leased(seen, lease, None)
}

/// Notes on the attempt that has a lease until when.
fn leased(seen: &Seen<'_>, lease: &str, until: Option<i64>) -> rusqlite::Result<()> {
    let whose = "SELECT attempt_id FROM view_leases WHERE lease_id = ?1";
    let Some(attempt) = seen.task_of(whose, lease)? else { return Ok(()) };
    let set = |attempt: &mut Attempt| {
        if attempt.lease_id.as_deref() == Some(lease) {
            attempt.lease_expires_at = until;
        }
    };
    seen.change((attempt,), set).map(drop)
}

/// Changes the row of a turn, made by whatever names it first.
fn turn(
    seen: &Seen<'_>,
    attempt: AttemptId,
    iteration: u32,
    with: impl FnOnce(&mut Iteration),
) -> rusqlite::Result<()> {
    let (seq, task_id, attempt_id) = (seen.seq, text(seen.event.task_id), text(attempt));
    let key = (attempt_id.clone(), iteration);
    seen.add(Iteration { attempt_id, iteration, seq, task_id, ..Iteration::default() })?;
    seen.change(key, with).map(drop)
}

fn turns(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::ContextCompiled(b) => {
            let pack = text(b.pack.artifact_id);
            turn(seen, b.about_attempt_id, b.iteration, |turn| {
                turn.pack_ref = Some(pack.clone());
                (turn.pack_tokens, turn.pack_items) = (Some(b.tokens), Some(b.items));
                turn.pack_omissions = Some(b.omissions);
            })?;
            seen.attempt(b.about_attempt_id, |attempt| attempt.context_pack_ref = Some(pack))
        }
        Body::ModelRequested(b) => turn(seen, b.about_attempt_id, b.iteration, |turn| {
            turn.request_ref = Some(text(b.request.artifact_id));
            (turn.provider, turn.model) = (Some(b.provider.clone()), Some(b.model.clone()));
            turn.remote = Some(b.remote);
        }),
        Body::ModelResponded(b) => turn(seen, b.about_attempt_id, b.iteration, |turn| {
            turn.response_ref = Some(text(b.response.artifact_id));
            turn.answer_ref = Some(text(b.answer.artifact_id));
            (turn.tokens_in, turn.tokens_out) = (Some(int(b.tokens_in)), Some(int(b.tokens_out)));
            turn.cost_micros = Some(int(b.cost_micros));
            turn.finish_reason = Some(b.finish_reason.clone());
        }),
        Body::ModelFailed(b) => turn(seen, b.about_attempt_id, b.iteration, |turn| {
            turn.failures += 1;
            turn.trouble = Some(leaf(&b.error));
        }),
        Body::ModelOutputRejected(b) => turn(seen, b.about_attempt_id, b.iteration, |turn| {
            turn.rejections += 1;
            turn.trouble = Some(leaf(&b.reason));
        }),
        Body::IterationCompleted(b) => completed(seen, b.about_attempt_id, &b.record),
        _ => Ok(()),
    }
}

fn completed(
    seen: &Seen<'_>,
    attempt: AttemptId,
    r: &model::attempt::IterationRecord,
) -> rusqlite::Result<()> {
    turn(seen, attempt, r.step_number, |turn| {
        turn.decision = Some(leaf(&r.model_decision));
        turn.tool.clone_from(&r.tool_invocation);
        (turn.tool_input, turn.tool_output) = (maybe(r.tool_input), maybe(r.tool_output));
        turn.error = maybe_leaf(r.error.as_ref());
        turn.summary = Some(leaf(&r.state_summary));
        turn.completed_at = Some(seen.at());
    })?;
    seen.attempt(attempt, |attempt| attempt.iterations = attempt.iterations.max(r.step_number))?;
    seen.task(&text(seen.event.task_id), |task| task.iterations += 1).map(drop)
}

impl Seen<'_> {
    /// Changes the row of an attempt, where there is one.
    fn attempt(&self, id: AttemptId, with: impl FnOnce(&mut Attempt)) -> rusqlite::Result<()> {
        self.change((text(id),), with).map(drop)
    }

    /// Changes the row of a conversation, where there is one.
    pub(super) fn conversation(
        &self,
        id: &str,
        with: impl FnOnce(&mut Conversation),
    ) -> rusqlite::Result<()> {
        self.change((id.to_owned(),), with).map(drop)
    }
}
