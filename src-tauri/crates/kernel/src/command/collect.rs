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
use model::{ArtifactId, TaskId, UnixMs, limits};
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

/// How often a collection looks at what came in between before it gives way to what is at work.
const CATCH_UPS_MAX: u32 = 256;

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
    /// Whether a task has not ended: then files that were written of late are spared too.
    pub at_work: bool,
    /// The last event that was looked at.
    pub log_seq: u64,
}

impl Collection {
    /// What names it: who says yes to a collection was shown exactly this one.
    ///
    /// # Errors
    /// Never for what has a canonical form, as this has.
    pub fn sha256(&self) -> Result<Digest, Error> {
        Ok(Digest::of(&seal::canon::to_canonical(&self.garbage)?))
    }

    /// How files are gone through.
    #[must_use]
    pub fn sweep(&self, mode: artifacts::Mode, now: UnixMs) -> artifacts::Sweep {
        let lately = self.at_work.then(|| now.plus_ms(-limits::CONTENT_LEASE_MS));
        artifacts::Sweep { mode, now, spare_since: lately }
    }
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
    /// Tasks of people; those of the store and of conversations never end.
    created: BTreeSet<TaskId>,
    /// Every identifier and digest in any event, where that is asked for.
    every_name: BTreeSet<String>,
    /// Tasks that were found not to have ended.
    begun_again: BTreeSet<TaskId>,
    /// Whether every name is wanted.
    all_names: bool,
    /// The last event of all that.
    log_seq: u64,
}

impl Gathered {
    fn all(reader: &Reader) -> Result<Self, Error> {
        let mut all = Self::default();
        all.catch_up(reader)?;
        Ok(all)
    }

    /// Takes what came since.
    fn catch_up(&mut self, reader: &Reader) -> Result<(), Error> {
        let all = self;
        loop {
            let page = reader.log(all.log_seq, STRIDE)?;
            let Some(last) = page.last() else { return Ok(()) };
            all.log_seq = last.log_seq;
            for stored in &page {
                let event = stored.event()?;
                // What a collection itself lets go is no use of it.
                if all.all_names && event.event_type != "artifact.expired" {
                    names(&event.payload, &mut all.every_name);
                }
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
            "task.created" => {
                if let Body::TaskCreated(b) = body()? {
                    self.created.insert(b.task.task_id);
                }
                names(payload, &mut self.named);
            }
            "task.status_changed" => {
                if let Body::TaskStatusChanged(b) = body()? {
                    if b.to.is_terminal() {
                        self.ended.insert(b.about_task_id, at);
                    } else {
                        self.ended.remove(&b.about_task_id);
                        self.begun_again.insert(b.about_task_id);
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
    Gathered::all(reader)?.plan(artifacts, now, keep_ms)
}

fn document(bytes: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(bytes).map_err(|e| Error::Broken(format!("stored content is no JSON: {e}")))
}

impl Gathered {
    fn plan(mut self, artifacts: &artifacts::Store, now: UnixMs, keep_ms: i64) -> Result<Collection, Error> {
        for envelope in std::mem::take(&mut self.receipts) {
            let Some(known) = self.artifacts.get(&envelope) else { continue };
            if self.expired.contains(&envelope) {
                continue;
            }
            let payload = super::rollback::payload_of(&artifacts.read(&known.artifact.content_hash)?)?;
            names(&document(&payload)?, &mut self.named);
        }
        let at_work = self.created.iter().any(|task| !self.ended.contains_key(task));
        let mut collection = Collection { at_work, log_seq: self.log_seq, ..Collection::default() };
        let stays = self.what_stays(artifacts, now, keep_ms, &mut collection)?;
        self.sort_out(&stays, &mut collection);
        Ok(collection)
    }

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
    /// What a collection would take now, and the files that nothing names at all.
    ///
    /// # Errors
    /// As [`plan`].
    pub fn garbage(&self, keep_ms: i64) -> Result<(Collection, artifacts::Collected), Error> {
        let now = self.ports.clock.now();
        let collection = plan(&self.reader, &self.artifacts, now, keep_ms)?;
        let sweep = collection.sweep(artifacts::Mode::DryRun, now);
        let files = self.artifacts.collect(&collection.live, sweep)?;
        Ok((collection, files))
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
        if shown.is_some_and(|shown| collection.sha256().is_ok_and(|found| found != shown)) {
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
        let gone: BTreeSet<Digest> = collection.garbage.iter().map(|one| one.sha256).collect();
        let files = self.artifacts.collect(&live, collection.sweep(artifacts::Mode::Remove, now))?;
        collected.orphans = files.digests.iter().filter(|digest| !gone.contains(digest)).count() as u64;
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
        let busy = || Error::Conflict("too much is at work to make room beside it; try again".to_owned());
        for _ in 0..CATCH_UPS_MAX {
            match self.expire(part, keep_ms, *log_seq) {
                Ok((list, now_at)) => {
                    *log_seq = now_at;
                    return Ok(list);
                }
                Err(Error::Ledger(ledger::Error::Grown { .. })) => {
                    *log_seq = self.none_of_it_is_named(of, *log_seq)?;
                }
                Err(error) => return Err(error),
            }
        }
        Err(busy())
    }

    /// Looks at the events behind `after`: none of them may lead to what a collection would take. Answers where the log
    /// ends now.
    fn none_of_it_is_named(&self, of: &Collection, after: u64) -> Result<u64, Error> {
        let mut new = Gathered { log_seq: after, all_names: true, ..Gathered::default() };
        new.catch_up(&self.reader)?;
        let begun_again = of.garbage.iter().any(|one| new.begun_again.contains(&one.task_id));
        let mut named = std::mem::take(&mut new.every_name);
        for known in new.artifacts.values() {
            named.extend(known.artifact.inputs.iter().map(ToString::to_string));
            named.insert(known.artifact.content_hash.to_string());
            let kind = known.artifact.kind;
            if matches!(kind, ArtifactKind::ActionRequest) {
                names(&document(&self.artifacts.read(&known.artifact.content_hash)?)?, &mut named);
            }
        }
        for envelope in &new.receipts {
            let Some(known) = new.artifacts.get(envelope) else { continue };
            let payload = super::rollback::payload_of(&self.artifacts.read(&known.artifact.content_hash)?)?;
            names(&document(&payload)?, &mut named);
        }
        let led_to = |one: &Garbage| {
            named.contains(&one.artifact_id.to_string()) || named.contains(&one.sha256.to_string())
        };
        if begun_again || of.garbage.iter().any(led_to) {
            let why = "something at work now leads to what would go; look at it again";
            return Err(Error::Conflict(why.to_owned()));
        }
        Ok(new.log_seq)
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
        let placed = self.commit(w, None)?;
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
        self.commit(w, None)?;
        Ok(())
    }
}
