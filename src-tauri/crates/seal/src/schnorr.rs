//! BIP-340 signatures over secp256k1: what Nostr and Bitcoin sign with, and the key of an instance (mesh.md 2).
//!
//! Our own statements are signed over a tagged hash, so that no signature for one use is one for another.

use std::fmt;

use k256::SecretKey;
use k256::schnorr::{Signature, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};
use zeroize::{Zeroize as _, Zeroizing};

use crate::{Error, encoding};

const KEY: &str = "BIP-340 public key";
const SIGNATURE: &str = "BIP-340 signature";

/// A key that signs as BIP-340 says. Held in memory, and wiped when dropped.
#[derive(Clone)]
pub struct SchnorrKey(SigningKey);

impl SchnorrKey {
    /// The key of 32 secret bytes. The caller wipes its own copy.
    ///
    /// # Errors
    /// [`Error::Malformed`] for zero and for what is not below the order of the group: neither is a key.
    pub fn from_secret(secret: [u8; 32]) -> Result<Self, Error> {
        let secret = Zeroizing::new(secret);
        let secret = SecretKey::from_slice(secret.as_slice())
            .map_err(|_| Error::malformed("BIP-340 secret key", "it is no scalar of the group"))?;
        Ok(Self(SigningKey::from(secret)))
    }

    /// The public key: the 32 bytes of its point's x, in lower-case hex.
    #[must_use]
    pub fn public(&self) -> String {
        hex::encode(self.0.verifying_key().to_bytes())
    }

    /// Hands the 32 secret bytes to whoever signs and seals with them elsewhere. They are wiped when it returns.
    pub fn with_secret<T>(&self, takes: impl FnOnce(&[u8; 32]) -> T) -> T {
        let mut bytes = self.0.to_bytes();
        let mut secret = Zeroizing::new([0; 32]);
        secret.copy_from_slice(bytes.as_slice());
        bytes.as_mut_slice().zeroize();
        takes(&secret)
    }

    /// Signs the tagged hash of `bytes`. The signature is 64 bytes in lower-case hex.
    ///
    /// # Errors
    /// [`Error::Signature`] in the case, which nobody has met, of bytes that give no nonce.
    pub fn sign(&self, tag: &str, bytes: &[u8]) -> Result<String, Error> {
        self.sign_digest(&tagged_hash(tag, bytes))
    }

    /// Signs a digest as it is. The extra randomness that BIP-340 allows is zero: this room draws none.
    ///
    /// # Errors
    /// As [`Self::sign`].
    pub fn sign_digest(&self, digest: &[u8; 32]) -> Result<String, Error> {
        let signed = self.0.sign_raw(digest, &[0; 32]);
        signed.map(|made| hex::encode(made.to_bytes())).map_err(|_| Error::Signature { what: "digest" })
    }
}

impl fmt::Debug for SchnorrKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SchnorrKey")
    }
}

/// Whether `signature` was made with the key `pubkey` over the tagged hash of `bytes`. Both are lower-case hex.
///
/// # Errors
/// [`Error::Malformed`] when the key is none or the hex is not of that form; [`Error::Signature`].
pub fn verify(pubkey: &str, tag: &str, bytes: &[u8], signature: &str) -> Result<(), Error> {
    verify_digest(pubkey, &tagged_hash(tag, bytes), signature)
}

/// As [`verify`], over a digest as it is.
///
/// # Errors
/// As [`verify`].
pub fn verify_digest(pubkey: &str, digest: &[u8; 32], signature: &str) -> Result<(), Error> {
    let key = encoding::hex_exact::<32>(KEY, pubkey)?;
    let key = VerifyingKey::from_slice(&key)
        .map_err(|_| Error::malformed(KEY, "no point of the curve has this x"))?;
    let made = encoding::hex_exact::<64>(SIGNATURE, signature)?;
    let refused = Error::Signature { what: "digest" };
    let Ok(made) = Signature::try_from(made.as_slice()) else { return Err(refused) };
    key.verify_raw(digest, &made).map_err(|_| refused)
}

/// Whether 64 digits of lower-case hex are a BIP-340 public key.
#[must_use]
pub fn is_key(pubkey: &str) -> bool {
    encoding::hex_exact::<32>(KEY, pubkey).is_ok_and(|key| VerifyingKey::from_slice(&key).is_ok())
}

/// SHA-256 of SHA-256 of the tag twice, and the bytes (BIP-340).
#[must_use]
pub fn tagged_hash(tag: &str, bytes: &[u8]) -> [u8; 32] {
    let tag = Sha256::digest(tag.as_bytes());
    let mut hash = Sha256::new();
    hash.update(tag);
    hash.update(tag);
    hash.update(bytes);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

    use super::*;

    /// Of the BIP itself: index, secret key, public key, extra randomness, message, signature, result, comment.
    const VECTORS: &str = include_str!("../tests/data/bip340.csv");

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        encoding::hex_exact("vector", &hex.to_ascii_lowercase()).expect("it is hex")
    }

    #[test]
    fn every_vector_of_the_bip_is_judged_and_signed_as_it_says() {
        let mut seen = (0, 0, 0);
        for line in VECTORS.lines().skip(1) {
            let parts: Vec<&str> = line.splitn(8, ',').collect();
            let [index, secret, public, aux, message, signature, result, _] = parts.as_slice() else {
                panic!("a vector has eight parts: {line}");
            };
            let (public, signature) = (public.to_ascii_lowercase(), signature.to_ascii_lowercase());
            let message: [u8; 32] = bytes(message);
            let holds = verify_digest(&public, &message, &signature).is_ok();
            assert_eq!(holds, *result == "TRUE", "vector {index}");
            seen = if holds { (seen.0 + 1, seen.1, seen.2) } else { (seen.0, seen.1 + 1, seen.2) };
            if secret.is_empty() {
                continue;
            }
            let key = SchnorrKey::from_secret(bytes(secret)).expect("it is a key");
            assert_eq!(key.public(), public, "vector {index}");
            let made = key.0.sign_raw(&message, &bytes(aux)).expect("it signs");
            assert_eq!(hex::encode(made.to_bytes()), signature, "vector {index}");
            if aux.chars().all(|digit| digit == '0') {
                assert_eq!(key.sign_digest(&message), Ok(signature), "vector {index}");
                seen.2 += 1;
            }
        }
        assert_eq!(seen, (5, 10, 1));
    }

    #[test]
    fn a_signature_is_of_one_key_one_tag_and_these_bytes_in_one_spelling() {
        let key = SchnorrKey::from_secret([7; 32]).expect("it is a key");
        let other = SchnorrKey::from_secret([8; 32]).expect("it is a key");
        let signature = key.sign("a", b"words").expect("it signs");
        let public = key.public();
        assert_eq!(verify(&public, "a", b"words", &signature), Ok(()));
        let refused = Err(Error::Signature { what: "digest" });
        assert_eq!(verify(&public, "b", b"words", &signature), refused);
        assert_eq!(verify(&public, "a", b"word", &signature), refused);
        assert_eq!(verify(&other.public(), "a", b"words", &signature), refused);
        for (public, signature) in [
            (public.to_ascii_uppercase(), signature.clone()),
            (public.clone(), signature.to_ascii_uppercase()),
            (format!("02{public}"), signature.clone()),
            (public.clone(), format!("{signature}00")),
            (public.clone(), String::new()),
        ] {
            assert!(
                matches!(verify(&public, "a", b"words", &signature), Err(Error::Malformed { .. })),
                "{public} {signature}"
            );
        }
        assert!(is_key(&public) && !is_key(&"f".repeat(64)) && !is_key(&public.to_ascii_uppercase()));
        assert_eq!(format!("{key:?}"), "SchnorrKey");
        assert_eq!(key.with_secret(|secret| *secret), [7; 32]);
    }

    #[test]
    fn zero_and_what_is_not_below_the_order_are_no_keys() {
        let order: [u8; 32] = bytes("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
        for secret in [[0; 32], order, [0xff; 32]] {
            assert!(SchnorrKey::from_secret(secret).is_err());
        }
    }
}
