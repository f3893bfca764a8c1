//! Who the instance is, and by when the task existed: what a bundle proves to a stranger who has headers of Bitcoin or the
//! certificate of an authority, and every way in which it could lie.

use crate::blocks::{BLOCK_TIME, HEIGHT, headers, hex, in_a_block, pending};
use crate::foreign;
use crate::twin::agree_given;
use crate::world::tools::{Bench, Files, Power, files_of, repair, zip_of};
use crate::world::{Persons, World};
use model::anchor::AnchorClock;
use proof::{Given, Report, Scope, Stands, Trust, Verdict, export_to};
use seal::{Digest, Signer as _};
use serde_json::Value;
use std::path::Path;

const HEAD: &str = "anchors/1.checkpoint";
const WAY: &str = "anchors/1.consistency";
const PLACE: &str = "anchors/1.tlog-proof";
const ASKED: &str = "anchors/1.json";
const OTS: &str = "anchors/1.opentimestamps.ots";
const KEY: &str = "identity/key.json";
const LINKS: &str = "identity/links.jsonl";

fn ots(digest: &Digest) -> Vec<(AnchorClock, Vec<u8>)> {
    vec![(AnchorClock::OpenTimestamps, in_a_block(digest))]
}

/// A store whose instance said who it is, whose log was stamped, and went on.
fn stamped() -> World {
    let mut world = World::new(2, 1);
    world.attest();
    world.stamp(1, ots);
    world
}

fn bundle(world: &World, scope: Scope) -> (Files, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle");
    let options = proof::Options { scope, ..World::everything() };
    let made = export_to(world, world.signers(), world.task, &options, &path).unwrap();
    (files_of(&path), made.left_out)
}

fn zip(files: &Files) -> Vec<u8> {
    zip_of(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))
}

/// The headers whose first block commits to the first anchor.
fn known(world: &World) -> Vec<u8> {
    headers(&world.anchors[0].requested.digest)
}

/// What both verifiers say, which is the same.
fn verified(world: &World, files: &Files, given: &Given<'_>) -> Report {
    let bytes = zip(files);
    let trust = Trust::from(world.keys.manifest.public());
    let report = Bench::new().verify_given(&bytes, std::slice::from_ref(&trust), given);
    if let Some(twin) = agree_given(&[("the bundle".to_owned(), bytes)], &trust, given) {
        assert_eq!(twin, usize::from(report.verdict == Verdict::Valid));
    }
    report
}

/// The place at which a bundle is refused, which its maker signed as far as the manifest key goes.
fn refused(world: &World, files: &Files) -> String {
    let mut files = files.clone();
    repair(&mut files, Power::Manifest, world);
    let headers = known(world);
    let given = Given { bitcoin_headers: Some(&headers), ..Given::default() };
    match verified(world, &files, &given).verdict {
        Verdict::Invalid { place, .. } => place,
        other => other.to_string(),
    }
}

#[conforms::conforms(part = "HV-3.6-3")]
#[test]
fn a_bundle_says_which_clocks_agree_and_what_interval_is_proven_for_its_receipts() {
    let mut world = stamped();
    // A clock that waits proves nothing.
    world.stamp(2, |digest| vec![(AnchorClock::OpenTimestamps, pending(digest))]);
    let headers = known(&world);
    let given = Given { bitcoin_headers: Some(&headers), ..Given::default() };
    let time = i64::from(BLOCK_TIME) * 1_000;
    for (scope, receipts) in [
        (Scope::Task, " receipts here too"),
        (Scope::Span { first: 2, last: 3 }, "existed before"),
        (Scope::Receipt(world.receipts[0]), "the receipt here too"),
    ] {
        let (files, left_out) = bundle(&world, scope);
        assert_eq!(left_out, Vec::<String>::new());
        let report = verified(&world, &files, &given);
        assert_eq!(report.verdict, Verdict::Valid, "{report}");
        assert_eq!(report.proven_not_after, Some(time));
        let states: Vec<_> =
            report.anchors.iter().map(|one| (one.number, one.state, one.covers_task)).collect();
        assert_eq!(states, [(1, Stands::Anchored, true), (2, Stands::Pending, true)]);
        assert_eq!(report.anchors[0].block_height, Some(HEIGHT));
        let said = report.proven.iter().find(|said| said.contains("existed before")).unwrap();
        assert!(said.contains("2025-10-10 12:40:00 UTC") && said.contains(receipts), "{said}");
        assert!(said.contains("one clock says so: ") && said.contains("block 840000 of Bitcoin"), "{said}");
        assert!(report.asserted.iter().any(|said| said.contains("younger than any time")), "{report}");
        assert!(report.asserted.iter().any(|said| said.contains("miner")), "{report}");
        assert!(report.not_shown.iter().any(|said| said.contains("anchor 2") && said.contains("pending")));

        // Who has no headers, or those of other blocks, is told that nothing is proven, and no more.
        let (elsewhere, none) = (self::headers(&Digest::of(b"another")), Given::default());
        let elsewhere = String::from_utf8(elsewhere).unwrap().replacen("840000", "900000", 1).into_bytes();
        for given in [none, Given { bitcoin_headers: Some(&elsewhere), ..Given::default() }] {
            let report = verified(&world, &files, &given);
            assert_eq!((&report.verdict, report.proven_not_after), (&Verdict::Valid, None), "{report}");
            assert_eq!(report.anchors[0].state, Stands::Unproven);
            assert!(report.proven.iter().all(|said| !said.contains("existed before")), "{report}");
        }
    }
}

#[conforms::conforms(part = "HV-3.9-4", part = "HV-1-6")]
#[test]
fn a_bundle_leads_from_the_instance_of_now_back_to_its_genesis() {
    let mut world = stamped();
    world.stamp_link(2, 1, ots);
    let (files, left_out) = bundle(&world, Scope::Task);
    assert_eq!(left_out, Vec::<String>::new());
    let headers = headers(&world.anchors[1].requested.digest);
    // These headers have another block where the first anchor says that its own is: one of the two is wrong.
    let given = Given { bitcoin_headers: Some(&headers), ..Given::default() };
    let mut only = files.clone();
    only.retain(|name, _| !name.starts_with("anchors/1."));
    repair(&mut only, Power::Manifest, &world);
    let report = verified(&world, &only, &given);
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    let found = report.identity.as_ref().unwrap();
    assert_eq!((found.unbroken, found.links, found.findings.len()), (true, 3, 0));
    assert_eq!(found.instance_id.as_ref(), Some(&world.log_id));
    assert!(report.proven.iter().any(|said| said.starts_with("who it is: 3 links lead back")), "{report}");
    assert!(report.proven.iter().any(|said| said.starts_with("link 1 of the instance existed then")));
    assert_eq!((report.anchors[0].link, report.proven_not_after), (Some(1), None));
    let mut both = files.clone();
    repair(&mut both, Power::Manifest, &world);
    let refused = verified(&world, &both, &given);
    assert!(matches!(&refused.verdict, Verdict::Invalid { place, .. } if place == OTS), "{refused}");

    // Newer links may be withheld; an older one may not, nor may one be changed or stand twice.
    let lines: Vec<&[u8]> = files[LINKS].split_inclusive(|byte| *byte == b'\n').collect();
    let with = |lines: &[&[u8]]| {
        let mut files = only.clone();
        files.insert(LINKS.to_owned(), lines.concat());
        repair(&mut files, Power::Manifest, &world);
        verified(&world, &files, &given)
    };
    let fewer = with(&lines[..2]);
    assert_eq!(fewer.verdict, Verdict::Valid, "{fewer}");
    assert_eq!(fewer.identity.unwrap().links, 2);
    let lies = [
        vec![lines[1], lines[2]],
        vec![lines[0], lines[2]],
        vec![lines[0], lines[2], lines[1]],
        vec![lines[0], lines[0], lines[1]],
        vec![lines[0], &lines[1][..lines[1].len() - 1]],
    ];
    for lie in lies {
        let report = with(&lie);
        let Verdict::Invalid { place, why } = &report.verdict else { panic!("{report}") };
        assert_eq!(place, LINKS, "{why}");
    }
}

#[test]
fn an_instance_or_a_log_of_somebody_else_is_refused() {
    let world = stamped();
    let (files, _) = bundle(&world, Scope::Task);
    // The chain of another instance, with its own key.
    let mut other = World::new(2, 1);
    other.log_id = "00000000000000000000000000000000".to_owned();
    other.attest();
    let theirs = other.instance.clone().unwrap();
    let mut foreign = files.clone();
    foreign.insert(KEY.to_owned(), theirs.key.clone());
    foreign.insert(LINKS.to_owned(), [theirs.links.join(&b'\n'), b"\n".to_vec()].concat());
    assert_eq!(refused(&world, &foreign), KEY);
    foreign.insert(KEY.to_owned(), files[KEY].clone());
    assert_eq!(refused(&world, &foreign), LINKS);
    // The same instance, vouched for by the key of another log.
    let mut elsewhere = World::new(2, 1);
    elsewhere.keys = Persons::new(60);
    elsewhere.attest();
    let mut foreign = files.clone();
    foreign.insert(KEY.to_owned(), elsewhere.instance.as_ref().unwrap().key.clone());
    assert_eq!(refused(&world, &foreign), KEY);
    // A head that another log's key signed, and one of another log that the same key signed.
    for other in [&mut elsewhere, &mut other] {
        other.stamp(1, ots);
        let (theirs, _) = bundle(other, Scope::Task);
        let mut foreign = files.clone();
        foreign.extend([ASKED, HEAD, WAY, PLACE, OTS].map(|name| (name.to_owned(), theirs[name].clone())));
        assert_eq!(refused(&world, &foreign), HEAD);
    }
}

#[test]
fn a_head_that_forks_and_every_file_that_lies_is_refused_where_it_lies() {
    let world = stamped();
    let (files, _) = bundle(&world, Scope::Task);
    // The same log key signed another history of as many notes.
    let mut fork = World::new(2, 1);
    fork.others.reverse();
    fork.attest();
    fork.stamp(1, ots);
    let (theirs, _) = bundle(&fork, Scope::Task);
    let mut forked = files.clone();
    forked.extend([ASKED, HEAD, OTS].map(|name| (name.to_owned(), theirs[name].clone())));
    assert_ne!(forked[HEAD], files[HEAD]);
    assert_eq!(refused(&world, &forked), WAY);

    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    let change = |change: &dyn Fn(&mut Value)| {
        let mut asked: Value = serde_json::from_str(&text(ASKED)).unwrap();
        change(&mut asked);
        seal::canon::canonical_value(&asked).unwrap()
    };
    let mut way: Vec<String> = text(WAY).lines().map(|line| format!("{line}\n")).collect();
    let last = way.pop().unwrap();
    let tsr = room().join("../anchor/tests/data/tsa.tsr");
    let lies: [(&str, &str, Vec<u8>); 11] = [
        (ASKED, ASKED, change(&|asked| asked["number"] = 2.into())),
        (ASKED, ASKED, change(&|asked| asked["digest"] = Digest::ZERO.to_string().into())),
        (ASKED, HEAD, change(&|asked| asked["subject"]["size"] = 3.into())),
        (ASKED, HEAD, change(&|asked| asked["subject"]["note_sha256"] = Digest::ZERO.to_string().into())),
        (ASKED, ASKED, change(&|asked| asked["more"] = 1.into())),
        (HEAD, HEAD, files["log/checkpoint"].clone()),
        (WAY, WAY, [way.concat(), last.clone(), last].concat().into_bytes()),
        (WAY, WAY, way.concat().into_bytes()),
        (PLACE, PLACE, files["task/checkpoint.tlog-proof"].clone()),
        (OTS, OTS, in_a_block(&Digest::of(b"another digest"))),
        ("anchors/1.rfc3161.tsr", "anchors/1.rfc3161.tsr", std::fs::read(tsr).unwrap()),
    ];
    for (name, place, bytes) in lies {
        let mut lying = files.clone();
        lying.insert(name.to_owned(), bytes);
        assert_eq!(refused(&world, &lying), place, "{name}");
    }
    // Of files that belong together none may be left out but the place, without which nothing of the task is proven.
    for (name, place) in [(KEY, KEY), (LINKS, LINKS), (ASKED, ASKED), (HEAD, HEAD), (WAY, WAY), (OTS, ASKED)]
    {
        let mut less = files.clone();
        less.remove(name);
        assert_eq!(refused(&world, &less), place, "without {name}");
    }
    let mut less = files.clone();
    less.remove(PLACE);
    repair(&mut less, Power::Manifest, &world);
    let headers = known(&world);
    let given = Given { bitcoin_headers: Some(&headers), ..Given::default() };
    let report = verified(&world, &less, &given);
    assert_eq!((&report.verdict, report.proven_not_after), (&Verdict::Valid, None), "{report}");
    // More anchors than any bundle has.
    let mut many = files.clone();
    for n in 2..=9 {
        many.insert(format!("anchors/{n}.json"), b"{}".to_vec());
    }
    assert_eq!(refused(&world, &many), "anchors");
}

/// Files are read when the test runs: its binary may have been compiled for another clone.
fn room() -> std::path::PathBuf {
    std::env::var("CARGO_MANIFEST_DIR").unwrap().into()
}

/// What an insider with the manifest key may change without being refused: the time at which an anchor was asked for, which the
/// report does not tell; and what makes a proof prove nothing.
#[test]
fn a_changed_byte_in_any_file_of_identity_and_anchors_never_proves_more() {
    let asked = std::env::var("HERMIT_MUTANTS").ok().and_then(|n| n.parse().ok());
    let each: usize = asked.unwrap_or(20);
    let world = stamped();
    let (files, _) = bundle(&world, Scope::Receipt(world.receipts[0]));
    let (bench, trust) = (Bench::new(), Trust::from(world.keys.manifest.public()));
    let headers = known(&world);
    let given = Given { bitcoin_headers: Some(&headers), ..Given::default() };
    let honest = bench.verify_given(&zip(&files), std::slice::from_ref(&trust), &given);
    assert!(honest.proven_not_after.is_some() && honest.identity.is_some(), "{honest}");
    let (mut zips, mut silent) = (Vec::new(), 0);
    for (name, bytes) in
        files.iter().filter(|(name, _)| name.starts_with("identity/") || name.starts_with("anchors/"))
    {
        let free = free(name, bytes);
        for at in (0..bytes.len()).step_by((bytes.len() / each).max(1)).filter(|at| !free.contains(at)) {
            let mut changed = files.clone();
            changed.get_mut(name).unwrap()[at] ^= 1 << (at % 7);
            let plain = bench.verify_given(&zip(&changed), std::slice::from_ref(&trust), &given);
            assert_eq!(plain.exit_code(), 5, "{name} byte {at}: {plain}");
            repair(&mut changed, Power::Manifest, &world);
            let zip = zip(&changed);
            let report = bench.verify_given(&zip, std::slice::from_ref(&trust), &given);
            zips.push((format!("{name} byte {at}"), zip));
            if name == OTS && report.verdict == Verdict::Valid {
                silent += 1;
                assert_eq!(report.proven_not_after, None, "{name} byte {at}: {report}");
            } else {
                assert_eq!(report.exit_code(), 5, "{name} byte {at}: {report}");
            }
        }
    }
    let made = zips.len();
    println!("{made} changed bytes, {silent} of which left a proof that proves nothing, the others refused");
    assert!(made > 100, "{made}");
    if let Some(twin) = agree_given(&zips, &trust, &given) {
        assert_eq!(twin, silent, "the other verifier takes as many");
    }
}

/// Bytes of a file for which nobody vouches.
fn free(name: &str, bytes: &[u8]) -> std::ops::Range<usize> {
    let text = String::from_utf8_lossy(bytes);
    match text.find("\"requested_at\":") {
        Some(at) if name == ASKED => at + "\"requested_at\":".len()..text.find(",\"subject\"").unwrap(),
        _ => 0..0,
    }
}

#[test]
fn what_does_not_hold_is_left_out_of_a_bundle_and_said() {
    // The chain of another instance; an anchor whose proof is of another digest, and one of a head that forks.
    let mut world = World::new(1, 1);
    let own = std::mem::replace(&mut world.log_id, "00000000000000000000000000000000".to_owned());
    world.attest();
    world.log_id = own;
    world.stamp(1, |_| vec![(AnchorClock::OpenTimestamps, in_a_block(&Digest::of(b"another")))]);
    world.stamp(2, ots);
    world.anchors[1].note = world.anchors[0].note.clone();
    world.stamp(3, |_| Vec::new());
    world.stamp(4, ots);
    let (files, left_out) = bundle(&world, Scope::Task);
    let begins = ["who the instance is", "anchor 1: ", "anchor 2: ", "anchor 3: "];
    assert!(left_out.iter().zip(begins).all(|(said, begin)| said.starts_with(begin)), "{left_out:?}");
    assert_eq!(left_out.len(), begins.len(), "{left_out:?}");
    let there = files.keys().filter(|name| name.starts_with("identity/") || name.starts_with("anchors/"));
    assert!(there.clone().all(|name| name.starts_with("anchors/4.")) && there.count() == 5);
    let report = verified(&world, &files, &Given::default());
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    // What would leave is told before.
    let world = stamped();
    let found = proof::preview(&world, world.task, &World::everything()).unwrap();
    assert_eq!((found.links, found.anchors), (3, 1));
    let keyless = World::without_keys(1);
    let found = proof::preview(&keyless, keyless.task, &World::everything()).unwrap();
    assert_eq!((found.links, found.anchors), (0, 0));
}

#[test]
fn headers_without_work_and_files_that_are_none_are_no_answer_about_the_bundle() {
    let world = stamped();
    let (files, _) = bundle(&world, Scope::Task);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.zip");
    std::fs::write(&path, zip(&files)).unwrap();
    // The highest byte of the second header's hash is no longer below the target, or the first is another.
    let text = String::from_utf8(known(&world)).unwrap();
    let (before, last) = text.trim_end().rsplit_once('\n').unwrap();
    let mut lazy = (0..=255_u8).map(|n| format!("{before}\n{}{}\n", &last[..158], hex(&[n])));
    let is_refused = |headers: &[u8]| {
        let given = Given { bitcoin_headers: Some(headers), ..Given::default() };
        matches!(proof::verify_given(&path, &[], &given), Err(proof::Error::Given { .. }))
    };
    assert!(lazy.any(|text| is_refused(text.as_bytes())), "every second nonce has not the work");
    assert!(is_refused(b"") && is_refused(b"nothing\n") && is_refused(&[7; 80]));
    let given = Given { authorities: &[b"no certificate".to_vec()], ..Given::default() };
    assert!(proof::verify_given(&path, &[], &given).is_err());
}

/// An authority that `openssl` plays, which stamps a digest: its answer, and its own certificate.
fn stamp_of_openssl(folder: &Path, digest: &Digest) -> Option<(Vec<u8>, Vec<u8>)> {
    let config = "[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nCN=A clock of this test\n\
        [ca]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n\
        [clock]\nbasicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n\
        extendedKeyUsage=critical,timeStamping\n\
        [one]\nserial=serial\ncrypto_device=builtin\nsigner_cert=clock.pem\nsigner_key=clock-key.pem\n\
        signer_digest=sha256\ndefault_policy=1.2.3.4\ndigests=sha256\naccuracy=secs:1\nordering=no\ntsa_name=yes\n\
        ess_cert_id_chain=no\ness_cert_id_alg=sha256\n";
    std::fs::write(folder.join("tsa.cnf"), config).unwrap();
    std::fs::write(folder.join("serial"), "01\n").unwrap();
    let certificate = "req -x509 -newkey rsa:2048 -nodes -days 3650 -config tsa.cnf";
    for line in [
        format!("{certificate} -extensions ca -subj /CN=authority -keyout ca-key.pem -out ca.pem"),
        format!(
            "{certificate} -extensions clock -CA ca.pem -CAkey ca-key.pem -keyout clock-key.pem -out clock.pem"
        ),
        format!("ts -query -digest {digest} -sha256 -cert -config tsa.cnf -out request.tsq"),
        "ts -reply -queryfile request.tsq -config tsa.cnf -section one -out answer.tsr".to_owned(),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let (ok, said) = foreign::run("openssl", folder, &words, b"")?;
        assert!(ok, "openssl {line}: {said}");
    }
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    Some((read("answer.tsr"), read("ca.pem")))
}

#[conforms::conforms(part = "HV-3.6-3")]
#[test]
fn the_commands_of_the_readme_find_what_a_clock_of_openssl_stamped() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(1, 1);
    let mut authority = None;
    world.stamp(1, |digest| match stamp_of_openssl(folder.path(), digest) {
        Some((answer, certificate)) => {
            authority = Some(certificate);
            vec![(AnchorClock::Rfc3161, answer)]
        }
        None => ots(digest),
    });
    let Some(authority) = authority else { return };
    let root = folder.path().join("bundle");
    let made = export_to(&world, world.signers(), world.task, &World::everything(), &root).unwrap();
    assert_eq!(made.left_out, Vec::<String>::new());
    let files = files_of(&root);
    let readme = String::from_utf8(files["README.txt"].clone()).unwrap();
    std::fs::write(root.join("CA.pem"), &authority).unwrap();
    let command = readme.lines().find(|line| line.trim_start().starts_with("openssl ts")).unwrap();
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    let (ok, said) = foreign::run("openssl", &root, &words, b"").unwrap();
    assert!(ok && said.contains("Verification: OK"), "{command}: {said}");
    let command = readme.lines().find(|line| line.trim_start().starts_with("sed ")).unwrap();
    if let Some((ok, said)) = foreign::run("sh", &root, &["-c", command], b"") {
        assert!(ok && said.starts_with(&world.anchors[0].requested.digest.to_string()), "{command}: {said}");
    }

    let authorities = [authority];
    let given = Given { authorities: &authorities, ..Given::default() };
    let report = verified(&world, &files, &given);
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    assert_eq!(report.anchors[0].state, Stands::Anchored, "{report}");
    let not_after = report.proven_not_after.unwrap();
    let began = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    assert!((began - not_after).abs() < 60_000, "{not_after}");
    let report = verified(&world, &files, &Given::default());
    assert_eq!((&report.verdict, report.proven_not_after), (&Verdict::Valid, None), "{report}");
}
