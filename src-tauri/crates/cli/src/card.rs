//! The approval card at a terminal: what would happen, deletions first, with the text that would be written.
//!
//! A card is folded to about a screen; what is left out is counted, and `details` shows all of it. Counts of what is
//! deleted and replaced stand again in the line before the question, where nothing printed above can push them away.

mod files;

use crate::output::{Output, Row, Tone};
use crate::text::{capital, card_line, clip, count, plain};
use acts::Action;
use acts::ApprovalPacket;
use files::Files;
#[cfg(test)]
pub use files::difference;
use host::Session;
use model::action::{ChangeItem, Prior};
use model::policy::RiskBand;
use serde::Serialize;
use std::io::Write as _;
use std::process::{Command, Stdio};
use wire::approvals::{Approval, Line, Show};
use wire::changes::Changes;
use wire::{Code, Error};
use words::policy::CardLine;

/// Characters of one line; the rest is counted.
const LINE_CHARS: usize = 300;
/// Indented lines in a row, such as what a command printed.
const RUN_LINES: usize = 20;
/// Other lines of what would happen.
const HEADS: usize = 60;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// About a screen of so many rows.
    Folded(usize),
    /// Every line, and every value that would be signed.
    Whole,
}

impl Extent {
    /// Folded to the screen of this terminal.
    pub fn screen() -> Self {
        Self::Folded(crate::terminal::rows())
    }
}

/// What a person reads before answering.
#[derive(Serialize)]
pub struct Card {
    /// The approval.
    #[serde(flatten)]
    pub approval: Approval,
    /// The first of the files, the gravest first, with the bytes of both sides; none where the store cannot tell.
    pub changes: Option<Changes>,
    /// Why it cannot tell, where it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<String>,
    /// Every value that a signature covers, where all was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<Vec<String>>,
    #[serde(skip)]
    packet: ApprovalPacket,
    #[serde(skip)]
    bytes: Vec<u8>,
}

impl Card {
    /// Reads a card.
    ///
    /// # Errors
    /// When there is no such approval, or what would be signed cannot be read.
    pub fn read(session: &Session, approval: &str) -> Result<Self, Error> {
        let approval = session.call(&Show { approval: approval.to_owned() })?;
        let bytes = session.packet(&approval)?;
        let packet = serde_json::from_slice(&bytes).map_err(|e| Error::new(Code::Damaged, e.to_string()))?;
        let changes = session.call(&files_from(&approval, 0));
        let unread = changes.as_ref().err().map(|error| error.message.clone());
        Ok(Self { approval, changes: changes.ok(), unread, signed: None, packet, bytes })
    }

    /// Reads the rest of it: every line, every file, every value that is signed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn complete(&mut self, session: &Session) -> Result<(), Error> {
        if self.signed.is_some() {
            return Ok(());
        }
        if let Some(known) = &mut self.changes {
            while let Ok(from) = u32::try_from(known.files.len())
                && from < known.total
            {
                let more = session.call(&files_from(&self.approval, from))?.files;
                if more.is_empty() {
                    break;
                }
                known.files.extend(more);
            }
        }
        // Both are worked out here, from the very bytes that would be signed.
        self.approval.lines = host::card_lines(&self.packet);
        self.approval.lines_left = 0;
        self.signed = Some(host::signed_values(&self.bytes).map_err(|why| Error::new(Code::Damaged, why))?);
        Ok(())
    }

    /// The exact bytes that would be signed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Prints it. With [`Extent::Whole`] through the pager that `PAGER` names, where it names one.
    pub fn print(&self, out: &Output, extent: Extent) {
        printed(out, &self.rows(extent), extent);
    }

    /// Every line.
    pub(crate) fn rows(&self, extent: Extent) -> Vec<Row> {
        let row = &self.approval.row;
        let mut rows =
            vec![(Tone::Plain, String::new()), (Tone::Bold, capital(&plain(&self.approval.title)))];
        let cut =
            self.approval.lines.iter().rposition(|l| l.text.ends_with(&self.packet.rollback_availability));
        let (before, after) = self.approval.lines.split_at(cut.unwrap_or(self.approval.lines.len()));
        for line in before.iter().filter(|line| line.kind == CardLine::Risk) {
            rows.push((risk_tone(row.risk), capital(&plain(&line.text))));
        }
        rows.extend(self.approval.two_keys.iter().map(|two| (Tone::Warn, capital(&plain(&two.says)))));
        rows.push((Tone::Plain, String::new()));
        match self.items() {
            Some(items) => {
                let told = |kind: CardLine| matches!(kind, CardLine::Unrecoverable | CardLine::Fact);
                before.iter().filter(|l| told(l.kind)).for_each(|line| rows.push(head(line)));
                let unread = self.unread.iter();
                rows.extend(
                    unread.map(|why| (Tone::Bad, format!("Its text cannot be shown: {}", plain(why)))),
                );
                rows.extend(Files::new(items, self.changes.as_ref()).rows(extent));
                rows.extend(files::made(&self.packet.action_request, extent));
                rows.extend(self.left());
            }
            None => {
                told(before, extent, &mut rows);
                if let Ok(left @ 1..) = usize::try_from(self.approval.lines_left) {
                    rows.push(folded(left, "line"));
                }
            }
        }
        rows.push((Tone::Plain, String::new()));
        rows.extend(self.frame(after, extent));
        if extent == Extent::Whole {
            let faint = |text: String| (Tone::Faint, text);
            rows.push((Tone::Bold, "Technical details".to_owned()));
            rows.extend(
                self.approval.lines.iter().map(|line| faint(format!("  {}", plain(&card_line(&line.text))))),
            );
            rows.push((Tone::Bold, "Every value that your signature covers".to_owned()));
            let signed = self.signed.iter().flatten();
            rows.extend(signed.map(|line| faint(format!("  {}", plain(line)))));
            rows.push(faint(format!("  sha256 {}", self.approval.packet_sha256)));
        }
        for (_, text) in rows.iter_mut().filter(|_| extent != Extent::Whole) {
            *text = clip(text, LINE_CHARS);
        }
        rows
    }

    /// The files it changes itself, where that is what it does.
    fn items(&self) -> Option<&[ChangeItem]> {
        match &self.packet.action_request.action {
            Action::Change(acts::Change { items }) | Action::Rollback(acts::Rollback { items, .. }) => {
                Some(items)
            }
            _ => None,
        }
    }

    /// What an undo leaves.
    fn left(&self) -> Vec<Row> {
        let Action::Rollback(acts::Rollback { left, .. }) = &self.packet.action_request.action else {
            return Vec::new();
        };
        let mut rows: Vec<Row> = Vec::new();
        if !left.is_empty() {
            let as_before = if left.len() == 1 { "as it is" } else { "as they are" };
            rows.push((Tone::Warn, format!("Leaves {} {as_before}", count(left.len(), "place"))));
        }
        rows.extend(left.iter().take(HEADS).map(|stays| {
            let place = stays.resource.to_string();
            let place = place.split_once('/').map_or(place.as_str(), |(_, path)| path);
            (Tone::Plain, format!("  {}: {}", plain(&crate::text::path(place)), plain(&stays.why)))
        }));
        rows
    }

    /// The way back, the goal, who asks, the reason, the references.
    fn frame(&self, after: &[Line], extent: Extent) -> Vec<Row> {
        let packet = &self.packet;
        let grave = after.first().is_some_and(|line| line.kind == CardLine::Unrecoverable);
        let back = if grave { Tone::Bad } else { Tone::Plain };
        let mut rows = vec![(back, format!("{}.", capital(&plain(&packet.rollback_availability))))];
        let row = &self.approval.row;
        if let Some(folder) = &row.workspace {
            rows.push((Tone::Faint, format!("Folder: {}", plain(&folder.to_string()))));
        }
        rows.push((Tone::Faint, format!("Goal: {}", plain(&packet.goal))));
        let asks = wire::who_asks(row.part_of.as_ref(), row.agent.as_deref());
        rows.extend(asks.iter().map(|line| (Tone::Faint, plain(line))));
        if !packet.rationale.is_empty() && packet.rationale != packet.goal {
            rows.push((Tone::Faint, format!("Reason it gives: {}", plain(&packet.rationale))));
        }
        let (until, id) = (crate::text::time(row.expires_at), crate::text::short(&row.approval_id));
        let task = crate::text::short(&row.task_id);
        let mut last =
            format!("Approval {id} of task {task}. Expires {until}; nothing happens if you ignore it.");
        if let (Extent::Folded(_), Action::Command(_) | Action::Change(_)) =
            (extent, &packet.action_request.action)
        {
            last.push_str(" Files are checked again just before it runs.");
        }
        rows.push((Tone::Faint, last));
        rows
    }

    /// What is at stake, in the line before the question.
    pub fn stakes(&self) -> Row {
        let risk = format!("{} risk", capital(self.approval.row.risk.as_str()));
        let request = &self.packet.action_request;
        let sum = match (&self.packet.staged, self.items()) {
            (Some(view), _) => files::sum_staged(&view.changes, request.folders_made().count()),
            (None, Some(items)) => files::sum(items, request.folders_made().count()),
            (None, None) => Vec::new(),
        };
        let grave = sum.iter().any(|part| part.starts_with("DELETES") || part.starts_with("REPLACES"));
        let mut parts = vec![risk];
        if let Some(why) = &request.not_staged {
            parts.push(format!("what it changes is NOT KNOWN ({})", clip(&plain(why), 80)));
        }
        match (sum.is_empty(), &self.packet.staged) {
            (true, Some(_)) => parts.push("changes no file".to_owned()),
            (true, None) => parts.push(clip(&plain(&self.approval.title), 160)),
            (false, _) => parts.extend(sum),
        }
        if let Action::Command(acts::Command { network: true, .. }) = &request.action {
            parts.push("USES THE NETWORK".to_owned());
        }
        let tone = if grave { Tone::Bad } else { risk_tone(self.approval.row.risk) };
        (tone, parts.join(" · "))
    }
}

fn files_from(approval: &Approval, from: u32) -> wire::changes::Show {
    let of = approval.row.approval_id.clone();
    wire::changes::Show { of, from: Some(from), limit: None, find: None, brief: false }
}

/// What would happen, where it is not files alone: every line as the host tells it, long runs folded.
fn told(lines: &[Line], extent: Extent, rows: &mut Vec<Row>) {
    let (mut run, mut heads) = (0_usize, 0_usize);
    let (mut run_left, mut heads_left) = (0_usize, 0_usize);
    let told = |left: &mut usize, rows: &mut Vec<Row>| {
        if *left > 0 {
            rows.push(folded(*left, "line"));
        }
        *left = 0;
    };
    for line in lines.iter().filter(|line| line.kind != CardLine::Risk) {
        let indented = line.text.starts_with("    ");
        if indented && line.text.trim_start().starts_with("sha256 ") && extent != Extent::Whole {
            continue;
        }
        if indented {
            run += 1;
            if extent != Extent::Whole && (run > RUN_LINES || heads > HEADS) {
                run_left += 1;
                continue;
            }
        } else {
            told(&mut run_left, rows);
            (run, heads) = (0, heads + 1);
            if extent != Extent::Whole && heads > HEADS && line.kind != CardLine::Unrecoverable {
                heads_left += 1;
                continue;
            }
        }
        rows.push(head(line));
    }
    told(&mut run_left, rows);
    told(&mut heads_left, rows);
}

/// A line of the host's card, digests left out of a sentence.
fn head(line: &Line) -> Row {
    let text = plain(&card_line(&line.text));
    let inner = text.trim_start();
    let tone = match line.kind {
        CardLine::Destructive | CardLine::Unrecoverable => Tone::Bad,
        CardLine::Quoted => Tone::Faint,
        _ if text.starts_with("    +") => Tone::Good,
        _ if text.starts_with("    @@") => Tone::Faint,
        _ => Tone::Plain,
    };
    let text = if inner.len() == text.len() { format!("  {}", capital(&text)) } else { format!("  {text}") };
    (tone, text)
}

/// Word of what is not shown.
pub(crate) fn folded(many: usize, noun: &str) -> Row {
    let what = count(many, &format!("more {noun}"));
    (Tone::Faint, format!("      … {what} not shown here; `details` or `--whole` shows all"))
}

pub(crate) fn risk_tone(risk: RiskBand) -> Tone {
    match risk {
        RiskBand::High | RiskBand::Critical => Tone::Bad,
        RiskBand::Moderate => Tone::Warn,
        RiskBand::Low => Tone::Good,
    }
}

/// Whether something must be empty before it goes: a folder that an undo takes away.
pub(crate) const fn is_folder(prior: &Prior) -> bool {
    matches!(prior, Prior::EmptyFolder)
}

/// Prints the lines of a card, see [`Card::print`].
pub fn printed(out: &Output, rows: &[Row], extent: Extent) {
    let pager = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    match (extent, pager) {
        (Extent::Whole, Some(pager)) if paged(out, &pager, rows) => {}
        _ => out.rows(rows),
    }
}

/// Whether the person's pager took it.
fn paged(out: &Output, pager: &str, rows: &[Row]) -> bool {
    let child = Command::new("sh").arg("-c").arg(pager).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return false };
    if let Some(mut into) = child.stdin.take() {
        for (tone, text) in rows {
            // Whoever leaves the pager early has seen enough.
            if writeln!(into, "{}", out.paint(*tone, text)).is_err() {
                break;
            }
        }
    }
    child.wait().is_ok_and(|status| status.success())
}
