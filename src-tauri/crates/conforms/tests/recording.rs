//! The attribute as a room uses it: this binary runs itself again with the variable set and reads what it left.
//! Section 0 is no section of any document: the report knows these ids are the attribute's own.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that starts itself again")]

use std::fs;
use std::process::Command;

#[conforms::conforms("HK-0-1", "RX-0-2b")]
#[test]
fn passing_leaves_its_ids() {
    if inner() {
        // An early return is a pass too: the ids must still be left.
        return;
    }
    let left = run("passing_leaves_its_ids");
    assert!(left.0, "the inner run should pass");
    assert_eq!(
        left.1,
        ["HK-0-1\trecording::passing_leaves_its_ids", "RX-0-2b\trecording::passing_leaves_its_ids"]
    );
}

#[conforms::conforms("HK-0-2")]
#[test]
fn panicking_leaves_nothing() {
    assert!(!inner(), "this half fails on purpose, inside the inner run only");
    let left = run("panicking_leaves_nothing");
    assert!(!left.0, "the inner run should fail");
    assert_eq!(left.1, Vec::<String>::new());
}

fn inner() -> bool {
    std::env::var_os("CONFORMS_INNER").is_some()
}

/// Runs one test of this binary with a fresh folder; whether it passed, and the sorted lines it left.
fn run(test: &str) -> (bool, Vec<String>) {
    let dir =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env("CONFORMS_INNER", "1")
        .env("HERMIT_CONFORMANCE_DIR", &dir)
        .output()
        .unwrap();
    let mut lines = Vec::new();
    for entry in fs::read_dir(&dir).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        lines.extend(text.lines().map(str::to_owned));
    }
    lines.sort();
    fs::remove_dir_all(&dir).unwrap();
    (status.status.success(), lines)
}
