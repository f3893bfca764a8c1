//! A landed migration of the ledger or the run stream never changes: its bytes are frozen in `migrations.sha256`.
//! Those of the projections may: their tables are dropped and folded anew.

use super::tree::root;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs;

/// What is wrong, given the frozen digests and the files as they are; one sentence each, with the way out.
fn broken(frozen: &BTreeMap<String, String>, standing: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (path, digest) in frozen {
        match standing.get(path) {
            Some(now) if now == digest => {}
            Some(_) => {
                found.push(format!("`{path}` has landed and was changed; undo that and add a new file"))
            }
            None => found.push(format!("`{path}` has landed and is gone; bring it back")),
        }
    }
    for (path, digest) in standing.iter().filter(|(p, _)| !frozen.contains_key(*p)) {
        found.push(format!(
            "`{path}` is new; add this line to tests/house/migrations.sha256:\n{digest}  {path}"
        ));
    }
    found
}

fn frozen() -> BTreeMap<String, String> {
    let lines = include_str!("migrations.sha256").lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|line| {
            let (digest, path) = line.split_once("  ").expect("a line is `digest  path`");
            (path.to_owned(), digest.to_owned())
        })
        .collect()
}

fn standing() -> BTreeMap<String, String> {
    let rooms = ["migrations/ledger", "migrations/runstream"];
    let folders = rooms.into_iter().filter_map(|room| Some((room, fs::read_dir(root().join(room)).ok()?)));
    folders
        .flat_map(|(room, folder)| folder.map(move |entry| (room, entry.expect("the folder can be listed"))))
        .filter(|(_, entry)| entry.path().extension().is_some_and(|e| e == "sql"))
        .map(|(room, entry)| {
            let name = format!("{room}/{}", entry.file_name().to_string_lossy());
            let bytes = fs::read(entry.path()).expect("a migration can be read");
            (name, Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect())
        })
        .collect()
}

#[test]
fn landed_migrations_never_change() {
    let found = broken(&frozen(), &standing());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_changed_a_lost_and_a_new_migration_are_each_found() {
    let map = |path: &str, digest: &str| BTreeMap::from([(path.to_owned(), digest.to_owned())]);
    assert_eq!(broken(&map("a.sql", "1"), &map("a.sql", "1")), Vec::<String>::new());
    for (then, now, says) in [
        (map("a.sql", "1"), map("a.sql", "2"), "was changed"),
        (map("a.sql", "1"), BTreeMap::new(), "is gone"),
        (BTreeMap::new(), map("a.sql", "1"), "is new"),
    ] {
        let found = broken(&then, &now);
        assert!(found.iter().any(|f| f.contains(says)), "{says}: {found:?}");
    }
}
