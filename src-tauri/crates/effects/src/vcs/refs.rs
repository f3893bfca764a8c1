//! Where refs are, read from the files that git keeps them in: nothing is run to look.

use crate::{Error, Workspace};
use model::RelPath;
use model::vcs::{is_object, is_ref};
use model::witness::Found;

/// Bytes of the file of packed refs that are read.
const PACKED_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of the longest log of a ref that is kept when the ref is deleted.
pub(super) const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of the file of one ref.
pub(super) const LOOSE_BYTES_MAX: u64 = 4096;

/// Where a repository is at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The whole name of the branch; none when no branch is checked out.
    pub branch: Option<String>,
    /// The commit; none when the branch has none yet.
    pub commit: Option<String>,
}

/// The file that git would keep a ref in.
pub(super) fn file_of(name: &str) -> Result<RelPath, Error> {
    if !is_ref(name) {
        return Err(Error::Request(format!("`{name}` is no name of a ref")));
    }
    RelPath::from_bytes(format!(".git/{name}").as_bytes()).map_err(|e| Error::Request(e.to_string()))
}

/// The file of its log.
pub(super) fn log_of(name: &str) -> Result<RelPath, Error> {
    file_of(name)?;
    plain(&format!(".git/logs/{name}"))
}

pub(super) fn plain(text: &str) -> Result<RelPath, Error> {
    RelPath::from_bytes(text.as_bytes()).map_err(|e| Error::Request(e.to_string()))
}

/// Bytes of a file, or none where there is no file.
pub(super) fn bytes_of(workspace: &Workspace, path: &RelPath, most: u64) -> Result<Option<Vec<u8>>, Error> {
    match workspace.read_whole(path, most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_absent() => Ok(None),
        // Where a folder is, there are refs below this name and none of it.
        Err(Error::NotAFile { kind: "a folder", .. } | Error::NotAFolder(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A repository whose refs are in files of its own, in the folder itself.
fn is_readable(workspace: &Workspace) -> Result<(), Error> {
    let here =
        |at: &str| -> Result<bool, Error> { Ok(matches!(workspace.look(&plain(at)?), Found::Folder { .. })) };
    if !here(".git")? {
        let say = "there is no repository of its own in this folder: `.git` is no folder";
        return Err(Error::Request(say.to_owned()));
    }
    if here(".git/reftable")? || !here(".git/refs")? {
        return Err(Error::Request(
            "this repository keeps its refs in a way that cannot be read here".to_owned(),
        ));
    }
    Ok(())
}

/// What a ref is at.
pub(super) fn at(workspace: &Workspace, name: &str) -> Result<Option<String>, Error> {
    is_readable(workspace)?;
    if let Some(bytes) = bytes_of(workspace, &file_of(name)?, LOOSE_BYTES_MAX)? {
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        return match is_object(&text) {
            true => Ok(Some(text)),
            false => Err(Error::Request(format!("`{name}` is at no commit of its own"))),
        };
    }
    let packed = bytes_of(workspace, &plain(".git/packed-refs")?, PACKED_BYTES_MAX)?.unwrap_or_default();
    let packed = String::from_utf8_lossy(&packed).into_owned();
    let line = packed.lines().filter_map(|line| line.split_once(' ')).find(|(_, known)| *known == name);
    Ok(line.map(|(object, _)| object.to_owned()).filter(|object| is_object(object)))
}

/// What is checked out.
pub(super) fn head(workspace: &Workspace) -> Result<Head, Error> {
    is_readable(workspace)?;
    let bytes = bytes_of(workspace, &plain(".git/HEAD")?, LOOSE_BYTES_MAX)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    match text.strip_prefix("ref: ") {
        Some(name) => {
            let name = name.trim();
            let commit = at(workspace, name)?;
            Ok(Head { branch: Some(name.to_owned()), commit })
        }
        None if is_object(&text) => Ok(Head { branch: None, commit: Some(text) }),
        None => Err(Error::Request("what is checked out cannot be told: `.git/HEAD` is broken".to_owned())),
    }
}

/// What is at a ref, for a witness.
pub(super) fn found(workspace: &Workspace, name: &str) -> Found {
    match at(workspace, name) {
        Ok(Some(value)) => Found::Version { value },
        Ok(None) => Found::Absent,
        Err(error) => Found::Unreadable { reason: error.to_string() },
    }
}
