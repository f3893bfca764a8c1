//! Names of the files of a bundle.

/// Name and version of the bundle format.
pub const FORMAT: &str = "hermit-proof/1";
