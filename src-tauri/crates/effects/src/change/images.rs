//! Bytes that will be lost, taken before the act.

use super::prior;
use crate::{BeforeImage, Error, Hands};
use model::action::{ChangeItem, Prior};
use model::limits::ARTIFACT_BYTES_MAX;
use model::{Digest, RelPath};
use std::collections::BTreeMap;

/// Where the bytes at a path are before the first item, once earlier items have been done.
#[derive(Clone)]
enum Origin {
    /// On disk, here.
    Disk(RelPath),
    /// In the store.
    Store(Digest),
}

/// See [`Hands::before_images`].
pub(crate) fn before(hands: &Hands, items: &[ChangeItem]) -> Result<Vec<BeforeImage>, Error> {
    let mut images = Vec::new();
    let mut moved: BTreeMap<&RelPath, Origin> = BTreeMap::new();
    for item in items {
        match item {
            ChangeItem::Write { path, prior, content_sha256, .. } => {
                images.extend(image(hands, path, prior, &moved)?);
                moved.insert(path, Origin::Store(*content_sha256));
            }
            ChangeItem::Link { path, prior, .. } => {
                images.extend(image(hands, path, prior, &moved)?);
                moved.remove(path);
            }
            ChangeItem::Folder { .. } => {}
            ChangeItem::Delete { path, prior } => {
                images.extend(image(hands, path, prior, &moved)?);
                moved.remove(path);
            }
            ChangeItem::Move { from, to, .. } => {
                let origin = moved.remove(from).unwrap_or_else(|| Origin::Disk(from.clone()));
                moved.insert(to, origin);
            }
        }
    }
    Ok(images)
}

fn image(
    hands: &Hands,
    path: &RelPath,
    prior: &Prior,
    moved: &BTreeMap<&RelPath, Origin>,
) -> Result<Option<BeforeImage>, Error> {
    if let Prior::Link(digest) = prior {
        // What a link says is kept as bytes; one that an earlier item of the set makes says so itself.
        let Ok(target) = hands.workspace.parent(path)?.link_target(path.file_name(), path) else {
            return Ok(None);
        };
        prior::expect_bytes(path, digest, &target)?;
        return Ok(Some((path.clone(), *digest, target)));
    }
    let Prior::Sha256(digest) = prior else {
        return Ok(None);
    };
    let bytes = match moved.get(path).cloned().unwrap_or_else(|| Origin::Disk(path.clone())) {
        Origin::Disk(at) => hands.workspace.read_whole(&at, ARTIFACT_BYTES_MAX)?,
        Origin::Store(content) => {
            let fail = |why| Error::Content { path: path.clone(), why };
            hands.contents.read(&content).map_err(fail)?
        }
    };
    prior::expect_bytes(path, digest, &bytes)?;
    Ok(Some((path.clone(), *digest, bytes)))
}
