//! Conversations, messages, questions, the focus, and who and where.
//!
//! Focus (HK-13.6-15 to -18): what a person binds a message to, or switches to outright, becomes the focus; the end
//! of the focused task leaves none. Nothing else moves it: progress in the background is not a person's doing.

use super::rows::{Conversation, Ingress, Message};
use super::{Seen, json, leaf, maybe, maybe_leaf, text};
use crate::names::{MessageKind, Role};
use model::body::{Body, IngressBound};
use model::ingress::{Channel, Clarification, IngressRecord, IngressResolution, IngressStatus};
use model::{IngressId, TaskId};
use rusqlite::params;

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::ConversationOpened(b) => seen
            .add(Conversation {
                conversation_id: text(b.conversation_id),
                seq: seen.seq,
                inbox_task_id: text(b.inbox_task_id),
                title: leaf(&b.title),
                opened_at: seen.at(),
                updated_at: seen.at(),
                ..Conversation::default()
            })
            .map(drop),
        Body::FocusChanged(b) => focus(seen, &text(b.conversation_id), b.focus_task_id, &b.reason),
        Body::IngressReceived(b) => received(seen, &b.record),
        Body::IngressBound(b) => bound(seen, b),
        Body::TaskInputAdded(b) => waits(seen, b.ingress_id, b.about_task_id),
        Body::TaskInputQueued(b) => waits(seen, b.ingress_id, b.about_task_id),
        Body::TaskInputAbsorbed(b) => {
            let set = |row: &mut Ingress| {
                (row.waits_for, row.absorbed_at) = (None, Some(seen.at()));
                row.boundary = Some(b.boundary.as_str().to_owned());
            };
            seen.change((text(b.ingress_id),), set).map(drop)
        }
        Body::TaskStatusChanged(b) if b.to.is_terminal() && !b.from.is_terminal() => {
            let task = text(b.about_task_id);
            let question = "SELECT conversation_id FROM view_conversations WHERE focus_task_id = ?1";
            let focused = |row: &Conversation| row.focus_task_id.as_ref() == Some(&task);
            for (conversation,) in seen.all_of(focused, (question, &task), |row| Ok((row.get(0)?,)))? {
                seen.conversation(&conversation, |row| {
                    row.last_focus = row.focus_task_id.take();
                    "its task ended".clone_into(&mut row.focus_reason);
                    row.focus_at = Some(seen.at());
                })?;
            }
            let line =
                Line { kind: MessageKind::Ended, role: Role::System, id: task.clone(), note: b.to.as_str() };
            say(seen, &task, line, b.note.as_ref().map(leaf), None)
        }
        _ => lines(seen, body),
    }
}

fn lines(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    let task = text(seen.event.task_id);
    match body {
        Body::ClarificationRequested(b) => {
            question(seen, &b.clarification)?;
            let id = text(b.clarification.clarification_id);
            let line = Line { kind: MessageKind::Question, role: Role::Agent, id, note: "" };
            say(seen, &task, line, Some(leaf(&b.clarification.question)), None)
        }
        Body::ClarificationAnswered(b) => {
            let by = Some(text(b.ingress_id));
            answered(seen, &text(b.clarification_id), "answered", by)
        }
        Body::ClarificationExpired(b) => answered(seen, &text(b.clarification_id), "expired", None),
        Body::ClarificationCancelled(b) => answered(seen, &text(b.clarification_id), "cancelled", None),
        Body::ApprovalRequested(b) => {
            let id = text(b.approval.approval_id);
            let line =
                Line { kind: MessageKind::Approval, role: Role::System, id, note: b.risk_band.as_str() };
            say(seen, &task, line, Some(leaf(&b.summary)), Some(text(b.approval.approval_packet_ref)))
        }
        Body::ReceiptIssued(b) => {
            let id = text(b.receipt_id);
            let line =
                Line { kind: MessageKind::Receipt, role: Role::System, id, note: b.result_code.as_str() };
            say(seen, &task, line, Some(leaf(&b.summary)), Some(text(b.envelope.artifact_id)))
        }
        Body::RunTerminated(b) => {
            let id = text(b.about_attempt_id);
            let line = Line { kind: MessageKind::Answer, role: Role::Agent, id, note: b.reason.as_str() };
            let answer = b.answer.as_ref().map(|a| text(a.artifact_id));
            say(seen, &task, line, Some(leaf(&b.summary)), answer)
        }
        _ => places(seen, body),
    }
}

fn places(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::PrincipalRegistered(b) => {
            let p = &b.principal;
            let statement = "INSERT INTO view_principals (principal_id, seq, kind, name, labels, created_at) \
                             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (principal_id) DO NOTHING";
            let (id, kind, name) = (text(p.principal_id), p.principal_type.as_str(), leaf(&p.display_name));
            seen.run(statement, params![id, seen.seq, kind, name, json(&p.labels), p.created_at.0]).map(drop)
        }
        Body::WorkspaceRegistered(b) => {
            let statement = "INSERT INTO view_workspaces (workspace_id, seq, root_path, created_at) \
                             VALUES (?1, ?2, ?3, ?4) ON CONFLICT (workspace_id) DO UPDATE SET root_path = excluded.root_path";
            seen.run(statement, params![text(b.workspace_id), seen.seq, leaf(&b.root_path), seen.at()])
                .map(drop)
        }
        Body::GateHalted(b) => gate(seen, true, &b.session, Some(leaf(&b.reason))),
        Body::GateBooted(b) => gate(seen, false, &b.session, None),
        _ => Ok(()),
    }
}

fn gate(seen: &Seen<'_>, halted: bool, session: &str, reason: Option<[u8; 32]>) -> rusqlite::Result<()> {
    let statement = "INSERT INTO view_gate (one, halted, session, reason, at) VALUES (1, ?1, ?2, ?3, ?4) \
                     ON CONFLICT (one) DO UPDATE SET halted = excluded.halted, session = excluded.session, \
                     reason = excluded.reason, at = excluded.at";
    seen.run(statement, params![halted, session, reason, seen.at()]).map(drop)
}

/// Notes which task a message waits for, until it was absorbed.
fn waits(seen: &Seen<'_>, ingress: IngressId, task: TaskId) -> rusqlite::Result<()> {
    let set = |row: &mut Ingress| {
        if row.absorbed_at.is_none() {
            row.waits_for = Some(text(task));
        }
    };
    seen.change((text(ingress),), set).map(drop)
}

fn received(seen: &Seen<'_>, r: &IngressRecord) -> rusqlite::Result<()> {
    seen.add(Ingress {
        ingress_id: text(r.ingress_id),
        seq: seen.seq,
        conversation_id: text(r.conversation_id),
        channel: r.source_channel.as_str().to_owned(),
        text: leaf(&r.raw_text),
        status: r.status.as_str().to_owned(),
        resolution: r.resolution.as_str().to_owned(),
        actor: maybe(r.actor),
        chosen_task_id: maybe(r.chosen_task_id),
        candidates: "[]".to_owned(),
        rationale: maybe_leaf(r.rationale.as_ref()),
        created_at: r.created_at.0,
        updated_at: r.created_at.0,
        ..Ingress::default()
    })?;
    seen.add(Message {
        seq: seen.seq,
        conversation_id: text(r.conversation_id),
        task_id: maybe(r.explicit_task_ref),
        role: Role::User.as_str().to_owned(),
        kind: MessageKind::Message.as_str().to_owned(),
        ref_id: text(r.ingress_id),
        text: Some(leaf(&r.raw_text)),
        artifact_ref: None,
        note: r.source_channel.as_str().to_owned(),
        at: seen.at(),
    })?;
    touch(seen, &text(r.conversation_id))
}

fn bound(seen: &Seen<'_>, b: &IngressBound) -> rusqlite::Result<()> {
    let status = match b.resolution {
        IngressResolution::PendingDisambiguation => IngressStatus::PendingDisambiguation,
        IngressResolution::Control
        | IngressResolution::Approval
        | IngressResolution::AppendNote
        | IngressResolution::ForkChild
        | IngressResolution::StartNewRoot
        | IngressResolution::ChatOnly => IngressStatus::Bound,
    };
    let found = seen.change((text(b.ingress_id),), |row: &mut Ingress| {
        status.as_str().clone_into(&mut row.status);
        b.resolution.as_str().clone_into(&mut row.resolution);
        row.chosen_task_id = maybe(b.chosen_task_id);
        row.candidates = json(&b.candidates);
        row.rationale = Some(leaf(&b.rationale));
        row.updated_at = seen.at();
        (row.seq, row.conversation_id.clone(), row.channel.parse())
    })?;
    let Some((seq, conversation, channel)) = found else {
        return Ok(());
    };
    if b.chosen_task_id.is_some() {
        seen.change((seq,), |row: &mut Message| row.task_id = maybe(b.chosen_task_id))?;
    }
    let personal = channel.is_ok_and(is_personal);
    match (personal && turns_to(b.resolution), b.chosen_task_id) {
        (true, Some(task)) => focus(seen, &conversation, Some(task), b.resolution.as_str()),
        _ => Ok(()),
    }
}

/// Whether what comes through a channel is a person's doing.
const fn is_personal(channel: Channel) -> bool {
    match channel {
        Channel::Cli | Channel::App | Channel::RunApi => true,
        Channel::Mcp | Channel::Webhook | Channel::Scheduler | Channel::System => false,
    }
}

/// Whether a message so bound is about a task the person now has in mind.
const fn turns_to(resolution: IngressResolution) -> bool {
    match resolution {
        IngressResolution::AppendNote | IngressResolution::ForkChild | IngressResolution::StartNewRoot => {
            true
        }
        IngressResolution::Control
        | IngressResolution::Approval
        | IngressResolution::ChatOnly
        | IngressResolution::PendingDisambiguation => false,
    }
}

fn focus(seen: &Seen<'_>, conversation: &str, task: Option<TaskId>, reason: &str) -> rusqlite::Result<()> {
    let task = maybe(task);
    seen.conversation(conversation, |row| {
        if row.focus_task_id != task {
            row.last_focus = row.focus_task_id.take().or(row.last_focus.take());
        }
        row.focus_task_id = task;
        reason.clone_into(&mut row.focus_reason);
        row.focus_at = Some(seen.at());
    })
}

fn question(seen: &Seen<'_>, c: &Clarification) -> rusqlite::Result<()> {
    let made = seen.run(
        "INSERT INTO view_questions (clarification_id, seq, task_id, attempt_id, question, choices, status, \
         requested_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?7, ?8) \
         ON CONFLICT (clarification_id) DO NOTHING",
        params![
            text(c.clarification_id),
            seen.seq,
            text(c.task_id),
            text(c.attempt_id),
            leaf(&c.question),
            json(&c.choices),
            c.requested_at.0,
            c.expires_at.0,
        ],
    )?;
    if made == 1 {
        seen.task(&text(c.task_id), |task| task.open_questions += 1)?;
    }
    Ok(())
}

fn answered(seen: &Seen<'_>, question: &str, status: &str, by: Option<String>) -> rusqlite::Result<()> {
    let statement = "UPDATE view_questions SET status = ?2, resolved_at = ?3, answered_by = ?4 \
                     WHERE clarification_id = ?1 AND status = 'pending'";
    if seen.run(statement, params![question, status, seen.at(), by])? == 1 {
        let whose = "SELECT task_id FROM view_questions WHERE clarification_id = ?1";
        if let Some(task) = seen.task_of(whose, question)? {
            seen.task(&task, |task| task.open_questions = (task.open_questions - 1).max(0))?;
        }
    }
    Ok(())
}

/// One line of a conversation.
struct Line<'a> {
    kind: MessageKind,
    role: Role,
    id: String,
    note: &'a str,
}

/// Adds a line to the conversation of a task; a task outside any conversation says nothing.
fn say(
    seen: &Seen<'_>,
    task: &str,
    line: Line<'_>,
    words: Option<[u8; 32]>,
    artifact: Option<String>,
) -> rusqlite::Result<()> {
    let Some(conversation) = seen.task(task, |row| row.conversation_id.clone())? else {
        return Ok(());
    };
    seen.add(Message {
        seq: seen.seq,
        conversation_id: conversation.clone(),
        task_id: Some(task.to_owned()),
        role: line.role.as_str().to_owned(),
        kind: line.kind.as_str().to_owned(),
        ref_id: line.id,
        text: words,
        artifact_ref: artifact,
        note: line.note.to_owned(),
        at: seen.at(),
    })?;
    touch(seen, &conversation)
}

fn touch(seen: &Seen<'_>, conversation: &str) -> rusqlite::Result<()> {
    seen.conversation(conversation, |row| row.updated_at = seen.at())
}
