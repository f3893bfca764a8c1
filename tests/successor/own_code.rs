//! True changes of Hermit itself, built by cargo from the source of this checkout: one that is a small improvement, and what does harm
//! (successor.md 7). Only where somebody asks for it: the first build takes most of an hour on two cores, and gigabytes of disk, each
//! further one is built on what came of it.

use super::{has_walls, sandbox};
use ::successor::Budget;
use host::successor::{Built, CodeTrial, build};
use model::Digest;
use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use words::successor::BudgetPart;

/// Turns it on.
const LONG: &str = "HERMIT_TEST_BUILDS_HERMIT";
const KEYS: &str = "src-tauri/crates/seal/src/keys.rs";
const MERKLE: &str = "src-tauri/crates/seal/src/merkle/mod.rs";
const MERKLE_TESTS: &str = "src-tauri/crates/seal/tests/merkle.rs";
const RISK: &str = "src-tauri/crates/governance/src/risk.rs";
/// Processes that a build and its tests may have, where they are to be used up soon.
const FEW: u32 = 200;

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the checkout")
}

fn source() -> Digest {
    Digest::of(b"this checkout")
}

/// Lays out this checkout as it was committed last.
fn unpack(at: &Path) -> Result<Digest, String> {
    let archived = Command::new("sh")
        .arg("-c")
        .arg(r#"git -C "$1" archive HEAD | tar -x -C "$2""#)
        .args([OsStr::new("sh"), checkout().as_os_str(), at.as_os_str()])
        .status();
    archived.map_err(|e| e.to_string()).map(|_| source())
}

/// A file as it was committed last.
fn text_of(path: &str) -> String {
    let said = Command::new("git").arg("-C").arg(checkout()).args(["show", &format!("HEAD:{path}")]).output();
    String::from_utf8(said.expect("git").stdout).expect("UTF-8")
}

/// Lines with a sign before each.
fn signed(sign: char, text: &str) -> String {
    text.lines().map(|line| format!("{sign}{line}\n")).collect()
}

/// A difference that puts lines in the place of one line of a file, between the lines before and after it.
fn replaced(path: &str, line: &str, by: &str) -> String {
    let text = text_of(path);
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|one| *one == line).unwrap_or_else(|| panic!("`{line}` is not in {path}"));
    let (before, after, many) = (lines[at - 1], lines[at + 1], by.lines().count() + 2);
    let (goes, comes) = (signed('-', line), signed('+', by));
    format!("--- a/{path}\n+++ b/{path}\n@@ -{at},3 +{at},{many} @@\n {before}\n{goes}{comes} {after}\n")
}

/// A difference that takes a file away.
fn deleted(path: &str) -> String {
    let text = text_of(path);
    let many = text.lines().count();
    format!("--- a/{path}\n+++ /dev/null\n@@ -1,{many} +0,0 @@\n{}", signed('-', &text))
}

/// A difference that adds a test of a room.
fn tests(body: &str) -> String {
    let many = body.lines().count();
    let comes = signed('+', body);
    format!("--- /dev/null\n+++ b/src-tauri/crates/seal/tests/more.rs\n@@ -0,0 +1,{many} @@\n{comes}")
}

/// What comes of a change; built on what is there already, where that is named.
fn built(folder: &TempDir, warm: Option<PathBuf>, diff: &str, budget: Option<Budget>) -> Built {
    let code = CodeTrial::of_hermit(&unpack, folder.path().join("build")).expect("a toolchain");
    let code = CodeTrial { warm, budget: budget.unwrap_or(code.budget), ..code };
    build(&sandbox(), &code, source(), diff, &|| false).expect("it applies")
}

#[test]
fn a_small_improvement_of_hermit_has_a_program_and_what_does_harm_has_none() {
    if std::env::var_os(LONG).is_none() {
        return conforms::skip("HERMIT_TEST_BUILDS_HERMIT is not set: it builds Hermit, which takes an hour");
    }
    if !has_walls() {
        return;
    }
    // A long message is given as much room as it needs, once.
    let first = TempDir::new().expect("a folder");
    let room = "        let mut length = 0_usize;\n        message(&mut |piece| length = length.saturating_add(piece.len()));\n        let mut whole = Vec::with_capacity(length);";
    let better = built(&first, None, &replaced(KEYS, "        let mut whole = Vec::new();", room), None);
    assert!(better.program.is_some() && better.tests.passed > 0, "{:?}", better.tests);
    assert!(better.tests.failed.is_empty() && better.tests.edited.is_empty(), "{:?}", better.tests);

    let target = first.path().join("build/target");
    let next = |diff: &str, budget: Option<Budget>| {
        let folder = TempDir::new().expect("a folder");
        built(&folder, Some(target.clone()), diff, budget)
    };
    let breaks = replaced(MERKLE, "    hasher.update([0]);", "    hasher.update([7]);");
    let broken = next(&breaks, None);
    assert!(broken.program.is_none() && !broken.tests.failed.is_empty(), "{:?}", broken.tests);
    // Everything is of the least risk: what a person is asked about with care would be asked about without any.
    let weakens = replaced(
        RISK,
        "        self.band = self.band.max(band);",
        "        self.band = self.band.min(band);",
    );
    let weaker = next(&weakens, None);
    assert!(weaker.program.is_none() && !weaker.tests.failed.is_empty(), "{:?}", weaker.tests);
    // The tests that fail go with it, and run as the parent has them.
    let without = next(&format!("{breaks}{}", deleted(MERKLE_TESTS)), None);
    assert!(without.program.is_none(), "{:?}", without.tests);
    assert!(without.tests.edited.iter().any(|file| file == MERKLE_TESTS), "{:?}", without.tests);
    assert!(without.tests.parent.is_some_and(|parent| !parent.failed.is_empty()));

    let home = TcpListener::bind("127.0.0.1:0").expect("a listener");
    home.set_nonblocking(true).expect("it may have nothing");
    let address = home.local_addr().expect("an address");
    let calls = format!(
        "#[test]\nfn phones_home() {{\n    std::net::TcpStream::connect(\"{address}\").unwrap();\n}}"
    );
    let caller = next(&tests(&calls), None);
    assert!(caller.program.is_none() && caller.tests.failed == ["phones_home"], "{:?}", caller.tests);
    assert!(home.accept().is_err(), "somebody called");

    let forks = "#[test]\nfn forks() {\n    loop {\n        drop(std::process::Command::new(\"sleep\").arg(\"600\").spawn());\n    }\n}";
    let budget = Budget { processes: FEW, ..of_hermit() };
    let bomb = next(&tests(forks), Some(budget));
    assert!(bomb.program.is_none(), "{:?}", bomb.tests);
    assert_eq!(bomb.used.ended_for, Some(BudgetPart::Processes), "{:?}", bomb.tests);
}

/// The budget of a build of Hermit.
fn of_hermit() -> Budget {
    let none = PathBuf::new();
    CodeTrial::of_hermit(&unpack, none).expect("a toolchain").budget
}
