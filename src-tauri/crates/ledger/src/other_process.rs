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

    /// Fields 3 and 22 of `/proc/PID/stat`; its second field may hold anything, also brackets and what is no UTF-8, so it is cut at
    /// the last bracket.
    pub(crate) fn stat(pid: u32) -> Option<Stat> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
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

#[cfg(windows)]
mod system {
    use super::Stat;
    use win32::Running;

    pub(crate) fn is_gone(pid: u32) -> bool {
        // Nothing that could hold a store has the number zero.
        pid == 0 || win32::running(pid) == Running::Gone
    }

    /// It is told by the moment at which it began, which no other process of its number has.
    pub(crate) fn stat(pid: u32) -> Option<Stat> {
        match win32::running(pid) {
            Running::Since(started_ticks) => Some(Stat { dead: false, started_ticks }),
            Running::Ended => Some(Stat { dead: true, started_ticks: 0 }),
            Running::Gone | Running::Unknown => None,
        }
    }

    /// The machine's own name for itself, which outlives its boots.
    pub(crate) fn machine() -> Option<String> {
        win32::machine().ok().filter(|name| !name.is_empty())
    }

    /// The moments of [`stat`] count from no boot.
    pub(crate) const fn boot() -> Option<String> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_whose_name_is_no_text_is_told_as_any_other() {
        const NAME: &str = "/proc/self/comm";
        let (own, before) = (std::process::id(), std::fs::read(NAME).unwrap());
        let named = stat(own).unwrap();
        std::fs::write(NAME, b"a\xff) b").unwrap();
        let otherwise = stat(own);
        std::fs::write(NAME, before.trim_ascii_end()).unwrap();
        let otherwise = otherwise.unwrap();
        assert!(!otherwise.dead);
        assert_eq!(otherwise.started_ticks, named.started_ticks);
    }
}
