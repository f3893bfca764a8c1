//! Proves to a machine that is reached directly whose key speaks here, and checks what it proves (mesh.md 5).

use super::engine::Drawn;
use mesh::direct;
use mesh::sealed::NostrSealing;
use model::{Clock, Entropy};
use socket::Proves;
use std::sync::{Arc, Mutex, PoisonError};

/// The key of the node, while it may be used.
pub struct NodeProof {
    key: Mutex<Option<Arc<NostrSealing>>>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl NodeProof {
    /// Of nobody yet.
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { key: Mutex::default(), clock, entropy }
    }

    /// Proves this key from now on, or none.
    pub fn is(&self, key: Option<Arc<NostrSealing>>) {
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = key;
    }

    /// What signs with it.
    pub fn sealing(&self) -> Option<Arc<NostrSealing>> {
        self.key.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Proves for NodeProof {
    fn challenge(&self) -> String {
        direct::challenge(&mut Drawn(Arc::clone(&self.entropy)))
    }

    fn answer(&self, challenge: &str, place: &str) -> Option<Vec<u8>> {
        direct::answer(&*self.sealing()?, challenge, place, self.clock.now())
    }

    fn check(&self, challenge: &str, place: &str, frame: &[u8]) -> Option<String> {
        direct::check(challenge, place, frame, self.clock.now()).map(|node| node.to_string())
    }
}
