//! The last signed head of the whole log, kept outside the database: beside the store's folder always; in the OS
//! keychain when the keys sleep there; in a file on another disk and as a git note where the settings say so. A store
//! that was set back to an older state does not take them along (proof.md 2).

use crate::{Config, Home, HostKeys};
use keychain::Vault;
use ledger::{CheckpointKind, PinState, Reader};
use model::fault::{Faults, Point};
use seal::note::{Checkpoint, Note};
use seal::{Digest, PublicKey};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Its name in a vault.
const IN_VAULT: &str = "pin";
/// The ref under which a repository keeps it.
const NOTES_REF: &str = "hermit";
/// A head is a few hundred bytes; more is not ours.
const NOTE_BYTES_MAX: u64 = 64 * 1024;
/// How long `git` may take for a few hundred bytes, also where another holds its lock or the disk is a network's.
const GIT: Duration = Duration::from_secs(30);
/// How often is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(5);
/// How long its last words may take once it has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

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

/// What `git` printed. The repository may be written by others: nothing that it names is run, neither its hooks nor a
/// monitor of files, and nothing is fetched for it.
fn git(repository: &Path, words: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let mut child = Command::new("git")
        .arg("-C")
        .arg(repository)
        // A note is written by whoever owns the store, whatever the repository is set to.
        .args(["-c", "user.name=hermit", "-c", "user.email=hermit@localhost"])
        // No hook lies below a place that is no folder.
        .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"])
        .args(words)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("`git` does not start: {e}"))?;
    let (out, err) = (child.stdout.take().and_then(heard), child.stderr.take().and_then(heard));
    if let Some(mut stdin) = child.stdin.take() {
        // A git that has ended already says why below.
        let _ = stdin.write_all(input);
    }
    let status = ended(&mut child, GIT)?;
    let said = |from: Option<Receiver<Vec<u8>>>| from.and_then(|from| from.recv_timeout(LAST_WORDS).ok());
    if status.success() {
        said(out).ok_or_else(|| "what `git` printed did not come".to_owned())
    } else {
        Err(String::from_utf8_lossy(&said(err).unwrap_or_default()).trim().to_owned())
    }
}

/// What comes there, and no more than a head can be: read beside whoever waits for the end. Nothing where there is no
/// thread to be had.
fn heard(from: impl Read + Send + 'static) -> Option<Receiver<Vec<u8>>> {
    let (send, heard) = sync_channel(1);
    let read = move || {
        let mut bytes = Vec::new();
        if from.take(NOTE_BYTES_MAX).read_to_end(&mut bytes).is_ok() {
            let _ = send.send(bytes);
        }
    };
    let begun = std::thread::Builder::new().name("git".to_owned()).spawn(read);
    begun.ok().map(|_| heard)
}

/// How a program ended; one that takes longer is killed.
fn ended(child: &mut Child, limit: Duration) -> Result<ExitStatus, String> {
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(status);
        }
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("`git` did not end in {}, and was ended", model::lasting(limit)));
        }
        std::thread::sleep(LOOK);
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_note_is_kept_and_no_hook_of_the_repository_runs() {
        let folder = tempfile::tempdir().unwrap();
        let made = Command::new("git").args(["init", "--quiet"]).arg(folder.path()).status();
        if !made.is_ok_and(|status| status.success()) {
            return conforms::skip("this machine has no `git`");
        }
        let (hooks, ran) = (folder.path().join(".git/hooks"), folder.path().join("ran"));
        std::fs::create_dir_all(&hooks).unwrap();
        let hook = hooks.join("reference-transaction");
        std::fs::write(&hook, format!("#!/bin/sh\n: > '{}'\n", ran.display())).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        note(folder.path(), "hermit log\n", b"a head\n").unwrap();
        assert_eq!(noted(folder.path(), "hermit log\n").as_deref(), Some(&b"a head\n"[..]));
        assert!(!ran.exists(), "what somebody wrote into a repository ran with the rights of the host");
        // It is one that any other `git` runs for the same.
        let object = object(folder.path(), "hermit log\n").unwrap();
        let other = Command::new("git")
            .arg("-C")
            .arg(folder.path())
            .args(["-c", "user.name=other", "-c", "user.email=other@localhost"])
            .args(["notes", "--ref", "other", "add", "-m", "words", &object])
            .status();
        assert!(other.unwrap().success() && ran.exists());
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let mut child = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().unwrap();
        let why = ended(&mut child, Duration::from_millis(50)).unwrap_err();
        assert!(why.contains("did not end"), "{why}");
        assert!(child.try_wait().unwrap().is_some(), "it is gone");
    }
}
