//! What waits for a person. Nothing here can say yes: a yes arrives signed, or it does not arrive.

use super::asker::{Asker, Askers};
use super::two_keys::two_keys;
use crate::change_lists::Sheet;
use crate::convert::{ask, from_base64, opt, opt_text, opt_word, text, to_base64, word};
use crate::ids::{find, find_opt};
use crate::{Host, Wire as _, fold, not_found, passkeys};
use acts::LineKind;
use kernel::command::approve::Answered;
use kernel::command::partial_approval::Chosen;
use model::approval::{ApprovalStatus, Surface};
use model::body::KeyPurpose;
use model::principal::PrincipalType;
use model::{ApprovalId, RelPath};
use projections::{Query, rows};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read as _;
use wire::Error;
use wire::approvals::{
    Approval, ApprovalRow, Approvals, Decide, Decided, Deny, Hunks, Line, LinePage, Lines, List, Packet,
    Part, Piece, Show,
};
use words::policy::CardLine;

/// Bytes of a packet that are handed out with its card; of a longer one, of one piece.
const PIECE_BYTES: u64 = 1024 * 1024;

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
    let found = found.wire()?;
    let next = opt(found.next);
    let mut askers = Askers::default();
    let rows = found.rows.iter().map(|r| row(host, &query, r, &mut askers));
    Ok(wire::Page { rows: rows.collect::<Result<_, _>>()?, next })
}

fn row(
    host: &dyn Host,
    query: &Query,
    r: &rows::ApprovalRow,
    askers: &mut Askers,
) -> Result<ApprovalRow, Error> {
    let Asker { origin, part_of, agent, workspace } =
        askers.of(host, query, (r.task_id, Some(r.attempt_id)))?;
    Ok(ApprovalRow {
        approval_id: r.approval_id.to_string(),
        task_id: r.task_id.to_string(),
        action_class: r.action_class,
        risk: r.risk_band,
        summary: text(&r.summary),
        status: r.status,
        requested_at: r.requested_at.0,
        expires_at: r.expires_at.0,
        resolved_at: r.resolved_at.map(|at| at.0),
        surface: r.surface,
        feedback: opt_text(r.feedback.as_ref()),
        reason: r.reason.clone(),
        origin,
        part_of,
        agent,
        workspace,
    })
}

fn found(host: &dyn Host, named: &str) -> Result<rows::ApprovalRow, Error> {
    let id: ApprovalId = find(host, named)?;
    host.query()?.approval(id).wire()?.ok_or_else(|| not_found("approval", named))
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Approval, Error> {
    let found = found(host, &p.approval)?;
    let sheet = super::changes::sheet_of(host, &found)?;
    let store = fold::store_state(&host.reader()?)?;
    // The bytes that were hashed when it was asked; what is shown and signed is these and nothing re-serialised.
    let bytes = host.artifacts()?.content(&found.packet_sha256).wire()?.byte_size();
    let packet = match bytes <= PIECE_BYTES {
        true => Some(to_base64(&host.artifacts()?.read(&found.packet_sha256).wire()?)),
        false => None,
    };
    let (lines, act_lines) = sheet.beginning();
    // What came of the act, where it was carried out.
    let act = host.query()?.action(found.action_request_id).wire()?;
    let receipt = found.receipt_id.or(act.and_then(|act| act.receipt_id));
    Ok(Approval {
        row: row(host, &host.query()?, &found, &mut Askers::default())?,
        title: sheet.title.clone(),
        lines_left: sheet.lines.len().saturating_sub(lines.len()) as u64,
        lines,
        act_lines,
        asked_each_time: sheet.asked_each_time.map(str::to_owned),
        outline: sheet.outline.clone(),
        resources: sheet.resources,
        hosts: sheet.hosts.clone(),
        checked: sheet.checked,
        packet_sha256: found.packet_sha256.to_string(),
        packet_bytes: bytes,
        packet,
        nonce: found.nonce.clone(),
        person_id: store.principal(PrincipalType::User).wire()?.to_string(),
        approval_keyid: store.keys.get(&KeyPurpose::Approval).map(|(keyid, _)| keyid.to_string()),
        receipt_id: opt(receipt),
        two_keys: two_keys(host, &store, (&found, sheet.as_ref()))?,
    })
}

pub(crate) fn packet(host: &dyn Host, p: Packet) -> Result<Piece, Error> {
    let found = found(host, &p.approval)?;
    let from = p.from.unwrap_or(0);
    let mut content = host.artifacts()?.content(&found.packet_sha256).wire()?;
    let end = content.byte_size();
    std::io::copy(&mut content.by_ref().take(from), &mut std::io::sink()).map_err(crate::failed)?;
    let mut bytes = Vec::new();
    content.take(PIECE_BYTES).read_to_end(&mut bytes).map_err(crate::failed)?;
    let next = from.saturating_add(bytes.len() as u64);
    Ok(Piece { bytes: to_base64(&bytes), next: (!bytes.is_empty() && next < end).then_some(next) })
}

pub(crate) fn lines(host: &dyn Host, p: Lines) -> Result<LinePage, Error> {
    let approval = found(host, &p.approval)?;
    let limit = usize::try_from(crate::convert::rows(p.limit)?).unwrap_or(1);
    let from: usize = match p.after.as_deref() {
        None => 0,
        Some(after) => after.parse().map_err(|_| crate::usage("`after` is what `next` was"))?,
    };
    let find = p.find.unwrap_or_default();
    let (rows, more) = match p.of.as_str() {
        "card" => {
            let sheet = super::changes::sheet_of(host, &approval)?;
            let find = find.to_lowercase();
            let matches = |line: &&Line| find.is_empty() || line.text.to_lowercase().contains(&find);
            let mut found = sheet.lines.iter().filter(matches).skip(from);
            let rows: Vec<Line> = found.by_ref().take(limit).cloned().collect();
            (rows, found.next().is_some())
        }
        "signed" => {
            let bytes = host.artifacts()?.read(&approval.packet_sha256).wire()?;
            let found = governance::approval::values(&bytes, &find, from, limit);
            let found = found.map_err(|refusal| crate::failed(refusal.reason))?;
            let line = |text: String| Line { kind: CardLine::Fact, text };
            (found.lines.into_iter().map(line).collect(), found.more)
        }
        other => return Err(crate::usage(format!("`of` is `{other}`; it is `card` or `signed`"))),
    };
    let next = more.then(|| from.saturating_add(rows.len()).to_string());
    Ok(LinePage { rows, next })
}

/// A line of a card as the wire says it.
pub fn line(line: acts::Line) -> Line {
    Line { kind: kind(line.kind), text: line.text }
}

const fn kind(kind: LineKind) -> CardLine {
    match kind {
        LineKind::Risk => CardLine::Risk,
        LineKind::Destructive => CardLine::Destructive,
        LineKind::Unrecoverable => CardLine::Unrecoverable,
        LineKind::Effect => CardLine::Effect,
        LineKind::Fact => CardLine::Fact,
        LineKind::Quoted => CardLine::Quoted,
    }
}

pub(crate) fn decide(host: &dyn Host, p: Decide) -> Result<Decided, Error> {
    let kernel = host.kernel()?;
    let found = found(host, &p.approval)?;
    let envelope = from_base64("envelope", &p.envelope)?;
    let question = (found.task_id, found.approval_id);
    // What lasts is in an envelope of the approval key, and so is the yes with it.
    if p.standing.is_none()
        && let Some(answered) = passkeys::decided_by_security_key(host, question, &envelope)?
    {
        return told(host, found.approval_id, &answered);
    }
    let standing = p.standing.as_deref().map(|text| from_base64("standing", text)).transpose()?;
    let answered = kernel
        .decide_approval_for_good(found.task_id, found.approval_id, &envelope, standing.as_deref())
        .wire()?;
    told(host, found.approval_id, &answered)
}

/// The surface that whoever refuses names. What is said at another machine comes from there, and under no such word.
fn named_surface(named: Option<&str>) -> Result<Surface, Error> {
    match opt_word(named)?.unwrap_or(Surface::Script) {
        Surface::Mesh => Err(crate::usage("`mesh` is no surface of this machine")),
        surface => Ok(surface),
    }
}

pub(crate) fn deny(host: &dyn Host, p: Deny) -> Result<Decided, Error> {
    let kernel = host.kernel()?;
    let found = found(host, &p.approval)?;
    let surface = named_surface(p.surface.as_deref())?;
    let reason = p.feedback.clone().unwrap_or_else(|| "denied, and stopped with it".to_owned());
    let answered = match host.has_person() {
        true => kernel.deny_approval(found.task_id, found.approval_id, surface, p.feedback),
        false => kernel.deny_by_word(found.task_id, found.approval_id, surface, p.feedback),
    };
    let answered = answered.wire()?;
    if p.stop && matches!(answered, Answered::Accepted { .. }) {
        match kernel.cancel(found.task_id, &reason) {
            // It may have ended by the denial itself.
            Err(kernel::Error::Conflict(_)) => {}
            cancelled => cancelled.wire()?,
        }
    }
    told(host, found.approval_id, &answered)
}

/// A person chose a part: the rest is denied, and the part is asked about by itself. It allows nothing.
pub(crate) fn part(host: &dyn Host, p: Part) -> Result<Decided, Error> {
    let kernel = host.kernel()?;
    let found = found(host, &p.approval)?;
    let sheet = super::changes::sheet_of(host, &found)?;
    let mut chosen = Chosen::default();
    for range in &p.rows {
        let (from, end) = (range.from as usize, (range.from as usize).saturating_add(range.rows as usize));
        let rows = sheet.rows.get(from..end).ok_or_else(|| {
            crate::usage(format!("there are no rows {from} to {end}; it has {}", sheet.rows.len()))
        })?;
        chosen.items.extend(rows.iter().map(|row| row.item));
    }
    let claims = claims_of(&sheet);
    for name in &p.only {
        if claims > 1 {
            chosen.items.insert(claim_numbered(name, claims)?);
            continue;
        }
        let whole = named(&sheet, name)?;
        match hunks_named(name).filter(|_| whole.is_empty()) {
            Some((file, hunks)) => by_hunks(&sheet, file, hunks, &mut chosen)?,
            None if whole.is_empty() => return Err(no_file(name)),
            None => chosen.items.extend(whole),
        }
    }
    for Hunks { path, hunks } in &p.hunks {
        if hunks.len() > kernel::hunks::HUNKS_MAX {
            return Err(crate::usage(format!("`{path}`: more than {} hunks", kernel::hunks::HUNKS_MAX)));
        }
        by_hunks(&sheet, path, hunks.iter().map(|hunk| *hunk as usize).collect(), &mut chosen)?;
    }
    let surface = named_surface(p.surface.as_deref())?;
    let answered = kernel
        .choose_part(found.task_id, found.approval_id, surface, &chosen, p.feedback.as_deref())
        .wire()?;
    told(host, found.approval_id, &answered)
}

/// Claims that a card asks to remember; none of any other card.
fn claims_of(sheet: &Sheet) -> usize {
    let action = sheet.outline.pointer("/action_request/action");
    let of_memory = action.filter(|action| action.get("tool").and_then(Value::as_str) == Some("remember"));
    let more = |action: &Value| action.get("also").and_then(Value::as_array).map_or(0, Vec::len);
    of_memory.map_or(0, |action| more(action) + 1)
}

/// The place of a claim by its number on the card.
fn claim_numbered(name: &str, claims: usize) -> Result<usize, Error> {
    let number = name.trim().parse::<usize>().ok().filter(|number| (1..=claims).contains(number));
    let number = number.ok_or_else(|| {
        crate::usage(format!("`{name}` is no line of this card; its lines have the numbers 1 to {claims}"))
    })?;
    Ok(number - 1)
}

fn no_file(name: &str) -> Error {
    crate::usage(format!("this approval has no file `{name}`"))
        .hint("`hermit approvals show` lists its files")
}

/// Items at or below a path.
fn named(sheet: &Sheet, name: &str) -> Result<Vec<usize>, Error> {
    let bytes = name.trim_end_matches('/').as_bytes();
    let path = RelPath::from_bytes(bytes).map_err(|e| crate::usage(format!("`{name}`: {e}")))?.to_string();
    let folder = format!("{path}/");
    let is_named = |at: &str| at == path || at.starts_with(&folder);
    let rows = sheet.rows.iter();
    let rows = rows.filter(|row| is_named(&row.path) || row.to.as_deref().is_some_and(is_named));
    Ok(rows.map(|row| row.item).collect())
}

/// `path#1,3-5`, unless it is no such form or names hunks that no file has.
fn hunks_named(name: &str) -> Option<(&str, BTreeSet<usize>)> {
    let (file, list) = name.rsplit_once('#')?;
    let mut hunks = BTreeSet::new();
    for run in list.split(',') {
        let (from, end) = run.split_once('-').unwrap_or((run, run));
        let (from, end): (usize, usize) = (from.trim().parse().ok()?, end.trim().parse().ok()?);
        if from == 0 || end < from || end > kernel::hunks::HUNKS_MAX {
            return None;
        }
        hunks.extend(from..=end);
    }
    Some((file, hunks))
}

/// Puts hunks of one file into the choice, beside those that were named before.
fn by_hunks(sheet: &Sheet, file: &str, hunks: BTreeSet<usize>, chosen: &mut Chosen) -> Result<(), Error> {
    match named(sheet, file)?.as_slice() {
        [one] => {
            chosen.hunks.entry(*one).or_default().extend(hunks);
            Ok(())
        }
        [] => Err(no_file(file)),
        _ => Err(crate::usage(format!("`{file}` is more than one change, and only one file has hunks"))),
    }
}

fn told(host: &dyn Host, approval: ApprovalId, answered: &Answered) -> Result<Decided, Error> {
    let (accepted, status, task) = match answered {
        Answered::Accepted { status, task_id } => (true, status, *task_id),
        Answered::NotActive { status, task_id } => (false, status, *task_id),
    };
    host.drive(task)?;
    Ok(Decided { approval_id: approval.to_string(), task_id: task.to_string(), accepted, status: *status })
}
