//! Nothing stands unused: no door that nobody goes through, no public name that nobody says, no event that nothing makes.

use super::doors::allowed;
use super::syntax::production_words;
use super::tree::{Source, rooms, short, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Events that nothing makes yet: type, and the issue that will.
const NOT_MADE: [(&str, &str); 1] = [("IdentityPublished", "17")];

/// Public names that only tests say, each with what a test could not do without it.
const FOR_TESTS: &str = include_str!("for_tests.tsv");

/// Sources of a room's product: no tests, no helpers of tests.
fn of_product(source: &Source) -> bool {
    let workshop = ["testkit", "conforms", "conforms-mark", "xtask"];
    // Programs beside the rooms that say names of theirs.
    let in_shell = ["src-tauri/src/", "src-tauri/trainer/src/"].iter().any(|at| source.path.starts_with(at));
    source.is_rust()
        && !source.path.contains("/tests/")
        && !source.path.ends_with("tests.rs")
        && (in_shell || source.room().is_some_and(|room| !workshop.contains(&room)))
}

/// How often each name is said in the product, outside comments and unit tests.
fn said() -> BTreeMap<String, usize> {
    let mut said = BTreeMap::new();
    for source in sources().iter().filter(|source| of_product(source)) {
        for word in production_words(&source.text) {
            *said.entry(word).or_default() += 1;
        }
    }
    said
}

#[test]
fn every_door_is_gone_through() {
    let mut found = Vec::new();
    for room in rooms().iter().filter(|room| !matches!(room.name.as_str(), "tests" | "conforms")) {
        let folder = if room.name == "desktop" {
            "src-tauri/src/".to_owned()
        } else {
            format!("{}/src/", room.folder)
        };
        let of_room = sources().iter().filter(|source| source.is_rust() && source.path.starts_with(&folder));
        let words: BTreeSet<String> = of_room.flat_map(|source| production_words(&source.text)).collect();
        let needed: Vec<String> = room.needs.iter().map(|need| short(need)).collect();
        let shut = allowed(&room.name).into_iter().filter(|to| !needed.contains(to));
        found.extend(shut.map(|to| format!("`{}` may need `{to}` and does not; shut the door", room.name)));
        for need in room.needs.iter().filter(|need| need.starts_with("hermit-")) {
            let name = short(need).replace('-', "_");
            if !words.contains(&name) && !words.contains(&format!("hermit_{name}")) {
                found.push(format!("`{}` has a door to `{name}` and never goes through it", room.name));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_public_name_is_said_somewhere() {
    let said = said();
    let listed: BTreeSet<&str> = FOR_TESTS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| line.split('\t').next())
        .collect();
    let mut found = Vec::new();
    let mut unused = BTreeSet::new();
    for source in sources().iter().filter(|source| of_product(source)) {
        for name in public_names(&source.text) {
            if said.get(&name).is_none_or(|times| *times < 2) {
                if !listed.contains(name.as_str()) {
                    found.push(format!("{}: nothing in the product says `{name}`", source.path));
                }
                unused.insert(name);
            }
        }
    }
    let gone = listed.iter().filter(|name| !unused.contains(**name));
    found.extend(
        gone.map(|name| format!("`{name}` is used now, or gone; take its line out of for_tests.tsv")),
    );
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Names that a file makes public to other rooms.
fn public_names(text: &str) -> Vec<String> {
    let kinds = ["fn", "struct", "enum", "const", "static", "trait", "type"];
    let public = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub "));
    let named = public.filter_map(|rest| {
        let mut words = rest.split([' ', '(', '<', ':', ';', '=']).skip_while(|word| {
            matches!(*word, "async" | "unsafe") || *word == "const" && rest.starts_with("const fn")
        });
        kinds.contains(&words.next()?).then(|| words.next().map(str::to_owned)).flatten()
    });
    named.filter(|name| !name.is_empty() && !name.starts_with('$')).collect()
}

/// Names of the events, as the registry spells them.
fn events() -> BTreeSet<String> {
    let registry = sources().iter().filter(|source| source.path.contains("model/src/body"));
    let events = registry.flat_map(|source| source.text.lines()).filter_map(|line| {
        let (name, rest) = line.trim_start().split_once(" (\"")?;
        (name.starts_with(char::is_uppercase) && rest.contains('.')).then(|| name.to_owned())
    });
    let events: BTreeSet<String> = events.collect();
    assert!(events.len() >= 100, "the registry was read: {}", events.len());
    events
}

/// Whether a text makes an event of this name.
fn makes(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let line = line.split("//").next().unwrap_or_default();
        line.match_indices(&format!("{name} {{")).any(|(at, _)| {
            let before = &line[..at];
            !before.ends_with(|c: char| c.is_alphanumeric() || c == '_') && !before.ends_with("Body::")
        })
    })
}

#[test]
fn every_event_is_made_by_something_or_says_by_which_issue() {
    let events = events();
    let made = |name: &str| {
        let mut product = sources().iter().filter(|s| of_product(s) && s.room() != Some("model"));
        product.any(|source| makes(&source.text, name))
    };
    let idle: BTreeSet<&str> = events.iter().map(String::as_str).filter(|name| !made(name)).collect();
    let listed: BTreeSet<&str> = NOT_MADE.iter().map(|(name, _)| *name).collect();
    assert_eq!(idle, listed, "left: events that nothing makes; right: those that are known");
}

/// What each file of the kernel may write: path below `kernel/src`, and its events.
const WRITES: &str = include_str!("writes.tsv");

/// A command is bounded by what it may write, and that stands in one table.
#[test]
fn each_file_of_the_kernel_writes_the_events_of_its_row() {
    let events = events();
    let mut found = BTreeMap::new();
    for source in sources().iter().filter(|s| of_product(s) && s.room() == Some("kernel")) {
        let made: Vec<&str> = events.iter().map(String::as_str).filter(|e| makes(&source.text, e)).collect();
        let path = source.path.split("kernel/src/").nth(1).unwrap_or_default();
        if !made.is_empty() {
            found.insert(path.to_owned(), made.join(" "));
        }
    }
    let rows = WRITES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    let rows: BTreeMap<String, String> = rows.map(|(p, e)| (p.to_owned(), e.to_owned())).collect();
    let text: Vec<String> = found.iter().map(|(path, events)| format!("{path}\t{events}")).collect();
    assert!(found == rows, "writes.tsv has other rows; what the sources say:\n{}", text.join("\n"));
}

#[test]
fn a_public_name_is_found_in_every_form() {
    let text = "pub fn a() {}\n    pub const fn b(&self) {}\npub struct C<T>(T);\npub const D: u8 = 1;\npub(crate) fn e() {}\n\
                pub async fn f() {}\npub type G = u8;\nfn h() {}\npub mod i;\n";
    assert_eq!(public_names(text), ["a", "b", "C", "D", "f", "G"]);
}
