//! Arguments as models write them.

use model::RelPath;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Reads a path as a model writes it: as listings spell it (percent-encoded), or plain; `./a/`, `.` and nothing too.
pub fn inside<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RelPath, D::Error> {
    let text = String::deserialize(deserializer)?;
    let mut bare = if text.starts_with('/') { text.as_str() } else { text.trim_end_matches('/') };
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest;
    }
    let bare = if bare == "." { "" } else { bare };
    bare.parse().or_else(|_| RelPath::from_bytes(bare.as_bytes())).map_err(D::Error::custom)
}
