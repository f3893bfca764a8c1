//! What the stream says of each committed event (invariants 2 and 3).

use crate::tale::{Tale, at, id, run_id};
use model::approval::Shape;
use model::artifact::TrustTier;
use model::attempt::TerminationReason;
use model::body::*;
use model::receipt::ResultCode;
use model::task::TaskStatus;
use model::{Digest, Sensitive, UnixMs};
use runstream::{Draft, Family};
use serde_json::{Value, json};

fn only(drafts: Vec<Draft>, family: Family) -> Draft {
    let mut found: Vec<Draft> = drafts.into_iter().filter(|d| d.family == family).collect();
    assert_eq!(found.len(), 1, "one `{family}`");
    found.remove(0)
}

fn part(draft: &Draft, keys: &[&str]) -> Value {
    keys.iter()
        .map(|k| ((*k).to_owned(), draft.payload[*k].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[conforms::conforms(part = "RA-1.2-1", part = "RA-1.2-12")]
#[test]
fn a_new_task_starts_its_run_and_gives_it_a_title() {
    let mut tale = Tale::new();
    let drafts = tale.created();
    assert_eq!(
        drafts.iter().map(|d| d.family).collect::<Vec<_>>(),
        [Family::RunStarted, Family::TitleUpdated]
    );
    assert_eq!(
        Value::Object(drafts[0].payload.clone()),
        json!({
            "status": "queued", "controls": ["observe", "cancel"], "session_id": crate::tale::session(),
            "workspace": "notes", "profile": "local_edit_allowed", "model": null, "toolset": ["read", "write"],
            "goal": "sort the notes by date", "ledger_event_id": format!("evt_{:032x}", 1),
        })
    );
    assert_eq!(part(&drafts[1], &["title", "source"]), json!({ "title": "sort notes", "source": "given" }));
    let status = only(tale.moved(TaskStatus::Created, TaskStatus::Ready, "running"), Family::Status);
    assert_eq!(
        part(&status, &["status", "profile"]),
        json!({ "status": "running", "profile": "local_edit_allowed" })
    );
}

#[test]
fn a_status_is_told_when_it_changes_and_not_again() {
    let mut tale = Tale::new();
    tale.created();
    assert_eq!(tale.moved(TaskStatus::Created, TaskStatus::Ready, "queued"), []);
    assert_eq!(tale.moved(TaskStatus::Ready, TaskStatus::Running, "running").len(), 1);
    assert_eq!(tale.moved(TaskStatus::Running, TaskStatus::Paused, "paused").len(), 1);
}

#[conforms::conforms(part = "RA-1.2-5", part = "RA-1.2-6", part = "RA-1.2-7")]
#[test]
fn a_tool_starts_when_it_is_dispatched_and_is_done_when_it_was_observed() {
    let mut tale = Tale::new();
    tale.created();
    assert_eq!(only(tale.proposed(1), Family::Progress).payload["phase"], "proposed");
    assert_eq!(only(tale.judged(1), Family::Progress).payload["text"], "require_approval, moderate risk");
    let started = only(tale.dispatched(1), Family::ToolStarted);
    let call = format!("act_{:032x}", 1);
    assert_eq!(
        part(&started, &["tool_call_id", "name", "arguments", "started_at"]),
        json!({ "tool_call_id": call, "name": "write", "arguments": "write `a.txt`", "started_at": 1_778_750_000.04 })
    );
    let working = tale.mirror.progress("changing files", 2, 5, UnixMs(1));
    assert_eq!(working.family, Family::ToolUpdated);
    assert_eq!(
        part(&working, &["tool_call_id", "progress"]),
        json!({ "tool_call_id": call, "progress": { "what": "changing files", "done": 2, "total": 5 } })
    );
    let printed = tale.mirror.output(id("act", 1), "stderr", "a warning\n", UnixMs(1));
    assert_eq!(printed.family, Family::ToolUpdated);
    assert_eq!(
        part(&printed, &["tool_call_id", "data", "progress"]),
        json!({ "tool_call_id": call, "data": { "stream": "stderr", "text": "a warning\n" }, "progress": null })
    );
    let report = |act| EffectProgressed {
        action_request_id: id("act", act),
        sequence: 4,
        elapsed_ms: 120_000,
        done: None,
        total: None,
        note: "14 KB printed".to_owned().into(),
        checkpoint: Some(at(9)),
    };
    let lasting = only(tale.tell(report(1)), Family::ToolUpdated);
    assert_eq!(
        part(&lasting, &["tool_call_id", "progress", "data"]),
        json!({
            "tool_call_id": call, "progress": { "what": "14 KB printed", "done": null, "total": null },
            "data": { "state": "executing", "sequence": 4, "elapsed_ms": 120_000, "checkpoint": at(9) },
        })
    );
    let tried = only(tale.tell(report(2)), Family::Progress);
    assert_eq!(part(&tried, &["phase", "text"]), json!({ "phase": "trying", "text": "14 KB printed" }));
    let uncertain = EffectUncertain { action_request_id: id("act", 1), reason: "cut off".to_owned().into() };
    assert_eq!(only(tale.tell(uncertain), Family::ToolUpdated).payload["data"]["reason"], "cut off");
    let done = only(tale.observed(1, ResultCode::Failed), Family::ToolDone);
    assert_eq!(
        part(&done, &["tool_call_id", "status", "duration_ms", "error", "result"]),
        json!({ "tool_call_id": call, "status": "failed", "duration_ms": 40, "error": true, "result": at(9) })
    );
    assert_eq!(tale.mirror.progress("packing", 0, 0, UnixMs(1)).family, Family::Progress);
}

#[test]
fn an_unknown_outcome_ends_nothing_and_is_settled_later() {
    let mut tale = Tale::new();
    tale.created();
    tale.proposed(1);
    tale.dispatched(1);
    assert!(tale.observed(1, ResultCode::UnknownOutcome).iter().all(|d| !d.terminal));
    let note = "it was written".to_owned().into();
    let (action_request_id, receipt_id) = (id("act", 1), id("rcp", 1));
    let resolved =
        OutcomeResolved { action_request_id, result_code: ResultCode::Succeeded, note, receipt_id };
    let done = only(tale.tell(resolved), Family::ToolDone);
    assert_eq!(part(&done, &["status", "duration_ms"]), json!({ "status": "succeeded", "duration_ms": 20 }));
    assert!(!tale.mirror.has_ended());
}

#[conforms::conforms(part = "RA-1.2-8", part = "RA-1.2-9")]
#[test]
fn an_approval_is_asked_and_resolved_with_its_choices() {
    let mut tale = Tale::new();
    tale.created();
    let asked = only(tale.may_it(1), Family::ApprovalRequested);
    let apr = |n: u64| format!("apr_{n:032x}");
    assert_eq!(
        part(&asked, &["approval_id", "summary", "risk", "choices"]),
        json!({
            "approval_id": apr(1), "summary": "write `a.txt`", "choices": ["once", "standing", "deny"],
            "risk": { "band": "moderate", "action_class": "write_local" },
        })
    );
    let resolved = |draft: &Draft| part(draft, &["approval_id", "choice", "status"]);
    for (drafts, n, choice, status) in [
        (tale.yes(1, Shape::Exact), 1, json!("once"), "granted"),
        (tale.yes(2, Shape::PathGlob), 2, json!("standing"), "granted"),
        (tale.no(3), 3, json!("deny"), "denied"),
        (tale.tell(ApprovalExpired { approval_id: id("apr", 4) }), 4, Value::Null, "expired"),
        (tale.tell(ApprovalCancelled { approval_id: id("apr", 5) }), 5, Value::Null, "cancelled"),
        (
            tale.tell(ApprovalInvalidated { approval_id: id("apr", 6), reason: "drift".into() }),
            6,
            Value::Null,
            "invalidated",
        ),
    ] {
        let draft = only(drafts, Family::ApprovalResolved);
        assert_eq!(resolved(&draft), json!({ "approval_id": apr(n), "choice": choice, "status": status }));
    }
}

#[conforms::conforms(part = "RA-1.2-10", part = "RA-1.2-11")]
#[test]
fn a_question_is_asked_and_resolved() {
    let mut tale = Tale::new();
    tale.created();
    let clr = format!("clr_{:032x}", 1);
    let asked = only(tale.question(&["a", "b"]), Family::ClarifyRequested);
    assert_eq!(
        part(&asked, &["clarify_id", "question", "choices", "input_mode"]),
        json!({ "clarify_id": clr, "question": "which folder?", "choices": ["a", "b"], "input_mode": "choice" })
    );
    assert_eq!(only(tale.question(&[]), Family::ClarifyRequested).payload["input_mode"], "text");
    let answered = ClarificationAnswered { clarification_id: id("clr", 1), ingress_id: id("ing", 2) };
    let resolved = only(tale.tell(answered), Family::ClarifyResolved);
    assert_eq!(
        part(&resolved, &["clarify_id", "answer", "status"]),
        json!({ "clarify_id": clr, "answer": format!("ing_{:032x}", 2), "status": "answered" })
    );
    let lapsed =
        only(tale.tell(ClarificationExpired { clarification_id: id("clr", 1) }), Family::ClarifyResolved);
    assert_eq!(part(&lapsed, &["answer", "status"]), json!({ "answer": null, "status": "expired" }));
}

#[conforms::conforms(part = "RA-1.2-2", part = "RA-1.2-3")]
#[test]
fn words_belong_to_the_turn_that_asked_for_them_and_reasoning_is_told_whole() {
    let mut tale = Tale::new();
    tale.created();
    tale.asked(1);
    let segment = format!("att_{:032x}/1/8", 1);
    // The one before it was broken off: what it reasoned and said is no part of this one.
    let broken_off = tale.mirror.thought("one ", 7, 0, UnixMs(5));
    assert_ne!(broken_off.payload["block_id"], segment.as_str());
    let spoken = tale.mirror.delta("Hel", 8, 0, UnixMs(5));
    assert_eq!(
        Value::Object(spoken.payload),
        json!({ "segment_id": segment, "delta": "Hel", "content_type": "text/plain", "asking": 8, "from": 0 })
    );
    for (from, piece) in [(0, "two "), (4, "files")] {
        let thought = tale.mirror.thought(piece, 8, from, UnixMs(5));
        assert_eq!(part(&thought, &["asking", "from"]), json!({ "asking": 8, "from": from }));
        assert_eq!(part(&thought, &["block_id", "delta"]), json!({ "block_id": segment, "delta": piece }));
    }
    let drafts = tale.answered(1);
    let whole = only(drafts.clone(), Family::ReasoningDone);
    assert_eq!(
        part(&whole, &["block_id", "text", "visibility"]),
        json!({ "block_id": segment, "text": "two files", "visibility": "shown" })
    );
    let sealed = only(drafts, Family::Progress);
    assert_eq!(part(&sealed, &["segment_id", "message"]), json!({ "segment_id": segment, "message": at(4) }));
    tale.asked(2);
    assert_ne!(tale.mirror.delta("x", 9, 0, UnixMs(6)).payload["segment_id"], segment.as_str());
    assert_eq!(tale.answered(2).len(), 1, "no reasoning, no `reasoning.done`");
}

#[conforms::conforms(part = "RA-1.2-4", part = "RA-1.2-13", part = "RA-1.2-15", "RA-2-13")]
#[test]
fn a_run_tells_what_it_does_and_uses_and_how_it_ended() {
    let tale = Tale::whole();
    use Family::*;
    assert_eq!(
        tale.families(),
        [
            RunStarted,
            TitleUpdated,
            Status,
            Progress,
            Progress,
            UsageUpdated,
            Progress,
            Progress,
            ApprovalRequested,
            Status,
            ApprovalResolved,
            Status,
            ToolStarted,
            ToolDone,
            Progress,
            Progress,
            UsageFinal,
            Done,
        ]
    );
    let mut progress = tale.told.iter().flat_map(|told| &told.drafts).filter(|d| d.family == Progress);
    assert!(progress.all(|d| d.payload["text"].is_string()), "each says in words what is done");
    let last = &tale.told.last().unwrap().drafts;
    let used = json!({
        "tokens": 15, "cost_micros": 7, "duration_ms": 40, "provider": "openai", "model": "qwen",
    });
    assert_eq!(part(&last[0], &["tokens", "cost_micros", "duration_ms", "provider", "model"]), used);
    assert_eq!(last[1].payload["usage"], used);
    assert_eq!((&last[1].payload["status"], last[1].terminal), (&json!("completed"), true));
    assert_eq!(
        last[1].payload["result"],
        json!({ "reason": "done", "summary": "all sorted", "answer": at(11), "note": null })
    );
    let mut failing = Tale::new();
    failing.created();
    let cut = ModelFailed {
        about_attempt_id: id("att", 1),
        iteration: 1,
        error: "refused".to_owned().into(),
        retryable: true,
    };
    let passing = only(failing.tell(cut), Family::Error);
    assert_eq!(
        part(&passing, &["code", "terminal", "diagnostics"]),
        json!({
            "code": "model_unavailable", "terminal": false,
            "diagnostics": { "error": "refused", "retryable": true },
        })
    );
    assert!(!passing.terminal && !failing.mirror.has_ended());
}

#[test]
fn every_end_is_told_by_its_own_event_and_code() {
    use TerminationReason::*;
    for (reason, to, status, family, code) in [
        (Some(Done), TaskStatus::Completed, "completed", Family::Done, Value::Null),
        (Some(Cancelled), TaskStatus::Cancelled, "cancelled", Family::Cancelled, Value::Null),
        (None, TaskStatus::Cancelled, "cancelled", Family::Cancelled, Value::Null),
        (Some(NoProgress), TaskStatus::Failed, "failed", Family::Error, json!("no_progress")),
        (Some(ApprovalDenied), TaskStatus::Failed, "failed", Family::Error, json!("denied")),
        (Some(Expired), TaskStatus::Failed, "expired", Family::Error, json!("expired")),
        (None, TaskStatus::Failed, "expired", Family::Error, json!("expired")),
        (None, TaskStatus::Failed, "failed", Family::Error, json!("failed")),
    ] {
        let mut tale = Tale::new();
        tale.created();
        if let Some(reason) = reason {
            tale.terminated(reason);
        }
        let drafts = tale.moved(TaskStatus::Running, to, status);
        let last = only(drafts, family);
        assert!(last.terminal, "{reason:?}");
        let told = (last.payload.get("code").cloned().unwrap_or_default(), &last.payload["status"]);
        assert_eq!(told, (code, &json!(status)), "{reason:?}");
        assert!(last.payload.contains_key("result"), "{reason:?}");
    }
}

#[test]
fn nothing_follows_the_end_not_even_an_undoing() {
    let mut tale = Tale::whole();
    assert!(tale.mirror.has_ended());
    assert_eq!(tale.moved(TaskStatus::Completed, TaskStatus::RolledBack, "completed"), []);
    assert_eq!(tale.settled(), []);
}

#[test]
fn another_tasks_events_say_nothing_here() {
    let mut tale = Tale::whole();
    let body: Body = GateBooted { session: "s".into() }.into();
    let mut event = tale.event(&body);
    event.task_id = id("task", 99);
    let now = tale.lifecycle();
    assert_eq!(runstream::RunFold::new(run_id()).event(&event, &body, &now), []);
    assert_eq!(tale.tell(body), []);
}

#[test]
fn an_erased_text_is_null_in_a_stream_written_again() {
    let mut tale = Tale::new();
    tale.created();
    let text = Sensitive::Erased(Digest::ZERO);
    let added = TaskInputAdded {
        about_task_id: run_id(),
        ingress_id: id("ing", 3),
        text,
        trust_tier: Some(TrustTier::Untrusted),
        encloses: Some(vec![id("art", 4)]),
    };
    let told = only(tale.tell(added), Family::Progress).payload;
    assert_eq!(told["text"], Value::Null);
    assert_eq!(told["trust_tier"], "untrusted", "whose words they were stays to be seen");
    let with: model::ArtifactId = id("art", 4);
    assert_eq!(told["encloses"], serde_json::json!([with]), "and what came with them");
}

#[test]
fn whatever_is_mirrored_keeps_the_promises_of_its_family_and_names_its_event() {
    let tale = Tale::whole();
    for Draft { family, payload, .. } in tale.told.iter().flat_map(|m| &m.drafts) {
        for key in family.promises() {
            assert!(payload.contains_key(*key), "`{family}` lacks `{key}`");
        }
        assert!(payload["ledger_event_id"].as_str().is_some_and(|id| id.starts_with("evt_")));
    }
}
