//! The statement of a release: an in-toto Statement v1 over every file of it, with what it was made of and by.

use super::{BOM, FILE_BYTES_MAX, FILES_MAX, FORMAT, LICENCES, LOCKS, PROGRAMS, TEXTS, folder};
use crate::statement::{Sha256, Subject};
use model::receipt::STATEMENT_TYPE;
use seal::Digest;
use semver::Version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `predicateType` of a release's statement.
const PREDICATE_TYPE: &str = "https://hermit.local/release/v1";
/// Bytes of each word of [`MadeOf`].
const WORD_BYTES_MAX: usize = 256;

/// An in-toto Statement v1 over files of the release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    #[serde(rename = "_type")]
    statement_type: String,
    subject: Vec<Subject>,
    #[serde(rename = "predicateType")]
    predicate_type: String,
    pub predicate: Predicate,
}

/// What the release says beside its files' digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Predicate {
    /// [`FORMAT`].
    pub release: String,
    pub made_of: MadeOf,
    /// What the components were read from.
    pub lockfiles: Vec<Lockfile>,
    /// Bytes of each file.
    pub sizes: BTreeMap<String, u64>,
}

/// A lock file by its path in the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lockfile {
    pub path: String,
    pub sha256: Digest,
    /// How many components it names.
    pub components: u64,
}

/// What a release was made of, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeOf {
    /// The version, as semver says it.
    pub version: String,
    /// The system that the programs run on, as the compiler names it.
    pub system: String,
    /// The commit of the source.
    pub commit: String,
    /// When that was committed, in seconds since 1970: the time that builds are told.
    pub committed_at: i64,
    /// Digest of the source, as the programs carry it.
    pub source_sha256: Digest,
    /// What built it.
    pub builder: String,
    /// The compiler, as it says itself.
    pub toolchain: String,
    /// Whether folders of whoever built it were taken out of the programs, so that others get the same bytes.
    pub paths_remapped: bool,
}

impl MadeOf {
    /// The version, to be compared.
    pub(crate) fn version(&self) -> Result<Version, String> {
        Version::parse(&self.version).map_err(|e| format!("`{}` is not a version: {e}", self.version))
    }

    /// What is wrong with it, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.version()?;
        let words = [&self.system, &self.builder, &self.toolchain, &self.version];
        let is_odd =
            |word: &str| word.is_empty() || word.len() > WORD_BYTES_MAX || word.contains(char::is_control);
        if words.into_iter().any(|word| is_odd(word.as_str())) {
            return Err("system, builder or toolchain are empty, too long, or not one line".to_owned());
        }
        let digits = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !matches!(self.commit.len(), 40 | 64) || !digits(&self.commit) {
            return Err("its commit is not the name of one".to_owned());
        }
        Ok(())
    }
}

impl Statement {
    pub(crate) fn new(
        files: &BTreeMap<String, (Digest, u64)>,
        made_of: MadeOf,
        lockfiles: Vec<Lockfile>,
    ) -> Self {
        let subject = |(name, (sha256, _)): (&String, &(Digest, u64))| Subject {
            name: name.clone(),
            digest: Sha256 { sha256: *sha256 },
        };
        let sizes = files.iter().map(|(name, (_, bytes))| (name.clone(), *bytes)).collect();
        Self {
            statement_type: STATEMENT_TYPE.to_owned(),
            subject: files.iter().map(subject).collect(),
            predicate_type: PREDICATE_TYPE.to_owned(),
            predicate: Predicate { release: FORMAT.to_owned(), made_of, lockfiles, sizes },
        }
    }

    /// Every file with its digest and bytes, once the statement is one of ours and holds together; else what is wrong.
    pub(crate) fn files(&self) -> Result<BTreeMap<String, (Digest, u64)>, String> {
        let predicate = &self.predicate;
        if self.statement_type != STATEMENT_TYPE
            || self.predicate_type != PREDICATE_TYPE
            || predicate.release != FORMAT
        {
            return Err(format!("it is not a statement of `{FORMAT}`"));
        }
        predicate.made_of.check()?;
        if self.subject.len() > FILES_MAX || self.subject.len() != predicate.sizes.len() {
            return Err("its files are too many, or not those whose sizes it names".to_owned());
        }
        let mut files = BTreeMap::new();
        for subject in &self.subject {
            let name = &subject.name;
            let size = predicate.sizes.get(name).copied().filter(|size| *size <= FILE_BYTES_MAX);
            let size = size.ok_or_else(|| format!("the size of `{name}` is missing or too large"))?;
            if !is_file_of_release(name)
                || files.insert(name.clone(), (subject.digest.sha256, size)).is_some()
            {
                return Err(format!(
                    "`{}` is not a file of a release, or stands there twice",
                    name.escape_default()
                ));
            }
        }
        for lock in &predicate.lockfiles {
            let file = files.get(&format!("{LOCKS}{}", lock.path));
            if file.is_none_or(|(sha256, _)| *sha256 != lock.sha256) {
                return Err(format!("the lock file `{}` is not among its files", lock.path.escape_default()));
            }
        }
        Ok(files)
    }
}

/// Whether a release has files of such a name.
fn is_file_of_release(name: &str) -> bool {
    let in_folder = |folder: &str| name.strip_prefix(folder).is_some_and(folder::is_plain);
    let is_program = in_folder(PROGRAMS) && name.matches('/').count() == 1;
    name == BOM || name == LICENCES || name == TEXTS || is_program || in_folder(LOCKS)
}
