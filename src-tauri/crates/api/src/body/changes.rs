//! What an act would change, or has changed, part by part, with the bytes of both sides where they are at hand.

mod sides;

use crate::change_lists::{At, Known, Row, Sheet, small};
use crate::files::{absolute, make};
use crate::{Host, Wire as _, fold, not_found, usage};
use acts::ActionRequest;
use acts::ApprovalPacket;
use acts::items::{HOLDS_LATER, IF_EMPTY, WAS_EMPTY, folder_stays};
use model::action::{ChangeItem, Prior};
use model::receipt::ItemOutcome;
use model::{ApprovalId, Digest, ReceiptId, ResourceId, TaskId};
use projections::rows::ApprovalRow;
use serde::Deserialize;
use serde_json::Value;
use sides::Sides;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use wire::changes::{Changes, Export, Exported, Makes, Show};
use wire::{Code, Error, PAGE_ROWS_MAX, Text};
use words::act::{ChangeKind, ReceiptClass, Tense};

/// Names of folders that are made on the way which an answer carries.
const FOLDERS_NAMED: usize = 200;
/// Bytes of all sides of one answer: a page reads it at one go.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of a file that is written out.
const EXPORT_BYTES_MAX: u64 = 256 * 1024 * 1024;

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Changes, Error> {
    let limit = match p.limit {
        None => PAGE_ROWS_MAX,
        limit => crate::convert::rows(limit)?,
    };
    let (of, tense, task, sheet) = named(host, &p.of)?;
    let (workspace, root) = workspace(host, task)?;
    let mut sides =
        Sides { host, task, root, left: if p.brief { 0 } else { ANSWER_BYTES_MAX }, brief: p.brief };
    let find = p.find.as_deref().map(str::to_lowercase).filter(|words| !words.is_empty());
    let matches = |row: &&Row| {
        find.as_ref().is_none_or(|words| {
            row.path.to_lowercase().contains(words)
                || row.to.as_ref().is_some_and(|to| to.to_lowercase().contains(words))
        })
    };
    let from = p.from.unwrap_or(0);
    let (skip, take) = (usize::try_from(from).unwrap_or(usize::MAX), usize::try_from(limit).unwrap_or(0));
    let total = if find.is_none() { sheet.rows.len() } else { sheet.rows.iter().filter(matches).count() };
    let rows = sheet.rows.iter().filter(matches).skip(skip).take(take);
    let files = rows.map(|row| sides.row(row)).collect::<Result<Vec<_>, _>>()?;
    Ok(Changes {
        of,
        tense,
        workspace,
        total: small(total),
        sum: sheet.sum.clone(),
        groups: if find.is_none() { sheet.groups.clone() } else { Vec::new() },
        from,
        files,
        makes: if from == 0 && find.is_none() { sheet.makes.clone() } else { None },
    })
}

/// An approval or a receipt by its identifier, with its task and its sheet.
fn named(host: &dyn Host, of: &str) -> Result<(String, Tense, TaskId, Arc<Sheet>), Error> {
    if let Ok(id) = of.trim().parse::<ApprovalId>() {
        let row = host.query()?.approval(id).wire()?.ok_or_else(|| not_found("approval", &id.to_string()))?;
        return Ok((id.to_string(), Tense::Ahead, row.task_id, sheet_of(host, &row)?));
    }
    let id: ReceiptId =
        of.trim().parse().map_err(|_| usage(format!("`{of}` names neither an approval nor a receipt")))?;
    let found = super::receipts::found(host, &id.to_string())?;
    let sheet = host.sheets().of(found.statement_sha256, || done(host, id))?;
    Ok((id.to_string(), Tense::Done, found.task_id, sheet))
}

/// Writes the bytes of one side, be they a text or not, where they are kept; bytes that this approval or receipt does not
/// show are not told of.
pub(crate) fn export(host: &dyn Host, p: Export) -> Result<Exported, Error> {
    let path = absolute("path", &p.path)?;
    let sha256: Digest = p.sha256.parse().map_err(|_| usage(format!("`{}` is no digest", p.sha256)))?;
    let (of, _, _, sheet) = named(host, &p.of)?;
    if !sheet
        .rows
        .iter()
        .flat_map(|row| row.before.iter().chain(&row.after))
        .any(|side| side.sha256 == sha256)
    {
        return Err(not_found("file with these bytes in", &of));
    }
    let store = host.artifacts()?;
    if !store.contains(&sha256).wire()? {
        return Err(Error::new(
            Code::NotFound,
            "the bytes of this file are not kept here, only their digest",
        ));
    }
    let mut content = store.content(&sha256).wire()?;
    if content.byte_size() > EXPORT_BYTES_MAX {
        return Err(Error::new(Code::TooLarge, format!("the file is larger than {EXPORT_BYTES_MAX} bytes"))
            .hint("open it in its folder"));
    }
    let (byte_size, _) = make(&path, |out| std::io::copy(&mut content, out).map_err(crate::failed))?;
    Ok(Exported { path: p.path, sha256: sha256.to_string(), byte_size })
}

/// The sheet of an approval.
pub(crate) fn sheet_of(host: &dyn Host, row: &ApprovalRow) -> Result<Arc<Sheet>, Error> {
    host.sheets().of(row.packet_sha256, || {
        let bytes = host.artifacts()?.read(&row.packet_sha256).wire()?;
        let mut packet: ApprovalPacket = seal::canon::from_canonical(&bytes).wire()?;
        let card = governance::approval::card(&packet);
        let mut sheet = Sheet::arranged(ahead(host, row.task_id, &packet.action_request)?);
        sheet.makes = makes(&packet.action_request);
        sheet.title = card.title;
        sheet.act_lines = card.act_lines;
        sheet.asked_each_time = governance::asked_each_time(&packet);
        sheet.lines = card.lines.into_iter().map(super::approvals::line).collect();
        (sheet.resources, sheet.hosts) = reach(&packet);
        sheet.checked = packet.state_witness.as_ref().map_or(0, |seen| seen.fingerprints.len()) as u64;
        cut_lists(&mut packet);
        sheet.outline = serde_json::to_value(&packet).map_err(crate::failed)?;
        Ok(sheet)
    })
}

/// The folders that a request makes on its way.
fn makes(request: &ActionRequest) -> Option<Makes> {
    let folders = small(request.folders_made().count());
    let first = request.folders_made().take(FOLDERS_NAMED).map(ToString::to_string).collect();
    (folders > 0).then(|| Makes { folders, first, more: request.makes_more_folders() })
}

/// How many places of the folder an act touches, and the hosts that it may reach or lets tasks reach.
fn reach(packet: &ApprovalPacket) -> (u64, Vec<String>) {
    let touched: Vec<ResourceId> =
        packet.impacted_resources.iter().filter_map(|one| one.parse().ok()).collect();
    let places =
        touched.iter().filter(|one| matches!(one, ResourceId::File(..) | ResourceId::Ref(..))).count();
    let named = touched.iter().filter_map(|one| match one {
        ResourceId::Host(name, port) => Some(format!("{name}:{port}")),
        _ => None,
    });
    let lets = match &packet.action_request.action {
        acts::Action::Register(register) => register.hosts(),
        _ => Vec::new(),
    };
    let hosts: BTreeSet<String> = named.chain(lets).collect();
    (places as u64, hosts.into_iter().collect())
}

/// Leaves the lists out that grow with what is touched; rows and lines have them in parts.
fn cut_lists(packet: &mut ApprovalPacket) {
    let request = &mut packet.action_request;
    if let acts::Action::Change(acts::Change { items })
    | acts::Action::Rollback(acts::Rollback { items, .. }) = &mut request.action
    {
        items.clear();
    }
    if let acts::Action::Rollback(acts::Rollback { left, .. }) = &mut request.action {
        left.clear();
    }
    if let Some(staged) = &mut request.staged {
        staged.items.clear();
    }
    if let Some(view) = &mut packet.staged {
        view.changes.clear();
    }
    if let Some(seen) = &mut packet.state_witness {
        seen.fingerprints.clear();
    }
    request.target_resources.clear();
    request.expected_effects.clear();
    packet.impacted_resources.clear();
    packet.policy_result.affected_resources.clear();
}

fn ahead(host: &dyn Host, task: TaskId, request: &ActionRequest) -> Result<Vec<Row>, Error> {
    let items = request.items();
    let mut rows: Vec<Row> =
        items.iter().enumerate().map(|(at, item)| Row { item: at, ..row_of(item) }).collect();
    if request.staged.is_some() {
        for side in
            rows.iter_mut().filter_map(|row| row.after.as_mut()).filter(|side| matches!(side.at, At::Kept))
        {
            side.at = At::Staged(request.attempt_id);
        }
    }
    if rows.iter().any(|row| row.op == ChangeKind::Move) {
        let seen = seen(host, task)?;
        let gone: BTreeSet<String> = items.iter().map(|item| item.path().to_string()).collect();
        rows.iter_mut().filter(|row| row.op == ChangeKind::Move).for_each(|row| {
            let same = row.before.as_ref().and_then(|side| seen.get(&side.sha256));
            row.same_as = same.and_then(|paths| paths.iter().find(|path| !gone.contains(*path))).cloned();
        });
    }
    Ok(rows)
}

/// A look that is kept, as far as it tells what files hold.
#[derive(Default, Deserialize)]
struct Looked {
    results: Option<Vec<Look>>,
}

/// A place that was looked at, or what is below it.
#[derive(Deserialize)]
struct Look {
    path: Option<String>,
    sha256: Option<Digest>,
    entries: Option<Vec<Hashed>>,
}

/// A file, and what it holds where that was asked.
#[derive(Deserialize)]
struct Hashed {
    path: Option<String>,
    sha256: Option<Digest>,
}

/// Files that the attempt has hashed, by digest: whose bytes another file has, too.
fn seen(host: &dyn Host, task: TaskId) -> Result<HashMap<Digest, BTreeSet<String>>, Error> {
    let state = fold::task_state(&host.reader()?, task)?;
    let observed = state.attempt().map(|attempt| attempt.observed.clone()).unwrap_or_default();
    let mut seen: HashMap<Digest, BTreeSet<String>> = HashMap::new();
    for result in observed.iter().filter(|result| result.tool == "observe") {
        let bytes = host.artifacts()?.read(&result.artifact.sha256).wire()?;
        // What tells nothing of files names no copy of one.
        let looked: Looked = serde_json::from_slice(&bytes).unwrap_or_default();
        for Look { path, sha256, entries } in looked.results.into_iter().flatten() {
            let itself = Hashed { path, sha256 };
            for file in entries.into_iter().flatten().chain(std::iter::once(itself)) {
                if let (Some(path), Some(sha256)) = (file.path, file.sha256) {
                    seen.entry(sha256).or_default().insert(path);
                }
            }
        }
    }
    Ok(seen)
}

fn done(host: &dyn Host, id: ReceiptId) -> Result<Sheet, Error> {
    let receipt =
        super::receipts::show(host, wire::receipts::Show { receipt: id.to_string(), brief: false })?;
    let changes = receipt.receipt.get("changes").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut rows = changes.iter().map(changed).collect::<Result<Vec<_>, _>>()?;
    let observed = receipt.receipt.get("observed").and_then(Value::as_array);
    let observed: BTreeSet<&str> = observed.into_iter().flatten().filter_map(Value::as_str).collect();
    tell_what_stays(&mut rows, &observed, receipt.row.class);
    Ok(Sheet::arranged(with_moves(rows)))
}

/// Says of a folder that was to go why it is there still, where the receipt observes that something was in it.
fn tell_what_stays(rows: &mut [Row], observed: &BTreeSet<&str>, class: ReceiptClass) {
    let why = if class == ReceiptClass::Rollback { HOLDS_LATER } else { "it is not empty" };
    for row in rows.iter_mut().filter(|row| row.op == ChangeKind::Delete && row.before.is_none()) {
        let is_there = row.outcome == Some(ItemOutcome::NotDone);
        if is_there && observed.contains(folder_stays(&row.path).as_str()) {
            row.note = Some(format!("stays: {why}"));
        }
    }
}

/// A receipt tells a move as bytes that went and the same bytes that came; a person reads one line.
fn with_moves(rows: Vec<Row>) -> Vec<Row> {
    let mut told: Vec<Row> = Vec::with_capacity(rows.len());
    // Of those that went and found no other place yet: where they are told, by what they were.
    let mut gone: HashMap<(Digest, Option<ItemOutcome>), Vec<usize>> = HashMap::new();
    for row in rows {
        if let (ChangeKind::Delete, Some(before)) = (row.op, &row.before) {
            gone.entry((before.sha256, row.outcome)).or_default().push(told.len());
        }
        let is_new = row.before.is_none() && row.outcome == Some(ItemOutcome::Done);
        let came = row.after.as_ref().filter(|_| is_new).map(|after| (after.sha256, row.outcome));
        let at = came.and_then(|key| {
            let places = gone.get_mut(&key)?;
            (!places.is_empty()).then(|| places.remove(0))
        });
        match at.and_then(|at| told.get_mut(at)) {
            Some(moved) => {
                moved.op = ChangeKind::Move;
                moved.to = Some(row.path);
                moved.after = row.after;
                for side in moved.before.iter_mut().chain(&mut moved.after) {
                    side.at = At::Same;
                }
            }
            None => told.push(row),
        }
    }
    told
}

/// The folder in words, and as a path where it is known.
fn workspace(host: &dyn Host, task: TaskId) -> Result<(Option<Text>, Option<PathBuf>), Error> {
    let row = host.query()?.task(task).wire()?.ok_or_else(|| not_found("task", &task.to_string()))?;
    let text = super::task_show::workspace(host, &row)?;
    let root = text.as_ref().and_then(|text| text.shown().map(PathBuf::from));
    Ok((text, root))
}

/// One item of a request.
fn row_of(item: &ChangeItem) -> Row {
    let row = |op, path: &model::RelPath, before, after| Row {
        item: 0,
        op,
        path: path.to_string(),
        to: None,
        same_as: None,
        before,
        after,
        outcome: None,
        note: None,
    };
    let known = |sha256: Digest, byte_size, at| Some(Known { sha256, byte_size, at });
    let there = |prior: &Prior, at| match prior {
        Prior::Sha256(sha256) => known(*sha256, None, at),
        Prior::Absent | Prior::EmptyFolder | Prior::Link(_) => None,
    };
    match item {
        ChangeItem::Write { path, content_sha256, byte_size, prior, .. } => row(
            ChangeKind::Write,
            path,
            there(prior, At::Folder),
            known(*content_sha256, Some(*byte_size), At::Kept),
        ),
        ChangeItem::Folder { path, .. } => row(ChangeKind::Folder, path, None, None),
        ChangeItem::Link { path, target, prior } => {
            let says = At::Here(format!("link to {target}\n"));
            let after = known(Digest::of(target.as_bytes()), Some(target.len() as u64), says);
            row(ChangeKind::Link, path, there(prior, At::Folder), after)
        }
        ChangeItem::Delete { path, prior } => {
            let note = matches!(prior, Prior::EmptyFolder).then(|| IF_EMPTY.to_owned());
            Row { note, ..row(ChangeKind::Delete, path, there(prior, At::Folder), None) }
        }
        ChangeItem::Move { from, to, prior } => Row {
            to: Some(to.to_string()),
            ..row(ChangeKind::Move, from, there(prior, At::Same), there(prior, At::Same))
        },
    }
}

/// One change of a receipt.
fn changed(change: &Value) -> Result<Row, Error> {
    let word = |name: &str| change.get(name).and_then(Value::as_str).unwrap_or_default();
    let resource = word("resource");
    let path = resource.split_once('/').map_or(resource, |(_, path)| path).to_owned();
    let side = |name: &str| -> Result<Option<Known>, Error> {
        let found = change.get(name);
        let sha256 = found.and_then(|found| found.get("sha256")).and_then(Value::as_str);
        let Some(sha256) = sha256 else { return Ok(None) };
        let byte_size = found.and_then(|found| found.get("byte_size")).and_then(Value::as_u64);
        Ok(Some(Known { sha256: sha256.parse::<Digest>().wire()?, byte_size, at: At::Kept }))
    };
    let (before, after) = (side("before")?, side("after")?);
    let is_folder = |name: &str| {
        change.get(name).and_then(|found| found.get("found")).and_then(Value::as_str) == Some("folder")
    };
    // A folder that was there is taken away, or was to be: one that is to be made was not there.
    let went = is_folder("before") && (!is_folder("after") || word("outcome") == "not_done");
    let op = match (&before, &after) {
        (None, None) if went => ChangeKind::Delete,
        (None, None) => ChangeKind::Folder,
        (Some(_), None) => ChangeKind::Delete,
        (_, Some(_)) => ChangeKind::Write,
    };
    let outcome = match word("outcome") {
        "" => None,
        outcome => {
            Some(outcome.parse::<ItemOutcome>().map_err(|e| Error::new(Code::Damaged, e.to_string()))?)
        }
    };
    let is_gone = went && outcome == Some(ItemOutcome::Done);
    let note = is_gone.then(|| WAS_EMPTY.to_owned());
    Ok(Row { item: 0, op, path, to: None, same_as: None, before, after, outcome, note })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_folder_that_went_is_told_as_deleted_and_one_that_came_as_made() {
        let (there, gone) = (json!({ "found": "folder", "mode": 493 }), json!({ "found": "absent" }));
        let told = |before: &Value, after: &Value, outcome: &str| {
            let change = json!({
                "resource": "file:wsp_1/Images", "before": before, "after": after, "outcome": outcome,
            });
            let row = changed(&change).expect("it is read");
            (row.op, row.path, row.note.is_some())
        };
        let path = || "Images".to_owned();
        assert_eq!(told(&there, &gone, "done"), (ChangeKind::Delete, path(), true));
        assert_eq!(told(&there, &there, "not_done"), (ChangeKind::Delete, path(), false));
        assert_eq!(told(&gone, &there, "done"), (ChangeKind::Folder, path(), false));
        assert_eq!(told(&gone, &gone, "not_done"), (ChangeKind::Folder, path(), false));
        assert_eq!(told(&there, &there, "done"), (ChangeKind::Folder, path(), false));
    }
}
