//! The project that a folder says it belongs to: the git remote that its repository's own configuration names.
//!
//! Git is never run, and nothing of the configuration but one address is used: no include is followed, no alias, no
//! rewriting rule. Whoever writes into the folder writes this as well, so that it is a claim: it tells what belongs
//! together, and grants nothing.

mod config;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A configuration is a few kilobytes; a larger one is not read.
const CONFIG_BYTES_MAX: u64 = 256 * 1024;
/// A file that points to a folder holds one path.
const POINTER_BYTES_MAX: u64 = 4 * 1024;

/// The address of the remote of the repository at this folder, as host and path, the same however it is spelled; none
/// where there is no repository, no one remote, or only one on this machine.
pub fn remote(root: &Path) -> Option<String> {
    let repository = repository(root)?;
    config::address(&bytes(&repository.join("config"), CONFIG_BYTES_MAX)?)
}

/// The folder with the repository's configuration: `.git`, or where that file points to, and from a worktree's the one
/// that all worktrees share.
fn repository(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let found = std::fs::symlink_metadata(&git).ok()?;
    let own = if found.is_dir() {
        git
    } else {
        let text = bytes(&git, POINTER_BYTES_MAX)?;
        pointed(root, std::str::from_utf8(&text).ok()?.strip_prefix("gitdir:")?)?
    };
    match bytes(&own.join("commondir"), POINTER_BYTES_MAX) {
        Some(text) => pointed(&own, std::str::from_utf8(&text).ok()?),
        None => Some(own),
    }
}

/// The path that stands in such a file, from where it stands.
fn pointed(from: &Path, text: &str) -> Option<PathBuf> {
    let path = text.trim();
    (!path.is_empty() && !path.contains(['\n', '\0'])).then(|| from.join(path))
}

/// The bytes of a regular file that is no link, unless there are more.
fn bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let file = open(path).ok()?;
    // What was looked at may have been exchanged before it was opened.
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (u64::try_from(bytes.len()).ok()? <= most).then_some(bytes)
}

/// A link is not followed, and a pipe is not waited for.
fn open(path: &Path) -> std::io::Result<File> {
    disk::open_unfollowed(path)
}

#[cfg(test)]
mod tests;
