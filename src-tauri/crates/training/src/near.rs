//! Near-duplicates: shingles of three words, their minhash in bands to find who may be near, and the share of
//! common shingles to say who is.

use crate::example::Example;
use seal::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// Words of a shingle.
const WORDS: usize = 3;

/// Rows of a band, and bands: two texts with nine tenths in common share a band all but always.
const ROWS: usize = 4;
const BANDS: usize = 16;

/// Common shingles of a hundred, from which two texts are near.
const NEAR_PERCENT: usize = 90;

/// Examples that one is compared with for each band: a bound on the work that many alike make.
const COMPARED_MAX: usize = 32;

/// What is compared of an example: shingles of what is shown, and of the answer.
struct Shingles {
    prompt: BTreeSet<u64>,
    answer: BTreeSet<u64>,
}

/// Examples that were kept, by what is compared of them.
#[derive(Default)]
pub(crate) struct Kept {
    seen: Vec<(Digest, Shingles)>,
    bands: BTreeMap<(usize, u64), Vec<usize>>,
}

impl Kept {
    /// Keeps an example, or names the one that it is near to. Near are two whose prompts are near and whose answers
    /// are: another answer to the same question is worth learning.
    pub(crate) fn keep(&mut self, example: &Example) -> Option<Digest> {
        let shown = example.prompt.iter().map(|turn| turn.content.as_str()).collect::<Vec<_>>().join("\n");
        let own = Shingles { prompt: shingles(&shown), answer: shingles(&example.answer) };
        let keys = bands(&own.prompt);
        for key in keys.iter().enumerate().map(|(band, key)| (band, *key)) {
            for at in self.bands.get(&key).into_iter().flatten() {
                if let Some((id, other)) = self.seen.get(*at)
                    && is_near(&own.prompt, &other.prompt)
                    && is_near(&own.answer, &other.answer)
                {
                    return Some(*id);
                }
            }
        }
        let at = self.seen.len();
        self.seen.push((example.id, own));
        for key in keys.iter().enumerate().map(|(band, key)| (band, *key)) {
            let alike = self.bands.entry(key).or_default();
            if alike.len() < COMPARED_MAX {
                alike.push(at);
            }
        }
        None
    }
}

fn is_near(one: &BTreeSet<u64>, other: &BTreeSet<u64>) -> bool {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    common * 100 >= all * NEAR_PERCENT
}

/// Numbers of all runs of three words, in lower case; of a shorter text the one of the whole.
fn shingles(text: &str) -> BTreeSet<u64> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    if words.len() < WORDS {
        return BTreeSet::from([number(&words)]);
    }
    words.windows(WORDS).map(number).collect()
}

/// FNV-1a over the words, each with an end.
fn number(words: &[String]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in words.iter().flat_map(|word| word.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

/// The finaliser of SplitMix64, of a number and a place.
fn mixed(number: u64, place: u64) -> u64 {
    let mut mixed = number.wrapping_add(place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn bands(shingles: &BTreeSet<u64>) -> Vec<u64> {
    let smallest =
        |place: usize| shingles.iter().map(|one| mixed(*one, place as u64)).min().unwrap_or_default();
    (0..BANDS)
        .map(|band| (0..ROWS).fold(0, |key, row| mixed(key ^ smallest(band * ROWS + row), row as u64)))
        .collect()
}
