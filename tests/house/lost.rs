//! A result that is thrown away is an error that nobody hears of. In the rooms that act and keep, each is on the list, with
//! the reason why nobody needs to hear of it.

use super::tree::{Source, sources};
use std::collections::{BTreeMap, BTreeSet};

const ROOMS: [&str; 7] = ["api", "cli", "effects", "gate", "host", "kernel", "ledger"];

/// `call<TAB>what<TAB>why` for a call whose result may go anywhere, `place<TAB>path<TAB>how often<TAB>why` for others.
const LIST: &str = include_str!("lost.tsv");

/// The statements of a source that throw a result away, outside its tests.
fn thrown_away(text: &str) -> Vec<String> {
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut lines = product.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    while let Some(line) = lines.next() {
        if line.starts_with("let _ = ") {
            let mut whole = line.to_owned();
            while !whole.ends_with([';', '{']) {
                let Some(next) = lines.next() else { break };
                whole.push_str(next);
            }
            found.push(whole);
        } else if line.ends_with(".ok();") && !line.contains(" = ") && !line.contains("return ")
            || takes_an_error_for_nothing(line)
        {
            found.push(line.to_owned());
        }
    }
    found
}

/// Whether what could not be read, or was refused, passes for what is not there.
fn takes_an_error_for_nothing(line: &str) -> bool {
    let asks = |before: &str| {
        before.contains(".call(") || before.contains(".read(") && !before.contains(".read(true)")
    };
    line.match_indices(".ok()").any(|(at, _)| {
        let after = &line[at + ".ok()".len()..];
        after.starts_with(".flatten()") || after.starts_with("??") || asks(&line[..at])
    })
}

fn is_product(source: &Source) -> bool {
    let own = source.path.contains("/src/") && !source.path.ends_with("tests.rs");
    source.is_rust() && own && source.room().is_some_and(|room| ROOMS.contains(&room))
}

#[test]
fn a_result_is_thrown_away_only_where_the_list_says_why() {
    let (mut calls, mut places) = (BTreeSet::new(), BTreeMap::new());
    for row in LIST.lines().filter(|row| !row.starts_with('#')) {
        let columns: Vec<&str> = row.split('\t').collect();
        match columns[..] {
            ["call", what, why] if why.len() > 10 => drop(calls.insert(what)),
            ["place", path, times, why] if why.len() > 10 => {
                let times: usize = times.parse().unwrap_or_else(|_| panic!("no number: {row}"));
                assert!(places.insert(path.to_owned(), times).is_none(), "twice: {row}");
            }
            _ => panic!("neither a call nor a place with its reason: {row}"),
        }
    }
    let (mut found, mut used) = (BTreeMap::new(), BTreeSet::new());
    for source in sources().iter().filter(|source| is_product(source)) {
        for lost in thrown_away(&source.text) {
            match calls.iter().find(|call| lost.contains(**call)) {
                Some(call) => drop(used.insert(*call)),
                None => found.entry(source.path.clone()).or_insert_with(Vec::new).push(lost),
            }
        }
    }
    let counted: BTreeMap<String, usize> =
        found.iter().map(|(path, all)| (path.clone(), all.len())).collect();
    assert_eq!(
        counted, places,
        "hand the error on, log it, or say in tests/house/lost.tsv why not: {found:#?}"
    );
    let idle: Vec<_> = calls.difference(&used).collect();
    assert!(idle.is_empty(), "nothing calls these any more: {idle:?}");
}

#[test]
fn what_is_thrown_away_is_seen() {
    let text = "fn f() {\n    let _ = go(\n        1,\n    );\n    // let _ = no();\n    tx.set(1).ok();\n    let a = b.ok();\n    let c = store.read(&d).ok();\n    let e = get(x.ok()?).ok()??;\n}\n#[cfg(test)]\nmod tests { fn g() { let _ = h(); } }\n";
    assert_eq!(
        thrown_away(text),
        [
            "let _ = go(1,);",
            "tx.set(1).ok();",
            "let c = store.read(&d).ok();",
            "let e = get(x.ok()?).ok()??;"
        ]
    );
}
