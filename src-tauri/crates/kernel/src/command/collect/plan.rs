//! What a collection would take: what the log says, gathered, and followed back from everything that must stay.

use super::{KEPT_BY, LET_GO_BY, STRIDE};
use crate::Error;
use crate::command::rollback;
use ledger::Reader;
use model::artifact::{Artifact, ArtifactClass, ArtifactKind, RetentionClass};
use model::body::Body;
use model::{ArtifactId, TaskId, UnixMs, limits};
use seal::Digest;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

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

    /// Files of `files` that nothing named at all: those of what goes are told with it, not once more.
    pub fn orphans(&self, files: &artifacts::Collected) -> u64 {
        let goes: BTreeSet<Digest> = self.garbage.iter().map(|one| one.sha256).collect();
        files.digests.iter().filter(|digest| !goes.contains(digest)).count() as u64
    }

    /// Looks at the events behind `after`: none of them may lead to what would go. Answers where the log ends now.
    ///
    /// # Errors
    /// [`Error::Conflict`] when one does; as [`plan`].
    pub(super) fn still_holds(
        &self,
        reader: &Reader,
        artifacts: &artifacts::Store,
        after: u64,
    ) -> Result<u64, Error> {
        let mut new = Gathered { log_seq: after, all_names: true, ..Gathered::default() };
        new.catch_up(reader)?;
        let mut named = std::mem::take(&mut new.every_name);
        for known in new.artifacts.values() {
            named.extend(known.artifact.inputs.iter().map(ToString::to_string));
            named.insert(known.artifact.content_hash.to_string());
            if known.artifact.kind == ArtifactKind::ActionRequest {
                names(&document(&artifacts.read(&known.artifact.content_hash)?)?, &mut named);
            }
        }
        for envelope in &new.receipts {
            let Some(known) = new.artifacts.get(envelope) else { continue };
            let payload = rollback::payload_of(&artifacts.read(&known.artifact.content_hash)?)?;
            names(&document(&payload)?, &mut named);
        }
        let led_to = |one: &Garbage| {
            new.begun_again.contains(&one.task_id)
                || named.contains(&one.artifact_id.to_string())
                || named.contains(&one.sha256.to_string())
        };
        if self.garbage.iter().any(led_to) {
            let why = "something at work now leads to what would go; look at it again";
            return Err(Error::Conflict(why.to_owned()));
        }
        Ok(new.log_seq)
    }

    /// How files are gone through.
    #[must_use]
    pub fn sweep(&self, mode: artifacts::Mode, now: UnixMs) -> artifacts::Sweep {
        let lately = self.at_work.then(|| now.plus_ms(-limits::CONTENT_LEASE_MS));
        artifacts::Sweep { mode, now, spare_since: lately }
    }
}

pub(super) struct Known {
    pub(super) artifact: Artifact,
    pub(super) task: TaskId,
}

#[derive(Default)]
pub(super) struct Gathered {
    pub(super) artifacts: BTreeMap<ArtifactId, Known>,
    pub(super) expired: BTreeSet<ArtifactId>,
    /// When a task ended; absent while it has not.
    ended: BTreeMap<TaskId, UnixMs>,
    pub(super) named: BTreeSet<String>,
    receipts: Vec<ArtifactId>,
    /// Tasks of people; those of the store and of conversations never end.
    created: BTreeSet<TaskId>,
    /// Every identifier and digest in any event, where that is asked for.
    every_name: BTreeSet<String>,
    /// Tasks that were found not to have ended.
    begun_again: BTreeSet<TaskId>,
    /// What names the newest that each schedule saw of what it waits for, by which the next look tells what changed.
    seen: BTreeMap<String, BTreeSet<String>>,
    /// What named those before: nobody compares with them any more.
    outdated: BTreeSet<String>,
    /// Whether every name is wanted.
    all_names: bool,
    /// The last event of all that.
    log_seq: u64,
}

impl Gathered {
    pub(super) fn all(reader: &Reader) -> Result<Self, Error> {
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
            "schedule.settled" => {
                names(payload, &mut self.named);
                self.saw(payload);
            }
            other if ON_THE_WAY.iter().any(|begin| other.starts_with(begin)) => {}
            _ => names(payload, &mut self.named),
        }
        Ok(())
    }
}

impl Gathered {
    /// Of what a schedule saw, the newest stays.
    fn saw(&mut self, settled: &Value) {
        let name = settled.get("name").and_then(Value::as_str);
        let (Some(name), Some(state)) = (name, settled.pointer("/seen/state")) else { return };
        let mut now = BTreeSet::new();
        names(state, &mut now);
        self.outdated.retain(|one| !now.contains(one));
        let before = self.seen.insert(name.to_owned(), now.clone()).unwrap_or_default();
        for one in before.difference(&now) {
            self.named.remove(one);
            self.outdated.insert(one.clone());
        }
    }
}

/// Every identifier of an artifact and every digest that stands anywhere in a document.
pub(super) fn names(value: &Value, found: &mut BTreeSet<String>) {
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

/// What a collection would take now, and what of the disk would go with it; nothing goes.
///
/// # Errors
/// As [`plan`]; [`Error::Artifacts`] when the files cannot be looked through.
pub fn garbage(
    reader: &Reader,
    artifacts: &artifacts::Store,
    now: UnixMs,
    keep_ms: i64,
) -> Result<(Collection, artifacts::Collected), Error> {
    let collection = plan(reader, artifacts, now, keep_ms)?;
    let files = artifacts.collect(&collection.live, collection.sweep(artifacts::Mode::DryRun, now))?;
    Ok((collection, files))
}

pub(super) fn document(bytes: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(bytes).map_err(|e| Error::Broken(format!("stored content is no JSON: {e}")))
}

impl Gathered {
    fn plan(mut self, artifacts: &artifacts::Store, now: UnixMs, keep_ms: i64) -> Result<Collection, Error> {
        for envelope in std::mem::take(&mut self.receipts) {
            let Some(known) = self.artifacts.get(&envelope) else { continue };
            if self.expired.contains(&envelope) {
                continue;
            }
            let payload = rollback::payload_of(&artifacts.read(&known.artifact.content_hash)?)?;
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
        if self.outdated.contains(&artifact.artifact_id.to_string()) {
            return Stands::Alone;
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
