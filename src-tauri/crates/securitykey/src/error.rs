//! Why a security key did not do what was asked.

/// Why a security key did not do what was asked; one sentence each, lower case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It was taken out, or says nothing any more.
    #[error("the security key was taken out, or does not answer")]
    Gone,
    /// Another program speaks with it.
    #[error("another program uses the security key; try again when it is done")]
    Busy,
    /// It may not be opened.
    #[error("the security key cannot be opened: {0}")]
    Closed(String),
    /// This build cannot reach one.
    #[error("Hermit cannot use security keys on this system yet; use a passkey in a browser instead")]
    Unsupported,
    /// It knows U2F only.
    #[error("this security key is too old: it does not speak FIDO2")]
    Old,
    /// What it says is refused.
    #[error("the security key says what cannot be read: {0}")]
    Unreadable(String),
    /// The person left.
    #[error("the security key was not used")]
    Cancelled,
    /// Nobody touched it.
    #[error("nobody touched the security key in time")]
    TimedOut,
    /// The person said no at the key.
    #[error("the security key was told no")]
    Denied,
    /// It has no PIN, or cannot have one.
    #[error(
        "this security key has no PIN, so it cannot tell who touches it; set one first with the program of its maker, or in the \
         settings of a browser"
    )]
    PinMissing,
    /// No key takes such a PIN.
    #[error("a PIN has at least 4 characters and at most 63 bytes")]
    PinShape,
    /// It was another PIN.
    #[error("the PIN is wrong; {}", tries(.left))]
    PinWrong {
        /// Wrong PINs that it takes before it is blocked, where it says so.
        left: Option<u32>,
    },
    /// Three wrong ones in a row.
    #[error("the PIN was wrong too often; take the security key out, put it in again, and try once more")]
    PinPaused,
    /// No PIN is taken any more.
    #[error(
        "the PIN of this security key is blocked; only a reset helps, which takes every passkey that is on it away"
    )]
    PinBlocked,
    /// None of the passkeys that were asked for is on it.
    #[error("no passkey that is enrolled here is on this security key")]
    NotHere,
    /// One of the passkeys that were named is on it.
    #[error("this security key is enrolled already")]
    Known,
    /// It makes no passkey of a kind that is known.
    #[error("this security key makes neither ES256 nor EdDSA")]
    Algorithm,
    /// Too much was asked of it at once.
    #[error("this is more than a security key takes")]
    TooLong,
    /// There is no randomness.
    #[error("the system gives no random bytes")]
    Randomness,
    /// Anything else.
    #[error("the security key refuses: code {0:#04x}")]
    Refused(u8),
}

fn tries(left: &Option<u32>) -> String {
    match left {
        None => "try again".to_owned(),
        Some(1) => "one try is left before the key blocks it".to_owned(),
        Some(many) => format!("{many} tries are left before the key blocks it"),
    }
}

impl Error {
    /// What a status of CTAP2 means (CTAP 2.1, 8.2).
    pub(crate) const fn of(status: u8) -> Self {
        match status {
            0x05 | 0x2f | 0x3a => Self::TimedOut,
            0x06 => Self::Busy,
            0x19 => Self::Known,
            0x26 => Self::Algorithm,
            0x27 => Self::Denied,
            0x2d => Self::Cancelled,
            0x2e => Self::NotHere,
            0x31 => Self::PinWrong { left: None },
            0x32 => Self::PinBlocked,
            0x34 => Self::PinPaused,
            0x35 => Self::PinMissing,
            other => Self::Refused(other),
        }
    }

    pub(crate) fn unreadable(why: impl Into<String>) -> Self {
        Self::Unreadable(why.into())
    }
}

impl From<seal::webauthn::Fault> for Error {
    fn from(fault: seal::webauthn::Fault) -> Self {
        Self::Unreadable(fault.reason)
    }
}
