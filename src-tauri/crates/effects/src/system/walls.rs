//! Whether walls can be put around a program on this system at all, and what makes them. What they leave open is computed and
//! rendered elsewhere, on every system alike.

pub(crate) use system::{ARE_BUILT, PATH, SEATBELT, SYSTEM};

/// A system, as far as walls differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "a program is built for one of them")]
pub(crate) enum System {
    /// Namespaces, Landlock and seccomp, by bubblewrap and `hermit-exec`.
    Linux,
    /// A Seatbelt profile, by `sandbox-exec`.
    MacOs,
    /// An AppContainer and a job object, by nobody yet.
    Windows,
}

#[cfg(target_os = "linux")]
mod system {
    use super::System;

    pub(crate) const SYSTEM: System = System::Linux;

    /// Namespaces and what else is needed for them, by a program that makes them.
    pub(crate) const ARE_BUILT: bool = true;

    /// No program here reads a Seatbelt profile.
    pub(crate) const SEATBELT: Option<&str> = None;

    /// Where programs are looked for.
    pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
}

#[cfg(target_os = "macos")]
mod system {
    use super::System;

    pub(crate) const SYSTEM: System = System::MacOs;

    /// A profile, by a program that comes with the system.
    pub(crate) const ARE_BUILT: bool = true;

    /// The program that puts itself behind a profile and becomes the command; it lies where nobody can write.
    pub(crate) const SEATBELT: Option<&str> = Some("/usr/bin/sandbox-exec");

    pub(crate) const PATH: &str = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
}

/// None are built here yet: what depends on them is refused.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod system {
    use super::System;

    pub(crate) const SYSTEM: System = System::Windows;

    pub(crate) const ARE_BUILT: bool = false;

    pub(crate) const SEATBELT: Option<&str> = None;

    pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
}
