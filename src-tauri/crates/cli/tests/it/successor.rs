//! Trials of changes by the program: an empty list says what to do, and what can be no change is told before anything is on record.

use crate::bench::Bench;

#[test]
fn nothing_was_tried_and_what_can_be_no_change_is_told() {
    let bench = Bench::new();
    let told = bench.run(&["successor", "list"]).ends_with(0);
    assert!(told.out.contains("hermit successor try"), "{}", told.out);
    let rules = bench.path("one.rules");
    std::fs::write(&rules, "deny FileDelete(**)\n").unwrap();
    let rules = rules.to_str().unwrap();
    for (words, says) in [
        (&["successor", "try", "--task", "it asks less"][..], "name a change"),
        (&["successor", "try", "--task", "it asks less", "--policy", rules], "--source"),
        (
            &["successor", "try", "--task", "it asks less", "--policy", "none.rules", "--source", "my own"],
            "none.rules",
        ),
        (
            &["successor", "try", "--task", "it asks less", "--words", "skin=terse", "--source", "my own"],
            "WHAT=NAME=FILE",
        ),
        // There is one SOUL.md: it needs no name.
        (
            &["successor", "try", "--task", "it asks less", "--words", "soul=none.md", "--source", "my own"],
            "none.md",
        ),
        (&["successor", "try", "--task", "it asks less", "--diff", rules, "--source", "my own"], "--base"),
    ] {
        let refused = bench.run(words).ends_with(2);
        assert!(refused.err.contains(says), "{words:?}: {}", refused.err);
    }
    let listed = bench.run(&["successor", "list", "--json"]).ends_with(0).json();
    assert_eq!(listed["trials"], serde_json::json!([]));
}

#[test]
fn what_was_looked_at_is_named_for_a_trial_that_is_there_and_help_says_how() {
    let bench = Bench::new();
    let adopt = ["successor", "adopt", "trial_0", "--although-same", "--looked", "01234567"];
    let refused = bench.run(&adopt);
    assert!(refused.code != 0 && refused.err.contains("trial_0"), "{}", refused.err);
    let told = bench.run(&["successor", "adopt", "--help"]).ends_with(0);
    let told = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["--looked <SHA256>", "hermit successor show TRIAL"] {
        assert!(told.contains(words), "{words}: {told}");
    }
}
