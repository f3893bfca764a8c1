//! The name that the system has for this machine.

#[cfg(unix)]
pub(crate) fn machine_name() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

#[cfg(windows)]
pub(crate) fn machine_name() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}
