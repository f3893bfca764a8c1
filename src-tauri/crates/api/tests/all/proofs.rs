//! Proofs, evidence, copies, the ledger's own check.

use crate::home::Home;
use ledger::CheckpointKind;
use seal::cosignature::WitnessKey;
use seal::note::Note;
use seal::{Digest, SeedSigner, Signer as _};
use serde_json::json;
use tempfile::TempDir;
use wire::Code;

#[conforms::conforms("HK-25.3-2", "HK-25.3-5", "HK-26-7")]
#[test]
fn a_task_is_proven_to_whoever_trusts_the_key_and_to_nobody_else() {
    let home = Home::new(60);
    let (task, receipt) = home.with_an_act("write a");
    let out = TempDir::new().expect("a folder");
    let key = home.world.keys.log_signer().public().to_pem();
    let asked = [json!({ "task": task.to_string() }), json!({ "receipt": receipt })];
    for (n, mut params) in asked.into_iter().enumerate() {
        for name in [format!("proof{n}.zip"), format!("proof{n}")] {
            let path = out.path().join(name);
            params["path"] = json!(path);
            let made = home.must("proof.export", params.clone());
            assert!(made["files"].as_u64().is_some_and(|files| files > 3), "{made}");
            let report = home.must("proof.verify", json!({ "path": path, "trust": [key] }));
            assert_eq!(report["verdict"], "valid", "{report}");
            assert_eq!(report["task_id"], task.to_string());
            // The store knows its own, and whoever has another key does not.
            let own = home.must("proof.verify", json!({ "path": path }));
            assert_eq!(
                (&own["verdict"], &own["trusted_as"]),
                (&json!("valid"), &json!(["this store"])),
                "{own}"
            );
            let other = testkit::TestKeys::new(0x11).log_signer().public().to_pem();
            let blind = home.must("proof.verify", json!({ "path": path, "trust": [other] }));
            assert_eq!(blind["verdict"], "unverifiable", "{blind}");
            let again = home.ask("proof.export", params.clone()).expect_err("the place is taken");
            assert_eq!(again.code, Code::Conflict);
        }
    }
}

#[test]
fn a_proof_with_one_byte_changed_is_invalid() {
    let home = Home::new(61);
    let (task, _) = home.with_an_act("write a");
    let out = TempDir::new().expect("a folder");
    let path = out.path().join("proof.zip");
    home.must("proof.export", json!({ "task": task.to_string(), "path": path }));
    let mut bytes = std::fs::read(&path).expect("a proof");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    let key = home.world.keys.log_signer().public().to_pem();
    let report = home.must("proof.verify", json!({ "path": path, "trust": [key] }));
    assert_eq!(report["verdict"], "invalid", "{report}");
}

#[test]
fn the_gates_evidence_verifies_against_the_head_and_not_against_another() {
    let home = Home::new(62);
    home.with_an_act("write a");
    let out = TempDir::new().expect("a folder");
    let path = out.path().join("gate.json");
    let made = home.must("gate.export", json!({ "path": path }));
    let state = home.must("gate.state", json!({}));
    assert_eq!(state["state"], "IDLE", "{state}");
    assert_eq!((&made["root"], &made["entries"]), (&state["head"], &state["entries"]));
    let valid = home.must("gate.verify", json!({ "path": path, "root": made["root"] }));
    assert_eq!(valid["verdict"], "valid", "{valid}");
    assert_eq!(home.must("gate.verify", json!({ "path": path }))["verdict"], "unverifiable");
    let other = json!({ "path": path, "root": "00".repeat(32) });
    assert_eq!(home.must("gate.verify", other)["verdict"], "invalid");
}

#[test]
fn a_copy_is_put_back_and_is_the_same_store() {
    let home = Home::new(63);
    let large = "x".repeat(200_000);
    home.world.file("large.txt", &large);
    let taken = home.must("artifacts.ingest", json!({ "path": home.world.path("large.txt") }));
    home.with_an_act("write a");
    home.must("ledger.checkpoint", json!({}));
    let out = TempDir::new().expect("a folder");
    let (copy, back) = (out.path().join("copy"), out.path().join("back"));
    let made = home.must("store.backup", json!({ "to": copy }));
    assert_eq!(made["missing"], json!([]));
    let full = home.ask("store.backup", json!({ "to": copy })).expect_err("not empty");
    assert_eq!(full.code, Code::Conflict);
    let restored = home.must("store.restore", json!({ "from": copy, "to": back }));
    assert_eq!(restored["verdict"], "valid", "{restored}");
    let reader = ledger::Reader::open(&back).expect("a store");
    assert_eq!(reader.log_head().expect("a log"), made["log_seq"].as_u64().expect("a place"));
    let digest: seal::Digest = taken["sha256"].as_str().expect("a digest").parse().expect("a digest");
    let none = std::sync::Arc::new(artifacts::NoInline);
    let store = artifacts::Store::open_for_reading(&back, none, std::sync::Arc::new(model::fault::NoFaults));
    assert_eq!(store.read(&digest).expect("the large file"), large.as_bytes());
}

#[test]
fn a_damaged_copy_is_not_put_back() {
    let home = Home::new(64);
    home.with_an_act("write a");
    let out = TempDir::new().expect("a folder");
    let (copy, back) = (out.path().join("copy"), out.path().join("back"));
    home.must("store.backup", json!({ "to": copy }));
    let path = copy.join(ledger::FILE);
    let mut bytes = std::fs::read(&path).expect("a ledger");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    let error = home.ask("store.restore", json!({ "from": copy, "to": back })).expect_err("damaged");
    assert_eq!((error.code, error.exit_code()), (Code::Damaged, 5));
    assert!(!back.join(ledger::FILE).exists());
}

#[test]
fn the_ledger_is_valid_under_a_checkpoint_and_unverifiable_without() {
    let home = Home::unsigned(65);
    home.world.script("nothing", vec![testkit::done("nothing")]);
    let before = home.must("ledger.verify", json!({}));
    assert_eq!(before["verdict"], "unverifiable", "{before}");
    let made = home.must("ledger.checkpoint", json!({}));
    assert!(made["checkpoints"].as_array().expect("some").iter().any(|c| c["kind"] == "global"));
    let after = home.must("ledger.verify", json!({}));
    assert_eq!(after["verdict"], "valid", "{after}");
    home.world.keys.lock(true);
    assert_eq!(home.ask("ledger.checkpoint", json!({})).expect_err("locked").code, Code::KeyLocked);
}

#[test]
fn a_head_that_another_machine_signed_is_proven_by_its_name_to_whoever_names_its_key() {
    let home = Home::new(64);
    let (task, _) = home.with_an_act("write a");
    let out = TempDir::new().expect("a folder");
    let export = |name: &str| {
        let path = out.path().join(name);
        home.must("proof.export", json!({ "task": task.to_string(), "path": path }));
        path
    };
    // The first one states how things stand, so that the log is signed once more.
    export("before.zip");
    let kernel = home.world.kernel();
    let head = kernel.reader().last_checkpoint(CheckpointKind::Global, None).expect("it is read");
    let head = head.expect("it was signed");
    let signer = SeedSigner::from_seed([9; 32]);
    let name = format!("hermit.local/node/{}", Digest::of(b"another machine"));
    let key = WitnessKey::new(&name, signer.public()).expect("a name");
    let text = Note::parse(&head.note).expect("a note").text;
    let line = key.cosign(&text, 1_790_000_000, &signer).expect("it signs").to_string();
    let kept = kernel.keep_cosignature(&head.origin, head.size, head.root, &key.to_string(), &line);
    kept.expect("it is kept");
    let path = export("after.zip");
    let log = home.world.keys.log_signer().public().to_pem();
    let says = |trust: &[String], list: &str| {
        let report = home.must("proof.verify", json!({ "path": path, "trust": trust }));
        assert_eq!(report["verdict"], "valid", "{report}");
        let said = report[list].as_array().expect("a list").iter();
        said.filter_map(|one| one.as_str()).filter(|one| one.contains(&name)).count()
    };
    assert_eq!(says(&[log.clone(), key.to_string()], "proven"), 1);
    assert_eq!(says(std::slice::from_ref(&log), "proven"), 0, "a key that nobody named proves nothing");
    // Who holds another key of that name finds nothing by it.
    let other = WitnessKey::new(&name, SeedSigner::from_seed([8; 32]).public()).expect("a name");
    assert_eq!(says(&[log.clone(), other.to_string()], "proven"), 0);
    assert_eq!(says(&[log, other.to_string()], "not_shown"), 1);
}
