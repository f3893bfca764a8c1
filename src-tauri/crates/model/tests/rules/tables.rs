//! Every pair of every transition table, written out again by hand (HK-12).

use model::attempt::AttemptStatus;
use model::task::{StepStatus, TaskStatus};
use model::transition;

#[conforms::conforms("HK-12.1-1", "HK-12.1-2", "HK-8.1.1-2")]
#[test]
fn a_task_moves_exactly_as_the_document_says() {
    use TaskStatus::*;
    let legal = |from: TaskStatus| -> &[TaskStatus] {
        match from {
            Created => &[Ready],
            Ready => &[Running, Cancelled],
            Running => &[Blocked, Paused, Completed, Failed, Cancelled],
            Blocked => &[Running, Cancelled],
            Paused => &[Ready, Cancelled],
            Completed | Failed => &[RolledBack],
            Cancelled | RolledBack => &[],
        }
    };
    for &from in TaskStatus::ALL {
        for &to in TaskStatus::ALL {
            let allowed = legal(from).contains(&to);
            let answer = transition::task(from, to);
            assert_eq!(answer.is_ok(), allowed, "{from} to {to}");
            if let Err(refusal) = answer {
                assert_eq!(refusal.to_string(), format!("a task that is {from} cannot become {to}"));
            }
        }
        assert_eq!(from.is_terminal(), matches!(from, Completed | Failed | Cancelled | RolledBack));
        if from.is_terminal() {
            assert!(legal(from).iter().all(|to| *to == RolledBack), "{from} is never reopened");
        }
    }
}

#[conforms::conforms("HK-12.2-1")]
#[test]
fn a_step_moves_exactly_as_its_table_says() {
    use StepStatus::*;
    let legal = |from: StepStatus| -> &[StepStatus] {
        match from {
            Planned => &[Ready, Cancelled, Superseded],
            Ready => &[Running, Cancelled, Superseded],
            Running => &[Ready, Blocked, Succeeded, Failed, Cancelled, Superseded],
            Blocked => &[Running, Cancelled, Superseded],
            // A person may ask for one more attempt.
            Failed => &[Ready],
            Succeeded | Cancelled | Superseded => &[],
        }
    };
    for &from in StepStatus::ALL {
        for &to in StepStatus::ALL {
            assert_eq!(transition::step(from, to).is_ok(), legal(from).contains(&to), "{from} to {to}");
        }
    }
}

#[conforms::conforms("HK-12.3-1")]
#[test]
fn an_attempt_moves_exactly_as_its_table_says() {
    use AttemptStatus::*;
    let legal = |from: AttemptStatus| -> &[AttemptStatus] {
        match from {
            Created => &[Leased, Failed, Cancelled, Superseded],
            Leased => &[CompilingContext, Failed, Cancelled, Superseded],
            CompilingContext => &[Reasoning, Failed, Cancelled, Superseded],
            Reasoning => {
                &[CompilingContext, AwaitingPolicy, AwaitingInput, Succeeded, Failed, Cancelled, Superseded]
            }
            AwaitingPolicy => {
                &[Authorized, AwaitingApproval, CompilingContext, Failed, Cancelled, Superseded]
            }
            AwaitingApproval => {
                &[Authorized, AwaitingPolicy, CompilingContext, Failed, Cancelled, Superseded]
            }
            AwaitingInput => &[CompilingContext, Failed, Cancelled, Superseded],
            Authorized => &[Executing, AwaitingPolicy, Failed, Cancelled, Superseded],
            Executing => &[Observing],
            Observing => &[ReceiptPending, CompilingContext, Failed],
            ReceiptPending => &[Observing, CompilingContext, Succeeded, Failed, Cancelled, Superseded],
            Succeeded | Failed | Cancelled | Superseded => &[],
        }
    };
    for &from in AttemptStatus::ALL {
        for &to in AttemptStatus::ALL {
            assert_eq!(transition::attempt(from, to).is_ok(), legal(from).contains(&to), "{from} to {to}");
        }
        assert_eq!(from.is_ended(), legal(from).is_empty(), "{from}");
    }
}

#[test]
fn an_effect_that_may_have_begun_is_observed_before_anything_else() {
    let exits: Vec<_> =
        transition::ATTEMPT.iter().filter(|(from, _)| *from == AttemptStatus::Executing).collect();
    assert_eq!(exits, [&(AttemptStatus::Executing, AttemptStatus::Observing)]);
}

/// Every state can be reached from the first, and no table names a pair twice.
fn sound<T: Copy + PartialEq + std::fmt::Debug>(table: &[(T, T)], all: &[T], first: T) {
    for (at, pair) in table.iter().enumerate() {
        assert!(!table[at + 1..].contains(pair), "{pair:?} comes twice");
        assert!(pair.0 != pair.1, "{pair:?} goes nowhere");
    }
    let mut reached = vec![first];
    let mut at = 0;
    while at < reached.len() {
        let next: Vec<T> = table.iter().filter(|(from, _)| *from == reached[at]).map(|(_, to)| *to).collect();
        for to in next {
            if !reached.contains(&to) {
                reached.push(to);
            }
        }
        at += 1;
    }
    assert!(all.iter().all(|state| reached.contains(state)), "only {reached:?} can be reached");
}

#[test]
fn every_state_can_be_reached() {
    sound(transition::TASK, TaskStatus::ALL, TaskStatus::Created);
    sound(transition::STEP, StepStatus::ALL, StepStatus::Planned);
    sound(transition::ATTEMPT, AttemptStatus::ALL, AttemptStatus::Created);
}
