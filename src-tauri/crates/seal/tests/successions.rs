//! One key follows another: both sign, nothing else does, and a chain of them is followed to its end.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

use seal::note::{Note, NoteSignature, VerifierKey, verify_note};
use seal::succession::{Revocation, Succession, before};
use seal::{Error, PublicKey, SeedSigner, Signer as _};

fn signer(seed: u8) -> SeedSigner {
    SeedSigner::from_seed([seed; 32])
}

fn key(seed: u8) -> PublicKey {
    signer(seed).public()
}

fn step(purpose: &str, old: u8, new: u8) -> Succession {
    Succession { log_id: "abc".to_owned(), purpose: purpose.to_owned(), old: key(old), new: key(new) }
}

fn note(step: &Succession, old: u8, new: u8) -> Note {
    let (by_old, by_new) = step.sign(&signer(old), &signer(new)).unwrap();
    step.note(&by_old, &by_new).unwrap()
}

#[test]
fn a_succession_is_a_signed_note_that_either_key_verifies() {
    let step = step("log", 1, 2);
    let bytes = note(&step, 1, 2).to_bytes();
    assert_eq!(Succession::open(&bytes).unwrap(), step);
    for seed in [1, 2] {
        let vkey = VerifierKey::new("hermit.local/abc/keys/log", key(seed)).unwrap();
        assert_eq!(verify_note(&bytes, &[vkey]).unwrap().signatures.len(), 1);
    }
}

#[test]
fn no_changed_byte_no_missing_and_no_third_signature_is_a_succession() {
    let step = step("manifest", 1, 2);
    let good = note(&step, 1, 2);
    let bytes = good.to_bytes();
    for at in 0..bytes.len() {
        for flip in [1_u8, 0x20, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            assert!(Succession::open(&changed).is_err(), "byte {at} with {flip:#x}");
        }
    }
    for without in 0..2 {
        let mut one = good.clone();
        one.signatures.remove(without);
        assert!(Succession::open(&one.to_bytes()).is_err());
    }
    let mut third = good.clone();
    third.cosign("hermit.local/abc/keys/manifest", &signer(3)).unwrap();
    assert!(Succession::open(&third.to_bytes()).is_err());
    let mut turned = good;
    turned.signatures.reverse();
    assert!(Succession::open(&turned.to_bytes()).is_err(), "the old key signs first");
    let (by_old, by_new) = step.sign(&signer(1), &signer(2)).unwrap();
    assert!(matches!(step.note(&by_new, &by_old), Err(Error::Signature { .. })));
    assert!(step.sign(&signer(1), &signer(3)).is_err());
    assert!(step_to_itself().is_err());
}

fn step_to_itself() -> Result<(), Error> {
    step("log", 1, 1).sign(&signer(1), &signer(1)).map(drop)
}

#[test]
fn a_chain_is_followed_within_its_purpose_and_a_ring_ends() {
    let all = [step("log", 1, 2), step("log", 2, 3), step("receipt", 9, 3), step("log", 3, 1)];
    assert_eq!(before(&key(3), "log", &all[..3]), [key(2), key(1)]);
    assert_eq!(before(&key(3), "receipt", &all), [key(9)]);
    assert_eq!(before(&key(3), "log", &all), [key(2), key(1)]);
    assert!(before(&key(7), "log", &all).is_empty());
}

#[test]
fn a_revocation_is_signed_by_the_key_that_followed() {
    let said = Revocation { log_id: "abc".to_owned(), purpose: "log".to_owned(), key: key(1), by: key(2) };
    let bytes = said.note(&said.sign(&signer(2)).unwrap()).unwrap().to_bytes();
    assert_eq!(Revocation::open(&bytes).unwrap(), said);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(Revocation::open(&changed).is_err(), "byte {at}");
    }
    assert!(said.sign(&signer(1)).is_err());
    let own = Revocation { by: key(1), ..said };
    assert!(own.sign(&signer(1)).is_err(), "a key cannot revoke itself");
}

#[test]
fn a_succession_is_about_one_log_and_one_purpose() {
    let opened = |name: &str| {
        let text = format!("{name}\nold {}\nnew {}\n", key(1), key(2));
        let line = |seed: u8| NoteSignature {
            name: name.to_owned(),
            key_id: VerifierKey::new(name, key(seed)).unwrap().key_id(),
            bytes: signer(seed).sign(text.as_bytes()).unwrap().0.to_vec(),
        };
        Succession::open(&Note { text: text.clone(), signatures: vec![line(1), line(2)] }.to_bytes())
    };
    assert_eq!(opened("hermit.local/abc/keys/log").unwrap(), step("log", 1, 2));
    for odd in [
        "hermit.local//keys/log",
        "hermit.local/abc/keys/",
        "hermit.local/abc/keys/log/more",
        "hermit.local/a/b/keys/log",
        "hermit.local/abc/log",
        "elsewhere.local/abc/keys/log",
    ] {
        assert!(opened(odd).is_err(), "{odd}");
    }
}
