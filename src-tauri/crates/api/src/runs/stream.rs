//! The stream of a run: a page of it, or behind it as it grows.

use super::known;
use crate::Host;
use model::TaskId;
use projections::RunStatus;
use projections::rows::TaskRow;
use runstream::{Family, Position, Resumed};
use serde_json::{Map, Value};
use std::time::Duration;
use wire::{Code, Error};

/// The run stream of a store, as one reader sees it.
pub struct Journal {
    /// Reads it; a connection of its own.
    pub reader: runstream::Reader,
    /// Wakes whoever has caught up.
    pub watch: runstream::Watch,
}

pub(super) fn of_journal(error: runstream::Error) -> Error {
    let message = error.to_string();
    match error {
        runstream::Error::NoRun { .. } | runstream::Error::NoJournal { .. } => {
            Error::new(Code::Unavailable, message)
                .hint("it is written a moment after the run began; ask again")
        }
        runstream::Error::NewerSchema { .. } => Error::new(Code::NewerVersion, message),
        runstream::Error::Damaged { .. } => {
            Error::new(Code::Unavailable, message).hint("ask again in a moment")
        }
        _ => Error::new(Code::Failed, message),
    }
}

/// `GET /v1/runs/{run_id}/events`, as a page.
///
/// # Errors
/// [`Code::NotFound`].
pub fn page(host: &dyn Host, run_id: &str, position: &Position, limit: u32) -> Result<Value, Error> {
    let row = known(host, run_id)?;
    let journal = host.journal(Some(row.task_id))?;
    let page = journal.reader.page(row.task_id, position, limit).map_err(of_journal)?;
    let mut page = serde_json::to_value(page).map_err(crate::failed)?;
    let session = super::session_name(host, row.conversation_id)?;
    let events = page.get_mut("events").and_then(Value::as_array_mut);
    events.into_iter().flatten().for_each(|event| name_session(event, &session));
    Ok(page)
}

/// An event says its session as its client does.
fn name_session(event: &mut Value, session: &str) {
    if let Some(named) = event.get_mut("session_id") {
        *named = Value::from(session);
    }
}

/// How many pages before the end of a stream are read for an answer that is under way.
const HALF_SAID_PAGES: u32 = 8;

/// An answer that is under way, so that a page which is opened meanwhile shows what another one saw come: never truth.
#[derive(Default)]
pub(crate) struct UnderWay {
    /// The asking that it answers, and the segment that it is told in; a stream of an older host names no asking.
    of: (Option<u64>, String),
    /// Its words.
    pub(crate) writing: Open,
    /// What is reasoned before them.
    pub(crate) thinking: Open,
}

impl UnderWay {
    /// Words of two askings are never one text: what another had said is let go.
    fn turn_to(&mut self, piece: &Map<String, Value>, segment: &str) {
        let asking = piece.get("asking").and_then(Value::as_u64);
        let segment = piece.get(segment).and_then(Value::as_str).unwrap_or_default();
        if (self.of.0, self.of.1.as_str()) != (asking, segment) {
            *self = Self { of: (asking, segment.to_owned()), ..Self::default() };
        }
    }

    /// The asking, where something is told of one.
    pub(crate) fn asking(&self) -> Option<wire::task::Asking> {
        let number = self.of.0?;
        Some(wire::task::Asking {
            number,
            writing_from: self.writing.from,
            thinking_from: self.thinking.from,
        })
    }
}

/// A text that is told in pieces.
#[derive(Default)]
pub(crate) struct Open {
    text: String,
    /// Where it begins in the answer, and where it ends, in UTF-16 code units.
    from: u64,
    end: u64,
}

impl Open {
    fn take(&mut self, piece: &Map<String, Value>) {
        let text = piece.get("delta").and_then(Value::as_str).unwrap_or_default();
        let from = piece.get("from").and_then(Value::as_u64).unwrap_or(self.end);
        if from != self.end {
            // Pieces in between were lost, or stand before what is read here.
            *self = Self { text: String::new(), from, end: from };
        }
        self.text.push_str(text);
        self.end = self.end.saturating_add(text.encode_utf16().count() as u64);
    }

    /// None where nothing was told.
    pub(crate) fn told(self) -> Option<String> {
        (!self.text.is_empty()).then_some(self.text)
    }
}

/// What is under way of a run's answer, or was when a person or the clock ended the run in its middle (RA-3-6); nothing where
/// there is none, or where the stream cannot be read. Of a run at work that is what this process hears; what another host
/// left behind is told of one that nobody works on, and of no other.
pub(crate) fn under_way(host: &dyn Host, row: &TaskRow, is_interrupted: bool) -> UnderWay {
    let told = [RunStatus::Running, RunStatus::Cancelling, RunStatus::Cancelled, RunStatus::Expired];
    if !told.contains(&row.run_status) {
        return UnderWay::default();
    }
    let open = half_said(host, row).unwrap_or_default();
    let is_at_work = row.run_status == RunStatus::Running && !is_interrupted;
    match host.kernel() {
        Ok(kernel) if is_at_work => match kernel.asking(row.task_id) {
            Some(asking) if open.of.0 == Some(asking) => open,
            _ => UnderWay::default(),
        },
        _ => open,
    }
}

fn half_said(host: &dyn Host, row: &TaskRow) -> Option<UnderWay> {
    let journal = host.journal(Some(row.task_id)).ok()?;
    let last = journal.reader.run(row.task_id).ok()??.last_event_id?;
    let last: u64 = last.rsplit_once(':')?.1.parse().ok()?;
    let rows = model::limits::PAGE_ROWS_MAX;
    let mut position = Position::AfterSeq(last.saturating_sub(u64::from(rows) * u64::from(HALF_SAID_PAGES)));
    let mut open = UnderWay::default();
    for _ in 0..HALF_SAID_PAGES {
        let page = journal.reader.page(row.task_id, &position, rows).ok()?;
        for event in &page.events {
            match event.family {
                Family::TokenDelta => {
                    open.turn_to(&event.payload, "segment_id");
                    open.writing.take(&event.payload);
                }
                Family::ReasoningDelta => {
                    open.turn_to(&event.payload, "block_id");
                    open.thinking.take(&event.payload);
                }
                // It is asked, perhaps anew under another host; or its answer is recorded, or there will be none.
                Family::Progress if matches!(phase(event), Some("reasoning" | "answered")) => {
                    open = UnderWay::default();
                }
                Family::Error => open = UnderWay::default(),
                _ => {}
            }
        }
        if !page.more {
            break;
        }
        position = Position::Cursor(page.cursor);
    }
    Some(open)
}

fn phase(event: &runstream::Envelope) -> Option<&str> {
    event.payload.get("phase").and_then(Value::as_str)
}

/// Follows one run from a position on.
pub struct Follow {
    journal: Journal,
    run: TaskId,
    session: String,
    position: Position,
    seen: u64,
    resumed: Option<Resumed>,
}

/// What came next.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Where it goes on: at the beginning, and when everything comes again.
    Resumed(Value),
    /// An event: its name, its type, its envelope.
    Event {
        /// `run_id:seq`.
        id: String,
        /// Its family.
        family: String,
        /// The whole.
        envelope: Value,
        /// Whether it ended the run.
        terminal: bool,
    },
}

impl Follow {
    /// Begins behind a position.
    ///
    /// # Errors
    /// [`Code::NotFound`].
    pub fn begin(host: &dyn Host, run_id: &str, position: Position) -> Result<Self, Error> {
        let row = known(host, run_id)?;
        let run = row.task_id;
        let session = super::session_name(host, row.conversation_id)?;
        let journal = host.journal(Some(run))?;
        Ok(Self { journal, run, session, position, seen: 0, resumed: None })
    }

    /// Whether the client has everything of a run that has ended.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub fn is_over(&self) -> Result<bool, Error> {
        if !self.has_ended()? {
            return Ok(false);
        }
        let page = self.journal.reader.page(self.run, &self.position, 1).map_err(of_journal)?;
        Ok(page.events.is_empty() && !page.resumed.starts_over())
    }

    /// What comes next, in order; nothing when nothing came within `patience`. None when the run has ended and
    /// everything was given.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Vec<Part>>, Error> {
        let count = self.journal.watch.count();
        if self.resumed.is_some() && count == self.seen {
            let count = self.journal.watch.wait(self.seen, patience);
            if count == self.seen {
                return Ok(Some(Vec::new()));
            }
        }
        // Asked before the page is read: what ended the run in between is on the next one.
        let has_ended = self.has_ended()?;
        let page = self
            .journal
            .reader
            .page(self.run, &self.position, model::limits::PAGE_ROWS_MAX)
            .map_err(of_journal)?;
        let mut parts = Vec::with_capacity(page.events.len() + 1);
        if self.resumed.is_none() || page.resumed.starts_over() {
            parts.push(Part::Resumed(serde_json::json!({ "resumed": page.resumed })));
        }
        self.resumed = Some(page.resumed);
        // What was written while this page was read is asked for at once.
        self.seen = if page.more { count.wrapping_sub(1) } else { count };
        self.position = Position::Cursor(page.cursor);
        let is_new = page.events.is_empty() && !page.more;
        for event in page.events {
            let (id, family, terminal) = (event.event_id(), event.family.to_string(), event.terminal);
            let mut envelope = serde_json::to_value(event).map_err(crate::failed)?;
            name_session(&mut envelope, &self.session);
            parts.push(Part::Event { id, family, envelope, terminal });
        }
        if is_new && parts.is_empty() && has_ended {
            return Ok(None);
        }
        Ok(Some(parts))
    }

    /// Whether the run has ended, so that nothing can follow.
    ///
    /// # Errors
    /// When the stream cannot be read.
    fn has_ended(&self) -> Result<bool, Error> {
        Ok(self.journal.reader.run(self.run).map_err(of_journal)?.is_some_and(|run| run.ended.is_some()))
    }
}
