//! Which change wrote a line: from the file as it is, back through every image that a receipt kept.

use crate::Host;
use crate::body::trace::statement;
use crate::convert::every;
use crate::error::if_kept;
use crate::file_names::within;
use model::artifact::ArtifactRef;
use model::receipt::ItemOutcome;
use model::witness::Found;
use model::{Digest, ReceiptId, ResourceId, Sensitive, TaskId};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::io::Read as _;
use std::path::Path;
use wire::{Code, Error};

/// A file larger than this is not looked at line by line.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// One change of a file that has a receipt.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub receipt_id: ReceiptId,
    pub task_id: TaskId,
    pub before: Option<Digest>,
    pub before_image: Option<ArtifactRef>,
    pub after: Option<Digest>,
}

/// Every change of a file, the newest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub resources: Vec<String>,
    pub steps: Vec<Change>,
    pub told: Vec<String>,
}

/// Who wrote a line.
pub(crate) struct Written {
    pub number: u32,
    pub text: String,
    pub by: Option<Change>,
    pub number_then: Option<u32>,
}

/// The changes of a file that receipts tell of.
pub(crate) fn history(host: &dyn Host, path: &Path) -> Result<History, Error> {
    let places = within(host, path)?.into_iter();
    let resources = places.map(|(workspace, below)| ResourceId::File(workspace, below).to_string()).collect();
    let mut history = History { resources, ..History::default() };
    if history.resources.is_empty() {
        return Err(Error::new(
            Code::NotFound,
            format!("Hermit has no record of `{}`: no task ever worked in a folder above it", path.display()),
        )
        .hint(crate::body::trace::EXPLAINS));
    }
    let query = host.query()?;
    let mut rows = every(|ask| query.receipts(None, None, ask))?;
    rows.sort_by_key(|row| std::cmp::Reverse((row.issued_at, row.receipt_id)));
    for row in rows {
        let Some(statement) = statement(host, &row)? else { continue };
        for change in statement.predicate.changes.iter().rev() {
            let Sensitive::Shown(resource) = &change.resource else { continue };
            if change.outcome == ItemOutcome::Done && history.resources.contains(resource) {
                history.steps.push(Change {
                    receipt_id: row.receipt_id,
                    task_id: row.task_id,
                    before: content(&change.before),
                    before_image: change.before_image.clone(),
                    after: content(&change.after),
                });
            }
        }
    }
    history.told.push(match history.steps.len() {
        0 => "Hermit has no record of a change of this file: no receipt tells of one".to_owned(),
        1 => "one change of it has a receipt".to_owned(),
        n => format!("{n} changes of it have receipts, the newest first"),
    });
    Ok(history)
}

const fn content(found: &Found) -> Option<Digest> {
    match found {
        Found::File { sha256, .. } => Some(*sha256),
        _ => None,
    }
}

/// Lines with their ends, so that a missing last newline is a difference.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|b| *b == b'\n').collect()
}

/// Where the line `at` (from 0) of `new` stood in `old`; none when it was written between the two.
fn stood(old: &[u8], new: &[u8], at: usize) -> Option<usize> {
    let ops = capture_diff_slices(Algorithm::Patience, &lines(old), &lines(new));
    ops.into_iter().find_map(|op| match op {
        DiffOp::Equal { old_index, new_index, len } if (new_index..new_index + len).contains(&at) => {
            Some(old_index + (at - new_index))
        }
        _ => None,
    })
}

/// Follows a line back to the change that wrote it.
pub(crate) fn writer_of(
    host: &dyn Host,
    path: &Path,
    history: &History,
    number: u32,
    told: &mut Vec<String>,
) -> Result<Written, Error> {
    let now = read(path)?;
    let all = lines(&now);
    let mut at = usize::try_from(number).unwrap_or(usize::MAX).wrapping_sub(1);
    let Some(line) = all.get(at) else {
        return Err(crate::usage(format!(
            "`{}` has {} lines; there is no line {number}",
            path.display(),
            all.len()
        )));
    };
    let text = String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned();
    let nobody = |number| Written { number, text: text.clone(), by: None, number_then: None };
    let mut bytes = now.clone();
    for change in &history.steps {
        let Some(after) = change.after else {
            told.push(format!(
                "receipt {} took the file away; what is there now came later",
                change.receipt_id
            ));
            return Ok(nobody(number));
        };
        // What stands there now may have been edited since, by somebody who leaves no receipt.
        if Digest::of(&bytes) != after {
            let Some(left) = if_kept(host.artifacts()?.read(&after))? else {
                told.push(format!(
                    "what receipt {} left is no longer kept, so the line cannot be followed further",
                    change.receipt_id
                ));
                return Ok(nobody(number));
            };
            let Some(earlier) = stood(&left, &bytes, at) else {
                told.push(format!(
                    "somebody else wrote this line after receipt {}: no receipt tells of it",
                    change.receipt_id
                ));
                return Ok(nobody(number));
            };
            (at, bytes) = (earlier, left);
        }
        let before = match (change.before, &change.before_image) {
            (None, _) => Some(Vec::new()),
            (Some(_), Some(image)) => if_kept(host.artifacts()?.read(&image.sha256))?,
            (Some(digest), None) => if_kept(host.artifacts()?.read(&digest))?,
        };
        let Some(before) = before else {
            told.push(format!(
                "what was there before receipt {} is no longer kept; the line may be older",
                change.receipt_id
            ));
            return Ok(written(number, text, change, at));
        };
        match stood(&before, &bytes, at) {
            None => return Ok(written(number, text, change, at)),
            Some(earlier) => (at, bytes) = (earlier, before),
        }
    }
    told.push("the line is older than every change of this file that has a receipt".to_owned());
    Ok(nobody(number))
}

fn written(number: u32, text: String, change: &Change, at: usize) -> Written {
    Written { number, text, by: Some(change.clone()), number_then: u32::try_from(at + 1).ok() }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let file = crate::files::open(path)?;
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|e| crate::failed(format!("`{}` cannot be read: {e}", path.display())))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Error::new(
            Code::TooLarge,
            format!("`{}` is too large to be followed line by line", path.display()),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::stood;

    #[test]
    fn a_line_is_followed_over_insertions_and_lost_where_it_was_written() {
        let (old, new) = (b"a\nb\nc\n", b"x\na\nb2\nc\nd\n");
        let all: Vec<Option<usize>> = (0..5).map(|at| stood(old, new, at)).collect();
        assert_eq!(all, [None, Some(0), None, Some(2), None]);
        assert_eq!(stood(b"", new, 0), None);
        assert_eq!(stood(b"a\nb", b"a\nb\n", 1), None, "a newline that came is a change");
    }
}
