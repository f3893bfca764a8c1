//! A person's yes by a passkey (Web Authentication Level 3): the key, what the authenticator and the browser say, and the
//! signature over both. The challenge is the digest of what is decided, so that a signature is about nothing else.

mod attestation;
pub mod cbor;
mod own_key;

pub use attestation::{Credential, attested, credential_of};
pub use own_key::{made_of, signed_by};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use p256::ecdsa::signature::Verifier as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, Error, PublicKey, Signature, canon, encoding};

/// COSE number of ECDSA over P-256 with SHA-256.
pub const ES256: i64 = -7;
/// COSE number of EdDSA, which is Ed25519 here.
pub const EDDSA: i64 = -8;

/// Most bytes of what a browser says.
pub const CLIENT_DATA_MAX: usize = 4_096;
/// Most bytes of what an authenticator says.
pub const AUTHENTICATOR_DATA_MAX: usize = 4_096;
/// Most bytes of a credential's identifier.
pub const CREDENTIAL_ID_MAX: usize = 1_023;

/// Bytes of the fixed beginning of what an authenticator says: whom for, flags, counter.
const FIXED: usize = 37;
const PRESENT: u8 = 0x01;
const VERIFIED: u8 = 0x04;
const BACKUP_ELIGIBLE: u8 = 0x08;
const BACKED_UP: u8 = 0x10;
const HAS_CREDENTIAL: u8 = 0x40;
const HAS_EXTENSIONS: u8 = 0x80;

/// SPKI DER of a P-256 key is this prefix and the point, uncompressed (RFC 5480).
const P256_SPKI: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
const WHAT: &str = "passkey";

/// Why what a passkey signed does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Fault {
    /// A stable name such as `passkey_origin`.
    pub code: &'static str,
    /// One sentence, lower case.
    pub reason: String,
}

impl Fault {
    fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }

    fn unreadable(reason: impl Into<String>) -> Self {
        Self::new("passkey_unreadable", reason)
    }
}

fn demand(holds: bool, code: &'static str, reason: &str) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::new(code, reason)) }
}

/// The public half of a passkey: a point of P-256 or of Ed25519. Its one spelling in text is the base64 of its SPKI DER.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasskeyKey(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "a handful of keys, none of them kept in bulk")]
enum Kind {
    /// The point, uncompressed: 4, x, y.
    P256([u8; 65]),
    Ed25519(PublicKey),
}

impl PasskeyKey {
    /// A key of P-256 by its uncompressed point: 4, x, y.
    ///
    /// # Errors
    /// [`Error::Malformed`] when it is no point of the curve.
    pub fn p256(point: [u8; 65]) -> Result<Self, Error> {
        let is_uncompressed = point.first() == Some(&4);
        if !is_uncompressed || p256::ecdsa::VerifyingKey::from_sec1_bytes(&point).is_err() {
            return Err(Error::malformed(WHAT, "it is no point of the curve P-256"));
        }
        Ok(Self(Kind::P256(point)))
    }

    /// A key of Ed25519.
    #[must_use]
    pub const fn ed25519(key: PublicKey) -> Self {
        Self(Kind::Ed25519(key))
    }

    /// Reads what [`Self::to_base64`] writes.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a key of another kind, and another spelling.
    pub fn from_base64(text: &str) -> Result<Self, Error> {
        let der = encoding::b64_decode(WHAT, text)?;
        if let Some(point) = der.strip_prefix(&P256_SPKI) {
            let point: [u8; 65] =
                point.try_into().map_err(|_| Error::malformed(WHAT, "its point is not 65 bytes"))?;
            return Self::p256(point);
        }
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n");
        Ok(Self(Kind::Ed25519(PublicKey::from_pem(&pem)?)))
    }

    /// Base64 of [`Self::to_spki_der`]: the one line of a PEM file.
    #[must_use]
    pub fn to_base64(&self) -> String {
        encoding::b64(&self.to_spki_der())
    }

    /// SubjectPublicKeyInfo.
    #[must_use]
    pub fn to_spki_der(&self) -> Vec<u8> {
        match &self.0 {
            Kind::P256(point) => [P256_SPKI.as_slice(), point.as_slice()].concat(),
            Kind::Ed25519(key) => key.to_spki_der(),
        }
    }

    /// Name of the key, as every key in the house has it: SHA-256 of its SPKI DER.
    #[must_use]
    pub fn keyid(&self) -> Digest {
        Digest::of(&self.to_spki_der())
    }

    /// The algorithm's name in JOSE: `ES256` or `EdDSA`.
    #[must_use]
    pub const fn algorithm(&self) -> &'static str {
        match self.0 {
            Kind::P256(_) => "ES256",
            Kind::Ed25519(_) => "EdDSA",
        }
    }

    /// Whether `signature` was made over `message`: DER of two numbers for ES256, 64 bytes and strictly for EdDSA. The
    /// high `s` of ES256, which authenticators make, is accepted.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let refused = Error::Signature { what: "passkey's yes" };
        match &self.0 {
            Kind::P256(point) => {
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(point).map_err(|_| refused.clone())?;
                let made = p256::ecdsa::Signature::from_der(signature).map_err(|_| refused.clone())?;
                key.verify(message, &made).map_err(|_| refused)
            }
            Kind::Ed25519(key) => {
                let made: [u8; 64] = signature.try_into().map_err(|_| refused.clone())?;
                key.verify(message, &Signature(made)).map_err(|_| refused)
            }
        }
    }
}

/// What an authenticator said of the person and of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// Whether the passkey may be copied to other devices of its owner.
    pub is_backup_eligible: bool,
    /// Whether it has been.
    pub is_backed_up: bool,
    /// How often it has signed, by its own count; nought where it does not count.
    pub counter: u32,
}

/// Whether a counter may follow the last one that was seen. One that stands still, where either is not nought, is the
/// mark of a copy.
#[must_use]
pub const fn follows(last: u32, counter: u32) -> bool {
    (last == 0 && counter == 0) || counter > last
}

/// The passkey that an assertion is held against, as it was enrolled.
#[derive(Debug, Clone, Copy)]
pub struct Enrolled<'a> {
    /// Its identifier at the authenticator.
    pub credential_id: &'a [u8],
    /// Its key.
    pub key: &'a PasskeyKey,
    /// Whom it is for, a name of a host.
    pub rp_id: &'a str,
    /// The one origin at which it may sign.
    pub origin: &'a str,
}

/// A payload and the assertion of a passkey whose challenge is its digest. Stored as canonical JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// What the payload is.
    #[serde(rename = "payloadType")]
    pub payload_type: String,
    /// The bytes that were decided about, as they are.
    #[serde(with = "encoding::b64_bytes")]
    pub payload: Vec<u8>,
    /// What the passkey signed.
    pub webauthn: Assertion,
}

/// What an authenticator and a browser say, and the signature over both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assertion {
    /// Which passkey.
    #[serde(with = "encoding::b64_bytes")]
    pub credential_id: Vec<u8>,
    /// What the authenticator says.
    #[serde(with = "encoding::b64_bytes")]
    pub authenticator_data: Vec<u8>,
    /// What the browser says: JSON.
    #[serde(with = "encoding::b64_bytes")]
    pub client_data_json: Vec<u8>,
    /// Over the authenticator's bytes and the SHA-256 of the browser's.
    #[serde(with = "encoding::b64_bytes")]
    pub signature: Vec<u8>,
}

impl Signed {
    /// The one form in which it is stored.
    ///
    /// # Errors
    /// [`Error::Unsealable`], for which there is no reason.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        canon::to_canonical(self)
    }

    /// Reads what [`Self::to_bytes`] writes.
    ///
    /// # Errors
    /// [`Error::Malformed`] or [`Error::NotCanonical`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        canon::from_canonical(bytes)
    }

    /// Checks everything that can be known from these bytes and the enrolment: the browser's word, the authenticator's,
    /// and the signature. The counter's place behind the last one is the caller's to check, with [`follows`].
    ///
    /// # Errors
    /// A [`Fault`] whose code names the first check that failed.
    pub fn verify(&self, enrolled: &Enrolled<'_>) -> Result<Said, Fault> {
        let Assertion { credential_id, authenticator_data, client_data_json, signature } = &self.webauthn;
        demand(credential_id == enrolled.credential_id, "passkey_other", "another passkey signed this")?;
        let challenge = Digest::of(&self.payload);
        client_data(client_data_json, "webauthn.get", challenge.as_bytes(), enrolled.origin)?;
        let (said, flags, rest) = authenticator(authenticator_data, enrolled.rp_id)?;
        demand(flags & HAS_CREDENTIAL == 0, "passkey_unreadable", "a yes enrols no passkey")?;
        let has_extensions = flags & HAS_EXTENSIONS != 0;
        demand(
            has_extensions != rest.is_empty(),
            "passkey_unreadable",
            "its extensions are not those it tells of",
        )?;
        let signed =
            [authenticator_data.as_slice(), Digest::of(client_data_json).as_bytes().as_slice()].concat();
        enrolled
            .key
            .verify(&signed, signature)
            .map_err(|_| Fault::new("passkey_signature", "the passkey's signature does not hold"))?;
        Ok(said)
    }
}

/// Base64url without padding, as browsers write it.
#[must_use]
pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads base64url without padding, in its one spelling.
///
/// # Errors
/// [`Error::Malformed`].
pub fn base64url_decode(text: &str) -> Result<Vec<u8>, Error> {
    URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|e| Error::malformed("base64url", format!("its base64url is refused: {e}")))
}

/// What stands for the browser's word where none is there and Hermit itself asks the authenticator.
#[must_use]
pub fn client_data_json(ceremony: &str, challenge: &[u8], origin: &str) -> Vec<u8> {
    let said = serde_json::json!({
        "type": ceremony, "challenge": base64url(challenge), "origin": origin, "crossOrigin": false,
    });
    said.to_string().into_bytes()
}

/// What an authenticator said of the person and of itself, whom the passkey is for checked.
///
/// # Errors
/// A [`Fault`] whose code names the first check that failed.
pub fn said(authenticator_data: &[u8], rp_id: &str) -> Result<Said, Fault> {
    authenticator(authenticator_data, rp_id).map(|(said, ..)| said)
}

/// What the browser says must be this ceremony, this challenge, this origin, in no frame of another page.
fn client_data(bytes: &[u8], ceremony: &str, challenge: &[u8], origin: &str) -> Result<(), Fault> {
    if bytes.len() > CLIENT_DATA_MAX {
        return Err(Fault::unreadable(format!("the browser says more than {CLIENT_DATA_MAX} bytes")));
    }
    let said = canon::parse_strict(bytes).map_err(|e| Fault::unreadable(e.to_string()))?;
    let says = |name: &str| said.get(name).and_then(Value::as_str);
    demand(
        says("type") == Some(ceremony),
        "passkey_type",
        "the browser did something else with the passkey",
    )?;
    let about = says("challenge") == Some(base64url(challenge).as_str());
    demand(about, "passkey_challenge", "the passkey signed something else than this decision")?;
    if says("origin") != Some(origin) {
        let why = format!("the passkey was used at another origin than `{origin}`");
        return Err(Fault::new("passkey_origin", why));
    }
    let is_alone = matches!(said.get("crossOrigin"), None | Some(Value::Bool(false)));
    let in_no_frame = is_alone && said.get("topOrigin").is_none();
    demand(in_no_frame, "passkey_framed", "the passkey was used in a frame of another page")
}

/// What every authenticator says first: whom for, flags, counter; and what follows.
fn authenticator<'a>(bytes: &'a [u8], rp_id: &str) -> Result<(Said, u8, &'a [u8]), Fault> {
    if bytes.len() > AUTHENTICATOR_DATA_MAX {
        let why = format!("the authenticator says more than {AUTHENTICATOR_DATA_MAX} bytes");
        return Err(Fault::unreadable(why));
    }
    let short = || Fault::unreadable(format!("the authenticator says less than {FIXED} bytes"));
    let (rp_id_hash, rest) = bytes.split_first_chunk::<32>().ok_or_else(short)?;
    let (flags, rest) = rest.split_first().ok_or_else(short)?;
    let (counter, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let is_for_us = Digest::of(rp_id.as_bytes()) == Digest(*rp_id_hash);
    demand(is_for_us, "passkey_rp", "the passkey is for another host")?;
    let has = |flag: u8| flags & flag != 0;
    demand(has(PRESENT), "passkey_absent", "the authenticator did not see that somebody was there")?;
    demand(
        has(VERIFIED),
        "passkey_unverified",
        "the authenticator did not verify who was there; a yes needs that",
    )?;
    let backups = has(BACKUP_ELIGIBLE) || !has(BACKED_UP);
    demand(backups, "passkey_unreadable", "the authenticator says that it backed up what cannot be")?;
    let said = Said {
        is_backup_eligible: has(BACKUP_ELIGIBLE),
        is_backed_up: has(BACKED_UP),
        counter: u32::from_be_bytes(*counter),
    };
    Ok((said, *flags, rest))
}
