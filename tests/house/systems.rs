//! What systems do differently stands behind seams: in files named after what they do, each with one implementation a system.
//! `systems.tsv` names them, what only one system has, and what is still to be moved; the last may shrink, and nothing may join it.

use super::syntax::code_words;
use super::tree::{Source, sources};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// `seam<TAB>path<TAB>what it does`, `one<TAB>path<TAB>which system, and what it has there`, `test<TAB>path<TAB>how often<TAB>why`,
/// `move<TAB>path<TAB>how often<TAB>what it asks`. A path that ends with `/` is all of a folder.
const LIST: &str = include_str!("systems.tsv");

/// What a condition asks when it asks for a system.
const ASKED: [&str; 4] = ["unix", "windows", "target_os", "target_family"];

/// Interfaces that one system has and another has not.
const OF_SYSTEMS: [&str; 3] = ["std :: os :: ", "rustix :: ", "libc :: "];

/// How often a source asks for a system, in attributes and in `cfg!`.
fn asks(text: &str) -> usize {
    fn says(stream: TokenStream) -> bool {
        stream.into_iter().any(|tree| match tree {
            TokenTree::Ident(name) => ASKED.iter().any(|asked| name == asked),
            TokenTree::Group(group) => says(group.stream()),
            _ => false,
        })
    }
    fn count(stream: TokenStream) -> usize {
        let mut found = 0;
        let mut is_condition = false;
        for tree in stream {
            match tree {
                TokenTree::Ident(name) => is_condition = name == "cfg" || name == "cfg_attr",
                TokenTree::Punct(mark) if mark.as_char() == '!' => {}
                TokenTree::Group(group) => {
                    let is_its = is_condition && group.delimiter() == Delimiter::Parenthesis;
                    found += match is_its && says(group.stream()) {
                        true => 1,
                        false => count(group.stream()),
                    };
                    is_condition = false;
                }
                _ => is_condition = false,
            }
        }
        found
    }
    // Most sources never do, and their tokens are many.
    if text.contains("cfg") { count(text.parse().expect("a source has tokens")) } else { 0 }
}

/// Whether a product's source uses what only some systems have, outside its tests.
fn uses(source: &Source) -> bool {
    let workshop = ["xtask", "testkit", "conforms"];
    let is_product = source.path.starts_with("src-tauri/")
        && source.path.contains("/src/")
        && !source.path.ends_with("tests.rs")
        && source.room().is_none_or(|room| !workshop.contains(&room));
    let may_use = ["os::", "::os", "rustix", "libc"].iter().any(|word| source.text.contains(word));
    is_product && may_use && {
        let words = format!(" {} ", code_words(&source.text));
        OF_SYSTEMS.iter().any(|of| words.contains(&format!(" {of}")))
    }
}

/// The list, by kind.
#[derive(Default)]
struct Listed {
    /// Files and folders that may ask as often as they like.
    free: BTreeSet<&'static str>,
    /// Files that ask so often.
    counted: BTreeMap<&'static str, usize>,
}

impl Listed {
    fn read() -> Self {
        let mut listed = Self::default();
        for row in LIST.lines().filter(|row| !row.starts_with('#')) {
            let is_new = match row.split('\t').collect::<Vec<_>>()[..] {
                ["seam" | "one", path, why] if why.len() > 10 => listed.free.insert(path),
                ["test" | "move", path, times, why] if why.len() > 10 => {
                    let times = times.parse().unwrap_or_else(|_| panic!("no number: {row}"));
                    listed.counted.insert(path, times).is_none()
                }
                _ => panic!("neither a seam, nor one system's, nor a test's, nor to be moved: {row}"),
            };
            assert!(is_new, "twice: {row}");
        }
        listed
    }

    fn free_by(&self, path: &str) -> Option<&'static str> {
        let holds = |listed: &&&str| **listed == path || listed.ends_with('/') && path.starts_with(**listed);
        self.free.iter().find(holds).copied()
    }
}

#[test]
fn a_system_is_asked_for_only_behind_the_seams_that_the_list_names() {
    let listed = Listed::read();
    let (mut counted, mut used, mut outside) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
    for source in sources().iter().filter(|source| source.is_rust()) {
        let (times, uses) = (asks(&source.text), uses(source));
        match listed.free_by(&source.path) {
            Some(by) if times > 0 || uses => drop(used.insert(by)),
            Some(_) => {}
            None => {
                if times > 0 {
                    counted.insert(source.path.as_str(), times);
                }
                if uses && !listed.counted.contains_key(source.path.as_str()) {
                    outside.push(source.path.as_str());
                }
            }
        }
    }
    assert_eq!(
        counted, listed.counted,
        "put it behind a seam, a file named after what it does with one implementation a system; a line of \
         tests/house/systems.tsv that is `move` only shrinks"
    );
    assert!(outside.is_empty(), "these use what only some systems have, outside of every seam: {outside:?}");
    let idle: Vec<_> = listed.free.difference(&used).collect();
    assert!(idle.is_empty(), "these ask for no system any more: {idle:?}");
}

#[test]
fn a_condition_is_seen_wherever_it_stands_and_words_about_it_are_not() {
    let text = r##"
        //! #[cfg(unix)] in words.
        #[cfg(all(test, target_os = "linux"))]
        mod a { fn f() -> bool { cfg!(windows) } }
        #[cfg_attr(not(unix), allow(dead_code, reason = "x"))]
        fn g() { let unix = "cfg(unix)"; h(unix); }
        #[cfg(test)]
        mod tests { macro_rules! m { () => { #[cfg(unix)] fn k() {} } } }
    "##;
    assert_eq!(asks(text), 4);
    let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
    let linked = "use std::os::unix::fs::MetadataExt as _;";
    assert!(uses(&source("src-tauri/crates/disk/src/lib.rs", linked)));
    assert!(!uses(&source("src-tauri/crates/disk/tests/main.rs", linked)));
    assert!(!uses(&source(
        "src-tauri/crates/disk/src/lib.rs",
        "#[cfg(test)]\nmod tests { use rustix::fs; }"
    )));
    assert!(uses(&source("src-tauri/src/lib.rs", "fn f() { rustix::process::getpid(); }")));
}
