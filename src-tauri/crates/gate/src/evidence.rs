//! Evidence bundles and the replay that checks them (KS-4.8, KS-7).
//!
//! Beyond KS-7, a replay also walks the states: an honest gate cannot write entries whose states do not follow the
//! table, or an execution that nobody allowed, so a chain that holds them was not written by one.

use crate::machine::may_follow;
use crate::{AuditEntry, GateDecision, KernelState, Variant};
use model::{Digest, UnixMs};
use serde::{Deserialize, Serialize};

/// All entries of a store, exported (KS-4.8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceBundle {
    /// Every entry from genesis, in order.
    pub ledger_entries: Vec<AuditEntry>,
    /// Hash of the last entry.
    pub root_hash: Digest,
    /// When it was exported.
    pub exported_at_ms: UnixMs,
    /// The kernel's identifier.
    pub kernel_id: String,
    /// The variant in force.
    pub variant: String,
}

impl EvidenceBundle {
    /// A bundle of all entries of a store, for an export without a running gate; they must replay.
    ///
    /// # Errors
    /// The first [`Fault`]: a broken or empty log is not exported as if it were whole.
    pub fn of(
        ledger_entries: Vec<AuditEntry>,
        exported_at_ms: UnixMs,
        kernel_id: &str,
        variant: Variant,
    ) -> Result<Self, Fault> {
        let root_hash = replay(&ledger_entries)?.root;
        let (kernel_id, variant) = (kernel_id.to_owned(), variant.as_str().to_owned());
        Ok(Self { ledger_entries, root_hash, exported_at_ms, kernel_id, variant })
    }

    /// The canonical bytes: what is written and handed over.
    ///
    /// # Errors
    /// [`Fault::Unreadable`] when a value has no canonical form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Fault> {
        seal::canon::to_canonical(self).map_err(|e| Fault::Unreadable { place: 0, why: e.to_string() })
    }

    /// Reads canonical bytes; unknown fields and any other spelling are refused.
    ///
    /// # Errors
    /// [`Fault::Unreadable`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        let unreadable = |why: String| Fault::Unreadable { place: 0, why };
        let value = seal::canon::parse_canonical(bytes).map_err(|e| unreadable(e.to_string()))?;
        serde_json::from_value(value).map_err(|e| unreadable(e.to_string()))
    }
}

/// Why entries do not verify, with the first offending place, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nothing to verify proves nothing.
    #[error("there are no entries; an empty bundle is never valid")]
    Empty,
    /// An entry does not point back to the one before: one was dropped, added, moved, or changed.
    #[error("entry {place} points back to `{found}`, but the entry before it is `{expected}`")]
    Link {
        /// Which entry.
        place: u64,
        /// Hash of the entry before.
        expected: Digest,
        /// What it points back to.
        found: Digest,
    },
    /// An entry's fields do not give its hash.
    #[error("entry {place} says its hash is `{found}`, but its fields give `{expected}`")]
    Hash {
        /// Which entry.
        place: u64,
        /// What the fields give.
        expected: Digest,
        /// What it says.
        found: Digest,
    },
    /// The states of an entry do not follow those before, by the table.
    #[error("entry {place} goes from {from} to {to}, which no gate does there")]
    State {
        /// Which entry.
        place: u64,
        /// From.
        from: KernelState,
        /// To.
        to: KernelState,
    },
    /// An execution without an explicit permission or without a tool.
    #[error("entry {place} executes without an explicit ALLOW for a named tool")]
    Unauthorised {
        /// Which entry.
        place: u64,
    },
    /// The last entry is not the one promised: entries are missing at the end, or too many.
    #[error("the last entry is `{found}`, but the root hash says `{expected}`")]
    Root {
        /// The promised one.
        expected: Digest,
        /// The one found.
        found: Digest,
    },
    /// An entry, or the bundle as place 0, cannot be read.
    #[error("entry {place} cannot be read: {why}")]
    Unreadable {
        /// Which entry.
        place: u64,
        /// Why.
        why: String,
    },
}

/// What a replay has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// How many entries, never 0.
    pub entries: u64,
    /// Hash of the last one.
    pub root: Digest,
}

impl Verified {
    /// Checks the end against what was promised elsewhere.
    ///
    /// # Errors
    /// [`Fault::Root`].
    pub fn ends_at(self, root: Digest) -> Result<Self, Fault> {
        if self.root == root { Ok(self) } else { Err(Fault::Root { expected: root, found: self.root }) }
    }
}

/// A replay that takes entries one by one, so that a long log need not be held. After a fault it takes no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    taken: u64,
    head: Digest,
    state: Option<KernelState>,
}

impl Default for Replay {
    fn default() -> Self {
        Self::new()
    }
}

impl Replay {
    /// A replay at genesis.
    pub const fn new() -> Self {
        Self { taken: 0, head: Digest::ZERO, state: None }
    }

    /// Takes the next entry, as KS-7.1 says.
    ///
    /// # Errors
    /// The [`Fault`] with this entry's place.
    pub fn push(&mut self, entry: &AuditEntry) -> Result<(), Fault> {
        let place = self.taken + 1;
        if entry.prev_hash != self.head {
            return Err(Fault::Link { place, expected: self.head, found: entry.prev_hash });
        }
        let computed = entry.computed_hash().map_err(|e| Fault::Unreadable { place, why: e.to_string() })?;
        if computed != entry.entry_hash {
            return Err(Fault::Hash { place, expected: computed, found: entry.entry_hash });
        }
        self.walk(place, entry)?;
        self.taken = place;
        self.head = entry.entry_hash;
        self.state = Some(entry.state_to);
        Ok(())
    }

    /// Takes the exact stored bytes of the next entry; they must be canonical.
    ///
    /// # Errors
    /// The [`Fault`] with this entry's place.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<AuditEntry, Fault> {
        let unreadable = |why: String| Fault::Unreadable { place: self.taken + 1, why };
        let value = seal::canon::parse_canonical(bytes).map_err(|e| unreadable(e.to_string()))?;
        let entry: AuditEntry = serde_json::from_value(value).map_err(|e| unreadable(e.to_string()))?;
        self.push(&entry)?;
        Ok(entry)
    }

    /// Ends the replay.
    ///
    /// # Errors
    /// [`Fault::Empty`] when nothing was taken.
    pub const fn finish(self) -> Result<Verified, Fault> {
        if self.taken == 0 {
            Err(Fault::Empty)
        } else {
            Ok(Verified { entries: self.taken, root: self.head })
        }
    }

    fn walk(&self, place: u64, entry: &AuditEntry) -> Result<(), Fault> {
        let (from, to) = (entry.state_from, entry.state_to);
        // A session may have ended anywhere; the next one begins with BOOTING.
        let joins = from == KernelState::Booting || self.state == Some(from);
        let refusal = from == to
            && from != KernelState::Booting
            && entry.decision != GateDecision::Allow
            && entry.error.is_some();
        if !joins || !(may_follow(from, to) || refusal) {
            return Err(Fault::State { place, from, to });
        }
        let allowed = entry.decision == GateDecision::Allow && entry.tool_name.is_some();
        if to == KernelState::Executing && !allowed {
            return Err(Fault::Unauthorised { place });
        }
        Ok(())
    }
}

/// Replays entries from genesis (KS-7.1).
///
/// # Errors
/// The first [`Fault`].
pub fn replay<'a>(entries: impl IntoIterator<Item = &'a AuditEntry>) -> Result<Verified, Fault> {
    let mut replay = Replay::new();
    entries.into_iter().try_for_each(|entry| replay.push(entry))?;
    replay.finish()
}

/// Verifies a bundle (KS-7.2): its entries replay, and end at its root hash.
///
/// # Errors
/// The first [`Fault`].
pub fn verify_bundle(bundle: &EvidenceBundle) -> Result<Verified, Fault> {
    replay(&bundle.ledger_entries)?.ends_at(bundle.root_hash)
}
