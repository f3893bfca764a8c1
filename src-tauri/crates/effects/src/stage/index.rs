//! The names in a git index, versions 2 to 4 (`gitformat-index`): enough to tell whether git keeps a file.

use model::RelPath;
use std::collections::BTreeSet;

/// Bytes of an entry before its flags: times, device, inode, mode, owner, size, object.
const FIXED: usize = 60;
/// Set in the flags of an entry that has two more bytes of them.
const EXTENDED: u16 = 0x4000;

/// Every path in it; nothing when it is not an index that is understood here.
pub(super) fn paths(bytes: &[u8]) -> Option<BTreeSet<RelPath>> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(bytes.get(4..8)?)?;
    let entries = number(bytes.get(8..12)?)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut found, mut name) = (12usize, BTreeSet::new(), Vec::new());
    for _ in 0..entries {
        let flags = bytes.get(at.checked_add(FIXED)?..)?.get(..2)?;
        let flags = u16::from_be_bytes(flags.try_into().ok()?);
        let fixed = if version >= 3 && flags & EXTENDED != 0 { FIXED + 4 } else { FIXED + 2 };
        let mut rest = bytes.get(at.checked_add(fixed)?..)?;
        if version == 4 {
            let (cut, used) = offset(rest)?;
            rest = rest.get(used..)?;
            name.truncate(name.len().checked_sub(cut)?);
            let end = rest.iter().position(|byte| *byte == 0)?;
            name.extend_from_slice(rest.get(..end)?);
            at = at.checked_add(fixed)?.checked_add(used)?.checked_add(end)?.checked_add(1)?;
        } else {
            let end = rest.iter().position(|byte| *byte == 0)?;
            name = rest.get(..end)?.to_vec();
            // An entry ends with one to eight zeros, so that its length divides by eight.
            let whole = fixed.checked_add(end)?;
            at = at.checked_add(whole.checked_add(8)? / 8 * 8)?;
        }
        found.extend(RelPath::from_bytes(&name).ok());
    }
    Some(found)
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// How much of the last name is cut off, in git's variable width: seven bits a byte, each further byte one more.
fn offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0usize;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        if at > 0 {
            value = value.checked_add(1)?.checked_mul(128)?;
        }
        value = value.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_index_names_nothing_and_never_panics() {
        let entry = [&[0u8; FIXED][..], &[0, 5], b"a.txt\0\0\0\0\0"].concat();
        let index = [b"DIRC".as_slice(), &2u32.to_be_bytes(), &1u32.to_be_bytes(), &entry].concat();
        let found = paths(&index).map(|paths| paths.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(found, Some(vec!["a.txt".to_owned()]));
        for cut in 0..index.len() - 5 {
            assert_eq!(paths(&index[..cut]), None, "{cut}");
        }
        assert_eq!(paths(b"something else altogether"), None);
    }
}
