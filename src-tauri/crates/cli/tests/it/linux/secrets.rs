//! A secret that is typed at a terminal.

use crate::bench::Bench;
use crate::secrets::VALUE;

#[test]
fn a_value_typed_at_a_terminal_is_not_shown() {
    let bench = Bench::new();
    let mut terminal = bench.terminal(&["secret", "set", "token"]);
    terminal.expect("Value of secret:token (not shown): ").send(&format!("{VALUE}\r"));
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains(VALUE), "{shown}");
    assert!(shown.contains("kept in the vault"), "{shown}");
}
