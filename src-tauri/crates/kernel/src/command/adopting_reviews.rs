//! Reviews of a change of the source: remarks about lines of its files, by more than one (HV-8); and the tests that it edits, at which
//! a person has to look.

use crate::Error;
use ::successor::{Patch, Verdict};
use model::Digest;
use model::adoption::{AdoptChange, EditedTest, PatchKind, REVIEWS_MAX, ReviewRemark};
use std::collections::BTreeSet;

/// A change of the source is reviewed by as many at least.
const REVIEWERS_MIN: usize = 2;

/// A review as it came in.
pub(super) struct Review<'a> {
    pub(super) by: String,
    pub(super) remarks: Vec<ReviewRemark>,
    pub(super) bytes: &'a [u8],
}

/// Reviews as they came in.
///
/// # Errors
/// [`Error::Input`] for what is none.
pub(super) fn read_all(given: &[Vec<u8>]) -> Result<Vec<Review<'_>>, Error> {
    if given.len() > REVIEWS_MAX {
        return Err(Error::Input(format!("a change has {REVIEWS_MAX} reviews at most")));
    }
    given.iter().map(|bytes| read(bytes)).collect()
}

fn read(bytes: &[u8]) -> Result<Review<'_>, Error> {
    let (by, remarks) = ReviewRemark::read(bytes).map_err(Error::Input)?;
    Ok(Review { by, remarks, bytes })
}

/// Whether each review says something of a file that the change touches.
pub(super) fn about(reviews: &[Review<'_>], diff: &str) -> Result<(), Error> {
    let files = changed_files(diff);
    let misses = |one: &&Review<'_>| !one.remarks.iter().any(|remark| files.contains(remark.file.trim()));
    match reviews.iter().find(misses) {
        Some(one) => {
            Err(Error::Input(format!("the review by `{}` says nothing of a file that this changes", one.by)))
        }
        None => Ok(()),
    }
}

/// Whether a change of the source was reviewed by enough; any other change needs no review.
pub(super) fn reviewed(change: &AdoptChange) -> Result<(), String> {
    let by: BTreeSet<&str> = change.reviews.iter().map(|one| one.by.as_str()).collect();
    match change.kind == PatchKind::Code && by.len() < REVIEWERS_MIN {
        true => Err(format!(
            "a change of the source has reviews by {REVIEWERS_MIN} distinct persons or agents, and this has {}; name each with \
             `--review FILE`",
            by.len()
        )),
        false => Ok(()),
    }
}

/// None of the tests that a change edits ran as its parent has them: that is nothing that a look could answer.
pub(super) fn not_run_as_before() -> Error {
    let why = "none of the tests that it edits were run as they were before, and to look at them does not take the place of \
               that; leave these tests as they are, or edit fewer of them, and try it again";
    Error::Conflict(why.to_owned())
}

/// Tests that a change of the source edits, each with its difference; none for any other change.
///
/// # Errors
/// [`Error::Conflict`] where they did not run as they were before.
pub(super) fn edits_of(patch: &Patch, verdict: &Verdict) -> Result<Vec<EditedTest>, Error> {
    let edited = verdict.edited_tests(patch).map_err(Error::Conflict)?;
    match !edited.is_empty() && !verdict.parents_tests_ran() {
        true => Err(not_run_as_before()),
        false => Ok(edited),
    }
}

/// Whether a person has looked at each test that a change edits, moves or removes.
///
/// # Errors
/// [`Error::Conflict`] with how to, for the first at which nobody has.
pub(super) fn looked_at(change: &AdoptChange, looked: &[Digest]) -> Result<(), Error> {
    match change.edited_tests.iter().find(|one| !looked.contains(&one.sha256)) {
        None => Ok(()),
        Some(one) => Err(Error::Conflict(format!(
            "it edits, moves or removes tests in `{}`, and nobody has looked at that: `hermit successor show {}` tells the \
             difference; then say `--looked {}`, or \"I have looked\" on the page Changes",
            one.file, change.trial_id, one.sha256
        ))),
    }
}

/// Files that a unified diff names, from the root of the source.
pub(super) fn changed_files(diff: &str) -> BTreeSet<&str> {
    diff.lines().filter_map(named_file).filter(|path| *path != "/dev/null").collect()
}

/// The file that a line of a unified diff names, where it names one.
fn named_file(line: &str) -> Option<&str> {
    const MARKS: [&str; 6] = ["+++ ", "--- ", "rename from ", "rename to ", "copy from ", "copy to "];
    let path = MARKS.iter().find_map(|mark| line.strip_prefix(mark))?;
    let path = path.split('\t').next().unwrap_or(path).trim().trim_matches('"');
    Some(path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str =
        "--- a/src/one.rs\t2026\n+++ b/src/one.rs\n@@ -1 +1 @@\n-a\n+b\n--- a/old.rs\n+++ /dev/null\n";

    #[test]
    fn a_review_is_about_a_file_that_changes() {
        assert_eq!(changed_files(DIFF), BTreeSet::from(["src/one.rs", "old.rs"]));
        let moved = "diff --git a/x.rs b/y.rs\nrename from x.rs\nrename to migrations/y.rs\n";
        assert_eq!(changed_files(moved), BTreeSet::from(["x.rs", "migrations/y.rs"]));
        let line =
            |file: &str| format!(r#"{{"file":"{file}","line":1,"says":"sound","by":"ada"}}"#).into_bytes();
        let (fits, misses) = ([line("src/one.rs")], [line("src/two.rs")]);
        assert!(about(&read_all(&fits).unwrap(), DIFF).is_ok());
        assert!(about(&read_all(&misses).unwrap(), DIFF).is_err());
    }
}
