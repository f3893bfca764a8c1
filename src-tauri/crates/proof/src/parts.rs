//! Which parts of the format a bundle has.

use crate::Error;
use crate::container::{Container, Stop};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// How many files a bundle has in each part of the format: in each folder at its top, and beside them; none where it is no
/// bundle by its names or its zip. Says nothing of what is in them.
///
/// # Errors
/// [`Error::Io`] when it cannot be read.
pub fn parts(path: &Path) -> Result<Option<BTreeMap<String, u64>>, Error> {
    let container = match Container::open(path) {
        Ok(container) => container,
        Err(Stop::Failed(error)) => return Err(error),
        Err(Stop::Invalid { .. }) => return Ok(None),
    };
    let found = RefCell::new(BTreeMap::new());
    container.find(&|name| {
        let part = name.split_once('/').map_or(name, |(folder, _)| folder);
        *found.borrow_mut().entry(part.to_owned()).or_insert(0) += 1;
        false
    });
    Ok(Some(found.into_inner()))
}
