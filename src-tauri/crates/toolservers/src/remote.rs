//! One conversation with a server that is reached by an address: Streamable HTTP, one request for each message, on the wire
//! without conversations (`stateless`) or, where that is not spoken, on those before. Its answer is one message or a stream of them, which is read to its end within bounds; what the server asks
//! for in it is answered by `remote_ears`, and no stream is opened beside it.
//!
//! It is written here, over the way out that is lent: the client of `rmcp` looks hosts up by itself, opens a second
//! stream, and sends a message again when a session has lapsed, so that nobody could say whether a tool was called once.

mod reply;
#[cfg(test)]
mod tests;

use crate::conversation::{
    Listed, PAGES_MAX, capabilities, prompt_of, reply_of, reply_of_prompt, reply_of_resource, resource_of,
    template_of, tool_of, whole,
};
use crate::remote_ears::RemoteEars;
use crate::schema::Schemas;
use crate::stateless;
use effects::{
    Ended, Endpoint, Heard, NoReply, Offers, Progress, Reply, ToolCall, ToolReply, ToolSession, Unspoken,
};
use model::limits::{
    CALL_REPLY_BYTES_MAX, SERVER_PROMPTS_MAX, SERVER_QUESTION_MS, SERVER_QUESTIONS_MAX, SERVER_RESOURCES_MAX,
    SERVER_TOOLS_MAX,
};
use model::server_part::ServerPart;
use model::tool_server::ToolManifest;
use reply::{in_words, is_own_word, messages, no_reply, refused, session_of};
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The wire of a conversation that is asked for.
const WIRE: &str = "2025-11-25";
/// Wires that are spoken: those with sessions that know this transport.
const SPOKEN: [&str; 3] = [WIRE, "2025-06-18", "2025-03-26"];
/// How long it may take to say that a call is given up.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long the questions of one call may keep it open beside its own time.
const QUESTIONS: Duration =
    Duration::from_millis(SERVER_QUESTION_MS.unsigned_abs() * SERVER_QUESTIONS_MAX as u64);

/// A server that was greeted.
pub(crate) struct Remote {
    endpoint: Arc<Endpoint>,
    /// The name that the server gave this conversation.
    session: Option<String>,
    wire: String,
    asked: u64,
    /// What it says that it offers.
    offers: Value,
    /// What it is offered.
    offered: Offers,
    /// It told that this is something else now.
    changed: bool,
    /// What each of its tools takes, as it said last.
    schemas: BTreeMap<String, Value>,
    looked_at: Schemas,
}

/// What a server said to one request: its result, or its refusal in its own words.
type Said = Result<Value, String>;

impl Remote {
    pub(crate) fn open(
        endpoint: Arc<Endpoint>,
        offers: Offers,
        within: Duration,
        ended: Ended<'_>,
    ) -> Result<Self, String> {
        let by = Instant::now() + within;
        let mut it = Self {
            endpoint,
            session: None,
            wire: WIRE.to_owned(),
            asked: 0,
            offers: Value::Null,
            offered: offers,
            changed: false,
            schemas: BTreeMap::new(),
            looked_at: Schemas::default(),
        };
        match it.discover(within / 2, ended)? {
            true => Ok(it),
            false => it.begin(by, ended).map(|()| it),
        }
    }

    /// Asks on the wire without conversations what the server offers; whether it speaks it. One that does not may say so in any
    /// way, and is then asked to begin a conversation.
    fn discover(&mut self, within: Duration, ended: Ended<'_>) -> Result<bool, String> {
        (self.wire, self.session) = (stateless::WIRE.to_owned(), None);
        let mut message = self.request("server/discover", &json!({}));
        let mut came = self.post(&message, within, ended);
        if came.as_ref().is_ok_and(|reply| messages(reply).iter().any(stateless::says_it_is_spoken)) {
            message = self.request("server/discover", &json!({}));
            came = self.post(&message, within, ended);
        }
        let reply = match came {
            Ok(reply) => reply,
            Err(NoReply::NotSent(why)) => return Err(why),
            // It may know no such question, and hang up.
            Err(NoReply::Lost(_)) => return Ok(false),
        };
        let told = match self.said(&message, &reply) {
            // It has not said yet what it speaks: it wants a log-in first.
            Ok(Err(why)) if matches!(reply.status, 401 | 403) => return Err(why),
            Ok(Ok(told)) => told,
            Ok(Err(_)) | Err(_) => return Ok(false),
        };
        let spoken = told.get("supportedVersions").and_then(Value::as_array);
        self.offers = told.get("capabilities").cloned().unwrap_or_default();
        Ok(spoken.is_some_and(|all| all.iter().any(|one| one == stateless::WIRE)))
    }

    /// Begins a conversation on the wires before.
    fn begin(&mut self, by: Instant, ended: Ended<'_>) -> Result<(), String> {
        (self.wire, self.session) = (WIRE.to_owned(), None);
        let params = json!({
            "protocolVersion": WIRE, "capabilities": capabilities(self.offered),
            "clientInfo": { "name": "hermit", "version": env!("CARGO_PKG_VERSION") },
        });
        let at = self.endpoint.url().to_string();
        let no_mcp = |why: String| {
            format!(
                "`{at}` does not speak the Model Context Protocol over HTTP: {why}; name the whole address of its endpoint, \
                 which often ends with `/mcp`"
            )
        };
        let message = self.request("initialize", &params);
        let left = by.saturating_duration_since(Instant::now());
        let reply = self.post(&message, left, ended).map_err(|no| in_words(no_reply(no)))?;
        let greeted = match self.said(&message, &reply).map_err(|no| no_mcp(in_words(no)))? {
            Ok(greeted) => greeted,
            Err(why) if matches!(reply.status, 401 | 403) => return Err(why),
            Err(why) => return Err(no_mcp(why)),
        };
        let wire = greeted.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !SPOKEN.contains(&wire) {
            let named: String = wire.chars().take(40).collect();
            return Err(no_mcp(format!(
                "it wants version \"{}\" of it, and {}, {} are spoken here",
                named.escape_default(),
                stateless::WIRE,
                SPOKEN.join(", ")
            )));
        }
        self.wire = wire.to_owned();
        self.offers = greeted.get("capabilities").cloned().unwrap_or_default();
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let came = self.post(&told, by.saturating_duration_since(Instant::now()), ended).map_err(no_reply);
        match came.map_err(in_words)?.status {
            200..=299 => Ok(()),
            status => Err(no_mcp(format!("it answers the greeting with status {status}"))),
        }
    }

    fn is_stateless(&self) -> bool {
        self.wire == stateless::WIRE
    }

    fn head(&self, message: &Value) -> Vec<(String, String)> {
        let plain = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let session = self.session.as_deref().map(|session| ("Mcp-Session-Id", session));
        let all = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", self.wire.as_str()),
        ];
        let mut above = if self.is_stateless() { stateless::headers(message) } else { Vec::new() };
        let called = message.pointer("/params/name").and_then(Value::as_str);
        let schema = called.and_then(|name| self.schemas.get(name)).filter(|_| self.is_stateless());
        if let (Some(schema), Some(arguments)) = (schema, message.pointer("/params/arguments"))
            && message.get("method").is_some_and(|method| method == "tools/call")
        {
            above.extend(stateless::arguments_above(schema, arguments));
        }
        all.into_iter().chain(session).map(plain).chain(above).collect()
    }

    fn post(&mut self, message: &Value, within: Duration, ended: Ended<'_>) -> Result<Reply, NoReply> {
        let head = self.head(message);
        let head: Vec<(&str, &str)> = head.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.endpoint.post(&head, message.to_string().as_bytes(), within, ended)
    }

    /// Sends a message, and answers what the server asks for in the stream of its answer. The time that a person takes
    /// is not the tool's.
    fn post_heard(
        &mut self,
        message: &Value,
        within: Duration,
        (heard, ended): (Heard<'_>, Ended<'_>),
        (asked_for, questions): (&Cell<Duration>, &mut usize),
    ) -> Result<Reply, NoReply> {
        let head = self.head(message);
        let own: Vec<(&str, &str)> = head.iter().map(|(name, value)| (&**name, &**value)).collect();
        let ended = RefCell::new(ended);
        let (begun, before) = (Instant::now(), asked_for.get());
        let late = || begun.elapsed().saturating_add(before).saturating_sub(asked_for.get()) > within;
        let stop = RefCell::new(None);
        let noted = (asked_for, &stop);
        let mut ears = RemoteEars::new(Arc::clone(&self.endpoint), head.clone(), self.offered, heard, noted);
        ears.questions = *questions;
        let mut on_piece = |piece: &[u8]| {
            ears.take(piece, &mut || (ended.borrow_mut())().is_some() || stop.borrow().is_some() || late());
        };
        let mut over = || match (ended.borrow_mut())().or_else(|| stop.borrow().clone()) {
            Some(why) => Some(why),
            None => late().then(|| format!("no answer within {}", model::lasting(within))),
        };
        let longest = within.saturating_add(QUESTIONS);
        let body = message.to_string();
        let came = self.endpoint.post_heard(&own, body.as_bytes(), longest, &mut over, &mut on_piece);
        self.changed |= ears.changed;
        *questions = ears.questions;
        came
    }

    /// What a server wanted to know first, by the names that it gave; or why it does not get that.
    fn answers(
        &self,
        asked: Vec<(String, String, Value)>,
        (heard, ended): (Heard<'_>, Ended<'_>),
        (asked_for, questions): (&Cell<Duration>, &mut usize),
    ) -> Result<Result<Map<String, Value>, String>, Unspoken> {
        let stop = RefCell::new(None);
        let noted = (asked_for, &stop);
        let mut ears = RemoteEars::new(Arc::clone(&self.endpoint), Vec::new(), self.offered, heard, noted);
        ears.questions = *questions;
        let mut answers = Map::new();
        for (name, method, params) in asked {
            match ears.answer_to(&method, &params, &mut || ended().is_some()) {
                Ok(answer) => answers.insert(name, answer),
                Err(why) => return stop.take().map_or(Ok(Err(why)), |why| Err(Unspoken::Lost(why))),
            };
        }
        *questions = ears.questions;
        ended().map_or(Ok(Ok(answers)), |why| Err(Unspoken::Lost(why)))
    }

    /// Tells the server that nobody waits for its last answer any more. Nobody waits long for that.
    fn give_up(&mut self, why: &str) {
        // Without a conversation, whoever hangs up has said so.
        if self.is_stateless() {
            return;
        }
        let params = json!({ "requestId": self.asked, "reason": why });
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        let _ = self.post(&told, FAREWELL, &mut || None);
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let whole = self.is_stateless().then(|| stateless::with_meta(params, self.offered));
        json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": whole.as_ref().unwrap_or(params) })
    }

    /// What a reply says to a request.
    fn said(&mut self, message: &Value, reply: &Reply) -> Result<Said, Unspoken> {
        let id = message.get("id").cloned().unwrap_or_default();
        if let Some(why) = refused(reply, self.endpoint.server(), self.endpoint.url()) {
            return Ok(Err(why));
        }
        if reply.status != 200 {
            return Err(Unspoken::Lost(format!("it answered with status {}", reply.status)));
        }
        if self.session.is_none() && !self.is_stateless() {
            self.session = session_of(reply).map_err(Unspoken::Lost)?;
        }
        let answer = messages(reply)
            .into_iter()
            .find(|message| message.get("id") == Some(&id) && message.get("method").is_none());
        let Some(mut answer) = answer else {
            return Err(Unspoken::Lost(match &reply.left_out {
                Some(_) if reply.body.len() >= CALL_REPLY_BYTES_MAX => {
                    format!("it sent more than {CALL_REPLY_BYTES_MAX} bytes")
                }
                Some(_) => "it ended before it answered".to_owned(),
                None => "it answered with something that is no result".to_owned(),
            }));
        };
        match (answer.get_mut("result").map(Value::take), answer.get("error")) {
            (Some(result), None) => Ok(Ok(result)),
            (_, Some(error)) => {
                let words = error.get("message").and_then(Value::as_str).unwrap_or_default();
                let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
                Ok(Err(format!("{words} (code {code})")))
            }
            (None, None) => Err(Unspoken::Lost("it answered with something that is no result".to_owned())),
        }
    }
}

impl Remote {
    /// Whether the server says that it offers such things.
    fn has(&self, what: &str) -> bool {
        self.offers.get(what).is_some_and(Value::is_object)
    }

    /// One list, page by page, until it ends or there is more than is kept.
    fn pages(
        &mut self,
        (what, method, member): (&str, &str, &str),
        most: usize,
        by: Instant,
        ended: Ended<'_>,
    ) -> Result<Listed<Value>, String> {
        let mut all = Vec::new();
        let mut params = json!({});
        for _ in 0..PAGES_MAX {
            let left = by.saturating_duration_since(Instant::now());
            let message = self.request(method, &params);
            let reply = self.post(&message, left, ended).map_err(|no| in_words(no_reply(no)))?;
            let mut page = match self.said(&message, &reply).map_err(in_words)? {
                Ok(page) => page,
                Err(why) => {
                    let why = format!("it does not list its {what}: {why}");
                    let has_none = MAY_LACK.contains(&method) && SAYS_NONE.contains(&reply.status);
                    return match has_none || is_own_word(&message, &reply) {
                        true => Ok((Vec::new(), Some(why))),
                        false => Err(why),
                    };
                }
            };
            match page.get_mut(member).map(Value::take) {
                Some(Value::Array(more)) => all.extend(more),
                _ => return Err(format!("its list of {what} cannot be read: it has no `{member}`")),
            }
            if all.len() > most {
                return Ok((all, Some(format!("it offers more than {most} {what}"))));
            }
            match page.get("nextCursor").filter(|cursor| !cursor.is_null()) {
                None => return Ok((all, None)),
                Some(cursor) => params = json!({ "cursor": cursor }),
            }
        }
        Ok((all, Some(format!("the list of its {what} has more than {PAGES_MAX} pages"))))
    }
}

impl Remote {
    /// A call to its result, asked again with what the server wants to know first, as often as that may be.
    fn rounds(
        &mut self,
        method: &str,
        params: &Value,
        within: Duration,
        (heard, ended): (Heard<'_>, Ended<'_>),
    ) -> Result<Said, Unspoken> {
        let (begun, asked_for, mut questions) = (Instant::now(), Cell::new(Duration::ZERO), 0);
        let mut now = params.clone();
        let mut hear = |told: Progress<'_>| heard(told);
        let mut over = || ended();
        for _ in 0..stateless::ROUNDS_MAX {
            let left = within.saturating_add(asked_for.get()).saturating_sub(begun.elapsed());
            let message = self.request(method, &now);
            let noted = (&asked_for, &mut questions);
            let came = self.post_heard(&message, left, (&mut hear, &mut over), noted).map_err(no_reply);
            let said = came.and_then(|reply| self.said(&message, &reply));
            if let Err(Unspoken::Lost(why)) = &said {
                self.give_up(why);
            }
            let result = match said? {
                Ok(result) => result,
                Err(why) => return Ok(Err(why)),
            };
            // On the wires before, such words mean nothing: whoever sends them is not called again.
            let wants = match self.is_stateless() {
                true => stateless::wants(&result, SERVER_QUESTIONS_MAX).map_err(Unspoken::Lost)?,
                false => None,
            };
            let Some(wants) = wants else { return Ok(Ok(result)) };
            let noted = (&asked_for, &mut questions);
            match self.answers(wants.questions, (&mut hear, &mut over), noted)? {
                Ok(answers) => now = stateless::again(params, answers, wants.state),
                Err(why) => return Ok(Err(why)),
            }
        }
        Err(Unspoken::Lost(format!("it wanted something first {} times", stateless::ROUNDS_MAX)))
    }
}

impl ToolSession for Remote {
    fn manifest(&mut self, within: Duration, ended: Ended<'_>) -> Result<ToolManifest, String> {
        self.changed = false;
        let by = Instant::now() + within;
        let mut offers = ToolManifest::default();
        if self.has("tools") || !(self.has("resources") || self.has("prompts")) {
            let told = whole(self.pages(("tools", "tools/list", "tools"), SERVER_TOOLS_MAX, by, ended)?)?;
            let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
            let (told, left_out) = if self.is_stateless() { fit(told) } else { (told, Vec::new()) };
            offers.left_out = left_out;
            self.schemas = told
                .iter()
                .filter_map(|tool| Some((name(tool)?, tool.get("inputSchema")?.clone())))
                .collect();
            offers.tools = read(told, "tools", serde_json::from_value)?.into_iter().map(tool_of).collect();
        }
        if self.has("resources") {
            let what = ("resources", "resources/list", "resources");
            let (told, _) = self.pages(what, SERVER_RESOURCES_MAX, by, ended)?;
            offers.resources =
                read(told, "resources", serde_json::from_value)?.into_iter().map(resource_of).collect();
            let what = ("templates", "resources/templates/list", "resourceTemplates");
            // Many servers have resources and know no templates.
            let (told, _) = self.pages(what, SERVER_RESOURCES_MAX, by, ended)?;
            offers.templates =
                read(told, "templates", serde_json::from_value)?.into_iter().map(template_of).collect();
        }
        if self.has("prompts") {
            let what = ("prompts", "prompts/list", "prompts");
            let (told, _) = self.pages(what, SERVER_PROMPTS_MAX, by, ended)?;
            offers.prompts =
                read(told, "prompts", serde_json::from_value)?.into_iter().map(prompt_of).collect();
        }
        self.looked_at.sift(offers.checked()?)
    }

    fn call(
        &mut self,
        call: ToolCall,
        heard: Heard<'_>,
        ended: Ended<'_>,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        let arguments: Map<String, Value> = serde_json::from_str(&call.arguments)
            .map_err(|e| Unspoken::NotCalled(format!("the arguments are not one JSON object: {e}")))?;
        let (method, params) = match call.part {
            None => ("tools/call", json!({ "name": call.name, "arguments": arguments })),
            Some(ServerPart::Resource) => ("resources/read", json!({ "uri": call.name })),
            Some(ServerPart::Prompt) => ("prompts/get", json!({ "name": call.name, "arguments": arguments })),
        };
        let result = match self.rounds(method, &params, call.within, (heard, ended))? {
            Ok(result) => result,
            Err(why) => return Ok(Err(why)),
        };
        let unread = |e: serde_json::Error| {
            Unspoken::Lost(format!("it answered with something that is no result: {e}"))
        };
        Ok(Ok(match call.part {
            None => reply_of(serde_json::from_value(result).map_err(unread)?),
            Some(ServerPart::Resource) => reply_of_resource(&serde_json::from_value(result).map_err(unread)?),
            Some(ServerPart::Prompt) => reply_of_prompt(&serde_json::from_value(result).map_err(unread)?),
        }))
    }

    fn has_changed(&self) -> bool {
        self.changed
    }
}

/// Lists that many servers do not know although they say that they have such things.
const MAY_LACK: [&str; 2] = ["resources/templates/list", "prompts/list"];
/// By these, without a word of their own, servers say that they do not know a method.
const SAYS_NONE: [u16; 5] = [400, 404, 405, 410, 422];

/// Tools whose arguments can stand where they want them, and of the others why they are left out.
fn fit(told: Vec<Value>) -> (Vec<Value>, Vec<String>) {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for tool in told {
        match stateless::cannot_stand_above(tool.get("inputSchema").unwrap_or(&Value::Null)) {
            None => kept.push(tool),
            Some(why) => {
                let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
                let name: String = name.chars().take(64).collect();
                left_out.push(format!("its tool `{}`: {why}", name.escape_debug()));
            }
        }
    }
    (kept, left_out)
}

/// A list as its items.
fn read<T>(
    told: Vec<Value>,
    what: &str,
    one: fn(Value) -> Result<T, serde_json::Error>,
) -> Result<Vec<T>, String> {
    let one = |value| one(value).map_err(|e| format!("its list of {what} cannot be read: {e}"));
    told.into_iter().map(one).collect()
}

impl Drop for Remote {
    fn drop(&mut self) {
        if let Some(session) = &self.session {
            self.endpoint.leave(&[("Mcp-Session-Id", session), ("MCP-Protocol-Version", &self.wire)]);
        }
    }
}
