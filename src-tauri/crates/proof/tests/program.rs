//! `hermit-verify` as a person or a script calls it.
#![allow(clippy::disallowed_methods, reason = "this test runs the program")]

use crate::world::World;
use proof::{Options, export_to};
use seal::Signer as _;
use std::process::Command;

fn call(words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hermit-verify")).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_program_answers_with_words_json_and_the_exit_code_of_its_verdict() {
    let world = World::new(1, 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.zip");
    export_to(&world, world.signers(), world.task, &Options::default(), &path).unwrap();
    let file = path.to_str().unwrap();
    let key = folder.path().join("log.pem");
    std::fs::write(&key, world.keys.log.public().to_pem()).unwrap();
    let keyid = world.keys.manifest.public().keyid().to_string();
    for trust in [key.to_str().unwrap(), &keyid, &seal::sshsig::fingerprint(&world.keys.receipt.public())] {
        let (code, said, _) = call(&[file, "--trust", trust]);
        assert_eq!(code, 0, "{trust}: {said}");
        assert!(
            said.starts_with("valid: whole and consistent") && said.contains("\nonly asserted:\n"),
            "{said}"
        );
    }
    let (code, said, _) = call(&[file, &format!("--trust={keyid}"), "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &report["verdict"]), (0, &"valid".into()));
    assert_eq!(report["counts"]["receipts"], 1);
    assert_eq!(report["task_id"], world.task.to_string());
    let (code, said, _) = call(&["--json", file]);
    assert_eq!(code, 6, "{said}");

    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (code, said, _) = call(&[file, "--trust", &keyid]);
    assert_eq!(code, 5, "{said}");
    assert!(said.starts_with("invalid at "), "{said}");
}

#[test]
fn a_wrong_call_is_told_how_it_is_called() {
    for words in [
        &[][..],
        &["a", "b"],
        &["--what"],
        &["a", "--trust"],
        &["a", "--trust", "nonsense"],
        &["a", "--bitcoin-headers"],
        &["a", "--bitcoin-headers", "no-such-file"],
        &["a", "--trust-authority", "no-such-file"],
    ] {
        let (code, said, complaint) = call(words);
        assert_eq!((code, said.as_str()), (2, ""), "{words:?}");
        assert!(complaint.starts_with("hermit-verify: "), "{complaint}");
    }
    let (code, _, complaint) = call(&["no-such-file.zip"]);
    assert!(code == 2 && complaint.contains("no-such-file.zip"), "{complaint}");
    let (code, said, _) = call(&["--help"]);
    assert!(code == 0 && said.contains("exit codes: 0 valid, 5 invalid, 6 unverifiable, 7 incomplete"));
}

#[test]
fn headers_and_certificates_of_files_tell_what_clocks_prove() {
    use crate::blocks::{headers, in_a_block};
    let mut world = World::new(1, 1);
    world.stamp(1, |digest| vec![(model::anchor::AnchorClock::OpenTimestamps, in_a_block(digest))]);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (bundle, blocks, authority) = (path("bundle.zip"), path("blocks"), path("authority.der"));
    export_to(&world, world.signers(), world.task, &Options::default(), bundle.as_ref()).unwrap();
    std::fs::write(&blocks, headers(&world.anchors[0].requested.digest)).unwrap();
    std::fs::write(&authority, [0x30, 0]).unwrap();
    let keyid = world.keys.manifest.public().keyid().to_string();
    let (code, said, _) = call(&[&bundle, "--trust", &keyid]);
    assert!(code == 0 && said.contains("give headers of Bitcoin"), "{said}");
    let (code, said, _) = call(&[&bundle, "--trust", &keyid, "--bitcoin-headers", &blocks]);
    assert!(code == 0 && said.contains("existed before 2025-10-10 12:40:00 UTC"), "{said}");
    let (code, said, _) =
        call(&[&bundle, "--trust-authority", &authority, "--bitcoin-headers", &blocks, "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &report["proven_not_after"]), (6, &1_760_100_000_000_i64.into()), "{said}");
    assert_eq!(report["anchors"][0]["state"], "anchored");
    std::fs::write(&blocks, "no headers").unwrap();
    let (code, _, complaint) = call(&[&bundle, "--bitcoin-headers", &blocks]);
    assert!(code == 2 && complaint.contains("headers of Bitcoin"), "{complaint}");
}

/// Ten thousand events: how long, printed; bounds are for an unoptimised build on a busy machine.
#[test]
fn ten_thousand_events_are_exported_and_verified_in_bounded_time() {
    let world = World::new(3, 10_000);
    let folder = tempfile::tempdir().unwrap();
    for name in ["big.zip", "big"] {
        let path = folder.path().join(name);
        let begin = std::time::Instant::now();
        let exported = export_to(&world, world.signers(), world.task, &Options::default(), &path).unwrap();
        let made = begin.elapsed();
        let begin = std::time::Instant::now();
        let report = proof::verify(&path, &[proof::Trust::from(world.keys.log.public())]).unwrap();
        let checked = begin.elapsed();
        assert_eq!(report.exit_code(), 0, "{report}");
        println!(
            "{name}: {} files, {} bytes, exported in {made:?}, verified in {checked:?}",
            exported.files, exported.bytes
        );
        assert!(made.as_secs() < 60 && checked.as_secs() < 60, "{made:?} {checked:?}");
    }
}
