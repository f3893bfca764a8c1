//! A function fits on a screen and a file is questioned at 500 lines. What was longer when the rule came is
//! listed in `sizes.tsv` with its length as its ceiling: it may shrink, never grow, and nothing may join it.

use super::syntax::functions;
use super::tree::{Source, sources};
use std::collections::BTreeMap;

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;

/// The files whose length a person feels when reading.
const READ: [&str; 8] = [".rs", ".ts", ".tsx", ".sql", ".css", ".html", ".mjs", ".py"];

/// What is over its limit: `path` or `path function`, with its length.
fn over(sources: &[Source]) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let read = |s: &&Source| READ.iter().any(|e| s.path.ends_with(e)) && !s.path.contains("/generated/");
    for source in sources.iter().filter(read) {
        let lines = source.text.lines().count();
        if lines > FILE_LINES_MAX {
            found.insert(source.path.clone(), lines);
        }
        if source.is_rust() {
            for (name, lines) in functions(&source.text).into_iter().filter(|(_, l)| *l > FUNCTION_LINES_MAX)
            {
                found.insert(format!("{} {name}", source.path), lines);
            }
        }
    }
    found
}

/// What the ratchet refuses, one sentence each.
fn slipped(now: &BTreeMap<String, usize>, ceilings: &BTreeMap<String, usize>) -> Vec<String> {
    let mut found = Vec::new();
    for (what, lines) in now {
        match ceilings.get(what) {
            None => found.push(format!("`{what}` has {lines} lines; split it")),
            Some(ceiling) if lines > ceiling => {
                found.push(format!("`{what}` grew from {ceiling} to {lines} lines; it may only shrink"));
            }
            Some(_) => {}
        }
    }
    let gone = ceilings.keys().filter(|what| !now.contains_key(*what));
    found.extend(gone.map(|what| format!("`{what}` fits now; take its line out of tests/house/sizes.tsv")));
    found
}

fn ceilings() -> BTreeMap<String, usize> {
    let lines = include_str!("sizes.tsv").lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|line| {
            let (what, lines) = line.split_once('\t').expect("a line is `what<TAB>lines`");
            (what.to_owned(), lines.parse().expect("a ceiling is a number"))
        })
        .collect()
}

#[test]
fn nothing_outgrows_a_screen_or_a_room() {
    let found = slipped(&over(sources()), &ceilings());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_long_function_and_a_long_file_are_found() {
    let body = "    x();\n".repeat(FUNCTION_LINES_MAX);
    let text = format!("fn long() {{\n{body}}}\n{}", "\n".repeat(FILE_LINES_MAX));
    let found = over(&[Source { path: "a.rs".to_owned(), text }]);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a.rs", "a.rs long"]);
}

#[test]
fn the_ratchet_turns_one_way() {
    let map = |lines: usize| BTreeMap::from([("a.rs".to_owned(), lines)]);
    assert_eq!(slipped(&map(600), &map(600)), Vec::<String>::new());
    assert_eq!(slipped(&map(550), &map(600)), Vec::<String>::new());
    assert!(slipped(&map(601), &map(600))[0].contains("grew"));
    assert!(slipped(&map(501), &BTreeMap::new())[0].contains("split it"));
    assert!(slipped(&BTreeMap::new(), &map(600))[0].contains("fits now"));
}
