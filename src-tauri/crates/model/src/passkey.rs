//! A passkey that a person's approval key lets say yes for it (governance.md 2, schedule.md 4).

use crate::approval::Surface;
use crate::{PrincipalId, UnixMs};
use serde::{Deserialize, Serialize};

/// DSSE payload type of a [`PasskeyEnrolment`].
pub const PASSKEY_PAYLOAD_TYPE: &str = "application/vnd.hermit.passkey+json";

/// The `format` of this version.
pub const PASSKEY_FORMAT: &str = "hermit-passkey/1";

/// Origin and host of a passkey that is on a security key, which Hermit itself asks: at a terminal, or for the app's window. It
/// is no address, so no page in a browser is ever at it, and no passkey of a page signs for it.
pub const SECURITY_KEY_ORIGIN: &str = "hermit:security-key";

/// Origin of the approval key of another machine of the same person, which says yes there in the place of a passkey (mesh.md 4). It is
/// no address either. The identifier is the key by which that machine is known in the mesh, and the SHA-256 of its approval key behind
/// it; the host is the origin with the key in the mesh of the machine that asks behind it.
pub const MESH_ORIGIN: &str = "hermit:mesh";

/// What is signed when a passkey signs a page in. It begins with this line and is no JSON, so it can be read as no decision, nor a
/// decision as it.
pub const SIGN_IN_FORMAT: &str = "hermit-sign-in/1";

/// The name of that payload.
pub const SIGN_IN_PAYLOAD_TYPE: &str = "application/vnd.hermit.sign-in";

/// What a person's approval key signs so that a passkey can say yes; DSSE payload type [`PASSKEY_PAYLOAD_TYPE`]. Who made
/// the authenticator is not asked, and a statement of it is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PasskeyEnrolment {
    /// [`PASSKEY_FORMAT`].
    pub format: String,
    /// The store, by its log.
    pub log_id: String,
    /// Its identifier at the authenticator, base64url.
    pub credential_id: String,
    /// Its key: base64 of the SPKI DER, as in a PEM file. The SHA-256 of that DER is its name.
    pub public_key: String,
    /// The host it is for.
    pub rp_id: String,
    /// The one origin at which it may sign.
    pub origin: String,
    /// What the authenticator said when it made it, base64url: flags, counter, identifier and key.
    pub authenticator_data: String,
    /// Where it was enrolled.
    pub surface: Surface,
    /// Whose it is.
    pub enrolled_by: PrincipalId,
    /// When.
    pub enrolled_at: UnixMs,
}
