//! What a server at an address asks for in the stream of an answer: a sign of life is answered, a question goes to the
//! person, and everything else is refused with words. Each answer is a message of its own.

use crate::form::{Answer, Form};
use crate::sampled::{self, NOT_OFFERED};
use effects::{Endpoint, Heard, Offers, Over, Progress, Sampled, Standing};
use model::limits::{SERVER_QUESTION_MS, SERVER_QUESTIONS_MAX};
use model::tool_server::words_for_model;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a question that waits is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How long an answer to the server may take to arrive.
const ANSWER: Duration = Duration::from_secs(10);
/// Requests of a server that are answered during one call; what comes after them is not heard.
const REQUESTS_MAX: usize = 64;
/// Letters of a report of progress.
const TOLD_MAX: usize = 200;

/// By these a server tells that what it offers is something else now.
const LISTS_CHANGED: [&str; 3] = [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
];

/// Hears what comes in the stream of one answer, and answers what is asked in it.
pub(crate) struct RemoteEars<'a> {
    pub(crate) endpoint: Arc<Endpoint>,
    /// What stands above each message.
    pub(crate) head: Vec<(String, String)>,
    pub(crate) heard: Heard<'a>,
    /// What came and is no whole event yet.
    rest: Vec<u8>,
    /// Questions that were put to the person.
    pub(crate) questions: usize,
    requests: usize,
    /// It told that what it offers is something else now.
    pub(crate) changed: bool,
    /// Time that the person or a model took, as far as it has passed: it is not the tool's.
    asked_for: &'a Cell<Duration>,
    /// Why the call is ended, once it is to be.
    stop: &'a RefCell<Option<String>>,
    offers: Offers,
}

impl<'a> RemoteEars<'a> {
    pub(crate) fn new(
        endpoint: Arc<Endpoint>,
        head: Vec<(String, String)>,
        offers: Offers,
        heard: Heard<'a>,
        (asked_for, stop): (&'a Cell<Duration>, &'a RefCell<Option<String>>),
    ) -> Self {
        Self {
            endpoint,
            head,
            heard,
            rest: Vec::new(),
            questions: 0,
            requests: 0,
            changed: false,
            asked_for,
            stop,
            offers,
        }
    }

    /// Takes a piece of the stream, and does what the whole events in it ask for. `over` says whether nobody waits any more.
    pub(crate) fn take(&mut self, piece: &[u8], over: &mut dyn FnMut() -> bool) {
        // What was looked at before is not looked at again: an event may come in a thousand pieces.
        let mut from = self.rest.len().saturating_sub(2);
        self.rest.extend_from_slice(piece);
        while let Some(end) = end_of_event(&self.rest, from) {
            if over() {
                return;
            }
            let event: Vec<u8> = self.rest.drain(..end).collect();
            from = 0;
            if let Some(message) = message_of(&event) {
                self.hear(&message, over);
            }
        }
    }

    fn hear(&mut self, message: &Value, over: &mut dyn FnMut() -> bool) {
        let Some(method) = message.get("method").and_then(Value::as_str) else { return };
        let params = message.get("params").cloned().unwrap_or_default();
        if method == "notifications/progress" {
            let words = params.get("message").and_then(Value::as_str).unwrap_or_default();
            let done = params.get("progress").map(Value::to_string).unwrap_or_default();
            return (self.heard)(Progress::Told(&words_for_model(&format!("{done} {words}"), TOLD_MAX)));
        }
        if LISTS_CHANGED.contains(&method) {
            self.changed = true;
        }
        let Some(id) = message.get("id").filter(|id| id.is_string() || id.is_number()) else { return };
        self.requests = self.requests.saturating_add(1);
        if self.requests > REQUESTS_MAX {
            return;
        }
        let answer = match method {
            "ping" => json!({ "result": {} }),
            "elicitation/create" => json!({ "result": self.put(&params, over) }),
            "sampling/createMessage" if self.offers.sampling => self.sample(&params, over),
            "sampling/createMessage" => json!({ "error": { "code": -32601, "message": NOT_OFFERED } }),
            other => {
                let why = format!("Hermit does not do `{}` for a server", words_for_model(other, 80));
                json!({ "error": { "code": -32601, "message": why } })
            }
        };
        self.answer(id, answer, over);
    }

    /// What a server wants to know before it goes on; or why it does not get that.
    pub(crate) fn answer_to(
        &mut self,
        method: &str,
        params: &Value,
        over: &mut dyn FnMut() -> bool,
    ) -> Result<Value, String> {
        let none =
            |what: &str| format!("it wants `{}` first, which it does not get", words_for_model(what, 80));
        match method {
            "elicitation/create" => Ok(self.put(params, over)),
            "sampling/createMessage" if self.offers.sampling => {
                let mut told = self.sample(params, over);
                let why =
                    told.pointer("/error/message").and_then(Value::as_str).unwrap_or_default().to_owned();
                let result = told.get_mut("result").map(Value::take);
                result.ok_or_else(|| format!("{}: {why}", none(method)))
            }
            "sampling/createMessage" => Err(format!("{}: {NOT_OFFERED}", none(method))),
            other => Err(none(other)),
        }
    }

    fn answer(&self, id: &Value, mut answer: Value, over: &mut dyn FnMut() -> bool) {
        if over() {
            return;
        }
        if let Some(members) = answer.as_object_mut() {
            members.insert("jsonrpc".to_owned(), json!("2.0"));
            members.insert("id".to_owned(), id.clone());
        }
        let head: Vec<(&str, &str)> = self.head.iter().map(|(name, value)| (&**name, &**value)).collect();
        // A server that does not take it goes without; its tool says what came of that.
        let mut ended = || over().then(|| "nobody waits for it any more".to_owned());
        let _ = self.endpoint.post(&head, answer.to_string().as_bytes(), ANSWER, &mut ended);
    }

    /// Has a model asked, for as long as somebody waits for the tool; what the server is told of it.
    fn sample(&mut self, params: &Value, over: &mut dyn FnMut() -> bool) -> Value {
        let refused = |why: String| json!({ "error": { "code": -32600, "message": why } });
        let question = sampled::question(params);
        let (since, before) = (Instant::now(), self.asked_for.get());
        let over = RefCell::new(over);
        let is_over = || {
            // What a model takes is not the tool's.
            self.asked_for.set(before.saturating_add(since.elapsed()));
            (over.borrow_mut())().then(|| "nobody waits for its tool any more".to_owned())
        };
        (self.heard)(Progress::Samples(&question, Over::new(&is_over)));
        let took = match question.came() {
            Sampled::Answered { .. } | Sampled::NoAnswer => since.elapsed(),
            // What is refused is.
            Sampled::Refused(_) | Sampled::Stop(_) => Duration::ZERO,
        };
        self.asked_for.set(before.saturating_add(took));
        if let Sampled::Stop(why) = question.came() {
            *self.stop.borrow_mut() = Some(why);
        }
        sampled::answer(&question).map_or_else(refused, |result| json!({ "result": result }))
    }

    /// Puts a question to the person and waits for what they say.
    fn put(&mut self, params: &Value, over: &mut dyn FnMut() -> bool) -> Value {
        let form = if self.questions < SERVER_QUESTIONS_MAX { Form::of(params).ok() } else { None };
        self.questions = self.questions.saturating_add(1);
        let Some(mut form) = form else { return json!({ "action": "decline" }) };
        let answer = loop {
            let asking = form.question();
            match self.wait(&asking, over) {
                Some(said) => {
                    if let Some(answer) = form.take(&said) {
                        break answer;
                    }
                }
                None => break Answer::Decline,
            }
        };
        match answer {
            Answer::Accept(content) => json!({ "action": "accept", "content": content }),
            Answer::Decline => json!({ "action": "decline" }),
            Answer::Cancel => json!({ "action": "cancel" }),
        }
    }

    /// What the person said to one question; nothing where nobody answers it, or nobody waits any more.
    fn wait(&mut self, asking: &effects::Asking, over: &mut dyn FnMut() -> bool) -> Option<String> {
        let (since, before) = (Instant::now(), self.asked_for.get());
        loop {
            (self.heard)(Progress::Asks(asking));
            self.asked_for.set(before.saturating_add(since.elapsed()));
            match asking.standing() {
                Standing::Answered(said) => return Some(said),
                Standing::Waits(name) => {
                    let late = since.elapsed() > Duration::from_millis(SERVER_QUESTION_MS.unsigned_abs());
                    if late || over() {
                        asking.stands(Standing::GivenUp(name));
                        (self.heard)(Progress::Asks(asking));
                        return None;
                    }
                }
                Standing::New | Standing::Closed(_) | Standing::GivenUp(_) => return None,
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Behind the first whole event: an empty line, however lines end.
fn end_of_event(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at = at.saturating_add(bytes.get(at..)?.iter().position(|byte| *byte == b'\n')?).saturating_add(1);
        match bytes.get(at..)? {
            [b'\n', ..] => return Some(at.saturating_add(1)),
            [b'\r', b'\n', ..] => return Some(at.saturating_add(2)),
            _ => {}
        }
    }
}

/// The message that an event carries.
fn message_of(event: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(event);
    let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data:")).collect();
    serde_json::from_str(&data.join("\n")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_whole_however_its_lines_end() {
        for text in ["data: 1\n\nrest", "data: 1\r\n\r\nrest", "data: 1\n\r\nrest"] {
            let end = end_of_event(text.as_bytes(), 0).expect("an event");
            assert_eq!(text.get(end..), Some("rest"), "{text:?}");
            assert_eq!(end_of_event(text.as_bytes(), end.saturating_sub(3)), Some(end), "{text:?} in pieces");
            assert_eq!(message_of(&text.as_bytes()[..end]), Some(json!(1)));
        }
        assert_eq!(end_of_event(b"data: 1\n", 0), None);
        assert_eq!(message_of(b"event: x\n: alive"), None);
    }
}
