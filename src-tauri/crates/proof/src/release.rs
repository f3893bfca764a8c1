//! What a release of Hermit is, and whether one may be believed: `hermit-release/1` (systems.md 5).
//!
//! A release is a folder: programs, lock files, a list of components (SBOM) and of licences, and a statement over the bytes
//! of all of them, in an envelope that the release key signed. That envelope is a leaf of a log of every release, whose
//! head the same key signed. `RELEASE.md` says it file by file, with the commands of other people's tools.

mod bom;
mod check;
mod folder;
mod key;
mod locks;
mod log;
mod make;
mod report;
mod statement;

pub use check::{ReleaseAsked, is_newer, verify_release};
pub use key::release_signer;
pub use make::{ReleaseParts, make_release};
pub use report::{ReleaseFound, ReleaseReport};
pub use statement::MadeOf;

/// Name of the format.
pub(crate) const FORMAT: &str = "hermit-release/1";
/// The envelope of the statement.
pub(crate) const STATEMENT: &str = "release.json";
/// That the envelope stands in the log, and the log's signed head.
pub(crate) const PROOF: &str = "release.tlog-proof";
/// Every leaf of the log.
pub(crate) const LOG: &str = "releases.log";
/// The list of components, in CycloneDX.
pub(crate) const BOM: &str = "bom.cdx.json";
/// The licence of each component, for a person.
pub(crate) const LICENCES: &str = "licences.txt";
/// The licence texts of what is in the programs, for a person.
pub(crate) const TEXTS: &str = "licence-texts.txt";
/// Folder of what was built.
pub(crate) const PROGRAMS: &str = "programs/";
/// Folder of the lock files, each by its path in the source.
pub(crate) const LOCKS: &str = "locks/";

/// Bytes of the envelope.
pub(crate) const STATEMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Bytes of the place in the log and its head.
pub(crate) const PROOF_BYTES_MAX: u64 = 1_000_000;
/// Bytes of the log's leaves.
pub(crate) const LOG_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Bytes of one lock file, or of the list of components.
pub(crate) const TEXT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of one file of a release.
pub(crate) const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Files of a release.
pub(crate) const FILES_MAX: usize = 1_000;
