//! Makes a bundle: first a plan of all files with their digests, then the bytes, in order of names.

mod collect;
mod write;

use crate::statement::{Predicate, Statement, is_subject};
use crate::{Error, Include, Options, Scope, Signers, Source, layout, readme};
use collect::Collected;
use model::{TaskId, UnixMs};
use seal::note::VerifierKey;
use seal::{Digest, dsse, sshsig};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use write::Planned;

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Number of files.
    pub files: u64,
    /// Bytes of the zip, or of all files of the directory.
    pub bytes: u64,
    /// SHA-256 of `SHA256SUMS`: names the whole content.
    pub sums_sha256: Digest,
    /// Time of the checkpoint.
    pub exported_at: UnixMs,
    /// What could not go along, in words.
    pub left_out: Vec<String>,
}

/// Writes a bundle as an uncompressed zip.
///
/// `signers` are the store's own; `None` is for a store that has no keys.
///
/// # Errors
/// [`Error::Unknown`], [`Error::Source`], [`Error::Inconsistent`], [`Error::Signing`], [`Error::TooLarge`],
/// [`Error::Io`].
pub fn export(
    source: &dyn Source,
    signers: Option<Signers<'_>>,
    task: TaskId,
    options: &Options,
    out: &mut dyn Write,
) -> Result<Exported, Error> {
    let plan = plan(source, signers, task, options)?;
    let mut sink = crate::container::ZipSink::new(out);
    plan.write(source, task, &mut sink)?;
    let bytes = sink.finish()?;
    Ok(plan.exported(bytes))
}

/// Writes a bundle to a path that does not exist yet: an uncompressed zip when its name ends in `.zip`, else a
/// directory. It appears whole or not at all.
///
/// # Errors
/// As [`export`], and [`Error::Exists`].
pub fn export_to(
    source: &dyn Source,
    signers: Option<Signers<'_>>,
    task: TaskId,
    options: &Options,
    path: &Path,
) -> Result<Exported, Error> {
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(Error::Exists { path: path.display().to_string() });
    }
    let plan = plan(source, signers, task, options)?;
    let mut partial = path.as_os_str().to_owned();
    partial.push(".part");
    let partial = Path::new(&partial);
    let written = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("zip")) {
        write::zip_file(&plan, source, task, partial)
    } else {
        write::directory(&plan, source, task, partial)
    };
    let placed = written.and_then(|bytes| {
        std::fs::rename(partial, path).map_err(|e| Error::io("write", path, &e))?;
        Ok(bytes)
    });
    match placed {
        Ok(bytes) => Ok(plan.exported(bytes)),
        Err(e) => {
            write::clear(partial);
            Err(e)
        }
    }
}

/// All files, in order of names, with what is needed to write them.
struct Plan {
    files: BTreeMap<String, Planned>,
    sums_sha256: Digest,
    exported_at: UnixMs,
    left_out: Vec<String>,
}

impl Plan {
    fn write(
        &self,
        source: &dyn Source,
        task: TaskId,
        sink: &mut dyn crate::container::Sink,
    ) -> Result<(), Error> {
        self.files.iter().try_for_each(|(name, planned)| write::file(source, task, name, planned, sink))
    }

    fn exported(self, bytes: u64) -> Exported {
        Exported {
            files: self.files.len() as u64,
            bytes,
            sums_sha256: self.sums_sha256,
            exported_at: self.exported_at,
            left_out: self.left_out,
        }
    }
}

fn plan(
    source: &dyn Source,
    signers: Option<Signers<'_>>,
    task: TaskId,
    options: &Options,
) -> Result<Plan, Error> {
    let mut collected = Collected::of(source, signers.is_some(), task, options)?;
    if let Some(signers) = signers {
        check_signers(&collected, signers)?;
    }
    key_files(&mut collected)?;
    let predicate = predicate(&collected, task, options);
    collected.text(layout::README, readme::text(&predicate, signers.is_some()));
    let subjects: Vec<(String, Digest)> = collected
        .files
        .iter()
        .filter(|(name, _)| is_subject(name, options.scope != Scope::Task))
        .map(|(name, planned)| (name.clone(), planned.sha256))
        .collect();
    let statement =
        seal::canon::to_canonical(&Statement::new(subjects, predicate)).map_err(Error::inconsistent)?;
    match signers {
        Some(signers) => {
            let envelope = dsse::sign(dsse::IN_TOTO, &statement, signers.receipt).map_err(Error::Signing)?;
            collected.bytes(layout::STATEMENT, envelope.to_bytes().map_err(Error::Signing)?);
        }
        None => collected.bytes(layout::STATEMENT_BARE, statement),
    }
    let sums: String = collected.files.iter().map(|(name, p)| format!("{}  {name}\n", p.sha256)).collect();
    if let Some(signers) = signers {
        let signature = signers.manifest.sign(sums.as_bytes()).map_err(Error::Signing)?;
        collected.bytes(layout::SUMS_ED25519, signature.as_bytes().to_vec());
        let armored = sshsig::sign(sums.as_bytes(), sshsig::NAMESPACE, signers.manifest);
        collected.text(layout::SUMS_SSHSIG, armored.map_err(Error::Signing)?);
    }
    let sums_sha256 = Digest::of(sums.as_bytes());
    collected.text(layout::SUMS, sums);
    Ok(Plan {
        files: collected.files,
        sums_sha256,
        exported_at: collected.exported_at,
        left_out: collected.left_out,
    })
}

/// The signers must be the store's own: a bundle signed by others would be refused.
fn check_signers(collected: &Collected, signers: Signers<'_>) -> Result<(), Error> {
    let keys = collected.keys;
    let own = [("receipt", keys.receipt, signers.receipt), ("manifest", keys.manifest, signers.manifest)];
    match own.iter().find(|(_, key, signer)| *key != Some(signer.public())) {
        Some((purpose, ..)) => Err(Error::inconsistent(format!("the {purpose} signer is not the store's"))),
        None => Ok(()),
    }
}

fn key_files(collected: &mut Collected) -> Result<(), Error> {
    let keys = collected.keys;
    let named = [
        (layout::KEY_LOG, keys.log),
        (layout::KEY_RECEIPT, keys.receipt),
        (layout::KEY_MANIFEST, keys.manifest),
        (layout::KEY_APPROVAL, keys.approval),
    ];
    for (path, key) in named {
        if let Some(key) = key {
            collected.text(path, key.to_pem());
        }
    }
    if let (Some(log), Some(manifest)) = (keys.log, keys.manifest) {
        let vkeys = vkeys(&collected.log_id, collected.task_id, &log).map_err(Error::inconsistent)?;
        collected.text(layout::KEY_VKEYS, vkeys.iter().map(|key| format!("{key}\n")).collect());
        let line = sshsig::allowed_signers_line(layout::MANIFEST_PRINCIPAL, sshsig::NAMESPACE, &manifest);
        collected.text(layout::KEY_ALLOWED, line.map_err(Error::inconsistent)?);
    }
    Ok(())
}

/// The log key under the names it signs notes with: the global log, the task, the gate.
pub(crate) fn vkeys(
    log_id: &str,
    task: TaskId,
    key: &seal::PublicKey,
) -> Result<[VerifierKey; 3], seal::Error> {
    let log = format!("hermit.local/{log_id}");
    let named = |name: &str| VerifierKey::new(name, *key);
    Ok([named(&log)?, named(&format!("{log}/task/{task}"))?, named(&format!("{log}/gate"))?])
}

/// Key ids by purpose.
pub(crate) fn keyids(keys: crate::PublicKeys) -> BTreeMap<String, Digest> {
    [("approval", keys.approval), ("log", keys.log), ("manifest", keys.manifest), ("receipt", keys.receipt)]
        .into_iter()
        .filter_map(|(purpose, key)| Some((purpose.to_owned(), key?.keyid())))
        .collect()
}

fn predicate(collected: &Collected, task_id: TaskId, options: &Options) -> Predicate {
    let artifacts = match &options.artifacts {
        Include::All => "all".to_owned(),
        Include::None => "none".to_owned(),
        Include::Kinds(kinds) => kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(","),
    };
    Predicate {
        bundle: layout::FORMAT.to_owned(),
        canon: seal::canon::CANON.to_owned(),
        log_id: collected.log_id.clone(),
        task_id,
        receipt_id: match options.scope {
            Scope::Task => None,
            Scope::Receipt(id) => Some(id),
        },
        task_size: collected.size,
        task_root: collected.root,
        exported_at_ms: collected.exported_at.0,
        keys: keyids(collected.keys),
        disclosures: options.disclosures,
        artifacts,
    }
}
