//! What both arms cost, and whether a model was asked: what each of it says of a change.

use super::{Findings, Grade, Judged};
use crate::{Asked, Evidence, Patch};
use model::TaskId;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use words::successor::{MeasuredBy, PatchKind};

/// One in so many tokens of a model that was asked again may be more: by one word more in an answer nothing is worse.
const ABOUT: u64 = 20;

/// What is counted: its name, and how it stands in both arms.
pub(super) fn counted(judged: &Judged<'_>) -> [(&'static str, u64, u64); 3] {
    counted_in(judged, &|_| true)
}

/// The same of some tasks alone.
fn counted_in(judged: &Judged<'_>, is_meant: &dyn Fn(TaskId) -> bool) -> [(&'static str, u64, u64); 3] {
    let sum = |evidence: &Evidence, of: fn(&crate::Played) -> u64| {
        let tasks = evidence.tasks.iter().filter(|task| is_meant(task.task_id));
        tasks.fold(0_u64, |sum, task| sum.saturating_add(of(task)))
    };
    let both = |of: fn(&crate::Played) -> u64| (sum(judged.parent, of), sum(judged.successor, of));
    let (questions, tokens, turns) = (
        both(|task| u64::from(task.questions)),
        both(|task| task.tokens),
        both(|task| u64::from(task.turns)),
    );
    [("questions", questions.0, questions.1), ("tokens", tokens.0, tokens.1), ("turns", turns.0, turns.1)]
}

/// Names of what a model that answered anew saves in tasks that changed something. All that comes of another task is what it tells its
/// person, which no rule compares: an empty answer costs least.
fn saved_by_work(judged: &Judged<'_>) -> BTreeSet<&'static str> {
    let changes = |task: &&crate::Played| task.acts.iter().any(|act| act.effect_sha256.is_some());
    let work: BTreeSet<TaskId> =
        judged.parent.tasks.iter().filter(changes).map(|task| task.task_id).collect();
    let counted = counted_in(judged, &|id| work.contains(&id));
    counted.into_iter().filter(|(_, parent, successor)| successor < parent).map(|(name, ..)| name).collect()
}

/// Whether fewer tokens can only be those of the change itself: its words and its rules stand in each context, the answers are
/// those of the recording, and no turn is saved. Of a model that was asked again it may be fewer words in an answer as well, which save
/// nobody anything.
fn only_says_less(judged: &Judged<'_>, counted: &[(&'static str, u64, u64)]) -> bool {
    let saves_turns = counted.iter().any(|(name, parent, successor)| *name == "turns" && successor < parent);
    let kind = judged.successor_case.patch.as_ref().map(Patch::kind);
    !saves_turns && matches!(kind, Some(PatchKind::Words | PatchKind::Policy))
}

/// Whether the change is of words that a model reads.
fn is_read_by_models(judged: &Judged<'_>) -> bool {
    judged.successor_case.patch.as_ref().is_some_and(Patch::is_read_by_models)
}

/// Whether the change is another model: then a model answers in the arm with the change, and a recording in the one without it.
pub(super) fn is_of_model(judged: &Judged<'_>) -> bool {
    judged.successor_case.patch.as_ref().map(Patch::kind) == Some(PatchKind::Model)
}

/// Tokens of all tasks of an arm.
pub(super) fn tokens_of(evidence: &Evidence) -> u64 {
    evidence.tasks.iter().fold(0, |sum, task| task.tokens.saturating_add(sum))
}

/// The model that answered in both arms, where one was asked about words that it reads.
pub(super) fn asked_in_both<'a>(judged: &Judged<'a>) -> Option<&'a Asked> {
    let asked = judged.asked.ok().filter(|asked| asked.parent > 0 && asked.successor > 0)?;
    is_read_by_models(judged).then_some(asked)
}

/// Whether both arms were played to the end. What an arm did not play cost it nothing, which is no merit; that it did not is a finding
/// of its own.
fn is_whole(judged: &Judged<'_>) -> bool {
    let has_played = |id: TaskId| judged.successor.tasks.iter().any(|task| task.task_id == id);
    !judged.successor.tasks.is_empty() && judged.parent.tasks.iter().all(|task| has_played(task.task_id))
}

/// Tells whether a model was asked with words that it reads, which one, and how often; or why none was.
pub(super) fn asked(judged: &Judged<'_>, findings: &mut Findings) {
    if !is_read_by_models(judged) || !is_whole(judged) {
        return;
    }
    if let Some(Asked { model, parent, successor }) = asked_in_both(judged) {
        let times = |count: u32| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let says = format!(
            "the model `{model}` was asked again, with the same settings, and the same seed where its server takes one: it \
             answered {} without the change and {} with it",
            times(*parent),
            times(*successor)
        );
        return findings.add(Grade::Told, "a_model_was_asked", says);
    }
    let why = match judged.asked {
        Ok(Asked { model, .. }) => format!(", because `{model}` did not answer in both arms. What"),
        Err("") => ": what".to_owned(),
        Err(why) => format!(", because {why}. What"),
    };
    let says = format!(
        "no model was asked with these words{why} one had answered before was played, so this shows that the work \
         still runs and what the words cost, and never that a model works better by them"
    );
    findings.add(Grade::Told, "no_model_was_asked", says);
}

/// Fewer questions, tokens and turns are better, more are worse, and some of each say neither. That it costs less is nothing that a
/// changed program can say of itself, and nothing that shorter words show, or words with which no model was asked, or what a model that
/// was asked only told.
pub(super) fn compare(judged: &Judged<'_>, findings: &mut Findings) {
    if !is_whole(judged) {
        return;
    }
    let counted = counted(judged);
    let is_own_word = judged.successor.measured_by != Some(MeasuredBy::Parent);
    let is_asked = asked_in_both(judged).is_some();
    let is_unasked = is_read_by_models(judged) && !is_asked;
    let says_less = only_says_less(judged, &counted);
    let by_work = saved_by_work(judged);
    let is_talk = |name: &str| (is_asked || is_of_model(judged)) && !by_work.contains(name);
    let counts =
        |name: &str| !is_own_word && !is_unasked && !is_talk(name) && !(says_less && name == "tokens");
    let is_about = |name: &str, parent: u64, successor: u64| {
        is_asked
            && name == "tokens"
            && successor > parent
            && successor.saturating_sub(parent) <= parent / ABOUT
    };
    let is_less = counted.iter().any(|(name, parent, successor)| counts(name) && successor < parent);
    let is_more = counted
        .iter()
        .any(|(name, parent, successor)| successor > parent && !is_about(name, *parent, *successor));
    for (name, parent, successor) in counted {
        let says = format!("{name}: {successor} instead of {parent}");
        match (successor.cmp(&parent), is_less && is_more) {
            (Ordering::Equal, _) => {}
            (Ordering::Less, _) if is_own_word => {
                let says = format!("{says}, by its own word: that makes nothing better");
                findings.add(Grade::Told, "costs_less_by_its_own_word", says);
            }
            (Ordering::Less, _) if is_unasked => {
                let says = format!("{says}, which makes nothing better");
                findings.add(Grade::Told, "costs_less_unasked", says);
            }
            (Ordering::Less, _) if is_talk(name) => {
                let says = format!(
                    "{says}, in tasks that changed nothing: nobody compared what these tell you, so that makes nothing better"
                );
                findings.add(Grade::Told, "costs_less_where_nothing_changes", says);
            }
            (Ordering::Less, _) if !counts(name) => {
                let whose = if is_asked { "the change or an answer" } else { "the change" };
                let says = format!("{says}, because {whose} has fewer words: that makes nothing better");
                findings.add(Grade::Told, "costs_less_by_shorter_words", says);
            }
            (Ordering::Greater, _) if is_about(name, parent, successor) => {
                let says = format!("{says}, which is about the same for a model that was asked again");
                findings.add(Grade::Told, "costs_about_the_same", says);
            }
            (_, true) => findings.add(Grade::Open, "costs_less_and_more", says),
            (Ordering::Less, false) => findings.add(Grade::Better, "costs_less", says),
            (Ordering::Greater, false) => findings.add(Grade::Worse, "costs_more", says),
        }
    }
}
