//! The walls of Windows as arguments. There a program cannot take rights from itself and become another one: this one stays,
//! starts the command with a lesser token in a job, waits for it and ends with its number. When it is ended, the job is.

use crate::Error;
use std::ffi::OsString;

/// As whom the command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum As {
    /// `--container SID`: in the container for which this stands.
    Container(String),
    /// `--restricted SID`: under a restricted token that is looked at a second time in this one's name.
    Restricted(String),
    /// `--own`: as whoever runs Hermit; only its job holds it.
    Own,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confined {
    /// As whom.
    pub token: As,
    /// `--host`: the process with which it all ends.
    pub host: u32,
    /// `--memory`: bytes that one process may fill, and all together.
    pub memory: u64,
    /// `--processes`: processes at once.
    pub processes: u64,
    /// `--cpu`: seconds of one process.
    pub cpu: u64,
    /// The program and its arguments.
    pub words: Vec<OsString>,
}

impl Confined {
    /// Reads arguments up to `--`; what follows is the command. Every one is needed, so that none is forgotten.
    ///
    /// # Errors
    /// [`Error::Argument`] for one that is unknown, is not there, lacks its value, or has no number where one is needed.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        let (mut token, mut host, mut memory, mut processes, mut cpu) = (None, None, None, None, None);
        let mut arguments = arguments.into_iter();
        let lacks = |name: &str| Error::Argument(name.to_owned());
        while let Some(argument) = arguments.next() {
            let unknown = || lacks(&argument.to_string_lossy());
            let mut value = || {
                let value = arguments.next().and_then(|value| value.into_string().ok());
                value.ok_or_else(unknown)
            };
            match argument.to_str().ok_or_else(unknown)? {
                "--" => {
                    let words: Vec<OsString> = arguments.collect();
                    return Ok(Self {
                        token: token.ok_or_else(|| lacks("--container"))?,
                        host: host.ok_or_else(|| lacks("--host"))?,
                        memory: memory.ok_or_else(|| lacks("--memory"))?,
                        processes: processes.ok_or_else(|| lacks("--processes"))?,
                        cpu: cpu.ok_or_else(|| lacks("--cpu"))?,
                        words: Some(words).filter(|words| !words.is_empty()).ok_or_else(|| lacks("--"))?,
                    });
                }
                "--container" => token = Some(As::Container(value()?)),
                "--restricted" => token = Some(As::Restricted(value()?)),
                "--own" => token = Some(As::Own),
                "--host" => host = Some(value()?.parse().map_err(|_| unknown())?),
                "--memory" => memory = Some(value()?.parse().map_err(|_| unknown())?),
                "--processes" => processes = Some(value()?.parse().map_err(|_| unknown())?),
                "--cpu" => cpu = Some(value()?.parse().map_err(|_| unknown())?),
                _ => return Err(unknown()),
            }
        }
        Err(lacks("--"))
    }
}

/// The process after `--console`, which is to be looked at; none where something else is asked for.
///
/// # Errors
/// [`Error::Argument`] where no number of a process follows, or more than one word.
pub fn asked_of_console(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<u32>, Error> {
    let mut arguments = arguments.into_iter();
    if arguments.next().is_none_or(|first| first != "--console") {
        return Ok(None);
    }
    let process = arguments.next().and_then(|word| word.to_str()?.parse().ok());
    match (process, arguments.next()) {
        (Some(process), None) => Ok(Some(process)),
        _ => Err(Error::Argument("--console".to_owned())),
    }
}

#[cfg(windows)]
pub use system::{found, run};

#[cfg(windows)]
mod system {
    use super::{As, Confined};
    use crate::{Error, NOT_FOUND, NOT_STARTED, WALLS_FAILED};
    use std::ffi::OsStr;
    use std::os::windows::ffi::OsStrExt as _;
    use std::path::PathBuf;
    use win32::access::Sid;
    use win32::arguments::{batch_line, candidates, command_line, is_batch};
    use win32::tokens::{Limits, Token};

    /// What reads batch files; it lies where nobody can write.
    const SHELL: &str = r"C:\Windows\System32\cmd.exe";

    /// Runs the command to its end; its number, or one that says why there is none, which is then told on the standard error.
    ///
    /// # Errors
    /// [`Error::Argument`] where somebody in whose name it is to run is written as nobody is.
    pub fn run(confined: &Confined) -> Result<u32, Error> {
        let sid = |written: &String| written.parse::<Sid>().map_err(|_| Error::Argument(written.clone()));
        let token = match &confined.token {
            As::Container(who) => Token::Container(sid(who)?),
            As::Restricted(who) => Token::Restricted(sid(who)?),
            As::Own => Token::Own,
        };
        let limits = Limits {
            processes: confined.processes,
            memory_bytes: confined.memory,
            cpu_seconds: confined.cpu,
        };
        let Some((name, arguments)) = confined.words.split_first() else {
            return Err(Error::Argument("--".to_owned()));
        };
        let Some(program) = found(name) else {
            return Ok(told(name, "there is no such program", NOT_FOUND));
        };
        let arguments: Vec<Vec<u16>> = arguments.iter().map(|word| wide(word)).collect();
        let (starts, line) = if is_batch(&program.to_string_lossy()) {
            let shell = PathBuf::from(SHELL);
            let line = batch_line(&wide(SHELL.as_ref()), &wide(program.as_os_str()), &arguments);
            (shell, line)
        } else {
            let line = command_line(&wide(program.as_os_str()), &arguments);
            (program, line)
        };
        let line = match line {
            Ok(line) => line,
            Err(why) => return Ok(told(name, &why.to_string(), NOT_STARTED)),
        };
        match win32::run(&token, limits, confined.host, &starts, &line) {
            Ok(code) => Ok(code),
            Err(why @ win32::Failed::Wall(..)) => Ok(told(name, &why.to_string(), WALLS_FAILED)),
            Err(why @ win32::Failed::Start(_)) => Ok(told(name, &why.to_string(), NOT_STARTED)),
        }
    }

    fn told(name: &OsStr, why: &str, code: u8) -> u32 {
        eprintln!("hermit-exec: `{}` could not be started: {why}", name.to_string_lossy());
        u32::from(code)
    }

    fn wide(word: &OsStr) -> Vec<u16> {
        word.encode_wide().collect()
    }

    /// The program that a name means; a name that is no Unicode means none.
    #[must_use]
    pub fn found(name: &OsStr) -> Option<PathBuf> {
        let begins = std::env::current_dir().ok()?;
        let path = std::env::var("PATH").unwrap_or_default();
        let places = candidates(name.to_str()?, begins.to_str()?, &path);
        places.into_iter().map(PathBuf::from).find(|place| place.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Confined, Error> {
        Confined::parse(words.iter().map(OsString::from))
    }

    const LIMITS: [&str; 8] = ["--host", "9", "--memory", "4096", "--processes", "8", "--cpu", "60"];

    #[test]
    fn what_follows_two_dashes_is_the_command_whatever_it_looks_like() {
        let words = [&["--restricted", "S-1-9-1"][..], &LIMITS, &["--", "cmd", "--own", "--"]].concat();
        let confined = parse(&words).unwrap();
        assert_eq!(confined.token, As::Restricted("S-1-9-1".to_owned()));
        assert_eq!((confined.host, confined.memory, confined.processes, confined.cpu), (9, 4096, 8, 60));
        assert_eq!(confined.words, ["cmd", "--own", "--"]);
    }

    /// A bound or a wall that is forgotten would be none.
    #[test]
    fn nothing_may_be_left_out() {
        let whole = [&["--own"][..], &LIMITS, &["--", "cmd"]].concat();
        assert!(parse(&whole).is_ok());
        for at in [0, 1, 3, 5, 7] {
            let lacks: Vec<&str> =
                whole.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, w)| *w).collect();
            assert!(matches!(parse(&lacks), Err(Error::Argument(_))), "{lacks:?}");
        }
        for bad in [&["--own"][..], &["--", "cmd"], &["--host", "-1"], &["--cpu"], &["--unknown"], &[]] {
            assert!(matches!(parse(bad), Err(Error::Argument(_))), "{bad:?}");
        }
        assert!(parse(&[&["--own"][..], &LIMITS, &["--"]].concat()).is_err());
    }

    #[test]
    fn a_console_is_asked_of_one_process_and_of_nothing_else() {
        let asked = |words: &[&str]| asked_of_console(words.iter().map(OsString::from));
        assert!(matches!(asked(&["--console", "4711"]), Ok(Some(4711))));
        assert!(matches!(asked(&["--own", "--console", "4711"]), Ok(None)) && matches!(asked(&[]), Ok(None)));
        for bad in [&["--console"][..], &["--console", "-1"], &["--console", "x"], &["--console", "1", "2"]] {
            assert!(matches!(asked(bad), Err(Error::Argument(_))), "{bad:?}");
        }
    }
}
