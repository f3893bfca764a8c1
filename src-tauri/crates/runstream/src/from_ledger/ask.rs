//! What a person is asked, and how it was settled. Each question is settled once.

use super::shown;
use crate::{Draft, Family};
use model::ApprovalId;
use model::approval::{ApprovalScope, ApprovalStatus, Choice, Shape};
use model::body::Body;
use model::event::Event;
use model::ingress::ClarificationStatus;
use model::{ClarificationId, IngressId};
use serde_json::{Value, json};

pub(super) fn drafts(event: &Event, body: &Body) -> Vec<Draft> {
    let at = event.occurred_at;
    let approved = |id: &ApprovalId, choice: Option<Choice>, status: ApprovalStatus| {
        let payload = json!({ "approval_id": id, "choice": choice, "status": status });
        Draft::new(Family::ApprovalResolved, at, payload)
    };
    let answered = |id: &ClarificationId, answer: Option<IngressId>, status: ClarificationStatus| {
        let payload = json!({ "clarify_id": id, "answer": answer, "status": status });
        Draft::new(Family::ClarifyResolved, at, payload)
    };
    let draft = match body {
        Body::ApprovalRequested(b) => {
            let risk = json!({ "band": b.risk_band, "action_class": b.approval.approval_type });
            let payload = json!({
                "approval_id": b.approval.approval_id, "tool_call_id": b.action_request_id,
                "summary": shown(&b.summary), "risk": risk, "choices": Choice::ALL,
                "expires_at": b.approval.expires_at,
            });
            Draft::new(Family::ApprovalRequested, at, payload)
        }
        Body::ApprovalGranted(b) => approved(&b.approval_id, Some(choice(&b.scope)), ApprovalStatus::Granted),
        Body::ApprovalDenied(b) => {
            let mut draft = approved(&b.approval_id, Some(Choice::Deny), ApprovalStatus::Denied);
            draft.payload.insert("feedback".to_owned(), b.feedback.as_ref().map_or(Value::Null, shown));
            draft
        }
        Body::ApprovalExpired(b) => approved(&b.approval_id, None, ApprovalStatus::Expired),
        Body::ApprovalCancelled(b) => approved(&b.approval_id, None, ApprovalStatus::Cancelled),
        Body::ApprovalInvalidated(b) => {
            let mut draft = approved(&b.approval_id, None, ApprovalStatus::Invalidated);
            draft.payload.insert("reason".to_owned(), json!(b.reason));
            draft
        }
        Body::ClarificationRequested(b) => {
            let choices: Vec<Value> = b.clarification.choices.iter().map(shown).collect();
            let mode = if choices.is_empty() { "text" } else { "choice" };
            let payload = json!({
                "clarify_id": b.clarification.clarification_id, "question": shown(&b.clarification.question),
                "choices": choices, "input_mode": mode, "expires_at": b.clarification.expires_at,
            });
            Draft::new(Family::ClarifyRequested, at, payload)
        }
        Body::ClarificationAnswered(b) => {
            answered(&b.clarification_id, Some(b.ingress_id), ClarificationStatus::Answered)
        }
        Body::ClarificationExpired(b) => answered(&b.clarification_id, None, ClarificationStatus::Expired),
        Body::ClarificationCancelled(b) => {
            answered(&b.clarification_id, None, ClarificationStatus::Cancelled)
        }
        _ => return Vec::new(),
    };
    vec![draft]
}

/// The event keeps the scope of a yes, not its word: `once` is exactly this packet, one time.
fn choice(scope: &ApprovalScope) -> Choice {
    if scope.shape == Shape::Exact && scope.max_uses <= 1 { Choice::Once } else { Choice::Standing }
}
