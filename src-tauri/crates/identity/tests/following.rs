//! Following chains: whole ones, and each way of tampering with one.

use crate::chain::{Chain, INSTANCE, follow_lines, key, signed, soul};
use identity::{Graph, follow, link_sha256};
use model::identity::{LINK_BYTES_MAX, LINKS_MAX, Link, TrustFinding};
use model::{Digest, UnixMs};
use seal::canon;

/// What was found, by line.
fn named(graph: &Graph) -> Vec<(TrustFinding, u64)> {
    graph.findings.iter().map(|one| (one.what, one.number.unwrap_or(0))).collect()
}

fn assert_named(what: &str, graph: &Graph, finding: TrustFinding, number: u64) {
    assert!(!graph.unbroken, "{what}");
    assert!(named(graph).contains(&(finding, number)), "{what}: {:?}", graph.findings);
    assert!(graph.findings.iter().all(|one| !one.says.is_empty()), "{what}");
}

#[test]
fn five_generations_are_followed_back_to_one_genesis() {
    let chain = Chain::of(5);
    let graph = chain.follow();
    assert_eq!((graph.unbroken, graph.findings.len()), (true, 0), "{:?}", graph.findings);
    assert_eq!(graph.instance_id.as_deref(), Some(INSTANCE));
    assert_eq!(graph.key_in_force, Some(key(4).public()));
    assert_eq!(graph.log_key, Some(chain.key.statement.log_pubkey.clone()));
    assert_eq!(graph.links.len(), 10, "five attestations, four hand-overs, one revocation");
    assert_eq!(graph.links[1].signed_by, [key(0).public(), key(1).public()]);
    assert_eq!(graph.links[9].number, 10);
    let lines = chain.lines();
    let without = follow(None, &lines.iter().map(Vec::as_slice).collect::<Vec<_>>());
    assert_eq!((without.unbroken, without.log_key), (true, None));
}

#[test]
fn nothing_proves_nothing() {
    let graph = follow(None, &[]);
    assert_eq!((graph.unbroken, graph.instance_id, graph.key_in_force), (false, None, None));
    assert!(!follow_lines(&Chain::of(1).key, &[]).unbroken);
}

/// Invariants 1 and 3: no byte of a line can be another.
#[test]
fn a_byte_that_is_another_is_named_in_every_field_of_every_link() {
    let chain = Chain::of(3);
    let lines = chain.lines();
    for (at, line) in lines.iter().enumerate() {
        let text = String::from_utf8(line.clone()).expect("it is text");
        let value: places::Places = places::of(&text);
        assert!(value.len() > 5, "{text}");
        for place in value {
            let mut all = lines.clone();
            // Another digit where there is one, another letter elsewhere.
            let byte = &mut all[at][place];
            *byte = match *byte {
                b'0'..=b'8' | b'a'..=b'e' => *byte + 1,
                b'9' => b'8',
                _ => b'a',
            };
            if all[at] == lines[at] {
                continue;
            }
            let graph = follow_lines(&chain.key, &all);
            let number = at as u64 + 1;
            assert!(!graph.unbroken, "line {number}, byte {place}");
            let at_it = named(&graph).into_iter().filter(|(_, line)| *line == number).count();
            assert!(at_it > 0, "line {number}, byte {place}: {:?}", graph.findings);
        }
    }
}

/// Where values begin in a line of canonical JSON: the first byte of each text and number.
mod places {
    pub type Places = Vec<usize>;

    pub fn of(text: &str) -> Places {
        let bytes = text.as_bytes();
        let after_colon = bytes.windows(2).enumerate().filter(|(_, two)| two[0] == b':' && two[1] != b'{');
        let first = after_colon.filter(|(_, two)| two[1] != b'[');
        first.map(|(at, two)| if two[1] == b'"' { at + 2 } else { at + 1 }).collect()
    }
}

#[conforms::conforms(part = "HV-3.9-4")]
#[test]
fn each_way_of_tampering_is_named() {
    let whole = Chain::of(5);
    let lines = whole.lines();
    let follow = |lines: &[Vec<u8>]| follow_lines(&whole.key, lines);
    let without = |at: usize| {
        let mut lines = lines.clone();
        lines.remove(at);
        follow(&lines)
    };
    assert_named("genesis left out", &without(0), TrustFinding::Gap, 1);
    assert_named("hand-over left out", &without(3), TrustFinding::Gap, 4);
    assert_named("its key is nobody's then", &without(3), TrustFinding::UnknownKey, 4);
    assert_named("attestation left out", &without(4), TrustFinding::Gap, 5);

    let mut twice = lines.clone();
    twice.insert(3, lines[2].clone());
    assert_named("doubled", &follow(&twice), TrustFinding::OutOfOrder, 4);
    let mut swapped = lines.clone();
    swapped.swap(2, 3);
    assert_named("swapped", &follow(&swapped), TrustFinding::OutOfOrder, 3);
    let mut behind = lines.clone();
    behind.rotate_left(1);
    assert_named("genesis at the end", &follow(&behind), TrustFinding::OutOfOrder, 1);

    let short = Chain { links: whole.links[..3].to_vec(), ..whole.clone() };
    let mut forked = whole.clone();
    forked.push(short.attestation(1, 3), &[1]);
    assert_named("fork by a key that is gone", &forked.follow(), TrustFinding::Fork, 11);
    let mut second = whole.clone();
    second.push(Chain { links: Vec::new(), ..whole.clone() }.attestation(4, 9), &[4]);
    assert_named("second genesis", &second.follow(), TrustFinding::SecondGenesis, 11);

    let mut revoked = whole.clone();
    revoked.push(revoked.attestation(3, 9), &[3]);
    assert_named("a revoked key signs", &revoked.follow(), TrustFinding::RevokedKey, 11);
    let mut back = whole.clone();
    back.push(back.handover(4, 0), &[4, 0]);
    assert_named("a key comes back", &back.follow(), TrustFinding::RevokedKey, 11);
    let mut unknown = whole.clone();
    unknown.push(unknown.attestation(9, 9), &[9]);
    assert_named("an unknown key signs", &unknown.follow(), TrustFinding::UnknownKey, 11);
    let mut nobody = whole.clone();
    nobody.push(nobody.revocation(9, 4), &[4]);
    assert_named("a key that never was is revoked", &nobody.follow(), TrustFinding::UnknownKey, 11);
    for graph in [revoked.follow(), unknown.follow()] {
        assert_eq!(graph.key_in_force, Some(key(4).public()), "invariant 5");
    }
}

/// Attestations that are signed as they should be, and say what cannot be.
#[test]
fn what_is_signed_and_cannot_be_is_named() {
    let whole = Chain::of(5);
    type Change = fn(&mut model::identity::Attestation);
    let changes: [(&str, Change, TrustFinding); 8] = [
        ("other instance", |one| one.instance_id = "another".to_owned(), TrustFinding::OtherInstance),
        ("version backwards", |one| one.version = 4, TrustFinding::OutOfOrder),
        ("another text of a version", |one| one.soul_sha256 = soul(77), TrustFinding::OutOfOrder),
        ("time backwards", |one| one.attested_at = UnixMs(1), TrustFinding::OutOfOrder),
        ("log backwards", |one| one.log_head.size = 1, TrustFinding::OutOfOrder),
        ("no version", |one| one.version = 0, TrustFinding::Malformed),
        ("another format", |one| one.format = "hermit-identity/2".to_owned(), TrustFinding::Malformed),
        ("a link that is not here", |one| one.previous = Some(Digest::of(b"x")), TrustFinding::Gap),
    ];
    for (what, change, finding) in changes {
        let mut chain = whole.clone();
        let Link::Attestation(mut one) = chain.attestation(4, 5) else { panic!("it is an attestation") };
        change(&mut one);
        chain.push(Link::Attestation(one), &[4]);
        assert_named(what, &chain.follow(), finding, 11);
    }
    let mut again = whole.clone();
    again.push(again.attestation(4, 5), &[4]);
    assert!(again.follow().unbroken, "the same version may be attested again");
}

#[test]
fn signatures_that_are_not_those_of_exactly_who_has_to_are_named() {
    let whole = Chain::of(3);
    type Change = fn(&mut Vec<model::identity::LinkSignature>);
    let changes: [(&str, Change); 4] = [
        ("the old key alone", |all| drop(all.pop())),
        ("in the other order", |all| all.reverse()),
        ("each the other's", |all| {
            let first = all[0].signature.clone();
            all[0].signature = std::mem::replace(&mut all[1].signature, first);
        }),
        ("one more", |all| {
            let first = all[0].clone();
            all.push(first);
        }),
    ];
    for (what, change) in changes {
        let mut chain = whole.clone();
        change(&mut chain.links[1].signatures);
        let graph = chain.follow();
        assert_eq!(named(&graph), [(TrustFinding::BadSignature, 2)], "{what}");
        assert_eq!(
            graph.key_in_force,
            Some(key(0).public()),
            "{what}: nobody is in force by a bad signature"
        );
    }
}

#[test]
fn a_statement_of_the_first_key_holds_or_is_named() {
    let chain = Chain::of(2);
    let mut other = chain.clone();
    other.key.statement.soul_sha256 = soul(9);
    assert_named("changed", &other.follow(), TrustFinding::NoLogKey, 0);
    let log = seal::SeedSigner::from_seed([40; 32]);
    let statement =
        model::identity::InstanceKey { instance_pubkey: key(9).public(), ..chain.key.statement.clone() };
    let bound = identity::bind(statement, &log, &key(9)).expect("both sign");
    assert_named("another key", &follow_lines(&bound, &chain.lines()), TrustFinding::NoLogKey, 1);
    let statement = model::identity::InstanceKey { soul_sha256: soul(9), ..chain.key.statement.clone() };
    let bound = identity::bind(statement, &log, &key(0)).expect("both sign");
    assert_named("another SOUL.md", &follow_lines(&bound, &chain.lines()), TrustFinding::NoLogKey, 1);
    let statement =
        model::identity::InstanceKey { instance_id: "another".to_owned(), ..chain.key.statement.clone() };
    let bound = identity::bind(statement, &log, &key(0)).expect("both sign");
    assert_named("another instance", &follow_lines(&bound, &chain.lines()), TrustFinding::OtherInstance, 1);
}

#[test]
fn lines_that_are_spelled_otherwise_or_too_long_are_no_links() {
    let chain = Chain::of(2);
    let line = chain.lines().remove(0);
    let text = String::from_utf8(line.clone()).expect("it is text");
    let null = text.replacen("\"soul_sha256\"", "\"previous\":null,\"soul_sha256\"", 1);
    assert_ne!(null, text);
    let long = [line.clone(), vec![b' '; LINK_BYTES_MAX]].concat();
    let variants: [(&str, Vec<u8>); 7] = [
        ("a space", text.replacen(':', ": ", 1).into_bytes()),
        ("null", null.into_bytes()),
        ("a field more", text.replacen("{\"link\"", "{\"a\":1,\"link\"", 1).into_bytes()),
        ("a return", [line.clone(), b"\r".to_vec()].concat()),
        ("not UTF-8", [b"\xff".to_vec(), line].concat()),
        ("nothing", Vec::new()),
        ("too long", long),
    ];
    for (what, bytes) in variants {
        let graph = follow_lines(&chain.key, &[bytes]);
        assert_named(what, &graph, TrustFinding::Malformed, 1);
        assert_eq!(graph.links.len(), 0, "{what}");
    }
}

/// Invariant 4. `HERMIT_LINKS` follows a longer one.
#[test]
fn a_deep_chain_is_followed_and_one_beyond_the_bound_is_cut_off() {
    let deep = std::env::var("HERMIT_LINKS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut chain = Chain::of(1);
    while chain.links.len() < deep {
        chain.push(chain.attestation(0, 1), &[0]);
    }
    let graph = chain.follow();
    assert!(graph.unbroken, "{:?}", graph.findings.first());
    let lines = vec![chain.lines().remove(0); LINKS_MAX + 5];
    let graph = follow_lines(&chain.key, &lines);
    assert_eq!(graph.links.len(), LINKS_MAX);
    assert_named("too many", &graph, TrustFinding::Malformed, LINKS_MAX as u64 + 1);
}

#[test]
fn the_name_of_a_link_is_of_its_canonical_bytes_without_signatures() {
    let chain = Chain::of(2);
    let bytes = canon::to_canonical(&chain.links[1].link).expect("it is canonical");
    assert_eq!(link_sha256(&chain.links[1].link), Ok(Digest::of(&bytes)));
    assert_eq!(chain.follow().links[1].link_sha256, Digest::of(&bytes));
    let again = signed(chain.links[1].link.clone(), &[0, 1]);
    assert_eq!(again, chain.links[1], "a signature draws nothing");
}
