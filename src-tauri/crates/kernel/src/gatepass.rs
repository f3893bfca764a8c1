//! One pass through the gate. Its entries join the commit they authorise; the gate moves only when it is on disk.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::writeup::Writeup;
use gate::{
    AuditFailure, AuditLog, Gate, Jurisdiction, KernelConfig, KernelReceipt, KernelRequest, Ruling, ToolCall,
    Tools, Variant,
};
use model::RequestId;
use model::artifact::ArtifactRef;
use model::audit::{AuditEntry, GateDecision};
use model::policy::Verdict;
use model::principal::PrincipalType;
use seal::Digest;
use serde_json::{Value, json};
use std::sync::MutexGuard;

/// Entries written within one commit: on disk together with what they are about, before anything is done.
struct Collected<'a>(&'a mut Vec<AuditEntry>);

impl AuditLog for Collected<'_> {
    fn append(&mut self, entry: &AuditEntry) -> Result<(), AuditFailure> {
        self.0.push(entry.clone());
        Ok(())
    }
}

/// Policy has spoken; the gate asks it again here.
struct Spoken(GateDecision, Option<&'static str>);

impl Jurisdiction for Spoken {
    fn evaluate(&self, _: &KernelRequest) -> Ruling {
        Ruling { decision: self.0, error: self.1.map(str::to_owned) }
    }
}

/// EXECUTING is the dispatch: the commit that holds these entries is what starts the executor.
struct Dispatch;

impl Tools for Dispatch {
    fn call(&mut self, _: &ToolCall) -> Result<Value, String> {
        Ok(json!({ "dispatched": true }))
    }
}

/// A gate booted for a session of this name; its boot entry joins the writeup.
pub(crate) fn boot(kernel: &Kernel, writeup: &mut Writeup<'_>, session: &str) -> Result<Gate, Error> {
    let mut gate = Gate::new();
    let config = KernelConfig {
        kernel_id: lock(&kernel.store).store_id.clone(),
        variant: Variant::Strict,
        // Any other is denied by the gate.
        tools: acts::Action::TOOLS.iter().map(|t| (*t).to_owned()).collect(),
        session: session.to_owned(),
        actor: writeup.actor.actor_id.to_string(),
        head: kernel.reader.gate_head()?,
        ts_ms: kernel.gate_now(),
    };
    gate.boot(config, &mut Collected(&mut writeup.batch.entries)).map_err(|e| Error::Gate(e.to_string()))?;
    Ok(gate)
}

/// A pass through the gate, which is held until the commit (reconciliation C17: passes are serialised and short).
pub(crate) struct GatePass<'k> {
    guard: MutexGuard<'k, Option<Gate>>,
    next: Option<Gate>,
}

/// What is asked of the gate.
pub(crate) struct Ask<'a> {
    pub tool: &'a str,
    pub request: &'a ArtifactRef,
    pub verdict: Verdict,
    /// The packet a person has granted, when that is why it may pass.
    pub granted_packet: Option<Digest>,
}

impl<'k> GatePass<'k> {
    /// Begins one: the gate is locked.
    ///
    /// # Errors
    /// [`Error::Halted`] when the gate is.
    pub(crate) fn begin(kernel: &'k Kernel) -> Result<Self, Error> {
        let guard = lock(&kernel.gate);
        let halted = guard.is_none() || lock(&kernel.halted_unrecorded).is_some();
        if halted { Err(Error::Halted) } else { Ok(Self { guard, next: None }) }
    }

    /// Begins one to halt, also after a halt that could not be recorded.
    ///
    /// # Errors
    /// [`Error::Halted`] when a halt is on record.
    pub(crate) fn begin_to_halt(kernel: &'k Kernel) -> Result<Self, Error> {
        let guard = lock(&kernel.gate);
        if guard.is_none() { Err(Error::Halted) } else { Ok(Self { guard, next: None }) }
    }

    /// Runs one request through the gate; its entries join the writeup.
    ///
    /// # Errors
    /// [`Error::Gate`] when the gate cannot record it.
    pub(crate) fn pass(
        &mut self,
        kernel: &Kernel,
        writeup: &mut Writeup<'_>,
        ask: &Ask<'_>,
    ) -> Result<KernelReceipt, Error> {
        let mut gate = self.next.take().or_else(|| self.guard.clone()).ok_or(Error::Halted)?;
        let ruling = match (ask.verdict, ask.granted_packet) {
            (Verdict::Allow, _) | (Verdict::RequireApproval, Some(_)) => Spoken(GateDecision::Allow, None),
            (Verdict::RequireApproval, None) => Spoken(GateDecision::Deny, Some("approval_required")),
            (Verdict::Downgrade, _) => Spoken(GateDecision::Deny, Some("downgraded")),
            (Verdict::Deny, _) => Spoken(GateDecision::Deny, Some("policy_denied")),
        };
        let request = KernelRequest {
            request_id: RequestId::fresh(&*kernel.ports.clock, &*kernel.ports.entropy).to_string(),
            ts_ms: kernel.gate_now(),
            actor: kernel.actor(PrincipalType::Agent)?.actor_id.to_string(),
            intent: ask.tool.to_owned(),
            tool_call: Some(ToolCall {
                name: ask.tool.to_owned(),
                params: Some(json!({
                    "action_request_id": ask.request.artifact_id.to_string(),
                    "action_request_sha256": ask.request.sha256.to_string(),
                })),
            }),
            params: None,
            evidence: ask.granted_packet.map(|digest| digest.to_string()),
        };
        let mut log = Collected(&mut writeup.batch.entries);
        let receipt = gate.submit(request, &ruling, &mut Dispatch, &mut log);
        self.next = Some(gate);
        Ok(receipt)
    }

    /// The commit is on disk: the gate moves.
    pub(crate) fn moved(mut self) {
        if let Some(next) = self.next.take() {
            *self.guard = Some(next);
        }
    }

    /// Halts: the terminal entry joins the writeup.
    pub(crate) fn halt(
        &mut self,
        kernel: &Kernel,
        writeup: &mut Writeup<'_>,
        reason: &str,
    ) -> Result<KernelReceipt, Error> {
        let mut gate = self.guard.clone().ok_or(Error::Halted)?;
        let receipt = gate.halt(reason, kernel.gate_now(), &mut Collected(&mut writeup.batch.entries));
        self.next = Some(gate);
        Ok(receipt)
    }

    /// The halt is on disk: the gate passes nothing any more in this session.
    pub(crate) fn vacate(mut self) {
        *self.guard = None;
    }
}
