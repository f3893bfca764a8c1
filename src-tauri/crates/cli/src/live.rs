//! What a task is doing now, in words: a line that changes on a terminal, else a quiet log on standard error.

use crate::context::Context;
use crate::output::{Output, Tone};
use crate::text::{capital, clip, plain};
use host::Session;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use wire::task_events::{Event, List};
use wire::{Code, Error, Notice};

/// How often the line is drawn.
const TICK: Duration = Duration::from_millis(120);
/// Characters of what a model says that are kept until its line ends.
const PROSE_CHARS: usize = 2_000;
/// Characters of one line of the log.
const LOG_CHARS: usize = 200;

/// What is shown while a task works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Show {
    /// A line that changes where a person watches, else a log.
    #[default]
    Usual,
    /// A log, also on a terminal.
    Log,
    /// Nothing.
    Quiet,
}

/// Progress; with `--json` every notice is a line of its own on standard error.
pub struct Live {
    heard: Option<Receiver<Notice>>,
    out: Output,
    way: Way,
    bar: Option<ProgressBar>,
    started: std::time::Instant,
    doing: String,
    tokens: u64,
    cost_micros: u64,
    prose: Prose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Json,
    Line,
    Log,
    Quiet,
}

/// What the model says in this turn.
#[derive(Default)]
struct Prose {
    line: String,
    /// It began as a call and not as words.
    machine: bool,
    begun: bool,
}

impl Live {
    pub fn new(context: &Context, heard: Option<Receiver<Notice>>) -> Self {
        let watched = context.terminal.is_some() && std::io::stderr().is_terminal();
        let way = match context.show {
            _ if context.out.is_json() => Way::Json,
            Show::Quiet => Way::Quiet,
            Show::Usual if watched => Way::Line,
            Show::Usual | Show::Log => Way::Log,
        };
        Self {
            heard,
            out: context.out,
            way,
            bar: None,
            started: std::time::Instant::now(),
            doing: String::new(),
            tokens: 0,
            cost_micros: 0,
            prose: Prose::default(),
        }
    }

    /// Tells what came since.
    ///
    /// # Errors
    /// When a notice has no JSON form, which would be a fault of ours.
    pub fn tell(&mut self, session: &Session, task: &str) -> Result<(), Error> {
        let Some(heard) = self.heard.take() else { return Ok(()) };
        for notice in heard.try_iter() {
            match (&notice, self.way) {
                (_, Way::Quiet) => {}
                (_, Way::Json) => {
                    let line = serde_json::to_string(&notice);
                    eprintln!("{}", line.map_err(|e| Error::new(Code::Failed, e.to_string()))?);
                }
                (Notice::Event { task_id, task_seq, event_type, .. }, _) if task_id == task => {
                    self.event(session, task, *task_seq, event_type);
                }
                (Notice::Delta { task_id, text }, _) if task_id == task => self.said(text),
                (Notice::Progress { task_id: Some(id), what, done, total }, _) if id == task => {
                    self.now(format!("{}, {done} of {total}", capital(&plain(what))), false);
                }
                _ => {}
            }
        }
        self.heard = Some(heard);
        Ok(())
    }

    fn event(&mut self, session: &Session, task: &str, seq: u64, event_type: &str) {
        match event_type {
            "attempt.model_requested" => {
                self.prose = Prose::default();
                self.now("Waiting for the model".to_owned(), false);
            }
            "attempt.model_responded" => self.flush(),
            "attempt.model_failed" => self.now("The model did not answer; trying again".to_owned(), true),
            "action.requested" => {
                let found = body(session, task, seq);
                let summary = found.as_ref().and_then(|event| event.body.get("summary"));
                if let Some(summary) = summary.and_then(serde_json::Value::as_str) {
                    self.now(doing(&plain(summary)), true);
                }
            }
            "budget.settled" => {
                let found = body(session, task, seq);
                let number = |name: &str| {
                    found.as_ref().and_then(|event| event.body.get(name)).and_then(serde_json::Value::as_u64)
                };
                self.tokens = self.tokens.saturating_add(number("tokens").unwrap_or(0));
                self.cost_micros = self.cost_micros.saturating_add(number("cost_micros").unwrap_or(0));
                self.draw();
            }
            _ => {}
        }
    }

    /// It does something else now; `kept` things stay in the log.
    fn now(&mut self, doing: String, kept: bool) {
        if self.doing == doing {
            return self.draw();
        }
        if self.way == Way::Log && kept {
            eprintln!("{}", clip(&doing, LOG_CHARS));
        }
        self.doing = doing;
        self.draw();
    }

    /// A piece of what the model says. What begins as a call is no prose.
    fn said(&mut self, text: &str) {
        for c in text.chars() {
            if !self.prose.begun && c.is_whitespace() {
                continue;
            }
            if !self.prose.begun {
                self.prose.begun = true;
                self.prose.machine = matches!(c, '{' | '[' | '`' | '<');
            }
            if self.prose.machine {
                continue;
            }
            if c == '\n' || self.prose.line.chars().count() >= PROSE_CHARS {
                self.flush();
            }
            if c != '\n' {
                self.prose.line.push(c);
            }
        }
        if !self.prose.machine && !self.prose.line.is_empty() {
            self.draw();
        }
    }

    /// A line of prose has ended.
    fn flush(&mut self) {
        let line = std::mem::take(&mut self.prose.line);
        if line.trim().is_empty() {
            return;
        }
        let text = format!("  {}", plain(&line));
        match (self.way, &self.bar) {
            (Way::Line, Some(bar)) => bar.println(self.out.paint(Tone::Faint, &text)),
            (Way::Line, None) => self.out.note(self.out.paint(Tone::Faint, &text)),
            (Way::Log, _) => eprintln!("{}", clip(&text, LOG_CHARS)),
            (Way::Json | Way::Quiet, _) => {}
        }
    }

    fn draw(&mut self) {
        if self.way != Way::Line {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(TICK);
            bar
        });
        let doing = match self.prose.line.trim() {
            "" => self.doing.clone(),
            words => plain(words),
        };
        let mut parts = vec![took(self.started.elapsed())];
        if self.tokens > 0 {
            parts.push(format!("{} tokens", grouped(self.tokens)));
        }
        if self.cost_micros > 0 {
            parts.push(format!("cost {}", money(self.cost_micros)));
        }
        bar.set_message(format!("{}  {doing}", self.out.paint(Tone::Faint, &parts.join(" · "))));
    }

    /// Takes the line away, for what a person is to read.
    pub fn clear(&mut self) {
        self.flush();
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

/// One event of a task.
fn body(session: &Session, task: &str, seq: u64) -> Option<Event> {
    let list = List { task: task.to_owned(), after_seq: seq.checked_sub(1)?, limit: Some(1) };
    session.call(&list).ok()?.events.into_iter().next()
}

/// Verbs of a summary, as what is being done and as what was done.
const VERBS: [(&str, &str, &str); 19] = [
    ("read ", "Reading ", "Read "),
    ("list ", "Listing ", "Listed "),
    ("look at ", "Looking at ", "Looked at "),
    ("search ", "Searching ", "Searched "),
    ("hash ", "Hashing ", "Hashed "),
    ("create ", "Creating ", "Created "),
    ("overwrite ", "Overwriting ", "Overwrote "),
    ("replace ", "Replacing ", "Replaced "),
    ("edit ", "Editing ", "Edited "),
    ("delete ", "Deleting ", "Deleted "),
    ("move ", "Moving ", "Moved "),
    ("run ", "Running ", "Ran "),
    ("fetch ", "Fetching ", "Fetched "),
    ("send ", "Sending ", "Sent "),
    ("make ", "Making ", "Made "),
    ("commit ", "Committing ", "Committed "),
    ("remember ", "Remembering ", "Remembered "),
    ("undo ", "Undoing ", "Undid "),
    ("change ", "Changing ", "Changed "),
];

/// `read "notes.md"` as what is being done.
pub fn doing(summary: &str) -> String {
    in_words(summary, |(_, doing, _)| doing)
}

/// `read "notes.md"` as what was done.
pub fn done(summary: &str) -> String {
    in_words(summary, |(_, _, done)| done)
}

fn in_words(
    summary: &str,
    word: impl Fn(&(&'static str, &'static str, &'static str)) -> &'static str,
) -> String {
    let parts = summary.split(", ").map(|part| {
        let known = VERBS.iter().find_map(|verb| part.strip_prefix(verb.0).map(|rest| (word(verb), rest)));
        known.map_or_else(|| part.to_owned(), |(word, rest)| format!("{}{rest}", word.to_lowercase()))
    });
    capital(&parts.collect::<Vec<_>>().join(", "))
}

/// How long it took, as a person says it.
pub fn took(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// `4080` as `4,080`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Micro-units of a currency.
pub fn money(micros: u64) -> String {
    format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_said_in_words() {
        assert_eq!(doing("read \"notes/meeting 1.md\""), "Reading \"notes/meeting 1.md\"");
        assert_eq!(doing("delete 1 file, overwrite 2 files"), "Deleting 1 file, overwriting 2 files");
        assert_eq!(done("move 79 files"), "Moved 79 files");
        assert_eq!(doing("\"ls\""), "\"ls\"");
        assert_eq!(
            (grouped(4080), grouped(12), grouped(1_234_567)),
            ("4,080".into(), "12".into(), "1,234,567".into())
        );
        assert_eq!(took(Duration::from_secs(75)), "1 min 15 s");
        assert_eq!(money(1_234_567), "$1.2345");
    }
}
