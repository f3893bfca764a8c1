//! Values in entries that hold little: Credential Manager takes 2,560 bytes in each. A longer value lies in several, and the entry of its
//! name says which belong together.

use crate::Error;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// Bytes of one entry, on every system alike.
const ENTRY_BYTES_MAX: usize = 2_560;
/// Entries of one value.
const PIECES_MAX: usize = 64;
/// How the entry of a name begins whose value lies in others.
const MARK: &str = "hermit-pieces1:";
/// Pieces lie on one of two sides, so that those of a new value take the place of none of the one before.
const SIDES: [char; 2] = ['a', 'b'];

/// Entries of a keychain, by names that may hold a `#`, which no name of a value does.
pub(crate) trait Entries {
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error>;
    fn read(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error>;
    /// Whether there was one.
    fn remove(&self, name: &str) -> Result<bool, Error>;
}

/// Where a value lies that is too long for one entry.
struct Pieces {
    side: char,
    count: usize,
    sha256: String,
}

impl Pieces {
    /// What the entry of a name says; none where the value itself stands there.
    fn read(found: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(found).ok()?.strip_prefix(MARK)?;
        let (side, rest) = text.split_once(':')?;
        let (count, sha256) = rest.split_once(':')?;
        let side = SIDES.into_iter().find(|known| side.chars().eq([*known]))?;
        let count = count.parse::<usize>().ok().filter(|count| (1..=PIECES_MAX).contains(count))?;
        Some(Self { side, count, sha256: sha256.to_owned() })
    }
}

/// The name of a piece.
fn entry(name: &str, side: char, number: usize) -> String {
    format!("{name}#{side}{number}")
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn damaged(name: &str, why: &str) -> Error {
    Error::Damaged { path: name.to_owned(), why: why.to_owned() }
}

/// Keeps a value under a name. Until it is whole the one before is found.
pub(crate) fn put(at: &impl Entries, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let [first, second] = SIDES;
    if bytes.len() <= ENTRY_BYTES_MAX {
        at.write(name, bytes)?;
        return clear(at, name, first, 0).and_then(|()| clear(at, name, second, 0));
    }
    let count = bytes.len().div_ceil(ENTRY_BYTES_MAX);
    if count > PIECES_MAX {
        let most = PIECES_MAX * ENTRY_BYTES_MAX;
        return Err(Error::Keychain { why: format!("a value takes at most {most} bytes of it") });
    }
    let before = at.read(name)?.and_then(|found| Pieces::read(&found));
    let (side, other) = match before {
        Some(pieces) if pieces.side == first => (second, first),
        _ => (first, second),
    };
    for (number, piece) in bytes.chunks(ENTRY_BYTES_MAX).enumerate() {
        at.write(&entry(name, side, number), piece)?;
    }
    at.write(name, format!("{MARK}{side}:{count}:{}", sha256(bytes)).as_bytes())?;
    // What nobody finds any more would still be a secret.
    clear(at, name, side, count).and_then(|()| clear(at, name, other, 0))
}

/// The value under a name.
pub(crate) fn get(at: &impl Entries, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    let Some(found) = at.read(name)? else { return Ok(None) };
    let Some(pieces) = Pieces::read(&found) else { return Ok(Some(found)) };
    // It never grows: what it would leave behind is wiped by nobody.
    let mut whole = Zeroizing::new(Vec::with_capacity(pieces.count * ENTRY_BYTES_MAX));
    for number in 0..pieces.count {
        let piece = at.read(&entry(name, pieces.side, number))?;
        let piece = piece.ok_or_else(|| damaged(name, "a piece of it is gone"))?;
        if piece.len() > ENTRY_BYTES_MAX {
            return Err(damaged(name, "a piece of it is too long"));
        }
        whole.extend_from_slice(&piece);
    }
    if sha256(&whole) != pieces.sha256 {
        return Err(damaged(name, "its pieces are not those that were put there"));
    }
    Ok(Some(whole))
}

/// Forgets the value under a name; whether there was one.
pub(crate) fn delete(at: &impl Entries, name: &str) -> Result<bool, Error> {
    let was_there = at.remove(name)?;
    for side in SIDES {
        clear(at, name, side, 0)?;
    }
    Ok(was_there)
}

/// Removes pieces from a number on, the last one first: one that stays is found by whoever clears again.
fn clear(at: &impl Entries, name: &str, side: char, from: usize) -> Result<(), Error> {
    let mut end = from;
    while end < PIECES_MAX && at.read(&entry(name, side, end))?.is_some() {
        end += 1;
    }
    for number in (from..end).rev() {
        at.remove(&entry(name, side, number))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    /// Entries as small as those of Windows, of which so many more can be written or removed.
    struct Small {
        held: RefCell<BTreeMap<String, Vec<u8>>>,
        left: Cell<usize>,
    }

    impl Small {
        fn new() -> Self {
            Self { held: RefCell::default(), left: Cell::new(usize::MAX) }
        }

        fn changes(&self) -> Result<(), Error> {
            let left = self.left.get().checked_sub(1);
            self.left.set(left.unwrap_or(0));
            left.map(drop).ok_or_else(|| Error::Keychain { why: "it broke off".to_owned() })
        }

        fn count(&self) -> usize {
            self.held.borrow().len()
        }
    }

    impl Entries for Small {
        fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
            assert!(bytes.len() <= 2_560, "{name}: Windows refuses {} bytes", bytes.len());
            self.changes()?;
            self.held.borrow_mut().insert(name.to_owned(), bytes.to_vec());
            Ok(())
        }

        fn read(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
            Ok(self.held.borrow().get(name).cloned().map(Zeroizing::new))
        }

        fn remove(&self, name: &str) -> Result<bool, Error> {
            self.changes()?;
            Ok(self.held.borrow_mut().remove(name).is_some())
        }
    }

    fn found(at: &Small) -> Option<Vec<u8>> {
        get(at, "key").unwrap().map(|found| found.to_vec())
    }

    fn value(length: usize, letter: u8) -> Vec<u8> {
        vec![letter; length]
    }

    #[test]
    fn a_value_of_any_length_is_found_again_and_nothing_of_the_one_before_stays() {
        let at = Small::new();
        for (length, entries) in
            [(0, 1), (2_560, 1), (2_561, 3), (10_000, 5), (64 * 2_560, 65), (5_000, 3), (9, 1)]
        {
            put(&at, "key", &value(length, b'x')).unwrap();
            assert_eq!((found(&at), at.count()), (Some(value(length, b'x')), entries), "{length}");
        }
        let long = put(&at, "key", &value(64 * 2_560 + 1, b'x')).unwrap_err();
        assert!(long.to_string().contains("163840 bytes"), "{long}");
        assert_eq!(found(&at), Some(value(9, b'x')), "the one before is still there");
        put(&at, "key", &value(7_000, b'y')).unwrap();
        assert!(delete(&at, "key").unwrap() && !delete(&at, "key").unwrap());
        assert_eq!((found(&at), at.count()), (None, 0));
    }

    #[test]
    fn wherever_it_breaks_off_the_old_value_or_the_new_one_is_found() {
        for (before, after) in [(5_000, 9_000), (9_000, 5_000), (9_000, 10), (10, 9_000)] {
            for left in 0.. {
                let at = Small::new();
                put(&at, "key", &value(before, b'o')).unwrap();
                at.left.set(left);
                let is_done = put(&at, "key", &value(after, b'n')).is_ok();
                let now = found(&at).unwrap();
                let is_old = now == value(before, b'o');
                assert!(is_old || now == value(after, b'n'), "{before} {after} {left}");
                at.left.set(usize::MAX);
                put(&at, "key", &value(after, b'n')).unwrap();
                assert_eq!(at.count(), if after > 2_560 { after.div_ceil(2_560) + 1 } else { 1 });
                if is_done {
                    break;
                }
            }
        }
    }

    #[test]
    fn a_piece_that_is_gone_or_another_is_told_and_nothing_is_made_of_the_rest() {
        let at = Small::new();
        put(&at, "key", &value(6_000, b'x')).unwrap();
        at.write("key#a1", &value(2_560, b'y')).unwrap();
        assert!(matches!(get(&at, "key"), Err(Error::Damaged { .. })));
        at.remove("key#a1").unwrap();
        assert!(matches!(get(&at, "key"), Err(Error::Damaged { why, .. }) if why.contains("gone")));
    }
}
