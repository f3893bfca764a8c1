//! One value, one byte string: the published vectors, the gate, and two independent canonicalisers agreeing.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use seal::{
    Error,
    canon::{
        self, DEPTH_MAX, INTEGER_MAX, canonical_value, check_canonical, parse_canonical, parse_strict,
        to_canonical,
    },
};
use serde::Serialize;
use serde_json::{Value, json};

/// The pairs of the reference implementation's test data that hold integers only; the others are below.
const RFC_PAIRS: [(&str, &str); 5] = [
    (r#"[ 56, { "d": true, "10": null, "1": [ ] } ]"#, r#"[56,{"1":[],"10":null,"d":true}]"#),
    (
        r#"{"peach": "This sorting order", "péché": "is wrong according to French",
            "pêche": "but canonicalization MUST", "sin":   "ignore locale"}"#,
        r#"{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}"#,
    ),
    (r#"{ "Unnormalized Unicode":"A\u030a" }"#, "{\"Unnormalized Unicode\":\"A\u{30a}\"}"),
    (
        r#"{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\u000a": "Newline", "1": "One",
            "\u0080": "Control\u007f", "\ud83d\ude02": "Smiley", "\u00f6": "Latin Small Letter O With Diaeresis",
            "\ufb33": "Hebrew Letter Dalet With Dagesh", "</script>": "Browser Challenge"}"#,
        "{\"\\n\":\"Newline\",\"\\r\":\"Carriage Return\",\"1\":\"One\",\"</script>\":\"Browser Challenge\",\
         \"\u{80}\":\"Control\u{7f}\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\
         \"😂\":\"Smiley\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
    ),
    (
        r#"{"1": {"f": {"f": "hi","F": 5} ,"\n": 56}, "10": { }, "": "empty", "a": { },
            "111": [ {"e": "yes","E": "no" } ], "A": { } }"#,
        r#"{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}"#,
    ),
];

#[test]
fn the_test_data_of_rfc_8785_comes_out_byte_for_byte() {
    for (input, output) in RFC_PAIRS {
        let value = parse_strict(input.as_bytes()).unwrap();
        let bytes = canonical_value(&value).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), output);
        assert_eq!(parse_canonical(output.as_bytes()).unwrap(), value);
    }
}

#[test]
fn the_strings_and_literals_of_rfc_8785_come_out_byte_for_byte() {
    let input =
        r#"{"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#;
    let output = r#"{"literals":[null,true,false],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
    let bytes = canonical_value(&parse_strict(input.as_bytes()).unwrap()).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), output);
}

#[test]
fn integers_pass_up_to_the_last_exact_one_and_no_further() {
    for number in [0, 1, -1, INTEGER_MAX, -INTEGER_MAX] {
        let bytes = to_canonical(&number).unwrap();
        assert_eq!(bytes, number.to_string().into_bytes());
        assert_eq!(parse_canonical(&bytes).unwrap(), json!(number));
    }
    for number in [INTEGER_MAX + 1, INTEGER_MAX + 2, -INTEGER_MAX - 1, i64::MAX, i64::MIN] {
        assert!(matches!(to_canonical(&number), Err(Error::Unsealable { .. })), "{number}");
        assert!(matches!(canonical_value(&json!(number)), Err(Error::Unsealable { .. })), "{number}");
        assert!(parse_strict(number.to_string().as_bytes()).is_err(), "{number}");
    }
    assert!(to_canonical(&u64::MAX).is_err());
    assert!(to_canonical(&u128::MAX).is_err());
    assert!(to_canonical(&i128::MIN).is_err());
}

#[test]
fn floats_never_pass_not_even_hidden_in_structures() {
    #[derive(Serialize)]
    struct Hidden {
        inner: Option<Vec<(u8, f64)>>,
    }
    for number in [0.0, -0.0, 1.0, 0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(to_canonical(&number), Err(Error::Unsealable { .. })), "{number}");
        assert!(to_canonical(&Hidden { inner: Some(vec![(1, number)]) }).is_err(), "{number}");
        assert!(to_canonical(&(number as f32)).is_err(), "{number}");
    }
    assert!(canonical_value(&json!({"a": [1.5]})).is_err());
}

#[test]
fn a_name_that_comes_twice_is_refused_when_writing_too() {
    #[derive(Serialize)]
    struct Inner {
        name: u8,
    }
    #[derive(Serialize)]
    struct Outer {
        name: u8,
        #[serde(flatten)]
        inner: Inner,
    }
    let twice = Outer { name: 1, inner: Inner { name: 2 } };
    assert!(matches!(to_canonical(&twice), Err(Error::Unsealable { reason }) if reason.contains("`name`")));
}

#[test]
fn every_shape_serde_knows_is_written_as_serde_json_writes_it() {
    #[derive(Serialize)]
    struct Unit;
    #[derive(Serialize)]
    struct Newtype(u8);
    #[derive(Serialize)]
    struct Pair(u8, &'static str);
    #[derive(Serialize)]
    enum Shape {
        Unit,
        Newtype(i16),
        Tuple(u8, bool),
        Struct { z: Option<u8>, a: char },
    }
    #[derive(Serialize)]
    struct All<'a> {
        shapes: Vec<Shape>,
        unit: (Unit, ()),
        newtype: Newtype,
        pair: Pair,
        map: BTreeMap<i32, &'a [u8]>,
        none: Option<u8>,
    }
    let all = All {
        shapes: vec![
            Shape::Unit,
            Shape::Newtype(-3),
            Shape::Tuple(1, true),
            Shape::Struct { z: None, a: 'ß' },
        ],
        unit: (Unit, ()),
        newtype: Newtype(7),
        pair: Pair(1, "x"),
        map: BTreeMap::from([(-1, &[1_u8, 2][..])]),
        none: None,
    };
    let ours = parse_canonical(&to_canonical(&all).unwrap()).unwrap();
    assert_eq!(ours, serde_json::to_value(&all).unwrap());
}

#[test]
fn a_map_key_that_is_no_string_is_refused() {
    let odd: Vec<(Vec<u8>, u8)> = vec![(vec![1], 2)];
    struct Odd(Vec<(Vec<u8>, u8)>);
    impl Serialize for Odd {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|(k, v)| (k, v)))
        }
    }
    assert!(matches!(to_canonical(&Odd(odd)), Err(Error::Unsealable { .. })));
}

#[test]
fn nesting_passes_up_to_the_limit_and_no_further_both_ways() {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    let deepest = parse_canonical(&nested(DEPTH_MAX)).unwrap();
    assert_eq!(canonical_value(&deepest).unwrap(), nested(DEPTH_MAX));
    assert_eq!(to_canonical(&deepest).unwrap(), nested(DEPTH_MAX));
    for depth in [DEPTH_MAX + 1, 1_000, 200_000] {
        assert!(parse_strict(&nested(depth)).is_err(), "{depth}");
        assert!(parse_canonical(&nested(depth)).is_err(), "{depth}");
        assert!(check_canonical(&nested(depth)).is_err(), "{depth}");
    }
    let too_deep = Value::Array(vec![deepest]);
    assert!(canonical_value(&too_deep).is_err());
    assert!(to_canonical(&too_deep).is_err());
    let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)).into_bytes();
    assert_eq!(to_canonical(&parse_canonical(&objects(DEPTH_MAX)).unwrap()).unwrap(), objects(DEPTH_MAX));
    for read in [parse_strict, parse_canonical] {
        assert!(read(&objects(DEPTH_MAX + 1)).is_err());
    }
    assert!(check_canonical(&objects(DEPTH_MAX + 1)).is_err());
}

#[test]
fn nested_variants_are_counted_as_deep_as_they_are_written() {
    #[derive(Serialize)]
    enum Nest {
        End,
        Newtype(Box<Nest>),
        Tuple(Box<Nest>, u8),
        Struct { inner: Box<Nest> },
    }
    let wraps: [fn(Nest) -> Nest; 3] = [
        |inner| Nest::Newtype(Box::new(inner)),
        |inner| Nest::Tuple(Box::new(inner), 1),
        |inner| Nest::Struct { inner: Box::new(inner) },
    ];
    for (wrap, levels) in wraps.into_iter().zip([1, 2, 2]) {
        let mut nest = Nest::End;
        for count in 1..=DEPTH_MAX + 1 {
            nest = wrap(nest);
            match to_canonical(&nest) {
                Ok(bytes) => drop(parse_canonical(&bytes).unwrap()),
                Err(refusal) => {
                    assert!(matches!(refusal, Error::Unsealable { .. }));
                    assert_eq!(count * levels, DEPTH_MAX + levels, "{levels} levels each");
                    break;
                }
            }
        }
        assert!(to_canonical(&nest).is_err());
    }
}

#[test]
fn raw_json_text_does_not_pass_the_gate() {
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::RawValue")]
    struct Raw {
        text: &'static str,
    }
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::Number")]
    struct Number(&'static str);
    for refusal in [to_canonical(&Raw { text: "1.0" }), to_canonical(&Number("1.0"))] {
        assert!(matches!(refusal, Err(Error::Unsealable { .. })), "{refusal:?}");
    }
}

/// What must be refused, after the manner of the JSON parsing test suite.
const REFUSED: &[(&str, &[u8])] = &[
    ("nothing", b""),
    ("white space only", b" "),
    ("byte order mark", b"\xEF\xBB\xBF{}"),
    ("UTF-16", b"\xFF\xFE{\x00}\x00"),
    ("not UTF-8", b"[\"\xFF\"]"),
    ("overlong UTF-8", b"[\"\xC0\xAF\"]"),
    ("UTF-8 surrogate", b"[\"\xED\xA0\x80\"]"),
    ("truncated UTF-8", b"[\"\xE2\x82\"]"),
    ("lone high surrogate", br#"["\ud800"]"#),
    ("lone low surrogate", br#"["\udc00"]"#),
    ("high surrogate then letter", br#"["\ud800a"]"#),
    ("two high surrogates", br#"["\ud800\ud800"]"#),
    ("swapped surrogates", br#"["\udc00\ud800"]"#),
    ("lone surrogate in a name", br#"{"\ud800":1}"#),
    ("name twice", br#"{"a":1,"a":1}"#),
    ("name twice, spelled twice", br#"{"a":1,"\u0061":2}"#),
    ("name twice, deep", br#"[{"x":[{"a":1,"b":2,"a":3}]}]"#),
    ("empty name twice", br#"{"":1,"":2}"#),
    ("float", b"1.0"),
    ("float with exponent", b"1e2"),
    ("exponent without fraction", b"[1E+2]"),
    ("minus zero", b"-0"),
    ("minus zero inside", br#"{"a":[-0]}"#),
    ("beyond 2^53-1", b"9007199254740992"),
    ("below -(2^53-1)", b"-9007199254740992"),
    ("beyond 64 bits", b"123456789012345678901234567890"),
    ("far beyond", b"1e400"),
    ("leading zero", b"[01]"),
    ("negative leading zero", b"[-01]"),
    ("plus sign", b"[+1]"),
    ("hex", b"[0x1]"),
    ("bare minus", b"[-]"),
    ("bare point", b"[.5]"),
    ("point at end", b"[1.]"),
    ("NaN", b"[NaN]"),
    ("Infinity", b"[Infinity]"),
    ("trailing comma", b"[1,]"),
    ("trailing comma in object", br#"{"a":1,}"#),
    ("leading comma", b"[,1]"),
    ("two commas", b"[1,,2]"),
    ("missing comma", b"[1 2]"),
    ("missing colon", br#"{"a" 1}"#),
    ("missing value", br#"{"a":}"#),
    ("bare name", b"{a:1}"),
    ("number as name", b"{1:1}"),
    ("single quotes", b"{'a':1}"),
    ("comment", b"[1]/* */"),
    ("line comment", b"[1]// x"),
    ("unclosed array", b"[1"),
    ("unclosed object", br#"{"a":1"#),
    ("unclosed string", br#"["a"#),
    ("wrong closer", b"[1}"),
    ("extra closer", b"[1]]"),
    ("second value", b"1 2"),
    ("second document", b"{}{}"),
    ("trailing nul", b"[]\0"),
    ("trailing junk", b"{}#"),
    ("capital literal", b"[True]"),
    ("cut literal", b"[tru]"),
    ("long literal", b"[nullx]"),
    ("raw newline in string", b"[\"a\nb\"]"),
    ("raw tab in string", b"[\"\t\"]"),
    ("raw nul in string", b"[\"\0\"]"),
    ("bad escape", br#"["\x41"]"#),
    ("capital U escape", br#"["\U0041"]"#),
    ("short escape", br#"["\u12"]"#),
    ("escape of nothing", br#"["\"]"#),
    ("form feed as space", b"[\x0C]"),
    ("no-break space", b"[\xC2\xA0]"),
];

#[test]
fn text_that_can_be_read_in_two_ways_or_in_none_is_refused() {
    for (name, bytes) in REFUSED {
        let refusal = parse_strict(bytes);
        assert!(matches!(refusal, Err(Error::Malformed { what: "json", .. })), "{name}: {refusal:?}");
    }
}

/// Valid, but another spelling than the canonical one: white space, escapes, order of names.
const NOT_CANONICAL: &[(&[u8], usize)] = &[
    (b" 1", 0),
    (b"1\n", 1),
    (b"[1, 2]", 3),
    (br#"{"b":1,"a":2}"#, 2),
    (br#"["\u0041"]"#, 2),
    (br#"["\/"]"#, 2),
    (br#"["\u000A"]"#, 3),
    (br#"["\u001F"]"#, 7),
    (br#"["\ud83d\ude02"]"#, 2),
    // Sorted by UTF-16 code units, as RFC 8785 wants, the smiley (d83d…) comes before U+FB33.
    ("{\"\u{fb33}\":1,\"😂\":2}".as_bytes(), 2),
];

#[test]
fn another_spelling_of_the_same_value_is_read_strictly_but_is_not_canonical() {
    for (bytes, place) in NOT_CANONICAL {
        parse_strict(bytes).unwrap();
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(parse_canonical(bytes), Err(Error::NotCanonical { at: *place }), "{text}");
    }
}

#[test]
fn strings_keep_every_code_point_as_it_is() {
    for text in
        ["", "\0", "\u{1f}", "\u{7f}", "\u{2028}", "\u{fffe}", "\u{ffff}", "\u{10ffff}", "e\u{301}", "é"]
    {
        let bytes = to_canonical(text).unwrap();
        assert_eq!(parse_canonical(&bytes).unwrap(), json!(text));
    }
}

#[test]
fn the_name_of_the_form_is_fixed_for_ever() {
    assert_eq!(canon::CANON, "jcs-ijson/1");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-INTEGER_MAX..=INTEGER_MAX).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The definition that the fast check is held against: read, write again, compare.
fn canonical_by_definition(bytes: &[u8]) -> bool {
    parse_strict(bytes).and_then(|value| canonical_value(&value)).is_ok_and(|again| again == bytes)
}

#[test]
fn the_fast_check_agrees_with_the_definition_on_every_refused_and_every_odd_text() {
    let odd = NOT_CANONICAL.iter().map(|(bytes, _)| *bytes).chain(REFUSED.iter().map(|(_, bytes)| *bytes));
    for bytes in odd {
        assert!(!canonical_by_definition(bytes));
        assert!(check_canonical(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
    }
    for code in 0..=0x2ff_u32 {
        for spelled in [format!("\"\\u{code:04x}\""), format!("\"\\u{code:04X}\"")] {
            let verdict = check_canonical(spelled.as_bytes()).is_ok();
            assert_eq!(verdict, canonical_by_definition(spelled.as_bytes()), "{spelled}");
        }
        let character = char::from_u32(code).unwrap();
        for spelled in
            [format!("\"{character}\""), format!("\"\\{character}\""), format!("{{\"{character}\":1}}")]
        {
            let verdict = check_canonical(spelled.as_bytes()).is_ok();
            assert_eq!(verdict, canonical_by_definition(spelled.as_bytes()), "{spelled:?}");
        }
    }
}

#[test]
fn the_fast_check_agrees_with_the_definition_on_every_short_text_of_a_small_alphabet() {
    // All texts of up to five pieces: 11 + 11^2 + … + 11^5.
    let pieces = ["{", "}", "[", "]", ",", ":", "\"\"", "\"a\"", "0", "-1", "null"];
    let mut texts = vec![String::new()];
    let mut accepted = 0;
    for _ in 0..5 {
        texts =
            texts.iter().flat_map(|text| pieces.iter().map(move |piece| format!("{text}{piece}"))).collect();
        for text in &texts {
            let verdict = check_canonical(text.as_bytes()).is_ok();
            assert_eq!(verdict, canonical_by_definition(text.as_bytes()), "{text}");
            accepted += u32::from(verdict);
        }
    }
    assert!(accepted > 50, "{accepted}");
}

#[test]
fn top_level_members_are_cut_out_as_they_are_spelled() {
    let bytes = br#"{"a":{"seq":9},"b":[1,{"c":"\n"}],"c":"x","seq":7}"#;
    let [seq, b, none] = canon::members(bytes, ["seq", "b", "d"]).unwrap();
    assert_eq!(seq, Some(&b"7"[..]));
    assert_eq!(b, Some(&br#"[1,{"c":"\n"}]"#[..]));
    assert_eq!(none, None);
    assert_eq!(canon::members(b"{}", ["a"]).unwrap(), [None]);
    assert!(matches!(canon::members(b"[1]", ["a"]), Err(Error::Malformed { .. })));
    assert!(matches!(canon::members(br#"{"b":1,"a":2}"#, ["a"]), Err(Error::NotCanonical { at: 2 })));
}

#[test]
fn the_fast_check_sees_every_byte_at_every_place_of_a_long_string() {
    for byte in 0..=0x7f_u8 {
        for at in 0..20 {
            let mut inside = [b'x'; 20];
            inside[at] = byte;
            let spelled = [&b"\""[..], &inside[..], b"\""].concat();
            let plain = !matches!(byte, b'"' | b'\\' | 0..=0x1f);
            assert_eq!(check_canonical(&spelled).is_ok(), plain, "{byte} at {at}");
            let escaped = to_canonical(std::str::from_utf8(&inside).unwrap()).unwrap();
            check_canonical(&escaped).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_check_agrees_with_the_definition_on_damaged_text(
        value in any_json(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
            any::<u8>(),
            prop::sample::select(b"{}[],:\"\\u0019-tfn \n".to_vec()),
        ], any::<bool>()), 0..3),
    ) {
        let mut bytes = canonical_value(&value).unwrap();
        for (at, byte, insert) in damage {
            let at = at.index(bytes.len());
            if insert { bytes.insert(at, byte) } else { bytes[at] = byte }
        }
        prop_assert_eq!(check_canonical(&bytes).is_ok(), canonical_by_definition(&bytes));
        prop_assert_eq!(parse_canonical(&bytes).is_ok(), canonical_by_definition(&bytes));
    }

    #[test]
    fn names_of_every_kind_are_sorted_as_the_definition_sorts_them(
        names in prop::collection::vec("[a-c\"\\\\\n\t\u{1}\u{e000}\u{fb33}😂é]{0,3}", 0..4),
    ) {
        let members: Vec<String> = names.iter()
            .map(|name| format!("{}:1", String::from_utf8(to_canonical(name).unwrap()).unwrap())).collect();
        let text = format!("{{{}}}", members.join(","));
        prop_assert_eq!(check_canonical(text.as_bytes()).is_ok(), canonical_by_definition(text.as_bytes()));
    }

    #[test]
    fn what_is_written_canonically_is_read_back_and_an_independent_canonicaliser_agrees(value in any_json()) {
        let bytes = canonical_value(&value).unwrap();
        prop_assert_eq!(&to_canonical(&value).unwrap(), &bytes);
        prop_assert_eq!(&json_canon::to_vec(&value).unwrap(), &bytes);
        prop_assert_eq!(&parse_canonical(&bytes).unwrap(), &value);
        prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), value);
    }

    #[test]
    fn a_changed_byte_gives_another_value_or_is_refused(value in any_json(), at in any::<prop::sample::Index>(), xor in 1_u8..) {
        let mut bytes = canonical_value(&value).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= xor;
        if let Ok(other) = parse_canonical(&bytes) {
            prop_assert_ne!(other, value);
        }
    }

    #[test]
    fn reading_never_panics_and_reads_no_more_than_serde_json(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(value) = parse_strict(&bytes) {
            prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), value);
        }
    }
}
