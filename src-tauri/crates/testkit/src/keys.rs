//! Keys of a test store, which can be locked.

use kernel::ports::KeyRing;
use keychain::{ApprovalKey, Cost, FileVault};
use seal::schnorr::SchnorrKey;
use seal::{Digest, PublicKey, SeedSigner, Signer};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A key ring from fixed seeds.
pub struct TestKeys {
    receipt: Arc<SeedSigner>,
    log: Arc<SeedSigner>,
    manifest: Arc<SeedSigner>,
    cosign: Arc<SeedSigner>,
    locked: AtomicBool,
}

impl TestKeys {
    /// Keys from a seed byte.
    pub fn new(seed: u8) -> Self {
        let signer = |purpose: u8| Arc::new(SeedSigner::from_seed([seed ^ purpose; 32]));
        let locked = AtomicBool::new(false);
        Self { receipt: signer(1), log: signer(2), manifest: signer(3), cosign: signer(4), locked }
    }

    /// Locks or opens them.
    pub fn lock(&self, locked: bool) {
        self.locked.store(locked, Ordering::SeqCst);
    }

    /// The key of receipts.
    pub fn receipt_signer(&self) -> Arc<SeedSigner> {
        Arc::clone(&self.receipt)
    }

    /// The key of checkpoints.
    pub fn log_signer(&self) -> Arc<SeedSigner> {
        Arc::clone(&self.log)
    }

    /// The key of manifests.
    pub fn manifest_signer(&self) -> Arc<SeedSigner> {
        Arc::clone(&self.manifest)
    }

    fn open(&self, signer: &Arc<SeedSigner>) -> Option<Arc<dyn Signer>> {
        let signer: Arc<dyn Signer> = Arc::clone(signer) as Arc<dyn Signer>;
        (!self.locked.load(Ordering::SeqCst)).then_some(signer)
    }
}

impl KeyRing for TestKeys {
    fn receipt(&self) -> Option<Arc<dyn Signer>> {
        self.open(&self.receipt)
    }

    fn log(&self) -> Option<Arc<dyn Signer>> {
        self.open(&self.log)
    }

    fn cosign(&self) -> Option<Arc<dyn Signer>> {
        self.open(&self.cosign)
    }

    fn log_keys(&self) -> Vec<PublicKey> {
        vec![self.log.public()]
    }

    fn instance(&self, first_soul: &Digest) -> Option<SchnorrKey> {
        let secret = Digest::of(&[self.log.public().as_bytes().as_slice(), first_soul.as_bytes()].concat());
        let open = !self.locked.load(Ordering::SeqCst);
        open.then(|| SchnorrKey::from_secret(secret.0).expect("a scalar of the group"))
    }

    fn former_instances(&self, _: &Digest) -> Vec<SchnorrKey> {
        Vec::new()
    }
}

/// Lays an empty vault and an approval key into a store's folder, as a try at making keys leaves them that broke off:
/// making keys with these passphrases goes on from there. A guess at them costs next to nothing, while every start with
/// real ones takes a third of a second and 128 MiB.
///
/// # Panics
/// When they cannot be written.
pub fn cheap_keys(home: &Path, vault: &[u8], approval: &[u8]) {
    let mut private = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
    private.recursive(true).create(home).expect("a folder");
    FileVault::create(&home.join("vault.key"), vault, Cost::TEST).expect("a vault");
    ApprovalKey::create(&home.join("approval.key"), approval, Cost::TEST).expect("an approval key");
}
