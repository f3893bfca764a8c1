//! One conversation with a server that is reached by an address: Streamable HTTP as of 2025-11-25, one request for each
//! message. Its answer is one message or a stream of them, which is read to its end within bounds; what the server asks
//! for in it is answered by `remote_ears`, and no stream is opened beside it.
//!
//! It is written here, over the way out that is lent: the client of `rmcp` looks hosts up by itself, opens a second
//! stream, and sends a message again when a session has lapsed, so that nobody could say whether a tool was called once.

use crate::conversation::{
    Listed, PAGES_MAX, capabilities, prompt_of, reply_of, reply_of_prompt, reply_of_resource, resource_of,
    template_of, tool_of, whole,
};
use crate::remote_ears::RemoteEars;
use effects::{Ended, Endpoint, Heard, NoReply, Offers, Reply, ToolCall, ToolReply, ToolSession, Unspoken};
use model::limits::{
    CALL_REPLY_BYTES_MAX, SERVER_PROMPTS_MAX, SERVER_QUESTION_MS, SERVER_QUESTIONS_MAX, SERVER_RESOURCES_MAX,
    SERVER_TOOLS_MAX,
};
use model::server_part::ServerPart;
use model::tool_server::ToolManifest;
use serde_json::{Map, Value, json};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The wire that is asked for.
const WIRE: &str = "2025-11-25";
/// Wires that are spoken: those with sessions that know this transport.
const SPOKEN: [&str; 3] = [WIRE, "2025-06-18", "2025-03-26"];
/// How long it may take to say that a call is given up.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long the questions of one call may keep it open beside its own time.
const QUESTIONS: Duration =
    Duration::from_millis(SERVER_QUESTION_MS.unsigned_abs() * SERVER_QUESTIONS_MAX as u64);
/// Bytes of the name of a session.
const SESSION_BYTES_MAX: usize = 256;

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
        };
        let params = json!({
            "protocolVersion": WIRE, "capabilities": capabilities(offers),
            "clientInfo": { "name": "hermit", "version": env!("CARGO_PKG_VERSION") },
        });
        let no_mcp = |why: String| format!("it does not speak the Model Context Protocol over HTTP: {why}");
        let said = it.ask("initialize", params, within, ended).map_err(in_words)?;
        let greeted = said.map_err(no_mcp)?;
        let wire = greeted.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
        if !SPOKEN.contains(&wire) {
            let named: String = wire.chars().take(40).collect();
            return Err(no_mcp(format!(
                "it wants version \"{}\" of it, and {} are spoken here",
                named.escape_default(),
                SPOKEN.join(", ")
            )));
        }
        it.wire = wire.to_owned();
        it.offers = greeted.get("capabilities").cloned().unwrap_or_default();
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let came = it.post(&told, by.saturating_duration_since(Instant::now()), ended).map_err(no_reply);
        match came.map_err(in_words)?.status {
            200..=299 => Ok(it),
            status => Err(no_mcp(format!("it answers the greeting with status {status}"))),
        }
    }

    fn head(&self) -> Vec<(String, String)> {
        let plain = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let session = self.session.as_deref().map(|session| ("Mcp-Session-Id", session));
        let all = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", self.wire.as_str()),
        ];
        all.into_iter().chain(session).map(plain).collect()
    }

    fn post(&mut self, message: &Value, within: Duration, ended: Ended<'_>) -> Result<Reply, NoReply> {
        let head = self.head();
        let head: Vec<(&str, &str)> = head.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.endpoint.post(&head, message.to_string().as_bytes(), within, ended)
    }

    /// Sends a message, and answers what the server asks for in the stream of its answer. The time that a person takes
    /// is not the tool's.
    fn post_heard(
        &mut self,
        message: &Value,
        within: Duration,
        heard: Heard<'_>,
        ended: Ended<'_>,
    ) -> Result<Reply, NoReply> {
        let head = self.head();
        let own: Vec<(&str, &str)> = head.iter().map(|(name, value)| (&**name, &**value)).collect();
        let ended = RefCell::new(ended);
        let asked_for = Cell::new(Duration::ZERO);
        let begun = Instant::now();
        let late = || begun.elapsed().saturating_sub(asked_for.get()) > within;
        let stop = RefCell::new(None);
        let noted = (&asked_for, &stop);
        let mut ears = RemoteEars::new(Arc::clone(&self.endpoint), head.clone(), self.offered, heard, noted);
        let mut on_piece = |piece: &[u8]| {
            ears.take(piece, &mut || (ended.borrow_mut())().is_some() || stop.borrow().is_some() || late());
        };
        let mut over = || match (ended.borrow_mut())().or_else(|| stop.borrow().clone()) {
            Some(why) => Some(why),
            None => late().then(|| format!("no answer within {} ms", within.as_millis())),
        };
        let longest = within.saturating_add(QUESTIONS);
        let body = message.to_string();
        let came = self.endpoint.post_heard(&own, body.as_bytes(), longest, &mut over, &mut on_piece);
        self.changed |= ears.changed;
        came
    }

    /// Tells the server that nobody waits for its last answer any more. Nobody waits long for that.
    fn give_up(&mut self, why: &str) {
        let params = json!({ "requestId": self.asked, "reason": why });
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        let _ = self.post(&told, FAREWELL, &mut || None);
    }

    /// One request, sent once.
    fn ask(
        &mut self,
        method: &str,
        params: Value,
        within: Duration,
        ended: Ended<'_>,
    ) -> Result<Said, Unspoken> {
        let message = self.request(method, &params);
        let reply = self.post(&message, within, ended).map_err(no_reply)?;
        self.said(&message, &reply)
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params })
    }

    /// What a reply says to a request.
    fn said(&mut self, message: &Value, reply: &Reply) -> Result<Said, Unspoken> {
        let id = message.get("id").cloned().unwrap_or_default();
        if let Some(why) = refused(reply) {
            return Ok(Err(why));
        }
        if reply.status != 200 {
            return Err(Unspoken::Lost(format!("it answered with status {}", reply.status)));
        }
        if self.session.is_none() {
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

impl ToolSession for Remote {
    fn manifest(&mut self, within: Duration, ended: Ended<'_>) -> Result<ToolManifest, String> {
        self.changed = false;
        let by = Instant::now() + within;
        let mut offers = ToolManifest::default();
        if self.has("tools") || !(self.has("resources") || self.has("prompts")) {
            let told = whole(self.pages(("tools", "tools/list", "tools"), SERVER_TOOLS_MAX, by, ended)?)?;
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
        offers.checked()
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
        let message = self.request(method, &params);
        let came = self.post_heard(&message, call.within, heard, ended).map_err(no_reply);
        let said = came.and_then(|reply| self.said(&message, &reply));
        if let Err(Unspoken::Lost(why)) = &said {
            self.give_up(why);
        }
        let result = match said? {
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

/// Why a server did not take a request, if it did not: a status that says so. One that sends elsewhere is not followed.
fn refused(reply: &Reply) -> Option<String> {
    match reply.status {
        status @ 300..=399 => {
            Some(format!("it leads to another address (status {status}), which is not followed"))
        }
        status @ (401 | 403) => Some(format!("it does not accept how Hermit signs in (status {status})")),
        404 => Some("there is no such conversation or address (status 404)".to_owned()),
        status @ 400..=499 => Some(format!("it does not take the request (status {status})")),
        _ => None,
    }
}

/// Whether a reply is the server's own refusal of this request, whatever status stands above it. What refuses the
/// conversation itself, as of one that is over, names no request.
fn is_own_word(message: &Value, reply: &Reply) -> bool {
    let id = message.get("id");
    messages(reply).iter().any(|told| told.get("id") == id && told.get("error").is_some())
}

/// The name that a server gives a conversation.
fn session_of(reply: &Reply) -> Result<Option<String>, String> {
    let Some(session) = header(reply, "mcp-session-id") else { return Ok(None) };
    match !session.is_empty()
        && session.len() <= SESSION_BYTES_MAX
        && session.bytes().all(|b| b.is_ascii_graphic())
    {
        true => Ok(Some(session.to_owned())),
        false => Err("the name that it gives the conversation cannot be kept".to_owned()),
    }
}

fn header<'r>(reply: &'r Reply, name: &str) -> Option<&'r str> {
    reply.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Every whole message of an answer.
fn messages(reply: &Reply) -> Vec<Value> {
    let kind = header(reply, "content-type").unwrap_or_default();
    if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
        return serde_json::from_slice(&reply.body).into_iter().collect();
    }
    let text = String::from_utf8_lossy(&reply.body);
    let mut all = Vec::new();
    let mut data = String::new();
    for line in text.lines() {
        if line.is_empty() {
            all.extend(serde_json::from_str::<Value>(&data).ok());
            data.clear();
        } else if let Some(more) = line.strip_prefix("data:") {
            data.push_str(more.strip_prefix(' ').unwrap_or(more));
            data.push('\n');
        }
    }
    all
}

fn no_reply(no: NoReply) -> Unspoken {
    match no {
        NoReply::NotSent(why) => Unspoken::NotCalled(why),
        NoReply::Lost(why) => Unspoken::Lost(why),
    }
}

fn in_words(why: Unspoken) -> String {
    match why {
        Unspoken::NotCalled(why) | Unspoken::Lost(why) => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(kind: &str, body: &str) -> Reply {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Reply { status: 200, headers, body: body.as_bytes().to_vec(), left_out: None }
    }

    #[test]
    fn a_stream_is_read_event_by_event_and_what_is_not_whole_is_nothing() {
        let stream = "event: message\r\nid: 1\r\ndata: {\"id\":\r\ndata:  1}\r\n\r\n: alive\n\ndata: {\"id\":2}\n\ndata: {\"id\":3}";
        assert_eq!(
            messages(&reply("text/event-stream; charset=utf-8", stream)),
            [json!({"id": 1}), json!({"id": 2})]
        );
        assert_eq!(messages(&reply("application/json", "{\"id\":1}")), [json!({"id": 1})]);
        assert!(messages(&reply("text/html", "<p>")).is_empty());
    }

    #[test]
    fn a_name_of_a_conversation_cannot_end_a_header() {
        let named = |session: &str| {
            let mut reply = reply("application/json", "");
            reply.headers.push(("mcp-session-id".to_owned(), session.to_owned()));
            session_of(&reply)
        };
        assert_eq!(named("abc"), Ok(Some("abc".to_owned())));
        for wrong in ["", "a b", "a\r\nb", &"x".repeat(300)] {
            assert!(named(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_status_that_leads_elsewhere_or_wants_a_key_is_a_refusal_in_words() {
        for (status, word) in [(302, "not followed"), (401, "signs in"), (404, "404"), (405, "405")] {
            let refused = refused(&Reply { status, ..reply("text/html", "") }).unwrap_or_default();
            assert!(refused.contains(word), "{status}: {refused}");
        }
        assert_eq!(refused(&reply("application/json", "{}")), None);
    }

    #[test]
    fn only_an_error_that_names_the_request_is_the_servers_own_refusal() {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "prompts/list" });
        let own = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no such method"}}"#;
        assert!(is_own_word(&message, &reply("application/json", own)));
        assert!(is_own_word(&message, &Reply { status: 404, ..reply("application/json", own) }));
        for other in [
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no such session"}}"#,
            r#"{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"no such method"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            "not found",
        ] {
            let reply = Reply { status: 404, ..reply("application/json", other) };
            assert!(!is_own_word(&message, &reply), "{other}");
        }
    }
}
