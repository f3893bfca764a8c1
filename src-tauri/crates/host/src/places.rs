//! Where each system keeps what a program has of a person, and what programs are called there.

use std::path::PathBuf;

pub(crate) use system::{APP, EXECUTOR, PROGRAM, persons_home, state, stores};

/// A folder that a variable names whole.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// What may be made anew.
pub(crate) fn cache() -> Option<PathBuf> {
    variable("XDG_CACHE_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(|| Some(variable("HOME")?.join(system::CACHE)))
}

#[cfg(windows)]
mod system {
    use super::variable;
    use std::path::PathBuf;

    /// The file of a program.
    pub(crate) const PROGRAM: &str = "hermit.exe";
    /// The program that runs commands in a sandbox, which is looked for beside it.
    pub(crate) const EXECUTOR: &str = "hermit-exec.exe";
    /// The desktop app.
    pub(crate) const APP: &str = "hermit-desktop.exe";
    pub(super) const CACHE: &str = ".cache";

    /// The person's own folder.
    pub(crate) fn persons_home() -> Option<PathBuf> {
        variable("USERPROFILE")
    }

    /// The folder of a store that nobody named: on this machine, as it does not roam.
    pub(crate) fn stores() -> Result<PathBuf, &'static str> {
        Ok(variable("LOCALAPPDATA").ok_or("`LOCALAPPDATA` is not set")?.join("Hermit"))
    }

    /// What a program remembers and nobody copies: not where stores lie.
    pub(crate) fn state() -> Option<PathBuf> {
        Some(variable("LOCALAPPDATA")?.join("Hermit State"))
    }
}

#[cfg(not(windows))]
mod system {
    use super::variable;
    use std::path::PathBuf;

    /// The file of a program.
    pub(crate) const PROGRAM: &str = "hermit";
    /// The program that runs commands in a sandbox, which is looked for beside it.
    pub(crate) const EXECUTOR: &str = "hermit-exec";
    /// The desktop app.
    pub(crate) const APP: &str = "hermit-desktop";
    #[cfg(target_os = "macos")]
    pub(super) const CACHE: &str = "Library/Caches";
    #[cfg(not(target_os = "macos"))]
    pub(super) const CACHE: &str = ".cache";

    /// The person's own folder.
    pub(crate) fn persons_home() -> Option<PathBuf> {
        variable("HOME")
    }

    /// The folder of a store that nobody named.
    #[cfg(target_os = "macos")]
    pub(crate) fn stores() -> Result<PathBuf, &'static str> {
        Ok(variable("HOME").ok_or("`HOME` is not set")?.join("Library/Application Support/Hermit"))
    }

    /// The folder of a store that nobody named.
    #[cfg(not(target_os = "macos"))]
    pub(crate) fn stores() -> Result<PathBuf, &'static str> {
        let data =
            variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")));
        data.map(|data| data.join("hermit")).ok_or("neither `XDG_DATA_HOME` nor `HOME` is set to a full path")
    }

    #[cfg(target_os = "macos")]
    const STATE: &str = "Library/Application Support/Hermit State";
    #[cfg(not(target_os = "macos"))]
    const STATE: &str = ".local/state/hermit";

    /// What a program remembers and nobody copies: not where stores lie.
    pub(crate) fn state() -> Option<PathBuf> {
        match variable("XDG_STATE_HOME") {
            Some(state) => Some(state.join("hermit")),
            None => Some(variable("HOME")?.join(STATE)),
        }
    }
}
