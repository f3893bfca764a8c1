//! Files by name, in the order of names, also when there are a million of them.
//!
//! A name that is a digest costs its 32 bytes and no text. So a task of a million events, each with a disclosure,
//! can be listed by who makes a bundle and by who checks one (invariant 5).

use crate::layout::Named;
use seal::Digest;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;

const ARTIFACTS: &str = "artifacts/";
const DISCLOSURES: &str = "disclosures/";
const GATE_PROOFS: &str = "gate/proofs.tlog-proof/";

/// What is known of each file. Names may be added in any order; [`Self::settle`] sorts them before they are asked
/// for.
#[derive(Debug)]
pub(crate) struct Names<V> {
    few: BTreeMap<String, V>,
    artifacts: Vec<(Digest, V)>,
    disclosures: Vec<(Digest, V)>,
    gate_proofs: Vec<(u64, V)>,
}

impl<V> Default for Names<V> {
    fn default() -> Self {
        Self { few: BTreeMap::new(), artifacts: Vec::new(), disclosures: Vec::new(), gate_proofs: Vec::new() }
    }
}

impl<V> Names<V> {
    pub(crate) fn add(&mut self, name: &str, value: V) {
        match Named::parse(name) {
            Some(named) => self.add_named(named, value),
            None => _ = self.few.insert(name.to_owned(), value),
        }
    }

    pub(crate) fn add_named(&mut self, named: Named, value: V) {
        match named {
            Named::Artifact(digest) => self.artifacts.push((digest, value)),
            Named::Disclosure(digest) => self.disclosures.push((digest, value)),
            Named::GateProof(number) => self.gate_proofs.push((number, value)),
            other => _ = self.few.insert(other.path(), value),
        }
    }

    /// Sorts, and drops all but one of what was added more than once: two receipts may name one artifact.
    pub(crate) fn settle(&mut self) {
        once(&mut self.artifacts, Ord::cmp);
        once(&mut self.disclosures, Ord::cmp);
        once(&mut self.gate_proofs, by_text);
    }

    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.artifacts.len() + self.disclosures.len() + self.gate_proofs.len()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        match Named::parse(name) {
            Some(Named::Artifact(digest)) => found(&self.artifacts, &digest, Ord::cmp),
            Some(Named::Disclosure(digest)) => found(&self.disclosures, &digest, Ord::cmp),
            Some(Named::GateProof(number)) => found(&self.gate_proofs, &number, by_text),
            _ => self.few.get(name),
        }
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        match Named::parse(name) {
            Some(Named::Artifact(digest)) => found_mut(&mut self.artifacts, &digest, Ord::cmp),
            Some(Named::Disclosure(digest)) => found_mut(&mut self.disclosures, &digest, Ord::cmp),
            Some(Named::GateProof(number)) => found_mut(&mut self.gate_proofs, &number, by_text),
            _ => self.few.get_mut(name),
        }
    }

    /// All of them in the order of their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, &V)> {
        self.texts(Bound::Unbounded, Bound::Excluded(ARTIFACTS))
            .chain(self.artifacts.iter().map(|(d, v)| (Cow::Owned(Named::Artifact(*d).path()), v)))
            .chain(self.texts(Bound::Included(ARTIFACTS), Bound::Excluded(DISCLOSURES)))
            .chain(self.disclosures.iter().map(|(d, v)| (Cow::Owned(Named::Disclosure(*d).path()), v)))
            .chain(self.texts(Bound::Included(DISCLOSURES), Bound::Excluded(GATE_PROOFS)))
            .chain(self.gate_proofs.iter().map(|(n, v)| (Cow::Owned(Named::GateProof(*n).path()), v)))
            .chain(self.texts(Bound::Included(GATE_PROOFS), Bound::Unbounded))
    }

    fn texts<'a>(
        &'a self,
        from: Bound<&'a str>,
        to: Bound<&'a str>,
    ) -> impl Iterator<Item = (Cow<'a, str>, &'a V)> {
        self.few.range::<str, _>((from, to)).map(|(name, value)| (Cow::Borrowed(name.as_str()), value))
    }

    /// Names below a folder whose files are not named by a digest alone, or by an entry's number.
    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        let from = (Bound::Included(folder), Bound::Unbounded);
        let names = self.few.range::<str, _>(from).map(|(name, _)| name.as_str());
        names.take_while(move |name| name.starts_with(folder))
    }

    /// Numbers of the gate's entries whose places are proven, ascending.
    pub(crate) fn gate_numbers(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self.gate_proofs.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Sorts and keeps one of each.
fn once<K: Copy + Eq, V>(rows: &mut Vec<(K, V)>, order: fn(&K, &K) -> Ordering) {
    rows.sort_by(|(a, _), (b, _)| order(a, b));
    rows.dedup_by_key(|(key, _)| *key);
    rows.shrink_to_fit();
}

fn found<'a, K, V>(rows: &'a [(K, V)], key: &K, order: fn(&K, &K) -> Ordering) -> Option<&'a V> {
    let at = rows.binary_search_by(|(k, _)| order(k, key)).ok()?;
    rows.get(at).map(|(_, value)| value)
}

fn found_mut<'a, K, V>(rows: &'a mut [(K, V)], key: &K, order: fn(&K, &K) -> Ordering) -> Option<&'a mut V> {
    let at = rows.binary_search_by(|(k, _)| order(k, key)).ok()?;
    rows.get_mut(at).map(|(_, value)| value)
}

/// The order of numbers as texts: 10 stands before 2.
fn by_text(a: &u64, b: &u64) -> Ordering {
    /// Twenty digits are the longest number; shorter ones are filled up on the right.
    fn filled(number: u64) -> (u128, u32) {
        let digits = number.checked_ilog10().unwrap_or(0) + 1;
        (u128::from(number) * 10_u128.pow(20 - digits), digits)
    }
    filled(*a).cmp(&filled(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_in_the_order_of_their_texts_whatever_order_they_were_added_in() {
        let digests: Vec<Digest> = (0_u8..9).map(|n| Digest::of(&[n])).collect();
        let mut texts: Vec<String> = ["README.txt", "SHA256SUMS", "gate/checkpoint", "gate/entries.jsonl"]
            .into_iter()
            .chain(["keys/log.vkey", "artifacts", "disclosures", "gate/proofs", "gate/proofs.tlog-proof/x"])
            .map(str::to_owned)
            .collect();
        texts.extend(digests.iter().flat_map(|d| [Named::Artifact(*d).path(), Named::Disclosure(*d).path()]));
        let numbers = [1, 2, 9, 10, 11, 19, 100, 101, 999, 1000, u64::MAX, u64::MAX / 10];
        texts.extend(numbers.map(|n| Named::GateProof(n).path()));
        let mut names = Names::default();
        texts.iter().rev().for_each(|name| names.add(name, name.len()));
        names.settle();
        let sorted: Vec<String> =
            texts.iter().cloned().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
        let listed: Vec<String> = names.iter().map(|(name, _)| name.into_owned()).collect();
        assert_eq!((listed, names.len()), (sorted, texts.len()));
        assert!(texts.iter().all(|name| names.get(name) == Some(&name.len())));
        assert_eq!(names.get("README"), None);
        *names.get_mut("README.txt").unwrap_or(&mut 0) = 1;
        assert_eq!(names.get("README.txt"), Some(&1));
        let mut ascending = numbers.to_vec();
        ascending.sort_unstable();
        assert_eq!(names.gate_numbers(), ascending);
        assert_eq!(names.below("keys/").collect::<Vec<_>>(), ["keys/log.vkey"]);
    }

    #[test]
    fn a_name_that_comes_twice_is_listed_once() {
        for name in [
            "README.txt".to_owned(),
            Named::GateProof(3).path(),
            Named::Artifact(Digest::of(b"a")).path(),
            Named::Disclosure(Digest::of(b"a")).path(),
        ] {
            let mut names = Names::default();
            names.add(&name, 1);
            names.add("SHA256SUMS", 1);
            names.add(&name, 2);
            names.settle();
            assert_eq!(names.len(), 2);
            assert!(names.get(&name).is_some());
        }
    }
}
