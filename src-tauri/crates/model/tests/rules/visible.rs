//! Characters that cannot be seen: the table is sorted, and the pages look with the same one.

use model::visible::{BLANK, HIDDEN, is_blank, is_hidden};
use std::fmt::Write as _;
use std::path::PathBuf;

const HEAD: &str =
    "// Made from the room `model`; do not edit. Its test `visible` says how to make it again.\n";

/// The pages' file: each table as the inside of a class of a regular expression with the flag `u`.
fn typescript() -> String {
    let class = |table: &[(char, char)]| {
        table.iter().fold(String::new(), |mut out, (first, last)| {
            let _ = write!(out, "\\\\u{{{:x}}}-\\\\u{{{:x}}}", u32::from(*first), u32::from(*last));
            out
        })
    };
    format!(
        "{HEAD}\n/** Characters that cannot be seen, or that change how their neighbours look. */\n\
         export const HIDDEN =\n  \"{}\";\n\n/** Blanks that look like a space and are none. */\n\
         export const BLANK =\n  \"{}\";\n",
        class(HIDDEN),
        class(BLANK)
    )
}

#[expect(clippy::disallowed_methods, reason = "whoever runs the test says whether the table is written anew")]
#[test]
fn the_table_of_the_pages_is_this_one() {
    let room = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap());
    let path = room.join("../../../ui/src/primitives/hidden.ts");
    if std::env::var("HERMIT_BINDINGS").is_ok_and(|word| word == "write") {
        std::fs::write(&path, typescript()).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        found,
        typescript(),
        "stale: run `HERMIT_BINDINGS=write cargo test -p hermit-model visible`, then build the pages again"
    );
}

#[test]
fn both_tables_are_sorted_and_share_nothing() {
    for table in [HIDDEN, BLANK] {
        assert!(table.iter().all(|(first, last)| first <= last));
        assert!(table.windows(2).all(|pair| matches!(pair, [(_, last), (first, _)] if last < first)));
    }
    assert!(BLANK.iter().all(|(first, last)| !is_hidden(*first) && !is_hidden(*last)));
}

#[test]
fn what_has_no_shape_is_hidden_and_what_has_one_is_not() {
    let controls = ('\0'..='\u{10ffff}').filter(|c| c.is_control());
    let others = "\u{ad}\u{200b}\u{200d}\u{202e}\u{2066}\u{fe0f}\u{feff}\u{e0041}\u{fff9}\u{1ffff}\u{e000}";
    assert!(controls.chain(others.chars()).all(is_hidden));
    let blanks = ('\0'..='\u{10ffff}').filter(|c| c.is_whitespace() && !c.is_control() && *c != ' ');
    assert!(blanks.into_iter().all(|c| is_blank(c) || is_hidden(c)));
    assert!(" aZ~é漢ا🦀€\u{301}".chars().all(|c| !is_hidden(c) && !is_blank(c)));
}
