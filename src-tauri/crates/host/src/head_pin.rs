//! The last signed head of the whole log, kept outside the database: beside the store's folder always; in the OS
//! keychain when the keys sleep there; in a file on another disk and as a git note where the settings say so. A store
//! that was set back to an older state does not take them along (proof.md 2).

use crate::{Config, Home, HostKeys};
use keychain::Vault;
use ledger::{CheckpointKind, PinState, Reader};
use model::fault::{Faults, Point};
use seal::note::{Checkpoint, Note};
use seal::{Digest, PublicKey};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Its name in a vault.
const IN_VAULT: &str = "pin";
/// The ref under which a repository keeps it.
const NOTES_REF: &str = "hermit";
/// A head is a few hundred bytes; more is not ours.
const NOTE_BYTES_MAX: u64 = 64 * 1024;

/// A head that was kept somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Where, for people.
    pub place: String,
    /// The signed note.
    pub note: Vec<u8>,
}

impl Pin {
    /// How many notes it signs for; none when it is no head of a log.
    pub fn size(&self) -> Option<u64> {
        let text = Note::parse(&self.note).ok()?.text;
        Checkpoint::from_text(&text).ok().map(|head| head.size)
    }

    /// What names it.
    pub fn sha256(&self) -> Digest {
        Digest::of(&self.note)
    }
}

/// The file beside the folder.
fn beside(home: &Home) -> Option<PathBuf> {
    let mut name = home.dir().file_name()?.to_owned();
    name.push(".pin");
    Some(home.dir().with_file_name(name))
}

/// Every head that was kept of this store and can be read, the one that signs for most first.
///
/// # Errors
/// When one is there and cannot be read.
pub fn read(home: &Home, config: &Config, vault: Option<&dyn Vault>) -> Result<Vec<Pin>, wire::Error> {
    let mut pins = Vec::new();
    for path in beside(home).into_iter().chain(config.pin_file.clone()) {
        if let Some(note) = file(&path)? {
            pins.push(Pin { place: format!("`{}`", path.display()), note });
        }
    }
    if let Some(Ok(Some(note))) = vault.map(|vault| vault.get(IN_VAULT)) {
        pins.push(Pin { place: "the keychain".to_owned(), note: note.to_vec() });
    }
    if let Some(repository) = &config.pin_git
        && let Some(note) = noted(repository, &subject(home))
    {
        pins.push(Pin { place: format!("the git notes of `{}`", repository.display()), note });
    }
    pins.sort_by_key(|pin| std::cmp::Reverse(pin.size()));
    Ok(pins)
}

fn file(path: &Path) -> Result<Option<Vec<u8>>, wire::Error> {
    let failed = |e: std::io::Error| api::failed(format!("cannot read the pin `{}`: {e}", path.display()));
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(found) if found.len() > NOTE_BYTES_MAX => {
            return Err(api::failed(format!("the pin `{}` is far larger than any head", path.display())));
        }
        Ok(_) => {}
        Err(error) => return Err(failed(error)),
    }
    std::fs::read(path).map(Some).map_err(failed)
}

/// How a store stands to the heads that were kept of it: the first that it is not consistent with.
///
/// # Errors
/// When the store cannot be read.
pub fn standing(
    reader: &Reader,
    pins: &[Pin],
    keys: &[PublicKey],
) -> Result<Option<(Pin, PinState)>, ledger::Error> {
    let last = reader.last_checkpoint(CheckpointKind::Global, None)?;
    for pin in pins {
        // Nearly always the pin is the newest head itself.
        if last.as_ref().is_some_and(|last| last.note == pin.note) {
            continue;
        }
        match ledger::check_pin(reader, &pin.note, keys)? {
            // A head of another store, or by keys nobody here knows, says nothing about this one.
            PinState::Consistent | PinState::Unusable { .. } => {}
            state => return Ok(Some((pin.clone(), state))),
        }
    }
    Ok(None)
}

/// Keeps the newest head everywhere. A place that cannot be written is no reason to stop working; the log says so.
pub fn keep(home: &Home, config: &Config, vault: Option<&dyn Vault>, reader: &Reader) {
    let newest = match reader.last_checkpoint(CheckpointKind::Global, None) {
        Ok(Some(newest)) => newest.note,
        Ok(None) => return,
        Err(error) => return tracing::warn!(%error, "the newest head cannot be read"),
    };
    for path in beside(home).into_iter().chain(config.pin_file.clone()) {
        if std::fs::read(&path).is_ok_and(|kept| kept == newest) {
            continue;
        }
        if let Err(error) = disk::replace(&path, &newest) {
            tracing::warn!(%error, path = %path.display(), "the newest head cannot be kept there");
        }
    }
    if let Some(vault) = vault.filter(|vault| vault.kind() == keychain::VaultKind::Keychain)
        && let Err(error) = vault.put(IN_VAULT, &newest)
    {
        tracing::warn!(%error, "the newest head cannot be kept in the keychain");
    }
    if let Some(repository) = &config.pin_git
        && let Err(why) = note(repository, &subject(home), &newest)
    {
        tracing::warn!(%why, "the newest head cannot be kept as a git note");
    }
}

/// Moves the pin behind every head that is signed, on a thread of its own: the commit does not wait for another disk.
pub struct Mover {
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Mover {
    /// Begins.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn begin(
        home: Home,
        config: Config,
        keys: Arc<HostKeys>,
        reader: Reader,
        faults: Arc<dyn Faults>,
    ) -> Result<Self, crate::Error> {
        // One word that waits is as good as many: the newest head is kept.
        let (wake, heard) = sync_channel(1);
        let run = move || {
            while heard.recv().is_ok() {
                let moved = faults
                    .before(Point::PinMove)
                    .map(|()| keep(&home, &config, keys.vault().as_deref(), &reader))
                    .and_then(|()| faults.after(Point::PinMove));
                if let Err(error) = moved {
                    tracing::warn!(%error, "the pin was not moved");
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("pins".to_owned())
            .spawn(run)
            .map_err(|e| crate::Error::io("start", Path::new("the pins' thread"), &e))?;
        Ok(Self { wake, thread })
    }

    /// Where the word goes in that a head was signed.
    pub fn wake(&self) -> SyncSender<()> {
        self.wake.clone()
    }

    /// Waits until what was said has been kept. Nobody else may hold [`Mover::wake`] any more.
    pub fn end(self) {
        drop(self.wake);
        let _ = self.thread.join();
    }
}

/// Puts the file beside the store aside under a name of its own: what was pinned stays to be looked at.
pub fn set_aside(home: &Home, size: u64) {
    let Some(path) = beside(home) else { return };
    let mut aside = path.clone().into_os_string();
    aside.push(format!(".before-{size}"));
    if let Err(error) = std::fs::copy(&path, PathBuf::from(aside)) {
        tracing::warn!(%error, "the head that was kept could not be set aside");
    }
}

/// What a repository's note is about: a blob that names the store, the same from every clone.
fn subject(home: &Home) -> String {
    let name = Reader::open(home.dir()).map(|reader| reader.log_id().to_owned());
    format!("hermit {}\n", name.unwrap_or_default())
}

fn git(repository: &Path, words: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = Command::new("git")
        .arg("-C")
        .arg(repository)
        // A note is written by whoever owns the store, whatever the repository is set to.
        .args(["-c", "user.name=hermit", "-c", "user.email=hermit@localhost"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("`git` does not start: {e}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A git that has ended already says why below.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

fn object(repository: &Path, subject: &str) -> Result<String, String> {
    let id = git(repository, &["hash-object", "-w", "--stdin"], subject.as_bytes())?;
    Ok(String::from_utf8_lossy(&id).trim().to_owned())
}

fn note(repository: &Path, subject: &str, note: &[u8]) -> Result<(), String> {
    let object = object(repository, subject)?;
    // As a blob of its own, because `git notes` would tidy the text of a message.
    let blob = git(repository, &["hash-object", "-w", "--stdin"], note)?;
    let blob = String::from_utf8_lossy(&blob).trim().to_owned();
    git(repository, &["notes", "--ref", NOTES_REF, "add", "-f", "-C", &blob, &object], b"").map(drop)
}

fn noted(repository: &Path, subject: &str) -> Option<Vec<u8>> {
    let object = object(repository, subject).ok()?;
    git(repository, &["notes", "--ref", NOTES_REF, "show", &object], b"").ok()
}
