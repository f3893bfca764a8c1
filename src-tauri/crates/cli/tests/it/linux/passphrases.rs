//! A new passphrase in the place of an old one: at a terminal beside a host that runs.

use crate::bench::{APPROVAL, Bench, VAULT};
use crate::passphrases::{LATER, NEW, signs};
use crate::serving::Served;

#[test]
fn a_person_at_a_terminal_changes_the_passphrases_of_a_host_that_runs_and_it_goes_on_signing() {
    let bench = Bench::new();
    let vault = bench.path("vault");
    let _served = Served::begin(&bench, &[("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())]);
    let held = bench.passphrase(&[], VAULT, NEW, "");
    assert!(held.code != 0 && held.err.contains("only for a person at a terminal"), "{}", held.err);
    let both: [(&[&str], &str, &str, &str); 2] =
        [(&[], "vault passphrase", VAULT, NEW), (&["--approval"], "approval passphrase", APPROVAL, LATER)];
    for (options, what, old, new) in both {
        let mut terminal = bench.terminal(&[["keys", "passphrase"].as_slice(), options].concat());
        terminal.expect("passphrase as it is: ").send(&format!("{old}\r"));
        terminal.expect(&format!("New {what}: ")).send("short\r");
        terminal.expect(&format!("New {what}: ")).send(&format!("{new}\r"));
        terminal.expect(&format!("New {what} once more: ")).send(&format!("{new}\r"));
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{shown}");
        assert!(!shown.contains(new), "{shown}");
        assert!(signs(&bench), "what was open stays open");
    }
    bench.run(&["lock"]).ends_with(0);
    let mut terminal = bench.terminal(&["unlock"]);
    terminal.expect("Vault passphrase: ").send(&format!("{VAULT}\r"));
    terminal.expect("Vault passphrase: ").send(&format!("{NEW}\r"));
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(signs(&bench));
}
