//! The log itself.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Verdict;
use crate::table::{answers, params};
use words::store::{CheckpointKind, HeadStanding};

params! {
    /// Keys trusted beside the host's own: PEM blocks, or verifier keys.
    Verify {
        #[serde(default)]
        keys: Vec<String>,
        /// Read all content, too, and compare it with its digests.
        #[serde(default)]
        content: bool,
    }
    /// Nothing to say.
    Rebuild {}
    /// Of these tasks; of all that have ended or moved when empty, and always of gate and log.
    Checkpoint {
        #[serde(default)]
        tasks: Vec<String>,
    }
    /// Nothing to say.
    Stats {}
    /// Nothing to say.
    Head {}
    /// Which of what was severed, and from where on.
    Severed {
        /// A task: its rows come along.
        #[serde(default)]
        task: Option<String>,
        /// Rows behind this number of the task.
        #[serde(default)]
        after_seq: u64,
    }
    /// A signed head of this store, as somebody kept it.
    Compare {
        /// The note, as text.
        note: String,
        /// Keys trusted beside the host's own: PEM blocks, or verifier keys.
        #[serde(default)]
        keys: Vec<String>,
    }
}

answers! {
    /// What verification found.
    Report {
        verdict: Verdict,
        /// Why it is not valid, or what it rests on, in a sentence.
        reason: String,
        /// The first place that does not fit.
        place: Option<String>,
        events: u64,
        tasks: u64,
        entries: u64,
        checkpoints: u64,
        trusted_checkpoints: u64,
        disclosures: u64,
        artifacts: u64,
        /// Chained, and under no trusted checkpoint yet.
        unsigned_events: u64,
        /// Whether the checkpoint kept outside the store was compared.
        pinned: bool,
        /// What a person severed, because it did not fit: it is read and not vouched for.
        severed: Vec<Cut>,
        /// What reading all content has shown, where that was asked for.
        content: Option<Contents>,
    }
    /// Content as it was read.
    Contents {
        checked: u64,
        byte_size: u64,
        /// Digests of content that is not there.
        missing: Vec<String>,
        damaged: Vec<Damaged>,
    }
    /// Content that is not what its name says.
    Damaged { sha256: String, why: String }
    /// The end of a task's chain that was severed.
    Cut {
        task_id: String,
        /// The first event that did not fit.
        from_seq: u64,
        /// The last there was; below `from_seq` when all were gone.
        to_seq: u64,
        /// Rows of these that are there.
        rows: u64,
        /// Rows that are gone.
        lost: u64,
        /// Checkpoints that had signed for something else.
        checkpoints: u64,
        /// SHA-256 of all of it, as the log names it.
        severed_sha256: String,
        /// In the words of the person; none when they were erased.
        reason: Option<String>,
        at: i64,
        /// Where the log says so: the number of the event in the whole log.
        log_seq: u64,
    }
    /// A severed row, as it stands.
    CutRow {
        task_seq: u64,
        log_seq: u64,
        /// What the log said of it.
        hash: String,
        /// What its bytes hash to.
        sha256: String,
        /// Its bytes, as far as they are text.
        text: String,
    }
    /// Everything that was ever severed, and the rows of one task.
    Cuts { severed: Vec<Cut>, rows: Vec<CutRow> }
    /// Events folded.
    Rebuilt { events: u64 }
    /// Checkpoints made or still good.
    Checkpoints {
        checkpoints: Vec<Signed>,
        /// What could not be stated before they were signed, in words.
        #[serde(default)]
        troubles: Vec<String>,
    }
    /// One signed tree head.
    Signed {
        kind: CheckpointKind,
        task_id: Option<String>,
        origin: String,
        size: u64,
        root: String,
        made_at: i64,
        /// The signed note (C2SP checkpoint), as text.
        note: String,
    }
    /// How the store stands to a head that somebody kept.
    Compared {
        standing: HeadStanding,
        /// In a sentence.
        reason: String,
        /// The log that the head belongs to.
        origin: Option<String>,
        /// Notes that the head signs for.
        theirs: Option<u64>,
        /// Notes that are here.
        ours: u64,
        /// For `consistent`: the path (RFC 9162) from the head's tree to the newest signed one here, base64.
        proof: Vec<String>,
        /// The newest signed head here, as text.
        head: Option<String>,
    }
    /// How much there is.
    Counts {
        log_id: String,
        events: u64,
        tasks: u64,
        entries: u64,
        blobs: u64,
        disclosures: u64,
        checkpoints: u64,
        /// Hosts so far.
        epoch: u64,
        file_bytes: u64,
        wal_bytes: u64,
        schema: u32,
    }
}
