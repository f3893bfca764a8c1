//! Access lists that are changed: entries for somebody who comes for a while, and their way back. All over bytes.

use crate::access::{Malformed, Sid};

/// What an entry gives or takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// Whether it takes these rights, whatever other entries give.
    pub is_denied: bool,
    /// The rights, as bits of a file's or folder's.
    pub rights: u32,
    /// Whether what lies in the folder takes it on.
    pub is_taken_on: bool,
}

/// An entry came from the folder above.
const INHERITED: u8 = 0x10;
/// Files and folders within take it on.
const TAKEN_ON: u8 = 0x03;
/// Where in a descriptor it says where its lists begin: of the label, and of access.
const LABEL_AT: usize = 12;
const ACCESS_AT: usize = 16;
/// Bytes before the first entry of a list.
const HEAD: usize = 8;

/// The list of who may reach a file, out of a descriptor whose parts are in one run of bytes; none where it has no list, and
/// everybody may do everything.
///
/// # Errors
/// It says more than it holds.
pub fn access_of(descriptor: &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
    part(descriptor, ACCESS_AT)
}

/// The same of the list that holds the file's label.
///
/// # Errors
/// It says more than it holds.
pub fn label_of(descriptor: &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
    part(descriptor, LABEL_AT)
}

fn part(descriptor: &[u8], at: usize) -> Result<Option<Vec<u8>>, Malformed> {
    let outside = Malformed::because("a part of it lies outside");
    let begins = u32::from_le_bytes(fixed(descriptor, at)?);
    if begins == 0 {
        return Ok(None);
    }
    let list = usize::try_from(begins).ok().and_then(|begins| descriptor.get(begins..)).ok_or(outside)?;
    let size = usize::from(u16::from_le_bytes(fixed(list, 2)?));
    list.get(..size).filter(|list| list.len() >= HEAD).map(|list| Some(list.to_vec())).ok_or(outside)
}

/// A list with one entry more: one that takes rights stands before all others, one that gives them behind those that take.
///
/// # Errors
/// It is none, or would be too long.
pub fn with(list: &[u8], who: &Sid, grant: Grant) -> Result<Vec<u8>, Malformed> {
    let mut entries = entries(list)?;
    let is_own_denial =
        |entry: &[u8]| matches!(entry, [1 | 6 | 10 | 12, flags, ..] if flags & INHERITED == 0);
    let at =
        if grant.is_denied { 0 } else { entries.iter().take_while(|entry| is_own_denial(entry)).count() };
    let flags = if grant.is_taken_on { TAKEN_ON } else { 0 };
    entries.insert(at, entry(u8::from(grant.is_denied), flags, grant.rights, who)?);
    whole(list, &entries)
}

/// A list without the entries for somebody, but for those that came from the folder above: they go when they go there.
///
/// # Errors
/// It is none.
pub fn without(list: &[u8], who: &Sid) -> Result<Vec<u8>, Malformed> {
    let of_them = |entry: &[u8]| {
        matches!(entry, [0 | 1, flags, ..] if flags & INHERITED == 0)
            && entry.get(8..).is_some_and(|sid| Sid::read(sid).is_ok_and(|sid| sid == *who))
    };
    let entries: Vec<Vec<u8>> = entries(list)?.into_iter().filter(|entry| !of_them(entry)).collect();
    whole(list, &entries)
}

/// A list of access for these alone, with every right: what a process makes without saying for whom.
///
/// # Errors
/// They are too many.
pub fn all_rights_for(users: &[Sid]) -> Result<Vec<u8>, Malformed> {
    const ALL: u32 = 0x1000_0000;
    let entries: Result<Vec<_>, _> = users.iter().map(|who| entry(0, 0, ALL, who)).collect();
    whole(&[2, 0, 0, 0, 0, 0, 0, 0], &entries?)
}

/// The list that labels a file or folder so that a process of low integrity may write it; what lies in a folder takes it on.
///
/// # Errors
/// Never.
pub fn low_label(is_folder: bool) -> Result<Vec<u8>, Malformed> {
    /// What is below it may not write.
    const NO_WRITE_UP: u32 = 1;
    let flags = if is_folder { TAKEN_ON } else { 0 };
    whole(&[2, 0, 0, 0, 0, 0, 0, 0], &[entry(0x11, flags, NO_WRITE_UP, &Sid::low_integrity())?])
}

/// A list of no entry: a file without a label.
#[must_use]
pub fn no_label() -> Vec<u8> {
    vec![2, 0, 8, 0, 0, 0, 0, 0]
}

/// Whether a list has no entry at all.
#[must_use]
pub fn is_empty(list: &[u8]) -> bool {
    matches!(list, [_, _, _, _, 0, 0, ..])
}

/// Whether a label says less integrity than programs of people have. None is as much as theirs; one that is not understood is less.
///
/// # Errors
/// It is no list.
pub fn is_low(label: Option<&[u8]>) -> Result<bool, Malformed> {
    /// What a program has that a person starts.
    const USUAL: u32 = 0x2000;
    let is_usual = |entry: &Vec<u8>| {
        let who = Sid::read(entry.get(8..).unwrap_or_default());
        who.is_ok_and(|who| matches!(who.parts(), (16, [level]) if *level >= USUAL))
    };
    Ok(label.map(entries).transpose()?.is_some_and(|found| !found.iter().all(is_usual)))
}

fn entry(kind: u8, flags: u8, rights: u32, who: &Sid) -> Result<Vec<u8>, Malformed> {
    let who = who.bytes();
    let size = u16::try_from(8 + who.len()).map_err(|_| Malformed::because("an entry is too long"))?;
    Ok([&[kind, flags][..], &size.to_le_bytes(), &rights.to_le_bytes(), &who].concat())
}

fn entries(list: &[u8]) -> Result<Vec<Vec<u8>>, Malformed> {
    let count = u16::from_le_bytes(fixed(list, 4)?);
    let mut found = Vec::new();
    let mut at = HEAD;
    for _ in 0..count {
        let size = usize::from(u16::from_le_bytes(fixed(list, at + 2)?));
        let entry = list.get(at..at + size).filter(|entry| entry.len() >= 8);
        found.push(entry.ok_or(Malformed::because("an entry ends before it says"))?.to_vec());
        at += size;
    }
    Ok(found)
}

fn whole(list: &[u8], entries: &[Vec<u8>]) -> Result<Vec<u8>, Malformed> {
    let long = |_| Malformed::because("the list would have more than 64 KiB");
    let body = entries.concat();
    let size = u16::try_from(HEAD + body.len()).map_err(long)?;
    let count = u16::try_from(entries.len()).map_err(long)?;
    let [version, ..]: [u8; 2] = fixed(list, 0)?;
    Ok([&[version, 0][..], &size.to_le_bytes(), &count.to_le_bytes(), &[0, 0], &body].concat())
}

fn fixed<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Malformed> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or(Malformed::because("it ends too early"))
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::access::{AccessList, LIST_AT, owner_only};

    fn sid(text: &str) -> Sid {
        text.parse().expect("a user")
    }

    fn list() -> Vec<u8> {
        owner_only(&sid("S-1-5-21-1-2-3-1001"), true).get(LIST_AT..).expect("a list").to_vec()
    }

    const MODIFY: Grant = Grant { is_denied: false, rights: 0x0013_01bf, is_taken_on: true };
    const NOTHING: Grant = Grant { is_denied: true, rights: 0x001f_01ff, is_taken_on: true };

    #[test]
    fn what_is_given_is_taken_back_and_the_list_is_as_it_was() {
        let guest = sid("S-1-15-2-1-2-3-4-5-6-7");
        let given = with(&list(), &guest, MODIFY).expect("given");
        assert_ne!(given, list());
        let both = with(&given, &guest, NOTHING).expect("given");
        assert_eq!(both.get(8), Some(&1), "what takes stands first");
        assert_eq!(both.get(4), Some(&4));
        assert_eq!(without(&both, &guest), Ok(list()));
        assert_eq!(without(&both, &sid("S-1-15-2-1-2-3-4-5-6-8")), Ok(both.clone()), "nobody else's");
        // Behind what takes, whoever it takes from.
        let denied = with(&list(), &sid("S-1-5-32-546"), NOTHING).expect("given");
        let after = with(&denied, &guest, MODIFY).expect("given");
        assert!(after.starts_with(&[2, 0]) && after.get(8) == Some(&1));
        assert_eq!(without(&after, &guest), Ok(denied));
    }

    #[test]
    fn what_came_from_above_stays_until_it_goes_there() {
        let guest = sid("S-1-15-2-1");
        let mut given = with(&list(), &guest, MODIFY).expect("given");
        *given.get_mut(9).expect("flags") |= INHERITED;
        assert_eq!(without(&given, &guest), Ok(given.clone()));
    }

    #[test]
    fn a_list_is_found_in_its_descriptor_and_one_that_says_more_than_it_holds_is_refused() {
        let user = sid("S-1-5-21-1-2-3-1001");
        let descriptor = owner_only(&user, true);
        assert_eq!(access_of(&descriptor), Ok(Some(list())));
        assert_eq!(label_of(&descriptor), Ok(None));
        let mut zeros = descriptor.clone();
        zeros.extend([0; 7]);
        assert_eq!(access_of(&zeros), Ok(Some(list())), "zeros behind are none of it");
        assert!(access_of(descriptor.get(..30).expect("some")).is_err());
        for end in 0..list().len() {
            assert!(without(list().get(..end).expect("some"), &user).is_err(), "{end}");
        }
        let given = with(&list(), &user, MODIFY).expect("given");
        let header = [&[1u8, 0, 0x04, 0x80][..], &[0; 12], &20u32.to_le_bytes(), &given].concat();
        assert!(AccessList::read(&header).expect("read").others(&user).is_empty());
    }

    #[test]
    fn a_label_says_low_and_no_label_says_nothing() {
        let label = low_label(true).expect("a label");
        let wanted: [u8; 28] =
            [2, 0, 28, 0, 1, 0, 0, 0, 0x11, 3, 20, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 16, 0, 16, 0, 0];
        assert_eq!(label, wanted);
        assert!(is_empty(&no_label()) && !is_empty(&label));
        let of =
            |who: &Sid| whole(&no_label(), &[entry(0x11, 0, 1, who).expect("an entry")]).expect("a label");
        let [untrusted, usual, high] = [0, 0x2000, 0x3000].map(|level| of(&Sid::of(16, vec![level])));
        for less in [label.clone(), untrusted, of(&Sid::system())] {
            assert_eq!(is_low(Some(&less)), Ok(true), "{less:?}");
        }
        for enough in [None, Some(no_label()), Some(usual), Some(high)] {
            assert_eq!(is_low(enough.as_deref()), Ok(false), "{enough:?}");
        }
        assert!(is_low(label.get(..20)).is_err());
        let all = all_rights_for(&[Sid::system()]).expect("a list");
        assert_eq!(all.get(..16), Some(&[2, 0, 28, 0, 1, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0x10][..]));
    }
}
