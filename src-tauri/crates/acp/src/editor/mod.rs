//! The agent's side, on standard input and output: an editor begins sessions and says what is to be done, and whoever does
//! the work tells how it goes. Nothing that an editor answers is a person's approval, and it is never asked for one.

use crate::VERSION;
use crate::message::{FAILED, Fault, INVALID, Line, Message, NO_METHOD, NOT_FOUND, PARAMS, next_line};
use crate::terms::text_of;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sessions of one connection.
const SESSIONS_MAX: usize = 64;

/// Whoever does the work.
pub trait Works: Send + Sync + 'static {
    /// Whether there can be work in a folder; how it is named from then on.
    ///
    /// # Errors
    /// In words, with what to do.
    fn folder(&self, folder: &Path) -> Result<PathBuf, String>;

    /// Does what a prompt says, until it has ended or a person has to say more. `cancelled` is looked at often.
    ///
    /// # Errors
    /// In words, with what to do.
    fn work(
        &self,
        prompt: &Prompt<'_>,
        tell: &mut dyn FnMut(Told<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Stop, String>;
}

/// What an editor says.
#[derive(Debug)]
pub struct Prompt<'a> {
    /// The folder of its session.
    pub folder: &'a Path,
    /// The task that this session was about before, if it was.
    pub task: Option<&'a str>,
    /// In words.
    pub text: &'a str,
}

/// What an editor is told while work goes on.
#[derive(Debug)]
pub enum Told<'a> {
    /// The task that the session is about from now on.
    Task(&'a str),
    /// Something is said.
    Says(&'a str),
    /// Something is begun, under this name.
    Begins {
        /// Its name, once in a session.
        id: &'a str,
        /// What it is.
        title: &'a str,
        /// Its kind, a word of the protocol.
        kind: &'a str,
    },
    /// How something stands that was begun: a word of the protocol, and more of it in words.
    Stands {
        /// Its name.
        id: &'a str,
        /// `in_progress`, `completed`, `failed`.
        status: &'a str,
        /// In words; may be empty.
        words: &'a str,
    },
    /// The parts of the work, each with how it stands: `pending`, `in_progress`, `completed`.
    Plan(&'a [(String, &'static str)]),
}

/// How a prompt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It is done, or a person has to say more.
    Ended,
    /// It was cancelled.
    Cancelled,
}

/// A session of the connection.
#[derive(Debug, Clone)]
struct Session {
    folder: PathBuf,
    task: Option<String>,
    /// Set when the prompt that is at work is to be cancelled; none while nothing is at work.
    at_work: Option<Arc<AtomicBool>>,
    /// Its place in the order in which sessions were used last.
    used: u64,
}

/// The place behind all of these.
fn latest(sessions: &BTreeMap<String, Session>) -> u64 {
    sessions.values().map(|session| session.used).max().unwrap_or_default().saturating_add(1)
}

struct Server {
    works: Arc<dyn Works>,
    out: Mutex<Box<dyn Write + Send>>,
    sessions: Mutex<BTreeMap<String, Session>>,
    version: String,
}

/// Serves until the editor closes its end. What is at work then goes on as the store's own work does.
///
/// # Errors
/// When its end cannot be read.
pub fn serve(
    works: Arc<dyn Works>,
    version: &str,
    mut from: impl BufRead,
    to: impl Write + Send + 'static,
) -> std::io::Result<()> {
    let (out, sessions) = (Mutex::new(Box::new(to) as _), Mutex::default());
    let server = Arc::new(Server { works, out, sessions, version: version.to_owned() });
    while let Some(line) = next_line(&mut from)? {
        let read = match &line {
            Line::Whole(bytes) => Message::read(bytes).map_err(|wrong| *wrong),
            Line::TooLong => Err((Value::Null, Fault::new(INVALID, "the message is too long"))),
        };
        match read {
            Ok(Message::Asks { id, method, params }) => server.asked(id, &method, params),
            Ok(Message::Tells { method, params }) if method == "session/cancel" => server.cancel(&params),
            // Nothing is ever asked of an editor, so nothing that it answers means anything.
            Ok(Message::Tells { .. } | Message::Answers { .. }) => {}
            Err((id, fault)) => server.say(&Message::Answers { id, with: Err(fault) }),
        }
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// An editor that is gone hears nothing, and its end is seen where it is read.
    fn say(&self, message: &Message) {
        let mut out = lock(&self.out);
        let _ = out.write_all(&message.line()).and_then(|()| out.flush());
    }

    fn asked(self: &Arc<Self>, id: Value, method: &str, params: Value) {
        let with = match method {
            "initialize" => Ok(json!({
                "protocolVersion": VERSION,
                "agentCapabilities": {
                    "loadSession": false,
                    "promptCapabilities": { "image": false, "audio": false, "embeddedContext": false },
                    "mcpCapabilities": { "http": false, "sse": false },
                },
                "agentInfo": { "name": "hermit", "title": "Hermit", "version": self.version },
                "authMethods": [],
            })),
            "authenticate" => Ok(json!({})),
            "session/new" => self.begin(&params),
            "session/prompt" => match self.prompt(&id, &params) {
                Ok(()) => return,
                Err(fault) => Err(fault),
            },
            other => {
                let other: String = other.chars().filter(|c| !c.is_control()).take(100).collect();
                Err(Fault::new(NO_METHOD, format!("Hermit has no method `{other}`")))
            }
        };
        self.say(&Message::Answers { id, with });
    }

    fn begin(&self, params: &Value) -> Result<Value, Fault> {
        let wrong = |why: String| Fault::new(PARAMS, why);
        let cwd = params.get("cwd").and_then(Value::as_str).unwrap_or_default();
        if !Path::new(cwd).is_absolute() {
            return Err(wrong("a session needs `cwd`, the whole path of a folder".to_owned()));
        }
        let folder = self.works.folder(Path::new(cwd)).map_err(wrong)?;
        let mut sessions = lock(&self.sessions);
        if sessions.len() >= SESSIONS_MAX {
            // The one that was used longest ago; one at work stays.
            let idle = sessions
                .iter()
                .filter(|(_, session)| session.at_work.is_none())
                .min_by_key(|(_, session)| session.used)
                .map(|(id, _)| id.clone());
            let idle = idle.ok_or_else(|| wrong(format!("{SESSIONS_MAX} sessions are at work")))?;
            sessions.remove(&idle);
        }
        let next =
            sessions.last_key_value().and_then(|(id, _)| id.strip_prefix("hermit-")?.parse::<u64>().ok());
        let id = format!("hermit-{:06}", next.unwrap_or_default().saturating_add(1));
        let used = latest(&sessions);
        sessions.insert(id.clone(), Session { folder, task: None, at_work: None, used });
        Ok(json!({ "sessionId": id }))
    }

    fn cancel(&self, params: &Value) {
        let named = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        if let Some(at_work) = lock(&self.sessions).get(named).and_then(|session| session.at_work.as_ref()) {
            at_work.store(true, Ordering::SeqCst);
        }
    }

    /// Begins to work a prompt, whose end answers it.
    fn prompt(self: &Arc<Self>, id: &Value, params: &Value) -> Result<(), Fault> {
        let named = params.get("sessionId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let blocks = params.get("prompt").and_then(Value::as_array);
        let blocks = blocks.ok_or_else(|| Fault::new(PARAMS, "`prompt` is a list of content"))?;
        let text = in_words(blocks);
        if text.trim().is_empty() {
            return Err(Fault::new(PARAMS, "the prompt says nothing: write what is to be done"));
        }
        let cancelled = Arc::new(AtomicBool::new(false));
        let session = {
            let mut sessions = lock(&self.sessions);
            let session = sessions.get_mut(&named);
            let session =
                session.ok_or_else(|| Fault::new(NOT_FOUND, "there is no such session; begin a new one"))?;
            if session.at_work.is_some() {
                return Err(Fault::new(
                    INVALID,
                    "a prompt of this session is at work; cancel it, or wait for its end",
                ));
            }
            session.at_work = Some(Arc::clone(&cancelled));
            session.clone()
        };
        let (server, id, key) = (Arc::clone(self), id.clone(), named.clone());
        let thread = std::thread::Builder::new().name("prompt".to_owned());
        let begun = thread.spawn(move || server.work(&id, &key, &session, &text, &cancelled));
        begun.map(drop).map_err(|e| {
            self.rest(&named);
            Fault::new(FAILED, format!("no thread to work with: {e}"))
        })
    }

    fn rest(&self, session: &str) {
        let mut sessions = lock(&self.sessions);
        let used = latest(&sessions);
        if let Some(session) = sessions.get_mut(session) {
            (session.at_work, session.used) = (None, used);
        }
    }

    fn work(&self, id: &Value, named: &str, session: &Session, text: &str, cancelled: &AtomicBool) {
        let prompt = Prompt { folder: &session.folder, task: session.task.as_deref(), text };
        let mut tell = |told: Told<'_>| match told {
            Told::Task(task) => {
                if let Some(session) = lock(&self.sessions).get_mut(named) {
                    session.task = Some(task.to_owned());
                }
            }
            told => {
                let params = json!({ "sessionId": named, "update": update(&told) });
                self.say(&Message::Tells { method: "session/update".to_owned(), params });
            }
        };
        let came = self.works.work(&prompt, &mut tell, &|| cancelled.load(Ordering::SeqCst));
        // The session is free before its editor hears of it, and may go on at once.
        self.rest(named);
        let with = match came {
            Ok(stop) => {
                let reason = match stop {
                    Stop::Ended => "end_turn",
                    Stop::Cancelled => "cancelled",
                };
                Ok(json!({ "stopReason": reason }))
            }
            Err(why) => Err(Fault::new(FAILED, why)),
        };
        self.say(&Message::Answers { id: id.clone(), with });
    }
}

fn update(told: &Told<'_>) -> Value {
    let text = |words: &str| json!({ "type": "text", "text": words });
    match told {
        Told::Task(_) => Value::Null,
        Told::Says(words) => json!({ "sessionUpdate": "agent_message_chunk", "content": text(words) }),
        Told::Begins { id, title, kind } => json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": kind, "status": "pending",
        }),
        Told::Stands { id, status, words } => {
            let content: Vec<Value> = (!words.is_empty())
                .then(|| json!({ "type": "content", "content": text(words) }))
                .into_iter()
                .collect();
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": content })
        }
        Told::Plan(parts) => {
            let entry = |(words, status): &(String, &'static str)| json!({ "content": words, "priority": "medium", "status": status });
            json!({ "sessionUpdate": "plan", "entries": parts.iter().map(entry).collect::<Vec<_>>() })
        }
    }
}

/// What the blocks of a prompt say, one after the other. Of a file that an editor puts in whole only its place: what it
/// holds is nobody's word to an agent, which reads it as it reads every file.
fn in_words(blocks: &[Value]) -> String {
    let words = |block: &Value| match block.get("type").and_then(Value::as_str) {
        Some("resource") => {
            let uri = block.pointer("/resource/uri").and_then(Value::as_str).unwrap_or_default();
            format!("[{uri}]")
        }
        _ => text_of(block),
    };
    blocks.iter().map(words).collect()
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
