//! A command that answers without what only the process that holds the store knows would tell less beside a running host than in it.
//! Each place where one goes on without it is listed with the reads whose answer it is in, and those are asked of the holder.

use super::tree::sources;
use std::collections::{BTreeMap, BTreeSet};

/// What a host gives only where it holds the store, or gives less of elsewhere; and what it refuses elsewhere.
const GIVEN: [&str; 11] = [
    "anchor_clocks",
    "chats",
    "facts",
    "listen",
    "logins",
    "mesh",
    "model_box",
    "open_keys",
    "pushes",
    "trainer",
    "trials",
];
const REFUSED: [&str; 3] = ["journal", "kernel", "stands"];
/// The commands; one of their files passes on what a host says, whoever asks.
const COMMANDS: &str = "src-tauri/crates/api/src/";
const PASSES_ON: &str = "src-tauri/crates/api/src/caller.rs";
/// Where the reads stand that are asked of the holder.
const UNDER_WAY: &str = "src-tauri/crates/host/src/session/under_way.rs";

const LIST: &str = include_str!("owners.tsv");

/// A source without its tests, comments and spaces.
fn packed(text: &str) -> String {
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code = product.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
}

/// How often a packed source asks the host for this and goes on where it is not there.
fn goes_on(packed: &str, what: &str) -> usize {
    let behind = |call: &&str| {
        let mut open = 1;
        let end = call.find(|c: char| {
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            open == 0
        });
        let rest = end.and_then(|end| call.get(end + 1..)).unwrap_or_default();
        !(rest.starts_with(".ok_or") || REFUSED.contains(&what) && rest.starts_with('?'))
    };
    packed.split(&format!("host.{what}(")).skip(1).filter(behind).count()
}

#[test]
fn what_only_the_holder_of_a_store_knows_is_asked_of_it_by_each_read_that_tells_it() {
    let mut found = BTreeMap::new();
    let commands = sources().iter().filter(|s| s.is_rust() && s.path.starts_with(COMMANDS));
    for source in commands.filter(|source| source.path != PASSES_ON) {
        let packed = packed(&source.text);
        for what in GIVEN.into_iter().chain(REFUSED) {
            let times = goes_on(&packed, what);
            if times > 0 {
                found.insert((source.path.clone(), what.to_owned()), times);
            }
        }
    }
    let (mut listed, mut told) = (BTreeMap::new(), BTreeSet::new());
    for row in LIST.lines().filter(|row| !row.starts_with('#')) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [path, what, times, reads, why] = columns[..] else { panic!("five columns: {row}") };
        assert!(why.len() > 10, "say what it is: {row}");
        let times: usize = times.parse().unwrap_or_else(|_| panic!("no number: {row}"));
        assert!(listed.insert((path.to_owned(), what.to_owned()), times).is_none(), "twice: {row}");
        told.extend(reads.split(',').filter(|read| *read != "-").map(str::to_owned));
    }
    assert_eq!(
        found, listed,
        "what a command asks of the holder and goes on without: say in tests/house/owners.tsv which reads tell it"
    );
    let under_way = sources().iter().find(|s| s.path == UNDER_WAY).expect("it is there");
    let rows = packed(&under_way.text);
    let asked: BTreeSet<String> = rows
        .split("row::<wire::")
        .skip(1)
        .filter_map(|row| row.split_once(">()").map(|(name, _)| name.to_owned()))
        .collect();
    assert_eq!(
        asked, told,
        "the reads that are asked of the holder, and those whose answer is whole by it alone"
    );
}

#[test]
fn a_place_that_goes_on_is_told_from_one_that_does_not() {
    let text = "
        let kernel = host.kernel()?; // host.kernel()
        let mesh = host
            .mesh()
            .ok_or_else(no_host)?;
        let live = self.host.mesh().and_then(|mesh| mesh.live());
        if let Ok(kernel) = host.kernel() {}
        match host.stands(task, patience(1)) { _ => {} }
        let asked = host.trials()?.asked(id);
        #[cfg(test)]
        mod tests { fn f() { host.kernel().ok(); } }
    ";
    let packed = packed(text);
    let found = ["kernel", "mesh", "stands", "trials", "chats"].map(|what| goes_on(&packed, what));
    assert_eq!(found, [1, 1, 1, 1, 0]);
}
