//! The governed path: proposed, judged, dispatched, observed, receipted. A tool has started when it was dispatched,
//! not when it was proposed, and is done when its outcome is known.

use super::{RunFold, Tool, shown, step};
use crate::{Draft, Family};
use model::body::{Body, EffectProgressed, TrialEnded};
use model::event::Event;
use model::receipt::ResultCode;
use model::{ActionRequestId, UnixMs};
use serde_json::{Value, json};

pub(super) fn drafts(mirror: &mut RunFold, event: &Event, body: &Body) -> Vec<Draft> {
    let at = event.occurred_at;
    match body {
        Body::TrialStarted(b) => vec![about(step(event, "trying", shown(&b.summary)), b.action_request_id)],
        Body::TrialEnded(b) => vec![tried(event, b)],
        Body::ActionRequested(b) => {
            let summary = shown(&b.summary);
            let tool = Tool { name: b.tool.clone(), summary: summary.clone(), started_at: None };
            mirror.tools.insert(b.action_request_id, tool);
            vec![about(step(event, "proposed", summary), b.action_request_id)]
        }
        Body::PolicyEvaluated(b) => {
            let text = format!("{}, {} risk", b.verdict, b.risk_band);
            vec![about(step(event, "policy", json!(text)), b.action_request_id)]
        }
        Body::ActionDowngraded(b) => {
            let text = format!("only in a lesser form: {}, by {}", b.mode, b.rules.join(", "));
            let mut told = step(event, "downgraded", json!(text));
            told.payload.insert("instead".to_owned(), json!(b.instead));
            vec![about(told, b.action_request_id)]
        }
        Body::WitnessDrifted(b) => {
            let mut told = step(event, "drifted", json!("what was approved has changed since"));
            let differences: Vec<Value> = b.differences.iter().map(shown).collect();
            told.payload.insert("differences".to_owned(), json!(differences));
            vec![about(told, b.action_request_id)]
        }
        Body::EffectDispatched(b) => {
            mirror.busy = Some(b.action_request_id);
            let (name, arguments) = match mirror.tools.get_mut(&b.action_request_id) {
                Some(tool) => {
                    tool.started_at = Some(at);
                    (json!(tool.name), tool.summary.clone())
                }
                None => (Value::Null, Value::Null),
            };
            let payload = json!({
                "tool_call_id": b.action_request_id, "name": name, "arguments": arguments,
                "started_at": seconds(at), "executor": b.executor,
            });
            vec![Draft::new(Family::ToolStarted, at, payload)]
        }
        Body::EffectProgressed(b) => vec![progressed(mirror, event, b)],
        Body::EffectUncertain(b) => {
            let data = json!({ "state": "observing", "reason": shown(&b.reason) });
            let payload = json!({ "tool_call_id": b.action_request_id, "data": data, "progress": null });
            vec![Draft::new(Family::ToolUpdated, at, payload)]
        }
        Body::EffectObserved(b) => {
            let mut done = done(mirror, at, b.action_request_id, json!(b.result), b.result_code);
            done.payload.insert("sandbox_level".to_owned(), json!(b.sandbox_level));
            done.payload.insert("recovered".to_owned(), json!(b.recovered));
            vec![done]
        }
        Body::OutcomeResolved(b) => {
            vec![done(mirror, at, b.action_request_id, json!({ "note": shown(&b.note) }), b.result_code)]
        }
        Body::ReceiptIssued(b) => {
            let mut told = step(event, "receipt", shown(&b.summary));
            told.payload.insert("receipt_id".to_owned(), json!(b.receipt_id));
            told.payload.insert("result_code".to_owned(), json!(b.result_code));
            vec![match b.action_request_id {
                Some(id) => about(told, id),
                None => told,
            }]
        }
        _ => Vec::new(),
    }
}

/// A tool that is under way; a trial is no call of a tool.
fn progressed(mirror: &RunFold, event: &Event, b: &EffectProgressed) -> Draft {
    if !mirror.tools.contains_key(&b.action_request_id) {
        return about(step(event, "trying", shown(&b.note)), b.action_request_id);
    }
    let data = json!({
        "state": "executing", "sequence": b.sequence, "elapsed_ms": b.elapsed_ms, "checkpoint": b.checkpoint,
    });
    let progress = json!({ "what": shown(&b.note), "done": b.done, "total": b.total });
    let payload = json!({ "tool_call_id": b.action_request_id, "data": data, "progress": progress });
    Draft::new(Family::ToolUpdated, event.occurred_at, payload)
}

fn tried(event: &Event, b: &TrialEnded) -> Draft {
    let mut told = step(event, "tried", b.reason.as_ref().map_or(Value::Null, shown));
    told.payload.insert("outcome".to_owned(), json!(b.outcome));
    about(told, b.action_request_id)
}

fn about(mut draft: Draft, id: ActionRequestId) -> Draft {
    draft.payload.insert("tool_call_id".to_owned(), json!(id));
    draft
}

#[allow(clippy::cast_precision_loss, reason = "milliseconds of this millennium are far below 2^53")]
fn seconds(at: UnixMs) -> f64 {
    at.0 as f64 / 1000.0
}

/// An outcome that is not known keeps its tool: a person may settle it later (HK-19.4).
fn done(mirror: &mut RunFold, at: UnixMs, id: ActionRequestId, result: Value, code: ResultCode) -> Draft {
    if mirror.busy == Some(id) {
        mirror.busy = None;
    }
    let started = mirror.tools.get(&id).and_then(|tool| tool.started_at);
    if code != ResultCode::UnknownOutcome {
        mirror.tools.remove(&id);
    }
    let duration_ms = started.map(|started| at.0.saturating_sub(started.0).max(0));
    let error = match code {
        ResultCode::Succeeded | ResultCode::Granted => false,
        ResultCode::Failed | ResultCode::Partial | ResultCode::UnknownOutcome | ResultCode::Denied => true,
    };
    let payload = json!({
        "tool_call_id": id, "result": result, "status": code, "duration_ms": duration_ms, "error": error,
    });
    Draft::new(Family::ToolDone, at, payload)
}
