//! The gate itself: one request at a time, one transition at a time (KS-5, KS-6).

use crate::AuditEntry;
use crate::check::{self, Session};
use crate::machine::{Machine, Note, Stop};
use crate::request::{BootError, Code, KernelConfig, KernelReceipt, KernelRequest, ReceiptStatus, Ruling};
use crate::{AuditLog, EvidenceBundle, Fault, GateDecision, Jurisdiction, KernelState, Tools, variant};
use model::{Digest, UnixMs};
use serde_json::Value;

/// A request on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pass {
    request: KernelRequest,
    note: Note,
    status: ReceiptStatus,
    /// For the receipt; words of a failed tool are here and not in the note.
    error: Option<String>,
    tool_result: Option<Value>,
    /// Hash of the entry that holds the decision.
    decisive: Option<Digest>,
}

/// The reference monitor of one session. Cloning it is how a caller tries a pass before committing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    machine: Machine,
    config: Option<KernelConfig>,
    latest: UnixMs,
    last_request_id: Option<String>,
    pass: Option<Pass>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A gate that waits to be booted.
    pub const fn new() -> Self {
        Self { machine: Machine::new(), config: None, latest: UnixMs(0), last_request_id: None, pass: None }
    }

    /// Begins a session: `BOOTING` to `IDLE`, with an entry that continues the chain at `config.head` (KS-5.1).
    ///
    /// # Errors
    /// [`BootError`]; after [`BootError::Audit`] the gate is halted, after [`BootError::Config`] it still waits.
    pub fn boot(&mut self, config: KernelConfig, log: &mut dyn AuditLog) -> Result<(), BootError> {
        if self.machine.state() != KernelState::Booting {
            return Err(BootError::NotBooting { state: self.machine.state() });
        }
        check::config(&config).map_err(|(field, code)| BootError::Config { field, code })?;
        self.machine = Machine::continuing(config.head);
        self.latest = config.ts_ms;
        let note = session_note(&config, "boot", config.ts_ms, GateDecision::Deny, None);
        self.config = Some(config);
        match self.machine.go(KernelState::Idle, &note, log) {
            Ok(_) => Ok(()),
            Err(Stop::Audit(failure)) => Err(failure.into()),
            Err(Stop::Illegal) => Err(BootError::NotBooting { state: self.machine.state() }),
        }
    }

    /// The current state; asking changes nothing (KS-5.2).
    pub const fn get_state(&self) -> KernelState {
        self.machine.state()
    }

    /// Hash of the last entry: what the next one points back to.
    pub const fn head(&self) -> Digest {
        self.machine.head()
    }

    /// The session's configuration, once booted.
    pub const fn config(&self) -> Option<&KernelConfig> {
        self.config.as_ref()
    }

    /// Takes a request in, to be advanced by [`Gate::step`]. `None` when it was taken in.
    ///
    /// A gate that is not idle refuses: the receipt says why, and so does an entry, unless the gate was never
    /// booted (there is no chain yet), is `EXECUTING` (only permitted executions end there), or its log has failed.
    pub fn receive(&mut self, request: KernelRequest, log: &mut dyn AuditLog) -> Option<KernelReceipt> {
        let note = check::note(&request);
        let code = match self.machine.state() {
            KernelState::Idle if self.pass.is_none() => {
                let (status, error, tool_result, decisive) = (ReceiptStatus::Rejected, None, None, None);
                self.pass = Some(Pass { request, note, status, error, tool_result, decisive });
                return None;
            }
            KernelState::Booting => Code::NotBooted,
            KernelState::Halted => Code::Halted,
            KernelState::Idle
            | KernelState::Validating
            | KernelState::Arbitrating
            | KernelState::Executing
            | KernelState::Auditing => Code::NotIdle,
        };
        Some(self.refuse(&request.request_id, request.ts_ms, note, code, log))
    }

    /// Advances the request under way by one transition (KS-5.4); `None` when there is none.
    ///
    /// The receipt speaks of the step. Only one whose `state_to` is `IDLE` or `HALTED` speaks of the request.
    pub fn step(
        &mut self,
        jurisdiction: &dyn Jurisdiction,
        tools: &mut dyn Tools,
        log: &mut dyn AuditLog,
    ) -> Option<KernelReceipt> {
        let mut pass = self.pass.take()?;
        let from = self.machine.state();
        let to = match from {
            KernelState::Idle => KernelState::Validating,
            KernelState::Validating => self.validate(&mut pass),
            KernelState::Arbitrating => self.arbitrate(&mut pass, jurisdiction),
            KernelState::Executing => execute(&mut pass, tools),
            KernelState::Auditing => KernelState::Idle,
            // No pass survives these; were it otherwise, it ends here.
            KernelState::Booting | KernelState::Halted => KernelState::Halted,
        };
        match self.machine.go(to, &pass.note, log) {
            Ok(hash) => self.went(pass, from, to, hash),
            Err(stop) => {
                pass.note.decision = GateDecision::Halt;
                pass.status = ReceiptStatus::Failed;
                pass.error = Some(stop.code().as_str().to_owned());
                pass.decisive = None;
                Some(receipt(&pass, from, self.machine.state()))
            }
        }
    }

    /// Processes a request whole: validates, asks policy, dispatches if allowed, audits (KS-5.3, KS-6.1).
    pub fn submit(
        &mut self,
        request: KernelRequest,
        jurisdiction: &dyn Jurisdiction,
        tools: &mut dyn Tools,
        log: &mut dyn AuditLog,
    ) -> KernelReceipt {
        let from = self.machine.state();
        let (request_id, ts_ms, note) = (request.request_id.clone(), request.ts_ms, check::note(&request));
        if let Some(refused) = self.receive(request, log) {
            return refused;
        }
        while let Some(mut receipt) = self.step(jurisdiction, tools, log) {
            if self.pass.is_none() {
                receipt.state_from = from;
                return receipt;
            }
        }
        self.refuse(&request_id, ts_ms, note, Code::TransitionIllegal, log)
    }

    /// Ends the session at once, from any state but `HALTED`, whatever is under way (KS-3.8, KS-5.5).
    ///
    /// `reason` is a code; anything else is recorded as [`Code::Unspecified`], and the gate halts all the same.
    pub fn halt(&mut self, reason: &str, ts_ms: UnixMs, log: &mut dyn AuditLog) -> KernelReceipt {
        self.pass = None;
        let from = self.machine.state();
        let reason = if check::code(reason).is_ok() { reason } else { Code::Unspecified.as_str() };
        let note = self.config.as_ref().map_or_else(
            || unbooted_note(ts_ms, reason),
            |config| session_note(config, "halt", ts_ms, GateDecision::Halt, Some(reason)),
        );
        let request_id = note.request_id.clone();
        if from == KernelState::Halted {
            return self.refuse(&request_id, ts_ms, note, Code::Halted, log);
        }
        let gone = self.machine.go(KernelState::Halted, &note, log);
        let (status, error) = match &gone {
            Ok(_) => (ReceiptStatus::Accepted, reason),
            Err(stop) => (ReceiptStatus::Failed, stop.code().as_str()),
        };
        KernelReceipt {
            request_id,
            status,
            state_from: from,
            state_to: self.machine.state(),
            ts_ms,
            decision: GateDecision::Halt,
            error: Some(error.to_owned()),
            evidence_hash: gone.ok(),
            tool_result: None,
        }
    }

    /// All entries of the store as a bundle (KS-5.6). They must replay and end where this gate stands.
    ///
    /// # Errors
    /// The first [`Fault`]: an incomplete or broken log is not exported as if it were whole.
    pub fn export_evidence(
        &self,
        entries: Vec<AuditEntry>,
        exported_at_ms: UnixMs,
    ) -> Result<EvidenceBundle, Fault> {
        let config = self.config.as_ref().ok_or(Fault::Empty)?;
        let bundle = EvidenceBundle::of(entries, exported_at_ms, &config.kernel_id, config.variant)?;
        let (expected, found) = (self.machine.head(), bundle.root_hash);
        if expected == found { Ok(bundle) } else { Err(Fault::Root { expected, found }) }
    }

    fn validate(&self, pass: &mut Pass) -> KernelState {
        let nothing = Vec::new();
        let session = Session {
            tools: self.config.as_ref().map_or(&nothing, |c| &c.tools),
            latest: self.latest,
            last_request_id: self.last_request_id.as_deref(),
        };
        match check::structure(&pass.request, &session) {
            Ok(()) => KernelState::Arbitrating,
            Err(code) => {
                pass.deny(code.as_str());
                KernelState::Auditing
            }
        }
    }

    fn arbitrate(&self, pass: &mut Pass, jurisdiction: &dyn Jurisdiction) -> KernelState {
        let Some(config) = self.config.as_ref() else {
            pass.deny(Code::NotBooted.as_str());
            return KernelState::Auditing;
        };
        match judge(jurisdiction.evaluate(&pass.request)) {
            Judged::Allow => match variant::requirements(config.variant, &pass.request) {
                Ok(()) => {
                    pass.note.decision = GateDecision::Allow;
                    pass.status = ReceiptStatus::Accepted;
                    if pass.request.tool_call.is_some() {
                        KernelState::Executing
                    } else {
                        KernelState::Auditing
                    }
                }
                Err(code) => {
                    pass.deny(code.as_str());
                    KernelState::Auditing
                }
            },
            Judged::Deny(code) => {
                pass.deny(&code);
                KernelState::Auditing
            }
            Judged::Halt(code) => {
                pass.deny(&code);
                pass.note.decision = GateDecision::Halt;
                KernelState::Halted
            }
        }
    }

    fn went(
        &mut self,
        mut pass: Pass,
        from: KernelState,
        to: KernelState,
        hash: Digest,
    ) -> Option<KernelReceipt> {
        if matches!(to, KernelState::Auditing | KernelState::Halted) {
            pass.decisive = Some(hash);
        }
        if to == KernelState::Arbitrating {
            self.latest = self.latest.max(pass.request.ts_ms);
            self.last_request_id = Some(pass.request.request_id.clone());
        }
        let receipt = receipt(&pass, from, to);
        if !matches!(to, KernelState::Idle | KernelState::Halted) {
            self.pass = Some(pass);
        }
        Some(receipt)
    }

    fn refuse(
        &mut self,
        request_id: &str,
        ts_ms: UnixMs,
        mut note: Note,
        code: Code,
        log: &mut dyn AuditLog,
    ) -> KernelReceipt {
        let from = self.machine.state();
        let decision = if from == KernelState::Halted { GateDecision::Halt } else { GateDecision::Deny };
        note.decision = decision;
        note.error = Some(code.as_str().to_owned());
        let left = self.machine.refuse(&note, log);
        let (status, decision, code) = match &left {
            Ok(_) => (ReceiptStatus::Rejected, decision, code),
            Err(stop) => (ReceiptStatus::Failed, GateDecision::Halt, stop.code()),
        };
        KernelReceipt {
            request_id: request_id.to_owned(),
            status,
            state_from: from,
            state_to: self.machine.state(),
            ts_ms,
            decision,
            error: Some(code.as_str().to_owned()),
            evidence_hash: left.ok().flatten(),
            tool_result: None,
        }
    }
}

impl Pass {
    fn deny(&mut self, code: &str) {
        self.status = ReceiptStatus::Rejected;
        self.error = Some(code.to_owned());
        self.note.error = Some(code.to_owned());
        self.note.decision = GateDecision::Deny;
    }
}

/// A ruling with nothing left open: `ALLOW` is exactly that, and every no has a code.
enum Judged {
    Allow,
    Deny(String),
    Halt(String),
}

fn judge(ruling: Ruling) -> Judged {
    let usable = |error: Option<String>, otherwise: Code| {
        error.filter(|e| check::code(e).is_ok()).unwrap_or_else(|| otherwise.as_str().to_owned())
    };
    match ruling.decision {
        GateDecision::Allow if ruling.error.is_none() => Judged::Allow,
        GateDecision::Allow => Judged::Deny(Code::RulingAmbiguous.as_str().to_owned()),
        GateDecision::Deny => Judged::Deny(usable(ruling.error, Code::Denied)),
        GateDecision::Halt => Judged::Halt(usable(ruling.error, Code::HaltedByPolicy)),
    }
}

fn execute(pass: &mut Pass, tools: &mut dyn Tools) -> KernelState {
    let called = pass.request.tool_call.as_ref().map(|call| tools.call(call));
    match called {
        Some(Ok(result)) => pass.tool_result = Some(result),
        Some(Err(words)) => {
            pass.status = ReceiptStatus::Failed;
            pass.error = Some(format!("{}: {words}", Code::ToolFailed));
            pass.note.error = Some(Code::ToolFailed.as_str().to_owned());
        }
        None => pass.deny(Code::ToolRequired.as_str()),
    }
    KernelState::Auditing
}

fn receipt(pass: &Pass, from: KernelState, to: KernelState) -> KernelReceipt {
    KernelReceipt {
        request_id: pass.request.request_id.clone(),
        status: pass.status,
        state_from: from,
        state_to: to,
        ts_ms: pass.request.ts_ms,
        decision: pass.note.decision,
        error: pass.error.clone(),
        evidence_hash: pass.decisive,
        tool_result: pass.tool_result.clone(),
    }
}

fn session_note(
    config: &KernelConfig,
    intent: &str,
    ts_ms: UnixMs,
    decision: GateDecision,
    error: Option<&str>,
) -> Note {
    Note {
        ts_ms,
        request_id: config.session.clone(),
        actor: config.actor.clone(),
        intent: intent.to_owned(),
        decision,
        tool_name: None,
        params_hash: None,
        evidence_hash: None,
        error: error.map(str::to_owned),
    }
}

/// A halt before any boot: no session, no principal, no chain to continue.
fn unbooted_note(ts_ms: UnixMs, reason: &str) -> Note {
    Note {
        ts_ms,
        request_id: "unbooted".to_owned(),
        actor: "unbooted".to_owned(),
        intent: "halt".to_owned(),
        decision: GateDecision::Halt,
        tool_name: None,
        params_hash: None,
        evidence_hash: None,
        error: Some(reason.to_owned()),
    }
}
