//! Hunks of the difference of two texts: what a card numbers, and what a person takes or leaves one by one. The same
//! texts always have the same hunks: no clock is asked, the bounds alone keep it short.

use crate::stage::text;
use similar::{Algorithm, capture_diff_slices};
use std::collections::BTreeSet;
use std::ops::Range;

/// Unchanged lines that are shown around a change.
pub const AROUND: usize = 3;
/// Bytes of either text.
pub const HUNK_BYTES_MAX: u64 = 256 * 1024;
/// Lines of either text.
const LINES_MAX: usize = 10_000;
/// Hunks of one difference.
pub const HUNKS_MAX: usize = 500;

/// Lines, and what comes in their place; counted from 0, cut after each line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The hunk that it belongs to, from 1. A hunk ends where more than twice [`AROUND`] lines stay as they are.
    pub hunk: usize,
    /// Lines of the text before.
    pub before: Range<usize>,
    /// Lines of the text after.
    pub after: Range<usize>,
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Every edit between two texts, in order.
///
/// # Errors
/// Why these bytes have no hunks, in words: no text, too long, too many of them.
pub fn edits(before: &[u8], after: &[u8]) -> Result<Vec<Edit>, String> {
    if [before, after].iter().any(|side| side.len() as u64 > HUNK_BYTES_MAX) {
        return Err(format!("is longer than the {HUNK_BYTES_MAX} bytes that are cut into hunks"));
    }
    let (Some(before), Some(after)) = (text(before), text(after)) else {
        return Err("is not text".to_owned());
    };
    let (before, after) = (lines(before), lines(after));
    if before.len().max(after.len()) > LINES_MAX {
        return Err(format!("has more than the {LINES_MAX} lines that are cut into hunks"));
    }
    let mut all: Vec<Edit> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
        let (old, new) = (op.old_range(), op.new_range());
        if op.tag() == similar::DiffTag::Equal || old.is_empty() && new.is_empty() {
            continue;
        }
        let hunk = match all.last_mut() {
            Some(last) if last.before.end == old.start && last.after.end == new.start => {
                (last.before.end, last.after.end) = (old.end, new.end);
                continue;
            }
            Some(last) if old.start.saturating_sub(last.before.end) <= AROUND.saturating_mul(2) => last.hunk,
            Some(last) => last.hunk.saturating_add(1),
            None => 1,
        };
        all.push(Edit { hunk, before: old, after: new });
    }
    match all.last() {
        Some(last) if last.hunk > HUNKS_MAX => Err(format!("has more than {HUNKS_MAX} hunks")),
        _ => Ok(all),
    }
}

/// The text before with these hunks alone.
///
/// # Errors
/// As [`edits`]; and when there is no such hunk, in words.
pub fn with_hunks(before: &[u8], after: &[u8], taken: &BTreeSet<usize>) -> Result<Vec<u8>, String> {
    let edits = edits(before, after)?;
    let many = edits.last().map_or(0, |edit| edit.hunk);
    if let Some(wrong) = taken.iter().find(|hunk| **hunk == 0 || **hunk > many) {
        return Err(format!("has no hunk {wrong}; it has {many}"));
    }
    let (Some(old), Some(new)) = (text(before), text(after)) else { return Err("is not text".to_owned()) };
    let (old, new) = (lines(old), lines(new));
    let mut made = String::new();
    let mut at = 0;
    for edit in edits.iter().filter(|edit| taken.contains(&edit.hunk)) {
        made.extend(old.get(at..edit.before.start).unwrap_or_default().iter().copied());
        made.extend(new.get(edit.after.clone()).unwrap_or_default().iter().copied());
        at = edit.before.end;
    }
    made.extend(old.get(at..).unwrap_or_default().iter().copied());
    Ok(made.into_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use proptest::prelude::*;

    fn numbered(changed: &[usize]) -> String {
        (1..=60).map(|n| format!("{}{n}\n", if changed.contains(&n) { "new " } else { "" })).collect()
    }

    #[test]
    fn changes_that_stand_near_are_one_hunk_and_each_is_taken_by_itself() {
        let (before, after) = (numbered(&[]), numbered(&[3, 30, 37, 55]));
        let found = edits(before.as_bytes(), after.as_bytes()).unwrap();
        assert_eq!(found.iter().map(|edit| edit.hunk).collect::<Vec<_>>(), [1, 2, 2, 3]);
        let took = |hunks: &[usize]| {
            let hunks = hunks.iter().copied().collect();
            with_hunks(before.as_bytes(), after.as_bytes(), &hunks)
                .map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(took(&[1, 3]).unwrap(), numbered(&[3, 55]));
        assert_eq!(took(&[2]).unwrap(), numbered(&[30, 37]));
        assert!(took(&[1, 4]).unwrap_err().contains("no hunk 4; it has 3"));
        assert!(took(&[0]).is_err());
        let apart = edits(before.as_bytes(), numbered(&[30, 38]).as_bytes()).unwrap();
        assert_eq!(apart.last().unwrap().hunk, 2, "seven lines between two changes part them");
    }

    #[test]
    fn what_is_no_text_or_too_long_has_no_hunks() {
        assert!(edits(b"a\0b", b"c").unwrap_err().contains("not text"));
        assert!(edits(b"a", &[0xff]).unwrap_err().contains("not text"));
        let long = vec![b'\n'; LINES_MAX + 1];
        assert!(edits(b"a", &long).unwrap_err().contains("lines"));
        assert!(edits(&vec![b'a'; 256 * 1024 + 1], b"").unwrap_err().contains("bytes"));
        let many = |word: &str| (0..4_500).map(|n| if n % 8 == 0 { word } else { "s\n" }).collect::<String>();
        assert!(edits(many("a\n").as_bytes(), many("b\n").as_bytes()).unwrap_err().contains("hunks"));
    }

    proptest! {
        #[test]
        fn all_hunks_give_the_text_after_none_the_text_before_and_a_part_is_of_lines_of_both(
            before in "([abc\r]{0,2}\n){0,40}[abc]{0,2}",
            after in "([abc\r]{0,2}\n){0,40}[abc]{0,2}",
            pick in any::<u64>(),
        ) {
            let found = edits(before.as_bytes(), after.as_bytes()).unwrap();
            prop_assert_eq!(&found, &edits(before.as_bytes(), after.as_bytes()).unwrap());
            let many = found.last().map_or(0, |edit| edit.hunk);
            let took = |hunks: BTreeSet<usize>| with_hunks(before.as_bytes(), after.as_bytes(), &hunks).unwrap();
            prop_assert_eq!(took((1..=many).collect()), after.as_bytes());
            prop_assert_eq!(took(BTreeSet::new()), before.as_bytes());
            let some = took((1..=many).filter(|hunk| pick >> (hunk % 64) & 1 == 1).collect());
            let known: BTreeSet<&str> = lines(&before).into_iter().chain(lines(&after)).collect();
            let some = String::from_utf8(some).unwrap();
            prop_assert!(lines(&some).iter().all(|line| known.contains(line)), "{:?}", some);
        }
    }
}
