//! What was done, as proven.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use crate::{Page, Text};

params! {
    /// Which receipts.
    List { task: Option<String>, after: Option<String>, limit: Option<u32> }
    /// One receipt by identifier, or by its beginning or end.
    Show { receipt: String }
    /// See the table.
    Explain { receipt: String }
    /// See the table.
    Rollback { receipt: String, idempotency_key: Option<String>, channel: Option<String> }
}

answers! {
    /// One line of the list.
    ReceiptRow {
        receipt_id: String,
        task_id: String,
        class: String,
        action_class: String,
        result: String,
        /// What a person settled it as, when it was not known.
        resolved: Option<String>,
        reversibility: String,
        rolls_back: Option<String>,
        undone_by: Option<String>,
        summary: Text,
        issued_at: i64,
    }

    /// One receipt.
    Receipt {
        row: ReceiptRow,
        /// The receipt as the statement holds it; sensitive leaves plain or `{"erased": digest}`.
        receipt: serde_json::Value,
        /// SHA-256 of the statement's bytes.
        statement_sha256: String,
        /// The artifact with the signed envelope.
        envelope_ref: String,
        /// Key ids that signed it; empty in a store without keys.
        signed_by: Vec<String>,
        /// Whether the receipt key in force verifies it.
        signature: Signature,
    }

    /// What a receipt's chain is made of. Every list is ordered.
    Explanation {
        receipt_id: String,
        /// Messages, tasks, steps and attempts it served, the outermost first.
        goal: Vec<Link>,
        /// Context packs that were in the proposer's sight.
        context: Vec<Link>,
        /// What those came from.
        evidence: Vec<Link>,
        action: Option<Link>,
        policy: Vec<Link>,
        decisions: Vec<Link>,
        approvals: Vec<Link>,
        witnesses: Vec<Link>,
        grants: Vec<Link>,
        effect: Option<Link>,
        changes: Vec<Link>,
        undone_by: Vec<Link>,
        /// The weakest trust tier behind it.
        trust: Option<String>,
        /// Untrusted artifacts behind it.
        untrusted: Vec<Link>,
    }

    /// One thing in a chain.
    Link {
        /// `task`, `artifact`, `approval`, ...
        kind: String,
        id: String,
        task_id: Option<String>,
        label: Option<Text>,
        /// An artifact's kind, an action's class.
        detail: String,
        at: Option<i64>,
    }
}

/// Whether a signature holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signature {
    /// The key in force verifies it.
    Holds,
    /// It is signed, and not by that key, or not over these bytes.
    Fails,
    /// It is not signed.
    None,
    /// It is signed, and the store knows no receipt key.
    UnknownKey,
}

/// A part of the list.
pub type Receipts = Page<ReceiptRow>;
