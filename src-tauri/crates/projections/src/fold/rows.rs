//! Rows while events are folded: each is read at most once, changed here, and written once at the end of the batch.
//!
//! Nearly every event changes the row of its task, its message or its conversation. Of a log that is folded anew all
//! rows are made here, so that none is looked for in the tables before some had to be written there.

use super::Seen;
use crate::Error;
use crate::rows::{New, ViewRow};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ToSql, params_from_iter};
use std::collections::HashMap;

/// Rows of one table that are kept before all of them are written: memory stays bounded.
const KEPT_MAX: usize = 4_096;

struct Kept<R> {
    row: R,
    /// The row as it stands in the table, where it does.
    stored: Option<R>,
}

/// Rows of one table.
pub(crate) struct Held<R: ViewRow> {
    rows: HashMap<R::Key, Kept<R>>,
    /// Whether the table itself is empty.
    all: bool,
}

impl<R: ViewRow> Held<R> {
    pub fn new(all: bool) -> Self {
        Self { rows: HashMap::new(), all }
    }

    /// Reads the row of a key, unless it is here; answers whether there is one.
    fn load(&mut self, conn: &Connection, key: &R::Key) -> Result<bool, Error> {
        if self.rows.contains_key(key) || self.all {
            return Ok(self.rows.contains_key(key));
        }
        let mut found = conn.prepare_cached(R::SELECT)?;
        let mut rows = found.query(params_from_iter(R::bound(key)))?;
        let Some(row) = rows.next()? else { return Ok(false) };
        let row = R::read(row, None)?;
        self.keep(conn, Kept { stored: Some(row.clone()), row })?;
        Ok(true)
    }

    fn keep(&mut self, conn: &Connection, kept: Kept<R>) -> Result<(), Error> {
        if self.rows.len() >= KEPT_MAX {
            self.write(conn)?;
        }
        self.rows.insert(kept.row.key(), kept);
        Ok(())
    }

    /// Writes what is new or was changed, and forgets all. In the order of their keys, rows go to pages side by side.
    pub fn write(&mut self, conn: &Connection) -> Result<(), Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        self.all = false;
        // Rows are large: their places are sorted, and they stay where they are.
        let mut rows: Vec<(&R::Key, &Kept<R>)> = self.rows.iter().collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        let mut insert = conn.prepare_cached(R::INSERT)?;
        for (key, Kept { row, stored }) in rows {
            match stored {
                Some(stored) => update::<R>(conn, key, row.changed(stored))?,
                None => {
                    row.bind(&mut insert)?;
                    insert.raw_execute()?;
                }
            }
        }
        self.rows.clear();
        Ok(())
    }
}

fn update<R: ViewRow>(
    conn: &Connection,
    key: &R::Key,
    changed: Vec<(&str, ToSqlOutput<'_>)>,
) -> Result<(), Error> {
    if changed.is_empty() {
        return Ok(());
    }
    let set: Vec<String> = changed.iter().map(|(column, _)| format!("{column} = ?")).collect();
    let text = format!("UPDATE {} SET {} WHERE {}", R::TABLE, set.join(", "), R::BY_KEY);
    let values = changed.into_iter().map(|(_, value)| value).chain(R::bound(key));
    conn.prepare_cached(&text)?.execute(params_from_iter(values))?;
    Ok(())
}

impl Seen<'_> {
    /// Makes a row; answers whether there was none of its key.
    pub(super) fn add<N: New>(&self, new: N) -> Result<bool, Error> {
        let row = new.row(self.seq);
        let mut held = N::Row::among(self.rows).borrow_mut();
        if held.load(self.conn, &row.key())? {
            return Ok(false);
        }
        held.keep(self.conn, Kept { row, stored: None })?;
        Ok(true)
    }

    /// Lends a row to be changed; answers nothing where there is none.
    pub(super) fn change<R: ViewRow, T>(
        &self,
        key: R::Key,
        with: impl FnOnce(&mut R) -> T,
    ) -> Result<Option<T>, Error> {
        let mut held = R::among(self.rows).borrow_mut();
        held.load(self.conn, &key)?;
        Ok(held.rows.get_mut(&key).map(|kept| with(&mut kept.row)))
    }

    /// Changes a row, where there is one.
    pub(super) fn set<R: ViewRow>(&self, key: R::Key, with: impl FnOnce(&mut R)) -> Result<(), Error> {
        self.change(key, with).map(drop)
    }

    /// The keys of the rows of which something holds: as told by `holds` where they are here, else by the question, which
    /// answers with the rows whole.
    pub(super) fn all_of<R: ViewRow>(
        &self,
        holds: impl Fn(&R) -> bool,
        (column, value): (&str, &dyn ToSql),
    ) -> Result<Vec<R::Key>, Error> {
        let held = R::among(self.rows).borrow();
        let here = held.rows.iter().filter(|(_, kept)| holds(&kept.row)).map(|(key, _)| key.clone());
        let mut keys: Vec<R::Key> = here.collect();
        if !held.all {
            let text = format!("SELECT {} FROM {} WHERE {column} = ?1", R::COLUMNS, R::TABLE);
            let mut found = self.conn.prepare_cached(&text)?;
            let mut rows = found.query([value])?;
            while let Some(row) = rows.next()? {
                let key = R::read(row, None)?.key();
                if !held.rows.contains_key(&key) {
                    keys.push(key);
                }
            }
        }
        keys.sort_unstable();
        Ok(keys)
    }
}
