//! Who acts (HK-8.11).

use crate::{PrincipalId, UnixMs};
use seal::disclose::Sensitive;
use serde::{Deserialize, Serialize};
pub use words::store::PrincipalType;

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
