//! Tests that a change of the source edits or removes, and a file as it would be with the tests that the parent has.

use crate::constitutional::is_test;
use crate::diff::{self, TouchedFile};

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

/// Whether a test is there by now that does not run.
pub(crate) fn passes_over_tests(file: &TouchedFile) -> bool {
    file.added.iter().any(|line| line.trim_start().starts_with("#[ignore"))
}

/// A changed file with the tests that stand at the end of the parent's version; none where there are none.
pub fn with_parents_tests(parent: &str, changed: &str) -> Option<String> {
    let (_, tests) = tests_at_the_end(parent)?;
    let rest = tests_at_the_end(changed).map_or(changed, |(rest, _)| rest);
    let gap = if rest.is_empty() || rest.ends_with('\n') { "" } else { "\n" };
    Some(format!("{rest}{gap}{tests}"))
}

/// A file without the module of tests that it ends with, and that module.
fn tests_at_the_end(text: &str) -> Option<(&str, &str)> {
    let (mut at, mut marked) = (0_usize, None);
    for line in text.split_inclusive('\n') {
        let said = line.trim_end();
        if said == "#[cfg(test)]" {
            marked = Some(at);
        } else if let Some(begins) = marked
            && said.starts_with("mod ")
            && said.ends_with('{')
            && ends_with_its_first_block(text.get(at..)?)
        {
            return text.split_at_checked(begins);
        } else if !said.starts_with("#[") {
            marked = None;
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
    use super::{TouchedTests, with_parents_tests};

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
        let ignored = DIFF.replace("+new", "+    #[ignore = \"slow\"]");
        assert_eq!(touched(&ignored), (vec![], of(&["src/lib.rs"])));
        let moved = "diff --git a/tests/a.rs b/docs/a.md\nsimilarity index 100%\nrename from tests/a.rs\n\
                     rename to docs/a.md\n";
        assert_eq!(touched(moved), (of(&["tests/a.rs"]), vec![]));
        for none in ["", "nothing", "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n"] {
            assert!(TouchedTests::read(none).is_err(), "{none}");
        }
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
