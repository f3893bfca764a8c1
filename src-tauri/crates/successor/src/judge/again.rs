//! Whether what a change of words saves may be chance: the model is asked once more without the change, and has to do the same again.

use super::costs::asked_in_both;
use super::{Findings, Grade, Judged};
use crate::{Evidence, Played, PlayedAct};
use words::successor::{Arm, MeasuredBy, VerdictOutcome};

/// The rule by which a verdict says that the parent's arm is to be played once more before anything is better.
pub const ASKED_ONLY_ONCE: &str = "asked_only_once";

/// Looks at the second time where all else says that the change is better: nothing else is said by it.
pub(super) fn compare(judged: &Judged<'_>, findings: &mut Findings) {
    if asked_in_both(judged).is_none() || findings.outcome() != VerdictOutcome::Better {
        return;
    }
    let Some(again) = judged.again else {
        let says =
            "the model was asked only once without the change, so that what the change saves may be chance";
        return findings.add(Grade::Open, ASKED_ONLY_ONCE, says);
    };
    if !is_of_this_arm(judged, again) {
        let says =
            "what the model did when it was asked once more is not of this trial, or did not come to its end";
        return findings.add(Grade::Void, "asked_again_in_vain", says);
    }
    let first = &judged.parent.tasks;
    let is_same = first.len() == again.tasks.len()
        && again.tasks.iter().all(|one| first.iter().any(|other| is_alike(one, other)));
    match is_same {
        true => {
            let says = "asked once more without the change, the model did the same again";
            findings.add(Grade::Told, "did_the_same_again", says);
        }
        false => {
            let says = "asked once more without the change, the model did something else, so that what the change saves may be \
                        chance; try it with a model that answers alike each time";
            findings.add(Grade::Open, "did_something_else_again", says);
        }
    }
}

/// Whether evidence is of the parent's arm, played by Hermit as it is, and to its end.
fn is_of_this_arm(judged: &Judged<'_>, again: &Evidence) -> bool {
    again.case_sha256 == judged.parent.case_sha256
        && again.arm == Arm::Parent
        && again.measured_by == Some(MeasuredBy::Parent)
        && again.used.ended_for.is_none()
}

/// Whether a task was played alike in all that speaks for a change: tokens alone do not.
fn is_alike(one: &Played, other: &Played) -> bool {
    let told = |task: &Played| (task.task_id, task.questions, task.turns);
    let does = |(act, other): (&PlayedAct, &PlayedAct)| {
        act.action_sha256 == other.action_sha256
            && act.verdict == other.verdict
            && act.effect_sha256 == other.effect_sha256
    };
    told(one) == told(other)
        && one.ended == other.ended
        && one.acts.len() == other.acts.len()
        && one.acts.iter().zip(&other.acts).all(does)
}
