//! Running other programs, and saying what is going on.

use crate::Problem;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// One line to the person, on the error stream so that data on the output stream stays clean.
pub fn say(line: &str) {
    eprintln!("hermit: {line}");
}

/// Whether the program answers, whatever it says.
pub fn answers(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs to the end with this terminal's streams; an error unless it succeeds.
pub fn run(command: &mut Command) -> Result<(), Problem> {
    let shown = spelled(command);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` failed ({status})")),
        Err(error) => Err(format!("`{shown}` could not be started: {error}")),
    }
}

/// Becomes the other program where the system can do that, so that a signal to this one reaches it; elsewhere
/// waits for it and takes its exit code over.
pub fn hand_over(command: &mut Command) -> Result<ExitCode, Problem> {
    let shown = spelled(command);
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(command);
        Err(format!("`{shown}` could not be started: {error}"))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(|e| format!("`{shown}` could not be started: {e}"))?;
        Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
    }
}

/// Lends a folder to a place elsewhere, by a link.
pub fn lend(folder: &Path, to: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder, to)
    }
    #[cfg(windows)]
    {
        std::os::windows::fs::symlink_dir(folder, to)
    }
}

/// The command as a person would type it.
pub fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Another command with the same program, words, environment and folder.
pub fn like(command: &Command) -> Command {
    let mut another = Command::new(command.get_program());
    another.args(command.get_args());
    tell_the_same(command, &mut another);
    another
}

/// Tells a command what another one is told by its environment, and where it runs.
pub fn tell_the_same(of: &Command, to: &mut Command) {
    for (name, value) in of.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
    if let Some(folder) = of.get_current_dir() {
        to.current_dir(folder);
    }
}

/// Whether this is a run of CI.
pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|ci| !ci.is_empty() && ci != "false" && ci != "0")
}
