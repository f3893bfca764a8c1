//! Discord: its gateway for what comes in direct messages, REST for what goes. The cursor is the gateway's session with the
//! number of the last event that was kept, and the last message of each channel: where a session is over, channels are
//! asked for what came since.

mod events;
mod gateway;

use crate::http::{self, Ask, Way};
use crate::multipart::Form;
use crate::{
    Account, Adapter, Attachment, BUTTON_BYTES_MAX, Fault, Incoming, Limits, OutFile, Outgoing,
    POLL_MESSAGES_MAX, Polled, clean, short_key,
};
use events::{number_of, of_message, of_press};
use gateway::{Gateway, Told};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

const OWN: &str = "https://discord.com/api/v10";
/// Domains that addresses which Discord names are below.
const DOMAINS: [&str; 3] = ["discord.gg", "discordapp.com", "discordapp.net"];
const TEXT_CHARS: usize = 2000;
const FILE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Channels whose last message is remembered.
const CHANNELS_MAX: usize = 200;
/// Messages that are remembered as given when their channel was asked.
const ASKED_FOR_MAX: usize = 10_000;
/// Messages that a channel is asked for at once.
const PAGE: usize = 100;
/// Buttons of a row, and rows.
const ROW: usize = 5;
/// How long a poll that has something waits for more.
const MORE: Duration = Duration::from_millis(100);
/// How long it may take to say that a press of a button was heard.
const HEARD: Duration = Duration::from_secs(2);
/// Embeds of links are left out.
const SUPPRESS_EMBEDS: u32 = 1 << 2;

pub(crate) struct Discord {
    way: Way,
    token: Zeroizing<String>,
    gateway: Option<Gateway>,
    /// What came and was not given yet, with the number of its event.
    ready: VecDeque<(Incoming, Option<u64>)>,
    /// Channels that are still to be asked for what was missed, and after which message.
    missed: Vec<(String, String)>,
    /// The newest messages that channels gave when they were asked: the gateway may tell of these as well.
    asked_for: BTreeSet<u64>,
    at: Cursor,
    /// The cursor that the last poll gave.
    given: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    /// Empty as long as something that was missed is to be asked for.
    session: String,
    /// Where the session is taken up again.
    url: String,
    seq: u64,
    /// The last message of each channel that was kept.
    last: BTreeMap<String, String>,
}

impl Discord {
    pub(crate) fn open(account: &Account, token: Zeroizing<String>) -> Result<Self, String> {
        http::fits_a_header(&token)?;
        Ok(Self {
            way: Way::open(account, OWN, vec![token.clone()])?,
            token,
            gateway: None,
            ready: VecDeque::new(),
            missed: Vec::new(),
            asked_for: BTreeSet::new(),
            at: Cursor::default(),
            given: String::new(),
        })
    }

    fn call(&self, ask: Ask<'_>) -> Result<Value, Fault> {
        let changes = ask.changes;
        let answer = self.way.ask(&ask.with("Authorization", &format!("Bot {}", self.token.as_str())))?;
        let said = answer.json();
        if (200..300).contains(&answer.status) {
            let unread = "Discord's answer cannot be read";
            let lost = || if changes { Fault::unknown(unread) } else { Fault::away(unread) };
            return said.filter(|said| said.is_object() || said.is_array()).ok_or_else(lost);
        }
        let part = |name: &str| said.as_ref().and_then(|said| said.get(name));
        let words = part("message").and_then(Value::as_str).unwrap_or_default();
        let told = part("retry_after").and_then(Value::as_f64).and_then(http::seconds);
        Err(match self.way.fault(&answer, words, changes) {
            Fault::Away { why, retry_after } => Fault::Away { why, retry_after: told.or(retry_after) },
            fault => fault,
        })
    }

    fn get(&self, path: &str) -> Result<Value, Fault> {
        self.call(Ask::get(self.way.at(path), crate::CALL))
    }

    /// Takes the session up again, or begins one.
    fn connect(&mut self) -> Result<(), Fault> {
        let resumed = !self.at.session.is_empty();
        let url = match resumed {
            true => self.at.url.clone(),
            false => {
                let said = self.get("/gateway/bot")?;
                said.get("url").and_then(Value::as_str).unwrap_or_default().to_owned()
            }
        };
        let mut url = self.way.own(&url, &DOMAINS)?;
        if url.path().is_empty() {
            url.set_path("/");
        }
        url.set_query(Some("v=10&encoding=json"));
        let session = resumed.then(|| (self.at.session.clone(), self.at.seq));
        self.gateway = Some(Gateway::open(&url, self.way.authorities(), &self.token, session)?);
        match resumed {
            // What was not given yet comes again.
            true => self.ready.retain(|(_, seq)| seq.is_none()),
            false => {
                self.missed = self.at.last.clone().into_iter().collect();
                self.asked_for.clear();
            }
        }
        Ok(())
    }

    /// A page of what came to a channel after a message, oldest first; the last message of the page, where more may follow.
    fn history(&mut self, channel: &str, after: &str) -> Result<Option<String>, Fault> {
        let path = format!(
            "/channels/{}/messages?limit={PAGE}&after={}",
            http::encoded(channel),
            http::encoded(after)
        );
        let said = match self.get(&path) {
            // A channel that is there no more.
            Err(Fault::Refused { .. }) => return Ok(None),
            other => other?,
        };
        let messages = said.as_array().map(Vec::as_slice).unwrap_or_default();
        let numbers = messages.iter().filter_map(|message| number_of(message.get("id")?.as_str()?));
        let newest = numbers.max().filter(|newest| Some(*newest) > number_of(after));
        let mut page: Vec<Incoming> = messages.iter().filter_map(of_message).collect();
        page.retain(|message| message.chat == channel && number_of(&message.message_id) > number_of(after));
        page.sort_by_key(|message| number_of(&message.message_id));
        self.asked_for.extend(page.iter().filter_map(|message| number_of(&message.message_id)));
        while self.asked_for.len() > ASKED_FOR_MAX {
            self.asked_for.pop_first();
        }
        self.ready.extend(page.into_iter().map(|message| (message, None)));
        Ok(newest.filter(|_| messages.len() >= PAGE).map(|newest| newest.to_string()))
    }

    /// Whether a message was given before, as one that came while its channel was asked. Its number says nothing of that: one that
    /// is older may be told of later.
    fn is_known(&self, message: &Incoming) -> bool {
        let number = number_of(&message.message_id);
        message.button.is_none() && number.is_some_and(|number| self.asked_for.contains(&number))
    }

    /// Hears the gateway once; whether it may have more to say.
    fn hear(&mut self, until: Instant) -> Result<bool, Fault> {
        let Some(gateway) = &mut self.gateway else { return Ok(false) };
        let told = match gateway.hear(until) {
            Ok(told) => told,
            Err(fault) => {
                self.gateway = None;
                return Err(fault);
            }
        };
        match told {
            Told::Nothing => Ok(false),
            Told::Other => Ok(true),
            Told::Ready { session, url, seq } => {
                (self.at.session, self.at.url, self.at.seq) = (session, url, seq);
                Ok(true)
            }
            Told::Dispatch { kind, seq, data } => {
                let incoming = match kind.as_str() {
                    "MESSAGE_CREATE" => of_message(&data),
                    "INTERACTION_CREATE" => {
                        self.say_heard(&data)?;
                        of_press(&data)
                    }
                    _ => None,
                };
                match incoming.filter(|incoming| !self.is_known(incoming)) {
                    Some(incoming) => self.ready.push_back((incoming, Some(seq))),
                    // What stands before it is not kept yet.
                    None if self.ready.is_empty() => self.at.seq = self.at.seq.max(seq),
                    None => {}
                }
                Ok(true)
            }
            Told::Gone => {
                self.gateway = None;
                Ok(false)
            }
            Told::Over => {
                self.gateway = None;
                (self.at.session, self.at.url, self.at.seq) = (String::new(), String::new(), 0);
                // The next session numbers its own events.
                self.ready.iter_mut().for_each(|(_, seq)| *seq = None);
                Ok(false)
            }
        }
    }

    /// Says that a press of a button was heard. It matters to nobody's record: what fails is left.
    fn say_heard(&self, press: &Value) -> Result<(), Fault> {
        let part = |name: &str| press.get(name).and_then(Value::as_str).unwrap_or_default();
        let path =
            format!("/interactions/{}/{}/callback", http::encoded(part("id")), http::encoded(part("token")));
        let ask =
            Ask { within: HEARD, ..Ask::json("POST", self.way.at(&path), &json!({ "type": 6 }), false) };
        match self.way.ask(&ask) {
            Err(fault @ Fault::Token { .. }) => Err(fault),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// As much as one poll gives, and the cursor behind it.
    fn give(&mut self) -> Polled {
        let mut incoming = Vec::new();
        while incoming.len() < POLL_MESSAGES_MAX {
            let Some((message, seq)) = self.ready.pop_front() else { break };
            self.at.seq = self.at.seq.max(seq.unwrap_or_default());
            if message.button.is_none() {
                self.remember(&message.chat, &message.message_id);
            }
            incoming.push(message);
        }
        let mut told = self.at.clone();
        let asked_for = self.ready.iter().any(|(_, seq)| seq.is_none());
        if !self.missed.is_empty() || asked_for {
            (told.session, told.url, told.seq) = (String::new(), String::new(), 0);
        }
        self.given = serde_json::to_string(&told).unwrap_or_default();
        Polled { incoming, cursor: self.given.clone() }
    }

    fn remember(&mut self, channel: &str, message: &str) {
        let newer = self.at.last.get(channel).and_then(|was| number_of(was)) < number_of(message);
        if newer {
            self.at.last.insert(channel.to_owned(), message.to_owned());
        }
        if self.at.last.len() > CHANNELS_MAX {
            let oldest = self
                .at
                .last
                .iter()
                .min_by_key(|(_, last)| number_of(last))
                .map(|(channel, _)| channel.clone());
            if let Some(oldest) = oldest {
                self.at.last.remove(&oldest);
            }
        }
    }

    fn body(out: &Outgoing) -> Result<Value, Fault> {
        let mut components = Vec::new();
        for row in out.buttons.chunks(ROW) {
            let mut buttons = Vec::new();
            for button in row {
                if button.data.len() > BUTTON_BYTES_MAX || button.data.is_empty() {
                    return Err(Fault::refused(format!("a button holds 1 to {BUTTON_BYTES_MAX} bytes")));
                }
                let label: String = clean::name(&button.label).chars().take(80).collect();
                buttons.push(json!({ "type": 2, "style": 2, "label": label, "custom_id": button.data }));
            }
            components.push(json!({ "type": 1, "components": buttons }));
        }
        Ok(json!({
            "content": out.text, "components": components, "flags": SUPPRESS_EMBEDS,
            // Nobody is called by what a text says.
            "allowed_mentions": { "parse": [] },
        }))
    }

    fn form(out: &Outgoing, file: &OutFile, body: &Value) -> Result<(String, Vec<u8>), Fault> {
        if file.bytes.len() > FILE_BYTES_MAX {
            return Err(Fault::refused(format!("Discord takes no file over {FILE_BYTES_MAX} bytes")));
        }
        let mut form = Form::new(&out.repeat_key, &file.bytes);
        form.field("payload_json", Some("application/json"), &body.to_string());
        form.file("files[0]", file);
        Ok(form.close())
    }
}

fn parts(cursor: &str) -> Result<Cursor, Fault> {
    if cursor.is_empty() {
        return Ok(Cursor::default());
    }
    serde_json::from_str(cursor).map_err(|_| Fault::refused("this is no cursor of Discord"))
}

/// An id in a path: a number, so that it leads nowhere else.
fn id(text: &str) -> Result<&str, Fault> {
    number_of(text)
        .map(|_| text)
        .ok_or_else(|| Fault::refused(format!("`{}` is no id of Discord", clean::name(text))))
}

impl Discord {
    /// One poll, whose calls end when whoever waits stops waiting.
    fn polled(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        let until = Instant::now() + wait;
        if cursor != self.given {
            // What was given is not kept: it comes again.
            self.at = parts(cursor)?;
            self.gateway = None;
            self.ready.clear();
            self.missed.clear();
            self.asked_for.clear();
            self.given = cursor.to_owned();
        }
        if self.gateway.is_none() {
            self.connect()?;
        }
        while self.ready.len() < POLL_MESSAGES_MAX && Instant::now() < until {
            // A session that is begun hears what comes from now on; what came before is asked for.
            if !self.missed.is_empty() && !self.at.session.is_empty() {
                let Some((channel, after)) = self.missed.last().cloned() else { break };
                let next = self.history(&channel, &after)?;
                self.missed.pop();
                self.missed.extend(next.map(|after| (channel, after)));
                continue;
            }
            let more = if self.ready.is_empty() { until } else { until.min(Instant::now() + MORE) };
            if !self.hear(more)? {
                break;
            }
        }
        Ok(self.give())
    }
}

impl Adapter for Discord {
    fn limits(&self) -> Limits {
        // Discord recognises a repeat for some minutes only, which is no promise.
        Limits { text_chars: TEXT_CHARS, edits: true, buttons: true, files: true, is_repeat_safe: false }
    }

    fn hosts(&self) -> Vec<(String, u16)> {
        let mut hosts = vec![http::host_of(self.way.base())];
        if !http::is_loopback(self.way.base()) {
            hosts.extend(["gateway.discord.gg", "cdn.discordapp.com"].map(|host| (host.to_owned(), 443)));
        }
        hosts.extend(self.gateway.as_ref().map(Gateway::host).filter(|host| !hosts.contains(host)));
        hosts
    }

    fn who(&mut self) -> Result<String, Fault> {
        let me = self.get("/users/@me")?;
        let name = me.get("username").and_then(Value::as_str).map(clean::name);
        name.ok_or_else(|| Fault::away("Discord does not say whose token this is"))
    }

    fn poll(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        self.way.until(Some(Instant::now() + wait));
        let polled = self.polled(cursor, wait);
        self.way.until(None);
        polled
    }

    fn send(&mut self, out: &Outgoing) -> Result<String, Fault> {
        let mut body = Self::body(out)?;
        let path = format!("/channels/{}/messages", id(&out.chat)?);
        if let Some(message) = &out.edit_of {
            // The same words twice are the same words.
            let url = self.way.at(&format!("{path}/{}", id(message)?));
            return self.call(Ask::json("PATCH", url, &body, false)).map(|_| message.clone());
        }
        if let Some(all) = body.as_object_mut() {
            all.insert("nonce".to_owned(), short_key(&out.repeat_key).into());
            all.insert("enforce_nonce".to_owned(), true.into());
            if let Some(to) = &out.reply_to {
                let to = json!({ "message_id": id(to)?, "fail_if_not_exists": false });
                all.insert("message_reference".to_owned(), to);
            }
        }
        let form = out.file.as_ref().map(|file| Self::form(out, file, &body)).transpose()?;
        let ask = || {
            let ask = Ask::json("POST", self.way.at(&path), &body, true);
            match &form {
                Some(form) => Ask { body: Some(form.clone()), within: 4 * crate::CALL, ..ask },
                None => ask,
            }
        };
        // At once, a repeat is recognised by its nonce. That it did not get through says nothing of the first one.
        let said = match self.call(ask()) {
            Err(first @ Fault::Unknown { .. }) => self.call(ask()).map_err(|_| first),
            other => other,
        }?;
        let sent = said.get("id").and_then(Value::as_str).and_then(clean::id);
        sent.ok_or_else(|| Fault::unknown("Discord does not say what it sent"))
    }

    fn fetch(&mut self, attachment: &Attachment, bytes_max: u64) -> Result<Vec<u8>, Fault> {
        let parts: Vec<&str> = attachment.handle.split('/').collect();
        let [channel, message, file] = parts.as_slice() else {
            return Err(Fault::refused("this is no file of Discord"));
        };
        let said = self.get(&format!("/channels/{}/messages/{}", id(channel)?, id(message)?))?;
        let files = said.get("attachments").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let found = files.iter().find(|one| one.get("id").is_some_and(|id| id == *file));
        let url = found.and_then(|one| one.get("url")).and_then(Value::as_str);
        let url = self.way.own(url.ok_or_else(|| Fault::refused("the file is there no more"))?, &DOMAINS)?;
        // The address is the permission.
        let answer = self.way.ask(&Ask { bytes_max, ..Ask::get(url.to_string(), 4 * crate::CALL) })?;
        self.way.file(answer, attachment)
    }
}
