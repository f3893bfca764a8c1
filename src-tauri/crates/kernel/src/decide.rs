//! What the driver decides, as pure functions of what is in the log and what was observed: nothing here locks, reads,
//! writes or asks anybody. What is decided is carried out by [`crate::drive`].

use effects::Settled;
use model::artifact::{ArtifactRef, EvidenceRef, Selector, TrustTier};
use model::attempt::{AttemptStatus, TerminationReason};
use model::policy::Verdict;
use model::receipt::{ItemOutcome, ResultCode};
use model::task::{Budget, Limit, StepStatus, TaskStatus};
use model::{Digest, UnixMs};

/// What a model call would cost, and what was spent before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spending {
    /// Tokens spent and to be reserved; zero where tokens cost nothing.
    pub(crate) tokens: u64,
    /// What they cost, in micro-units; zero where they cost nothing, or nobody knows.
    pub(crate) cost_micros: u64,
    /// Milliseconds spent.
    pub(crate) wall_ms: i64,
    /// Turns taken; none where nobody can know how many there will be.
    pub(crate) iterations: Option<u32>,
}

/// An artifact that a decision cites, whole (HK-14.4-3): records of the kernel's own, as it observed them.
pub(crate) fn cited(artifact: &ArtifactRef) -> EvidenceRef {
    EvidenceRef {
        artifact_id: artifact.artifact_id,
        selector: Selector::Whole,
        excerpt_hash: artifact.sha256,
        capture_method: "recorded before it was decided".to_owned(),
        confidence: 1000,
        trust_tier: TrustTier::Observed,
    }
}

/// Why a model is not asked any more, when its budget forbids it.
pub(crate) fn overspent(budget: &Budget, spending: Spending) -> Option<TerminationReason> {
    limit_met(budget, spending).map(at_limit)
}

/// The limit that its budget sets to the next call, when it does.
pub(crate) fn limit_met(budget: &Budget, spending: Spending) -> Option<Limit> {
    let turns = spending.iterations.unwrap_or_default();
    let met = [
        (Limit::Tokens, spending.tokens > budget.tokens_max),
        (Limit::Cost, spending.cost_micros > budget.cost_micros_max),
        (Limit::Time, spending.wall_ms > budget.wall_ms_max),
        (Limit::Turns, turns >= budget.iterations_max && spending.iterations.is_some()),
    ];
    met.into_iter().find_map(|(limit, is_met)| is_met.then_some(limit))
}

/// Why a run ends at a limit that nobody raises.
pub(crate) const fn at_limit(limit: Limit) -> TerminationReason {
    match limit {
        Limit::Tokens | Limit::Cost | Limit::Time => TerminationReason::BudgetSpent,
        Limit::Turns => TerminationReason::MaxIterations,
    }
}

/// Whether a command is run in a staged view to see what it does, by what policy says of its words: what it denies is
/// never run, not even in a view.
pub(crate) fn may_be_tried(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Allow | Verdict::RequireApproval)
}

/// What becomes of an act that only a person can allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// A person is asked.
    Person,
    /// It is refused: a person has denied exactly this.
    DeniedBefore,
    /// Nobody is asked while so many questions of the task are open.
    TooMany,
}

/// Whether a person is asked, by whether they have denied exactly this and how many questions of the task are open.
pub(crate) const fn asking(denied_before: bool, open: usize) -> Asking {
    if denied_before {
        Asking::DeniedBefore
    } else if open >= model::limits::OPEN_APPROVALS_MAX {
        Asking::TooMany
    } else {
        Asking::Person
    }
}

/// What a person's yes rests on, as it is now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Basis {
    /// Until when the approval may be used.
    pub(crate) approval_ends: Option<UnixMs>,
    /// Whether the override of policy that it rests on still holds, when there is one.
    pub(crate) override_holds: Option<bool>,
    /// The policy set by which it was judged, and the one in force.
    pub(crate) policy_sets: (Digest, Digest),
}

/// Why a yes does not count any more and policy is asked again, when it does not (HK-19.6-1).
pub(crate) fn lapsed(basis: Basis, now: UnixMs) -> Option<&'static str> {
    if basis.approval_ends.is_some_and(|ends| now > ends) {
        return Some("the approval ran out before it was used");
    }
    if basis.override_holds == Some(false) {
        return Some("the override of policy does not hold any more");
    }
    let (judged_by, in_force) = basis.policy_sets;
    (judged_by != in_force).then_some("the policy set has changed")
}

/// What becomes of an act that was dispatched and whose end nobody wrote down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settling {
    /// Nobody can tell: a person settles it.
    Unknown,
    /// What was certainly not done is completed under the same grant.
    RollForward,
    /// What is there is its outcome.
    Conclude(ResultCode),
}

/// What becomes of an interrupted act, by what was found of it. `grant_holds`: it may still be used.
pub(crate) fn settling(settled: &Settled, is_staged: bool, grant_holds: bool) -> Settling {
    let open = settled.items.iter().any(|(_, outcome)| *outcome == ItemOutcome::NotDone);
    // What may be repeated may have happened as well, and what only looks has changed nothing either way.
    if !settled.is_certain() || (settled.repeats && !grant_holds && !settled.only_looks) {
        Settling::Unknown
    } else if (open || is_staged || settled.repeats) && grant_holds {
        Settling::RollForward
    } else {
        Settling::Conclude(certain_code(settled))
    }
}

/// What a certain finding amounts to.
fn certain_code(settled: &Settled) -> ResultCode {
    use effects::TranscriptState as Transcript;
    if let Some(transcript) = &settled.transcript {
        return match (transcript.state, transcript.exit_code) {
            (Transcript::Exited, Some(0)) => ResultCode::Succeeded,
            (Transcript::Running | Transcript::Unknown, _) => ResultCode::UnknownOutcome,
            _ => ResultCode::Failed,
        };
    }
    let done = settled.items.iter().filter(|(_, outcome)| *outcome == ItemOutcome::Done).count();
    match (done, settled.items.len()) {
        (done, all) if done == all && all > 0 => ResultCode::Succeeded,
        (0, _) => ResultCode::Failed,
        _ => ResultCode::Partial,
    }
}

/// How attempt, step and task end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) attempt: AttemptStatus,
    pub(crate) step: StepStatus,
    pub(crate) task: TaskStatus,
}

/// How a loop that ended for this reason ends what it was for (reconciliation T2).
pub(crate) const fn ending(reason: TerminationReason) -> Ending {
    match reason {
        TerminationReason::Done => Ending {
            attempt: AttemptStatus::Succeeded,
            step: StepStatus::Succeeded,
            task: TaskStatus::Completed,
        },
        TerminationReason::Cancelled => Ending {
            attempt: AttemptStatus::Cancelled,
            step: StepStatus::Cancelled,
            task: TaskStatus::Cancelled,
        },
        _ => Ending { attempt: AttemptStatus::Failed, step: StepStatus::Failed, task: TaskStatus::Failed },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use model::action::{ChangeItem, Prior};

    fn budget() -> Budget {
        Budget { tokens_max: 100, wall_ms_max: 1_000, iterations_max: 5, cost_micros_max: 7 }
    }

    #[test]
    fn a_model_is_asked_up_to_each_limit_and_not_beyond_it() {
        let ask = |tokens, cost_micros, wall_ms, iterations| {
            overspent(&budget(), Spending { tokens, cost_micros, wall_ms, iterations })
        };
        for (tokens, cost, wall_ms, iterations, expected) in [
            (100, 7, 1_000, Some(4), None),
            (101, 7, 1_000, Some(4), Some(TerminationReason::BudgetSpent)),
            (100, 8, 1_000, Some(4), Some(TerminationReason::BudgetSpent)),
            (100, 7, 1_001, Some(4), Some(TerminationReason::BudgetSpent)),
            (100, 7, 1_000, Some(5), Some(TerminationReason::MaxIterations)),
            (101, 7, 1_000, Some(5), Some(TerminationReason::BudgetSpent)),
            (0, 0, 0, None, None),
            (0, 0, 1_001, None, Some(TerminationReason::BudgetSpent)),
        ] {
            assert_eq!(
                ask(tokens, cost, wall_ms, iterations),
                expected,
                "{tokens} {cost} {wall_ms} {iterations:?}"
            );
        }
    }

    #[test]
    fn only_what_policy_does_not_deny_is_tried_in_a_view() {
        let tried: Vec<Verdict> = Verdict::ALL.iter().copied().filter(|v| may_be_tried(*v)).collect();
        assert_eq!(tried, [Verdict::Allow, Verdict::RequireApproval]);
    }

    #[test]
    fn a_person_is_asked_once_about_the_same_act_and_about_so_many_at_a_time() {
        const MAX: usize = model::limits::OPEN_APPROVALS_MAX;
        for (denied_before, open, expected) in [
            (false, 0, Asking::Person),
            (false, MAX - 1, Asking::Person),
            (false, MAX, Asking::TooMany),
            (true, 0, Asking::DeniedBefore),
            (true, MAX, Asking::DeniedBefore),
        ] {
            assert_eq!(asking(denied_before, open), expected, "{denied_before} {open}");
        }
    }

    #[test]
    fn a_yes_lapses_with_its_time_its_override_and_the_policy_it_was_judged_by() {
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        let holds =
            Basis { approval_ends: Some(UnixMs(10)), override_holds: Some(true), policy_sets: (one, one) };
        assert_eq!(lapsed(holds, UnixMs(10)), None);
        assert!(lapsed(holds, UnixMs(11)).unwrap().contains("ran out"));
        assert!(lapsed(Basis { approval_ends: None, ..holds }, UnixMs(11)).is_none());
        let without = Basis { override_holds: Some(false), ..holds };
        assert!(lapsed(without, UnixMs(1)).unwrap().contains("override"));
        let anew = Basis { policy_sets: (one, other), ..holds };
        assert!(lapsed(anew, UnixMs(1)).unwrap().contains("policy set"));
    }

    fn found(items: &[ItemOutcome]) -> Settled {
        let item = || ChangeItem::Delete { path: "a".parse().expect("a path"), prior: Prior::Absent };
        Settled { items: items.iter().map(|outcome| (item(), *outcome)).collect(), ..Settled::default() }
    }

    #[test]
    fn what_was_interrupted_is_completed_only_where_that_is_certain_and_still_allowed() {
        use ItemOutcome::{Done, NotDone, Unknown};
        let conclude = |code| Settling::Conclude(code);
        for (items, staged, holds, expected) in [
            (vec![Done, Done], false, true, conclude(ResultCode::Succeeded)),
            (vec![Done, NotDone], false, true, Settling::RollForward),
            (vec![Done, NotDone], false, false, conclude(ResultCode::Partial)),
            (vec![NotDone, NotDone], false, false, conclude(ResultCode::Failed)),
            (vec![Done, Unknown], false, true, Settling::Unknown),
            (vec![Done], true, true, Settling::RollForward),
            (vec![Done], true, false, conclude(ResultCode::Succeeded)),
        ] {
            assert_eq!(settling(&found(&items), staged, holds), expected, "{items:?} {staged} {holds}");
        }
    }

    #[test]
    fn a_call_that_may_be_repeated_is_and_where_it_may_not_a_person_settles_it_unless_it_only_looks() {
        let failed = Settling::Conclude(ResultCode::Failed);
        for (only_looks, holds, expected) in [
            (false, true, Settling::RollForward),
            (true, true, Settling::RollForward),
            (false, false, Settling::Unknown),
            (true, false, failed),
        ] {
            let settled = Settled { repeats: true, only_looks, ..Settled::default() };
            assert_eq!(settling(&settled, false, holds), expected, "{only_looks} {holds}");
        }
    }

    #[test]
    fn only_what_is_done_completes_a_task() {
        for reason in TerminationReason::ALL.iter().copied() {
            let Ending { attempt, step, task } = ending(reason);
            let completed = task == TaskStatus::Completed;
            assert_eq!(completed, reason == TerminationReason::Done, "{reason}");
            assert_eq!(attempt == AttemptStatus::Succeeded, completed, "{reason}");
            assert_eq!(step == StepStatus::Succeeded, completed, "{reason}");
            assert_eq!(task == TaskStatus::Cancelled, reason == TerminationReason::Cancelled, "{reason}");
        }
    }
}
