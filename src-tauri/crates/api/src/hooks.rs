//! Calls of hooks: a program says that something happened, and signs what it says (schedule.md 1).
//!
//! A call is no command: whoever makes it has shown no token, and gains nothing by it but what a person approved with the schedule.
//! A hook that nobody waits for, a call that is not signed as it must be, and one that was signed at another time are refused in
//! the same words.

use crate::{Host, Wire as _};
use kernel::command::hooks::{Call as Signed, Called};
use model::Digest;
use model::schedule::{CALL_BYTES_MAX, CallRefused, check_hook_name};
use seal::webhook;
use serde::Serialize;
use wire::{Code, Error};

/// Bytes of the body of a call.
pub const BYTES_MAX: usize = CALL_BYTES_MAX;
/// How far the time of a call may lie from now, in seconds.
const SECONDS_MAX: u64 = 300;
/// Bytes of what a sender calls a call.
const ID_BYTES_MAX: usize = 256;
/// What a call of a hook that has no secret is checked with: it takes as long as another.
const NO_SECRET: &[u8] = b"whsec_AAAAAAAAAAAA";

/// How a call is signed, as its headers say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signature {
    /// In the form of Standard Webhooks.
    Standard {
        /// `webhook-id`.
        id: String,
        /// `webhook-timestamp`.
        timestamp: String,
        /// `webhook-signature`.
        signatures: String,
    },
    /// In the form of GitHub.
    Github {
        /// `x-github-delivery`.
        id: String,
        /// `x-hub-signature-256`.
        signature: String,
        /// `x-github-event`.
        event: Option<String>,
    },
}

/// What became of a call that is signed as it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Whether it came before: nothing comes of it again.
    pub duplicate: bool,
}

/// Whether a refusal is put on record where a schedule waits for the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// It is.
    Yes,
    /// So many were refused just now that it is not, and costs no look at the store.
    No,
}

/// Takes a call of a hook. `secret`: the value that its calls are signed with, where there is one.
///
/// # Errors
/// [`Code::Forbidden`] for what is refused, whatever is wrong with it; [`Code::Unavailable`] where too many came;
/// [`Code::Halted`] while nothing may begin.
pub fn call(
    host: &dyn Host,
    name: &str,
    secret: Option<&[u8]>,
    (signature, body): (Option<Signature>, Vec<u8>),
    noted: Noted,
) -> Result<Taken, Error> {
    let kernel = host.kernel()?;
    if kernel.halted().is_some() {
        return Err(Error::new(Code::Halted, "Hermit is halted, and takes no calls"));
    }
    if check_hook_name(name).is_err() {
        return Err(refusal());
    }
    let is_signed = signature.as_ref().is_some_and(|one| one.holds(secret.unwrap_or(NO_SECRET), &body));
    if noted == Noted::No && !is_signed {
        return Err(refusal());
    }
    if secret.is_none() || kernel.waits_for_hook(name).is_none() {
        return Err(refusal());
    }
    let Some(signature) = signature.filter(|_| is_signed) else {
        return Err(refused(host, name, CallRefused::Signature)?);
    };
    if !signature.is_of(host.now().0) {
        // Whoever has heard one can say it again without end.
        return Err(if noted == Noted::Yes { refused(host, name, CallRefused::Time)? } else { refusal() });
    }
    let signed = signature.call(name, body);
    match kernel.call_hook(&signed) {
        Ok(Called::Taken) => {
            host.rouse();
            Ok(Taken { duplicate: false })
        }
        Ok(Called::Before) => Ok(Taken { duplicate: true }),
        Ok(Called::TooMany) => {
            kernel.refused_call(name, CallRefused::TooMany).wire()?;
            Err(too_many())
        }
        // It was removed just now.
        Err(kernel::Error::NotFound { .. }) => Err(refusal()),
        Err(error) => Err(error).wire(),
    }
}

/// A call was refused for its length, before anything else of it was looked at.
///
/// # Errors
/// When the disk takes nothing.
pub fn too_large(host: &dyn Host, name: &str) -> Result<(), Error> {
    host.kernel()?.refused_call(name, CallRefused::TooLarge).wire()
}

/// More calls come than are taken.
pub fn too_many() -> Error {
    Error::new(Code::Unavailable, "more calls come than are taken").hint("call again in a minute")
}

/// What is told of every call that is refused.
pub fn refusal() -> Error {
    Error::new(Code::Forbidden, "no hook here takes this call").hint(
        "sign it with the secret of the hook when it is sent; `hermit schedule show NAME` says where and how",
    )
}

/// The same, which is on record.
fn refused(host: &dyn Host, name: &str, why: CallRefused) -> Result<Error, Error> {
    host.kernel()?.refused_call(name, why).wire()?;
    Ok(refusal())
}

impl Signature {
    fn holds(&self, secret: &[u8], body: &[u8]) -> bool {
        match self {
            Self::Standard { id, timestamp, signatures } => {
                // What is signed has points between its parts.
                let is_whole = |text: &str| is_name(text) && !text.contains('.');
                is_whole(id)
                    && seconds(timestamp).is_some()
                    && webhook::is_signed(secret, (id.as_str(), timestamp.as_str()), body, signatures)
            }
            Self::Github { id, signature, .. } => {
                is_name(id) && webhook::is_body_signed(secret, body, signature)
            }
        }
    }

    /// Whether it was signed about now, where it says when.
    fn is_of(&self, now_ms: i64) -> bool {
        match self {
            Self::Standard { timestamp, .. } => {
                seconds(timestamp).is_some_and(|at| at.abs_diff(now_ms.div_euclid(1000)) <= SECONDS_MAX)
            }
            Self::Github { .. } => true,
        }
    }

    /// The call. In GitHub's form the body alone is signed, so that it alone makes it this call: what stands beside it anybody could
    /// have changed who saw it go by.
    fn call(self, hook: &str, content: Vec<u8>) -> Signed {
        let (delivery, id, event) = match self {
            Self::Standard { id, .. } => (Digest::of(format!("standard:{id}").as_bytes()), id, None),
            Self::Github { id, event, .. } => {
                (Digest::of(&[b"github:".as_slice(), content.as_slice()].concat()), id, event)
            }
        };
        Signed { hook: hook.to_owned(), id, event, delivery, content }
    }
}

fn is_name(id: &str) -> bool {
    (1..=ID_BYTES_MAX).contains(&id.len()) && id.chars().all(|c| c.is_ascii_graphic())
}

/// Seconds since 1970, written as a number and nothing else.
fn seconds(text: &str) -> Option<i64> {
    let is_number = text.len() <= 15 && text.chars().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}
