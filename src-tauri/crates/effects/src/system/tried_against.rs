//! What walls are tried against: a way in that somebody outside listens at, a process that has to stay, and the shell in which
//! tries are made.

pub(crate) use system::{Door, NOTHING, argv, victim};

/// What a shell says first; a try that does not say it has not run.
pub(crate) const BEGUN: &str = "begun";

#[cfg(unix)]
mod system {
    use super::BEGUN;
    use crate::system::local_sockets::{LocalListener, listen_at};
    use std::io::Result;
    use std::path::Path;
    use std::process::Command;

    /// A script that does nothing.
    pub(crate) const NOTHING: &str = ":";

    /// A socket with a name.
    pub(crate) struct Door(LocalListener, String);

    impl Door {
        /// Opens one in a folder.
        pub(crate) fn open(folder: &Path) -> Result<Self> {
            let at = folder.join("socket");
            let socket = listen_at(&at)?;
            socket.set_nonblocking(true)?;
            Ok(Self(socket, at.to_string_lossy().into_owned()))
        }

        /// What one says to come to it.
        pub(crate) fn name(&self) -> &str {
            &self.1
        }

        /// Whether somebody came.
        pub(crate) fn was_entered(&self) -> bool {
            self.0.accept().is_ok()
        }
    }

    /// A process that does nothing as long as its standard input is open: it ends with whoever holds that.
    pub(crate) fn victim() -> Command {
        Command::new("cat")
    }

    /// The words that run a script with four others as `$1` to `$4`.
    pub(crate) fn argv(script: &str, words: [String; 4]) -> Vec<String> {
        let shell = ["/bin/sh", "-c", &format!("echo {BEGUN}; {script}"), "hermit"].map(str::to_owned);
        shell.into_iter().chain(words).collect()
    }
}

#[cfg(windows)]
mod system {
    use super::BEGUN;
    use std::io::Result;
    use std::path::Path;
    use std::process::Command;

    pub(crate) const NOTHING: &str = "$null";

    /// A pipe with a name.
    pub(crate) struct Door(win32::WatchedPipe, String);

    impl Door {
        /// Opens one, which is named after a folder.
        pub(crate) fn open(folder: &Path) -> Result<Self> {
            let name =
                folder.as_os_str().to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), ".");
            let name = format!("hermit.tried.{}.{name}", std::process::id());
            Ok(Self(win32::WatchedPipe::new(&name)?, name))
        }

        pub(crate) fn name(&self) -> &str {
            &self.1
        }

        pub(crate) fn was_entered(&self) -> bool {
            self.0.was_opened()
        }
    }

    pub(crate) fn victim() -> Command {
        let mut victim = Command::new(r"C:\Windows\System32\ping.exe");
        victim.args(["-n", "600", "127.0.0.1"]);
        victim
    }

    /// The words that run a script of PowerShell with four others as `$args`. A quote in a word is written twice. What begins can
    /// change what is in its folder: walls that kept it from that would be no use.
    pub(crate) fn argv(script: &str, words: [String; 4]) -> Vec<String> {
        let words = words.map(|word| format!("'{}'", word.replace('\'', "''"))).join(" ");
        let begin =
            format!("Set-Content -Path (Join-Path $pwd 'kept') -Value x -ErrorAction Stop; '{BEGUN}'");
        let whole = format!("& {{ {begin}; {script} }} {words}");
        let shell = r"C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe";
        let how =
            [shell, "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-Command"];
        how.into_iter().map(str::to_owned).chain([whole]).collect()
    }
}
