//! The signed heads: of the global log, of the task, of the gate, each in its place; and the history before them.

use super::Check;
use crate::container::Stop;
use crate::layout::{self as l, Named};
use crate::statement::Predicate;
use seal::Digest;
use seal::cosignature::Policy;
use seal::merkle::{leaf_hash, verify_consistency, verify_inclusion};
use seal::note::{Checkpoint, Note, VerifierKey};
use seal::tlog_proof::TlogProof;

/// What the log key signed.
pub(super) struct Heads {
    pub(super) global: Checkpoint,
    pub(super) task: Checkpoint,
    /// The task's note, exact bytes.
    pub(super) task_note: Vec<u8>,
    /// Where the task's note stands in the global log.
    pub(super) task_index: u64,
    pub(super) gate: Option<Gate>,
    /// The global head with all its signatures.
    pub(super) note: Note,
    /// What the bundle's policy asks for, and what was found of it.
    pub(super) witnessed: Option<Witnessed>,
    /// The log key under the log's own name.
    pub(super) log_key: VerifierKey,
}

/// What became of a policy.
pub(super) struct Witnessed {
    /// Witnesses it names.
    pub(super) all: usize,
    /// Those who cosigned, and when, in seconds since 1970.
    pub(super) signed: Vec<(String, u64)>,
    /// Whether they are as many as it asks for.
    pub(super) is_met: bool,
}

/// The gate's head.
pub(super) struct Gate {
    pub(super) head: Checkpoint,
    pub(super) note: Vec<u8>,
}

/// What is known of the log's history before the bundle's checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Past {
    /// Notes of the older checkpoint.
    pub(super) size: u64,
    /// Whether it is the one that the caller holds.
    pub(super) held: bool,
}

impl Check<'_> {
    /// The heads of a task or a span, which have files of their own.
    pub(super) fn heads(&mut self, predicate: &Predicate) -> Result<Heads, Stop> {
        let [log_key, task_key, gate_key] = self.vkeys(&predicate.log_id, predicate.task_id)?;
        let (global_note, global) = self.signed_head(l::LOG_CHECKPOINT, &log_key)?;
        let (task_note, task) = self.signed_head(l::TASK_CHECKPOINT, &task_key)?;
        if (task.size, task.root) != (predicate.task_size, predicate.task_root) {
            return Err(Stop::at(l::TASK_CHECKPOINT, "its size or root is not the statement's"));
        }
        let task_index = self.in_log(l::TASK_CHECKPOINT_PROOF, &task_note, &global_note, &global)?;
        let gate = if self.has(l::GATE_CHECKPOINT) {
            let (note, head) = self.signed_head(l::GATE_CHECKPOINT, &gate_key)?;
            self.in_log(l::GATE_CHECKPOINT_PROOF, &note, &global_note, &global)?;
            Some(Gate { head, note })
        } else {
            None
        };
        let note = Note::parse(&global_note).map_err(|e| Stop::at(l::LOG_CHECKPOINT, e))?;
        let witnessed = self.cosigners(&note)?;
        Ok(Heads { global, task, task_note, task_index, gate, note, witnessed, log_key })
    }

    /// Who of the policy's witnesses has cosigned. A line of theirs that does not hold is refused.
    fn cosigners(&mut self, note: &Note) -> Result<Option<Witnessed>, Stop> {
        if !self.has(l::LOG_POLICY) {
            return Ok(None);
        }
        let policy = Policy::parse(&self.text(l::LOG_POLICY)?).map_err(|e| Stop::at(l::LOG_POLICY, e))?;
        let signed = policy.cosigned(note).map_err(|e| Stop::at(l::LOG_CHECKPOINT, e))?;
        Ok(Some(Witnessed { all: policy.witnesses.len(), is_met: policy.is_met(&signed), signed }))
    }

    /// One receipt alone: its heads stand inside its proofs, and what a statement would say follows from them.
    pub(super) fn one_receipt(&mut self) -> Result<(Predicate, Heads), Stop> {
        let names: Vec<String> = self.sums.below("receipts/").map(str::to_owned).collect();
        let [name] = names.as_slice() else {
            return Err(Stop::at("receipts", "a bundle without a statement is about one receipt"));
        };
        let Some(Named::Receipt(receipt_id)) = Named::parse(name) else {
            return Err(Stop::at(name, "it is a receipt that nobody signed, in a store with keys"));
        };
        let first = self.sums.below("task/proofs.tlog-proof/").next().map(str::to_owned);
        let first =
            first.ok_or_else(|| Stop::at("task/proofs.tlog-proof", "the receipt's event has no place"))?;
        let task_note = self.any_proof(&first)?.checkpoint;
        let (log_id, task_id) = log_and_task(&task_note)
            .ok_or_else(|| Stop::at(&first, "its checkpoint is not the one of a task"))?;
        let [log_key, task_key, _] = self.vkeys(&log_id, task_id)?;
        let way = self.any_proof(l::TASK_CHECKPOINT_PROOF)?;
        let global = open(l::TASK_CHECKPOINT_PROOF, &way.checkpoint, &log_key)?;
        let task = open(&first, &task_note, &task_key)?;
        stands_in(l::TASK_CHECKPOINT_PROOF, &way, &leaf_hash(task_note.text.as_bytes()), &global)?;
        let predicate = Predicate {
            bundle: l::FORMAT.to_owned(),
            canon: seal::canon::CANON.to_owned(),
            log_id,
            task_id,
            receipt_id: Some(receipt_id),
            span: None,
            task_size: task.size,
            task_root: task.root,
            exported_at_ms: 0,
            keys: crate::export::keyids(self.keys),
            disclosures: true,
            redacted: None,
            artifacts: String::new(),
        };
        let witnessed = self.cosigners(&way.checkpoint)?;
        let (task_note, note, task_index) = (task_note.to_bytes(), way.checkpoint, way.index);
        Ok((predicate, Heads { global, task, task_note, task_index, gate: None, note, witnessed, log_key }))
    }

    /// The log key under the three names it signs with, as `keys/log.vkey` must say.
    fn vkeys(&mut self, log_id: &str, task: model::TaskId) -> Result<[VerifierKey; 3], Stop> {
        let key = self.keys.log.ok_or_else(|| Stop::at(l::KEY_LOG, "it is missing"))?;
        let vkeys = crate::export::vkeys(log_id, task, &key).map_err(|e| Stop::at(l::KEY_VKEYS, e))?;
        let lines = if self.single { 1 } else { vkeys.len() };
        let written: String = vkeys.iter().take(lines).map(|key| format!("{key}\n")).collect();
        if self.text(l::KEY_VKEYS)? != written {
            return Err(Stop::at(l::KEY_VKEYS, "it names another key, log or task than this bundle"));
        }
        Ok(vkeys)
    }

    fn signed_head(&mut self, name: &str, key: &VerifierKey) -> Result<(Vec<u8>, Checkpoint), Stop> {
        let bytes = self.whole(name, l::SMALL_BYTES_MAX)?;
        let note = Note::parse(&bytes).map_err(|e| Stop::at(name, e))?;
        let head = open(name, &note, key)?;
        Ok((bytes, head))
    }

    /// Checks that a note stands in the global log, under the very checkpoint that is in the bundle.
    pub(super) fn in_log(
        &mut self,
        name: &str,
        note: &[u8],
        global_note: &[u8],
        global: &Checkpoint,
    ) -> Result<u64, Stop> {
        let text = Note::parse(note).map_err(|e| Stop::at(name, e))?.text;
        let proof = self.proof(name, global_note)?;
        stands_in(name, &proof, &leaf_hash(text.as_bytes()), global)?;
        Ok(proof.index)
    }

    /// Reads a proof that must be spelled our way and end in the checkpoint `head`.
    pub(super) fn proof(&mut self, name: &str, head: &[u8]) -> Result<TlogProof, Stop> {
        let proof = self.any_proof(name)?;
        if proof.checkpoint.to_bytes() != head {
            return Err(Stop::at(name, "it leads to another checkpoint than the one in the bundle"));
        }
        Ok(proof)
    }

    pub(super) fn any_proof(&mut self, name: &str) -> Result<TlogProof, Stop> {
        let bytes = self.whole(name, l::SMALL_BYTES_MAX)?;
        let proof = TlogProof::parse(&bytes).map_err(|e| Stop::at(name, e))?;
        if proof.extra.is_some() || proof.to_text().as_bytes() != bytes {
            return Err(Stop::at(name, "it carries what nobody signed"));
        }
        Ok(proof)
    }

    /// The older checkpoint in the bundle, and the one that the caller holds, must be the beginning of this one.
    pub(super) fn history(&mut self, held: Option<&[u8]>) -> Result<(), Stop> {
        let Some(heads) = &self.heads else {
            let none =
                held.map(|_| "any checkpoint: the store has no keys, so the one you hold is not of it");
            self.missing.extend(none.map(str::to_owned));
            return Ok(());
        };
        let (key, global) = (heads.log_key.clone(), heads.global.clone());
        let previous = match (self.has(l::LOG_PREVIOUS), self.has(l::LOG_CONSISTENCY)) {
            (false, false) => None,
            (true, true) => Some(self.previous(&key, &global)?),
            (false, true) => return Err(Stop::at(l::LOG_PREVIOUS, "it is missing")),
            (true, false) => return Err(Stop::at(l::LOG_CONSISTENCY, "it is missing")),
        };
        self.past = previous.as_ref().map(|previous| Past { size: previous.size, held: false });
        let Some(held) = held else { return Ok(()) };
        const HELD: &str = "the checkpoint you hold";
        let note = Note::parse(held).map_err(|e| Stop::at(HELD, e))?;
        let held = open(HELD, &note, &self.key_of(&note, &key))?;
        let known = [previous.as_ref(), Some(&global)].into_iter().flatten().find(|c| c.size == held.size);
        match known {
            Some(known) if known.root == held.root => {
                self.past = Some(Past { size: held.size, held: true });
                Ok(())
            }
            Some(_) => {
                let why = format!(
                    "at {} notes it has another root than this log: one of them was rewritten",
                    held.size
                );
                Err(Stop::at(HELD, why))
            }
            None if held.size > global.size => {
                let (size, own) = (held.size, global.size);
                self.missing.push(format!(
                    "what came after: you hold {size} notes of the log, and this ends at {own}"
                ));
                Ok(())
            }
            None => {
                self.missing.push(format!(
                    "the way from the checkpoint you hold ({} notes) to this one ({}); ask for an export with `--since`",
                    held.size, global.size
                ));
                Ok(())
            }
        }
    }

    /// The log key that signed an older head: the one in force, or one that it followed.
    pub(super) fn key_of(&self, note: &Note, key: &VerifierKey) -> VerifierKey {
        let named = |k: &seal::PublicKey| VerifierKey::new(key.name(), *k).ok();
        let signed = |k: &VerifierKey| note.signatures.iter().any(|s| s.key_id == k.key_id());
        self.ever("log").iter().filter_map(named).find(signed).unwrap_or_else(|| key.clone())
    }

    fn previous(&mut self, key: &VerifierKey, global: &Checkpoint) -> Result<Checkpoint, Stop> {
        let bytes = self.container.read(l::LOG_PREVIOUS, l::SMALL_BYTES_MAX)?;
        let older = Note::parse(&bytes).map_err(|e| Stop::at(l::LOG_PREVIOUS, e))?;
        let (_, previous) = self.signed_head(l::LOG_PREVIOUS, &self.key_of(&older, key))?;
        let text = self.text(l::LOG_CONSISTENCY)?;
        let path = crate::consistency::parse(&text, previous.size, global.size)
            .map_err(|e| Stop::at(l::LOG_CONSISTENCY, e))?;
        verify_consistency(previous.size, global.size, &previous.root, &global.root, &path)
            .map_err(|e| Stop::at(l::LOG_CONSISTENCY, e))?;
        Ok(previous)
    }
}

/// Log and task by the first line of a task's checkpoint.
fn log_and_task(note: &Note) -> Option<(String, model::TaskId)> {
    let origin = note.text.lines().next()?.strip_prefix("hermit.local/")?;
    let (log, task) = origin.split_once("/task/")?;
    Some((log.to_owned(), task.parse().ok()?))
}

/// A checkpoint that the key signed, of a tree that has something in it.
pub(super) fn open(name: &str, note: &Note, key: &VerifierKey) -> Result<Checkpoint, Stop> {
    let head = Checkpoint::open(&note.to_bytes(), key.name(), std::slice::from_ref(key));
    let head = head.map_err(|e| Stop::at(name, e))?;
    if head.size == 0 {
        return Err(Stop::at(name, "it signs an empty tree, which proves nothing"));
    }
    Ok(head)
}

/// Checks a proof against a head whose signature was checked already.
pub(super) fn stands_in(name: &str, proof: &TlogProof, leaf: &Digest, head: &Checkpoint) -> Result<(), Stop> {
    verify_inclusion(leaf, proof.index, head.size, &proof.hashes, &head.root).map_err(|e| Stop::at(name, e))
}
