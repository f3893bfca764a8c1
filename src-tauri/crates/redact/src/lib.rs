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
//! 1. A value is found as it is, in base64 at each of its three alignments and both alphabets, in base32 at each of its five,
//!    in hex, also with signs between the bytes, as a list of numbers, URL-encoded, as JSON and HTML escape it, in UTF-16, and
//!    across white space that breaks it.
//! 2. Of each of these forms of a value of 24 bytes or more, half in a row is found as well, and what stands for 48 bytes
//!    of the value always is. Each line of 16 bytes or more of a value of several lines is found like a value,
//!    and so is each word of such a length of a value of several words on one line.
//! 3. What is taken out in one piece is taken out of a stream, wherever its pieces are cut.
//! 4. Redacting twice changes nothing.
//! 5. A value too short to be told from ordinary text is refused, not guessed at.
//! 6. A key that nobody has named is found by the rules of `rules.tsv`, as it is and in base64 that begins with its text,
//!    in time that grows with the text alone.
//!
//! Where there are too many values to search for each in every form, [`encoded_places`] reads what stands encoded instead,
//! and [`encoded_lines`] tells it.
//!
//! # What it does not find
//!
//! Values that were encrypted, compressed, hashed, reversed, or encoded twice; characters of a value apart from each other
//! by anything but white space. Less than half of a value in a row, or of a form of it; halves of values shorter than 24
//! bytes; a line or word shorter than 16 bytes of a value of several, by itself. Unnamed keys of other shapes, without their
//! prefix, in other encodings, or as a part.
//!
//! # Where to start reading
//!
//! [`Redactor`], then [`Stream`]; the encodings are in `encodings`, the shapes in `shapes`, `assigned` and
//! `rules.tsv`.

mod assigned;
mod encodings;
mod json;
mod lines;
mod readings;
mod redactor;
mod shapes;
mod shared;
mod stream;
mod whitespace;

pub use lines::KeyLines;
pub use readings::{encoded_lines, encoded_places};
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
