//! What policy says (HK-16).

use crate::action::ActionClass;
use crate::standing::StandingRef;
use crate::{ActionRequestId, PolicyResultId, UnixMs};
use seal::Digest;
use serde::{Deserialize, Serialize};
pub use words::policy::{PolicyVerdict as Verdict, Profile, RiskBand};

/// What policy answered, stored as an artifact `policy.result` (HK-16.5-2, governance.md 1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyResult {
    /// Its identifier.
    pub policy_result_id: PolicyResultId,
    /// The request judged.
    pub action_request_id: ActionRequestId,
    /// Digest of the request's canonical bytes.
    pub action_request_sha256: Digest,
    /// The one result.
    pub verdict: Verdict,
    /// What is at stake.
    pub risk_band: RiskBand,
    /// The classes found in the request, the gravest first.
    pub action_classes: Vec<ActionClass>,
    /// The profile asked.
    pub policy_profile: Profile,
    /// Digest of the policy set: the profile's version.
    pub policy_set_sha256: Digest,
    /// Digest of the schema it was validated against.
    pub schema_sha256: Digest,
    /// Names of the rules that decided, sorted.
    pub determining_rules: Vec<String>,
    /// Resource identifiers touched, sorted.
    pub affected_resources: Vec<String>,
    /// The action in one line.
    pub action_summary: String,
    /// The risk in one line.
    pub risk_summary: String,
    /// Why, for a person.
    pub reasoning_summary: String,
    /// Whether a witness must be observed again before execution (HK-16.8).
    pub witness_required: bool,
    /// Whether a decision record must exist before the grant (HK-6.2-3).
    pub decision_required: bool,
    /// The lesser form, when the verdict is downgrade: its execution mode.
    pub downgrade: Option<String>,
    /// When it was evaluated.
    pub evaluated_at: UnixMs,
    /// The standing grant that stands in for a person's yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<StandingRef>,
    /// How many different keys of persons have to say yes, where one is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<u32>,
}

impl PolicyResult {
    /// Whether two different keys have to say yes.
    pub const fn needs_two(&self) -> bool {
        self.need.is_some()
    }
}
