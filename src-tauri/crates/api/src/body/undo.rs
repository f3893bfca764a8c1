//! Undo: which receipts are meant, what it would do, and the task that does it.

use super::receipts::found;
use super::task::{channel, of_submitted};
use crate::convert::{every, text};
use crate::ids::find;
use crate::{Host, Wire as _, not_found, usage};
use acts::visible_path;
use kernel::command::rollback::{ConflictItem, Plan as Planned};
use model::action::{ChangeItem, Prior};
use model::receipt::ReceiptClass;
use model::{ReceiptId, TaskId, WorkspaceId};
use projections::rows::ReceiptRow;
use std::collections::{BTreeMap, BTreeSet};
use wire::receipts::{Left, Plan, Rollback, UndoItem, UndoPlan, UndoPlans, Undone};
use wire::task::Submitted;
use wire::{Code, Error};
use words::act::UndoKind;

/// What is meant, resolved.
struct Meant {
    /// Receipts of each folder, the newest first.
    folders: BTreeMap<WorkspaceId, Vec<ReceiptRow>>,
    /// The task, when one was named.
    task: Option<TaskId>,
    /// The receipt, when one was named.
    receipt: Option<ReceiptId>,
    /// In words.
    goal: String,
}

pub(crate) fn plan(host: &dyn Host, p: Plan) -> Result<UndoPlans, Error> {
    let kernel = host.kernel()?;
    let meant = meant(host, p.receipt.as_deref(), p.task.as_deref(), p.since)?;
    let mut plans = Vec::new();
    for (workspace, rows) in &meant.folders {
        let ids: Vec<ReceiptId> = rows.iter().map(|row| row.receipt_id).collect();
        let plan = kernel.preview_rollback(&ids).wire()?;
        let folder = match rows.first() {
            Some(row) => {
                let task = host.query()?.task(row.task_id).wire()?;
                task.map(|task| super::task_show::workspace(host, &task)).transpose()?.flatten()
            }
            None => None,
        };
        plans.push(UndoPlan {
            workspace_id: workspace.to_string(),
            workspace: folder,
            receipts: rows.iter().map(|row| named(row, &plan)).collect(),
            items: plan.items.iter().map(item).collect(),
            left: plan.left.iter().map(left).collect(),
            notes: plan.notes,
        });
    }
    Ok(UndoPlans { plans })
}

pub(crate) fn rollback(host: &dyn Host, p: Rollback) -> Result<Submitted, Error> {
    let kernel = host.kernel()?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let channel = channel(p.channel.as_deref())?;
    let mut meant = meant(host, p.receipt.as_deref(), p.task.as_deref(), p.since)?;
    if let Some(named) = &p.workspace {
        let id: WorkspaceId = named.parse::<WorkspaceId>().wire()?;
        meant.folders.retain(|folder, _| *folder == id);
    }
    let submitted = if let Some(receipt) = meant.receipt {
        kernel.rollback(receipt, channel, key)
    } else {
        let mut folders = meant.folders.values();
        let (Some(rows), None) = (folders.next(), folders.next()) else {
            return Err(which_folder(&meant));
        };
        let ids: Vec<ReceiptId> = rows.iter().map(|row| row.receipt_id).collect();
        kernel.rollback_many(&ids, meant.task, meant.goal, channel, key)
    };
    let submitted = submitted.wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

fn which_folder(meant: &Meant) -> Error {
    if meant.folders.is_empty() {
        return Error::new(Code::Conflict, "there is nothing to undo")
            .hint("what has been undone already is undone again by naming the receipt of that undo");
    }
    let names: Vec<String> = meant.folders.keys().map(ToString::to_string).collect();
    usage(format!("it is about {} folders, and an undo is of one: name `workspace`", names.len()))
        .hint(format!("it is one of `{}`", names.join("`, `")))
}

fn meant(
    host: &dyn Host,
    receipt: Option<&str>,
    task: Option<&str>,
    since: Option<i64>,
) -> Result<Meant, Error> {
    let (rows, task, receipt, goal) = match (receipt, task, since) {
        (Some(named), None, None) => {
            let row = found(host, named)?;
            let id = row.receipt_id;
            (vec![row], None, Some(id), format!("Undo receipt {id}"))
        }
        (None, Some(named), None) => {
            let id: TaskId = find(host, named)?;
            let row = host.query()?.task(id).wire()?.ok_or_else(|| not_found("task", named))?;
            (of_task(host, row.task_id)?, Some(id), None, format!("Undo task {id}"))
        }
        (None, None, Some(since)) => {
            (since_then(host, since)?, None, None, format!("Undo everything since {}", wire::utc(since)))
        }
        _ => return Err(usage("name what to undo: one of `receipt`, `task` and `since`".to_owned())),
    };
    let mut folders: BTreeMap<WorkspaceId, Vec<ReceiptRow>> = BTreeMap::new();
    for row in rows {
        let task = host.query()?.task(row.task_id).wire()?;
        let Some(workspace) = task.and_then(|task| task.workspace_id) else { continue };
        folders.entry(workspace).or_default().push(row);
    }
    Ok(Meant { folders, task, receipt, goal })
}

/// Whether a receipt is of an act on files that could be undone, or must be named as one that cannot.
fn is_effect(row: &ReceiptRow) -> bool {
    let class = matches!(
        row.class,
        ReceiptClass::ToolExecution
            | ReceiptClass::CommandExecution
            | ReceiptClass::Publish
            | ReceiptClass::Rollback
            | ReceiptClass::MemoryPromotion
    );
    class && row.action_request_id.is_some() && row.reversibility != model::action::Reversibility::NoEffect
}

/// Effects of a task, and of parts that its agent gave away, that still stand; the newest first.
fn of_task(host: &dyn Host, task: TaskId) -> Result<Vec<ReceiptRow>, Error> {
    let (query, kernel) = (host.query()?, host.kernel()?);
    let (mut standing, mut tasks) = (Vec::new(), vec![task]);
    while let Some(task) = tasks.pop() {
        for row in every(|ask| query.receipts(Some(task), None, ask))?.into_iter().filter(is_effect) {
            if !kernel.is_undone(row.receipt_id).wire()? {
                standing.push(row);
            }
        }
        tasks.extend(kernel.task(task).wire()?.children);
    }
    standing.sort_by_key(|row| std::cmp::Reverse(row.seq));
    Ok(standing)
}

/// Effects since a time, the newest first, without those that an undo of the same time has taken back.
fn since_then(host: &dyn Host, since: i64) -> Result<Vec<ReceiptRow>, Error> {
    let query = host.query()?;
    let rows = every(|ask| query.receipts(None, None, ask))?;
    let mut rows: Vec<ReceiptRow> =
        rows.into_iter().rev().filter(|row| is_effect(row) && row.issued_at.0 >= since).collect();
    let within: BTreeSet<ReceiptId> = rows.iter().map(|row| row.receipt_id).collect();
    let mut gone: BTreeSet<ReceiptId> = BTreeSet::new();
    for row in &rows {
        let id = row.receipt_id;
        let undid: Vec<ReceiptId> = rows
            .iter()
            .filter(|other| other.undone_by == Some(id))
            .map(|other| other.receipt_id)
            .chain(row.rolls_back)
            .collect();
        let whole = row.class == ReceiptClass::Rollback
            && row.result_code == model::receipt::ResultCode::Succeeded
            && !undid.is_empty()
            && undid.iter().all(|undone| within.contains(undone));
        if whole && !gone.contains(&id) {
            gone.insert(id);
            gone.extend(undid);
        }
    }
    rows.retain(|row| !gone.contains(&row.receipt_id));
    Ok(rows)
}

fn named(row: &ReceiptRow, plan: &Planned) -> Undone {
    Undone {
        receipt_id: row.receipt_id.to_string(),
        task_id: row.task_id.to_string(),
        summary: text(&row.summary),
        issued_at: row.issued_at.0,
        whole: !plan.partly.contains(&row.receipt_id),
    }
}

fn item(item: &ChangeItem) -> UndoItem {
    let (what, path, to, bytes) = match item {
        ChangeItem::Write { path, prior: Prior::Absent, byte_size, .. } => {
            (UndoKind::Restore, path, None, Some(*byte_size))
        }
        ChangeItem::Write { path, byte_size, .. } => (UndoKind::Replace, path, None, Some(*byte_size)),
        ChangeItem::Delete { path, prior: Prior::EmptyFolder } => (UndoKind::DeleteFolder, path, None, None),
        ChangeItem::Delete { path, .. } => (UndoKind::Delete, path, None, None),
        ChangeItem::Folder { path, was: None, .. } => (UndoKind::MakeFolder, path, None, None),
        ChangeItem::Folder { path, was: Some(_), .. } => (UndoKind::Mode, path, None, None),
        ChangeItem::Link { path, target, .. } => (UndoKind::Link, path, Some(target.clone()), None),
        ChangeItem::Move { from, to, .. } => (UndoKind::Move, from, Some(visible_path(to)), None),
    };
    UndoItem { what, path: visible_path(path), to, bytes }
}

fn left(stays: &ConflictItem) -> Left {
    Left {
        receipt_id: stays.receipt_id.to_string(),
        place: crate::file_names::visible(&stays.resource),
        why: stays.why.clone(),
        beside: stays.beside.as_ref().map(ToString::to_string),
    }
}
