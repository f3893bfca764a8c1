//! What must not be seen: secret values and the shapes of keys, taken out of bytes in every encoding.
//!
//! # What this room is for
//!
//! The one redactor of the house (governance.md 5, HK-17.3). It knows the values of all secrets of a store, and what
//! keys look like that nobody has told it of. Whatever was observed or said passes it before it is kept, hashed, logged or
//! shown to a model; a value leaves a placeholder that names its handle, always the same.
//!
//! # What it must never do
//!
//! Change bytes that somebody has approved or that are to be put back: whoever keeps those asks [`Redactor::holds`] and
//! refuses. Show a value, in a `Debug` or anywhere.
//!
//! # Invariants (tests cite them by number)
//!
//! 1. A value is found as it is, in base64 at each of its three alignments and both alphabets, in hex, URL-encoded, as
//!    JSON escapes it, in UTF-16, and across white space that breaks it; of a long value, half of it is found as well.
//! 2. What is taken out in one piece is taken out of a stream, wherever its pieces are cut.
//! 3. Redacting twice changes nothing.
//! 4. A value too short to be told from ordinary text is refused, not guessed at.
//!
//! # What it does not find
//!
//! Values that were encrypted, compressed or hashed, halves of values shorter than 24 bytes, and what was encoded twice.
//!
//! # Where to start reading
//!
//! [`Redactor`], then [`Stream`]; the encodings are in `forms`, the shapes in `shapes`.

mod forms;
mod json;
mod redactor;
mod shapes;
mod shared;
mod squeeze;
mod stream;

pub use redactor::{Clean, Found, Redactor, placeholder};
pub use shared::Shared;
pub use stream::Stream;

/// Bytes of the shortest value, white space not counted: less could not be told from ordinary text.
pub const VALUE_BYTES_MIN: usize = 8;
/// Bytes of the longest value: keys and tokens are far shorter, and every encoding of each is searched for.
pub const VALUE_BYTES_MAX: usize = 16 * 1024;

/// Why a redactor cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The value would be found in ordinary text.
    #[error(
        "the value of `secret:{handle}` has {found} bytes; shorter than {VALUE_BYTES_MIN} it could not be told from ordinary text"
    )]
    TooShort {
        /// Its handle.
        handle: String,
        /// Its bytes without white space.
        found: usize,
    },
    /// The value is no key or token.
    #[error(
        "the value of `secret:{handle}` has {found} bytes; more than {VALUE_BYTES_MAX} are not searched for"
    )]
    TooLong {
        /// Its handle.
        handle: String,
        /// Its bytes.
        found: usize,
    },
    /// The search could not be built.
    #[error("the values cannot be searched for: {0}")]
    Search(String),
}
