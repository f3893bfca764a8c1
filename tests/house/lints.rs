//! The lints of the house stand once, in the workspace, and every room takes them.

use super::tree::{rooms, root, sources};
use std::fs;
use toml::Table;

/// What the compiler, rustdoc and clippy refuse in the whole house (house.md 5).
const WANTED: [(&str, &str, &str); 14] = [
    ("rust", "unsafe_code", "forbid"),
    ("rust", "missing_docs", "warn"),
    ("rust", "unused_must_use", "deny"),
    ("rustdoc", "all", "deny"),
    ("clippy", "all", "deny"),
    ("clippy", "unwrap_used", "deny"),
    ("clippy", "expect_used", "deny"),
    ("clippy", "panic", "deny"),
    ("clippy", "indexing_slicing", "deny"),
    ("clippy", "string_slice", "deny"),
    ("clippy", "unreachable", "deny"),
    ("clippy", "todo", "deny"),
    ("clippy", "dbg_macro", "deny"),
    ("clippy", "allow_attributes_without_reason", "deny"),
];

/// Rooms that have lints of their own, and why.
const OTHERWISE: [(&str, &str); 4] = [
    ("testkit", "what only tests use may fail by a panic"),
    ("xtask", "a chore that cannot go on stops, and tells so"),
    ("tests", "a test fails by a panic"),
    (UNSAFE, "what Windows is asked by pointers is unsafe; five files have leave for it"),
];

/// The one room that may have unsafe calls.
const UNSAFE: &str = "win32";

fn read(path: &str) -> Table {
    fs::read_to_string(root().join(path)).expect("a manifest").parse().expect("a manifest is TOML")
}

/// The level of a lint: a word, or a table with one.
fn level<'a>(lints: &'a Table, tool: &str, lint: &str) -> Option<&'a str> {
    let set = lints.get(tool)?.get(lint)?;
    set.as_str().or_else(|| set.get("level")?.as_str())
}

/// What a lint table lacks.
fn lacking(lints: &Table) -> Vec<String> {
    let lacks = |(tool, lint, wanted): &&(&str, &str, &str)| level(lints, tool, lint) != Some(*wanted);
    WANTED.iter().filter(lacks).map(|(tool, lint, wanted)| format!("{tool}: {lint} = {wanted}")).collect()
}

#[test]
fn the_lints_of_the_house_are_in_force_in_every_room() {
    let workspace = read("Cargo.toml");
    let lints = workspace.get("workspace").and_then(|w| w.get("lints")).and_then(|l| l.as_table());
    let missing = lacking(lints.expect("a table of lints"));
    assert!(missing.is_empty(), "[workspace.lints] lacks:\n{}", missing.join("\n"));
    let checked = workspace.get("profile").and_then(|p| p.get("release")?.get("overflow-checks")?.as_bool());
    assert_eq!(checked, Some(true), "a number that overflows in a released program is an error");
    let takes = |folder: &str| {
        read(&format!("{folder}/Cargo.toml")).get("lints").and_then(|l| l.get("workspace")?.as_bool())
    };
    let own: Vec<&str> =
        rooms().iter().filter(|r| takes(&r.folder) != Some(true)).map(|r| r.name.as_str()).collect();
    let mut named = OTHERWISE.map(|(room, _)| room).to_vec();
    let mut found = own;
    named.sort_unstable();
    found.sort_unstable();
    assert_eq!(
        found, named,
        "rooms without `[lints] workspace = true`, and those that are named with a reason"
    );
}

#[test]
fn the_one_room_with_unsafe_calls_is_as_strict_in_all_else_and_has_them_in_five_files() {
    let manifest = read(&format!("src-tauri/crates/{UNSAFE}/Cargo.toml"));
    let lints = manifest.get("lints").and_then(|l| l.as_table()).expect("a table of lints");
    assert_eq!(lacking(lints), ["rust: unsafe_code = forbid"]);
    assert_eq!(level(lints, "rust", "unsafe_code"), Some("deny"));
    assert_eq!(level(lints, "clippy", "undocumented_unsafe_blocks"), Some("deny"));
    let has_leave: Vec<&str> = sources()
        .iter()
        .filter(|source| source.room() == Some(UNSAFE))
        .filter(|source| source.text.split_whitespace().collect::<String>().contains("allow(unsafe_code"))
        .map(|source| source.path.as_str())
        .collect();
    let named = ["calls", "confining", "lending", "pipes", "standing"];
    assert_eq!(has_leave, named.map(|name| format!("src-tauri/crates/{UNSAFE}/src/{name}.rs")));
    for path in has_leave {
        let calls = sources().iter().find(|source| source.path == path).expect("its source");
        let blocks = calls.text.matches("unsafe {").count();
        let reasons = calls.text.matches("// SAFETY: ").count();
        assert!(
            blocks > 5 && blocks == reasons,
            "{path}: {blocks} blocks that are unsafe, {reasons} reasons"
        );
    }
}

#[test]
fn a_lint_that_is_missing_or_weaker_is_found() {
    let table: Table =
        "[rust]\nunsafe_code = \"deny\"\n[clippy]\nall = { level = \"deny\", priority = -1 }\n"
            .parse()
            .expect("TOML");
    let missing = lacking(&table);
    assert!(missing.contains(&"rust: unsafe_code = forbid".to_owned()), "{missing:?}");
    assert!(missing.contains(&"clippy: panic = deny".to_owned()), "{missing:?}");
    assert!(!missing.contains(&"clippy: all = deny".to_owned()), "{missing:?}");
}
