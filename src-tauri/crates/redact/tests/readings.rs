//! What stands encoded is read without knowing the value.

use crate::support::disguises;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use redact::encoded_places;

const VALUE: &str = "s3cr3t-v4lue+of/s0me";

/// A text without the places in which a value stands encoded.
fn without(text: &str) -> String {
    let mut left = text.to_owned();
    for place in encoded_places(text, |says| says.contains(VALUE)).into_iter().rev() {
        left.replace_range(place, "*");
    }
    left
}

#[test]
fn a_value_is_read_in_every_form_and_only_its_place_is_told() {
    for (name, bytes) in disguises(VALUE.as_bytes(), b"k=", b";") {
        let Ok(form) = String::from_utf8(bytes) else { continue };
        // As it is and broken by white space it is found by whoever compares; a list of numbers is read by nobody here.
        if ["plain", "broken", "json", "numbers", "utf-16", "base64, broken"].contains(&name.as_str()) {
            continue;
        }
        let left = without(&format!("It is here: {form} and that is all."));
        assert!(left.starts_with("It is here: ") && left.contains('*'), "{name}: {left}");
        assert!(left.len() < 48 && left.ends_with("all."), "{name}: {left}");
    }
    let wide: Vec<u8> = VALUE.bytes().flat_map(|byte| [byte, 0]).collect();
    for form in [
        STANDARD.encode(&wide),
        STANDARD.encode(STANDARD.encode(STANDARD.encode(VALUE))),
        hex::encode(STANDARD.encode(VALUE)),
        "s3cr3t-v4lue&#43;of&#x2f;s0me".to_owned(),
        r"s3cr3t\u002dv4lue+of\/s0me".to_owned(),
        r"s3cr3t\\x2dv4lue\\053of/s0me".to_owned(),
        "?q=s3cr3t%2Dv4lue%2Bof/s0me&x=1".to_owned(),
        "s3cr3t=2Dv4lue=2Bof/s0me".to_owned(),
    ] {
        assert_eq!(without(&format!("<{form}> ")).replace('=', ""), "<*> ", "{form}");
    }
}

#[test]
fn a_value_is_read_over_the_ends_of_lines_as_a_text_within_a_text_has_them() {
    let long = format!("{}{VALUE}{}", "a ".repeat(40), " b".repeat(40));
    let packed = STANDARD.encode(long);
    let lines: Vec<String> =
        packed.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    for between in ["\n", "\r\n", "\n    ", r"\n", r"\\r\\n"] {
        let left = without(&format!("# key\n{}\nend", lines.join(between)));
        assert!(left.starts_with("# key\n*") && left.len() < 20, "{between:?}: {left}");
    }
    let pairs: Vec<String> = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
    for form in [pairs.join(" "), pairs.concat().replace("72", "72 "), pairs.join(":\n")] {
        assert_eq!(without(&format!("({form})")), "(*)", "{form}");
    }
}

#[test]
fn words_paths_digests_and_floods_stay() {
    let own = include_str!("../src/readings.rs");
    assert_eq!(without(own), own);
    for text in [
        "",
        "a/path/of/source.rs",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "ä%C3%A4",
    ] {
        assert_eq!(without(text), text);
    }
    for flood in [r"\", "%4", "&#", "=", "a ", "66 ", "ä", "A\n"] {
        assert!(encoded_places(&flood.repeat(20_000), |says| says.contains(VALUE)).is_empty(), "{flood}");
    }
}
