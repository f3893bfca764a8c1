//! The ground floor stays pure: no clock, no randomness, no IO, no async. And the loop core stays small.
//!
//! Clippy's configuration is one for the whole workspace, so what only the ground floor refuses is read here.

use super::doors::ground;
use super::syntax::{code_lines, code_words};
use super::tree::{Source, sources};

/// What the ground floor may not say, as [`code_words`] spells it, and why.
const REFUSED: [(&str, &str); 13] = [
    ("std :: fs", "the disk belongs to the first floor"),
    ("std :: env", "settings are passed in"),
    ("std :: net", "the network belongs to the first floor"),
    ("std :: process", "commands belong to `effects`"),
    ("std :: thread", "the ground floor answers at once"),
    ("std :: io :: stdin", "only `cli` talks to a person"),
    ("SystemTime", "time is passed in"),
    ("Instant :: now", "time is passed in"),
    ("Uuid :: new_v", "ids are passed in"),
    ("tokio", "no async on the ground floor"),
    ("async", "no async on the ground floor"),
    ("getrandom", "chance is passed in"),
    ("thread_rng", "chance is passed in"),
];

/// The most lines of code the loop core may have: "more than a few hundred lines means responsibilities leak".
const ITERATION_LINES_MAX: usize = 500;

fn impure(path: &str, text: &str) -> Vec<String> {
    let words = format!(" {} ", code_words(text));
    let said = REFUSED.iter().filter(|(refused, _)| words.contains(&format!(" {refused}")));
    said.map(|(refused, why)| format!("{path} says `{}`: {why}", refused.replace(' ', ""))).collect()
}

fn of_ground_floor(source: &Source) -> bool {
    let in_src = source.path.split('/').nth(3) == Some("src");
    source.is_rust()
        && in_src
        && !is_test_file(&source.path)
        && source.room().is_some_and(|room| ground().iter().any(|one| one == room))
}

/// `src/tests.rs`, `src/x/tests.rs` and `src/tests/*.rs` are declared under `#[cfg(test)]`.
fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || path.ends_with("_tests.rs")
}

#[test]
fn the_ground_floor_asks_no_clock_no_die_and_no_disk() {
    let found: Vec<_> =
        sources().iter().filter(|s| of_ground_floor(s)).flat_map(|s| impure(&s.path, &s.text)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn impurity_is_found_however_it_is_imported() {
    for text in [
        "use std::fs;",
        "use std::{fmt, fs};",
        "fn f() { let _ = std::time::SystemTime::now(); }",
        "use std::time::{Duration, Instant}; fn f() { let _ = Instant::now(); }",
        "async fn f() {}",
        "fn f() { let _ = ::std::process::id(); }",
    ] {
        assert!(!impure("x.rs", text).is_empty(), "{text}");
    }
}

#[test]
fn pure_code_passes() {
    let text = "use std::collections::BTreeMap; /// std::fs\nfn f(now_ms: u64) -> u64 { now_ms }";
    assert_eq!(impure("x.rs", text), Vec::<String>::new());
}

#[conforms::conforms("RX-13-1", "RX-0-1")]
#[test]
fn the_loop_core_stays_a_few_hundred_lines() {
    let room: Vec<&Source> =
        sources().iter().filter(|s| of_ground_floor(s) && s.room() == Some("iteration")).collect();
    let lines: usize = room.iter().map(|s| code_lines(&s.text)).sum();
    assert!(lines > 0, "the room `iteration` was not found");
    assert!(
        lines <= ITERATION_LINES_MAX,
        "the loop core has {lines} lines of code; move what is not the loop out"
    );
    // The same events lead to the same next step: it asks nothing that may answer differently.
    let impure: Vec<String> = room.iter().flat_map(|s| impure(&s.path, &s.text)).collect();
    assert_eq!(impure, [""; 0]);
}

/// How threads are started that may outlive whoever starts them, as [`code_words`] spells it.
const LOOSE: [&str; 4] = ["thread :: spawn", "thread :: Builder", "tokio", "rayon"];

fn loose(text: &str) -> Vec<&'static str> {
    let words = format!(" {} ", code_words(text));
    LOOSE.into_iter().filter(|way| words.contains(&format!(" {way} "))).collect()
}

#[conforms::conforms(part = "HV-3.2-1")]
#[test]
fn what_drives_a_task_starts_only_threads_that_end_before_it_does() {
    let drives = |source: &&Source| {
        let room = source.room().is_some_and(|room| ["kernel", "iteration", "reasoning"].contains(&room));
        room && source.is_rust() && source.path.contains("/src/") && !is_test_file(&source.path)
    };
    let mut scopes = 0;
    for source in sources().iter().filter(drives) {
        assert_eq!(loose(&source.text), [""; 0], "{}: what it starts may outlive it", source.path);
        scopes += code_words(&source.text).matches("thread :: scope").count();
    }
    assert!(scopes > 0, "reads beside each other are threads of a scope");
    for text in
        ["fn f() { std::thread::spawn(|| ()); }", "use std::thread; fn f() { thread::Builder::new(); }"]
    {
        assert_eq!(loose(text).len(), 1, "{text}");
    }
}
