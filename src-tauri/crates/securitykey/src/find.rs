//! Keys that are plugged in.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use crate::{Device, Error};
use std::path::PathBuf;

/// A security key that is plugged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it calls itself.
    pub name: String,
    /// Where it is.
    pub place: PathBuf,
}

impl Found {
    /// Opens a way to it.
    ///
    /// # Errors
    /// [`Error::Closed`] when this process may not, [`Error::Gone`] when it was taken out.
    pub fn open(&self) -> Result<Box<dyn Device>, Error> {
        system::open(self)
    }
}

/// Security keys that are plugged in, by their places.
///
/// # Errors
/// [`Error::Unsupported`] where they cannot be looked for.
pub fn plugged_in() -> Result<Vec<Found>, Error> {
    system::plugged_in()
}

#[cfg(not(target_os = "linux"))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;
