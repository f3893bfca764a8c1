//! What waits for a person. Nothing here can say yes: a yes arrives signed, or it does not arrive.

use crate::convert::{ask, from_base64, opt, opt_text, opt_word, page, text, to_base64, word};
use crate::ids::{find, find_opt};
use crate::{Host, Wire as _, fold, not_found};
use governance::approval::LineKind;
use kernel::command::approve::Answered;
use model::ApprovalId;
use model::approval::{ApprovalPacket, ApprovalStatus, Surface};
use model::body::KeyPurpose;
use model::principal::PrincipalType;
use projections::rows;
use wire::Error;
use wire::approvals::{Approval, ApprovalRow, Approvals, Decide, Decided, Deny, Line, List, Show};

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Approvals, Error> {
    let task = find_opt(host, p.task.as_deref())?;
    let ask = ask(p.after.as_deref(), p.limit)?;
    let query = host.query()?;
    let found = match (p.status.as_deref(), task) {
        (None, None) => query.inbox(host.now(), ask),
        (Some("any"), task) => query.approvals(task, None, ask),
        (None, task) => query.approvals(task, Some(ApprovalStatus::Pending), ask),
        (Some(status), task) => query.approvals(task, Some(word(status)?), ask),
    };
    Ok(page(found.wire()?, row))
}

fn row(r: &rows::ApprovalRow) -> ApprovalRow {
    ApprovalRow {
        approval_id: r.approval_id.to_string(),
        task_id: r.task_id.to_string(),
        action_class: r.action_class.to_string(),
        risk: r.risk_band.to_string(),
        summary: text(&r.summary),
        status: r.status.to_string(),
        requested_at: r.requested_at.0,
        expires_at: r.expires_at.0,
        resolved_at: r.resolved_at.map(|at| at.0),
        surface: opt(r.surface),
        feedback: opt_text(r.feedback.as_ref()),
        reason: r.reason.clone(),
    }
}

fn found(host: &dyn Host, named: &str) -> Result<rows::ApprovalRow, Error> {
    let id: ApprovalId = find(host, named)?;
    host.query()?.approval(id).wire()?.ok_or_else(|| not_found("approval", named))
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Approval, Error> {
    let found = found(host, &p.approval)?;
    // The bytes that were hashed when it was asked; what is shown and signed is these and nothing re-serialised.
    let bytes = host.artifacts()?.read(&found.packet_sha256).wire()?;
    let packet: ApprovalPacket = seal::canon::from_canonical(&bytes).wire()?;
    let card = governance::approval::card(&packet);
    let store = fold::store_state(&host.reader()?)?;
    let lines = card.lines.into_iter().map(|line| Line { kind: kind(line.kind).to_owned(), text: line.text });
    Ok(Approval {
        row: row(&found),
        title: card.title,
        lines: lines.collect(),
        whole: card.whole,
        packet_sha256: found.packet_sha256.to_string(),
        packet: to_base64(&bytes),
        nonce: found.nonce.clone(),
        person_id: store.principal(PrincipalType::User).wire()?.to_string(),
        approval_keyid: store.keys.get(&KeyPurpose::Approval).map(|(keyid, _)| keyid.to_string()),
        receipt_id: opt(found.receipt_id),
    })
}

const fn kind(kind: LineKind) -> &'static str {
    match kind {
        LineKind::Risk => "risk",
        LineKind::Destructive => "destructive",
        LineKind::Unrecoverable => "unrecoverable",
        LineKind::Effect => "effect",
        LineKind::Fact => "fact",
        LineKind::Quoted => "quoted",
    }
}

pub(crate) fn decide(host: &dyn Host, p: Decide) -> Result<Decided, Error> {
    let kernel = host.kernel()?;
    let found = found(host, &p.approval)?;
    let envelope = from_base64("envelope", &p.envelope)?;
    let standing = p.standing.as_deref().map(|text| from_base64("standing", text)).transpose()?;
    let answered = kernel
        .decide_approval_for_good(found.task_id, found.approval_id, &envelope, standing.as_deref())
        .wire()?;
    told(host, found.approval_id, &answered)
}

pub(crate) fn deny(host: &dyn Host, p: Deny) -> Result<Decided, Error> {
    let kernel = host.kernel()?;
    let found = found(host, &p.approval)?;
    let surface = opt_word(p.surface.as_deref())?.unwrap_or(Surface::Script);
    let answered = kernel.deny_approval(found.task_id, found.approval_id, surface, p.feedback).wire()?;
    told(host, found.approval_id, &answered)
}

fn told(host: &dyn Host, approval: ApprovalId, answered: &Answered) -> Result<Decided, Error> {
    let (accepted, status, task) = match answered {
        Answered::Accepted { status, task_id } => (true, status, *task_id),
        Answered::NotActive { status, task_id } => (false, status, *task_id),
    };
    host.drive(task)?;
    Ok(Decided {
        approval_id: approval.to_string(),
        task_id: task.to_string(),
        accepted,
        status: status.to_string(),
    })
}
