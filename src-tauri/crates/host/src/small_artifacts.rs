//! Small artifacts out of the ledger's file, for a process that only reads.

use artifacts::InlineBlobs;
use ledger::Reader;
use seal::Digest;

/// Looks into the ledger.
pub struct Blobs(pub Reader);

impl InlineBlobs for Blobs {
    fn inline(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.0.blob(digest).map_err(|e| e.to_string())
    }
}
