//! Slack, in Socket Mode. The cursor is the time of the newest message that was kept, and a number that tells one poll from
//! the next: with it, what came before is acknowledged. Whenever a socket opens, conversations are asked for what was
//! said since; what is given twice has the same id.

mod events;

use crate::http::{self, Ask, Way};
use crate::render::{Dialect, render};
use crate::{
    Account, Adapter, Attachment, BUTTON_BYTES_MAX, Fault, Incoming, Limits, OutFile, Outgoing,
    POLL_MESSAGES_MAX, Polled, clean, now_ms, split,
};
use events::{of_message, of_press, ts_of};
use serde_json::{Value, json};
use socket::{Heard, Socket};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

const OWN: &str = "https://slack.com/api";
/// Domains that addresses which Slack names are below.
const DOMAINS: [&str; 1] = ["slack.com"];
const TEXT_CHARS: usize = 2800;
/// Length of one block of words.
const BLOCK_CHARS: usize = 3000;
const FILE_BYTES_MAX: usize = 50 * 1024 * 1024;
/// Conversations that are asked for what was missed, and pages of each.
const CONVERSATIONS_MAX: usize = 200;
const PAGES_MAX: usize = 10;
/// Messages may come later than younger ones: so much is asked for again.
const OVERLAP_MS: i64 = 300_000;
/// How long a poll that has something waits for more.
const MORE: Duration = Duration::from_millis(100);
/// Names that are remembered.
const NAMES_MAX: usize = 1000;
/// Errors that tell of a token.
const TOKEN_ERRORS: [&str; 7] = [
    "invalid_auth",
    "not_authed",
    "token_revoked",
    "token_expired",
    "account_inactive",
    "not_allowed_token_type",
    "missing_scope",
];
/// Errors after which nobody knows.
const OWN_ERRORS: [&str; 4] = ["internal_error", "fatal_error", "service_unavailable", "request_timeout"];

pub(crate) struct Slack {
    way: Way,
    app: Zeroizing<String>,
    bot: Zeroizing<String>,
    socket: Option<Socket>,
    /// What came and was not given yet, with its envelope.
    ready: VecDeque<(Incoming, Option<String>)>,
    /// Conversations that are still to be asked for what was missed.
    missed: Vec<String>,
    /// Envelopes of what was given with the last poll.
    given: Vec<String>,
    /// The cursor that the last poll gave.
    cursor: String,
    names: BTreeMap<String, String>,
    notes: Vec<String>,
}

impl Slack {
    pub(crate) fn open(account: &Account, token: Zeroizing<String>) -> Result<Self, String> {
        let mut tokens = token.split_whitespace().map(|one| Zeroizing::new(one.to_owned()));
        let (Some(app), Some(bot), None) = (tokens.next(), tokens.next(), tokens.next()) else {
            return Err("Slack takes two tokens with a blank between: `xapp-…` and `xoxb-…`".to_owned());
        };
        http::fits_a_header(&app)?;
        http::fits_a_header(&bot)?;
        Ok(Self {
            way: Way::open(account, OWN, vec![app.clone(), bot.clone()])?,
            app,
            bot,
            socket: None,
            ready: VecDeque::new(),
            missed: Vec::new(),
            given: Vec::new(),
            cursor: String::new(),
            names: BTreeMap::new(),
            notes: Vec::new(),
        })
    }

    fn call(&self, method: &str, body: &Value, changes: bool) -> Result<Value, Fault> {
        let url = self.way.at(&format!("/{method}"));
        let mut ask = Ask::json("POST", url, body, changes);
        ask.body = ask.body.map(|(_, bytes)| ("application/json; charset=utf-8".to_owned(), bytes));
        self.answer(ask, &self.bot)
    }

    fn get(&self, method: &str, query: &[(&str, &str)]) -> Result<Value, Fault> {
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", http::encoded(value))).collect();
        self.answer(Ask::get(self.way.at(&format!("/{method}?{}", query.join("&"))), crate::CALL), &self.bot)
    }

    fn answer(&self, ask: Ask<'_>, token: &str) -> Result<Value, Fault> {
        let changes = ask.changes;
        let lost = |why: &str| if changes { Fault::unknown(why) } else { Fault::away(why) };
        let answer = self.way.ask(&ask.with("Authorization", &format!("Bearer {token}")))?;
        if !(200..300).contains(&answer.status) {
            let said = answer.json().unwrap_or_default();
            let words = said.get("error").and_then(Value::as_str).unwrap_or_default();
            return Err(self.way.fault(&answer, words, changes));
        }
        let said = answer.json().ok_or_else(|| lost("Slack's answer cannot be read"))?;
        if said.get("ok") == Some(&Value::Bool(true)) {
            return Ok(said);
        }
        let code =
            said.get("error").and_then(Value::as_str).ok_or_else(|| lost("Slack's answer cannot be read"))?;
        let why = format!("Slack says `{}`", self.way.said(code));
        Err(match code {
            code if TOKEN_ERRORS.contains(&code) => Fault::Token { why },
            "ratelimited" | "rate_limited" => Fault::Away { why, retry_after: answer.retry_after },
            code if OWN_ERRORS.contains(&code) => lost(&why),
            _ => Fault::Refused { why },
        })
    }

    /// Opens a socket, and finds out who may have said something meanwhile.
    fn connect(&mut self, is_first: bool) -> Result<(), Fault> {
        let url = self.way.at("/apps.connections.open");
        let said = self.answer(Ask::json("POST", url, &json!({}), false), &self.app)?;
        let url = self.way.own(said.get("url").and_then(Value::as_str).unwrap_or_default(), &DOMAINS)?;
        let socket = Socket::open(&url, self.way.authorities())?;
        self.missed.clear();
        if is_first {
            self.socket = Some(socket);
            return Ok(());
        }
        let kinds = "im,mpim,private_channel,public_channel";
        let query = [("types", kinds), ("exclude_archived", "true"), ("limit", "200")];
        let said = self.get("users.conversations", &query)?;
        let all = said.get("channels").and_then(Value::as_array).cloned().unwrap_or_default();
        let named = all.iter().filter_map(|one| one.get("id").and_then(Value::as_str).and_then(clean::id));
        self.missed = named.take(CONVERSATIONS_MAX).collect();
        // Talks of two come first: the last of the list is asked for first.
        self.missed.sort_by_key(|id| id.starts_with('D'));
        // Presses of buttons are in no history; messages come again.
        self.ready.retain(|(message, _)| message.button.is_some());
        self.socket = Some(socket);
        Ok(())
    }

    /// What was said in a conversation since a time, oldest first.
    fn history(&mut self, conversation: &str, since: &str) -> Result<(), Fault> {
        let (mut found, mut page) = (Vec::new(), String::new());
        for _ in 0..PAGES_MAX {
            let query =
                [("channel", conversation), ("oldest", since), ("limit", "100"), ("cursor", page.as_str())];
            let query = if page.is_empty() { query.get(..3).unwrap_or_default() } else { query.as_slice() };
            let said = match self.get("conversations.history", query) {
                // A conversation that the bot may not read, or has left.
                Err(Fault::Refused { .. }) => {
                    page.clear();
                    break;
                }
                other => other?,
            };
            found.extend(said.get("messages").and_then(Value::as_array).cloned().unwrap_or_default());
            match said.pointer("/response_metadata/next_cursor").and_then(Value::as_str) {
                Some(next) if !next.is_empty() && next != page => page = next.to_owned(),
                _ => {
                    page.clear();
                    break;
                }
            }
        }
        if !page.is_empty() {
            self.notes.push(format!("More was missed in the conversation {conversation} than is read."));
        }
        let mut messages: Vec<Incoming> =
            found.iter().filter_map(|message| of_message(message, conversation)).collect();
        messages.sort_by(|a, b| a.message_id.cmp(&b.message_id));
        self.ready.extend(messages.into_iter().map(|message| (message, None)));
        Ok(())
    }

    /// Reads one envelope; what it holds, or that the socket has ended.
    fn hear(&mut self, until: Instant) -> bool {
        let Some(socket) = &mut self.socket else { return false };
        let envelope = match socket.read(until) {
            Heard::Json(envelope) => envelope,
            Heard::Nothing => return false,
            Heard::End(_) => {
                self.socket = None;
                return false;
            }
        };
        let part = |path: &str| envelope.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let incoming = match part("/type") {
            "disconnect" => {
                self.socket = None;
                return false;
            }
            "events_api" if part("/payload/event/type") == "message" => {
                let channel = part("/payload/event/channel");
                envelope.pointer("/payload/event").and_then(|event| of_message(event, channel))
            }
            "interactive" => envelope.get("payload").and_then(of_press),
            _ => None,
        };
        match (incoming, clean::id(part("/envelope_id"))) {
            (Some(incoming), envelope) => self.ready.push_back((incoming, envelope)),
            // There is nothing to keep, so there is nothing to wait for.
            (None, Some(envelope)) => self.acknowledge(vec![envelope]),
            (None, None) => {}
        }
        true
    }

    /// Says that envelopes need not come again. Where that fails they do, under the ids they had.
    fn acknowledge(&mut self, envelopes: Vec<String>) {
        for envelope in envelopes {
            let heard =
                self.socket.as_mut().is_some_and(|socket| socket.write(&json!({ "envelope_id": envelope })));
            if !heard {
                self.socket = None;
                return;
            }
        }
    }

    /// The name of a user; the id where Slack does not say it.
    fn name(&mut self, user: &str) -> String {
        if let Some(name) = self.names.get(user) {
            return name.clone();
        }
        let Ok(said) = self.get("users.info", &[("user", user)]) else { return clean::name(user) };
        let part = |path: &str| said.pointer(path).and_then(Value::as_str).filter(|name| !name.is_empty());
        let name = part("/user/profile/display_name").or_else(|| part("/user/real_name")).unwrap_or(user);
        let name = clean::name(name);
        if self.names.len() >= NAMES_MAX {
            self.names.clear();
        }
        self.names.insert(user.to_owned(), name.clone());
        name
    }

    /// As much as one poll gives, and the cursor behind it.
    fn give(&mut self, since: i64, number: u64) -> Polled {
        let mut incoming = Vec::new();
        let mut newest = since;
        while incoming.len() < POLL_MESSAGES_MAX {
            let Some((mut message, envelope)) = self.ready.pop_front() else { break };
            message.sender_name = self.name(&message.sender);
            newest = newest.max(message.sent_at);
            self.given.extend(envelope);
            incoming.push(message);
        }
        // As long as something is to be asked for, whoever comes next asks from the same time.
        let is_whole = self.missed.is_empty() && self.ready.is_empty();
        let number = number + u64::from(!incoming.is_empty());
        let time = if is_whole { newest } else { since };
        self.cursor = format!("{time}/{number}");
        Polled { incoming, cursor: self.cursor.clone() }
    }

    fn upload(&self, out: &Outgoing, file: &OutFile) -> Result<String, Fault> {
        if file.bytes.len() > FILE_BYTES_MAX {
            return Err(Fault::refused(format!("no file over {FILE_BYTES_MAX} bytes is sent")));
        }
        let (name, length) = (clean::file_name(&file.name), file.bytes.len().to_string());
        let place = self.get("files.getUploadURLExternal", &[("filename", &name), ("length", &length)])?;
        let part = |field: &str| place.get(field).and_then(Value::as_str).unwrap_or_default();
        let url = self.way.own(part("upload_url"), &DOMAINS)?;
        let id = clean::id(part("file_id")).ok_or_else(|| Fault::away("Slack does not take the file"))?;
        // The bytes alone are in no conversation yet. The address is the permission.
        let answer = self.way.ask(&Ask {
            method: "POST",
            body: Some(("application/octet-stream".to_owned(), file.bytes.clone())),
            ..Ask::get(url.to_string(), 4 * crate::CALL)
        })?;
        if !(200..300).contains(&answer.status) {
            return Err(self.way.fault(&answer, "", false));
        }
        let mut body = json!({ "files": [{ "id": id, "title": name }], "channel_id": out.chat });
        if let Some(all) = body.as_object_mut() {
            if !out.text.is_empty() {
                all.insert("initial_comment".to_owned(), render(&out.text, Dialect::Slack).into());
            }
            all.extend(out.reply_to.iter().map(|to| ("thread_ts".to_owned(), to.clone().into())));
        }
        self.call("files.completeUploadExternal", &body, true).map(|_| id)
    }
}

/// The time and the number of a cursor.
fn parts(cursor: &str) -> Result<Option<(i64, u64)>, Fault> {
    if cursor.is_empty() {
        return Ok(None);
    }
    let read = cursor.split_once('/').and_then(|(at, number)| Some((at.parse().ok()?, number.parse().ok()?)));
    read.map(Some).ok_or_else(|| Fault::refused("this is no cursor of Slack"))
}

/// Blocks of words, each as long as Slack takes them.
fn sections(text: &str, chars: usize, into: &mut Vec<Value>) {
    for piece in split(text, chars) {
        let words = render(&piece, Dialect::Slack);
        if words.encode_utf16().count() > BLOCK_CHARS && chars > 100 {
            sections(&piece, chars / 2, into);
        } else {
            into.push(json!({ "type": "section", "text": { "type": "mrkdwn", "text": words } }));
        }
    }
}

fn blocks(out: &Outgoing) -> Result<Value, Fault> {
    let mut blocks = Vec::new();
    sections(&out.text, TEXT_CHARS, &mut blocks);
    let mut elements = Vec::new();
    for (at, button) in out.buttons.iter().enumerate() {
        if button.data.len() > BUTTON_BYTES_MAX || button.data.is_empty() {
            return Err(Fault::refused(format!("a button holds 1 to {BUTTON_BYTES_MAX} bytes")));
        }
        let label: String = clean::name(&button.label).chars().take(75).collect();
        elements.push(json!({
            "type": "button", "action_id": format!("hermit{at}"), "value": button.data,
            "text": { "type": "plain_text", "text": label },
        }));
    }
    blocks.push(json!({ "type": "actions", "elements": elements }));
    Ok(Value::Array(blocks))
}

impl Slack {
    /// One poll, whose calls end when whoever waits stops waiting.
    fn polled(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        let was = parts(cursor)?;
        let until = Instant::now() + wait;
        if cursor == self.cursor {
            let given = std::mem::take(&mut self.given);
            self.acknowledge(given);
        } else {
            // What was given is not kept: it comes again.
            (self.socket, self.given) = (None, Vec::new());
            self.cursor = cursor.to_owned();
        }
        let (since, number) = was.unwrap_or((now_ms(), 0));
        if self.socket.is_none() {
            self.connect(was.is_none())?;
        }
        let oldest = ts_of(since - OVERLAP_MS);
        while self.ready.len() < POLL_MESSAGES_MAX && Instant::now() < until {
            let Some(conversation) = self.missed.last().cloned() else { break };
            self.history(&conversation, &oldest)?;
            self.missed.pop();
        }
        while self.ready.len() < POLL_MESSAGES_MAX && self.missed.is_empty() {
            let more = if self.ready.is_empty() { until } else { until.min(Instant::now() + MORE) };
            if !self.hear(more) {
                break;
            }
        }
        Ok(self.give(since, number))
    }
}

impl Adapter for Slack {
    fn limits(&self) -> Limits {
        Limits { text_chars: TEXT_CHARS, edits: true, buttons: true, files: true, is_repeat_safe: false }
    }

    fn hosts(&self) -> Vec<(String, u16)> {
        let mut hosts = vec![http::host_of(self.way.base())];
        if !http::is_loopback(self.way.base()) {
            hosts.extend(
                ["files.slack.com", "wss-primary.slack.com", "wss-backup.slack.com"]
                    .map(|h| (h.to_owned(), 443)),
            );
        }
        hosts.extend(self.socket.as_ref().map(Socket::host).filter(|host| !hosts.contains(host)));
        hosts
    }

    fn who(&mut self) -> Result<String, Fault> {
        let me = self.call("auth.test", &json!({}), false)?;
        let url = self.way.at("/apps.connections.open");
        self.answer(Ask::json("POST", url, &json!({}), false), &self.app)?;
        let name = me.get("user").and_then(Value::as_str).map(clean::name);
        name.ok_or_else(|| Fault::away("Slack does not say whose token this is"))
    }

    fn poll(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        self.way.until(Some(Instant::now() + wait));
        let polled = self.polled(cursor, wait);
        self.way.until(None);
        polled
    }

    fn send(&mut self, out: &Outgoing) -> Result<String, Fault> {
        if let Some(file) = &out.file {
            return self.upload(out, file);
        }
        let mut body = json!({
            "channel": out.chat, "text": render(&out.text, Dialect::Slack), "unfurl_links": false, "unfurl_media": false,
        });
        if let Some(all) = body.as_object_mut() {
            if !out.buttons.is_empty() {
                all.insert("blocks".to_owned(), blocks(out)?);
            }
            match (&out.edit_of, &out.reply_to) {
                (Some(ts), _) => {
                    all.insert("ts".to_owned(), ts.clone().into());
                    // Without buttons, those that were there go.
                    all.entry("blocks").or_insert_with(|| json!([]));
                }
                (None, Some(to)) => drop(all.insert("thread_ts".to_owned(), to.clone().into())),
                (None, None) => {}
            }
        }
        // The same words twice are the same words.
        let said = match &out.edit_of {
            Some(ts) => return self.call("chat.update", &body, false).map(|_| ts.clone()),
            None => self.call("chat.postMessage", &body, true)?,
        };
        let ts = said.get("ts").and_then(Value::as_str).and_then(clean::id);
        ts.ok_or_else(|| Fault::unknown("Slack does not say what it sent"))
    }

    fn fetch(&mut self, attachment: &Attachment, bytes_max: u64) -> Result<Vec<u8>, Fault> {
        let said = self.get("files.info", &[("file", &attachment.handle)])?;
        let url = said.pointer("/file/url_private_download").or_else(|| said.pointer("/file/url_private"));
        let url = self.way.own(url.and_then(Value::as_str).unwrap_or_default(), &DOMAINS)?;
        let ask = Ask { bytes_max, ..Ask::get(url.to_string(), 4 * crate::CALL) };
        let answer = self.way.ask(&ask.with("Authorization", &format!("Bearer {}", self.bot.as_str())))?;
        self.way.file(answer, attachment)
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}
