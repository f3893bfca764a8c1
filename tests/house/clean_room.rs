//! The clean room (`CLEAN_ROOM.md`): nothing of others is in the tree, nothing leads out of it, study material is not built,
//! every package may be depended on, and a copy is found whatever it is called.

use super::syntax::renamed;
use super::tree::{root, sources};
use provenance::clean_room::similarity::Studied;
use provenance::clean_room::statement::Statement;
use provenance::clean_room::{foreign, labels, reach};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

const PAGE: &str = "CLEAN_ROOM.md";
const LICENCES: &str = "tests/house/licences.tsv";
const REQUIREMENTS: &str = "tests/conformance/requirements.tsv";

/// Packages whose manifest names a file in the place of a licence, with what that file says.
const READ: [(&str, &str); 3] = [
    ("@modelcontextprotocol/server-everything", "MIT, and Apache-2.0 for what is newer"),
    ("@modelcontextprotocol/server-filesystem", "MIT, and Apache-2.0 for what is newer"),
    ("@modelcontextprotocol/server-memory", "MIT, and Apache-2.0 for what is newer"),
];

/// What stands against the rule in a tree of these texts, one sentence each.
pub fn findings(texts: &BTreeMap<&str, &str>) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(labels::refusal(texts.keys().copied()));
    for (path, text) in texts {
        found.extend(reach::leaving(path, text).iter().map(|to| format!("{path} leads to `{to}`")));
        found.extend(foreign::notices(path, text).iter().map(|line| format!("{path}:{line}")));
        if foreign::is_taken(path) {
            found.push(format!("{path} lies where what was taken from elsewhere lies"));
        }
    }
    found.extend(unlicensed(texts));
    found.extend(unsaid(texts));
    found
}

fn text<'a>(texts: &BTreeMap<&str, &'a str>, path: &str) -> &'a str {
    texts.get(path).copied().unwrap_or_default()
}

/// Packages that may not be depended on, or of which nobody said under which licence they are.
fn unlicensed(texts: &BTreeMap<&str, &str>) -> Vec<String> {
    let listed = listed(text(texts, LICENCES));
    let named =
        |name: &'static str| texts.iter().filter(move |(path, _)| path.rsplit('/').next() == Some(name));
    let mut found = Vec::new();
    // The programs that are built apart have locks of their own.
    for (path, text) in named("Cargo.lock") {
        let lock: toml::Table = text.parse().expect("a lock is TOML");
        let crates = lock.get("package").and_then(|all| all.as_array()).into_iter().flatten();
        for one in crates {
            let word = |key: &str| one.get(key).and_then(|value| value.as_str());
            let (Some(name), Some(from)) = (word("name"), word("source")) else { continue };
            if !from.starts_with("registry+") {
                found.push(format!("{path}: the crate `{name}` is no package of a registry"));
            }
            match listed.get(name) {
                None => found.push(format!("{path}: {LICENCES} has no line for the crate `{name}`")),
                Some(licence) if !foreign::is_permitted(licence) => {
                    found.push(format!(
                        "{path}: the crate `{name}` is under {licence}, which is not permitted"
                    ));
                }
                Some(_) => {}
            }
        }
    }
    for (path, text) in named("package-lock.json") {
        let lock: serde_json::Value = serde_json::from_str(text).expect("a lock is JSON");
        for (place, package) in lock["packages"].as_object().into_iter().flatten() {
            let name = place.rsplit("node_modules/").next().unwrap_or_default();
            let licence = package["license"].as_str().unwrap_or("no licence");
            if !foreign::is_permitted(licence) && !READ.iter().any(|(read, _)| *read == name) {
                found.push(format!("{path}: `{name}` is under {licence}, which is not permitted"));
            }
        }
    }
    found
}

fn listed(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t')).collect()
}

/// What the page lacks: the statement of the tree, or what a room was written from.
fn unsaid(texts: &BTreeMap<&str, &str>) -> Vec<String> {
    let page = text(texts, PAGE);
    let mut found = Vec::new();
    let statement = page.split_once("## Statement of this tree").map_or("", |(_, rest)| rest);
    if let Err(why) = Statement::read(statement) {
        found.push(format!("{PAGE}: {why}"));
    }
    let ids: Vec<&str> =
        text(texts, REQUIREMENTS).lines().filter_map(|line| line.split('\t').next()).collect();
    let rows: BTreeMap<&str, &str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .map(|(room, from)| (room, from.trim_end_matches(" |")))
        .collect();
    // Rooms, and the programs beside them that are built apart.
    let manifests = texts.keys().filter_map(|path| {
        let below = path.strip_prefix("src-tauri/")?.strip_suffix("/Cargo.toml")?;
        let room = below.strip_prefix("crates/").unwrap_or(below);
        (!room.contains('/')).then_some(room)
    });
    for room in manifests.chain(["desktop", "tests"]) {
        let Some(from) = rows.get(room) else {
            found.push(format!("{PAGE} does not say what `{room}` was written from"));
            continue;
        };
        for one in from.split(", ").filter(|one| !is_said(one, &ids)) {
            found.push(format!(
                "{PAGE}: `{room}` is written from `{one}`, which is no requirement and no contract"
            ));
        }
    }
    for file in page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()) {
        if file.contains('/') && !root().join(file).is_file() {
            found.push(format!("{PAGE} names `{file}`, which is not there"));
        }
    }
    found
}

/// Whether a name is that of requirements, up to a section, or of a contract with its section.
fn is_said(name: &str, ids: &[&str]) -> bool {
    let contract = name.split(' ').next().unwrap_or_default();
    let below =
        |id: &&str| id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']));
    contract.ends_with(".md") || ids.iter().any(below)
}

/// The texts of this checkout, by path.
fn here() -> BTreeMap<&'static str, &'static str> {
    sources().iter().map(|source| (source.path.as_str(), source.text.as_str())).collect()
}

#[conforms::conforms(part = "HV-1-4", part = "HV-7-4")]
#[test]
fn this_tree_keeps_to_the_clean_room() {
    let found = findings(&here());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Every way that somebody's code comes into a tree, put into this one.
const PLANTED: [(&str, &str, &str); 13] = [
    ("study/lamp/fold.rs", "fn fold() {}", "`study/` is labelled"),
    ("src-tauri/crates/seal/src/fold/STUDY", "name: lamp", "`src-tauri/crates/seal/src/fold/` is labelled"),
    ("src-tauri/crates/seal/src/fold.rs", "include!(\"../../../../../lamp/fold.rs\");", "leads to"),
    ("src-tauri/crates/seal/build.rs", "fn main() { copy(\"../../../../lamp\"); }", "leads to"),
    ("src-tauri/crates/lamp/Cargo.toml", "fold = { path = \"../../../../lamp\" }", "leads to"),
    ("ui/tsconfig.lamp.json", "{ \"paths\": { \"lamp\": [\"../../lamp\"] } }", "leads to"),
    ("ui/src/fold.ts", "export * from \"../../../lamp/fold\";", "leads to"),
    ("ui/src/fold.ts", concat!("// Copyright", " (c) 2020 A. Lamp"), "A. Lamp"),
    ("ui/vendor/lamp.ts", "export const lamp = 1;", "taken from elsewhere"),
    ("src-tauri/crates/lamp/Cargo.toml", "[package]", "does not say what `lamp` was written from"),
    ("src-tauri/lamp/Cargo.toml", "[package]", "does not say what `lamp` was written from"),
    (
        "src-tauri/lamp/Cargo.lock",
        "[[package]]\nname = \"lamp\"\nsource = \"registry+lamps\"\n",
        "src-tauri/lamp/Cargo.lock: tests/house/licences.tsv has no line for the crate `lamp`",
    ),
    (
        "tests/lamp/package-lock.json",
        "{ \"packages\": { \"node_modules/lamp\": { \"license\": \"GPL-3.0-only\" } } }",
        "GPL-3.0-only",
    ),
];

/// Whether each planted file is found in a tree that is clean without it.
pub fn each_planted_is_found(texts: &BTreeMap<&str, &str>) {
    // What the rules read of a tree beside the files themselves; all of it is looked at where it is to be clean.
    let rules = ["Cargo.lock", LICENCES, PAGE, REQUIREMENTS];
    let texts = texts.iter().filter(|(path, _)| rules.contains(path) || path.ends_with("/Cargo.toml"));
    let texts: &BTreeMap<&str, &str> = &texts.map(|(path, text)| (*path, *text)).collect();
    assert_eq!(findings(texts), Vec::<String>::new());
    for (path, text, says) in PLANTED {
        let mut with = texts.clone();
        with.insert(path, text);
        let found = findings(&with);
        assert!(found.iter().any(|found| found.contains(says)), "{path}: {found:?}");
    }
    for (path, from, to, says) in [
        ("Cargo.lock", "name = \"sha2\"", "name = \"lamp\"", "no line for the crate `lamp`"),
        (LICENCES, "sha2\tMIT OR Apache-2.0", "sha2\tGPL-2.0-only", "`sha2` is under GPL-2.0-only"),
        (
            PAGE,
            "Copied: nothing\nAdds: nothing\n```\n\n| room",
            "Copied: lamp\nAdds: nothing\n```\n\n| room",
            "`lamp` is copied",
        ),
        (PAGE, "| `seal` | ", "| `seal` | a good idea, ", "`a good idea`"),
    ] {
        let changed = text(texts, path).replacen(from, to, 1);
        assert_ne!(changed, text(texts, path), "{path} has no `{from}`");
        let mut with = texts.clone();
        with.insert(path, &changed);
        let found = findings(&with);
        assert!(found.iter().any(|found| found.contains(says)), "{path}: {found:?}");
    }
}

#[test]
fn whatever_is_planted_in_this_tree_is_found() {
    each_planted_is_found(&here());
}

/// Whether copies of one file of a tree in another are found: as it is, and with every name of its own changed.
pub fn copies_are_found(texts: &BTreeMap<&str, &str>) {
    let (studied, other) = (
        text(texts, "src-tauri/crates/lineage/src/layout.rs"),
        text(texts, "src-tauri/crates/seal/src/note.rs"),
    );
    let mut known = Studied::default();
    assert!(known.add("lamp/layout.rs", studied), "it is not too much");
    assert_eq!(known.passages(other), Vec::new(), "two files that nobody copied from each other");
    let disguised = renamed(studied);
    assert!(!disguised.contains("Layout") && disguised.lines().count() < studied.lines().count());
    for copied in [studied, disguised.as_str()] {
        let passages = known.passages(&format!("{other}\n{copied}\n"));
        let longest = passages.iter().map(|passage| passage.tokens).max();
        assert!(longest.is_some_and(|tokens| tokens > 100), "{passages:?}");
        let begins = other.lines().count();
        assert!(
            passages.iter().all(|one| one.line >= begins && one.from == "lamp/layout.rs"),
            "{passages:?}"
        );
    }
}

#[test]
fn a_copy_in_this_tree_is_found_whatever_its_names_are() {
    copies_are_found(&here());
}

/// The words of a licence expression that are licences.
fn licences(expression: &str) -> BTreeSet<String> {
    let words = expression.replace(['/', '(', ')'], " ");
    words.split_whitespace().filter(|word| !["OR", "AND", "WITH"].contains(word)).map(str::to_owned).collect()
}

/// The list against what cargo says of the crates that this machine has; what it has not is held against the list alone.
#[test]
fn the_list_of_licences_says_what_the_crates_say_of_themselves() {
    let text = fs::read_to_string(root().join(LICENCES)).expect("the list");
    let listed = listed(&text);
    let told = Command::new("rustc").arg("-vV").output().expect("rustc");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let triple = told.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc says its host");
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--offline", "--filter-platform", triple].map(str::to_owned).to_vec())
        .exec();
    let Ok(metadata) = metadata else { return };
    let mut differ = Vec::new();
    for package in metadata.packages.iter().filter(|package| package.source.is_some()) {
        let name: &str = &package.name;
        let (said, line) = (package.license.as_deref().unwrap_or("none"), listed.get(name));
        if line.is_none_or(|line| licences(line) != licences(said)) {
            differ.push(format!("{name}\t{said}"));
        }
    }
    assert!(differ.is_empty(), "give {LICENCES} these lines:\n{}", differ.join("\n"));
    let stale: Vec<&str> = {
        let locks: Vec<&str> = here()
            .into_iter()
            .filter(|(path, _)| path.ends_with("Cargo.lock"))
            .map(|(_, text)| text)
            .collect();
        let there = |name: &str| locks.iter().any(|lock| lock.contains(&format!("\nname = \"{name}\"\n")));
        listed.keys().copied().filter(|name| !there(name)).collect()
    };
    assert!(stale.is_empty(), "{LICENCES} names crates that are gone: {stale:?}");
}
