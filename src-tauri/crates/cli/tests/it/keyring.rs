//! Keys that follow others: by the program, as a person does it, and broken off wherever it can break off.

use crate::bench::{Bench, text};
use serde_json::Value;
use std::path::Path;

fn keys(bench: &Bench, all: bool) -> Vec<Value> {
    let mut words = vec!["keys", "list", "--json"];
    if all {
        words.push("--all");
    }
    bench.run(&words).ends_with(0).json()["keys"].as_array().unwrap().clone()
}

fn key(bench: &Bench, purpose: &str) -> String {
    text(&keys(bench, false).iter().find(|k| k["purpose"] == purpose).unwrap()["keyid"])
}

fn export(bench: &Bench, task: &str, name: &str) -> String {
    let path = bench.path(name).to_str().unwrap().to_owned();
    bench.run(&["proof", "export", task, "-o", &path]).ends_with(0);
    path
}

fn verdict(bench: &Bench, proof: &str, trust: &str) -> (i32, Value) {
    let ran = bench.run(&["proof", "verify", proof, "--trust", trust, "--json"]);
    (ran.code, ran.json())
}

#[conforms::conforms("HK-25.3-4")]
#[test]
fn who_trusts_an_old_key_is_led_to_the_new_one_and_what_the_old_one_signed_stays_verifiable() {
    let bench = Bench::new();
    let (task, receipt) = bench.tidied();
    let before = export(&bench, &task, "before.zip");
    let old: Vec<String> = ["log", "receipt", "manifest"].iter().map(|p| key(&bench, p)).collect();
    let rotated = bench.run(&["keys", "rotate", "--yes"]).ends_with(0);
    assert!(rotated.out.contains("signed by both"), "{}", rotated.out);
    bench.run(&["keys", "rotate", "--yes"]).ends_with(0);
    for (purpose, old) in ["log", "receipt", "manifest"].iter().zip(&old) {
        assert_ne!(&key(&bench, purpose), old);
    }
    assert_eq!(keys(&bench, false).len(), 4);
    assert_eq!(keys(&bench, true).len(), 10, "two keys followed for each of three purposes");
    let after = export(&bench, &task, "after.zip");
    // The old key leads to the new bundle through two steps, the new one to it directly.
    for trusted in [&old[2], &key(&bench, "manifest"), &old[1], &old[0], &key(&bench, "log")] {
        let (code, report) = verdict(&bench, &after, trusted);
        assert_eq!(code, 0, "{report}");
    }
    let (_, report) = verdict(&bench, &after, &old[2]);
    let proven = report["proven"].to_string();
    assert!(proven.contains("2 successions, each signed by the old key and by the new one"), "{proven}");
    // The bundle of before is as good as it was, for who trusts its keys.
    assert_eq!(verdict(&bench, &before, &old[2]).0, 0);
    assert_eq!(verdict(&bench, &before, &key(&bench, "manifest")).0, 6);
    // The receipt was signed by a key that was followed since.
    let shown = bench.run(&["receipts", "show", &receipt, "--json"]).ends_with(0).json();
    assert_eq!(shown["signature"], "holds");
    let report = bench.run(&["ledger", "verify", "--json"]).ends_with(0).json();
    assert_eq!(
        (report["verdict"].clone(), report["pinned"].clone()),
        ("valid".into(), true.into()),
        "{report}"
    );
    let stock = bench.path("stock");
    bench.run(&["proof", "export", &task, "-o", stock.to_str().unwrap()]).ends_with(0);
    let notes = std::fs::read_dir(stock.join("keys/rotations")).unwrap().count();
    assert_eq!(notes, 6);
}

#[test]
fn a_rotation_changed_swapped_or_left_out_is_refused() {
    let bench = Bench::new();
    let (task, _) = bench.tidied();
    let old = key(&bench, "manifest");
    bench.run(&["keys", "rotate", "--yes"]).ends_with(0);
    let folder = bench.path("proof");
    let words = folder.to_str().unwrap().to_owned();
    bench.run(&["proof", "export", &task, "-o", &words]).ends_with(0);
    assert_eq!(verdict(&bench, &words, &old).0, 0);
    let note = |n: u32| folder.join(format!("keys/rotations/{n}.note"));
    let whole = std::fs::read(note(3)).unwrap();
    let put = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).unwrap();
    let mut changed = whole.clone();
    changed[20] ^= 1;
    put(&note(3), &changed);
    assert_eq!(verdict(&bench, &words, &old).0, 5);
    put(&note(3), &std::fs::read(note(2)).unwrap());
    assert_eq!(verdict(&bench, &words, &old).0, 5);
    std::fs::remove_file(note(3)).unwrap();
    assert_eq!(verdict(&bench, &words, &old).0, 5);
    put(&note(3), &whole);
    assert_eq!(verdict(&bench, &words, &old).0, 0);
    put(&note(4), &whole);
    assert_eq!(verdict(&bench, &words, &old).0, 5);
}

#[test]
fn a_revoked_key_vouches_for_nothing_and_who_trusts_it_is_told() {
    let bench = Bench::new();
    let (task, _) = bench.tidied();
    let old = key(&bench, "manifest");
    let refused = bench.run(&["keys", "revoke", &old, "--reason", "stolen", "--yes", "--json"]).ends_with(1);
    assert!(refused.err.contains("hermit keys rotate"), "{}", refused.err);
    bench.run(&["keys", "rotate", "--yes"]).ends_with(0);
    let revoked =
        bench.run(&["keys", "revoke", &old, "--reason", "the laptop was stolen", "--yes"]).ends_with(0);
    assert!(revoked.out.contains("the laptop was stolen"), "{}", revoked.out);
    bench.run(&["keys", "revoke", &old, "--reason", "again", "--yes"]).ends_with(1);
    let proof = export(&bench, &task, "proof.zip");
    let (code, report) = verdict(&bench, &proof, &old);
    assert_eq!(code, 6);
    assert!(text(&report["reason"]).contains("revoked"), "{report}");
    assert_eq!(verdict(&bench, &proof, &key(&bench, "manifest")).0, 0);
    bench.run(&["ledger", "verify"]).ends_with(0);
}

#[test]
fn a_rotation_broken_off_anywhere_leaves_the_old_keys_or_the_new_ones_never_neither() {
    let bench = Bench::new();
    let vault = bench.path("vault").to_str().unwrap().to_owned();
    bench.run(&["run", "--help"]).ends_with(0);
    let mut ends = [0, 0];
    for point in ["key.stage", "key.rotate", "key.promote", "key.mark"] {
        for edge in ["before", "after"] {
            for death in ["abort", "error"] {
                let before = key(&bench, "log");
                let fault = format!("{point}:{edge}:{death}");
                let environment =
                    [("HERMIT_PASSPHRASE_FILE", vault.as_str()), ("HERMIT_FAULT", fault.as_str())];
                let ran = bench.run_with(&["keys", "rotate", "--yes"], &environment);
                assert_ne!(ran.code, 0, "{fault}: {}", ran.out);
                // Whatever is in force now signs, and everything verifies.
                bench.run(&["ledger", "checkpoint"]).ends_with(0);
                let report = bench.run(&["ledger", "verify", "--json"]).ends_with(0).json();
                assert_eq!(report["verdict"], "valid", "{fault}: {report}");
                let now = key(&bench, "log");
                ends[usize::from(now != before)] += 1;
                let recorded =
                    point == "key.promote" || point == "key.mark" || fault.starts_with("key.rotate:after");
                assert_eq!(now != before, recorded, "{fault}");
            }
        }
    }
    assert_eq!(ends, [6, 10], "both ends were seen");
    bench.run(&["keys", "rotate", "--yes"]).ends_with(0);
}

#[test]
fn the_approval_key_is_rotated_with_its_own_passphrase_and_old_yeses_stay_proven() {
    let bench = Bench::new();
    let (task, _) = bench.tidied();
    let (manifest, old) = (key(&bench, "manifest"), key(&bench, "approval"));
    std::fs::write(bench.path("new"), "another approval passphrase").unwrap();
    let (now, next) = (bench.path("approval"), bench.path("new"));
    let rotate = |fault: &str| bench.rotate_approval(&now, &next, fault);
    for fault in ["key.stage:after:abort", "key.rotate:before:abort"] {
        assert_ne!(rotate(fault).code, 0);
        bench.run(&["ledger", "checkpoint"]).ends_with(0);
        assert_eq!(key(&bench, "approval"), old, "{fault}");
    }
    assert_ne!(rotate("key.rotate:after:abort").code, 0);
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    assert_ne!(key(&bench, "approval"), old);
    assert!(!bench.home().join("approval.key.next").exists());
    let proof = export(&bench, &task, "proof.zip");
    let (code, report) = verdict(&bench, &proof, &manifest);
    assert_eq!(code, 0, "{report}");
    assert!(report["counts"]["decisions"].as_u64().unwrap() > 0, "{report}");
    // The old passphrase opens nothing any more.
    let refused = bench.rotate_approval(&now, &next, "");
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("is not the approval passphrase"), "{}", refused.err);
}

#[test]
fn a_name_that_is_trusted_makes_a_proof_valid_and_says_whose_key_it_was() {
    let bench = Bench::new();
    let (task, _) = bench.tidied();
    let proof = export(&bench, &task, "proof.zip");
    let public = bench.path("public");
    bench.run(&["keys", "export-public", "-o", public.to_str().unwrap()]).ends_with(0);
    assert!(public.join("manifest.pub.pem").is_file() && public.join("log.vkey").is_file());
    let other = bench.path("other");
    let home = ["--home", other.to_str().unwrap()];
    let ran = |words: &[&str]| bench.run(&[words, &home[..]].concat());
    ran(&["proof", "verify", &proof]).ends_with(6);
    let all = public.join("all.txt");
    ran(&["keys", "trust", all.to_str().unwrap(), "--name", "Ana"]).ends_with(0);
    let report = ran(&["proof", "verify", &proof, "--json"]).ends_with(0).json();
    assert_eq!(report["trusted_as"], serde_json::json!(["Ana"]), "{report}");
    let said = ran(&["proof", "verify", &proof]).ends_with(0);
    assert!(said.out.contains("a key you trust as Ana"), "{}", said.out);
    let listed = ran(&["keys", "trust", "--json"]).ends_with(0).json();
    assert_eq!(listed["keys"].as_array().unwrap().len(), 4);
    ran(&["keys", "trust", "--remove", "Ana"]).ends_with(0);
    ran(&["proof", "verify", &proof]).ends_with(6);
    ran(&["keys", "trust", "--remove", "Ana"]).ends_with(1);
    ran(&["keys", "trust", "no key at all", "--name", "B"]).ends_with(2);
}
