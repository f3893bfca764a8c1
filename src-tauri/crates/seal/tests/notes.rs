//! Signed notes, checkpoints and tlog-proofs: published notes open, and every changed byte is refused.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

use proptest::prelude::*;
use seal::{
    Digest, Error, SeedSigner, Signer,
    merkle::{Tree, empty_root, leaf_hash},
    note::{Checkpoint, NOTE_BYTES_MAX, Note, VerifierKey, sign_note, verify_note},
    tlog_proof::TlogProof,
};

const ORIGIN: &str = "hermit.local/log1";

fn signer(seed: u8) -> SeedSigner {
    SeedSigner::from_seed([seed; 32])
}

fn vkey(name: &str, seed: u8) -> VerifierKey {
    VerifierKey::new(name, signer(seed).public()).unwrap()
}

/// The note in the documentation of Go's `sumdb/note`.
const GO_NOTE: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n\n\
    \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
const GO_KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

#[test]
fn the_note_of_the_go_documentation_opens_with_its_published_key() {
    let key: VerifierKey = GO_KEY.parse().unwrap();
    let note = verify_note(GO_NOTE.as_bytes(), std::slice::from_ref(&key)).unwrap();
    assert!(note.text.ends_with("what your problem is.\n"));
    assert_eq!(note.to_string(), GO_NOTE);
    assert_eq!(key.to_string(), GO_KEY);
    assert_eq!(key.key_id(), 0xc74f_20a3);
}

#[test]
fn the_key_of_the_go_checksum_database_is_read() {
    let text = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
    let key: VerifierKey = text.parse().unwrap();
    assert_eq!((key.name(), key.to_string().as_str()), ("sum.golang.org", text));
}

#[test]
fn every_changed_byte_of_a_verifier_key_gives_another_key_or_none() {
    let good = vkey(ORIGIN, 1);
    let text = good.to_string();
    let json = serde_json::to_string(&good).unwrap();
    assert_eq!(serde_json::from_str::<VerifierKey>(&json).unwrap(), good);
    for at in 0..text.len() {
        for bit in 0..7 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            assert!(String::from_utf8(bytes).unwrap().parse::<VerifierKey>().is_err(), "byte {at} bit {bit}");
        }
    }
}

#[test]
fn every_changed_cut_or_added_byte_of_a_note_is_refused() {
    let good = Checkpoint::new(ORIGIN, 3, Digest::of(b"root")).sign(&signer(1)).unwrap().to_bytes();
    let keys = [vkey(ORIGIN, 1)];
    verify_note(&good, &keys).unwrap();
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            assert!(verify_note(&bytes, &keys).is_err(), "byte {at} bit {bit}");
        }
        assert!(verify_note(&good[..at], &keys).is_err(), "cut at {at}");
        for extra in [b'\n', b' ', b'\r', b'a'] {
            let mut bytes = good.clone();
            bytes.insert(at, extra);
            assert!(verify_note(&bytes, &keys).is_err(), "{extra} at {at}");
        }
    }
    assert!(verify_note(&[good.clone(), good.clone()].concat(), &keys).is_err());
    assert!(verify_note(&[good, b"\n".to_vec()].concat(), &keys).is_err());
}

#[test]
fn notes_that_no_tool_should_accept_are_refused() {
    let text = "text\n";
    let line = sign_note(text, "k", &signer(1)).unwrap().signatures[0].to_string();
    let crowd: String = (1..=17)
        .map(|seed| format!("{}\n", sign_note(text, "k", &signer(seed)).unwrap().signatures[0]))
        .collect();
    let long = "x".repeat(1_000_000);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("no signature", b"text\n".to_vec()),
        ("no signature after the blank line", b"text\n\n".to_vec()),
        ("no final newline", format!("text\n\n{line}").into_bytes()),
        ("no blank line", format!("text\n{line}\n").into_bytes()),
        ("CR", format!("text\r\n\n{line}\n").into_bytes()),
        ("CR in the signatures", format!("text\n\n{line}\r\n").into_bytes()),
        ("tab", format!("te\txt\n\n{line}\n").into_bytes()),
        ("nul", format!("te\0xt\n\n{line}\n").into_bytes()),
        ("not UTF-8", [b"te\xFFxt\n\n".to_vec(), format!("{line}\n").into_bytes()].concat()),
        ("more than 16 signatures", format!("{text}\n{crowd}").into_bytes()),
        ("one key twice", format!("text\n\n{line}\n{line}\n").into_bytes()),
        ("hyphen instead of dash", format!("text\n\n{line}\n").replace('\u{2014}', "-").into_bytes()),
        ("two spaces", format!("text\n\n{line}\n").replace(" k ", " k  ").into_bytes()),
        ("no name", format!("text\n\n{line}\n").replace(" k ", "  ").into_bytes()),
        ("plus in the name", format!("text\n\n{line}\n").replace(" k ", " k+k ").into_bytes()),
        ("odd space in the name", format!("text\n\n{line}\n").replace(" k ", " k\u{a0}k ").into_bytes()),
        ("short signature", b"text\n\n\xE2\x80\x94 k AAAAAA==\n".to_vec()),
        ("unpadded base64", format!("text\n\n{}\n", line.trim_end_matches('=')).into_bytes()),
        ("too long", format!("{long}\n\n{line}\n").into_bytes()),
    ];
    for (name, bytes) in cases {
        let refusal = Note::parse(&bytes);
        assert!(matches!(refusal, Err(Error::Malformed { .. })), "{name}: {refusal:?}");
    }
    assert_eq!(
        Note::parse(format!("{text}\n{}", &crowd[..crowd.len() / 17 * 16]).as_bytes())
            .unwrap()
            .signatures
            .len(),
        16
    );
}

#[test]
fn a_note_of_an_unknown_key_is_untrusted_and_a_false_signature_is_false() {
    let mut note = sign_note("text\n\nmore\n", "k", &signer(1)).unwrap();
    let bytes = note.to_bytes();
    assert_eq!(verify_note(&bytes, &[]), Err(Error::Untrusted { what: "note" }));
    assert_eq!(verify_note(&bytes, &[vkey("k", 2)]), Err(Error::Untrusted { what: "note" }), "another key");
    assert_eq!(verify_note(&bytes, &[vkey("l", 1)]), Err(Error::Untrusted { what: "note" }), "another name");
    note.cosign("witness", &signer(2)).unwrap();
    assert!(note.cosign("witness", &signer(2)).is_err(), "twice");
    let both = verify_note(&note.to_bytes(), &[vkey("witness", 2), vkey("k", 1)]).unwrap();
    assert_eq!(both, note);
    let one = verify_note(&note.to_bytes(), &[vkey("witness", 2)]).unwrap();
    assert_eq!(one.signatures, note.signatures[1..], "what was not verified is not handed on");
    note.signatures[1].bytes[0] ^= 1;
    assert_eq!(
        verify_note(&note.to_bytes(), &[vkey("k", 1), vkey("witness", 2)]),
        Err(Error::Signature { what: "note" })
    );
    verify_note(&note.to_bytes(), &[vkey("k", 1)]).unwrap();
}

#[test]
fn a_text_or_a_name_no_note_may_carry_is_not_signed() {
    for text in ["", "no newline", "a\rb\n", "tab\t\n", "\0\n"] {
        assert!(sign_note(text, "k", &signer(1)).is_err(), "{text:?}");
    }
    for name in ["", "a b", "a+b", "a\nb", "a\u{2003}b", "a\u{1}b", "a\u{1f}b"] {
        assert!(sign_note("t\n", name, &signer(1)).is_err(), "{name:?}");
    }
}

#[test]
fn a_note_is_as_long_as_the_bound_and_no_longer() {
    let of = |length: usize| {
        let rest = sign_note("\n", "k", &signer(1)).unwrap().to_bytes().len();
        sign_note(&format!("{}\n", "x".repeat(length - rest)), "k", &signer(1)).unwrap().to_bytes()
    };
    assert_eq!(of(NOTE_BYTES_MAX).len(), NOTE_BYTES_MAX);
    Note::parse(&of(NOTE_BYTES_MAX)).unwrap();
    assert!(Note::parse(&of(NOTE_BYTES_MAX + 1)).unwrap_err().to_string().contains("longer"));
}

#[test]
fn a_checkpoint_is_three_lines_and_reads_back() {
    let text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
    let checkpoint = Checkpoint::from_text(text).unwrap();
    assert_eq!((checkpoint.origin.as_str(), checkpoint.size), ("example.com/behind-the-sofa", 20_852_163));
    assert_eq!(checkpoint.to_text().unwrap(), text);
    let longer = format!("{text}one\ntwo\n");
    assert_eq!(Checkpoint::from_text(&longer).unwrap().extension, ["one", "two"]);
    assert_eq!(Checkpoint::from_text(&longer).unwrap().to_text().unwrap(), longer);
}

#[test]
fn checkpoints_that_can_be_misread_are_refused() {
    let root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
    for bad in [
        format!("o\n1\n{root}"),
        format!("\n1\n{root}\n"),
        format!("o\n01\n{root}\n"),
        format!("o\n+1\n{root}\n"),
        format!("o\n-1\n{root}\n"),
        format!("o\n\n{root}\n"),
        format!("o\n 1\n{root}\n"),
        format!("o\n18446744073709551616\n{root}\n"),
        format!("o\n1\n{}\n", &root[4..]),
        format!("o\n1\n{}\n", root.trim_end_matches('=')),
        format!("o\n1\n{}J=\n", &root[..42]),
        format!("o\n1\n{root}\n\n"),
        format!("o\n1\n{root}\nx\n\ny\n"),
        format!("o\r\n1\n{root}\n"),
        format!("o\n0\n{root}\n"),
        "o\n1\n".to_owned(),
        String::new(),
    ] {
        assert!(Checkpoint::from_text(&bad).is_err(), "{bad:?}");
    }
    Checkpoint::new("o", 0, empty_root()).to_text().unwrap();
    assert!(Checkpoint::new("o", 0, Digest::ZERO).to_text().is_err());
    assert!(Checkpoint::new("o\n9", 1, Digest::ZERO).to_text().is_err(), "an origin that adds a line");
    let mut checkpoint = Checkpoint::new("o", 1, Digest::ZERO);
    checkpoint.extension = vec!["a\nb".to_owned()];
    assert!(checkpoint.to_text().is_err());
}

#[test]
fn a_checkpoint_of_another_log_is_refused_though_its_signature_holds() {
    let bytes = Checkpoint::new("hermit.local/other", 1, Digest::ZERO).sign(&signer(1)).unwrap().to_bytes();
    let keys = [vkey("hermit.local/other", 1)];
    assert_eq!(Checkpoint::open(&bytes, "hermit.local/other", &keys).unwrap().size, 1);
    assert!(matches!(Checkpoint::open(&bytes, ORIGIN, &keys), Err(Error::Malformed { .. })));
}

fn proof_of(index: u64, size: u64) -> (TlogProof, Digest) {
    let leaves: Vec<Digest> = (0..size).map(|i| leaf_hash(&i.to_be_bytes())).collect();
    let tree = Tree::from_leaves(&leaves);
    let checkpoint = Checkpoint::new(ORIGIN, size, tree.root()).sign(&signer(1)).unwrap();
    (TlogProof::new(index, tree.inclusion_proof(index).unwrap(), checkpoint), leaves[index as usize])
}

#[test]
fn a_tlog_proof_is_laid_out_as_its_specification_says() {
    let (proof, leaf) = proof_of(5, 7);
    let text = proof.to_text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(&lines[..2], ["c2sp.org/tlog-proof@v1", "index 5"]);
    assert!(lines[2..5].iter().all(|line| line.len() == 44));
    assert_eq!(&lines[5..8], ["", ORIGIN, "7"]);
    assert_eq!(TlogProof::parse(text.as_bytes()).unwrap(), proof);
    assert_eq!(proof.verify(&leaf, ORIGIN, &[vkey(ORIGIN, 1)]).unwrap().size, 7);
    let with_extra = TlogProof { extra: Some(b"hint".to_vec()), ..proof };
    assert_eq!(with_extra.to_text().lines().nth(1), Some("extra aGludA=="));
    assert_eq!(TlogProof::parse(with_extra.to_text().as_bytes()).unwrap(), with_extra);
}

#[test]
fn every_changed_cut_or_added_byte_of_a_tlog_proof_is_refused() {
    let keys = [vkey(ORIGIN, 1)];
    for (index, size) in [(0, 1), (5, 7), (6, 7), (3, 8)] {
        let (proof, leaf) = proof_of(index, size);
        let good = proof.to_text().into_bytes();
        let accepted = |bytes: &[u8]| {
            TlogProof::parse(bytes).and_then(|proof| proof.verify(&leaf, ORIGIN, &keys)).is_ok()
        };
        assert!(accepted(&good));
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bytes = good.clone();
                bytes[at] ^= 1 << bit;
                assert!(!accepted(&bytes), "byte {at} bit {bit} of {index}/{size}");
            }
            assert!(!accepted(&good[..at]), "cut at {at}");
            for extra in [b'\n', b' ', b'0', b'A'] {
                let mut bytes = good.clone();
                bytes.insert(at, extra);
                assert!(!accepted(&bytes), "{extra} at {at} of {index}/{size}");
            }
        }
        assert!(!accepted(&[good.clone(), b"\n".to_vec()].concat()));
        assert!(proof.verify(&Digest::ZERO, ORIGIN, &keys).is_err(), "another leaf");
        assert!(proof.verify(&leaf, "hermit.local/log2", &keys).is_err(), "another log");
        assert_eq!(proof.verify(&leaf, ORIGIN, &[vkey(ORIGIN, 2)]), Err(Error::Untrusted { what: "note" }));
    }
}

#[test]
fn a_tlog_proof_longer_than_any_tree_is_refused() {
    let (mut proof, _) = proof_of(0, 1);
    proof.hashes = vec![Digest::ZERO; 66];
    assert!(TlogProof::parse(proof.to_text().as_bytes()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_without_control_characters_is_signed_and_opened(text in "([^\\p{Cc}]|\n){0,60}", name in "[^\\s\\p{Cc}+]{1,12}") {
        let note = sign_note(&format!("{text}\n"), &name, &signer(4)).unwrap();
        let opened = verify_note(&note.to_bytes(), &[vkey(&name, 4)]).unwrap();
        prop_assert_eq!(opened, note);
    }

    #[test]
    fn reading_a_note_or_a_proof_never_panics_and_has_one_spelling(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        if let Ok(note) = Note::parse(&bytes) {
            prop_assert_eq!(note.to_bytes(), bytes.clone());
        }
        if let Ok(proof) = TlogProof::parse(&bytes) {
            prop_assert_eq!(proof.to_text().into_bytes(), bytes);
        }
    }
}
