//! Authority: minted, used, taken back.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Page;
use crate::table::{answers, params};

params! {
    /// Which grants; without a task those that can still be used.
    List { task: Option<String>, after: Option<String>, limit: Option<u32> }
    /// One grant by identifier, or by its beginning or end.
    Revoke { grant: String, reason: Option<String> }
}

answers! {
    /// One grant.
    Grant {
        grant_id: String,
        task_id: String,
        action_request_id: String,
        action_class: String,
        /// `active`, `consumed`, `revoked`, `expired`.
        state: String,
        issued_at: i64,
        expires_at: i64,
        max_uses: u32,
        uses: u32,
        approval_id: Option<String>,
        reason: String,
    }
    /// It is taken back.
    Revoked { grant_id: String, task_id: String }
}

/// A part of the list.
pub type Grants = Page<Grant>;
