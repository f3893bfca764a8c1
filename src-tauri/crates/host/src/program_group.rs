//! A program that this one starts with all that comes of it, or gives its place to.

pub(crate) use system::{end, gives_place, lead};

#[cfg(unix)]
mod system {
    use std::io::Result;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};

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
    use std::io::Result;
    use std::process::{Child, Command};

    /// Without one that its children cannot leave nothing is started.
    pub(crate) fn lead(_: &mut Command) -> Result<()> {
        Err(disk::not_on_this_system("a program that ends with all that it has started"))
    }

    /// No group was made.
    pub(crate) fn end(_: &Child) {}

    /// A process cannot be given away here: this one stays, and ends as the program does.
    pub(crate) fn gives_place(mut command: Command) -> Result<u8> {
        let status = command.status()?;
        Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }
}
