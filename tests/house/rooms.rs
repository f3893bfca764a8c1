//! Every room is in the README and in the architecture page with its purpose, and opens with its invariants.

use super::tree::{Room, rooms, root, sources};
use std::fs;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// The line of the README that names a room; the purpose is that of its `Cargo.toml`.
fn readme_line(room: &Room) -> String {
    format!("| `{}` | {} |", room.name, room.description)
}

#[test]
fn every_room_has_its_line_in_the_readme() {
    let readme = read("README.md");
    let missing: Vec<_> = rooms().iter().map(readme_line).filter(|line| !readme.contains(line)).collect();
    assert!(missing.is_empty(), "README.md lacks these lines:\n{}", missing.join("\n"));
}

#[test]
fn every_room_has_its_paragraph_in_the_architecture_page() {
    let page = read("src-tauri/ARCHITECTURE.md");
    let has =
        |room: &&Room| page.lines().any(|l| l.starts_with("### ") && l.contains(&format!("`{}`", room.name)));
    let missing: Vec<_> = rooms().iter().filter(|r| !has(r)).map(|r| r.name.as_str()).collect();
    assert!(missing.is_empty(), "src-tauri/ARCHITECTURE.md has no heading `### `room`` for {missing:?}");
}

/// What looks like a path of the repository and is one of the build folder.
const NO_PATHS: [&str; 1] = ["ui/verify.html"];

#[test]
fn every_path_that_a_page_names_is_there() {
    let pages = ["README.md", "src-tauri/ARCHITECTURE.md"];
    // The shell's folder has another name than its room.
    let rooms = rooms().iter().filter(|room| room.folder.ends_with(&room.name)).map(|room| room.name.clone());
    let rooms: Vec<String> = rooms.collect();
    let begins = |path: &str| {
        let first = path.split('/').next().unwrap_or_default();
        ["src-tauri", "crates", "tests", "ui", "migrations"].contains(&first)
            || rooms.iter().any(|r| r == first)
    };
    let there = |path: &str| {
        ["", "src-tauri/", "src-tauri/crates/"]
            .iter()
            .any(|from| root().join(format!("{from}{path}")).exists())
    };
    let mut gone = Vec::new();
    for page in pages {
        let text = read(page);
        let spans = text.split('`').skip(1).step_by(2);
        let paths = spans.filter(|s| s.contains('/') && !s.contains([' ', '*', '<', '{', ':']) && begins(s));
        gone.extend(paths.filter(|p| !NO_PATHS.contains(p) && !there(p)).map(|p| format!("{page}: `{p}`")));
    }
    assert!(gone.is_empty(), "no such file:\n{}", gone.join("\n"));
}

#[test]
fn the_workspace_lists_every_room_with_its_purpose() {
    let manifest = read("Cargo.toml");
    let has = |room: &&Room| {
        let member = format!("\"{}\",", room.folder);
        manifest.lines().any(|l| l.contains(&member) && (room.folder == "tests" || l.contains('#')))
    };
    let missing: Vec<_> = rooms().iter().filter(|r| !has(r)).map(|r| r.name.as_str()).collect();
    assert!(missing.is_empty(), "Cargo.toml lists no purpose for {missing:?}");
}

#[test]
fn the_readme_and_the_front_door_name_the_same_commands() {
    let manifest: serde_json::Value =
        serde_json::from_str(&read("package.json")).expect("package.json is JSON");
    let readme = read("README.md");
    let scripts: Vec<_> = manifest["scripts"].as_object().expect("it has scripts").keys().cloned().collect();
    let spelled =
        |s: &str| if matches!(s, "start" | "test") { format!("npm {s}") } else { format!("npm run {s}") };
    // A chore of one folder, such as `ui:types`, is named in that folder's own README.
    let front = scripts.iter().filter(|s| !s.contains(':'));
    let silent: Vec<_> = front.filter(|s| !readme.contains(&format!("| `{}", spelled(s)))).collect();
    assert!(silent.is_empty(), "the README's table of commands lacks {silent:?}");
    let named = readme.split("npm run ").skip(1).filter_map(|t| t.split([' ', '`', '\n']).next());
    let missing: Vec<_> = named.filter(|n| !scripts.iter().any(|s| s == n)).collect();
    assert!(missing.is_empty(), "the README names scripts that package.json does not have: {missing:?}");
}

/// Every binary of a room with a database links SQLite and the policy engine again; CI has two cores.
#[test]
fn a_room_links_one_test_binary_beside_its_unit_tests() {
    let pure = |room: &&Room| super::doors::ground().contains(&room.name);
    let many: Vec<_> = rooms().iter().filter(|r| !pure(r) && r.test_binaries > 1).map(|r| &r.name).collect();
    assert!(
        many.is_empty(),
        "put `autotests = false` and one [[test]] with modules into the manifests of {many:?}"
    );
}

/// What the opening of a room lacks, given its first doc comment.
fn lacking(opening: &str) -> Vec<&'static str> {
    let text = opening.to_lowercase();
    let mut found = Vec::new();
    for (wanted, name) in [
        ("for", "what it is for"),
        ("must never", "what it must never do"),
        ("invariant", "its invariants"),
        ("1. ", "numbers on its invariants"),
        ("start", "where to start reading"),
    ] {
        if !text.contains(wanted) {
            found.push(name);
        }
    }
    found
}

fn opening(text: &str) -> String {
    text.lines().map_while(|l| l.strip_prefix("//!")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_room_opens_with_its_invariants() {
    let mut found = Vec::new();
    for room in rooms().iter().filter(|r| r.name != "tests") {
        let files = ["lib.rs", "main.rs"].map(|f| format!("{}/src/{f}", room.folder));
        let door = files.iter().find_map(|f| sources().iter().find(|s| s.path == *f));
        let lacks = door.map(|d| lacking(&opening(&d.text)));
        match lacks {
            None => found.push(format!("`{}` has neither src/lib.rs nor src/main.rs", room.name)),
            Some(lacks) if !lacks.is_empty() => {
                found.push(format!("`{}` does not open with {}", room.name, lacks.join(", ")));
            }
            Some(_) => {}
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn an_opening_without_invariants_is_found() {
    assert_eq!(lacking(&opening("//! The ledger.\nuse x;")).len(), 5);
    let whole =
        "//! For events. It must never lie.\n//! Invariants\n//! 1. One writer.\n//! Start with `Writer`.";
    assert_eq!(lacking(&opening(whole)), Vec::<&str>::new());
}
