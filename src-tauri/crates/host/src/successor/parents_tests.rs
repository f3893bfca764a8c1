//! The tests that a change edits or removes, run as its parent has them: a tree of the change in which these are put back, and the same
//! suite over it (successor.md 4.1).
//!
//! It has a folder of its own, as home of what runs there: nothing has run in it before that could have changed it, or left a link
//! where something is written, and nothing that runs in it reaches what is built and tested beside it.

use super::build::{CodeTrial, SOURCE, TARGET, apply, prepare, read_tests, suite};
use super::confined::clear;
use crate::programs::is_own_file;
use ::successor::{ParentTests, TouchedTests, Used, with_parents_tests};
use effects::Sandbox;
use model::Digest;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// That folder, below the one of the build.
const FOLDER: &str = "parents-tests";
/// How a file says that it has a test.
const TEST: &str = "#[test]";

/// Runs the suite over a change with the parent's versions of the tests that it touches; what that used. Built on a copy of what was
/// built of the change.
pub(super) fn of_parent(
    sandbox: &Sandbox,
    code: &CodeTrial<'_>,
    (source, diff, touched): (Digest, &str, &TouchedTests),
    stopped: &dyn Fn() -> bool,
) -> Result<(ParentTests, Used), String> {
    let (folder, warm) = (code.folder.join(FOLDER), Some(code.folder.join(TARGET)));
    let code = CodeTrial { folder, warm, ..code.clone() };
    let reads = prepare(&code, source, stopped)?;
    let root = code.folder.join(SOURCE).canonicalize().map_err(|e| e.to_string())?;
    let kept = kept(&root, touched);
    apply(sandbox, &code, diff, stopped)?;
    let not_run = put_back(&root, touched, &kept)?;
    let tested = suite(sandbox, &code, &reads, stopped)?;
    clear(&code.folder).map_err(|e| format!("`{}`: {e}", code.folder.display()))?;
    let (passed, failed) = read_tests(&tested);
    Ok((ParentTests { passed, failed, not_run }, tested.used))
}

/// Texts below the source as it stands, by their paths from it; what is not there, or is no text, is left out.
pub(super) fn texts(code: &CodeTrial<'_>, paths: &[String]) -> Result<BTreeMap<String, String>, String> {
    let root = code.folder.join(SOURCE).canonicalize().map_err(|e| e.to_string())?;
    let read = |path: &String| {
        let at = root.join(path);
        let text = is_own_file(&at).then(|| std::fs::read_to_string(&at).ok()).flatten()?;
        Some((path.clone(), text))
    };
    Ok(paths.iter().filter_map(read).collect())
}

/// Files of the parent's, by their paths from the root; what it does not have is not there.
fn kept<'t>(root: &Path, touched: &'t TouchedTests) -> BTreeMap<&'t str, Vec<u8>> {
    let paths = touched.files.iter().chain(&touched.beside);
    let read = |path: &'t String| {
        let at = root.join(path);
        let bytes = is_own_file(&at).then(|| std::fs::read(&at).ok()).flatten()?;
        Some((path.as_str(), bytes))
    };
    paths.filter_map(read).collect()
}

/// Puts the parent's tests back; the files whose tests cannot be.
fn put_back(
    root: &Path,
    touched: &TouchedTests,
    kept: &BTreeMap<&str, Vec<u8>>,
) -> Result<Vec<String>, String> {
    let failed = |path: &str, e: &io::Error| format!("the tests of `{path}` cannot be put back: {e}");
    for path in touched.files.iter().filter(|path| !kept.contains_key(path.as_str())) {
        match std::fs::remove_file(root.join(path)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(path, &e)),
            _ => {}
        }
    }
    let mut not_run = Vec::new();
    for path in touched.files.iter().chain(&touched.beside) {
        let Some(bytes) = kept.get(path.as_str()) else { continue };
        let at = root.join(path);
        let is_of_tests = touched.files.contains(path);
        let text = if is_of_tests { Some(bytes.clone()) } else { beside(bytes, &at) };
        match text {
            Some(text) => write(&at, &text).map_err(|e| failed(path, &e))?,
            None if String::from_utf8_lossy(bytes).contains(TEST) => not_run.push(path.clone()),
            None => {}
        }
    }
    Ok(not_run)
}

/// A changed file with the tests that stand beside it in the parent's; none where they cannot be put there.
fn beside(parents: &[u8], at: &Path) -> Option<Vec<u8>> {
    let changed = is_own_file(at).then(|| std::fs::read_to_string(at).ok()).flatten()?;
    with_parents_tests(std::str::from_utf8(parents).ok()?, &changed).map(String::into_bytes)
}

fn write(at: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = at.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(at, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTED: &str = "fn one() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn holds() {}\n}\n";

    #[test]
    fn files_of_tests_are_as_the_parent_has_them_and_others_get_its_tests_back() {
        let folder = tempfile::TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let of = |path: &str| std::fs::read_to_string(root.join(path)).ok();
        let put = |path: &str, text: &str| write(&root.join(path), text.as_bytes()).unwrap();
        put("tests/gone.rs", "gone");
        put("tests/edited.rs", "before");
        put("src/lib.rs", TESTED);
        put("src/apart.rs", "#[test]\nfn holds() {}\n");
        let named = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let touched = TouchedTests {
            files: named(&["tests/edited.rs", "tests/gone.rs", "tests/more.rs"]),
            beside: named(&["src/apart.rs", "src/lib.rs", "src/new.rs"]),
        };
        let kept = kept(&root, &touched);
        std::fs::remove_dir_all(root.join("tests")).unwrap();
        put("tests/edited.rs", "after");
        put("tests/more.rs", "more");
        put("src/lib.rs", "fn two() {}\n");
        put("src/apart.rs", "");
        let not_run = put_back(&root, &touched, &kept).unwrap();
        assert_eq!(not_run, ["src/apart.rs"]);
        assert_eq!(
            (of("tests/gone.rs"), of("tests/edited.rs")),
            (Some("gone".into()), Some("before".into()))
        );
        assert_eq!(
            (of("tests/more.rs"), of("src/new.rs")),
            (None, None),
            "what is new is no test of the parent's"
        );
        assert_eq!(of("src/lib.rs"), Some(TESTED.replace("one", "two").replacen("\n\n", "\n", 1)));
    }
}
