//! The mesh by the program: off until it is on, lists that are empty say so, and what cannot be meant is told before anything happens.

use crate::bench::Bench;

#[test]
fn the_mesh_is_off_and_every_list_of_it_is_empty_and_says_what_to_do() {
    let bench = Bench::new();
    let shown = bench.run(&["mesh", "show", "--json"]).ends_with(0).json();
    assert_eq!((shown["on"].to_string(), shown["node"].to_string()), ("false".to_owned(), "null".to_owned()));
    let told = bench.run(&["mesh", "show"]).ends_with(0);
    assert!(told.out.contains("The mesh is off") && told.out.contains("hermit mesh on"), "{}", told.out);
    for (list, says) in [
        ("nodes", "hermit mesh pair"),
        ("messages", "hermit mesh send"),
        ("receipts", "no receipts"),
        ("questions", "no other machine asks"),
    ] {
        let told = bench.run(&["mesh", list]).ends_with(0);
        assert!(told.out.contains(says), "{list}: {}", told.out);
    }
    let found = bench.run(&["mesh", "receipts", "--limit", "5", "--json"]).ends_with(0).json();
    assert!(found["receipts"] == serde_json::json!([]) && found["before"].is_null(), "{found}");
    let stick = bench.path("stick");
    for words in [
        &["mesh", "send", "--to", "desk", "look"][..],
        &["mesh", "pair"],
        &["mesh", "take", "abcd"],
        &["mesh", "hand-over", "abcd", "desk"],
        &["mesh", "hold", "tidy", "desk"],
        &["mesh", "withdraw", "desk", "--yes"],
        &["mesh", "export", stick.to_str().unwrap()],
    ] {
        let off = bench.run(words).ends_with(1);
        assert!(off.err.contains("mesh"), "{words:?}: {}", off.err);
    }
    assert!(!stick.exists());
}

#[test]
fn what_cannot_be_meant_is_told_and_only_a_person_at_a_terminal_answers() {
    let bench = Bench::new();
    for words in [
        &["mesh", "on", "--folder", "notes"][..],
        &["mesh", "on", "--folder", "a=/x", "--folder", "a=/y"],
        &["mesh", "pair", "--at", "wss://relay.example"],
        &["mesh", "pair", "ABCD-EFGHJ0"],
        &["mesh", "hold", "tidy"],
        &["mesh", "hold", "tidy", "desk", "--none"],
        &["mesh", "answer", "abcd", "maybe"],
        &["mesh", "messages", "--limit", "0"],
        &["mesh", "relay", "--listen", "nowhere"],
    ] {
        bench.run(words).ends_with(2);
    }
    let unseen = bench.run(&["mesh", "withdraw", "desk"]).ends_with(2);
    assert!(unseen.err.contains("--yes"), "{}", unseen.err);
    let answer = bench.run(&["mesh", "answer", "abcd", "allow"]).ends_with(3);
    assert!(answer.err.contains("terminal"), "{}", answer.err);
}
