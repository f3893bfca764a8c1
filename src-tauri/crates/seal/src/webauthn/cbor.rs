//! CBOR as authenticators write it (RFC 8949 within CTAP2): lengths are told, nothing is tagged, and depth is bounded.

use super::Fault;

/// How deep arrays and maps may nest.
const DEPTH_MAX: usize = 8;
/// Most members of one map.
const MEMBERS_MAX: usize = 64;

/// One item. Of what nobody here asks for only the structure is checked.
#[derive(Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A whole number.
    Integer(i64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// UTF-8.
    Text(&'a str),
    /// Items in order.
    Array(Vec<Self>),
    /// Members, none of them twice.
    Map(Vec<(Self, Self)>),
    /// Yes or no.
    Bool(bool),
    /// Whatever else is well formed.
    Other,
}

impl<'a> Item<'a> {
    /// The first item of these bytes, and what follows it.
    ///
    /// # Errors
    /// `passkey_unreadable` for what is not written as CTAP2 has it.
    pub fn read(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Fault> {
        item(bytes, 0)
    }

    /// The member of a map with this key; none of what is no map.
    #[must_use]
    pub fn member(&self, key: &Self) -> Option<&Self> {
        let Self::Map(members) = self else { return None };
        members.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }
}

fn refused(why: &str) -> Fault {
    Fault::unreadable(format!("its CBOR is refused: {why}"))
}

fn short() -> Fault {
    refused("it ends too early")
}

/// Kind and argument of an item.
fn head(bytes: &[u8]) -> Result<(u8, u64, &[u8]), Fault> {
    let (first, rest) = bytes.split_first().ok_or_else(short)?;
    let (kind, short_form) = (*first >> 5, *first & 0x1f);
    let width = match short_form {
        0..=23 => return Ok((kind, u64::from(short_form), rest)),
        24 => 1,
        25 => 2,
        26 => 4,
        27 => 8,
        _ => return Err(refused("it does not tell a length")),
    };
    let (digits, rest) = rest.split_at_checked(width).ok_or_else(short)?;
    let number = digits.iter().fold(0_u64, |number, digit| (number << 8) | u64::from(*digit));
    Ok((kind, number, rest))
}

fn item(bytes: &[u8], depth: usize) -> Result<(Item<'_>, &[u8]), Fault> {
    if depth > DEPTH_MAX {
        return Err(refused("it nests too deep"));
    }
    let (kind, number, mut rest) = head(bytes)?;
    let integer = || i64::try_from(number).map_err(|_| refused("a number is too large"));
    let found = match kind {
        0 => Item::Integer(integer()?),
        1 => Item::Integer(-1 - integer()?),
        2 | 3 => {
            let length = usize::try_from(number).map_err(|_| short())?;
            let (content, after) = rest.split_at_checked(length).ok_or_else(short)?;
            rest = after;
            if kind == 2 {
                Item::Bytes(content)
            } else {
                Item::Text(std::str::from_utf8(content).map_err(|_| refused("a text is not UTF-8"))?)
            }
        }
        4 => {
            let mut items = Vec::new();
            for _ in 0..number {
                let (one, after) = item(rest, depth + 1)?;
                rest = after;
                items.push(one);
            }
            Item::Array(items)
        }
        5 => {
            let mut members = Vec::new();
            for _ in 0..number {
                let (key, after) = item(rest, depth + 1)?;
                let (value, after) = item(after, depth + 1)?;
                rest = after;
                if members.len() == MEMBERS_MAX || members.iter().any(|(known, _)| *known == key) {
                    return Err(refused("a map has too many members, or one twice"));
                }
                members.push((key, value));
            }
            Item::Map(members)
        }
        7 => match bytes.first() {
            Some(0xf4) => Item::Bool(false),
            Some(0xf5) => Item::Bool(true),
            _ => Item::Other,
        },
        _ => return Err(refused("it is tagged")),
    };
    Ok((found, rest))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::{Item, item};

    #[test]
    fn what_is_open_tagged_doubled_cut_or_deep_is_refused() {
        for bytes in [
            &[][..],
            &[0x5f, 0x41, 0x00, 0xff],
            &[0xbf, 0xff],
            &[0xc0, 0x00],
            &[0xa2, 0x01, 0x00, 0x01, 0x00],
            &[0x42, 0x00],
            &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0x61, 0xff],
            &[0x81; 12],
        ] {
            assert!(Item::read(bytes).is_err(), "{bytes:02x?}");
        }
        assert_eq!(item(&[0x26, 0x09], 0), Ok((Item::Integer(-7), &[0x09][..])));
        assert_eq!(Item::read(&[0xfb, 0, 0, 0, 0, 0, 0, 0, 0]), Ok((Item::Other, &[][..])));
        let list = Item::read(&[0x82, 0xf5, 0xf8, 0x14]).unwrap().0;
        assert_eq!(list, Item::Array(vec![Item::Bool(true), Item::Other]));
        let map = Item::read(&[0xa1, 0x01, 0x42, 0xaa, 0xbb]).unwrap().0;
        assert_eq!(map.member(&Item::Integer(1)), Some(&Item::Bytes(&[0xaa, 0xbb])));
    }
}
