//! The client's side, inside the sandbox of a guest: starts the agent, gives it one prompt, and answers what it asks for.
//!
//! It runs where the agent runs, so that files, programs and the network are held by the sandbox and by nothing that is
//! decided here. What the agent says is printed as lines; what its copy shows afterwards is the truth.

mod answers;
mod files;
mod permission;
mod state;
mod teller;
mod terminals;

pub use teller::{AGENT, CHANGED, LEFT};

use crate::VERSION;
use crate::message::{AUTH, Fault, Line, Message, next_line};
use crate::terms::{ToolCall, text_of};
use serde_json::{Value, json};
use state::State;
use std::ffi::OsString;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use teller::Teller;
use terminals::Terminals;

/// How long it may take to answer before it has been given its prompt.
const GREETING: Duration = Duration::from_secs(60);
/// How long it may take to end a turn that was called off.
const CALLED_OFF: Duration = Duration::from_secs(2);
/// How long its program may take to end when its turn is over.
const LEAVING: Duration = Duration::from_secs(1);
/// How often time is looked at while nothing is heard.
const LOOK: Duration = Duration::from_millis(100);
/// Messages that wait to be read by it.
const UNREAD_MAX: usize = 256;
/// Lines of it that are no messages, told one by one.
const NOISE_MAX: usize = 20;

/// One turn of a guest.
#[derive(Debug)]
pub struct Turn {
    /// What it is asked.
    pub prompt: String,
    /// Whether it goes on with what it did before.
    pub goes_on: bool,
    /// Its program.
    pub program: OsString,
    /// The words behind it.
    pub words: Vec<OsString>,
    /// The folder it works in.
    pub root: PathBuf,
    /// Its HOME.
    pub home: PathBuf,
    /// The program by which it reaches Hermit's tools, with its words.
    pub tools: Option<(String, Vec<String>)>,
    /// The version of Hermit.
    pub version: String,
}

/// What is heard in the course of a turn.
#[derive(Debug)]
pub enum Event {
    /// The agent has said something.
    Line(Line),
    /// The agent says nothing more.
    Closed,
    /// A program that it had run has ended.
    Ended(String, Option<ExitStatus>),
    /// The turn is called off.
    Cancel,
}

/// Why a request came to no answer.
enum Stop {
    Fault(Fault),
    Over(String),
}

/// Works one turn. `cancel` is read, and what comes there or its end calls the turn off.
///
/// # Errors
/// Why it was no success, in words.
pub fn work(
    turn: &Turn,
    out: &mut dyn Write,
    cancel: Option<impl Read + Send + 'static>,
) -> Result<(), String> {
    let mut command = Command::new(&turn.program);
    command.args(&turn.words).current_dir(&turn.root).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child =
        command.spawn().map_err(|e| format!("`{}` could not be started: {e}", turn.program.display()))?;
    let (hear, heard) = sync_channel(UNREAD_MAX);
    let agent = child.stdin.take().map(writes).ok_or("its standard input is not there")?;
    let stdout = child.stdout.take().ok_or("its standard output is not there")?;
    let told = hear.clone();
    std::thread::spawn(move || {
        let mut from = BufReader::new(stdout);
        while let Ok(Some(line)) = next_line(&mut from) {
            if told.send(Event::Line(line)).is_err() {
                return;
            }
        }
        let _ = told.send(Event::Closed);
    });
    if let Some(mut cancel) = cancel {
        let told = hear.clone();
        std::thread::spawn(move || {
            let _ = cancel.read(&mut [0]);
            let _ = told.send(Event::Cancel);
        });
    }
    let mut driver = Driver {
        turn,
        teller: Teller::new(out),
        agent,
        heard,
        hear,
        terminals: Terminals::default(),
        asked: 0,
        session: None,
        called_off: None,
        quiet: false,
        noise: 0,
    };
    let came = driver.turn();
    driver.terminals.end_all();
    driver.teller.end();
    drop(driver);
    leave(&mut child);
    came
}

/// Lets the program end, and ends it.
fn leave(child: &mut Child) {
    let begun = Instant::now();
    while begun.elapsed() < LEAVING && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Writes lines to the agent, by a thread of its own, so that one which does not read keeps nobody.
fn writes(mut stdin: ChildStdin) -> SyncSender<Vec<u8>> {
    let (send, lines) = sync_channel::<Vec<u8>>(UNREAD_MAX);
    std::thread::spawn(move || {
        while let Ok(line) = lines.recv() {
            if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    send
}

struct Driver<'a> {
    turn: &'a Turn,
    teller: Teller<'a>,
    agent: SyncSender<Vec<u8>>,
    heard: Receiver<Event>,
    hear: SyncSender<Event>,
    terminals: Terminals,
    asked: u64,
    session: Option<String>,
    /// Since when the turn is called off.
    called_off: Option<Instant>,
    /// Whether it tells of what was before.
    quiet: bool,
    noise: usize,
}

impl Driver<'_> {
    fn turn(&mut self) -> Result<(), String> {
        let greeted = self.greet()?;
        let mut state = if self.turn.goes_on { State::read(&self.turn.home) } else { State::default() };
        let prompt = self.begin(&greeted, &mut state)?;
        let session = self.session.clone().unwrap_or_default();
        state.session.clone_from(&session);
        state.prompts.push(self.turn.prompt.clone());
        state.write(&self.turn.home);
        let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": prompt }] });
        let answer = self
            .ask("session/prompt", params, None)
            .map_err(|stop| in_words("do what it was asked", stop))?;
        match answer.get("stopReason").and_then(Value::as_str).unwrap_or_default() {
            "end_turn" => Ok(()),
            "cancelled" => Err("it was cancelled".to_owned()),
            "refusal" => Err("it refused to go on".to_owned()),
            "max_tokens" => Err("it ended its turn because its model's answer became too long".to_owned()),
            "max_turn_requests" => {
                Err("it ended its turn because it had asked its model too often".to_owned())
            }
            other => Err(format!("it ended its turn for a reason that is not known here: `{}`", clip(other))),
        }
    }

    /// Greets it, within a time; what it can do.
    fn greet(&mut self) -> Result<Value, String> {
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": { "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true },
            "clientInfo": { "name": "hermit", "title": "Hermit", "version": self.turn.version },
        });
        let greeted = self.ask("initialize", params, Some(GREETING)).map_err(|stop| {
            format!(
                "{}; does this program speak the Agent Client Protocol with these words?",
                in_words("greet", stop)
            )
        })?;
        let speaks = greeted.get("protocolVersion").and_then(Value::as_u64);
        if speaks != Some(u64::from(VERSION)) {
            let speaks = greeted.get("protocolVersion").map(ToString::to_string).unwrap_or_default();
            return Err(format!(
                "it speaks version {} of the Agent Client Protocol, and Hermit speaks {VERSION}",
                clip(&speaks)
            ));
        }
        let named = |name: &str| greeted.pointer(&format!("/agentInfo/{name}")).and_then(Value::as_str);
        if let Some(name) = named("name") {
            self.teller.line(&format!(
                "{AGENT}{} {}",
                clip(name),
                clip(named("version").unwrap_or_default())
            ));
        }
        Ok(greeted)
    }

    /// Begins a conversation, or takes the last one up; what is asked in it.
    fn begin(&mut self, greeted: &Value, state: &mut State) -> Result<String, String> {
        let tools = self.turn.tools.as_ref();
        let tools: Vec<Value> = tools
            .map(|(command, args)| json!({ "name": "hermit", "command": command, "args": args, "env": [] }))
            .into_iter()
            .collect();
        let cwd = self.turn.root.display().to_string();
        let params = json!({ "cwd": cwd, "mcpServers": tools });
        let can = |at: &str| greeted.pointer(at).is_some_and(|can| can.is_object() || can == true);
        let again = match (
            can("/agentCapabilities/sessionCapabilities/resume"),
            can("/agentCapabilities/loadSession"),
        ) {
            (true, _) => Some("session/resume"),
            (false, true) => Some("session/load"),
            (false, false) => None,
        };
        if let Some(method) = again.filter(|_| !state.session.is_empty()) {
            let mut params = params.clone();
            if let Some(params) = params.as_object_mut() {
                params.insert("sessionId".to_owned(), json!(state.session));
            }
            self.quiet = true;
            let taken_up = self.ask(method, params, Some(GREETING));
            self.quiet = false;
            match taken_up {
                Ok(_) => {
                    self.session = Some(state.session.clone());
                    return Ok(self.turn.prompt.clone());
                }
                Err(Stop::Over(why)) => return Err(why),
                Err(Stop::Fault(fault)) => {
                    self.teller
                        .line(&format!("it could not take up what it did before: {}", clip(&fault.message)));
                }
            }
        }
        let begun = self.ask("session/new", params, Some(GREETING)).map_err(|stop| match stop {
            Stop::Fault(fault) if fault.code == AUTH => sign_in(greeted, &fault),
            stop => in_words("begin", stop),
        })?;
        let session = begun.get("sessionId").and_then(Value::as_str).filter(|id| !id.is_empty());
        self.session = Some(session.ok_or("it began and named no session")?.to_owned());
        // Whoever cannot go on is asked all of it; a turn that was broken off is in it already.
        state.prompts.pop_if(|last| *last == self.turn.prompt);
        Ok(state
            .prompts
            .iter()
            .chain([&self.turn.prompt])
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n\n"))
    }

    fn send(&mut self, message: &Message) -> Result<(), Stop> {
        self.agent
            .try_send(message.line())
            .map_err(|_| Stop::Over("it does not read what it is told".to_owned()))
    }

    /// Asks, and answers everything that it asks itself until it has answered.
    fn ask(&mut self, method: &str, params: Value, within: Option<Duration>) -> Result<Value, Stop> {
        self.asked = self.asked.saturating_add(1);
        let ours = json!(self.asked);
        let begun = Instant::now();
        self.send(&Message::Asks { id: ours.clone(), method: method.to_owned(), params })?;
        loop {
            match self.heard.recv_timeout(LOOK) {
                Ok(Event::Line(line)) => {
                    if let Some(Message::Answers { id, with }) = self.message(&line)?
                        && id == ours
                    {
                        return with.map_err(Stop::Fault);
                    }
                }
                Ok(Event::Ended(id, status)) => {
                    let (waiting, exit) = self.terminals.ended(&id, status);
                    for id in waiting {
                        self.send(&Message::Answers { id, with: Ok(exit.clone()) })?;
                    }
                }
                Ok(Event::Cancel) => self.call_off()?,
                Ok(Event::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Stop::Over(format!("its program ended and did not answer `{method}`")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.called_off.is_some_and(|since| self.session.is_none() || since.elapsed() > CALLED_OFF) {
                return Err(Stop::Over("it was cancelled".to_owned()));
            }
            if within.is_some_and(|within| begun.elapsed() > within) {
                let secs = within.unwrap_or_default().as_secs();
                return Err(Stop::Over(format!("it did not answer `{method}` within {secs} seconds")));
            }
        }
    }

    fn call_off(&mut self) -> Result<(), Stop> {
        if self.called_off.is_none() {
            self.called_off = Some(Instant::now());
            if let Some(session) = self.session.clone() {
                let (method, params) = ("session/cancel".to_owned(), json!({ "sessionId": session }));
                self.send(&Message::Tells { method, params })?;
            }
        }
        Ok(())
    }

    /// Takes what it says: an answer is given back, all else is seen to.
    fn message(&mut self, line: &Line) -> Result<Option<Message>, Stop> {
        let read = match line {
            Line::Whole(bytes) => Message::read(bytes)
                .map_err(|wrong| format!("{}: {}", wrong.1.message, clip(&String::from_utf8_lossy(bytes)))),
            Line::TooLong => Err("a message was too long and was passed over".to_owned()),
        };
        match read {
            Ok(Message::Asks { id, method, params }) => {
                if let Some(with) = self.serve(&method, &params, &id)? {
                    self.send(&Message::Answers { id, with })?;
                }
            }
            Ok(Message::Tells { method, params }) => {
                if method == "session/update" && !self.quiet {
                    self.update(params.get("update").unwrap_or(&Value::Null));
                }
            }
            Ok(answer) => return Ok(Some(answer)),
            Err(why) => {
                self.noise = self.noise.saturating_add(1);
                if self.noise <= NOISE_MAX {
                    self.teller.line(&format!("it said what is no message: {why}"));
                }
            }
        }
        Ok(None)
    }

    fn update(&mut self, update: &Value) {
        match update.get("sessionUpdate").and_then(Value::as_str).unwrap_or_default() {
            "agent_message_chunk" => {
                self.teller.says(&update.get("content").map(text_of).unwrap_or_default());
            }
            "tool_call" | "tool_call_update" => {
                if let Ok(call) = serde_json::from_value::<ToolCall>(update.clone()) {
                    self.teller.tool(call, &self.turn.root);
                }
            }
            "plan" => {
                self.teller.plan(update.get("entries").and_then(Value::as_array).map_or(&[], Vec::as_slice))
            }
            // What it thinks, what it was asked, and what its own program would show of itself.
            _ => {}
        }
    }
}

fn in_words(what: &str, stop: Stop) -> String {
    match stop {
        Stop::Over(why) => why,
        Stop::Fault(fault) => {
            let more = fault.data.map(|data| format!(" ({})", clip(&data.to_string()))).unwrap_or_default();
            format!("it could not {what}: {}{more}", clip(&fault.message))
        }
    }
}

/// What an agent says that is not signed in.
fn sign_in(greeted: &Value, fault: &Fault) -> String {
    let methods = greeted.get("authMethods").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<String> =
        methods.filter_map(|method| method.get("name").and_then(Value::as_str)).map(clip).take(8).collect();
    let offers = if names.is_empty() { String::new() } else { format!("; it offers: {}", names.join(", ")) };
    format!(
        "it is not signed in ({}){offers}. A guest signs in with a key alone: name the variable that it reads it from, \
         with `--agent-key VARIABLE=SECRET`",
        clip(&fault.message)
    )
}

/// A few of its letters, on one line.
fn clip(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

#[cfg(test)]
mod tests;
