//! Bytes that will be lost, taken before the act.

use super::precondition;
use crate::{BeforeImage, Error, Executors};
use model::action::{ChangeItem, Prior};
use model::limits::ARTIFACT_BYTES_MAX;
use model::{Digest, RelPath};
use std::collections::BTreeMap;

/// Where the bytes at a path are before the first item, once earlier items have been done.
enum Origin {
    /// On disk, here.
    Disk(RelPath),
    /// In the store.
    Store(Digest),
}

/// What one item takes away.
struct Lost {
    path: RelPath,
    prior: Prior,
    origin: Origin,
}

/// Item by item, also what an earlier item of the set has made or moved.
fn lost(items: &[ChangeItem]) -> Vec<Lost> {
    let mut lost = Vec::new();
    let mut moved: BTreeMap<&RelPath, Origin> = BTreeMap::new();
    for item in items {
        match item {
            ChangeItem::Write { path, prior, .. }
            | ChangeItem::Link { path, prior, .. }
            | ChangeItem::Delete { path, prior } => {
                let origin = moved.remove(path).unwrap_or_else(|| Origin::Disk(path.clone()));
                if matches!(prior, Prior::Sha256(_) | Prior::Link(_)) {
                    lost.push(Lost { path: path.clone(), prior: *prior, origin });
                }
                if let ChangeItem::Write { content_sha256, .. } = item {
                    moved.insert(path, Origin::Store(*content_sha256));
                }
            }
            ChangeItem::Folder { .. } => {}
            ChangeItem::Move { from, to, .. } => {
                let origin = moved.remove(from).unwrap_or_else(|| Origin::Disk(from.clone()));
                moved.insert(to, origin);
            }
        }
    }
    lost
}

/// See [`Executors::before_images`].
pub(crate) fn before<'a>(
    executors: &'a Executors,
    items: &[ChangeItem],
) -> impl Iterator<Item = Result<BeforeImage, Error>> + use<'a> {
    lost(items).into_iter().filter_map(move |lost| image(executors, &lost).transpose())
}

/// See [`Executors::can_keep`].
pub(crate) fn can_keep(executors: &Executors, items: &[ChangeItem]) -> Result<(), Error> {
    for Lost { path, prior, origin } in lost(items) {
        if let (Prior::Sha256(_), Origin::Disk(at)) = (prior, origin)
            && let Ok(stat) = executors.workspace.stat(&at)
            && stat.byte_size > ARTIFACT_BYTES_MAX
        {
            return Err(Error::TooLarge { path, byte_size: stat.byte_size });
        }
    }
    Ok(())
}

fn image(executors: &Executors, Lost { path, prior, origin }: &Lost) -> Result<Option<BeforeImage>, Error> {
    let digest = match prior {
        Prior::Link(digest) => {
            // What a link says is kept as bytes; one that an earlier item of the set makes says so itself.
            let Ok(target) = executors.workspace.parent(path)?.link_target(path.file_name(), path) else {
                return Ok(None);
            };
            precondition::expect_bytes(path, digest, &target)?;
            return Ok(Some((path.clone(), *digest, target)));
        }
        Prior::Sha256(digest) => digest,
        Prior::Absent | Prior::EmptyFolder => return Ok(None),
    };
    let bytes = match origin {
        Origin::Disk(at) => executors.workspace.read_whole(at, ARTIFACT_BYTES_MAX)?,
        Origin::Store(content) => {
            let fail = |why| Error::Content { path: path.clone(), why };
            executors.contents.read(content).map_err(fail)?
        }
    };
    precondition::expect_bytes(path, digest, &bytes)?;
    Ok(Some((path.clone(), *digest, bytes)))
}
