//! The minimum fields of every object of HK-8 stand in its JSON.

use crate::events::{placed, sample};
use model::action::ActionClass;
use model::grant::{CapabilityGrant, FilesystemScope};
use model::receipt::Receipt;
use model::{Slot, UnixMs};
use serde_json::{Value, json};

/// The least fields of each object, one a line.
const FIELDS: &str = include_str!("../data/fields.tsv");

fn fields(object: &str) -> impl Iterator<Item = &'static str> {
    let rows = FIELDS.lines().filter_map(|row| row.split_once('\t'));
    let mut row = rows.filter(|(name, _)| *name == object);
    row.next().unwrap_or_else(|| panic!("no fields of `{object}`")).1.split(' ')
}

/// Each name is there; absence is said (`null`, or why), never silent.
fn has<'a>(object: &Value, names: impl IntoIterator<Item = &'a str>) {
    let fields = object.as_object().unwrap_or_else(|| panic!("{object} is no object"));
    for name in names {
        assert!(fields.contains_key(name), "`{name}` is missing in {object}");
    }
}

fn part(event_type: &str, name: &str) -> Value {
    sample(event_type).to_value().expect("it serialises")[name].clone()
}

#[conforms::conforms("HK-8.1-1", "HK-8.1-4")]
#[test]
fn a_task_has_its_fields() {
    let task = part("task.created", "task");
    has(&task, fields("task"));
    has(
        &task,
        [
            "parent_task_id",
            "depends_on",
            "labels",
            "deadline_at",
            "workspace_hint",
            "requested_by",
            "source_channel",
            "parallelism_mode",
        ],
    );
}

#[test]
fn an_ingress_record_has_its_fields() {
    has(&part("ingress.received", "record"), fields("ingress"));
}

#[conforms::conforms("HK-8.2-4")]
#[test]
fn a_step_has_its_fields() {
    has(&part("step.created", "step"), fields("step"));
}

#[conforms::conforms("HK-8.3-2", "HK-8.3-3")]
#[test]
fn an_attempt_has_its_fields() {
    let attempt = part("attempt.created", "attempt");
    has(&attempt, fields("attempt"));
    has(
        &attempt,
        ["resume_from_ref", "executor_mode", "policy_version", "state_witness_ref", "environment_ref"],
    );
}

#[conforms::conforms("HK-8.4-3", "HK-13.1-2", "HK-13.4-1")]
#[test]
fn an_event_has_its_fields() {
    let (event, _) = placed("attempt.created", 0);
    has(&serde_json::to_value(event).expect("it serialises"), fields("event"));
}

#[conforms::conforms("HK-8.5-2")]
#[test]
fn an_artifact_has_its_fields() {
    has(&part("artifact.created", "artifact"), fields("artifact"));
}

#[test]
fn an_artifacts_life_has_its_six_events() {
    for event_type in [
        "artifact.created",
        "artifact.referenced",
        "artifact.sealed",
        "artifact.promoted",
        "artifact.compacted",
        "artifact.expired",
    ] {
        assert_eq!(sample(event_type).event_type(), event_type);
    }
}

#[conforms::conforms("HK-8.6-2", "HK-14.5-2")]
#[test]
fn a_belief_and_its_evidence_have_their_fields() {
    let belief = part("belief.asserted", "belief");
    has(&belief, fields("belief"));
    has(&belief, ["step_id", "attempt_id", "supersedes", "contradicts", "expires_at"]);
    has(&belief["evidence_refs"][0], fields("evidence"));
}

#[conforms::conforms("HK-8.7-2")]
#[test]
fn a_memory_record_has_its_fields() {
    has(&part("memory.promoted", "record"), fields("memory"));
}

#[conforms::conforms("HK-8.8-2")]
#[test]
fn a_decision_has_its_fields() {
    has(&part("decision.recorded", "decision"), fields("decision"));
}

#[conforms::conforms("HK-8.9-3", "HK-8.9-5")]
#[test]
fn an_approval_has_its_fields() {
    has(&part("approval.requested", "approval"), fields("approval"));
}

#[conforms::conforms("HK-8.11-2")]
#[test]
fn a_principal_has_its_fields() {
    let principal = part("principal.registered", "principal");
    has(&principal, fields("principal"));
    has(&principal, ["authn_context_ref", "labels", "external_identity_ref"]);
}

fn id<T: std::str::FromStr>(prefix: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    format!("{prefix}_{:032x}", 9).parse().expect("an identifier")
}

fn digest() -> seal::Digest {
    seal::Digest::of(b"x")
}

#[conforms::conforms("HK-8.12-1", "HK-8.12-4", "HK-16.6-2")]
#[test]
fn a_grant_has_its_fields() {
    let grant = CapabilityGrant {
        grant_id: id("grt"),
        task_id: id("task"),
        step_id: id("step"),
        attempt_id: id("att"),
        issued_to_principal_id: id("prn"),
        issued_by_principal_id: id("prn"),
        action_class: ActionClass::WriteLocal,
        resource_scope: vec!["file:x".to_owned()],
        issued_at: UnixMs(1),
        not_before: UnixMs(1),
        expires_at: UnixMs(2),
        max_uses: 1,
        action_request_sha256: digest(),
        policy_result_sha256: digest(),
        approval_packet_sha256: Slot::NOT_REQUIRED,
        witness_sha256: Slot::Value(digest()),
        approval_ref: Slot::NOT_REQUIRED,
        decision_ref: Slot::Value(id("dec")),
        filesystem_scope: FilesystemScope::Named,
        network_scope: Vec::new(),
        secret_scope: Vec::new(),
        standing: None,
    };
    let value = serde_json::to_value(&grant).expect("it serialises");
    has(&value, fields("grant"));
    assert_eq!(value["approval_ref"], json!({ "absent": "not_required" }), "absence says why");
    for bound in ["task_id", "attempt_id", "action_class", "resource_scope", "expires_at", "max_uses"] {
        let mut unbound = value.clone();
        unbound.as_object_mut().expect("an object").remove(bound);
        assert!(serde_json::from_value::<CapabilityGrant>(unbound).is_err(), "no grant without `{bound}`");
    }
}

#[conforms::conforms("HK-8.10-2", "HK-18.2-1")]
#[test]
fn a_receipt_has_its_fields_and_a_place_for_each_question() {
    let value: Value = serde_json::from_str(include_str!("../data/receipt.json")).expect("JSON");
    has(&value, fields("receipt"));
    // What was intended, authorized, ran, where, changed, produced, observed, whether it can be rolled back.
    let questions = [
        "action_request_ref",
        "authorized",
        "ran",
        "environment_ref",
        "changes",
        "output_refs",
        "observed",
        "rollback",
    ];
    has(&value, questions);
    let receipt: Receipt = serde_json::from_value(value.clone()).expect("a receipt");
    assert_eq!(
        serde_json::to_value(&receipt).expect("it serialises"),
        value,
        "every field of the file is a field"
    );
    for question in questions {
        let mut silent = value.clone();
        silent.as_object_mut().expect("an object").remove(question);
        assert!(serde_json::from_value::<Receipt>(silent).is_err(), "no receipt without `{question}`");
    }
}

#[test]
fn an_answer_and_a_choice_of_model_from_before_other_protocols_read_and_are_written_as_they_were() {
    let answer = r#"{"text":"","calls":[],"usage":{"tokens_in":1,"tokens_out":2,"cost_micros":3},"finish_reason":"length"}"#;
    let read: model::proposal::Answer = serde_json::from_str(answer).expect("it reads");
    assert!(read.is_cut() && read.reasoning.is_empty());
    assert_eq!(serde_json::to_string(&read).expect("it reads"), answer);
    let choice = r#"{"kind":"openai","base_url":"http://127.0.0.1:8080/v1","model":"m"}"#;
    let read: model::task::ModelChoice = serde_json::from_str(choice).expect("it reads");
    assert_eq!(serde_json::to_string(&read).expect("it reads"), choice);
    let other = r#"{"kind":"openai","api":"anthropic","base_url":"https://h/v1","model":"m","secret":"k"}"#;
    let read: model::task::ModelChoice = serde_json::from_str(other).expect("it reads");
    assert_eq!(serde_json::to_string(&read).expect("it reads"), other);
}
