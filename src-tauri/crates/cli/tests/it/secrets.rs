//! Secrets by the program: piped in, never shown, never found again in anything the store holds.

use crate::bench::{Bench, Ran, text};
use std::path::Path;

pub const VALUE: &str = "pK4!zR9-qW2xT7mB";

fn set(bench: &Bench, words: &[&str], value: &str) -> Ran {
    bench.told_with_keys(&[&["secret", "set"], words].concat(), &[value], "")
}

fn nowhere_below(folder: &Path, value: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            nowhere_below(&path, value);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes.windows(value.len()).any(|part| part == value.as_bytes());
            assert!(!found, "the value is in {}", path.display());
        }
    }
}

#[conforms::conforms("HK-17.3-1", "HK-17.3-4")]
#[test]
fn a_value_piped_in_is_known_by_its_name_and_taken_out_of_all_that_is_kept() {
    let bench = Bench::new();
    let said = set(
        &bench,
        &["db", "--host", "DB.example.org:5432", "--host", "api.example.org"],
        &format!("{VALUE}\n"),
    );
    let said = said.ends_with(0);
    assert!(said.out.contains("may go to api.example.org:443, db.example.org:5432"), "{}", said.out);
    let listed = bench.run(&["secret", "list", "--json"]).ends_with(0).json();
    assert_eq!(listed["secrets"][0]["handle"], "db");
    assert_eq!(listed["secrets"][0]["kept_in"], "file");
    let doctor = bench.run(&["doctor"]);
    assert!(doctor.out.contains("secrets"), "{}", doctor.out);
    std::fs::write(bench.folder().join("a.txt"), format!("the password is {VALUE}")).unwrap();
    let (task, _) = bench.waiting();
    bench.run(&["task", "note", &task, &format!("use {VALUE}")]).ends_with(0);
    let proof = bench.path("proof.zip");
    bench.run(&["proof", "export", &task, "-o", proof.to_str().unwrap()]).ends_with(0);
    for words in [&["task", "events", &task][..], &["task", "show", &task, "--json"], &["search", "password"]]
    {
        let shown = bench.run(words);
        assert!(!shown.out.contains(VALUE) && !shown.err.contains(VALUE), "{words:?}: {}", shown.out);
    }
    nowhere_below(&bench.home(), VALUE);
    bench.run(&["secret", "rm", "db"]).ends_with(0);
    let listed = bench.run(&["secret", "list", "--json"]).ends_with(0).json();
    assert_eq!(listed["secrets"].as_array().unwrap().len(), 0);
    bench.run(&["secret", "rm", "db"]).ends_with(1);
    let report = bench.run(&["ledger", "verify", "--json"]).ends_with(0).json();
    assert_eq!(text(&report["verdict"]), "valid");
}

#[test]
fn what_cannot_be_a_secret_is_refused_with_words_and_nothing_is_kept() {
    let bench = Bench::new();
    let short = set(&bench, &["pin"], "1234").ends_with(2);
    assert!(short.err.contains("too short") || short.err.contains("shorter than"), "{}", short.err);
    set(&bench, &["Big"], VALUE).ends_with(2);
    set(&bench, &["db", "--host", "a b"], VALUE).ends_with(2);
    set(&bench, &["db"], "").ends_with(2);
    // Arguments are seen by every program of this machine: there is no way to give a value as one.
    bench.run(&["secret", "set", "db", VALUE]).ends_with(2);
    let locked = bench.run_with(&["secret", "rm", "db"], &[]);
    assert_ne!(locked.code, 0);
    let listed = bench.run(&["secret", "list", "--json"]).ends_with(0).json();
    assert_eq!(listed["secrets"].as_array().unwrap().len(), 0);
}
