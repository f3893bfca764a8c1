//! Whether words repeat what a look into a secret brought: asked before a claim of memory is kept, and before one is told.

use super::Query;
use crate::Error;
use crate::fold::{Looks, Values, int, is_telling, looks, root, tasks_named, told};
use crate::rows::MemoryRow;
use model::artifact::EvidenceRef;
use model::{MemoryId, TaskId};
use rusqlite::Connection;
use std::collections::{BTreeSet, HashMap};
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
    /// What the tasks looked into that the words come from; all of it is searched for.
    own: Looks,
    anywhere: Anywhere,
}

/// What nobody says by chance of the newest looks of the whole store.
struct Anywhere {
    values: Values,
    /// Where in the log each of them was looked into first.
    first: HashMap<String, i64>,
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
        (own.stand_in(words) || self.anywhere.stand_in(words, i64::MAX)).then_some(Repeated::Value)
    }
}

impl Anywhere {
    fn read(conn: &Connection) -> Result<Self, Error> {
        let statement =
            "SELECT seq, found FROM view_withheld WHERE found IS NOT NULL ORDER BY seq DESC LIMIT ?1";
        let mut found = conn.prepare_cached(statement)?;
        let (mut rows, mut first) = (found.query([LOOKS_MAX])?, HashMap::new());
        while let Some(row) = rows.next()? {
            let (seq, known): (i64, String) = (row.get(0)?, row.get(1)?);
            // The oldest comes last.
            let telling = known.lines().filter(|value| is_telling(value));
            first.extend(telling.map(|value| (value.to_owned(), seq)));
        }
        Ok(Self { values: Values::of(first.keys().cloned().collect()), first })
    }

    /// Whether words hold one that was looked into before a place of the log.
    fn stand_in(&self, words: &str, before: i64) -> bool {
        self.values.any_in(words, |value| self.first.get(value).is_some_and(|first| *first < before))
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
            Ok(Brought { own: looks(conn, &roots, i64::MAX)?, anywhere: Anywhere::read(conn)? })
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
            let (anywhere, mut asked) = (Anywhere::read(conn)?, BTreeSet::new());
            for row in rows.iter().filter(|row| asked.insert(row.memory_id)) {
                let texts =
                    [&row.claim, &row.scope, &row.reason].map(|text| text.shown().map_or("", String::as_str));
                let (words, seq) = (texts.join("\n"), int(row.seq));
                let own = looks(conn, &word_roots(conn, seq)?, seq)?;
                if own.values.is_none_or(|own| own.stand_in(&words)) || anywhere.stand_in(&words, seq) {
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
