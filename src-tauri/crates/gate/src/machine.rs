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
    ///
    /// None before the boot, when there is no chain yet; none after the log has failed; and none in `EXECUTING`,
    /// because the entries that end there are exactly the permitted executions (reconciliation C7).
    pub fn refuse(&mut self, note: &Note, log: &mut dyn AuditLog) -> Result<Option<Digest>, Stop> {
        if self.mute || matches!(self.state, KernelState::Booting | KernelState::Executing) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KernelState::{Arbitrating, Auditing, Booting, Executing, Halted, Idle, Validating};

    fn note(decision: GateDecision, tool: Option<&str>) -> Note {
        Note {
            ts_ms: UnixMs(1),
            request_id: "req".to_owned(),
            actor: "prn".to_owned(),
            intent: "walk".to_owned(),
            decision,
            tool_name: tool.map(str::to_owned),
            params_hash: None,
            evidence_hash: None,
            error: None,
        }
    }

    /// KS-6.1-2, written out again by hand.
    fn legal(from: KernelState, to: KernelState) -> bool {
        match from {
            Booting => matches!(to, Idle | Halted),
            Idle => matches!(to, Validating | Halted),
            Validating => matches!(to, Arbitrating | Auditing | Halted),
            Arbitrating => matches!(to, Executing | Auditing | Halted),
            Executing => matches!(to, Auditing | Halted),
            Auditing => matches!(to, Idle | Halted),
            Halted => false,
        }
    }

    #[conforms::conforms("KS-6.1-2", "KS-3.2-1", "KS-3.2-2", "KS-3.1-1", "KS-3.4-1")]
    #[test]
    fn every_pair_of_states_moves_or_is_refused_as_the_table_says() {
        for &from in KernelState::ALL {
            for &to in KernelState::ALL {
                let (mut machine, mut log) = (Machine::at(from), Vec::new());
                let gone = machine.go(to, &note(GateDecision::Allow, Some("change")), &mut log);
                if legal(from, to) {
                    let hash = gone.expect("a legal transition");
                    assert_eq!(machine.state(), to);
                    assert_eq!(log.len(), 1);
                    assert_eq!((log[0].state_from, log[0].state_to, log[0].entry_hash), (from, to, hash));
                    assert_eq!(machine.head(), hash);
                } else {
                    assert_eq!(gone, Err(Stop::Illegal), "{from} to {to}");
                    assert_eq!(machine.state(), Halted, "a broken gate stops");
                    assert!(log.is_empty(), "nothing is written about what did not happen");
                }
            }
        }
    }

    #[conforms::conforms("KS-3.10-1")]
    #[test]
    fn executing_is_entered_only_on_an_explicit_allow_with_a_tool() {
        for &decision in GateDecision::ALL {
            for tool in [None, Some("change")] {
                let (mut machine, mut log) = (Machine::at(Arbitrating), Vec::new());
                let gone = machine.go(Executing, &note(decision, tool), &mut log);
                let permitted = decision == GateDecision::Allow && tool.is_some();
                assert_eq!(gone.is_ok(), permitted, "{decision} {tool:?}");
                assert_eq!(machine.state(), if permitted { Executing } else { Halted });
            }
        }
    }

    /// A log that looks at the machine's world while it is asked.
    struct Broken;
    impl AuditLog for Broken {
        fn append(&mut self, _: &AuditEntry) -> Result<(), AuditFailure> {
            Err(AuditFailure("disk full".to_owned()))
        }
    }

    #[conforms::conforms("KS-3.4-1")]
    #[test]
    fn a_log_that_fails_halts_from_every_state_and_is_never_asked_again() {
        for &(from, to) in TRANSITIONS {
            let mut machine = Machine::at(from);
            let gone = machine.go(to, &note(GateDecision::Allow, Some("change")), &mut Broken);
            assert!(matches!(gone, Err(Stop::Audit(_))), "{from} to {to}");
            assert_eq!((machine.state(), machine.head()), (Halted, Digest::ZERO));
            let mut log = Vec::new();
            assert_eq!(machine.refuse(&note(GateDecision::Deny, None), &mut log), Ok(None));
            assert!(log.is_empty());
        }
    }

    #[test]
    fn the_table_holds_no_pair_twice() {
        for (at, pair) in TRANSITIONS.iter().enumerate() {
            assert!(!TRANSITIONS[at + 1..].contains(pair), "{pair:?}");
        }
    }
}
