//! The objects of KS-4: exactly the fields and names of the document.

use crate::*;
use gate::{Code, KernelState, ReceiptStatus};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn names(value: &impl Serialize) -> Vec<String> {
    let value = serde_json::to_value(value).expect("it serialises");
    let mut names: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
    names.sort();
    names
}

fn sorted(list: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = list.iter().map(|n| (*n).to_owned()).collect();
    names.sort();
    names
}

/// With all fields, without the optional ones, and refused without any required one or with one more.
fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    full: &T,
    required: &[&str],
    optional: &[&str],
) {
    assert_eq!(names(full), sorted(&[required, optional].concat()));
    let value = serde_json::to_value(full).expect("it serialises");
    assert_eq!(&serde_json::from_value::<T>(value.clone()).expect("it reads back"), full);
    let mut least = value.clone();
    for name in optional {
        least.as_object_mut().expect("an object").remove(*name);
    }
    let least_typed: T = serde_json::from_value(least.clone()).expect("optional fields may be absent");
    assert_eq!(names(&least_typed), sorted(required), "an absent field is not written");
    for name in required {
        let mut lacking = least.clone();
        lacking.as_object_mut().expect("an object").remove(*name);
        assert!(serde_json::from_value::<T>(lacking).is_err(), "`{name}` is required");
    }
    let mut more = value;
    more["surprise"] = json!(1);
    assert!(serde_json::from_value::<T>(more).is_err(), "an unknown field is malformed");
}

#[conforms::conforms("KS-4.4-1", "KS-4.4-2")]
#[test]
fn a_request_has_the_fields_of_the_document_and_no_others() {
    let mut full = request("req_1");
    full.params = Some(json!({}));
    full.evidence = Some(APPROVAL.to_owned());
    check(&full, &["request_id", "ts_ms", "actor", "intent"], &["tool_call", "params", "evidence"]);
    assert!(serde_json::to_value(&full).expect("it serialises")["ts_ms"].is_i64());
}

#[conforms::conforms("KS-4.6-1")]
#[test]
fn a_tool_call_has_a_name_and_may_have_params() {
    check(&ToolCall { name: "change".to_owned(), params: Some(json!({})) }, &["name"], &["params"]);
}

#[conforms::conforms("KS-4.5-1", "KS-4.5-2")]
#[test]
fn a_receipt_has_the_fields_of_the_document_and_no_others() {
    let mut receipt = pass(Variant::Permissive, request("req_1"), Ruling::ALLOW).receipt;
    receipt.error = Some("tool_failed: words".to_owned());
    assert_eq!(receipt.error_code(), Some("tool_failed"));
    check(
        &receipt,
        &["request_id", "status", "state_from", "state_to", "ts_ms", "decision"],
        &["error", "evidence_hash", "tool_result"],
    );
}

#[conforms::conforms("KS-4.7-1", "KS-4.7-2")]
#[test]
fn an_audit_entry_has_the_fields_of_the_document_and_no_others() {
    let mut entry = pass(Variant::Permissive, request("req_1"), Ruling::ALLOW).log.remove(3);
    entry.evidence_hash = Some(Digest::ZERO);
    entry.error = Some("denied".to_owned());
    let required = [
        "prev_hash",
        "entry_hash",
        "ts_ms",
        "request_id",
        "actor",
        "intent",
        "decision",
        "state_from",
        "state_to",
    ];
    check(&entry, &required, &["tool_name", "params_hash", "evidence_hash", "error"]);
}

#[conforms::conforms("KS-4.8-1")]
#[test]
fn a_bundle_has_the_fields_of_the_document_and_no_others() {
    let passed = pass(Variant::Strict, request("req_1"), Ruling::ALLOW);
    let bundle = passed.gate.export_evidence(passed.log.clone(), UnixMs(9)).expect("it exports");
    check(&bundle, &["ledger_entries", "root_hash", "exported_at_ms", "kernel_id", "variant"], &[]);
    assert_eq!(bundle.ledger_entries, passed.log);
    assert_eq!(bundle.root_hash, passed.log.last().expect("entries").entry_hash);
    assert_eq!((bundle.exported_at_ms, bundle.kernel_id.as_str()), (UnixMs(9), "store_one"));
    assert_eq!(bundle.variant, "strict");
}

#[conforms::conforms("KS-4.1-1", "KS-3.1-1")]
#[test]
fn the_states_are_the_seven_of_the_document() {
    let names: Vec<_> = KernelState::ALL.iter().map(|s| s.as_str()).collect();
    assert_eq!(names, ["BOOTING", "IDLE", "VALIDATING", "ARBITRATING", "EXECUTING", "AUDITING", "HALTED"]);
}

#[conforms::conforms("KS-4.2-1", "KS-4.3-1")]
#[test]
fn decisions_and_statuses_are_those_of_the_document() {
    let decisions: Vec<_> = GateDecision::ALL.iter().map(|d| d.as_str()).collect();
    assert_eq!(decisions, ["ALLOW", "DENY", "HALT"]);
    let statuses: Vec<_> = ReceiptStatus::ALL.iter().map(|s| s.as_str()).collect();
    assert_eq!(statuses, ["ACCEPTED", "REJECTED", "FAILED"]);
}

#[test]
fn every_code_of_the_gate_may_stand_in_an_entry() {
    for code in Code::ALL {
        assert_eq!(gate::check::code(code.as_str()), Ok(()), "{code}");
    }
}
