//! What checking a release has shown, in words a person can use.

use super::statement::MadeOf;
use crate::Verdict;
use seal::Digest;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The answer to `verify_release`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseReport {
    /// The answer.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What the release is; absent unless the answer is `valid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseFound>,
}

/// A release that was found valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseFound {
    /// What it was made of and by, as its key says.
    pub made_of: MadeOf,
    /// Each program with its digest.
    pub programs: BTreeMap<String, Digest>,
    /// How many components its list names.
    pub components: u64,
    /// Id of the key that signed it.
    pub key: Digest,
    /// Its place in the log of releases, from 0.
    pub log_index: u64,
    /// Releases in that log, as the head says.
    pub log_size: u64,
    /// That head as it was signed: what a release that comes later is checked with (`since`).
    #[serde(skip)]
    pub head: String,
    /// Id of the key that signed that head: another one than `key` only where the caller gave both.
    pub log_key: Digest,
}

impl ReleaseReport {
    /// Exit code of the command: 0 valid, 5 invalid, 6 unverifiable, 7 incomplete.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.verdict.exit_code()
    }
}

impl fmt::Display for ReleaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(found) = &self.release else { return writeln!(f, "{}", self.verdict) };
        let of = &found.made_of;
        writeln!(
            f,
            "valid: release {} for {}, signed by the key you gave ({})",
            of.version, of.system, found.key
        )?;
        writeln!(f, "\nproven:")?;
        writeln!(f, "- each file has the bytes that were signed")?;
        let place = found.log_index + 1;
        let by = match found.log_key == found.key {
            true => "the same key".to_owned(),
            false => format!("another key that you gave ({})", found.log_key),
        };
        writeln!(
            f,
            "- it is number {place} of {} in the log of releases, whose head {} signed",
            found.log_size, by
        )?;
        writeln!(f, "- the list of components names exactly what the lock files name: {}", found.components)?;
        writeln!(f, "\nonly asserted:")?;
        writeln!(f, "- it was built by {} with {}", of.builder, of.toolchain)?;
        writeln!(f, "- of commit {}, whose source has the digest {}", of.commit, of.source_sha256)?;
        if of.paths_remapped {
            writeln!(f, "- whoever builds that commit in the same way gets the same programs")?;
        }
        writeln!(f, "\nprograms:")?;
        found.programs.iter().try_for_each(|(name, sha256)| writeln!(f, "{sha256}  {name}"))
    }
}
