//! Whether code of others stands in a tree, where there is too much of it to be kept in memory: everything that is depended on.
//!
//! The tree is known by its windows of [`WINDOW_TOKENS`] tokens, one of eight of them, chosen by what is in them. A text of others that has
//! one of them is compared from there token by token, in both directions, as far as both are alike. Layout, strings, numbers and comments
//! make no difference, nor do names that were changed, each to one other. [`COPIED_TOKENS`] that are alike and are no table, no list of
//! fields and no row of the same calls are a copy. That is less than most functions of 30 lines have, and more than two that did not know
//! of each other share.

use super::similarity::{Hash, Token, tokens};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Tokens of a window.
pub const WINDOW_TOKENS: usize = 64;
/// Tokens of a run that is a copy.
pub const COPIED_TOKENS: usize = 140;
/// Different names that a copy has at least, and that a window has.
const NAMES_MIN: usize = 10;
const WINDOW_NAMES_MIN: usize = 6;
/// Different words of the language and signs that a window has at least: a table has fewer.
const WINDOW_SIGNS_MIN: usize = 9;
/// Tokens of a turn, and the different turns that a copy has at least: what repeats itself has few.
const TURN_TOKENS: usize = 4;
const TURNS_MIN: usize = 50;
/// Of a hundred names of a copy, those that stand for one name of ours each.
const RENAMED_MIN: usize = 95;
/// Places that one window is known at.
const PLACES_MAX: usize = 8;
/// What a window's digest is a polynomial of.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Words of some language that name things in another: a name is a name there.
const NAMES_ELSEWHERE: [&str; 34] = [
    "and",
    "case",
    "catch",
    "class",
    "def",
    "default",
    "defer",
    "delete",
    "double",
    "elif",
    "except",
    "export",
    "extends",
    "finally",
    "float",
    "from",
    "func",
    "function",
    "go",
    "goto",
    "import",
    "int",
    "interface",
    "is",
    "lambda",
    "new",
    "not",
    "null",
    "or",
    "package",
    "raise",
    "switch",
    "throw",
    "try",
];

/// What a token is beside its name; 0 for a name.
fn kind(token: Token<'_>) -> u64 {
    let mut hash = Hash::default();
    match token {
        Token::Name(_) => return 0,
        Token::Kept(word) if NAMES_ELSEWHERE.binary_search(&word).is_ok() => return 0,
        Token::Kept(word) => hash.write(word.as_bytes()),
        Token::Sign(sign) => hash.write(sign.encode_utf8(&mut [0; 4]).as_bytes()),
        Token::Text => hash.write(b"\"\""),
        Token::Number => hash.write(b"0"),
    }
    hash.name()
}

/// The name that a token is; none for what is no name.
fn name(token: Token<'_>) -> Option<&str> {
    match token {
        Token::Name(name) => Some(name),
        Token::Kept(word) if NAMES_ELSEWHERE.binary_search(&word).is_ok() => Some(word),
        Token::Kept(_) | Token::Sign(_) | Token::Text | Token::Number => None,
    }
}

/// Whether a window says enough to be looked up.
fn says_something(window: &[(Token<'_>, usize)]) -> bool {
    let names: BTreeSet<&str> = window.iter().filter_map(|(token, _)| name(*token)).collect();
    let signs: BTreeSet<u64> =
        window.iter().map(|(token, _)| kind(*token)).filter(|kind| *kind != 0).collect();
    names.len() >= WINDOW_NAMES_MIN && signs.len() >= WINDOW_SIGNS_MIN
}

/// Whether two runs that are alike in all but their names are a copy of each other.
fn is_copy(ours: &[(Token<'_>, usize)], theirs: &[(Token<'_>, usize)]) -> bool {
    let kinds: Vec<u64> = ours.iter().map(|(token, _)| kind(*token)).collect();
    let turns: HashSet<&[u64]> = kinds.windows(TURN_TOKENS).collect();
    let (mut of_ours, mut of_theirs) = (HashMap::new(), HashMap::new());
    let (mut same, mut all) = (0_usize, 0_usize);
    for ((one, _), (other, _)) in ours.iter().zip(theirs) {
        let (Some(one), Some(other)) = (name(*one), name(*other)) else { continue };
        let stands_for = *of_ours.entry(one).or_insert(other) == other;
        let is_stood_for = *of_theirs.entry(other).or_insert(one) == one;
        same += usize::from(stands_for && is_stood_for);
        all += 1;
    }
    ours.len() >= COPIED_TOKENS
        && turns.len() >= TURNS_MIN
        && of_ours.len() >= NAMES_MIN
        && same.saturating_mul(100) >= all.saturating_mul(RENAMED_MIN)
}

/// The windows of a text that are looked at, each with the place where it begins.
fn windows(kinds: &[u64]) -> Vec<(u64, usize)> {
    let size = u32::try_from(WINDOW_TOKENS).unwrap_or(u32::MAX);
    let leaves = BASE.wrapping_pow(size);
    let (mut digest, mut found) = (0_u64, Vec::new());
    for (at, kind) in kinds.iter().enumerate() {
        digest = digest.wrapping_mul(BASE).wrapping_add(*kind);
        if let Some(first) = at.checked_sub(WINDOW_TOKENS).and_then(|first| kinds.get(first)) {
            digest = digest.wrapping_sub(first.wrapping_mul(leaves));
        }
        // The upper bits depend on every token; a window of a text of others is chosen as the same one of the tree is.
        if digest >> 61 == 0
            && let Some(begins) = (at + 1).checked_sub(WINDOW_TOKENS)
        {
            found.push((digest, begins));
        }
    }
    found
}

/// A run of a text of the tree that stands in a text of others as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The name of the text of the tree.
    pub name: String,
    /// The line where it begins there.
    pub line: usize,
    /// How many tokens it has.
    pub tokens: usize,
    /// The line of the text of others where it begins.
    pub from_line: usize,
}

/// The texts of a tree, and their windows.
#[derive(Debug, Default)]
pub struct Tree<'t> {
    texts: Vec<(&'t str, &'t str, Vec<u64>)>,
    by_window: HashMap<u64, Vec<(usize, usize)>>,
}

impl<'t> Tree<'t> {
    /// Takes a text of the tree in.
    pub fn add(&mut self, name: &'t str, text: &'t str) {
        let tokens = tokens(text);
        let kinds: Vec<u64> = tokens.iter().map(|(token, _)| kind(*token)).collect();
        let here = self.texts.len();
        for (digest, at) in windows(&kinds) {
            let window = tokens.get(at..at + WINDOW_TOKENS).unwrap_or(&[]);
            if says_something(window) {
                let places = self.by_window.entry(digest).or_default();
                if places.len() < PLACES_MAX {
                    places.push((here, at));
                }
            }
        }
        self.texts.push((name, text, kinds));
    }

    /// What of the tree stands in a text of others, each run once.
    pub fn copied(&self, text: &str) -> Vec<Copied> {
        let theirs = tokens(text);
        let kinds: Vec<u64> = theirs.iter().map(|(token, _)| kind(*token)).collect();
        // By text of the tree, how far it stands behind theirs, and where the run ends in it.
        let mut seen: Vec<(usize, i128, usize)> = Vec::new();
        let mut found = Vec::new();
        for (digest, at) in windows(&kinds) {
            for (which, place) in self.by_window.get(&digest).into_iter().flatten() {
                let Some((name, ours, own)) = self.texts.get(*which) else { continue };
                let behind = shift(*place, at);
                if seen.iter().any(|(one, by, end)| one == which && *by == behind && place < end) {
                    continue;
                }
                let Some((begins, length)) = run(own, &kinds, (*place, at)) else { continue };
                seen.push((*which, behind, begins + length));
                if length < COPIED_TOKENS {
                    continue;
                }
                let read = tokens(ours);
                let mine = part(&read, begins, length);
                let same = part(&theirs, at - (place - begins), length);
                if !is_copy(mine, same) {
                    continue;
                }
                let first = |run: &[(Token<'_>, usize)]| run.first().map_or(0, |(_, line)| *line);
                let (line, from_line) = (first(mine), first(same));
                found.push(Copied { name: (*name).to_owned(), line, tokens: length, from_line });
            }
        }
        found
    }
}

/// So many tokens from a place on.
fn part<'r, 't>(all: &'r [(Token<'t>, usize)], from: usize, length: usize) -> &'r [(Token<'t>, usize)] {
    all.get(from..).and_then(|rest| rest.get(..length)).unwrap_or(&[])
}

/// How far one place stands behind another.
fn shift(place: usize, at: usize) -> i128 {
    i128::try_from(place).unwrap_or(i128::MAX) - i128::try_from(at).unwrap_or(0)
}

/// Where a run begins that both have around these places, in the first of them, and how long it is; none where the windows differ.
fn run(own: &[u64], theirs: &[u64], (place, at): (usize, usize)) -> Option<(usize, usize)> {
    let forward =
        own.get(place..)?.iter().zip(theirs.get(at..)?).take_while(|(one, other)| one == other).count();
    if forward < WINDOW_TOKENS {
        return None;
    }
    let before = own.get(..place)?.iter().rev().zip(theirs.get(..at)?.iter().rev());
    let back = before.take_while(|(one, other)| one == other).count();
    Some((place - back, back + forward))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of some thirty lines.
    const FUNCTION: &str = r#"
pub fn gather(&self, from: &Path, limit: usize) -> Result<Vec<Entry>, Failure> {
    let mut found = Vec::new();
    let mut waiting = vec![(from.to_owned(), 0_usize)];
    while let Some((folder, depth)) = waiting.pop() {
        if depth > self.depth_max {
            return Err(Failure::Deep { at: folder, depth });
        }
        for entry in std::fs::read_dir(&folder).map_err(Failure::Read)? {
            let entry = entry.map_err(Failure::Read)?;
            let kind = entry.file_type().map_err(Failure::Read)?;
            if kind.is_dir() {
                waiting.push((entry.path(), depth + 1));
                continue;
            }
            if !kind.is_file() || self.left_out.contains(&entry.file_name()) {
                continue;
            }
            let size = entry.metadata().map_err(Failure::Read)?.len();
            if size > self.bytes_max {
                tracing::debug!(size, "a file is too large");
                continue;
            }
            found.push(Entry { path: entry.path(), size, depth });
            if found.len() >= limit {
                return Ok(found);
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}
"#;

    fn words(text: &str, changes: &[(&str, &str)]) -> String {
        changes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    #[test]
    fn names_elsewhere_are_kept_words_and_stand_in_order() {
        assert!(NAMES_ELSEWHERE.is_sorted(), "they are looked up by halving");
        let kept = |word: &&str| matches!(tokens(word).as_slice(), [(Token::Kept(_), 1)]);
        assert!(NAMES_ELSEWHERE.iter().all(kept));
    }

    #[test]
    fn a_function_is_found_under_other_names_and_layout_and_in_the_midst_of_others() {
        let before = "fn one() -> u8 {\n    7\n}\n";
        let ours = format!("{before}{FUNCTION}{before}");
        let mut tree = Tree::default();
        tree.add("ours.rs", &ours);
        tree.add("other.rs", before);
        let renamed = words(
            FUNCTION,
            &[
                ("found", "results"),
                ("waiting", "stack"),
                ("entry", "item"),
                ("folder", "dir"),
                ("Failure", "Error"),
                ("depth", "level"),
                ("a file is too large", "skip"),
                ("0_usize", "1"),
                ("Vec::new", "List::default"),
                (";\n", "; // why\n\n"),
            ],
        );
        for theirs in [FUNCTION.to_owned(), renamed] {
            let copied = tree.copied(&format!("struct Lamp;\n\n\n{theirs}\nimpl Lamp {{}}\n"));
            let [one] = copied.as_slice() else { panic!("once: {copied:?}") };
            assert!(one.name == "ours.rs" && one.tokens > COPIED_TOKENS, "{one:?}");
            assert!((3..=5).contains(&one.line) && (3..=5).contains(&one.from_line), "{one:?}");
        }
        // Half of it is too little to say so.
        let half: String = FUNCTION.lines().take(9).map(|line| format!("{line}\n")).collect();
        assert_eq!(tree.copied(&half), Vec::new());
    }

    #[test]
    fn a_table_is_like_every_table_and_no_copy() {
        let table = |from: u32| {
            let rows: String = (from..from + 200).map(|n| format!("    ('{n}', \"{n}\", {n}),\n")).collect();
            format!("pub const ROWS: &[(char, &str, u32)] = &[\n{rows}];\n")
        };
        let (ours, theirs) = (table(0), table(500));
        let mut tree = Tree::default();
        tree.add("ours.rs", &ours);
        assert_eq!(tree.copied(&theirs), Vec::new());
    }
}
