//! An attempt as its events say.

use super::EventAt;
use super::turn::{Act, Delegated, Stage, Trial, Turn};
use crate::Error;
use iteration::LoopState;
use model::artifact::ArtifactRef;
use model::attempt::{AttemptStatus, StepAttempt, TerminationReason, WorkspaceLease};
use model::body::{
    ActionRequested, AnswerContinued, Body, ChildEnded, ContextCompacted, ModelResponded, SkillLoaded,
};
use model::{ActionRequestId, ClarificationId, Slot, transition};
use std::collections::VecDeque;

/// Something this attempt has seen, whole.
#[derive(Debug, Clone)]
pub struct ObservedRef {
    /// The result's artifact.
    pub artifact: ArtifactRef,
    /// The tool it came from.
    pub tool: String,
    /// What it was about, one line.
    pub about: String,
    /// The turn that it came of.
    pub iteration: u32,
}

/// The summary that stands in the place of the oldest turns.
#[derive(Debug, Clone)]
pub struct Compacted {
    /// Its artifact.
    pub summary: ArtifactRef,
    /// The last turn that it stands for.
    pub through: u32,
    /// How many of the results that were seen, from the first, stand in it.
    pub results: usize,
}

impl Compacted {
    fn of(b: &ContextCompacted) -> Self {
        let results = usize::try_from(b.results).unwrap_or(usize::MAX);
        Self { summary: b.summary.clone(), through: b.through, results }
    }
}

/// What a model has read of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedSkill {
    /// The skill.
    pub name: String,
    /// Of which bytes.
    pub sha256: model::Digest,
    /// The file of it; its own text when none is named.
    pub file: Option<String>,
    /// What was read.
    pub text: ArtifactRef,
    /// The turn that chose it.
    pub iteration: u32,
}

/// Who refused an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedBy {
    /// A person denied it.
    Person,
    /// Policy did not allow it.
    Policy,
}

/// Everything the kernel needs to know of one attempt.
#[derive(Debug, Clone)]
pub struct AttemptState {
    /// The attempt.
    pub attempt: StepAttempt,
    /// Its lease.
    pub lease: Option<WorkspaceLease>,
    /// Whether the lease was given back or lost.
    pub lease_gone: bool,
    /// The turn in hand, from 1; 0 before the first.
    pub iteration: u32,
    /// The loop's own state.
    pub loop_state: LoopState,
    /// Earlier turns, a line each.
    pub turns: Vec<(u32, String)>,
    /// The turn in hand.
    pub turn: Turn,
    /// Reads that were dispatched together with the act in hand, in the order of the answer, which they come after.
    pub beside: VecDeque<Act>,
    /// Whether one of the reads that were dispatched together, and that is behind, did not succeed.
    pub beside_failed: bool,
    /// How many proposals of the answer in hand are behind it.
    pub taken: usize,
    /// A model failed this many times since it last answered.
    pub model_failures: u32,
    /// How often its end was checked against what a person said must hold.
    pub criteria_checks: u32,
    /// What it has seen.
    pub observed: Vec<ObservedRef>,
    /// What stands in the place of its oldest turns.
    pub compacted: Option<Compacted>,
    /// Tools of servers that its model has found, by the names that they are offered by, oldest first.
    pub found: Vec<String>,
    /// What its model has read of skills and still has in its context, oldest first.
    pub skills: Vec<LoadedSkill>,
    /// Every text of a skill that it has read, oldest first: what it did since may rest on it.
    pub skill_texts: Vec<ArtifactRef>,
    /// The environment it runs in.
    pub environment: Option<ArtifactRef>,
    /// Who refused its last act, when nothing was done since.
    pub refused_by: Option<RefusedBy>,
    /// The last context pack.
    pub pack: Option<ArtifactRef>,
    /// Answers that came from another machine, with the requests that went there.
    pub remote_calls: Vec<(ArtifactRef, ArtifactRef)>,
    /// Whether the request in hand goes to another machine.
    pub asks_remote: bool,
    /// The model on another machine that it was decided to ask, until another is asked.
    pub remote_model: Option<String>,
}

impl AttemptState {
    /// A fresh attempt.
    pub fn new(attempt: StepAttempt, goal: String) -> Self {
        let loop_state = match attempt.proposer {
            Some(proposer) if proposer.is_led() => LoopState::led(&goal),
            _ => LoopState::new(&goal, model::limits::ITERATIONS_MAX),
        };
        Self {
            attempt,
            lease: None,
            lease_gone: false,
            iteration: 0,
            loop_state,
            turns: Vec::new(),
            turn: Turn::Thinking { last: None },
            beside: VecDeque::new(),
            beside_failed: false,
            taken: 0,
            model_failures: 0,
            criteria_checks: 0,
            observed: Vec::new(),
            compacted: None,
            found: Vec::new(),
            skills: Vec::new(),
            skill_texts: Vec::new(),
            environment: None,
            refused_by: None,
            pack: None,
            remote_calls: Vec::new(),
            asks_remote: false,
            remote_model: None,
        }
    }

    /// The act in hand.
    pub fn act(&self) -> Option<&Act> {
        self.turn.act()
    }

    /// Why its loop ended.
    pub const fn ended(&self) -> Option<TerminationReason> {
        match &self.turn {
            Turn::Ended { reason, .. } => Some(*reason),
            _ => None,
        }
    }

    /// What its loop ended with.
    pub const fn final_answer(&self) -> Option<&ArtifactRef> {
        match &self.turn {
            Turn::Ended { answer, .. } => answer.as_ref(),
            _ => None,
        }
    }

    /// What its model had seen when it gave the answer in hand: what came of earlier requests of the same answer it had not.
    pub fn seen(&self) -> Vec<ObservedRef> {
        self.observed.iter().filter(|seen| seen.iteration < self.iteration).cloned().collect()
    }

    /// Acts that were dispatched and whose outcome is not established.
    pub fn under_way(&self) -> impl Iterator<Item = &Act> {
        self.act().into_iter().chain(&self.beside).filter(|act| act.is_unsettled())
    }

    /// Whether an act was dispatched whose outcome is not established.
    pub fn unsettled(&self) -> bool {
        self.under_way().next().is_some()
    }

    /// Whether it waits on a person.
    pub const fn waits(&self) -> bool {
        matches!(self.attempt.status, AttemptStatus::AwaitingApproval | AttemptStatus::AwaitingInput)
    }

    /// Folds one event of this attempt.
    ///
    /// # Errors
    /// When a status change is not in the table.
    pub(crate) fn apply(&mut self, at: &EventAt, body: &Body) -> Result<(), Error> {
        match body {
            Body::AttemptStatusChanged(b) => {
                transition::attempt(b.from, b.to)?;
                if self.attempt.status != b.from {
                    return Err(Error::Broken(format!(
                        "attempt `{}` was {}, not {}",
                        b.about_attempt_id, self.attempt.status, b.from
                    )));
                }
                self.attempt.status = b.to;
                if b.to == AttemptStatus::CompilingContext {
                    self.turn_over();
                }
                if b.to.is_ended() {
                    self.attempt.finished_at = Some(at.occurred_at);
                }
            }
            Body::AttemptCheckpointed(b) => {
                self.attempt.context_pack_ref = b.context_pack_ref.clone();
                self.attempt.working_state_ref = b.working_state_ref.clone();
            }
            Body::EnvironmentCaptured(b) => self.environment = Some(b.environment.clone()),
            Body::LeaseAcquired(b) => {
                self.attempt.workspace_lease_ref = Slot::Value(b.lease.lease_id);
                self.lease = Some(b.lease.clone());
                self.lease_gone = false;
            }
            Body::LeaseRenewed(b) => {
                if let Some(lease) = self.lease.as_mut() {
                    lease.expires_at = b.expires_at;
                }
            }
            Body::LeaseReleased(_) | Body::LeaseLost(_) => self.lease_gone = true,
            _ => {
                self.apply_loop(body);
                self.apply_act(at, body);
            }
        }
        self.loop_state = std::mem::take(&mut self.loop_state).fold(at.event_id, body);
        Ok(())
    }

    fn apply_loop(&mut self, body: &Body) {
        match body {
            Body::ContextCompiled(b) => {
                self.iteration = b.iteration;
                self.pack = Some(b.pack.clone());
                self.turn = Turn::Thinking { last: None };
            }
            Body::ModelRequested(b) => {
                self.asks_remote = b.remote;
                self.remote_model = b.remote.then(|| b.model.clone());
                self.turn = Turn::Asking { request: b.request.clone() };
            }
            Body::ModelResponded(b) => self.answered(b),
            Body::AnswerContinued(b) => self.continued(b),
            Body::CriteriaChecked(_) => self.criteria_checks = self.criteria_checks.saturating_add(1),
            // The next has its own decision, also where a model of the same name is asked elsewhere.
            Body::ModelFellBack(_) => self.remote_model = None,
            Body::ModelFailed(_) => self.model_failures = self.model_failures.saturating_add(1),
            Body::TrialStarted(b) => {
                let trial = Trial { action_request_id: b.action_request_id, request: b.request.clone() };
                self.turn = Turn::Trying { answer: self.turn.answer().cloned(), trial };
            }
            Body::TrialEnded(_) => {
                self.turn = match self.turn.answer().cloned() {
                    Some(answer) => Turn::Answered { answer },
                    None => Turn::Thinking { last: None },
                };
            }
            Body::ActionRequested(b) => self.requested(b),
            Body::ModelOutputRejected(_) => self.turn_over(),
            Body::IterationCompleted(b) => {
                if !self.loop_state.is_led {
                    self.turns.extend(in_one_line(self.iteration, &b.record));
                }
                self.remember_output(b.record.tool_invocation.as_deref());
                self.beside_failed |= !self.beside.is_empty() && !self.act().is_some_and(Act::has_succeeded);
                self.turn_over();
            }
            Body::RunTerminated(b) => {
                let last = self.taken().over();
                self.turn = Turn::Ended { reason: b.reason, answer: b.answer.clone(), last };
            }
            Body::ClarificationRequested(b) => self.asked(b.clarification.clarification_id),
            Body::TaskDelegated(b) => {
                let parts = b.parts.clone();
                self.turn = Turn::Delegated(Delegated { parts, children: Vec::new(), ended: Vec::new() });
            }
            Body::ChildrenStarted(b) => {
                if let Turn::Delegated(delegated) = &mut self.turn {
                    delegated.children.clone_from(&b.children);
                }
            }
            Body::ChildEnded(b) => self.child_ended(b),
            Body::ToolsFound(_) | Body::SkillLoaded(_) | Body::ContextCompacted(_) => self.holds(body),
            // One that nobody answered in time ends the run: the turn stays with its question.
            Body::ClarificationAnswered(_) | Body::ClarificationCancelled(_) => {
                if matches!(self.turn, Turn::Questioned(_)) {
                    self.turn_over();
                }
            }
            _ => {}
        }
    }

    /// The answer is in hand, from its beginning.
    fn answered(&mut self, b: &ModelResponded) {
        if let Turn::Asking { request } = &self.turn
            && self.asks_remote
        {
            self.remote_calls.push((request.clone(), b.response.clone()));
        }
        self.turn = Turn::Answered { answer: b.answer.clone() };
        (self.taken, self.model_failures, self.beside_failed) = (0, 0, false);
    }

    /// The next of the answer is in hand: one that was dispatched beside the act before, else what is to be read.
    fn continued(&mut self, b: &AnswerContinued) {
        let answer = b.answer.clone();
        self.turn = match self.beside.pop_front() {
            Some(act) => Turn::Acting { answer: Some(answer), act: Box::new(act) },
            None => Turn::Answered { answer },
        };
        self.taken = usize::try_from(b.taken).unwrap_or(usize::MAX);
    }

    /// A request is in hand; or beside the act in hand, where that has begun.
    fn requested(&mut self, b: &ActionRequested) {
        if self.act().is_some_and(Act::is_dispatched) {
            self.beside.push_back(Act::of(b));
            return;
        }
        let answer = self.turn.answer().cloned();
        self.turn = Turn::Acting { answer, act: Box::new(Act::of(b)) };
    }

    /// What a child task came to joins what the attempt has seen.
    fn child_ended(&mut self, b: &ChildEnded) {
        let Turn::Delegated(delegated) = &mut self.turn else { return };
        delegated.ended.push(b.child_task_id);
        let part = delegated.children.iter().position(|child| *child == b.child_task_id);
        let title = part.and_then(|at| delegated.parts.get(at)).and_then(|part| part.title.shown());
        self.observed.push(ObservedRef {
            artifact: b.result.clone(),
            tool: "delegate".to_owned(),
            about: title.cloned().unwrap_or_default(),
            iteration: self.iteration,
        });
    }

    /// What stands in its next context otherwise than in the last.
    fn holds(&mut self, body: &Body) {
        match body {
            Body::ToolsFound(b) => self.has_found(&b.tools),
            Body::SkillLoaded(b) => self.has_read(b),
            Body::ContextCompacted(b) => self.compacted = Some(Compacted::of(b)),
            _ => {}
        }
    }

    /// What is found anew is the newest.
    fn has_found(&mut self, tools: &[String]) {
        self.found.retain(|known| !tools.contains(known));
        self.found.extend(tools.iter().cloned());
        let over = self.found.len().saturating_sub(model::limits::FOUND_TOOLS_KEPT);
        self.found.drain(..over);
    }

    /// What is read anew is the newest, and takes the place of what was read before.
    fn has_read(&mut self, b: &SkillLoaded) {
        self.skills.retain(|known| known.name != b.name || known.file != b.file);
        self.skills.push(LoadedSkill {
            name: b.name.clone(),
            sha256: b.skill_sha256,
            file: b.file.clone(),
            text: b.text.clone(),
            iteration: b.iteration,
        });
        let over = self.skills.len().saturating_sub(model::limits::SKILL_TEXTS_KEPT);
        self.skills.drain(..over);
        self.skill_texts.push(b.text.clone());
        let over = self.skill_texts.len().saturating_sub(model::limits::SKILL_TEXTS_NAMED);
        self.skill_texts.drain(..over);
    }

    /// A question ends the turn, but for one of a server whose tool is at work: its act stays in hand.
    fn asked(&mut self, id: ClarificationId) {
        if !matches!(self.turn, Turn::Acting { .. } | Turn::Trying { .. }) {
            self.turn = Turn::Questioned(id);
        }
    }

    fn taken(&mut self) -> Turn {
        std::mem::replace(&mut self.turn, Turn::Thinking { last: None })
    }

    /// What was in hand is behind it.
    fn turn_over(&mut self) {
        let last = self.taken().over();
        self.turn = Turn::Thinking { last };
    }

    /// The output of the act in hand joins what the attempt has seen, newest last.
    fn remember_output(&mut self, tool: Option<&str>) {
        let (Some(tool), Some(act)) = (tool, self.act()) else { return };
        let Stage::Observed { result, .. } = &act.stage else { return };
        let (artifact, about, iteration) = (result.clone(), act.summary.clone(), self.iteration);
        self.observed.push(ObservedRef { artifact, tool: tool.to_owned(), about, iteration });
    }

    fn apply_act(&mut self, at: &EventAt, body: &Body) {
        let own = about(body).and_then(|id| self.beside.iter_mut().find(|act| act.action_request_id == id));
        if let Some(act) = own {
            return act.apply(at, body);
        }
        let Turn::Acting { act, .. } = &mut self.turn else { return };
        match body {
            Body::ApprovalDenied(_) => self.refused_by = Some(RefusedBy::Person),
            // A refusal is an outcome too: nothing ran, and the model is told why.
            Body::EffectObserved(_) if !act.is_unsettled() => {
                self.refused_by = self.refused_by.or(Some(RefusedBy::Policy));
            }
            Body::EffectObserved(_) if act.action_class.is_important() => self.refused_by = None,
            _ => {}
        }
        act.apply(at, body);
    }
}

/// The act that an event tells of, of those that an act tells of before its outcome.
const fn about(body: &Body) -> Option<ActionRequestId> {
    match body {
        Body::PolicyEvaluated(b) => Some(b.action_request_id),
        Body::GrantIssued(b) => Some(b.action_request_id),
        Body::StandingUsed(b) => Some(b.action_request_id),
        Body::EffectDispatched(b) => Some(b.action_request_id),
        Body::EffectProgressed(b) => Some(b.action_request_id),
        _ => None,
    }
}

/// A turn as later turns are told of it, where there is more to tell than the name of its tool: what came of it stands
/// in its result.
fn in_one_line(iteration: u32, record: &model::attempt::IterationRecord) -> Option<(u32, String)> {
    let decision = record.model_decision.shown().map_or("(erased)", String::as_str);
    let tool = record.tool_invocation.as_deref().unwrap_or("nothing");
    let line = match record.error.as_ref().and_then(|e| e.shown()) {
        Some(error) if decision == tool => Some(format!("{tool}: {error}")),
        Some(error) => Some(format!("{tool}: {decision} -> {error}")),
        None if decision == tool => None,
        None => Some(format!("{tool}: {decision}")),
    };
    line.map(|line| (iteration, line))
}
