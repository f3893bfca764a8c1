//! The one error shape, its closed list of codes, and the exit code of each.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Exit codes of the command line.
pub mod exit {
    /// Done.
    pub const DONE: u8 = 0;
    /// Anything else went wrong.
    pub const OTHER: u8 = 1;
    /// The request itself was wrong.
    pub const USAGE: u8 = 2;
    /// Policy or a person said no.
    pub const REFUSED: u8 = 3;
    /// A person is waited for.
    pub const WAITING: u8 = 4;
    /// A proof or the ledger is not valid.
    pub const INVALID: u8 = 5;
    /// Nobody trusted vouches for it.
    pub const UNVERIFIABLE: u8 = 6;
    /// Something is missing.
    pub const INCOMPLETE: u8 = 7;
}

macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $text:literal, $exit:ident, $http:literal;)+) => {
        /// What went wrong, by what the caller can do about it. A code exists only because somebody branches on it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Code { $($(#[$meta])* #[serde(rename = $text)] $name,)+ }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The word on the wire.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$name => $text,)+ } }

            /// The exit code of a program that ends with it.
            pub const fn exit_code(self) -> u8 { match self { $(Self::$name => exit::$exit,)+ } }

            /// The status of an HTTP answer that carries it.
            pub const fn http_status(self) -> u16 { match self { $(Self::$name => $http,)+ } }
        }
    };
}

codes! {
    /// The request is malformed or holds a value that cannot be used.
    Usage = "usage", USAGE, 400;
    /// No such command.
    UnknownCommand = "unknown_command", USAGE, 404;
    /// A parameter that the command does not have; `details.field` names it.
    UnknownField = "unknown_field", USAGE, 422;
    /// A shortened identifier fits several; `details.candidates` names them.
    Ambiguous = "ambiguous", USAGE, 409;
    /// More than is taken in one piece.
    TooLarge = "too_large", USAGE, 413;
    /// Nothing of that name is there.
    NotFound = "not_found", OTHER, 404;
    /// The request does not fit the state of what it is about.
    Conflict = "conflict", OTHER, 409;
    /// Policy or a check said no; `details.code` says which.
    Refused = "refused", REFUSED, 403;
    /// Hermit is halted; a person boots it.
    Halted = "halted", REFUSED, 409;
    /// This surface may not ask that.
    Forbidden = "forbidden", REFUSED, 403;
    /// A key is locked or missing; a person opens it.
    KeyLocked = "key_locked", WAITING, 409;
    /// The token is missing or wrong.
    Unauthorised = "unauthorised", OTHER, 401;
    /// This process does not hold the store and none does; open it for writing.
    NoHost = "no_host", OTHER, 409;
    /// Another process holds the store; `details.address` is where it can be reached, when known.
    Held = "held", OTHER, 409;
    /// There is no store here.
    NoStore = "no_store", OTHER, 404;
    /// A newer Hermit made this.
    NewerVersion = "newer_version", OTHER, 409;
    /// A stored thing is damaged and left as it is.
    Damaged = "damaged", INVALID, 500;
    /// The disk is full; nothing was recorded.
    DiskFull = "disk_full", OTHER, 507;
    /// A model, executor or host cannot be reached now; trying again may help.
    Unavailable = "unavailable", OTHER, 503;
    /// The caller asked to stop.
    Cancelled = "cancelled", OTHER, 409;
    /// The file system, the database or Hermit itself failed.
    Failed = "failed", OTHER, 500;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What every surface gets when something did not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    /// What went wrong, for programs.
    pub code: Code,
    /// What went wrong, for people: lower case, the user's words in backticks.
    pub message: String,
    /// What to do about it; empty when the message says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// More, by code; `null` when there is no more. Boxed, so that a result stays small.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Box<Value>,
}

impl Error {
    /// An error without hint and details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: String::new(), details: Box::default() }
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The same with details.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Box::new(details);
        self
    }

    /// The exit code of a program that ends with it.
    pub const fn exit_code(&self) -> u8 {
        self.code.exit_code()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "\n{}", self.hint) }
    }
}

impl std::error::Error for Error {}
