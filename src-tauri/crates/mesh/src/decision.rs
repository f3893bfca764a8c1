//! What is asked of a person at another machine, and what they decide there.

use crate::NodeId;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::UnixMs;
use seal::keys::{PublicKey, Signature, Signer};
use seal::{Digest, canon};
use serde::{Deserialize, Serialize};

/// The largest packet that other machines are asked about, in bytes: a card that a person reads to its end. What is larger is
/// answered where it is asked.
pub const PACKET_BYTES_MAX: usize = 256 * 1024;
/// The longest yes of an approval key in a decision, in base64.
pub const APPROVAL_BYTES_MAX: usize = 16 * 1024;
/// The longest name of an approval or of a person, in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// The domain in which an approval key of a machine signs a decision.
pub const DECISION_PAYLOAD_TYPE: &str = "application/vnd.hermit.mesh-decision+json";

/// A decision that is asked of a person at another machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The approval.
    pub approval: String,
    /// SHA-256 of the packet's exact bytes, which come in parts.
    pub packet: Digest,
    /// Drawn for this question.
    pub nonce: Digest,
    /// Who is asked, as the asking machine names its person.
    pub person: String,
    /// When it was asked, by the clock of the asking machine.
    pub asked_at: UnixMs,
    /// Until when it can be answered, by the same.
    pub expires_at: UnixMs,
    /// How many machines have to say yes.
    pub need: u8,
}

/// What a person decided at a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The approval.
    pub approval: String,
    /// SHA-256 of the packet that was shown.
    pub packet: Digest,
    /// The nonce of the card.
    pub nonce: Digest,
    /// The node that asked.
    pub asked_by: NodeId,
    /// Whether it is a yes.
    pub allow: bool,
    /// When, by the clock of the machine where it was made.
    pub decided_at: UnixMs,
    /// Which decision of that machine it is, by its own count, which never goes back.
    pub counter: u32,
}

/// A decision, signed by the approval key of the machine where it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedDecision {
    /// The decision.
    pub decision: Decision,
    /// The key.
    pub key: PublicKey,
    /// Ed25519 over [`Decision::signed_bytes`].
    pub signature: Signature,
    /// With a yes what the approval itself takes, base64: the approval key's word in the place of a passkey.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

impl SignedDecision {
    /// Whether it is no longer than a decision is.
    pub fn is_fit(&self) -> bool {
        self.decision.approval.len() <= NAME_BYTES_MAX
            && self.approval.as_ref().is_none_or(|text| text.len() <= APPROVAL_BYTES_MAX)
    }

    /// What the approval itself takes.
    pub fn approval_bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(self.approval.as_ref()?).ok()
    }
}

impl Card {
    /// Whether its names are as short as names are.
    pub fn is_fit(&self) -> bool {
        self.approval.len() <= NAME_BYTES_MAX && self.person.len() <= NAME_BYTES_MAX
    }
}

impl Decision {
    /// The decision with the signature of this machine's approval key, and with a yes what the approval takes.
    ///
    /// # Errors
    /// When it has no canonical form, and whatever the signer says.
    pub fn signed(self, approval: Option<&[u8]>, key: &dyn Signer) -> Result<SignedDecision, seal::Error> {
        let signature = key.sign(&self.signed_bytes()?)?;
        let approval = approval.map(|bytes| STANDARD.encode(bytes));
        Ok(SignedDecision { decision: self, key: key.public(), signature, approval })
    }

    /// What is signed.
    ///
    /// # Errors
    /// When it has no canonical form.
    pub fn signed_bytes(&self) -> Result<Vec<u8>, seal::Error> {
        Ok(seal::dsse::pae(DECISION_PAYLOAD_TYPE, &canon::to_canonical(self)?))
    }
}
