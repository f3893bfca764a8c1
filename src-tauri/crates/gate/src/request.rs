//! What goes in and what comes back, field for field (KS-4.3 to KS-4.6), and the boot configuration.

use crate::variant::Variant;
use model::audit::{GateDecision, KernelState};
use model::{Digest, UnixMs};
use serde::{Deserialize, Serialize};
use serde_json::Value;

model::names! {
    /// How processing went (KS-4.3).
    pub enum ReceiptStatus ("receipt status") {
        /// Processed successfully.
        Accepted = "ACCEPTED",
        /// Denied by policy or validation.
        Rejected = "REJECTED",
        /// An error came up.
        Failed = "FAILED",
    }
}

model::names! {
    /// Why the gate itself did not let something through. Jurisdictions add codes of their own.
    pub enum Code ("gate error code") {
        /// A field that must say something is empty.
        FieldEmpty = "field_empty",
        /// A field is longer than its limit.
        FieldOversize = "field_oversize",
        /// A field holds a control character.
        ControlCharacter = "control_character",
        /// `request_id` is not a plain token.
        RequestIdMalformed = "request_id_malformed",
        /// `request_id` is that of the request just before.
        RequestRepeated = "request_repeated",
        /// `actor` is not a principal identifier.
        ActorMalformed = "actor_malformed",
        /// `intent` is free text instead of a code.
        IntentNotACode = "intent_not_a_code",
        /// `ts_ms` is negative or beyond what JSON holds exactly.
        TimeMalformed = "time_malformed",
        /// `ts_ms` lies further behind an earlier request than a clock is ever set back.
        TimeBackwards = "time_backwards",
        /// The tool is not among those declared at boot.
        ToolUnknown = "tool_unknown",
        /// Parameters are not an object.
        ParamsNotObject = "params_not_object",
        /// Parameters have no canonical form: a float, too deep, too large a number.
        ParamsUnsealable = "params_unsealable",
        /// Evidence is not a list of identifiers and digests.
        EvidenceMalformed = "evidence_malformed",
        /// Policy said no and gave no usable code.
        Denied = "denied",
        /// Policy said yes and gave an error at once.
        RulingAmbiguous = "ruling_ambiguous",
        /// Policy halted the gate and gave no usable code.
        HaltedByPolicy = "halted_by_policy",
        /// The variant asks for a tool to be named.
        ToolRequired = "tool_required",
        /// The variant asks for the tool's parameters to be spelled out.
        ParamsRequired = "params_required",
        /// The variant asks for evidence.
        EvidenceRequired = "evidence_required",
        /// The variant asks for a second channel, and it is missing.
        ChannelMissing = "channel_missing",
        /// The two channels say different things.
        ChannelsDiffer = "channels_differ",
        /// The tool failed after it was allowed.
        ToolFailed = "tool_failed",
        /// The log did not take an entry.
        AuditFailed = "audit_failed",
        /// The table does not hold the transition: the gate is broken and stops.
        TransitionIllegal = "transition_illegal",
        /// Not booted yet.
        NotBooted = "not_booted",
        /// Another request is under way.
        NotIdle = "not_idle",
        /// The gate is halted for the rest of the session.
        Halted = "halted",
        /// Halted by a call whose reason was no code.
        Unspecified = "unspecified",
    }
}

/// A tool to invoke (KS-4.6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// One of the names declared at boot.
    pub name: String,
    /// An object, integers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
}

/// A request (KS-4.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRequest {
    /// Its own; letters, digits and `_.:-`.
    pub request_id: String,
    /// When.
    pub ts_ms: UnixMs,
    /// Principal identifier, `prn_…`.
    pub actor: String,
    /// A code such as `change`: lower-case letters, digits, `_` and `.`, a letter first.
    pub intent: String,
    /// What to invoke on `ALLOW`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ToolCall>,
    /// Further parameters, an object, integers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
    /// Identifiers (`apr_…`) and SHA-256 digests (64 hex digits), separated by one space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

/// What the gate answers (KS-4.5). Not the durable proof of an act: that is `model::receipt::Receipt` (C1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelReceipt {
    /// As in the request.
    pub request_id: String,
    /// How it went.
    pub status: ReceiptStatus,
    /// Before.
    pub state_from: KernelState,
    /// After.
    pub state_to: KernelState,
    /// As in the request.
    pub ts_ms: UnixMs,
    /// What was decided.
    pub decision: GateDecision,
    /// A code; for a failed tool, the code, `: `, and its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Hash of the audit entry that holds the decision (C6: not of the request's evidence).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_hash: Option<Digest>,
    /// What the tool gave back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_result: Option<Value>,
}

impl KernelReceipt {
    /// Whether the request was allowed and nothing failed.
    pub fn is_accepted(&self) -> bool {
        self.status == ReceiptStatus::Accepted && self.decision == GateDecision::Allow
    }

    /// The code of `error`, without words.
    pub fn error_code(&self) -> Option<&str> {
        self.error.as_deref().map(|e| e.split_once(": ").map_or(e, |(code, _)| code))
    }
}

/// What policy answers through [`crate::Jurisdiction`] (reconciliation C2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The decision.
    pub decision: GateDecision,
    /// Why not, as a code (`approval_required`, `downgraded`, …); `None` with `ALLOW`.
    pub error: Option<String>,
}

impl Ruling {
    /// Explicit permission.
    pub const ALLOW: Self = Self { decision: GateDecision::Allow, error: None };

    /// A no with its code.
    pub fn deny(code: &str) -> Self {
        Self { decision: GateDecision::Deny, error: Some(code.to_owned()) }
    }

    /// A no that ends the session.
    pub fn halt(code: &str) -> Self {
        Self { decision: GateDecision::Halt, error: Some(code.to_owned()) }
    }
}

/// What a session begins with (KS-5.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelConfig {
    /// The store's own identifier, the same in every session.
    pub kernel_id: String,
    /// Which requirements hold on top of policy.
    pub variant: Variant,
    /// This session's identifier; the `request_id` of its boot and halt entries.
    pub session: String,
    /// The system principal, `prn_…`.
    pub actor: String,
    /// Names of the tools that exist. Any other is denied; an empty list denies all.
    pub tools: Vec<String>,
    /// Hash of the last entry of the store, or [`Digest::ZERO`] for a new one.
    pub head: Digest,
    /// When.
    pub ts_ms: UnixMs,
}

/// Why a gate did not boot (KS-5.1-2).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BootError {
    /// It has been booted before; a session is booted once.
    #[error("the gate is {state} already; make a new one for a new session")]
    NotBooting {
        /// Its state.
        state: KernelState,
    },
    /// The configuration is not usable; the gate still waits to be booted.
    #[error("`{field}` of the gate's configuration is not usable: {code}")]
    Config {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        code: Code,
    },
    /// The boot entry could not be written; the gate is halted.
    #[error(transparent)]
    Audit(#[from] crate::AuditFailure),
}
