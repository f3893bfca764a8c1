//! Hex, base64 and serde by text, each with exactly one accepted spelling.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserializer, de};

use crate::Error;

/// Exactly `2 * N` lower-case hex digits.
pub(crate) fn hex_exact<const N: usize>(what: &'static str, text: &str) -> Result<[u8; N], Error> {
    if text.len() != 2 * N {
        return Err(Error::malformed(what, format!("it has {} characters, not {}", text.len(), 2 * N)));
    }
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    let mut bytes = [0; N];
    let mut odd = 0;
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (nibble(*high), nibble(*low));
        // What is no digit has high bits, and leaves them here.
        odd |= high | low;
        *byte = high << 4 | low;
    }
    if odd <= 0xf {
        return Ok(bytes);
    }
    let odd = text.chars().find(|c| !matches!(c, '0'..='9' | 'a'..='f')).unwrap_or_default();
    Err(Error::malformed(what, format!("`{odd}` is not a lower-case hex digit")))
}

/// What a lower-case hex digit is worth; 0xff for what is none. Without a jump, since which kind of digit comes next
/// cannot be foreseen.
const fn nibble(digit: u8) -> u8 {
    let (number, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
    if number < 10 {
        number
    } else if letter < 6 {
        letter + 10
    } else {
        u8::MAX
    }
}

/// Standard base64 with padding (RFC 4648 section 4).
pub(crate) fn b64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Standard base64, canonical: padding required, no stray bits, no white space.
pub(crate) fn b64_decode(what: &'static str, text: &str) -> Result<Vec<u8>, Error> {
    STANDARD.decode(text).map_err(|e| Error::malformed(what, format!("its base64 is refused: {e}")))
}

/// [`b64_decode`] of exactly `N` bytes.
pub(crate) fn b64_exact<const N: usize>(what: &'static str, text: &str) -> Result<[u8; N], Error> {
    let bytes = b64_decode(what, text)?;
    let length = bytes.len();
    bytes.try_into().map_err(|_| Error::malformed(what, format!("its base64 holds {length} bytes, not {N}")))
}

/// A decimal without sign and without leading zeros.
pub(crate) fn decimal(what: &'static str, text: &str) -> Result<u64, Error> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !plain || (text.len() > 1 && text.starts_with('0')) {
        return Err(Error::malformed(what, format!("`{text}` is not a plain decimal number")));
    }
    text.parse().map_err(|_| Error::malformed(what, format!("`{text}` is beyond 64 bits")))
}

/// Deserialises through a string slice, borrowed or not.
pub(crate) fn deserialize_str<'de, D, T>(
    deserializer: D,
    expecting: &'static str,
    read: fn(&str) -> Result<T, D::Error>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
{
    struct Text<T, E>(&'static str, fn(&str) -> Result<T, E>);
    impl<T, E0: de::Error> de::Visitor<'_> for Text<T, E0> {
        type Value = Result<T, E0>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok((self.1)(text))
        }
    }
    deserializer.deserialize_str(Text(expecting, read))?
}

/// `#[serde(with = "encoding::b64_bytes")]` for byte vectors.
pub(crate) mod b64_bytes {
    use serde::{Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::b64(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        super::deserialize_str(deserializer, "standard base64", |text| {
            super::b64_decode("base64", text).map_err(de::Error::custom)
        })
    }
}

/// Reads a byte string piece by piece, refusing to run past its end.
pub(crate) struct Reader<'a> {
    what: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(what: &'static str, rest: &'a [u8]) -> Self {
        Self { what, rest }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (head, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or_else(|| Error::malformed(self.what, "it ends too early"))?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.take(N)?.try_into().map_err(|_| Error::malformed(self.what, "it ends too early"))
    }

    pub(crate) fn end(&self) -> Result<(), Error> {
        match self.rest.len() {
            0 => Ok(()),
            more => Err(Error::malformed(self.what, format!("{more} bytes follow its end"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hex_exact;

    #[test]
    fn only_lower_case_digits_are_read() {
        for byte in 0..=u8::MAX {
            assert_eq!(hex_exact("x", &hex::encode([byte])), Ok([byte]));
            let character = char::from(byte);
            for text in [format!("{character}0"), format!("0{character}")] {
                let read = hex_exact::<1>("x", &text);
                let is_digit = matches!(character, '0'..='9' | 'a'..='f');
                assert_eq!(read.is_ok(), is_digit, "{text}");
            }
        }
        for text in ["", "0", "000", "0 ", "+1"] {
            assert!(hex_exact::<1>("x", text).is_err(), "{text}");
        }
    }
}
