//! Which memory records a context pack may hold, and in which order (memory.md 2).
//!
//! A record is a candidate because every context of its project holds it, or because it holds words of what the task is
//! about, or means the same. The order is a fusion by rank: by words, by meaning, and a little by trust and by age. How often a record was used has no say: what was
//! shown once would be shown for ever. Whether it helped orders what all three hold equal, and nothing else.

use crate::trust;
use model::MemoryId;
use model::context::FoundBy;
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

/// How much a place in a list says: the first few differ, the last hardly do (reciprocal rank fusion). Words and meaning
/// tell the first from the others; trust and age decide between those that stand close.
const SMOOTH: u64 = 10;
const SMOOTH_BESIDE: u64 = 60;

/// What the lists weigh. Meaning weighs twice as much as words that say all that was asked for; words that say half of it
/// weigh a quarter, since one word of many is often there by chance.
const WORDS: u64 = 4;
const MEANING: u64 = 8;
const TRUST: u64 = 4;
const AGE: u64 = 1;

/// A memory record that a pack may hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recalled {
    /// The record.
    pub record: MemoryRecord,
    /// Its place among all, from 0.
    pub place: u32,
    /// By what it was looked up; nothing where every context of its project holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<FoundBy>,
}

/// Records that were looked up for a context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// By words, the best match first, with how much of what the words say each holds, in thousandths.
    pub by_words: Vec<(MemoryRecord, u32)>,
    /// By meaning, the nearest first.
    pub by_meaning: Vec<MemoryRecord>,
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

/// Candidates in their order: what is pinned, the rest of `in_force`, then what was `looked` up; each once. The same records
/// give the same order; what is equal is ordered by how much more often it helped than it was contradicted, as `use_of`
/// says, then by identifier.
pub fn ranked(
    in_force: Vec<MemoryRecord>,
    looked: Looked,
    use_of: &BTreeMap<MemoryId, i64>,
) -> Vec<Recalled> {
    let held: BTreeSet<MemoryId> = in_force.iter().map(|record| record.memory_id).collect();
    let is_pinned = |record: &MemoryRecord| record.retention_class == Some(MemoryRetention::Pinned);
    let (pinned, others): (Vec<_>, Vec<_>) = in_force.into_iter().partition(is_pinned);
    let of_force = |records: Vec<MemoryRecord>| {
        fused(records.into_iter().map(Candidate::in_force).collect(), use_of).into_iter()
    };
    let found = candidates(looked).into_iter().filter(|one| !held.contains(&one.record.memory_id));
    let fused = of_force(pinned).chain(of_force(others)).chain(fused(found.collect(), use_of));
    fused
        .zip(0..)
        .map(|(one, place)| Recalled { found_by: one.found_by(), record: one.record, place })
        .collect()
}

/// A record, and what the lists that it stands in say of it.
struct Candidate {
    record: MemoryRecord,
    words: Option<u64>,
    meaning: Option<u64>,
}

impl Candidate {
    const fn in_force(record: MemoryRecord) -> Self {
        Self { record, words: None, meaning: None }
    }

    const fn found_by(&self) -> Option<FoundBy> {
        match (self.words, self.meaning) {
            (Some(_), Some(_)) => Some(FoundBy::Both),
            (Some(_), None) => Some(FoundBy::Words),
            (None, Some(_)) => Some(FoundBy::Meaning),
            (None, None) => None,
        }
    }
}

/// What a place in a list says.
fn says(weight: u64, smooth: u64, place: usize) -> u64 {
    let place = u64::try_from(place).unwrap_or(u64::MAX);
    weight.saturating_mul(1_000_000_000) / smooth.saturating_add(place)
}

/// Each record that was looked up, once, with what both lists say of it.
fn candidates(looked: Looked) -> Vec<Candidate> {
    // Beside meaning, words count by how much of what was asked for they say; alone, their order is all there is.
    let is_alone = looked.by_meaning.is_empty();
    let mut all: BTreeMap<MemoryId, Candidate> = BTreeMap::new();
    for (place, (record, share)) in looked.by_words.into_iter().enumerate() {
        let share = if is_alone { 1000 } else { u64::from(share.min(1000)) };
        let words = says(WORDS, SMOOTH, place).saturating_mul(share * share) / 1_000_000;
        let candidate = Candidate { words: Some(words), ..Candidate::in_force(record) };
        all.entry(candidate.record.memory_id).or_insert(candidate);
    }
    for (place, record) in looked.by_meaning.into_iter().enumerate() {
        let one = all.entry(record.memory_id).or_insert_with(|| Candidate::in_force(record));
        one.meaning = Some(one.meaning.unwrap_or_else(|| says(MEANING, SMOOTH, place)));
    }
    all.into_values().collect()
}

/// Records by the sum of what each list says of them.
fn fused(all: Vec<Candidate>, use_of: &BTreeMap<MemoryId, i64>) -> Vec<Candidate> {
    // What is equal shares a place: so many stand before it.
    let places = |key: &dyn Fn(&MemoryRecord) -> Reverse<i64>| {
        let mut keys: Vec<Reverse<i64>> = all.iter().map(|one| key(&one.record)).collect();
        keys.sort_unstable();
        all.iter().map(|one| keys.partition_point(|other| *other < key(&one.record))).collect::<Vec<_>>()
    };
    let by_trust = places(&|r| Reverse(i64::from(trust::rank(r.trust_tier))));
    let by_age = places(&|r| Reverse(r.created_at.0));
    let beside = by_trust.iter().zip(&by_age).map(|(trust, age)| {
        says(TRUST, SMOOTH_BESIDE, *trust).saturating_add(says(AGE, SMOOTH_BESIDE, *age))
    });
    let beside: Vec<u64> = beside.collect();
    let score = |one: &Candidate, beside: u64| {
        let found = one.words.unwrap_or_default().saturating_add(one.meaning.unwrap_or_default());
        Reverse(found.saturating_add(beside))
    };
    let mut scored: Vec<(Reverse<u64>, Candidate)> =
        all.into_iter().zip(beside).map(|(one, beside)| (score(&one, beside), one)).collect();
    let helped = |id: &MemoryId| Reverse(use_of.get(id).copied().unwrap_or_default());
    scored.sort_by_key(|(score, one)| (*score, helped(&one.record.memory_id), one.record.memory_id));
    scored.into_iter().map(|(_, one)| one).collect()
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
