//! What can be wrong with a proof, told apart by what follows from it.

/// Every refusal of this room.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not in the form that is read here.
    #[error("this is not a valid {what}: {reason}")]
    Malformed {
        /// Which form was expected.
        what: &'static str,
        /// Where and why it was refused.
        reason: String,
    },
    /// The proof is of something else.
    #[error("this {what} is of another digest")]
    OtherDigest {
        /// Which proof.
        what: &'static str,
    },
    /// A signature does not hold.
    #[error("the signature on this {what} does not hold")]
    Signature {
        /// What was signed.
        what: &'static str,
    },
    /// The clock refused.
    #[error("the clock refused: {says}")]
    Refused {
        /// What it said, shortened and in printable characters.
        says: String,
    },
    /// It is in a way that cannot be checked here, which says nothing against it.
    #[error("{what} cannot be checked here")]
    Unsupported {
        /// What.
        what: String,
    },
    /// It is well formed, and what it states does not hold.
    #[error("this {what} proves nothing: {reason}")]
    Wrong {
        /// Which proof.
        what: &'static str,
        /// What does not hold.
        reason: String,
    },
}

impl Error {
    pub(crate) fn malformed(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Malformed { what, reason: reason.into() }
    }

    pub(crate) fn wrong(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Wrong { what, reason: reason.into() }
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }
}

/// What a stranger wrote, shortened and without characters that a terminal acts on.
pub(crate) fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 200;
    text.chars()
        .take(SHOWN_MAX)
        .map(|c| if c.is_control() || is_direction(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Characters that turn the direction of what stands around them.
const fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
