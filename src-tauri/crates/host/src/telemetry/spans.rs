//! A task as spans: the task, its steps, their attempts, and the actions and answers of a model within them. Pure.
//!
//! What a span can hold besides its times is a name of a closed list, a number, a flag, or an identifier. There is no way to put a text
//! into one: no goal, no file name, no content, no address and no name that anybody gave anything.

use model::{
    ActionRequestId, AttemptId, Body, Digest, Event, EventId, StepId, TaskId, action::ActionClass,
    receipt::ResultCode,
};
use std::collections::BTreeMap;
use std::fmt::Display;
use words::task::TaskStatus;

/// Spans of one task; what is more is counted.
const SPANS_MAX: usize = 4_000;

/// An identifier that Hermit drew.
trait Identifier: Display {}
impl Identifier for TaskId {}
impl Identifier for StepId {}
impl Identifier for AttemptId {}
impl Identifier for ActionRequestId {}
impl Identifier for EventId {}

/// What an attribute says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A name that stands in this program.
    Name(&'static str),
    /// An identifier.
    Id(Id),
    /// A number.
    Number(u64),
    /// A flag.
    Flag(bool),
}

/// An identifier as it is written; made of nothing else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(String);

impl Id {
    fn of(id: &impl Identifier) -> Self {
        Self(id.to_string())
    }

    /// How it is written.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The first bytes of its digest in hex: as long as the protocol has them.
    fn hex(&self, what: &str, digits: usize) -> String {
        Digest::of(format!("{what} {}", self.0).as_bytes()).to_string().chars().take(digits).collect()
    }
}

/// A piece of work with its times, in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    /// 16 digits of hex.
    pub(super) id: String,
    /// The span that it is part of.
    pub(super) parent: Option<String>,
    /// What kind it is of.
    pub(super) name: &'static str,
    /// When it began.
    pub(super) start: i64,
    /// When it ended.
    pub(super) end: i64,
    /// What else is known of it.
    pub(super) attributes: Vec<(&'static str, Value)>,
    /// Whether it failed.
    pub(super) is_failed: bool,
}

/// A task that ended, with its spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trace {
    /// 32 digits of hex.
    pub(super) id: String,
    /// The task first.
    pub(super) spans: Vec<Span>,
    /// How it ended.
    pub(super) status: Option<TaskStatus>,
    /// How often an action of a class ended so.
    pub(super) actions: BTreeMap<(ActionClass, ResultCode), u64>,
    /// Tokens that models read for it, and wrote.
    pub(super) tokens: (u64, u64),
}

/// Builds the spans of one task from its events, in their order.
pub(super) struct Tracing {
    task: TaskId,
    trace: Trace,
    /// Where the span of an identifier stands, and whether it is still open.
    known: BTreeMap<Id, (usize, bool)>,
    classes: BTreeMap<ActionRequestId, ActionClass>,
    /// What is known last of how an action ended.
    results: BTreeMap<ActionRequestId, ResultCode>,
    left_out: u64,
    last: i64,
}

/// Types of the events that a trace is made of; no other body is read.
const READ: [&str; 15] = [
    "task.created",
    "task.status_changed",
    "step.created",
    "step.status_changed",
    "attempt.created",
    "attempt.status_changed",
    "attempt.terminated",
    "attempt.model_requested",
    "attempt.model_responded",
    "attempt.model_failed",
    "action.requested",
    "policy.evaluated",
    "effect.observed",
    "effect.uncertain",
    "effect.resolved",
];

impl Tracing {
    pub(super) fn of(task: TaskId) -> Self {
        let id = Id::of(&task).hex("trace", 32);
        let (actions, tokens) = (BTreeMap::new(), (0, 0));
        Self {
            task,
            trace: Trace { id, spans: Vec::new(), status: None, actions, tokens },
            known: BTreeMap::new(),
            classes: BTreeMap::new(),
            results: BTreeMap::new(),
            left_out: 0,
            last: i64::MIN,
        }
    }

    /// Takes the next event. What is concealed in it stays so: nothing opens it.
    pub(super) fn take(&mut self, event: &Event) {
        self.last = self.last.max(event.occurred_at.0);
        if !READ.contains(&event.event_type.as_str()) {
            return;
        }
        match event.body(&|_| None) {
            Ok(body) => {
                self.take_work(event, &body);
                self.take_acts(event, &body);
                self.take_answers(event, &body);
            }
            Err(error) => tracing::debug!(%error, "an event has no part in a trace"),
        }
    }

    /// Tasks, steps and attempts.
    fn take_work(&mut self, event: &Event, body: &Body) {
        let at = event.occurred_at.0;
        match body {
            Body::TaskCreated(b) if b.task.task_id == self.task => {
                let said = vec![
                    ("hermit.task.id", Value::Id(Id::of(&self.task))),
                    ("hermit.task.origin", Value::Name(b.task.origin().as_str())),
                    ("hermit.task.profile", Value::Name(b.task.policy_profile_ref.as_str())),
                ];
                let task = self.task;
                self.open(&task, None, "task", at, said);
            }
            Body::TaskStatusChanged(b) if b.about_task_id == self.task && b.to.is_terminal() => {
                self.trace.status = Some(b.to);
                let said = vec![("hermit.task.status", Value::Name(b.to.as_str()))];
                self.close(&b.about_task_id, at, said, b.to == TaskStatus::Failed);
            }
            Body::StepCreated(b) => {
                let said = vec![
                    ("hermit.step.id", Value::Id(Id::of(&b.step.step_id))),
                    ("hermit.step.kind", Value::Name(b.step.kind.as_str())),
                ];
                self.open(&b.step.step_id, Some(Id::of(&self.task)), "step", at, said);
            }
            Body::StepStatusChanged(b) if b.to.is_terminal() => {
                let said = vec![("hermit.step.status", Value::Name(b.to.as_str()))];
                self.close(&b.about_step_id, at, said, b.to == words::task::StepStatus::Failed);
            }
            Body::AttemptCreated(b) => {
                let said = vec![
                    ("hermit.attempt.id", Value::Id(Id::of(&b.attempt.attempt_id))),
                    ("hermit.attempt.number", Value::Number(u64::from(b.attempt.attempt_no))),
                ];
                self.open(&b.attempt.attempt_id, Some(Id::of(&b.attempt.step_id)), "attempt", at, said);
            }
            Body::AttemptStatusChanged(b) if b.to.is_ended() => {
                let said = vec![("hermit.attempt.status", Value::Name(b.to.as_str()))];
                self.close(&b.about_attempt_id, at, said, b.to == words::task::AttemptStatus::Failed);
            }
            Body::RunTerminated(b) => {
                let said = vec![
                    ("hermit.attempt.reason", Value::Name(b.reason.as_str())),
                    ("hermit.attempt.iterations", Value::Number(u64::from(b.iterations))),
                ];
                self.say(&b.about_attempt_id, said);
            }
            _ => {}
        }
    }

    /// Actions.
    fn take_acts(&mut self, event: &Event, body: &Body) {
        let at = event.occurred_at.0;
        match body {
            Body::ActionRequested(b) => {
                self.classes.insert(b.action_request_id, b.action_class);
                let said = vec![
                    ("hermit.action.id", Value::Id(Id::of(&b.action_request_id))),
                    ("hermit.action.class", Value::Name(b.action_class.as_str())),
                ];
                self.open(&b.action_request_id, self.around(event), "action", at, said);
            }
            Body::PolicyEvaluated(b) => {
                let said = vec![
                    ("hermit.action.verdict", Value::Name(b.verdict.as_str())),
                    ("hermit.action.risk", Value::Name(b.risk_band.as_str())),
                ];
                self.say(&b.action_request_id, said);
            }
            Body::EffectObserved(b) => {
                let said = vec![
                    ("hermit.action.result", Value::Name(b.result_code.as_str())),
                    ("hermit.action.sandbox", Value::Name(b.sandbox_level.as_str())),
                    ("hermit.action.recovered", Value::Flag(b.recovered)),
                ];
                self.results.insert(b.action_request_id, b.result_code);
                self.close(&b.action_request_id, at, said, b.result_code == ResultCode::Failed);
            }
            Body::EffectUncertain(b) => {
                let unknown = ResultCode::UnknownOutcome;
                self.results.insert(b.action_request_id, unknown);
                let said = vec![("hermit.action.result", Value::Name(unknown.as_str()))];
                self.close(&b.action_request_id, at, said, true);
            }
            Body::OutcomeResolved(b) => {
                self.results.insert(b.action_request_id, b.result_code);
                let said = vec![("hermit.action.result", Value::Name(b.result_code.as_str()))];
                self.close(&b.action_request_id, at, said, b.result_code == ResultCode::Failed);
            }
            _ => {}
        }
    }

    /// What models were asked, and answered.
    fn take_answers(&mut self, event: &Event, body: &Body) {
        let at = event.occurred_at.0;
        match body {
            Body::ModelRequested(b) => {
                let said = vec![
                    ("hermit.model.iteration", Value::Number(u64::from(b.iteration))),
                    ("hermit.model.remote", Value::Flag(b.remote)),
                ];
                // One answer of an attempt is asked for at a time.
                self.answered(b.about_attempt_id, at, Vec::new(), true);
                self.open(&event.event_id, Some(Id::of(&b.about_attempt_id)), "model", at, said);
                if let Some(place) = self.known.remove(&Id::of(&event.event_id)) {
                    self.known.insert(asked(b.about_attempt_id), place);
                }
            }
            Body::ModelResponded(b) => {
                self.trace.tokens.0 = self.trace.tokens.0.saturating_add(b.tokens_in);
                self.trace.tokens.1 = self.trace.tokens.1.saturating_add(b.tokens_out);
                let said = vec![
                    ("hermit.model.tokens_in", Value::Number(b.tokens_in)),
                    ("hermit.model.tokens_out", Value::Number(b.tokens_out)),
                    ("hermit.model.cost_micros", Value::Number(b.cost_micros)),
                ];
                self.answered(b.about_attempt_id, at, said, false);
            }
            Body::ModelFailed(b) => {
                let said = vec![("hermit.model.retryable", Value::Flag(b.retryable))];
                self.answered(b.about_attempt_id, at, said, true);
            }
            _ => {}
        }
    }

    /// The nearest span that an event belongs to.
    fn around(&self, event: &Event) -> Option<Id> {
        let attempt = event.attempt_id.map(|id| Id::of(&id));
        let step = event.step_id.map(|id| Id::of(&id));
        let all = [attempt, step, Some(Id::of(&self.task))];
        all.into_iter().flatten().find(|id| self.known.contains_key(id))
    }

    fn open(
        &mut self,
        id: &impl Identifier,
        parent: Option<Id>,
        name: &'static str,
        start: i64,
        attributes: Vec<(&'static str, Value)>,
    ) {
        let id = Id::of(id);
        if self.known.contains_key(&id) {
            return;
        }
        if self.trace.spans.len() >= SPANS_MAX {
            self.left_out += 1;
            return;
        }
        self.known.insert(id.clone(), (self.trace.spans.len(), true));
        let parent = parent.map(|parent| parent.hex("span", 16));
        let (id, end, is_failed) = (id.hex("span", 16), start, false);
        self.trace.spans.push(Span { id, parent, name, start, end, attributes, is_failed });
    }

    fn say(&mut self, id: &impl Identifier, attributes: Vec<(&'static str, Value)>) {
        self.say_of(&Id::of(id), attributes);
    }

    fn say_of(&mut self, id: &Id, attributes: Vec<(&'static str, Value)>) -> Option<&mut Span> {
        let (at, _) = self.known.get(id)?;
        let span = self.trace.spans.get_mut(*at)?;
        for (key, value) in attributes {
            // What is said later is what holds.
            span.attributes.retain(|(known, _)| *known != key);
            span.attributes.push((key, value));
        }
        Some(span)
    }

    fn close(
        &mut self,
        id: &impl Identifier,
        end: i64,
        attributes: Vec<(&'static str, Value)>,
        is_failed: bool,
    ) {
        self.close_of(&Id::of(id), end, attributes, is_failed);
    }

    fn close_of(&mut self, id: &Id, end: i64, attributes: Vec<(&'static str, Value)>, is_failed: bool) {
        if let Some(span) = self.say_of(id, attributes) {
            (span.end, span.is_failed) = (end.max(span.start), is_failed);
        }
        if let Some((_, is_open)) = self.known.get_mut(id) {
            *is_open = false;
        }
    }

    /// What a model was asked last in an attempt is answered.
    fn answered(
        &mut self,
        attempt: AttemptId,
        at: i64,
        attributes: Vec<(&'static str, Value)>,
        is_failed: bool,
    ) {
        let id = asked(attempt);
        if self.known.contains_key(&id) {
            self.close_of(&id, at, attributes, is_failed);
            self.known.remove(&id);
        }
    }

    /// The trace. What is still open ended with its task.
    pub(super) fn end(mut self) -> Trace {
        let open: Vec<usize> = self.known.values().filter(|(_, open)| *open).map(|(at, _)| *at).collect();
        for at in open {
            if let Some(span) = self.trace.spans.get_mut(at) {
                span.end = self.last.max(span.start);
            }
        }
        for (action, result) in &self.results {
            if let Some(class) = self.classes.get(action) {
                *self.trace.actions.entry((*class, *result)).or_default() += 1;
            }
        }
        if self.left_out > 0
            && let Some(task) = self.trace.spans.first_mut()
        {
            task.attributes.push(("hermit.spans.left_out", Value::Number(self.left_out)));
        }
        self.trace
    }
}

/// What an attempt asks a model now is known by this.
fn asked(attempt: AttemptId) -> Id {
    Id(format!("asked {attempt}"))
}
