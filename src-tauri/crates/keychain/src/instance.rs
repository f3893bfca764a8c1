//! The key of an instance: secp256k1, from the root seed and the first SOUL.md, for Nostr and Bitcoin and nothing else (mesh.md 2).
//! It is derived whenever it is needed, and kept nowhere. Of keys before it only what such keys come of is kept, which gives no key of
//! the log: coins lie at them until they are handed over (decision 301).

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
/// Name of what keys of the instance came of before, 32 bytes for each, the newest last.
const FORMER: &str = "instance.former";
/// Former keys that are kept; the oldest go first.
const FORMER_MAX: usize = 32;
const PRK_BYTES: usize = 32;

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

    /// Keys of the instance before the present one, the newest first: a hand-over on the chain has an input of the one that goes.
    ///
    /// # Errors
    /// [`Error::Damaged`], and those of the vault.
    pub fn former_instances(vault: &dyn Vault, first_soul: &Digest) -> Result<Vec<SchnorrKey>, Error> {
        let former = former(vault)?;
        let all = former.chunks_exact(PRK_BYTES).rev().map(|prk| {
            let hkdf = Hkdf::<Sha256>::from_prk(prk);
            let hkdf = hkdf.map_err(|e| Error::Damaged { path: FORMER.to_owned(), why: e.to_string() })?;
            scalar(&hkdf, first_soul, |secret| SchnorrKey::from_secret(secret).ok())
        });
        all.collect()
    }
}

/// Keeps what keys of the instance came of, before the seed goes that it came of itself.
pub(crate) fn keep_former(vault: &dyn Vault, seed: &[u8; 32]) -> Result<(), Error> {
    let (prk, _) = Hkdf::<Sha256>::extract(Some(SALT), seed);
    let prk = Zeroizing::new(<[u8; PRK_BYTES]>::from(prk));
    let mut kept = former(vault)?;
    if kept.chunks_exact(PRK_BYTES).any(|known| known == prk.as_slice()) {
        return Ok(());
    }
    kept.extend_from_slice(prk.as_slice());
    let over = kept.len().saturating_sub(FORMER_MAX * PRK_BYTES);
    kept.drain(..over);
    vault.put(FORMER, &kept)
}

fn former(vault: &dyn Vault) -> Result<Zeroizing<Vec<u8>>, Error> {
    let kept = vault.get(FORMER)?.unwrap_or_default();
    match kept.len() % PRK_BYTES {
        0 => Ok(kept),
        _ => Err(Error::Damaged { path: FORMER.to_owned(), why: format!("it has {} bytes", kept.len()) }),
    }
}

fn derived(vault: &dyn Vault, name: &str, first_soul: &Digest) -> Result<SchnorrKey, Error> {
    let missing = || Error::Missing { what: format!("{name} in the {} vault", vault.kind()) };
    let seed = vault.get(name)?.ok_or_else(missing)?;
    let seed = seed_of(&seed)?;
    let hkdf = Hkdf::<Sha256>::new(Some(SALT), seed.as_ref());
    scalar(&hkdf, first_soul, |secret| SchnorrKey::from_secret(secret).ok())
}

/// The first of the derived scalars that is a key. One that is none is as likely as a collision of SHA-256.
fn scalar<T>(
    hkdf: &Hkdf<Sha256>,
    first_soul: &Digest,
    key: impl Fn([u8; 32]) -> Option<T>,
) -> Result<T, Error> {
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
        let hkdf = Hkdf::<Sha256>::new(Some(SALT), &[5; 32]);
        let third = scalar(&hkdf, &soul, |secret| {
            seen.borrow_mut().push(secret);
            (seen.borrow().len() == 3).then_some(secret)
        });
        let seen = seen.into_inner();
        assert_eq!(third.ok(), seen.last().copied());
        assert!(seen.windows(2).all(|two| two.first() != two.last()), "each counter gives another");
        assert!(scalar(&hkdf, &soul, |_| None::<()>).is_err(), "and there is an end");
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
    #[test]
    fn those_before_are_to_be_had_the_newest_first_and_give_no_other_key() {
        let (vault, soul) = (MemoryVault::default(), Digest::of(b"I am."));
        assert!(Keys::former_instances(&vault, &soul).expect("there are none").is_empty());
        let mut before = Vec::new();
        for seed in 1..=40_u8 {
            vault.put(ROOT, &[seed; 32]).expect("it is kept");
            before.insert(0, Keys::instance(&vault, &soul).expect("it derives").public());
            vault.put(NEXT, &[seed + 1; 32]).expect("it is kept");
            // What breaks off behind it is done again.
            keep_former(&vault, &[seed; 32]).expect("it is kept");
            Keys::promote(&vault).expect("it is promoted");
            let kept = vault.get(FORMER).expect("it is read").expect("it is there");
            assert!(!kept.windows(32).any(|bytes| bytes == [seed; 32]), "the seed itself is gone");
        }
        before.truncate(FORMER_MAX);
        let former = Keys::former_instances(&vault, &soul).expect("they derive");
        assert_eq!(former.iter().map(SchnorrKey::public).collect::<Vec<_>>(), before);
        vault.put(FORMER, &[7; 33]).expect("it is kept");
        assert!(matches!(Keys::former_instances(&vault, &soul), Err(Error::Damaged { .. })));
    }
}
