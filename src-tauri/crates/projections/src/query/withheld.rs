//! Whether words repeat what a look into a secret brought: asked before a claim of memory is kept, and before one is told.

use super::Query;
use crate::Error;
use crate::fold::{Values, int, is_telling, root, tasks_named, told};
use crate::rows::MemoryRow;
use model::artifact::EvidenceRef;
use model::{MemoryId, TaskId};
use rusqlite::{Connection, params};
use std::collections::BTreeSet;
use std::fmt;

/// Looks of the whole store whose values words are searched for, the newest.
const LOOKS_MAX: i64 = 1_000;

/// What is the matter with words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeated {
    /// They hold a value of a secret, as it is or encoded.
    Value,
    /// They come from a look into a secret of which not all values are known, or no longer.
    Perhaps,
}

/// What looks into secrets brought, as far as words may repeat it.
pub struct Brought {
    own: Own,
    anywhere: Values,
}

/// What the tasks looked into that words come from; all of it is searched for.
struct Own {
    has_looked: bool,
    /// None where not all of it is known.
    values: Option<Values>,
}

impl fmt::Debug for Brought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Brought").field("has_looked", &self.own.has_looked).finish_non_exhaustive()
    }
}

impl Brought {
    /// Whether one of the tasks looked into a secret.
    pub const fn has_looked(&self) -> bool {
        self.own.has_looked
    }

    /// Whether words repeat a value; of looks of other tasks only such a one as nobody says by chance.
    pub fn repeated_in(&self, words: &str) -> Option<Repeated> {
        let Some(own) = &self.own.values else { return Some(Repeated::Perhaps) };
        (own.stand_in(words) || self.anywhere.stand_in(words)).then_some(Repeated::Value)
    }
}

impl Query {
    /// What words may repeat that come from these tasks and from this evidence.
    ///
    /// # Errors
    /// As every list.
    pub fn brought(&self, tasks: &[TaskId], evidence: &[EvidenceRef]) -> Result<Brought, Error> {
        let mut from: BTreeSet<TaskId> = tasks.iter().copied().collect();
        for one in evidence {
            from.extend(tasks_named(&one.capture_method));
            from.extend(self.artifact(one.artifact_id)?.map(|row| row.task_id));
        }
        self.read(|conn| {
            let mut roots = BTreeSet::new();
            for task in from {
                roots.insert(root(conn, task)?);
            }
            told(conn, &mut roots)?;
            Ok(Brought { own: own(conn, &roots, i64::MAX)?, anywhere: anywhere(conn, i64::MAX)? })
        })
    }

    /// Of these memory records those that repeat what a look brought that was on record before them, or of which nobody can tell.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_repeating(&self, rows: &[&MemoryRow]) -> Result<BTreeSet<MemoryId>, Error> {
        self.read(|conn| {
            let mut repeating = BTreeSet::new();
            let statement = "SELECT EXISTS (SELECT 1 FROM view_withheld)";
            if !conn.prepare_cached(statement)?.query_row([], |row| row.get::<_, bool>(0))? {
                return Ok(repeating);
            }
            let (all, mut asked) = (anywhere(conn, i64::MAX)?, BTreeSet::new());
            for row in rows.iter().filter(|row| asked.insert(row.memory_id)) {
                let texts =
                    [&row.claim, &row.scope, &row.reason].map(|text| text.shown().map_or("", String::as_str));
                let (words, seq) = (texts.join("\n"), int(row.seq));
                let own = own(conn, &word_roots(conn, seq)?, seq)?;
                // Nearly every claim repeats nothing of all looks; only then is it asked which of them came before it.
                if own.values.is_none_or(|own| own.stand_in(&words))
                    || (all.stand_in(&words) && anywhere(conn, seq)?.stand_in(&words))
                {
                    repeating.insert(row.memory_id);
                }
            }
            Ok(repeating)
        })
    }
}

/// The roots of the tasks that a claim comes from, by its place in the log.
fn word_roots(conn: &Connection, seq: i64) -> Result<BTreeSet<String>, Error> {
    let mut found = conn.prepare_cached("SELECT root FROM view_word_roots WHERE seq = ?1")?;
    let roots: BTreeSet<String> =
        found.query_map([seq], |row| row.get::<_, String>(0))?.collect::<Result<_, _>>()?;
    Ok(roots)
}

/// What tasks of these roots looked into before a place of the log.
fn own(conn: &Connection, roots: &BTreeSet<String>, before: i64) -> Result<Own, Error> {
    let mut found = conn.prepare_cached("SELECT found FROM view_withheld WHERE root = ?1 AND seq < ?2")?;
    let (mut values, mut has_looked, mut is_known) = (BTreeSet::new(), false, true);
    for root in roots {
        let mut rows = found.query(params![root, before])?;
        while let Some(row) = rows.next()? {
            has_looked = true;
            match row.get::<_, Option<String>>(0)? {
                Some(known) => values.extend(known.lines().map(str::to_owned)),
                None => is_known = false,
            }
        }
    }
    Ok(Own { has_looked, values: is_known.then(|| Values::of(values)) })
}

/// What nobody says by chance of all that was looked into before a place of the log.
fn anywhere(conn: &Connection, before: i64) -> Result<Values, Error> {
    let statement =
        "SELECT found FROM view_withheld WHERE seq < ?1 AND found IS NOT NULL ORDER BY seq DESC LIMIT ?2";
    let mut found = conn.prepare_cached(statement)?;
    let mut rows = found.query(params![before, LOOKS_MAX])?;
    let mut values = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let known: String = row.get(0)?;
        values.extend(known.lines().filter(|value| is_telling(value)).map(str::to_owned));
    }
    Ok(Values::of(values))
}
