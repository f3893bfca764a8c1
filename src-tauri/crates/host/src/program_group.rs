//! A program that this one starts with all that comes of it, or gives its place to.

pub(crate) use system::{command, end, gives_place, lead};

#[cfg(unix)]
mod system {
    use std::io::Result;
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::{Child, Command};

    /// What starts the program so that it can be ended with all that it has started.
    pub(crate) fn command(program: &Path) -> Result<Command> {
        Ok(Command::new(program))
    }

    /// The program will lead a group of its own, so that what it starts ends with it.
    pub(crate) fn lead(command: &mut Command) -> Result<()> {
        command.process_group(0);
        Ok(())
    }

    /// Ends every process of its group.
    pub(crate) fn end(child: &Child) {
        if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    /// Gives this process to the program; comes back only where it cannot be started.
    pub(crate) fn gives_place(mut command: Command) -> Result<u8> {
        Err(command.exec())
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::{Error, Result};
    use std::os::windows::process::CommandExt as _;
    use std::path::Path;
    use std::process::{Child, Command};

    /// Its console has no window.
    const NO_WINDOW: u32 = 0x0800_0000;
    /// Its job has bounds that a program of Hermit's own never comes to: bytes of memory, processes at once, and seconds of a processor.
    const BOUNDS: [(&str, u64); 3] = [("--memory", 1 << 40), ("--processes", 1024), ("--cpu", 24 * 60 * 60)];

    /// A job that the program cannot leave is made by `hermit-exec`, which stays beside it and takes nothing else from it.
    pub(crate) fn command(program: &Path) -> Result<Command> {
        let mut command = Command::new(crate::executors::executor().map_err(Error::other)?);
        command.args(["--own", "--host"]).arg(std::process::id().to_string());
        for (name, most) in BOUNDS {
            command.arg(name).arg(most.to_string());
        }
        command.arg("--").arg(program);
        Ok(command)
    }

    pub(crate) fn lead(command: &mut Command) -> Result<()> {
        command.creation_flags(NO_WINDOW);
        Ok(())
    }

    /// What stays beside it is ended by its number, and with it the job.
    pub(crate) fn end(_: &Child) {}

    /// A process cannot be given away here: this one stays, and ends as the program does.
    pub(crate) fn gives_place(mut command: Command) -> Result<u8> {
        let status = command.status()?;
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }
}
