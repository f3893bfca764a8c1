//! Concealed leaves: bound to their place, erasable, and never mistaken for data.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

use proptest::prelude::*;
use seal::{
    Digest, Disclosure, Error, Sensitive,
    canon::{canonical_value, to_canonical, to_value},
    disclose::{conceal, concealed_in, reveal, reveal_at, verify_disclosure},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Salts that count: 00…01, 00…02, and so on.
fn counting() -> impl FnMut() -> [u8; 16] {
    let mut count = 0_u128;
    move || {
        count += 1;
        count.to_be_bytes()
    }
}

fn concealed(value: Value) -> (Value, Vec<Disclosure>) {
    conceal(value, "", &mut counting()).unwrap()
}

fn lookup(disclosures: &[Disclosure]) -> impl Fn(&Digest) -> Option<Vec<u8>> {
    move |digest| disclosures.iter().find(|d| d.digest == *digest).map(|d| d.bytes.clone())
}

#[test]
fn a_leaf_is_replaced_by_the_hash_of_salt_place_and_value() {
    let (value, disclosures) = concealed(json!({"kind": "task.created", "title": {"$plain": "buy milk"}}));
    let bytes = br#"["00000000000000000000000000000001","/title","buy milk"]"#;
    assert_eq!(disclosures, [Disclosure { digest: Digest::of(bytes), bytes: bytes.to_vec() }]);
    assert_eq!(value, json!({"kind": "task.created", "title": {"$sd": Digest::of(bytes).to_string()}}));
}

#[test]
fn places_are_json_pointers_in_the_order_of_sorted_names() {
    let (_, disclosures) = concealed(json!({
        "z": {"$plain": 1},
        "a/b": {"m~n": [{"$plain": null}, {"x": {"$plain": {"deep": [1]}}}]},
    }));
    let places: Vec<String> = disclosures.iter().map(|d| verify_disclosure(&d.bytes).unwrap().1).collect();
    assert_eq!(places, ["/a~1b/m~0n/0", "/a~1b/m~0n/1/x", "/z"]);
    let (value, disclosures) = conceal(json!({"$plain": "all"}), "/body", &mut counting()).unwrap();
    assert_eq!(verify_disclosure(&disclosures[0].bytes).unwrap().1, "/body");
    assert!(reveal(value.clone(), &lookup(&disclosures)).is_err(), "another place");
    assert_eq!(reveal_at(value, "/body", &lookup(&disclosures)).unwrap(), json!({"$plain": "all"}));
}

#[test]
fn erasing_a_disclosure_leaves_the_hash_and_takes_the_value() {
    let plain = json!({"a": {"$plain": "secret"}, "b": [{"$plain": "kept"}]});
    let (value, mut disclosures) = concealed(plain.clone());
    let hash = Digest::of(&canonical_value(&value).unwrap());
    assert_eq!(reveal(value.clone(), &lookup(&disclosures)).unwrap(), plain);
    let erased = disclosures.remove(0);
    let revealed = reveal(value.clone(), &lookup(&disclosures)).unwrap();
    assert_eq!(revealed, json!({"a": {"$sd": erased.digest.to_string()}, "b": [{"$plain": "kept"}]}));
    let (again, none) = concealed(json!({"a": revealed["a"], "b": value["b"]}));
    assert_eq!((Digest::of(&canonical_value(&again).unwrap()), none), (hash, Vec::new()));
}

#[test]
fn the_same_value_under_two_salts_shows_two_digests() {
    let (value, _) = concealed(json!([{"$plain": "same"}, {"$plain": "same"}]));
    assert_ne!(value[0], value[1]);
}

#[test]
fn a_disclosure_moved_to_another_place_or_another_value_is_refused() {
    let (value, disclosures) = concealed(json!({"from": {"$plain": "alice"}, "to": {"$plain": "bob"}}));
    let swapped = json!({"from": value["to"], "to": value["from"]});
    let refusal = reveal(swapped, &lookup(&disclosures));
    assert!(matches!(refusal, Err(Error::Disclosure { .. })), "{refusal:?}");
    let other = disclosures[1].bytes.clone();
    let refusal = reveal(value, &|_| Some(other.clone()));
    assert!(matches!(refusal, Err(Error::Disclosure { .. })), "{refusal:?}");
}

#[test]
fn every_changed_byte_of_a_disclosure_is_refused() {
    let (value, disclosures) = concealed(json!({"path": {"$plain": "src/ä.rs"}}));
    for at in 0..disclosures[0].bytes.len() {
        for bit in 0..8 {
            let mut bytes = disclosures[0].bytes.clone();
            bytes[at] ^= 1 << bit;
            assert!(reveal(value.clone(), &|_| Some(bytes.clone())).is_err(), "byte {at} bit {bit}");
        }
    }
}

#[test]
fn the_reserved_names_are_refused_in_every_other_shape() {
    let hex = "0".repeat(64);
    let smuggled = [
        json!({"$plain": 1, "other": 2}),
        json!({"$sd": hex, "other": 2}),
        json!({"$plain": 1, "$sd": hex}),
        json!({"$sd": "short"}),
        json!({"$sd": hex.replace('0', "A")}),
        json!({"$sd": 7}),
        json!({"$sd": null}),
        json!({"$sd": [hex]}),
        json!({"$plain": {"$plain": 1}}),
        json!({"$plain": {"$sd": hex}}),
        json!({"$plain": [1, {"x": {"$sd": 1, "y": 2}}]}),
    ];
    for value in smuggled {
        let deep = json!({"list": [value]});
        for value in [value, deep] {
            let refusal = conceal(value.clone(), "", &mut counting());
            assert!(matches!(refusal, Err(Error::Reserved { .. })), "{value}: {refusal:?}");
            let refusal = reveal(value.clone(), &|_| None);
            assert!(matches!(refusal, Err(Error::Reserved { .. })), "{value}: {refusal:?}");
        }
    }
}

#[test]
fn names_that_only_look_reserved_pass() {
    let value = json!({"plain": 1, "sd": 2, "$Plain": 3, "$sd ": 4, "$": {"$plain!": 5}});
    assert_eq!(concealed(value.clone()), (value, Vec::new()));
}

#[test]
fn a_value_that_cannot_be_sealed_or_a_pointer_that_is_none_is_refused() {
    assert!(matches!(conceal(json!({"$plain": 1.5}), "", &mut counting()), Err(Error::Unsealable { .. })));
    for pointer in ["body", "/a~b", "/~", "/~2"] {
        assert!(conceal(json!(1), pointer, &mut counting()).is_err(), "{pointer}");
    }
}

#[test]
fn bytes_that_are_no_disclosure_are_refused() {
    let salt = "00000000000000000000000000000001";
    let good = format!(r#"["{salt}","/a",1]"#);
    verify_disclosure(good.as_bytes()).unwrap();
    for bad in [
        format!(r#"["{salt}","/a"]"#),
        format!(r#"["{salt}","/a",1,2]"#),
        format!(r#"["{salt}","a",1]"#),
        format!(r#"["{salt}",1,1]"#),
        format!(r#"["{}","/a",1]"#, &salt[1..]),
        format!(r#"["{}","/a",1]"#, salt.replace('1', "F")),
        format!(r#"["{salt}","/a",1.0]"#),
        format!(r#"["{salt}", "/a",1]"#),
        format!(r#"["{salt}","/a",{{"$sd":1}}]"#),
        format!(r#"{{"{salt}":1}}"#),
        format!("{good}\n"),
    ] {
        assert!(verify_disclosure(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Titled {
    title: Sensitive<String>,
    args: Option<Sensitive<Vec<String>>>,
}

#[test]
fn a_typed_document_is_concealed_erased_and_read_back() {
    let shown =
        Titled { title: Sensitive::from("plan".to_owned()), args: Some(vec!["-v".to_owned()].into()) };
    let value = to_value(&shown).unwrap();
    assert_eq!(value, json!({"title": {"$plain": "plan"}, "args": {"$plain": ["-v"]}}));
    let (sealed, disclosures) = concealed(value);
    let erased: Titled = serde_json::from_value(sealed.clone()).unwrap();
    assert_eq!(erased.title, Sensitive::Erased(disclosures[1].digest));
    assert_eq!(erased.title.shown(), None);
    assert_eq!(to_value(&erased).unwrap(), sealed, "what is erased keeps its hash");
    let back: Titled = serde_json::from_value(reveal(sealed, &lookup(&disclosures)).unwrap()).unwrap();
    assert_eq!(back, shown);
    assert_eq!(back.title.shown().map(String::as_str), Some("plan"));
}

#[test]
fn a_sensitive_field_reads_nothing_but_its_two_shapes() {
    let hex = "0".repeat(64);
    for bad in [
        json!("bare"),
        json!({}),
        json!({"$plain": 1}),
        json!({"$plain": "a", "$sd": hex}),
        json!({"$plain": "a", "more": 1}),
        json!({"$sd": "short"}),
        json!({"plain": "a"}),
        json!(null),
    ] {
        assert!(serde_json::from_value::<Sensitive<String>>(bad.clone()).is_err(), "{bad}");
    }
    let gone: Sensitive<String> = serde_json::from_value(json!({"$sd": hex})).unwrap();
    assert_eq!(gone, Sensitive::Erased(Digest::ZERO));
    let null: Sensitive<Option<u8>> = serde_json::from_value(json!({"$plain": null})).unwrap();
    assert_eq!(null, Sensitive::Shown(None));
}

/// Documents in which some leaves are marked sensitive.
fn any_document() -> impl Strategy<Value = Value> {
    let plain =
        prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), ".*".prop_map(Value::from)];
    let leaf = prop_oneof![plain.clone(), plain.prop_map(|v| json!({"$plain": v}))];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z/~ä]{0,3}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_concealed_is_revealed_and_what_was_erased_stays_hashed(document in any_document(), keep in any::<u64>()) {
        let (sealed, disclosures) = concealed(document.clone());
        let bytes = to_canonical(&sealed).unwrap();
        prop_assert!(!String::from_utf8(bytes).unwrap().contains("$plain"));
        prop_assert_eq!(&reveal(sealed.clone(), &lookup(&disclosures)).unwrap(), &document);
        let kept: Vec<Disclosure> = disclosures.iter().enumerate()
            .filter(|(i, _)| keep >> (i % 64) & 1 == 1).map(|(_, d)| d.clone()).collect();
        let partly = reveal(sealed.clone(), &lookup(&kept)).unwrap();
        let missing = partly.to_string().matches("$sd").count();
        prop_assert_eq!(missing, disclosures.len() - kept.len());
        for disclosure in &disclosures {
            prop_assert_eq!(verify_disclosure(&disclosure.bytes).unwrap().0, disclosure.digest);
        }
    }
}

#[test]
fn a_leaf_gives_its_value_or_says_that_it_is_gone() {
    let (shown, gone) = (Sensitive::from(7), Sensitive::<i32>::Erased(Digest::of(b"x")));
    assert_eq!((shown.shown(), shown.as_ref(), shown.is_erased()), (Some(&7), Sensitive::Shown(&7), false));
    assert_eq!(
        (gone.shown(), gone.as_ref(), gone.is_erased()),
        (None, Sensitive::Erased(Digest::of(b"x")), true)
    );
    assert_eq!((shown.clone().into_shown(), gone.clone().into_shown()), (Some(7), None));
    assert_eq!((shown.map(|n| n + 1), gone.clone().map(|n| n + 1)), (Sensitive::Shown(8), gone));
}

#[test]
fn a_document_conceals_a_leaf_only_where_a_leaf_can_stand() {
    let (one, two) = ("7".repeat(64), "8".repeat(64));
    let event = format!("{{\"a\":\"$\",\"b\":{{\"$sd\":\"{one}\"}},\"c\":[{{\"$sd\":\"{two}\"}}]}}");
    assert!(concealed_in(event.as_bytes()).eq([one.as_bytes(), two.as_bytes()]));
    for other in
        [format!("{{\"a\":\"{one}\"}}"), "{\"$sd\":\"77\"}".to_owned(), String::new(), "$".to_owned()]
    {
        assert!(concealed_in(other.as_bytes()).next().is_none(), "{other}");
    }
}
