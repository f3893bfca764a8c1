//! Runs: counting, judging, ending, going on after a crash.

use iteration::{LoopState, progress_mark};
use model::attempt::{IterationRecord, TerminationReason};
use model::body::{IterationCompleted, ModelOutputRejected, RunTerminated};
use model::{ArtifactId, AttemptId, Body, Digest, EventId, Sensitive, limits};
use proptest::prelude::*;

fn artifact(n: u128) -> ArtifactId {
    format!("art_{n:032x}").parse().expect("an identifier")
}

fn event(n: u128) -> EventId {
    format!("evt_{n:032x}").parse().expect("an identifier")
}

fn attempt() -> AttemptId {
    format!("att_{:032x}", 1).parse().expect("an identifier")
}

fn turn(n: u32, mark: u8, tool: Option<&str>, error: Option<&str>) -> IterationRecord {
    IterationRecord {
        step_number: n,
        model_decision: Sensitive::Shown("look".to_owned()),
        tool_invocation: tool.map(str::to_owned),
        tool_input: Some(artifact(1)),
        tool_output: Some(artifact(u128::from(n))),
        error: error.map(|e| Sensitive::Shown(e.to_owned())),
        state_summary: Sensitive::Shown("going on".to_owned()),
        progress_mark: Digest::of(&[mark]),
    }
}

fn completed(record: IterationRecord) -> Body {
    IterationCompleted { about_attempt_id: attempt(), record }.into()
}

fn rejected() -> Body {
    let reason = Sensitive::Shown("no such tool".to_owned());
    ModelOutputRejected { about_attempt_id: attempt(), iteration: 1, in_a_row: 1, reason }.into()
}

fn run(turns: impl IntoIterator<Item = IterationRecord>) -> LoopState {
    turns.into_iter().fold(LoopState::new("tidy up", 24), |state, record| state.after_iteration(&record))
}

#[conforms::conforms("RX-7-1", "RX-1-1", "RX-1-2")]
#[test]
fn the_state_keeps_goal_count_history_last_result_and_termination() {
    let state = LoopState::new("tidy up", 24).fold(event(7), &completed(turn(1, 1, Some("observe"), None)));
    assert_eq!(state.goal, "tidy up");
    assert_eq!(state.iteration, 1);
    assert_eq!(state.history_ref, Some(event(7)));
    assert_eq!(state.last_tool_result, Some(artifact(1)));
    assert_eq!(state.termination, None);
    assert_eq!(state.next_iteration(), Some(2));
}

#[conforms::conforms("RX-4-1")]
#[test]
fn a_turn_is_recorded_with_the_seven_parts_of_the_document() {
    let value = serde_json::to_value(turn(3, 1, Some("change"), Some("no"))).expect("it serialises");
    for name in [
        "step_number",
        "model_decision",
        "tool_invocation",
        "tool_input",
        "tool_output",
        "error",
        "state_summary",
    ] {
        assert!(value.get(name).is_some_and(|v| !v.is_null()), "`{name}`");
    }
}

#[conforms::conforms("RX-5-1", "RX-1-6")]
#[test]
fn done_ends_the_run_unless_it_was_refused() {
    assert_eq!(run([turn(1, 1, Some("done"), None)]).termination, Some(TerminationReason::Done));
    let refused = run([turn(1, 1, Some("done"), Some("a receipt is pending"))]);
    assert_eq!(refused.termination, None, "a refused `done` is a failure like another");
    assert_eq!(refused.failures_in_a_row, 1);
}

#[conforms::conforms("RX-5-2", "RX-6-1", "RX-6-6")]
#[test]
fn the_cap_ends_the_run_whatever_the_budget_or_the_model_says() {
    let long = |n: u32| {
        (1..=n).map(|i| IterationRecord {
            progress_mark: Digest::of(&i.to_be_bytes()),
            ..turn(i, 0, Some("observe"), None)
        })
    };
    let state = long(24).fold(LoopState::new("g", 24), |s, r| s.after_iteration(&r));
    assert_eq!((state.iteration, state.termination), (24, Some(TerminationReason::MaxIterations)));
    let before = long(23).fold(LoopState::new("g", 24), |s, r| s.after_iteration(&r));
    assert_eq!(before.termination, None);
    let greedy = long(1_000).fold(LoopState::new("g", u32::MAX), |s, r| s.after_iteration(&r));
    assert_eq!(greedy.iteration, limits::ITERATIONS_MAX);
    assert_eq!(LoopState::new("g", 0).next_iteration(), None);
}

#[conforms::conforms("RX-5-4", "RX-6-2")]
#[test]
fn turns_that_give_nothing_new_end_the_run_also_when_they_alternate() {
    let alternating = (1..=20).map(|n| turn(n, (n % 2) as u8, Some("observe"), None));
    let state = run(alternating);
    assert_eq!(state.termination, Some(TerminationReason::NoProgress));
    assert_eq!(
        state.iteration,
        2 + limits::NO_PROGRESS_MAX + 1,
        "two new turns, then as many as are borne, and one"
    );
    let same = run((1..=3).map(|n| turn(n, 1, Some("observe"), None)));
    assert_eq!((same.termination, same.no_progress_in_a_row), (None, 2));
    assert_eq!(same.after_iteration(&turn(4, 9, Some("observe"), None)).no_progress_in_a_row, 0);
}

#[conforms::conforms("RX-6-3", "RX-9-3", "RX-9-4", "RX-9-5")]
#[test]
fn failures_are_handed_back_and_borne_a_bounded_number_of_times() {
    let failing = |n| turn(n, n as u8, Some("change"), Some("permission denied"));
    let state = run((1..=limits::TOOL_FAILURES_MAX).map(failing));
    assert_eq!(state.termination, None, "the model may try again or try something else");
    assert_eq!(state.last_error.as_deref(), Some("permission denied"));
    let better = state.clone().after_iteration(&turn(4, 99, Some("observe"), None));
    assert_eq!((better.failures_in_a_row, better.last_error), (0, None));
    let ended = state.after_iteration(&failing(limits::TOOL_FAILURES_MAX + 1));
    assert_eq!(ended.termination, Some(TerminationReason::RepeatedToolFailure));
}

#[conforms::conforms(part = "RX-8-3")]
#[test]
fn malformed_answers_are_asked_for_again_a_bounded_number_of_times() {
    let mut state = LoopState::new("g", 24);
    for n in 1..=limits::MALFORMED_MAX {
        state = state.after_malformed("no such tool");
        assert_eq!((state.malformed_in_a_row, state.next_iteration()), (n, Some(1)), "still the same turn");
    }
    assert_eq!(state.last_error.as_deref(), Some("no such tool"), "the model is told");
    let recovered = state.clone().after_iteration(&turn(1, 1, Some("observe"), None));
    assert_eq!(recovered.malformed_in_a_row, 0);
    assert_eq!(state.after_malformed("again").termination, Some(TerminationReason::MalformedOutput));
}

#[conforms::conforms("RX-5-3", "RX-5-5")]
#[test]
fn a_fatal_error_or_a_cancellation_ends_the_run_at_once_and_the_first_reason_stays() {
    for reason in TerminationReason::ALL {
        let ended = LoopState::new("g", 24).end(*reason);
        assert_eq!((ended.termination, ended.next_iteration()), (Some(*reason), None));
        let later =
            ended.clone().end(TerminationReason::Done).after_iteration(&turn(1, 1, Some("observe"), None));
        assert_eq!(later.after_malformed("x"), ended);
    }
}

#[test]
fn the_mark_depends_on_what_was_asked_and_what_came_back_and_on_their_order() {
    let ask = |path: &str| crate::one("read", serde_json::json!({ "path": path })).expect("well formed");
    let (a, b) = (ask("a"), ask("b"));
    let (x, y) = (Digest::of(b"x"), Digest::of(b"y"));
    let mark = progress_mark(std::slice::from_ref(&a), &[x]);
    assert_eq!(mark, progress_mark(std::slice::from_ref(&a), &[x]));
    let others = [
        progress_mark(std::slice::from_ref(&b), &[x]),
        progress_mark(std::slice::from_ref(&a), &[y]),
        progress_mark(std::slice::from_ref(&a), &[]),
        progress_mark(&[a.clone(), b.clone()], &[x]),
        progress_mark(&[b, a], &[x]),
        progress_mark(&[], &[x]),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(*other, mark);
        assert!(!others[at + 1..].contains(other));
    }
}

fn a_body() -> impl Strategy<Value = Body> {
    let tool = prop_oneof![8 => Just("observe"), 1 => Just("done")];
    let error = prop_oneof![3 => Just(None), 1 => Just(Some("broken"))];
    prop_oneof![
        8 => (1..99_u32, any::<u8>(), tool, error).prop_map(|(n, m, t, e)| completed(turn(n, m, Some(t), e))),
        2 => Just(rejected()),
        1 => Just(RunTerminated {
            about_attempt_id: attempt(), reason: TerminationReason::Cancelled, iterations: 1,
            summary: Sensitive::Shown("stopped".to_owned()), answer: None, helped: None, contradicted: None,
        }.into()),
    ]
}

fn folded(state: LoopState, bodies: &[Body], from: usize) -> LoopState {
    bodies.iter().enumerate().fold(state, |s, (at, body)| s.fold(event((from + at) as u128 + 1), body))
}

#[conforms::conforms(part = "RX-10-1", "RX-10-2", "RX-10-3", part = "RX-10-4", "RX-6-2")]
#[test]
fn a_run_is_rebuilt_from_its_events_and_goes_on_where_it_stopped() {
    proptest!(|(bodies in proptest::collection::vec(a_body(), 0..40), cut in 0..40_usize)| {
        let cut = cut.min(bodies.len());
        let whole = folded(LoopState::new("g", 24), &bodies, 0);
        prop_assert_eq!(&folded(LoopState::new("g", 24), &bodies, 0), &whole, "the same events, the same state");
        let half = folded(LoopState::new("g", 24), &bodies[..cut], 0);
        let stored = serde_json::to_vec(&half).expect("it serialises");
        let read: LoopState = serde_json::from_slice(&stored).expect("it reads back");
        prop_assert_eq!(&read, &half);
        prop_assert_eq!(folded(read, &bodies[cut..], cut), whole.clone(), "resumed and whole are one");
        prop_assert!(whole.iteration <= 24 && whole.seen_marks.len() <= 24);
        prop_assert!(!whole.summary().is_empty());
    });
}

#[test]
fn words_that_were_erased_do_not_change_the_count() {
    let mut record = turn(1, 1, Some("change"), None);
    record.error = Some(Sensitive::Erased(Digest::ZERO));
    let state = LoopState::new("g", 24).after_iteration(&record);
    assert_eq!((state.failures_in_a_row, state.last_error.as_deref()), (1, Some("erased")));
}
