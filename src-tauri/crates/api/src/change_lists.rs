//! What approvals and receipts change, read once from their bytes and handed out in parts: an act may have a hundred
//! thousand rows, and nobody looks at all of them at once.

use crate::{Host, Wire as _};
use model::Digest;
use model::approval::ApprovalStatus;
use model::receipt::ItemOutcome;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use wire::Error;
use wire::approvals::Line;
use wire::changes::{Group, Makes, Sum};
use words::act::ChangeKind;
use words::policy::CardLine;

/// Sheets that are kept, the last used ones.
const KEPT: usize = 4;
/// Bytes of a packet from which on its card takes a moment to read.
const LARGE_BYTES: u64 = 1024 * 1024;
/// So many moves into one folder, or new folders, are read as one row.
const TOGETHER_MIN: usize = 6;
/// Lines of one part of a card that are given with it.
const PART_LINES: usize = 1_000;

/// Sheets of a process, by the digest of the bytes that they were read from.
#[derive(Default)]
pub struct Sheets(Mutex<Vec<(Digest, Arc<Sheet>)>>);

/// One act, ready to be looked at in parts.
#[derive(Default)]
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) lines: Vec<Line>,
    /// How many lines behind the first tell of the act itself.
    pub(crate) act_lines: usize,
    /// Why the like of it is asked about each time, if it is.
    pub(crate) asked_each_time: Option<&'static str>,
    pub(crate) outline: Value,
    pub(crate) resources: u64,
    pub(crate) hosts: Vec<String>,
    pub(crate) checked: u64,
    pub(crate) rows: Vec<Row>,
    pub(crate) groups: Vec<Group>,
    pub(crate) sum: Sum,
    /// Folders that are made on the way to what the rows bring.
    pub(crate) makes: Option<Makes>,
}

/// One row.
pub(crate) struct Row {
    /// Which item of the request it is.
    pub(crate) item: usize,
    pub(crate) op: ChangeKind,
    pub(crate) path: String,
    pub(crate) to: Option<String>,
    pub(crate) same_as: Option<String>,
    pub(crate) before: Option<Known>,
    pub(crate) after: Option<Known>,
    pub(crate) outcome: Option<ItemOutcome>,
    /// Of a folder: on what it depends that it goes, or why it is there still.
    pub(crate) note: Option<String>,
}

/// A side of a row.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) sha256: Digest,
    pub(crate) byte_size: Option<u64>,
    /// Where its bytes are.
    pub(crate) at: At,
}

/// Where bytes are.
#[derive(Clone)]
pub(crate) enum At {
    /// Kept, where they are.
    Kept,
    /// Kept, or waiting in the staged view of an attempt.
    Staged(model::AttemptId),
    /// Kept, or in the folder still.
    Folder,
    /// These.
    Here(String),
    /// Nobody asks: they stay the same.
    Same,
}

impl Sheets {
    /// The sheet of these bytes, read now unless it is at hand.
    pub(crate) fn of(
        &self,
        bytes: Digest,
        read: impl FnOnce() -> Result<Sheet, Error>,
    ) -> Result<Arc<Sheet>, Error> {
        let known = |kept: &mut Vec<(Digest, Arc<Sheet>)>| {
            let at = kept.iter().position(|(digest, _)| *digest == bytes)?;
            let found = kept.remove(at);
            kept.push(found.clone());
            Some(found.1)
        };
        if let Some(sheet) = known(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(sheet);
        }
        let sheet = Arc::new(read()?);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known(&mut kept).is_none() {
            kept.push((bytes, Arc::clone(&sheet)));
        }
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
        Ok(sheet)
    }
}

/// Reads the large cards that wait, of a task or of all, so that they open at once when somebody asks for them.
///
/// # Errors
/// When the store cannot be read.
pub fn prepare(host: &dyn Host, task: Option<&str>) -> Result<(), Error> {
    let task = task.map(|id| id.parse::<model::TaskId>().wire()).transpose()?;
    let ask = projections::Ask { limit: small(KEPT), ..projections::Ask::default() };
    let waiting = host.query()?.approvals(task, Some(ApprovalStatus::Pending), ask).wire()?;
    for row in &waiting.rows {
        if host.artifacts()?.content(&row.packet_sha256).wire()?.byte_size() > LARGE_BYTES {
            crate::body::changes::sheet_of(host, row)?;
        }
    }
    Ok(())
}

impl Sheet {
    /// Rows in the order of a card, with what stands together and counts.
    pub(crate) fn arranged(mut rows: Vec<Row>) -> Self {
        rows.sort_by_key(gravity);
        let mut many: HashMap<(ChangeKind, String), usize> = HashMap::new();
        for key in rows.iter().filter_map(together) {
            *many.entry(key).or_default() += 1;
        }
        // A group stands where its first row stood, and its rows follow it.
        let mut first: HashMap<(ChangeKind, String), usize> = HashMap::new();
        let mut keyed: Vec<(usize, Row)> = Vec::with_capacity(rows.len());
        for (at, row) in rows.into_iter().enumerate() {
            let key = together(&row).filter(|key| many.get(key).is_some_and(|many| *many >= TOGETHER_MIN));
            keyed.push((key.map_or(at, |key| *first.entry(key).or_insert(at)), row));
        }
        keyed.sort_by_key(|(at, _)| *at);
        let rows: Vec<Row> = keyed.into_iter().map(|(_, row)| row).collect();
        let mut sheet = Self { sum: sum(&rows), ..Self::default() };
        let mut at = 0;
        while let Some(row) = rows.get(at) {
            let key = together(row).filter(|key| many.get(key).is_some_and(|many| *many >= TOGETHER_MIN));
            let Some((op, to)) = key.clone() else {
                at += 1;
                continue;
            };
            let end = at + rows.iter().skip(at).take_while(|row| together(row) == key).count();
            let done = rows.get(at..end).unwrap_or_default().iter();
            sheet.groups.push(Group {
                op,
                to: (op == ChangeKind::Move).then_some(to),
                from: small(at),
                rows: small(end - at),
                done: small(done.filter(|row| row.outcome == Some(ItemOutcome::Done)).count()),
            });
            at = end;
        }
        sheet.rows = rows;
        sheet
    }

    /// The lines that a card begins with: of what happens and of what is known, the first of each; and how many of them,
    /// from the second on, tell of the act itself.
    pub(crate) fn beginning(&self) -> (Vec<Line>, u32) {
        let (mut acts, mut facts) = (0, 0);
        let shown = self.lines.iter().enumerate().filter(|(_, line)| {
            let many = match line.kind {
                CardLine::Effect | CardLine::Destructive => &mut acts,
                CardLine::Fact => &mut facts,
                _ => return true,
            };
            *many += 1;
            *many <= PART_LINES
        });
        let mut of_act = 0;
        let lines = shown
            .map(|(at, line)| {
                of_act += usize::from((1..=self.act_lines).contains(&at));
                line.clone()
            })
            .collect();
        (lines, small(of_act))
    }
}

/// What is gone first, then what is other, then what is new, then folders that go if nothing is in them; a stable sort keeps the order of execution otherwise.
fn gravity(row: &Row) -> u8 {
    match (row.op, &row.before) {
        _ if is_folder_that_goes(row) => 3,
        (ChangeKind::Delete, _) => 0,
        (_, Some(_)) => 1,
        (_, None) => 2,
    }
}

/// Whether it is a folder that goes only if it is empty by then: those alone have a note.
fn is_folder_that_goes(row: &Row) -> bool {
    row.op == ChangeKind::Delete && row.note.is_some()
}

/// What a row is read together with.
fn together(row: &Row) -> Option<(ChangeKind, String)> {
    match (row.op, &row.to) {
        (ChangeKind::Folder, _) => Some((ChangeKind::Folder, String::new())),
        (ChangeKind::Move, Some(to)) => Some((
            ChangeKind::Move,
            to.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/")),
        )),
        _ => None,
    }
}

fn sum(rows: &[Row]) -> Sum {
    let count = |is: fn(&Row) -> bool| small(rows.iter().filter(|row| is(row)).count());
    Sum {
        deleted: count(|row| row.op == ChangeKind::Delete && !is_folder_that_goes(row)),
        replaced: count(|row| matches!(row.op, ChangeKind::Write | ChangeKind::Link) && row.before.is_some()),
        created: count(|row| matches!(row.op, ChangeKind::Write | ChangeKind::Link) && row.before.is_none()),
        moved: count(|row| row.op == ChangeKind::Move),
        folders: count(|row| row.op == ChangeKind::Folder),
        removed: count(is_folder_that_goes),
    }
}

pub(crate) fn small(many: usize) -> u32 {
    u32::try_from(many).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn row(op: ChangeKind, path: &str, to: Option<String>) -> Row {
        let known = Known { sha256: Digest::of(path.as_bytes()), byte_size: None, at: At::Same };
        let before = matches!(op, ChangeKind::Delete | ChangeKind::Move).then_some(known);
        let outcome = Some(if path.ends_with('9') { ItemOutcome::NotDone } else { ItemOutcome::Done });
        Row {
            item: 0,
            op,
            path: path.to_owned(),
            to,
            same_as: None,
            before,
            after: None,
            outcome,
            note: None,
        }
    }

    #[test]
    fn rows_that_belong_together_stand_together_and_what_is_gone_comes_first() {
        let mut rows: Vec<Row> = Vec::new();
        for at in 0..20 {
            let folder = if at % 2 == 0 { "Images" } else { "Video" };
            rows.push(row(ChangeKind::Move, &format!("f{at}"), Some(format!("{folder}/f{at}"))));
            rows.push(row(ChangeKind::Write, &format!("w{at}"), None));
        }
        rows.push(row(ChangeKind::Delete, "gone", None));
        rows.push(row(ChangeKind::Move, "lone", Some("lone.txt".to_owned())));
        let sheet = Sheet::arranged(rows);
        assert_eq!(sheet.rows.first().map(|row| row.path.as_str()), Some("gone"));
        let groups: Vec<_> = sheet.groups.iter().map(|g| (g.to.as_deref(), g.from, g.rows, g.done)).collect();
        // Of the odd ones two are not done; what is alone is in no group.
        assert_eq!(groups, [(Some("Images/"), 1, 10, 10), (Some("Video/"), 11, 10, 8)]);
        for group in &sheet.groups {
            let from = group.from as usize;
            let inside = sheet.rows.iter().skip(from).take(group.rows as usize);
            assert!(
                inside.clone().all(|row| row.to.as_ref().unwrap().starts_with(group.to.as_ref().unwrap()))
            );
            let at: Vec<u32> = inside.map(|row| row.path.trim_start_matches('f').parse().unwrap()).collect();
            assert!(at.is_sorted(), "the order of execution stays: {at:?}");
        }
        assert_eq!(
            sheet.sum,
            Sum { deleted: 1, replaced: 0, created: 20, moved: 21, folders: 0, removed: 0 }
        );
        assert_eq!(sheet.rows.len(), 42);
    }

    #[test]
    fn a_folder_that_goes_if_it_is_empty_is_no_deletion_and_comes_last() {
        let mut goes = row(ChangeKind::Delete, "Images", None);
        (goes.note, goes.before) = (Some("if it is empty by then".to_owned()), None);
        let rows = vec![goes, row(ChangeKind::Delete, "gone", None), row(ChangeKind::Write, "new", None)];
        let sheet = Sheet::arranged(rows);
        let paths: Vec<&str> = sheet.rows.iter().map(|row| row.path.as_str()).collect();
        assert_eq!(paths, ["gone", "new", "Images"]);
        assert_eq!(sheet.sum, Sum { deleted: 1, created: 1, removed: 1, ..Sum::default() });
    }

    #[test]
    fn a_card_begins_with_what_it_is_about_however_many_lines_it_has() {
        let line = |kind: CardLine, at: usize| Line { kind, text: format!("{kind} {at}") };
        let mut lines = vec![line(CardLine::Risk, 0)];
        lines.extend((0..5_000).map(|at| line(CardLine::Effect, at)));
        lines.push(line(CardLine::Unrecoverable, 0));
        lines.extend((0..5_000).map(|at| line(CardLine::Fact, at)));
        lines.push(line(CardLine::Quoted, 0));
        let sheet = Sheet { lines, act_lines: 5_001, ..Sheet::default() };
        let (begun, act_lines) = sheet.beginning();
        assert_eq!((begun.len(), act_lines as usize), (2 * PART_LINES + 3, PART_LINES + 1));
        for kind in [CardLine::Risk, CardLine::Unrecoverable, CardLine::Quoted] {
            assert!(begun.iter().any(|line| line.kind == kind), "{kind}");
        }
    }

    #[test]
    fn a_sheet_is_read_once_and_the_ones_not_used_for_longest_go() {
        let sheets = Sheets::default();
        let digest = |at: usize| Digest::of(&at.to_le_bytes());
        let mut read = 0;
        let mut of = |at: usize| {
            let sheet = sheets.of(digest(at), || {
                read += 1;
                Ok(Sheet { resources: at as u64, ..Sheet::default() })
            });
            assert_eq!(sheet.expect("read").resources, at as u64);
            read
        };
        assert_eq!((of(0), of(0)), (1, 1));
        (1..KEPT).for_each(|at| assert_eq!(of(at), at + 1));
        assert_eq!(of(0), KEPT, "it is still there");
        assert_eq!(of(KEPT), KEPT + 1);
        assert_eq!(of(0), KEPT + 1, "it was used, so another went");
        assert_eq!(of(1), KEPT + 2, "that one");
    }
}
