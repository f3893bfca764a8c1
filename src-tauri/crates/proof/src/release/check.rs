//! Whether a release may be believed: who signed it, where it stands in the log, and that nothing of it is another.

use super::bom;
use super::folder::Folder;
use super::log::{Log, head_of, keys};
use super::report::{ReleaseFound, ReleaseReport};
use super::statement::{Lockfile, MadeOf, Statement};
use super::{BOM, LICENCES, LOCKS, LOG, LOG_BYTES_MAX, PROGRAMS, PROOF, PROOF_BYTES_MAX};
use super::{STATEMENT, STATEMENT_BYTES_MAX, TEXT_BYTES_MAX, locks};
use crate::container::Stop;
use crate::{Error, Verdict};
use seal::dsse::{self, Envelope, IN_TOTO};
use seal::note::{Checkpoint, Note, VerifierKey, verify_note};
use seal::tlog_proof::TlogProof;
use seal::{Digest, PublicKey, canon, merkle};
use semver::Version;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;
use std::slice;

/// What whoever checks a release knows already.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReleaseAsked<'a> {
    /// Keys that sign releases; of these, one has to have signed this one, and one the head of its log.
    pub keys: &'a [PublicKey],
    /// The version that it may not be older than.
    pub not_older: Option<&'a str>,
    /// The version that it has to be newer than, which is that of whoever takes it in the place of their own.
    pub newer_than: Option<&'a str>,
    /// The system that it has to be for.
    pub system: Option<&'a str>,
    /// A head of the log from before, or the `release.tlog-proof` of an older release.
    pub since: Option<&'a [u8]>,
}

/// Whether a version is newer than another, as semver orders them; what is no version is not.
#[must_use]
pub fn is_newer(version: &str, than: &str) -> bool {
    let parsed = (Version::parse(version), Version::parse(than));
    matches!(parsed, (Ok(version), Ok(than)) if version.cmp_precedence(&than) == Ordering::Greater)
}

/// Files with their digest and bytes.
type Files = BTreeMap<String, (Digest, u64)>;

/// Why checking ends here.
enum Ended {
    Said(Verdict),
    Failed(Error),
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Invalid { place, why } => Self::Said(Verdict::Invalid { place, why }),
            Stop::Failed(error) => Self::Failed(error),
        }
    }
}

fn invalid(place: &str, why: impl ToString) -> Ended {
    Ended::Said(Verdict::Invalid { place: place.to_owned(), why: why.to_string() })
}

fn missing(what: impl Into<String>) -> Ended {
    Ended::Said(Verdict::Incomplete { missing: vec![what.into()] })
}

/// A signature that does not hold is a change; one by a key that nobody gave says nothing.
fn unsigned(place: &str, error: &seal::Error) -> Ended {
    match error {
        seal::Error::Untrusted { .. } => Ended::Said(Verdict::Unverifiable {
            why: format!("{place} is signed by another key than the one you gave"),
        }),
        other => invalid(place, other),
    }
}

/// Checks a release: its folder, or the `release.json` in it.
///
/// # Errors
/// [`Error::Given`] when a version or a head that the caller gave cannot be read, [`Error::Io`] when the disk fails. What is
/// wrong with the release is a verdict.
pub fn verify_release(path: &Path, asked: &ReleaseAsked<'_>) -> Result<ReleaseReport, Error> {
    let version = |text: &str| {
        let refused = |e: semver::Error| Error::Given { what: "version", why: format!("`{text}`: {e}") };
        Version::parse(text).map_err(refused)
    };
    let not_older = asked.not_older.map(version).transpose()?;
    let newer_than = asked.newer_than.map(version).transpose()?;
    let keys = keys(asked.keys).map_err(|e| Error::Given { what: "key", why: e.to_string() })?;
    let since = asked.since.map(|bytes| {
        head_of(bytes, &keys).map_err(|e| Error::Given { what: "head of the log", why: e.to_string() })
    });
    let since = since.transpose()?;
    let least = Least { not_older, newer_than };
    match found(path, asked, &least, &keys, since.as_ref()) {
        Ok(found) => Ok(ReleaseReport { verdict: Verdict::Valid, release: Some(found) }),
        Err(Ended::Said(verdict)) => Ok(ReleaseReport { verdict, release: None }),
        Err(Ended::Failed(error)) => Err(error),
    }
}

/// The versions that it is compared with.
struct Least {
    not_older: Option<Version>,
    newer_than: Option<Version>,
}

fn found(
    path: &Path,
    asked: &ReleaseAsked<'_>,
    least: &Least,
    keys: &[VerifierKey],
    since: Option<&Checkpoint>,
) -> Result<ReleaseFound, Ended> {
    let folder = Folder::open(path)?;
    let bytes = folder.read(STATEMENT, STATEMENT_BYTES_MAX)?.ok_or_else(|| missing(STATEMENT))?;
    let (statement, key) = signed(&bytes, asked.keys)?;
    let files = statement.files().map_err(|why| invalid(STATEMENT, why))?;
    let predicate = &statement.predicate;
    wanted(&predicate.made_of, least, asked.system)?;
    let (log_index, log_head) = in_log(&folder, &bytes, keys, since)?;
    let (log_size, log_key) = (log_head.size, head_key(&log_head.note, key, asked.keys, keys));
    let head = log_head.note.to_string();
    complete(&files, &predicate.lockfiles)?;
    whole(&folder, &files)?;
    let components = components(&folder, &predicate.lockfiles)?;
    let programs = files.iter().filter(|(name, _)| name.starts_with(PROGRAMS));
    let programs = programs.map(|(name, (sha256, _))| (name.clone(), *sha256)).collect();
    let made_of = predicate.made_of.clone();
    Ok(ReleaseFound { made_of, programs, components, key, log_index, log_size, head, log_key })
}

/// The statement that one of the keys signed, and the id of that key.
fn signed(bytes: &[u8], keys: &[PublicKey]) -> Result<(Statement, Digest), Ended> {
    let envelope = Envelope::parse(bytes).map_err(|e| invalid(STATEMENT, e))?;
    let has_signed = |key: &&PublicKey| envelope.signatures.iter().any(|one| one.keyid == key.keyid());
    let mut failed = seal::Error::Untrusted { what: "release" };
    // With several keys one signature that holds is enough, whichever stands first.
    let holds = keys.iter().filter(has_signed).find_map(|key| match dsse::verify(&envelope, key) {
        Ok(payload) => Some((payload, key)),
        Err(error) => {
            failed = error;
            None
        }
    });
    let (payload, key) = holds.ok_or_else(|| unsigned(STATEMENT, &failed))?;
    if envelope.payload_type != IN_TOTO {
        return Err(invalid(STATEMENT, format!("its payload is not `{IN_TOTO}`")));
    }
    let statement = canon::from_canonical(&payload).map_err(|e| invalid(STATEMENT, e))?;
    Ok((statement, key.keyid()))
}

/// Whether it is what the caller can use.
fn wanted(of: &MadeOf, least: &Least, system: Option<&str>) -> Result<(), Ended> {
    let version = &of.version().map_err(|why| invalid(STATEMENT, why))?;
    let is = |order: Ordering| move |than: &&Version| version.cmp_precedence(than) == order;
    let both = [&least.not_older, &least.newer_than].map(Option::as_ref);
    if let Some(than) = both.into_iter().flatten().find(is(Ordering::Less)) {
        return Err(invalid(STATEMENT, format!("its version {} is older than {than}", of.version)));
    }
    if let Some(same) = least.newer_than.as_ref().filter(is(Ordering::Equal)) {
        return Err(invalid(STATEMENT, format!("its version {} is the same as {same}", of.version)));
    }
    match system.filter(|system| *system != of.system) {
        Some(system) => Err(invalid(STATEMENT, format!("it is for {}, and not for {system}", of.system))),
        None => Ok(()),
    }
}

/// A head of the log that one of the keys signed.
struct Head {
    size: u64,
    note: Note,
}

/// The id of the key that signed a head: that of the statement where it did, else another one that the caller gave.
fn head_key(head: &Note, statement: Digest, given: &[PublicKey], keys: &[VerifierKey]) -> Digest {
    let bytes = head.to_bytes();
    let signed = given.iter().zip(keys).filter(|(_, key)| verify_note(&bytes, slice::from_ref(*key)).is_ok());
    let ids: Vec<Digest> = signed.map(|(key, _)| key.keyid()).collect();
    match ids.first() {
        Some(other) if !ids.contains(&statement) => *other,
        _ => statement,
    }
}

/// The place of the envelope in the log, and the log's head, once that is signed and covers all of the leaves.
fn in_log(
    folder: &Folder,
    envelope: &[u8],
    keys: &[VerifierKey],
    since: Option<&Checkpoint>,
) -> Result<(u64, Head), Ended> {
    let proof = folder.read(PROOF, PROOF_BYTES_MAX)?.ok_or_else(|| missing(PROOF))?;
    let log = folder.read(LOG, LOG_BYTES_MAX)?.ok_or_else(|| missing(LOG))?;
    let proof = TlogProof::parse(&proof).map_err(|e| invalid(PROOF, e))?;
    let leaf = merkle::leaf_hash(envelope);
    let head = proof.verify(&leaf, super::log::ORIGIN, keys).map_err(|e| unsigned(PROOF, &e))?;
    let log = Log::parse(&log).map_err(|why| invalid(LOG, why))?;
    if !log.is_under(&head) {
        let why =
            format!("it has {} leaves that are not the {} of its signed head", log.leaves.len(), head.size);
        return Err(invalid(LOG, why));
    }
    if since.is_some_and(|before| !log.begins_as(before)) {
        return Err(invalid(LOG, "it does not continue the log that you have from before"));
    }
    Ok((proof.index, Head { size: head.size, note: proof.checkpoint }))
}

/// Whether all is signed that a release has to have.
fn complete(files: &Files, lockfiles: &[Lockfile]) -> Result<(), Ended> {
    for (name, what) in [(BOM, "its list of components (SBOM)"), (LICENCES, "its list of licences")] {
        if !files.contains_key(name) {
            return Err(missing(format!("{what}, `{name}`")));
        }
    }
    if !files.keys().any(|name| name.starts_with(PROGRAMS)) {
        return Err(missing("every program"));
    }
    let is_absent = |path: &&str| lockfiles.iter().all(|lock| lock.path != **path);
    match locks::PATHS.into_iter().find(is_absent) {
        Some(path) => Err(missing(format!("its lock file `{path}`"))),
        None => Ok(()),
    }
}

/// Whether the folder has these files, these bytes, and nothing beside.
fn whole(folder: &Folder, files: &Files) -> Result<(), Ended> {
    if let Some(stray) = folder.stray(files) {
        return Err(invalid(stray, "the release does not name it"));
    }
    let absent: Vec<String> = files.keys().filter(|name| folder.size(name).is_none()).cloned().collect();
    if !absent.is_empty() {
        let said = |name: String| if name == BOM { format!("{name} (SBOM)") } else { name };
        let missing = absent.into_iter().map(said).collect();
        return Err(Ended::Said(Verdict::Incomplete { missing }));
    }
    for (name, (sha256, bytes)) in files {
        let has = folder.size(name).unwrap_or_default();
        if has != *bytes {
            return Err(invalid(name, format!("it has {has} bytes, and {bytes} were signed")));
        }
        if folder.digest(name, *bytes)? != *sha256 {
            return Err(invalid(name, "its bytes are not those that were signed"));
        }
    }
    Ok(())
}

/// How many components the list names, once it is that of the lock files.
fn components(folder: &Folder, lockfiles: &[Lockfile]) -> Result<u64, Ended> {
    let mut read = Vec::new();
    for lock in lockfiles {
        let name = format!("{LOCKS}{}", lock.path);
        let bytes = folder.read(&name, TEXT_BYTES_MAX)?.ok_or_else(|| missing(name.clone()))?;
        let packages = locks::packages(&lock.path, &bytes).map_err(|why| invalid(&name, why))?;
        if packages.len() as u64 != lock.components {
            let why = format!("it names {} components, and {} were signed", packages.len(), lock.components);
            return Err(invalid(&name, why));
        }
        read.push((lock.path.clone(), lock.sha256, packages));
    }
    let bytes = folder.read(BOM, TEXT_BYTES_MAX)?.ok_or_else(|| missing(BOM))?;
    bom::checked(&bytes, lockfiles, &read).map_err(|why| invalid(BOM, why))
}
