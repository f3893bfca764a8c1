//! The fold: one event at a time into every table it concerns.

mod act;
mod knowledge;
mod roots;
mod rows;
mod search;
mod spent;
mod talk;
mod withheld;
mod work;

use crate::rebuild::{Flow, Progress, rebuild};
use crate::rows::Rows;
use crate::{Error, schema};
use ledger::{Placed, Projector};
use model::state_root::leaf_hash;
use model::{Body, Digest, Event, UnixMs};
use rusqlite::{Connection, Params};
use std::borrow::Cow;
use std::fmt::{Display, Write as _};

pub(crate) use rows::Held;
pub(crate) use search::{Docs, Forgotten, Leaf, Opened, disclosed};
pub(crate) use withheld::{Looks, Values, is_telling, looks, root, tasks_named, told};

/// Statements kept ready: those of this room and the ledger's own. Preparing one costs more than running it.
pub(crate) const STATEMENTS: usize = 256;

type OnProgress = Box<dyn FnMut(Progress) -> Flow + Send>;

/// Folds events into the views, within the transaction that records them.
#[derive(Default)]
pub struct Fold {
    progress: Option<OnProgress>,
    always: bool,
}

impl std::fmt::Debug for Fold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fold").field("always", &self.always).finish_non_exhaustive()
    }
}

impl Fold {
    /// Folds what comes; on opening it rebuilds when the tables are of another version or behind the log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells how far a rebuild has come, and asks whether to go on.
    #[must_use]
    pub fn with_progress(self, progress: impl FnMut(Progress) -> Flow + Send + 'static) -> Self {
        Self { progress: Some(Box::new(progress)), ..self }
    }

    /// Rebuilds on opening, whatever the tables say.
    #[must_use]
    pub fn rebuilding(self) -> Self {
        Self { always: true, ..self }
    }

    fn make_ready(&mut self, conn: &Connection) -> Result<(), Error> {
        let last = "SELECT coalesce(max(log_seq), 0) FROM events";
        let last: i64 = conn.query_row(last, [], |row| row.get(0))?;
        if !self.always && schema::version(conn)? == Some((schema::VERSION, last)) {
            return Ok(());
        }
        let mut go_on = |_| Flow::Continue;
        match &mut self.progress {
            Some(progress) => rebuild(conn, progress.as_mut()),
            None => rebuild(conn, &mut go_on),
        }?;
        self.always = false;
        Ok(())
    }
}

impl Projector for Fold {
    fn prepare(&mut self, conn: &Connection) -> Result<(), String> {
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        self.make_ready(conn).map_err(|e| e.to_string())
    }

    fn apply(&mut self, tx: &Connection, placed: &[Placed]) -> Result<(), String> {
        let all = || -> Result<(), Error> {
            // Of this batch only: one that is taken back takes its rows along.
            let (rows, forgotten) = (Rows::new(false), Forgotten::default());
            for one in placed {
                let opened: Vec<(Digest, &[u8])> =
                    one.disclosures.iter().map(|d| (d.digest, d.bytes.as_slice())).collect();
                let Typed { event, body, leaves, bytes } =
                    Typed::read(one.log_seq, one.bytes.as_slice().into(), &opened)?;
                let (seq, event, bytes) = (one.log_seq, &event, &*bytes);
                let seen =
                    Seen { conn: tx, seq, event, bytes, docs: None, rows: &rows, forgotten: &forgotten };
                fold(&seen, &body, leaves)?;
            }
            rows.write(tx)?;
            forgotten.drop_words(tx)?;
            let last = placed.last().map_or(0, |p| int(p.log_seq));
            tx.prepare_cached("UPDATE view_meta SET log_seq = ?1")?.execute([last])?;
            Ok(())
        };
        all().map_err(|e| e.to_string())
    }
}

/// One event in its place, and the tables.
pub(crate) struct Seen<'a> {
    pub conn: &'a Connection,
    pub seq: u64,
    pub event: &'a Event,
    /// Its exact bytes.
    pub bytes: &'a [u8],
    /// Where documents of the search wait to be written together; nowhere while the log is live.
    pub docs: Option<&'a Docs>,
    /// Rows that wait to be written.
    pub rows: &'a Rows,
    /// Whether words were taken out of the index.
    pub forgotten: &'a Forgotten,
}

/// An event as the fold takes it: its body typed, its sensitive leaves found.
pub(crate) struct Typed<'a> {
    /// The event without its body.
    pub event: Event,
    pub body: Body,
    pub leaves: Vec<Leaf>,
    /// The event as it is stored.
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> Typed<'a> {
    /// Reads stored bytes.
    pub fn read(log_seq: u64, bytes: Cow<'a, [u8]>, opened: Opened<'_>) -> Result<Self, Error> {
        let read = || -> Result<_, model::Error> {
            let (event, payload) = Event::apart(&bytes)?;
            let body = Body::read(
                &event.event_type,
                event.schema_version,
                &mut serde_json::Deserializer::from_str(payload),
            )?;
            Ok((event, body, search::leaves(payload, opened)))
        };
        let (event, body, leaves) = read().map_err(|e| Error::Event { log_seq, why: e.to_string() })?;
        Ok(Self { event, body, leaves, bytes })
    }
}

/// Folds one event. Its sensitive leaves stay concealed: rows keep digests, only the index reads text.
pub(crate) fn fold(seen: &Seen<'_>, body: &Body, leaves: Vec<Leaf>) -> Result<(), Error> {
    // The first that knows the event takes it; a few concern two.
    work::fold(seen, body)?;
    act::fold(seen, body)?;
    knowledge::fold(seen, body)?;
    talk::fold(seen, body)?;
    roots::fold(seen, body)?;
    spent::fold(seen, body)?;
    search::fold(seen, body, leaves)?;
    Ok(())
}

impl Seen<'_> {
    /// Runs one statement; says how many rows it changed.
    fn run(&self, text: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.conn.prepare_cached(text)?.execute(values)
    }

    fn at(&self) -> UnixMs {
        self.event.occurred_at
    }

    /// The event as a leaf of a root of state.
    fn leaf(&self) -> Digest {
        leaf_hash(self.bytes)
    }
}

pub(crate) fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The text of an identifier.
fn text(value: impl Display) -> String {
    // No identifier is longer; writing to a string never fails.
    let mut text = String::with_capacity(40);
    let _ = write!(text, "{value}");
    text
}
