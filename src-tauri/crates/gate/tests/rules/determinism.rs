//! Same inputs, same bytes (KS-3.7).

use crate::*;
use gate::KernelState;
use proptest::prelude::*;

#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "a few dozen of them in a test")]
enum Act {
    Submit(KernelRequest, Ruling, bool),
    Halt(String, i64),
    Boot,
}

fn a_request() -> impl Strategy<Value = KernelRequest> {
    let id = prop_oneof![Just("req_1".to_owned()), "[a-z]{1,4}", ".{0,3}"];
    let params = proptest::option::of(prop_oneof![
        any::<i32>().prop_map(|n| json!({ "n": n })),
        any::<f64>().prop_map(|x| json!({ "x": x })),
        Just(json!([])),
    ]);
    let name = prop_oneof![Just("change"), Just("observe"), Just("nothing")];
    let evidence = proptest::option::of(prop_oneof![Just(APPROVAL), Just("words")]);
    (id, 0..1_000_000_i64, params, name, evidence, any::<bool>()).prop_map(
        |(id, ts, params, name, evidence, tool)| KernelRequest {
            request_id: id,
            ts_ms: UnixMs(ts),
            actor: ACTOR.to_owned(),
            intent: "change".to_owned(),
            tool_call: tool.then(|| ToolCall { name: name.to_owned(), params: params.clone() }),
            params: if tool { None } else { params },
            evidence: evidence.map(str::to_owned),
        },
    )
}

fn an_act() -> impl Strategy<Value = Act> {
    let ruling = prop_oneof![
        6 => Just(Ruling::ALLOW),
        2 => Just(Ruling::deny("approval_required")),
        1 => Just(Ruling::halt("stop")),
    ];
    prop_oneof![
        12 => (a_request(), ruling, any::<bool>()).prop_map(|(r, j, works)| Act::Submit(r, j, works)),
        1 => (".{0,8}", 0..1_000_000_i64).prop_map(|(reason, ts)| Act::Halt(reason, ts)),
        2 => Just(Act::Boot),
    ]
}

/// Everything that came out, as bytes, and the gate at the end.
fn run(variant: Variant, acts: &[Act]) -> (Vec<AuditEntry>, Vec<u8>, Gate) {
    let (mut gate, mut log, mut out) = (Gate::new(), Vec::new(), Vec::new());
    for act in acts {
        match act {
            Act::Submit(request, ruling, works) => {
                let answer = if *works { Ok(json!({})) } else { Err("broken".to_owned()) };
                let mut hand = Hand { calls: Vec::new(), answer };
                let receipt = gate.submit(request.clone(), &Says::new(ruling.clone()), &mut hand, &mut log);
                out.extend(serde_json::to_vec(&(receipt, hand.calls.len())).expect("it serialises"));
            }
            Act::Halt(reason, ts) => {
                let receipt = gate.halt(reason, UnixMs(*ts), &mut log);
                out.extend(serde_json::to_vec(&receipt).expect("it serialises"));
            }
            Act::Boot => {
                if gate.get_state() == KernelState::Halted {
                    gate = Gate::new();
                }
                let head = log.last().map_or(Digest::ZERO, |e: &AuditEntry| e.entry_hash);
                let _ = gate.boot(KernelConfig { head, ..config(variant) }, &mut log);
            }
        }
    }
    for entry in &log {
        out.extend(entry.to_bytes().expect("it has canonical bytes"));
    }
    (log, out, gate)
}

#[conforms::conforms("KS-3.7-1")]
#[test]
fn the_same_inputs_give_the_same_bytes_and_an_honest_log_always_replays() {
    let acts = proptest::collection::vec(an_act(), 0..24);
    let variant = prop_oneof![
        Just(Variant::Strict),
        Just(Variant::Permissive),
        Just(Variant::EvidenceFirst),
        Just(Variant::DualChannel)
    ];
    proptest!(|(acts in acts, variant in variant)| {
        let acts = [vec![Act::Boot], acts].concat();
        let (first, again) = (run(variant, &acts), run(variant, &acts));
        prop_assert_eq!(&first, &again);
        let (log, _, gate) = first;
        let verified = gate::replay(&log).expect("an honest log replays");
        prop_assert_eq!(verified.root, gate.head());
        let executions = log.iter().filter(|e| e.state_to == KernelState::Executing);
        for entry in executions {
            prop_assert_eq!(entry.decision, GateDecision::Allow);
        }
    });
}

#[test]
fn a_clone_that_tried_a_pass_leaves_the_gate_as_it_was() {
    let (gate, mut log) = booted(Variant::Strict);
    let before = gate.clone();
    let mut tried = gate.clone();
    tried.submit(request("req_1"), &Says::new(Ruling::ALLOW), &mut Hand::works(), &mut log);
    assert_eq!(gate, before);
    assert_ne!(tried, before);
}

#[test]
fn the_bytes_of_a_pass_are_frozen() {
    let (_, out, _) = run(Variant::Strict, &[Act::Boot, Act::Submit(request("req_1"), Ruling::ALLOW, true)]);
    assert_eq!(
        Digest::of(&out).to_string(),
        "bdc7e7398a65459f416cc14a2f1e0ad685eade17d3169ce97273121e767cee4f",
        "the bytes of entries or receipts changed: stored chains would no longer be continued alike"
    );
}
