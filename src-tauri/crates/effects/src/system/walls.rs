//! Whether walls can be put around a program on this system at all, and what makes them. What they leave open is computed and
//! rendered elsewhere, on every system alike.

pub(crate) use system::{
    ARE_BUILT, NOWHERE, PATH, PROGRAMS, SEATBELT, SYSTEM, candidates, is_place, persons_git, plain,
    surroundings,
};

/// Where programs and libraries are on Windows, beside what a person names. An AppContainer may read them as Windows comes.
pub(crate) const OF_WINDOWS: [&str; 3] = [r"C:\Windows", r"C:\Program Files", r"C:\Program Files (x86)"];
/// Folders of programs elsewhere; the last ones are links into the first on some systems.
#[cfg(unix)]
const OF_UNIX: [&str; 8] = ["/usr", "/opt", "/nix/store", "/bin", "/sbin", "/lib", "/lib64", "/lib32"];

/// A system, as far as walls differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "a program is built for one of them")]
pub(crate) enum System {
    /// Namespaces, Landlock and seccomp, by bubblewrap and `hermit-exec`.
    Linux,
    /// A Seatbelt profile, by `sandbox-exec`.
    MacOs,
    /// An AppContainer or a restricted token, and a job object, by `hermit-exec`.
    Windows,
}

#[cfg(target_os = "linux")]
mod system {
    use super::System;

    pub(crate) const SYSTEM: System = System::Linux;

    /// Namespaces and what else is needed for them, by a program that makes them.
    pub(crate) const ARE_BUILT: bool = true;

    /// No program here reads a Seatbelt profile.
    pub(crate) const SEATBELT: Option<&str> = None;

    /// Where programs are looked for.
    pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

    /// A folder in which nothing is and nothing can be made.
    pub(crate) const NOWHERE: &str = "/var/empty";

    /// Folders of programs.
    pub(crate) const PROGRAMS: &[&str] = &super::OF_UNIX;

    pub(crate) use super::unix::{candidates, is_place, persons_git, plain, surroundings};
}

#[cfg(target_os = "macos")]
mod system {
    use super::System;

    pub(crate) const SYSTEM: System = System::MacOs;

    /// A profile, by a program that comes with the system.
    pub(crate) const ARE_BUILT: bool = true;

    /// The program that puts itself behind a profile and becomes the command; it lies where nobody can write.
    pub(crate) const SEATBELT: Option<&str> = Some("/usr/bin/sandbox-exec");

    pub(crate) const PATH: &str = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

    /// A folder in which nothing is and nothing can be made.
    pub(crate) const NOWHERE: &str = "/var/empty";

    /// Folders of programs.
    pub(crate) const PROGRAMS: &[&str] = &super::OF_UNIX;

    pub(crate) use super::unix::{candidates, is_place, persons_git, plain, surroundings};
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    /// The places at which a program of this name may lie, for a command that begins in a folder.
    pub(crate) fn candidates(name: &str, begins: &Path) -> Vec<PathBuf> {
        if name.contains('/') {
            return vec![begins.join(name)];
        }
        super::PATH.split(':').map(|folder| Path::new(folder).join(name)).collect()
    }

    /// Whether a word names a place and not only a program.
    pub(crate) fn is_place(word: &str) -> bool {
        word.contains('/')
    }

    /// A path as programs take it.
    pub(crate) fn plain(path: PathBuf) -> PathBuf {
        path
    }

    /// Git that one person has for themselves; here it is found like every other program.
    pub(crate) const fn persons_git() -> Option<(PathBuf, PathBuf)> {
        None
    }

    /// What a program is told beside what it is told on every system.
    pub(crate) fn surroundings(_: &Path, _: &Path) -> Vec<(&'static str, OsString)> {
        Vec::new()
    }
}

#[cfg(windows)]
mod system {
    use super::System;
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    pub(crate) const SYSTEM: System = System::Windows;

    /// A token and a job, by a program that stays beside the command.
    pub(crate) const ARE_BUILT: bool = true;

    /// No program here reads a Seatbelt profile.
    pub(crate) const SEATBELT: Option<&str> = None;

    /// Where programs are looked for: where only an administrator can put one.
    pub(crate) const PATH: &str = concat!(
        r"C:\Windows\System32;C:\Windows;C:\Windows\System32\Wbem;C:\Windows\System32\WindowsPowerShell\v1.0;",
        r"C:\Program Files\PowerShell\7;C:\Program Files\Git\cmd;C:\Program Files\nodejs;C:\Program Files\dotnet",
    );

    /// Nobody but an administrator makes anything there.
    pub(crate) const NOWHERE: &str = r"C:\Windows\System32";

    /// Folders of programs.
    pub(crate) const PROGRAMS: &[&str] = &super::OF_WINDOWS;

    /// The places at which a program of this name may lie, with the ends that are left out, for a command that begins in a folder.
    pub(crate) fn candidates(name: &str, begins: &Path) -> Vec<PathBuf> {
        let begins = plain(begins.to_path_buf());
        let places = win32::arguments::candidates(name, &begins.to_string_lossy(), PATH);
        places.into_iter().map(PathBuf::from).collect()
    }

    /// Whether a word names a place and not only a program.
    pub(crate) fn is_place(word: &str) -> bool {
        word.contains(['/', '\\'])
    }

    /// A path as programs take it: many take none that begins with `\\?\`, as the system writes it when it follows links.
    pub(crate) fn plain(path: PathBuf) -> PathBuf {
        match path.to_str().and_then(win32::path::plain) {
            Some(plain) => PathBuf::from(plain),
            None => path,
        }
    }

    /// Git that was installed for one person: its program, and the folder with all that it needs. Nobody else may change it.
    pub(crate) fn persons_git() -> Option<(PathBuf, PathBuf)> {
        let folder = PathBuf::from(std::env::var_os("LOCALAPPDATA")?).join(r"Programs\Git");
        let program = folder.join(r"cmd\git.exe");
        let is_own = std::fs::File::open(&program).is_ok_and(|file| disk::is_own(&file));
        (folder.is_absolute() && is_own).then_some((program, folder))
    }

    /// What programs do not begin without, and where a person's things are.
    pub(crate) fn surroundings(home: &Path, tmp: &Path) -> Vec<(&'static str, OsString)> {
        let fixed = [
            ("SystemRoot", r"C:\Windows"),
            ("windir", r"C:\Windows"),
            ("SystemDrive", "C:"),
            ("ComSpec", r"C:\Windows\System32\cmd.exe"),
            ("PATHEXT", ".COM;.EXE;.BAT;.CMD"),
            ("OS", "Windows_NT"),
            ("ProgramFiles", r"C:\Program Files"),
            ("ProgramFiles(x86)", r"C:\Program Files (x86)"),
            ("ProgramW6432", r"C:\Program Files"),
            ("PROCESSOR_ARCHITECTURE", if cfg!(target_arch = "aarch64") { "ARM64" } else { "AMD64" }),
            ("USERNAME", "hermit"),
        ];
        let own =
            [("TEMP", tmp), ("TMP", tmp), ("USERPROFILE", home), ("APPDATA", home), ("LOCALAPPDATA", home)];
        let fixed = fixed.into_iter().map(|(name, value)| (name, OsString::from(value)));
        fixed.chain(own.into_iter().map(|(name, place)| (name, place.as_os_str().to_owned()))).collect()
    }
}
