//! Makes a bundle: first a plan of all files with their digests, then the bytes, in order of names.

mod anchors;
mod collect;
mod ground;
mod heads;
mod preview;
mod prov;
mod state;
mod write;

pub(crate) use anchors::Along;
pub use preview::{Kind, Leaf, Preview, preview};

use crate::layout::Named;
use crate::names::Names;
use crate::statement::{Predicate, Statement, is_subject};
use crate::{Error, Options, Scope, Signers, Source, layout, readme};
use collect::Collected;
use ground::{Ground, Measure, Planned, What};
use model::{TaskId, UnixMs};
use seal::note::VerifierKey;
use seal::succession::{Revocation, Succession};
use seal::{Digest, dsse, sshsig};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

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
/// [`Error::Since`], [`Error::Io`].
pub fn export(
    source: &dyn Source,
    signers: Option<Signers<'_>>,
    task: TaskId,
    options: &Options,
    out: &mut dyn Write,
) -> Result<Exported, Error> {
    let plan = plan(source, signers, task, options)?;
    write::fits_zip(&plan)?;
    let mut sink = crate::container::ZipSink::new(out);
    plan.write(&mut sink)?;
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
        write::fits_zip(&plan).and_then(|()| write::zip_file(&plan, partial))
    } else {
        write::directory(&plan, partial)
    };
    let placed = written.and_then(|bytes| {
        disk::rename(partial, path).map_err(|e| Error::io("write", path, &e))?;
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
struct Plan<'a> {
    ground: Ground<'a>,
    files: Names<Planned>,
    sums_sha256: Digest,
    exported_at: UnixMs,
    left_out: Vec<String>,
}

impl Plan<'_> {
    /// Calls `take` with every line of `SHA256SUMS`.
    fn sums(&self, take: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        sums(&self.files, take)
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

fn sums<E>(files: &Names<Planned>, take: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    files
        .iter()
        .filter(|(name, _)| layout::is_summed(name))
        .try_for_each(|(name, planned)| take(format!("{}  {name}\n", planned.sha256(&name)).as_bytes()))
}

fn plan<'a>(
    source: &'a dyn Source,
    signers: Option<Signers<'_>>,
    task: TaskId,
    options: &Options,
) -> Result<Plan<'a>, Error> {
    let mut collected = Collected::of(source, signers.is_some(), task, options)?;
    if let Some(signers) = signers {
        check_signers(&collected, signers)?;
    }
    key_files(&mut collected)?;
    if signers.is_some() {
        rotation_files(&mut collected, source)?;
    }
    let predicate = predicate(&collected, task, options);
    collected.text(layout::README, readme::text(&predicate, signers.is_some(), &collected.along));
    // One receipt is a statement itself, and the list of files says the rest.
    if !collected.single {
        statement(&mut collected, predicate, signers)?;
    }
    let (sums_sha256, measure) = {
        let (mut measure, mut hasher) = (Measure::new(), seal::Hasher::new());
        sums(&collected.files, &mut |line| {
            hasher.update(line);
            std::io::Write::write_all(&mut measure, line).map_err(Error::inconsistent)
        })?;
        (hasher.finish(), measure)
    };
    if let Some(signers) = signers {
        let files = &collected.files;
        let pieces: &seal::Pieces<'_> = &|take| {
            let Ok(()) = sums(files, &mut |line| {
                take(line);
                Ok::<(), std::convert::Infallible>(())
            });
        };
        let signature = signers.manifest.sign_pieces(pieces).map_err(Error::Signing)?;
        let armored = sshsig::sign_digest(sums_sha256, sshsig::NAMESPACE, signers.manifest);
        let armored = armored.map_err(Error::Signing)?;
        collected.bytes(layout::SUMS_ED25519, signature.as_bytes().to_vec());
        collected.text(layout::SUMS_SSHSIG, armored);
    }
    collected.files.add(layout::SUMS, Planned::made(measure, What::Sums));
    Ok(Plan {
        ground: collected.ground,
        files: collected.files,
        sums_sha256,
        exported_at: collected.exported_at,
        left_out: collected.left_out,
    })
}

/// The bundle's own statement, signed where there is a key to sign it.
fn statement(
    collected: &mut Collected<'_>,
    predicate: Predicate,
    signers: Option<Signers<'_>>,
) -> Result<(), Error> {
    let files = collected.files.iter().filter(|(name, _)| is_subject(name));
    let subjects = files.map(|(name, planned)| {
        let sha256 = planned.sha256(&name);
        (name.into_owned(), sha256)
    });
    let statement =
        seal::canon::to_canonical(&Statement::new(subjects, predicate)).map_err(Error::inconsistent)?;
    let (name, bytes) = match signers {
        Some(signers) => {
            let envelope = dsse::sign(dsse::IN_TOTO, &statement, signers.receipt).map_err(Error::Signing)?;
            (layout::STATEMENT, envelope.to_bytes().map_err(Error::Signing)?)
        }
        None => (layout::STATEMENT_BARE, statement),
    };
    if bytes.len() as u64 > layout::WHOLE_BYTES_MAX {
        let why =
            "its statement names more receipts and artifacts than a verifier reads; leave artifacts out";
        return Err(Error::TooLarge { why: why.to_owned() });
    }
    collected.bytes(name, bytes);
    Ok(())
}

/// The signers must be the store's own: a bundle signed by others would be refused.
fn check_signers(collected: &Collected<'_>, signers: Signers<'_>) -> Result<(), Error> {
    let keys = collected.keys;
    let own = [("receipt", keys.receipt, signers.receipt), ("manifest", keys.manifest, signers.manifest)];
    match own.iter().find(|(_, key, signer)| *key != Some(signer.public())) {
        Some((purpose, ..)) => Err(Error::inconsistent(format!("the {purpose} signer is not the store's"))),
        None => Ok(()),
    }
}

fn key_files(collected: &mut Collected<'_>) -> Result<(), Error> {
    let keys = collected.keys;
    // One receipt alone has the log key in `keys/log.vkey`.
    let log = keys.log.filter(|_| !collected.single);
    let named = [
        (layout::KEY_LOG, log),
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
        let vkeys = vkeys(&collected.log_id, collected.ground.task, &log).map_err(Error::inconsistent)?;
        // One receipt alone has the log's own line: the others are the same key under names of the same form.
        let lines = if collected.single { 1 } else { vkeys.len() };
        collected.text(layout::KEY_VKEYS, vkeys.iter().take(lines).map(|key| format!("{key}\n")).collect());
        let line = sshsig::allowed_signers_line(layout::MANIFEST_PRINCIPAL, sshsig::NAMESPACE, &manifest);
        collected.text(layout::KEY_ALLOWED, line.map_err(Error::inconsistent)?);
    }
    Ok(())
}

/// How the keys of this bundle came in the place of others. What is about a key that does not go along stays out.
fn rotation_files(collected: &mut Collected, source: &dyn Source) -> Result<(), Error> {
    let failed = |why: String| Error::Source { what: "the notes about keys".to_owned(), why };
    let has_approval = collected.keys.approval.is_some();
    let goes = |purpose: &str| has_approval || purpose != "approval";
    let mut n = 0;
    for note in source.successions().map_err(failed)? {
        let step = Succession::open(&note).map_err(Error::inconsistent)?;
        if goes(&step.purpose) {
            n += 1;
            collected.bytes(&Named::Rotation(n).path(), note);
        }
    }
    let mut n = 0;
    for note in source.revocations().map_err(failed)? {
        let said = Revocation::open(&note).map_err(Error::inconsistent)?;
        if goes(&said.purpose) {
            n += 1;
            collected.bytes(&Named::Revocation(n).path(), note);
        }
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

fn predicate(collected: &Collected<'_>, task_id: TaskId, options: &Options) -> Predicate {
    let (receipt_id, span) = match options.scope {
        Scope::Task => (None, None),
        Scope::Receipt(id) => (Some(id), None),
        Scope::Span { first, last } => (None, Some([first, last])),
    };
    Predicate {
        bundle: layout::FORMAT.to_owned(),
        canon: seal::canon::CANON.to_owned(),
        log_id: collected.log_id.clone(),
        task_id,
        receipt_id,
        span,
        task_size: collected.size,
        task_root: collected.root,
        exported_at_ms: collected.exported_at.0,
        keys: keyids(collected.keys),
        disclosures: options.redact.is_nothing(),
        redacted: (!options.redact.is_nothing()).then(|| options.redact.to_string()),
        artifacts: options.artifacts.to_string(),
    }
}
