//! Whether walls can be put around a program on this system at all.

/// Namespaces and what else is needed for them, by a program that makes them.
#[cfg(target_os = "linux")]
pub(crate) const ARE_BUILT: bool = true;

/// None are built here yet: what depends on them is refused.
#[cfg(not(target_os = "linux"))]
pub(crate) const ARE_BUILT: bool = false;
