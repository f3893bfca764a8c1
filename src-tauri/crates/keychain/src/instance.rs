//! The key of an instance: secp256k1, from the root seed and the first SOUL.md, for Nostr and Bitcoin and nothing else (mesh.md 2).
//! It is derived whenever it is needed, and kept nowhere.

use crate::keys::{ROOT, seed_of};
use crate::rotation::NEXT;
use crate::{Error, Keys, Vault};
use hkdf::Hkdf;
use seal::Digest;
use seal::schnorr::SchnorrKey;
use sha2::Sha256;
use zeroize::Zeroizing;

const SALT: &[u8] = b"hermit-instance/1";
const LABEL: &[u8] = b"hermit/K_instance/1";

impl Keys {
    /// The key of the instance whose first SOUL.md has this digest.
    ///
    /// # Errors
    /// [`Error::Missing`] when the vault has lost the root seed, and those of the vault.
    pub fn instance(vault: &dyn Vault, first_soul: &Digest) -> Result<SchnorrKey, Error> {
        derived(vault, ROOT, first_soul)
    }

    /// That key as it will be once the staged seed is the present one.
    ///
    /// # Errors
    /// [`Error::Missing`] when nothing was staged, and those of the vault.
    pub fn staged_instance(vault: &dyn Vault, first_soul: &Digest) -> Result<SchnorrKey, Error> {
        derived(vault, NEXT, first_soul)
    }
}

fn derived(vault: &dyn Vault, name: &str, first_soul: &Digest) -> Result<SchnorrKey, Error> {
    let missing = || Error::Missing { what: format!("{name} in the {} vault", vault.kind()) };
    let seed = vault.get(name)?.ok_or_else(missing)?;
    let seed = seed_of(&seed)?;
    scalar(&seed, first_soul, |secret| SchnorrKey::from_secret(secret).ok())
}

/// The first of the derived scalars that is a key. One that is none is as likely as a collision of SHA-256.
fn scalar<T>(seed: &[u8; 32], first_soul: &Digest, key: impl Fn([u8; 32]) -> Option<T>) -> Result<T, Error> {
    let hkdf = Hkdf::<Sha256>::new(Some(SALT), seed);
    let damaged = |why: String| Error::Damaged { path: ROOT.to_owned(), why };
    for counter in 0..=u8::MAX {
        let mut secret = Zeroizing::new([0_u8; 32]);
        let info = [LABEL, first_soul.as_bytes().as_slice(), &[counter]].concat();
        hkdf.expand(&info, secret.as_mut()).map_err(|e| damaged(e.to_string()))?;
        if let Some(key) = key(*secret) {
            return Ok(key);
        }
    }
    Err(damaged("it gives no key of an instance".to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::MemoryVault;
    use std::cell::RefCell;

    #[test]
    fn a_scalar_that_is_no_key_gives_way_to_the_next() {
        let soul = Digest::of(b"soul");
        let seen = RefCell::new(Vec::new());
        let third = scalar(&[5; 32], &soul, |secret| {
            seen.borrow_mut().push(secret);
            (seen.borrow().len() == 3).then_some(secret)
        });
        let seen = seen.into_inner();
        assert_eq!(third.ok(), seen.last().copied());
        assert!(seen.windows(2).all(|two| two.first() != two.last()), "each counter gives another");
        assert!(scalar(&[5; 32], &soul, |_| None::<()>).is_err(), "and there is an end");
    }

    #[test]
    fn it_comes_of_seed_and_first_soul_alone_and_is_kept_nowhere() {
        let vault = MemoryVault::default();
        let soul = Digest::of(b"I am.");
        assert!(Keys::instance(&vault, &soul).is_err(), "without a seed there is none");
        vault.put(ROOT, &[5; 32]).expect("it is kept");
        let key = Keys::instance(&vault, &soul).expect("there is a seed");
        assert_eq!(Keys::instance(&vault, &soul).expect("again").public(), key.public());
        assert_ne!(
            Keys::instance(&vault, &Digest::of(b"another")).expect("it derives").public(),
            key.public()
        );
        assert!(Keys::staged_instance(&vault, &soul).is_err(), "nothing is staged");
        vault.put(NEXT, &[6; 32]).expect("it is kept");
        let next = Keys::staged_instance(&vault, &soul).expect("it is staged");
        assert_ne!(next.public(), key.public());
        Keys::promote(&vault).expect("it is promoted");
        assert_eq!(Keys::instance(&vault, &soul).expect("it derives").public(), next.public());
    }
}
