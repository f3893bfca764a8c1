//! How something is signed: RSA with the padding of PKCS #1 v1.5 or PSS, and ECDSA over P-256 and P-384.

use super::walk::{Algorithm, Walk, context, number};
use crate::Error;
use der::{Tag, asn1::ObjectIdentifier};
use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use rsa::{pkcs8::DecodePublicKey as _, traits::PublicKeyParts as _};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

const PARAMETERS: &str = "signature algorithm";
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const RSA_PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");
const EC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
/// The shortest modulus, in bytes.
const MODULUS_MIN: usize = 256;

/// A digest that is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    pub(super) fn of(algorithm: &Algorithm<'_>) -> Result<Self, Error> {
        let named = algorithm.oid.to_string();
        match (named.as_str(), algorithm.parameters) {
            ("2.16.840.1.101.3.4.2.1", None) => Ok(Self::Sha256),
            ("2.16.840.1.101.3.4.2.2", None) => Ok(Self::Sha384),
            ("2.16.840.1.101.3.4.2.3", None) => Ok(Self::Sha512),
            _ => Err(Error::unsupported(format!("the digest {named}"))),
        }
    }

    pub(super) fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha384 => Sha384::digest(bytes).to_vec(),
            Self::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }
}

/// A way to sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Pkcs1(Hash),
    Pss { hash: Hash, salt: usize },
    Ecdsa(Hash),
}

impl Scheme {
    /// The way that this names. `beside` is the digest that stands beside it, for names that do not say one themselves; one that
    /// does has to name the same.
    pub(super) fn of(algorithm: &Algorithm<'_>, beside: Option<Hash>) -> Result<Self, Error> {
        let named = algorithm.oid.to_string();
        if algorithm.oid == RSA_PSS {
            let scheme = pss(algorithm.parameters)?;
            return scheme.agrees(beside);
        }
        if algorithm.parameters.is_some() {
            return Err(Error::unsupported(format!("the signature algorithm {named} with parameters")));
        }
        let scheme = match (named.as_str(), beside) {
            ("1.2.840.113549.1.1.11", _) => Self::Pkcs1(Hash::Sha256),
            ("1.2.840.113549.1.1.12", _) => Self::Pkcs1(Hash::Sha384),
            ("1.2.840.113549.1.1.13", _) => Self::Pkcs1(Hash::Sha512),
            ("1.2.840.10045.4.3.2", _) => Self::Ecdsa(Hash::Sha256),
            ("1.2.840.10045.4.3.3", _) => Self::Ecdsa(Hash::Sha384),
            ("1.2.840.10045.4.3.4", _) => Self::Ecdsa(Hash::Sha512),
            (_, Some(hash)) if algorithm.oid == RSA => Self::Pkcs1(hash),
            (_, Some(hash)) if algorithm.oid == EC_KEY => Self::Ecdsa(hash),
            _ => return Err(Error::unsupported(format!("the signature algorithm {named}"))),
        };
        scheme.agrees(beside)
    }

    fn agrees(self, beside: Option<Hash>) -> Result<Self, Error> {
        let (Self::Pkcs1(own) | Self::Ecdsa(own) | Self::Pss { hash: own, .. }) = self;
        if beside.is_none_or(|beside| beside == own) {
            Ok(self)
        } else {
            Err(Error::malformed(PARAMETERS, "it and the digest beside it do not agree"))
        }
    }

    /// Whether the key, `SubjectPublicKeyInfo` in DER, made this signature on these bytes of something that is called `what`.
    pub(super) fn verify(
        self,
        key: &[u8],
        bytes: &[u8],
        signature: &[u8],
        what: &'static str,
    ) -> Result<(), Error> {
        let holds = match self {
            Self::Pkcs1(hash) => {
                let (key, digest) = (rsa_key(key)?, hash.digest(bytes));
                match hash {
                    Hash::Sha256 => key.pkcs1v15_verify_prehash::<Sha256>(&digest, signature),
                    Hash::Sha384 => key.pkcs1v15_verify_prehash::<Sha384>(&digest, signature),
                    Hash::Sha512 => key.pkcs1v15_verify_prehash::<Sha512>(&digest, signature),
                }
                .is_ok()
            }
            Self::Pss { hash, salt } => {
                let (key, digest) = (rsa_key(key)?, hash.digest(bytes));
                match hash {
                    Hash::Sha256 => key.verify(rsa::Pss::<Sha256>::new_with_salt(salt), &digest, signature),
                    Hash::Sha384 => key.verify(rsa::Pss::<Sha384>::new_with_salt(salt), &digest, signature),
                    Hash::Sha512 => key.verify(rsa::Pss::<Sha512>::new_with_salt(salt), &digest, signature),
                }
                .is_ok()
            }
            Self::Ecdsa(hash) => ecdsa(key, &hash.digest(bytes), signature)?,
        };
        if holds { Ok(()) } else { Err(Error::Signature { what }) }
    }
}

/// The parameters of PSS: one digest for all of it, mask generation 1, and the length of the salt.
fn pss(parameters: Option<&[u8]>) -> Result<Scheme, Error> {
    let unknown = || Error::unsupported("a signature by RSA-PSS with unusual parameters");
    let mut parameters = Walk::whole(PARAMETERS, parameters.ok_or_else(unknown)?, Tag::Sequence)?;
    let hash = Hash::of(&parameters.open(context(0))?.algorithm()?)?;
    let mask = parameters.open(context(1))?.algorithm()?;
    let of_mask = Hash::of(&Walk::new(PARAMETERS, mask.parameters.ok_or_else(unknown)?)?.algorithm()?)?;
    let salt = match parameters.optional(context(2))? {
        Some(item) => number(PARAMETERS, Walk::new(PARAMETERS, item.value)?.expect(Tag::Integer)?.value)?,
        None => Some(20),
    };
    parameters.optional(context(3))?;
    parameters.end()?;
    let salt =
        salt.and_then(|salt| usize::try_from(salt).ok()).filter(|salt| *salt <= 512).ok_or_else(unknown)?;
    if mask.oid == MGF1 && of_mask == hash { Ok(Scheme::Pss { hash, salt }) } else { Err(unknown()) }
}

fn rsa_key(key: &[u8]) -> Result<rsa::PublicKey, Error> {
    let unknown =
        |_| Error::unsupported("a signature by a key that is not one of RSA, or not of a usual size");
    let key = rsa::PublicKey::from_public_key_der(key).map_err(unknown)?;
    if key.size() < MODULUS_MIN {
        return Err(Error::unsupported("a signature by a key of RSA that is shorter than 2048 bits"));
    }
    Ok(key)
}

fn ecdsa(key: &[u8], digest: &[u8], signature: &[u8]) -> Result<bool, Error> {
    let unknown = || Error::unsupported("a signature by a curve other than P-256 and P-384");
    let mut key = Walk::whole(PARAMETERS, key, Tag::Sequence)?;
    let algorithm = key.algorithm()?;
    let mut curve = Walk::new(PARAMETERS, algorithm.parameters.ok_or_else(unknown)?)?;
    let curve =
        if algorithm.oid == EC_KEY { curve.oid().map_err(|_| unknown())? } else { return Err(unknown()) };
    let [0, point @ ..] = key.expect(Tag::BitString)?.value else { return Err(unknown()) };
    let holds = if curve == P256 {
        let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(point).ok();
        let signature = p256::ecdsa::Signature::from_der(signature).ok();
        key.zip(signature).is_some_and(|(key, signature)| key.verify_prehash(digest, &signature).is_ok())
    } else if curve == P384 {
        let key = p384::ecdsa::VerifyingKey::from_sec1_bytes(point).ok();
        let signature = p384::ecdsa::Signature::from_der(signature).ok();
        key.zip(signature).is_some_and(|(key, signature)| key.verify_prehash(digest, &signature).is_ok())
    } else {
        return Err(unknown());
    };
    Ok(holds)
}
