//! What a bundle is made of. A source gives bytes as they are stored and decides nothing.

use crate::anchored::Requested;
use crate::state::SubjectProof;
use model::anchor::AnchorClock;
use model::{TaskId, UnixMs};
use seal::{Digest, PublicKey, Signer};
use std::io::Read;

/// The stored bytes of one store, as of one set of checkpoints.
///
/// Whoever implements it first makes the checkpoints of the task, the gate and the global log in one commit and
/// then answers from that state: `task_head`, `gate_head` and `global_head` must belong together. Errors are in
/// words.
pub trait Source {
    /// The `<log-id>` in `hermit.local/<log-id>`, the origin of every checkpoint.
    fn log_id(&self) -> String;

    /// The public keys in force; `None` where the store has none.
    fn public_keys(&self) -> PublicKeys;

    /// The notes by which keys followed others, in their order ([`seal::succession::Succession`]).
    ///
    /// # Errors
    /// In words, as in every method here.
    fn successions(&self) -> Result<Vec<Vec<u8>>, String> {
        Ok(Vec::new())
    }

    /// The notes by which keys were revoked, in their order ([`seal::succession::Revocation`]).
    ///
    /// # Errors
    /// In words.
    fn revocations(&self) -> Result<Vec<Vec<u8>>, String> {
        Ok(Vec::new())
    }

    /// Which witnesses the store asks to cosign its log (c2sp.org/tlog-policy); `None` when it asks none.
    ///
    /// # Errors
    /// In words.
    fn policy(&self) -> Result<Option<String>, String> {
        Ok(None)
    }

    /// The signed head of the task's tree and its place in the global log; `None` in a store without keys.
    ///
    /// # Errors
    /// In words, as in every method here.
    fn task_head(&self, task: TaskId) -> Result<Option<Head>, String>;

    /// The roots of the task's conversation and of the memory that holds in its project, as of the global head; `None`
    /// where none was stated or signed.
    ///
    /// # Errors
    /// In words.
    fn state(&self, task: TaskId) -> Result<Option<StateProof>, String> {
        let _ = task;
        Ok(None)
    }

    /// Who the instance is, as it says itself; `None` where it has no key or has said nothing (mesh.md 2).
    ///
    /// # Errors
    /// In words.
    fn identity(&self) -> Result<Option<IdentityFiles>, String> {
        Ok(None)
    }

    /// The anchors that go along with a proof of the task, at most eight, in the order of their numbers (mesh.md 3).
    ///
    /// # Errors
    /// In words.
    fn anchors(&self, task: TaskId) -> Result<Vec<AnchorFiles>, String> {
        let _ = task;
        Ok(Vec::new())
    }

    /// The signed head of the gate's tree and its place in the global log; `None` without keys or entries.
    ///
    /// # Errors
    /// In words.
    fn gate_head(&self) -> Result<Option<Head>, String>;

    /// The signed head of the global log; `None` in a store without keys.
    ///
    /// # Errors
    /// In words.
    fn global_head(&self) -> Result<Option<Head>, String>;

    /// Exact bytes of the task's events after number `after_seq`, in order, at most `max`; empty at the end. Events
    /// beyond the task's signed head are not asked for.
    ///
    /// # Errors
    /// In words.
    fn events(&self, task: TaskId, after_seq: u64, max: usize) -> Result<Vec<Vec<u8>>, String>;

    /// The bytes that open a concealed leaf; `None` when they were erased.
    ///
    /// # Errors
    /// In words.
    fn disclosure(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String>;

    /// The bytes of an artifact, to be read in pieces; `None` when they are no longer kept.
    ///
    /// # Errors
    /// In words.
    fn artifact(&self, digest: &Digest) -> Result<Option<Box<dyn Read + '_>>, String>;

    /// Numbers of the gate's entries that concern the task (the first entry ever is 1), ascending, none beyond the
    /// gate's signed head.
    ///
    /// # Errors
    /// In words.
    fn gate_entries(&self, task: TaskId) -> Result<Vec<u64>, String>;

    /// Exact bytes of the gate's entry of this number.
    ///
    /// # Errors
    /// In words, also when there is none.
    fn gate_entry(&self, number: u64) -> Result<Vec<u8>, String>;

    /// Path of entry number `number` to the root of the gate's tree at `size` entries.
    ///
    /// # Errors
    /// In words.
    fn gate_proof(&self, number: u64, size: u64) -> Result<Vec<Digest>, String>;

    /// Path of the note at `leaf_index` to the root of the global log at `size` notes.
    ///
    /// # Errors
    /// In words.
    fn global_proof(&self, leaf_index: u64, size: u64) -> Result<Vec<Digest>, String>;

    /// Hashes which show that the global log at `old_size` notes is the beginning of the one at `size` (RFC 6962).
    ///
    /// # Errors
    /// In words.
    fn global_consistency(&self, old_size: u64, size: u64) -> Result<Vec<Digest>, String>;
}

/// A signed tree head as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The signed note (C2SP checkpoint), exact bytes.
    pub note: Vec<u8>,
    /// Its place among the global log's leaves; `None` for the global head itself.
    pub leaf_index: Option<u64>,
    /// When it was made; the bundle's `exported_at_ms` is the global head's.
    pub made_at: UnixMs,
}

/// Roots of state with all that proves them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateProof {
    /// Exact bytes of the event that states them.
    pub event: Vec<u8>,
    /// Its path to the root of the store's own stream.
    pub path: Vec<Digest>,
    /// The signed head of that stream.
    pub head: Head,
    /// The roots, in the order of their subjects.
    pub subjects: Vec<SubjectProof>,
    /// What could not go along, in words.
    pub left_out: Vec<String>,
}

/// Who an instance is: its key, and the chain of what it said of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityFiles {
    /// The statement by which the key of the instance and the key of its log vouch for each other, canonical.
    pub key: Vec<u8>,
    /// The signed links, canonical, from genesis on.
    pub links: Vec<Vec<u8>>,
}

/// An anchor with the newest proof of each clock that has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorFiles {
    /// What was to be stamped.
    pub requested: Requested,
    /// Of an anchored head: the signed note, exact bytes.
    pub note: Option<Vec<u8>>,
    /// Of an anchored head: the first place of the task's head among the notes of the log. It may be beyond the anchored ones.
    pub task_index: Option<u64>,
    /// What the clocks gave.
    pub proofs: Vec<(AnchorClock, Vec<u8>)>,
}

/// Public keys by purpose (proof.md 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PublicKeys {
    /// Signs checkpoints.
    pub log: Option<PublicKey>,
    /// Signs receipts and statements.
    pub receipt: Option<PublicKey>,
    /// Signs `SHA256SUMS`.
    pub manifest: Option<PublicKey>,
    /// Signs a person's decisions.
    pub approval: Option<PublicKey>,
}

/// The two keys that sign the bundle itself. Without them it is a bundle of a store without keys.
#[derive(Clone, Copy)]
pub struct Signers<'a> {
    /// K_receipt, for the statement.
    pub receipt: &'a dyn Signer,
    /// K_manifest, for `SHA256SUMS`.
    pub manifest: &'a dyn Signer,
}

impl std::fmt::Debug for Signers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signers({}, {})", self.receipt.public().keyid(), self.manifest.public().keyid())
    }
}
