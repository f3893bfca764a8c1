//! What a task is doing, told by the notices of its host: the state that a line, a log and a screen draw from.

use crate::output::{Row, Tone};
use crate::printed::printed;
use crate::text::{capital, plain};
use acts::{doing, money};
use host::Session;
use serde_json::Value;
use std::time::{Duration, Instant};
use wire::Notice;
use wire::task::{Show, Task};
use wire::task_events::{Event, List};
use words::act::ActionClass;
use words::number::grouped;
use words::task::Proposer;

/// What is told when a person has approved an act.
pub const APPROVED: &str = "You approved it.";
/// How the words begin that say a person said no.
pub const DENIED: &str = "You denied it";

/// Characters of what a model says that are kept until its line ends.
const PROSE_CHARS: usize = 2_000;

/// What a notice told.
#[derive(Debug, PartialEq, Eq)]
pub enum Told {
    /// It does something else now; a log keeps what is `kept`.
    Doing { kept: bool },
    /// A whole line of what the model says.
    Said(String),
    /// How an act ended, or what a person answered.
    Came(Row),
    /// A number or a word of a line that has not ended.
    More,
}

/// What a task has used since it is watched.
#[derive(Debug, Clone, Copy)]
pub struct Spent {
    started: Instant,
    tokens: u64,
    cost_micros: u64,
}

impl Spent {
    /// From now on.
    pub fn new() -> Self {
        Self { started: Instant::now(), tokens: 0, cost_micros: 0 }
    }
}

/// Time up to now, tokens and money.
impl std::fmt::Display for Spent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&took(self.started.elapsed()))?;
        if self.tokens > 0 {
            write!(f, " · {} tokens", grouped(self.tokens))?;
        }
        if self.cost_micros > 0 {
            write!(f, " · cost {}", money(self.cost_micros))?;
        }
        Ok(())
    }
}

/// What a task is doing, and what it has used.
pub struct Progress {
    spent: Spent,
    doing: String,
    /// Since when it does that.
    since: Instant,
    prose: Prose,
    /// The line that the model is thinking.
    thought: String,
    /// The act under way only looks.
    looks: bool,
    /// Its class.
    class: Option<ActionClass>,
    /// How acts end is told as well.
    results: Results,
}

/// Whether it is told how acts end, which costs a look at the store for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    Told,
    Not,
}

/// What the model says in this turn.
#[derive(Default)]
struct Prose {
    line: String,
    /// It began as a call and not as words.
    machine: bool,
    begun: bool,
}

impl Progress {
    pub fn new(results: Results) -> Self {
        Self {
            spent: Spent::new(),
            doing: String::new(),
            since: Instant::now(),
            prose: Prose::default(),
            thought: String::new(),
            looks: false,
            class: None,
            results,
        }
    }

    /// What it does, in words that are plain.
    pub fn doing(&self) -> &str {
        &self.doing
    }

    /// The class of the act under way.
    pub const fn class(&self) -> Option<ActionClass> {
        self.class
    }

    /// The line that the model is saying, as far as it has come.
    pub fn saying(&self) -> Option<String> {
        let words = self.prose.line.trim();
        (!words.is_empty()).then(|| plain(words))
    }

    /// How long it does that.
    pub fn for_how_long(&self) -> Duration {
        self.since.elapsed()
    }

    /// What it has used.
    pub const fn spent(&self) -> Spent {
        self.spent
    }

    /// What a notice tells of this task, in the order in which it is shown.
    pub fn hear(&mut self, session: &Session, task: &str, notice: &Notice) -> Vec<Told> {
        match notice {
            Notice::Event { task_id, task_seq, event_type, .. } if task_id == task => {
                self.event(session, task, *task_seq, event_type)
            }
            Notice::Delta { task_id, text, .. } if task_id == task => self.said(text),
            Notice::Reasoning { task_id, text, .. } if task_id == task => self.thinks(text),
            Notice::Progress { task_id: Some(id), what, total: 0, .. } if id == task => {
                self.now(capital(&plain(what)), false)
            }
            Notice::Progress { task_id: Some(id), what, done, total } if id == task => {
                self.now(format!("{}, {done} of {total}", capital(&plain(what))), false)
            }
            _ => Vec::new(),
        }
    }

    fn event(&mut self, session: &Session, task: &str, seq: u64, event_type: &str) -> Vec<Told> {
        match event_type {
            "attempt.model_requested" => {
                self.prose = Prose::default();
                self.thought.clear();
                let body = body(session, task, seq);
                let proposer = body.as_ref().and_then(|body| word(body, "provider").parse().ok());
                self.now(waits_for(proposer.unwrap_or(Proposer::Model)).to_owned(), false)
            }
            "attempt.model_responded" => self.flush().into_iter().collect(),
            "attempt.model_failed" => self.now("The model did not answer; trying again".to_owned(), true),
            "attempt.model_fell_back" | "task.limit_raised" => {
                let Some(body) = body(session, task, seq) else { return Vec::new() };
                self.now(went_on(event_type, &body), true)
            }
            "trial.started" => {
                let Some(body) = body(session, task, seq) else { return Vec::new() };
                self.now(format!("Trying in a copy of the folder: {}", plain(word(&body, "summary"))), false)
            }
            "action.requested" => {
                let Some(body) = body(session, task, seq) else { return Vec::new() };
                self.looks = word(&body, "action_class").starts_with("read");
                self.class = word(&body, "action_class").parse().ok();
                match word(&body, "summary") {
                    "" => Vec::new(),
                    summary => self.now(doing(&plain(summary)), true),
                }
            }
            "effect.progressed" => {
                let Some(body) = body(session, task, seq) else { return Vec::new() };
                self.now(running(&body), body.get("checkpoint").is_some_and(Value::is_object))
            }
            "budget.settled" => {
                let found = body(session, task, seq);
                let number = |name: &str| {
                    found.as_ref().and_then(|body| body.get(name)).and_then(Value::as_u64).unwrap_or(0)
                };
                self.spent.tokens = self.spent.tokens.saturating_add(number("tokens"));
                self.spent.cost_micros = self.spent.cost_micros.saturating_add(number("cost_micros"));
                vec![Told::More]
            }
            "policy.evaluated" | "effect.observed" | "receipt.issued" | "approval.granted"
            | "approval.denied" | "witness.drifted"
                if self.results == Results::Told =>
            {
                let body = body(session, task, seq);
                let Some(body) = body else { return Vec::new() };
                let came = came(event_type, &body, self.looks, || {
                    session.call(&Show { task: task.to_owned() }).ok()
                });
                let printed =
                    if event_type == "effect.observed" { printed(session, &body) } else { Vec::new() };
                printed.into_iter().chain(came).map(Told::Came).collect()
            }
            _ => Vec::new(),
        }
    }

    fn now(&mut self, doing: String, kept: bool) -> Vec<Told> {
        if self.doing == doing {
            return vec![Told::More];
        }
        self.doing = doing;
        self.since = Instant::now();
        vec![Told::Doing { kept }]
    }

    /// A piece of what the model reasons: the newest line of it is what the task is doing, and none of it is kept.
    fn thinks(&mut self, text: &str) -> Vec<Told> {
        for c in text.chars() {
            if c == '\n' || self.thought.chars().count() >= PROSE_CHARS {
                self.thought.clear();
            }
            if c != '\n' {
                self.thought.push(c);
            }
        }
        match self.thought.trim() {
            "" => Vec::new(),
            line => self.now(format!("Thinking: {}", plain(line)), false),
        }
    }

    /// A piece of what the model says. What begins as a call is no prose.
    fn said(&mut self, text: &str) -> Vec<Told> {
        let mut told = Vec::new();
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
                told.extend(self.flush());
            }
            if c != '\n' {
                self.prose.line.push(c);
            }
        }
        if !self.prose.line.is_empty() {
            told.push(Told::More);
        }
        told
    }

    /// The line of prose has ended.
    pub fn flush(&mut self) -> Option<Told> {
        let line = std::mem::take(&mut self.prose.line);
        (!line.trim().is_empty()).then(|| Told::Said(plain(&line)))
    }
}

/// How an act ended, or what a person answered, where an event tells it; a look that succeeded needs no word.
fn came(event_type: &str, body: &Value, looks: bool, task: impl Fn() -> Option<Task>) -> Option<Row> {
    let said = |tone: Tone, text: &str| Some((tone, format!("  {text}")));
    match (event_type, word(body, "verdict"), word(body, "result_code")) {
        ("policy.evaluated", "deny", _) => said(Tone::Bad, "Denied by policy."),
        ("approval.granted", ..) => said(Tone::Good, APPROVED),
        ("approval.denied", ..) => match plain(word(body, "feedback")).as_str() {
            "" => said(Tone::Warn, &format!("{DENIED}.")),
            words => said(Tone::Warn, &format!("{DENIED}: {words}")),
        },
        ("witness.drifted", ..) => {
            said(Tone::Warn, "It was changed since you saw it, so your answer no longer counts.")
        }
        ("receipt.issued", ..) if word(body, "receipt_class") == "command_execution" => {
            said(Tone::Faint, &format!("{}.", capital(&plain(word(body, "summary")))))
        }
        ("effect.observed", _, "succeeded") if looks => None,
        ("effect.observed", _, "succeeded") => said(Tone::Good, "Done."),
        ("effect.observed", _, result @ ("failed" | "partial" | "unknown_outcome")) => {
            let how = match result {
                "failed" => "Failed",
                "partial" => "Only in part",
                _ => "Nobody saw how it ended",
            };
            let id = word(body, "action_request_id");
            let acts = task().map(|task| task.actions).unwrap_or_default();
            let act = acts.into_iter().find(|act| act.action_request_id == id);
            let trouble = act.and_then(|act| act.trouble);
            match trouble {
                Some(trouble) => said(Tone::Bad, &format!("{how}: {}", plain(&trouble.to_string()))),
                None => said(Tone::Bad, &format!("{how}.")),
            }
        }
        _ => None,
    }
}

/// How long an act is under way, and what it says of itself.
fn running(body: &Value) -> String {
    let elapsed = body.get("elapsed_ms").and_then(Value::as_u64).unwrap_or(0);
    let time = took(Duration::from_secs(elapsed / 1_000));
    match plain(word(body, "note")).as_str() {
        "" => format!("Running for {time}"),
        note if body.get("checkpoint").is_some_and(Value::is_object) => {
            format!("Running for {time}, checkpoint: {note}")
        }
        note => format!("Running for {time}, {note}"),
    }
}

/// The body of one event of a task.
fn body(session: &Session, task: &str, seq: u64) -> Option<Value> {
    let list = List { task: task.to_owned(), after_seq: seq.checked_sub(1)?, limit: Some(1) };
    let event: Event = session.call(&list).ok()?.events.into_iter().next()?;
    Some(event.body)
}

fn word<'v>(body: &'v Value, name: &str) -> &'v str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// How long it took, as a person says it.
pub fn took(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// A model that another one stands in for, or a limit that a person raised.
fn went_on(event_type: &str, body: &Value) -> String {
    let name = |of: &str| plain(word(body, of));
    let number = |of: &str| grouped(body.get(of).and_then(Value::as_u64).unwrap_or_default());
    match event_type {
        "task.limit_raised" => {
            format!(
                "Goes on: the limit of {} is {} now, and was {}",
                name("limit"),
                number("allowed"),
                number("was")
            )
        }
        _ => {
            let away = body.get("remote").and_then(Value::as_bool).unwrap_or_default();
            let away = if away { ", on another machine," } else { "" };
            format!("{} did not answer; {}{away} is asked from now on", name("from_model"), name("to_model"))
        }
    }
}

/// What is done while this proposer is asked.
const fn waits_for(proposer: Proposer) -> &'static str {
    match proposer {
        Proposer::Model => "Waiting for the model",
        Proposer::Recorded => "Reading the recorded answer",
        Proposer::Scripted => "Reading the answer",
        Proposer::Playbook => "Choosing the next step of the playbook",
        Proposer::Rollback => "Planning the undo",
        Proposer::Session => "Waiting for the other agent",
        Proposer::Tools => "Preparing the question",
        Proposer::Guest => "Preparing the agent's turn",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_uses_is_said_in_words() {
        assert_eq!(took(Duration::from_secs(75)), "1 min 15 s");
        assert_eq!("playbook".parse().map(waits_for), Ok("Choosing the next step of the playbook"));
        assert_eq!(money(1_234_567), "$1.2345");
        let running = |checkpoint: Value| {
            running(
                &serde_json::json!({ "elapsed_ms": 75_900, "note": "14 KB printed", "checkpoint": checkpoint }),
            )
        };
        assert_eq!(running(Value::Null), "Running for 1 min 15 s, 14 KB printed");
        let kept = serde_json::json!({ "artifact_id": "art_1" });
        assert_eq!(running(kept), "Running for 1 min 15 s, checkpoint: 14 KB printed");
    }
}
