//! Who an instance is: its key, and the chain of what it said of itself (mesh.md 2, HV-3.9).
//!
//! The id of an instance is that of its store: random, made once, in genesis (`store.initialised`). Neither key nor SOUL.md decides
//! who it is.

use crate::{Digest, UnixMs};
use serde::{Deserialize, Serialize};
pub use words::identity::{HandoverReason, TrustFinding};

/// What the log's key and the key of the instance both sign: each vouches for the other.
pub const INSTANCE_KEY_FORMAT: &str = "hermit-instance-key/1";
/// The version of [`Attestation`], [`Handover`] and [`KeyRevocation`].
pub const LINK_FORMAT: &str = "hermit-identity/1";
/// The tag of the BIP-340 tagged hash under which the key of an instance signs canonical bytes.
pub const SIGNING_TAG: &str = "hermit/identity/1";
/// The longest SOUL.md, in bytes.
pub const SOUL_BYTES_MAX: usize = 64 * 1024;
/// The longest signed link, in bytes.
pub const LINK_BYTES_MAX: usize = 16 * 1024;
/// Links that are followed in one chain.
pub const LINKS_MAX: usize = 10_000;

/// The statement that binds the key of an instance to the key of its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceKey {
    /// [`INSTANCE_KEY_FORMAT`].
    pub format: String,
    /// The instance.
    pub instance_id: String,
    /// Its key: the 32 bytes of a BIP-340 public key in hex.
    pub instance_pubkey: String,
    /// SHA-256 of the first SOUL.md, from which the key derives.
    pub soul_sha256: Digest,
    /// The log's key, Ed25519, as 32 bytes in hex.
    pub log_pubkey: String,
}

/// A head of the log as a link names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogHead {
    /// The log.
    pub origin: String,
    /// Notes in it.
    pub size: u64,
    /// Their root.
    pub root: Digest,
}

/// One link of an instance's chain. Its canonical bytes are what is signed and hashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Link {
    /// What the instance says of itself.
    Attestation(Attestation),
    /// One key hands over to another; both sign.
    Handover(Handover),
    /// A key signs nothing from now on; a key in force says so.
    Revocation(KeyRevocation),
}

/// What an instance says of itself (HV-3.9-2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attestation {
    /// [`LINK_FORMAT`].
    pub format: String,
    /// The instance.
    pub instance_id: String,
    /// The version of SOUL.md, from 1.
    pub version: u32,
    /// SHA-256 of SOUL.md.
    pub soul_sha256: Digest,
    /// SHA-256 of the canonical bytes of the link before; none for genesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Digest>,
    /// The key that signs.
    pub instance_pubkey: String,
    /// The log's head when it was made.
    pub log_head: LogHead,
    /// When.
    pub attested_at: UnixMs,
}

/// One key hands over to another (HV-3.9-3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handover {
    /// [`LINK_FORMAT`].
    pub format: String,
    /// The instance.
    pub instance_id: String,
    /// SHA-256 of the canonical bytes of the link before.
    pub previous: Digest,
    /// The key that goes.
    pub from_pubkey: String,
    /// The key that comes.
    pub to_pubkey: String,
    /// Why.
    pub reason: HandoverReason,
    /// SHA-256 of what the successor is; none for a rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor_sha256: Option<Digest>,
    /// The log's head when it was made.
    pub log_head: LogHead,
    /// When.
    pub handed_over_at: UnixMs,
}

/// A key of the instance is not to be believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyRevocation {
    /// [`LINK_FORMAT`].
    pub format: String,
    /// The instance.
    pub instance_id: String,
    /// SHA-256 of the canonical bytes of the link before.
    pub previous: Digest,
    /// The key that is not to be believed.
    pub revoked_pubkey: String,
    /// The key in force that signs.
    pub by_pubkey: String,
    /// When.
    pub revoked_at: UnixMs,
}

/// A link with the signatures on it, as it is kept and sent: one line of canonical JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedLink {
    /// The link.
    pub link: Link,
    /// Who signed: one for an attestation or a revocation, the old key and then the new one for a hand-over.
    pub signatures: Vec<LinkSignature>,
}

/// A BIP-340 signature over the tagged hash of a link's canonical bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSignature {
    /// The key, 32 bytes in hex.
    pub pubkey: String,
    /// The signature, 64 bytes in hex.
    pub signature: String,
}

impl Link {
    /// The link before it; none for genesis.
    pub const fn previous(&self) -> Option<Digest> {
        match self {
            Self::Attestation(link) => link.previous,
            Self::Handover(link) => Some(link.previous),
            Self::Revocation(link) => Some(link.previous),
        }
    }

    /// The instance it belongs to.
    pub fn instance_id(&self) -> &str {
        match self {
            Self::Attestation(link) => &link.instance_id,
            Self::Handover(link) => &link.instance_id,
            Self::Revocation(link) => &link.instance_id,
        }
    }

    /// Who has to have signed it, in this order.
    pub fn signers(&self) -> Vec<&str> {
        match self {
            Self::Attestation(link) => vec![&link.instance_pubkey],
            Self::Handover(link) => vec![&link.from_pubkey, &link.to_pubkey],
            Self::Revocation(link) => vec![&link.by_pubkey],
        }
    }

    /// When it was made, as it says.
    pub const fn made_at(&self) -> UnixMs {
        match self {
            Self::Attestation(link) => link.attested_at,
            Self::Handover(link) => link.handed_over_at,
            Self::Revocation(link) => link.revoked_at,
        }
    }
}
