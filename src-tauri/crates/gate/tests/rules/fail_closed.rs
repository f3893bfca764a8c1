//! Ambiguous, malformed, unhandled: denied (KS-3.6).

use crate::*;
use gate::{KernelState, ReceiptStatus};
use proptest::prelude::*;

type Spoil = fn(&mut KernelRequest);

/// Every heuristic, one request each.
const AMBIGUOUS: &[(&str, Spoil)] = &[
    ("field_empty", |r| r.request_id.clear()),
    ("field_empty", |r| r.actor = "  ".to_owned()),
    ("field_empty", |r| r.intent.clear()),
    ("field_empty", |r| r.evidence = Some(String::new())),
    ("field_empty", |r| tool(r).name.clear()),
    ("field_oversize", |r| r.request_id = "a".repeat(129)),
    ("field_oversize", |r| r.intent = "a".repeat(129)),
    ("field_oversize", |r| r.evidence = Some(format!("{APPROVAL} ").repeat(1000))),
    ("field_oversize", |r| tool(r).params = Some(json!({ "x": "y".repeat(300_000) }))),
    ("control_character", |r| r.intent = "change\n".to_owned()),
    ("control_character", |r| r.actor = format!("{ACTOR}\u{7}")),
    ("control_character", |r| tool(r).name = "change\0".to_owned()),
    ("request_id_malformed", |r| r.request_id = "req 1".to_owned()),
    ("request_id_malformed", |r| r.request_id = "réq".to_owned()),
    ("actor_malformed", |r| r.actor = "root".to_owned()),
    ("actor_malformed", |r| r.actor = APPROVAL.to_owned()),
    ("intent_not_a_code", |r| r.intent = "delete all my files".to_owned()),
    ("intent_not_a_code", |r| r.intent = "Change".to_owned()),
    ("intent_not_a_code", |r| r.intent = "7days".to_owned()),
    ("time_malformed", |r| r.ts_ms = UnixMs(-1)),
    ("time_malformed", |r| r.ts_ms = UnixMs(i64::MAX)),
    ("tool_unknown", |r| tool(r).name = "format_disk".to_owned()),
    ("tool_unknown", |r| tool(r).name = "Change".to_owned()),
    ("params_not_object", |r| tool(r).params = Some(json!([1]))),
    ("params_not_object", |r| tool(r).params = Some(Value::Null)),
    ("params_not_object", |r| r.params = Some(json!("text"))),
    ("params_unsealable", |r| tool(r).params = Some(json!({ "x": 1.5 }))),
    ("params_unsealable", |r| r.params = Some(json!({ "x": u64::MAX }))),
    ("evidence_malformed", |r| r.evidence = Some("trust me".to_owned())),
    ("evidence_malformed", |r| r.evidence = Some(format!("{APPROVAL}  {APPROVAL}"))),
    ("evidence_malformed", |r| r.evidence = Some(APPROVAL.to_uppercase())),
];

fn tool(request: &mut KernelRequest) -> &mut ToolCall {
    request.tool_call.as_mut().expect("the request has a tool")
}

#[conforms::conforms("KS-3.6-1", "KS-3.6-2")]
#[test]
fn every_ambiguous_request_is_denied_even_when_policy_would_allow_it() {
    for (code, spoil) in AMBIGUOUS {
        let mut asked = request("req_1");
        spoil(&mut asked);
        let passed = pass(Variant::Permissive, asked, Ruling::ALLOW);
        denied_with(&passed, code);
        gate::replay(&passed.log).expect("the chain holds");
    }
}

#[test]
fn evidence_of_identifiers_and_digests_is_taken() {
    for evidence in [APPROVAL.to_owned(), Digest::ZERO.to_string(), format!("{APPROVAL} {}", Digest::ZERO)] {
        let mut asked = request("req_1");
        asked.evidence = Some(evidence);
        assert!(pass(Variant::EvidenceFirst, asked, Ruling::ALLOW).receipt.is_accepted());
    }
}

#[test]
fn what_is_almost_an_identifier_or_a_digest_is_no_evidence() {
    let hex = |count: usize| "0123456789abcdef".repeat(5)[..count].to_owned();
    let good = [format!("apr_{}", hex(32)), hex(64)];
    let bad = [
        hex(63),
        hex(65),
        format!("{}g", hex(63)),
        format!("{}A", hex(63)),
        format!("apr_{}", hex(31)),
        format!("apr_{}", hex(33)),
        format!("apr_{}g", hex(31)),
        format!("_{}", hex(32)),
        format!("Apr_{}", hex(32)),
        format!("a1_{}", hex(32)),
        format!("apr-{}", hex(32)),
    ];
    for (evidence, error) in
        good.iter().map(|e| (e, None)).chain(bad.iter().map(|e| (e, Some("evidence_malformed"))))
    {
        let mut asked = request("req_1");
        asked.evidence = Some(evidence.clone());
        assert_eq!(
            pass(Variant::Permissive, asked, Ruling::ALLOW).receipt.error.as_deref(),
            error,
            "{evidence}"
        );
    }
}

#[test]
fn a_field_may_be_as_long_as_the_bound_and_no_longer() {
    use model::limits::{GATE_FIELD_BYTES_MAX, GATE_PARAMS_BYTES_MAX};
    let denied = |spoil: &dyn Fn(&mut KernelRequest)| {
        let mut asked = request("req_1");
        spoil(&mut asked);
        pass(Variant::Permissive, asked, Ruling::ALLOW).receipt.error
    };
    // `{"x":"…"}` is eight bytes around the text.
    for (more, error) in [(0, None), (1, Some("field_oversize"))] {
        let long = "a".repeat(GATE_FIELD_BYTES_MAX + more);
        assert_eq!(denied(&|r| r.request_id.clone_from(&long)).as_deref(), error, "request_id");
        let text = "y".repeat(GATE_PARAMS_BYTES_MAX - 8 + more);
        assert_eq!(denied(&|r| tool(r).params = Some(json!({ "x": text }))).as_deref(), error, "params");
    }
}

#[test]
fn a_field_that_is_free_text_never_enters_the_log() {
    let mut asked = request("id with spaces of ann@example.org");
    asked.actor = "ann@example.org".to_owned();
    asked.intent = "delete ann's letters".to_owned();
    asked.tool_call = Some(ToolCall { name: "rm -rf /home/ann".to_owned(), params: None });
    asked.ts_ms = UnixMs(-5);
    let passed = pass(Variant::Permissive, asked, Ruling::ALLOW);
    assert!(!format!("{:?}", passed.log).contains("ann"));
    assert_eq!(
        passed.receipt.request_id, "id with spaces of ann@example.org",
        "the caller finds its own request"
    );
}

#[test]
fn a_clock_set_back_beyond_the_bound_is_denied_and_within_it_is_not() {
    let (mut gate, mut log) = booted(Variant::Permissive);
    let (says, mut hand) = (Says::new(Ruling::ALLOW), Hand::works());
    let mut at = |ts: i64, id: &str| {
        let mut asked = request(id);
        asked.ts_ms = UnixMs(ts);
        gate.submit(asked, &says, &mut hand, &mut log).error
    };
    assert_eq!(at(10_000_000, "req_1"), None);
    let bound = 10_000_000 - model::limits::GATE_CLOCK_BACK_MS_MAX;
    assert_eq!(at(bound, "req_2"), None);
    assert_eq!(at(bound - 1, "req_3").as_deref(), Some("time_backwards"));
}

#[test]
fn the_same_request_twice_in_a_row_is_denied_the_second_time() {
    let (mut gate, mut log) = booted(Variant::Permissive);
    let (says, mut hand) = (Says::new(Ruling::ALLOW), Hand::works());
    assert!(gate.submit(request("req_1"), &says, &mut hand, &mut log).is_accepted());
    let again = gate.submit(request("req_1"), &says, &mut hand, &mut log);
    assert_eq!(again.error.as_deref(), Some("request_repeated"));
    assert_eq!(hand.calls.len(), 1);
}

#[test]
fn a_gate_without_tools_executes_none() {
    let (mut gate, mut log) = (Gate::new(), Vec::new());
    gate.boot(KernelConfig { tools: Vec::new(), ..config(Variant::Permissive) }, &mut log).expect("it boots");
    let receipt = gate.submit(request("req_1"), &Says::new(Ruling::ALLOW), &mut Hand::works(), &mut log);
    assert_eq!(receipt.error.as_deref(), Some("tool_unknown"));
}

#[conforms::conforms("KS-3.10-1", "KS-3.6-1")]
#[test]
fn only_a_bare_allow_allows() {
    let ruling = |decision, error: Option<&str>| Ruling { decision, error: error.map(str::to_owned) };
    for (given, code) in [
        (ruling(GateDecision::Allow, Some("but")), "ruling_ambiguous"),
        (ruling(GateDecision::Allow, Some("")), "ruling_ambiguous"),
        (ruling(GateDecision::Deny, None), "denied"),
        (ruling(GateDecision::Deny, Some("because I say so")), "denied"),
        (ruling(GateDecision::Deny, Some("downgraded")), "downgraded"),
    ] {
        denied_with(&pass(Variant::Permissive, request("req_1"), given), code);
    }
    let halted =
        pass(Variant::Permissive, request("req_1"), ruling(GateDecision::Halt, Some("in words, no code")));
    assert_eq!(halted.receipt.error.as_deref(), Some("halted_by_policy"));
    assert_eq!(halted.gate.get_state(), KernelState::Halted);
}

#[conforms::conforms("KS-3.6-1")]
#[test]
fn a_gate_that_is_not_idle_takes_no_request() {
    let (mut gate, mut log) = (Gate::new(), Vec::new());
    let (says, mut hand) = (Says::new(Ruling::ALLOW), Hand::works());
    let early = gate.submit(request("req_1"), &says, &mut hand, &mut log);
    assert_eq!((early.status, early.error.as_deref()), (ReceiptStatus::Rejected, Some("not_booted")));
    assert!(log.is_empty(), "there is no chain before the boot");
    gate.boot(config(Variant::Permissive), &mut log).expect("it boots");
    assert_eq!(gate.receive(request("req_2"), &mut log), None);
    for _ in 0..5 {
        let busy = gate.submit(request("req_3"), &says, &mut hand, &mut log);
        assert_eq!((busy.decision, busy.error.as_deref()), (GateDecision::Deny, Some("not_idle")));
        if gate.get_state() == KernelState::Executing {
            assert_eq!(busy.evidence_hash, None, "only permitted executions end in EXECUTING");
        } else {
            let entry = log.last().expect("the refusal has its entry");
            assert_eq!((entry.state_from, busy.evidence_hash), (entry.state_to, Some(entry.entry_hash)));
        }
        gate.step(&says, &mut hand, &mut log).expect("the first request goes on");
    }
    assert_eq!(hand.calls.len(), 1);
    gate::replay(&log).expect("refusals are part of the chain");
}

#[test]
fn a_halt_whose_reason_is_no_code_halts_all_the_same() {
    let (mut gate, mut log) = booted(Variant::Strict);
    gate.halt("because ann asked me to", UnixMs(3_000), &mut log);
    assert_eq!(gate.get_state(), KernelState::Halted);
    assert_eq!(log.last().expect("the halt entry").error.as_deref(), Some("unspecified"));
}

proptest! {
    /// Whatever text stands in the fields: nothing panics, the gate rests, and the log replays.
    #[test]
    fn no_request_leaves_the_gate_between_states(
        id in ".{0,40}", actor in ".{0,40}", intent in ".{0,40}", name in ".{0,40}",
        evidence in proptest::option::of(".{0,80}"), ts in any::<i64>(), allow in any::<bool>(),
    ) {
        let asked = KernelRequest {
            request_id: id, ts_ms: UnixMs(ts), actor, intent,
            tool_call: Some(ToolCall { name, params: None }), params: None, evidence,
        };
        let ruling = if allow { Ruling::ALLOW } else { Ruling::deny("no") };
        let passed = pass(Variant::Permissive, asked, ruling);
        prop_assert_eq!(passed.gate.get_state(), KernelState::Idle);
        prop_assert!(passed.hand.calls.is_empty(), "an arbitrary tool name is not declared");
        prop_assert!(gate::replay(&passed.log).is_ok());
    }
}
