//! What is said to a key: CBOR in its one canonical form (CTAP 2.1, 8). Whoever writes a map keeps to the order of its keys.
//! What a key answers is read by the room that reads it for every verifier.

/// One item.
pub(crate) enum Value<'v> {
    Integer(i64),
    Bytes(&'v [u8]),
    Text(&'v str),
    Bool(bool),
    Array(Vec<Self>),
    /// Members with numbers for keys.
    Numbered(Vec<(i64, Self)>),
    /// Members with words for keys.
    Named(Vec<(&'static str, Self)>),
}

impl Value<'_> {
    /// A command of CTAP2: its number, and its parameters.
    pub(crate) fn request(command: u8, parameters: Vec<(i64, Self)>) -> Vec<u8> {
        let mut bytes = vec![command];
        Self::Numbered(parameters).write(&mut bytes);
        bytes
    }

    pub(crate) fn write(&self, to: &mut Vec<u8>) {
        match self {
            Self::Integer(number) => integer(to, *number),
            Self::Bytes(bytes) => {
                head(to, 2, bytes.len() as u64);
                to.extend_from_slice(bytes);
            }
            Self::Text(text) => {
                head(to, 3, text.len() as u64);
                to.extend_from_slice(text.as_bytes());
            }
            Self::Bool(is) => to.push(if *is { 0xf5 } else { 0xf4 }),
            Self::Array(items) => {
                head(to, 4, items.len() as u64);
                items.iter().for_each(|item| item.write(to));
            }
            Self::Numbered(members) => {
                head(to, 5, members.len() as u64);
                for (key, value) in members {
                    integer(to, *key);
                    value.write(to);
                }
            }
            Self::Named(members) => {
                head(to, 5, members.len() as u64);
                for (key, value) in members {
                    Self::Text(key).write(to);
                    value.write(to);
                }
            }
        }
    }
}

fn integer(to: &mut Vec<u8>, number: i64) {
    if number < 0 { head(to, 1, number.unsigned_abs() - 1) } else { head(to, 0, number.unsigned_abs()) }
}

/// Kind and argument, in the shortest form.
fn head(to: &mut Vec<u8>, kind: u8, number: u64) {
    let kind = kind << 5;
    let digits = number.to_be_bytes();
    let (short, width) = match number {
        0..=23 => {
            let [.., last] = digits;
            return to.push(kind | last);
        }
        24..=0xff => (24, 1),
        0x100..=0xffff => (25, 2),
        0x1_0000..=0xffff_ffff => (26, 4),
        _ => (27, 8),
    };
    to.push(kind | short);
    to.extend(digits.into_iter().skip(8 - width));
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn numbers_and_lengths_are_written_in_their_shortest_form() {
        let mut bytes = Vec::new();
        let numbers = [0, 23, 24, 255, 256, 65_536, -1, -25, -257].map(Value::Integer);
        Value::Array(numbers.into()).write(&mut bytes);
        let head = [0x89, 0x00, 0x17, 0x18, 0x18, 0x18, 0xff, 0x19, 0x01, 0x00, 0x1a, 0x00, 0x01, 0x00, 0x00];
        assert_eq!(bytes, [head.as_slice(), &[0x20, 0x38, 0x18, 0x39, 0x01, 0x00]].concat());
        let named = Value::Named(vec![("id", Value::Bytes(&[7])), ("up", Value::Bool(false))]);
        assert_eq!(Value::request(2, vec![(1, named)]), b"\x02\xa1\x01\xa2\x62id\x41\x07\x62up\xf4");
    }
}
