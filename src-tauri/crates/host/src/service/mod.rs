//! `hermit serve` as a service of the system, so that work goes on when the window or the terminal closes (RA-5.2): a systemd user unit,
//! a launchd agent, or a Windows scheduled task.
//!
//! What the service is told is made by pure code (`definition`), and each system is asked in a file of its own. No passphrase is ever
//! part of it: a vault that needs one stays locked until a person opens it, or reads it from a file that the person named.
//!
//! There is one service for each person of a machine, for one store. What is there already and is another's stays as it is until its
//! person says otherwise, and removing the service touches no store.

pub(crate) mod asked;
mod definition;
mod launchd;
mod systemd;
mod told;
mod windows_task;

use crate::Home;
use asked::Asked;
use definition::written;
pub use definition::{ServiceTerms, System};
use keychain::{Marker, VaultKind};
use serde::Serialize;
use std::path::{Path, PathBuf};
pub(crate) use told::{quoted, told, typed};
use wire::{Code, Error};

/// More than any definition.
const BYTES_MAX: u64 = 64 * 1024;
/// What is kept of a definition that another took the place of.
const BEFORE: &str = "before";

/// Whether the service runs, as its system says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "why", rename_all = "snake_case")]
pub enum Stands {
    /// It runs.
    Runs,
    /// It does not, in words.
    Ended(String),
    /// The system cannot be asked, in words.
    Unknown(String),
}

/// What a file of the service's name says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The file.
    pub file: PathBuf,
    /// What the service runs; none where there is no file, or one that Hermit did not write.
    pub terms: Option<ServiceTerms>,
    /// Whether there is a file.
    pub is_there: bool,
    /// Whether a person changed it since Hermit wrote it.
    pub is_changed: bool,
}

/// What came of an order to the system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Came {
    /// The file of the service.
    pub file: PathBuf,
    /// What a person is told, sentence by sentence.
    pub told: Vec<String>,
    /// Whether the system carried it out; it does not where it cannot be asked.
    pub carried_out: bool,
}

/// The system that keeps services here.
///
/// # Errors
/// [`Code::Unavailable`] on a system that Hermit knows no services of.
pub fn system() -> Result<System, Error> {
    match std::env::consts::OS {
        "linux" => Ok(System::Systemd),
        "macos" => Ok(System::Launchd),
        "windows" => Ok(System::WindowsTask),
        other => Err(Error::new(Code::Unavailable, format!("Hermit knows no services of {other}"))
            .hint("let whatever starts programs there run `hermit --no-input serve --service`")),
    }
}

/// A folder that a variable names by its full path.
fn folder_of(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Where the definition lies on this machine.
fn file_of(system: System) -> Result<PathBuf, Error> {
    let file = match system {
        System::Systemd => systemd::file(),
        System::Launchd => launchd::file(),
        System::WindowsTask => windows_task::file(),
    };
    file.ok_or_else(|| {
        Error::new(Code::Failed, "no home folder is known, so no service can be looked for").hint("set HOME")
    })
}

/// The definition of the service, as its file holds it.
///
/// # Errors
/// What [`system`] and [`ServiceTerms::check`] say.
pub fn text(terms: &ServiceTerms) -> Result<String, Error> {
    terms.check().map_err(|why| Error::new(Code::Usage, why))?;
    Ok(written(system()?, terms, &windows_task::user()))
}

/// Looks what is there under the service's name.
///
/// # Errors
/// When the file is there and cannot be read.
pub fn look() -> Result<Found, Error> {
    let system = system()?;
    let file = file_of(system)?;
    let unread = |why: String| Error::new(Code::Failed, format!("cannot read `{}`: {why}", file.display()));
    let size = match std::fs::metadata(&file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Found { file, terms: None, is_there: false, is_changed: false });
        }
        found => found.map_err(|e| unread(e.to_string()))?.len(),
    };
    if size > BYTES_MAX {
        return Err(unread(format!("it has {size} bytes")));
    }
    let bytes = std::fs::read(&file).map_err(|e| unread(e.to_string()))?;
    let text = match system {
        System::WindowsTask => windows_task::decoded(&bytes),
        System::Systemd | System::Launchd => String::from_utf8(bytes).ok(),
    };
    let terms = text.as_deref().and_then(ServiceTerms::read);
    let as_written = terms.as_ref().map(|terms| written(system, terms, &windows_task::user()));
    let is_changed = as_written.is_some() && as_written != text;
    Ok(Found { file, terms, is_there: true, is_changed })
}

/// Whether the service runs.
///
/// # Errors
/// As [`system`].
pub fn stands() -> Result<Stands, Error> {
    Ok(match system()? {
        System::Systemd => systemd::stands(),
        System::Launchd => launchd::stands(),
        System::WindowsTask => windows_task::stands(),
    })
}

/// Whether another process on this machine has the store open.
#[must_use]
pub fn is_held(home: &Home) -> bool {
    ledger::holder(home.dir()).ok().flatten().is_some_and(|holder| !holder.is_elsewhere())
}

/// Whether a file may open the vault of a service.
///
/// # Errors
/// [`Code::Usage`] where it is none, others read it and come to it, or it lies in the store's folder, whose copies would carry it.
pub fn check_passphrase_file(home: &Home, file: &Path) -> Result<(), Error> {
    let shown = file.display();
    let refused = |why: String, hint: &str| Error::new(Code::Usage, why).hint(hint);
    let found = std::fs::metadata(file).map_err(|e| {
        refused(
            format!("the passphrase file `{shown}` cannot be read: {e}"),
            "name a file with the passphrase in its first line",
        )
    })?;
    if !found.is_file() {
        return Err(refused(
            format!("`{shown}` is no file"),
            "a service reads it each time it starts, so it has to stay",
        ));
    }
    let others = disk::open_unwaited(file).and_then(|file| disk::owner_only::open_to_others(&file));
    let others = others.map_err(|e| {
        refused(
            format!("it cannot be told who else can read the passphrase file `{shown}`: {e}"),
            "name a file that you can read, on a disk of this machine",
        )
    })?;
    if let Some(others) = others.filter(|others| others.can_read) {
        let above = disk::owner_only::closed_folder_above(file).map_err(|e| {
            refused(
                format!("it cannot be told who else reaches the passphrase file `{shown}`: {e}"),
                &others.remedy_for(file),
            )
        })?;
        // Whoever may read it does not come to it.
        if above.is_none() {
            let remedy = others.remedy_for(file);
            let who = others.who;
            return Err(refused(
                format!("others on this machine can read `{shown}` ({who})"),
                &format!("{remedy}; {}", disk::owner_only::remedy_where_mounted()),
            ));
        }
    }
    let (file, store) = (file.canonicalize(), home.dir().canonicalize());
    if let (Ok(file), Ok(store)) = (file, store)
        && file.starts_with(&store)
    {
        return Err(refused(
            format!("`{shown}` lies in the store's own folder"),
            "keep it elsewhere: it opens what lies there",
        ));
    }
    Ok(())
}

/// Looks at the file that this process was told opens its vault, as [`check_passphrase_file`] does: its rights may be others than when
/// the service was installed.
///
/// # Errors
/// As [`check_passphrase_file`]; nothing where no file was named.
pub fn check_named_passphrase_file(home: &Home) -> Result<(), Error> {
    crate::keys::passphrase_file().map_or(Ok(()), |file| check_passphrase_file(home, &file))
}

/// What is in the way of a service for these terms, in words; none where nothing is.
fn in_the_way(found: &Found, terms: &ServiceTerms) -> Option<(String, String)> {
    if !found.is_there {
        return None;
    }
    let file = found.file.display();
    let Some(old) = &found.terms else {
        let why = format!("`{file}` is there, and Hermit did not write it");
        return Some((why, "move it away if you do not need it, then run this again".to_owned()));
    };
    let replace = "add `--replace` to put this one in its place";
    if old.store != terms.store {
        let why = format!("the service that is there is that of another store, `{}`", old.store);
        return Some((why, format!("there is one service for each person; {replace}, or keep it")));
    }
    if old.program != terms.program {
        let gone = if Path::new(&old.program).is_file() { "" } else { ", which is not there any more" };
        let why = format!("the service that is there starts another program, `{}`{gone}", old.program);
        return Some((why, replace.to_owned()));
    }
    if found.is_changed {
        return Some((format!("`{file}` was changed by hand since it was installed"), replace.to_owned()));
    }
    (old != terms).then(|| ("the service that is there has other options".to_owned(), replace.to_owned()))
}

/// Installs the service and starts it. One that is there with the same terms is started where it does not run. With `replace` what
/// is there gives its place, and its text is kept beside it.
///
/// # Errors
/// [`Code::Conflict`] for what is in the way, [`Code::Failed`] where the system refuses.
pub fn install(home: &Home, terms: &ServiceTerms, replace: bool) -> Result<Came, Error> {
    let (system, text, found) = (system()?, text(terms)?, look()?);
    let mut told = Vec::new();
    let hindrance = in_the_way(&found, terms);
    if let Some((why, hint)) = &hindrance
        && !(replace && found.terms.is_some())
    {
        return Err(Error::new(Code::Conflict, why.clone()).hint(hint.clone()));
    }
    let is_new = !found.is_there || hindrance.is_some();
    if let Some((why, _)) = hindrance {
        let kept = found.file.with_extension(BEFORE);
        std::fs::copy(&found.file, &kept).map_err(|e| unwritten(&kept, &e))?;
        told.push(format!("Replaced: {why}. What it said is kept in `{}`.", kept.display()));
    }
    if is_new {
        write(system, &found.file, &text)?;
        told.push(format!("Installed: `{}`.", found.file.display()));
    } else {
        told.push(format!("It is installed already: `{}`.", found.file.display()));
    }
    let asked = match system {
        System::Systemd => systemd::begin(is_new),
        System::Launchd => launchd::begin(&found.file, is_new),
        System::WindowsTask => windows_task::begin(&found.file, is_new),
    };
    let carried_out = match asked {
        Asked::Done(_) => {
            told.push("Started. Work goes on when a window or a terminal closes.".to_owned());
            told.push(match system {
                System::Systemd => systemd::lasts(),
                System::Launchd => launchd::lasts(),
                System::WindowsTask => windows_task::lasts(),
            });
            true
        }
        Asked::NotHere(why) => {
            told.push(format!("Not started: {why}."));
            told.push(match system {
                System::Systemd => systemd::by_hand(),
                System::Launchd => launchd::by_hand(&found.file),
                System::WindowsTask => windows_task::by_hand(&found.file),
            });
            false
        }
        Asked::Failed(why) => {
            let said = format!("the service is installed and was not started: {why}");
            return Err(Error::new(Code::Failed, said).hint(format!(
                "its file is `{}`; `hermit service remove` takes it away",
                found.file.display()
            )));
        }
    };
    told.push(keys_told(home, terms));
    Ok(Came { file: found.file, told, carried_out })
}

fn unwritten(file: &Path, error: &std::io::Error) -> Error {
    Error::new(Code::Failed, format!("cannot write `{}`: {error}", file.display()))
}

fn write(system: System, file: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|e| unwritten(folder, &e))?;
    }
    let bytes = match system {
        System::WindowsTask => windows_task::encoded(text),
        System::Systemd | System::Launchd => text.as_bytes().to_vec(),
    };
    disk::replace(file, &bytes).map_err(|e| unwritten(file, &e))
}

/// Ends the service and takes its file away. The store stays as it is.
///
/// # Errors
/// [`Code::NotFound`] where there is none, [`Code::Conflict`] for one of another store or one that Hermit did not write,
/// [`Code::Failed`] where the system refuses: nothing is taken away then.
pub fn remove(home: &Home) -> Result<Came, Error> {
    let (system, found) = (system()?, look()?);
    let file = found.file.display();
    if !found.is_there {
        return Err(Error::new(Code::NotFound, format!("there is no service: `{file}` is not there")));
    }
    let Some(terms) = &found.terms else {
        return Err(Error::new(Code::Conflict, format!("`{file}` is there, and Hermit did not write it"))
            .hint("remove it as you made it"));
    };
    if Path::new(&terms.store) != home.dir() {
        return Err(Error::new(
            Code::Conflict,
            format!("the service is that of another store, `{}`", terms.store),
        )
        .hint(format!("run `hermit --home '{}' service remove`", terms.store)));
    }
    let mut told = Vec::new();
    let asked = match system {
        System::Systemd => systemd::end(&found.file),
        System::Launchd => launchd::end(),
        System::WindowsTask => windows_task::end(),
    };
    let carried_out = match asked {
        Asked::Done(_) => {
            told.push("Ended. Running tasks paused and continue when Hermit is next started.".to_owned());
            true
        }
        Asked::NotHere(why) => {
            told.push(format!("Where it runs it was not ended: {why}."));
            false
        }
        Asked::Failed(why) => {
            return Err(Error::new(
                Code::Failed,
                format!("the service could not be ended, and stays: {why}"),
            ));
        }
    };
    std::fs::remove_file(&found.file)
        .map_err(|e| Error::new(Code::Failed, format!("cannot remove `{file}`: {e}")))?;
    if system == System::Systemd && carried_out {
        systemd::forget();
    }
    told.push(format!("Removed: `{file}`. The store in `{}` stays as it is.", home.dir().display()));
    Ok(Came { file: found.file.clone(), told, carried_out })
}

/// How a service comes to the keys of its store, in words.
#[must_use]
pub fn keys_told(home: &Home, terms: &ServiceTerms) -> String {
    match (Marker::read(home.dir()), &terms.passphrase_file) {
        (Ok(Some(marker)), Some(file)) if marker.vault == VaultKind::File => format!(
            "Keys: the service opens the vault with the first line of `{file}` each time it starts. Whoever reads that file can open the vault."
        ),
        (Ok(Some(marker)), None) if marker.vault == VaultKind::File => {
            "Keys: this vault needs its passphrase typed, and a service can ask nobody. It starts with its keys locked: tasks pause \
             where something has to be signed or approved, until you run `hermit unlock` at a terminal, after each start. To open \
             it without you, install with `--passphrase-file FILE`; the passphrase itself is never written into the service."
                .to_owned()
        }
        (Ok(Some(marker)), _) if marker.vault == VaultKind::Keychain => {
            "Keys: they are in the system's keychain, which the service opens where your login has opened it. Where it has not, \
             they stay locked until you run `hermit unlock`."
                .to_owned()
        }
        _ => "Keys: none were made yet; `hermit keys init` makes them, also while the service runs.".to_owned(),
    }
}
