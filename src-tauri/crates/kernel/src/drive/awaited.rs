//! A step that awaits an approval ends only when a person has said that what comes after it may begin (HK-8.2-2), whoever
//! proposes in it. Their word gives no authority: each act behind it is judged, and asked about, as ever.

use super::Then;
use crate::Error;
use crate::command::add_input::Words;
use crate::kernel::Kernel;
use crate::state::TaskState;
use crate::tx::Tx;
use governance::Refusal;
use iteration::Proposal;
use model::attempt::TerminationReason;
use model::body::IterationCompleted;
use model::ingress::{Clarification, ClarificationStatus};
use model::proposal::Answer;
use model::task::{Origin, StepContract, StepKind};

/// What a person says to go on.
const GO_ON: &str = "Go on";
/// What they say to end the task here.
const STOP: &str = "Stop here";

impl Kernel {
    /// The step would end as done: where it awaits an approval, a person is asked first. Nothing where it does not, or where
    /// they said that it goes on.
    pub(super) fn awaited(
        &self,
        tx: &mut Tx<'_>,
        summary: &str,
        answer: &Answer,
    ) -> Result<Option<Then>, Error> {
        let contract = match tx.step().filter(|step| step.kind == StepKind::AwaitApproval) {
            Some(step) => step.contract_ref,
            None => return Ok(None),
        };
        let question = asked(&self.read_object::<StepContract>(tx, contract)?.objective);
        match said(tx, &question).as_deref() {
            Some(GO_ON) => Ok(None),
            Some(_) => {
                let ends = [Proposal::Done { summary: summary.to_owned() }];
                let record = self.record(tx, &ends, answer, None, None)?;
                let about_attempt_id = self.attempt_id(tx)?;
                tx.push(IterationCompleted { about_attempt_id, record });
                let why =
                    "Stopped: a person ended it at the step that awaits their approval. What was done stays.";
                self.push_end(tx, TerminationReason::ApprovalDenied, why)?;
                Ok(Some(Then::Commit))
            }
            None => {
                let choices = vec![GO_ON.to_owned(), STOP.to_owned()];
                self.put_question(tx, question, choices, answer).map(Some)
            }
        }
    }
}

/// What a person is asked.
fn asked(objective: &str) -> String {
    format!("{objective}\n\nMay what comes after this step begin?")
}

fn is_awaited(question: &Clarification) -> bool {
    let choices = question.choices.iter().map(|choice| choice.shown().map(String::as_str));
    choices.eq([Some(GO_ON), Some(STOP)])
}

/// What a person answered to this question in the attempt at work, the last time it was asked.
fn said(state: &TaskState, question: &str) -> Option<String> {
    let current = state.current?;
    let answered = state.clarifications.values().filter(|one| {
        one.attempt_id == current
            && one.status == ClarificationStatus::Answered
            && is_awaited(one)
            && one.question.shown().is_some_and(|text| text == question)
    });
    let ingress = answered.max_by_key(|one| one.requested_at)?.answered_by?;
    let heard = state.absorbed.iter().chain(&state.inputs).find(|input| input.ingress_id == ingress)?;
    // One whose words were erased goes on no further.
    Some(if heard.text.trim() == GO_ON { GO_ON } else { STOP }.to_owned())
}

/// Whether words may answer the question of a step that awaits an approval: one of the two, and only a person lets it go on.
pub(crate) fn may_answer(
    state: &TaskState,
    question: &Clarification,
    words: &Words<'_>,
) -> Result<(), Error> {
    let is_here = state.step().is_some_and(|step| step.kind == StepKind::AwaitApproval);
    if !is_here || !is_awaited(question) {
        return Ok(());
    }
    let text = words.text.trim();
    if ![GO_ON, STOP].contains(&text) || words.with.is_some_and(|with| !with.is_empty()) {
        return Err(Error::Input(format!(
            "the step awaits an approval: answer `{GO_ON}` or `{STOP}`, and nothing with it"
        )));
    }
    if text == GO_ON && words.sender.by != Origin::Person {
        return Err(Error::Refused(Refusal::new(
            "step_needs_a_person",
            format!(
                "only a person lets what comes after the step begin, at the terminal or window of the process that holds \
                 the store; anybody may say `{STOP}`"
            ),
        )));
    }
    Ok(())
}
