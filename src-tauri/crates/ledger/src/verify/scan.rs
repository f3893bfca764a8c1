//! One pass over an event's bytes: are they canonical, and what do the fields say that columns repeat?
//!
//! The general reader of `seal` builds the value and writes it again to compare; that is several times slower than
//! hashing. This pass accepts the same bytes, and hands anything unusual (a member name that is not plain ASCII) to
//! the general reader. A test compares the two.

use seal::canon::{DEPTH_MAX, INTEGER_MAX, parse_canonical};
use std::borrow::Cow;

/// The fields that columns repeat, as the bytes say them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields<'a> {
    pub event_id: Cow<'a, str>,
    pub event_type: Cow<'a, str>,
    pub task_id: Cow<'a, str>,
    pub task_seq: u64,
    pub prev_event_hash: Cow<'a, str>,
    pub idempotency_key: Option<Cow<'a, str>>,
}

/// Why the pass ended early.
enum End {
    /// Not canonical JSON; at this byte.
    Bad(usize),
    /// For the general reader.
    Unusual,
}

type Step<T> = Result<T, End>;

/// Reads canonical bytes of an object.
pub(super) fn fields(bytes: &[u8]) -> Result<Fields<'_>, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("its bytes are not UTF-8: {e}"))?;
    let mut scan = Scan { text, bytes, at: 0, fields: Fields::default() };
    match scan.document() {
        Ok(()) => Ok(scan.fields),
        Err(End::Bad(at)) => Err(format!("its bytes are not canonical JSON at byte {at}")),
        Err(End::Unusual) => general(bytes),
    }
}

/// The slow way, for whatever is unusual.
fn general<'a>(bytes: &[u8]) -> Result<Fields<'a>, String> {
    let value = parse_canonical(bytes).map_err(|e| e.to_string())?;
    let text = |name: &str| value.get(name).and_then(|v| v.as_str()).map(|v| Cow::Owned(v.to_owned()));
    Ok(Fields {
        event_id: text("event_id").unwrap_or_default(),
        event_type: text("event_type").unwrap_or_default(),
        task_id: text("task_id").unwrap_or_default(),
        task_seq: value.get("task_seq").and_then(serde_json::Value::as_u64).unwrap_or_default(),
        prev_event_hash: text("prev_event_hash").unwrap_or_default(),
        idempotency_key: text("idempotency_key"),
    })
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    fields: Fields<'a>,
}

/// A string between its quotes.
struct Raw<'a> {
    text: &'a str,
    escaped: bool,
}

impl<'a> Scan<'a> {
    fn document(&mut self) -> Step<()> {
        if self.peek() != Some(b'{') {
            return self.bad();
        }
        self.value(0)?;
        if self.at == self.bytes.len() { Ok(()) } else { self.bad() }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    const fn bad<T>(&self) -> Step<T> {
        Err(End::Bad(self.at))
    }

    fn expect(&mut self, byte: u8) -> Step<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        self.bad()
    }

    fn literal(&mut self, word: &str) -> Step<()> {
        if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            self.at += word.len();
            return Ok(());
        }
        self.bad()
    }

    fn value(&mut self, depth: usize) -> Step<()> {
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => self.integer().map(drop),
        }
    }

    fn array(&mut self, depth: usize) -> Step<()> {
        if depth >= DEPTH_MAX {
            return self.bad();
        }
        self.expect(b'[')?;
        if self.peek() == Some(b']') {
            return self.expect(b']');
        }
        loop {
            self.value(depth + 1)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => return self.expect(b']'),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Step<()> {
        if depth >= DEPTH_MAX {
            return self.bad();
        }
        self.expect(b'{')?;
        if self.peek() == Some(b'}') {
            return self.expect(b'}');
        }
        let mut last: Option<&str> = None;
        loop {
            let name = self.string()?;
            // Names are sorted by UTF-16 units, which for ASCII are the bytes.
            if name.escaped || !name.text.is_ascii() {
                return Err(End::Unusual);
            }
            if last.is_some_and(|last| last >= name.text) {
                return self.bad();
            }
            last = Some(name.text);
            self.expect(b':')?;
            if depth == 0 {
                self.field(name.text)?
            } else {
                self.value(depth + 1)?
            }
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => return self.expect(b'}'),
            }
        }
    }

    /// A member of the event itself.
    fn field(&mut self, name: &str) -> Step<()> {
        let first = self.peek();
        match (name, first) {
            ("event_id", Some(b'"')) => self.fields.event_id = self.plain()?,
            ("event_type", Some(b'"')) => self.fields.event_type = self.plain()?,
            ("task_id", Some(b'"')) => self.fields.task_id = self.plain()?,
            ("prev_event_hash", Some(b'"')) => self.fields.prev_event_hash = self.plain()?,
            ("idempotency_key", Some(b'"')) => self.fields.idempotency_key = Some(self.plain()?),
            ("task_seq", Some(b'0'..=b'9')) => self.fields.task_seq = self.integer()?,
            _ => self.value(1)?,
        }
        Ok(())
    }

    fn plain(&mut self) -> Step<Cow<'a, str>> {
        let start = self.at;
        let raw = self.string()?;
        if !raw.escaped {
            return Ok(Cow::Borrowed(raw.text));
        }
        let quoted = self.bytes.get(start..self.at).unwrap_or_default();
        serde_json::from_slice::<String>(quoted).map(Cow::Owned).map_err(|_| End::Bad(start))
    }

    fn string(&mut self) -> Step<Raw<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            match rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)) {
                Some(offset) => self.at += offset,
                None => return self.bad(),
            }
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return self.bad(),
            }
        }
        // Both ends stand at a quote, which is never inside a character.
        let text = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        Ok(Raw { text, escaped })
    }

    /// Only what must be escaped is, in the one way RFC 8785 gives it.
    fn escape(&mut self) -> Step<()> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digit = |b: &u8| char::from(*b).to_digit(16).filter(|_| !b.is_ascii_uppercase());
                let code = match self.bytes.get(self.at + 2..self.at + 6) {
                    Some([b'0', b'0', high, low]) => digit(high).zip(digit(low)).map(|(h, l)| h * 16 + l),
                    _ => None,
                };
                match code {
                    Some(8 | 9 | 10 | 12 | 13) | None => return self.bad(),
                    Some(code) if code >= 0x20 => return self.bad(),
                    Some(_) => self.at += 6,
                }
            }
            _ => return self.bad(),
        }
        Ok(())
    }

    /// An integer within ±(2^53−1); its size without the sign.
    fn integer(&mut self) -> Step<u64> {
        let negative = self.peek() == Some(b'-');
        self.at += usize::from(negative);
        let (start, mut number) = (self.at, 0_u64);
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - start;
        let padded = digits > 1 && self.bytes.get(start) == Some(&b'0');
        if digits == 0 || padded || number > INTEGER_MAX.unsigned_abs() || (negative && number == 0) {
            return self.bad();
        }
        Ok(number)
    }
}

/// Whether `text` is the prefix and the lower-case hex digits of `bytes`.
pub(super) fn is_hex(text: &str, prefix: &str, bytes: &[u8]) -> bool {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |n: u8| DIGITS.get(usize::from(n)).copied();
    let Some(hex) = text.strip_prefix(prefix).map(str::as_bytes) else { return false };
    hex.len() == 2 * bytes.len()
        && hex.chunks_exact(2).zip(bytes).all(|(pair, byte)| {
            let expected = [digit(byte >> 4), digit(byte & 15)];
            pair.iter().copied().map(Some).eq(expected)
        })
}

#[cfg(test)]
mod tests {
    use super::{fields, general, is_hex};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn agree(bytes: &[u8]) {
        let (fast, slow) = (fields(bytes), general(bytes));
        let object = bytes.first() == Some(&b'{');
        assert_eq!(
            fast.is_ok(),
            slow.is_ok() && object,
            "{}: {fast:?}, {slow:?}",
            String::from_utf8_lossy(bytes)
        );
        if let (Ok(fast), Ok(slow)) = (fast, slow) {
            assert_eq!(fast, slow);
        }
    }

    #[test]
    fn both_readers_agree_on_what_is_canonical() {
        for text in [
            "{}",
            "[]",
            "",
            "{",
            "{}}",
            " {}",
            "{} ",
            "{\"a\":1}",
            "{\"a\": 1}",
            "{\"b\":1,\"a\":1}",
            "{\"a\":1,\"a\":1}",
            "{\"a\":1,}",
            "{\"a\":01}",
            "{\"a\":-0}",
            "{\"a\":-1}",
            "{\"a\":1.0}",
            "{\"a\":1e2}",
            "{\"a\":}",
            "{\"a\"}",
            "{\"a\":9007199254740991}",
            "{\"a\":9007199254740992}",
            "{\"a\":-9007199254740991}",
            "{\"a\":-9007199254740992}",
            "{\"a\":99999999999999999999999}",
            "{\"a\":tru}",
            "{\"a\":[true,false,null]}",
            "{\"a\":[1,]}",
            "{\"a\":[,1]}",
            "{\"a\":\"\\n\"}",
            "{\"a\":\"\\u000a\"}",
            "{\"a\":\"\\u0001\"}",
            "{\"a\":\"\\u001F\"}",
            "{\"a\":\"\\u001f\"}",
            "{\"a\":\"\\u0041\"}",
            "{\"a\":\"\\/\"}",
            "{\"a\":\"/\"}",
            "{\"a\":\"\u{7f}\"}",
            "{\"a\":\"\u{1f600}\"}",
            "{\"a\":\"\\ud83d\\ude00\"}",
            "{\"a\":\"\\ud83d\"}",
            "{\"a\":\"\n\"}",
            "{\"\u{e9}\":1,\"z\":1}",
            "{\"z\":1,\"\u{e9}\":1}",
            "{\"\u{ff61}\":1,\"\u{1f600}\":1}",
            "{\"\u{1f600}\":1,\"\u{ff61}\":1}",
            "{\"\\n\":1,\"a\":2}",
            "{\"task_seq\":3}",
            "{\"task_seq\":-3}",
            "{\"task_seq\":\"3\"}",
            "{\"event_type\":\"a\\\"b\"}",
            "{\"event_type\":7}",
            "{\"idempotency_key\":null}",
            "{\"idempotency_key\":\"k\"}",
            "{\"a\":\"x",
        ] {
            agree(text.as_bytes());
        }
        agree(b"{\"a\":\"\xff\"}");
        let deep = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        for n in [1, 62, 63, 64, 65] {
            agree(deep(n).as_bytes());
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[a-c\\\\\"\n\u{1}]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z\u{e9}\u{1f600}]{0,3}", inner, 0..4).prop_map(|m| json!(m)),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn both_readers_agree_on_canonical_bytes_and_on_their_neighbours(
            payload in value(), kind in any::<String>(), seq in 0..1000_u64, at: prop::sample::Index, byte: u8,
        ) {
            let bytes = seal::canon::to_canonical(&json!({
                "event_id": "e", "event_type": kind, "payload": payload, "task_seq": seq, "prev_event_hash": "h",
            })).unwrap();
            prop_assert!(fields(&bytes).is_ok());
            agree(&bytes);
            let mut changed = bytes;
            let at = at.index(changed.len());
            changed[at] = byte;
            agree(&changed);
            changed.remove(at);
            agree(&changed);
        }
    }

    #[test]
    fn hex_is_compared_digit_by_digit() {
        assert!(is_hex("x_00ff1a", "x_", &[0, 0xff, 0x1a]));
        for other in ["x_00ff1b", "x_00FF1a", "x_00ff1", "x_00ff1a0", "y_00ff1a", "00ff1a", ""] {
            assert!(!is_hex(other, "x_", &[0, 0xff, 0x1a]), "{other}");
        }
    }
}
