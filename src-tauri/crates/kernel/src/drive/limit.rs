//! A task has used what it may: where somebody can be asked, it waits for them with all that it has, and goes on with more
//! or ends there. Only a person raises a limit, and it is on record who did.

use super::Then;
use super::children::parent;
use super::stopped::stopped;
use crate::Error;
use crate::command::add_input::Words;
use crate::decide::{Spending, at_limit, limit_met};
use crate::kernel::{Cell, Kernel, lock};
use crate::state::{TaskState, Turn};
use crate::tx::Tx;
use acts::money;
use governance::Refusal;
use model::attempt::AttemptStatus;
use model::body::{ClarificationAnswered, LimitRaised, LimitReached};
use model::fault::Point;
use model::task::{Budget, Limit, Origin, TaskContract, TaskStatus};
use model::{ClarificationId, limits};
use std::sync::MutexGuard;

/// Minutes, in milliseconds.
const MINUTE_MS: u64 = 60_000;

/// Who meets a limit.
#[derive(Clone, Copy)]
enum Asker {
    /// A task of its own.
    Whole,
    /// A part that the agent of a task gave away, and how much more it may get, where that has an end.
    Part(Option<u64>),
}

/// What is said about a limit.
enum Said {
    /// It ends here.
    End,
    /// So much more.
    More(u64),
}

impl Kernel {
    /// A person is asked about the limit that the next call meets; where nobody can be, the run ends.
    pub(super) fn ask_at_limit(
        &self,
        tx: &mut Tx<'_>,
        contract: &TaskContract,
        spending: Spending,
    ) -> Result<Option<Then>, Error> {
        let budget = tx.budget(contract);
        let Some(limit) = limit_met(&budget, spending) else { return Ok(None) };
        let is_led = tx.attempt().is_some_and(|attempt| attempt.loop_state.is_led);
        let (allowed, used) = (allowed(&budget, limit), used(tx, limit, spending));
        let all = needs(limit, spending);
        // A part gets no more than its whole has left. Where that is too little for its next call it ends, and the whole,
        // which goes on with what came of it, asks at its own limit.
        let left = if contract.asks_at_limit { self.left_of_whole(tx, limit)? } else { None };
        let is_out = left.is_some_and(|left| all.saturating_sub(allowed) > left);
        if !contract.asks_at_limit || is_led || is_out {
            return self.terminate(tx, at_limit(limit)).map(Some);
        }
        tx.at(Point::ClarificationAsk);
        tx.unblock("a limit is met")?;
        tx.set_attempt(AttemptStatus::CompilingContext, "a limit is met")?;
        tx.set_attempt(AttemptStatus::Reasoning, "a limit is met")?;
        let needs = all.saturating_sub(used);
        let clarification_id = ClarificationId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let about_task_id = tx.task.task_id;
        tx.push(LimitReached { about_task_id, clarification_id, limit, allowed, used, needs });
        let asker = if parent(tx).is_some() { Asker::Part(left) } else { Asker::Whole };
        let question = question(limit, (allowed, used, needs), asker);
        self.wait_for_answer(tx, clarification_id, question, Vec::new()).map(Some)
    }

    /// Refuses more than the whole of a part has left. Whoever asks holds the turn to raise a limit.
    fn within_whole(&self, state: &TaskState, limit: Limit, said: &Said) -> Result<(), Error> {
        let Said::More(more) = said else { return Ok(()) };
        match self.left_of_whole(state, limit)? {
            Some(left) if *more > left => Err(Error::Input(too_much(limit, left))),
            _ => Ok(()),
        }
    }

    /// What a person says about a limit: more of it, or the end. It is said to nobody else.
    pub(crate) fn answer_limit<'k>(
        &'k self,
        cell: &'k Cell,
        state: MutexGuard<'k, TaskState>,
        (clarification_id, limit): (ClarificationId, Limit),
        words: Words<'_>,
    ) -> Result<(), Error> {
        let said = said(limit, words.text).map_err(Error::Input)?;
        if words.with.is_some_and(|with| !with.is_empty()) {
            return Err(Error::Input(
                "a limit is answered without a file and without a quotation".to_owned(),
            ));
        }
        if matches!(said, Said::More(_)) && words.sender.by != Origin::Person {
            return Err(Error::Refused(Refusal::new(
                "limit_needs_a_person",
                "only a person raises a limit, at the terminal or window of the process that holds the store; anybody \
                 may say `end`"
                    .to_owned(),
            )));
        }
        let task_id = state.task.task_id;
        let turn = state.attempt().map(|attempt| &attempt.turn);
        if !matches!(turn, Some(Turn::Questioned(id)) if *id == clarification_id) {
            return Err(Error::Conflict(format!(
                "the task does not wait for this question any more; `hermit task show {task_id}` says how it stands"
            )));
        }
        if state.task.status == TaskStatus::Paused {
            return Err(Error::Conflict(format!(
                "the task is paused: let it go on with `hermit task resume {task_id}`, then answer"
            )));
        }
        // One at a time, until it is on record.
        let _one = lock(&self.raising);
        self.within_whole(&state, limit, &said)?;
        let contract = self.contract(&state)?;
        let was = allowed(&state.budget(&contract), limit);
        let (w, as_recorded) = self.words(&state, words)?;
        let mut tx = self.tx_from(cell, state, w);
        tx.at(Point::ClarificationAnswer);
        let (about_task_id, decided_by) = (tx.task.task_id, tx.actor().actor_id);
        tx.push_keyed(
            Some(format!("resolve:{clarification_id}")),
            ClarificationAnswered { clarification_id, ingress_id: as_recorded.ingress_id },
        );
        // One that was resumed and is not picked up yet goes on when it is.
        if tx.task.status == TaskStatus::Blocked {
            tx.unblock("answered")?;
            tx.set_attempt(AttemptStatus::CompilingContext, "answered")?;
        }
        match said {
            Said::More(more) => {
                let most = if limit == Limit::Turns { limits::ITERATIONS_MAX.into() } else { u64::MAX };
                let allowed = was.saturating_add(more).min(most).min(limits::JSON_INTEGER_MAX.unsigned_abs());
                tx.push(LimitRaised { about_task_id, clarification_id, limit, was, allowed, decided_by });
            }
            Said::End => {
                let reason = at_limit(limit);
                let said = stopped(&tx, reason, &contract.model);
                self.push_end(&mut tx, reason, &said)?;
            }
        }
        tx.commit().map(drop)
    }
}

const fn allowed(budget: &Budget, limit: Limit) -> u64 {
    match limit {
        Limit::Tokens => budget.tokens_max,
        Limit::Cost => budget.cost_micros_max,
        Limit::Time => budget.wall_ms_max.unsigned_abs(),
        Limit::Turns => budget.iterations_max as u64,
    }
}

fn used(state: &TaskState, limit: Limit, spending: Spending) -> u64 {
    match limit {
        Limit::Tokens => state.tokens_spent,
        Limit::Cost => state.cost_spent,
        Limit::Time => state.wall_ms.unsigned_abs(),
        Limit::Turns => spending.iterations.unwrap_or_default().into(),
    }
}

fn needs(limit: Limit, spending: Spending) -> u64 {
    match limit {
        Limit::Tokens => spending.tokens,
        Limit::Cost => spending.cost_micros,
        Limit::Time => spending.wall_ms.unsigned_abs(),
        Limit::Turns => u64::from(spending.iterations.unwrap_or_default()).saturating_add(1),
    }
}

/// What a person is asked.
fn question(limit: Limit, (allowed, used, needs): (u64, u64, u64), asker: Asker) -> String {
    let (who, left) = match asker {
        Asker::Whole => ("The task", None),
        Asker::Part(left) => ("This part of a task", left),
    };
    let most = left.map(|left| {
        format!(" The task that it is a part of has {} left, and a part gets no more.", amount(limit, left))
    });
    let most = most.unwrap_or_default();
    match limit {
        Limit::Tokens => format!(
            "{who} has used {used} of {allowed} tokens, and its next turn may need {needs}.{most} Go on with how many \
             more tokens, such as `{}`, or `end` here?",
            left.unwrap_or(u64::MAX).min(100_000)
        ),
        Limit::Cost => format!(
            "{who} has cost {} of {}, and its next turn may cost {}.{most} Go on with how many more US dollars, such as \
             `{}`, or `end` here?",
            money(used),
            money(allowed),
            money(needs),
            left.filter(|left| *left < 1_000_000).map_or("1.00".to_owned(), |left| amount(limit, left))
        ),
        Limit::Time => format!(
            "{who} has worked {} of {} minutes. Go on for how many more minutes, such as `30`, or `end` here?",
            used / MINUTE_MS,
            allowed / MINUTE_MS
        ),
        Limit::Turns => format!(
            "{who} has taken {used} of {allowed} turns; {} is the most that any may. Go on with how many more turns, \
             such as `10`, or `end` here?",
            limits::ITERATIONS_MAX
        ),
    }
}

/// So much of tokens or money, as it can be said back: never more than it is.
fn amount(limit: Limit, many: u64) -> String {
    match limit {
        Limit::Cost => money(many),
        _ => format!("{many} tokens"),
    }
}

/// Why a part does not get so much.
fn too_much(limit: Limit, left: u64) -> String {
    let left = match left {
        0 => "nothing".to_owned(),
        left => amount(limit, left),
    };
    format!(
        "the task that this one is a part of has {left} left to give it; say at most that, or `end`: that task goes on, \
         and asks for more when it needs it"
    )
}

/// What an answer says.
fn said(limit: Limit, text: &str) -> Result<Said, String> {
    let text = text.trim().trim_end_matches('.');
    if ["end", "end here", "stop", "no"].contains(&text.to_lowercase().as_str()) {
        return Ok(Said::End);
    }
    let (what, such, most) = match limit {
        Limit::Tokens => ("tokens", "100000", 1_000_000_000),
        Limit::Cost => ("US dollars", "1.00", 10_000),
        Limit::Time => ("minutes", "30", 10_080),
        Limit::Turns => ("turns", "10", u64::from(limits::ITERATIONS_MAX)),
    };
    let wrong = || format!("say how many more {what}, such as `{such}` and {most} at most, or `end`");
    let number = text.strip_prefix('$').filter(|_| limit == Limit::Cost).unwrap_or(text);
    let number: String = number.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let (whole, part) = match (limit, number.split_once('.')) {
        (Limit::Cost, Some((whole, part))) if part.len() <= 6 => (whole, part),
        _ => (number.as_str(), ""),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().ok().filter(|n| *n <= most).ok_or_else(wrong)?;
    let more = match limit {
        Limit::Tokens | Limit::Turns => whole,
        Limit::Time => whole.saturating_mul(MINUTE_MS),
        Limit::Cost => {
            let part: u64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
            whole.saturating_mul(1_000_000).saturating_add(part)
        }
    };
    if more == 0 { Err(wrong()) } else { Ok(Said::More(more)) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_part_is_told_what_its_whole_has_left_and_can_say_it_back() {
        let of = |limit, left| question(limit, (10, 9, 20), Asker::Part(left));
        let asked = of(Limit::Tokens, Some(4_000));
        assert!(asked.starts_with("This part of a task has used 9 of 10 tokens"), "{asked}");
        assert!(asked.contains("has 4000 tokens left") && asked.contains("such as `4000`"), "{asked}");
        assert!(of(Limit::Tokens, Some(900_000)).contains("such as `100000`"));
        let asked = of(Limit::Cost, Some(123_456));
        assert!(asked.contains("has $0.1234 left") && asked.contains("such as `$0.1234`"), "{asked}");
        assert!(matches!(said(Limit::Cost, "$0.1234"), Ok(Said::More(123_400))));
        assert!(of(Limit::Turns, None).starts_with("This part of a task has taken 9 of 10 turns"));
        let own = question(Limit::Tokens, (10, 9, 20), Asker::Whole);
        assert!(own.starts_with("The task has used") && !own.contains("part"), "{own}");
        assert!(too_much(Limit::Tokens, 0).contains("nothing left"));
        assert!(too_much(Limit::Tokens, 7).contains("7 tokens left"));
    }

    #[test]
    fn an_answer_about_a_limit_is_an_amount_of_it_or_the_end() {
        let more = |limit, text| match said(limit, text) {
            Ok(Said::More(more)) => Ok(more),
            Ok(Said::End) => Ok(0),
            Err(why) => Err(why),
        };
        assert_eq!(more(Limit::Tokens, " 100,000 "), Ok(100_000));
        assert_eq!(more(Limit::Cost, "$1.5"), Ok(1_500_000));
        assert_eq!(more(Limit::Time, "30"), Ok(1_800_000));
        assert_eq!(more(Limit::Turns, "10"), Ok(10));
        assert_eq!(more(Limit::Tokens, "End here."), Ok(0));
        for (limit, text) in [
            (Limit::Tokens, "0"),
            (Limit::Tokens, "-5"),
            (Limit::Tokens, "1.5"),
            (Limit::Tokens, "go on"),
            (Limit::Tokens, "2000000000"),
            (Limit::Cost, "1.2345678"),
            (Limit::Turns, "65"),
            (Limit::Time, ""),
        ] {
            assert!(more(limit, text).unwrap_err().contains("or `end`"), "{limit} {text}");
        }
    }
}
