//! What the words of a command lead to, and what a staged run of it leaves behind.

use crate::RelPath;
use seal::Digest;
use serde::{Deserialize, Serialize};

/// What the words of a command lead to, looked up before anybody is asked: files, programs, and what it does not see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Files of the folder that its words name, or that a program it names would run, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RelPath>,
    /// Programs that its words name, as they would be found, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// Places that look like keys or passwords and that its words do not name: it does not see what is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<RelPath>,
    /// Places that look like keys or passwords and that it can see: its words name them, or nothing hides them from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<RelPath>,
    /// Those of `secrets` that it could see and has nothing to do with: its words name none of them, and what it does reads none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_sight: Vec<RelPath>,
    /// Why not everything that it could see is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsure: Option<String>,
}

/// A program as the word for it would be resolved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The word.
    pub name: String,
    /// Where it is, with every link followed.
    pub path: String,
    /// Digest of its bytes.
    pub sha256: Digest,
}

/// A place that the folder's own ignore rules name, and how much a staged run changed there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The place; the root stands for all further ones together.
    pub path: RelPath,
    /// Entries made, changed or taken away at or below it.
    pub entries: u64,
}
