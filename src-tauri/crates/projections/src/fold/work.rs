//! Tasks, steps, attempts, leases, turns of the loop, and the status of a run.

use super::Seen;
use crate::Error;
use crate::names::{Ending, RunStatus, run_status};
use crate::rows::{
    AttemptRow, ConversationRow, IterationRow, LeaseRow, NewAttempt, NewIteration, NewLease, NewStep,
    NewTask, StepRow, TaskRow,
};
use model::attempt::{AttemptPhase, TerminationReason, WorkspaceLease};
use model::body::{AttemptStatusChanged, Body, RunTerminated, TaskStatusChanged};
use model::task::{Proposer, TaskStatus};
use model::{AttemptId, ConversationId, IngressId, LeaseId, TaskId, UnixMs};

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::TaskCreated(b) => task(seen, &b.task, b.ingress_id),
        Body::TaskStatusChanged(b) => status(seen, b),
        Body::TaskPauseRequested(b) => flag(seen, b.about_task_id, |task| task.pause_requested = true),
        Body::TaskCancelRequested(b) => flag(seen, b.about_task_id, |task| task.cancel_requested = true),
        Body::TaskInputAdded(b) => flag(seen, b.about_task_id, |task| task.unread_inputs += 1),
        Body::TaskInputQueued(b) => flag(seen, b.about_task_id, |task| task.unread_inputs += 1),
        Body::TaskInputAbsorbed(b) => {
            flag(seen, b.about_task_id, |task| task.unread_inputs = task.unread_inputs.saturating_sub(1))
        }
        Body::TaskGoalChanged(b) => seen.touch_task(b.about_task_id, |task| {
            task.goal.clone_from(&b.goal);
            if let Some(title) = &b.title {
                task.title.clone_from(title);
            }
        }),
        Body::TaskPriorityChanged(b) => seen.touch_task(b.about_task_id, |task| task.priority = b.priority),
        Body::BudgetReserved(b) => {
            let reserved = (b.tokens, b.cost_micros);
            let set = |task: &mut TaskRow| (task.tokens_reserved, task.cost_reserved) = reserved;
            seen.set((b.about_task_id,), set)
        }
        Body::BudgetSettled(b) => seen.set((b.about_task_id,), |task: &mut TaskRow| {
            (task.tokens_reserved, task.cost_reserved) = (0, 0);
            task.tokens_used = task.tokens_used.saturating_add(b.tokens);
            task.cost_used = task.cost_used.saturating_add(b.cost_micros);
            task.wall_ms = task.wall_ms.saturating_add(b.wall_ms);
        }),
        Body::ChildEnded(b) => seen.set((b.about_task_id,), |task: &mut TaskRow| {
            let (tokens, cost) = (task.tokens_used, task.cost_used);
            task.tokens_used = tokens.saturating_add(b.tokens);
            task.cost_used = cost.saturating_add(b.cost_micros);
        }),
        Body::StepCreated(b) => step(seen, &b.step),
        Body::StepStatusChanged(b) => seen.set((b.about_step_id,), |step: &mut StepRow| {
            step.status = b.to;
            step.reason.clone_from(&b.reason);
            step.updated_at = seen.at();
        }),
        _ => attempts(seen, body),
    }
}

fn attempts(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::AttemptCreated(b) => attempt(seen, &b.attempt),
        Body::AttemptStatusChanged(b) => attempt_status(seen, b),
        Body::AttemptCheckpointed(b) => seen.attempt(b.about_attempt_id, |attempt| {
            attempt.checkpoint = b.iteration;
            attempt.context_pack_ref = b.context_pack_ref.value().copied().or(attempt.context_pack_ref);
            attempt.working_state_ref = b.working_state_ref.value().copied().or(attempt.working_state_ref);
        }),
        Body::EnvironmentCaptured(b) => {
            let environment = b.environment.artifact_id;
            seen.attempt(b.about_attempt_id, |attempt| attempt.environment_ref = Some(environment))
        }
        Body::RunTerminated(b) => terminated(seen, b),
        Body::LeaseAcquired(b) => lease(seen, &b.lease),
        Body::LeaseRenewed(b) => {
            leased(seen, b.lease_id, Some(b.expires_at), |lease| lease.expires_at = b.expires_at)
        }
        Body::LeaseReleased(b) => lease_ended(seen, b.lease_id, "released"),
        Body::LeaseLost(b) => lease_ended(seen, b.lease_id, &b.reason),
        _ => turns(seen, body),
    }
}

fn task(seen: &Seen<'_>, t: &model::task::Task, ingress: IngressId) -> Result<(), Error> {
    let made = seen.add(NewTask {
        task_id: t.task_id,
        conversation_id: t.conversation_id,
        title: t.title.clone(),
        goal: t.goal.clone(),
        status: t.status,
        run_status: RunStatus::Queued,
        priority: t.priority,
        owner: t.owner_principal_id,
        profile: t.policy_profile_ref,
        channel: t.source_channel,
        origin: t.origin(),
        contract_ref: t.task_contract_ref,
        ingress_id: ingress,
        parent_task_id: t.parent_task_id,
        anchor_task_id: t.continuation_anchor.as_ref().map(|a| a.anchor_task_id),
        workspace_id: t.workspace_hint,
        labels: t.labels.clone(),
        depends_on: t.depends_on.clone(),
        created_at: t.created_at,
        updated_at: t.updated_at,
        deadline_at: t.deadline_at,
    })?;
    // A part of what is not reported is not reported either.
    let of_whole = match t.parent_task_id {
        Some(whole) => seen.change((whole,), |task: &mut TaskRow| task.quiet)?.unwrap_or_default(),
        None => false,
    };
    if made && (of_whole || t.scheduled_by.as_ref().is_some_and(|by| by.quiet)) {
        seen.set((t.task_id,), |task: &mut TaskRow| task.quiet = true)?;
    }
    if made {
        seen.conversation(t.conversation_id, |conversation| conversation.open_tasks += 1)?;
    }
    Ok(())
}

fn status(seen: &Seen<'_>, b: &TaskStatusChanged) -> Result<(), Error> {
    let conversation = seen.change((b.about_task_id,), |task: &mut TaskRow| {
        task.status = b.to;
        task.reason.clone_from(&b.reason);
        task.updated_at = seen.at();
        task.ended_at = b.to.is_terminal().then(|| task.ended_at.unwrap_or_else(|| seen.at()));
        task.rolled_back |= b.to == TaskStatus::RolledBack;
        task.pause_requested &= b.to != TaskStatus::Paused;
        task.conversation_id
    })?;
    if let Some(conversation) = conversation
        && b.to.is_terminal()
        && !b.from.is_terminal()
    {
        seen.conversation(conversation, |row| row.open_tasks = row.open_tasks.saturating_sub(1))?;
    }
    refresh(seen, b.about_task_id)
}

fn flag(seen: &Seen<'_>, task: TaskId, set: impl FnOnce(&mut TaskRow)) -> Result<(), Error> {
    seen.touch_task(task, set)?;
    refresh(seen, task)
}

/// Sets what a run's status is from what it depends on (T1).
fn refresh(seen: &Seen<'_>, task: TaskId) -> Result<(), Error> {
    seen.set((task,), |task: &mut TaskRow| {
        let ran_out = task.termination == Some(TerminationReason::Expired)
            || matches!(task.reason.as_str(), "expired" | "deadline" | "deadline_passed");
        let ending = Ending { cancel_requested: task.cancel_requested, ran_out };
        task.run_status = run_status(task.status, task.attempt_status, ending, task.run_status);
    })
}

fn step(seen: &Seen<'_>, s: &model::task::Step) -> Result<(), Error> {
    seen.add(NewStep {
        step_id: s.step_id,
        task_id: s.task_id,
        kind: s.kind,
        title: s.title.clone(),
        contract_ref: s.contract_ref,
        status: s.status,
        depends_on: s.depends_on.clone(),
        max_attempts: s.max_attempts,
        created_at: s.created_at,
        updated_at: s.updated_at,
    })
    .map(drop)
}

fn attempt(seen: &Seen<'_>, a: &model::attempt::StepAttempt) -> Result<(), Error> {
    seen.add(NewAttempt {
        attempt_id: a.attempt_id,
        task_id: a.task_id,
        step_id: a.step_id,
        attempt_no: a.attempt_no,
        status: a.status,
        phase: AttemptPhase::Planning,
        started_at: a.started_at,
        lease_id: a.workspace_lease_ref.value().copied(),
        context_pack_ref: a.context_pack_ref.value().copied(),
        working_state_ref: a.working_state_ref.value().copied(),
        environment_ref: a.environment_ref,
        resume_from: a.resume_from_ref,
        policy_version: a.policy_version,
    })?;
    seen.set((a.step_id,), |step: &mut StepRow| step.attempts += 1)?;
    seen.touch_task(a.task_id, |task| {
        task.attempts += 1;
        (task.attempt_id, task.attempt_status) = (Some(a.attempt_id), Some(a.status));
        (task.termination, task.proposer) = (None, task.proposer.or(a.proposer));
    })?;
    refresh(seen, a.task_id)
}

fn attempt_status(seen: &Seen<'_>, b: &AttemptStatusChanged) -> Result<(), Error> {
    let finished = b.to.is_ended().then(|| seen.at());
    seen.attempt(b.about_attempt_id, |attempt| {
        (attempt.status, attempt.phase) = (b.to, b.phase);
        attempt.reason.clone_from(&b.reason);
        attempt.finished_at = attempt.finished_at.or(finished);
    })?;
    seen.set((seen.event.task_id,), |task: &mut TaskRow| {
        if task.attempt_id == Some(b.about_attempt_id) {
            task.attempt_status = Some(b.to);
            task.updated_at = seen.at();
        }
    })?;
    refresh(seen, seen.event.task_id)
}

fn terminated(seen: &Seen<'_>, b: &RunTerminated) -> Result<(), Error> {
    if is_read_by_a_model(seen)? {
        b.helped.iter().flatten().try_for_each(|one| super::knowledge::helped(seen, *one))?;
        b.contradicted.iter().flatten().try_for_each(|one| super::knowledge::contradicted(seen, *one))?;
    }
    seen.attempt(b.about_attempt_id, |attempt| {
        attempt.termination = Some(b.reason);
        attempt.iterations = b.iterations;
        attempt.summary = Some(b.summary.clone());
        attempt.answer_ref = b.answer.as_ref().map(|a| a.artifact_id);
    })?;
    seen.set((seen.event.task_id,), |task: &mut TaskRow| {
        if task.attempt_id == Some(b.about_attempt_id) {
            task.termination = Some(b.reason);
        }
    })?;
    refresh(seen, seen.event.task_id)
}

fn lease(seen: &Seen<'_>, l: &WorkspaceLease) -> Result<(), Error> {
    seen.add(NewLease {
        lease_id: l.lease_id,
        task_id: l.task_id,
        attempt_id: l.attempt_id,
        workspace_id: l.workspace_id,
        root_path: l.root_path.clone(),
        mode: l.mode,
        holder: l.holder_principal_id,
        acquired_at: l.acquired_at,
        expires_at: l.expires_at,
    })?;
    seen.attempt(l.attempt_id, |attempt| {
        (attempt.lease_id, attempt.lease_expires_at) = (Some(l.lease_id), Some(l.expires_at));
    })
}

fn lease_ended(seen: &Seen<'_>, lease: LeaseId, by: &str) -> Result<(), Error> {
    leased(seen, lease, None, |lease| {
        if lease.ended_at.is_none() {
            (lease.ended_at, lease.ended_by) = (Some(seen.at()), Some(by.to_owned()));
        }
    })
}

/// Changes a lease, and notes on the attempt that has it until when.
fn leased(
    seen: &Seen<'_>,
    lease: LeaseId,
    until: Option<UnixMs>,
    set: impl FnOnce(&mut LeaseRow),
) -> Result<(), Error> {
    let whose = seen.change((lease,), |row: &mut LeaseRow| {
        set(row);
        row.attempt_id
    })?;
    let Some(attempt) = whose else { return Ok(()) };
    seen.attempt(attempt, |attempt| {
        if attempt.lease_id == Some(lease) {
            attempt.lease_expires_at = until;
        }
    })
}

/// Changes the row of a turn, made by whatever names it first.
fn turn(
    seen: &Seen<'_>,
    attempt_id: AttemptId,
    iteration: u32,
    with: impl FnOnce(&mut IterationRow),
) -> Result<(), Error> {
    seen.add(NewIteration { attempt_id, iteration, task_id: seen.event.task_id })?;
    seen.set((attempt_id, iteration), with)
}

/// Whether a model reads the contexts of the task: those of a playbook, and those of the kernel's own plans, are told to nobody.
fn is_read_by_a_model(seen: &Seen<'_>) -> Result<bool, Error> {
    let proposer = seen.change((seen.event.task_id,), |task: &mut TaskRow| task.proposer)?;
    let nobody = |by: Proposer| matches!(by, Proposer::Playbook | Proposer::Rollback | Proposer::Tools);
    Ok(!proposer.flatten().is_some_and(nobody))
}

fn turns(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::ContextCompiled(b) => {
            let is_told = is_read_by_a_model(seen)?;
            for memory in b.memories.iter().flatten().filter(|_| is_told) {
                super::knowledge::used(seen, *memory, (b.about_attempt_id, b.iteration))?;
            }
            let pack = Some(b.pack.artifact_id);
            turn(seen, b.about_attempt_id, b.iteration, |turn| {
                turn.pack_ref = pack;
                (turn.pack_tokens, turn.pack_items) = (Some(b.tokens), Some(b.items));
                turn.pack_omissions = Some(b.omissions);
            })?;
            seen.attempt(b.about_attempt_id, |attempt| attempt.context_pack_ref = pack)
        }
        Body::ModelRequested(b) => turn(seen, b.about_attempt_id, b.iteration, |turn| {
            turn.request_ref = Some(b.request.artifact_id);
            (turn.provider, turn.model) = (Some(b.provider.clone()), Some(b.model.clone()));
            turn.remote = Some(b.remote);
        }),
        Body::ModelResponded(b) => turn(seen, b.about_attempt_id, b.iteration, |turn| {
            turn.response_ref = Some(b.response.artifact_id);
            turn.answer_ref = Some(b.answer.artifact_id);
            (turn.tokens_in, turn.tokens_out) = (Some(b.tokens_in), Some(b.tokens_out));
            turn.cost_micros = Some(b.cost_micros);
            turn.finish_reason = Some(b.finish_reason.clone());
        }),
        Body::ModelFailed(b) => turn(seen, b.about_attempt_id, b.iteration, |turn| {
            turn.failures += 1;
            turn.trouble = Some(b.error.clone());
        }),
        Body::ModelOutputRejected(b) => turn(seen, b.about_attempt_id, b.iteration, |turn| {
            turn.rejections += 1;
            turn.trouble = Some(b.reason.clone());
        }),
        Body::IterationCompleted(b) => completed(seen, b.about_attempt_id, &b.record),
        _ => Ok(()),
    }
}

fn completed(seen: &Seen<'_>, attempt: AttemptId, r: &model::attempt::IterationRecord) -> Result<(), Error> {
    turn(seen, attempt, r.step_number, |turn| {
        turn.decision = Some(r.model_decision.clone());
        turn.tool.clone_from(&r.tool_invocation);
        (turn.tool_input, turn.tool_output) = (r.tool_input, r.tool_output);
        turn.error.clone_from(&r.error);
        turn.summary = Some(r.state_summary.clone());
        turn.completed_at = Some(seen.at());
    })?;
    seen.attempt(attempt, |attempt| attempt.iterations = attempt.iterations.max(r.step_number))?;
    seen.set((seen.event.task_id,), |task: &mut TaskRow| task.iterations += 1)
}

impl Seen<'_> {
    /// Changes the row of a task, where there is one, and notes when.
    pub(super) fn touch_task(&self, task: TaskId, with: impl FnOnce(&mut TaskRow)) -> Result<(), Error> {
        self.set((task,), |row: &mut TaskRow| {
            with(row);
            row.updated_at = self.at();
        })
    }

    /// Changes the row of an attempt, where there is one.
    fn attempt(&self, id: AttemptId, with: impl FnOnce(&mut AttemptRow)) -> Result<(), Error> {
        self.set((id,), with)
    }

    /// Changes the row of a conversation, where there is one.
    pub(super) fn conversation(
        &self,
        id: ConversationId,
        with: impl FnOnce(&mut ConversationRow),
    ) -> Result<(), Error> {
        self.set((id,), with)
    }
}
