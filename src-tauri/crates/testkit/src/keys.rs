//! Keys of a test store, which can be locked.

use kernel::ports::KeyRing;
use seal::{PublicKey, SeedSigner, Signer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A key ring from fixed seeds.
pub struct TestKeys {
    receipt: Arc<SeedSigner>,
    log: Arc<SeedSigner>,
    manifest: Arc<SeedSigner>,
    locked: AtomicBool,
}

impl TestKeys {
    /// Keys from a seed byte.
    pub fn new(seed: u8) -> Self {
        let signer = |purpose: u8| Arc::new(SeedSigner::from_seed([seed ^ purpose; 32]));
        Self { receipt: signer(1), log: signer(2), manifest: signer(3), locked: AtomicBool::new(false) }
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

    fn log_keys(&self) -> Vec<PublicKey> {
        vec![self.log.public()]
    }
}
