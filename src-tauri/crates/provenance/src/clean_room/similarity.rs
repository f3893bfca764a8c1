//! Whether a text copies another: runs of tokens that are alike, whatever their names, layout and comments are.
//!
//! A text becomes tokens; every run of [`SHINGLE_TOKENS`] of them is a shingle, in which a name stands as the place where
//! that name came first, and a string or number as one. Where shingles of one text follow each other that all stand in the
//! other, at least [`PASSAGE_TOKENS`] tokens long, a passage is copied. Lists of names, which all lists are like, make none.

use std::collections::HashMap;

/// Tokens of one shingle.
pub const SHINGLE_TOKENS: usize = 32;
/// Tokens of a run that is a copy: about ten lines of code. Files of one hand that do similar things share some less.
pub const PASSAGE_TOKENS: usize = 80;
/// Bytes of all that is studied and compared with.
const STUDIED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Different names that a shingle has at least.
const NAMES_MIN: usize = 6;
/// Different words of the language and signs that it has at least.
const SIGNS_MIN: usize = 9;

/// Words that belong to a language and are kept as they are; in order.
const KEPT: [&str; 78] = [
    "Err",
    "False",
    "None",
    "Ok",
    "Self",
    "Some",
    "True",
    "and",
    "as",
    "async",
    "await",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "crate",
    "def",
    "default",
    "defer",
    "delete",
    "do",
    "double",
    "elif",
    "else",
    "enum",
    "except",
    "export",
    "extends",
    "extern",
    "false",
    "finally",
    "float",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "go",
    "goto",
    "if",
    "impl",
    "import",
    "in",
    "int",
    "interface",
    "is",
    "lambda",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "new",
    "not",
    "null",
    "or",
    "package",
    "pub",
    "raise",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "switch",
    "throw",
    "trait",
    "true",
    "try",
    "type",
    "use",
    "while",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Kept(&'a str),
    Name(&'a str),
    Text,
    Number,
    Sign(char),
}

/// The tokens of a text, each with its line.
pub(super) fn tokens(text: &str) -> Vec<(Token<'_>, usize)> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (token, size) = next(rest, first);
        found.extend(token.map(|token| (token, line)));
        let (taken, behind) = rest.split_at_checked(size).unwrap_or((rest, ""));
        line += taken.matches('\n').count();
        rest = behind;
    }
    found
}

/// The token that a text begins with, if it is one, and how many bytes it has.
fn next(text: &str, first: char) -> (Option<Token<'_>>, usize) {
    let run = |of: fn(char) -> bool| text.find(|c: char| !of(c)).unwrap_or(text.len());
    if text.starts_with("//") {
        return (None, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return (None, text.find("*/").map_or(text.len(), |end| end + 2));
    }
    if first == '"' {
        return (Some(Token::Text), quoted(text));
    }
    if first.is_alphabetic() || first == '_' {
        let size = run(|c: char| c.is_alphanumeric() || c == '_');
        let word = text.get(..size).unwrap_or_default();
        let kept = KEPT.binary_search(&word).is_ok();
        return (Some(if kept { Token::Kept(word) } else { Token::Name(word) }), size);
    }
    if first.is_ascii_digit() {
        return (Some(Token::Number), number(text));
    }
    ((!first.is_whitespace()).then_some(Token::Sign(first)), first.len_utf8())
}

/// The bytes of the number that a text begins with: a point belongs to it where a digit follows.
fn number(text: &str) -> usize {
    let digits =
        |text: &str| text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let size = digits(text);
    let rest = text.get(size..).and_then(|rest| rest.strip_prefix('.'));
    match rest.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        Some(rest) => size + 1 + digits(rest),
        None => size,
    }
}

/// The bytes of the string that a text begins with.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// FNV-1a over what is written into it: no more than a name for a shingle.
pub(super) struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// What has been written so far, in short.
    pub(super) const fn name(&self) -> u64 {
        self.0
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.0 = (self.0 ^ 0xff).wrapping_mul(0x0100_0000_01b3);
    }
}

/// The name of a shingle; none where it says too little to be anybody's.
fn shingle(tokens: &[(Token<'_>, usize)]) -> Option<u64> {
    let mut names: Vec<&str> = Vec::new();
    let mut signs: Vec<Token<'_>> = Vec::new();
    let mut hash = Hash::default();
    for (token, _) in tokens {
        if !matches!(token, Token::Name(_)) && !signs.contains(token) {
            signs.push(*token);
        }
        match token {
            Token::Name(name) => {
                let first = names.iter().position(|known| known == name).unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                });
                hash.write(&first.to_be_bytes());
            }
            Token::Kept(word) => hash.write(word.as_bytes()),
            Token::Sign(sign) => hash.write(sign.encode_utf8(&mut [0; 4]).as_bytes()),
            Token::Text => hash.write(b"\"\""),
            Token::Number => hash.write(b"0"),
        }
    }
    (names.len() >= NAMES_MIN && signs.len() >= SIGNS_MIN).then_some(hash.0)
}

/// A passage of a text that stands in what was studied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The line where it begins.
    pub line: usize,
    /// How many tokens it has.
    pub tokens: usize,
    /// The studied text that it stands in.
    pub from: String,
}

/// What was studied, by its shingles.
#[derive(Debug, Default)]
pub struct Studied {
    names: Vec<String>,
    by_shingle: HashMap<u64, usize>,
    bytes: usize,
}

impl Studied {
    /// Takes a text in. False when it is more than is compared with: then nothing can be said.
    #[must_use]
    pub fn add(&mut self, name: &str, text: &str) -> bool {
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > STUDIED_BYTES_MAX {
            return false;
        }
        let at = self.names.len();
        self.names.push(name.to_owned());
        for window in tokens(text).windows(SHINGLE_TOKENS) {
            if let Some(hash) = shingle(window) {
                self.by_shingle.entry(hash).or_insert(at);
            }
        }
        true
    }

    /// The passages of a text that were copied, in order.
    pub fn passages(&self, text: &str) -> Vec<Passage> {
        let tokens = tokens(text);
        let mut found = Vec::new();
        let mut run: Option<(usize, usize, usize)> = None;
        let ends = |run: Option<(usize, usize, usize)>, found: &mut Vec<Passage>| {
            let Some((line, shingles, from)) = run else { return };
            let tokens = shingles + SHINGLE_TOKENS - 1;
            if let Some(from) = self.names.get(from).filter(|_| tokens >= PASSAGE_TOKENS) {
                found.push(Passage { line, tokens, from: from.clone() });
            }
        };
        for window in tokens.windows(SHINGLE_TOKENS) {
            let from = shingle(window).and_then(|hash| self.by_shingle.get(&hash));
            run = match (from, run) {
                (Some(_), Some((line, shingles, first))) => Some((line, shingles + 1, first)),
                (Some(from), None) => Some((window.first().map_or(0, |(_, line)| *line), 1, *from)),
                (None, run) => {
                    ends(run, &mut found);
                    None
                }
            };
        }
        ends(run, &mut found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_kept_stand_in_order() {
        assert!(KEPT.is_sorted(), "they are looked up by halving");
    }

    #[test]
    fn layout_comments_strings_and_numbers_are_no_difference() {
        let kinds = |text| tokens(text).into_iter().map(|(token, _)| token).collect::<Vec<_>>();
        assert_eq!(kinds("let a = \"x\\\"y\"; // c\n"), kinds("let /* why */ a\n  =\"z\" ;"));
        assert_eq!(kinds("f(1.5e3)"), kinds("f(0x7f)"));
        assert_eq!(kinds("0..n"), kinds("0 .. n"));
        assert_eq!(tokens("a\n\n b").last(), Some(&(Token::Name("b"), 3)));
        assert_eq!(kinds("\"open"), [Token::Text]);
    }
}
