//! Passkeys as authenticators and browsers write them. The vectors are made by another implementation (`@noble/curves`), and
//! the second verifier is held to the same ones.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

use seal::webauthn::{
    Enrolled, Fault, PasskeyKey, Signed, attested, base64url, base64url_decode, credential_of, follows,
};
use seal::{SeedSigner, Signer as _};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("data/passkeys.json")).unwrap()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

fn bytes(value: &Value, name: &str) -> Vec<u8> {
    base64url_decode(text(value, name)).unwrap()
}

fn code<T: std::fmt::Debug>(came: Result<T, Fault>) -> &'static str {
    came.map_or_else(|fault| fault.code, |_| "")
}

#[test]
fn a_yes_is_what_it_should_be_or_refused_at_the_first_check_that_fails() {
    let vectors = vectors();
    let credential_id = bytes(&vectors, "credential_id");
    let all = vectors["assertions"].as_array().unwrap();
    assert!(all.len() > 30);
    for one in all {
        let what = format!("{}: {}", text(one, "kind"), text(one, "what"));
        let key = PasskeyKey::from_base64(text(&vectors["keys"], text(one, "kind"))).unwrap();
        let (rp_id, origin) = (text(&vectors, "rp_id"), text(&vectors, "origin"));
        let enrolled = Enrolled { credential_id: &credential_id, key: &key, rp_id, origin };
        let signed = Signed::parse(text(one, "signed").as_bytes()).unwrap();
        assert_eq!(signed.to_bytes().unwrap(), text(one, "signed").as_bytes(), "{what}");
        let came = signed.verify(&enrolled);
        if let Ok(said) = &came {
            assert_eq!((said.counter, said.is_backup_eligible, said.is_backed_up), (7, true, true), "{what}");
        }
        assert_eq!(code(came), text(one, "code"), "{what}");
        let another = Enrolled { credential_id: b"another", ..enrolled };
        assert_eq!(code(signed.verify(&another)), "passkey_other", "{what}");
    }
}

#[test]
fn a_passkey_is_what_its_authenticator_says_or_none() {
    let vectors = vectors();
    let challenge: [u8; 32] = bytes(&vectors, "challenge").try_into().unwrap();
    let place = (text(&vectors, "origin"), text(&vectors, "rp_id"));
    for one in vectors["attestations"].as_array().unwrap() {
        let what = text(one, "what");
        let (said, object) = (bytes(one, "client_data_json"), bytes(one, "attestation_object"));
        let came = attested(&said, &object, &challenge, place);
        if let Ok(made) = &came {
            assert_eq!(made.credential_id, bytes(one, "credential_id"), "{what}");
            assert_eq!(made.key.to_base64(), text(one, "public_key"), "{what}");
            assert_eq!(credential_of(&made.authenticator_data, place.1).as_ref(), Ok(made), "{what}");
            for end in 0..object.len() {
                assert!(attested(&said, &object[..end], &challenge, place).is_err(), "{what}, {end} bytes");
            }
        }
        assert_eq!(code(came), text(one, "code"), "{what}");
        for (other, code_of_it) in [
            (attested(&said, &object, &[4; 32], place), "passkey_challenge"),
            (attested(&said, &object, &challenge, ("https://other.example", place.1)), "passkey_origin"),
        ] {
            assert_eq!(code(other), code_of_it, "{what}");
        }
    }
}

#[test]
fn a_key_has_one_spelling_and_the_name_that_every_key_has() {
    let keys = vectors()["keys"].clone();
    for (kind, algorithm) in [("ES256", "ES256"), ("EdDSA", "EdDSA")] {
        let key = PasskeyKey::from_base64(text(&keys, kind)).unwrap();
        assert_eq!((key.to_base64().as_str(), key.algorithm()), (text(&keys, kind), algorithm));
        assert_eq!(key.keyid(), seal::Digest::of(&key.to_spki_der()));
    }
    let own = SeedSigner::from_seed([3; 32]).public();
    assert_eq!(PasskeyKey::ed25519(own).keyid(), own.keyid());
    for wrong in ["", "AAAA", &text(&keys, "ES256")[..120], &format!("{}=", text(&keys, "EdDSA"))] {
        assert!(PasskeyKey::from_base64(wrong).is_err(), "{wrong}");
    }
    assert!(PasskeyKey::p256([4; 65]).is_err(), "beside the curve");
    assert_eq!(base64url(&[255, 239]), "_-8");
    for wrong in ["AA==", "A", "+A", "AB", "A A"] {
        assert!(base64url_decode(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_count_goes_on_or_there_is_none() {
    let cases = [(0, 0, true), (0, 1, true), (1, 2, true), (1, 1, false), (1, 0, false), (2, 1, false)];
    for (last, counter, fits) in cases {
        assert_eq!(follows(last, counter), fits, "{last}, {counter}");
    }
}
