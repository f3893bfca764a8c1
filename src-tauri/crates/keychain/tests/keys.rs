//! Four keys from one seed, a fifth from its own, and the choice that is written down.

use keychain::{
    ApprovalKey, Cost, Error, FileVault, Keys, MARKER_FILE, Marker, MemoryVault, Vault, VaultKind,
};
use seal::{SeedSigner, Signer};
use std::fs;

const PASSPHRASE: &[u8] = b"only a person";

#[test]
fn four_keys_come_from_one_seed_and_come_again_bit_for_bit() {
    let (folder, vault) = (tempfile::tempdir().unwrap(), MemoryVault::new());
    assert!(Marker::read(folder.path()).unwrap().is_none());
    assert!(matches!(Keys::open(folder.path(), &vault), Err(Error::Missing { .. })));
    let made = Keys::create(folder.path(), &vault, [7; 32]).unwrap();
    let again = Keys::open(folder.path(), &vault).unwrap();
    let all = |keys: &Keys| [keys.log(), keys.receipt(), keys.manifest(), keys.cosign()];
    let public = |keys: &Keys| all(keys).map(|signer| signer.public());
    assert_eq!(public(&made), public(&again));
    let mut all = public(&made).to_vec();
    all.push(SeedSigner::from_seed([7; 32]).public());
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 5, "no key serves two purposes, and none is the seed itself");
    let signature = again.log().sign(b"x").unwrap();
    made.marker().log.public_key.verify(b"x", &signature).unwrap();
    let marker = Marker::read(folder.path()).unwrap().unwrap();
    assert_eq!((&marker, marker.vault), (made.marker(), VaultKind::Memory));
    assert_eq!(marker.receipt.keyid, made.receipt().public().keyid());
}

/// HKDF-SHA256 as Python's `hmac` computes it: salt `hermit-keys/1`, seed 32 times 7. These names never change.
#[test]
fn the_derivation_is_pinned() {
    let (folder, vault) = (tempfile::tempdir().unwrap(), MemoryVault::new());
    let keys = Keys::create(folder.path(), &vault, [7; 32]).unwrap();
    for (signer, seed) in [
        (keys.log(), "3009a9e7e8e01c835730778d3e0e86da70ade36b0f7f340a21f99b94ea2bd137"),
        (keys.receipt(), "ef3cb3291c70c1bf0e6ba5c340d2ef064255973021b40b3dbe25af3b57200636"),
        (keys.manifest(), "20b6175a863a8c84069acc624aec742b734c3220ae5cd5c608de9f58f0c3fb02"),
        (keys.cosign(), "e021f3461bf3bffed5584d370e251f19e0d45629877f07a8e72de8da20f32c84"),
    ] {
        let seed: [u8; 32] = hex::decode(seed).unwrap().try_into().unwrap();
        assert_eq!(signer.public(), SeedSigner::from_seed(seed).public());
    }
}

#[test]
fn the_vault_that_was_chosen_is_the_only_one_that_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let memory = MemoryVault::new();
    let file = FileVault::create(&folder.path().join("keys.vault"), PASSPHRASE, Cost::TEST).unwrap();
    Keys::create(folder.path(), &file, [1; 32]).unwrap();
    Keys::open(folder.path(), &file).unwrap();
    let other = Keys::open(folder.path(), &memory);
    assert!(matches!(other, Err(Error::OtherVault { chosen: VaultKind::File, given: VaultKind::Memory })));
    assert!(memory.get("root-seed").unwrap().is_none(), "and nothing was put there");
}

#[test]
fn keys_are_made_once_and_a_lost_or_exchanged_seed_is_noticed() {
    let (folder, vault) = (tempfile::tempdir().unwrap(), MemoryVault::new());
    Keys::create(folder.path(), &vault, [1; 32]).unwrap();
    assert!(matches!(Keys::create(folder.path(), &vault, [2; 32]), Err(Error::Exists { .. })));
    Keys::open(folder.path(), &vault).unwrap();
    vault.put("root-seed", &[3; 32]).unwrap();
    assert!(matches!(Keys::open(folder.path(), &vault), Err(Error::OtherKeys { purpose: "log" })));
    vault.put("root-seed", &[3; 31]).unwrap();
    assert!(matches!(Keys::open(folder.path(), &vault), Err(Error::Damaged { .. })));
    vault.delete("root-seed").unwrap();
    assert!(matches!(Keys::open(folder.path(), &vault), Err(Error::Missing { .. })));
    vault.lock();
    assert!(matches!(Keys::open(folder.path(), &vault), Err(Error::Locked { .. })));
}

#[test]
fn a_crash_between_vault_and_marker_is_mended_by_creating_again() {
    let (folder, vault) = (tempfile::tempdir().unwrap(), MemoryVault::new());
    vault.put("root-seed", &[9; 32]).unwrap();
    let keys = Keys::create(folder.path(), &vault, [1; 32]).unwrap();
    assert_eq!(vault.get("root-seed").unwrap().unwrap().as_slice(), [9; 32], "a seed is never overwritten");
    assert_eq!(Keys::open(folder.path(), &vault).unwrap().log().public(), keys.log().public());
}

#[test]
fn a_marker_that_was_changed_is_refused() {
    let (folder, vault) = (tempfile::tempdir().unwrap(), MemoryVault::new());
    Keys::create(folder.path(), &vault, [1; 32]).unwrap();
    let path = folder.path().join(MARKER_FILE);
    let text = fs::read_to_string(&path).unwrap();
    let other = SeedSigner::from_seed([5; 32]).public();
    let exchanged = text.replace(
        &Keys::open(folder.path(), &vault).unwrap().receipt().public().to_string(),
        &other.to_string(),
    );
    for bad in [
        exchanged,
        text.replace("hermit-keys/1", "hermit-keys/2"),
        text.replace("memory", "cloud"),
        String::new(),
    ] {
        assert_ne!(bad, text);
        fs::write(&path, bad).unwrap();
        assert!(matches!(Marker::read(folder.path()), Err(Error::Damaged { .. })));
        assert!(Keys::open(folder.path(), &vault).is_err());
    }
}

#[test]
fn the_approval_key_has_a_seed_a_file_and_a_passphrase_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("approval.key");
    let made = ApprovalKey::create(&path, PASSPHRASE, Cost::TEST).unwrap();
    assert_eq!(ApprovalKey::public(&path).unwrap(), made.public());
    assert_eq!(ApprovalKey::open(&path, PASSPHRASE).unwrap().public(), made.public());
    let wrong = ApprovalKey::open(&path, b"only a persom").map(drop).unwrap_err();
    assert!(matches!(wrong, Error::WrongPassphrase { .. }));
    assert_eq!(wrong.to_string(), "that is not the approval passphrase", "a page is not told where");
    assert!(matches!(ApprovalKey::create(&path, PASSPHRASE, Cost::TEST), Err(Error::Exists { .. })));
    assert!(matches!(
        ApprovalKey::create(&folder.path().join("x"), b"short", Cost::TEST),
        Err(Error::WeakPassphrase { .. })
    ));
    let other = ApprovalKey::create(&folder.path().join("other.key"), PASSPHRASE, Cost::TEST).unwrap();
    assert_ne!(other.public(), made.public(), "another key each time, from nothing but chance");
    ApprovalKey::change_passphrase(&path, PASSPHRASE, b"another passphrase", Cost::TEST).unwrap();
    assert!(matches!(ApprovalKey::open(&path, PASSPHRASE), Err(Error::WrongPassphrase { .. })));
    assert_eq!(ApprovalKey::open(&path, b"another passphrase").unwrap().public(), made.public());
    assert!(matches!(
        ApprovalKey::change_passphrase(&path, PASSPHRASE, b"a third one", Cost::TEST),
        Err(Error::WrongPassphrase { .. })
    ));
}

#[test]
fn a_public_key_written_into_the_approval_file_by_somebody_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("approval.key");
    let made = ApprovalKey::create_from(&path, PASSPHRASE, [4; 32], Cost::TEST).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let other = SeedSigner::from_seed([5; 32]).public();
    fs::write(&path, text.replace(&made.public().to_string(), &other.to_string())).unwrap();
    assert!(matches!(ApprovalKey::open(&path, PASSPHRASE), Err(Error::Damaged { .. })));
    let vault = FileVault::create(&folder.path().join("v"), PASSPHRASE, Cost::TEST).unwrap();
    assert!(
        matches!(ApprovalKey::open(vault.path(), PASSPHRASE), Err(Error::Damaged { .. })),
        "a vault is no key"
    );
}

#[test]
fn one_real_guess_costs_what_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("approval.key");
    ApprovalKey::create_from(&path, PASSPHRASE, [4; 32], Cost::STRONG).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"memory_kib\":131072"), "the real cost stands in the file: {text}");
    ApprovalKey::open(&path, PASSPHRASE).unwrap();
}

/// `HERMIT_BINDINGS=write cargo test -p hermit-keychain key_files` makes them anew.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test that writes what it otherwise compares, when told to")]
fn the_key_files_that_the_tests_of_the_pages_lay_out_are_opened_at_next_to_no_cost() {
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/browser/keys");
    let (vault_words, approval_words) = (b"a passphrase of a test", b"another passphrase of a test");
    let (vault, approval) = (kept.join("vault.key"), kept.join("approval.key"));
    if std::env::var("HERMIT_BINDINGS").is_ok_and(|word| word == "write") {
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir_all(&kept).unwrap();
        FileVault::create(&vault, vault_words, Cost::TEST).unwrap();
        ApprovalKey::create(&approval, approval_words, Cost::TEST).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, from) in [("vault.key", &vault), ("approval.key", &approval)] {
        let text = fs::read_to_string(from).unwrap();
        assert!(text.contains(&format!("\"memory_kib\":{}", Cost::TEST.memory_kib)), "{text}");
        let to = folder.path().join(name);
        disk::owner_only::write(&to, text.as_bytes()).unwrap();
    }
    let vault = FileVault::open(&folder.path().join("vault.key"), vault_words).unwrap();
    assert!(vault.get("root-seed").unwrap().is_none(), "each store makes its own");
    ApprovalKey::open(&folder.path().join("approval.key"), approval_words).unwrap();
}
