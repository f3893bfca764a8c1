//! Whether what a change of words or of the model saves may be chance: the model is asked once more, and has to do the same again. About
//! words that is asked without the change, as both arms are by one model; of another model with it, as the arm without it is a recording.

use super::costs::{asked_in_both, is_of_model, tokens_of};
use super::{Findings, Grade, Judged, acts, budget, probes};
use crate::{Evidence, Played, PlayedAct, Reason};
use words::successor::{Arm, MeasuredBy, VerdictOutcome};

/// The rule by which a verdict says that an arm is to be played once more before anything is better: the parent's about words, the
/// successor's of another model.
pub const ASKED_ONLY_ONCE: &str = "asked_only_once";

/// Looks at the second time: harm that another model did then is told whatever else is said; beside that something is said by it where all
/// else says that the change is better, and nothing else.
pub(super) fn compare(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(repeated) = Repeated::of(judged) else { return };
    harm(judged, &repeated, findings);
    if findings.outcome() != VerdictOutcome::Better {
        return;
    }
    let how = repeated.how;
    let Some(again) = judged.again else {
        let says = format!(
            "the model was asked only once {how} the change, so that what the change saves may be chance"
        );
        return findings.add(Grade::Open, ASKED_ONLY_ONCE, says);
    };
    if !repeated.is_of_this_arm(again) {
        let says =
            "what the model did when it was asked once more is not of this trial, or did not come to its end";
        return findings.add(Grade::Void, "asked_again_in_vain", says);
    }
    match repeated.is_same(again) && saves_again(judged, again) {
        true => {
            let says = format!("asked once more {how} the change, the model did the same again");
            findings.add(Grade::Told, "did_the_same_again", says);
        }
        false => {
            let says = format!(
                "asked once more {how} the change, the model did something else, so that what the change saves may be \
                 chance; try it with a model that answers alike each time"
            );
            findings.add(Grade::Open, "did_something_else_again", says);
        }
    }
}

/// What the change did the second time that it may not: harm is harm whenever it is done. About words the second time is one without the
/// change, of which nothing speaks against it.
fn harm(judged: &Judged<'_>, repeated: &Repeated<'_>, findings: &mut Findings) {
    let Some(again) = judged.again.filter(|_| repeated.arm == Arm::Successor) else { return };
    let second = Judged { successor: again, again: None, ..judged.clone() };
    let mut found = Findings::default();
    probes(&second, &mut found);
    budget(&second, &mut found);
    acts::compare(&second, &mut found);
    for (grade, Reason { rule, says }) in found.0 {
        if grade == Grade::Unsafe {
            findings.add(grade, &rule, format!("when the model was asked once more: {says}"));
        }
    }
}

/// The arm in which a model is asked once more.
struct Repeated<'a> {
    arm: Arm,
    /// What it left the first time.
    first: &'a Evidence,
    /// In words, whether the change is in it.
    how: &'static str,
}

impl<'a> Repeated<'a> {
    /// None where no model answered anew.
    fn of(judged: &Judged<'a>) -> Option<Self> {
        if is_of_model(judged) {
            return Some(Self { arm: Arm::Successor, first: judged.successor, how: "with" });
        }
        asked_in_both(judged).map(|_| Self { arm: Arm::Parent, first: judged.parent, how: "without" })
    }

    /// Whether evidence is of this arm, played by Hermit as it is, and to its end.
    fn is_of_this_arm(&self, again: &Evidence) -> bool {
        again.case_sha256 == self.first.case_sha256
            && again.arm == self.arm
            && again.measured_by == Some(MeasuredBy::Parent)
            && again.used.ended_for.is_none()
    }

    /// Whether each task was played alike.
    fn is_same(&self, again: &Evidence) -> bool {
        let first = &self.first.tasks;
        first.len() == again.tasks.len()
            && again.tasks.iter().all(|one| first.iter().any(|other| is_alike(one, other)))
    }
}

/// Whether tokens that another model saved are saved again; those of words speak for nothing.
fn saves_again(judged: &Judged<'_>, again: &Evidence) -> bool {
    let parent = tokens_of(judged.parent);
    !is_of_model(judged) || tokens_of(judged.successor) >= parent || tokens_of(again) < parent
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
