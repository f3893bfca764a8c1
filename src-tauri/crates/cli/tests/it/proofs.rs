//! Proofs, copies and checks, on the command line.

use crate::bench::{Bench, text};

#[test]
fn a_proof_is_valid_for_who_trusts_the_key_unverifiable_for_others_and_invalid_when_changed() {
    let bench = Bench::new();
    let (task, receipt) = bench.tidied();
    let proof = bench.path("proof.zip");
    let proof = proof.to_str().unwrap();
    bench.run(&["proof", "export", &task, "-o", proof]).ends_with(0);
    let keys = bench.run(&["keys", "list", "--json"]).ends_with(0).json();
    let log = keys["keys"].as_array().unwrap().iter().find(|k| k["purpose"] == "log").unwrap();
    bench.run(&["proof", "verify", proof, "--trust", &text(&log["keyid"])]).ends_with(0);
    bench.run(&["proof", "verify", proof]).ends_with(6);
    let mut bytes = std::fs::read(proof).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let changed = bench.path("changed.zip");
    std::fs::write(&changed, bytes).unwrap();
    bench.run(&["proof", "verify", changed.to_str().unwrap(), "--trust", &text(&log["keyid"])]).ends_with(5);
    bench.run(&["explain", &receipt]).ends_with(0);
    bench.run(&["context", &task]).ends_with(0);
    assert!(bench.run(&["search", "tidy"]).ends_with(0).out.contains("task_"));
}

#[test]
fn a_ledger_verifies_and_a_copy_of_it_is_restored_into_an_empty_folder() {
    let bench = Bench::new();
    let (task, _) = bench.tidied();
    bench.run(&["ledger", "verify"]).ends_with(0);
    bench.run(&["ledger", "rebuild"]).ends_with(0);
    bench.run(&["ledger", "stats"]).ends_with(0);
    let copy = bench.path("copy");
    bench.run(&["backup", copy.to_str().unwrap()]).ends_with(0);
    let other = bench.path("other");
    let restored = bench.run(&["restore", copy.to_str().unwrap(), "--home", other.to_str().unwrap()]);
    assert!(matches!(restored.code, 0 | 6), "{}{}", restored.out, restored.err);
    let shown =
        bench.run(&["task", "show", &task, "--json", "--home", other.to_str().unwrap()]).ends_with(0).json();
    assert_eq!(shown["row"]["status"], "completed");
    let gate = bench.path("gate.json");
    bench.run(&["gate", "export", "-o", gate.to_str().unwrap()]).ends_with(0);
    let checked = bench.run(&["gate", "verify", gate.to_str().unwrap()]);
    assert!(matches!(checked.code, 0 | 6), "{}{}", checked.out, checked.err);
}
