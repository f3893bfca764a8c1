//! The sequence of KS-6.1 and what failures do to it (KS-6.2).

use crate::*;
use gate::{KernelState, ReceiptStatus};

fn states(log: &[AuditEntry]) -> Vec<(&'static str, &'static str)> {
    log.iter().skip(1).map(|e| (e.state_from.as_str(), e.state_to.as_str())).collect()
}

#[conforms::conforms("KS-6.1-1", "KS-3.4-1", "KS-3.5-1")]
#[test]
fn an_allowed_call_goes_through_all_states_in_order_each_with_its_entry() {
    let passed = pass(Variant::Strict, request("req_1"), Ruling::ALLOW);
    assert_eq!(
        states(&passed.log),
        [
            ("IDLE", "VALIDATING"),
            ("VALIDATING", "ARBITRATING"),
            ("ARBITRATING", "EXECUTING"),
            ("EXECUTING", "AUDITING"),
            ("AUDITING", "IDLE"),
        ]
    );
    for pair in passed.log.windows(2) {
        assert_eq!(pair[1].prev_hash, pair[0].entry_hash);
        assert_eq!(pair[0].computed_hash().expect("it hashes"), pair[0].entry_hash);
    }
    let decisions: Vec<_> = passed.log.iter().map(|e| e.decision.as_str()).collect();
    assert_eq!(
        decisions,
        ["DENY", "DENY", "DENY", "ALLOW", "ALLOW", "ALLOW"],
        "no permission before arbitration"
    );
}

#[test]
fn an_allowed_request_without_a_tool_executes_nothing() {
    let mut asked = request("req_1");
    asked.tool_call = None;
    let passed = pass(Variant::Permissive, asked, Ruling::ALLOW);
    assert!(passed.receipt.is_accepted());
    assert!(passed.hand.calls.is_empty());
    let expected = [
        ("IDLE", "VALIDATING"),
        ("VALIDATING", "ARBITRATING"),
        ("ARBITRATING", "AUDITING"),
        ("AUDITING", "IDLE"),
    ];
    assert_eq!(states(&passed.log), expected);
}

#[conforms::conforms("KS-6.2-1", "KS-6.2-2", "KS-6.2-3", "KS-6.2-4")]
#[test]
fn a_failure_in_validation_goes_to_auditing_and_back_without_asking_anybody() {
    let (mut gate, mut log) = booted(Variant::Strict);
    let (says, mut hand) = (Says::new(Ruling::ALLOW), Hand::works());
    let mut asked = request("req_1");
    asked.intent = "please do it".to_owned();
    let receipt = gate.submit(asked, &says, &mut hand, &mut log);
    assert_eq!(states(&log), [("IDLE", "VALIDATING"), ("VALIDATING", "AUDITING"), ("AUDITING", "IDLE")]);
    assert_eq!((says.1.get(), hand.calls.len()), (0, 0));
    assert_eq!((receipt.status, receipt.decision), (ReceiptStatus::Rejected, GateDecision::Deny));
    assert_eq!(log[2].error.as_deref(), Some("intent_not_a_code"));
}

#[conforms::conforms("KS-6.2-2", "KS-6.2-3", "KS-6.2-4")]
#[test]
fn a_tool_that_fails_gives_failed_with_its_words_in_the_receipt_and_a_code_in_the_entry() {
    let (mut gate, mut log) = booted(Variant::Strict);
    let mut hand = Hand { calls: Vec::new(), answer: Err("no space in /home/ann".to_owned()) };
    let receipt = gate.submit(request("req_1"), &Says::new(Ruling::ALLOW), &mut hand, &mut log);
    assert_eq!((receipt.status, receipt.decision), (ReceiptStatus::Failed, GateDecision::Allow));
    assert_eq!(receipt.error.as_deref(), Some("tool_failed: no space in /home/ann"));
    assert!(!receipt.is_accepted());
    assert_eq!(gate.get_state(), KernelState::Idle);
    assert_eq!(log[4].error.as_deref(), Some("tool_failed"));
    assert!(!format!("{log:?}").contains("ann"), "free text stays out of the log");
}

#[conforms::conforms("KS-6.2-1", "KS-6.2-3", "KS-6.2-4", "KS-3.4-1")]
#[test]
fn a_log_that_fails_at_any_entry_halts_the_gate_before_the_step_it_would_have_recorded() {
    for fails_at in 1..6 {
        let mut log = Failing { entries: Vec::new(), fails_at };
        let mut gate = Gate::new();
        gate.boot(config(Variant::Strict), &mut log).expect("the first entry goes in");
        let mut hand = Hand::works();
        let receipt = gate.submit(request("req_1"), &Says::new(Ruling::ALLOW), &mut hand, &mut log);
        assert_eq!(gate.get_state(), KernelState::Halted);
        assert_eq!((receipt.status, receipt.state_to), (ReceiptStatus::Failed, KernelState::Halted));
        assert_eq!(receipt.decision, GateDecision::Halt);
        assert_eq!(receipt.error.as_deref(), Some("audit_failed"));
        assert_eq!(receipt.evidence_hash, None);
        // Entry 3 is the one into EXECUTING: unless it is in, nothing is dispatched.
        let dispatched = fails_at > 3;
        assert_eq!(hand.calls.len(), usize::from(dispatched), "failing at {fails_at}");
        assert_eq!(receipt.tool_result.is_some(), dispatched, "what was dispatched is not hidden");
        let later = gate.submit(request("req_2"), &Says::new(Ruling::ALLOW), &mut hand, &mut log);
        assert_eq!(later.error.as_deref(), Some("halted"));
        assert_eq!(log.entries.len(), fails_at, "a log that failed is never appended to again");
    }
}

#[conforms::conforms("KS-3.3-1", "KS-3.3-2")]
#[test]
fn every_request_asks_jurisdiction_and_one_that_is_refused_runs_nothing() {
    let (mut gate, mut log) = booted(Variant::Permissive);
    let (says, mut hand) = (Says::new(Ruling::deny("approval_required")), Hand::works());
    for turn in 0..4 {
        let receipt = gate.submit(request(&format!("req_{turn}")), &says, &mut hand, &mut log);
        assert_eq!((receipt.status, receipt.decision), (ReceiptStatus::Rejected, GateDecision::Deny));
        assert_eq!(receipt.error.as_deref(), Some("approval_required"));
    }
    assert_eq!((says.1.get(), hand.calls.len()), (4, 0));
    assert!(log.iter().all(|e| e.state_to != KernelState::Executing));
}

#[test]
fn a_jurisdiction_that_halts_ends_the_session_at_once() {
    let passed = pass(Variant::Permissive, request("req_1"), Ruling::halt("chain_broken"));
    assert_eq!(passed.gate.get_state(), KernelState::Halted);
    assert_eq!(
        (passed.receipt.status, passed.receipt.decision),
        (ReceiptStatus::Rejected, GateDecision::Halt)
    );
    assert_eq!(states(&passed.log).last(), Some(&("ARBITRATING", "HALTED")));
    let last = passed.log.last().expect("entries");
    assert_eq!((last.decision, last.error.as_deref()), (GateDecision::Halt, Some("chain_broken")));
    assert_eq!(passed.receipt.evidence_hash, Some(last.entry_hash));
    assert!(passed.hand.calls.is_empty());
}

#[test]
fn the_two_meanings_of_evidence_hash_are_not_swapped() {
    let mut asked = request("req_1");
    asked.evidence = Some(APPROVAL.to_owned());
    let passed = pass(Variant::EvidenceFirst, asked, Ruling::ALLOW);
    let given = Digest::of(APPROVAL.as_bytes());
    let of_request: Vec<_> = passed.log.iter().skip(1).map(|e| e.evidence_hash).collect();
    assert_eq!(of_request, [Some(given); 5], "an entry hashes the evidence of the request");
    let decisive = passed.receipt.evidence_hash.expect("an entry hash");
    assert_ne!(decisive, given, "a receipt names the entry");
    assert_eq!(passed.log[4].entry_hash, decisive);
}

#[test]
fn parameters_are_bound_by_the_digest_of_their_canonical_bytes() {
    let hash = |params: Option<Value>, tool: Option<Value>| {
        let mut asked = request("req_1");
        asked.params = params;
        asked.tool_call = Some(ToolCall { name: "change".to_owned(), params: tool });
        pass(Variant::Permissive, asked, Ruling::ALLOW).log[3].params_hash
    };
    let of = |text: &str| Some(Digest::of(text.as_bytes()));
    assert_eq!(hash(None, None), None);
    assert_eq!(hash(None, Some(json!({ "b": 1, "a": [] }))), of(r#"{"a":[],"b":1}"#));
    assert_eq!(hash(Some(json!({ "x": true })), None), of(r#"{"x":true}"#));
    assert_eq!(hash(Some(json!({ "x": 1 })), Some(json!({ "y": 2 }))), of(r#"[{"x":1},{"y":2}]"#));
}
