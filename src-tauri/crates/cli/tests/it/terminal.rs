//! What keys alone cannot do, where nobody is at a terminal.

use crate::bench::Bench;

#[test]
fn without_a_terminal_nothing_is_approved() {
    let bench = Bench::new();
    let (_, approval) = bench.waiting();
    let ran = bench.run(&["approvals", "approve", &approval]).ends_with(3);
    assert!(ran.err.contains("only a person at a terminal"), "{}", ran.err);
    assert!(ran.err.contains("hint:"), "{}", ran.err);
    assert_eq!(bench.status(&approval), "pending");
}
