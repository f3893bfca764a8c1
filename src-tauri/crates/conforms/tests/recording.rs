//! The attribute as a room uses it: this binary runs itself again with the variable set and reads what it left.
//! Section 0 is no section of any document: the report knows these ids are the attribute's own.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that starts itself again")]

use std::fs;
use std::process::Command;

#[conforms::conforms("HK-0-1", part = "RX-0-2b")]
#[test]
fn passing_leaves_its_ids() {
    if inner() {
        return;
    }
    let left = run("passing_leaves_its_ids", "");
    assert!(left.0, "the inner run should pass");
    assert_eq!(
        left.1,
        [
            "HK-0-1\trecording::passing_leaves_its_ids\thermit-conforms\twhole",
            "RX-0-2b\trecording::passing_leaves_its_ids\thermit-conforms\tpart",
        ]
    );
}

#[conforms::conforms("HK-0-2")]
#[test]
fn panicking_leaves_nothing() {
    assert!(!inner(), "this half fails on purpose, inside the inner run only");
    let left = run("panicking_leaves_nothing", "");
    assert!(!left.0, "the inner run should fail");
    assert_eq!(left.1, Vec::<String>::new());
}

#[conforms::conforms("HK-0-3")]
#[test]
fn skipping_leaves_its_reason_and_no_id() {
    if inner() {
        return conforms::skip("it asks for\ta moon");
    }
    let left = run("skipping_leaves_its_reason_and_no_id", "must");
    assert!(left.0, "what no set-up installs is never a failure");
    assert_eq!(left.1, ["recording::skipping_leaves_its_reason_and_no_id\tit asks for a moon"]);
}

#[conforms::conforms("HK-0-4")]
#[test]
fn lacking_a_part_is_a_skip_at_a_desk_and_a_failure_where_all_can_be_installed() {
    if inner() {
        return conforms::lacks("a tool");
    }
    let name = "lacking_a_part_is_a_skip_at_a_desk_and_a_failure_where_all_can_be_installed";
    let left = run(name, "");
    assert!(left.0, "the inner run should pass");
    assert_eq!(left.1, [format!("recording::{name}\ta tool is not here")]);
    assert_eq!(run(name, "must"), (false, Vec::new()));
}

fn inner() -> bool {
    std::env::var_os("CONFORMS_INNER").is_some()
}

/// Runs one test of this binary with a fresh folder and the word for what must be here; whether it passed, and the sorted lines it left.
fn run(test: &str, tools: &str) -> (bool, Vec<String>) {
    let dir =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env("CONFORMS_INNER", "1")
        .env("HERMIT_STOCK_TOOLS", tools)
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
