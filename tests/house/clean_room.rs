//! The clean room (`CLEAN_ROOM.md`): nothing of others is in the tree, nothing leads out of it, study material is not built,
//! every package may be depended on, and a copy is found whatever it is called.

use super::syntax::{functions, renamed};
use super::tree::{root, sources};
use provenance::clean_room::packages::{Rules, of_cargo};
use provenance::clean_room::public_code::{Copied, Tree};
use provenance::clean_room::similarity::Studied;
use provenance::clean_room::statement::Statement;
use provenance::clean_room::{foreign, labels, reach};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = "CLEAN_ROOM.md";
const LICENCES: &str = "tests/house/licences.tsv";
const RULES: &str = "tests/house/packages.tsv";
const REQUIREMENTS: &str = "tests/conformance/requirements.tsv";

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

/// What stands against the packages that every lock names; the programs that are built apart have locks of their own.
fn unlicensed(texts: &BTreeMap<&str, &str>) -> Vec<String> {
    let rules = match Rules::read(text(texts, LICENCES), text(texts, RULES)) {
        Ok(rules) => rules,
        Err(why) => return vec![format!("{RULES}: {why}")],
    };
    texts.iter().flat_map(|(path, text)| rules.against(path, text)).collect()
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
        "src-tauri/lamp/Cargo.lock: the list of licences has no line for the crate `lamp`",
    ),
    (
        "tests/lamp/package-lock.json",
        "{\n  \"packages\": {\n    \"node_modules/lamp\": {\n      \"license\": \"GPL-3.0-only\"\n    }\n  }\n}\n",
        "`lamp` is under GPL-3.0-only",
    ),
];

/// Whether each planted file is found in a tree that is clean without it.
pub fn each_planted_is_found(texts: &BTreeMap<&str, &str>) {
    // What the rules read of a tree beside the files themselves; all of it is looked at where it is to be clean.
    let rules = ["Cargo.lock", LICENCES, RULES, PAGE, REQUIREMENTS];
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
        (RULES, "once\trusqlite\t", "once\tsha2\t", "the crate `sha2` is there as"),
        (RULES, "never\topenssl-sys\t", "never\tsha2\t", "`sha2` may not be depended on"),
        (RULES, "once\trusqlite\t", "often\trusqlite\t", "is no rule"),
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

/// The crates of others that a manifest leads to on this system, as cargo tells; none where this machine lacks some of them.
fn packages_of(manifest: &Path) -> Option<Vec<cargo_metadata::Package>> {
    let told = Command::new("rustc").arg("-vV").output().expect("rustc");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let triple = told.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc says its host");
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(manifest)
        .other_options(["--offline", "--filter-platform", triple].map(str::to_owned).to_vec())
        .exec()
        .ok()?;
    Some(metadata.packages.into_iter().filter(|package| package.source.is_some()).collect())
}

/// Bytes of packages that are held against the tree, which bounds the time that this takes, and of one file: what is larger is a table.
const PUBLIC_BYTES_MAX: u64 = 1 << 30;
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Whether a file is code that is compared, by its name.
fn is_code(name: &str) -> bool {
    [".rs", ".ts", ".tsx", ".js", ".mjs", ".cjs"].iter().any(|end| name.ends_with(end))
}

/// Files of code below a folder, with their bytes; no link is followed.
fn code_below(folder: &Path, found: &mut Vec<(PathBuf, u64)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
        if kind.is_dir() {
            code_below(&entry.path(), found);
        } else if kind.is_file()
            && is_code(&name.to_string_lossy())
            && let Ok(about) = entry.metadata()
            && about.len() <= FILE_BYTES_MAX
        {
            found.push((entry.path(), about.len()));
        }
    }
}

/// Code of everything that is depended on, as it lies on this machine: each crate of every lock, and what npm has put here. None where
/// not every crate of this workspace is here: those of the desktop app alone come only to a machine that builds it.
fn public_code(texts: &BTreeMap<&str, &str>) -> Option<Vec<PathBuf>> {
    let mut folders = BTreeSet::new();
    let own = packages_of(&root().join("Cargo.toml"))?;
    let locks = texts.keys().filter_map(|path| path.strip_suffix("/Cargo.lock"));
    let others = locks.filter_map(|folder| packages_of(&root().join(folder).join("Cargo.toml")));
    for package in own.into_iter().chain(others.flatten()) {
        folders.extend(package.manifest_path.as_std_path().parent().map(Path::to_owned));
    }
    folders.insert(root().join("node_modules"));
    let mut found = Vec::new();
    for folder in folders {
        code_below(&folder, &mut found);
    }
    let bytes: u64 = found.iter().map(|(_, bytes)| bytes).sum();
    assert!(bytes <= PUBLIC_BYTES_MAX, "{bytes} bytes of packages are too many to compare; leave some out");
    Some(found.into_iter().map(|(path, _)| path).collect())
}

/// What of a tree stands in these files, one sentence each.
fn copied(tree: &Tree<'_>, files: &[PathBuf]) -> Vec<String> {
    let each = |file: &PathBuf| -> Vec<String> {
        let found = fs::read_to_string(file).map(|text| tree.copied(&text)).unwrap_or_default();
        let path = file.display();
        let says = |one: Copied| {
            format!("{}:{} stands in {path}:{} ({} tokens)", one.name, one.line, one.from_line, one.tokens)
        };
        found.into_iter().map(says).collect()
    };
    let (one, other) = files.split_at(files.len() / 2);
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| one.iter().flat_map(each).collect::<Vec<String>>());
        let mut found: Vec<String> = other.iter().flat_map(each).collect();
        found.extend(beside.join().expect("it compares"));
        found
    })
}

/// What carries no notice is found as well, where it is from what this tree depends on.
#[conforms::conforms(part = "HV-1-4", part = "HV-7-4")]
#[test]
fn no_function_of_what_is_depended_on_stands_in_this_tree_and_one_that_is_put_there_is_found() {
    let texts = here();
    let Some(files) = public_code(&texts) else {
        return conforms::skip("not every crate of the lock is here; `cargo fetch --locked` brings them");
    };
    assert!(files.len() > 1_000, "the packages are not here: {}", files.len());
    let mut tree = Tree::default();
    for (path, text) in &texts {
        if is_code(path) && !path.contains("/generated/") {
            tree.add(path, text);
        }
    }
    let found = copied(&tree, &files);
    assert!(found.is_empty(), "write these from the specification:\n{}", found.join("\n"));

    // Files of packages that have a function of 30 lines, with every name changed and without a comment, as if they were ours.
    let is_long = |(_, lines): &(String, usize)| (30..80).contains(lines);
    let (mut planted, mut seen) = (0_usize, 0_usize);
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "rs")).step_by(23) {
        let Ok(text) = fs::read_to_string(file) else { continue };
        if text.len() > 40_000 || syn::parse_file(&text).is_err() || !functions(&text).iter().any(is_long) {
            continue;
        }
        let disguised = renamed(&text);
        let mut tree = Tree::default();
        tree.add("planted.rs", &disguised);
        planted += 1;
        seen += usize::from(!tree.copied(&text).is_empty());
        if planted == 40 {
            break;
        }
    }
    assert!(planted >= 20 && seen * 3 >= planted * 2, "{seen} of {planted} were found");
}

/// The lists against what cargo says of the crates that this machine has; what it has not is held against the lists alone.
#[test]
fn the_list_of_licences_says_what_the_crates_say_of_themselves() {
    let texts = here();
    let rules = Rules::read(text(&texts, LICENCES), text(&texts, RULES)).expect("the lists");
    let locks: Vec<&str> =
        texts.iter().filter(|(path, _)| path.ends_with("Cargo.lock")).map(|(_, text)| *text).collect();
    let there: BTreeSet<String> =
        locks.iter().flat_map(|lock| of_cargo(lock)).map(|package| package.name).collect();
    let stale: Vec<&str> =
        rules.licensed().chain(rules.once()).filter(|name| !there.contains(*name)).collect();
    assert!(stale.is_empty(), "{LICENCES} or {RULES} names crates that are gone: {stale:?}");
    let Some(packages) = packages_of(&root().join("Cargo.toml")) else { return };
    let mut differ = Vec::new();
    for package in &packages {
        let name: &str = &package.name;
        let (said, line) = (package.license.as_deref().unwrap_or("none"), rules.licence(name));
        if line.is_none_or(|line| licences(line) != licences(said)) {
            differ.push(format!("{name}\t{said}"));
        }
    }
    assert!(differ.is_empty(), "give {LICENCES} these lines:\n{}", differ.join("\n"));
}
