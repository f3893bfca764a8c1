//! DSSE: a payload, its type, and signatures over both, so that nobody has to canonicalise in order to verify.

use serde::{Deserialize, Serialize};

use crate::{Digest, Error, PublicKey, Signature, Signer, canon, encoding};

/// Payload type of in-toto statements (receipts and bundle statements).
pub const IN_TOTO: &str = "application/vnd.in-toto+json";

/// An envelope carries at most this many signatures.
pub const SIGNATURES_MAX: usize = 16;

const WHAT: &str = "envelope";

/// A signed payload. `{"payload": base64, "payloadType": …, "signatures": [{"keyid": hex, "sig": base64}]}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// What the payload is, such as [`IN_TOTO`].
    #[serde(rename = "payloadType")]
    pub payload_type: String,
    /// The signed bytes, as they are.
    #[serde(with = "encoding::b64_bytes")]
    pub payload: Vec<u8>,
    /// One to [`SIGNATURES_MAX`] signatures, no key twice.
    pub signatures: Vec<EnvelopeSignature>,
}

/// One signature over the envelope's [`pae`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvelopeSignature {
    /// [`PublicKey::keyid`] of the signer.
    pub keyid: Digest,
    /// Ed25519 over [`pae`], in base64.
    #[serde(with = "b64_signature")]
    pub sig: Signature,
}

mod b64_signature {
    use serde::{Deserializer, Serializer, de};

    use crate::{Signature, encoding};

    pub(super) fn serialize<S: Serializer>(sig: &Signature, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&encoding::b64(&sig.0))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Signature, D::Error> {
        encoding::deserialize_str(deserializer, "base64 of 64 bytes", |text| {
            encoding::b64_exact("signature", text).map(Signature).map_err(de::Error::custom)
        })
    }
}

/// Pre-authentication encoding: the bytes that are signed.
#[must_use]
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// Puts `payload` into an envelope signed by `signer`.
///
/// # Errors
/// Whatever the signer says.
pub fn sign(payload_type: &str, payload: &[u8], signer: &dyn Signer) -> Result<Envelope, Error> {
    let sig = signer.sign(&pae(payload_type, payload))?;
    Ok(Envelope {
        payload_type: payload_type.to_owned(),
        payload: payload.to_vec(),
        signatures: vec![EnvelopeSignature { keyid: signer.public().keyid(), sig }],
    })
}

/// The payload, once the signature by `key` holds. The caller still checks the payload's type.
///
/// # Errors
/// [`Error::Untrusted`] when `key` did not sign, [`Error::Signature`] when its signature does not hold.
pub fn verify(envelope: &Envelope, key: &PublicKey) -> Result<Vec<u8>, Error> {
    envelope.check()?;
    let keyid = key.keyid();
    let ours = envelope.signatures.iter().find(|signature| signature.keyid == keyid);
    let ours = ours.ok_or(Error::Untrusted { what: WHAT })?;
    key.verify(&envelope.pae(), &ours.sig).map_err(|_| Error::Signature { what: WHAT })?;
    Ok(envelope.payload.clone())
}

impl Envelope {
    /// The bytes that its signatures are over.
    #[must_use]
    pub fn pae(&self) -> Vec<u8> {
        pae(&self.payload_type, &self.payload)
    }

    /// Canonical JSON, the one form in which an envelope is stored.
    ///
    /// # Errors
    /// [`Error::Malformed`] when it holds no signature, too many, or two of one key.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.check()?;
        canon::to_canonical(self)
    }

    /// Reads what [`Self::to_bytes`] writes; a final newline is not part of it.
    ///
    /// # Errors
    /// [`Error::Malformed`] or [`Error::NotCanonical`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let envelope: Self = canon::from_canonical(bytes)?;
        envelope.check()?;
        Ok(envelope)
    }

    fn check(&self) -> Result<(), Error> {
        if self.signatures.is_empty() || self.signatures.len() > SIGNATURES_MAX {
            let reason =
                format!("it carries {} signatures, not 1 to {SIGNATURES_MAX}", self.signatures.len());
            return Err(Error::malformed(WHAT, reason));
        }
        let mut seen = std::collections::BTreeSet::new();
        match self.signatures.iter().find(|signature| !seen.insert(signature.keyid)) {
            Some(twice) => Err(Error::malformed(WHAT, format!("the key `{}` signs twice", twice.keyid))),
            None => Ok(()),
        }
    }
}
