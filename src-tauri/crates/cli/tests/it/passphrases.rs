//! A new passphrase in the place of an old one: by lines of the standard input, and broken off.

use crate::bench::{APPROVAL, Bench, VAULT, text};

pub const NEW: &str = "a passphrase of tomorrow";

pub const LATER: &str = "and one of the day after";

fn keyids(bench: &Bench) -> Vec<String> {
    let listed = bench.run(&["keys", "list", "--json"]).ends_with(0).json();
    listed["keys"].as_array().unwrap().iter().map(|key| text(&key["keyid"])).collect()
}

/// Whether the vault opens with what the file of the bench says.
pub fn signs(bench: &Bench) -> bool {
    bench.run(&["ledger", "checkpoint"]).code == 0
}

#[test]
fn a_new_passphrase_takes_the_place_of_the_old_one_and_the_keys_stay_what_they_are() {
    let bench = Bench::new();
    let before = keyids(&bench);
    let refusals: [(&[&str], &str, &str, i32, &str); 5] = [
        (&[], "not this one", NEW, 4, "is not the vault passphrase"),
        (&[], VAULT, "short", 2, "at least 8 characters"),
        (&[], VAULT, APPROVAL, 2, "two different passphrases"),
        (&["--approval"], VAULT, NEW, 4, "is not the approval passphrase"),
        (&["--approval"], APPROVAL, VAULT, 2, "two different passphrases"),
    ];
    for (options, old, new, code, says) in refusals {
        let refused = bench.passphrase(options, old, new, "").ends_with(code);
        assert!(refused.err.contains(says), "{says}: {}", refused.err);
    }
    assert!(signs(&bench), "nothing was changed");
    bench.passphrase(&[], VAULT, NEW, "").ends_with(0);
    assert!(!signs(&bench), "the old one opens nothing any more");
    std::fs::write(bench.path("vault"), NEW).unwrap();
    assert!(signs(&bench));
    let said = bench.passphrase(&["--approval"], APPROVAL, LATER, "").ends_with(0);
    assert!(said.out.contains("The new approval passphrase is in force"), "{}", said.out);
    bench.passphrase(&["--approval"], APPROVAL, VAULT, "").ends_with(4);
    assert_eq!(keyids(&bench), before);
    // It says yes with the new one, and to whoever gives the old one nothing.
    std::fs::write(bench.path("third"), "the last of them all").unwrap();
    assert_ne!(bench.rotate_approval(&bench.path("approval"), &bench.path("third"), "").code, 0);
    std::fs::write(bench.path("approval"), LATER).unwrap();
    bench.rotate_approval(&bench.path("approval"), &bench.path("third"), "").ends_with(0);
}

#[test]
fn a_change_that_breaks_off_leaves_one_of_the_two_passphrases_and_all_the_keys() {
    let both: [(&[&str], &str); 2] = [(&[], VAULT), (&["--approval"], APPROVAL)];
    for (options, old) in both {
        let bench = Bench::new();
        let before = keyids(&bench);
        assert_ne!(bench.passphrase(options, old, NEW, "key.stage:before:abort").code, 0);
        assert_ne!(bench.passphrase(options, old, NEW, "key.stage:after:abort").code, 0);
        if options.is_empty() {
            std::fs::write(bench.path("vault"), NEW).unwrap();
        }
        // It was changed before it broke off, and whole.
        bench.passphrase(options, NEW, LATER, "").ends_with(0);
        if options.is_empty() {
            std::fs::write(bench.path("vault"), LATER).unwrap();
        }
        assert!(signs(&bench));
        assert_eq!(keyids(&bench), before);
    }
}
