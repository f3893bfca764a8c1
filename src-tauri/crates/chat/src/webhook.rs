//! A program of the person's own: Hermit's messages are posted to it, signed in the form of Standard Webhooks. What it says comes
//! through the gateway's own address and is on record before it is answered (decision 280), so there is nothing to ask it for.

use crate::http::{self, Ask, Way};
use crate::{Account, Adapter, Attachment, Fault, Incoming, Limits, Outgoing, Polled, clean, now_ms};
use serde::Deserialize;
use serde_json::json;
use std::fmt;
use std::time::Duration;
use zeroize::Zeroizing;

/// How a secret of Standard Webhooks begins.
const SECRET: &str = "whsec_";
/// The shortest secret, in letters: that of 24 bytes, the fewest that Standard Webhooks takes.
const SECRET_LETTERS_MIN: usize = SECRET.len() + 32;
const TEXT_CHARS: usize = 20_000;
/// Bytes of an answer, which nobody reads.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// How far the time of a call may lie from now, in seconds.
const AGE_SECS_MAX: u64 = 300;
/// What a call is checked with where there is no secret: it takes as long as another.
const NO_SECRET: &[u8] = &[0; 32];

/// A call by which a program says something, as it came.
#[derive(Clone, Copy)]
pub struct SignedCall<'a> {
    /// `webhook-id`: what a repeat is known by.
    pub id: &'a str,
    /// `webhook-timestamp`: seconds since 1970.
    pub timestamp: &'a str,
    /// `webhook-signature`.
    pub signatures: &'a str,
    /// Its bytes.
    pub body: &'a [u8],
}

impl fmt::Debug for SignedCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignedCall({}, {} bytes)", self.id, self.body.len())
    }
}

/// Why a call says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsaid {
    /// Nobody who may has signed it, or not about now.
    Unsigned,
    /// It is signed, and no message; why, in words.
    Unreadable(String),
}

/// What the body of a call says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    sender: String,
    #[serde(default)]
    name: String,
    /// The chat; where it is absent, one of the sender's own.
    chat: Option<String>,
    /// Whether others than the sender read the chat.
    #[serde(default)]
    is_group: bool,
    text: String,
    reply_to: Option<String>,
}

/// The message of a call that is signed with this secret, about now.
///
/// # Errors
/// Says what is wrong only of a call that is signed.
pub fn said(secret: Option<&[u8]>, call: &SignedCall<'_>, now_ms: i64) -> Result<Incoming, Unsaid> {
    let key = secret.unwrap_or(NO_SECRET);
    let is_signed = seal::webhook::is_signed(key, (call.id, call.timestamp), call.body, call.signatures);
    let id = clean::id(call.id).filter(|id| !id.contains('.'));
    let is_number = call.timestamp.len() <= 15 && call.timestamp.bytes().all(|b| b.is_ascii_digit());
    let at = call.timestamp.parse::<i64>().ok().filter(|_| is_number);
    let at = at.filter(|at| at.abs_diff(now_ms.div_euclid(1000)) <= AGE_SECS_MAX);
    let (true, true, Some(message_id), Some(at)) = (is_signed, secret.is_some(), id, at) else {
        return Err(Unsaid::Unsigned);
    };
    let said: Said = serde_json::from_slice(call.body).map_err(|e| Unsaid::Unreadable(e.to_string()))?;
    let named = |id: &str, what: &str| {
        clean::id(id).ok_or_else(|| Unsaid::Unreadable(format!("`{what}` is no name: it has no blanks")))
    };
    let sender = named(&said.sender, "sender")?;
    let text = clean::text(&said.text);
    if text.trim().is_empty() {
        return Err(Unsaid::Unreadable("`text` is empty".to_owned()));
    }
    Ok(Incoming {
        message_id,
        chat: said.chat.map_or_else(|| Ok(sender.clone()), |chat| named(&chat, "chat"))?,
        is_group: said.is_group,
        sender_name: clean::name(&said.name),
        sender,
        sent_at: at.saturating_mul(1000),
        text,
        reply_to: said.reply_to.as_deref().and_then(clean::id),
        button: None,
        attachments: Vec::new(),
    })
}

pub(crate) struct Webhook {
    way: Way,
    secret: Zeroizing<String>,
}

impl Webhook {
    pub(crate) fn open(account: &Account, token: Zeroizing<String>) -> Result<Self, String> {
        http::fits_a_header(&token)?;
        if !token.starts_with(SECRET) || token.len() < SECRET_LETTERS_MIN {
            return Err(format!("the token of a webhook is `{SECRET}` and the Base64 of 24 bytes or more"));
        }
        Ok(Self { way: Way::open(account, "", vec![token.clone()])?, secret: token })
    }
}

impl Adapter for Webhook {
    fn limits(&self) -> Limits {
        // The key tells a repeat from another message, and nobody knows whether its receiver looks at it.
        Limits { text_chars: TEXT_CHARS, edits: false, buttons: false, files: false, is_repeat_safe: false }
    }

    fn hosts(&self) -> Vec<(String, u16)> {
        vec![http::host_of(self.way.base())]
    }

    fn who(&mut self) -> Result<String, Fault> {
        Ok(self.way.base().host_str().unwrap_or_default().to_owned())
    }

    fn poll(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        std::thread::sleep(wait);
        Ok(Polled { incoming: Vec::new(), cursor: cursor.to_owned() })
    }

    fn send(&mut self, out: &Outgoing) -> Result<String, Fault> {
        if out.edit_of.is_some() || out.file.is_some() || !out.buttons.is_empty() {
            return Err(Fault::refused("to a webhook only words are sent, and none are changed"));
        }
        let id = clean::id(&out.repeat_key).filter(|id| !id.contains('.'));
        let id = id.ok_or_else(|| Fault::refused("the message has a key that cannot be signed"))?;
        let body = json!({
            "type": "message", "id": id, "chat": out.chat, "text": out.text, "reply_to": out.reply_to,
        });
        let ask = Ask::json("POST", self.way.base().to_string(), &body, true);
        let bytes = ask.body.as_ref().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default();
        let at = (now_ms() / 1000).to_string();
        let signature = seal::webhook::sign(self.secret.as_bytes(), &id, &at, bytes);
        let ask = ask.with("webhook-id", &id).with("webhook-timestamp", &at);
        let ask = Ask { bytes_max: ANSWER_BYTES_MAX, ..ask.with("webhook-signature", &signature) };
        let answer = self.way.ask(&ask)?;
        match answer.status {
            200..=299 => Ok(id),
            _ => Err(self.way.fault(&answer, &String::from_utf8_lossy(&answer.body), true)),
        }
    }

    fn fetch(&mut self, _: &Attachment, _: u64) -> Result<Vec<u8>, Fault> {
        Err(Fault::refused("a webhook sends no files"))
    }
}
