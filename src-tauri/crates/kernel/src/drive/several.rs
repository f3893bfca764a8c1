//! Several requests of one answer: what an answer asks for is done one after the other, each as if it stood alone, with a
//! judgement, a card, a witness, a grant and a receipt of its own. What follows one that failed or was refused is left, and so
//! is what follows when somebody has said something meanwhile: the model, which has seen none of it, is asked again.
//!
//! How far an answer was taken is an event of its own. A store without it, as older ones are, has nothing to go on with.

use crate::Error;
use crate::kernel::Kernel;
use crate::state::{Stage, TaskState};
use crate::tx::Tx;
use iteration::Proposal;
use model::artifact::ArtifactRef;
use model::attempt::{AttemptStatus, IterationRecord};
use model::body::AnswerContinued;
use model::limits;
use model::receipt::ResultCode;
use model::task::Proposer;
use model::{Sensitive, proposal};

/// What an answer comes to from a place in it on: things said, then one act at most.
pub(super) struct Plan {
    pub(super) said: Vec<Proposal>,
    pub(super) act: Option<Proposal>,
    /// Where what is behind it begins.
    through: usize,
}

impl Plan {
    /// What comes next in an answer of which so much is behind.
    pub(super) fn of(proposals: &[Proposal], taken: usize) -> Self {
        let mut plan = Self { said: Vec::new(), act: None, through: taken };
        for proposal in proposals.iter().skip(taken) {
            match (plan.act.as_mut(), proposal) {
                // Looks that follow each other are one request: they have no effect, and a folder has many files.
                (Some(Proposal::Observe(items)), Proposal::Observe(more)) => items.extend(more.clone()),
                (Some(_), _) => break,
                (None, said) if said.is_said() => plan.said.push(said.clone()),
                (None, act) => plan.act = Some(act.clone()),
            }
            plan.through = plan.through.saturating_add(1);
        }
        plan
    }

    /// Where what is behind it begins.
    pub(super) const fn through(&self) -> usize {
        self.through
    }
}

/// What is left of the answer in hand.
pub(super) struct Rest {
    answer: ArtifactRef,
    /// How many of its proposals are behind.
    taken: usize,
    /// How many are not.
    left: usize,
    /// How many of these are not under way either.
    open: usize,
}

impl Rest {
    /// Why it is not done, in words for the model; none where all of it is under way.
    fn not_done(&self, because: &str) -> Option<String> {
        let further = match self.open {
            0 => return None,
            1 => "one further request".to_owned(),
            open => format!("{open} further requests"),
        };
        Some(format!("{further} of this answer: not done, because {because}"))
    }
}

/// Of an answer: what was said and the one act that is in hand, as they stand in the record of its turn.
pub(super) fn acted(state: &TaskState, proposals: Vec<Proposal>) -> Vec<Proposal> {
    let behind = state.attempt().map_or(0, |attempt| attempt.taken);
    let mut ours: Vec<Proposal> = proposals.into_iter().skip(behind).collect();
    if let Some(at) = ours.iter().position(|one| !one.is_said()) {
        ours.truncate(at.saturating_add(1));
    }
    ours
}

/// What stands behind the act in hand. `done` there is not followed: it was said before anything of it was seen.
pub(super) fn rest_of(state: &TaskState, proposals: &[Proposal]) -> Option<Rest> {
    let attempt = state.attempt()?;
    let taken = Plan::of(proposals, attempt.taken).through;
    let through = attempt.beside.iter().fold(taken, |through, _| Plan::of(proposals, through).through);
    let left = |from: usize| match proposals.get(from..) {
        None | Some([] | [Proposal::Done { .. }]) => 0,
        Some(rest) => rest.len(),
    };
    let (left, open) = (left(taken), left(through));
    let answer = attempt.turn.answer()?.clone();
    (left > 0).then_some(Rest { answer, taken, left, open })
}

/// The same of an answer that is read again.
pub(super) fn rest_in(state: &TaskState, answer: &proposal::Answer) -> Option<Rest> {
    // Who is not read this way says one thing in each answer.
    let is_read = state.attempt().is_some_and(|attempt| attempt.attempt.proposer != Some(Proposer::Guest));
    is_read.then(|| iteration::parse(answer).ok())?.and_then(|proposals| rest_of(state, &proposals))
}

/// What a record says went wrong, with what was not done because of it.
pub(super) fn with_rest(state: &TaskState, answer: &proposal::Answer, error: String) -> String {
    // What is under way is looked at first.
    let rest = rest_in(state, answer).filter(|_| !state.is_accompanied());
    match rest.and_then(|rest| rest.not_done("of that")) {
        Some(left) => format!("{error}; {left}"),
        None => error,
    }
}

/// Why what follows is not looked at, when somebody has spoken since the answer was given.
pub(super) fn news(state: &TaskState) -> Option<&'static str> {
    let is_news = !state.inputs.is_empty() || state.goal_is_news;
    is_news.then_some("what was said meanwhile comes first")
}

impl Kernel {
    /// Whether what is left of the answer is taken up when its act has gone well; a record says why it is not.
    pub(super) fn goes_on_with(
        &self,
        state: &TaskState,
        rest: Option<Rest>,
        record: &mut IterationRecord,
    ) -> Option<Rest> {
        // What was dispatched together with it is established, whatever came of it.
        if state.is_accompanied() {
            return rest;
        }
        let rest = rest.filter(|_| record.error.is_none())?;
        let because = match news(state) {
            Some(because) => because,
            None if !is_as_asked(state) => "what was done is not what was asked for",
            None if state.attempt().is_some_and(|attempt| attempt.beside_failed) => {
                "one of those that were done together failed"
            }
            None => return Some(rest),
        };
        add(record, rest.not_done(because));
        None
    }

    /// The next request of the answer is in hand. The turn before is closed by now.
    pub(super) fn take_next(&self, tx: &mut Tx<'_>, rest: Option<Rest>) -> Result<(), Error> {
        let Some(Rest { answer, taken, left, .. }) = rest else { return Ok(()) };
        let is_under_way = tx.is_accompanied();
        let run = tx.attempt().map(|attempt| &attempt.loop_state);
        let may = run.is_some_and(|run| run.termination.is_none() && run.iteration < limits::ITERATIONS_MAX);
        if !may && !is_under_way {
            return Ok(());
        }
        let narrow = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        let about_attempt_id = self.attempt_id(tx)?;
        tx.push(AnswerContinued { about_attempt_id, answer, taken: narrow(taken), left: narrow(left) });
        tx.set_attempt(AttemptStatus::Reasoning, "continues with what the answer asks for next")?;
        if is_under_way {
            for to in [AttemptStatus::AwaitingPolicy, AttemptStatus::Authorized, AttemptStatus::Executing] {
                tx.set_attempt(to, "was dispatched together with the one before")?;
            }
        }
        Ok(())
    }

    /// Whether the rest of an answer is left, because somebody has said something since its last act; then its turn is over.
    pub(super) fn leaves_rest(
        &self,
        tx: &mut Tx<'_>,
        answer: &proposal::Answer,
        proposals: &[Proposal],
    ) -> Result<bool, Error> {
        let taken = tx.attempt().map_or(0, |attempt| attempt.taken);
        let (Some(because), true) = (news(tx), taken > 0) else { return Ok(false) };
        let answer_ref = tx.attempt().and_then(|attempt| attempt.turn.answer().cloned());
        let Some(answer_ref) = answer_ref else { return Ok(false) };
        let left = proposals.len().saturating_sub(taken);
        let rest = Rest { answer: answer_ref, taken, left, open: left };
        let mut record = self.record(tx, &[], answer, None, None)?;
        add(&mut record, rest.not_done(because));
        self.turn_is_over(tx, record, "what was said comes first")?;
        Ok(true)
    }
}

/// Whether the act in hand, if there is one, was done, and as it was asked for.
fn is_as_asked(state: &TaskState) -> bool {
    let act = state.attempt().and_then(|attempt| attempt.act());
    act.is_none_or(|act| {
        let done = matches!(act.stage, Stage::Observed { result_code: ResultCode::Succeeded, .. });
        done && act.instead_of.is_none()
    })
}

fn add(record: &mut IterationRecord, words: Option<String>) {
    let Some(words) = words else { return };
    let said = record.model_decision.shown().map_or("(erased)", String::as_str);
    let said = if said.is_empty() { words } else { format!("{said}; {words}") };
    record.model_decision = Sensitive::from(said);
}
