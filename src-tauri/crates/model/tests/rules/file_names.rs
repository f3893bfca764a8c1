//! Names that some disk takes for one, in whatever way they are spelled.

use model::file_name::{folded, has_part, is_same, is_within};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

/// Names that are protected somewhere.
const PROTECTED: [&str; 6] = [".hermit", ".git", ".ssh", "hooks", ".gitconfig", "id_rsa"];

#[test]
fn a_name_is_the_same_in_every_spelling_that_a_disk_takes_for_it() {
    for (one, other) in [
        (".hermit", ".Hermit"),
        (".hermit", ".HERMIT"),
        (".hermit", ".hermit. ."),
        (".hermit", ".her\u{200c}mit"),
        (".git", ".g\u{feff}it"),
        (".git", "\u{202a}.GIT"),
        (".ssh", ".\u{17f}sh"),
        (".ssh", ".\u{17f}\u{17f}h"),
        ("keyrings", "\u{212a}eyrings"),
        (".gitconfig", ".gitcon\u{fb01}g"),
        ("ca\u{301}lido", "c\u{e1}lido"),
        ("\u{c1}rbol", "a\u{301}rbol"),
        ("\u{3b1}\u{3c2}", "\u{391}\u{3a3}"),
        ("stra\u{df}e", "STRASSE"),
        ("stra\u{1e9e}e", "stra\u{df}e"),
        ("\u{212b}ngstr\u{f6}m", "a\u{30a}ngstro\u{308}m"),
    ] {
        assert!(is_same(one.as_bytes(), other.as_bytes()), "{one:?} and {other:?}");
        assert!(is_same(other.as_bytes(), one.as_bytes()), "{other:?} and {one:?}");
    }
    for (one, other) in [
        (".hermit", "hermit"),
        ("stra\u{1e9e}e", "strase"),
        (".hermit", ".hermits"),
        (".git", ".gitignore"),
        (".git", "..git"),
        (".git", ".g it"),
        ("a", "\u{e1}"),
        ("cafe", "caf\u{e9}"),
        (".git", ".g\u{456}t"),
    ] {
        assert!(!is_same(one.as_bytes(), other.as_bytes()), "{one:?} and {other:?}");
    }
}

/// ASCII is compared without being folded first, and comes to the same.
#[test]
fn short_names_in_ascii_are_the_same_where_they_fold_to_the_same() {
    let letters = [b'a', b'A', b'b', b'.', b' ', b'~', 0, 127];
    let mut names: Vec<Vec<u8>> = vec![Vec::new()];
    for _ in 0..3 {
        let longer =
            names.iter().flat_map(|name| letters.map(|letter| [name.as_slice(), &[letter]].concat()));
        let longer: Vec<Vec<u8>> = longer.collect();
        names.extend(longer);
    }
    names.sort();
    names.dedup();
    for one in &names {
        for other in &names {
            assert_eq!(is_same(one, other), folded(one) == folded(other), "{one:?} and {other:?}");
        }
    }
}

#[test]
fn a_path_lies_within_another_part_by_part() {
    for (path, above) in [
        ("a/.Store/x", "A/.store"),
        ("a/.store", "a/.store"),
        ("caf\u{e9}/x", "CAFE\u{301}"),
        ("x", ""),
        ("a/b", ""),
    ] {
        assert!(is_within(path.as_bytes(), above.as_bytes()), "{path} in {above}");
    }
    for (path, above) in [("a", "a/b"), ("ab", "a"), ("a/bc", "a/b"), ("b/a", "a"), ("", "a")] {
        assert!(!is_within(path.as_bytes(), above.as_bytes()), "{path} in {above}");
    }
    assert!(has_part(b"deep/.GIT/hooks/pre-commit", &[".git"]) && !has_part(b"deep/git", &[".git"]));
}

/// The same name with each letter in a case of its own, with what is not seen between, and an end that is dropped.
fn spelled() -> impl Strategy<Value = (&'static str, String)> {
    let signs = prop::sample::select(vec!["", "", "", "\u{200c}", "\u{feff}", "\u{206f}"]);
    let how = prop::collection::vec((any::<bool>(), signs), 16);
    let end = prop::sample::select(vec!["", ".", " ", ". ."]);
    (prop::sample::select(PROTECTED.to_vec()), how, end).prop_map(|(name, how, end)| {
        let mut other = String::new();
        for (letter, (is_capital, sign)) in name.chars().zip(how) {
            other.push(if is_capital { letter.to_ascii_uppercase() } else { letter });
            other.push_str(sign);
        }
        (name, other + end)
    })
}

proptest! {
    #[test]
    fn no_spelling_of_a_protected_name_passes_for_another((name, other) in spelled()) {
        prop_assert!(is_same(name.as_bytes(), other.as_bytes()), "{:?} and {:?}", name, other);
        let path = format!("deep/{other}/file");
        prop_assert!(has_part(path.as_bytes(), &PROTECTED), "{}", path);
    }

    /// A name in its normal forms is one name, and what was folded stays as it is.
    #[test]
    fn folding_is_once_and_for_all_and_takes_any_bytes(
        name in prop::collection::vec(any::<u8>(), 0..24),
        text in "\\PC{0,12}",
    ) {
        for name in [name.as_slice(), text.as_bytes()] {
            let once = folded(name);
            prop_assert_eq!(folded(once.as_bytes()), once.clone());
            prop_assert!(is_same(name, once.as_bytes()));
            for other in PROTECTED {
                prop_assert_eq!(is_same(name, other.as_bytes()), once == other, "{:?} and {}", name, other);
            }
        }
        let (composed, parted): (String, String) = (text.nfc().collect(), text.nfd().collect());
        prop_assert!(is_same(composed.as_bytes(), parted.as_bytes()), "{:?}", text);
    }
}
