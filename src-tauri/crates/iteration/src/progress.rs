//! What a run has come to, folded from its recorded turns (RX-5, RX-7, RX-9, RX-10).

use crate::tools::Proposal;
use model::attempt::{IterationRecord, TerminationReason};
use model::{ArtifactId, Body, Digest, EventId, limits};
use serde::{Deserialize, Serialize};

/// The loop's whole memory (RX-7-1). Every change of it takes the state and gives the next.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LoopState {
    /// The goal.
    pub goal: String,
    /// Turns completed.
    pub iteration: u32,
    /// Turns allowed, at most [`limits::ITERATIONS_MAX`].
    pub iterations_max: u32,
    /// The last event folded in: where the history goes on.
    pub history_ref: Option<EventId>,
    /// What the last tool gave back.
    pub last_tool_result: Option<ArtifactId>,
    /// What went wrong last, for the next prompt (RX-9-2); none after a turn that went well.
    pub last_error: Option<String>,
    /// Malformed answers since the last turn.
    pub malformed_in_a_row: u32,
    /// Turns in a row whose tool failed.
    pub failures_in_a_row: u32,
    /// Turns in a row that gave nothing new.
    pub no_progress_in_a_row: u32,
    /// Marks of all turns so far, for judging progress; bounded by the turns allowed.
    pub seen_marks: Vec<Digest>,
    /// Whether somebody outside leads it: no count of turns, failures or repetitions ends it.
    #[serde(default)]
    pub is_led: bool,
    /// Why the run has ended, once it has.
    pub termination: Option<TerminationReason>,
}

impl LoopState {
    /// A run that has not begun. No budget lifts the cap of [`limits::ITERATIONS_MAX`] (RX-6-6).
    pub fn new(goal: &str, iterations_max: u32) -> Self {
        let iterations_max = iterations_max.min(limits::ITERATIONS_MAX);
        let termination = (iterations_max == 0).then_some(TerminationReason::MaxIterations);
        Self { goal: goal.to_owned(), iterations_max, termination, ..Self::default() }
    }

    /// A run that somebody outside leads, call by call.
    pub fn led(goal: &str) -> Self {
        Self { goal: goal.to_owned(), iterations_max: u32::MAX, is_led: true, ..Self::default() }
    }

    /// The state behind an event of this run; events of other kinds change nothing but where the history stands.
    #[must_use]
    pub fn fold(mut self, event_id: EventId, body: &Body) -> Self {
        self.history_ref = Some(event_id);
        match body {
            Body::IterationCompleted(b) => self.after_iteration(&b.record),
            Body::ModelOutputRejected(b) => {
                self.after_malformed(b.reason.shown().map_or(ERASED, String::as_str))
            }
            Body::RunTerminated(b) => self.end(b.reason),
            _ => self,
        }
    }

    /// The state after a completed turn. A run that has ended does not change.
    #[must_use]
    pub fn after_iteration(mut self, record: &IterationRecord) -> Self {
        if self.termination.is_some() {
            return self;
        }
        let failed = record.error.is_some();
        let seen = self.seen_marks.contains(&record.progress_mark);
        if !seen && !self.is_led {
            self.seen_marks.push(record.progress_mark);
        }
        self.iteration = self.iteration.saturating_add(1);
        self.malformed_in_a_row = 0;
        self.failures_in_a_row = if failed { self.failures_in_a_row.saturating_add(1) } else { 0 };
        self.no_progress_in_a_row = if seen { self.no_progress_in_a_row.saturating_add(1) } else { 0 };
        self.last_tool_result = record.tool_output.or(self.last_tool_result);
        self.last_error = record.error.as_ref().map(|e| e.shown().map_or(ERASED, String::as_str).to_owned());
        self.termination = self.judged(record.tool_invocation.as_deref() == Some("done") && !failed);
        self
    }

    /// The state after an answer that could not be used. It is asked for again, a bounded number of times (RX-8-3).
    #[must_use]
    pub fn after_malformed(mut self, reason: &str) -> Self {
        if self.termination.is_none() {
            self.malformed_in_a_row = self.malformed_in_a_row.saturating_add(1);
            self.last_error = Some(reason.to_owned());
            self.termination = self.judged(false);
        }
        self
    }

    /// Ends the run for a reason from outside the loop: cancelled, fatal, budget, model, gate. The first reason stays.
    #[must_use]
    pub fn end(mut self, reason: TerminationReason) -> Self {
        self.termination = self.termination.or(Some(reason));
        self
    }

    /// The number of the turn that comes next, from 1; `None` when the run has ended.
    pub const fn next_iteration(&self) -> Option<u32> {
        if self.termination.is_some() { None } else { Some(self.iteration + 1) }
    }

    /// One line for people and for `IterationRecord::state_summary`.
    pub fn summary(&self) -> String {
        let end = self.termination.map_or("going on", TerminationReason::as_str);
        let Self { iteration, iterations_max, failures_in_a_row: failed, no_progress_in_a_row: idle, .. } =
            self;
        let malformed = self.malformed_in_a_row;
        if self.is_led {
            return format!("call {iteration}: {end}");
        }
        format!(
            "turn {iteration} of {iterations_max}, in a row {failed} failed, {idle} idle, {malformed} malformed: {end}"
        )
    }

    /// A limit is how many are borne; one more ends the run. The turns allowed are all used before the cap ends it.
    fn judged(&self, done: bool) -> Option<TerminationReason> {
        if self.is_led {
            return done.then_some(TerminationReason::Done);
        }
        let ends = [
            (done, TerminationReason::Done),
            (self.malformed_in_a_row > limits::MALFORMED_MAX, TerminationReason::MalformedOutput),
            (self.failures_in_a_row > limits::TOOL_FAILURES_MAX, TerminationReason::RepeatedToolFailure),
            (self.no_progress_in_a_row > limits::NO_PROGRESS_MAX, TerminationReason::NoProgress),
            (self.iteration >= self.iterations_max, TerminationReason::MaxIterations),
        ];
        ends.into_iter().find_map(|(ends, reason)| ends.then_some(reason))
    }
}

/// Stands for words whose disclosure was erased.
const ERASED: &str = "erased";

/// The mark by which progress is judged: the same proposals with the same outputs are nothing new.
///
/// `outputs` are digests of what came back, in order, of bytes without times or identifiers.
pub fn progress_mark(proposals: &[Proposal], outputs: &[Digest]) -> Digest {
    // Neither a proposal nor a digest can fail to serialise; were it so, the turn would count as nothing new.
    Digest::of(&serde_json::to_vec(&(proposals, outputs)).unwrap_or_default())
}
