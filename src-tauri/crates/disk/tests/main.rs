//! The writer of small files.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking"
)]

use disk::{Draft, replace};
use std::io::Write as _;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn invariants_1_and_2_old_bytes_or_new_ones_and_nothing_beside() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("pin");
    replace(&path, b"one").unwrap();
    replace(&path, b"two").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    let mut draft = Draft::beside(&path).unwrap();
    draft.file().write_all(b"half").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    drop(draft);
    assert_eq!(names(folder.path()), ["pin"]);
    // A folder stands where the file goes.
    std::fs::create_dir(folder.path().join("taken")).unwrap();
    assert!(replace(&folder.path().join("taken"), b"x").is_err());
    assert_eq!(names(folder.path()), ["pin", "taken"]);
}

#[cfg(unix)]
#[test]
fn invariant_3_what_is_its_owners_nobody_else_reads_and_links_are_not_followed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::TempDir::new().unwrap();
    let (path, other) = (folder.path().join("token"), folder.path().join("other"));
    std::fs::write(&other, "kept").unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    let draft = Draft::beside(&path).unwrap();
    let temporary = names(folder.path()).into_iter().find(|name| name.ends_with(".part")).unwrap();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&temporary), 0o600);
    draft.replace().unwrap();
    assert_eq!((mode("token"), std::fs::read(&other).unwrap()), (0o600, b"kept".to_vec()));
}

#[test]
fn invariant_4_what_is_there_is_not_replaced() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("proof.zip");
    let draft = || {
        let mut draft = Draft::beside(&path).unwrap();
        draft.file().write_all(b"mine").unwrap();
        draft
    };
    std::fs::write(&path, "yours").unwrap();
    assert_eq!(draft().create().unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"yours");
    std::fs::remove_file(&path).unwrap();
    draft().create().unwrap();
    assert_eq!((std::fs::read(&path).unwrap(), names(folder.path()).len()), (b"mine".to_vec(), 1));
}
