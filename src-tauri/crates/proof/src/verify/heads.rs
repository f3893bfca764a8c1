//! The signed heads: of the global log, of the task, of the gate, each in its place.

use super::Check;
use crate::container::Stop;
use crate::layout as l;
use crate::statement::Predicate;
use seal::Digest;
use seal::merkle::{leaf_hash, verify_inclusion};
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
    /// Whether anybody but the log key signed the global head.
    pub(super) cosigned: bool,
}

/// The gate's head.
pub(super) struct Gate {
    pub(super) head: Checkpoint,
    pub(super) note: Vec<u8>,
}

impl Check<'_> {
    pub(super) fn heads(&mut self, predicate: &Predicate) -> Result<Heads, Stop> {
        let key = self.keys.log.ok_or_else(|| Stop::at(l::KEY_LOG, "it is missing"))?;
        let vkeys = crate::export::vkeys(&predicate.log_id, predicate.task_id, &key)
            .map_err(|e| Stop::at("the statement", e))?;
        let written: String = vkeys.iter().map(|key| format!("{key}\n")).collect();
        if self.text(l::KEY_VKEYS)? != written {
            return Err(Stop::at(l::KEY_VKEYS, "it names another key, log or task than this bundle"));
        }
        let [log_key, task_key, gate_key] = vkeys;
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
        let cosigned = Note::parse(&global_note).is_ok_and(|note| note.signatures.len() > 1);
        Ok(Heads { global, task, task_note, task_index, gate, cosigned })
    }

    fn signed_head(&mut self, name: &str, key: &VerifierKey) -> Result<(Vec<u8>, Checkpoint), Stop> {
        let note = self.whole(name, l::SMALL_BYTES_MAX)?;
        let head =
            Checkpoint::open(&note, key.name(), std::slice::from_ref(key)).map_err(|e| Stop::at(name, e))?;
        if head.size == 0 {
            return Err(Stop::at(name, "it signs an empty tree, which proves nothing"));
        }
        Ok((note, head))
    }

    /// Checks that a note stands in the global log, under the very checkpoint that is in the bundle.
    fn in_log(
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
        let bytes = self.whole(name, l::SMALL_BYTES_MAX)?;
        let proof = TlogProof::parse(&bytes).map_err(|e| Stop::at(name, e))?;
        if proof.extra.is_some() || proof.to_text().as_bytes() != bytes {
            return Err(Stop::at(name, "it carries what nobody signed"));
        }
        if proof.checkpoint.to_bytes() != head {
            return Err(Stop::at(name, "it leads to another checkpoint than the one in the bundle"));
        }
        Ok(proof)
    }
}

/// Checks a proof against a head whose signature was checked already.
pub(super) fn stands_in(name: &str, proof: &TlogProof, leaf: &Digest, head: &Checkpoint) -> Result<(), Stop> {
    verify_inclusion(leaf, proof.index, head.size, &proof.hashes, &head.root).map_err(|e| Stop::at(name, e))
}
