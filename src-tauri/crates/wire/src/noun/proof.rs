//! Proofs that a stranger can check.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Verdict;
use crate::table::{answers, params};
use std::collections::BTreeMap;

params! {
    /// A task's proof, or one receipt's when it is named.
    Export {
        task: Option<String>,
        receipt: Option<String>,
        /// Where to, absolute; must not exist. A name that ends in `.zip` makes a zip, any other a folder.
        path: String,
        /// `records` (the standard), `all`, `none`, or kinds of artifacts.
        #[serde(default)]
        artifacts: Vec<String>,
        /// Leave only digests of sensitive values.
        #[serde(default)]
        redact: bool,
    }
    /// A file or folder, and the keys that are trusted: PEM blocks, verifier keys, key ids, SSH fingerprints.
    Verify {
        path: String,
        #[serde(default)]
        trust: Vec<String>,
    }
}

answers! {
    /// What was made.
    Exported {
        path: String,
        files: u64,
        byte_size: u64,
        /// SHA-256 of `SHA256SUMS`: names the whole content.
        sums_sha256: String,
        exported_at: i64,
        /// What could not go along.
        left_out: Vec<String>,
    }
    /// What a check has shown.
    Report {
        verdict: Verdict,
        /// Where and why, or by whom; a sentence.
        reason: String,
        task_id: Option<String>,
        log_id: Option<String>,
        task_size: Option<u64>,
        task_root: Option<String>,
        exported_at: Option<i64>,
        /// Key ids by purpose.
        keys: BTreeMap<String, String>,
        /// Purposes whose key is trusted.
        trusted: Vec<String>,
        counts: BTreeMap<String, u64>,
        proven: Vec<String>,
        asserted: Vec<String>,
        not_shown: Vec<String>,
    }
}
