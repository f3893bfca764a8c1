//! The looks that a proposal asks for: folders, files, searches and digests.

use crate::RelPath;
use serde::{Deserialize, Serialize};

/// One thing to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum ReadItem {
    /// Entries of a folder, with kind, size and modification time.
    List {
        /// The folder.
        path: RelPath,
        /// Whether folders inside are entered.
        recursive: bool,
    },
    /// A file's bytes.
    Read {
        /// The file.
        path: RelPath,
    },
    /// Some lines of a file.
    Lines {
        /// The file.
        path: RelPath,
        /// The first line, from 1.
        from: u64,
        /// The last line.
        to: u64,
    },
    /// Lines that match a regular expression.
    Search {
        /// Where to begin.
        path: RelPath,
        /// The expression.
        pattern: String,
        /// Which files, as a glob over relative paths.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        glob: Option<String>,
    },
    /// SHA-256 of files below a path.
    Hash {
        /// A file or folder.
        path: RelPath,
    },
    /// SHA-256 of the files of a folder, without those of the folders inside it.
    HashFolder {
        /// The folder.
        path: RelPath,
    },
}
