//! Erasing, by a person at this machine: the log says so, then files go, the database is rewritten, and the run stream
//! forgets. Whatever a crash leaves over is swept by the next erasure.

use crate::keys::APPROVAL_FILE;
use crate::{Error, Local, OsEntropy, SystemClock};
use kernel::command::erase::Erasure;
use kernel::command::person::{Matter, Signed};
use keychain::ApprovalKey;
use model::{Clock as _, TaskId};
use projections::ArtifactState;
use projections::Ask;
use projections::query::ArtifactFilter;
use seal::SeedSigner;

impl Local {
    /// Erases what a person was shown, signed with the approval key.
    ///
    /// # Errors
    /// [`Error::Keys`] for a wrong passphrase; [`Error::Kernel`] as the kernel says.
    pub fn erase(&self, erasure: &Erasure, approval: &[u8]) -> Result<(), Error> {
        let kernel = self.owned_kernel()?;
        let key = self.approval_key(approval)?;
        let log_id = kernel.reader().log_id();
        let signed = Signed::of(log_id, Matter::Erase, erasure.sha256()?, SystemClock.now(), &key)?;
        kernel.erase(erasure, &signed)?;
        self.sweep(&erasure.tasks)
    }

    /// The approval key, opened for one decision.
    pub(crate) fn approval_key(&self, passphrase: &[u8]) -> Result<SeedSigner, Error> {
        Ok(ApprovalKey::open(&self.home().path(APPROVAL_FILE), passphrase)?)
    }

    /// Takes away what runs of training made of what is erased, removes files of artifacts whose content is no longer kept,
    /// rewrites the database, and lets the run stream of the tasks go.
    ///
    /// # Errors
    /// [`Error::Kernel`], [`Error::Io`].
    pub fn sweep(&self, tasks: &[TaskId]) -> Result<(), Error> {
        let kernel = self.owned_kernel()?;
        api::Trainer::forget(self);
        kernel.tidy_vectors()?;
        let view = |e: projections::Error| Error::Kernel(kernel::Error::Broken(e.to_string()));
        let query = kernel.query()?;
        let live = kernel::command::collect::live(kernel.reader(), kernel.artifacts())?;
        let (mut ask, filter) = (Ask::ALL, ArtifactFilter::default());
        loop {
            let page = query.artifacts(&filter, ask).map_err(view)?;
            for row in page.rows.iter().filter(|row| row.state == ArtifactState::Expired) {
                let held =
                    live.kept.contains_key(&row.content_hash) || live.staged.contains_key(&row.content_hash);
                if !held {
                    kernel.artifacts().erase(&row.content_hash).map_err(kernel::Error::from)?;
                }
            }
            match page.next {
                Some(next) => ask = Ask::ALL.after(Some(next)),
                None => break,
            }
        }
        drop(query);
        self.forget_runs(tasks);
        Ok(kernel.scrub()?)
    }

    /// The run stream is never truth: what of it was about these tasks goes, and is mirrored anew without the values.
    fn forget_runs(&self, tasks: &[TaskId]) {
        if !self.home().path(runstream::FILE).exists() {
            return;
        }
        let journal = match runstream::Writer::open(self.home().dir(), &OsEntropy) {
            Ok(journal) => journal,
            Err(error) => return tracing::warn!(%error, "the run stream could not be opened to forget"),
        };
        for task in tasks {
            if let Err(error) = journal.forget(*task) {
                tracing::warn!(%error, %task, "the run stream did not forget a task");
            }
        }
        if let Err(error) = journal.close() {
            tracing::warn!(%error, "the run stream was not closed");
        }
    }
}
