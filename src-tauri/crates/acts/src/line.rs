//! Lines of plain text, as a card shows them.

use crate::visible_path;
use model::RelPath;
use std::fmt::Display;

/// Characters of a short reference: the end of an identifier, where it is random.
const SHORT: usize = 8;

/// What a line is, so that a surface can colour it; the text says everything without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// What is at stake, in words.
    Risk,
    /// Something is deleted or overwritten.
    Destructive,
    /// Something cannot be taken back.
    Unrecoverable,
    /// Any other effect.
    Effect,
    /// A fact that Hermit knows.
    Fact,
    /// Words of the proposer or of a person: a claim, not a fact.
    Quoted,
}

/// One line of plain text; never markup, never a line break inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: LineKind,
    /// The text, already made visible.
    pub text: String,
}

impl Line {
    /// An effect that destroys nothing.
    pub const fn effect(text: String) -> Self {
        Self { kind: LineKind::Effect, text }
    }

    /// An effect that deletes or overwrites.
    pub const fn destructive(text: String) -> Self {
        Self { kind: LineKind::Destructive, text }
    }
}

/// A number with its noun, its thousands apart: `1 file`, `1,500 files`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", model::grouped(u64::try_from(number).unwrap_or(u64::MAX)))
}

/// The end of an identifier, by which a person tells it from others; what is shorter stays whole.
pub fn short(id: &impl Display) -> String {
    let all: Vec<char> = id.to_string().chars().collect();
    all.iter().skip(all.len().saturating_sub(SHORT)).collect()
}

/// A path in one line of a list, as it is written; what would not be seen is shown.
pub fn place(path: &RelPath) -> String {
    let plain = path.to_string();
    match (path.is_root(), plain.contains('%')) {
        (true, _) => "the folder".to_owned(),
        (false, false) => plain,
        // A name with a space in it reads as it is written.
        (false, true) => visible_path(path),
    }
}
