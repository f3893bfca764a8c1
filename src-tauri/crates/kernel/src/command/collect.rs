//! Garbage collection of content: what no receipt leads to, no task at work needs and no person keeps goes when its time
//! has come (governance.md, issue "content store").
//!
//! Where it begins is what must stay: every receipt with all it names, everything of a task that has not ended, what a
//! person gave, keeps or was answered, and what beliefs, memory, decisions, approvals and grants name. From there it goes
//! back through what went into each artifact. Only what the log itself calls kept for a time can go at all.

mod live;
mod plan;

pub use live::{Live, live, live_without, written_by};
pub use plan::{Collection, Garbage, garbage, plan};

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::writeup::NewArtifact;
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::{ArtifactExpired, ArtifactReferenced, KeyPurpose};
use model::fault::Point;
use model::principal::PrincipalType;
use model::{ArtifactId, UnixMs};
use seal::{Digest, dsse};
use serde::Serialize;

/// Events read at once.
const STRIDE: usize = 1_000;

/// By whom an artifact is said to be used when a person wants it kept.
const KEPT_BY: &str = "kept by a person";

/// By whom it is said to be used when they do not want it kept any more.
const LET_GO_BY: &str = "let go by a person";

/// How often a collection looks at what came in between before it gives way to what is at work.
const CATCH_UPS_MAX: u32 = 256;

/// Media type of the signed list of what was collected.
pub const COLLECTION_PAYLOAD_TYPE: &str = "application/vnd.hermit.collection+json";

/// What was collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// Artifacts whose content went.
    pub artifacts: u64,
    /// Bytes of it.
    pub bytes: u64,
    /// Files that nothing named at all, left by acts that were broken off.
    pub orphans: u64,
    /// Bytes that all of it gave back to the disk. Content in the ledger leaves its room to what comes next.
    pub disk_bytes: u64,
    /// Live content whose list of chunks cannot be read, so that no chunk could go.
    pub unreadable: u64,
    /// What was planned, and went.
    pub planned: Collection,
    /// Signed lists of what went, one for each commit.
    pub lists: Vec<ArtifactRef>,
}

/// What a list says, signed with the key of receipts.
#[derive(Serialize)]
struct List<'a> {
    collected_at: UnixMs,
    kept_ms: i64,
    artifacts: &'a [Garbage],
}

impl Kernel {
    /// As [`garbage`], of this store and now.
    ///
    /// # Errors
    /// As [`garbage`].
    pub fn garbage(&self, keep_ms: i64) -> Result<(Collection, artifacts::Collected), Error> {
        garbage(&self.reader, &self.artifacts, self.ports.clock.now(), keep_ms)
    }

    /// Collects garbage. Tasks may be at work meanwhile: each list is committed only on the log that it was made from, or
    /// on one that has grown by nothing that leads to what it names; and files that were kept of late are spared.
    ///
    /// # Errors
    /// As [`plan`]; [`Error::Conflict`] when `shown` is not what would go now, or so much happens that no list is ever
    /// made in time; [`Error::KeyLocked`] when the key of receipts is not open; [`Error::Ledger`].
    pub fn collect(
        &self,
        keep_ms: i64,
        shown: Option<Digest>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Collected, Error> {
        let now = self.ports.clock.now();
        let collection = plan(&self.reader, &self.artifacts, now, keep_ms)?;
        if let Some(shown) = shown
            && collection.sha256()? != shown
        {
            let why = "what would go is no longer what was shown; look at it again";
            return Err(Error::Conflict(why.to_owned()));
        }
        let mut collected = Collected::default();
        let total = collection.garbage.len() as u64;
        let mut log_seq = collection.log_seq;
        for part in collection.garbage.chunks(STRIDE) {
            collected.lists.push(self.expire_on(part, &collection, keep_ms, &mut log_seq)?);
            collected.artifacts = collected.artifacts.saturating_add(part.len() as u64);
            progress(collected.artifacts, total);
        }
        collected.bytes = collection.bytes;
        // Only now do files go, and with them what an earlier collection or a broken-off act has left.
        let mut live = collection.live.clone();
        live.extend(collected.lists.iter().map(|list| list.sha256));
        let files = self.artifacts.collect(&live, collection.sweep(artifacts::Mode::Remove, now))?;
        collected.orphans = collection.orphans(&files);
        collected.disk_bytes = files.bytes;
        collected.unreadable = files.unreadable.len() as u64;
        collected.planned = collection;
        Ok(collected)
    }

    /// Lets a part go, and looks at what others have committed in between until nobody has.
    fn expire_on(
        &self,
        part: &[Garbage],
        of: &Collection,
        keep_ms: i64,
        log_seq: &mut u64,
    ) -> Result<ArtifactRef, Error> {
        for _ in 0..CATCH_UPS_MAX {
            match self.expire(part, keep_ms, *log_seq) {
                Ok((list, now_at)) => {
                    *log_seq = now_at;
                    return Ok(list);
                }
                Err(Error::Ledger(ledger::Error::Grown { .. })) => {
                    *log_seq = of.still_holds(&self.reader, &self.artifacts, *log_seq)?;
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::Conflict("too much is at work to make room beside it; try again".to_owned()))
    }

    /// One commit: the signed list, an event for each artifact, and their bytes in the ledger.
    fn expire(&self, part: &[Garbage], kept_ms: i64, log_seq: u64) -> Result<(ArtifactRef, u64), Error> {
        let signer = self.ports.keys.receipt();
        if signer.is_none() && lock(&self.store).keys.contains_key(&KeyPurpose::Receipt) {
            return Err(Error::KeyLocked("receipt"));
        }
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::ArtifactCollect, actor, self.session.clone(), None)?;
        let list = List { collected_at: w.now, kept_ms, artifacts: part };
        let payload = seal::canon::to_canonical(&list)?;
        let (envelope, media) = match signer {
            Some(signer) => {
                let signed = dsse::sign(COLLECTION_PAYLOAD_TYPE, &payload, &*signer)?;
                (signed.to_bytes()?, "application/vnd.dsse.envelope.v1+json")
            }
            None => (payload, COLLECTION_PAYLOAD_TYPE),
        };
        let new = NewArtifact::audit(ArtifactKind::ActionResult).media(media);
        let at = w.artifact(&envelope, new)?;
        for one in part {
            let reason = format!("collected: nothing leads to it; the list is `{}`", at.artifact_id);
            w.push(ArtifactExpired { artifact_id: one.artifact_id, reason });
            w.batch.erase_content.push(one.sha256);
        }
        w.batch.expect_log = Some(log_seq);
        let placed = self.commit(w)?;
        Ok((at, placed.last().map_or(log_seq, |last| last.log_seq)))
    }

    /// Keeps an artifact whatever a collection would say, or lets it go again.
    ///
    /// # Errors
    /// [`Error::Ledger`].
    pub fn keep_artifact(&self, artifact_id: ArtifactId, keep: bool) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::ArtifactCollect, actor, self.session.clone(), None)?;
        let by = if keep { KEPT_BY } else { LET_GO_BY };
        w.push(ArtifactReferenced { artifact_id, by: by.to_owned() });
        self.commit(w)?;
        Ok(())
    }
}
