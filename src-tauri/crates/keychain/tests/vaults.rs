//! What every vault promises, and what the passphrase file promises beside it.

use keychain::{Cost, Error, FileVault, MemoryVault, Secrets, Vault, VaultKind};
use seal::SecretSource as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

const PASSPHRASE: &[u8] = "correct hörse".as_bytes();

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.vault");
    (folder, path)
}

/// The promises of the trait.
fn check(vault: &dyn Vault) {
    assert!(vault.get("root-seed").unwrap().is_none());
    for bytes in [b"\0\xff\n seed".as_slice(), b"", &[7; 1000]] {
        vault.put("root-seed", bytes).unwrap();
        assert_eq!(vault.get("root-seed").unwrap().unwrap().as_slice(), bytes);
    }
    vault.put("secret/github-token", b"t").unwrap();
    assert_eq!(vault.get("root-seed").unwrap().unwrap().len(), 1000, "names do not meet");
    assert!(vault.delete("root-seed").unwrap());
    assert!(!vault.delete("root-seed").unwrap());
    assert!(vault.get("root-seed").unwrap().is_none());
    assert!(vault.delete("secret/github-token").unwrap());
    for name in ["", "/", "a/", "/a", "a//b", "..", "a/../b", "A", "ü", "a b", "a\0", &"a".repeat(129)] {
        assert!(matches!(vault.put(name, b"x"), Err(Error::Name { .. })), "`{name}`");
        assert!(matches!(vault.get(name), Err(Error::Name { .. })), "`{name}`");
    }
}

#[test]
fn the_memory_twin_keeps_what_a_vault_promises_and_can_play_a_locked_one() {
    let vault = MemoryVault::new();
    check(&vault);
    vault.lock();
    assert!(matches!(vault.put("a", b"x"), Err(Error::Locked { .. })));
    vault.unlock();
    assert!(vault.get("a").unwrap().is_none());
}

#[test]
fn the_file_keeps_what_a_vault_promises_across_openings() {
    let (_folder, path) = place();
    check(&FileVault::create(&path, PASSPHRASE, Cost::TEST).unwrap());
    let vault = FileVault::open(&path, PASSPHRASE).unwrap();
    check(&vault);
    vault.put("root-seed", b"here").unwrap();
    let again = FileVault::open(&path, PASSPHRASE).unwrap();
    assert_eq!(again.get("root-seed").unwrap().unwrap().as_slice(), b"here");
    assert_eq!(again.kind(), VaultKind::File);
    again.put("other", b"x").unwrap();
    assert_eq!(vault.get("other").unwrap().unwrap().as_slice(), b"x", "two that have it open see each other");
}

#[test]
fn a_wrong_passphrase_is_told_apart_from_damage_and_opens_nothing() {
    let (_folder, path) = place();
    FileVault::create(&path, PASSPHRASE, Cost::TEST).unwrap().put("root-seed", b"here").unwrap();
    for wrong in [b"".as_slice(), b"correct horse", b"correct h\xc3\xb6rse ", &[0xff; 20]] {
        let refused = FileVault::open(&path, wrong).unwrap_err();
        assert!(matches!(refused, Error::WrongPassphrase { .. }));
        let (name, place) = (path.file_name().unwrap(), path.parent().unwrap());
        let told = refused.to_string();
        for part in [name, place.as_os_str()] {
            assert!(!told.contains(part.to_str().unwrap()), "a person typed a passphrase, no file: {told}");
        }
    }
    let whole = fs::read(&path).unwrap();
    assert!(!whole.windows(4).any(|w| w == b"here"), "nothing of it lies open");
    let (mut damaged, mut wrong) = (0, 0);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        match FileVault::open(&path, PASSPHRASE) {
            Err(Error::WrongPassphrase { .. }) => wrong += 1,
            Err(_) => damaged += 1,
            Ok(_) => panic!("byte {at} may not change"),
        }
    }
    println!("{damaged} changed files are damaged, {wrong} look like a wrong passphrase (salt, cost, check)");
    assert!(damaged > wrong);
    for cut in [0, 10, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(matches!(FileVault::open(&path, PASSPHRASE), Err(Error::Damaged { .. })));
    }
}

#[test]
fn a_file_that_asks_for_absurd_memory_is_refused_before_it_gets_any() {
    let (_folder, path) = place();
    FileVault::create(&path, PASSPHRASE, Cost::TEST).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for (from, to) in
        [("\"memory_kib\":8", "\"memory_kib\":4000000000"), ("\"passes\":1", "\"passes\":1000000")]
    {
        assert!(text.contains(from));
        fs::write(&path, text.replace(from, to)).unwrap();
        assert!(matches!(FileVault::open(&path, PASSPHRASE), Err(Error::Damaged { .. })), "{to}");
    }
}

#[test]
fn creation_never_overwrites_and_short_passphrases_are_refused() {
    let (_folder, path) = place();
    for short in [b"".as_slice(), b"1234567", "äöüäöüä".as_bytes()] {
        let refused = FileVault::create(&path, short, Cost::TEST);
        assert!(matches!(refused, Err(Error::WeakPassphrase { min: 8, found }) if found < 8));
    }
    assert!(!path.exists());
    FileVault::create(&path, PASSPHRASE, Cost::TEST).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(FileVault::create(&path, PASSPHRASE, Cost::TEST), Err(Error::Exists { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(matches!(FileVault::open(&path.with_extension("no"), PASSPHRASE), Err(Error::Missing { .. })));
}

#[test]
fn another_passphrase_takes_the_place_of_the_old_one_and_keeps_the_content() {
    let (_folder, path) = place();
    let open = FileVault::create(&path, PASSPHRASE, Cost::TEST).unwrap();
    open.put("root-seed", b"here").unwrap();
    let weak = FileVault::change_passphrase(&path, PASSPHRASE, b"short", Cost::TEST);
    assert!(matches!(weak, Err(Error::WeakPassphrase { .. })));
    FileVault::change_passphrase(&path, PASSPHRASE, b"another one", Cost::TEST).unwrap();
    assert!(matches!(FileVault::open(&path, PASSPHRASE), Err(Error::WrongPassphrase { .. })));
    let again = FileVault::open(&path, b"another one").unwrap();
    assert_eq!(again.get("root-seed").unwrap().unwrap().as_slice(), b"here");
    assert!(matches!(open.put("x", b"y"), Err(Error::Locked { .. })), "the old key writes nothing any more");
    assert_eq!(again.get("root-seed").unwrap().unwrap().as_slice(), b"here");
}

#[test]
fn an_open_vault_takes_another_passphrase_and_stays_open() {
    let (_folder, path) = place();
    let open = FileVault::create(&path, PASSPHRASE, Cost::TEST).unwrap();
    open.put("root-seed", b"here").unwrap();
    let refused: [(&[u8], &[u8]); 2] = [(b"not this one", b"another one"), (PASSPHRASE, b"short")];
    for (old, new) in refused {
        assert!(open.rewrap(old, new, Cost::TEST).is_err());
        assert!(FileVault::open(&path, PASSPHRASE).is_ok(), "nothing was changed");
    }
    open.rewrap(PASSPHRASE, b"another one", Cost::TEST).unwrap();
    open.put("x", b"y").unwrap();
    assert!(matches!(FileVault::open(&path, PASSPHRASE), Err(Error::WrongPassphrase { .. })));
    let again = FileVault::open(&path, b"another one").unwrap();
    assert_eq!(again.get("root-seed").unwrap().unwrap().as_slice(), b"here");
    assert_eq!(again.get("x").unwrap().unwrap().as_slice(), b"y");
}

#[cfg(unix)]
#[test]
fn the_file_is_the_owners_alone_and_is_refused_when_it_is_not() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, path) = place();
    let vault = FileVault::create(&path, PASSPHRASE, Cost::TEST).unwrap();
    vault.put("root-seed", b"here").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for mode in [0o644, 0o660, 0o604] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(
            matches!(FileVault::open(&path, PASSPHRASE), Err(Error::Exposed { others, .. }) if others.who == format!("mode {mode:o}"))
        );
        assert!(matches!(vault.get("root-seed"), Err(Error::Exposed { .. })));
    }
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["keys.vault"], "nothing half-written stays");
}

#[test]
fn secrets_come_by_handle_and_say_why_when_they_do_not() {
    let vault = Arc::new(MemoryVault::new());
    let secrets = Secrets::new(vault.clone());
    secrets.put("github-token", b"ghp_x").unwrap();
    assert_eq!(secrets.secret("github-token").unwrap().as_slice(), b"ghp_x");
    assert!(matches!(secrets.secret("other"), Err(seal::Error::KeyMissing { key }) if key == "other"));
    assert!(matches!(secrets.secret("../root-seed"), Err(seal::Error::KeyMissing { .. })));
    vault.lock();
    assert!(matches!(secrets.secret("github-token"), Err(seal::Error::KeyLocked { .. })));
    vault.unlock();
    assert!(secrets.delete("github-token").unwrap());
    assert!(!format!("{secrets:?}").contains("ghp"));
}
