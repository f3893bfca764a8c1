//! A key of Ed25519 that Hermit itself holds, where an authenticator would stand: what it says is written here, and means that a
//! person gave the passphrase that opens the key.

use super::{Assertion, HAS_CREDENTIAL, PRESENT, Signed, VERIFIED, client_data_json};
use crate::{Digest, Error, PublicKey, Signer};

/// Kind, algorithm and curve of a key of Ed25519 as COSE spells them, and the head of its point.
const COSE_ED25519: [u8; 10] = [0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20];

/// What an authenticator would say when it made a passkey of this key, which has not signed yet: somebody present and verified, the
/// identifier, the key, and no copy of it.
#[must_use]
pub fn made_of(key: &PublicKey, credential_id: &[u8], rp_id: &str) -> Vec<u8> {
    let mut said = head(rp_id, PRESENT | VERIFIED | HAS_CREDENTIAL, 0).to_vec();
    // It has no model.
    said.extend([0_u8; 16]);
    said.extend(u16::try_from(credential_id.len()).unwrap_or(u16::MAX).to_be_bytes());
    said.extend(credential_id);
    said.extend(COSE_ED25519);
    said.extend(key.as_bytes());
    said
}

/// A payload with the key's signature on its digest, as a passkey's at an origin and for a host: `counter` is higher than any that the
/// key told before.
///
/// # Errors
/// Whatever the signer says, such as that the key is locked.
pub fn signed_by(
    key: &dyn Signer,
    (payload_type, payload): (&str, Vec<u8>),
    (credential_id, counter): (Vec<u8>, u32),
    (origin, rp_id): (&str, &str),
) -> Result<Signed, Error> {
    let client_data_json = client_data_json("webauthn.get", Digest::of(&payload).as_bytes(), origin);
    let authenticator_data = head(rp_id, PRESENT | VERIFIED, counter).to_vec();
    let message =
        [authenticator_data.as_slice(), Digest::of(&client_data_json).as_bytes().as_slice()].concat();
    let signature = key.sign(&message)?.0.to_vec();
    let webauthn = Assertion { credential_id, authenticator_data, client_data_json, signature };
    Ok(Signed { payload_type: payload_type.to_owned(), payload, webauthn })
}

/// Whom for, flags, counter.
fn head(rp_id: &str, flags: u8, counter: u32) -> [u8; 37] {
    let mut head = [0; 37];
    let counter = counter.to_be_bytes();
    let bytes = Digest::of(rp_id.as_bytes()).0.into_iter().chain([flags]).chain(counter);
    head.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    head
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::SeedSigner;
    use crate::webauthn::{Enrolled, PasskeyKey, credential_of};

    #[test]
    fn what_is_written_for_an_own_key_reads_as_what_an_authenticator_says() {
        let (signer, origin, rp_id) = (SeedSigner::from_seed([5; 32]), "hermit:mesh", "hermit:mesh/01");
        let id = vec![7; 64];
        let made = credential_of(&made_of(&signer.public(), &id, rp_id), rp_id).unwrap();
        assert_eq!((&made.credential_id, made.key), (&id, PasskeyKey::ed25519(signer.public())));
        assert_eq!((made.said.counter, made.said.is_backup_eligible), (0, false));
        let signed = signed_by(&signer, ("text", b"yes".to_vec()), (id.clone(), 9), (origin, rp_id)).unwrap();
        let signed = Signed::parse(&signed.to_bytes().unwrap()).unwrap();
        let enrolled = Enrolled { credential_id: &id, key: &made.key, rp_id, origin };
        assert_eq!(signed.verify(&enrolled).unwrap().counter, 9);
        let for_another = Enrolled { rp_id: "hermit:mesh/02", ..enrolled };
        assert!(signed.verify(&for_another).is_err(), "a yes for one host is none for another");
        let other = Signed { payload: b"no".to_vec(), ..signed };
        assert_eq!(other.verify(&enrolled).unwrap_err().code, "passkey_challenge");
    }
}
