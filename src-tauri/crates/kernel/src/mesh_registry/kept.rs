//! A list that keeps the newest of each of those who write to it, so that nobody pushes out what another wrote.

use std::collections::{BTreeMap, BTreeSet};

/// What was written, by its place from 1, and whose it is.
#[derive(Debug, Clone)]
pub(super) struct Kept<K, T> {
    told: u64,
    all: BTreeMap<u64, T>,
    places: BTreeMap<K, BTreeSet<u64>>,
}

impl<K, T> Default for Kept<K, T> {
    fn default() -> Self {
        Self { told: 0, all: BTreeMap::new(), places: BTreeMap::new() }
    }
}

impl<K: Ord + Copy, T> Kept<K, T> {
    /// The place of the next one.
    pub(super) const fn next_place(&self) -> u64 {
        self.told + 1
    }

    /// Adds one of somebody, of whom at most so many are kept. What goes for it is returned: the oldest of the same one that is
    /// done with, and the oldest where none is.
    pub(super) fn push(&mut self, (of, most): (K, usize), one: T, is_done: impl Fn(&T) -> bool) -> Option<T> {
        self.told += 1;
        self.all.insert(self.told, one);
        let places = self.places.entry(of).or_default();
        places.insert(self.told);
        if places.len() <= most {
            return None;
        }
        let done = places.iter().find(|place| self.all.get(*place).is_some_and(&is_done));
        let goes = done.or_else(|| places.first()).copied()?;
        places.remove(&goes);
        self.all.remove(&goes)
    }

    pub(super) fn get(&self, place: u64) -> Option<&T> {
        self.all.get(&place)
    }

    pub(super) fn get_mut(&mut self, place: u64) -> Option<&mut T> {
        self.all.get_mut(&place)
    }

    /// All that are kept, the oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.all.values()
    }

    /// Those of one, the oldest first.
    pub(super) fn of(&self, of: K) -> impl DoubleEndedIterator<Item = &T> {
        self.places.get(&of).into_iter().flatten().filter_map(|place| self.all.get(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_one_pushes_out_its_own_and_what_waits_goes_last() {
        let mut kept = Kept::default();
        kept.push(('a', 3), "the first of a", |_| true);
        kept.push(('b', 3), "waits", |one| *one != "waits");
        for _ in 0..1_000 {
            assert_ne!(kept.push(('b', 3), "done", |one| *one != "waits"), Some("waits"));
        }
        assert_eq!(kept.iter().copied().collect::<Vec<_>>(), ["the first of a", "waits", "done", "done"]);
        assert_eq!(kept.of('b').next(), Some(&"waits"));
        assert_eq!((kept.get(2), kept.get(3), kept.next_place()), (Some(&"waits"), None, 1_003));
        // Where all of them wait, the oldest goes.
        let mut all = Kept::default();
        let gone: Vec<Option<u8>> = (0..5).map(|n| all.push(('a', 2), n, |_| false)).collect();
        assert_eq!(gone, [None, None, Some(0), Some(1), Some(2)]);
    }
}
