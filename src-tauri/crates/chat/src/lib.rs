//! Protocol adapters for chat services: what a service says becomes messages, and a message becomes what the service takes.
//! One file for each service, over blocking HTTP, a socket, or a library that speaks its protocol. One service calls instead of
//! being asked: [`said()`] reads its calls.
//!
//! What this room must never do: keep anything that a restart could lose, decide whom to believe, or know kernel and ledger.
//!
//! Invariants
//! 1. Nothing is confirmed to a service before its cursor comes back: whoever calls gives a cursor only when what came with
//!    the one before is kept. What was not confirmed comes again, under the same id.
//! 2. A failed send says what is known: it did not leave (`Away`), it was declined (`Refused`, `Token`), or nobody knows
//!    (`Unknown`).
//! 3. A token goes to the hosts of [`Adapter::hosts`] and nowhere else: no redirect is followed. It stands in no error and no
//!    debug output.
//! 4. Everything that a service sends is bounded in bytes, number and time, and is cleaned of what cannot be seen.
//!
//! Start reading at [`Adapter`], then `telegram`.
#![allow(
    clippy::disallowed_methods,
    reason = "services are waited for by a clock, and messages of one carry its time"
)]

mod clean;
mod discord;
mod http;
mod mail;
mod matrix;
mod multipart;
mod nostr;
mod render;
mod slack;
mod split;
mod telegram;
mod webhook;

pub use self::nostr::{LOOK_EVENTS_MAX, events_at};
pub use split::split;
pub use webhook::{SignedCall, Unsaid, said};
pub use words::chat::Service;

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

/// The setting that names a PEM file of the authorities that servers are checked against, instead of those that come
/// with Hermit.
pub const CA_FILE: &str = "ca_file";
/// Messages that one poll gives at most.
pub const POLL_MESSAGES_MAX: usize = 100;
/// Bytes of a button's data at most.
pub const BUTTON_BYTES_MAX: usize = 64;
/// Bytes of an answer of a service that are read, but for files.
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How long a call may take that does not wait for messages.
const CALL: Duration = Duration::from_secs(30);

/// An account at a chat service, without its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The service.
    pub service: Service,
    /// Base URL or server; empty for the service's own.
    pub address: String,
    /// Name of the bot, or mail address; empty where the token says it.
    pub user: String,
    /// What else an adapter is told, by name.
    pub settings: BTreeMap<String, String>,
}

/// A message that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// The service's own id, which is unique with the chat.
    pub message_id: String,
    /// The chat it stands in.
    pub chat: String,
    /// Whether others than the sender read the chat.
    pub is_group: bool,
    /// The sender's id at the service.
    pub sender: String,
    /// The name the sender goes by, which anybody may choose.
    pub sender_name: String,
    /// When it was sent, by the service's clock.
    pub sent_at: i64,
    /// Its words.
    pub text: String,
    /// The message it answers.
    pub reply_to: Option<String>,
    /// Data of a button that was pressed.
    pub button: Option<String>,
    /// Files that came with it.
    pub attachments: Vec<Attachment>,
}

/// A file that came with a message and is still at the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its name, which the sender chose.
    pub name: String,
    /// What the sender says it is.
    pub media_type: String,
    /// How long the service says it is; 0 where it does not say.
    pub bytes: u64,
    /// What [`Adapter::fetch`] takes.
    pub handle: String,
}

/// A message to be sent, or the new words of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The chat it goes to.
    pub chat: String,
    /// Its words, in Markdown.
    pub text: String,
    /// The message it answers.
    pub reply_to: Option<String>,
    /// Buttons below it.
    pub buttons: Vec<Button>,
    /// The message whose words these are from now on.
    pub edit_of: Option<String>,
    /// A file that goes with it.
    pub file: Option<OutFile>,
    /// The same for every repeat of this message.
    pub repeat_key: String,
}

/// A button below a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// What stands on it.
    pub label: String,
    /// What comes back when it is pressed, [`BUTTON_BYTES_MAX`] at most.
    pub data: String,
}

/// A file to be sent.
#[derive(Clone, PartialEq, Eq)]
pub struct OutFile {
    /// Its name.
    pub name: String,
    /// What it is.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for OutFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutFile({}, {}, {} bytes)", self.name, self.media_type, self.bytes.len())
    }
}

/// What a service can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Length of a message at most, as [`split()`] counts.
    pub text_chars: usize,
    /// Whether the words of a sent message can be changed.
    pub edits: bool,
    /// Whether it has buttons.
    pub buttons: bool,
    /// Whether it takes files.
    pub files: bool,
    /// Whether the service recognises a repeat with the same key.
    pub is_repeat_safe: bool,
}

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The service cannot be reached, or wants to be left alone: nothing was done.
    Away {
        /// Why, in words.
        why: String,
        /// After how long it may be asked again, where it says.
        retry_after: Option<Duration>,
    },
    /// The service declines this: nothing was done, and a repeat would be declined, too.
    Refused {
        /// Why, in words.
        why: String,
    },
    /// The service does not accept the token.
    Token {
        /// Why, in words.
        why: String,
    },
    /// Nobody knows whether it was done.
    Unknown {
        /// Why, in words.
        why: String,
    },
}

impl Fault {
    /// Why, in words.
    pub fn why(&self) -> &str {
        match self {
            Self::Away { why, .. } | Self::Refused { why } | Self::Token { why } | Self::Unknown { why } => {
                why
            }
        }
    }

    fn away(why: impl Into<String>) -> Self {
        Self::Away { why: why.into(), retry_after: None }
    }

    fn refused(why: impl Into<String>) -> Self {
        Self::Refused { why: why.into() }
    }

    fn token(why: impl Into<String>) -> Self {
        Self::Token { why: why.into() }
    }

    fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown { why: why.into() }
    }
}

/// Where there is no connection, nothing was done.
impl From<socket::Fault> for Fault {
    fn from(fault: socket::Fault) -> Self {
        Self::away(fault.why())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why())
    }
}

impl std::error::Error for Fault {}

/// What one poll gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Polled {
    /// Messages in their order, [`POLL_MESSAGES_MAX`] at most.
    pub incoming: Vec<Incoming>,
    /// Where the next poll begins; given to it once these messages are kept.
    pub cursor: String,
}

/// One chat service.
pub trait Adapter: Send {
    /// What the service can do.
    fn limits(&self) -> Limits;

    /// Every host it speaks to, with its port.
    fn hosts(&self) -> Vec<(String, u16)>;

    /// Checks the token; the account's own name at the service.
    fn who(&mut self) -> Result<String, Fault>;

    /// What came since a cursor (empty: since there is none), within `wait`.
    fn poll(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault>;

    /// Sends a message, or changes one; the service's id of it.
    fn send(&mut self, out: &Outgoing) -> Result<String, Fault>;

    /// The bytes of a file that came with a message.
    fn fetch(&mut self, attachment: &Attachment, bytes_max: u64) -> Result<Vec<u8>, Fault>;

    /// What a person should know and no message says, each told once.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// The adapter of an account, which has spoken to nobody yet.
pub fn open(account: &Account, token: Zeroizing<String>) -> Result<Box<dyn Adapter>, String> {
    Ok(match account.service {
        Service::Telegram => Box::new(telegram::Telegram::open(account, token)?),
        Service::Matrix => Box::new(matrix::Matrix::open(account, token)?),
        Service::Mail => Box::new(mail::Mail::open(account, token)?),
        Service::Slack => Box::new(slack::Slack::open(account, token)?),
        Service::Discord => Box::new(discord::Discord::open(account, token)?),
        Service::Nostr => Box::new(nostr::Nostr::open(account, token)?),
        Service::Webhook => Box::new(webhook::Webhook::open(account, token)?),
    })
}

/// A setting that says something.
fn setting<'a>(account: &'a Account, name: &str) -> Option<&'a str> {
    account.settings.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A short name for a repeat key, safe in every protocol: letters and digits.
fn short_key(repeat_key: &str) -> String {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(repeat_key.as_bytes());
    digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
