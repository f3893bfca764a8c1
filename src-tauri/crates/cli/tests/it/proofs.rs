//! Proofs, copies and checks, on the command line.

use crate::bench::{Bench, text};
use serde_json::{Value, json};

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
    let own = bench.run(&["proof", "verify", proof]).ends_with(0).out;
    assert!(own.contains("this store's own"), "{own}");
    let elsewhere = bench.path("elsewhere");
    bench.run(&["proof", "verify", proof, "--home", elsewhere.to_str().unwrap()]).ends_with(6);
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

/// Something that is done to a bundle.
type Change<'c> = &'c dyn Fn(&mut Value);

/// `{"a":1}` with its keys in order and nothing between: what is hashed.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let sorted: std::collections::BTreeMap<&String, &Value> = fields.iter().collect();
            let parts: Vec<String> =
                sorted.iter().map(|(key, value)| format!("{}:{}", json!(key), canonical(value))).collect();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

#[conforms::conforms("KS-3.9-1", "KS-4.8-1", "KS-5.6-1", "KS-7.1-1", "KS-7.2-1")]
#[test]
fn every_decision_of_the_gate_is_exported_and_whatever_is_changed_in_it_is_found() {
    let bench = Bench::new();
    bench.tidied();
    bench.run(&["halt", "--reason", "enough"]).ends_with(0);
    bench.run(&["boot"]).ends_with(0);
    let state = bench.run(&["gate", "state", "--json"]).ends_with(0).json();
    let head = text(&state["head"]);
    let path = bench.path("gate.json");
    bench.run(&["gate", "export", "-o", path.to_str().unwrap()]).ends_with(0);
    let bundle: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for field in ["exported_at_ms", "kernel_id", "ledger_entries", "root_hash", "variant"] {
        assert!(!bundle[field].is_null(), "`{field}`");
    }
    assert_eq!(bundle["root_hash"], state["head"], "the hash of the last entry");
    let entries = bundle["ledger_entries"].as_array().unwrap();
    assert_eq!(json!(entries.len()), state["entries"], "all of them");
    for decision in ["ALLOW", "DENY", "HALT"] {
        assert!(entries.iter().any(|entry| entry["decision"] == decision), "no {decision}");
    }
    // Replayed as the document says it, without the code that wrote it.
    let mut head_so_far = "0".repeat(64);
    for entry in entries {
        assert_eq!(entry["prev_hash"], json!(head_so_far));
        let mut rest = entry.clone();
        rest.as_object_mut().unwrap().remove("entry_hash");
        head_so_far = model::Digest::of(canonical(&rest).as_bytes()).to_string();
        assert_eq!(entry["entry_hash"], json!(head_so_far));
    }
    assert_eq!(head_so_far, head);
    let verified = |bundle: &Value, root: &str| {
        let changed = bench.path("changed.json");
        std::fs::write(&changed, canonical(bundle) + "\n").unwrap();
        bench.run(&["gate", "verify", changed.to_str().unwrap(), "--root", root]).code
    };
    assert_eq!(verified(&bundle, &head), 0);
    assert_eq!(verified(&bundle, &"0".repeat(64)), 5, "another root was expected");
    let last = entries.len() - 1;
    let changes: [(&str, Change<'_>); 6] = [
        ("a field", &|b| b["ledger_entries"][2]["intent"] = json!("other")),
        ("a hash", &|b| b["ledger_entries"][2]["entry_hash"] = b["ledger_entries"][1]["entry_hash"].clone()),
        ("one dropped", &|b| drop(b["ledger_entries"].as_array_mut().unwrap().remove(3))),
        ("two swapped", &|b| b["ledger_entries"].as_array_mut().unwrap().swap(3, 4)),
        ("the end cut off", &|b| drop(b["ledger_entries"].as_array_mut().unwrap().remove(last))),
        ("its root", &|b| b["root_hash"] = b["ledger_entries"][0]["entry_hash"].clone()),
    ];
    for (what, change) in changes {
        let mut changed = bundle.clone();
        change(&mut changed);
        assert_eq!(verified(&changed, &head), 5, "{what}");
    }
}
