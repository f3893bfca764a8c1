//! How a task came out, in place: what was done, how to undo and prove it; or what failed, and what to do about it.

use crate::answer;
use crate::context::Context;
use crate::follow::{Rest, exit_code, next_steps};
use crate::output::{Output, Tone};
use crate::progress::took;
use crate::question::{self, Asking};
use crate::text::{clip, paragraph, plain, short};
use acts::done;
use host::Session;
use model::attempt::TerminationReason;
use model::policy::Verdict;
use model::receipt::ResultCode;
use model::task::TaskStatus;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use wire::grants::Standing;
use wire::receipts::{ReceiptRow, Show};
use wire::task::{Action, Task, TaskRow};
use wire::{Error, exit};
use words::number::grouped;
use words::task::{CriterionOutcome, WaitsFor, WordsBy};

/// Receipts that are told one by one.
const RECEIPTS: usize = 20;
/// Refusals and failures that are told one by one.
const TROUBLES: usize = 10;
/// Characters of an answer.
const ANSWER: usize = 20_000;

/// Says how the task stands, what it did, and what can be done next.
///
/// # Errors
/// When the store cannot be read.
pub fn report(
    context: &Context,
    session: &Session,
    rest: &Rest,
    receipts: &[ReceiptRow],
) -> Result<(), Error> {
    let asking = Asking::of(session, &rest.task)?;
    context.out.answer(&asking, |out, asking| {
        head(out, rest, receipts);
        acts(out, session, &rest.task, receipts);
        words(out, &rest.task);
        criteria(out, &rest.task);
        ways(out, &rest.task, receipts);
        if rest.key_locked {
            out.say(
                Tone::Warn,
                "Your keys are locked: the work is recorded, and its receipt waits for them.",
            );
            out.line("Run `hermit resume` at a terminal, or with HERMIT_PASSPHRASE_FILE set.");
        }
        if let Some(question) = &asking.question {
            out.rows(&question::rows(question));
        }
        next_steps(&rest.task).iter().for_each(|line| out.line(line));
    })
}

/// One line: done, waiting, or stopped and why.
fn head(out: &Output, rest: &Rest, receipts: &[ReceiptRow]) {
    let task = &rest.task;
    let tone = match exit_code(rest) {
        exit::DONE => Tone::Good,
        exit::WAITING => Tone::Warn,
        _ if rest.stopped || ended_by_a_no(&task.row) => Tone::Warn,
        _ => Tone::Bad,
    };
    let spent = spent(task);
    out.say(tone, format!("{} {spent}", why(rest, receipts.iter().any(changes))));
    if exit_code(rest) != exit::DONE {
        for (trouble, times) in troubles(&task.actions).into_iter().take(TROUBLES) {
            let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
            out.say(Tone::Bad, format!("  {trouble}{times}"));
        }
    }
}

fn spent(task: &Task) -> String {
    let ms = u64::try_from(task.wall_ms).unwrap_or(0);
    let mut parts = vec![format!("task {}", short(&task.row.task_id)), took(Duration::from_millis(ms))];
    if task.row.tokens_used > 0 {
        parts.push(format!("{} tokens", grouped(task.row.tokens_used)));
    }
    if task.row.cost_micros > 0 {
        parts.push(format!("cost {}", acts::money(task.row.cost_micros)));
    }
    format!("({})", parts.join(", "))
}

/// How a task came out, in a sentence, and what of it was refused or failed, each on a line.
pub fn in_a_sentence(rest: &Rest, receipts: &[ReceiptRow]) -> String {
    let mut words = format!("{} {}", why(rest, receipts.iter().any(changes)), spent(&rest.task));
    if exit_code(rest) != exit::DONE {
        for (trouble, _) in troubles(&rest.task.actions).into_iter().take(TROUBLES) {
            words.push_str(&format!("\n- {trouble}"));
        }
    }
    words
}

/// Why a task stands as it does, in a sentence.
fn why(rest: &Rest, changed: bool) -> String {
    let task = &rest.task;
    let nothing = if changed { "" } else { " Nothing was changed." };
    match task.row.status {
        _ if rest.stopped => format!("Stopped: you denied it.{nothing}"),
        TaskStatus::Completed => format!("Done.{nothing}"),
        TaskStatus::RolledBack => "Done, and undone since.".to_owned(),
        TaskStatus::Cancelled => format!("Cancelled.{nothing}"),
        TaskStatus::Failed => {
            let said = failed(task);
            let nothing = if said.to_lowercase().contains("nothing was changed") { "" } else { nothing };
            format!("{said}{nothing}")
        }
        // It says why, and what to do.
        TaskStatus::Paused => task
            .row
            .because
            .as_ref()
            .map_or_else(|| "Paused.".to_owned(), |because| plain(&because.to_string())),
        TaskStatus::Blocked => waiting(task.waits_for.as_ref().map(|waits| waits.kind)).to_owned(),
        // Nobody works on it: its receipts need keys that are locked here.
        TaskStatus::Created | TaskStatus::Ready | TaskStatus::Running if rest.key_locked => {
            "It waits for your keys.".to_owned()
        }
        other @ (TaskStatus::Created | TaskStatus::Ready | TaskStatus::Running) => format!("It is {other}."),
    }
}

/// For whom a blocked task waits, in a sentence: not each waits for a person.
const fn waiting(kind: Option<WaitsFor>) -> &'static str {
    match kind {
        Some(WaitsFor::Dependency) => "Waiting for a part that its agent gave away.",
        Some(WaitsFor::Agent) => "Waiting for the next call of its agent. Nothing is asked of you.",
        Some(WaitsFor::Approval | WaitsFor::Answer | WaitsFor::UnknownOutcome | WaitsFor::Resume) | None => {
            "Waiting for you."
        }
    }
}

/// Whether a task ended because a person said no: it is their decision, and no fault.
pub fn ended_by_a_no(row: &TaskRow) -> bool {
    row.status == TaskStatus::Failed && row.reason == TerminationReason::ApprovalDenied.as_str()
}

/// What is told first of a task that a person's no ended; what it says itself comes after.
fn after_a_no(said: &str) -> String {
    if said.to_lowercase().contains("you denied") {
        said.to_owned()
    } else {
        format!("Denied by you. {said}")
    }
}

/// Why a task failed, in a sentence with what to do about it.
pub fn failed(task: &Task) -> String {
    if let (Some(because), true) = (&task.row.because, ended_by_a_no(&task.row)) {
        return after_a_no(&plain(&because.to_string()));
    }
    if let (Some(because), TaskStatus::Failed) = (&task.row.because, task.row.status) {
        return plain(&because.to_string());
    }
    let Some(reason) = task.termination else { return "Failed.".to_owned() };
    match reason {
        TerminationReason::ApprovalDenied => "You denied it.".to_owned(),
        TerminationReason::MaxIterations => format!(
            "Stopped: it used all the turns it was allowed ({}). Run it again with `--iterations` and a larger number.",
            task.row.iterations
        ),
        TerminationReason::BudgetSpent => format!(
            "Stopped: its budget is spent ({} of {} tokens). Run it again with `--tokens` and a larger number.",
            grouped(task.row.tokens_used),
            grouped(task.tokens_max)
        ),
        TerminationReason::NoProgress => "Stopped: it made no progress for several turns.".to_owned(),
        TerminationReason::RepeatedToolFailure => {
            "Stopped: several of its actions in a row failed.".to_owned()
        }
        TerminationReason::FatalToolError => "Not done.".to_owned(),
        TerminationReason::MalformedOutput => {
            "Stopped: the model's answers could not be read as actions. Try a larger model or a smaller goal."
                .to_owned()
        }
        TerminationReason::ModelUnavailable => "Stopped: the model cannot be reached.".to_owned(),
        TerminationReason::Expired
            if task.deadline_at.zip(task.row.ended_at).is_some_and(|(last, ended)| ended > last) =>
        {
            "Stopped: its time was up. What was done stays, each act with its receipt.".to_owned()
        }
        TerminationReason::Expired => "Stopped: nobody answered in time.".to_owned(),
        TerminationReason::GateHalted => {
            "Stopped: Hermit was halted. Run `hermit boot` to resume work.".to_owned()
        }
        TerminationReason::UnknownOutcome => "Stopped: the outcome of an action is not known.".to_owned(),
        TerminationReason::CriteriaUnmet => "Stopped: what must hold at its end does not.".to_owned(),
        TerminationReason::Done | TerminationReason::Cancelled => "Failed.".to_owned(),
    }
}

/// What was refused or failed, each once, with how often.
fn troubles(actions: &[Action]) -> Vec<(String, usize)> {
    let mut told: Vec<(String, usize)> = Vec::new();
    for action in actions {
        let summary = plain(&clip(&action.summary.to_string(), 200));
        let trouble = action.trouble.as_ref().map(|t| plain(&clip(&t.to_string(), 300)));
        let text = match (action.verdict, trouble) {
            (_, Some(trouble)) => format!("{summary}: {trouble}"),
            (Some(Verdict::Deny), None) => {
                let id = &action.action_request_id;
                format!("policy denied `{summary}`; why: hermit policy explain {id}")
            }
            _ => continue,
        };
        match told.iter_mut().find(|(known, _)| *known == text) {
            Some((_, times)) => *times += 1,
            None => told.push((text, 1)),
        }
    }
    told
}

/// What was done, receipt by receipt, and which standing approval answered in a person's place.
fn acts(out: &Output, session: &Session, task: &Task, receipts: &[ReceiptRow]) {
    let by: BTreeMap<&str, &Action> =
        task.actions.iter().filter_map(|a| a.receipt_id.as_deref().map(|id| (id, a))).collect();
    for receipt in receipts.iter().rev().take(RECEIPTS) {
        let action = by.get(receipt.receipt_id.as_str());
        let summary = action.map_or_else(|| receipt.summary.to_string(), |action| action.summary.to_string());
        let what = clip(&done(&plain(&summary)), 300);
        match receipt.result {
            ResultCode::Succeeded => out.line(format!("  {what}")),
            ResultCode::Partial => {
                let came = clip(&plain(&receipt.summary.to_string()), 300);
                out.say(Tone::Warn, format!("  Only in part: {what} ({came})"));
            }
            result => out.say(Tone::Bad, format!("  {}: {what}", crate::text::capital(result.as_str()))),
        }
        if let Some(words) = answered_by(session, &receipt.receipt_id) {
            out.say(Tone::Warn, format!("    You were not asked: {words}"));
        }
    }
    if let Some(more) = receipts.len().checked_sub(RECEIPTS).filter(|more| *more > 0) {
        let id = short(&task.row.task_id);
        out.line(format!("  and {more} more: hermit receipts list --task {id}"));
    }
}

/// The standing approval behind a receipt, in words.
fn answered_by(session: &Session, receipt: &str) -> Option<String> {
    let found = session.call(&Show { receipt: receipt.to_owned(), brief: false }).ok()?;
    let id = standing(&found.receipt)?;
    let rows = session.call(&Standing { all: true }).ok().map(|list| list.rows).unwrap_or_default();
    let words = rows.into_iter().find(|row| row.grant_id == id).and_then(|row| row.words).unwrap_or_default();
    Some(format!("your standing approval {} answered ({})", short(&id), plain(&clip(&words, 300))))
}

/// The identifier of a standing grant somewhere in a receipt.
fn standing(value: &Value) -> Option<String> {
    let map = value.as_object()?;
    if let Some(found) = map.get("standing").filter(|found| !found.is_null()) {
        return found.get("grant_id").and_then(Value::as_str).map(str::to_owned);
    }
    map.values().find_map(standing)
}

/// The last words of the task: Hermit's own, or a model's, which nobody has checked.
pub fn words(out: &Output, task: &Task) {
    let Some(summary) = &task.summary else { return };
    let text = paragraph(&clip(&summary.to_string(), ANSWER));
    if task.summary_by != Some(WordsBy::Model) {
        // Why it stopped stands above already.
        if task.row.because.as_ref() == Some(summary) {
            return;
        }
        return text.lines().for_each(|line| out.say(Tone::Plain, line));
    }
    if let Some(check) = &task.answer_check {
        out.say(Tone::Warn, answer::head(check));
        return clip(&answer::text(check), ANSWER)
            .lines()
            .for_each(|line| out.say(Tone::Plain, format!("  {line}")));
    }
    out.say(Tone::Warn, "The model says (not verified; what was done is listed above):");
    text.lines().for_each(|line| out.say(Tone::Plain, format!("  {line}")));
}

/// What had to hold at the end, and what was found.
fn criteria(out: &Output, task: &Task) {
    for one in &task.criteria {
        let (tone, word) = match one.outcome {
            Some(CriterionOutcome::Met) => (Tone::Good, "met"),
            Some(CriterionOutcome::Unmet) => (Tone::Bad, "not met"),
            Some(CriterionOutcome::Unchecked) => (Tone::Warn, "not checked"),
            None => (Tone::Plain, "checked at the end"),
        };
        let found = one.found.as_ref().map(|found| format!(" ({found})")).unwrap_or_default();
        out.say(tone, format!("Must hold: {}: {word}{found}", plain(&one.criterion.to_string())));
    }
}

/// How to undo it, look at it, and prove it.
fn ways(out: &Output, task: &Task, receipts: &[ReceiptRow]) {
    let undoable: Vec<&ReceiptRow> = receipts.iter().filter(|receipt| is_undoable(receipt)).collect();
    let id = short(&task.row.task_id);
    let mut ways = Vec::new();
    match undoable.as_slice() {
        [] => {}
        [one] => ways.push(format!("Undo: hermit rollback {}", short(&one.receipt_id))),
        _ => ways.push(format!("Undo: hermit rollback {}", task.row.task_id)),
    }
    match receipts {
        [] => {}
        [one] => ways.push(format!("Receipt: hermit receipts show {}", short(&one.receipt_id))),
        _ => ways.push(format!("Receipts: hermit receipts list --task {id}")),
    }
    if !receipts.is_empty() {
        ways.push(format!("Proof: hermit proof export {id} -o proof.zip"));
    }
    ways.iter().for_each(|way| out.say(Tone::Faint, way));
}

/// Whether a receipt is of an act that can be undone and was not.
fn is_undoable(receipt: &ReceiptRow) -> bool {
    receipt.undone_by.is_none() && receipt.has_undo() && changes(receipt)
}

/// Whether a receipt is of an act that changed something.
pub fn changes(receipt: &ReceiptRow) -> bool {
    receipt.action_class.is_important()
        && matches!(receipt.result, ResultCode::Succeeded | ResultCode::Partial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_denied_is_told_as_their_decision_and_once() {
        assert_eq!(
            after_a_no("Set duplicates aside: not done."),
            "Denied by you. Set duplicates aside: not done."
        );
        let told = "Stopped: you denied what it proposed. Nothing was changed.";
        assert_eq!(after_a_no(told), told);
    }

    #[test]
    fn a_person_is_called_only_where_they_are_waited_for() {
        for kind in [None, Some(WaitsFor::Approval), Some(WaitsFor::Answer), Some(WaitsFor::UnknownOutcome)] {
            assert_eq!(waiting(kind), "Waiting for you.", "{kind:?}");
        }
        for kind in [WaitsFor::Dependency, WaitsFor::Agent] {
            assert!(!waiting(Some(kind)).contains("for you."), "{kind:?}");
        }
    }
}
