//! What is found, and what is not.

use crate::support::{disguises, knowing};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conforms::conforms;
use proptest::prelude::*;
use redact::{Error, Redactor, Stream, VALUE_BYTES_MIN, placeholder};
use std::sync::Arc;
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

/// A private key as files hold it.
fn pem() -> String {
    let body: Vec<String> = (0_u8..12)
        .map(|n| {
            STANDARD.encode(
                (0_u8..48)
                    .map(|b| (n.wrapping_mul(83) ^ b.wrapping_mul(197)).wrapping_add(n))
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    format!("-----BEGIN PRIVATE KEY-----\n{}\nAb3dEf\n-----END PRIVATE KEY-----\n", body.join("\n"))
}

#[test]
fn each_of_two_tokens_that_are_one_value_is_found_by_itself() {
    let (app, bot) = ("Qm7wZ2kLp9Rt4Xv8Nc3", "Hs6yB1dJf5Gq0Ue7Ta2Wo");
    let redactor = knowing(&[("chat", format!("{app} {bot}").as_bytes())]);
    for token in [app, bot] {
        for (name, bytes) in disguises(token.as_bytes(), b"3: ", b" ") {
            assert!(redactor.holds(&bytes).contains("chat"), "{name} of {token}");
        }
    }
}

#[test]
fn each_line_of_a_value_of_several_lines_is_found_like_a_value() {
    let pem = pem();
    let redactor = knowing(&[("pem", pem.as_bytes())]);
    for line in pem.lines().filter(|line| line.len() == 64) {
        for (name, bytes) in disguises(line.as_bytes(), b"3: ", b" ") {
            assert!(redactor.holds(&bytes).contains("pem"), "{name} of {line}");
        }
        assert_eq!(
            redactor.values(line.get(20..60).unwrap()).rest,
            "[secret:pem]",
            "the greater part of a line"
        );
    }
    // What all keys have in common is none of it.
    assert!(redactor.holds(b"-----BEGIN PRIVATE KEY-----").is_empty());
    for tail in [4, 6, 9] {
        let lines: Vec<&str> = pem.lines().rev().take(tail).collect();
        let clean = redactor.values(&lines.join("\n")).rest.into_owned();
        assert!(pem.lines().filter(|line| line.len() == 64).all(|line| !clean.contains(line)), "{clean}");
    }
}

#[test]
fn half_of_an_encoding_is_found_wherever_it_is_cut() {
    let value = b"0123456789-abcdefghij-ABCDEFGHIJ-klmnopq";
    let redactor = knowing(&[("key", value)]);
    let base64 = STANDARD.encode(value);
    let hex = hex::encode(value);
    for from in [0, 7, 19] {
        assert!(!redactor.holds(&base64.as_bytes()[from..from + 32]).is_empty(), "base64 from {from}");
        assert!(!redactor.holds(&hex.as_bytes()[from..from + 42]).is_empty(), "hex from {from}");
    }
    let pem = pem();
    let redactor = knowing(&[("pem", pem.as_bytes())]);
    let dump = hex::encode(&pem);
    assert!(!redactor.holds(&dump.as_bytes()[..500]).is_empty(), "xxd -p | head -c 500");
    assert!(!redactor.holds(&STANDARD.encode(&pem).as_bytes()[..140]).is_empty(), "base64 | head -c 140");
}

#[test]
fn single_lines_of_a_file_are_shown_without_a_value_that_stands_on_several() {
    let pem = pem();
    let redactor = Arc::new(knowing(&[("pem", pem.as_bytes()), ("one", TOKEN)]));
    let folded: Vec<String> =
        hex::encode(TOKEN).as_bytes().chunks(9).map(|p| String::from_utf8(p.to_vec()).unwrap()).collect();
    let file = format!("a\n{pem}b\n{}\nc\n", folded.join("\n"));
    for step in [1, 7, 1000] {
        let mut stream = Stream::by_line(Arc::clone(&redactor));
        let mut given: Vec<u8> = file.as_bytes().chunks(step).flat_map(|piece| stream.push(piece)).collect();
        given.extend(stream.end());
        let given = String::from_utf8(given).unwrap();
        assert_eq!(given.lines().count(), file.lines().count(), "{given}");
        for line in
            pem.lines().chain(folded.iter().map(String::as_str)).filter(|line| !line.starts_with("-----"))
        {
            assert!(!given.lines().any(|shown| shown == line), "{line} in {given}");
        }
        assert!(["a", "b", "c"].iter().all(|line| given.lines().any(|shown| shown == *line)), "{given}");
    }
}

#[test]
fn what_comes_after_a_value_in_a_stream_is_not_given_on() {
    let redactor = Arc::new(knowing(&[("db", TOKEN)]));
    for (name, bytes) in disguises(TOKEN, b"", b"") {
        let all = [b"{\"before\": 1, \"it\": \"", &bytes[..], b"\", \"behind\": 2}"].concat();
        for step in [1, 5, 4096] {
            let mut stream = Stream::new(Arc::clone(&redactor));
            let (mut given, mut shown) = (Vec::new(), None);
            for piece in all.chunks(step) {
                match stream.until(piece) {
                    Ok(clear) => given.extend(clear),
                    Err((clear, handle)) => {
                        given.extend(clear);
                        shown = Some(handle);
                        break;
                    }
                }
            }
            if shown.is_none() {
                shown = stream.until_end().err().map(|(_, handle)| handle);
            }
            assert_eq!(shown.as_deref(), Some("db"), "{name}");
            assert!(all.starts_with(&given) && given.len() < all.len() - 12, "{name}");
        }
    }
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
