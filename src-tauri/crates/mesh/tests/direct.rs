//! The proof of a key on a socket between two machines, and everything that is none.

use crate::fake::{Make as _, Seeded};
use mesh::direct::{PROOF_KIND, answer, challenge, check};
use mesh::sealed::{NostrSealing, Sealing as _};
use model::UnixMs;
use nostr::event::{EventBuilder, FinalizeEvent as _, Kind, Tag};
use nostr::key::{Keys, SecretKey};
use nostr::types::Timestamp;
use serde_json::{Value, json};

const NOW: UnixMs = UnixMs(1_800_000_000_000);
/// Where the machine is that was dialled.
const THERE: &str = "192.168.1.5:7447";

fn at(ms: i64) -> UnixMs {
    UnixMs(NOW.0 + ms)
}

/// A proof that its signer could have meant for somebody else: its kind, time and tags.
fn signed(kind: u16, ms: i64, tags: &[[&str; 2]], content: &str) -> Vec<u8> {
    let keys = Keys::new(SecretKey::from_slice(&[1; 32]).unwrap());
    let secs = u64::try_from(at(ms).0 / 1000).unwrap();
    let builder = EventBuilder::new(Kind::from(kind), content)
        .tags(tags.iter().map(|[name, value]| Tag::custom(*name, [*value])))
        .custom_created_at(Timestamp::from_secs(secs));
    serde_json::to_vec(&json!(["AUTH", builder.finalize(&keys).unwrap()])).unwrap()
}

#[test]
fn a_proof_shows_whose_key_signed_what_was_given_and_nothing_else() {
    let (one, mut chance) = (NostrSealing::make([1; 32]), Seeded(3));
    let (given, other) = (challenge(&mut chance), challenge(&mut chance));
    assert!(given != other && given.len() == 64 && given.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let proof = answer(&one, &given, THERE, NOW).unwrap();
    assert_eq!(check(&given, THERE, &proof, NOW), Some(one.node()));
    assert_eq!(check(&other, THERE, &proof, NOW), None);
    // Nor is it one at another place.
    assert_eq!(check(&given, "192.168.1.6:7447", &proof, NOW), None);
    assert_eq!(check(&given, "", &proof, NOW), None);
    // Clocks differ, and a proof that somebody kept is none.
    for (ms, holds) in [(-600_000, true), (600_000, true), (-601_000, false), (601_000, false)] {
        assert_eq!(check(&given, THERE, &proof, at(ms)).is_some(), holds, "{ms}");
    }
    assert_eq!(check(&given, THERE, &proof, UnixMs(i64::MIN)), None);
}

#[test]
fn a_proof_for_a_relay_is_none_for_a_machine_and_the_other_way_round() {
    let given = challenge(&mut Seeded(4));
    let (place, named) = ("hermit-mesh-direct/1", format!("hermit-mesh-direct/1 {THERE} {given}"));
    let right = [["relay", place], ["challenge", named.as_str()]];
    assert!(check(&given, THERE, &signed(PROOF_KIND, 0, &right, ""), NOW).is_some());
    for tags in [
        [["relay", "wss://relay.example"], ["challenge", given.as_str()]],
        [["relay", place], ["challenge", given.as_str()]],
        [["relay", "wss://relay.example"], ["challenge", named.as_str()]],
        [["challenge", named.as_str()], ["relay", place]],
    ] {
        assert_eq!(check(&given, THERE, &signed(PROOF_KIND, 0, &tags, ""), NOW), None, "{tags:?}");
    }
    let more = [["relay", place], ["challenge", named.as_str()], ["p", given.as_str()]];
    assert_eq!(check(&given, THERE, &signed(PROOF_KIND, 0, &more, ""), NOW), None);
    assert_eq!(check(&given, THERE, &signed(PROOF_KIND, 0, &right, "words"), NOW), None);
    assert_eq!(check(&given, THERE, &signed(1, 0, &right, ""), NOW), None);
    assert_eq!(check(&given, THERE, &signed(22_243, 0, &right, ""), NOW), None);
    // What a relay gives to be signed has no meaning there once it is signed here.
    let proof: Value =
        serde_json::from_slice(&answer(&NostrSealing::make([1; 32]), &given, THERE, NOW).unwrap()).unwrap();
    assert_ne!(proof[1]["tags"][1][1], json!(given));
}

#[test]
fn a_bent_proof_is_none_and_what_is_no_challenge_is_not_signed() {
    let (one, other) = (NostrSealing::make([1; 32]), NostrSealing::make([2; 32]));
    let given = challenge(&mut Seeded(5));
    let proof: Value = serde_json::from_slice(&answer(&one, &given, THERE, NOW).unwrap()).unwrap();
    let bent: [fn(&mut Value, &str); 5] = [
        |proof, other| proof[1]["pubkey"] = json!(other),
        |proof, _| proof[1]["created_at"] = json!(NOW.0 / 1000 + 1),
        |proof, _| proof[1]["sig"] = json!("0".repeat(128)),
        |proof, _| proof[1]["id"] = json!("0".repeat(64)),
        |proof, _| proof[0] = json!("EVENT"),
    ];
    for (number, bend) in bent.into_iter().enumerate() {
        let mut proof = proof.clone();
        bend(&mut proof, &other.node().to_string());
        assert_eq!(check(&given, THERE, &serde_json::to_vec(&proof).unwrap(), NOW), None, "{number}");
    }
    for frame in ["", "[]", "[\"AUTH\"]", "[\"AUTH\",\"words\"]", "{}"] {
        assert_eq!(check(&given, THERE, frame.as_bytes(), NOW), None, "{frame}");
    }
    for given in ["", "words", &given.to_uppercase(), &format!("{given}0"), &given[1..]] {
        assert!(answer(&one, given, THERE, NOW).is_none(), "{given}");
    }
}
