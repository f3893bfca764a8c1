//! The task itself and its loop: beginning, turns, usage, and the one end (reconciliation T2).

use super::{Lifecycle, Outcome, RunFold, shown, step};
use crate::{Draft, Family};
use model::artifact::TrustTier;
use model::attempt::TerminationReason;
use model::body::{
    AnswerChecked, AnswerContinued, Body, ContextCompacted, CriteriaChecked, ModelFailed, SkillLoaded,
    TaskGoalChanged, TaskStatusChanged,
};
use model::event::Event;
use model::task::{ChildTask, CriterionOutcome, Origin, Task, TaskStatus};
use model::{ArtifactId, Sensitive};
use serde_json::{Value, json};

/// A question of a server to a model, and its end.
fn sampled(event: &Event, body: &Body) -> Vec<Draft> {
    match body {
        Body::SamplingRequested(b) => {
            let text = format!("the server {} asks {} {}", b.server, b.provider, b.model);
            vec![step(event, "sampling", json!(text))]
        }
        Body::SamplingEnded(b) => {
            let none = || json!(format!("the server {} was answered", b.server));
            vec![step(event, "sampling_ended", b.error.as_ref().map_or_else(none, shown))]
        }
        _ => Vec::new(),
    }
}

pub(super) fn drafts(mirror: &mut RunFold, event: &Event, body: &Body, now: &Lifecycle) -> Vec<Draft> {
    let at = event.occurred_at;
    match body {
        Body::TaskCreated(b) => {
            mirror.session_id = Some(b.task.conversation_id);
            let mut started = Draft::new(Family::RunStarted, at, mirror.lifecycle(now));
            started.payload.insert("goal".to_owned(), shown(&b.task.goal));
            if b.task.origin() != Origin::Person {
                started.payload.insert("origin".to_owned(), json!(b.task.origin()));
            }
            vec![started, Draft::new(Family::TitleUpdated, at, titled(&b.task))]
        }
        Body::TaskStatusChanged(b) => ending(mirror, event, b, now),
        Body::TaskInputAdded(b) => vec![input(event, "input_added", &b.text, b.trust_tier, &b.encloses)],
        Body::TaskInputQueued(b) => vec![input(event, "input_queued", &b.text, b.trust_tier, &b.encloses)],
        Body::TaskInputAbsorbed(_) => vec![step(event, "input_absorbed", json!("new input was taken up"))],
        Body::TaskDelegated(b) => vec![step(event, "delegated", given_away(&b.parts))],
        Body::ChildEnded(b) => {
            vec![step(event, "child_ended", json!(format!("{} is {}", b.child_task_id, b.status)))]
        }
        Body::SamplingRequested(_) | Body::SamplingEnded(_) => sampled(event, body),
        Body::ContextCompacted(b) => vec![step(event, "context_compacted", summed_up(b))],
        Body::TaskGoalChanged(b) => goal_changed(event, b),
        Body::BudgetSettled(b) => {
            let usage = &mut mirror.usage;
            usage.tokens = usage.tokens.saturating_add(b.tokens);
            usage.cost_micros = usage.cost_micros.saturating_add(b.cost_micros);
            usage.duration_ms = usage.duration_ms.saturating_add(b.wall_ms);
            vec![Draft::new(Family::UsageUpdated, at, json!(mirror.usage))]
        }
        Body::ContextCompiled(b) => {
            let text = format!("context of {} items, about {} tokens", b.items, b.tokens);
            vec![step(event, "context", json!(text))]
        }
        Body::ModelRequested(b) => {
            mirror.segment = format!("{}/{}", b.about_attempt_id, b.iteration);
            mirror.turn_to(0);
            mirror.usage.provider = Some(b.provider.clone());
            mirror.usage.model = Some(b.model.clone());
            vec![step(event, "reasoning", json!(format!("asking {} {}", b.provider, b.model)))]
        }
        Body::ModelFailed(b) => vec![failed(mirror, event, b)],
        Body::ModelOutputRejected(b) => vec![step(event, "output_rejected", shown(&b.reason))],
        Body::IterationCompleted(b) => vec![step(event, "turn", shown(&b.record.state_summary))],
        Body::RunTerminated(b) => {
            let summary = shown(&b.summary);
            mirror.outcome =
                Some(Outcome { reason: b.reason, summary, answer: b.answer.clone(), check: None });
            Vec::new()
        }
        Body::AnswerChecked(b) => checked(mirror, b),
        Body::ModelResponded(b) => {
            let mut drafts = Vec::new();
            if !mirror.reasoning.is_empty() {
                let text = std::mem::take(&mut mirror.reasoning);
                let payload = json!({ "block_id": mirror.segment_id(), "text": text, "visibility": "shown" });
                drafts.push(Draft::new(Family::ReasoningDone, at, payload));
            }
            // The whole message is an artifact: whoever holds this needs the deltas no more (C22, C31).
            let mut done = step(event, "answered", json!(b.finish_reason));
            done.payload.insert("segment_id".to_owned(), json!(mirror.segment_id()));
            done.payload.insert("message".to_owned(), json!(b.answer));
            drafts.push(done);
            drafts
        }
        _ => found(event, body),
    }
}

/// What a task is called, and whether that is how its goal begins or a name that somebody gave it.
fn titled(task: &Task) -> Value {
    let source = match (task.goal.shown(), task.title.shown()) {
        (Some(goal), Some(title)) if !goal.trim_start().starts_with(title.as_str()) => "given",
        _ => "goal",
    };
    json!({ "title": shown(&task.title), "source": source, "confidence": 1 })
}

/// The goal that is in force now, and what the run is called since, where that is how its goal begins.
fn goal_changed(event: &Event, changed: &TaskGoalChanged) -> Vec<Draft> {
    let mut drafts = vec![step(event, "goal_changed", shown(&changed.goal))];
    if let Some(title) = &changed.title {
        let title = json!({ "title": shown(title), "source": "goal", "confidence": 1 });
        drafts.push(Draft::new(Family::TitleUpdated, event.occurred_at, title));
    }
    drafts
}

/// What the agent gave away, a title each.
fn given_away(parts: &[ChildTask]) -> Value {
    let title = |part: &ChildTask| part.title.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
    let titles: Vec<String> = parts.iter().map(title).collect();
    json!(format!("gave parts away: {}", titles.join("; ")))
}

fn failed(mirror: &mut RunFold, event: &Event, b: &ModelFailed) -> Draft {
    mirror.turn_to(0);
    let code = if b.retryable { "model_unavailable" } else { "model_failed" };
    let diagnostics = json!({ "error": shown(&b.error), "retryable": b.retryable });
    let message = "the model could not answer";
    let payload = json!({ "code": code, "message": message, "diagnostics": diagnostics, "terminal": false });
    Draft::new(Family::Error, event.occurred_at, payload)
}

/// Words that came in, and how far their sender's word goes when it is not the person's.
fn input(
    event: &Event,
    phase: &str,
    text: &Sensitive<String>,
    tier: Option<TrustTier>,
    encloses: &Option<Vec<ArtifactId>>,
) -> Draft {
    let mut draft = step(event, phase, shown(text));
    if let Some(encloses) = encloses {
        draft.payload.insert("encloses".to_owned(), json!(encloses));
    }
    if let Some(tier) = tier.filter(|tier| *tier != TrustTier::UserAsserted) {
        draft.payload.insert("trust_tier".to_owned(), json!(tier));
    }
    draft
}

/// Completed, failed and cancelled end a run; rolled back keeps the end it had (T1).
/// What bears the answer is told with the end of the run.
fn checked(mirror: &mut RunFold, b: &AnswerChecked) -> Vec<Draft> {
    let mut check = json!({
        "check": b.check, "method": b.method, "by_receipt": b.by_receipt, "by_evidence": b.by_evidence,
        "by_absence": b.by_absence, "claimless": b.claimless, "unverified": b.unverified,
    });
    if let (Some(cited), Value::Object(told)) = (b.by_citation, &mut check) {
        told.insert("by_citation".to_owned(), json!(cited));
    }
    if let (Some(near), Value::Object(told)) = (b.near, &mut check) {
        told.insert("near".to_owned(), json!(near));
    }
    if let Some(outcome) = &mut mirror.outcome {
        outcome.check = Some(check);
    }
    Vec::new()
}

fn ending(mirror: &RunFold, event: &Event, body: &TaskStatusChanged, now: &Lifecycle) -> Vec<Draft> {
    let at = event.occurred_at;
    let usage = json!(mirror.usage);
    let outcome = mirror.outcome.as_ref();
    let mut result = json!({
        "reason": outcome.map_or_else(|| body.reason.clone(), |o| o.reason.as_str().to_owned()),
        "summary": outcome.map_or(Value::Null, |o| o.summary.clone()),
        "answer": outcome.and_then(|o| o.answer.clone()),
        "note": body.note.as_ref().map(shown),
    });
    if let (Some(check), Value::Object(result)) = (outcome.and_then(|o| o.check.clone()), &mut result) {
        result.insert("answer_check".to_owned(), check);
    }
    let whole = json!({ "status": now.status, "usage": usage, "result": result });
    let last = match body.to {
        TaskStatus::Completed => Draft::new(Family::Done, at, whole),
        TaskStatus::Cancelled => Draft::new(Family::Cancelled, at, whole),
        TaskStatus::Failed => {
            let mut payload = whole;
            // Without a reason from the loop, only the run status knows that time ran out (T1).
            let bare = if now.status == "expired" { "expired" } else { "failed" };
            let code = outcome.map_or(bare, |o| code(o.reason));
            for (key, value) in [
                ("code", json!(code)),
                ("message", json!(message(code))),
                ("diagnostics", json!({ "reason": body.reason })),
                ("terminal", json!(true)),
            ] {
                if let Value::Object(map) = &mut payload {
                    map.insert(key.to_owned(), value);
                }
            }
            Draft::new(Family::Error, at, payload)
        }
        TaskStatus::Created
        | TaskStatus::Ready
        | TaskStatus::Running
        | TaskStatus::Blocked
        | TaskStatus::Paused
        | TaskStatus::RolledBack => return Vec::new(),
    };
    vec![Draft::new(Family::UsageFinal, at, usage), last.ending()]
}

/// Stable codes of a failed run: T2 wants `denied` and `expired` told apart from the rest.
const fn code(reason: TerminationReason) -> &'static str {
    match reason {
        TerminationReason::ApprovalDenied => "denied",
        other => other.as_str(),
    }
}

fn message(code: &str) -> &'static str {
    match code {
        "denied" => "a person said no and there was no other way",
        "expired" => "an approval, a grant or the deadline ran out",
        "max_iterations" => "it took more turns than allowed",
        "no_progress" => "nothing new came of it any more",
        "repeated_tool_failure" | "fatal_tool_error" => "a tool failed",
        "malformed_output" => "the model's answers could not be read",
        "model_unavailable" => "the model could not be reached",
        "budget_spent" => "its budget is spent",
        _ => "the run failed",
    }
}

/// A limit that a person raised, or a model that another one stands in for.
fn went_on(event: &Event, body: &Body) -> Vec<Draft> {
    match body {
        Body::LimitRaised(b) => {
            let text = format!("a person raised the limit of {} from {} to {}", b.limit, b.was, b.allowed);
            vec![step(event, "limit_raised", json!(text))]
        }
        Body::ModelFellBack(b) => {
            let text = format!("{} did not answer; {} is asked from now on", b.from_model, b.to_model);
            vec![step(event, "model_fell_back", json!(text))]
        }
        _ => Vec::new(),
    }
}

/// What a model has found beside the folder, tools of servers and skills, and what more its answer asks for.
fn found(event: &Event, body: &Body) -> Vec<Draft> {
    match body {
        Body::SkillLoaded(b) => vec![step(event, "skill_read", json!(skill_read(b)))],
        Body::ToolsFound(b) => vec![step(event, "tools_found", shown(&b.query))],
        Body::AnswerContinued(b) => vec![step(event, "answer_continued", more_of(b))],
        Body::CriteriaChecked(b) => vec![step(event, "criteria_checked", checked_criteria(b))],
        _ => went_on(event, body),
    }
}

fn skill_read(b: &SkillLoaded) -> String {
    match &b.file {
        Some(file) => format!("read {file} of the skill {}", b.name),
        None => format!("read the skill {}", b.name),
    }
}

fn more_of(b: &AnswerContinued) -> Value {
    let requests =
        if b.left == 1 { "one more request".to_owned() } else { format!("{} more requests", b.left) };
    json!(format!("continues with {requests} of the same answer"))
}

fn checked_criteria(b: &CriteriaChecked) -> Value {
    let met = b.checked.iter().filter(|one| one.outcome == CriterionOutcome::Met).count();
    json!(format!("{met} of {} criteria for the end are met", b.checked.len()))
}

fn summed_up(b: &ContextCompacted) -> Value {
    json!(format!("turns 1 to {} are summed up in {} lines", b.through, b.lines))
}
