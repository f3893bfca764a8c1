//! Making room alone: with nothing at work, any time may be asked for, and the database gives its bytes back too.

use crate::{Error, Local};
use model::{ArtifactId, Digest};
use wire::artifacts::Collected;

impl Local {
    /// What a collection would take of tasks that ended `keep_ms` ago or earlier, and files that nothing names.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn garbage(&self, keep_ms: i64) -> Result<Collected, wire::Error> {
        api::disk_usage::would_go(self, keep_ms)
    }

    /// Collects what was shown, and gives the bytes back to the disk.
    ///
    /// # Errors
    /// As [`Local::garbage`]; [`wire::Code::Conflict`] when something else would go by now.
    pub fn collect(
        &self,
        keep_ms: i64,
        shown: Digest,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Collected, wire::Error> {
        let collected = api::disk_usage::go(self, keep_ms, shown, progress)?;
        if collected.artifacts > 0 {
            // Small content lies in the database itself, which keeps its size until it is rewritten.
            match self.owned_kernel().map_err(Error::to_wire)?.scrub() {
                // The files are gone, and the database takes up again what it has free in itself.
                Err(error @ kernel::Error::Ledger(ledger::Error::Full)) => {
                    tracing::warn!(%error, "the database keeps its size");
                }
                scrubbed => scrubbed.map_err(api::of_kernel)?,
            }
        }
        Ok(collected)
    }

    /// Lets an artifact go again that was kept whatever a collection would say.
    ///
    /// # Errors
    /// [`Error::Kernel`].
    pub fn let_go(&self, artifact: ArtifactId) -> Result<(), Error> {
        Ok(self.owned_kernel()?.keep_artifact(artifact, false)?)
    }
}
