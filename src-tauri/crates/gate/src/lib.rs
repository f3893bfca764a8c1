//! The reference monitor: nothing is dispatched that did not go through it, and everything that went through it,
//! or failed to, left an entry (KS whole).
//!
//! **What this room is for.** One machine of seven states, requests and receipts field for field as KS-4 has
//! them, an audit entry for every transition, and the replay that checks a chain of entries.
//!
//! **What it must never do.** Judge by itself (policy answers through [`Jurisdiction`]), act by itself (dispatch
//! goes through [`Tools`]), keep the log ([`AuditLog`] does), read a clock or draw chance. It never proceeds when
//! in doubt: what is ambiguous is denied, and when auditing itself fails the gate halts (reconciliation C10).
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. The gate is in exactly one of seven states, and only [`machine::TRANSITIONS`] says what may follow what.
//! 2. Its entry is in the log before a transition completes; a log that fails leaves the gate halted.
//! 3. `EXECUTING` is entered only on an explicit `ALLOW` with a tool named.
//! 4. Nothing leaves `HALTED` within a session; the next session's boot entry continues the same chain.
//! 5. Same gate, same request, same answers: same entries, same receipt, same gate, byte for byte.
//! 6. `decision` in an entry is `DENY` until arbitration has ended (reconciliation C7).
//! 7. An entry holds codes, identifiers and digests; free text of a request never enters the log.
//! 8. A bundle that differs from an honest one in any field, or in order or number of entries, does not verify;
//!    an empty one never does.
//!
//! **Decided here, because the documents leave it open.** Ambiguity heuristics: [`check`]. Variants: [`variant`].
//! `step` advances a request that [`Gate::receive`] took in by exactly one transition; `submit` is `receive` and
//! `step` until the gate rests. A `HALT` by policy gives a `REJECTED` receipt, a failed audit a `FAILED` one, the
//! halt call an `ACCEPTED` one.
//!
//! **Where to start reading.** [`request`], [`machine`], then [`Gate`].

pub mod check;
pub mod evidence;
pub mod machine;
mod pass;
pub mod request;
pub mod variant;

pub use evidence::{EvidenceBundle, Fault, Replay, Verified, replay, verify_bundle};
pub use model::audit::{AuditEntry, GateDecision, KernelState};
pub use pass::Gate;
pub use request::{
    BootError, Code, KernelConfig, KernelReceipt, KernelRequest, ReceiptStatus, Ruling, ToolCall,
};
pub use variant::Variant;

use serde_json::Value;

/// The log could not take an entry; nobody knows whether it is in it. The gate halts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the audit log took no entry: {0}; check the store and start again")]
pub struct AuditFailure(pub String);

/// Where entries go. An entry is durable, or on its way into one commit with its effect, when this returns.
pub trait AuditLog {
    /// Takes one entry, linked to the one before.
    ///
    /// # Errors
    /// [`AuditFailure`], after which the gate appends nothing more in this session.
    fn append(&mut self, entry: &AuditEntry) -> Result<(), AuditFailure>;
}

/// Entries that wait for the commit they share with their effect.
impl AuditLog for Vec<AuditEntry> {
    fn append(&mut self, entry: &AuditEntry) -> Result<(), AuditFailure> {
        self.push(entry.clone());
        Ok(())
    }
}

/// Answers whether a request may run (KS-3.3). It never fails: what it cannot judge it denies.
pub trait Jurisdiction {
    /// The ruling; only an `ALLOW` without an error code lets anything run.
    fn evaluate(&self, request: &KernelRequest) -> Ruling;
}

/// Dispatches what was allowed (KS-4.1 `EXECUTING`).
pub trait Tools {
    /// Dispatches one call.
    ///
    /// # Errors
    /// Words for a person; the entry holds only [`Code::ToolFailed`].
    fn call(&mut self, call: &ToolCall) -> Result<Value, String>;
}
