//! Erasing what was said: the values behind digests, and content that repeats them. The log keeps every digest, so
//! chains, trees, signatures and proofs stay as they are (proof.md 5).

use super::collect::live_without;
use super::person::{Matter, Signed};
use super::training::RecallOf;
use crate::Error;
use crate::kernel::Kernel;
use crate::training_registry::ERASED;
use model::body::{ArtifactExpired, DisclosuresErased};
use model::fault::Point;
use model::principal::PrincipalType;
use model::task::TaskStatus;
use model::{ArtifactId, TaskId};
use seal::Digest;
use serde::Serialize;
use std::collections::BTreeSet;

/// Digests that one event names at most.
const DIGESTS_MAX: usize = 1_000;

/// How often an erasure looks at what came in between before it gives way to what is at work.
const CATCH_UPS_MAX: u32 = 16;

/// What is to be erased, as it was shown to a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Erasure {
    /// Disclosures, sorted.
    pub values: Vec<Digest>,
    /// Artifacts that are let go, with the digest of their content, sorted. The content goes with the last artifact that
    /// has it.
    pub contents: Vec<(ArtifactId, Digest)>,
    /// Bytes that stand in a request of theirs and are no artifact of their own, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<Digest>,
    /// The tasks concerned, sorted; each of them has ended.
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
        self.values.is_empty() && self.contents.is_empty() && self.written.is_empty()
    }
}

impl Kernel {
    /// Erases, as one commit with the events that say so. Bytes that something else leads to stay, whatever was planned:
    /// of these only what led there is let go.
    ///
    /// # Errors
    /// [`Error::Conflict`] while one of the tasks is at work, or so much happens that nobody can say what else leads to
    /// the content; [`Error::Refused`] when no person decided it.
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
        for _ in 0..CATCH_UPS_MAX {
            match self.erase_on(erasure, signed) {
                Err(Error::Ledger(ledger::Error::Grown { .. })) => {}
                done => return done,
            }
        }
        Err(Error::Conflict("too much is at work to erase beside it; try again".to_owned()))
    }

    /// One attempt, on the log as it is now.
    fn erase_on(&self, erasure: &Erasure, signed: &Signed) -> Result<(), Error> {
        let log_seq = self.reader.log_head()?;
        let mut own: BTreeSet<ArtifactId> = erasure.contents.iter().map(|(id, _)| *id).collect();
        // Examples are copies of what a model was sent.
        let recall = RecallOf {
            said: "what a person erased".to_owned(),
            tasks: erasure.tasks.iter().copied().collect(),
            requests: own.clone(),
            ..RecallOf::default()
        };
        let recalled = self.planned_recall(&recall);
        own.extend(recalled.contents().map(|one| one.artifact_id));
        let elsewhere = live_without(&self.reader, &self.artifacts, &own)?;
        let held =
            |digest: &Digest| elsewhere.kept.contains_key(digest) || elsewhere.staged.contains_key(digest);
        let decided = self.decided(Matter::Erase, erasure.sha256()?, signed)?;
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::DisclosureErase, actor, self.session.clone(), None)?;
        w.push(decided);
        for digests in erasure.values.chunks(DIGESTS_MAX) {
            w.push(DisclosuresErased { digests: digests.to_vec(), reason: "a person asked".to_owned() });
        }
        for (artifact_id, _) in &erasure.contents {
            w.push(ArtifactExpired { artifact_id: *artifact_id, reason: ERASED.to_owned() });
        }
        if !recalled.is_empty() {
            self.push_recall(&mut w, &recall, &recalled)?;
        }
        let digests = erasure.contents.iter().map(|(_, digest)| digest).chain(&erasure.written);
        let digests = digests.chain(recalled.contents().map(|one| &one.sha256));
        let gone: BTreeSet<Digest> = digests.filter(|digest| !held(digest)).copied().collect();
        w.batch.erase_content.extend(&gone);
        w.batch.erase.extend(&erasure.values);
        w.batch.expect_log = Some(log_seq);
        self.commit(w)?;
        for task in &erasure.tasks {
            self.forget(*task);
        }
        self.forget_predecessors();
        self.fold_mesh_anew()?;
        // A vector tells about the text that it was made of.
        self.tidy_vectors()?;
        // Said by the log now; files go behind it. What a crash leaves is swept by the next erasure, or collected.
        for digest in &gone {
            self.artifacts.erase(digest)?;
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
