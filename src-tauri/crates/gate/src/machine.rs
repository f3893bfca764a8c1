//! The seven states and the only door between them (KS-3.1, KS-3.2, KS-3.4, KS-6.1-2).

use crate::request::Code;
use crate::{AuditEntry, AuditFailure, AuditLog, GateDecision, KernelState};
use model::{Digest, UnixMs};

/// What may follow what: KS-3.8, 5.1, 6.1 and 6.2 as one table. Nothing leaves `HALTED`.
pub const TRANSITIONS: &[(KernelState, KernelState)] = {
    use KernelState::*;
    &[
        (Booting, Idle),
        (Idle, Validating),
        (Validating, Arbitrating),
        (Validating, Auditing),
        (Arbitrating, Executing),
        (Arbitrating, Auditing),
        (Executing, Auditing),
        (Auditing, Idle),
        (Booting, Halted),
        (Idle, Halted),
        (Validating, Halted),
        (Arbitrating, Halted),
        (Executing, Halted),
        (Auditing, Halted),
    ]
};

/// Whether the table holds the pair.
pub fn may_follow(from: KernelState, to: KernelState) -> bool {
    TRANSITIONS.contains(&(from, to))
}

/// What an entry says besides its links and states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub ts_ms: UnixMs,
    pub request_id: String,
    pub actor: String,
    pub intent: String,
    pub decision: GateDecision,
    pub tool_name: Option<String>,
    pub params_hash: Option<Digest>,
    pub evidence_hash: Option<Digest>,
    pub error: Option<String>,
}

/// Why a transition did not complete as asked. In every case the machine is halted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The log did not take the entry.
    Audit(AuditFailure),
    /// The table, or the rule of explicit permission, forbids it.
    Illegal,
}

impl Stop {
    pub const fn code(&self) -> Code {
        match self {
            Self::Audit(_) => Code::AuditFailed,
            Self::Illegal => Code::TransitionIllegal,
        }
    }
}

/// State and head of the chain. The fields change in [`Machine::go`] and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Machine {
    state: KernelState,
    head: Digest,
    /// The log failed once: what it holds is not known, so it is never appended to again.
    mute: bool,
}

impl Machine {
    pub const fn new() -> Self {
        Self { state: KernelState::Booting, head: Digest::ZERO, mute: false }
    }

    /// A new session's machine, whose first entry points back to `head`.
    pub const fn continuing(head: Digest) -> Self {
        Self { state: KernelState::Booting, head, mute: false }
    }

    pub const fn state(&self) -> KernelState {
        self.state
    }

    pub const fn head(&self) -> Digest {
        self.head
    }

    /// Goes to `to` once its entry is in the log, and returns the entry's hash.
    pub fn go(&mut self, to: KernelState, note: &Note, log: &mut dyn AuditLog) -> Result<Digest, Stop> {
        let permitted = note.decision == GateDecision::Allow && note.tool_name.is_some();
        if !may_follow(self.state, to) || (to == KernelState::Executing && !permitted) {
            self.state = KernelState::Halted;
            return Err(Stop::Illegal);
        }
        let hash = self.append(to, note, log)?;
        self.state = to;
        Ok(hash)
    }

    /// Leaves an entry about a request that was refused where it stood; no state changes.
    pub fn refuse(&mut self, note: &Note, log: &mut dyn AuditLog) -> Result<Option<Digest>, Stop> {
        if self.mute || self.state == KernelState::Booting {
            return Ok(None);
        }
        self.append(self.state, note, log).map(Some)
    }

    fn append(&mut self, to: KernelState, note: &Note, log: &mut dyn AuditLog) -> Result<Digest, Stop> {
        let written = self.entry(to, note).and_then(|entry| log.append(&entry).map(|()| entry.entry_hash));
        match written {
            Ok(hash) => {
                self.head = hash;
                Ok(hash)
            }
            Err(failure) => {
                self.state = KernelState::Halted;
                self.mute = true;
                Err(Stop::Audit(failure))
            }
        }
    }

    fn entry(&self, to: KernelState, note: &Note) -> Result<AuditEntry, AuditFailure> {
        let mut entry = AuditEntry {
            prev_hash: self.head,
            entry_hash: Digest::ZERO,
            ts_ms: note.ts_ms,
            request_id: note.request_id.clone(),
            actor: note.actor.clone(),
            intent: note.intent.clone(),
            decision: note.decision,
            state_from: self.state,
            state_to: to,
            tool_name: note.tool_name.clone(),
            params_hash: note.params_hash,
            evidence_hash: note.evidence_hash,
            error: note.error.clone(),
        };
        entry.entry_hash = entry.computed_hash().map_err(|e| AuditFailure(e.to_string()))?;
        Ok(entry)
    }

    /// A machine set down anywhere, for walking every pair.
    #[cfg(test)]
    pub const fn at(state: KernelState) -> Self {
        Self { state, head: Digest::ZERO, mute: false }
    }
}
