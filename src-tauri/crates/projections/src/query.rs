//! What can be asked: lists with cursors, single rows, counts, search, lineage. Nothing here writes or locks.

mod conversations;
mod groups;
mod ids;
mod lists;
mod memories;
mod refused;
mod search;
mod spent;
mod state_roots;
mod talk;
mod withheld;

pub use groups::{FolderUse, TaskCounts, TaskFilter, TaskGroup};
pub use ids::Named;
pub use lists::{ArtifactFilter, GateState, MemoryFilter, Waiting};
pub use refused::RefusedBy;
pub use search::Hit;
pub use spent::SpentOn;
pub use state_roots::{MemoryPoint, MemoryThen, RootsSince};
pub use withheld::{Brought, Repeated};

use crate::rows::ViewRow;
use crate::{Error, schema};
use ledger::Reader;
use model::limits::PAGE_ROWS_MAX;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Reads the views of a store.
#[derive(Debug, Clone)]
pub struct Query {
    reader: Reader,
}

/// Where a page ended; handed back to get the next one. Its text is opaque.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(into = "String")]
pub struct Cursor(pub(crate) u64);

impl From<Cursor> for String {
    fn from(cursor: Cursor) -> Self {
        cursor.to_string()
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{:x}", self.0)
    }
}

impl FromStr for Cursor {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let number = text.strip_prefix('c').and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let cursor = number.map(Self).filter(|cursor| cursor.to_string() == text);
        cursor
            .ok_or_else(|| Error::Asked { why: format!("`{text}` is no cursor; leave it out to begin anew") })
    }
}

model::names! {
    /// Which end a list begins at.
    pub enum Order ("order") {
        /// The newest first.
        Newest = "newest",
        /// The oldest first.
        Oldest = "oldest",
    }
}

/// Which part of a list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Where the last page ended; none for the first.
    pub after: Option<Cursor>,
    /// Rows wanted; at most [`PAGE_ROWS_MAX`] are given, at least one.
    pub limit: u32,
    /// Which end comes first.
    pub order: Order,
}

impl Default for Ask {
    fn default() -> Self {
        Self { after: None, limit: 50, order: Order::Newest }
    }
}

impl Ask {
    /// As many rows as a page may have, the newest first.
    pub const ALL: Self = Self { after: None, limit: PAGE_ROWS_MAX, order: Order::Newest };

    /// The same part in the order of the log.
    #[must_use]
    pub const fn oldest_first(self) -> Self {
        Self { order: Order::Oldest, ..self }
    }

    /// The part behind a cursor.
    #[must_use]
    pub const fn after(self, after: Option<Cursor>) -> Self {
        Self { after, ..self }
    }

    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.limit.clamp(1, PAGE_ROWS_MAX)).unwrap_or(1)
    }
}

/// One part of a list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where to go on; none at the end.
    pub next: Option<Cursor>,
}

/// One condition on the rows of a list.
pub(crate) enum Is {
    /// A column holds exactly this.
    Text(&'static str, String),
    /// A column holds exactly this, or nothing.
    TextOrEmpty(&'static str, String),
    /// A column holds one of these.
    OneOf(&'static str, Vec<String>),
    /// A column holds more than this.
    Over(&'static str, i64),
    /// A column holds this at most.
    UpTo(&'static str, i64),
    /// A column holds more than this, or nothing.
    OverOrEmpty(&'static str, i64),
    /// A column holds nothing.
    Empty(&'static str),
    /// This holds, which names columns only.
    Holds(&'static str),
}

impl Is {
    fn some(column: &'static str, value: Option<impl fmt::Display>) -> Option<Self> {
        value.map(|value| Self::Text(column, value.to_string()))
    }

    fn write(self, text: &mut String, values: &mut Vec<Value>) {
        text.push_str(" AND ");
        match self {
            Self::Text(column, value) => {
                text.push_str(column);
                text.push_str(" = ?");
                values.push(Value::Text(value));
            }
            Self::TextOrEmpty(column, value) => {
                text.push_str(&format!("({column} IS NULL OR {column} = ?)"));
                values.push(Value::Text(value));
            }
            Self::OneOf(column, list) => {
                text.push_str(column);
                text.push_str(" IN (");
                text.push_str(&vec!["?"; list.len()].join(", "));
                text.push(')');
                values.extend(list.into_iter().map(Value::Text));
            }
            Self::Over(column, value) => {
                text.push_str(column);
                text.push_str(" > ?");
                values.push(Value::Integer(value));
            }
            Self::UpTo(column, value) => {
                text.push_str(column);
                text.push_str(" <= ?");
                values.push(Value::Integer(value));
            }
            Self::OverOrEmpty(column, value) => {
                text.push_str(&format!("({column} IS NULL OR {column} > ?)"));
                values.push(Value::Integer(value));
            }
            Self::Empty(column) => {
                text.push_str(column);
                text.push_str(" IS NULL");
            }
            Self::Holds(condition) => {
                text.push('(');
                text.push_str(condition);
                text.push(')');
            }
        }
    }
}

impl Query {
    /// Opens the views of the store in `dir`.
    ///
    /// # Errors
    /// [`Error::Ledger`] when there is no store, [`Error::Version`] when its views are of another version.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        Self::over(Reader::open(dir)?)
    }

    /// The views behind a reader that is open already.
    ///
    /// # Errors
    /// [`Error::Version`] when its views are of another version.
    pub fn over(reader: Reader) -> Result<Self, Error> {
        let query = Self { reader };
        let found = query.read(|conn| Ok(schema::version(conn)?))?.map_or(0, |(version, _)| version);
        if found != schema::VERSION {
            return Err(Error::Version { found, needed: schema::VERSION });
        }
        Ok(query)
    }

    /// The reader underneath: exact bytes of events, disclosures and small artifacts.
    pub const fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The place in the log of the last event folded.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub fn head(&self) -> Result<u64, Error> {
        let head = self.read(|conn| Ok(schema::version(conn)?))?.map_or(0, |(_, head)| head);
        Ok(u64::try_from(head).unwrap_or(0))
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        self.reader.with(|conn| Ok(read(conn)))?
    }

    /// One page of a list.
    pub(crate) fn list<T: ViewRow>(
        &self,
        conditions: impl IntoIterator<Item = Option<Is>>,
        ask: Ask,
    ) -> Result<Page<T>, Error> {
        let mut text = format!("SELECT {} FROM {} WHERE 1", T::COLUMNS, T::TABLE);
        let mut values = Vec::new();
        conditions.into_iter().flatten().for_each(|is| is.write(&mut text, &mut values));
        let (beyond, order) = match ask.order {
            Order::Newest => (" AND seq < ?", " ORDER BY seq DESC"),
            Order::Oldest => (" AND seq > ?", " ORDER BY seq"),
        };
        if let Some(after) = ask.after {
            text.push_str(beyond);
            values.push(Value::Integer(i64::try_from(after.0).unwrap_or(i64::MAX)));
        }
        text.push_str(order);
        text.push_str(" LIMIT ?");
        values.push(Value::Integer(i64::try_from(ask.rows() + 1).unwrap_or(1)));
        let mut rows = self.read(|conn| {
            let mut found = conn.prepare_cached(&text)?;
            let mut read = found.query(params_from_iter(values))?;
            let mut rows = Vec::new();
            while let Some(row) = read.next()? {
                rows.push(T::read(row, Some(conn))?);
            }
            Ok(rows)
        })?;
        let more = rows.len() > ask.rows();
        rows.truncate(ask.rows());
        let next = rows.last().filter(|_| more).map(|row: &T| Cursor(row.seq()));
        Ok(Page { rows, next })
    }

    /// The one row with this identifier.
    pub(crate) fn one<T: ViewRow>(
        &self,
        column: &'static str,
        id: impl fmt::Display,
    ) -> Result<Option<T>, Error> {
        let ask = Ask { limit: 1, ..Ask::default() };
        Ok(self.list([Some(Is::Text(column, id.to_string()))], ask)?.rows.pop())
    }

    /// A number that one statement gives.
    pub(crate) fn number(&self, text: &str, values: &[Value]) -> Result<u64, Error> {
        self.read(|conn| {
            let mut found = conn.prepare_cached(text)?;
            let number: i64 = found.query_row(params_from_iter(values), |row| row.get(0))?;
            Ok(u64::try_from(number).unwrap_or(0))
        })
    }
}
