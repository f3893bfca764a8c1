//! Keys that are made: broken off wherever that can break off, and in a store that has others.

use crate::bench::{APPROVAL, Bench, VAULT, copy};
use serde_json::Value;

/// Every window of key making: the vault, the file that names the keys, the approval key, the ledger.
const WINDOWS: [&str; 4] = ["key.stage", "key.mark", "key.promote", "key.register"];

pub fn purposes(bench: &Bench) -> Vec<String> {
    let listed = bench.run(&["keys", "list", "--json"]).ends_with(0).json();
    let keys = listed["keys"].as_array().unwrap();
    keys.iter().map(|key| key["purpose"].as_str().unwrap().to_owned()).collect()
}

fn fact(bench: &Bench, name: &str) -> Value {
    let facts = bench.run(&["doctor", "--json"]).json();
    let facts = facts["facts"].as_array().unwrap();
    facts.iter().find(|fact| fact["name"] == name).unwrap_or_else(|| panic!("no `{name}`")).clone()
}

#[test]
fn where_nothing_was_begun_the_doctor_finds_no_trouble_and_makes_nothing() {
    let bench = Bench::bare();
    let doctor = bench.run(&["doctor", "--json"]).ends_with(0).json();
    for fact in doctor["facts"].as_array().unwrap() {
        assert_ne!(fact["level"], "trouble", "{fact}");
    }
    assert!(fact(&bench, "folder")["value"].as_str().unwrap().ends_with(", not made yet"), "{doctor}");
    assert!(!bench.home().exists());
}

#[test]
fn a_key_making_that_broke_off_anywhere_is_finished_by_trying_again() {
    for window in WINDOWS {
        for side in ["before", "after"] {
            for how in ["abort", "error"] {
                let (fault, bench) = (format!("{window}:{side}:{how}"), Bench::bare());
                let broke = bench.keys_with(&[("HERMIT_FAULT", &fault)]);
                assert_ne!(broke.code, 0, "{fault} did not fire: {}", broke.out);
                let again = bench.keys();
                let done_before = fault.starts_with("key.register:after");
                assert_eq!(again.code, i32::from(done_before), "{fault}: {}{}", again.out, again.err);
                assert_eq!(purposes(&bench), ["log", "receipt", "manifest", "approval"], "{fault}");
                for name in ["vault", "approval key"] {
                    assert_ne!(fact(&bench, name)["level"], "trouble", "{fault}: {}", fact(&bench, name));
                }
                bench.run(&["ledger", "checkpoint"]).ends_with(0);
            }
        }
    }
}

#[test]
fn a_yes_can_be_given_with_keys_that_a_second_try_took_up() {
    let bench = Bench::bare();
    assert_ne!(bench.keys_with(&[("HERMIT_FAULT", "key.register:before:abort")]).code, 0);
    for name in ["vault", "approval key"] {
        let fact = fact(&bench, name);
        assert!(fact["advice"].as_str().unwrap().contains("once more: it takes"), "{fact}");
    }
    // Another passphrase is not the one that was chosen, and the answer says which file it is about.
    std::fs::write(bench.path("approval"), "another passphrase").unwrap();
    let wrong = bench.keys();
    assert_eq!(wrong.code, 4, "{}", wrong.err);
    assert!(wrong.err.contains("approval.key") && wrong.err.contains("earlier"), "{}", wrong.err);
    std::fs::write(bench.path("approval"), APPROVAL).unwrap();
    bench.keys().ends_with(0);
    bench.tidied();
    bench.run(&["ledger", "verify"]).ends_with(0);
}

#[test]
fn a_restored_store_asks_for_its_own_keys_and_gets_no_new_ones() {
    let bench = Bench::new();
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    let copied = bench.path("copied").to_str().unwrap().to_owned();
    let made = bench.run(&["backup", &copied, "--json"]).ends_with(0).json();
    assert_eq!(made["keys_left_out"], serde_json::json!(["vault.key", "keys.json", "approval.key"]));
    for verb in ["backup", "restore"] {
        let help = bench.run(&[verb, "--help"]).ends_with(0).out;
        assert!(help.contains("keys.json"), "{help}");
    }
    let home = bench.home().to_str().unwrap().to_owned();
    std::fs::rename(bench.home(), bench.path("aside")).unwrap();
    let restored = bench.run(&["restore", &copied]);
    assert!(restored.out.contains("Put vault.key, keys.json, approval.key back"), "{}", restored.out);

    for name in ["vault", "approval key"] {
        let fact = fact(&bench, name);
        assert_eq!(fact["level"], "trouble", "{fact}");
        assert!(fact["advice"].as_str().unwrap().starts_with("put "), "{fact}");
    }
    let verified = bench.run(&["ledger", "verify"]).code;
    let before: Vec<_> = names(&home);
    let refused = bench.keys();
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    for said in ["keys.json", "vault.key", "approval.key", "a backup holds no keys"] {
        assert!(refused.err.contains(said), "`{said}` is missing in: {}", refused.err);
    }
    assert_eq!(names(&home), before, "nothing was made");
    assert_eq!(bench.run(&["ledger", "verify"]).code, verified);

    for name in ["keys.json", "vault.key", "approval.key"] {
        copy(&bench.path("aside").join(name), &bench.home());
    }
    bench.run(&["ledger", "verify"]).ends_with(0);
    bench.tidied();
    assert_ne!(fact(&bench, "vault")["level"], "trouble");
    // One of them alone is missed, too.
    std::fs::remove_file(bench.home().join("approval.key")).unwrap();
    let refused = bench.keys();
    assert!(refused.err.contains("approval.key missing"), "{}", refused.err);
    assert!(!bench.home().join("approval.key").exists());
}

fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.contains("key"));
    names.sort();
    names
}

#[test]
fn passphrases_that_protect_nothing_leave_nothing_behind() {
    let bench = Bench::bare();
    let refused = |vault: &str, approval: &str, said: &str| {
        std::fs::write(bench.path("vault"), vault).unwrap();
        std::fs::write(bench.path("approval"), approval).unwrap();
        let ran = bench.keys().ends_with(2);
        assert!(ran.err.contains(said), "{}", ran.err);
        for name in ["vault.key", "keys.json", "approval.key"] {
            assert!(!bench.home().join(name).exists(), "{name} after `{vault}` and `{approval}`");
        }
    };
    refused("short", APPROVAL, "at least 8 characters");
    refused(VAULT, "short", "at least 8 characters");
    refused(VAULT, VAULT, "two different passphrases");
}

#[test]
fn a_number_under_which_no_passphrase_is_open_is_told_with_what_to_do_and_makes_no_key() {
    let bench = Bench::bare();
    let words = ["keys", "init", "--store", "file", "--passphrase-fd", "97"];
    let refused = bench.told(&words, &[VAULT], &[]).ends_with(2);
    for said in ["file descriptor 97", "give 0 and the standard input"] {
        assert!(refused.err.contains(said), "`{said}` is missing in: {}", refused.err);
    }
    assert!(!bench.home().join("vault.key").exists() && !bench.home().join("keys.json").exists());
    // Of the standard input each takes a line; where there is no second one, it is empty.
    let words = ["keys", "init", "--store", "file", "--passphrase-fd", "0", "--approval-passphrase-fd", "0"];
    let refused = bench.told(&words, &[VAULT], &[]).ends_with(2);
    assert!(refused.err.contains("at least 8 characters"), "{}", refused.err);
    assert!(!bench.home().join("vault.key").exists());
}
