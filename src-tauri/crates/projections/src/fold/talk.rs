//! Conversations, messages, questions, the focus, and who and where.
//!
//! Focus (HK-13.6-15 to -18): what a person binds a message to, or switches to outright, becomes the focus; the end
//! of the focused task leaves none. Nothing else moves it: progress in the background is not a person's doing.

use super::{Seen, text};
use crate::Error;
use crate::cell::Cell;
use crate::names::{MessageKind, Role};
use crate::rows::{
    ConversationRow, IngressRow, MessageRow, NewConversation, NewIngress, NewMessage, NewPrincipal,
    NewQuestion, NewWorkspace, QuestionRow, TaskRow, WorkspaceRow,
};
use model::action::Reversibility;
use model::attempt::TerminationReason;
use model::body::{Body, IngressBound};
use model::ingress::{
    Channel, Clarification, ClarificationStatus, IngressRecord, IngressResolution, IngressStatus,
};
use model::policy::Verdict;
use model::task::TaskStatus;
use model::{ArtifactId, ClarificationId, ConversationId, IngressId, Sensitive, TaskId};
use rusqlite::params;

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    if is_news(body) {
        let of = if let Body::TaskStatusChanged(b) = body { b.about_task_id } else { seen.event.task_id };
        speaks(seen, of)?;
    }
    match body {
        Body::ConversationOpened(b) => seen
            .add(NewConversation {
                conversation_id: b.conversation_id,
                inbox_task_id: b.inbox_task_id,
                title: b.title.clone(),
                opened_at: seen.at(),
                updated_at: seen.at(),
                workspace_id: b.workspace_id,
            })
            .map(drop),
        Body::FocusChanged(b) => focus(seen, b.conversation_id, b.focus_task_id, &b.reason),
        Body::IngressReceived(b) => received(seen, &b.record),
        Body::IngressBound(b) => bound(seen, b),
        Body::IngressAttributed(b) => {
            seen.set((b.ingress_id,), |row: &mut IngressRow| row.trust_tier = Some(b.trust_tier))
        }
        Body::TaskInputAdded(b) => waits(seen, b.ingress_id, b.about_task_id),
        Body::TaskInputQueued(b) => waits(seen, b.ingress_id, b.about_task_id),
        Body::TaskInputAbsorbed(b) => seen.set((b.ingress_id,), |row: &mut IngressRow| {
            (row.waits_for, row.absorbed_at) = (None, Some(seen.at()));
            row.boundary = Some(b.boundary);
        }),
        Body::TaskStatusChanged(b) if b.to.is_terminal() && !b.from.is_terminal() => {
            let id = text(b.about_task_id);
            let focused = |row: &ConversationRow| row.focus_task_id == Some(b.about_task_id);
            for (conversation,) in seen.all_of(focused, ("focus_task_id", &id))? {
                seen.conversation(conversation, |row| {
                    row.last_focus = row.focus_task_id.take();
                    "its task ended".clone_into(&mut row.focus_reason);
                    row.focus_at = Some(seen.at());
                })?;
            }
            let line = Line { kind: MessageKind::Ended, role: Role::System, id, note: b.to.as_str() };
            say(seen, b.about_task_id, line, b.note.as_ref(), None)
        }
        _ => lines(seen, body),
    }
}

/// Whether something happened in a task that a person is told even where only that is reported (decision 261): an effect, a
/// question, a denial, or an end that is none of its work being done.
fn is_news(body: &Body) -> bool {
    match body {
        Body::ApprovalRequested(_) | Body::ClarificationRequested(_) => true,
        Body::PolicyEvaluated(b) => b.verdict == Verdict::Deny,
        Body::ReceiptIssued(b) => b.reversibility != Reversibility::NoEffect,
        Body::RunTerminated(b) => b.reason != TerminationReason::Done,
        Body::TaskStatusChanged(b) => b.to.is_terminal() && b.to != TaskStatus::Completed,
        _ => false,
    }
}

/// A task stands in its conversation from now on, with those that it is a part of.
fn speaks(seen: &Seen<'_>, task: TaskId) -> Result<(), Error> {
    let mut next = Some(task);
    while let Some(task) = next {
        let whole = seen.change((task,), |row: &mut TaskRow| {
            let was_quiet = std::mem::take(&mut row.quiet);
            row.parent_task_id.filter(|_| was_quiet)
        })?;
        next = whole.flatten();
    }
    Ok(())
}

fn lines(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    let task = seen.event.task_id;
    match body {
        Body::ClarificationRequested(b) => {
            question(seen, &b.clarification)?;
            let id = text(b.clarification.clarification_id);
            let line = Line { kind: MessageKind::Question, role: Role::Agent, id, note: "" };
            say(seen, task, line, Some(&b.clarification.question), None)
        }
        Body::ClarificationAnswered(b) => {
            answered(seen, b.clarification_id, ClarificationStatus::Answered, Some(b.ingress_id))
        }
        Body::ClarificationExpired(b) => {
            answered(seen, b.clarification_id, ClarificationStatus::Expired, None)
        }
        Body::ClarificationCancelled(b) => {
            answered(seen, b.clarification_id, ClarificationStatus::Cancelled, None)
        }
        Body::ApprovalRequested(b) => {
            let id = text(b.approval.approval_id);
            let line =
                Line { kind: MessageKind::Approval, role: Role::System, id, note: b.risk_band.as_str() };
            say(seen, task, line, Some(&b.summary), Some(b.approval.approval_packet_ref))
        }
        Body::ReceiptIssued(b) => {
            let id = text(b.receipt_id);
            let line =
                Line { kind: MessageKind::Receipt, role: Role::System, id, note: b.result_code.as_str() };
            say(seen, task, line, Some(&b.summary), Some(b.envelope.artifact_id))
        }
        Body::RunTerminated(b) => {
            let id = text(b.about_attempt_id);
            let line = Line { kind: MessageKind::Answer, role: Role::Agent, id, note: b.reason.as_str() };
            say(seen, task, line, Some(&b.summary), b.answer.as_ref().map(|a| a.artifact_id))
        }
        _ => places(seen, body),
    }
}

fn places(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::PrincipalRegistered(b) => {
            let p = &b.principal;
            seen.add(NewPrincipal {
                principal_id: p.principal_id,
                kind: p.principal_type,
                name: p.display_name.clone(),
                labels: p.labels.clone(),
                created_at: p.created_at,
            })
            .map(drop)
        }
        Body::WorkspaceRegistered(b) => {
            let (workspace_id, root_path, created_at) = (b.workspace_id, b.root_path.clone(), seen.at());
            seen.add(NewWorkspace { workspace_id, root_path, created_at })?;
            seen.set((workspace_id,), |row: &mut WorkspaceRow| row.root_path.clone_from(&b.root_path))
        }
        Body::GateHalted(b) => gate(seen, true, &b.session, Some(&b.reason)),
        Body::GateBooted(b) => gate(seen, false, &b.session, None),
        _ => Ok(()),
    }
}

fn gate(
    seen: &Seen<'_>,
    halted: bool,
    session: &str,
    reason: Option<&Sensitive<String>>,
) -> Result<(), Error> {
    let reason = reason.map(Cell::write);
    let statement = "INSERT INTO view_gate (one, halted, session, reason, at) VALUES (1, ?1, ?2, ?3, ?4) \
                     ON CONFLICT (one) DO UPDATE SET halted = excluded.halted, session = excluded.session, \
                     reason = excluded.reason, at = excluded.at";
    seen.run(statement, params![halted, session, reason, seen.at().0])?;
    Ok(())
}

/// Notes which task a message waits for, until it was absorbed.
fn waits(seen: &Seen<'_>, ingress: IngressId, task: TaskId) -> Result<(), Error> {
    seen.set((ingress,), |row: &mut IngressRow| {
        if row.absorbed_at.is_none() {
            row.waits_for = Some(task);
        }
    })
}

fn received(seen: &Seen<'_>, r: &IngressRecord) -> Result<(), Error> {
    seen.add(NewIngress {
        ingress_id: r.ingress_id,
        conversation_id: r.conversation_id,
        channel: r.source_channel,
        text: r.raw_text.clone(),
        status: r.status,
        resolution: r.resolution,
        actor: r.actor,
        chosen_task_id: r.chosen_task_id,
        candidates: Vec::new(),
        rationale: r.rationale.clone(),
        created_at: r.created_at,
        updated_at: r.created_at,
        prompt_ref: r.prompt_ref,
        reply_to_ref: r.reply_to_ref.clone(),
        quoted_message_ref: r.quoted_message_ref,
        parent_task_id: r.parent_task_id,
        enclosed: r.referenced_artifact_refs.clone(),
        spoken: r.spoken,
    })?;
    seen.add(NewMessage {
        conversation_id: r.conversation_id,
        task_id: r.explicit_task_ref.or(r.chosen_task_id),
        role: Role::User,
        kind: MessageKind::Message,
        ref_id: text(r.ingress_id),
        text: Some(r.raw_text.clone()),
        artifact_ref: None,
        note: r.source_channel.as_str().to_owned(),
        at: seen.at(),
    })?;
    // What a schedule begins moves its conversation when there is something to say.
    touch(seen, r.conversation_id, r.source_channel != Channel::Scheduler)
}

fn bound(seen: &Seen<'_>, b: &IngressBound) -> Result<(), Error> {
    let status = match b.resolution {
        IngressResolution::PendingDisambiguation => IngressStatus::PendingDisambiguation,
        IngressResolution::Control
        | IngressResolution::Approval
        | IngressResolution::AppendNote
        | IngressResolution::ForkChild
        | IngressResolution::StartNewRoot
        | IngressResolution::ChatOnly => IngressStatus::Bound,
    };
    let found = seen.change((b.ingress_id,), |row: &mut IngressRow| {
        (row.status, row.resolution) = (status, b.resolution);
        row.chosen_task_id = b.chosen_task_id;
        row.candidates.clone_from(&b.candidates);
        row.rationale = Some(b.rationale.clone());
        (row.confidence, row.margin) = (b.confidence.or(row.confidence), b.margin.or(row.margin));
        row.anchor_task_id = b.anchor.as_ref().map(|anchor| anchor.anchor_task_id);
        row.updated_at = seen.at();
        (row.seq, row.conversation_id, row.channel)
    })?;
    let Some((seq, conversation, channel)) = found else {
        return Ok(());
    };
    if b.chosen_task_id.is_some() {
        seen.set((seq,), |row: &mut MessageRow| row.task_id = b.chosen_task_id)?;
    }
    match b.chosen_task_id.filter(|_| is_personal(channel) && turns_to(b.resolution)) {
        Some(task) => focus(seen, conversation, Some(task), b.resolution.as_str()),
        None => Ok(()),
    }
}

/// Whether what comes through a channel is a person's doing.
const fn is_personal(channel: Channel) -> bool {
    match channel {
        Channel::Cli | Channel::App | Channel::RunApi | Channel::Acp | Channel::Chat | Channel::Mesh => true,
        Channel::Mcp | Channel::Webhook | Channel::Scheduler | Channel::System => false,
    }
}

/// Whether a message so bound is about a task the person now has in mind.
const fn turns_to(resolution: IngressResolution) -> bool {
    match resolution {
        IngressResolution::AppendNote
        | IngressResolution::Approval
        | IngressResolution::ForkChild
        | IngressResolution::StartNewRoot => true,
        IngressResolution::Control
        | IngressResolution::ChatOnly
        | IngressResolution::PendingDisambiguation => false,
    }
}

fn focus(
    seen: &Seen<'_>,
    conversation: ConversationId,
    task: Option<TaskId>,
    reason: &str,
) -> Result<(), Error> {
    seen.conversation(conversation, |row| {
        if row.focus_task_id != task {
            row.last_focus = row.focus_task_id.or(row.last_focus);
        }
        row.focus_task_id = task;
        reason.clone_into(&mut row.focus_reason);
        row.focus_at = Some(seen.at());
    })
}

fn question(seen: &Seen<'_>, c: &Clarification) -> Result<(), Error> {
    let made = seen.add(NewQuestion {
        clarification_id: c.clarification_id,
        task_id: c.task_id,
        attempt_id: c.attempt_id,
        question: c.question.clone(),
        choices: c.choices.clone(),
        status: ClarificationStatus::Pending,
        requested_at: c.requested_at,
        expires_at: c.expires_at,
    })?;
    if made {
        seen.set((c.task_id,), |task: &mut TaskRow| task.open_questions += 1)?;
    }
    Ok(())
}

fn answered(
    seen: &Seen<'_>,
    question: ClarificationId,
    status: ClarificationStatus,
    by: Option<IngressId>,
) -> Result<(), Error> {
    let task = seen.change((question,), |row: &mut QuestionRow| {
        (row.status == ClarificationStatus::Pending).then(|| {
            (row.status, row.resolved_at, row.answered_by) = (status, Some(seen.at()), by);
            row.task_id
        })
    })?;
    match task.flatten() {
        Some(task) => seen.set((task,), |task: &mut TaskRow| {
            task.open_questions = task.open_questions.saturating_sub(1);
        }),
        None => Ok(()),
    }
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
    task: TaskId,
    line: Line<'_>,
    words: Option<&Sensitive<String>>,
    artifact: Option<ArtifactId>,
) -> Result<(), Error> {
    let found = seen.change((task,), |row: &mut TaskRow| (row.conversation_id, row.quiet))?;
    let Some((conversation, quiet)) = found else { return Ok(()) };
    seen.add(NewMessage {
        conversation_id: conversation,
        task_id: Some(task),
        role: line.role,
        kind: line.kind,
        ref_id: line.id,
        text: words.cloned(),
        artifact_ref: artifact,
        note: line.note.to_owned(),
        at: seen.at(),
    })?;
    touch(seen, conversation, !quiet)
}

/// One more message: the newest leaf of the conversation's tree. `moves`: whether it counts as the newest that was said there.
fn touch(seen: &Seen<'_>, conversation: ConversationId, moves: bool) -> Result<(), Error> {
    let leaf = seen.leaf();
    seen.conversation(conversation, |row| {
        if moves {
            row.updated_at = seen.at();
        }
        row.last_message = seen.seq;
        row.edge.get_or_insert_default().push(leaf);
    })
}
