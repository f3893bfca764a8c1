//! The `#[conforms("ID")]` attribute: a test that passes leaves its ids for the conformance report.
//!
//! # What this room is for
//!
//! `#[conforms::conforms("HK-13.1-1", part = "HK-13.1-2")]` stands above `#[test]`. The test runs as before. When its
//! body has returned (it did not panic) and `HERMIT_CONFORMANCE_DIR` names a folder, one line per id,
//! `ID<TAB>module_path::fn_name<TAB>package<TAB>whole` (or `part`), is appended to a file of that folder, one file for each
//! process. `cargo xtask test` sets the variable and folds the files into `tests/conformance/report.tsv`, so the report
//! counts tests that ran and passed, never names that merely stand in a source.
//!
//! A test that cannot run its body ends with [`skip`] or [`lacks`]: it leaves no id, and a line of its own that is counted.
//!
//! # What it must never do
//!
//! Change what a test checks, or report an id before the body has returned.
//!
//! # Invariants
//!
//! 1. A test that panics leaves no id, nor does one that was skipped, even in part.
//! 2. A line that cannot be written fails the test: missing proof is never silent.
//! 3. Without the variable nothing is written; a skip is still said on the error stream.
//! 4. With `HERMIT_STOCK_TOOLS=must` a test that lacks what set-up installs fails, and with `HERMIT_WALLS=must` one that lacks
//!    the walls of its system.
//!
//! # Where to start reading
//!
//! [`watched`], which the attribute calls.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "test evidence, not a room's own work"
)]
#![allow(clippy::panic, reason = "this room speaks to tests, and a test fails by panicking")]

pub use conforms_mark::conforms;

use std::cell::Cell;
use std::io::Write as _;
use std::path::Path;

/// Where the lines go; the run of all tests sets it.
const FOLDER: &str = "HERMIT_CONFORMANCE_DIR";

thread_local! {
    static IS_SKIPPED: Cell<bool> = const { Cell::new(false) };
}

/// Runs the body of a test and leaves its ids, those it shows whole and those it shows in part, unless it was skipped.
/// The attribute writes the call.
pub fn watched(body: impl FnOnce(), whole: &[&str], parts: &[&str], test: &str, package: &str) {
    IS_SKIPPED.set(false);
    body();
    if !IS_SKIPPED.get() {
        let line = |id: &&str, extent| format!("{id}\t{test}\t{package}\t{extent}\n");
        let lines = whole.iter().map(|id| line(id, "whole")).chain(parts.iter().map(|id| line(id, "part")));
        leave(&format!("{}.tsv", std::process::id()), &lines.collect::<String>(), test);
    }
}

/// Ends the test of this thread unproven, because `why`: it needs what not every machine has, and set-up does not install.
/// What follows is the caller's `return`; the ids are withheld and the skip is counted whatever else the test does.
pub fn skip(why: &str) {
    IS_SKIPPED.set(true);
    let binary = std::env::current_exe().ok();
    let stem = binary.as_deref().and_then(Path::file_stem).unwrap_or_default().to_string_lossy();
    let binary = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name);
    let test = format!("{binary}::{}", std::thread::current().name().unwrap_or("?"));
    let why = why.replace(['\t', '\n'], " ");
    // Not `eprintln!`: the harness would keep it to itself.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
    leave(&format!("{}.skipped", std::process::id()), &format!("{test}\t{why}\n"), &test);
}

/// [`skip`] for what `cargo xtask setup` installs, named as a person would: a failure where all of it must be.
pub fn lacks(part: &str) {
    if std::env::var_os("HERMIT_STOCK_TOOLS").is_some_and(|v| v == "must") {
        panic!("{part} is not here, and here it must be; `cargo xtask setup` installs it");
    }
    skip(&format!("{part} is not here"));
}

/// [`lacks`] for the walls around what agents run: where they must be, a run without them would show nothing.
pub fn lacks_walls(which: &str) {
    if std::env::var_os("HERMIT_WALLS").is_some_and(|v| v == "must") {
        panic!("{which} is not here, and here it must be: this system has no walls without it");
    }
    lacks(which);
}

/// All lines go out in one write to a file opened for appending, so tests that end at the same moment in one process do
/// not cut into each other's lines.
fn leave(file: &str, lines: &str, test: &str) {
    let Some(dir) = std::env::var_os(FOLDER) else { return };
    let path = Path::new(&dir).join(file);
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let written = opened.and_then(|mut file| file.write_all(lines.as_bytes()));
    assert!(
        written.is_ok(),
        "the test `{test}` could not leave its line in `{}`: {written:?}",
        path.display()
    );
}
