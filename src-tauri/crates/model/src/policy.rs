//! What policy says (HK-16).

use crate::action::ActionClass;
use crate::standing::StandingRef;
use crate::{ActionRequestId, PolicyResultId, UnixMs};
use seal::Digest;
use serde::{Deserialize, Serialize};

crate::names! {
    /// The six profiles of HK-16.3.
    pub enum Profile ("policy profile") {
        /// Look, never touch.
        ReadonlyAnalysis = "readonly_analysis",
        /// Edits below the workspace, each asked for unless allowed.
        LocalEditAllowed = "local_edit_allowed",
        /// As above, and may read from the network.
        NetworkReadAllowed = "network_read_allowed",
        /// Edits, commands and version control, consequential ones gated.
        RepoMutationGated = "repo_mutation_gated",
        /// Publication possible, each one gated.
        ExternalPublishGated = "external_publish_gated",
        /// Nothing that destroys, whoever asks.
        DestructiveDenied = "destructive_denied",
    }
}

crate::names! {
    /// Exactly one of these comes back (HK-16.5).
    pub enum Verdict ("verdict") {
        /// May run.
        Allow = "allow",
        /// A person must allow it first.
        RequireApproval = "require_approval",
        /// May not run.
        Deny = "deny",
        /// May run only in a lesser form.
        Downgrade = "downgrade",
    }
}

crate::names! {
    /// How much is at stake (HK-16.2).
    pub enum RiskBand ("risk band") {
        /// Read, or trivially undone.
        Low = "low",
        /// Undone with what Hermit keeps.
        Moderate = "moderate",
        /// Hard to undo, or wide.
        High = "high",
        /// Cannot be undone, or leaves the machine.
        Critical = "critical",
    }
}

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
}
