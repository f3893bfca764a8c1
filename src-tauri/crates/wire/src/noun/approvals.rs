//! What waits for a person.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use crate::{Page, Text};

params! {
    /// Which approvals; without a status those that wait.
    List {
        task: Option<String>,
        /// `pending`, `granted`, `denied`, `expired`, `cancelled`, `invalidated`, or `any`.
        status: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
    }
    /// One approval by identifier, or by its beginning or end.
    Show { approval: String }

    /// A decision as signed.
    Decide {
        approval: String,
        /// Base64 of the DSSE envelope, exact bytes.
        envelope: String,
        /// With a yes: base64 of the envelope of a standing grant for the like of it, signed at the same question.
        standing: Option<String>,
    }

    /// A no.
    Deny {
        approval: String,
        /// Words for the model.
        feedback: Option<String>,
        /// Where it was given: `terminal`, `approval_window`, `browser`, `run_api`, `mcp`, `script`,
        /// `main_window`, `notification`.
        surface: Option<String>,
    }
}

answers! {
    /// One line of the list.
    ApprovalRow {
        approval_id: String,
        task_id: String,
        action_class: String,
        risk: String,
        summary: Text,
        status: String,
        requested_at: i64,
        expires_at: i64,
        resolved_at: Option<i64>,
        surface: Option<String>,
        feedback: Option<Text>,
        reason: String,
    }

    /// Everything a person reads, and everything a signer needs.
    Approval {
        row: ApprovalRow,
        /// What is asked, in a line.
        title: String,
        /// The card, the gravest first; never cut.
        lines: Vec<Line>,
        /// Every leaf of the packet as `pointer = value`.
        whole: Vec<String>,
        /// SHA-256 of the packet: what is approved.
        packet_sha256: String,
        /// Base64 of the packet's canonical bytes.
        packet: String,
        nonce: String,
        /// The person who would answer.
        person_id: String,
        /// Key id of the approval key in force; absent when none is registered.
        approval_keyid: Option<String>,
        receipt_id: Option<String>,
    }

    /// One line of the card.
    Line {
        /// `risk`, `destructive`, `unrecoverable`, `effect`, `fact`, `quoted`.
        kind: String,
        text: String,
    }

    /// What became of an answer.
    Decided {
        approval_id: String,
        task_id: String,
        /// Whether it counts; not when it was answered before, expired or withdrawn.
        accepted: bool,
        /// The approval's status now.
        status: String,
    }
}

/// A part of the list.
pub type Approvals = Page<ApprovalRow>;
