//! Whether it is a bundle of this version at all: asked first, so that a later format is named as what it is.

use crate::container::Stop;
use crate::{Error, layout};
use std::io::Read as _;
use std::path::Path;

/// Where the first file of a bundle's zip begins: behind its header and its name, which is `README.txt`.
const FIRST_IN_ZIP: usize = 30 + layout::README.len();

/// Refuses a bundle whose README.txt says that it is of another version. One that says nothing is read on.
pub(super) fn refused(path: &Path) -> Result<(), Stop> {
    let facts = std::fs::metadata(path).map_err(|e| Stop::Failed(Error::io("read", path, &e)))?;
    if !facts.is_dir() && !facts.is_file() {
        return Ok(());
    }
    let (file, skip) =
        if facts.is_dir() { (path.join(layout::README), 0) } else { (path.to_owned(), FIRST_IN_ZIP) };
    let mut head = Vec::new();
    // Only a file: a pipe would be waited for. What cannot be read here is told where it is needed.
    if !std::fs::symlink_metadata(&file)
        .is_ok_and(|facts| facts.is_file() || (skip > 0 && facts.is_symlink()))
    {
        return Ok(());
    }
    let Ok(file) = std::fs::File::open(file) else { return Ok(()) };
    if file.take(FIRST_IN_ZIP as u64 + 64).read_to_end(&mut head).is_err() {
        return Ok(());
    }
    let is_ours = skip == 0 || head.get(30..skip) == Some(layout::README.as_bytes());
    let text = String::from_utf8_lossy(head.get(skip..).filter(|_| is_ours).unwrap_or_default());
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.starts_with("hermit-proof/") && first != layout::FORMAT {
        let name: String = first.chars().take(32).flat_map(char::escape_default).collect();
        let why =
            format!("it is a `{name}` bundle, and this program reads {}; use a newer one", layout::FORMAT);
        return Err(Stop::at(layout::README, why));
    }
    Ok(())
}
