//! What was done, as proven.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use crate::{Page, PartOf, Text};
use words::act::{ActionClass, ReceiptClass, ResultCode, Reversibility, UndoKind};
use words::knowledge::{NodeKind, TrustTier};

params! {
    /// Which receipts.
    List { task: Option<String>, after: Option<String>, limit: Option<u32> }
    /// One receipt by identifier, or by its beginning or end.
    Show {
        receipt: String,
        /// Without the list of changes, which `changes.show` gives in parts.
        #[serde(default)]
        brief: bool,
    }
    /// What to undo: a receipt, a task, or everything since a time (milliseconds since 1970). With `since` in more
    /// than one folder, `workspace` names one by its identifier; `receipts.plan` lists them.
    Rollback {
        receipt: Option<String>,
        task: Option<String>,
        since: Option<i64>,
        workspace: Option<String>,
        idempotency_key: Option<String>,
        channel: Option<String>,
    }
    /// What an undo would do as things are now; as [`Rollback`], which does it.
    Plan { receipt: Option<String>, task: Option<String>, since: Option<i64> }
}

answers! {
    /// One line of the list.
    ReceiptRow {
        receipt_id: String,
        task_id: String,
        class: ReceiptClass,
        action_class: ActionClass,
        result: ResultCode,
        /// What a person settled it as, when it was not known.
        resolved: Option<ResultCode>,
        reversibility: Reversibility,
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
        /// Of a result in part: whether a person chose the part, and all of it was done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_chosen: bool,
        /// The task whose agent gave its task away, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part_of: Option<PartOf>,
        /// The model or the agent of another program that asked for the act; absent where it is none, such as a playbook.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    }

    /// One undo for each folder.
    UndoPlans { plans: Vec<UndoPlan> }

    /// What an undo would do in one folder. Nothing has been done.
    UndoPlan {
        workspace_id: String,
        workspace: Option<Text>,
        /// The newest first, which is the order in which they are undone.
        receipts: Vec<Undone>,
        items: Vec<UndoItem>,
        left: Vec<Left>,
        /// Where it goes around somebody's edit.
        notes: Vec<String>,
    }

    /// A receipt in a plan.
    Undone {
        receipt_id: String,
        task_id: String,
        summary: Text,
        issued_at: i64,
        /// Whether nothing of it would be left.
        whole: bool,
    }

    /// One change.
    UndoItem {
        what: UndoKind,
        path: String,
        /// Where a move goes.
        to: Option<String>,
        bytes: Option<u64>,
    }

    /// One place that would be left as it is.
    Left {
        receipt_id: String,
        place: String,
        why: String,
        /// Where the earlier version would come instead.
        beside: Option<String>,
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
        trust: Option<TrustTier>,
        /// Untrusted artifacts behind it.
        untrusted: Vec<Link>,
    }

    /// One thing in a chain.
    Link {
        kind: NodeKind,
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

impl ReceiptRow {
    /// Whether the act can be undone by `receipts.rollback`, as far as a line of the list tells; [`Receipt::has_undo`] is exact.
    ///
    /// What Hermit may do and what it remembers are taken back by a change of their own, such as `hermit schedule rm`.
    #[must_use]
    pub const fn has_undo(&self) -> bool {
        let is_kept = matches!(self.reversibility, Reversibility::Reversible | Reversibility::Partial);
        // A file below `.hermit` is brought back whole; what was registered is no file.
        let is_registered = matches!(self.action_class, ActionClass::CapabilityChange)
            && matches!(self.reversibility, Reversibility::Partial);
        is_kept && !is_registered && !matches!(self.action_class, ActionClass::DurableMemoryWrite)
    }
}

impl Receipt {
    /// Whether the act can be undone by `receipts.rollback`: its statement says by which method.
    #[must_use]
    pub fn has_undo(&self) -> bool {
        let is_kept = matches!(self.row.reversibility, Reversibility::Reversible | Reversibility::Partial);
        match self.receipt.pointer("/rollback/method").and_then(serde_json::Value::as_str) {
            Some(method) => is_kept && !matches!(method, "none" | "invalidate_memory"),
            None => self.row.has_undo(),
        }
    }
}
