//! Copies of the store: that one was made, and that the store was put back from one.

use crate::Error;
use crate::kernel::Kernel;
use model::body::{BackupMade, StoreRestored};
use model::fault::Point;
use model::principal::PrincipalType;
use seal::Digest;

impl Kernel {
    /// Records that a copy of the store was made: the digest of its manifest, how many files and bytes it is.
    ///
    /// # Errors
    /// When the event cannot be written.
    pub fn backed_up(&self, manifest_sha256: Digest, files: u64, bytes: u64) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::BackupWrite, actor, self.session.clone(), None)?;
        w.push(BackupMade { manifest_sha256, files, bytes });
        self.commit(w)?;
        Ok(())
    }

    /// Records that the store was restored from the copy with this manifest; a second time it is known already.
    ///
    /// # Errors
    /// When the event cannot be written.
    pub fn restored(&self, manifest_sha256: Digest, behind_pin: bool) -> Result<(), Error> {
        let key = format!("restored:{manifest_sha256}");
        if self.reader.by_idempotency_key(&key)?.is_some() {
            return Ok(());
        }
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::StoreRestore, actor, self.session.clone(), None)?;
        w.push_keyed(Some(key), StoreRestored { manifest_sha256, behind_pin });
        self.commit(w)?;
        Ok(())
    }
}
