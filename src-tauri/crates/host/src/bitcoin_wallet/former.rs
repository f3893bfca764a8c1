//! Keys of the instance before the present one, and which link each of them handed over in: such a link goes on the chain with an
//! input of both.

use kernel::Kernel;
use model::Digest;
use model::identity::Link;
use seal::schnorr::SchnorrKey;

/// A hand-over in the chain of the instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handed {
    /// SHA-256 of the link.
    pub link: Digest,
    /// The key that went.
    pub from: String,
    /// The key that came.
    pub to: String,
}

/// Keys that went, and what they handed over in.
#[derive(Debug, Clone, Default)]
pub struct Former {
    /// The keys that are still to be had.
    pub keys: Vec<SchnorrKey>,
    /// The hand-overs.
    pub handed: Vec<Handed>,
}

impl Former {
    /// Those of a store's instance; none where its keys are locked, or a key never handed over.
    pub fn of(kernel: &Kernel) -> Self {
        let registry = kernel.identity();
        let Some(soul) = registry.first_soul() else { return Self::default() };
        let graph = match registry.graph(kernel.artifacts()) {
            Ok(graph) => graph,
            Err(error) => {
                tracing::warn!(%error, "the chain of the instance cannot be read");
                return Self::default();
            }
        };
        let handed = graph.links.iter().filter_map(|followed| match &followed.link {
            Link::Handover(handed) => Some(Handed {
                link: followed.link_sha256,
                from: handed.from_pubkey.clone(),
                to: handed.to_pubkey.clone(),
            }),
            Link::Attestation(_) | Link::Revocation(_) => None,
        });
        let handed: Vec<Handed> = handed.collect();
        if handed.is_empty() {
            return Self::default();
        }
        Self { keys: kernel.ports().keys.former_instances(&soul), handed }
    }

    /// The key that went and the one that came in a link, where both are to be had.
    pub(super) fn keys_of<'a>(
        &'a self,
        link: &Digest,
        present: &'a SchnorrKey,
    ) -> Option<(&'a SchnorrKey, &'a SchnorrKey)> {
        let handed = self.handed.iter().find(|one| one.link == *link)?;
        let of = |pubkey: &str| self.keys.iter().chain([present]).find(|key| key.public() == pubkey);
        Some((of(&handed.from)?, of(&handed.to)?))
    }
}
