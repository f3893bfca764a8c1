//! What a proof is made of, handed over from ledger and artifacts byte for byte.

use crate::stamped::{Covered, Stamped};
use crate::{Wire as _, fold, state_proof};
use kernel::keyring::KeyHistory;
use ledger::{Checkpoint, CheckpointKind, Reader};
use model::audit::AuditEntry;
use model::body::KeyPurpose;
use model::{Body, Digest, TaskId};
use projections::Query;
use proof::{AnchorFiles, Head, IdentityFiles, PublicKeys, Source, StateProof};
use seal::succession::{Revocation, Succession};
use seal::{PublicKey, Signature};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io::Read;

/// Entries of the gate read at once.
const STRIDE: usize = 1_000;

/// One store as of checkpoints that were made in one commit; without any it is a store without keys.
pub(crate) struct StoreSource<'a> {
    reader: Reader,
    artifacts: &'a artifacts::Store,
    keys: PublicKeys,
    history: KeyHistory,
    made: Vec<Checkpoint>,
    /// Which witnesses are asked for, and what they signed of the newest head.
    policy: Option<String>,
    cosignatures: Vec<String>,
    /// The views, where roots of state go along.
    query: Option<Query>,
    /// What the store's own stream tells of its instance and anchors, once it was read.
    stamped: OnceCell<Stamped>,
}

impl<'a> StoreSource<'a> {
    pub(crate) fn of(
        reader: Reader,
        artifacts: &'a artifacts::Store,
        history: KeyHistory,
        made: Vec<Checkpoint>,
    ) -> Self {
        let key =
            |purpose| -> Option<PublicKey> { history.in_force(purpose).map(|record| record.public_key) };
        let keys = PublicKeys {
            log: key(KeyPurpose::Log),
            receipt: key(KeyPurpose::Receipt),
            manifest: key(KeyPurpose::Manifest),
            approval: key(KeyPurpose::Approval),
        };
        let (policy, cosignatures, query) = (None, Vec::new(), None);
        Self { reader, artifacts, keys, history, made, policy, cosignatures, query, stamped: OnceCell::new() }
    }

    /// With the roots of the task's conversation and of the memory that holds in its project.
    pub(crate) fn with_roots(mut self, query: Query) -> Self {
        self.query = Some(query);
        self
    }

    /// With what witnesses have signed of the newest head.
    pub(crate) fn witnessed(mut self, policy: Option<String>) -> Result<Self, wire::Error> {
        self.policy = policy;
        let Some(global) = self.head(CheckpointKind::Global, None).cloned() else { return Ok(self) };
        let first = self.reader.log(0, 1).wire()?.into_iter().next();
        let mut lines = Vec::new();
        if let Some(first) = first {
            fold::walk(&self.reader, first.task_id, &mut |_, _, body| {
                if let Body::CheckpointCosigned(c) = body
                    && (c.size, c.root) == (global.size, global.root)
                {
                    lines.push(c.line.clone());
                }
                Ok(())
            })?;
        }
        self.cosignatures = lines;
        Ok(self)
    }

    fn stamped(&self) -> Result<&Stamped, String> {
        if self.stamped.get().is_none() {
            // It was empty, so nobody set it meanwhile.
            let _ = self.stamped.set(Stamped::read(&self.reader)?);
        }
        self.stamped.get().ok_or_else(|| "the store's own stream could not be read".to_owned())
    }

    /// Where the task's head stands first in the log, and how far the log goes: as signed, else as it was signed last.
    fn covered(&self, task: TaskId) -> Result<Option<Covered>, String> {
        let last = |kind, task| self.reader.last_checkpoint(kind, task).map_err(|e| e.to_string());
        let of = |kind, task| match self.head(kind, task) {
            Some(made) => Ok(Some(made.clone())),
            None => last(kind, task),
        };
        let (Some(head), Some(log)) =
            (of(CheckpointKind::Task, Some(task))?, of(CheckpointKind::Global, None)?)
        else {
            return Ok(None);
        };
        // After a rotation of keys the same head was signed once more, in another place.
        let first = self.reader.task_checkpoint_first(task, head.size).map_err(|e| e.to_string())?;
        let index = first.and_then(|first| first.leaf_index);
        Ok(index.map(|index| Covered { index, notes: log.size }))
    }

    fn head(&self, kind: CheckpointKind, task: Option<TaskId>) -> Option<&Checkpoint> {
        self.made.iter().find(|c| c.kind == kind && c.task_id == task)
    }

    /// The gate's requests that were about actions of the task: an entry names the digest of its parameters, and the
    /// parameters name the action.
    fn requests(&self, task: TaskId) -> Result<BTreeSet<String>, String> {
        let mut params = BTreeSet::new();
        fold::walk(&self.reader, task, &mut |_, _, body| {
            if let Body::ActionRequested(asked) = body {
                let named = serde_json::json!({
                    "action_request_id": asked.request.artifact_id.to_string(),
                    "action_request_sha256": asked.request.sha256.to_string(),
                });
                params.insert(Digest::of(&seal::canon::canonical_value(&named).map_err(crate::failed)?));
            }
            Ok(())
        })
        .map_err(|e| e.to_string())?;
        let mut requests = BTreeSet::new();
        if params.is_empty() {
            return Ok(requests);
        }
        let mut from = 1;
        loop {
            let entries = self.reader.gate_entries(from, STRIDE).map_err(|e| e.to_string())?;
            let Some((last, _)) = entries.last() else { return Ok(requests) };
            from = last + 1;
            for (number, bytes) in &entries {
                let entry: AuditEntry =
                    serde_json::from_slice(bytes).map_err(|e| format!("entry {number}: {e}"))?;
                if entry.params_hash.is_some_and(|hash| params.contains(&hash)) {
                    requests.insert(entry.request_id);
                }
            }
        }
    }
}

pub(crate) fn of_checkpoint(made: &Checkpoint) -> Head {
    Head { note: made.note.clone(), leaf_index: made.leaf_index, made_at: made.made_at }
}

impl Source for StoreSource<'_> {
    fn log_id(&self) -> String {
        self.reader.log_id().to_owned()
    }

    fn public_keys(&self) -> PublicKeys {
        self.keys
    }

    fn successions(&self) -> Result<Vec<Vec<u8>>, String> {
        let note = |(step, by_old, by_new): &(Succession, Signature, Signature)| {
            step.note(by_old, by_new).map(|note| note.to_bytes()).map_err(|e| e.to_string())
        };
        self.history.successions.iter().map(note).collect()
    }

    fn revocations(&self) -> Result<Vec<Vec<u8>>, String> {
        let note = |(said, signature): &(Revocation, Signature)| {
            said.note(signature).map(|note| note.to_bytes()).map_err(|e| e.to_string())
        };
        self.history.revocations.iter().map(note).collect()
    }

    fn task_head(&self, task: TaskId) -> Result<Option<Head>, String> {
        Ok(self.head(CheckpointKind::Task, Some(task)).map(of_checkpoint))
    }

    fn gate_head(&self) -> Result<Option<Head>, String> {
        Ok(self.head(CheckpointKind::Gate, None).map(of_checkpoint))
    }

    fn global_head(&self) -> Result<Option<Head>, String> {
        let Some(mut head) = self.head(CheckpointKind::Global, None).map(of_checkpoint) else {
            return Ok(None);
        };
        head.note =
            seal::cosignature::add_lines(&head.note, &self.cosignatures).map_err(|e| e.to_string())?;
        Ok(Some(head))
    }

    fn policy(&self) -> Result<Option<String>, String> {
        Ok(self.policy.clone())
    }

    fn state(&self, task: TaskId) -> Result<Option<StateProof>, String> {
        match (&self.query, self.head(CheckpointKind::Global, None)) {
            (Some(query), Some(global)) => {
                state_proof::of(&self.reader, query, global.size, task).map_err(|e| e.to_string())
            }
            _ => Ok(None),
        }
    }

    fn identity(&self) -> Result<Option<IdentityFiles>, String> {
        self.stamped()?.identity(self.artifacts)
    }

    fn anchors(&self, task: TaskId) -> Result<Vec<AnchorFiles>, String> {
        self.stamped()?.anchors(&self.reader, self.artifacts, self.covered(task)?)
    }

    fn events(&self, task: TaskId, after_seq: u64, max: usize) -> Result<Vec<Vec<u8>>, String> {
        let signed = self.head(CheckpointKind::Task, Some(task)).map_or(u64::MAX, |made| made.size);
        let events = self.reader.events(task, after_seq, max).map_err(|e| e.to_string())?;
        Ok(events.into_iter().filter(|stored| stored.task_seq <= signed).map(|stored| stored.bytes).collect())
    }

    fn disclosure(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.reader.disclosure(digest).map_err(|e| e.to_string())
    }

    fn artifact(&self, digest: &Digest) -> Result<Option<Box<dyn Read + '_>>, String> {
        match self.artifacts.content(digest) {
            Ok(content) => Ok(Some(Box::new(content))),
            Err(artifacts::Error::Missing { .. }) => Ok(None),
            Err(e) => Err(e.to_string()),
        }
    }

    fn gate_entries(&self, task: TaskId) -> Result<Vec<u64>, String> {
        let signed = self.head(CheckpointKind::Gate, None).map_or(u64::MAX, |made| made.size);
        let mut numbers = Vec::new();
        for request in self.requests(task)? {
            let of_request = self.reader.gate_entries_of(&request).map_err(|e| e.to_string())?;
            numbers
                .extend(of_request.into_iter().map(|(number, _)| number).filter(|number| *number <= signed));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn gate_entry(&self, number: u64) -> Result<Vec<u8>, String> {
        let found = self.reader.gate_entries(number, 1).map_err(|e| e.to_string())?.into_iter().next();
        let (_, bytes) =
            found.filter(|(at, _)| *at == number).ok_or_else(|| format!("there is no entry {number}"))?;
        Ok(bytes)
    }

    fn gate_proof(&self, number: u64, size: u64) -> Result<Vec<Digest>, String> {
        self.reader.gate_proof(number, size).map_err(|e| e.to_string())
    }

    fn global_proof(&self, leaf_index: u64, size: u64) -> Result<Vec<Digest>, String> {
        let leaves = self.reader.global_leaves(size).map_err(|e| e.to_string())?;
        seal::merkle::inclusion_proof(leaf_index, &leaves).map_err(|e| e.to_string())
    }

    fn global_consistency(&self, old_size: u64, size: u64) -> Result<Vec<Digest>, String> {
        self.reader.global_consistency(old_size, size).map_err(|e| e.to_string())
    }
}
