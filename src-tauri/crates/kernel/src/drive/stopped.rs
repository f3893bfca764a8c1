//! Why a run stopped, in one sentence, and what a person can do next: never a code alone.

use crate::state::{AttemptState, RefusedBy, TaskState, Turn};
use model::approval::ApprovalStatus;
use model::attempt::TerminationReason;
use model::ingress::ClarificationStatus;
use model::lasting;
use model::task::ModelChoice;
use std::time::Duration;

/// Characters of what an act, or an error, says in a sentence.
const QUOTED_CHARS_MAX: usize = 240;

/// Why this run stops for that reason.
pub(crate) fn stopped(state: &TaskState, reason: TerminationReason, choice: &ModelChoice) -> String {
    let Some(attempt) = state.attempt() else { return format!("Stopped: {}.", reason.as_str()) };
    let run = &attempt.loop_state;
    let model = matches!(choice, ModelChoice::Openai { .. });
    match reason {
        TerminationReason::Done => "Done.".to_owned(),
        TerminationReason::Cancelled => "Stopped: a person cancelled it.".to_owned(),
        TerminationReason::RepeatedToolFailure => failed(attempt, run.failures_in_a_row),
        TerminationReason::FatalToolError => {
            format!("Stopped: {}. Look at what it says, and run it again.", last_error(attempt))
        }
        TerminationReason::MaxIterations => format!(
            "Stopped after {} turns, the most that this task may take. What was done stays. Run it again with \
             `--iterations {}`, or give it a smaller goal.",
            run.iteration,
            model::limits::ITERATIONS_MAX
        ),
        TerminationReason::NoProgress => format!(
            "Stopped: {} turns in a row brought nothing new. Say in the goal which files it is about, or choose a \
             larger model.",
            run.no_progress_in_a_row
        ),
        TerminationReason::MalformedOutput => format!(
            "Stopped: {} answers of the model in a row could not be used, the last because {}. Choose a larger model\
             {}.",
            run.malformed_in_a_row,
            last_error(attempt),
            if model { ", or set how it is asked with `hermit models set`" } else { "" }
        ),
        TerminationReason::ModelUnavailable => {
            "Stopped: the model gave no answer that could be used. `hermit task events` tells what its server said; \
             start the server or choose another model, and run it again."
                .to_owned()
        }
        TerminationReason::BudgetSpent => format!(
            "Stopped: its budget is spent, with {} tokens, ${:.2} and {} of work, and the next turn would not fit in what \
             is left. Run it again with more `--tokens` or `--cost`, or with a smaller goal.",
            state.tokens_spent,
            state.cost_spent as f64 / 1e6,
            lasting(Duration::from_secs((state.wall_ms / 1000).max(0).unsigned_abs()))
        ),
        TerminationReason::ApprovalDenied => {
            format!("Stopped: {}.", denied(attempt, "you denied what it proposed, and it found no other way"))
        }
        TerminationReason::Expired if state.task.deadline_at.is_some() && !was_unanswered(state, attempt) => {
            "Stopped: its time was up. What was done stays, each act with its receipt.".to_owned()
        }
        TerminationReason::Expired => {
            "Stopped: its time ran out before anybody answered. Run it again when you can answer.".to_owned()
        }
        TerminationReason::UnknownOutcome => {
            "Stopped: nobody knows whether its last act happened. Look, and settle it with `hermit resolve`.".to_owned()
        }
        TerminationReason::CriteriaUnmet => unmet(&last_error(attempt)),
        TerminationReason::GateHalted => {
            "Stopped: Hermit was halted. Let it work again with `hermit boot`, and run it again.".to_owned()
        }
    }
}

/// Whether what the attempt asked a person last lapsed without an answer.
fn was_unanswered(state: &TaskState, attempt: &AttemptState) -> bool {
    match &attempt.turn {
        Turn::Acting { act, .. } => {
            let asked = act.authority.approval.and_then(|id| state.approvals.get(&id));
            asked.is_some_and(|record| record.approval.status == ApprovalStatus::Expired)
        }
        Turn::Questioned(id) => {
            let asked = state.clarifications.get(id);
            asked.is_some_and(|question| question.status == ClarificationStatus::Expired)
        }
        _ => false,
    }
}

/// What failed again and again: policy, a person, or the act itself.
fn failed(attempt: &AttemptState, times: u32) -> String {
    // Where no act is known, it says how often alone.
    let last = attempt.turn.latest_act().map(|act| format!(", the last `{}`", quoted(&act.summary)));
    let last = last.unwrap_or_default();
    let why = last_error(attempt);
    if attempt.refused_by == Some(RefusedBy::Person) {
        return format!(
            "Stopped: {}.",
            denied(attempt, &format!("you denied {times} proposals in a row{last}"))
        );
    }
    if attempt.refused_by == Some(RefusedBy::Policy) {
        return format!(
            "Stopped: policy denied {times} proposals in a row{last}: {why}. Run it again with a profile \
             that permits it (`hermit policy profiles`), or override this once with `hermit policy override`."
        );
    }
    format!(
        "Stopped: {times} acts in a row failed{last}: {why}. Put that right, or say in the goal how to do it \
         otherwise, and run it again."
    )
}

fn denied(attempt: &AttemptState, what: &str) -> String {
    let changed = attempt.turns.iter().any(|(_, turn)| turn.starts_with("change:") && !turn.contains(" -> "));
    let left = if changed { "What was done before stays" } else { "Nothing was changed" };
    format!("{what}. {left}. To go on, say what you want instead, and run it again")
}

fn last_error(attempt: &AttemptState) -> String {
    let said = attempt.loop_state.last_error.as_deref().unwrap_or("no reason is on record");
    quoted(said.trim_end_matches('.'))
}

/// What must hold at the end does not.
pub(crate) fn unmet(unmet: &str) -> String {
    format!(
        "Stopped: it said that it was done, and what must hold at its end does not: {unmet}. What was done stays."
    )
}

/// One line, no longer than a sentence bears.
fn quoted(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect();
    match line.char_indices().nth(QUOTED_CHARS_MAX) {
        None => line,
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
    }
}

/// A reason in a few words, for the attempt that comes after it.
pub(crate) const fn in_words(reason: TerminationReason) -> &'static str {
    match reason {
        TerminationReason::Done => "done",
        TerminationReason::MaxIterations => "the most turns allowed were used",
        TerminationReason::NoProgress => "several turns in a row brought nothing new",
        TerminationReason::RepeatedToolFailure => "several actions in a row failed",
        TerminationReason::FatalToolError => "a tool failed beyond repair",
        TerminationReason::MalformedOutput => "the model's answers stayed malformed",
        TerminationReason::ModelUnavailable => "the model gave no usable answer",
        TerminationReason::BudgetSpent => "the budget is spent",
        TerminationReason::Cancelled => "a person cancelled it",
        TerminationReason::ApprovalDenied => "a person denied it, and there was no other way",
        TerminationReason::Expired => "its time ran out",
        TerminationReason::UnknownOutcome => "the outcome of an effect is not known",
        TerminationReason::GateHalted => "Hermit was halted",
        TerminationReason::CriteriaUnmet => "what had to hold at its end did not",
    }
}
