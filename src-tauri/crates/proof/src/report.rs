//! What a check has shown, in words a person can use.

use model::TaskId;
use model::anchor::AnchorClock;
use model::identity::TrustFinding;
use seal::{Digest, PublicKey};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The four answers (proof.md 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Whole, consistent, and signed by a key the caller trusts.
    Valid,
    /// Changed or contradictory; the first offending place.
    Invalid {
        /// File, and line where there are lines.
        place: String,
        /// What is wrong there.
        why: String,
    },
    /// What is there holds, but something that belongs to it is not there.
    Incomplete {
        /// What is missing.
        missing: Vec<String>,
    },
    /// It holds together, but no key the caller trusts vouches for it.
    Unverifiable {
        /// Whose signatures it carries.
        why: String,
    },
}

impl Verdict {
    /// Exit code of the command: 0, 5, 6, 7.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Valid => 0,
            Self::Invalid { .. } => 5,
            Self::Unverifiable { .. } => 6,
            Self::Incomplete { .. } => 7,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid => f.write_str("valid"),
            Self::Invalid { place, why } => write!(f, "invalid at {place}: {why}"),
            Self::Incomplete { missing } => write!(f, "incomplete: {} is missing", missing.join("; ")),
            Self::Unverifiable { why } => write!(f, "unverifiable: {why}"),
        }
    }
}

/// How much was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Files of the bundle.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Events whose bytes were checked.
    pub events: u64,
    /// Receipts.
    pub receipts: u64,
    /// Decisions of a person whose signature was checked.
    pub decisions: u64,
    /// Of these, those that a passkey signed.
    pub by_passkey: u64,
    /// Standing grants of a person whose signature was checked.
    pub standing: u64,
    /// Entries of the gate.
    pub gate_entries: u64,
    /// Sensitive values that can be read.
    pub disclosed: u64,
    /// Sensitive values of which only the digest is there.
    pub redacted: u64,
    /// Artifacts whose content is there.
    pub artifacts: u64,
    /// Artifacts of which only the digest is there.
    pub artifacts_left_out: u64,
}

/// Who the instance is, as far as its chain was followed (HV-3.9-4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IdentityFound {
    /// The instance.
    pub instance_id: Option<String>,
    /// Whether its links lead back to genesis, and nothing is wrong with them.
    pub unbroken: bool,
    /// The key in force at the end of what is unbroken.
    pub key_in_force: Option<String>,
    /// How many links there are.
    pub links: u64,
    /// What is wrong with them.
    pub findings: Vec<FoundSaid>,
}

/// What is wrong with a chain, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundSaid {
    /// Which kind.
    pub what: TrustFinding,
    /// The line of `identity/links.jsonl`; none where it is about the key.
    pub number: Option<u64>,
    /// In words.
    pub says: String,
}

/// How an anchor stands at a clock, for whoever checks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stands {
    /// Its time is proven.
    Anchored,
    /// The clock has it, and nothing is proven yet.
    Pending,
    /// Nothing is proven with what the caller gave.
    Unproven,
}

/// What one clock says of one anchor (HV-3.6-3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnchorFound {
    /// Its number.
    pub number: u64,
    /// `head` or `link`.
    pub of: String,
    /// The link that was stamped, of a link.
    pub link: Option<u64>,
    /// The clock.
    pub clock: AnchorClock,
    /// How it stands.
    pub state: Stands,
    /// It existed by then, where that is proven, in milliseconds since 1970.
    pub not_after: Option<i64>,
    /// The block that proves it.
    pub block_height: Option<u64>,
    /// Whether the task's checkpoint stands under what was stamped.
    pub covers_task: bool,
    /// What the clock says, in words.
    pub says: Vec<String>,
    /// What has to be taken on trust, in words.
    pub on_trust: Vec<String>,
}

/// The answer to `verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The answer.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The task it is about, once that much could be read.
    pub task_id: Option<TaskId>,
    /// The store's log.
    pub log_id: Option<String>,
    /// The task's number of events and root, as signed.
    pub task_size: Option<u64>,
    /// The root over them.
    pub task_root: Option<Digest>,
    /// When the last checkpoint was made, by the store's own clock.
    pub exported_at_ms: Option<i64>,
    /// Key ids (SHA-256 of the SPKI DER) by purpose.
    pub keys: BTreeMap<String, Digest>,
    /// Purposes whose key the caller trusts, itself or one that it followed.
    pub trusted: Vec<String>,
    /// The keys of the bundle, earlier ones too, that the caller named.
    pub vouching: Vec<PublicKey>,
    /// How much was checked.
    pub counts: Counts,
    /// Who the instance is, where the bundle says so.
    pub identity: Option<IdentityFound>,
    /// What clocks say, in the order of anchors.
    pub anchors: Vec<AnchorFound>,
    /// All that the task's checkpoint covers existed by then, as the earliest of the clocks proves, in milliseconds since 1970.
    pub proven_not_after: Option<i64>,
    /// What the bundle proves.
    pub proven: Vec<String>,
    /// What it says and does not prove.
    pub asserted: Vec<String>,
    /// What it leaves out.
    pub not_shown: Vec<String>,
    /// Files for which no key that the caller trusts vouches, of a bundle that is valid otherwise.
    pub unvouched: Vec<String>,
}

impl Report {
    /// Exit code of the command: 0 valid, 5 invalid, 6 unverifiable, 7 incomplete.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        self.verdict.exit_code()
    }

    /// The verdict in one sentence, and on whose word it rests.
    #[must_use]
    pub fn headline(&self) -> String {
        match (&self.verdict, self.trusted.as_slice()) {
            (Verdict::Valid, []) => self.verdict.to_string(),
            (Verdict::Valid, trusted) if !self.unvouched.is_empty() => format!(
                "valid, but not whole: the receipt and what the log says of it hold, on the word of the key you trust ({}); the other files are not signed by a key you trust",
                trusted.join(", ")
            ),
            (Verdict::Valid, trusted) => format!(
                "valid: whole and consistent, on the word of the key you trust ({})",
                trusted.join(", ")
            ),
            (verdict, _) => verdict.to_string(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        let lists = [
            ("not signed by a key you trust", &self.unvouched),
            ("proven", &self.proven),
            ("only asserted", &self.asserted),
            ("not shown", &self.not_shown),
        ];
        for (title, sentences) in lists.iter().filter(|(_, sentences)| !sentences.is_empty()) {
            writeln!(f, "\n{title}:")?;
            sentences.iter().try_for_each(|sentence| writeln!(f, "- {sentence}"))?;
        }
        Ok(())
    }
}
