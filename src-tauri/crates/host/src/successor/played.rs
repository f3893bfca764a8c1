//! What the kernel of a clone recorded of a task, as evidence tells it.

use super::reads::object;
use super::recording::{action_digest, effect_of};
use ::successor::{Played, PlayedAct};
use acts::ActionRequest;
use kernel::Kernel;
use model::policy::PolicyResult;
use model::{ActionRequestId, Body, TaskId};
use std::collections::BTreeMap;

/// Events read at once.
const STRIDE: usize = 1_000;

/// A task as the kernel recorded it; `of` is its name in the parent's store.
///
/// # Errors
/// In words, when the log cannot be read.
pub fn played(kernel: &Kernel, own: TaskId, of: TaskId, ended: String) -> Result<Played, String> {
    let mut played = Played { task_id: of, ended, acts: Vec::new(), questions: 0, tokens: 0, turns: 0 };
    let mut places: BTreeMap<ActionRequestId, usize> = BTreeMap::new();
    let mut after = 0;
    loop {
        let events = kernel.reader().events(own, after, STRIDE).map_err(|e| e.to_string())?;
        let Some(last) = events.last() else {
            // What policy was not asked about did not come to be an act.
            played.acts.retain(|act| !act.verdict.is_empty());
            return Ok(played);
        };
        after = last.task_seq;
        for stored in &events {
            let event = stored.event().map_err(|e| e.to_string())?;
            let body = kernel.reader().revealing(|shown| event.body(shown)).map_err(|e| e.to_string())?;
            take(kernel, &mut played, &mut places, &body.map_err(|e| e.to_string())?)?;
        }
    }
}

fn take(
    kernel: &Kernel,
    played: &mut Played,
    places: &mut BTreeMap<ActionRequestId, usize>,
    body: &Body,
) -> Result<(), String> {
    match body {
        Body::ContextCompiled(b) => played.tokens = played.tokens.saturating_add(u64::from(b.tokens)),
        Body::ModelResponded(b) => {
            played.turns = played.turns.saturating_add(1);
            played.tokens = played.tokens.saturating_add(b.tokens_out);
        }
        Body::ActionRequested(b) => {
            let request: ActionRequest = object(kernel, &b.request.sha256)?;
            places.insert(b.action_request_id, played.acts.len());
            played.acts.push(PlayedAct {
                action_sha256: action_digest(&request.action).map_err(|e| e.to_string())?,
                summary: request.action.as_tool().one_line(),
                class: request.gravest().to_string(),
                verdict: String::new(),
                rules: Vec::new(),
                effect_sha256: None,
            });
        }
        Body::PolicyEvaluated(b) => {
            let result: PolicyResult = object(kernel, &b.result.sha256)?;
            if let Some(act) = of(played, places, b.action_request_id) {
                act.verdict = b.verdict.to_string();
                act.rules = result.determining_rules;
            }
        }
        Body::ApprovalRequested(_) | Body::ClarificationRequested(_) => {
            played.questions = played.questions.saturating_add(1);
        }
        Body::ReceiptIssued(b) => {
            let Some(id) = b.action_request_id.filter(|id| places.contains_key(id)) else { return Ok(()) };
            let (_, receipt) = kernel.receipt(b.receipt_id).map_err(|e| e.to_string())?;
            if let (Some(act), Some(effect)) = (of(played, places, id), effect_of(&receipt.changes)) {
                act.effect_sha256 = Some(effect);
            }
        }
        _ => {}
    }
    Ok(())
}

fn of<'p>(
    played: &'p mut Played,
    places: &BTreeMap<ActionRequestId, usize>,
    id: ActionRequestId,
) -> Option<&'p mut PlayedAct> {
    played.acts.get_mut(*places.get(&id)?)
}
