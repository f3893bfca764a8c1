//! Which key says yes, remembered in the vault. The ledger's file can be written by whatever runs as its owner, who may
//! exchange the key in it and chain everything behind it anew; the vault takes its passphrase.

use crate::{Error, HostKeys};
use kernel::Kernel;
use kernel::keyring::KeyHistory;
use keychain::Vault;
use model::body::KeyPurpose;
use seal::succession::Succession;
use seal::{Digest, PublicKey};

/// Its name in the vault.
const IN_VAULT: &str = "approval-key";

/// Refuses a store whose ledger names an approval key that does not follow from the one the vault remembers. A vault of
/// before remembers none, and learns it.
///
/// # Errors
/// [`Error::ApprovalExchanged`]; [`Error::Keys`] when the vault fails.
pub(crate) fn check(kernel: &Kernel, keys: &HostKeys) -> Result<(), Error> {
    let Some(vault) = keys.vault() else { return Ok(()) };
    let history = kernel.key_history()?;
    let Some(named) = history.in_force(KeyPurpose::Approval).map(|record| record.keyid) else {
        return Ok(());
    };
    match remembered(&*vault)? {
        Some(known) if known == named => Ok(()),
        Some(known) if !leads(&history, known, named) => Err(Error::ApprovalExchanged),
        _ => {
            if let Err(error) = vault.put(IN_VAULT, named.to_string().as_bytes()) {
                tracing::warn!(%error, "the vault does not learn which key says yes");
            }
            Ok(())
        }
    }
}

fn remembered(vault: &dyn Vault) -> Result<Option<Digest>, Error> {
    let known = vault.get(IN_VAULT)?;
    Ok(known.and_then(|text| std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok())))
}

/// Whether the vault remembers this key, or none. Whoever severs what the ledger says of keys leaves nobody else to ask.
///
/// # Errors
/// [`Error::ApprovalExchanged`]; [`Error::Keys`] when the vault is locked or fails.
pub(crate) fn is_remembered(keys: &HostKeys, key: &PublicKey) -> Result<(), Error> {
    let locked = || keychain::Error::Locked { why: keys.why_locked() };
    let vault = keys.vault().ok_or_else(locked)?;
    match remembered(&*vault)? {
        Some(known) if known != key.keyid() => Err(Error::ApprovalExchanged),
        _ => Ok(()),
    }
}

/// An approval key was made or rotated by whoever opened the vault: from now on it is the one. A vault that does not
/// take it now learns it when it is opened next.
pub(crate) fn made(kernel: &Kernel, keys: &HostKeys) {
    let Some(vault) = keys.vault() else { return };
    if let Some((keyid, _)) = kernel.store_state().keys.get(&KeyPurpose::Approval)
        && let Err(error) = vault.put(IN_VAULT, keyid.to_string().as_bytes())
    {
        tracing::warn!(%error, "the vault does not learn which key says yes");
    }
}

/// Whether rotations, each signed by the old key and by the new one, lead from one key to the other.
fn leads(history: &KeyHistory, from: Digest, to: Digest) -> bool {
    let mut at = from;
    for (step, by_old, by_new) in &history.successions {
        let follows = step.purpose == KeyPurpose::Approval.as_str() && step.old.keyid() == at;
        let holds = |step: &Succession| step.note(by_old, by_new).is_ok();
        if follows && holds(step) {
            at = step.new.keyid();
        }
    }
    at == to
}
