//! The difference of two files as lines a person reads.

use crate::{STAGE_TEXT_BYTES_MAX, Workspace};
use model::RelPath;
use similar::TextDiff;
use std::path::Path;
use std::time::Duration;

/// How long one difference may be thought about before a coarser one is taken.
const THINK: Duration = Duration::from_millis(500);

/// Unified lines of what changed, without a head; why there are none, else. One side may be missing.
pub(crate) fn lines(
    workspace: &Workspace,
    before: Option<(&RelPath, u64)>,
    after: Option<(&Path, u64)>,
) -> Result<String, String> {
    let sizes = [before.map(|(_, size)| size), after.map(|(_, size)| size)];
    if sizes.iter().flatten().any(|size| *size > STAGE_TEXT_BYTES_MAX) {
        return Err(format!("longer than the {STAGE_TEXT_BYTES_MAX} bytes that are compared line by line"));
    }
    let before = match before {
        Some((path, _)) => workspace.read_whole(path, STAGE_TEXT_BYTES_MAX).map_err(|e| e.to_string())?,
        None => Vec::new(),
    };
    let after = match after {
        Some((at, _)) => std::fs::read(at).map_err(|e| e.to_string())?,
        None => Vec::new(),
    };
    let (Some(before), Some(after)) = (text(&before), text(&after)) else {
        return Err("not text".to_owned());
    };
    let diff = TextDiff::configure().timeout(THINK).diff_lines(before, after);
    Ok(diff.unified_diff().context_radius(3).to_string())
}

/// Unified lines between two texts, without a head; none when one of them is no text.
pub fn difference(before: &[u8], after: &[u8]) -> Option<String> {
    let (before, after) = (text(before)?, text(after)?);
    let diff = TextDiff::configure().timeout(THINK).diff_lines(before, after);
    Some(diff.unified_diff().context_radius(3).to_string())
}

/// Bytes as text: UTF-8 without a zero.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
