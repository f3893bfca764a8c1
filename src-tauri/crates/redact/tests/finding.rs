//! What is found, and what is not.

use crate::support::{disguises, knowing};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conforms::conforms;
use proptest::prelude::*;
use redact::{Error, Redactor, VALUE_BYTES_MIN, placeholder};
use zeroize::Zeroizing;

const TOKEN: &[u8] = b"tok/9fQ+2m Zr8K\"1vXc\\7Lw0";

#[conforms("HK-17.3-4")]
#[test]
fn a_value_is_found_in_every_form_and_its_handle_stands_in_its_place() {
    let redactor = knowing(&[("db", TOKEN)]);
    for (name, bytes) in disguises(TOKEN, b"", b"") {
        let clean = redactor.bytes(&bytes);
        assert_eq!(clean.found.get("secret:db"), Some(&1), "{name}: {}", String::from_utf8_lossy(&bytes));
        assert!(String::from_utf8_lossy(&clean.rest).contains("[secret:db]"), "{name}");
        assert!(redactor.holds(&clean.rest).is_empty(), "{name}: redacting twice changes nothing");
    }
}

#[test]
fn half_of_a_long_value_is_found_as_well() {
    let redactor = knowing(&[("key", b"0123456789abcdefghijklmnopqrstuv")]);
    for half in ["0123456789abcdef", "ghijklmnopqrstuv", "89abcdefghijklmn"] {
        assert_eq!(redactor.values(&format!("<{half}>")).rest, "<[secret:key]>");
    }
    assert_eq!(redactor.values("<0123456789ab>").rest, "<0123456789ab>");
}

#[test]
fn a_value_within_another_leaves_nothing_of_either() {
    let redactor = knowing(&[("short", b"abcdefgh"), ("long", b"12345678abcdefgh87654321")]);
    assert_eq!(redactor.values("12345678abcdefgh87654321 abcdefgh").rest, "[secret:long] [secret:short]");
}

#[test]
fn json_stays_json_whatever_stands_in_it() {
    let redactor = knowing(&[("db", TOKEN), ("pin", b"1234567890")]);
    let text = String::from_utf8(TOKEN.to_vec()).unwrap();
    let mut named = serde_json::Map::new();
    named.insert(text.clone(), serde_json::json!([text, 1_234_567_890_u64, true, null, 7]));
    let clean = redactor.json_bytes(&serde_json::to_vec(&named).unwrap(), false).unwrap();
    let wanted = serde_json::json!({ "[secret:db]": ["[secret:db]", "[secret:pin]", true, null, 7] });
    assert_eq!(clean.rest, wanted);
    assert_eq!(clean.found.values().sum::<u32>(), 3);
    assert!(redactor.json_bytes(b"{\"a\":1}", true).is_none(), "nothing was taken out");
}

#[test]
fn bytes_in_base64_are_looked_at_as_bytes_whatever_form_a_value_has_in_them() {
    let redactor = knowing(&[("db", TOKEN)]);
    for (name, bytes) in disguises(TOKEN, b"\0before ", b" after") {
        let text = STANDARD.encode(&bytes);
        let value =
            serde_json::json!({ "base64": text, "stdout": text, "stdout_encoding": "base64", "x": 1 });
        let clean = redactor.json(value, true);
        for member in ["base64", "stdout"] {
            let left = STANDARD.decode(clean.rest[member].as_str().unwrap()).unwrap();
            assert!(redactor.holds(&left).is_empty() && left.len() < bytes.len() + 40, "{name}");
            assert_ne!(left, bytes, "{name}");
        }
    }
}

#[test]
fn names_in_json_keep_what_only_looks_like_a_key() {
    let value = serde_json::json!({ "path": "password=correcthorse.txt", "text": "password=correcthorse" });
    let clean = Redactor::default().json(value, true);
    assert_eq!(
        clean.rest,
        serde_json::json!({ "path": "password=correcthorse.txt", "text": "password=[redacted: assigned secret]" })
    );
}

#[test]
fn a_value_that_could_be_ordinary_text_is_refused() {
    let one = |value: &[u8]| Redactor::new([("x".to_owned(), Zeroizing::new(value.to_vec()))]).err();
    assert_eq!(one(b"a b c d e f g"), Some(Error::TooShort { handle: "x".to_owned(), found: 7 }));
    assert!(one(&[b'a'; VALUE_BYTES_MIN]).is_none());
    assert!(matches!(one(&vec![b'a'; 17_000]), Some(Error::TooLong { .. })));
}

#[test]
fn debug_shows_no_value() {
    assert_eq!(format!("{:?}", knowing(&[("db", TOKEN)])), "Redactor(1 secrets)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_value_is_found_in_any_form_among_any_words(
        value in prop::collection::vec(any::<u8>().prop_filter("no white space", |b| !b.is_ascii_whitespace()), 8..80),
        before in "[ -~]{0,40}", after in "[ -~]{0,40}",
    ) {
        let redactor = knowing(&[("v", &value)]);
        for (name, bytes) in disguises(&value, before.as_bytes(), after.as_bytes()) {
            let clean = redactor.bytes(&bytes);
            prop_assert!(clean.found.contains_key("secret:v"), "{}", name);
            prop_assert!(redactor.holds(&clean.rest).is_empty() || value_is_like(&value), "{}", name);
        }
    }

    #[test]
    fn what_holds_no_value_is_left_as_it_is(text in "[a-z ]{0,200}") {
        let redactor = knowing(&[("v", b"0123456789-ABCDEF")]);
        let clean = redactor.values(&text);
        prop_assert_eq!(clean.rest.as_ref(), text.as_str());
    }
}

/// A value that stands in its own placeholder, or in what two of its forms leave side by side, is no secret.
fn value_is_like(value: &[u8]) -> bool {
    let repeats = value.iter().collect::<std::collections::BTreeSet<_>>().len() < 4;
    repeats || placeholder("v").as_bytes().windows(value.len().min(6)).any(|part| value.starts_with(part))
}
