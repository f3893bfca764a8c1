//! Who acts (HK-8.11).

use crate::{PrincipalId, UnixMs};
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};

crate::names! {
    /// The nine kinds of actor (HK-8.11).
    pub enum PrincipalType ("principal type") {
        /// A person.
        User = "user",
        /// A person or rule that oversees.
        Supervisor = "supervisor",
        /// A model that proposes.
        Agent = "agent",
        /// A background service.
        Service = "service",
        /// The scheduler.
        Scheduler = "scheduler",
        /// An inbound webhook.
        Webhook = "webhook",
        /// The policy engine.
        PolicyEngine = "policy_engine",
        /// An executor of effects.
        Executor = "executor",
        /// The kernel itself.
        System = "system",
    }
}

/// An attributable actor (HK-8.11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// Its identifier.
    pub principal_id: PrincipalId,
    /// Its kind.
    pub principal_type: PrincipalType,
    /// The name shown.
    pub display_name: Sensitive<String>,
    /// When it was first known.
    pub created_at: UnixMs,
    /// How it was authenticated, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authn_context_ref: Option<String>,
    /// Free labels; `test` marks the person of the test kit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// An identity elsewhere, such as a key id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_identity_ref: Option<String>,
}
