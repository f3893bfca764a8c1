//! A person's lasting yes: what it covers, and what it never does (governance.md 2, product.md pain 2).
//!
//! It answers a question that a person would have been asked, and nothing else: whatever policy denies stays denied,
//! critical risk is always asked about, and so is looking at secrets. What cannot be read for sure is not covered.

mod covers;
mod glob;
mod propose;
mod signed;
mod words;

pub use covers::{InForce, covers, sound};
pub use propose::{covers_of, propose};
pub use signed::{sign, verify};
pub use words::in_words;

pub(crate) use covers::{find, holds};
pub(crate) use glob::{
    is_sound as glob_is_sound, matches as glob_matches, matches_folded as glob_matches_folded,
};
