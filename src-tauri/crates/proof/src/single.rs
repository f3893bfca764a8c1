//! One file out of a bundle, for whoever checks that alone.

use crate::container::{Container, Stop};
use std::path::Path;

/// A file of a bundle, of at most `max` bytes; none where the bundle has none of that name. Nothing else of the bundle is checked
/// but that it could be one.
///
/// # Errors
/// Why it cannot be read, in words.
pub fn file_of(path: &Path, name: &str, max: u64) -> Result<Option<Vec<u8>>, String> {
    let said = |stop: Stop| match stop {
        Stop::Invalid { place, why } => format!("`{place}`: {why}"),
        Stop::Failed(error) => error.to_string(),
    };
    let container = Container::open(path).map_err(said)?;
    container.size(name).map(|_| container.read(name, max).map_err(said)).transpose()
}
