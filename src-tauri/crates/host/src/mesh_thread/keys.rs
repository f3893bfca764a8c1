//! The key that this machine speaks with, and the secrets of its groups: both from the keychain, neither in any log.

use kernel::Kernel;
use keychain::{Error, Vault};
use mesh::NodeId;
use mesh::port::KeepSecret;
use mesh::sealed::{NostrSealing, Sealing as _};
use seal::schnorr::SchnorrKey;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The name in the vault of the secrets of groups: 32 bytes each, the newest last.
const GROUPS: &str = "mesh.groups";
/// Secrets that are kept: those of groups whose wraps are opened, and as many that may turn out to be on no record.
const GROUPS_MAX: usize = 2 * mesh::GROUPS_KEPT;
const SECRET_BYTES: usize = 32;

/// The vault of this process, while it is open.
pub type VaultSource = Box<dyn Fn() -> Option<Arc<dyn Vault>> + Send + Sync>;

/// Why the key of a node cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoKey {
    /// This instance has none.
    #[error("this instance has no key yet: write who it is first, with `hermit identity edit`")]
    Soul,
    /// The keychain is locked.
    #[error("the key of this instance is locked")]
    Locked,
    /// It is not among those that the keychain has.
    #[error("the key with which this machine joined the mesh is gone; turn the mesh on anew and pair again")]
    Gone,
}

/// The key of a node: that of this instance, or the one that it had when it joined.
///
/// # Errors
/// [`NoKey`].
pub fn node_key(kernel: &Kernel, node: Option<NodeId>) -> Result<SchnorrKey, NoKey> {
    let soul = kernel.identity().first_soul().ok_or(NoKey::Soul)?;
    let ring = &kernel.ports().keys;
    let present = ring.instance(&soul).ok_or(NoKey::Locked)?;
    let is_it = |key: &SchnorrKey| node.is_none_or(|node| node_of(key) == Some(node));
    if is_it(&present) {
        return Ok(present);
    }
    ring.former_instances(&soul).into_iter().find(is_it).ok_or(NoKey::Gone)
}

/// The node that speaks with a key.
pub fn node_of(key: &SchnorrKey) -> Option<NodeId> {
    key.public().parse().ok()
}

/// Secrets of the mesh in the keychain.
pub struct MeshKeys(VaultSource);

impl MeshKeys {
    /// Those in the vault that is open when they are asked for.
    pub fn new(vault: VaultSource) -> Self {
        Self(vault)
    }

    fn vault(&self) -> Result<Arc<dyn Vault>, Error> {
        (self.0)().ok_or_else(|| Error::Locked { why: "the keys of this store are locked".to_owned() })
    }

    /// Keeps secrets of groups before anything is recorded of them.
    ///
    /// # Errors
    /// Those of the vault.
    pub fn keep(&self, secrets: &[KeepSecret]) -> Result<(), Error> {
        if secrets.is_empty() {
            return Ok(());
        }
        let vault = self.vault()?;
        let mut kept = read(&*vault)?;
        for one in secrets {
            kept = without(&kept, &one.secret);
            kept.extend_from_slice(&one.secret);
        }
        let over = kept.len().saturating_sub(GROUPS_MAX * SECRET_BYTES);
        kept.drain(..over);
        vault.put(GROUPS, &kept)
    }

    /// Lets go of a secret of which nothing is on record.
    ///
    /// # Errors
    /// Those of the vault.
    pub fn forget(&self, secret: &[u8; SECRET_BYTES]) -> Result<(), Error> {
        let vault = self.vault()?;
        let kept = read(&*vault)?;
        let left = without(&kept, secret);
        if left.len() == kept.len() { Ok(()) } else { vault.put(GROUPS, &left) }
    }

    /// What seals with a key, and with the secrets of the newest groups.
    ///
    /// # Errors
    /// In words.
    pub fn sealing(&self, key: &SchnorrKey) -> Result<NostrSealing, String> {
        let mut sealing = key.with_secret(NostrSealing::new).map_err(|e| e.to_string())?;
        let kept = self.vault().and_then(|vault| read(&*vault)).map_err(|e| e.to_string())?;
        for secret in kept.chunks_exact(SECRET_BYTES) {
            let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
            bytes.copy_from_slice(secret);
            if let Err(error) = sealing.add_group(&bytes) {
                tracing::warn!(%error, "a secret of a group cannot be used");
            }
        }
        Ok(sealing)
    }
}

/// Whole secrets; what is left behind them is none.
fn read(vault: &dyn Vault) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut kept = vault.get(GROUPS)?.unwrap_or_default();
    let whole = kept.len() / SECRET_BYTES * SECRET_BYTES;
    kept.truncate(whole);
    Ok(kept)
}

fn without(kept: &[u8], secret: &[u8; SECRET_BYTES]) -> Zeroizing<Vec<u8>> {
    let others = kept.chunks_exact(SECRET_BYTES).filter(|one| *one != secret.as_slice());
    // Room for one more: what grows would leave a copy behind.
    let mut left = Zeroizing::new(Vec::with_capacity(kept.len() + SECRET_BYTES));
    others.for_each(|one| left.extend_from_slice(one));
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use keychain::MemoryVault;

    fn keep(byte: u8) -> KeepSecret {
        let secret = [byte; SECRET_BYTES];
        let key = SchnorrKey::from_secret(secret).unwrap();
        KeepSecret { group: node_of(&key).unwrap(), secret }
    }

    #[test]
    fn secrets_of_groups_come_again_the_newest_last_and_go_when_they_are_out_of_use() {
        let vault = Arc::new(MemoryVault::new());
        let lent = Arc::clone(&vault);
        let keys = MeshKeys::new(Box::new(move || Some(Arc::clone(&lent) as Arc<dyn Vault>)));
        let me = SchnorrKey::from_secret([99; 32]).unwrap();
        assert!(keys.sealing(&me).unwrap().groups().is_empty());
        keys.keep(&[keep(1), keep(2)]).unwrap();
        keys.keep(&[keep(1)]).unwrap();
        let sealing = keys.sealing(&me).unwrap();
        assert_eq!(sealing.groups(), [keep(2).group, keep(1).group]);
        assert_eq!(Some(sealing.node()), node_of(&me));
        assert_eq!(sealing.group_secret(keep(1).group), Some([1; 32]));
        keys.forget(&[1; 32]).unwrap();
        assert_eq!(keys.sealing(&me).unwrap().groups(), [keep(2).group]);
        for byte in 3..40 {
            keys.keep(&[keep(byte)]).unwrap();
        }
        let kept = vault.get(GROUPS).unwrap().unwrap();
        assert_eq!(kept.len(), GROUPS_MAX * SECRET_BYTES, "no more than are in use");
        assert_eq!(keys.sealing(&me).unwrap().groups().last(), Some(&keep(39).group));
        vault.lock();
        assert!(keys.sealing(&me).is_err() && keys.keep(&[keep(1)]).is_err());
    }
}
