//! The six methods of KS-5.

use crate::*;
use gate::{BootError, Code, KernelState, ReceiptStatus};

#[conforms::conforms("KS-5.1-1")]
#[test]
fn boot_goes_from_booting_to_idle_with_an_entry_of_the_session() {
    let mut gate = Gate::new();
    assert_eq!(gate.get_state(), KernelState::Booting);
    let mut log = Vec::new();
    gate.boot(config(Variant::Strict), &mut log).expect("it boots");
    assert_eq!(gate.get_state(), KernelState::Idle);
    let [entry] = log.as_slice() else { panic!("one entry, not {}", log.len()) };
    assert_eq!((entry.state_from, entry.state_to), (KernelState::Booting, KernelState::Idle));
    assert_eq!(
        (entry.request_id.as_str(), entry.actor.as_str(), entry.intent.as_str()),
        ("ses_1", SYSTEM, "boot")
    );
    assert_eq!((entry.decision, entry.prev_hash), (GateDecision::Deny, Digest::ZERO));
}

type Spoil = fn(&mut KernelConfig);

#[conforms::conforms("KS-5.1-2")]
#[test]
fn boot_says_what_is_wrong_and_why_it_failed() {
    let broken: [(&str, Spoil); 5] = [
        ("kernel_id", |c| c.kernel_id.clear()),
        ("session", |c| c.session = "two words".to_owned()),
        ("actor", |c| c.actor = "somebody".to_owned()),
        ("tools", |c| c.tools.push("Do Things".to_owned())),
        ("ts_ms", |c| c.ts_ms = UnixMs(-1)),
    ];
    for (wanted, spoil) in broken {
        let (mut gate, mut log) = (Gate::new(), Vec::new());
        let mut config = config(Variant::Strict);
        spoil(&mut config);
        let refused = gate.boot(config, &mut log);
        assert!(matches!(refused, Err(BootError::Config { field, .. }) if field == wanted), "{refused:?}");
        assert_eq!(gate.get_state(), KernelState::Booting);
        assert!(log.is_empty());
    }
    let (mut gate, mut log) = booted(Variant::Strict);
    let again = gate.boot(config(Variant::Strict), &mut log);
    assert_eq!(again, Err(BootError::NotBooting { state: KernelState::Idle }));
    let mut gate = Gate::new();
    let failed = gate.boot(config(Variant::Strict), &mut Failing { entries: Vec::new(), fails_at: 0 });
    assert!(matches!(failed, Err(BootError::Audit(_))));
    assert_eq!(gate.get_state(), KernelState::Halted);
}

#[conforms::conforms("KS-5.2-1")]
#[test]
fn asking_for_the_state_changes_nothing() {
    let (gate, _) = booted(Variant::Strict);
    let before = gate.clone();
    for _ in 0..3 {
        assert_eq!(gate.get_state(), KernelState::Idle);
    }
    assert_eq!(gate, before);
}

#[conforms::conforms("KS-5.3-1", "KS-5.3-2")]
#[test]
fn submit_validates_judges_dispatches_and_audits() {
    let (mut gate, mut log) = booted(Variant::Strict);
    let (says, mut hand) = (Says::new(Ruling::ALLOW), Hand::works());
    let receipt = gate.submit(request("req_1"), &says, &mut hand, &mut log);
    assert_eq!(says.1.get(), 1);
    assert_eq!(hand.calls, [request("req_1").tool_call.expect("it has one")]);
    assert_eq!((receipt.status, receipt.decision), (ReceiptStatus::Accepted, GateDecision::Allow));
    assert_eq!((receipt.state_from, receipt.state_to), (KernelState::Idle, KernelState::Idle));
    assert_eq!(receipt.tool_result, Some(json!({ "dispatched": true })));
    assert!(receipt.is_accepted());
    let audited = log.iter().find(|e| Some(e.entry_hash) == receipt.evidence_hash).expect("its entry");
    assert_eq!((audited.state_to, audited.decision), (KernelState::Auditing, GateDecision::Allow));
    let mut malformed = request("req_2");
    malformed.intent = "please do it".to_owned();
    let refused = gate.submit(malformed, &says, &mut hand, &mut log);
    let denied = gate.submit(request("req_3"), &Says::new(Ruling::deny("no")), &mut hand, &mut log);
    for (receipt, why) in [(&refused, "intent_not_a_code"), (&denied, "no")] {
        assert_eq!((receipt.status, receipt.decision), (ReceiptStatus::Rejected, GateDecision::Deny));
        let audited = log.iter().find(|e| Some(e.entry_hash) == receipt.evidence_hash).expect("its entry");
        assert_eq!(audited.error.as_deref(), Some(why));
    }
    assert_eq!((says.1.get(), hand.calls.len()), (1, 1), "nobody judged the one, and neither was dispatched");
}

#[conforms::conforms("KS-5.4-1")]
#[test]
fn step_advances_by_one_transition_and_answers_nothing_when_idle() {
    let (mut gate, mut log) = booted(Variant::Strict);
    let (says, mut hand) = (Says::new(Ruling::ALLOW), Hand::works());
    assert_eq!(gate.step(&says, &mut hand, &mut log), None);
    assert_eq!(gate.receive(request("req_1"), &mut log), None);
    let expected = [
        (KernelState::Idle, KernelState::Validating),
        (KernelState::Validating, KernelState::Arbitrating),
        (KernelState::Arbitrating, KernelState::Executing),
        (KernelState::Executing, KernelState::Auditing),
        (KernelState::Auditing, KernelState::Idle),
    ];
    for (at, (from, to)) in expected.into_iter().enumerate() {
        let receipt = gate.step(&says, &mut hand, &mut log).expect("a step was taken");
        assert_eq!((receipt.state_from, receipt.state_to, gate.get_state()), (from, to, to));
        assert_eq!(log.len(), at + 2);
        assert_eq!(hand.calls.len(), usize::from(at >= 3), "the call comes after its entry");
    }
    assert_eq!(gate.step(&says, &mut hand, &mut log), None);
}

#[test]
fn steps_and_submit_leave_the_same_entries_and_the_same_gate() {
    let whole = pass(Variant::Strict, request("req_1"), Ruling::ALLOW);
    let (mut gate, mut log) = booted(Variant::Strict);
    let (says, mut hand) = (Says::new(Ruling::ALLOW), Hand::works());
    assert_eq!(gate.receive(request("req_1"), &mut log), None);
    let mut last = None;
    while let Some(receipt) = gate.step(&says, &mut hand, &mut log) {
        last = Some(receipt);
    }
    assert_eq!((gate, log), (whole.gate, whole.log));
    let last = last.expect("steps were taken");
    assert_eq!(KernelReceipt { state_from: KernelState::Idle, ..last }, whole.receipt);
}

#[conforms::conforms("KS-5.5-1", "KS-5.5-2", "KS-3.8-1")]
#[test]
fn halt_works_from_every_state_that_is_not_terminal_and_leaves_an_entry() {
    let unbooted = (Gate::new(), Vec::new());
    let mut places = vec![unbooted, booted(Variant::Strict)];
    for steps in 1..5 {
        let (mut gate, mut log) = booted(Variant::Strict);
        assert_eq!(gate.receive(request("req_1"), &mut log), None);
        for _ in 0..steps {
            gate.step(&Says::new(Ruling::ALLOW), &mut Hand::works(), &mut log).expect("a step");
        }
        places.push((gate, log));
    }
    let states: Vec<_> = places.iter().map(|(gate, _)| gate.get_state()).collect();
    assert_eq!(states, &KernelState::ALL[..6], "all states but HALTED are walked");
    for (mut gate, mut log) in places {
        let (from, before) = (gate.get_state(), log.len());
        let receipt = gate.halt("emergency", UnixMs(3_000), &mut log);
        assert_eq!((receipt.state_from, receipt.state_to), (from, KernelState::Halted));
        assert_eq!((receipt.status, receipt.decision), (ReceiptStatus::Accepted, GateDecision::Halt));
        assert_eq!(gate.get_state(), KernelState::Halted);
        assert_eq!(log.len(), before + 1);
        let entry = log.last().expect("the halt entry");
        assert_eq!((entry.state_from, entry.state_to), (from, KernelState::Halted));
        assert_eq!((entry.intent.as_str(), entry.error.as_deref()), ("halt", Some("emergency")));
        assert_eq!(receipt.evidence_hash, Some(entry.entry_hash));
        let step = gate.step(&Says::new(Ruling::ALLOW), &mut Hand::works(), &mut log);
        assert_eq!(step, None, "what was under way is dropped");
    }
}

#[conforms::conforms("KS-3.8-2")]
#[test]
fn nothing_brings_a_halted_gate_back_within_its_session() {
    let (mut gate, mut log) = booted(Variant::Permissive);
    gate.halt("emergency", UnixMs(3_000), &mut log);
    let mut hand = Hand::works();
    for turn in 0..3 {
        let receipt =
            gate.submit(request(&format!("req_{turn}")), &Says::new(Ruling::ALLOW), &mut hand, &mut log);
        assert_eq!((receipt.status, receipt.decision), (ReceiptStatus::Rejected, GateDecision::Halt));
        assert_eq!(receipt.error.as_deref(), Some(Code::Halted.as_str()));
        assert!(gate.boot(config(Variant::Permissive), &mut log).is_err());
        let again = gate.halt("again", UnixMs(4_000), &mut log);
        assert_eq!(again.status, ReceiptStatus::Rejected);
        assert_eq!(gate.get_state(), KernelState::Halted);
    }
    assert!(hand.calls.is_empty());
    gate::replay(&log).expect("refusals are part of the chain");
}

#[test]
fn a_new_session_continues_the_chain_where_the_last_one_ended() {
    let (mut gate, mut log) = booted(Variant::Strict);
    gate.halt("emergency", UnixMs(3_000), &mut log);
    let mut next = Gate::new();
    let config = KernelConfig { head: gate.head(), session: "ses_2".to_owned(), ..config(Variant::Strict) };
    next.boot(config, &mut log).expect("a new session boots");
    let receipt = next.submit(request("req_1"), &Says::new(Ruling::ALLOW), &mut Hand::works(), &mut log);
    assert!(receipt.is_accepted());
    let verified = gate::replay(&log).expect("one chain");
    assert_eq!((verified.entries, verified.root), (log.len() as u64, next.head()));
}

#[conforms::conforms("KS-5-1", "KS-5.6-1", "KS-3.9-1")]
#[test]
fn all_six_methods_are_there_and_every_decision_is_exported() {
    let (mut gate, mut log) = booted(Variant::Permissive);
    let mut hand = Hand::works();
    gate.submit(request("req_1"), &Says::new(Ruling::ALLOW), &mut hand, &mut log);
    gate.submit(request("req_2"), &Says::new(Ruling::deny("no")), &mut hand, &mut log);
    assert_eq!(gate.step(&Says::new(Ruling::ALLOW), &mut hand, &mut log), None);
    gate.halt("stop", UnixMs(5_000), &mut log);
    assert_eq!(gate.get_state(), KernelState::Halted);
    let bundle = gate.export_evidence(log.clone(), UnixMs(6_000)).expect("it exports");
    gate::verify_bundle(&bundle).expect("it verifies");
    for decision in GateDecision::ALL {
        assert!(bundle.ledger_entries.iter().any(|e| e.decision == *decision), "{decision}");
    }
    let short = log[..log.len() - 1].to_vec();
    assert!(gate.export_evidence(short, UnixMs(6_000)).is_err(), "part of the log is not the log");
}
