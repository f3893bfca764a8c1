//! Heads of logs in the mesh (mesh.md 4): this machine tells that its log grew, signs for logs of others that are shown to have grown,
//! and keeps what others sign for its own, so that proofs carry it as they carry the lines of any witness.

use super::MeshDone;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::mesh_registry::{MeshRegistry, witness_name};
use ledger::CheckpointKind;
use mesh::{Command, Cosigned, Delivered, Head, NodeId, Prove, SeenHead, State};
use model::body::CheckpointCosigned;
use seal::cosignature::{WitnessKey, add_lines};
use seal::note::{self, Note, VerifierKey};
use seal::{Digest, PublicKey};

/// How often a head is told, in milliseconds.
const HEAD_EVERY_MS: i64 = 10 * 60_000;
/// How often one is told where a task ended, in milliseconds.
const HEAD_AFTER_TASK_MS: i64 = 60_000;

impl Kernel {
    /// The key by which this machine signs that it has seen heads of the others, as a reader of their proofs names it; none while it
    /// is no node, or its keys are locked.
    pub fn mesh_cosign_key(&self) -> Option<String> {
        let me = self.mesh_registry().node()?;
        let signer = self.ports.keys.cosign()?;
        WitnessKey::new(&witness_name(me), signer.public()).ok().map(|key| key.to_string())
    }

    /// The newest head of this log, where it is another one than was told last. Where that one is none of this log, the store was put
    /// back: a person is told, and the others see it by the head that there is.
    pub(super) fn news_of_heads(&self, registry: &MeshRegistry) -> Result<Vec<Command>, Error> {
        let (Some(me), Some(state)) = (registry.node(), registry.state()) else { return Ok(Vec::new()) };
        let newest = self.reader.last_checkpoint(CheckpointKind::Global, None)?;
        let Some(newest) = newest.filter(|_| state.peers().next().is_some()) else { return Ok(Vec::new()) };
        let told = state.head(me, &newest.origin);
        let is_due = match told {
            None => true,
            Some(told) if told.size < newest.size => self.is_head_due(told)?,
            Some(told) => (told.size, told.root) != (newest.size, newest.root),
        };
        if !is_due {
            return Ok(Vec::new());
        }
        let old_size = match told {
            None => 0,
            Some(told) if self.is_of_log(told, newest.size)? => told.size,
            Some(told) => {
                let (origin, seen) = (newest.origin.clone(), told.size);
                let put_back = Delivered::RolledBack { from: me, origin, seen, told: newest.size };
                self.record_mesh(&[], &[put_back], None)?;
                0
            }
        };
        let proof = self.reader.global_consistency(old_size, newest.size)?;
        let note = String::from_utf8(newest.note).map_err(|e| Error::Broken(e.to_string()))?;
        let (origin, size, root) = (newest.origin, newest.size, newest.root);
        Ok(vec![Command::Head(Head { origin, old_size, size, root, proof, note })])
    }

    /// Whether a head is one of this log as it stands: its notes are the beginning of these.
    fn is_of_log(&self, told: &SeenHead, size: u64) -> Result<bool, Error> {
        Ok(told.size <= size && self.reader.global_root(told.size)? == Some(told.root))
    }

    /// Whether a head may be told after the one that was told last: every ten minutes, and every minute where a task ended.
    fn is_head_due(&self, told: &SeenHead) -> Result<bool, Error> {
        let now = self.ports.clock.now();
        // In a large group each tells less often, so that what all of them tell stays as much as it is.
        let large = self.mesh_registry().state().map_or(1, State::largeness);
        // A clock that was set back keeps nothing from being told.
        if told.at > now || told.at.plus_ms(HEAD_EVERY_MS.saturating_mul(large)) <= now {
            return Ok(true);
        }
        if told.at.plus_ms(HEAD_AFTER_TASK_MS.saturating_mul(large)) > now {
            return Ok(false);
        }
        let system = lock(&self.store).system_task()?;
        let before = self.reader.checkpoint_at(CheckpointKind::Global, None, told.size)?;
        let since = before.map_or(told.at, |before| before.made_at);
        Ok(self.reader.last_signed_but(system)?.is_some_and(|at| at > since))
    }

    /// A head of another machine, whose log is shown to have grown from the head that was seen before: it is signed where its own
    /// machine signed it.
    pub(super) fn deliver_head(&self, delivered: &Delivered) -> Result<MeshDone, Error> {
        let Delivered::Head { from, note } = delivered else { return Ok(MeshDone::default()) };
        let registry = self.mesh_registry();
        let say = match (registry.node(), registry.state()) {
            (Some(me), Some(state)) => self.cosign_head(me, state, (*from, note.as_str()))?,
            _ => None,
        };
        Ok(MeshDone { say: say.into_iter().collect(), ..MeshDone::default() })
    }

    fn cosign_head(
        &self,
        me: NodeId,
        state: &State,
        (from, note): (NodeId, &str),
    ) -> Result<Option<Command>, Error> {
        let key = state.log_key(from).filter(|_| state.is_peer(from));
        // One that another took the place of meanwhile is not signed any more.
        let is_newest = |head: &note::Checkpoint| {
            let seen = state.head(from, &head.origin);
            seen.is_some_and(|seen| (seen.size, seen.root) == (head.size, head.root))
        };
        let head = key.and_then(|key| signed_by(note, *key)).filter(is_newest);
        if head.as_ref().is_some_and(|head| !state.cosigns(from, &head.root)) {
            return Ok(None);
        }
        let (Some(head), Some(signer)) = (head, self.ports.keys.cosign()) else {
            tracing::warn!(node = %from, "a head of another machine is not signed here");
            return Ok(None);
        };
        let witness = WitnessKey::new(&witness_name(me), signer.public())?;
        let time = u64::try_from(self.ports.clock.now().0 / 1_000).unwrap_or(0);
        let line = witness.cosign(&Note::parse(note.as_bytes())?.text, time, &*signer)?.to_string();
        let cosigned = Cosigned { origin: head.origin, size: head.size, line, key: witness.to_string() };
        Ok(Some(Command::Cosign { node: from, cosigned }))
    }

    /// Another machine missed how this log grew from one head to another, which is shown to it. Where this log never had them,
    /// nothing is shown.
    pub(super) fn deliver_prove(&self, from: NodeId, prove: &Prove) -> Result<MeshDone, Error> {
        let Prove { origin, old_size, size } = prove;
        let told = self.reader.checkpoint_at(CheckpointKind::Global, None, *size)?;
        let Some(told) = told.filter(|told| told.origin == *origin && old_size < size) else {
            return Ok(MeshDone::default());
        };
        let proof = self.reader.global_consistency(*old_size, *size)?;
        let note = String::from_utf8(told.note).map_err(|e| Error::Broken(e.to_string()))?;
        let (origin, old_size, size, root) = (told.origin, *old_size, told.size, told.root);
        let head = Head { origin, old_size, size, root, proof, note };
        Ok(MeshDone { say: vec![Command::Prove { to: from, head }], ..MeshDone::default() })
    }

    /// A signature under the head that this machine told last: it is kept where it holds, one of each machine.
    pub(super) fn deliver_cosigned(&self, delivered: &Delivered) -> Result<MeshDone, Error> {
        let Delivered::Cosigned { from, cosigned } = delivered else { return Ok(MeshDone::default()) };
        match self.cosigned_head(*from, cosigned)? {
            Some(kept) => {
                let of = format!("{}\n{}\n{}\n{from}", kept.origin, kept.size, kept.root);
                self.keep_cosigned(Some(format!("mesh.cosigned:{}", Digest::of(of.as_bytes()))), kept)?;
            }
            None => tracing::warn!(node = %from, "a signature under a head of this log is not kept"),
        }
        Ok(MeshDone::default())
    }

    /// What is kept of a signature. The key has to carry the name of the machine that sent it, so that none signs as another.
    fn cosigned_head(&self, from: NodeId, cosigned: &Cosigned) -> Result<Option<CheckpointCosigned>, Error> {
        let registry = self.mesh_registry();
        let told = registry.node().zip(registry.state());
        let told = told.and_then(|(me, state)| state.head(me, &cosigned.origin));
        let key: Option<WitnessKey> = cosigned.key.parse().ok();
        let key = key.filter(|key| key.name() == witness_name(from));
        let (Some(told), Some(key)) = (told.filter(|told| told.size == cosigned.size), key) else {
            return Ok(None);
        };
        let head = self.reader.checkpoint_at(CheckpointKind::Global, None, told.size)?;
        let head = head.filter(|head| head.origin == cosigned.origin && head.root == told.root);
        Ok(head.and_then(|head| {
            let line = line_of(&key, &head.note, &cosigned.line)?;
            let (origin, size, root) = (head.origin, head.size, head.root);
            Some(CheckpointCosigned { origin, size, root, witness: key.to_string(), line })
        }))
    }

    /// The log of another machine went back, or this one's did. The delivery itself is what a person is told by.
    pub(super) fn deliver_rolled_back(&self, delivered: &Delivered) -> Result<MeshDone, Error> {
        if let Delivered::RolledBack { from, origin, seen, told } = delivered {
            tracing::warn!(node = %from, %origin, seen, told, "a log went back, or says two things");
        }
        Ok(MeshDone::default())
    }
}

/// The head in a note, where this key of its log signed it.
fn signed_by(text: &str, key: PublicKey) -> Option<note::Checkpoint> {
    let origin = note::Checkpoint::from_text(&Note::parse(text.as_bytes()).ok()?.text).ok()?.origin;
    let key = VerifierKey::new(&origin, key).ok()?;
    note::Checkpoint::open(text.as_bytes(), &origin, &[key]).ok()
}

/// The line of a witness under a head, where it holds; whatever else came with it is left out.
fn line_of(key: &WitnessKey, head: &[u8], line: &str) -> Option<String> {
    let both = Note::parse(&add_lines(head, &[line.to_owned()]).ok()?).ok()?;
    key.cosigned(&both).ok()??;
    let of_key = both.signatures.iter().find(|one| one.name == key.name() && one.key_id == key.key_id());
    of_key.map(ToString::to_string)
}
