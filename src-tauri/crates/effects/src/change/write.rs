//! Writing a file: whole bytes beside it, synced, then in its place in one step.

use super::{Job, place, precondition, step};
use crate::Error;
use crate::system::permissions;
use crate::workspace::folder::Folder;
use cap_std::fs::File;
use model::action::Prior;
use model::fault::Point;
use model::witness::Found;
use model::{Digest, RelPath};
use std::io::Write;

/// What to write.
pub(crate) struct Content<'a> {
    pub(crate) sha256: &'a Digest,
    pub(crate) byte_size: u64,
    pub(crate) mode: Option<u32>,
}

/// Writes `content` at `path`.
pub(crate) fn write(
    job: &mut Job<'_>,
    path: &RelPath,
    content: &Content<'_>,
    prior: &Prior,
) -> Result<(), Error> {
    if matches!(prior, Prior::EmptyFolder) {
        return Err(Error::Request(format!("`{path}` cannot be written where a folder is expected")));
    }
    precondition::expect(path, prior, &job.executors.workspace.look(path))?;
    let bytes = content_bytes(job, path, content)?;
    let mut made = Vec::new();
    let folder = job.executors.workspace.parent_made(path, &mut made);
    job.made.append(&mut made);
    let folder = folder?;
    let result = place_bytes(job, &folder, path, content, &bytes, prior);
    if result.is_err() {
        sweep(job, &folder, path, content.sha256, &bytes);
    }
    result
}

fn content_bytes(job: &Job<'_>, path: &RelPath, content: &Content<'_>) -> Result<Vec<u8>, Error> {
    let fail = |why| Error::Content { path: path.clone(), why };
    let bytes = job.executors.contents.read(content.sha256).map_err(fail)?;
    if Digest::of(&bytes) != *content.sha256 || bytes.len() as u64 != content.byte_size {
        return Err(fail("the stored bytes are not what their digest and size say".to_owned()));
    }
    Ok(bytes)
}

fn place_bytes(
    job: &mut Job<'_>,
    folder: &Folder,
    path: &RelPath,
    content: &Content<'_>,
    bytes: &[u8],
    prior: &Prior,
) -> Result<(), Error> {
    let executors = job.executors;
    let temp = job.temp();
    let new = Found::File { sha256: *content.sha256, byte_size: content.byte_size, mode: content.mode };
    let file = step(executors, Point::ItemWriteTemp, path, || {
        let mut file = folder.create_file(&temp, path)?;
        file.write_all(bytes).map_err(|e| Error::io("writing", path, e))?;
        dress(&file, folder, path, content.mode)?;
        Ok(file)
    })?;
    step(executors, Point::ItemSync, path, || file.sync_all().map_err(|e| Error::io("syncing", path, e)))?;
    drop(file);
    job.changed(folder, path)?;
    step(executors, Point::ItemRename, path, || place::put(job, folder, path, prior, &new))
}

/// Gives the new file the owner and mode of the one it replaces, or the mode the item names.
fn dress(file: &File, folder: &Folder, path: &RelPath, mode: Option<u32>) -> Result<(), Error> {
    let old = folder.stat(path.file_name(), path).ok();
    if let Some((uid, gid)) = old.and_then(|old| old.owner) {
        let now = crate::workspace::entry::Stat::of(
            &file.metadata().map_err(|e| Error::io("looking at", path, e))?,
        );
        if now.owner != Some((uid, gid)) {
            // Only root may give files away; what cannot be given stays ours, and the mode below still holds.
            let _ = permissions::give(file, (uid, gid));
        }
    }
    let Some(mode) = mode.or(old.and_then(|old| old.mode)) else {
        return Ok(());
    };
    permissions::set_bits(file, mode).map_err(|e| Error::io("setting the mode of", path, e))
}

/// Removes this item's temporary file when it holds only our own bytes, whole or in part.
fn sweep(job: &mut Job<'_>, folder: &Folder, path: &RelPath, new: &Digest, bytes: &[u8]) {
    let temp = job.temp();
    let ours = match place::look(folder, &temp, path) {
        Found::File { sha256, byte_size, .. } => {
            let part = usize::try_from(byte_size).ok().and_then(|n| bytes.get(..n));
            sha256 == *new || part.is_some_and(|part| Digest::of(part) == sha256)
        }
        _ => return,
    };
    // What is not ours came out of an exchange that could not be finished: settling decides about it.
    if ours && let Err(error) = folder.remove_file(&temp, path) {
        job.notes.push(format!("a temporary file beside `{path}` is left: {error}"));
    }
}
