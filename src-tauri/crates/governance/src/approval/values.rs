//! Every value that a signature covers, as lines, read from the very bytes: of a large packet, so many as are looked at.

use crate::Refusal;
use acts::visible;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt::{self, Display};

/// A part of the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    /// Each as `pointer = value`, in the order of the bytes.
    pub lines: Vec<String>,
    /// Whether there is more behind them.
    pub more: bool,
}

/// The values of a packet that hold `find`, whatever the case, from the given one on, at most `most`.
///
/// # Errors
/// `packet_unreadable` when the bytes are no packet.
pub fn values(packet: &[u8], find: &str, from: usize, most: usize) -> Result<Values, Refusal> {
    let mut walk = Walk {
        find: find.to_lowercase(),
        skip: from,
        most,
        pointer: String::new(),
        lines: Vec::new(),
        more: false,
    };
    let mut reader = serde_json::Deserializer::from_slice(packet);
    match walk.deserialize(&mut reader) {
        Err(error) if !walk.more => Err(Refusal::new("packet_unreadable", error.to_string())),
        _ => Ok(Values { lines: walk.lines, more: walk.more }),
    }
}

struct Walk {
    find: String,
    skip: usize,
    most: usize,
    pointer: String,
    lines: Vec<String>,
    more: bool,
}

impl Walk {
    /// One value; an error ends the reading, because nobody looks at what follows.
    fn leaf<E: serde::de::Error>(&mut self, value: impl Display) -> Result<(), E> {
        // Most of a large packet is passed by, and nothing is written for it.
        if self.find.is_empty() && self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        let line = format!("{} = {value}", self.pointer);
        if !self.find.is_empty() && !line.to_lowercase().contains(&self.find) {
            return Ok(());
        }
        if self.skip > 0 {
            self.skip -= 1;
        } else if self.lines.len() < self.most {
            self.lines.push(line);
        } else {
            self.more = true;
            return Err(E::custom("enough"));
        }
        Ok(())
    }

    fn inside<E>(
        &mut self,
        name: impl Display,
        read: impl FnOnce(&mut Self) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&name.to_string());
        let came = read(self);
        self.pointer.truncate(length);
        came
    }
}

impl<'de> DeserializeSeed<'de> for &mut Walk {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Walk {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a packet")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.leaf(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.leaf(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.leaf(value)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.leaf("null")
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.leaf(format_args!("\"{}\"", visible(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut at = 0_usize;
        while self.inside(at, |walk| Ok(list.next_element_seed(walk)?.is_some()))? {
            at += 1;
        }
        if at == 0 { self.leaf("[]") } else { Ok(()) }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut any = false;
        while let Some(name) = map.next_key::<String>()? {
            any = true;
            self.inside(visible(&name), |walk| map.next_value_seed(walk).map(|()| true))?;
        }
        if any { Ok(()) } else { self.leaf("{}") }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn every_value_is_reached_by_parts_and_by_what_it_says_and_no_further_than_asked() {
        let bytes = br#"{"a":[{"b":1},{"b":"Two\u202e"}],"c":{},"d":[],"e":null,"f":true}"#;
        let all = ["/a/0/b = 1", "/a/1/b = \"Two\\u{202e}\"", "/c = {}", "/d = []", "/e = null", "/f = true"];
        let read = |find: &str, from, most| values(bytes, find, from, most).expect("values");
        assert_eq!(read("", 0, 9), Values { lines: all.map(str::to_owned).to_vec(), more: false });
        for from in 0..all.len() {
            let part = read("", from, 2);
            assert_eq!(
                part.lines,
                all.iter().skip(from).take(2).map(ToString::to_string).collect::<Vec<_>>()
            );
            assert_eq!(part.more, from + 2 < all.len(), "{from}");
        }
        assert_eq!(read("two", 0, 1), Values { lines: vec![all[1].to_owned()], more: false });
        assert_eq!(read("/a/", 1, 9).lines, [all[1]]);
        assert!(values(b"{\"a\":", "", 0, 9).is_err(), "what cannot be read is said");
        // What comes behind a full part is not read.
        assert!(values(b"{\"a\":1,\"b\":2,", "", 0, 1).expect("a part").more);
    }
}
