//! Ed25519 keys and signatures, and the two doors behind which key material sleeps.

use std::cmp::Ordering;
use std::fmt;

use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey, hazmat};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroizing;

use crate::{Digest, Error, encoding};

/// SPKI DER of an Ed25519 key is this prefix and the 32 bytes (RFC 8410).
const SPKI_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const PEM_BEGIN: &str = "-----BEGIN PUBLIC KEY-----\n";
const PEM_END: &str = "\n-----END PUBLIC KEY-----\n";

/// Something that signs with one Ed25519 key. The room that implements it may keep the key wherever it wants.
pub trait Signer: Send + Sync {
    /// The key that verifies what this signer signs.
    fn public(&self) -> PublicKey;

    /// Signs `message` as it is (pure Ed25519, no prehash).
    ///
    /// # Errors
    /// [`Error::KeyLocked`] while the key waits for a person, [`Error::KeyStore`] when its place fails.
    fn sign(&self, message: &[u8]) -> Result<Signature, Error>;

    /// [`Self::sign`] of a message too long to be held: the same signature. A signer that holds its key need not
    /// gather the message.
    ///
    /// # Errors
    /// As [`Self::sign`].
    fn sign_pieces(&self, message: &Pieces<'_>) -> Result<Signature, Error> {
        let mut whole = Vec::new();
        message(&mut |piece| whole.extend_from_slice(piece));
        self.sign(&whole)
    }
}

/// A message in pieces: calls its argument with each, in order, and gives the same bytes every time it is called.
pub type Pieces<'a> = dyn Fn(&mut dyn FnMut(&[u8])) + 'a;

/// Where secret values sleep. What leaves is wiped when dropped.
pub trait SecretSource: Send + Sync {
    /// The secret behind a handle such as `github-token`.
    ///
    /// # Errors
    /// [`Error::KeyMissing`], [`Error::KeyLocked`] or [`Error::KeyStore`].
    fn secret(&self, handle: &str) -> Result<Zeroizing<Vec<u8>>, Error>;
}

/// An Ed25519 public key: a valid point that is not of small order. In JSON 64 lower-case hex digits.
///
/// It keeps the point beside the bytes, because finding it again for each signature costs a tenth of verifying one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(VerifyingKey);

impl Ord for PublicKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialOrd for PublicKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PublicKey {
    /// Takes the 32 bytes of RFC 8032.
    ///
    /// # Errors
    /// [`Error::Malformed`] when they are no point, or one under which anybody can sign.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, Error> {
        verifying(&bytes).map(Self)
    }

    /// The 32 bytes of RFC 8032.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Name of the key everywhere in the house: SHA-256 of its SPKI DER.
    #[must_use]
    pub fn keyid(&self) -> Digest {
        Digest::of(&self.to_spki_der())
    }

    /// SubjectPublicKeyInfo, 44 bytes.
    #[must_use]
    pub fn to_spki_der(&self) -> Vec<u8> {
        [SPKI_PREFIX.as_slice(), self.as_bytes().as_slice()].concat()
    }

    /// PEM as `openssl pkey -pubin` writes it, with a final newline.
    #[must_use]
    pub fn to_pem(&self) -> String {
        format!("{PEM_BEGIN}{}{PEM_END}", encoding::b64(&self.to_spki_der()))
    }

    /// Reads what [`Self::to_pem`] and `openssl` write, and no other spelling of it.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_pem(text: &str) -> Result<Self, Error> {
        let body = text.strip_prefix(PEM_BEGIN).and_then(|rest| rest.strip_suffix(PEM_END));
        let body =
            body.ok_or_else(|| Error::malformed("public key", "it is not a PEM `PUBLIC KEY` block"))?;
        let der: [u8; 44] = encoding::b64_exact("public key", body)?;
        let key = der.strip_prefix(&SPKI_PREFIX).and_then(|key| key.try_into().ok());
        Self::from_bytes(key.ok_or_else(|| Error::malformed("public key", "it is not an Ed25519 key"))?)
    }

    /// Whether `signature` was made over `message` by this key, strictly: no malleable `s`, no small-order `R`.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        self.0.verify_strict(message, &signature).map_err(|_| Error::Signature { what: "message" })
    }

    /// [`Self::verify`] for a message that comes in pieces, as strict.
    ///
    /// # Errors
    /// [`Error::Signature`] when no message at all could have this signature.
    pub fn verify_pieces(&self, signature: &Signature) -> Result<Verifying, Error> {
        let refused = |_| Error::Signature { what: "message" };
        let made = ed25519_dalek::Signature::from_bytes(&signature.0);
        // The stream does not look at `R` by itself: a point, and not of small order.
        let r = VerifyingKey::from_bytes(made.r_bytes()).map_err(refused)?;
        if r.is_weak() {
            return Err(Error::Signature { what: "message" });
        }
        self.0.verify_stream(&made).map(Verifying).map_err(refused)
    }
}

/// A signature that is being checked, piece by piece.
pub struct Verifying(ed25519_dalek::StreamVerifier);

impl Verifying {
    /// Takes the next piece of the message.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Whether the pieces taken are the signed message.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn finish(self) -> Result<(), Error> {
        self.0.finalize_and_verify().map_err(|_| Error::Signature { what: "message" })
    }
}

impl fmt::Debug for Verifying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifying")
    }
}

fn verifying(bytes: &[u8; 32]) -> Result<VerifyingKey, Error> {
    let key = VerifyingKey::from_bytes(bytes)
        .map_err(|_| Error::malformed("public key", "it is no point of the curve"))?;
    if key.is_weak() {
        return Err(Error::malformed("public key", "it is of small order, so anybody could sign for it"));
    }
    Ok(key)
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode(self.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl std::str::FromStr for PublicKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::from_bytes(encoding::hex_exact("public key", text)?)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        encoding::deserialize_str(deserializer, "64 lower-case hex digits", |text| {
            text.parse().map_err(de::Error::custom)
        })
    }
}

/// An Ed25519 signature, 64 bytes. In JSON 128 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature(pub [u8; 64]);

impl Signature {
    /// The raw bytes, as `openssl pkeyutl -verify -rawin` takes them.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

impl TryFrom<&[u8]> for Signature {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = bytes
            .try_into()
            .map_err(|_| Error::malformed("signature", format!("it has {} bytes, not 64", bytes.len())))?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode(self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

impl std::str::FromStr for Signature {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        encoding::hex_exact("signature", text).map(Self)
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        encoding::deserialize_str(deserializer, "128 lower-case hex digits", |text| {
            text.parse().map_err(de::Error::custom)
        })
    }
}

/// A signer that holds its key in memory, wiped when dropped.
pub struct SeedSigner(SigningKey);

impl SeedSigner {
    /// The key of a 32-byte seed (RFC 8032). The caller wipes its own copy.
    #[must_use]
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let seed = Zeroizing::new(seed);
        Self(SigningKey::from_bytes(&seed))
    }
}

impl Signer for SeedSigner {
    fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    fn sign(&self, message: &[u8]) -> Result<Signature, Error> {
        Ok(Signature(self.0.sign(message).to_bytes()))
    }

    fn sign_pieces(&self, message: &Pieces<'_>) -> Result<Signature, Error> {
        let expanded = hazmat::ExpandedSecretKey::from(self.0.as_bytes());
        let feed = |hash: &mut Sha512| {
            message(&mut |piece| hash.update(piece));
            Ok(())
        };
        hazmat::raw_sign_byupdate(&expanded, feed, &self.0.verifying_key())
            .map(|made| Signature(made.to_bytes()))
            .map_err(|_| Error::Signature { what: "message" })
    }
}

impl fmt::Debug for SeedSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeedSigner({})", self.public())
    }
}
