//! Garbage collection of content: what no receipt leads to, no task at work needs and no person keeps goes when its time
//! has come (governance.md, issue "content store").
//!
//! Where it begins is what must stay: every receipt with all it names, everything of a task that has not ended, what a
//! person gave, keeps or was answered, and what beliefs, memory, decisions, approvals and grants name. From there it goes
//! back through what went into each artifact. Only what the log itself calls kept for a time can go at all.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::writeup::NewArtifact;
use ledger::Reader;
use model::artifact::{Artifact, ArtifactClass, ArtifactKind, ArtifactRef, RetentionClass};
use model::body::{ArtifactExpired, ArtifactReferenced, Body, KeyPurpose};
use model::fault::Point;
use model::principal::PrincipalType;
use model::{ArtifactId, TaskId, UnixMs};
use seal::{Digest, dsse};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Events read at once.
const STRIDE: usize = 1_000;

/// By whom an artifact is said to be used when a person wants it kept.
const KEPT_BY: &str = "kept by a person";

/// By whom it is said to be used when they do not want it kept any more.
const LET_GO_BY: &str = "let go by a person";

/// Events that say what came of what on the way, and keep nothing by that.
const ON_THE_WAY: [&str; 10] = [
    "artifact.",
    "attempt.",
    "working_state.",
    "action.",
    "policy.",
    "witness.",
    "effect.",
    "content.",
    "budget.",
    "step.",
];

/// Media type of the signed list of what was collected.
pub const COLLECTION_PAYLOAD_TYPE: &str = "application/vnd.hermit.collection+json";

/// Content that may go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Garbage {
    /// The artifact; several may have the same content.
    pub artifact_id: ArtifactId,
    /// Whose it was.
    pub task_id: TaskId,
    /// Digest of its content.
    pub sha256: Digest,
    /// Bytes of it.
    pub byte_size: u64,
    /// What it was.
    pub kind: ArtifactKind,
}

/// What a collection would take, and what it leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collection {
    /// What goes, sorted.
    pub garbage: Vec<Garbage>,
    /// Bytes of it; the same content is counted once.
    pub bytes: u64,
    /// Digests of all content that stays.
    pub live: BTreeSet<Digest>,
    /// Artifacts that stay although no receipt leads to them, because their time has not come.
    pub young: u64,
}

struct Known {
    artifact: Artifact,
    task: TaskId,
}

#[derive(Default)]
struct Gathered {
    artifacts: BTreeMap<ArtifactId, Known>,
    expired: BTreeSet<ArtifactId>,
    /// When a task ended; absent while it has not.
    ended: BTreeMap<TaskId, UnixMs>,
    named: BTreeSet<String>,
    receipts: Vec<ArtifactId>,
}

impl Gathered {
    fn all(reader: &Reader) -> Result<Self, Error> {
        let (mut all, mut after) = (Self::default(), 0);
        loop {
            let page = reader.log(after, STRIDE)?;
            let Some(last) = page.last() else { return Ok(all) };
            after = last.log_seq;
            for stored in &page {
                let event = stored.event()?;
                all.take(event.task_id, event.occurred_at, &event.event_type, &event.payload, || {
                    event.body(&|_| None).map_err(|e| Error::Broken(e.to_string()))
                })?;
            }
        }
    }

    fn take(
        &mut self,
        task: TaskId,
        at: UnixMs,
        event_type: &str,
        payload: &Value,
        body: impl Fn() -> Result<Body, Error>,
    ) -> Result<(), Error> {
        match event_type {
            "artifact.created" => {
                if let Body::ArtifactCreated(b) = body()? {
                    self.artifacts.insert(b.artifact.artifact_id, Known { artifact: b.artifact, task });
                }
            }
            "artifact.expired" => {
                if let Body::ArtifactExpired(b) = body()? {
                    self.expired.insert(b.artifact_id);
                }
            }
            "artifact.referenced" => {
                if let Body::ArtifactReferenced(b) = body()? {
                    match b.by.as_str() {
                        KEPT_BY => drop(self.named.insert(b.artifact_id.to_string())),
                        LET_GO_BY => drop(self.named.remove(&b.artifact_id.to_string())),
                        _ => {}
                    }
                }
            }
            "artifact.sealed" | "artifact.promoted" => names(payload, &mut self.named),
            "task.status_changed" => {
                if let Body::TaskStatusChanged(b) = body()? {
                    if b.to.is_terminal() {
                        self.ended.insert(b.about_task_id, at);
                    } else {
                        self.ended.remove(&b.about_task_id);
                    }
                }
            }
            "receipt.issued" => {
                if let Body::ReceiptIssued(b) = body()? {
                    self.receipts.push(b.envelope.artifact_id);
                }
                names(payload, &mut self.named);
            }
            other if ON_THE_WAY.iter().any(|begin| other.starts_with(begin)) => {}
            _ => names(payload, &mut self.named),
        }
        Ok(())
    }
}

/// Every identifier of an artifact and every digest that stands anywhere in a document.
fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let digest = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
            if digest || text.starts_with("art_") {
                found.insert(text.clone());
            }
        }
        Value::Array(all) => all.iter().for_each(|one| names(one, found)),
        Value::Object(members) => members.values().for_each(|one| names(one, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a collection would take now, of tasks that ended `keep_ms` ago or earlier.
///
/// # Errors
/// [`Error::Ledger`] when the log cannot be read; [`Error::Artifacts`] when a receipt cannot be read: then nobody could
/// say what it leads to, and nothing is garbage.
pub fn plan(
    reader: &Reader,
    artifacts: &artifacts::Store,
    now: UnixMs,
    keep_ms: i64,
) -> Result<Collection, Error> {
    let mut gathered = Gathered::all(reader)?;
    for envelope in std::mem::take(&mut gathered.receipts) {
        let Some(known) = gathered.artifacts.get(&envelope) else { continue };
        if gathered.expired.contains(&envelope) {
            continue;
        }
        let payload = super::rollback::payload_of(&artifacts.read(&known.artifact.content_hash)?)?;
        names(&document(&payload)?, &mut gathered.named);
    }
    let mut collection = Collection::default();
    let stays = gathered.what_stays(artifacts, now, keep_ms, &mut collection)?;
    gathered.sort_out(&stays, &mut collection);
    Ok(collection)
}

fn document(bytes: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(bytes).map_err(|e| Error::Broken(format!("stored content is no JSON: {e}")))
}

impl Gathered {
    /// Every artifact that stays, by following what went into what.
    fn what_stays(
        &mut self,
        artifacts: &artifacts::Store,
        now: UnixMs,
        keep_ms: i64,
        collection: &mut Collection,
    ) -> Result<BTreeSet<ArtifactId>, Error> {
        let mut waiting: Vec<ArtifactId> = Vec::new();
        for (id, known) in &self.artifacts {
            match self.standing(known, now, keep_ms) {
                Stands::Root => waiting.push(*id),
                Stands::Young => {
                    collection.young += 1;
                    waiting.push(*id);
                }
                Stands::Alone => {}
            }
        }
        let mut stays = BTreeSet::new();
        while let Some(id) = waiting.pop() {
            let Some(known) = self.artifacts.get(&id).filter(|_| !self.expired.contains(&id)) else {
                continue;
            };
            if !stays.insert(id) {
                continue;
            }
            waiting.extend(&known.artifact.inputs);
            if known.artifact.kind == ArtifactKind::ActionRequest {
                // What a change set writes stands in its request and nowhere else.
                let mut named = BTreeSet::new();
                names(&document(&artifacts.read(&known.artifact.content_hash)?)?, &mut named);
                waiting.extend(named.iter().filter_map(|name| name.parse::<ArtifactId>().ok()));
                self.named.extend(named);
            }
        }
        Ok(stays)
    }

    fn standing(&self, known: &Known, now: UnixMs, keep_ms: i64) -> Stands {
        let artifact = &known.artifact;
        let for_good = artifact.retention_class == RetentionClass::Permanent
            || matches!(artifact.class, ArtifactClass::Source | ArtifactClass::Deliverable);
        let named = |name: String| self.named.contains(&name);
        if for_good || named(artifact.artifact_id.to_string()) || named(artifact.content_hash.to_string()) {
            return Stands::Root;
        }
        match self.ended.get(&known.task) {
            None => Stands::Root,
            Some(ended) if ended.plus_ms(keep_ms) > now => Stands::Young,
            Some(_) => Stands::Alone,
        }
    }

    /// Content goes only when every artifact that has it goes, and nothing names it by its digest.
    fn sort_out(self, stays: &BTreeSet<ArtifactId>, collection: &mut Collection) {
        collection.live.extend(self.named.iter().filter_map(|name| name.parse::<Digest>().ok()));
        collection.live.extend(
            self.artifacts
                .iter()
                .filter(|(id, _)| stays.contains(id))
                .map(|(_, known)| known.artifact.content_hash),
        );
        let mut counted = BTreeSet::new();
        for (id, known) in &self.artifacts {
            let Artifact { content_hash, byte_size, kind, .. } = &known.artifact;
            if stays.contains(id) || self.expired.contains(id) || collection.live.contains(content_hash) {
                continue;
            }
            if counted.insert(*content_hash) {
                collection.bytes = collection.bytes.saturating_add(*byte_size);
            }
            let (artifact_id, task_id) = (*id, known.task);
            collection.garbage.push(Garbage {
                artifact_id,
                task_id,
                sha256: *content_hash,
                byte_size: *byte_size,
                kind: *kind,
            });
        }
        collection.garbage.sort();
    }
}

/// How an artifact stands before anything is followed.
enum Stands {
    /// It stays, and with it what went into it.
    Root,
    /// Its time has not come.
    Young,
    /// It stays only if something that stays leads to it.
    Alone,
}

/// What was collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// Artifacts whose content went.
    pub artifacts: u64,
    /// Bytes of it.
    pub bytes: u64,
    /// Files that nothing named at all, left by acts that were broken off; and their bytes.
    pub orphans: (u64, u64),
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
    /// What a collection would take now, and the files that nothing names at all.
    ///
    /// # Errors
    /// As [`plan`].
    pub fn garbage(&self, keep_ms: i64) -> Result<(Collection, artifacts::Collected), Error> {
        let collection = plan(&self.reader, &self.artifacts, self.ports.clock.now(), keep_ms)?;
        let files = self.artifacts.collect(&collection.live, artifacts::Mode::DryRun)?;
        Ok((collection, files))
    }

    /// Collects garbage. Nothing may be at work meanwhile: whoever calls this holds the store alone.
    ///
    /// # Errors
    /// As [`plan`]; [`Error::KeyLocked`] when the key of receipts is not open; [`Error::Ledger`].
    pub fn collect(&self, keep_ms: i64, progress: &mut dyn FnMut(u64, u64)) -> Result<Collected, Error> {
        let now = self.ports.clock.now();
        let collection = plan(&self.reader, &self.artifacts, now, keep_ms)?;
        let mut collected = Collected::default();
        let total = collection.garbage.len() as u64;
        for part in collection.garbage.chunks(STRIDE) {
            collected.lists.push(self.expire(part, keep_ms)?);
            collected.artifacts = collected.artifacts.saturating_add(part.len() as u64);
            progress(collected.artifacts, total);
        }
        collected.bytes = collection.bytes;
        // Only now do files go, and with them what an earlier collection or a broken-off act has left.
        let mut live = collection.live;
        live.extend(collected.lists.iter().map(|list| list.sha256));
        let gone: BTreeSet<Digest> = collection.garbage.iter().map(|one| one.sha256).collect();
        let files = self.artifacts.collect(&live, artifacts::Mode::Remove)?;
        let orphans = files.digests.iter().filter(|digest| !gone.contains(digest)).count() as u64;
        collected.orphans = (orphans, files.bytes);
        Ok(collected)
    }

    /// One commit: the signed list, an event for each artifact, and their bytes in the ledger.
    fn expire(&self, part: &[Garbage], kept_ms: i64) -> Result<ArtifactRef, Error> {
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
        self.commit(w, None)?;
        Ok(at)
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
        self.commit(w, None)?;
        Ok(())
    }
}
