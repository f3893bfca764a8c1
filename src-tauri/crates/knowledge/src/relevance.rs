//! Which memory records a context pack may hold, and in which order (memory.md 2).
//!
//! A record is a candidate because every context of its project holds it, or because it holds words of what the task is
//! about. The order is a fusion of three: by words, by trust, by age. How often a record was used has no say: what was
//! shown once would be shown for ever. Whether it helped orders what all three hold equal, and nothing else.

use crate::trust;
use model::MemoryId;
use model::knowledge::{MemoryRecord, MemoryRetention};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Words of a task that count; more are ignored, the last said first.
const WORDS_MAX: usize = 48;

/// Letters that a word has at least.
const LETTERS_MIN: usize = 3;

/// Words that say nothing of what a text is about.
const EMPTY: &str = "about after again all also and any are been before being but can could did does doing done each \
    for from get give had has have here how into its just let like make more most must not now off one only other our \
    out over own please same shall should some such than that the their them then there these they this those through \
    too under until use used using very want was were what when where which while who why will with would you your";

/// How much a place in a list says: the first few differ, the last hardly do (reciprocal rank fusion).
const SMOOTH: u64 = 60;

/// A memory record that a pack may hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recalled {
    /// The record.
    pub record: MemoryRecord,
    /// Its place among all, from 0.
    pub place: u32,
}

/// Every word of a text that says something, in small letters.
pub fn every_word(text: &str) -> impl Iterator<Item = String> {
    let empty: BTreeSet<&str> = EMPTY.split_whitespace().collect();
    let says = move |word: &String| word.chars().count() >= LETTERS_MIN && !empty.contains(word.as_str());
    text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).filter(says)
}

/// The words by which memory is looked up for these texts, each once, in the order in which they were said.
pub fn words(texts: &[&str]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let all = texts.iter().flat_map(|text| every_word(text));
    all.filter(|word| seen.insert(word.clone())).take(WORDS_MAX).collect()
}

/// The same for two kinds of texts, each of which has half of the room, and what the other leaves of its half.
pub fn words_of_both(one: &[&str], other: &[&str]) -> Vec<String> {
    let (mut one, mut other) = (words(one), words(other));
    let new = other.iter().filter(|word| !one.contains(word)).count();
    one.truncate((WORDS_MAX / 2).max(WORDS_MAX.saturating_sub(new)));
    other.retain(|word| !one.contains(word));
    one.into_iter().chain(other).take(WORDS_MAX).collect()
}

/// Candidates in their order: what is pinned, the rest of `in_force`, then `by_words`, which come the best match first; each
/// once. The same records give the same order; what is equal is ordered by how much more often it helped than it was
/// contradicted, as `use_of` says, then by identifier.
pub fn ranked(
    in_force: Vec<MemoryRecord>,
    by_words: Vec<MemoryRecord>,
    use_of: &BTreeMap<MemoryId, i64>,
) -> Vec<Recalled> {
    let held: BTreeSet<MemoryId> = in_force.iter().map(|record| record.memory_id).collect();
    let by_words: Vec<MemoryRecord> =
        by_words.into_iter().filter(|record| !held.contains(&record.memory_id)).collect();
    let is_pinned = |record: &MemoryRecord| record.retention_class == Some(MemoryRetention::Pinned);
    let (pinned, others): (Vec<_>, Vec<_>) = in_force.into_iter().partition(is_pinned);
    let fused = fused(pinned, false, use_of)
        .into_iter()
        .chain(fused(others, false, use_of))
        .chain(fused(by_words, true, use_of));
    fused.zip(0..).map(|(record, place)| Recalled { record, place }).collect()
}

/// Records by the sum of what each list says of them; `matched` when they come in an order that counts.
fn fused(records: Vec<MemoryRecord>, matched: bool, use_of: &BTreeMap<MemoryId, i64>) -> Vec<MemoryRecord> {
    // What is equal shares a place: so many stand before it.
    let place = |key: &dyn Fn(&MemoryRecord) -> Reverse<i64>, of: &MemoryRecord| {
        let before = records.iter().filter(|other| key(other) < key(of)).count();
        u64::try_from(before).unwrap_or(u64::MAX)
    };
    let by_trust = |r: &MemoryRecord| Reverse(i64::from(trust::rank(r.trust_tier)));
    let by_age = |r: &MemoryRecord| Reverse(r.created_at.0);
    let says = |weight: u64, place: u64| weight.saturating_mul(1_000_000) / (SMOOTH.saturating_add(place));
    let score = |at: usize, record: &MemoryRecord| {
        let words = if matched { says(4, u64::try_from(at).unwrap_or(u64::MAX)) } else { 0 };
        let (trust, age) = (place(&by_trust, record), place(&by_age, record));
        words.saturating_add(says(2, trust)).saturating_add(says(1, age))
    };
    let mut scored: Vec<(Reverse<u64>, MemoryRecord)> =
        records.iter().enumerate().map(|(at, one)| (Reverse(score(at, one)), one.clone())).collect();
    let helped = |id: &MemoryId| Reverse(use_of.get(id).copied().unwrap_or_default());
    scored.sort_by_key(|(score, record)| (*score, helped(&record.memory_id), record.memory_id));
    scored.into_iter().map(|(_, record)| record).collect()
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_what_a_text_is_about_each_once_and_bounded() {
        assert_eq!(words(&["Please use the Tax-table, THE tax table!", "in v2"]), ["tax", "table"]);
        assert!(words(&["do it for me", ""]).is_empty());
        let many: String = (0..500).map(|n| format!("word{n} ")).collect();
        assert_eq!(words(&[&many]).len(), super::WORDS_MAX);
        let both = super::words_of_both(&["tax table"], &[&many]);
        assert_eq!(
            (both.len(), &*both[0], &*both[1], &*both[2]),
            (super::WORDS_MAX, "tax", "table", "word0")
        );
        let both = super::words_of_both(&[&many], &["tax table"]);
        assert!(both.len() == super::WORDS_MAX && both.ends_with(&["tax".to_owned(), "table".to_owned()]));
    }
}
