//! The note of who holds the store: of another machine, and damaged.

use crate::bench::Bench;

#[test]
fn a_holder_on_another_machine_is_believed_until_a_person_says_that_it_is_gone() {
    let bench = Bench::new();
    let lock = bench.home().join("ledger.lock");
    let note = r#"{"holder":{"pid":2147483000,"since":5,"session":"s","address":"127.0.0.1:9","boot":"another","machine":"another"}}"#;
    std::fs::write(&lock, note).unwrap();
    let refused = bench.run(&["resume"]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    for words in ["in use by another machine", "if that machine is off for good", lock.to_str().unwrap()] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    bench.run(&["task", "list"]).ends_with(0);
    std::fs::remove_file(&lock).unwrap();
    bench.run(&["resume"]).ends_with(0);
}

#[test]
fn a_damaged_note_of_who_held_the_store_says_nothing_of_the_ledger() {
    let bench = Bench::new();
    let lock = bench.home().join("ledger.lock");
    let whole = std::fs::read(&lock).unwrap();
    for at in [1, whole.len() / 2, whole.len() - 2] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        std::fs::write(&lock, &flipped).unwrap();
        let ran = bench.run(&["resume"]).ends_with(0);
        assert!(!ran.err.contains("damaged"), "{}", ran.err);
    }
}
