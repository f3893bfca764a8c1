//! Making room: content that nothing leads to goes, and the files with it. Only the process that holds the store alone
//! does that, with nothing at work.

use crate::{Error, Local};
use kernel::command::collect::{Collected, Collection};
use model::ArtifactId;

impl Local {
    /// What a collection would take of tasks that ended `keep_ms` ago or earlier, and files that nothing names.
    ///
    /// # Errors
    /// [`Error::Kernel`].
    pub fn garbage(&self, keep_ms: i64) -> Result<(Collection, artifacts::Collected), Error> {
        Ok(self.owned_kernel()?.garbage(keep_ms)?)
    }

    /// Collects it, and gives the bytes back to the disk.
    ///
    /// # Errors
    /// [`Error::Kernel`].
    pub fn collect(&self, keep_ms: i64, progress: &mut dyn FnMut(u64, u64)) -> Result<Collected, Error> {
        let kernel = self.owned_kernel()?;
        let collected = kernel.collect(keep_ms, progress)?;
        if collected.artifacts > 0 {
            // Small content lies in the database itself, which keeps its size until it is rewritten.
            kernel.scrub()?;
        }
        Ok(collected)
    }

    /// Keeps an artifact whatever a collection would say, or lets it go again.
    ///
    /// # Errors
    /// [`Error::Kernel`].
    pub fn keep_artifact(&self, artifact: ArtifactId, keep: bool) -> Result<(), Error> {
        Ok(self.owned_kernel()?.keep_artifact(artifact, keep)?)
    }
}
