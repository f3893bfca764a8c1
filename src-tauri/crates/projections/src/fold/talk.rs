//! Conversations, messages, questions, the focus, and who and where.
//!
//! Focus (HK-13.6-15 to -18): what a person binds a message to, or switches to outright, becomes the focus; the end
//! of the focused task leaves none. Nothing else moves it: progress in the background is not a person's doing.

use super::{Seen, json, leaf, maybe, maybe_leaf, text};
use crate::names::{MessageKind, Role};
use model::TaskId;
use model::body::{Body, IngressBound};
use model::ingress::{Channel, Clarification, IngressRecord, IngressResolution, IngressStatus};
use rusqlite::{OptionalExtension, params};

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::ConversationOpened(b) => seen
            .run(
                "INSERT INTO view_conversations (conversation_id, seq, inbox_task_id, title, opened_at, updated_at, \
                 focus_reason, open_tasks) VALUES (?1, ?2, ?3, ?4, ?5, ?5, '', 0) \
                 ON CONFLICT (conversation_id) DO NOTHING",
                params![text(b.conversation_id), seen.seq, text(b.inbox_task_id), leaf(&b.title), seen.at()],
            )
            .map(drop),
        Body::FocusChanged(b) => focus(seen, &text(b.conversation_id), b.focus_task_id, &b.reason),
        Body::IngressReceived(b) => received(seen, &b.record),
        Body::IngressBound(b) => bound(seen, b),
        Body::TaskInputAdded(b) => {
            let statement = "UPDATE view_ingress SET waits_for = ?2 WHERE ingress_id = ?1 AND absorbed_at IS NULL";
            seen.run(statement, params![text(b.ingress_id), text(b.about_task_id)]).map(drop)
        }
        Body::TaskInputQueued(b) => {
            let statement = "UPDATE view_ingress SET waits_for = ?2 WHERE ingress_id = ?1 AND absorbed_at IS NULL";
            seen.run(statement, params![text(b.ingress_id), text(b.about_task_id)]).map(drop)
        }
        Body::TaskInputAbsorbed(b) => {
            let statement = "UPDATE view_ingress SET waits_for = NULL, absorbed_at = ?2, boundary = ?3 \
                             WHERE ingress_id = ?1";
            seen.run(statement, params![text(b.ingress_id), seen.at(), b.boundary.as_str()]).map(drop)
        }
        Body::TaskStatusChanged(b) if b.to.is_terminal() && !b.from.is_terminal() => {
            let task = text(b.about_task_id);
            let statement = "UPDATE view_conversations SET last_focus = focus_task_id, focus_task_id = NULL, \
                             focus_reason = 'its task ended', focus_at = ?2 WHERE focus_task_id = ?1";
            seen.run(statement, params![task, seen.at()])?;
            let line = Line { kind: MessageKind::Ended, role: Role::System, id: task.clone(), note: b.to.as_str() };
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

fn received(seen: &Seen<'_>, r: &IngressRecord) -> rusqlite::Result<()> {
    seen.run(
        "INSERT INTO view_ingress (ingress_id, seq, conversation_id, channel, text, status, resolution, actor, \
         chosen_task_id, candidates, rationale, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, '[]', ?10, ?11, ?11) ON CONFLICT (ingress_id) DO NOTHING",
        params![
            text(r.ingress_id),
            seen.seq,
            text(r.conversation_id),
            r.source_channel.as_str(),
            leaf(&r.raw_text),
            r.status.as_str(),
            r.resolution.as_str(),
            maybe(r.actor),
            maybe(r.chosen_task_id),
            maybe_leaf(r.rationale.as_ref()),
            r.created_at.0,
        ],
    )?;
    let statement = "INSERT INTO view_messages (seq, conversation_id, task_id, role, kind, ref_id, text, note, at) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    seen.run(
        statement,
        params![
            seen.seq,
            text(r.conversation_id),
            maybe(r.explicit_task_ref),
            Role::User.as_str(),
            MessageKind::Message.as_str(),
            text(r.ingress_id),
            leaf(&r.raw_text),
            r.source_channel.as_str(),
            seen.at(),
        ],
    )?;
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
    let id = text(b.ingress_id);
    seen.run(
        "UPDATE view_ingress SET status = ?2, resolution = ?3, chosen_task_id = ?4, candidates = ?5, rationale = ?6, \
         updated_at = ?7 WHERE ingress_id = ?1",
        params![
            id,
            status.as_str(),
            b.resolution.as_str(),
            maybe(b.chosen_task_id),
            json(&b.candidates),
            leaf(&b.rationale),
            seen.at(),
        ],
    )?;
    let statement = "UPDATE view_messages SET task_id = ?2 WHERE ?2 IS NOT NULL \
                     AND seq = (SELECT seq FROM view_ingress WHERE ingress_id = ?1)";
    seen.run(statement, params![id, maybe(b.chosen_task_id)])?;
    let statement = "SELECT conversation_id, channel FROM view_ingress WHERE ingress_id = ?1";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let found = seen.conn.prepare_cached(statement)?.query_row([&id], read).optional()?;
    let Some((conversation, channel)) = found else {
        return Ok(());
    };
    let personal = channel.parse().is_ok_and(is_personal);
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
    let statement = "UPDATE view_conversations SET \
                     last_focus = CASE WHEN focus_task_id IS NOT ?2 THEN coalesce(focus_task_id, last_focus) \
                                       ELSE last_focus END, \
                     focus_task_id = ?2, focus_reason = ?3, focus_at = ?4 WHERE conversation_id = ?1";
    seen.run(statement, params![conversation, maybe(task), reason, seen.at()]).map(drop)
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
    let Some(conversation) = seen.conversation_of(task)? else {
        return Ok(());
    };
    let statement = "INSERT INTO view_messages (seq, conversation_id, task_id, role, kind, ref_id, text, artifact_ref, \
                     note, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let (role, kind) = (line.role.as_str(), line.kind.as_str());
    let values =
        params![seen.seq, conversation, task, role, kind, line.id, words, artifact, line.note, seen.at()];
    seen.run(statement, values)?;
    touch(seen, &conversation)
}

fn touch(seen: &Seen<'_>, conversation: &str) -> rusqlite::Result<()> {
    let statement = "UPDATE view_conversations SET updated_at = ?2 WHERE conversation_id = ?1";
    seen.run(statement, params![conversation, seen.at()]).map(drop)
}
