//! Copies of the store: made while it is in use, put back only where nothing is.

use super::ledger::report;
use crate::files::{absolute, begin_folder, broken_off, finish_folder, make, open};
use crate::stands::Flow;
use crate::{Host, Wire as _, failed};
use artifacts::{NoInline, Store};
use ledger::{PinState, Reader};
use model::Digest;
use model::body::KeyPurpose;
use model::fault::NoFaults;
use model::limits::INLINE_ARTIFACT_BYTES_MAX;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use wire::store::{BackedUp, Backup, Restore, Restored};
use wire::{Code, Error};

/// The copy's own list, canonical JSON.
const MANIFEST: &str = "manifest.json";
/// Which kind of copy.
const FORMAT: &str = "hermit-backup/1";
/// Bytes of a manifest at most.
const MANIFEST_BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: String,
    log_id: String,
    log_seq: u64,
    made_at_ms: i64,
    ledger_sha256: Digest,
    ledger_bytes: u64,
    artifacts: Vec<Kept>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    sha256: Digest,
    byte_size: u64,
}

pub(crate) fn backup(host: &dyn Host, p: Backup) -> Result<BackedUp, Error> {
    let to = absolute("to", &p.to)?;
    let reader = host.reader()?;
    let from = host.artifacts()?;
    begin_folder(&to, "backup")?;
    let copied = ledger::backup(&reader, &to).wire()?;
    let copy = Store::open(&to, Arc::new(NoInline), Arc::new(NoFaults)).wire()?;
    let carried = carry_all(host, &reader, from, &copy)?;
    let (files, bytes) =
        (carried.kept.len() as u64 + 2, carried.kept.iter().map(|k| k.byte_size).sum::<u64>());
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        log_id: reader.log_id().to_owned(),
        log_seq: copied.log_seq,
        made_at_ms: host.now().0,
        ledger_sha256: copied.sha256,
        ledger_bytes: copied.byte_size,
        artifacts: carried.kept,
    };
    let text = seal::canon::to_canonical(&manifest).wire()?;
    let write = |out: &mut dyn Write| out.write_all(&text).map_err(|e| failed(format!("the manifest: {e}")));
    make(&to.join(MANIFEST), write)?;
    finish_folder(&to)?;
    let manifest_sha256 = Digest::of(&text);
    let byte_size = bytes + copied.byte_size + text.len() as u64;
    // The copy is made and sound, whether the log can tell of it or not: a store that is damaged or full is copied too.
    let recorded =
        host.kernel().and_then(|kernel| kernel.backed_up(manifest_sha256, files, byte_size).wire());
    Ok(BackedUp {
        to: p.to,
        manifest_sha256: manifest_sha256.to_string(),
        files,
        byte_size,
        not_recorded: recorded.err().map(|error| error.message),
        log_seq: copied.log_seq,
        missing: carried.missing,
        damaged: carried.damaged,
        keys_left_out: key_files(&reader)?,
    })
}

/// Files that hold the keys of this store and never enter a copy; none while it has no keys.
fn key_files(reader: &ledger::Reader) -> Result<Vec<String>, Error> {
    let known = crate::fold::store_state(reader)?.keys;
    let of = |purpose, files: &[&str]| -> Vec<String> {
        let files = files.iter().map(|file| (*file).to_owned());
        if known.contains_key(&purpose) { files.collect() } else { Vec::new() }
    };
    Ok([of(KeyPurpose::Log, &["vault.key", "keys.json"]), of(KeyPurpose::Approval, &["approval.key"])]
        .concat())
}

#[derive(Default)]
struct Carried {
    kept: Vec<Kept>,
    missing: Vec<String>,
    damaged: Vec<String>,
}

/// Copies everything that is alive. What is missing or damaged stops nothing else: it is told.
fn carry_all(host: &dyn Host, reader: &Reader, from: &Store, copy: &Store) -> Result<Carried, Error> {
    let live = kernel::command::collect::live(reader, from).wire()?;
    let total = (live.kept.len() + live.named.len()) as u64;
    let mut carried = Carried::default();
    for (done, (digest, wanted)) in
        live.kept.keys().map(|d| (d, true)).chain(live.named.iter().map(|d| (d, false))).enumerate()
    {
        if host.progress("content", done as u64, total) == Flow::Stop {
            return Err(Error::new(Code::Cancelled, "stopped, as asked; the copy is not whole"));
        }
        // Small ones are rows of the ledger and are in its copy.
        if reader.blob(digest).wire()?.is_some() {
            continue;
        }
        match carry(from, copy, digest) {
            Ok(byte_size) => carried.kept.push(Kept { sha256: *digest, byte_size }),
            // What is only named may be the state of a file that nobody kept.
            Err(Uncarried::Missing) if !wanted => {}
            Err(Uncarried::Missing) => carried.missing.push(digest.to_string()),
            Err(Uncarried::Damaged(_)) => carried.damaged.push(digest.to_string()),
            Err(Uncarried::Stop(error)) => return Err(crate::of_artifacts(error)),
        }
    }
    carried.kept.sort_by_key(|kept| kept.sha256);
    Ok(carried)
}

/// Why content was not copied.
enum Uncarried {
    Missing,
    /// It is not what its name says, or cannot be read.
    Damaged(artifacts::Error),
    /// The copy cannot be written.
    Stop(artifacts::Error),
}

impl Uncarried {
    fn reading(error: artifacts::Error) -> Self {
        match error {
            artifacts::Error::Missing { .. } => Self::Missing,
            other => Self::Damaged(other),
        }
    }

    fn of(self, digest: Digest) -> artifacts::Error {
        match self {
            Self::Missing => artifacts::Error::Missing { digest },
            Self::Damaged(error) | Self::Stop(error) => error,
        }
    }
}

/// Copies content that is a file; both stores check its digest.
fn carry(from: &Store, to: &Store, digest: &Digest) -> Result<u64, Uncarried> {
    let mut content = from.content(digest).map_err(Uncarried::reading)?;
    let byte_size = content.byte_size();
    if byte_size <= INLINE_ARTIFACT_BYTES_MAX as u64 {
        let bytes = from.read(digest).map_err(Uncarried::reading)?;
        to.put_file(&bytes).map_err(Uncarried::Stop)?;
    } else {
        // Larger than what is ever handed back to be committed, so this one is a file.
        let stored = to.put_reader(&mut content).map_err(|error| match error {
            artifacts::Error::Source { .. } => Uncarried::Damaged(error),
            other => Uncarried::Stop(other),
        });
        let _stored = stored?;
    }
    // What was read is what was meant, or the source is damaged.
    match to.contains(digest).map_err(Uncarried::Stop)? {
        true => Ok(byte_size),
        false => Err(Uncarried::Damaged(artifacts::Error::Missing { digest: *digest })),
    }
}

pub(crate) fn restore(host: &dyn Host, p: Restore) -> Result<Restored, Error> {
    let (from, to) = (absolute("from", &p.from)?, absolute("to", &p.to)?);
    if broken_off(&from).is_some() {
        let why = format!("`{}` is a backup that was broken off", from.display());
        return Err(
            Error::new(Code::Damaged, why).hint("run `hermit backup` into that folder again: it replaces it")
        );
    }
    let (manifest, manifest_sha256) = read_manifest(&from)?;
    let ledger_path = from.join(ledger::FILE);
    let (digest, _) = digest_of(&ledger_path)?;
    if digest != manifest.ledger_sha256 {
        let why = format!("`{}` is not the file its manifest names", ledger_path.display());
        return Err(Error::new(Code::Damaged, why).hint("take another copy"));
    }
    let copy = Store::open_for_reading(&from, Arc::new(NoInline), Arc::new(NoFaults));
    begin_folder(&to, "restore")?;
    let into = Store::open(&to, Arc::new(NoInline), Arc::new(NoFaults)).wire()?;
    let total = manifest.artifacts.len() as u64;
    for (done, kept) in manifest.artifacts.iter().enumerate() {
        if host.progress("artifacts", done as u64, total) == Flow::Stop {
            return Err(Error::new(Code::Cancelled, "stopped, as asked; the folder holds no store yet"));
        }
        carry(&copy, &into, &kept.sha256).map_err(|why| why.of(kept.sha256)).wire()?;
    }
    // Whoever takes the store first writes into its log that it was restored; until then this says it.
    PutBack { manifest_sha256, behind_pin: false }.leave(&to)?;
    // The ledger last: without it there is no store, so that a broken-off restore is none.
    let reader = ledger::restore(&ledger_path, &to).wire()?;
    finish_folder(&to)?;
    let mut progress = |p: ledger::verify::Progress| host.progress(p.stage, p.done, p.of) == Flow::Continue;
    let (pin, trusted) = (host.pin()?, host.trusted_log_keys());
    // In an empty folder nothing says which keys are ours; the copy's own are enough to place the pin.
    let own = crate::fold::key_history(&reader)?.of(KeyPurpose::Log);
    let keys: Vec<_> = trusted.iter().copied().chain(own).collect();
    let state = pin.as_ref().map(|pin| ledger::check_pin(&reader, pin, &keys)).transpose().wire()?;
    let behind_pin = match state {
        Some(PinState::Behind { pinned, found }) => Some(format!(
            "this copy is older than the head kept outside the store: {pinned} notes were signed, and {found} are in it; only a person continues with it, by `hermit checkpoint accept`"
        )),
        Some(PinState::Forked { .. }) => Some(
            "this copy tells another history than the head kept outside the store; only a person continues with it, by `hermit checkpoint accept`"
                .to_owned(),
        ),
        _ => None,
    };
    if behind_pin.is_some() {
        PutBack::forget(&to)?;
        PutBack { manifest_sha256, behind_pin: true }.leave(&to)?;
    }
    let known = pin.as_deref().filter(|_| !trusted.is_empty());
    let found = report(ledger::verify(&reader, &trusted, known, &mut progress).wire()?);
    Ok(Restored {
        to: p.to,
        files: total + 1,
        byte_size: manifest.artifacts.iter().map(|k| k.byte_size).sum::<u64>() + manifest.ledger_bytes,
        log_seq: manifest.log_seq,
        verdict: found.verdict,
        reason: found.reason,
        behind_pin,
        keys_to_put_back: key_files(&reader)?,
    })
}

/// Left in a restored folder until a host has written into the log that it was restored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutBack {
    /// SHA-256 of the copy's manifest.
    pub manifest_sha256: Digest,
    /// Whether it was older than the head kept outside the store.
    pub behind_pin: bool,
}

/// Its name.
const PUT_BACK: &str = "restored.json";
/// It is two fields.
const PUT_BACK_BYTES_MAX: u64 = 4 * 1024;

impl PutBack {
    /// What a restore left there; `None` when there was none, or the log has it.
    ///
    /// # Errors
    /// [`Code::Damaged`] when it cannot be read as what it is.
    pub fn read(dir: &Path) -> Result<Option<Self>, Error> {
        let path = dir.join(PUT_BACK);
        if !path.exists() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = open(&path)?.take(PUT_BACK_BYTES_MAX).read_to_end(&mut bytes);
        read.map_err(|e| failed(format!("`{}` cannot be read: {e}", path.display())))?;
        let damaged =
            |e: String| Error::new(Code::Damaged, format!("`{}` is not what it was: {e}", path.display()));
        seal::canon::from_canonical(&bytes).map(Some).map_err(|e| damaged(e.to_string()))
    }

    fn leave(&self, dir: &Path) -> Result<(), Error> {
        let text = seal::canon::to_canonical(self).wire()?;
        let path = dir.join(PUT_BACK);
        make(&path, |out| out.write_all(&text).map_err(|e| failed(format!("`{}`: {e}", path.display()))))
            .map(drop)
    }

    /// The log has it now.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn forget(dir: &Path) -> Result<(), Error> {
        let path = dir.join(PUT_BACK);
        std::fs::remove_file(&path)
            .map_err(|e| failed(format!("`{}` cannot be removed: {e}", path.display())))
    }
}

fn read_manifest(from: &Path) -> Result<(Manifest, Digest), Error> {
    let path = from.join(MANIFEST);
    let mut bytes = Vec::new();
    let read = open(&path)?.take(MANIFEST_BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|e| failed(format!("`{}` cannot be read: {e}", path.display())))?;
    let damaged = |why: String| {
        Error::new(Code::Damaged, format!("`{}` is no manifest of a copy: {why}", path.display()))
    };
    let value = seal::canon::parse_canonical(&bytes).map_err(|e| damaged(e.to_string()))?;
    let manifest: Manifest = serde_json::from_value(value).map_err(|e| damaged(e.to_string()))?;
    if manifest.format == FORMAT {
        Ok((manifest, Digest::of(&bytes)))
    } else {
        Err(damaged(format!("it is of format `{}`", manifest.format)))
    }
}

fn digest_of(path: &Path) -> Result<(Digest, u64), Error> {
    disk::digest(open(path)?).map_err(|e| failed(format!("`{}` cannot be read: {e}", path.display())))
}
