//! What the system says of another process, of its own boots and of the machine's name. What it does not say is unknown: a holder
//! is believed to live until the system says otherwise.

/// What the system says of a process.
pub(crate) struct Stat {
    /// It has ended, and whoever started it has not asked how: it holds no file and no lock any more.
    pub dead: bool,
    /// When it started, in ticks since boot.
    pub started_ticks: u64,
}

pub(crate) use system::{boot, is_gone, machine, stat};

#[cfg(unix)]
mod system {
    use super::Stat;

    /// Whether no process has this number.
    pub(crate) fn is_gone(pid: u32) -> bool {
        let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
            return true;
        };
        rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
    }

    /// Fields 3 and 22 of `/proc/PID/stat`; its second field may hold spaces and brackets, so it is cut at the last
    /// bracket.
    pub(crate) fn stat(pid: u32) -> Option<Stat> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let dead = matches!(fields.next()?, "Z" | "X");
        Some(Stat { dead, started_ticks: fields.nth(18)?.parse().ok()? })
    }

    /// The machine's own name for itself, which outlives its boots.
    pub(crate) fn machine() -> Option<String> {
        let text = std::fs::read_to_string("/etc/machine-id").ok()?;
        Some(text.trim().to_owned()).filter(|id| !id.is_empty() && id != "uninitialized")
    }

    /// The boot that ticks count from.
    pub(crate) fn boot() -> Option<String> {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(text.trim().to_owned())
    }
}

/// Nothing is asked here yet, so nothing is known.
#[cfg(not(unix))]
mod system {
    use super::Stat;

    /// Only a number that no process can have is known to be nobody's.
    pub(crate) const fn is_gone(pid: u32) -> bool {
        pid == 0
    }

    pub(crate) const fn stat(_: u32) -> Option<Stat> {
        None
    }

    pub(crate) const fn machine() -> Option<String> {
        None
    }

    pub(crate) const fn boot() -> Option<String> {
        None
    }
}
