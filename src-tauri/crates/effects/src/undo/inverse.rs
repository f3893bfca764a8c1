//! One change read backwards.

use super::digest;
use crate::merge;
use crate::stage::text;
use model::action::{ChangeItem, Prior};
use model::receipt::Change;
use model::witness::Found;
use model::{Digest, RelPath, ResourceId};

/// The path a change names; why there is none, else.
pub(super) fn path(change: &Change) -> Result<RelPath, String> {
    let name = name(change).ok_or("the receipt's path has been redacted; disclose it first")?;
    match name.parse() {
        Ok(ResourceId::File(_, path)) => Ok(path),
        _ => Err(format!("`{name}` is not a file")),
    }
}

/// The resource a change names, if it is shown.
pub(super) fn name(change: &Change) -> Option<String> {
    change.resource.clone().into_shown()
}

/// Bytes decide: a change of permission bits alone loses nothing that an undo would overwrite.
pub(super) fn same(left: &Found, found: &Found) -> bool {
    match (left, found) {
        (Found::File { sha256: a, .. }, Found::File { sha256: b, .. }) => a == b,
        (Found::Folder { .. }, Found::Folder { .. }) => true,
        _ => left == found,
    }
}

/// A file that vanished in one place and stood in the next with the same bytes, none of them kept aside: a move.
pub(super) fn is_move(source: &Change, target: &Change) -> bool {
    let gone = matches!((&source.before, &source.after), (Found::File { .. }, Found::Absent));
    let came = matches!((&target.before, &target.after), (Found::Absent, Found::File { .. }));
    gone && came && source.before_image.is_none() && digest(&source.before) == digest(&target.after)
}

/// The permission bits after an undo: those of before, unless somebody has set others since.
pub(super) fn mode(change: &Change, here: &Found) -> Option<u32> {
    let of = |found: &Found| match found {
        Found::File { mode, .. } => *mode,
        _ => None,
    };
    let (before, after, now) = (of(&change.before), of(&change.after), of(here));
    if matches!(here, Found::File { .. }) && matches!(change.after, Found::File { .. }) && now != after {
        return now;
    }
    before
}

/// What must be there for something to be taken away or replaced.
pub(super) fn prior(here: &Found) -> Result<Prior, String> {
    match here {
        Found::Absent => Ok(Prior::Absent),
        Found::File { sha256, .. } => Ok(Prior::Sha256(*sha256)),
        Found::Folder { .. } => Ok(Prior::EmptyFolder),
        Found::Symlink { target_sha256 } => Ok(Prior::Link(*target_sha256)),
        _ => Err("what the act left here is neither file, folder nor link".to_owned()),
    }
}

/// The earlier file at `at`, as an item and as it will be found.
pub(super) fn restored(
    change: &Change,
    at: &RelPath,
    prior: Prior,
    mode: Option<u32>,
) -> Result<(ChangeItem, Found), String> {
    let Found::File { sha256, byte_size, .. } = &change.before else {
        return Err("what was here before is not a file and was not kept".to_owned());
    };
    if change.before_image.as_ref().is_none_or(|kept| kept.sha256 != *sha256) {
        return Err("its earlier bytes were not kept".to_owned());
    }
    let (content_sha256, byte_size) = (*sha256, *byte_size);
    let item = ChangeItem::Write { path: at.clone(), content_sha256, byte_size, prior, mode };
    Ok((item, Found::File { sha256: content_sha256, byte_size, mode }))
}

/// What is there now without what the act did to it; an error when both touch the same lines, nothing when it is no
/// text or not kept.
pub(super) fn merged(
    change: &Change,
    theirs: &Digest,
    read: &dyn Fn(&Digest) -> Option<Vec<u8>>,
) -> Option<Result<Vec<u8>, ()>> {
    let image = change.before_image.as_ref().filter(|kept| Some(kept.sha256) == digest(&change.before))?;
    let (base, ours) = (read(&digest(&change.after)?)?, read(&image.sha256)?);
    let theirs = read(theirs)?;
    let all = [&base, &ours, &theirs];
    if all.iter().any(|side| side.len() as u64 > crate::STAGE_TEXT_BYTES_MAX) {
        return None;
    }
    let (base, ours, theirs) = (text(&base)?, text(&ours)?, text(&theirs)?);
    Some(merge::three_way(base, ours, theirs).map(String::into_bytes).ok_or(()))
}

/// The name under which an earlier version comes beside a file that stays: `photo.before-1a2b3c4d.png`.
pub(super) fn beside(path: &RelPath, receipt: &str, number: u32) -> Option<RelPath> {
    let tail = acts::short(&receipt);
    let mark = if number == 0 { format!(".before-{tail}") } else { format!(".before-{tail}-{number}") };
    let name = path.file_name();
    let dot = name.iter().rposition(|byte| *byte == b'.').filter(|at| *at > 0).unwrap_or(name.len());
    let (stem, end) = name.split_at_checked(dot)?;
    // Names are bounded; what is cut off is of the stem, so that the ending still says what it is.
    let end = end.get(..end.len().min(40))?;
    let stem = stem.get(..stem.len().min(180))?;
    path.parent().join(&[stem, mark.as_bytes(), end].concat()).ok()
}
