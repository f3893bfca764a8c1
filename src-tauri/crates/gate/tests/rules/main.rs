//! The gate from outside, rule by rule.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "what a test's own functions expect is part of the test"
)]

mod api;
mod determinism;
mod evidence;
mod fail_closed;
mod objects;
mod sequence;
mod variants;

use gate::{
    AuditEntry, AuditFailure, AuditLog, Gate, GateDecision, Jurisdiction, KernelConfig, KernelReceipt,
    KernelRequest, Ruling, ToolCall, Tools, Variant,
};
use model::{Digest, UnixMs};
use serde_json::{Value, json};

pub(crate) const ACTOR: &str = "prn_0190a1b2c3d47e8f9a0b1c2d3e4f5a6b";
pub(crate) const SYSTEM: &str = "prn_0190a1b2c3d47e8f9a0b1c2d3e4f5a00";
pub(crate) const APPROVAL: &str = "apr_0190a1b2c3d47e8f9a0b1c2d3e4f5a01";

pub(crate) fn config(variant: Variant) -> KernelConfig {
    KernelConfig {
        kernel_id: "store_one".to_owned(),
        variant,
        session: "ses_1".to_owned(),
        actor: SYSTEM.to_owned(),
        tools: vec!["change".to_owned(), "observe".to_owned()],
        head: Digest::ZERO,
        ts_ms: UnixMs(1_000),
    }
}

pub(crate) fn request(id: &str) -> KernelRequest {
    KernelRequest {
        request_id: id.to_owned(),
        ts_ms: UnixMs(2_000),
        actor: ACTOR.to_owned(),
        intent: "change".to_owned(),
        tool_call: Some(ToolCall { name: "change".to_owned(), params: Some(json!({ "n": 1 })) }),
        params: None,
        evidence: None,
    }
}

/// Always the same answer, and how often it was asked.
pub(crate) struct Says(pub Ruling, pub std::cell::Cell<u32>);

impl Says {
    pub fn new(ruling: Ruling) -> Self {
        Self(ruling, std::cell::Cell::new(0))
    }
}

impl Jurisdiction for Says {
    fn evaluate(&self, _: &KernelRequest) -> Ruling {
        self.1.set(self.1.get() + 1);
        self.0.clone()
    }
}

/// A tool that remembers its calls and answers as told.
pub(crate) struct Hand {
    pub calls: Vec<ToolCall>,
    pub answer: Result<Value, String>,
}

impl Hand {
    pub fn works() -> Self {
        Self { calls: Vec::new(), answer: Ok(json!({ "dispatched": true })) }
    }
}

impl Tools for Hand {
    fn call(&mut self, call: &ToolCall) -> Result<Value, String> {
        self.calls.push(call.clone());
        self.answer.clone()
    }
}

/// A log whose entry number `fails_at`, from 0, does not go in.
pub(crate) struct Failing {
    pub entries: Vec<AuditEntry>,
    pub fails_at: usize,
}

impl AuditLog for Failing {
    fn append(&mut self, entry: &AuditEntry) -> Result<(), AuditFailure> {
        if self.entries.len() == self.fails_at {
            return Err(AuditFailure("disk full".to_owned()));
        }
        self.entries.push(entry.clone());
        Ok(())
    }
}

pub(crate) fn booted(variant: Variant) -> (Gate, Vec<AuditEntry>) {
    let (mut gate, mut log) = (Gate::new(), Vec::new());
    gate.boot(config(variant), &mut log).expect("a sound configuration boots");
    (gate, log)
}

/// One request through a permissive gate, and what it left behind.
pub(crate) struct Passed {
    pub gate: Gate,
    pub log: Vec<AuditEntry>,
    pub hand: Hand,
    pub receipt: KernelReceipt,
}

pub(crate) fn pass(variant: Variant, request: KernelRequest, ruling: Ruling) -> Passed {
    let (mut gate, mut log) = booted(variant);
    let mut hand = Hand::works();
    let receipt = gate.submit(request, &Says::new(ruling), &mut hand, &mut log);
    Passed { gate, log, hand, receipt }
}

pub(crate) fn denied_with(passed: &Passed, code: &str) {
    assert_eq!(passed.receipt.decision, GateDecision::Deny, "{:?}", passed.receipt);
    assert_eq!(passed.receipt.error.as_deref(), Some(code));
    assert!(passed.hand.calls.is_empty(), "nothing ran");
    assert_eq!(passed.gate.get_state(), gate::KernelState::Idle);
    let decisive = passed.log.iter().find(|e| Some(e.entry_hash) == passed.receipt.evidence_hash);
    assert_eq!(decisive.expect("the receipt names its entry").error.as_deref(), Some(code));
}
