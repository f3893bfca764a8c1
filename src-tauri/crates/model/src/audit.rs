//! The audit entry of the gate (KS-4.7): the ledger stores it, the gate makes and checks it.

use crate::{Error, UnixMs};
use seal::Digest;
use serde::{Deserialize, Serialize};

crate::names! {
    /// The seven states of the gate (KS-4.1).
    pub enum KernelState ("kernel state") {
        /// Initialising.
        Booting = "BOOTING",
        /// Ready to accept requests.
        Idle = "IDLE",
        /// Checking request structure.
        Validating = "VALIDATING",
        /// Evaluating jurisdiction.
        Arbitrating = "ARBITRATING",
        /// Dispatching a tool call.
        Executing = "EXECUTING",
        /// Writing an audit entry.
        Auditing = "AUDITING",
        /// Terminal.
        Halted = "HALTED",
    }
}

crate::names! {
    /// What the gate decided (KS-4.2).
    pub enum GateDecision ("gate decision") {
        /// Permitted.
        Allow = "ALLOW",
        /// Rejected.
        Deny = "DENY",
        /// The gate enters its terminal state.
        Halt = "HALT",
    }
}

/// One entry of the kernel-wide chain, field for field (KS-4.7-1, -2).
///
/// `intent`, `actor` and `error` hold codes and identifiers, never free text (proof.md 5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditEntry {
    /// Hash of the previous entry; 64 zeros for the first.
    pub prev_hash: Digest,
    /// SHA-256 over the canonical bytes of this entry without this field.
    pub entry_hash: Digest,
    /// When.
    pub ts_ms: UnixMs,
    /// The request it belongs to; the session's own for boot and halt.
    pub request_id: String,
    /// Principal identifier of who submitted.
    pub actor: String,
    /// A code, such as `change` or `boot`.
    pub intent: String,
    /// The decision so far: DENY before arbitration (reconciliation C7).
    pub decision: GateDecision,
    /// State before.
    pub state_from: KernelState,
    /// State after.
    pub state_to: KernelState,
    /// The tool, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// SHA-256 of the canonical bytes of the tool's parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params_hash: Option<Digest>,
    /// SHA-256 of the evidence given with the request (reconciliation C6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_hash: Option<Digest>,
    /// A code, when something went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl AuditEntry {
    /// The hash its fields give, whatever `entry_hash` says.
    ///
    /// # Errors
    /// [`Error::Malformed`] when it has no canonical form.
    pub fn computed_hash(&self) -> Result<Digest, Error> {
        let malformed = |why: String| Error::Malformed { what: "audit entry", why };
        let mut value = serde_json::to_value(self).map_err(|e| malformed(e.to_string()))?;
        if let Some(fields) = value.as_object_mut() {
            fields.remove("entry_hash");
        }
        seal::canon::canonical_value(&value).map(|b| Digest::of(&b)).map_err(|e| malformed(e.to_string()))
    }

    /// The canonical bytes with the hash: what is stored and exported, and the leaf of the gate tree.
    ///
    /// # Errors
    /// [`Error::Malformed`] when it has no canonical form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        seal::canon::to_canonical(self)
            .map_err(|e| Error::Malformed { what: "audit entry", why: e.to_string() })
    }
}
