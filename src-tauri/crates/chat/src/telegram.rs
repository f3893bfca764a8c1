//! Telegram, through its Bot API. The cursor is the first update that was not kept, and when it came: to ask for it tells
//! Telegram to forget those before.

use crate::http::{self, Ask, Way};
use crate::multipart::Form;
use crate::render::{Dialect, render};
use crate::{
    Account, Adapter, Attachment, BUTTON_BYTES_MAX, Fault, Incoming, Limits, Outgoing, POLL_MESSAGES_MAX,
    Polled, clean, now_ms,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

const OWN: &str = "https://api.telegram.org";
/// Length of a message, and of the words beside a file.
const TEXT_CHARS: usize = 4096;
const CAPTION_CHARS: usize = 1024;
/// Bytes of a file that a bot may send.
const FILE_BYTES_MAX: usize = 50 * 1024 * 1024;
/// How much earlier than whoever waits the service ends a wait.
const EARLIER: Duration = Duration::from_secs(2);
/// How long it may take to say that a press of a button was heard.
const HEARD: Duration = Duration::from_secs(2);
/// After a week without updates, Telegram numbers them anew, maybe from below: then no number is asked for.
const NUMBERS_LAST_MS: i64 = 6 * 86_400_000;

pub(crate) struct Telegram {
    way: Way,
    token: Zeroizing<String>,
    /// Presses of buttons that show as not heard yet. One that is forgotten stops showing so by itself.
    presses: Vec<String>,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
    #[serde(default)]
    first_name: String,
    #[serde(default)]
    last_name: String,
    #[serde(default)]
    username: String,
}

#[derive(Deserialize)]
struct Chat {
    id: i64,
    #[serde(default, rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct File {
    file_id: String,
    #[serde(default)]
    file_name: String,
    #[serde(default)]
    mime_type: String,
    #[serde(default)]
    file_size: u64,
}

#[derive(Deserialize)]
struct Replied {
    message_id: i64,
}

#[derive(Deserialize)]
struct Message {
    message_id: i64,
    #[serde(default)]
    date: i64,
    chat: Chat,
    from: Option<User>,
    text: Option<String>,
    caption: Option<String>,
    reply_to_message: Option<Replied>,
    document: Option<File>,
    audio: Option<File>,
    video: Option<File>,
    voice: Option<File>,
    #[serde(default)]
    photo: Vec<File>,
}

#[derive(Deserialize)]
struct Press {
    id: String,
    from: User,
    message: Option<Message>,
    data: Option<String>,
}

impl Telegram {
    pub(crate) fn open(account: &Account, token: Zeroizing<String>) -> Result<Self, String> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'-');
        if token.is_empty() || token.len() > 256 || !token.bytes().all(plain) {
            return Err("this is no token of a Telegram bot; it looks like `123456:ABC-def`".to_owned());
        }
        Ok(Self { way: Way::open(account, OWN, vec![token.clone()])?, token, presses: Vec::new() })
    }

    fn url(&self, method: &str) -> String {
        self.way.at(&format!("/bot{}/{method}", self.token.as_str()))
    }

    /// Calls a method; its result.
    fn call(&self, method: &str, body: &Value, within: Duration, changes: bool) -> Result<Value, Fault> {
        let ask = Ask { within, ..Ask::json("POST", self.url(method), body, changes) };
        self.result(&ask)
    }

    fn result(&self, ask: &Ask<'_>) -> Result<Value, Fault> {
        let answer = self.way.ask(ask)?;
        let Some(mut said) = answer.json().filter(|said| said.get("ok").is_some()) else {
            if (200..300).contains(&answer.status) {
                let why = "Telegram's answer cannot be read";
                return Err(if ask.changes { Fault::unknown(why) } else { Fault::away(why) });
            }
            return Err(self.way.fault(&answer, "", ask.changes));
        };
        if said.get("ok") == Some(&Value::Bool(true)) {
            return Ok(said.get_mut("result").map(Value::take).unwrap_or_default());
        }
        let words = said.get("description").and_then(Value::as_str).unwrap_or_default();
        let told = said.pointer("/parameters/retry_after").and_then(Value::as_f64).and_then(http::seconds);
        Err(match (answer.status, self.way.fault(&answer, words, ask.changes)) {
            // Where there is no such bot, there is no such address.
            (404, fault) => Fault::token(fault.why()),
            // Somebody else reads this bot's messages.
            (409, fault) => Fault::away(fault.why()),
            (_, Fault::Away { why, retry_after }) => Fault::Away { why, retry_after: told.or(retry_after) },
            (_, fault) => fault,
        })
    }

    /// Says that presses of buttons were heard. It matters to nobody's record: what fails is left.
    fn say_heard(&mut self) -> Result<(), Fault> {
        for id in std::mem::take(&mut self.presses) {
            match self.call("answerCallbackQuery", &json!({ "callback_query_id": id }), HEARD, false) {
                Err(fault @ Fault::Token { .. }) => return Err(fault),
                Err(Fault::Away { .. }) => break,
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn markup(out: &Outgoing) -> Result<Option<Value>, Fault> {
        let mut rows = Vec::new();
        for button in &out.buttons {
            if button.data.len() > BUTTON_BYTES_MAX || button.data.is_empty() {
                return Err(Fault::refused(format!("a button holds 1 to {BUTTON_BYTES_MAX} bytes")));
            }
            rows.push(json!([{ "text": clean::name(&button.label), "callback_data": button.data }]));
        }
        Ok((!rows.is_empty()).then(|| json!({ "inline_keyboard": rows })))
    }

    fn send_file(
        &self,
        out: &Outgoing,
        file: &crate::OutFile,
        fields: &Map<String, Value>,
    ) -> Result<Value, Fault> {
        if file.bytes.len() > FILE_BYTES_MAX {
            return Err(Fault::refused(format!(
                "Telegram takes no file over {FILE_BYTES_MAX} bytes from a bot"
            )));
        }
        if out.text.encode_utf16().count() > CAPTION_CHARS {
            return Err(Fault::refused(format!(
                "the words beside a file are at most {CAPTION_CHARS} characters"
            )));
        }
        let mut form = Form::new(&out.repeat_key, &file.bytes);
        for (name, value) in fields {
            match value {
                Value::String(text) => form.field(name, None, text),
                other => form.field(name, None, &other.to_string()),
            }
        }
        form.file("document", file);
        let ask = Ask {
            method: "POST",
            body: Some(form.close()),
            within: 4 * crate::CALL,
            changes: true,
            ..Ask::get(self.url("sendDocument"), crate::CALL)
        };
        self.result(&ask)
    }
}

/// A number of a chat or a message.
fn number(text: &str, what: &str) -> Result<i64, Fault> {
    text.parse().map_err(|_| Fault::refused(format!("`{}` is no {what} of Telegram", clean::name(text))))
}

/// The first update that was not kept, and when the cursor was made.
fn parts(cursor: &str) -> Result<(Option<i64>, i64), Fault> {
    if cursor.is_empty() {
        return Ok((None, 0));
    }
    let read = cursor.split_once('@').and_then(|(next, at)| Some((next.parse().ok()?, at.parse().ok()?)));
    let (next, at) = read.ok_or_else(|| Fault::refused("this is no cursor of Telegram"))?;
    Ok((Some(next), at))
}

fn sender_name(user: &User) -> String {
    let whole = clean::name(&format!("{} {}", user.first_name, user.last_name));
    if whole.is_empty() { clean::name(&user.username) } else { whole }
}

fn attachments(message: &mut Message) -> Vec<Attachment> {
    // Of a photo there are several sizes, the largest last.
    let photo = message.photo.pop().map(|file| (file, "photo.jpg", "image/jpeg"));
    let others = [
        message.document.take().map(|file| (file, "document", "")),
        message.audio.take().map(|file| (file, "audio", "")),
        message.video.take().map(|file| (file, "video.mp4", "video/mp4")),
        message.voice.take().map(|file| (file, "voice.ogg", "audio/ogg")),
    ];
    let files = others.into_iter().flatten().chain(photo);
    let read = files.filter_map(|(file, name, kind)| {
        Some(Attachment {
            name: clean::file_name(if file.file_name.is_empty() { name } else { &file.file_name }),
            media_type: clean::media_type(if file.mime_type.is_empty() { kind } else { &file.mime_type }),
            bytes: file.file_size,
            handle: clean::id(&file.file_id)?,
        })
    });
    read.take(clean::ATTACHMENTS_MAX).collect()
}

fn of_message(mut message: Message) -> Option<Incoming> {
    let from = message.from.take().filter(|from| !from.is_bot)?;
    let attachments = attachments(&mut message);
    let text = clean::text(message.text.as_deref().or(message.caption.as_deref()).unwrap_or_default());
    if text.is_empty() && attachments.is_empty() {
        return None;
    }
    Some(Incoming {
        message_id: message.message_id.to_string(),
        chat: message.chat.id.to_string(),
        is_group: message.chat.kind != "private",
        sender: from.id.to_string(),
        sender_name: sender_name(&from),
        sent_at: message.date.saturating_mul(1000),
        text,
        reply_to: message.reply_to_message.map(|replied| replied.message_id.to_string()),
        button: None,
        attachments,
    })
}

fn of_press(press: Press) -> Option<Incoming> {
    let message = press.message?;
    let data = press.data.filter(|data| data.len() <= BUTTON_BYTES_MAX)?;
    Some(Incoming {
        message_id: clean::id(&format!("press:{}", press.id))?,
        chat: message.chat.id.to_string(),
        is_group: message.chat.kind != "private",
        sender: press.from.id.to_string(),
        sender_name: sender_name(&press.from),
        // A press has no time of its own.
        sent_at: now_ms(),
        text: String::new(),
        reply_to: Some(message.message_id.to_string()),
        button: Some(data),
        attachments: Vec::new(),
    })
}

impl Telegram {
    /// One poll, whose calls end when whoever waits stops waiting.
    fn polled(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        let (next, at) = parts(cursor)?;
        let until = Instant::now() + wait;
        self.say_heard()?;
        let left = until.saturating_duration_since(Instant::now());
        let mut body = json!({
            // A whole second that has just begun counts.
            "timeout": (left + Duration::from_millis(100)).saturating_sub(EARLIER).as_secs(),
            "limit": POLL_MESSAGES_MAX,
            "allowed_updates": ["message", "callback_query"],
        });
        if let (Some(next), Some(body)) =
            (next.filter(|_| now_ms() - at < NUMBERS_LAST_MS), body.as_object_mut())
        {
            body.insert("offset".to_owned(), next.into());
        }
        let Value::Array(updates) =
            self.call("getUpdates", &body, left.max(Duration::from_secs(1)), false)?
        else {
            return Err(Fault::away("Telegram's answer cannot be read"));
        };
        let mut numbered: Vec<(i64, Value)> = updates
            .into_iter()
            .filter_map(|update| Some((update.get("update_id")?.as_i64()?, update)))
            .collect();
        numbered.sort_by_key(|(number, _)| *number);
        numbered.truncate(POLL_MESSAGES_MAX);
        let Some((last, _)) = numbered.last() else {
            return Ok(Polled { incoming: Vec::new(), cursor: cursor.to_owned() });
        };
        let cursor = format!("{}@{}", last.saturating_add(1), now_ms());
        let mut incoming = Vec::new();
        for (_, mut update) in numbered {
            let mut part = |name: &str| update.get_mut(name).map(Value::take);
            if let Some(message) = part("message") {
                incoming.extend(serde_json::from_value(message).ok().and_then(of_message));
            } else if let Some(press) =
                part("callback_query").and_then(|p| serde_json::from_value::<Press>(p).ok())
            {
                self.presses.push(press.id.clone());
                incoming.extend(of_press(press));
            }
        }
        Ok(Polled { incoming, cursor })
    }
}

impl Adapter for Telegram {
    fn limits(&self) -> Limits {
        Limits { text_chars: TEXT_CHARS, edits: true, buttons: true, files: true, is_repeat_safe: false }
    }

    fn hosts(&self) -> Vec<(String, u16)> {
        vec![http::host_of(self.way.base())]
    }

    fn who(&mut self) -> Result<String, Fault> {
        let me = self.call("getMe", &json!({}), crate::CALL, false)?;
        let me: User =
            serde_json::from_value(me).map_err(|_| Fault::away("Telegram's answer cannot be read"))?;
        Ok(if me.username.is_empty() { me.id.to_string() } else { format!("@{}", clean::name(&me.username)) })
    }

    fn poll(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        self.way.until(Some(Instant::now() + wait));
        let polled = self.polled(cursor, wait);
        self.way.until(None);
        polled
    }

    fn send(&mut self, out: &Outgoing) -> Result<String, Fault> {
        let mut fields = Map::new();
        fields.insert("chat_id".to_owned(), number(&out.chat, "chat")?.into());
        let words = if out.file.is_some() { "caption" } else { "text" };
        fields.insert(words.to_owned(), render(&out.text, Dialect::Telegram).into());
        fields.insert("parse_mode".to_owned(), "HTML".into());
        if let Some(markup) = Self::markup(out)? {
            fields.insert("reply_markup".to_owned(), markup);
        }
        if let Some(message) = &out.edit_of {
            let message = number(message, "message")?;
            fields.insert("message_id".to_owned(), message.into());
            // The same words twice are the same words.
            let method = if out.file.is_some() { "editMessageCaption" } else { "editMessageText" };
            return match self.said_plainly(method, fields, words, &out.text, false) {
                Err(Fault::Refused { why }) if why.contains("message is not modified") => {
                    Ok(message.to_string())
                }
                other => other.map(|_| message.to_string()),
            };
        }
        if let Some(to) = &out.reply_to {
            let to = number(to, "message")?;
            let answers = json!({ "message_id": to, "allow_sending_without_reply": true });
            fields.insert("reply_parameters".to_owned(), answers);
        }
        let sent = match &out.file {
            Some(file) => self.send_file(out, file, &fields)?,
            None => {
                fields.insert("link_preview_options".to_owned(), json!({ "is_disabled": true }));
                self.said_plainly("sendMessage", fields, words, &out.text, true)?
            }
        };
        let id = sent.get("message_id").and_then(Value::as_i64);
        id.map(|id| id.to_string()).ok_or_else(|| Fault::unknown("Telegram does not say what it sent"))
    }

    fn fetch(&mut self, attachment: &Attachment, bytes_max: u64) -> Result<Vec<u8>, Fault> {
        let file = self.call("getFile", &json!({ "file_id": attachment.handle }), crate::CALL, false)?;
        let path = file.get("file_path").and_then(Value::as_str).unwrap_or_default();
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'.');
        if path.is_empty() || path.len() > 512 || path.contains("..") || !path.bytes().all(plain) {
            return Err(Fault::refused("Telegram does not give out this file"));
        }
        let url = self.way.at(&format!("/file/bot{}/{}", self.token.as_str(), path.trim_start_matches('/')));
        let answer = self.way.ask(&Ask { bytes_max, ..Ask::get(url, 4 * crate::CALL) })?;
        self.way.file(answer, attachment)
    }
}

impl Telegram {
    /// Sends marked words, and the same words without marks where Telegram does not take the marks.
    fn said_plainly(
        &self,
        method: &str,
        mut fields: Map<String, Value>,
        words: &str,
        text: &str,
        changes: bool,
    ) -> Result<Value, Fault> {
        match self.call(method, &Value::Object(fields.clone()), crate::CALL, changes) {
            Err(Fault::Refused { why }) if why.contains("can't parse entities") => {
                fields.remove("parse_mode");
                fields.insert(words.to_owned(), text.into());
                self.call(method, &Value::Object(fields), crate::CALL, changes)
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_says_what_comes_next_and_when_it_was_made() {
        assert_eq!(parts(""), Ok((None, 0)));
        assert_eq!(parts("12@34"), Ok((Some(12), 34)));
        assert!(parts("12").is_err() && parts("x@y").is_err());
    }
}
