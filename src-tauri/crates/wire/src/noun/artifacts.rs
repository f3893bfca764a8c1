//! Bytes that came in, were made, or were left behind.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::receipts::Link;
use crate::table::{answers, params};
use crate::{Page, Text};
use words::artifact::{ArtifactClass, ArtifactKind, ArtifactState, RetentionClass, Sensitivity, TraceScope};
use words::knowledge::TrustTier;

params! {
    /// A file: by a path that the host can read, or by its bytes.
    Ingest {
        /// Absolute.
        path: Option<String>,
        /// Base64, for what has no path, such as standard input.
        bytes: Option<String>,
        /// The name shown; the path's last part when absent.
        name: Option<String>,
        /// `untrusted` (the standard), `observed`, `verified`, `user_asserted`.
        trust: Option<String>,
        channel: Option<String>,
    }
    /// Which artifacts.
    List {
        task: Option<String>,
        kind: Option<String>,
        /// Exactly these bytes.
        sha256: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
    }
    /// One artifact by identifier, or by its beginning or end.
    Show { artifact: String }
    /// A part of the bytes; the whole, as far as one answer carries it, when absent.
    Content { artifact: String, #[serde(default)] offset: u64, limit: Option<u64> }
    /// See the table.
    Lineage { artifact: String }
    /// See the table.
    Weigh {}
    /// What would go.
    Garbage {
        /// Of tasks that ended at least so many milliseconds ago: 30 days when absent, one day at least.
        older_than_ms: Option<i64>,
    }
    /// What was shown goes.
    Collect {
        /// `plan` of what was shown. When something else would go by now, nothing goes.
        plan: String,
        /// As it was when it was shown.
        older_than_ms: Option<i64>,
    }
    /// Which.
    Keep { artifact: String }
}

answers! {
    /// What was taken in.
    Ingested { artifact_id: String, sha256: String, byte_size: u64 }

    /// One line of the list, and all there is to say.
    Artifact {
        artifact_id: String,
        task_id: String,
        class: ArtifactClass,
        kind: ArtifactKind,
        uri: Text,
        name: Option<Text>,
        sha256: String,
        media_type: String,
        byte_size: u64,
        created_at: i64,
        trust: TrustTier,
        sensitivity: Sensitivity,
        retention: RetentionClass,
        state: ArtifactState,
        produced_by: Option<String>,
        inputs: Vec<String>,
        sealed_by: Option<String>,
        /// Whether the bytes are here.
        present: Option<bool>,
    }

    /// Bytes.
    Bytes {
        artifact_id: String,
        sha256: String,
        media_type: String,
        byte_size: u64,
        offset: u64,
        /// Base64 of this part.
        bytes: String,
        /// Where to go on; absent at the end.
        next_offset: Option<u64>,
    }

    /// How much room content takes that is not in the ledger itself, and how many small contents are.
    Weighed {
        /// Different contents in files.
        contents: u64,
        /// Bytes of them.
        content_bytes: u64,
        files: u64,
        /// Bytes on disk.
        disk_bytes: u64,
        /// Bytes that are not kept twice.
        saved_bytes: u64,
        /// Bytes on disk from which on a person is told to make room.
        quota_bytes: u64,
        /// Small contents, which are in the ledger itself and in none of the numbers above.
        #[serde(default)]
        in_ledger: u64,
    }

    /// What a collection took, or would take.
    Collected {
        /// Whether it was only looked.
        dry_run: bool,
        /// Names exactly what goes; to be handed in with the yes.
        plan: String,
        /// Bytes that go from the disk. Less than `bytes` where content is in the ledger, or shared with what stays.
        disk_bytes: u64,
        /// Contents and parts of them that nothing names and that stay for now: an act at work may be about to.
        spared: u64,
        /// Contents whose parts cannot be told apart from garbage, because their list is damaged: no part of any goes.
        unreadable: u64,
        /// Artifacts whose content goes: no receipt leads to them.
        artifacts: u64,
        /// Bytes of that.
        bytes: u64,
        by_kind: Vec<Collectible>,
        /// Files that nothing names at all, left by acts that were broken off.
        orphans: u64,
        /// Artifacts that stay because their task is still at work or ended a short time ago.
        young: u64,
        /// Different contents that stay.
        kept: u64,
        /// Artifacts with the signed lists of what went.
        lists: Vec<String>,
    }

    /// A kind of artifact of which some goes.
    Collectible { kind: ArtifactKind, artifacts: u64, bytes: u64 }

    /// The six questions of HK-14.4, and the ancestry.
    Lineages {
        artifact_id: String,
        /// How far was looked.
        scope: TraceScope,
        /// Which attempt made it.
        produced_by: Option<Link>,
        /// Which artifacts went into it.
        inputs: Vec<Link>,
        /// Which decisions cite it.
        cited_by: Vec<Link>,
        /// Which beliefs refer to it.
        beliefs: Vec<Link>,
        /// Which memory came of it.
        memories: Vec<Link>,
        /// Which receipts include it.
        receipts: Vec<Link>,
        /// Everything it came from, the nearest kinds mixed.
        ancestors: Vec<Link>,
        /// Everything that came of it.
        descendants: Vec<Link>,
        /// The weakest trust tier behind it.
        trust: Option<TrustTier>,
        /// Untrusted artifacts behind it.
        untrusted: Vec<Link>,
        /// Sources that have been replaced by other content since.
        stale: Vec<Link>,
    }
}

/// A part of the list.
pub type Artifacts = Page<Artifact>;
