//! A program and all that it starts, which end together.

pub(crate) use system::{end, has_ended, lead, signal};

#[cfg(unix)]
mod system {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    use std::io::Result;
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::process::{Child, Command, ExitStatus};

    fn number(child: &Child) -> Option<Pid> {
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }

    /// The program will lead a group of its own.
    pub(crate) fn lead(command: &mut Command) -> Result<()> {
        command.process_group(0);
        Ok(())
    }

    /// Ends every process of the group.
    pub(crate) fn end(child: &Child) {
        if let Some(group) = number(child) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Whether the first process has ended. It is left unburied, so that its number still names its group.
    pub(crate) fn has_ended(child: &mut Child) -> bool {
        let Some(pid) = number(child) else {
            return true;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }

    /// The signal that ended it, where one did.
    pub(crate) fn signal(status: &ExitStatus) -> Option<i32> {
        status.signal()
    }
}

#[cfg(windows)]
mod system {
    use std::io::Result;
    use std::os::windows::process::CommandExt as _;
    use std::process::{Child, Command, ExitStatus};

    /// Its console has no window.
    const NO_WINDOW: u32 = 0x0800_0000;

    /// What ends with all that it has started is a job, which `hermit-exec` makes and holds: it ends with that program.
    pub(crate) fn lead(command: &mut Command) -> Result<()> {
        command.creation_flags(NO_WINDOW);
        Ok(())
    }

    /// The first process is ended by its number, and with it the job.
    pub(crate) fn end(_: &Child) {}

    pub(crate) fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    /// A program ends with a number alone here.
    pub(crate) fn signal(_: &ExitStatus) -> Option<i32> {
        None
    }
}
