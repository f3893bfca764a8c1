//! Tests that a change of the source edits or removes, and a file as it would be with the tests that the parent has.

use crate::constitutional::is_test;
use crate::diff::{self, TouchedFile};
use model::Digest;
use model::adoption::EditedTest;
use std::collections::{BTreeMap, BTreeSet};

/// Tests that a change of the source touches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TouchedTests {
    /// Files of tests that its headers name, before or after.
    pub files: Vec<String>,
    /// Other files in which it takes away tests, or passes over them.
    pub beside: Vec<String>,
}

impl TouchedTests {
    /// The tests that a diff touches.
    ///
    /// # Errors
    /// In words, when it is no diff, or touches nothing.
    pub fn read(diff: &str) -> Result<Self, String> {
        let files = diff::files(diff)?;
        if files.is_empty() {
            return Err("its diff touches no file".to_owned());
        }
        let mut touched = Self::default();
        for file in &files {
            let takes_away = removes_tests(file) || passes_over_tests(file);
            for path in file.paths() {
                if is_test(path) {
                    touched.files.push(path.to_owned());
                } else if takes_away {
                    touched.beside.push(path.to_owned());
                }
            }
        }
        for all in [&mut touched.files, &mut touched.beside] {
            all.sort();
            all.dedup();
        }
        Ok(touched)
    }

    /// Files of Rust that a diff touches and that are no files of tests: each may hold some.
    ///
    /// # Errors
    /// In words, when it is no diff.
    pub fn sources(diff: &str) -> Result<Vec<String>, String> {
        let files = diff::files(diff)?;
        let mut all: Vec<String> = files.iter().flat_map(TouchedFile::paths).map(str::to_owned).collect();
        all.retain(|path| path.ends_with(".rs") && !is_test(path));
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// Takes in the files whose tests are others with the change than in the parent, whatever lines of the diff did that. Both are
    /// texts by path.
    pub fn compare(&mut self, parent: &BTreeMap<String, String>, changed: &BTreeMap<String, String>) {
        for (path, text) in parent {
            if changes_tests_in(text, changed.get(path).map(String::as_str)) {
                self.beside.push(path.clone());
            }
        }
        self.beside.sort();
        self.beside.dedup();
    }

    /// All of these files, in order.
    pub fn all(&self) -> Vec<String> {
        let mut all: Vec<String> = self.files.iter().chain(&self.beside).cloned().collect();
        all.sort();
        all
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.beside.is_empty()
    }
}

/// Files with tests that a change of the source edits, moves or removes, each with all that the diff says of it: those that the diff
/// itself tells, and those that are `named` beside, as a run of the tests found them.
///
/// # Errors
/// In words, when it is no diff, touches nothing, or says nothing of a file that is named.
pub fn edited_tests(diff: &str, named: &[String]) -> Result<Vec<EditedTest>, String> {
    let told = TouchedTests::read(diff)?.all();
    let paths: BTreeSet<String> = told.into_iter().chain(named.iter().cloned()).collect();
    let files = diff::files(diff)?;
    let edited = |path: String| {
        let of_it = files.iter().filter(|file| file.paths().any(|one| one == path));
        let difference: String = of_it.map(|file| file.text.as_str()).collect();
        if difference.is_empty() {
            return Err(format!("its diff says nothing of the test `{}`", path.escape_debug()));
        }
        let sha256 = Digest::of(format!("{path}\n{difference}").as_bytes());
        Ok(EditedTest { file: path, sha256, difference })
    };
    paths.into_iter().map(edited).collect()
}

/// Whether lines of a test go, in a file of whatever name.
pub(crate) fn removes_tests(file: &TouchedFile) -> bool {
    const BEGINS: [&str; 8] = [
        "#[test]",
        "#[cfg(test)]",
        "#[conforms",
        "#[should_panic",
        "assert!(",
        "assert_eq!(",
        "assert_ne!(",
        "mod tests",
    ];
    let is_of_a_test = |line: &String| BEGINS.iter().any(|begins| line.trim_start().starts_with(begins));
    file.removed.iter().any(is_of_a_test)
}

/// Whether a test may be there by now that does not run, or asserts nothing: it is passed over, stands under a condition, or what asserts
/// is another macro.
pub(crate) fn passes_over_tests(file: &TouchedFile) -> bool {
    const PASSES: [&str; 5] = ["#[ignore", "#[cfg", "#![cfg", "[cfg(", "macro_rules!assert"];
    let passes = |line: &String| {
        let squeezed: String = line.chars().filter(|char| !char.is_whitespace()).collect();
        // Tests that come stand under this one.
        let squeezed = squeezed.replace("#[cfg(test)]", "");
        PASSES.iter().any(|part| squeezed.contains(part))
    };
    file.added.iter().any(passes)
}

/// A changed file with the tests that stand at the end of the parent's version; none where there are none.
pub fn with_parents_tests(parent: &str, changed: &str) -> Option<String> {
    let (_, tests) = tests_at_the_end(parent)?;
    let rest = tests_at_the_end(changed).map_or(changed, |(rest, _)| rest);
    let gap = if rest.is_empty() || rest.ends_with('\n') { "" } else { "\n" };
    Some(format!("{rest}{gap}{tests}"))
}

/// Whether a change of a file of Rust edits or takes away tests that its parent's version holds; none where the file is gone.
fn changes_tests_in(parent: &str, changed: Option<&str>) -> bool {
    let (rest, tests) = apart(parent);
    let (rest_after, tests_after) = changed.map(apart).unwrap_or_default();
    (!tests.is_empty() && tests.trim_end() != tests_after.trim_end())
        || (rest.contains("#[test]") && rest.trim_end() != rest_after.trim_end())
}

/// A file without the tests that it ends with, and these, where it has any.
fn apart(text: &str) -> (&str, &str) {
    tests_at_the_end(text).unwrap_or((text, ""))
}

/// A file without the module of tests that it ends with, and that module with every attribute before it.
fn tests_at_the_end(text: &str) -> Option<(&str, &str)> {
    let (mut at, mut attributes, mut marked) = (0_usize, None, false);
    for line in text.split_inclusive('\n') {
        let said = line.trim_end();
        if said.starts_with("#[") && said.ends_with(']') {
            attributes = attributes.or(Some(at));
            marked = marked || said == "#[cfg(test)]";
        } else if let Some(begins) = attributes.filter(|_| marked)
            && said.starts_with("mod ")
            && said.ends_with('{')
            && ends_with_its_first_block(text.get(at..)?)
        {
            return text.split_at_checked(begins);
        } else if !said.is_empty() && !said.starts_with("//") {
            (attributes, marked) = (None, false);
        }
        at = at.saturating_add(line.len());
    }
    None
}

/// Whether the first brace that closes at the margin is the last line.
fn ends_with_its_first_block(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line == "}") && lines.all(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on stops where it stands")]
    use super::{TouchedTests, edited_tests, with_parents_tests};
    use std::collections::BTreeMap;

    const DIFF: &str = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-old\n+new\n";

    fn touched(diff: &str) -> (Vec<String>, Vec<String>) {
        let touched = TouchedTests::read(diff).unwrap();
        (touched.files, touched.beside)
    }

    #[test]
    fn tests_that_a_diff_edits_moves_away_or_takes_out_of_a_file_are_named() {
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(TouchedTests::read(DIFF).unwrap().is_empty());
        assert_eq!(touched(&DIFF.replace("src/lib.rs", "tests/a.rs")), (of(&["tests/a.rs"]), vec![]));
        assert_eq!(touched(&DIFF.replace("src/lib.rs", "ui/a.test.ts")), (of(&["ui/a.test.ts"]), vec![]));
        let gone = DIFF.replace("-1 +1", "-1,2 +1").replace("-old", "-    #[test]\n-    fn holds() {}");
        assert_eq!(touched(&gone), (vec![], of(&["src/lib.rs"])));
        for passes in [
            concat!("#[ig", "nore = \"slow\"]"),
            "#[cfg(any())]",
            "# [cfg (any())] #[cfg(test)]",
            "#![cfg(any())]",
            "#[cfg_attr(all(), ignore)]",
            "macro_rules! assert { ($($any:tt)*) => {}; }",
        ] {
            let passes_over = DIFF.replace("+new", &format!("+    {passes}"));
            assert_eq!(touched(&passes_over), (vec![], of(&["src/lib.rs"])), "{passes}");
        }
        assert!(TouchedTests::read(&DIFF.replace("+new", "+#[cfg(test)]")).unwrap().is_empty());
        let moved = "diff --git a/tests/a.rs b/docs/a.md\nsimilarity index 100%\nrename from tests/a.rs\n\
                     rename to docs/a.md\n";
        assert_eq!(touched(moved), (of(&["tests/a.rs"]), vec![]));
        for none in ["", "nothing", "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"] {
            assert!(TouchedTests::read(none).is_err(), "{none}");
        }
    }

    #[test]
    fn each_edited_test_has_its_own_part_of_the_diff_and_a_digest_of_that() {
        let of_test = DIFF.replace("src/lib.rs", "tests/a.rs");
        let both = format!("{DIFF}{of_test}");
        let found = edited_tests(&both, &[]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].file.as_str(), found[0].difference.as_str()), ("tests/a.rs", of_test.as_str()));
        // What a run of the tests found beside is shown as well.
        let named = ["src/lib.rs".to_owned(), "tests/a.rs".to_owned()];
        let found = edited_tests(&both, &named).unwrap();
        let files: Vec<&str> = found.iter().map(|one| one.file.as_str()).collect();
        assert_eq!((files, found[0].difference.as_str()), (vec!["src/lib.rs", "tests/a.rs"], DIFF));
        let other = edited_tests(&both.replace("+new", "+newer"), &named).unwrap();
        assert!(found.iter().zip(&other).all(|(one, other)| one.sha256 != other.sha256));
        assert!(edited_tests(DIFF, &[]).unwrap().is_empty());
        assert!(edited_tests(DIFF, &["tests/b.rs".to_owned()]).is_err());
    }

    #[test]
    fn tests_that_lines_are_added_to_are_edited_all_the_same() {
        let parent = "fn one() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn holds() {}\n}\n";
        let beside = |parent: &str, changed: Option<&str>| {
            let by_path = |text: &str| BTreeMap::from([("src/lib.rs".to_owned(), text.to_owned())]);
            let mut touched = TouchedTests::default();
            touched.compare(&by_path(parent), &changed.map(by_path).unwrap_or_default());
            touched.beside.len()
        };
        assert_eq!(beside(parent, Some(parent)), 0);
        assert_eq!(beside(parent, Some(&parent.replace("one", "two"))), 0, "only what is tested is another");
        assert_eq!(beside("fn one() {}\n", Some(parent)), 0, "it comes with tests");
        let returns = parent.replace("holds() {", "holds() {\n        return;\n    ");
        let never = parent.replace("#[cfg(test)]", "#[cfg(any())]\n// words\n\n#[cfg(test)]");
        for weakened in [&returns, &never, &parent.replace("mod tests", "mod more")] {
            assert_eq!(beside(parent, Some(weakened)), 1, "{weakened}");
            assert_eq!(with_parents_tests(parent, weakened).as_deref(), Some(parent), "{weakened}");
        }
        assert_eq!(beside(parent, None), 1);
        let apart = "#[test]\nfn holds() {}\n";
        assert_eq!(
            (beside(apart, Some(apart)), beside(apart, Some("#[test]\nfn holds() { return; }\n"))),
            (0, 1)
        );
        assert_eq!(TouchedTests::sources(DIFF).unwrap(), ["src/lib.rs"]);
        assert!(TouchedTests::sources(&DIFF.replace("src/lib.rs", "tests/a.rs")).unwrap().is_empty());
    }

    #[test]
    fn a_changed_file_gets_the_tests_of_the_parent_back() {
        let parent =
            "fn one() {}\n\n#[cfg(test)]\n#[allow(unused)]\nmod tests {\n    #[test]\n    fn holds() {}\n}\n";
        let tests = parent.strip_prefix("fn one() {}\n\n").unwrap();
        let of = |changed: &str| with_parents_tests(parent, changed).unwrap();
        assert_eq!(of("fn two() {}\n"), format!("fn two() {{}}\n{tests}"), "they were taken away");
        assert_eq!(of("fn two() {}"), format!("fn two() {{}}\n{tests}"));
        let weakened = "fn two() {}\n\n#[cfg(test)]\nmod tests {\n    fn holds() {}\n}\n";
        assert_eq!(of(weakened), format!("fn two() {{}}\n\n{tests}"), "they were edited");
        for without in ["fn one() {}\n", "#[cfg(test)]\nmod tests;\n", &format!("{parent}fn more() {{}}\n")] {
            assert_eq!(with_parents_tests(without, weakened), None, "{without}");
        }
    }
}
