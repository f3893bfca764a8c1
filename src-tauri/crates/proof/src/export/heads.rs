//! The signed heads a bundle rests on, and the older one it goes on from.

use super::collect::Collected;
use crate::layout as l;
use crate::{Error, Head, Source};
use model::TaskId;
use seal::merkle::{leaf_hash, verify_consistency, verify_inclusion};
use seal::note::{Checkpoint, Note, VerifierKey};
use seal::tlog_proof::TlogProof;

/// A head as it is stored and as it reads.
pub(super) type Read = (Head, Note, Checkpoint);

/// The signed heads that belong together.
pub(super) struct Heads {
    pub(super) task: Read,
    pub(super) gate: Option<Read>,
    pub(super) global: Read,
}

impl Heads {
    pub(super) fn of(source: &dyn Source, task: TaskId) -> Result<Self, Error> {
        let failed = |why: String| Error::Source { what: "the signed heads".to_owned(), why };
        let missing = |what: &str| Error::inconsistent(format!("there is no signed head of the {what}"));
        Ok(Self {
            task: read(source.task_head(task).map_err(failed)?.ok_or_else(|| missing("task"))?)?,
            gate: source.gate_head().map_err(failed)?.map(read).transpose()?,
            global: read(source.global_head().map_err(failed)?.ok_or_else(|| missing("log"))?)?,
        })
    }
}

pub(super) fn read(head: Head) -> Result<Read, Error> {
    let note = Note::parse(&head.note).map_err(Error::inconsistent)?;
    let checkpoint = Checkpoint::from_text(&note.text).map_err(Error::inconsistent)?;
    Ok((head, note, checkpoint))
}

/// The place of a head's note in the global log, checked.
pub(super) fn in_log(source: &dyn Source, head: &Read, global: &Read) -> Result<String, Error> {
    let ((head, note, _), (_, global_note, global)) = (head, global);
    let index =
        head.leaf_index.ok_or_else(|| Error::inconsistent("a head has no place in the global log"))?;
    let path = source
        .global_proof(index, global.size)
        .map_err(|why| Error::Source { what: "a place in the global log".to_owned(), why })?;
    verify_inclusion(&leaf_hash(note.text.as_bytes()), index, global.size, &path, &global.root)
        .map_err(Error::inconsistent)?;
    Ok(TlogProof::new(index, path, global_note.clone()).to_text())
}

impl Collected<'_> {
    /// The heads as files. One receipt alone leaves out those that its proofs carry anyway.
    pub(super) fn head_files(&mut self, heads: &Heads) -> Result<(), Error> {
        let source = self.ground.source;
        self.text(l::TASK_CHECKPOINT_PROOF, in_log(source, &heads.task, &heads.global)?);
        if !self.single {
            self.bytes(l::LOG_CHECKPOINT, heads.global.0.note.clone());
            self.bytes(l::TASK_CHECKPOINT, heads.task.0.note.clone());
            let failed =
                |why: String| Error::Source { what: "the witnesses that are asked for".to_owned(), why };
            if let Some(policy) = source.policy().map_err(failed)? {
                seal::cosignature::Policy::parse(&policy).map_err(Error::inconsistent)?;
                self.text(l::LOG_POLICY, policy);
            }
        }
        Ok(())
    }

    /// The checkpoint that the receiver holds, and the hashes that lead from it to this one.
    pub(super) fn since(&mut self, previous: &[u8], heads: &Heads) -> Result<(), Error> {
        let bad = |why: &dyn std::fmt::Display| Error::Since { why: why.to_string() };
        let key = self.keys.log.ok_or_else(|| bad(&"this store has no keys"))?;
        let (_, _, global) = &heads.global;
        let vkey = VerifierKey::new(&global.origin, key).map_err(|e| bad(&e))?;
        let mut vkeys = vec![vkey];
        for note in self.ground.source.successions().map_err(|why| bad(&why))? {
            let step = seal::succession::Succession::open(&note).map_err(|e| bad(&e))?;
            if step.purpose == "log" {
                vkeys.push(VerifierKey::new(&global.origin, step.old).map_err(|e| bad(&e))?);
            }
        }
        let old = Checkpoint::open(previous, &global.origin, &vkeys).map_err(|e| bad(&e))?;
        if old.size > global.size {
            let why = format!(
                "it has {} notes and this log has {}: the store is older than it",
                old.size, global.size
            );
            return Err(bad(&why));
        }
        let source = self.ground.source;
        let path = source
            .global_consistency(old.size, global.size)
            .map_err(|why| Error::Source { what: "the history of the global log".to_owned(), why })?;
        verify_consistency(old.size, global.size, &old.root, &global.root, &path)
            .map_err(|_| bad(&"this log has another history: one of the two was rewritten"))?;
        self.bytes(l::LOG_PREVIOUS, previous.to_vec());
        self.text(l::LOG_CONSISTENCY, crate::consistency::text(old.size, global.size, &path));
        Ok(())
    }
}
