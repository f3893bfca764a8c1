//! The part of a card that shows files: what goes, what is replaced with which difference, what moves, what is new.

use super::{Extent, folded, is_folder};
use crate::output::{Row, Tone};
use crate::text::{count, name, paragraph, size};
use acts::ActionRequest;
use acts::folders::UNLESS_THERE;
use acts::items::IF_EMPTY;
use api::hunks::{AROUND, Edit, edits};
use model::action::{ChangeItem, Prior};
use model::approval::StagedChange;
use model::{Digest, RelPath};
use similar::{ChangeTag, TextDiff};
use std::collections::BTreeMap;
use std::time::Duration;
use wire::changes::{Changes, FileChange, Side};
use words::act::NoText;

/// A difference of two texts is looked for this long; then it is shown coarser.
const DIFF_TIME: Duration = Duration::from_millis(500);
/// Names in a list before it is folded.
const NAMES: usize = 40;
/// Names in a group at least.
const NAMES_MIN: usize = 3;
/// Files whose text is shown.
const TEXTS: usize = 12;
/// Lines of a text at least, however many files there are.
const LINES_MIN: usize = 6;
/// Lines of a text at least where it is the only one.
const LINES: usize = 20;
/// Rows that the rest of a card takes.
const REST: usize = 10;

/// What is done to files, by kind; the order is that of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verb {
    Delete,
    Replace,
    Mode,
    Move,
    Create,
    Link,
    Folder,
    RemoveFolder,
}

impl Verb {
    const fn of(item: &ChangeItem) -> Self {
        match item {
            ChangeItem::Delete { prior, .. } if is_folder(prior) => Self::RemoveFolder,
            ChangeItem::Delete { .. } => Self::Delete,
            ChangeItem::Write { prior: Prior::Absent, .. } => Self::Create,
            ChangeItem::Link { prior: Prior::Absent, .. } => Self::Link,
            ChangeItem::Write { .. } | ChangeItem::Link { .. } => Self::Replace,
            ChangeItem::Move { .. } => Self::Move,
            ChangeItem::Folder { was: None, .. } => Self::Folder,
            ChangeItem::Folder { was: Some(_), .. } => Self::Mode,
        }
    }

    fn staged(effect: &str) -> Self {
        match effect {
            "delete" => Self::Delete,
            "rename" => Self::Move,
            "mode" => Self::Mode,
            "create" => Self::Create,
            "delete_folder" => Self::RemoveFolder,
            "make_folder" => Self::Folder,
            "link" => Self::Link,
            _ => Self::Replace,
        }
    }

    /// With how many, for a person who reads one line.
    fn sum(self, many: usize) -> String {
        match self {
            Self::Delete => format!("DELETES {}", count(many, "file")),
            Self::Replace => format!("REPLACES {}", count(many, "file")),
            Self::Mode => format!("changes the permissions of {}", count(many, "entry")),
            Self::Move => format!("moves {}", count(many, "file")),
            Self::Create => format!("creates {}", count(many, "file")),
            Self::Link => format!("creates {}", count(many, "link")),
            Self::Folder => format!("makes {}", count(many, "folder")),
            Self::RemoveFolder => format!("removes {} if empty by then", count(many, "folder")),
        }
    }

    fn heading(self, many: usize) -> Row {
        match self {
            Self::Delete => (Tone::Bad, format!("Deletes {}", count(many, "file"))),
            Self::Replace => (Tone::Bad, format!("Replaces {}", count(many, "file"))),
            Self::Mode => (Tone::Warn, format!("Changes the permissions of {}", count(many, "entry"))),
            Self::Move => (Tone::Bold, format!("Moves {}; nothing is lost", count(many, "file"))),
            Self::Create => (Tone::Bold, format!("Creates {}", count(many, "file"))),
            Self::Link => (Tone::Bold, format!("Creates {}", count(many, "link"))),
            Self::Folder => (Tone::Bold, format!("Makes {}", count(many, "folder"))),
            Self::RemoveFolder => {
                let each = if many == 1 { "" } else { ", each" };
                (Tone::Plain, format!("Removes {}{each} {IF_EMPTY}", count(many, "folder")))
            }
        }
    }
}

/// Counts of what is done, the gravest first.
fn counts(verbs: impl Iterator<Item = Verb>) -> Vec<String> {
    let mut by: BTreeMap<Verb, usize> = BTreeMap::new();
    verbs.for_each(|verb| *by.entry(verb).or_default() += 1);
    by.into_iter().map(|(verb, many)| verb.sum(many)).collect()
}

/// What a change set does, in counts; `made` folders are made on its way.
pub fn sum(items: &[ChangeItem], made: usize) -> Vec<String> {
    counts(items.iter().map(Verb::of).chain(std::iter::repeat_n(Verb::Folder, made)))
}

/// What a command did, in counts; `made` folders are made on the way of carrying it over.
pub fn sum_staged(changes: &[StagedChange], made: usize) -> Vec<String> {
    let done = changes.iter().map(|change| Verb::staged(&change.effect));
    counts(done.chain(std::iter::repeat_n(Verb::Folder, made)))
}

/// Folders that an act makes on its way, which are no items of it.
pub fn made(request: &ActionRequest, extent: Extent) -> Vec<Row> {
    let all: Vec<String> = request.folders_made().map(name).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let each = if all.len() == 1 { "" } else { ", each" };
    let mut rows = vec![(Tone::Bold, format!("Makes {}{each} {UNLESS_THERE}", count(all.len(), "folder")))];
    match extent {
        Extent::Whole => rows.extend(all.iter().map(|folder| (Tone::Plain, format!("  + {folder}")))),
        Extent::Folded(_) => rows.push(in_one_row(all.iter().take(NAMES).cloned().collect(), all.len())),
    }
    if request.makes_more_folders() {
        rows.push((Tone::Warn, "  It may make more folders than these; the receipt names each".to_owned()));
    }
    rows
}

/// The first names of so many.
fn in_one_row(first: Vec<String>, all: usize) -> Row {
    let rest = all.saturating_sub(first.len());
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (Tone::Plain, format!("  {}{rest}", first.join(", ")))
}

/// A change set with the bytes of both sides.
pub struct Files<'a> {
    items: &'a [ChangeItem],
    sides: BTreeMap<&'a str, &'a FileChange>,
}

/// One side of a file.
enum Known<'a> {
    Text(&'a str),
    Not(&'static str),
}

impl<'a> Files<'a> {
    pub fn new(items: &'a [ChangeItem], changes: Option<&'a Changes>) -> Self {
        let sides = changes.iter().flat_map(|c| &c.files).map(|file| (file.path.as_str(), file)).collect();
        Self { items, sides }
    }

    pub fn rows(&self, extent: Extent) -> Vec<Row> {
        let mut by: BTreeMap<Verb, Vec<&ChangeItem>> = BTreeMap::new();
        self.items.iter().for_each(|item| by.entry(Verb::of(item)).or_default().push(item));
        let texts = [Verb::Replace, Verb::Create].iter().filter_map(|verb| by.get(verb)).map(Vec::len).sum();
        let room = room(extent, texts);
        let mut shown = 0;
        let mut rows = Vec::new();
        for (verb, items) in by {
            rows.push(verb.heading(items.len()));
            match verb {
                Verb::Move => self.moves(&items, extent, &mut rows),
                Verb::Replace | Verb::Create => {
                    for item in items.iter().take(names(extent)) {
                        shown += 1;
                        let room = if shown <= TEXTS || extent == Extent::Whole { room } else { 0 };
                        self.text(item, room, &mut rows);
                    }
                    more(items.len(), extent, &mut rows);
                }
                Verb::Folder | Verb::RemoveFolder if extent != Extent::Whole => {
                    let first = items.iter().take(NAMES).map(|item| name(item.path())).collect();
                    rows.push(in_one_row(first, items.len()));
                }
                _ => {
                    for item in items.iter().take(names(extent)) {
                        self.text(item, if extent == Extent::Whole { room } else { 0 }, &mut rows);
                    }
                    more(items.len(), extent, &mut rows);
                }
            }
        }
        rows
    }

    /// One file, and as much of its text as there is room for.
    fn text(&self, item: &ChangeItem, room: usize, rows: &mut Vec<Row>) {
        let file = self.sides.get(item.path().to_string().as_str());
        let before = file.and_then(|file| file.before.as_ref());
        let after = file.and_then(|file| file.after.as_ref());
        let (mark, tone, about, text) = match item {
            ChangeItem::Delete { prior, .. } => {
                let text = match prior {
                    Prior::Sha256(sha256) => removed(&known(before, sha256)),
                    _ => Vec::new(),
                };
                ("-", Tone::Bad, bytes(before.and_then(|side| side.byte_size)), text)
            }
            ChangeItem::Write { content_sha256, byte_size, prior, mode, .. } => {
                let text = match prior {
                    Prior::Sha256(sha256) => changed(&known(before, sha256), &known(after, content_sha256)),
                    _ => added(&known(after, content_sha256)),
                };
                let (plus, minus) = tally(&text);
                // What cannot be shown is not counted either.
                let lines = match prior {
                    _ if text.iter().any(|(tone, _)| *tone == Tone::Warn) => String::new(),
                    Prior::Absent => format!("{}, ", count(plus, "line")),
                    _ => format!("+{plus} −{minus} lines, "),
                };
                let mode = mode.map(|mode| format!(", permissions {mode:o}")).unwrap_or_default();
                let mark = if *prior == Prior::Absent { "+" } else { "~" };
                (mark, Tone::Plain, format!("  ({lines}{}{mode})", size(*byte_size)), text)
            }
            ChangeItem::Link { target, .. } => {
                let to = crate::text::plain(target);
                ("+", Tone::Plain, format!("  a link to {to}"), Vec::new())
            }
            ChangeItem::Folder { mode, was, .. } => {
                let octal = |mode: &Option<u32>| mode.map(|m| format!("{m:o}")).unwrap_or_default();
                let about = match was {
                    Some(was) => format!("  from {was:o} to {}", octal(mode)),
                    None => String::new(),
                };
                ("+", Tone::Plain, about, Vec::new())
            }
            ChangeItem::Move { .. } => (">", Tone::Plain, String::new(), Vec::new()),
        };
        rows.push((tone, format!("  {mark} {}{about}", name(item.path()))));
        if room == 0 && !text.is_empty() && !matches!(item, ChangeItem::Delete { .. }) {
            return rows.push(folded(text.len(), "line"));
        }
        let left = text.len().saturating_sub(room);
        rows.extend(text.into_iter().take(room));
        if left > 0 && room > 0 {
            rows.push(folded(left, "line"));
        }
    }

    /// Moves by the folder they go to: how many, then the files.
    fn moves(&self, items: &[&ChangeItem], extent: Extent, rows: &mut Vec<Row>) {
        let mut by: BTreeMap<RelPath, Vec<(&RelPath, &RelPath)>> = BTreeMap::new();
        for item in items {
            if let ChangeItem::Move { from, to, .. } = item {
                by.entry(to.parent()).or_default().push((from, to));
            }
        }
        let each = match extent {
            Extent::Whole => usize::MAX,
            Extent::Folded(screen) => {
                let all = screen.saturating_sub(REST + 2 * by.len());
                (all / by.len().max(1)).max(NAMES_MIN)
            }
        };
        for (folder, pairs) in by.iter().take(names(extent)) {
            let to = if folder.is_root() { "this folder".to_owned() } else { name(folder) };
            rows.push((Tone::Plain, format!("  {} to {to}", pairs.len())));
            for (from, to) in pairs.iter().take(each) {
                rows.push((Tone::Plain, format!("      {}", self.pair(from, to))));
            }
            if pairs.len() > each {
                rows.push(folded(pairs.len() - each, "file"));
            }
        }
        more(by.len(), extent, rows);
    }

    fn pair(&self, from: &RelPath, to: &RelPath) -> String {
        let mut text = name(from);
        if from.file_name() != to.file_name() {
            text.push_str(&format!(" becomes {}", name(to)));
        }
        let file = self.sides.get(from.to_string().as_str());
        if let Some(same) = file.and_then(|file| file.same_as.as_deref()) {
            text.push_str(&format!(", same as {} (stays)", crate::text::path(same)));
        }
        text
    }
}

/// How many rows each text gets.
fn room(extent: Extent, texts: usize) -> usize {
    match extent {
        Extent::Whole => usize::MAX,
        Extent::Folded(screen) => {
            let all = screen.saturating_sub(REST).max(LINES);
            (all / texts.clamp(1, TEXTS)).max(LINES_MIN)
        }
    }
}

const fn names(extent: Extent) -> usize {
    match extent {
        Extent::Whole => usize::MAX,
        Extent::Folded(_) => NAMES,
    }
}

fn more(all: usize, extent: Extent, rows: &mut Vec<Row>) {
    if all > names(extent) {
        rows.push(folded(all - names(extent), "entry"));
    }
}

fn bytes(found: Option<u64>) -> String {
    found.map(|bytes| format!("  ({})", size(bytes))).unwrap_or_default()
}

/// The text of a side, only where it is the very text that is meant.
fn known<'a>(side: Option<&'a Side>, meant: &Digest) -> Known<'a> {
    let Some(side) = side else { return Known::Not("its content cannot be shown") };
    match (&side.text, side.missing) {
        (Some(text), _) if Digest::of(text.as_bytes()) == *meant => Known::Text(text),
        (Some(_), _) => {
            Known::Not("CONTENT NOT SHOWN: the store holds other bytes than those you would approve")
        }
        (None, Some(NoText::Binary)) => Known::Not("binary, not shown"),
        (None, Some(NoText::Large)) => Known::Not("too large to show"),
        (None, Some(NoText::Drifted)) => Known::Not("it was changed since; what is lost cannot be shown"),
        (None, Some(NoText::Gone | NoText::Later) | None) => {
            Known::Not("CONTENT NOT SHOWN: the store does not hold it")
        }
    }
}

fn note(text: &str) -> Row {
    (Tone::Warn, format!("      {text}"))
}

fn lined(tone: Tone, mark: char, text: &str) -> Vec<Row> {
    text.split_terminator('\n').map(|line| (tone, format!("      {mark}{}", paragraph(line)))).collect()
}

fn added(after: &Known<'_>) -> Vec<Row> {
    match after {
        Known::Text(text) => lined(Tone::Good, '+', text),
        Known::Not(why) => vec![note(why)],
    }
}

fn removed(before: &Known<'_>) -> Vec<Row> {
    match before {
        Known::Text(text) => lined(Tone::Bad, '-', text),
        Known::Not(why) => vec![note(why)],
    }
}

fn changed(before: &Known<'_>, after: &Known<'_>) -> Vec<Row> {
    let (Known::Text(before), Known::Text(after)) = (before, after) else {
        let mut rows = removed(before);
        rows.extend(added(after));
        return rows;
    };
    match edits(before.as_bytes(), after.as_bytes()) {
        Ok(edits) => numbered(before, after, &edits),
        Err(_) => coarse(before, after),
    }
}

/// The difference of two texts as a card shows it.
#[cfg(test)]
pub fn difference(before: &str, after: &str) -> Vec<Row> {
    changed(&Known::Text(before), &Known::Text(after))
}

/// The hunks that a person can take one by one, with their numbers where there are more than one.
fn numbered(before: &str, after: &str, edits: &[Edit]) -> Vec<Row> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let many = edits.last().map_or(0, |edit| edit.hunk);
    let mut rows = Vec::new();
    for hunk in edits.chunk_by(|one, other| one.hunk == other.hunk) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let lead = first.before.start.min(AROUND);
        let mut at = first.before.start - lead;
        let end = last.before.end.saturating_add(AROUND).min(old.len());
        let rest = end - last.before.end;
        let (from, to) = (first.after.start.saturating_sub(lead), last.after.end.saturating_add(rest));
        let number = if many > 1 { format!("hunk {} of {many}  ", first.hunk) } else { String::new() };
        let header =
            format!("{number}@@ -{} +{} @@", range(at, end - at), range(from, to.saturating_sub(from)));
        rows.push((Tone::Faint, format!("      {header}")));
        let stay =
            |from: usize, to: usize| old.get(from..to).unwrap_or_default().iter().map(|line| (' ', *line));
        let mut lines: Vec<(char, &str)> = Vec::new();
        for edit in hunk {
            lines.extend(stay(at, edit.before.start));
            lines.extend(old.get(edit.before.clone()).unwrap_or_default().iter().map(|line| ('-', *line)));
            lines.extend(new.get(edit.after.clone()).unwrap_or_default().iter().map(|line| ('+', *line)));
            at = edit.before.end;
        }
        lines.extend(stay(at, end));
        lines.into_iter().for_each(|(mark, line)| changed_line(mark, line, &mut rows));
    }
    rows
}

/// A range of lines as unified differences write it.
fn range(from: usize, many: usize) -> String {
    match many {
        0 => format!("{from},0"),
        1 => format!("{}", from + 1),
        _ => format!("{},{many}", from + 1),
    }
}

fn changed_line(mark: char, line: &str, rows: &mut Vec<Row>) {
    let tone = match mark {
        '-' => Tone::Bad,
        '+' => Tone::Good,
        _ => Tone::Plain,
    };
    let text = line.strip_suffix('\n');
    rows.push((tone, format!("      {mark}{}", paragraph(text.unwrap_or(line)))));
    if text.is_none() {
        rows.push((Tone::Faint, "      (no line break at the end)".to_owned()));
    }
}

/// The difference of what is too long to be cut into hunks.
fn coarse(before: &str, after: &str) -> Vec<Row> {
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(before, after);
    let mut rows = Vec::new();
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        rows.push((Tone::Faint, format!("      {}", hunk.header())));
        for change in hunk.iter_changes() {
            let mark = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            changed_line(mark, change.value(), &mut rows);
        }
    }
    rows
}

/// Lines that come and lines that go.
fn tally(rows: &[Row]) -> (usize, usize) {
    let with =
        |mark: char| rows.iter().filter(move |(_, text)| text.get(6..).is_some_and(|t| t.starts_with(mark)));
    (with('+').count(), with('-').count())
}

#[cfg(test)]
mod tests;
