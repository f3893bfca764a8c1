//! Variants ask for more than policy, never for less.

use crate::*;

fn twice(params: Option<Value>, tool: &str, of: &Value) -> KernelRequest {
    let bytes = seal::canon::canonical_value(of).expect("it has canonical bytes");
    let mut asked = request("req_1");
    asked.tool_call = Some(ToolCall { name: "change".to_owned(), params });
    asked.params = Some(json!({ "tool": tool, "params_sha256": Digest::of(&bytes).to_string() }));
    asked
}

#[test]
fn the_variants_are_those_of_the_design() {
    let names: Vec<_> = Variant::ALL.iter().map(|v| v.as_str()).collect();
    assert_eq!(names, ["strict", "permissive", "evidence_first", "dual_channel"]);
}

#[test]
fn strict_wants_the_tool_and_its_parameters_spelled_out() {
    assert!(pass(Variant::Strict, request("req_1"), Ruling::ALLOW).receipt.is_accepted());
    let mut asked = request("req_1");
    asked.tool_call = None;
    denied_with(&pass(Variant::Strict, asked, Ruling::ALLOW), "tool_required");
    let mut asked = request("req_1");
    asked.tool_call = Some(ToolCall { name: "change".to_owned(), params: None });
    denied_with(&pass(Variant::Strict, asked, Ruling::ALLOW), "params_required");
}

#[test]
fn evidence_first_wants_evidence() {
    denied_with(&pass(Variant::EvidenceFirst, request("req_1"), Ruling::ALLOW), "evidence_required");
    let mut asked = request("req_1");
    asked.evidence = Some(APPROVAL.to_owned());
    assert!(pass(Variant::EvidenceFirst, asked, Ruling::ALLOW).receipt.is_accepted());
}

#[test]
fn dual_channel_wants_the_same_thing_said_twice() {
    let params = json!({ "n": 1 });
    let accepted = |asked| pass(Variant::DualChannel, asked, Ruling::ALLOW).receipt.is_accepted();
    assert!(accepted(twice(Some(params.clone()), "change", &params)));
    assert!(accepted(twice(None, "change", &json!({}))));
    let other = twice(Some(params.clone()), "change", &json!({ "n": 2 }));
    denied_with(&pass(Variant::DualChannel, other, Ruling::ALLOW), "channels_differ");
    let elsewhere = twice(Some(params.clone()), "observe", &params);
    denied_with(&pass(Variant::DualChannel, elsewhere, Ruling::ALLOW), "channels_differ");
    denied_with(&pass(Variant::DualChannel, request("req_1"), Ruling::ALLOW), "channel_missing");
    let mut no_tool = twice(Some(params.clone()), "change", &params);
    no_tool.tool_call = None;
    denied_with(&pass(Variant::DualChannel, no_tool, Ruling::ALLOW), "tool_required");
}

#[test]
fn no_variant_allows_what_policy_denied() {
    let params = json!({ "n": 1 });
    for &variant in Variant::ALL {
        let mut asked = twice(Some(params.clone()), "change", &params);
        asked.evidence = Some(APPROVAL.to_owned());
        assert!(pass(variant, asked.clone(), Ruling::ALLOW).receipt.is_accepted(), "{variant}");
        denied_with(&pass(variant, asked, Ruling::deny("policy_denied")), "policy_denied");
    }
}
