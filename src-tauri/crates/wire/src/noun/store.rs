//! Copies of the store.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Verdict;
use crate::table::{answers, params};

params! {
    /// The folder to make, absolute; must not exist or be empty.
    Backup { to: String }
    /// A copy, and the empty folder to put it into; both absolute.
    Restore { from: String, to: String }
}

answers! {
    /// What was copied.
    BackedUp {
        to: String,
        /// SHA-256 of the copy's manifest: names the whole content.
        manifest_sha256: String,
        files: u64,
        byte_size: u64,
        /// The last place of the log it holds.
        log_seq: u64,
        /// Content that the log names and that is not there.
        missing: Vec<String>,
        /// Content that is there and damaged, so that it could not be copied.
        damaged: Vec<String>,
        /// Files with keys that the copy does not hold and a restored store needs.
        keys_left_out: Vec<String>,
        /// Why the store's log does not tell of this copy, when it does not.
        not_recorded: Option<String>,
    }
    /// What was put back, and what the ledger's verification says of it.
    Restored {
        to: String,
        files: u64,
        byte_size: u64,
        log_seq: u64,
        verdict: Verdict,
        reason: String,
        /// How it stands to the head kept outside the store, when it is not consistent with it; a sentence.
        behind_pin: Option<String>,
        /// Files with keys to put into the folder, from where they are kept: a copy holds none.
        keys_to_put_back: Vec<String>,
    }
}
