//! Bundles of a whole world: made, checked, made again, and what the verdict rests on.

use crate::world::World;
use proof::{Include, Options, Redact, Scope, Trust, Verdict, export, export_to, verify};
use seal::Signer as _;
use std::path::{Path, PathBuf};

fn made(world: &World, options: &Options, name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    export_to(world, world.signers(), world.task, options, &path).unwrap();
    (folder, path)
}

fn trusted(world: &World) -> Vec<Trust> {
    vec![Trust::from(world.keys.log.public())]
}

fn check(path: &Path, trust: &[Trust]) -> proof::Report {
    verify(path, trust).unwrap()
}

#[conforms::conforms("HK-18.3-3", "HK-25.3-2", "HK-25.3-4", "HK-25.3-5")]
#[test]
fn a_whole_task_is_proven_to_whoever_trusts_one_of_its_keys_as_zip_and_as_directory() {
    let world = World::new(3, 20);
    for name in ["a.zip", "a"] {
        let (_folder, path) = made(&world, &World::everything(), name);
        for key in [world.keys.log.public(), world.keys.receipt.public(), world.keys.manifest.public()] {
            let report = check(&path, &[Trust::from(key)]);
            assert_eq!(report.verdict, Verdict::Valid, "{name}: {report}");
            assert_eq!((report.counts.receipts, report.counts.decisions), (3, 3));
            assert_eq!(report.counts.events, world.events.len() as u64);
            assert_eq!(report.counts.gate_entries, world.ours.len() as u64);
            assert_eq!((report.counts.redacted, report.counts.artifacts_left_out), (0, 3), "{report}");
            assert_eq!(report.exit_code(), 0);
        }
    }
}

#[test]
fn without_a_trusted_key_the_best_verdict_says_who_signed() {
    let world = World::new(1, 2);
    let (_folder, path) = made(&world, &Options::default(), "a.zip");
    let stranger = seal::SeedSigner::from_seed([99; 32]).public();
    for trust in [vec![], vec![Trust::from(stranger)], vec![Trust::from(world.keys.approval.public())]] {
        let report = check(&path, &trust);
        let Verdict::Unverifiable { why } = &report.verdict else { panic!("{report}") };
        assert!(why.contains(&world.keys.manifest.public().keyid().to_string()), "{why}");
        assert!(why.starts_with("consistent, signed by"), "{why}");
        assert_eq!(report.exit_code(), 6);
        assert!(!report.proven.is_empty() && !report.asserted.is_empty());
    }
}

#[test]
fn a_key_is_recognised_in_every_spelling_a_person_holds_it_in() {
    let world = World::new(1, 0);
    let (_folder, path) = made(&world, &Options::default(), "a");
    let key = world.keys.manifest.public();
    let vkeys = std::fs::read_to_string(path.join("keys/log.vkey")).unwrap();
    for text in [key.to_pem(), key.keyid().to_string(), seal::sshsig::fingerprint(&key), vkeys] {
        let report = check(&path, &[Trust::parse(&text).unwrap()]);
        assert_eq!(report.verdict, Verdict::Valid, "{text}");
    }
    for text in ["", "abc", "-----BEGIN RSA-----", "a+b+c"] {
        assert!(Trust::parse(text).is_err(), "`{text}` is no key");
    }
}

#[test]
fn the_same_store_gives_the_same_bytes() {
    let world = World::new(2, 5);
    let mut zips = Vec::new();
    for _ in 0..2 {
        let mut bytes = Vec::new();
        export(&world, world.signers(), world.task, &World::everything(), &mut bytes).unwrap();
        zips.push(bytes);
    }
    assert_eq!(zips[0], zips[1]);
    let again = World::new(2, 5);
    let mut bytes = Vec::new();
    let exported = export(&again, again.signers(), again.task, &World::everything(), &mut bytes).unwrap();
    assert_eq!(zips[0], bytes);
    assert_eq!(exported.bytes, bytes.len() as u64);
}

#[test]
fn one_receipt_is_a_small_bundle_that_is_bound_to_the_log() {
    let world = World::new(3, 40);
    let scope = Scope::Receipt(world.receipts[1]);
    let slim = Options { scope, artifacts: Include::None, ..Options::default() };
    let (_folder, path) = made(&world, &slim, "one.zip");
    let size = std::fs::metadata(&path).unwrap().len();
    let lean = Options { redact: Redact::All, ..slim.clone() };
    let (_lean, lean) = made(&world, &lean, "lean.zip");
    let lean = std::fs::metadata(&lean).unwrap().len();
    println!("a single-receipt bundle without artifacts has {size} bytes, {lean} without disclosures");
    assert!(size <= 12_000, "{size} bytes");
    let report = check(&path, &trusted(&world));
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    assert_eq!((report.counts.receipts, report.counts.events, report.counts.gate_entries), (1, 1, 1));
    assert!(report.not_shown.iter().any(|s| s.contains("other")), "{report}");

    let rich = Options { scope, ..Options::default() };
    let (_folder, path) = made(&world, &rich, "one");
    let report = check(&path, &trusted(&world));
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    assert_eq!(report.counts.decisions, 1);
    assert!(report.counts.artifacts >= 6, "{report}");
}

#[conforms::conforms("HK-18.3-2")]
#[test]
fn a_store_without_keys_is_never_valid_and_says_what_it_has() {
    let world = World::without_keys(2);
    for (scope, events) in [(Scope::Task, world.events.len() as u64), (Scope::Receipt(world.receipts[0]), 2)]
    {
        let (_folder, path) = made(&world, &Options { scope, ..Options::default() }, "a.zip");
        let report = check(&path, &trusted(&world));
        let Verdict::Unverifiable { why } = &report.verdict else { panic!("{report}") };
        assert!(why.contains("hash_chained"), "{why}");
        assert_eq!(report.counts.events, events);
        assert!(report.counts.decisions > 0, "a person's key is not the store's: {report}");
    }
}

#[test]
fn values_can_be_withheld_or_erased_and_everything_still_verifies() {
    let mut world = World::new(1, 4);
    let (_folder, path) = made(&world, &Options { redact: Redact::All, ..Options::default() }, "a.zip");
    let report = check(&path, &trusted(&world));
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    assert_eq!((report.counts.disclosed, report.counts.redacted), (0, world.disclosures.len() as u64));

    let erased = *world.disclosures.keys().next().unwrap();
    world.disclosures.remove(&erased);
    let (_folder, path) = made(&world, &Options::default(), "a");
    let report = check(&path, &trusted(&world));
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    assert_eq!(report.counts.redacted, 1);
}

#[test]
fn what_is_missing_from_the_store_is_told_and_the_bundle_is_incomplete() {
    let mut world = World::new(2, 0);
    let executing =
        world.entries.iter().position(|e| e.state_from == gate::KernelState::Executing).unwrap() as u64 + 1;
    world.ours.retain(|number| *number != executing);
    let (_folder, path) = made(&world, &Options::default(), "a.zip");
    let report = check(&path, &trusted(&world));
    assert_eq!(report.exit_code(), 7, "{report}");

    let mut world = World::new(2, 0);
    let receipt = world
        .artifacts
        .iter()
        .find(|(_, b)| b.starts_with(b"{\"payload\"") && b.windows(8).any(|w| w == b"in-toto+"))
        .map(|(d, _)| *d)
        .unwrap();
    world.artifacts.remove(&receipt);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let exported = export_to(&world, world.signers(), world.task, &Options::default(), &path).unwrap();
    assert_eq!(exported.left_out.len(), 1, "{:?}", exported.left_out);
    let report = check(&path, &trusted(&world));
    let Verdict::Incomplete { missing } = &report.verdict else { panic!("{report}") };
    assert!(missing[0].contains("receipt"), "{missing:?}");
}

#[test]
fn an_export_refuses_what_it_cannot_prove() {
    let world = World::new(1, 0);
    let other = World::new(1, 0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let nobody = model::TaskId::fresh(&world.clock, &world.dice);
    assert!(export_to(&world, world.signers(), nobody, &Options::default(), &path).is_err());
    let unknown = Scope::Receipt(model::ReceiptId::fresh(&world.clock, &world.dice));
    let options = Options { scope: unknown, ..Options::default() };
    assert!(matches!(
        export_to(&world, world.signers(), world.task, &options, &path),
        Err(proof::Error::Unknown { .. })
    ));
    assert!(matches!(
        export_to(&world, None, world.task, &Options::default(), &path),
        Err(proof::Error::Signing(_))
    ));
    let foreign = proof::Signers { receipt: &other.keys.approval, manifest: &other.keys.manifest };
    assert!(export_to(&world, Some(foreign), world.task, &Options::default(), &path).is_err());
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing half-made stays");
    std::fs::write(&path, b"mine").unwrap();
    let taken = export_to(&world, world.signers(), world.task, &Options::default(), &path);
    assert!(matches!(taken, Err(proof::Error::Exists { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

/// The statement of a receipt, as a stranger reads it out of the bundle.
fn statement(world: &World, scope: Scope, name: &str) -> serde_json::Value {
    let (_folder, path) = made(world, &Options { scope, ..Options::default() }, "a");
    let bytes = std::fs::read(path.join(format!("receipts/{}{name}", world.receipts[0]))).unwrap();
    match seal::dsse::Envelope::parse(&bytes) {
        Ok(envelope) => serde_json::from_slice(&envelope.payload).unwrap(),
        Err(_) => serde_json::from_slice(&bytes).unwrap(),
    }
}

#[conforms::conforms("HK-18.4-1", "HK-25.3-3")]
#[test]
fn a_receipt_in_a_bundle_carries_every_reference_and_says_how_verifiable_it_is() {
    let world = World::new(1, 0);
    let signed = statement(&world, Scope::Receipt(world.receipts[0]), ".dsse.json");
    let receipt = &signed["predicate"];
    assert_eq!(receipt["verifiability"], "signed");
    for digest in
        ["policy_result_sha256", "approval_packet_sha256", "capability_grant_sha256", "audit_entry_sha256"]
    {
        assert_eq!(receipt["authorized"][digest]["value"].as_str().map(str::len), Some(64), "{digest}");
    }
    assert!(receipt["environment_ref"]["value"]["sha256"].is_string(), "environment");
    assert!(receipt["decision_ref"].is_object() && receipt["replay_class"].is_string());
    assert_eq!(receipt["rollback"]["reversibility"], "reversible");
    assert!(receipt["input_refs"].is_array() && receipt["output_refs"].is_array());
    let bare = World::without_keys(1);
    assert_eq!(statement(&bare, Scope::Task, ".json")["predicate"]["verifiability"], "hash_chained");
}

/// What a receiver does a month later: the newer bundle goes on from the checkpoint they hold.
#[test]
fn a_newer_bundle_goes_on_from_the_checkpoint_that_the_receiver_holds_and_another_history_is_refused() {
    let older = World::new(1, 2);
    let (_folder, path) = made(&older, &Options::default(), "older");
    let held = std::fs::read(path.join("log/checkpoint")).unwrap();
    let mut newer = World::new(1, 2);
    let before = newer.notes();
    newer.others.extend(before);
    newer.goal("one event more");
    for scope in [Scope::Task, Scope::Receipt(newer.receipts[0])] {
        let options = Options { scope, since: Some(held.clone()), ..Options::default() };
        let (_folder, path) = made(&newer, &options, "newer.zip");
        let report = proof::verify_since(&path, &trusted(&newer), Some(&held)).unwrap();
        assert_eq!(report.verdict, Verdict::Valid, "{report}");
        let said = report.proven.iter().any(|s| s.contains("since the checkpoint you hold"));
        assert!(said, "{report}");
        assert_eq!(check(&path, &trusted(&newer)).verdict, Verdict::Valid);
    }
    let (_plain, plain) = made(&newer, &Options::default(), "plain.zip");
    let report = proof::verify_since(&plain, &trusted(&newer), Some(&held)).unwrap();
    let Verdict::Incomplete { missing } = &report.verdict else { panic!("{report}") };
    assert!(missing[0].contains("--since"), "{missing:?}");

    // Another history of the same size, signed by the same key: it was rewritten.
    let mut forked = World::new(1, 2);
    forked.others.reverse();
    let (_fork, fork) = made(&forked, &Options::default(), "fork");
    let fork_note = std::fs::read(fork.join("log/checkpoint")).unwrap();
    let report = proof::verify_since(&path, &trusted(&older), Some(&fork_note)).unwrap();
    assert!(matches!(&report.verdict, Verdict::Invalid { why, .. } if why.contains("rewritten")), "{report}");
    let options = Options { since: Some(fork_note), ..Options::default() };
    let folder = tempfile::tempdir().unwrap();
    let refused = export_to(&newer, newer.signers(), newer.task, &options, &folder.path().join("x.zip"));
    assert!(matches!(refused, Err(proof::Error::Since { .. })), "{refused:?}");
    // A checkpoint that is ahead of the bundle, and one that is none.
    let (_n, ahead) = made(&newer, &Options::default(), "ahead");
    let ahead = std::fs::read(ahead.join("log/checkpoint")).unwrap();
    let report = proof::verify_since(&path, &trusted(&older), Some(&ahead)).unwrap();
    assert_eq!(report.exit_code(), 7, "{report}");
    assert_eq!(proof::verify_since(&path, &trusted(&older), Some(b"nonsense")).unwrap().exit_code(), 5);
    for since in [ahead, b"nonsense".to_vec()] {
        let options = Options { since: Some(since), ..Options::default() };
        let folder = tempfile::tempdir().unwrap();
        let refused = export_to(&older, older.signers(), older.task, &options, &folder.path().join("x.zip"));
        assert!(matches!(refused, Err(proof::Error::Since { .. })), "{refused:?}");
    }
}

#[test]
fn a_span_of_history_is_proven_without_the_rest() {
    let world = World::new(2, 6);
    let size = world.events.len() as u64;
    for (first, last) in [(1, 1), (5, 20), (size - 2, size), (1, size)] {
        let options = Options { scope: Scope::Span { first, last }, ..World::everything() };
        let (_folder, path) = made(&world, &options, "span.zip");
        let report = check(&path, &trusted(&world));
        let receipts = report.counts.receipts;
        // Without a receipt in the span the log key alone vouches for no other key.
        assert_eq!(report.exit_code(), if receipts > 0 { 0 } else { 6 }, "{report}");
        assert_eq!(report.counts.events, last - first + 1);
        let manifest = Trust::from(world.keys.manifest.public());
        assert_eq!(check(&path, &[manifest]).verdict, Verdict::Valid, "{report}");
    }
    for (first, last) in [(0, 1), (2, 1), (1, size + 1)] {
        let options = Options { scope: Scope::Span { first, last }, ..Options::default() };
        let folder = tempfile::tempdir().unwrap();
        let none = export_to(&world, world.signers(), world.task, &options, &folder.path().join("x"));
        assert!(matches!(none, Err(proof::Error::Unknown { what: "span", .. })), "{none:?}");
    }
}

#[test]
fn a_key_is_named_by_itself_its_id_or_its_fingerprint_and_no_other_key_is_meant() {
    let world = World::new(1, 0);
    let (_folder, path) = made(&world, &Options::default(), "a.zip");
    for (key, code) in [(&world.keys.manifest, 0), (&seal::SeedSigner::from_seed([99; 32]), 6)] {
        let key = key.public();
        let named =
            [Trust::from(key), Trust::KeyId(key.keyid()), Trust::Ssh(seal::sshsig::fingerprint(&key))];
        for trust in named {
            let report = check(&path, &[trust]);
            assert_eq!(report.exit_code(), code, "{report}");
        }
    }
}

#[test]
fn an_artifact_may_be_longer_than_what_is_read_by_program() {
    let mut world = World::new(1, 0);
    world.artifact(model::artifact::ArtifactKind::FileSnapshot, vec![b'x'; 1_200_000]);
    let (_folder, path) = made(&world, &World::everything(), "a.zip");
    let report = check(&path, &trusted(&world));
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    let printed = report.to_string();
    for title in ["valid: whole and consistent", "\nproven:\n- ", "\nonly asserted:\n- "] {
        assert!(printed.contains(title), "{printed}");
    }
}

#[test]
fn a_yes_holds_up_to_the_end_of_its_question_and_not_a_moment_longer() {
    let asked = |patience_ms: i64| {
        let mut world = World::new(0, 1);
        world.patience_ms = patience_ms;
        world.act(0);
        let (_folder, path) = made(&world, &Options::default(), "a.zip");
        (check(&path, &trusted(&world)), world)
    };
    // How long the person took, from what they signed; the same calls give the same times.
    let (report, world) = asked(3_600_000);
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
    let at = |bytes: &[u8], name: &str| {
        serde_json::from_slice::<serde_json::Value>(bytes).ok().and_then(|value| value[name].as_i64())
    };
    let signed = |bytes: &Vec<u8>| seal::dsse::Envelope::parse(bytes).ok().map(|e| e.payload);
    let decided = world.artifacts.values().filter_map(signed).find_map(|b| at(&b, "decided_at")).unwrap();
    let began = world.artifacts.values().find_map(|b| at(b, "requested_at")).unwrap();
    assert!(decided > began);
    assert_eq!(asked(decided - began).0.verdict, Verdict::Valid);
    let (late, _) = asked(decided - began - 1);
    assert!(matches!(&late.verdict, Verdict::Invalid { why, .. } if why.contains("time")), "{late}");
}
