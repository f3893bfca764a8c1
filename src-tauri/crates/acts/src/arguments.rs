//! Arguments as models write them.

use model::RelPath;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Reads a path as a model writes it: as listings spell it (percent-encoded), or plain; `./a/`, `.` and nothing too.
pub fn inside<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RelPath, D::Error> {
    as_written(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The path of a text that a model wrote, in the spelling of listings or plain.
///
/// # Errors
/// [`model::Error::Path`] when absolute, climbing, or malformed.
pub fn as_written(text: &str) -> Result<RelPath, model::Error> {
    let mut bare = if text.starts_with('/') { text } else { text.trim_end_matches('/') };
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest;
    }
    let bare = if bare == "." { "" } else { bare };
    bare.parse().or_else(|_| RelPath::from_bytes(bare.as_bytes()))
}

/// Reads a text that says something.
pub fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if !text.trim().is_empty() {
        return Ok(text);
    }
    Err(D::Error::custom("an argument is empty that must say something"))
}

/// Reads a list of paths of files.
pub fn files<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RelPath>, D::Error> {
    #[derive(Deserialize)]
    struct One(#[serde(deserialize_with = "file")] RelPath);
    Ok(Vec::<One>::deserialize(deserializer)?.into_iter().map(|one| one.0).collect())
}

/// Reads the path of a file: not of the workspace itself.
pub fn file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RelPath, D::Error> {
    let path = inside(deserializer)?;
    if !path.is_root() {
        return Ok(path);
    }
    Err(D::Error::custom("the path names the workspace itself; name a file in it"))
}
