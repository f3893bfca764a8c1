//! Proofs that a stranger can check.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Verdict;
use crate::table::{answers, params};
use std::collections::BTreeMap;
use words::artifact::ArtifactKind;
use words::identity::{AnchorClock, TrustFinding};

/// Whose keys they are that vouch for a proof of the store that checks it.
pub const THIS_STORE: &str = "this store";

params! {
    /// A task's proof, or one receipt's when it is named.
    Export {
        task: Option<String>,
        receipt: Option<String>,
        /// The first event, for a part of the task: with `last`, or up to the end.
        #[serde(default)]
        first: Option<u64>,
        /// The last event, for a part of the task: with `first`, or from the beginning.
        #[serde(default)]
        last: Option<u64>,
        /// Where to, absolute; must not exist. A name that ends in `.zip` makes a zip, any other a folder.
        path: String,
        /// `records` (the standard where nothing is redacted), `all`, `none`, or kinds of artifacts.
        #[serde(default)]
        artifacts: Vec<String>,
        /// Leave only digests of these sensitive values: `none`, `paths`, `content`, `all`, or JSON pointers.
        #[serde(default)]
        redact: Vec<String>,
        /// The checkpoint of the global log that the receiver holds: the text of the signed note.
        #[serde(default)]
        since: Option<String>,
    }
    /// What an export with the same words would hand out.
    Preview {
        task: Option<String>,
        receipt: Option<String>,
        #[serde(default)]
        first: Option<u64>,
        #[serde(default)]
        last: Option<u64>,
        #[serde(default)]
        artifacts: Vec<String>,
        #[serde(default)]
        redact: Vec<String>,
    }
    /// A file or folder, and the keys that are trusted: PEM blocks, verifier keys, key ids, SSH fingerprints.
    Verify {
        path: String,
        #[serde(default)]
        trust: Vec<String>,
        /// The checkpoint of the global log that the caller holds from before: the text of the signed note.
        #[serde(default)]
        since: Option<String>,
        /// Files of certificates of time-stamp authorities that are believed, absolute: PEM or DER.
        #[serde(default)]
        authorities: Vec<String>,
        /// A file of headers of Bitcoin's blocks, absolute: 80 bytes each, or a line of hexadecimal each.
        #[serde(default)]
        bitcoin_headers: Option<String>,
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
    /// What would leave this machine.
    Previewed {
        /// Events, without their sensitive values.
        events: u64,
        receipts: u64,
        /// Sensitive values that could be read.
        values: Vec<Value>,
        /// Sensitive values of which only the digest would leave.
        withheld: u64,
        /// Content that could be read.
        artifacts: Vec<Kind>,
        /// Artifacts of which only the digest would leave.
        artifacts_withheld: u64,
        left_out: Vec<String>,
        /// Links that say who this instance is: they name its keys, and go along with every proof.
        #[serde(default)]
        links: u64,
        /// Anchors: what clocks outside have stamped.
        #[serde(default)]
        anchors: u64,
    }
    /// Sensitive values at one place.
    Value {
        /// JSON pointer in its event or receipt; `*` is any number of a list.
        pointer: String,
        count: u64,
        /// The first of them, as JSON.
        example: String,
    }
    /// Artifacts of one kind; without one where Hermit does not know it.
    Kind { kind: Option<ArtifactKind>, count: u64, byte_size: u64 }
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
        /// Names under which this store's owner trusts one of its keys.
        #[serde(default)]
        trusted_as: Vec<String>,
        counts: BTreeMap<String, u64>,
        proven: Vec<String>,
        asserted: Vec<String>,
        not_shown: Vec<String>,
        /// Files for which no trusted key vouches, of a proof that is valid otherwise.
        unvouched: Vec<String>,
        /// Who the instance is, where the proof says so.
        #[serde(default)]
        identity: Option<Followed>,
        /// What clocks say, in the order of anchors.
        #[serde(default)]
        anchors: Vec<AnchorSaid>,
        /// All that the task's checkpoint covers existed by then, as the earliest of the clocks proves.
        #[serde(default)]
        proven_not_after: Option<i64>,
    }
    /// The chain of an instance as it was followed.
    Followed {
        instance_id: Option<String>,
        /// Whether its links lead back to genesis, and nothing is wrong with them.
        unbroken: bool,
        key_in_force: Option<String>,
        links: u64,
        findings: Vec<FoundInChain>,
    }
    /// Something that is wrong with a chain.
    FoundInChain { what: TrustFinding, number: Option<u64>, says: String }
    /// What one clock says of one anchor.
    AnchorSaid {
        number: u64,
        /// `head` or `link`.
        of: String,
        /// The link that was stamped, of a link.
        link: Option<u64>,
        clock: AnchorClock,
        /// `anchored`, `pending`, or `unproven` with what was given.
        state: String,
        not_after: Option<i64>,
        block_height: Option<u64>,
        /// Whether the task's checkpoint stands under what was stamped.
        covers_task: bool,
        says: Vec<String>,
        /// What has to be taken on trust.
        on_trust: Vec<String>,
    }
}
