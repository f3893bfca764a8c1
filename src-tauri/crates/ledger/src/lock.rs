//! Who hosts the store: an OS file lock, and beside it a note that says who holds it.

use crate::Error;
use crate::other_process::{self, boot, machine, stat};
use model::UnixMs;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const LOCK: &str = "ledger.lock";

/// The note is a few hundred bytes; more is not ours.
const NOTE_BYTES_MAX: u64 = 16 * 1024;

/// The process that hosts the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// Since when it holds the store.
    pub since: UnixMs,
    /// Its session, as in the table `epochs`.
    pub session: String,
    /// Where it can be reached, once it said so: `127.0.0.1:PORT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// When the process started, in ticks since boot: a pid alone may have been given to another process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started_ticks: Option<u64>,
    /// Which boot those ticks count from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boot: Option<String>,
    /// Which machine that is: of another one nothing can be told from here, neither its boots nor its processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
}

/// What the lock file says. It outlives its holder: a store that was here is not silently made anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    holder: Option<Holder>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_id: Option<String>,
    /// SHA-256 of the two above: the note is written without a sync, and a disk may give back something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sum: Option<String>,
}

impl Note {
    fn sum_of(&self) -> Option<String> {
        let text = serde_json::to_vec(&(&self.holder, &self.log_id)).ok()?;
        Some(seal::Digest::of(&text).to_string())
    }

    /// What was read: a note, and whether something else stands there. A note of before has no sum.
    fn parse(text: &[u8]) -> (Self, bool) {
        match serde_json::from_slice::<Self>(text) {
            Ok(note) if note.sum.is_none() || note.sum == note.sum_of() => (note, false),
            _ => (Self::default(), !text.is_empty()),
        }
    }
}

/// The lock, held until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
    note: Note,
    /// The note that was found was not one that was written.
    damaged: bool,
}

impl Lock {
    /// Takes the lock for `session`, or says who has it.
    pub fn take(dir: &Path, session: &str) -> Result<Self, Error> {
        let path = dir.join(LOCK);
        let failed = |e: std::io::Error| Error::file(format!("locking `{}`", path.display()), &e);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = crate::owner_only::open(&mut options, &path).map_err(failed)?;
        let locked = disk::try_lock(&file).map_err(failed)?;
        let (mut note, damaged) = read_note(&mut file).map_err(failed)?;
        // The kernel lets go of a dead process's lock, so a lock we got has no living holder. Where a file system
        // only pretends to lock, the note still names one: it is believed unless that process is provably gone.
        let living =
            note.holder.take_if(|h| locked && !is_provably_gone(h)).filter(|h| h.pid != std::process::id());
        if let Some(holder) =
            living.or_else(|| if locked { None } else { Some(note.holder.take().unwrap_or_else(unknown)) })
        {
            return Err(match holder.is_elsewhere() {
                true => Error::HeldElsewhere { since: holder.since, path: path.display().to_string() },
                false => Error::Held { pid: holder.pid, since: holder.since, address: holder.address },
            });
        }
        let note = Note { log_id: note.log_id, ..Note::default() };
        let mut lock = Self { file, path: path.clone(), note, damaged };
        lock.write()?;
        let since = lock.file.metadata().and_then(|m| m.modified()).map_err(failed)?;
        let since =
            since.duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX));
        let pid = std::process::id();
        lock.note.holder = Some(Holder {
            pid,
            since: UnixMs(since),
            session: session.to_owned(),
            address: None,
            started_ticks: stat(pid).map(|stat| stat.started_ticks),
            boot: boot(),
            machine: machine(),
        });
        lock.write()?;
        Ok(lock)
    }

    /// Whether the note that was found said nothing that could be believed.
    pub const fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// The log this folder has held, even if its file is gone now.
    pub fn log_id(&self) -> Option<&str> {
        self.note.log_id.as_deref()
    }

    /// Remembers which log lives here.
    pub fn remember(&mut self, log_id: &str) -> Result<(), Error> {
        if self.note.log_id.as_deref() != Some(log_id) {
            self.note.log_id = Some(log_id.to_owned());
            self.write()?;
        }
        Ok(())
    }

    /// Says where the holder can be reached.
    pub fn announce(&mut self, address: Option<&str>) -> Result<(), Error> {
        if let Some(holder) = &mut self.note.holder {
            holder.address = address.map(str::to_owned);
        }
        self.write()
    }

    pub fn holder(&self) -> Option<&Holder> {
        self.note.holder.as_ref()
    }

    fn write(&mut self) -> Result<(), Error> {
        let failed = |e: std::io::Error| Error::file("writing the lock's note", &e);
        self.note.sum = self.note.sum_of();
        let text = serde_json::to_vec(&self.note).map_err(|e| Error::io("writing the lock's note", &e))?;
        self.file.rewind().map_err(failed)?;
        self.file.write_all(&text).map_err(failed)?;
        self.file.set_len(text.len() as u64).map_err(failed)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.note.holder = None;
        // The lock itself falls with the file; a note that could not be cleared names a process that is gone.
        let _ = self.write();
        let _ = self.file.unlock();
        let _ = &self.path;
    }
}

/// Who hosts the store in `dir`, as far as can be told without touching the lock. A holder that is provably gone
/// is none.
///
/// # Errors
/// [`Error::Io`] when the lock's note cannot be read.
pub fn holder(dir: &Path) -> Result<Option<Holder>, Error> {
    let path = dir.join(LOCK);
    let failed = |e: std::io::Error| Error::file(format!("reading `{}`", path.display()), &e);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
    };
    Ok(read_note(&mut file).map_err(failed)?.0.holder.filter(|h| !is_provably_gone(h)))
}

/// Reads the note, and whether it is damaged; a half-written one says nothing.
fn read_note(file: &mut File) -> std::io::Result<(Note, bool)> {
    let mut text = Vec::new();
    file.rewind()?;
    file.take(NOTE_BYTES_MAX).read_to_end(&mut text)?;
    Ok(Note::parse(&text))
}

const fn unknown() -> Holder {
    Holder {
        pid: 0,
        since: UnixMs(0),
        session: String::new(),
        address: None,
        started_ticks: None,
        boot: None,
        machine: None,
    }
}

impl Holder {
    /// Whether it is a process of another machine, as far as both have a name.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        matches!((&self.machine, machine()), (Some(theirs), Some(ours)) if *theirs != ours)
    }
}

/// Whether the process that wrote the note is certainly no more: another boot, no such process, or the same
/// number given to a process that started at another time. Of another machine's processes nothing is certain.
fn is_provably_gone(holder: &Holder) -> bool {
    if holder.is_elsewhere() {
        return false;
    }
    if let (Some(then), Some(now)) = (&holder.boot, boot())
        && *then != now
    {
        return true;
    }
    if other_process::is_gone(holder.pid) {
        return true;
    }
    let Some(stat) = stat(holder.pid) else { return false };
    stat.dead || holder.started_ticks.is_some_and(|then| then != stat.started_ticks)
}
