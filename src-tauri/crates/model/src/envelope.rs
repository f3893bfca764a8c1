//! The envelope in which a message of a chat comes in (HV-3.1-3): canonical JSON, signed by the node that took it from the
//! service. The kernel hears no message in any other form.

use crate::{ArtifactId, ConversationId, UnixMs};
use seal::dsse::pae;
use seal::keys::{PublicKey, Signature, Signer};
use seal::{Digest, canon};
use serde::{Deserialize, Serialize};

/// What is signed: the domain of an envelope, in which nothing else is signed.
pub const ENVELOPE_PAYLOAD_TYPE: &str = "application/vnd.hermit.message+json";
/// The version of the payload that is made and read.
pub const ENVELOPE_VERSION: u32 = 1;
/// Bytes of an envelope.
pub const ENVELOPE_BYTES_MAX: usize = 256 * 1024;

crate::names! {
    /// What a message of a chat is.
    pub enum EnvelopeKind ("kind of a message") {
        /// Words.
        Words = "words",
        /// A pressed button, whose data the body is.
        Button = "button",
    }
}

/// A message as it comes in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// The conversation of its sender; null for one who has none.
    pub conversation_id: Option<ConversationId>,
    /// The node that took it from the service: the name of its log.
    pub node_id: String,
    /// Ed25519 by that node, over [`Envelope::signed_bytes`].
    pub signature: Signature,
    /// What came.
    pub payload: EnvelopePayload,
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvelopePayload {
    /// [`ENVELOPE_VERSION`].
    pub version: u32,
    /// What it is.
    pub kind: EnvelopeKind,
    /// Which message of its sender, from 1, without gaps; 1 for a sender whom nobody paired.
    pub seq: u64,
    /// When it was sent, as the service says.
    pub sent_at: UnixMs,
    /// Who sent it, where.
    pub sender: EnvelopeSender,
    /// Its words, or the data of the button.
    pub body: String,
    /// What came with it, by its digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<EnvelopeAttachment>,
    /// The service's own id of what it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
}

/// Who sent a message, and where, all of it as the service names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvelopeSender {
    /// The gateway that heard it.
    pub gateway: String,
    /// The chat.
    pub chat: String,
    /// Whether others are in that chat.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_group: bool,
    /// The sender.
    pub sender: String,
    /// As they call themselves.
    pub name: String,
    /// The id of the message, which no other has in this chat.
    pub message_id: String,
}

/// A file that came with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvelopeAttachment {
    /// Where it is kept.
    pub artifact_id: ArtifactId,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// Its name, as the sender gave it.
    pub name: String,
    /// Its length.
    pub bytes: u64,
}

/// What of an envelope is signed.
#[derive(Serialize)]
struct Signed<'e> {
    conversation_id: Option<ConversationId>,
    node_id: &'e str,
    payload: &'e EnvelopePayload,
}

impl Envelope {
    /// The bytes that a node signs: the domain, and the canonical form of everything but the signature.
    ///
    /// # Errors
    /// When it has no canonical form.
    pub fn signed_bytes(
        conversation_id: Option<ConversationId>,
        node_id: &str,
        payload: &EnvelopePayload,
    ) -> Result<Vec<u8>, seal::Error> {
        let signed = canon::to_canonical(&Signed { conversation_id, node_id, payload })?;
        Ok(pae(ENVELOPE_PAYLOAD_TYPE, &signed))
    }

    /// An envelope that a node signs.
    ///
    /// # Errors
    /// Whatever the signer says.
    pub fn sign(
        conversation_id: Option<ConversationId>,
        node_id: String,
        payload: EnvelopePayload,
        signer: &dyn Signer,
    ) -> Result<Self, seal::Error> {
        let signature = signer.sign(&Self::signed_bytes(conversation_id, &node_id, &payload)?)?;
        Ok(Self { conversation_id, node_id, signature, payload })
    }

    /// Whether a key signed it.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        let bytes = Self::signed_bytes(self.conversation_id, &self.node_id, &self.payload);
        bytes.is_ok_and(|bytes| key.verify(&bytes, &self.signature).is_ok())
    }

    /// Its canonical bytes.
    ///
    /// # Errors
    /// When it has no canonical form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, seal::Error> {
        canon::to_canonical(self)
    }

    /// Reads canonical bytes; any other form of the same is refused.
    ///
    /// # Errors
    /// In words.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > ENVELOPE_BYTES_MAX {
            return Err(format!("it has more than {ENVELOPE_BYTES_MAX} bytes"));
        }
        canon::from_canonical(bytes).map_err(|e| e.to_string())
    }
}
