//! The operating system's keychain: a real Secret Service where there is one to start, and the words said where
//! there is none. The test program starts itself again inside a session bus of its own.
#![allow(clippy::disallowed_methods, reason = "this test starts a session bus and a keyring of its own")]

use keychain::{Error, Keys, OsVault, Vault};
use seal::Signer as _;
use std::process::Command;
use std::time::Duration;

const INSIDE: &str = "HERMIT_TEST_INSIDE_KEYRING";

fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("--help").output().is_ok()
}

/// Runs one test of this module again, with the variable set to `how`, after `shell` has prepared a session bus.
fn inside(test: &str, how: &str, shell: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("dbus-run-session")
        .args(["--", "sh", "-c", &format!("{shell}\nexec \"$0\" --exact os_keychain::{test} --nocapture")])
        .arg(std::env::current_exe().unwrap())
        .env(INSIDE, how)
        .env("HOME", folder.path())
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .env("XDG_RUNTIME_DIR", folder.path())
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("DISPLAY")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn a_real_secret_service_keeps_the_keys_or_the_suite_says_that_there_was_none() {
    match std::env::var(INSIDE).as_deref() {
        Ok("keyring") => return with_a_keyring(),
        Ok(_) => return,
        Err(_) => {}
    }
    if !is_there("dbus-run-session") || !is_there("gnome-keyring-daemon") {
        return conforms::lacks("a keyring to start");
    }
    let unlock = "printf 'test' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1";
    let said = inside(
        "a_real_secret_service_keeps_the_keys_or_the_suite_says_that_there_was_none",
        "keyring",
        unlock,
    );
    assert!(said.contains("path: a real Secret Service"), "{said}");
    println!("path: a real Secret Service, gnome-keyring in a session bus of its own");
}

fn with_a_keyring() {
    let vault = OsVault::open("hermit test 5f3a").unwrap().with_patience(Duration::from_secs(60));
    assert!(vault.get("root-seed").unwrap().is_none());
    assert!(!vault.delete("root-seed").unwrap());
    for bytes in [b"\0\xff\n".as_slice(), b"", &[7; 1000], &[8; 6000], &[9; 5000]] {
        vault.put("bytes", bytes).unwrap();
        assert_eq!(vault.get("bytes").unwrap().unwrap().as_slice(), bytes);
    }
    assert!(vault.delete("bytes").unwrap());
    assert!(vault.get("bytes").unwrap().is_none());
    let folder = tempfile::tempdir().unwrap();
    let keys = Keys::create(folder.path(), &vault, [7; 32]).unwrap();
    let again = OsVault::open("hermit test 5f3a").unwrap();
    assert_eq!(Keys::open(folder.path(), &again).unwrap().log().public(), keys.log().public());
    let other = OsVault::open("hermit test 0000").unwrap();
    assert!(matches!(Keys::open(folder.path(), &other), Err(Error::Missing { .. })), "stores do not meet");
    println!("path: a real Secret Service");
}

#[test]
fn where_there_is_no_keychain_the_error_names_the_passphrase_file_and_nothing_is_tried() {
    match std::env::var(INSIDE).as_deref() {
        Ok("nobody") => {
            // The bus is there and nobody offers secrets on it.
            let refused = OsVault::open("hermit test")
                .and_then(|vault| vault.with_patience(Duration::from_secs(20)).put("root-seed", b"x"));
            let Err(error) = refused else { panic!("a keychain out of nowhere") };
            println!("refused: {error}");
            assert!(matches!(
                error,
                Error::NoKeychain { .. } | Error::Keychain { .. } | Error::Locked { .. }
            ));
            return;
        }
        Ok(_) => return,
        Err(_) => {}
    }
    if !is_there("dbus-run-session") {
        return conforms::lacks("a session bus");
    }
    let alone = "unset XDG_DATA_DIRS";
    let said = inside(
        "where_there_is_no_keychain_the_error_names_the_passphrase_file_and_nothing_is_tried",
        "nobody",
        alone,
    );
    println!("path: a session bus; {}", said.lines().find(|l| l.starts_with("refused")).unwrap_or("no word"));
}
