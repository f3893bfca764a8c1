//! Folders that a person names.

use crate::Home;
use std::path::{Path, PathBuf};

/// The folder a person names to work in, absolute and canonical: it is there, can be read, and holds nothing of Hermit's own.
pub(super) fn to_work_in(home: &Home, path: &Path) -> Result<PathBuf, wire::Error> {
    let shown = path.display();
    let missing = |why: String| {
        wire::Error::new(wire::Code::NotFound, format!("cannot work in `{shown}`: {why}"))
            .hint("name a folder that is there and that you may read")
    };
    let root = path.canonicalize().map_err(|e| missing(e.to_string()))?;
    if !root.is_dir() {
        return Err(missing("it is no folder".to_owned()));
    }
    std::fs::read_dir(&root).map_err(|e| missing(e.to_string()))?;
    let store = home.dir().canonicalize().unwrap_or_else(|_| home.dir().to_owned());
    if root.starts_with(&store) {
        return Err(wire::Error::new(wire::Code::Refused, format!("`{shown}` is Hermit's own store"))
            .hint("name another folder"));
    }
    crate::keys::refuse_above_passphrase(&root)?;
    Ok(root)
}
