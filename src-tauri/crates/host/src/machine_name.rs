//! The name that the system has for this machine, and its own version.

#[cfg(unix)]
pub(crate) fn machine_name() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

#[cfg(windows)]
pub(crate) fn machine_name() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

/// The version of the system's kernel.
#[cfg(unix)]
pub(crate) fn kernel_release() -> String {
    rustix::system::uname().release().to_str().unwrap_or_default().to_owned()
}

/// No program is told it here without asking for it by a call of its own.
#[cfg(windows)]
pub(crate) fn kernel_release() -> String {
    String::new()
}
