//! Child tasks: parts that the agent of a task gives away, done by agents of their own within its budget (HK-8.1-5,
//! HK-20.2). Each act of theirs is judged, asked for and receipted as any other.

use super::{DriveOutcome, Then};
use crate::Error;
use crate::command::plan;
use crate::command::submit::Submission;
use crate::kernel::{Cell, Kernel};
use crate::next::{Next, next};
use crate::state::{AttemptState, Delegated, TaskState, Turn};
use crate::tx::{After, Tx};
use crate::writeup::NewArtifact;
use iteration::{Part, Proposal};
use model::artifact::{ArtifactClass, ArtifactKind, TrustTier};
use model::body::{ChildEnded, ChildrenStarted, TaskDelegated};
use model::fault::Point;
use model::ingress::Channel;
use model::principal::PrincipalType;
use model::proposal::Answer;
use model::task::{Budget, ChildTask, Limit, ModelChoice, Origin, StepContract, TaskStatus};
use model::{ArtifactId, Sensitive, TaskId, limits};

/// The tool by which a model gives parts of its task away.
pub(super) const DELEGATE: &str = "delegate";

impl Kernel {
    /// Gives parts of the task away, unless they are too many, too deep, or more than its budget holds.
    pub(super) fn delegate(&self, tx: &mut Tx<'_>, tasks: Vec<Part>, answer: &Answer) -> Result<Then, Error> {
        let said = [Proposal::Delegate { tasks: tasks.clone() }];
        let parts = match self.parts(tx, tasks)? {
            Ok(parts) => parts,
            Err(why) => return self.close_said(tx, &said, answer, Some(why)),
        };
        tx.at(Point::IterationComplete);
        let record = self.record(tx, &said, answer, None, None)?;
        let (about_task_id, about_attempt_id) = (tx.task.task_id, self.attempt_id(tx)?);
        tx.push(model::body::IterationCompleted { about_attempt_id, record });
        tx.push(TaskDelegated { about_task_id, about_attempt_id, parts });
        tx.block("waits for child tasks")?;
        Ok(Then::Commit)
    }

    /// The parts with their shares of the budget, or why there are none, in words for the agent.
    fn parts(&self, tx: &Tx<'_>, tasks: Vec<Part>) -> Result<Result<Vec<ChildTask>, String>, Error> {
        let contract = self.contract(tx)?;
        if !matches!(self.choice(tx, &contract)?, ModelChoice::Openai { .. } | ModelChoice::Scripted { .. }) {
            return Ok(Err("only a model gives parts of its task away".to_owned()));
        }
        let (before, wanted) = (tx.children.len(), tasks.len());
        if wanted == 0 {
            return Ok(Err("name at least one part".to_owned()));
        }
        if before.saturating_add(wanted) > limits::CHILD_TASKS_MAX {
            let max = limits::CHILD_TASKS_MAX;
            return Ok(Err(format!(
                "one task gives {max} parts away at most, and {before} are; do these {wanted} yourself, or fewer larger ones"
            )));
        }
        if self.depth(tx)? >= limits::CHILD_DEPTH_MAX {
            return Ok(Err("this task is a part of a part; do the work yourself".to_owned()));
        }
        Ok(shares(&tx.budget(&contract), tx, tasks))
    }

    /// Whether the agent of this task may give parts of it away.
    pub(super) fn may_delegate(&self, state: &TaskState) -> Result<bool, Error> {
        let few = state.children.len() < limits::CHILD_TASKS_MAX;
        Ok(few && self.depth(state)? < limits::CHILD_DEPTH_MAX)
    }

    /// How many tasks stand above this one, each of which gave it or its parent away.
    fn depth(&self, state: &TaskState) -> Result<usize, Error> {
        let (mut above, mut depth) = (parent(state), 0);
        while let Some(task_id) = above {
            depth += 1;
            let cell = self.cell(task_id)?;
            above = parent(&*self.lock_task(&cell)?);
        }
        Ok(depth)
    }

    /// Makes the child tasks. One that was made before a crash is found again by its key.
    pub(super) fn start_children(&self, cell: &Cell) -> Result<Option<DriveOutcome>, Error> {
        let (submissions, about_task_id, about_attempt_id) = {
            let state = self.lock_task(cell)?;
            let attempt = state.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
            let Turn::Delegated(delegated) = &attempt.turn else { return Ok(None) };
            (self.submissions(&state, attempt, delegated)?, state.task.task_id, attempt.attempt.attempt_id)
        };
        let mut children = Vec::with_capacity(submissions.len());
        for submission in &submissions {
            children.push(self.submit(submission)?.task_id);
        }
        let mut tx = self.begin_tx(cell, Point::IterationComplete, PrincipalType::System)?;
        let still = matches!(tx.attempt().map(|attempt| &attempt.turn), Some(Turn::Delegated(_)));
        if !still {
            // A person stopped it meanwhile, so nobody would hear them.
            drop(tx);
            self.cancel_children(&children);
            return Ok(None);
        }
        tx.push(ChildrenStarted { about_task_id, about_attempt_id, children });
        tx.commit()?;
        Ok(None)
    }

    fn submissions(
        &self,
        state: &TaskState,
        attempt: &AttemptState,
        delegated: &Delegated,
    ) -> Result<Vec<Submission>, Error> {
        let task = &state.task;
        let contract = self.contract(state)?;
        let reasoning = self.reasoning_of(state, self.choice(state, &contract)?)?;
        // What may follow was allowed for the task that gives parts away.
        let chain =
            self.chain(state, &contract, state.step())?.into_iter().skip(state.fallen.saturating_add(1));
        let fallbacks = chain.map(|next| self.reasoning_of(state, next)).collect::<Result<Vec<_>, _>>()?;
        let workspace =
            task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        // What a step may not, no part of it may.
        let may = match state.step() {
            Some(step) => self.read_object::<StepContract>(state, step.contract_ref)?.allowed_action_classes,
            None => Vec::new(),
        };
        let narrowed = |title: String, objective: String| plan::Part {
            name: if title.trim().is_empty() { "part".to_owned() } else { title },
            objective,
            may: may.clone(),
            ..plan::Part::default()
        };
        let one = |(at, part): (usize, &ChildTask)| {
            let text = |of: &Sensitive<String>| of.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
            let key = format!("child:{}:{}:{at}", attempt.attempt.attempt_id, attempt.iteration);
            Submission {
                title: text(&part.title),
                steps: match may.is_empty() {
                    true => Vec::new(),
                    false => vec![narrowed(text(&part.title), text(&part.goal))],
                },
                profile: task.policy_profile_ref,
                budget: part.budget,
                priority: task.priority,
                constraints: contract.constraints.clone(),
                done_when: Vec::new(),
                deadline_at: task.deadline_at,
                by: Some(Origin::Agent),
                conversation_id: Some(task.conversation_id),
                parent_task_id: Some(task.task_id),
                asks_at_limit: contract.asks_at_limit,
                fallbacks: fallbacks.clone(),
                fallback_remote: true,
                ..Submission::of(text(&part.goal), workspace, reasoning.clone(), Channel::System, key)
            }
        };
        Ok(delegated.parts.iter().enumerate().map(one).collect())
    }

    /// Takes up what child tasks have come to since; the task goes on when all of them have ended.
    pub(super) fn hear_children(&self, cell: &Cell) -> Result<Option<DriveOutcome>, Error> {
        let waited_for = self.lock_task(cell)?.children_waited_for();
        let mut heard = false;
        for child in waited_for {
            let Some(came) = self.came_to(child)? else { continue };
            let mut tx = self.begin_tx(cell, Point::IterationComplete, PrincipalType::System)?;
            if !tx.children_waited_for().contains(&child) {
                continue;
            }
            // A model wrote its words, of whatever it had read.
            let new = NewArtifact::audit(ArtifactKind::Answer)
                .class(ArtifactClass::Working)
                .media("text/plain; charset=utf-8")
                .trust(TrustTier::Untrusted)
                .from(came.answer);
            let result = tx.artifact(came.text.as_bytes(), new)?;
            let (about_task_id, about_attempt_id) = (tx.task.task_id, self.attempt_id(&tx)?);
            let Came { status, tokens, cost_micros, .. } = came;
            let child_task_id = child;
            tx.push(ChildEnded {
                about_task_id,
                about_attempt_id,
                child_task_id,
                status,
                result,
                tokens,
                cost_micros,
            });
            tx.commit()?;
            heard = true;
        }
        Ok((!heard).then_some(DriveOutcome::Waiting(crate::next::Waiting::Dependency)))
    }

    /// What a child task came to; nothing while it has not ended.
    fn came_to(&self, child: TaskId) -> Result<Option<Came>, Error> {
        let cell = self.cell(child)?;
        let state = self.lock_task(&cell)?;
        if !state.task.status.is_terminal() {
            return Ok(None);
        }
        let ended = state.attempt().and_then(AttemptState::ended).map_or("ended", super::in_words);
        let mut text =
            format!("It was asked: {}\nIt ended: {}, {ended}\n", state.goal_text(), state.task.status);
        text.push_str(&self.deeds_and_words(&state)?);
        let answer = state.attempt().and_then(AttemptState::final_answer).map(|at| at.artifact_id);
        Ok(Some(Came {
            status: state.task.status,
            text,
            answer,
            tokens: state.tokens_spent,
            cost_micros: state.cost_spent,
        }))
    }

    /// Whether any of these tasks has ended.
    pub(super) fn any_ended(&self, tasks: &[TaskId]) -> Result<bool, Error> {
        for task_id in tasks {
            let cell = self.cell(*task_id)?;
            if self.lock_task(&cell)?.task.status.is_terminal() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How much more tokens or money a part may get: what its whole has left beside all that its open parts may use. None
    /// of a task that is no part, nor of time and turns, which each task has for itself; nothing where the whole does not
    /// wait for this part.
    pub(super) fn left_of_whole(&self, state: &TaskState, limit: Limit) -> Result<Option<u64>, Error> {
        let Some(above) = parent(state).filter(|_| matches!(limit, Limit::Tokens | Limit::Cost)) else {
            return Ok(None);
        };
        // As the log has them: whoever holds them may wait for this one.
        let whole = self.load(above)?;
        let open = whole.children_waited_for();
        if whole.task.status.is_terminal() || !open.contains(&state.task.task_id) {
            return Ok(Some(0));
        }
        let (allowed, spent) = self.allowed_and_spent(&whole, limit)?;
        let mut left = allowed.saturating_sub(spent);
        for part in open {
            let other = if part == state.task.task_id { None } else { Some(self.load(part)?) };
            let part = other.as_ref().unwrap_or(state);
            let (allowed, spent) = self.allowed_and_spent(part, limit)?;
            let is_ended = part.task.status.is_terminal();
            left = left.saturating_sub(if is_ended { spent } else { allowed.max(spent) });
        }
        Ok(Some(left))
    }

    /// What a task may use of its tokens or money, and what it has used.
    fn allowed_and_spent(&self, state: &TaskState, limit: Limit) -> Result<(u64, u64), Error> {
        let budget = state.budget(&self.contract(state)?);
        Ok(match limit {
            Limit::Cost => (budget.cost_micros_max, state.cost_spent),
            _ => (budget.tokens_max, state.tokens_spent),
        })
    }

    /// Cancels child tasks that nobody waits for any more; those that have ended stay as they are.
    pub(super) fn cancel_children(&self, children: &[TaskId]) {
        for child in children {
            match self.cancel_as(PrincipalType::System, *child, LEFT) {
                Ok(()) | Err(Error::Conflict(_)) => {}
                Err(error) => tracing::warn!(task = %child, %error, "a child task could not be cancelled"),
            }
        }
    }

    /// Tasks that may go on now that this one has come to rest: the one that it is a part of, and its own parts.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn kin(&self, task_id: TaskId) -> Result<Vec<TaskId>, Error> {
        let (above, below, ended) = {
            let cell = self.cell(task_id)?;
            let state = self.lock_task(&cell)?;
            (parent(&state), state.children.clone(), state.task.status.is_terminal())
        };
        let mut kin: Vec<TaskId> = above.filter(|_| ended).into_iter().collect();
        for child in below {
            let cell = self.cell(child)?;
            let state = self.lock_task(&cell)?;
            if !matches!(next(&state, self.now_of(&state)), Next::Wait(_) | Next::Ended(_)) {
                kin.push(child);
            }
        }
        Ok(kin)
    }
}

/// Why a child task is cancelled that nobody waits for any more.
pub(super) const LEFT: &str = "the task that it is a part of goes on without it";

/// What a child task came to.
struct Came {
    status: TaskStatus,
    text: String,
    answer: Option<ArtifactId>,
    tokens: u64,
    cost_micros: u64,
}

/// The task whose agent gave this one away.
pub(super) fn parent(state: &TaskState) -> Option<TaskId> {
    state.task.parent_task_id.filter(|_| state.task.origin() == Origin::Agent)
}

/// The attempt at work ends: child tasks that it waits for are cancelled with it.
pub(crate) fn leave_children(tx: &mut Tx<'_>) {
    let children = tx.children_waited_for();
    if !children.is_empty() {
        tx.then(After::CancelChildren(children));
    }
}

/// Shares of what is left of a budget: what each part asks for, and an equal part of it where it asks for nothing, so that
/// as much is left to whoever gave them away.
fn shares(budget: &Budget, state: &TaskState, tasks: Vec<Part>) -> Result<Vec<ChildTask>, String> {
    let left = budget.tokens_max.saturating_sub(state.tokens_spent);
    let equal = left / (tasks.len() as u64).saturating_add(1);
    let wanted: u64 = tasks.iter().map(|part| part.tokens.unwrap_or(equal)).fold(0, u64::saturating_add);
    if wanted > left {
        return Err(format!("the parts would take {wanted} tokens, and {left} are left; give them less"));
    }
    let cost_left = budget.cost_micros_max.saturating_sub(state.cost_spent);
    let mut parts = Vec::with_capacity(tasks.len());
    for Part { goal, title, tokens } in tasks {
        let tokens_max = tokens.unwrap_or(equal);
        if tokens_max < limits::CHILD_TOKENS_MIN {
            let min = limits::CHILD_TOKENS_MIN;
            return Err(format!(
                "{tokens_max} tokens are too few for a part; it needs {min}, so do it yourself"
            ));
        }
        if goal.len() > limits::GOAL_BYTES_MAX {
            return Err(format!("a goal has {} bytes at most", limits::GOAL_BYTES_MAX));
        }
        let share = u128::from(cost_left) * u128::from(tokens_max) / u128::from(left.max(1));
        let budget = Budget {
            tokens_max,
            cost_micros_max: u64::try_from(share).unwrap_or(cost_left),
            wall_ms_max: budget.wall_ms_max.saturating_sub(state.wall_ms),
            ..*budget
        };
        let (title, goal) = (Sensitive::from(title), Sensitive::from(goal));
        parts.push(ChildTask { title, goal, budget });
    }
    Ok(parts)
}
