//! Erasing what was said: the values behind digests, and content that repeats them. The log keeps every digest, so
//! chains, trees, signatures and proofs stay as they are (proof.md 5).

use super::person::{Matter, Signed};
use crate::Error;
use crate::kernel::Kernel;
use model::body::{ArtifactExpired, DisclosuresErased};
use model::fault::Point;
use model::principal::PrincipalType;
use model::task::TaskStatus;
use model::{ArtifactId, TaskId};
use seal::Digest;
use serde::Serialize;

/// Digests that one event names at most.
const DIGESTS_MAX: usize = 1_000;

/// What is to be erased, as it was shown to a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Erasure {
    /// Disclosures, sorted.
    pub values: Vec<Digest>,
    /// Artifacts whose content goes, with the digest of it, sorted. All artifacts of the same content are among them.
    pub contents: Vec<(ArtifactId, Digest)>,
    /// Tasks they belong to, sorted; each of them has ended.
    pub tasks: Vec<TaskId>,
}

impl Erasure {
    /// What a person signs.
    ///
    /// # Errors
    /// Never for what has a canonical form, as this has.
    pub fn sha256(&self) -> Result<Digest, Error> {
        Ok(Digest::of(&seal::canon::to_canonical(self)?))
    }

    /// Whether there is nothing left of it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty() && self.contents.is_empty()
    }
}

impl Kernel {
    /// Erases, as one commit with the events that say so.
    ///
    /// # Errors
    /// [`Error::Conflict`] while one of the tasks is at work; [`Error::Refused`] when no person decided it.
    pub fn erase(&self, erasure: &Erasure, signed: &Signed) -> Result<(), Error> {
        for task in &erasure.tasks {
            match self.task(*task) {
                Ok(state) if is_at_work(state.task.status) => {
                    return Err(Error::Conflict(format!(
                        "task `{task}` has not ended, and may still need what it was told; cancel it first"
                    )));
                }
                Ok(_) | Err(Error::NotFound { .. } | Error::Severed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let decided = self.decided(Matter::Erase, erasure.sha256()?, signed)?;
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::DisclosureErase, actor, self.session.clone(), None)?;
        w.push(decided);
        for digests in erasure.values.chunks(DIGESTS_MAX) {
            w.push(DisclosuresErased { digests: digests.to_vec(), reason: "a person asked".to_owned() });
        }
        for (artifact_id, digest) in &erasure.contents {
            w.push(ArtifactExpired { artifact_id: *artifact_id, reason: "erased".to_owned() });
            w.batch.erase_content.push(*digest);
        }
        w.batch.erase.extend(&erasure.values);
        self.commit(w, None)?;
        for task in &erasure.tasks {
            self.forget(*task);
        }
        Ok(())
    }

    /// Rewrites the store's file, so that nothing of what was erased is left in unused bytes of it.
    ///
    /// # Errors
    /// [`Error::Ledger`] when the disk is full or a reader still looks at the old bytes.
    pub fn scrub(&self) -> Result<(), Error> {
        Ok(self.writer.scrub()?)
    }
}

const fn is_at_work(status: TaskStatus) -> bool {
    !status.is_terminal()
}
