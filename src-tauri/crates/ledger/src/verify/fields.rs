//! What an event's bytes say of what its columns repeat, read in the one pass that proves the bytes canonical.

use seal::Digest;
use seal::canon::{INTEGER_MAX, members};
use std::borrow::Cow;

/// The fields that columns repeat, as the bytes say them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields<'a> {
    pub event_id: Cow<'a, str>,
    pub event_type: Cow<'a, str>,
    pub task_id: Cow<'a, str>,
    pub task_seq: u64,
    prev_event_hash: Cow<'a, str>,
    pub idempotency_key: Option<Cow<'a, str>>,
}

impl Fields<'_> {
    /// The hash of the event before it, as it says.
    pub fn link(&self) -> Result<Digest, String> {
        let said = &self.prev_event_hash;
        said.parse().map_err(|_| format!("it points to `{said}`, not to the event before it"))
    }
}

const NAMES: [&str; 6] =
    ["event_id", "event_type", "idempotency_key", "prev_event_hash", "task_id", "task_seq"];

/// Reads canonical bytes of an object.
pub(super) fn fields(bytes: &[u8]) -> Result<Fields<'_>, String> {
    let [event_id, event_type, key, prev, task_id, task_seq] =
        members(bytes, NAMES).map_err(|e| format!("its bytes are not canonical JSON: {e}"))?;
    Ok(Fields {
        event_id: event_id.and_then(text).unwrap_or_default(),
        event_type: event_type.and_then(text).unwrap_or_default(),
        task_id: task_id.and_then(text).unwrap_or_default(),
        task_seq: task_seq.and_then(whole).unwrap_or_default(),
        prev_event_hash: prev.and_then(text).unwrap_or_default(),
        idempotency_key: key.and_then(text),
    })
}

/// The text of a string as it is spelled, copied only where something in it is escaped.
fn text(spelled: &[u8]) -> Option<Cow<'_, str>> {
    let inner = spelled.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.contains(&b'\\') {
        return serde_json::from_slice(spelled).ok().map(Cow::Owned);
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

fn whole(spelled: &[u8]) -> Option<u64> {
    let number = std::str::from_utf8(spelled).ok()?.parse().ok()?;
    (number <= INTEGER_MAX.unsigned_abs()).then_some(number)
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Whether the text is `prefix` and the lower-case hex digits of `bytes`.
pub(super) fn is_hex(text: &str, prefix: &str, bytes: &[u8]) -> bool {
    let digit = |n: u8| DIGITS.get(usize::from(n)).copied();
    let Some(hex) = text.strip_prefix(prefix).map(str::as_bytes) else { return false };
    hex.len() == 2 * bytes.len()
        && hex.chunks_exact(2).zip(bytes).all(|(pair, byte)| match pair {
            [high, low] => Some(*high) == digit(byte >> 4) && Some(*low) == digit(byte & 15),
            _ => false,
        })
}

/// The 64 digits of a digest.
pub(super) fn spelled(digest: Digest) -> [u8; 64] {
    let mut text = [0_u8; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(digest.as_bytes()) {
        for (place, half) in pair.iter_mut().zip([byte >> 4, byte & 15]) {
            *place = DIGITS.get(usize::from(half)).copied().unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Fields, fields, is_hex, spelled};
    use proptest::prelude::*;
    use seal::Digest;
    use seal::canon::parse_canonical;
    use serde_json::{Value, json};
    use std::borrow::Cow;

    /// The fields by way of a whole value.
    fn general(bytes: &[u8]) -> Result<Fields<'_>, String> {
        let value = parse_canonical(bytes).map_err(|e| e.to_string())?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(|v| Cow::Owned(v.to_owned()));
        Ok(Fields {
            event_id: text("event_id").unwrap_or_default(),
            event_type: text("event_type").unwrap_or_default(),
            task_id: text("task_id").unwrap_or_default(),
            task_seq: value.get("task_seq").and_then(Value::as_u64).unwrap_or_default(),
            prev_event_hash: text("prev_event_hash").unwrap_or_default(),
            idempotency_key: text("idempotency_key"),
        })
    }

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

    #[test]
    fn a_digest_is_spelled_as_everywhere() {
        let one = Digest::of(b"one");
        assert_eq!(spelled(one), one.to_string().as_bytes());
    }
}
