//! The keys by which other machines sign heads of this log: whoever reads a proof names them.

use super::MeshRegistry;
use mesh::NodeId;
use model::body::CheckpointCosigned;
use seal::cosignature::WitnessKey;

/// What the names of these keys begin with; the key of the node follows.
const NAMES: &str = "hermit.local/node/";

/// Under which name a machine signs heads of the others.
pub(crate) fn witness_name(node: NodeId) -> String {
    format!("{NAMES}{node}")
}

impl MeshRegistry {
    /// The key by which a machine signed a head of this log last, as c2sp.org/signed-note spells one for `cosignature/v1`.
    pub fn cosign_key(&self, node: NodeId) -> Option<&str> {
        self.witnesses.get(&node).map(String::as_str)
    }

    /// A signature that was kept; those of other witnesses are passed over.
    pub(crate) fn apply_cosigned(&mut self, b: &CheckpointCosigned) {
        let key: Option<WitnessKey> = b.witness.parse().ok();
        let node: Option<NodeId> = key.as_ref().and_then(|key| key.name().strip_prefix(NAMES)?.parse().ok());
        if let Some(node) = node {
            self.witnesses.insert(node, b.witness.clone());
        }
    }
}
