//! The walls as arguments, and putting them up.

use crate::Error;
use std::ffi::OsString;
use std::path::PathBuf;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Walls {
    /// `--read`: places that may be read and run from.
    pub read: Vec<PathBuf>,
    /// `--write`: places where anything may be done.
    pub write: Vec<PathBuf>,
    /// `--network`: whether sockets of the internet may be made.
    pub network: bool,
    /// `--proxy`: the way out is a socket, and a bridge leads there from the address a command expects a proxy at.
    pub proxy: bool,
    /// `--started`: standard input is the file to mark.
    pub started: bool,
    /// `--shared`: no namespaces stand around it, so nobody may leave the process group or reach another process.
    pub shared: bool,
    /// `--no-local-sockets`: sockets of this machine can be made in pairs only, which reach nobody else.
    pub no_local_sockets: bool,
    /// `--no-held-memory`: no memory can be made that the system keeps and no process shows as its own.
    pub no_held_memory: bool,
    /// `--tells`: stay beside the command, and tell on the standard error how it ended and what it used.
    pub tells: bool,
    /// `--require-landlock`: end when Landlock does not stand.
    pub require_landlock: bool,
    /// `--check`: put everything up, say what stands, run nothing.
    pub check: bool,
    /// `--memory`: bytes that one process may fill.
    pub memory: Option<u64>,
    /// `--processes`: processes at once.
    pub processes: Option<u64>,
    /// `--file-size`: bytes of one file.
    pub file_size: Option<u64>,
    /// `--cpu`: seconds of one process.
    pub cpu: Option<u64>,
}

/// What stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confinement {
    /// `full`, `part` or `none`.
    pub landlock: &'static str,
    /// Whether system calls are filtered.
    pub seccomp: bool,
}

impl std::fmt::Display for Confinement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "landlock={} seccomp={}", self.landlock, if self.seccomp { "yes" } else { "no" })
    }
}

impl Walls {
    /// Reads arguments up to `--`; what follows is the command.
    ///
    /// # Errors
    /// [`Error::Argument`] for one that is unknown, lacks its value, or has no number where one is needed.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<(Self, Vec<OsString>), Error> {
        let mut walls = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let unknown = || Error::Argument(argument.to_string_lossy().into_owned());
            let mut value = || arguments.next().ok_or_else(unknown);
            match argument.to_str().ok_or_else(unknown)? {
                "--" => return Ok((walls, arguments.collect())),
                "--read" => walls.read.push(value()?.into()),
                "--write" => walls.write.push(value()?.into()),
                "--network" => walls.network = true,
                "--proxy" => walls.proxy = true,
                "--started" => walls.started = true,
                "--shared" => walls.shared = true,
                "--no-local-sockets" => walls.no_local_sockets = true,
                "--no-held-memory" => walls.no_held_memory = true,
                "--tells" => walls.tells = true,
                "--require-landlock" => walls.require_landlock = true,
                "--check" => walls.check = true,
                "--memory" => walls.memory = Some(number(&value()?)?),
                "--processes" => walls.processes = Some(number(&value()?)?),
                "--file-size" => walls.file_size = Some(number(&value()?)?),
                "--cpu" => walls.cpu = Some(number(&value()?)?),
                _ => return Err(unknown()),
            }
        }
        Ok((walls, Vec::new()))
    }

    /// Puts every wall up around this process, for good.
    ///
    /// # Errors
    /// [`Error::Wall`] with the first that does not stand and was asked for.
    #[cfg(target_os = "linux")]
    pub fn raise(&self) -> Result<Confinement, Error> {
        crate::limits::set(self)?;
        rustix::thread::set_no_new_privs(true).map_err(|e| Error::wall("no new privileges", e))?;
        let landlock = crate::landlocked::restrict(self)?;
        if self.require_landlock && landlock == "none" {
            return Err(Error::wall("Landlock", "this kernel does not have it"));
        }
        crate::syscalls::filter(self)?;
        Ok(Confinement { landlock, seccomp: true })
    }

    /// Puts every wall up that this system has.
    ///
    /// # Errors
    /// [`Error::Wall`]: there are none here yet.
    #[cfg(not(target_os = "linux"))]
    pub fn raise(&self) -> Result<Confinement, Error> {
        Err(Error::Wall {
            wall: "the sandbox",
            why: "this system's walls are not built by hermit-exec".to_owned(),
        })
    }
}

fn number(text: &OsString) -> Result<u64, Error> {
    let unknown = || Error::Argument(text.to_string_lossy().into_owned());
    text.to_str().ok_or_else(unknown)?.parse().map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<(Walls, Vec<OsString>), Error> {
        Walls::parse(words.iter().map(OsString::from))
    }

    #[test]
    fn what_follows_two_dashes_is_the_command_whatever_it_looks_like() {
        let (walls, command) =
            parse(&["--read", "/usr", "--memory", "7", "--tells", "--", "echo", "--network"]).unwrap();
        assert_eq!(walls.read, [PathBuf::from("/usr")]);
        assert_eq!(walls.memory, Some(7));
        assert!(!walls.network && walls.tells);
        assert_eq!(command, ["echo", "--network"]);
    }

    #[test]
    fn an_unknown_word_a_missing_value_and_a_bad_number_are_refused() {
        for words in [&["--unknown"][..], &["echo"], &["--read"], &["--memory", "much"], &["--cpu", "-1"]] {
            assert!(matches!(parse(words), Err(Error::Argument(_))), "{words:?}");
        }
    }
}
