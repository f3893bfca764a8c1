//! A question that an agent puts to a person: shown with its choices, and answered in place.

use crate::card_screen::Front;
use crate::output::{Row, Tone};
use crate::terminal::{Echo, Typed};
use crate::text::{clip, paragraph, plain, time};
use host::Session;
use serde::Serialize;
use wire::Error;
use wire::task::{Answer, Question, Questions, Task};
use words::task::WaitsFor;

/// Characters of a question or a choice on the screen.
const WORDS: usize = 2_000;
/// Choices on the screen.
const CHOICES: usize = 40;

/// A task, and what it asks: the question itself beside its identifier.
#[derive(Serialize)]
pub struct Asking<'t> {
    /// The task.
    #[serde(flatten)]
    pub task: &'t Task,
    /// The question it waits on.
    pub question: Option<Question>,
}

impl<'t> Asking<'t> {
    /// A task with its open question, if it waits on one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(session: &Session, task: &'t Task) -> Result<Self, Error> {
        let waits = task.waits_for.as_ref().filter(|waits| waits.kind == WaitsFor::Answer);
        let Some(id) = waits.and_then(|waits| waits.id.clone()) else {
            return Ok(Self { task, question: None });
        };
        let (id_of, status) = (Some(task.row.task_id.clone()), Some("pending".to_owned()));
        let found = session.call(&Questions { task: id_of, status, after: None, limit: None })?;
        let question = found.rows.into_iter().find(|question| question.question_id == id);
        Ok(Self { task, question })
    }
}

/// The question and its choices, numbered.
pub fn rows(question: &Question) -> Vec<Row> {
    let asks = format!("It asks: {}", paragraph(&clip(&question.question.to_string(), WORDS)));
    let mut rows = vec![(Tone::Plain, String::new())];
    rows.extend(asks.lines().map(|line| (Tone::Bold, line.to_owned())));
    let who = wire::who_asks(question.part_of.as_ref(), question.agent.as_deref());
    rows.extend(who.iter().map(|line| (Tone::Faint, format!("  {}", plain(line)))));
    for (number, choice) in question.choices.iter().take(CHOICES).enumerate() {
        rows.push((Tone::Plain, format!("  {}  {}", number + 1, plain(&clip(&choice.to_string(), WORDS)))));
    }
    if let Some(more) = question.choices.len().checked_sub(CHOICES).filter(|more| *more > 0) {
        rows.push((Tone::Faint, format!("  and {more} more choices: `hermit task show --json`")));
    }
    rows.push((Tone::Faint, format!("  Expires {}.", time(question.expires_at))));
    rows
}

/// Takes the answer of the person at the terminal; false when they left it for later.
///
/// # Errors
/// When the store cannot be asked.
pub fn answer(front: &mut dyn Front, session: &Session, task: &Task) -> Result<bool, Error> {
    let Some(question) = Asking::of(session, task)?.question else { return Ok(false) };
    front.show(rows(&question));
    front.arm();
    let prompt = match question.choices.is_empty() {
        true => "Your answer (Ctrl-C leaves it for later): ",
        false => "Your answer, a number or your own words (Ctrl-C leaves it for later): ",
    };
    loop {
        let Typed::Line(line) = front.ask(None, prompt, Echo::Shown)? else { return Ok(false) };
        let Some(text) = chosen(line.trim(), &question) else {
            front.remark("That is not one of the choices.");
            continue;
        };
        if text.is_empty() {
            front.remark("Enter alone answers nothing.");
            continue;
        }
        let (task, id) = (task.row.task_id.clone(), Some(question.question_id.clone()));
        let channel = Some("cli".to_owned());
        match session.call(&Answer { task, question: id, text, spoken: false, channel }) {
            Err(error) if error.code == wire::Code::Usage => front.remark(&error.message),
            came => return came.map(|_| true),
        }
    }
}

/// The words meant: those of a choice by its number, else what was typed. `None` for a number that names no choice.
fn chosen(typed: &str, question: &Question) -> Option<String> {
    let Ok(number) = typed.parse::<usize>() else { return Some(typed.to_owned()) };
    if question.choices.is_empty() {
        return Some(typed.to_owned());
    }
    let choice = question.choices.get(number.checked_sub(1)?)?;
    choice.shown().map(str::to_owned)
}
