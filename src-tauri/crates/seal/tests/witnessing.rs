//! Cosignatures and what a witness does: as C2SP publishes them, and never for a fork.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

use seal::cosignature::{AddCheckpoint, Judged, Policy, WitnessKey, add_lines, judge};
use seal::merkle::{Tree, leaf_hash};
use seal::note::{Checkpoint, Note, NoteSignature, SIGNATURES_MAX, VerifierKey};
use seal::{Digest, SeedSigner, Signer as _};

const LOG: &str = "example.org/log";

fn signer(seed: u8) -> SeedSigner {
    SeedSigner::from_seed([seed; 32])
}

fn witness(seed: u8) -> WitnessKey {
    WitnessKey::new(&format!("witness.example/{seed}"), signer(seed).public()).unwrap()
}

/// A log of so many leaves; from `fork` on they are others.
fn tree(size: u64, fork: u64) -> Tree {
    let mut tree = Tree::from_leaves(&[]);
    for n in 0..size {
        let text = if n < fork { format!("leaf {n}") } else { format!("other {n}") };
        tree.push(leaf_hash(text.as_bytes()));
    }
    tree
}

fn head(tree: &Tree, size: u64, key: u8) -> Vec<u8> {
    Checkpoint::new(LOG, size, tree.root_at(size).unwrap()).sign(&signer(key)).unwrap().to_bytes()
}

fn request(tree: &Tree, old: u64, size: u64) -> AddCheckpoint {
    let small = {
        let leaves: Vec<Digest> = (0..size).map(|n| tree.node(0, n).unwrap()).collect();
        Tree::from_leaves(&leaves)
    };
    let proof = if old == 0 { Vec::new() } else { small.consistency_proof(old).unwrap() };
    AddCheckpoint { old_size: old, proof, note: head(tree, size, 1) }
}

fn judged(request: &AddCheckpoint, seen: Option<(u64, Digest)>) -> Judged {
    let keys = |origin: &str| {
        let known = origin == LOG;
        known.then(|| VerifierKey::new(LOG, signer(1).public()).unwrap()).into_iter().collect()
    };
    judge(request, keys, |_| seen)
}

#[test]
fn the_example_of_the_specification_is_read_as_a_cosignature() {
    let note = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
        \u{2014} example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
        \u{2014} witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";
    let note = Note::parse(note.as_bytes()).unwrap();
    let line = &note.signatures[1];
    assert_eq!(line.bytes.len(), 8 + 64, "a time and a signature");
    let time = u64::from_be_bytes(line.bytes[..8].try_into().unwrap());
    assert_eq!(time, 1_679_315_147);
}

#[test]
fn a_cosignature_covers_time_and_text_and_round_trips_with_its_key() {
    let (tree, key) = (tree(5, 9), witness(7));
    let mut note = Note::parse(&head(&tree, 5, 1)).unwrap();
    assert_eq!(key.cosigned(&note).unwrap(), None);
    note.signatures.push(key.cosign(&note.text, 1_700_000_000, &signer(7)).unwrap());
    let bytes = note.to_bytes();
    let read = Note::parse(&bytes).unwrap();
    assert_eq!(key.cosigned(&read).unwrap(), Some(1_700_000_000));
    assert_eq!(witness(8).cosigned(&read).unwrap(), None);
    for at in 0..read.signatures[1].bytes.len() {
        let mut changed = read.clone();
        changed.signatures[1].bytes[at] ^= 1;
        assert!(key.cosigned(&changed).is_err(), "byte {at}");
    }
    assert!(key.cosign(&note.text, 1, &signer(8)).is_err());
    assert_eq!(key.to_string().parse::<WitnessKey>().unwrap(), key);
    let log_key = VerifierKey::new("witness.example/7", signer(7).public()).unwrap();
    assert!(log_key.to_string().parse::<WitnessKey>().is_err(), "a log's key is no witness's");
    let line = read.signatures[1].to_string();
    let plain = head(&tree, 5, 1);
    assert_eq!(add_lines(&plain, &[line.clone(), line]).unwrap(), bytes);
}

#[test]
fn requests_have_one_spelling() {
    let tree = tree(20, 99);
    let request = request(&tree, 7, 20);
    assert_eq!(AddCheckpoint::parse(&request.to_bytes()).unwrap(), request);
    let body = String::from_utf8(request.to_bytes()).unwrap();
    for odd in [
        body.replacen("old 7", "old 07", 1),
        body.replacen("old 7", "7", 1),
        body.replacen("\n\n", "\n", 1),
        body.replacen("old 7\n", "old 7\nAAAA\n", 1),
        String::new(),
    ] {
        assert!(AddCheckpoint::parse(odd.as_bytes()).is_err(), "{odd}");
    }
    let mut long = request;
    long.proof = vec![Digest::ZERO; 64];
    assert!(AddCheckpoint::parse(&long.to_bytes()).is_err());
}

#[test]
fn growth_is_cosigned_and_forks_rollbacks_and_strangers_are_not() {
    let honest = tree(20, 99);
    let seen = |size: u64| Some((size, honest.root_at(size).unwrap()));
    for (old, size) in [(0, 1), (0, 20), (1, 2), (7, 20), (8, 16), (20, 20)] {
        let request = request(&honest, old, size);
        let before = if old == 0 { None } else { seen(old) };
        assert!(
            matches!(judged(&request, before), Judged::Cosign(new) if new.size == size),
            "{old} to {size}"
        );
    }
    assert_eq!(judged(&request(&honest, 7, 20), seen(9)), Judged::Conflict(9), "it saw another size");
    assert_eq!(judged(&request(&honest, 0, 20), seen(9)), Judged::Conflict(9));
    assert_eq!(judged(&request(&honest, 5, 9), seen(20)), Judged::Conflict(20), "a rollback");
    let forked = tree(20, 5);
    assert_eq!(judged(&request(&forked, 9, 20), seen(9)), Judged::Unprocessable, "a fork");
    assert_eq!(judged(&request(&forked, 20, 20), seen(20)), Judged::Conflict(20), "a fork of the same size");
    let other_key = AddCheckpoint { note: head(&honest, 20, 2), ..request(&honest, 7, 20) };
    assert_eq!(judged(&other_key, seen(7)), Judged::Forbidden);
    let larger = AddCheckpoint { old_size: 21, ..request(&honest, 7, 20) };
    assert!(matches!(judged(&larger, seen(7)), Judged::Bad(_)));
    let stranger = judge(&request(&honest, 0, 20), |_| Vec::new(), |_| None);
    assert_eq!(stranger, Judged::UnknownLog);
}

#[test]
fn a_member_that_a_group_names_twice_is_refused_whatever_was_grouped_before() {
    let lines: String = (1..=4).map(|n| format!("witness w{n} {}\n", witness(n))).collect();
    let groups =
        ["group g 2 w1 w1\n", "group f 1 w2\ngroup g 2 w1 w1\n", "group f any w2 w3 w4\ngroup g all w1 w1\n"];
    for groups in groups {
        let text = format!("{lines}{groups}quorum g\n");
        assert!(Policy::parse(&text).is_err(), "one voice would be two: {groups}");
    }
    // Each once is what it looks like.
    let fair = Policy::parse(&format!("{lines}group f 1 w2\ngroup g 2 w1 w3\nquorum g\n")).unwrap();
    assert!(!fair.is_met(&[("w1".to_owned(), 1)]));
    assert!(fair.is_met(&[("w1".to_owned(), 1), ("w3".to_owned(), 1)]));
}

#[test]
fn a_policy_counts_witnesses_and_groups_as_it_is_written() {
    let line = |seed: u8| format!("witness w{seed} {}\n", witness(seed));
    let text = format!(
        "# mine\nlog {}\n{}{}{}group few 2 w1 w2 w3\nquorum few\n",
        VerifierKey::new(LOG, signer(1).public()).unwrap(),
        line(1),
        line(2),
        line(3)
    );
    let policy = Policy::parse(&text).unwrap();
    let by = |names: &[&str]| names.iter().map(|n| ((*n).to_owned(), 1)).collect::<Vec<_>>();
    assert!(!policy.is_met(&by(&[])) && !policy.is_met(&by(&["w1"])));
    assert!(policy.is_met(&by(&["w1", "w3"])) && policy.is_met(&by(&["w1", "w2", "w3"])));
    let again = Policy::parse(&policy.to_text("")).unwrap();
    assert_eq!(again, policy);
    assert!(Policy::parse("quorum none\n").unwrap().is_met(&[]));
    for odd in [
        String::new(),
        line(1),
        format!("{}{}quorum w1\n", line(1), line(1)),
        format!("{}group g 2 w1\nquorum g\n", line(1)),
        format!("{}group g 0 w1\nquorum g\n", line(1)),
        format!("{}group g any w1 w9\nquorum g\n", line(1)),
        format!("{}group g any none\nquorum g\n", line(1)),
        format!("{}quorum w1\nquorum w1\n", line(1)),
        format!("{}quorum w2\n", line(1)),
        "witness w nothing\nquorum w\n".to_owned(),
    ] {
        assert!(Policy::parse(&odd).is_err(), "{odd}");
    }
}

#[test]
fn a_line_is_a_witnesss_own_only_with_its_name_and_its_key() {
    let (tree, key) = (tree(5, 9), witness(7));
    assert_eq!((key.name(), key.key()), ("witness.example/7", &signer(7).public()));
    let note = Note::parse(&head(&tree, 5, 1)).unwrap();
    let line = key.cosign(&note.text, 1_700_000_000, &signer(7)).unwrap();
    let by = |line: NoteSignature| {
        let signatures = note.signatures.iter().cloned().chain([line]).collect();
        key.cosigned(&Note { text: note.text.clone(), signatures }).unwrap()
    };
    assert_eq!(by(line.clone()), Some(1_700_000_000));
    // The same name over another key, and the same key under another name: somebody else's lines.
    let namesake = WitnessKey::new(key.name(), signer(8).public()).unwrap();
    assert_eq!(by(namesake.cosign(&note.text, 1, &signer(8)).unwrap()), None);
    assert_eq!(by(NoteSignature { name: "witness.example/8".to_owned(), ..line }), None);
}

#[test]
fn a_head_takes_as_many_cosignatures_as_a_note_may_have_and_a_namesake_is_another() {
    let bare = head(&tree(5, 9), 5, 1);
    let text = Note::parse(&bare).unwrap().text;
    let line = |key: &WitnessKey, seed: u8| {
        let signatures = vec![key.cosign(&text, 1, &signer(seed)).unwrap()];
        let all = Note { text: text.clone(), signatures }.to_bytes();
        String::from_utf8(all).unwrap().lines().last().unwrap().to_owned()
    };
    let namesake = WitnessKey::new(witness(2).name(), signer(3).public()).unwrap();
    let lines = [line(&witness(2), 2), line(&namesake, 3), line(&witness(2), 2)];
    let both = Note::parse(&add_lines(&bare, &lines).unwrap()).unwrap();
    assert_eq!(both.signatures.len(), 3, "the log, and two keys of one name");
    let many: Vec<String> = (2..40).map(|seed| line(&witness(seed), seed)).collect();
    let full = Note::parse(&add_lines(&bare, &many).unwrap()).unwrap();
    assert_eq!(full.signatures.len(), SIGNATURES_MAX);
}

#[test]
fn a_policy_made_here_reads_back_and_names_who_cosigned_and_when() {
    let named =
        |seed: u8| (format!("w{seed}"), witness(seed), (seed == 2).then(|| "https://w.example/".to_owned()));
    let policy = Policy::of([1, 2, 3].map(named).to_vec(), 2);
    assert_eq!(Policy::parse(&policy.to_text("example.org/log")).unwrap(), policy);
    let mut note = Note::parse(&head(&tree(5, 9), 5, 1)).unwrap();
    assert_eq!(policy.cosigned(&note).unwrap(), []);
    for (seed, time) in [(3, 30), (1, 10)] {
        assert!(!policy.is_met(&policy.cosigned(&note).unwrap()), "before {seed}");
        note.signatures.push(witness(seed).cosign(&note.text, time, &signer(seed)).unwrap());
    }
    let found = policy.cosigned(&note).unwrap();
    assert_eq!(found, [("w1".to_owned(), 10), ("w3".to_owned(), 30)]);
    assert!(policy.is_met(&found));
    // It never asks for nobody, nor for more than there are; without a witness it asks for none.
    let one = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), 1)).collect::<Vec<_>>();
    let all = |threshold: usize| Policy::of([1, 2].map(named).to_vec(), threshold);
    assert!(!all(0).is_met(&[]) && all(0).is_met(&one(&["w2"])));
    assert!(!all(9).is_met(&one(&["w2"])) && all(9).is_met(&one(&["w1", "w2"])));
    assert!(Policy::of(Vec::new(), 1).is_met(&[]));
}

#[test]
fn a_policy_has_bounds_and_no_control_characters_but_tabs() {
    let key = witness(1);
    let lines = |more: usize| format!("{}quorum none\n", "\n".repeat(more));
    for good in
        [lines(255), format!("witness\ta\t{key}\t\nquorum\ta\n"), format!("witness a {key} url\nquorum a\n")]
    {
        assert!(Policy::parse(&good).is_ok(), "{good:?}");
    }
    for bad in [
        lines(256),
        format!("witness a {key} url more\nquorum a\n"),
        format!("witness a {key}\nquorum a\r\n"),
        format!("witness a {key}\nquorum a\u{7f}\n"),
        format!("witness a {key}\nquorum a\u{85}\n"),
        format!("witness a {key}\ngroup g 1\nquorum g\n"),
        format!("witness none {key}\nquorum none\n"),
    ] {
        assert!(Policy::parse(&bad).is_err(), "{bad:?}");
    }
}
