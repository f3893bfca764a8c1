//! Decisions: whose, about what, from where, until when.

use super::changed::every_change;
use super::world::*;
use crate::approval::{answer, sign, verify, verify_denial};
use model::approval::{Approval, ApprovalDecision, ApprovalStatus, Choice, DECISION_PAYLOAD_TYPE, Surface};
use seal::{SeedSigner, Signer, canon, dsse};

fn case() -> Case {
    Case::new(change(&[delete("a.txt")]))
}

fn verdict(case: &Case, decision: &ApprovalDecision) -> Result<ApprovalDecision, &'static str> {
    let envelope = sign(decision, &key()).expect("it can be signed");
    verify(&envelope, &case.approval, &case.packet_bytes(), &key().public(), case.now).map_err(|no| no.code)
}

#[test]
fn a_signed_yes_to_the_very_packet_is_a_decision() {
    let case = case();
    assert_eq!(verdict(&case, &case.decision), Ok(case.decision.clone()));
}

#[test]
fn a_decision_with_any_field_changed_is_refused_though_signed() {
    let case = case();
    // Who, when within the times, and the words with it are the person's own to set.
    let free = ["/decided_by", "/feedback"];
    for (pointer, changed) in every_change(&case.decision) {
        let within = ["/decided_at", "/scope/expires_at"].contains(&pointer.as_str());
        let other_place = pointer == "/surface" && changed.surface.may_grant();
        let denial = changed.choice == Choice::Deny;
        let got = verdict(&case, &changed);
        if free.contains(&pointer.as_str()) || within || other_place || denial {
            assert_eq!(got, Ok(changed), "{pointer}");
        } else {
            assert!(got.is_err(), "{pointer}: {changed:?}");
        }
    }
}

#[conforms::conforms("HK-16.7-3")]
#[test]
fn a_packet_with_any_field_changed_is_not_what_was_agreed_to() {
    let case = case();
    let envelope = sign(&case.decision, &key()).expect("it can be signed");
    for (pointer, packet) in every_change(&case.packet) {
        let bytes = canon::to_canonical(&packet).expect("it can be sealed");
        let got = verify(&envelope, &case.approval, &bytes, &key().public(), case.now);
        assert_eq!(got.map_err(|no| no.code), Err("packet_changed"), "{pointer}");
        // A new question for the changed act does not take the old answer either.
        let reopened = Approval { approval_packet_sha256: digest(&packet), ..case.approval.clone() };
        assert!(verify(&envelope, &reopened, &bytes, &key().public(), case.now).is_err(), "{pointer}");
    }
}

#[test]
fn machine_surfaces_may_refuse_and_never_allow() {
    let case = case();
    for surface in Surface::ALL {
        let say = |choice| {
            answer(&case.packet_bytes(), choice, *surface, PERSON, case.now, None).expect("it is a packet")
        };
        let (yes, no) = (say(Choice::Once), say(Choice::Deny));
        assert_eq!(verdict(&case, &yes).is_ok(), surface.may_grant(), "{surface}");
        assert!(verdict(&case, &no).is_ok(), "a signed no from `{surface}`");
        assert_eq!(verify_denial(&no, &case.approval, &case.packet_bytes(), case.now), Ok(()));
        let unsigned = verify_denial(&yes, &case.approval, &case.packet_bytes(), case.now);
        assert_eq!(unsigned.map_err(|no| no.code), Err("signature_needed"));
    }
}

#[test]
fn another_key_a_changed_byte_or_another_type_is_refused() {
    let case = case();
    let check = |envelope: &[u8]| {
        verify(envelope, &case.approval, &case.packet_bytes(), &key().public(), case.now)
            .map_err(|no| no.code)
    };
    let stranger = SeedSigner::from_seed([1; 32]);
    assert_eq!(check(&sign(&case.decision, &stranger).expect("it can be signed")), Err("decision_signature"));
    let payload = canon::to_canonical(&case.decision).expect("it can be sealed");
    let receipt = dsse::sign(dsse::IN_TOTO, &payload, &key()).expect("it can be signed");
    assert_eq!(check(&receipt.to_bytes().expect("an envelope")), Err("decision_type"));
    let envelope = sign(&case.decision, &key()).expect("it can be signed");
    for at in 0..envelope.len() {
        let mut broken = envelope.clone();
        broken[at] ^= 1;
        assert!(check(&broken).is_err(), "byte {at}");
        assert!(check(&envelope[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn a_decision_that_holds_more_than_it_should_is_refused() {
    let case = case();
    let mut value = canon::to_value(&case.decision).expect("it is JSON");
    value["also"] = serde_json::json!("rm -rf");
    let payload = canon::canonical_value(&value).expect("it can be sealed");
    let envelope = dsse::sign(DECISION_PAYLOAD_TYPE, &payload, &key()).expect("it can be signed");
    let bytes = envelope.to_bytes().expect("an envelope");
    let got = verify(&bytes, &case.approval, &case.packet_bytes(), &key().public(), case.now);
    assert_eq!(got.map_err(|no| no.code), Err("decision_unreadable"));
}

#[conforms::conforms("HK-8.9-5")]
#[test]
fn only_a_pending_approval_takes_a_decision() {
    let names: Vec<&str> = ApprovalStatus::ALL.iter().map(|status| status.as_str()).collect();
    assert_eq!(names, ["pending", "granted", "denied", "expired", "cancelled", "invalidated"]);
    for status in ApprovalStatus::ALL {
        let mut case = case();
        case.approval.status = *status;
        let wanted = if *status == ApprovalStatus::Pending {
            Ok(case.decision.clone())
        } else {
            Err("approval_not_pending")
        };
        assert_eq!(verdict(&case, &case.decision), wanted, "{status}");
    }
}

#[test]
fn silence_decides_nothing_and_a_lapsed_question_takes_no_answer() {
    let mut case = case();
    case.now = case.packet.expires_at;
    assert_eq!(verdict(&case, &case.decision), Err("approval_expired"));
    let no = answer(&case.packet_bytes(), Choice::Deny, Surface::RunApi, PERSON, case.now, None);
    let no = no.expect("it is a packet");
    let late = verify_denial(&no, &case.approval, &case.packet_bytes(), case.now);
    assert_eq!(late.map_err(|no| no.code), Err("approval_expired"));
}

#[test]
fn a_decision_from_before_the_question_or_from_the_future_is_refused() {
    let case = case();
    for at in [T0.plus_ms(-1), case.now.plus_ms(1)] {
        let decision = ApprovalDecision { decided_at: at, ..case.decision.clone() };
        assert_eq!(verdict(&case, &decision), Err("decision_time"));
    }
}

#[conforms::conforms("HK-16.7-1", "HK-8.9-3")]
#[test]
fn a_packet_and_its_approval_hold_what_the_spec_lists() {
    let case = case();
    let packet = canon::to_value(&case.packet).expect("it is JSON");
    for field in [
        "action_summary",
        "risk_summary",
        "rationale",
        "evidence_refs",
        "action_request",
        "impacted_resources",
        "rollback_availability",
        "expires_at",
        "state_witness",
    ] {
        assert!(!packet[field].is_null(), "the packet says its `{field}`");
    }
    assert_eq!(packet["action_request"]["expected_effects"][0]["effect"], "replace");
    let approval = canon::to_value(&case.granted()).expect("it is JSON");
    for field in [
        "approval_id",
        "task_id",
        "step_id",
        "attempt_id",
        "status",
        "approval_type",
        "requested_action_ref",
        "approval_packet_ref",
        "requested_at",
        "resolved_at",
        "resolved_by",
    ] {
        assert!(!approval[field].is_null(), "the approval says its `{field}`");
    }
}

#[test]
fn a_packet_never_waits_longer_than_its_witness_or_the_limit() {
    use crate::approval::{PacketInput, build_packet};
    let case = case();
    let build = |witness, wanted| {
        build_packet(PacketInput {
            approval_id: case.packet.approval_id,
            goal: String::new(),
            request: case.request.clone(),
            policy: case.policy.clone(),
            witness,
            requested_at: T0,
            expires_at: wanted,
            nonce: [255; 16],
            staged: None,
        })
    };
    let far = T0.plus_ms(i64::MAX / 4);
    assert_eq!(build(None, far).expires_at, T0.plus_ms(model::limits::APPROVAL_MS_MAX));
    assert_eq!(build(Some(witness_of(&case.request, T0)), far).expires_at, T0.plus_ms(DAY));
    assert_eq!(build(None, T0.plus_ms(5)).expires_at, T0.plus_ms(5));
    assert_eq!(build(None, far).nonce, "ff".repeat(16));
}
