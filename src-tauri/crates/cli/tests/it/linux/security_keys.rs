//! A security key at the terminal: added with the passphrase, its PIN and a touch, then a yes without the passphrase.

use crate::bench::{APPROVAL, Bench, before, holding, program};
use std::sync::{Arc, Mutex};
use testkit::pty::Pty;
use testkit::{Authenticator, PlainKey};

const PIN: &str = "tulip-4711";

/// A key that is plugged in.
fn plugged_in(bench: &Bench) -> Arc<Mutex<PlainKey>> {
    PlainKey::new(Authenticator::es256(7, "https://nowhere.example"), PIN).serve(&bench.path("key"))
}

fn terminal(bench: &Bench, arguments: &[&str]) -> Pty {
    let (home, vault, key) = (bench.home(), bench.path("vault"), bench.path("key"));
    let environment = [
        ("HERMIT_HOME", home.to_str().unwrap()),
        ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap()),
        ("HERMIT_TEST_SECURITY_KEY", key.to_str().unwrap()),
    ];
    Pty::spawn(program(), arguments, &environment)
}

fn added(bench: &Bench) -> String {
    let mut terminal = terminal(bench, &["passkey", "add", "--security-key", "the blue one"]);
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    terminal.expect("PIN of the security key: ").send(&format!("{PIN}\r"));
    terminal.expect("Touch your security key").expect("the blue one may approve from now on");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains(PIN), "the PIN is never shown");
    let listed = bench.run(&["passkey", "list", "--json"]).ends_with(0).json();
    assert_eq!(listed["passkeys"][0]["origin"], "hermit:security-key", "{listed}");
    listed["passkeys"][0]["passkey_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_person_adds_a_security_key_approves_with_it_and_revokes_it() {
    let bench = Bench::new();
    let key = plugged_in(&bench);
    let id = added(&bench);
    let (task, approval) = bench.waiting();
    let mut typed = terminal(&bench, &["approvals", "approve", &approval]);
    typed.expect("security (k)ey").send("key\r");
    typed.expect("PIN of the security key: ").send("daisy-4711\r");
    typed.expect("the PIN is wrong; 7 tries are left");
    typed.expect("PIN of the security key: ").send(&format!("{PIN}\r"));
    typed.expect("Touch your security key").expect("Done.");
    let (code, shown) = typed.end();
    assert_eq!(code, 0, "{shown}");
    assert!(
        !shown.contains("Approval passphrase") && !shown.contains(PIN) && !shown.contains("daisy"),
        "{shown}"
    );
    assert_ne!(bench.files(), before());
    // The bundle names it, and the PIN is nowhere in the store.
    let proof = bench.path("proof.zip");
    let proof = proof.to_str().unwrap();
    bench.run(&["proof", "export", &task, "-o", proof]).ends_with(0);
    let verified = bench.run(&["proof", "verify", proof, "--json"]).ends_with(0).json();
    assert!(verified["proven"].to_string().contains("signed by a security key"), "{verified}");
    assert_eq!(holding(&bench.home(), PIN.as_bytes()), Vec::<std::path::PathBuf>::new());

    // It is known already; a copy that counted less is refused, and so is a revoked one.
    let mut again = terminal(&bench, &["passkey", "add", "--security-key", "again"]);
    again.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    again.expect("PIN of the security key: ").send(&format!("{PIN}\r"));
    again.expect("this security key is enrolled already").expect("No security key was added");
    assert_eq!(again.end().0, 4);
    key.lock().unwrap().passkey.counter = 0;
    let mut undo = terminal(&bench, &["rollback", &task]);
    undo.expect("security (k)ey").send("k\r");
    undo.expect("PIN of the security key: ").send(&format!("{PIN}\r"));
    undo.expect("there may be a copy of it");
    undo.end();
    bench.run(&["passkey", "revoke", &id[..12]]).ends_with(0);
    let waiting = bench.run(&["approvals", "list", "--json"]).ends_with(0).json();
    let waiting = waiting["rows"][0]["approval_id"].as_str().unwrap().to_owned();
    let mut typed = terminal(&bench, &["approvals", "approve", &waiting]);
    typed.expect("Approve? (y)es, (n)o").send("key\r");
    typed.expect("no security key is enrolled").expect("Approve?").send("later\r");
    assert_eq!(typed.end().0, 4);
}

#[test]
fn a_key_without_a_pin_or_that_is_not_there_says_what_to_do_and_decides_nothing() {
    let bench = Bench::new();
    let key = plugged_in(&bench);
    added(&bench);
    let (_, approval) = bench.waiting();
    key.lock().unwrap().pin = None;
    let mut typed = terminal(&bench, &["approvals", "approve", &approval]);
    typed.expect("security (k)ey").send("key\r");
    typed.expect("this security key has no PIN").expect("Nothing was decided").expect("Approve?");
    key.lock().unwrap().pin = Some(PIN.to_owned());
    key.lock().unwrap().made = false;
    typed.send("key\r").expect("PIN of the security key: ").send(&format!("{PIN}\r"));
    typed.expect("no passkey that is enrolled here").expect("Approve?");
    std::fs::remove_file(bench.path("key")).unwrap();
    typed.send("key\r").expect("taken out, or does not answer").expect("Approve?").send("later\r");
    assert_eq!(typed.end().0, 4);
    assert_eq!(bench.status(&approval), "pending");
    assert_eq!(bench.files(), before());
}
