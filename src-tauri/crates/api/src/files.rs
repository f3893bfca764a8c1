//! Files that a command names: read from where the host is, made whole or not at all.

use crate::{failed, usage};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use wire::{Code, Error};

/// A path as given, `~` being the home of whoever runs the host; other relative ones are refused, because the host's folder
/// is not the caller's.
pub(crate) fn absolute(what: &str, text: &str) -> Result<PathBuf, Error> {
    let below_home = || {
        let rest = text.strip_prefix('~')?;
        let inner = rest.strip_prefix(['/', '\\']).or_else(|| rest.is_empty().then_some(""))?;
        Some(std::env::home_dir()?.join(inner))
    };
    let path = below_home().unwrap_or_else(|| PathBuf::from(text));
    if path.is_absolute() {
        return Ok(path);
    }
    let example =
        if std::path::MAIN_SEPARATOR == '/' { "/home/you/Documents" } else { r"C:\Users\you\Documents" };
    Err(usage(format!("`{what}` is `{text}`; give an absolute path, such as `{example}` or `~/Documents`")))
}

/// Opens a file for reading. What is no file is not opened, or not waited for: a pipe would wait for its other end.
///
/// # Errors
/// [`Code::Usage`] for what is no regular file; [`Code::NotFound`].
pub fn open(path: &Path) -> Result<File, Error> {
    let shown = path.display();
    let no_file = || usage(format!("`{shown}` is no regular file"));
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(no_file());
    }
    let file = disk::open_unwaited(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::new(Code::NotFound, format!("there is no file `{shown}`")),
        _ => failed(format!("`{shown}` cannot be read: {e}")),
    })?;
    match file.metadata() {
        Ok(found) if found.is_file() => Ok(file),
        Ok(_) => Err(no_file()),
        Err(e) => Err(failed(format!("`{shown}` cannot be read: {e}"))),
    }
}

/// Makes a file that is not there yet: it has its name when all of it is on disk. Returns its length and what `write`
/// gave.
pub(crate) fn make<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Error>,
) -> Result<(u64, T), Error> {
    let said = |e: std::io::Error| failed(format!("`{}` cannot be written: {e}", path.display()));
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(Error::new(
            Code::Conflict,
            format!("`{}` is already there; name another file", path.display()),
        ));
    }
    let mut draft = disk::Draft::beside(path).map_err(said)?;
    let given = write(draft.file())?;
    let length = draft.file().metadata().map_err(said)?.len();
    draft.create().map_err(said)?;
    Ok((length, given))
}

/// Stands in a folder until what is made in it is whole.
pub(crate) const UNFINISHED: &str = "unfinished.json";

/// What a copy of a store consists of, and what a broken-off one leaves.
const OF_A_COPY: [&str; 10] = [
    "artifacts",
    "ledger.db",
    "ledger.db.partial",
    "ledger.db.partial-journal",
    "ledger.db.partial-shm",
    "ledger.db.partial-wal",
    "ledger.lock",
    "manifest.json",
    "manifest.json.part",
    "restored.json",
];

/// A temporary file of the room `disk`.
fn is_draft(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".part")
}

/// A folder in the making: empty, or holding what an earlier attempt of the same kind left, which goes. It is marked
/// until [`finish_folder`].
pub(crate) fn begin_folder(path: &Path, what: &str) -> Result<(), Error> {
    let shown = path.display();
    let said = |e: std::io::Error| failed(format!("`{shown}` cannot be used: {e}"));
    ledger::owner_only::folder(path).map_err(said)?;
    let marker = path.join(UNFINISHED);
    let taken = || Error::new(Code::Conflict, format!("`{shown}` is not empty; name another folder"));
    let names = std::fs::read_dir(path).map_err(said)?.map(|entry| entry.map(|entry| entry.file_name()));
    let names = names.collect::<Result<Vec<_>, _>>().map_err(said)?;
    if !names.is_empty() {
        let ours = std::fs::read_to_string(&marker).is_ok_and(|text| text == marked(what));
        // Where somebody has opened a copy as a store, or a restore was whole but for its mark, it is a store now.
        let used = path.join(if what == "restore" { "ledger.db" } else { "ledger.lock" }).exists();
        let known = |name: &std::ffi::OsString| {
            name.to_str()
                .is_some_and(|name| name == UNFINISHED || OF_A_COPY.contains(&name) || is_draft(name))
        };
        if !ours || used || !names.iter().all(known) {
            return Err(taken());
        }
    }
    ledger::owner_only::write(&marker, marked(what).as_bytes()).map_err(said)?;
    for name in names.iter().filter(|name| *name != UNFINISHED) {
        let at = path.join(name);
        let gone = if at.is_dir() { std::fs::remove_dir_all(&at) } else { std::fs::remove_file(&at) };
        gone.map_err(said)?;
    }
    sync(path).map_err(said)
}

/// What was made in the folder is whole.
pub(crate) fn finish_folder(path: &Path) -> Result<(), Error> {
    let said = |e: std::io::Error| failed(format!("`{}` cannot be finished: {e}", path.display()));
    std::fs::remove_file(path.join(UNFINISHED)).and_then(|()| sync(path)).map_err(said)
}

/// What was begun in a folder and broken off: `backup` or `restore`.
#[must_use]
pub fn broken_off(path: &Path) -> Option<&'static str> {
    let text = std::fs::read_to_string(path.join(UNFINISHED)).ok()?;
    ["backup", "restore"].into_iter().find(|what| text == marked(what))
}

fn marked(what: &str) -> String {
    format!(
        "{{\"unfinished\":\"{what}\",\"meaning\":\"this {what} is still being made or was broken off; run the same command again to replace it\"}}\n"
    )
}

fn sync(path: &Path) -> std::io::Result<()> {
    disk::sync_folder(path)
}
