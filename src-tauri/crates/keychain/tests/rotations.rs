//! A rotation broken off at any step ends with the keys that the log has.

use keychain::{Error, Keys, Marker, MemoryVault, Vault};
use seal::{PublicKey, Signer as _};
use std::path::Path;

fn log(keys: &Keys) -> PublicKey {
    keys.log().public()
}

/// Everything up to a step: 1 staged, 2 recorded in the log (which is elsewhere), 3 promoted, 4 marked.
fn until(step: u32, folder: &Path, vault: &MemoryVault) -> (PublicKey, PublicKey) {
    let old = log(&Keys::create(folder, vault, [1; 32]).unwrap());
    let new = log(&Keys::stage(vault, [2; 32]).unwrap());
    if step >= 3 {
        Keys::promote(vault).unwrap();
    }
    if step >= 4 {
        Keys::mark(folder, vault).unwrap();
    }
    (old, new)
}

#[test]
fn wherever_a_rotation_breaks_off_the_log_decides_and_there_is_always_a_key() {
    for step in 1..=4 {
        let (folder, vault) = (tempfile::tempdir().unwrap(), MemoryVault::new());
        let (old, new) = until(step, folder.path(), &vault);
        let in_force = if step >= 2 { new } else { old };
        Keys::settle(folder.path(), &vault, &in_force).unwrap();
        let opened = Keys::open(folder.path(), &vault).unwrap();
        assert_eq!(log(&opened), in_force, "step {step}");
        assert!(vault.get("root-seed.next").unwrap().is_none(), "nothing stays staged");
        let marker = Marker::read(folder.path()).unwrap().unwrap();
        let earlier: Vec<PublicKey> = marker.earlier.iter().map(|e| e.log.public_key).collect();
        assert_eq!(earlier, if step >= 2 { vec![old] } else { vec![] }, "step {step}");
        assert_eq!(opened.marker(), &marker);
        assert!(!Keys::settle(folder.path(), &vault, &in_force).unwrap(), "and then there is nothing to do");
    }
}

#[test]
fn a_log_that_names_a_key_of_neither_seed_is_refused_and_nothing_is_changed() {
    for step in [1, 3, 4] {
        let (folder, vault) = (tempfile::tempdir().unwrap(), MemoryVault::new());
        until(step, folder.path(), &vault);
        let before =
            (std::fs::read(folder.path().join("keys.json")).unwrap(), vault.get("root-seed").unwrap());
        let stranger = seal::SeedSigner::from_seed([9; 32]).public();
        let refused = Keys::settle(folder.path(), &vault, &stranger);
        assert!(matches!(refused, Err(Error::OtherKeys { .. })), "{refused:?}");
        let after =
            (std::fs::read(folder.path().join("keys.json")).unwrap(), vault.get("root-seed").unwrap());
        assert_eq!(before, after);
    }
}

#[test]
fn keys_rotate_again_and_again_and_all_of_them_stay_known() {
    let (folder, vault) = (tempfile::tempdir().unwrap(), MemoryVault::new());
    let mut all = vec![log(&Keys::create(folder.path(), &vault, [1; 32]).unwrap())];
    for seed in 2..6 {
        all.push(log(&Keys::stage(&vault, [seed; 32]).unwrap()));
        Keys::promote(&vault).unwrap();
        Keys::mark(folder.path(), &vault).unwrap();
    }
    let opened = Keys::open(folder.path(), &vault).unwrap();
    let earlier: Vec<PublicKey> = opened.marker().earlier.iter().map(|e| e.log.public_key).collect();
    assert_eq!(earlier, all[..4]);
    assert_eq!(log(&opened), all[4]);
}

#[test]
fn a_staged_seed_is_not_thrown_away_by_staging_again() {
    let vault = MemoryVault::new();
    let first = log(&Keys::stage(&vault, [2; 32]).unwrap());
    assert_eq!(log(&Keys::stage(&vault, [3; 32]).unwrap()), first);
}
