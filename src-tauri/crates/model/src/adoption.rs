//! Adopting a change of Hermit that was tried, and going back from one (successor.md 5).

use crate::Digest;
use crate::artifact::ArtifactRef;
use serde::{Deserialize, Serialize};
pub use words::successor::{PatchKind, VerdictOutcome};

/// Pieces of one change.
pub const PIECES_MAX: usize = 64;
/// Reviews of one change.
pub const REVIEWS_MAX: usize = 16;
/// Bytes of one review.
pub const REVIEW_BYTES_MAX: usize = 256 * 1024;
/// Remarks of one review.
pub const REMARKS_MAX: usize = 2_000;

/// A piece of Hermit that becomes another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdoptedPiece {
    /// `rules`, `skin`, `skill`, `playbook`, `soul`, `model` or `program`.
    pub what: String,
    /// Its name.
    pub name: String,
    /// As it will be, whole; none takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// As it is; none where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
}

/// A program that was built of a changed source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdoptedProgram {
    /// SHA-256 of its file.
    pub sha256: Digest,
    /// Bytes of its file.
    pub bytes: u64,
    /// The newest format of a store that it writes.
    pub store_format: u32,
    /// SHA-256 of the source that it was built of, before the change.
    pub source: Digest,
}

/// A file with tests that a change of the source edits, moves or removes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditedTest {
    /// Its path, from the root of the source.
    pub file: String,
    /// SHA-256 of its path, a new line, and the difference: what a person has looked at is named by it.
    pub sha256: Digest,
    /// All that the change says of the file, as a unified diff.
    pub difference: String,
}

/// A review of a change of the source, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdoptedReview {
    /// Who wrote it, as its remarks say.
    pub by: String,
    /// Its remarks.
    pub remarks: u64,
    /// The review.
    pub review: ArtifactRef,
}

/// A change of Hermit that a person is asked to adopt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdoptChange {
    /// The trial that it was judged in.
    pub trial_id: String,
    /// What it changes.
    pub kind: PatchKind,
    /// What it is for, in one line.
    pub says: String,
    /// Where what is new in it comes from.
    pub sources: Vec<String>,
    /// Its exact bytes.
    pub patch: ArtifactRef,
    /// The verdict on it, which the log's key signed.
    pub verdict: ArtifactRef,
    /// What the verdict is.
    pub outcome: VerdictOutcome,
    /// What led to it, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The suite that ran, and how many tests passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// Rooms of gate, policy, approval, successor or proof that it touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constitutional: Vec<String>,
    /// What becomes of what.
    pub pieces: Vec<AdoptedPiece>,
    /// The changes of the source, of a change of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The program, of a change of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<AdoptedProgram>,
    /// What others wrote of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<AdoptedReview>,
    /// Tests that it edits, moves or removes, at which a person has looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited_tests: Vec<EditedTest>,
}

/// An adopted change that a person is asked to go back from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReturnChange {
    /// The trial of the change.
    pub trial_id: String,
    /// What it changed.
    pub kind: PatchKind,
    /// Why.
    pub why: String,
    /// What becomes of what.
    pub pieces: Vec<AdoptedPiece>,
    /// The receipted act by which it was adopted.
    pub adopted_by: crate::ActionRequestId,
}

/// A remark of a review, about a line of a changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewRemark {
    /// The file, as the change names it.
    pub file: String,
    /// The line, from 1; 0 is the file as a whole.
    pub line: u32,
    /// What is said of it.
    pub says: String,
    /// Who says it.
    pub by: String,
}

impl ReviewRemark {
    /// The remarks of a review: one JSON object a line, all by one and the same.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn read(bytes: &[u8]) -> Result<(String, Vec<Self>), String> {
        if bytes.len() > REVIEW_BYTES_MAX {
            return Err(format!("a review has {} KB at most", REVIEW_BYTES_MAX / 1024));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| "a review is text in UTF-8".to_owned())?;
        let mut remarks: Vec<Self> = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if remarks.len() >= REMARKS_MAX {
                return Err(format!("a review has {REMARKS_MAX} remarks at most"));
            }
            let number = at.saturating_add(1);
            let remark: Self = serde_json::from_str(line)
                .map_err(|e| format!("line {number} of a review is no {{file, line, says, by}}: {e}"))?;
            if remark.file.trim().is_empty() || remark.says.trim().is_empty() || remark.by.trim().is_empty() {
                return Err(format!(
                    "line {number} of a review leaves out its file, its words, or who says it"
                ));
            }
            remarks.push(remark);
        }
        let Some(by) = remarks.first().map(|first| first.by.trim().to_owned()) else {
            return Err("a review has one remark at least".to_owned());
        };
        match remarks.iter().all(|one| one.by.trim() == by) {
            true => Ok((by, remarks)),
            false => Err("a review is by one person or agent; give each a file of their own".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_is_remarks_of_one_about_lines_and_anything_else_is_named() {
        let line =
            |by: &str, says: &str| format!(r#"{{"file":"src/a.rs","line":3,"says":"{says}","by":"{by}"}}"#);
        let two = format!("{}\n\n{}\n", line("ada", "sound"), line("ada", "one bound is missing"));
        let (by, remarks) = ReviewRemark::read(two.as_bytes()).expect("it is a review");
        assert_eq!((by.as_str(), remarks.len(), remarks[1].line), ("ada", 2, 3));
        let refused = |text: &str, says: &str| {
            assert!(ReviewRemark::read(text.as_bytes()).is_err_and(|why| why.contains(says)), "{says}");
        };
        refused("\n \n", "one remark at least");
        refused("sound", "line 1");
        refused(&format!("{}\n{}", line("ada", "sound"), line("bob", "sound")), "by one person");
        refused(&line(" ", "sound"), "leaves out");
        refused(&line("ada", ""), "leaves out");
        refused(&"x".repeat(REVIEW_BYTES_MAX + 1), "KB at most");
        refused(&format!("{}\n", line("ada", "sound")).repeat(REMARKS_MAX + 1), "remarks at most");
    }
}
