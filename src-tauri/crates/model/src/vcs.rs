//! Changes of version control, as they are proposed, judged, shown and made (governance.md 5).

use crate::{RelPath, limits};
use seal::Digest;
use serde::{Deserialize, Serialize};

/// One file of a commit, as it must be when the commit is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tracked {
    /// Where.
    pub path: RelPath,
    /// Digest of its bytes; none: it is not there any more, and the commit takes it away.
    pub sha256: Option<Digest>,
    /// Whether it may be run.
    pub executable: bool,
}

/// One change of version control: one ref, by compare-and-swap, on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum VcsChange {
    /// A commit of these files on top of what a branch is at; every other file stays as it is there.
    Commit {
        /// The whole name of the branch, `refs/heads/…`.
        branch: String,
        /// Where it is now; none: it has no commit yet.
        prior: Option<String>,
        /// The files.
        files: Vec<Tracked>,
        /// What is said of it.
        message: String,
    },
    /// A new branch or a new tag.
    Name {
        /// Its whole name, `refs/heads/…` or `refs/tags/…`; nothing may have it yet.
        name: String,
        /// The commit it names.
        at: String,
    },
    /// A branch or tag that nobody has checked out is pointed at another commit.
    Move {
        /// Its whole name.
        name: String,
        /// Where it is now.
        from: String,
        /// Where it goes.
        to: String,
        /// Whether what it goes to must come after what it leaves, so that it leaves nothing behind.
        forward: bool,
    },
    /// A branch or tag that nobody has checked out goes; its commits stay for as long as git keeps them.
    Delete {
        /// Its whole name.
        name: String,
        /// Where it is now.
        at: String,
    },
}

impl VcsChange {
    /// The ref that moves.
    pub fn moves(&self) -> &str {
        match self {
            Self::Commit { branch, .. } => branch,
            Self::Name { name, .. } | Self::Move { name, .. } | Self::Delete { name, .. } => name,
        }
    }

    /// Whether commits may be left behind that no other name leads to.
    pub const fn loses(&self) -> bool {
        matches!(self, Self::Delete { .. } | Self::Move { forward: false, .. })
    }

    /// Where that must be before; none: nowhere.
    pub fn prior(&self) -> Option<&str> {
        match self {
            Self::Commit { prior, .. } => prior.as_deref(),
            Self::Name { .. } => None,
            Self::Move { from: at, .. } | Self::Delete { at, .. } => Some(at),
        }
    }

    /// The files it takes in.
    pub fn files(&self) -> &[Tracked] {
        match self {
            Self::Commit { files, .. } => files,
            Self::Name { .. } | Self::Move { .. } | Self::Delete { .. } => &[],
        }
    }

    /// Whether it can be made as it stands.
    ///
    /// # Errors
    /// Why not, in words for whoever proposed it.
    pub fn check(&self) -> Result<(), String> {
        let name = self.moves();
        let tag_or_branch = name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
        if !is_ref(name) || !tag_or_branch {
            return Err(format!("`{name}` is no name of a branch or tag"));
        }
        match self {
            Self::Name { at, .. } | Self::Delete { at, .. } if !is_object(at) => {
                Err(format!("`{at}` is no commit"))
            }
            Self::Move { from, to, .. } if !is_object(from) || !is_object(to) => {
                Err(format!("`{from}` and `{to}` are not both commits"))
            }
            Self::Move { from, to, .. } if from == to => Err(format!("`{name}` is at {to} already")),
            Self::Name { .. } | Self::Move { .. } | Self::Delete { .. } => Ok(()),
            Self::Commit { branch, prior, files, message } => {
                if !branch.starts_with("refs/heads/") || prior.as_ref().is_some_and(|at| !is_object(at)) {
                    return Err("a commit goes on top of a branch".to_owned());
                }
                if !(1..=limits::COMMIT_FILES_MAX).contains(&files.len()) {
                    return Err(format!("a commit names 1 to {} files", limits::COMMIT_FILES_MAX));
                }
                let mut paths: Vec<&RelPath> = files.iter().map(|file| &file.path).collect();
                paths.sort();
                paths.dedup();
                if paths.len() != files.len() {
                    return Err("a file stands there twice".to_owned());
                }
                files.iter().try_for_each(|file| fits(&file.path))?;
                if message.trim().is_empty() || message.len() > limits::COMMIT_MESSAGE_BYTES_MAX {
                    return Err(format!("a message has 1 to {} bytes", limits::COMMIT_MESSAGE_BYTES_MAX));
                }
                if message.contains('\0') { Err("a message holds no zero byte".to_owned()) } else { Ok(()) }
            }
        }
    }
}

fn fits(path: &RelPath) -> Result<(), String> {
    let inside = crate::file_name::has_part(path.as_bytes(), &[".git"]);
    let text = std::str::from_utf8(path.as_bytes());
    if path.is_root() || inside || text.is_err() || path.as_bytes().contains(&b'\n') {
        return Err(format!("`{path}` cannot be committed from here"));
    }
    Ok(())
}

/// Whether a text is an object's name: SHA-1 or SHA-256, in small hexadecimal digits.
pub fn is_object(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a text is the whole name of a ref, of plain characters only: stricter than git, which takes more.
pub fn is_ref(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'+' | b'@');
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-', '@'])
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    text.len() <= 200
        && text.starts_with("refs/")
        && text.bytes().all(letter)
        && !text.contains("..")
        && text.split('/').all(part)
}
