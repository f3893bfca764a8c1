//! Group commit: a savepoint for every batch, one COMMIT and one sync for all of them.

use crate::batch::{Batch, Committed, Projector};
use crate::place::Place;
use crate::state::State;
use crate::{Error, rows::int};
use model::Entropy;
use model::fault::{Faults, Point};
use rusqlite::Connection;
use std::sync::Arc;

/// Pages in the WAL before they are moved into the database between two commits: 16 MB.
const WAL_PAGES_MAX: i64 = 4_000;

type Answer = Result<Committed, Error>;

/// The connection that writes, and what it needs. Lives in the writer's thread.
pub(crate) struct Engine {
    pub conn: Connection,
    pub epoch: u64,
    pub projector: Box<dyn Projector>,
    pub faults: Arc<dyn Faults>,
    pub entropy: Arc<dyn Entropy>,
    pub state: State,
    /// Why nothing is written any more.
    pub stopped: Option<Error>,
}

/// Why a whole group was not committed.
enum Failed {
    /// The store is as it was; go on.
    Refused(Error),
    /// Whether it is on disk is not known; write nothing any more.
    Stop(Error),
}

impl Engine {
    /// Commits a group and answers every batch of it, in order.
    pub fn run(&mut self, group: Vec<Batch>) -> Vec<Answer> {
        let size = group.len();
        if let Some(why) = &self.stopped {
            return vec![Err(why.clone()); size];
        }
        match self.group(group) {
            Ok(answers) => answers,
            Err(failed) => {
                let error = self.give_up(failed);
                vec![Err(error); size]
            }
        }
    }

    /// Takes the group back. Without a sure way back the writer stops.
    fn give_up(&mut self, failed: Failed) -> Error {
        let mut error = match failed {
            Failed::Refused(error) => error,
            Failed::Stop(error) => return self.stop(&error),
        };
        if !self.conn.is_autocommit()
            && let Err(e) = self.conn.execute_batch("ROLLBACK")
        {
            return self.stop(&Error::sql("taking a batch back", &e));
        }
        match State::load(&self.conn) {
            Ok(state) => self.state = state,
            Err(e) => error = self.stop(&e),
        }
        error
    }

    fn stop(&mut self, reason: &Error) -> Error {
        let why = match reason {
            Error::ReadOnly { why } => why.clone(),
            other => format!("{other}; end this process and open the store again"),
        };
        // A failed rollback changes nothing any more: the connection writes no further frame.
        let _ = self.conn.execute_batch("ROLLBACK");
        let stopped = Error::ReadOnly { why };
        self.stopped = Some(stopped.clone());
        stopped
    }

    fn group(&mut self, group: Vec<Batch>) -> Result<Vec<Answer>, Failed> {
        let points: Vec<Point> = group.iter().map(|batch| batch.point).collect();
        self.conn
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(|e| Failed::Refused(Error::sql("beginning", &e)))?;
        let (mut answers, mut writes, mut erases) = (Vec::with_capacity(group.len()), false, false);
        for batch in group {
            let (writes_some, erases_some) = (!batch.is_empty(), !batch.erase.is_empty());
            let answer = self.one(batch)?;
            writes |= writes_some && answer.is_ok();
            erases |= erases_some && answer.is_ok();
            answers.push(answer);
        }
        let reached =
            || points.iter().zip(&answers).filter(|(_, answer)| answer.is_ok()).map(|(point, _)| *point);
        for point in reached() {
            self.faults.before(point).map_err(|e| injected(&e))?;
        }
        let end = if writes { "COMMIT" } else { "ROLLBACK" };
        self.conn.execute_batch(end).map_err(|e| match Error::sql("committing", &e) {
            Error::Full => Failed::Refused(Error::Full),
            other => Failed::Stop(other),
        })?;
        for point in reached() {
            self.faults.after(point).map_err(|e| Failed::Stop(Error::io("confirming a commit", &e)))?;
        }
        if erases {
            // The WAL would keep the erased bytes until it is overwritten.
            self.move_wal("TRUNCATE");
        }
        Ok(answers)
    }

    /// One batch under its own savepoint: what it is refused for never touches the others.
    fn one(&mut self, batch: Batch) -> Result<Answer, Failed> {
        let sql = |e: rusqlite::Error| Failed::Stop(Error::sql("setting a savepoint", &e));
        self.conn.execute_batch("SAVEPOINT batch").map_err(sql)?;
        let mark = self.state.mark();
        let mut place = Place {
            conn: &self.conn,
            state: &mut self.state,
            epoch: self.epoch,
            entropy: self.entropy.as_ref(),
            projector: self.projector.as_mut(),
        };
        let answer = place.batch(batch);
        match &answer {
            Ok(_) => self.conn.execute_batch("RELEASE batch").map_err(sql)?,
            Err(error) => {
                self.state.back_to(mark);
                if matches!(error, Error::ReadOnly { .. } | Error::Corrupt { .. }) {
                    return Err(Failed::Stop(error.clone()));
                }
                // Some failures take the whole transaction back; then nobody of the group is in it.
                if self.conn.is_autocommit() {
                    return Err(Failed::Refused(error.clone()));
                }
                self.conn.execute_batch("ROLLBACK TO batch; RELEASE batch").map_err(sql)?;
            }
        }
        Ok(answer)
    }

    /// Between commits: moves a grown WAL into the database, so that no commit pays for it.
    pub fn tidy(&self) {
        if self.stopped.is_none() && self.wal_backlog() > WAL_PAGES_MAX {
            self.move_wal("PASSIVE");
        }
    }

    /// The end of a host that ended well: everything is in the one file.
    pub fn close(&self) {
        if self.stopped.is_none() {
            self.move_wal("TRUNCATE");
        }
    }

    /// Frames in the WAL that are not in the database yet, as SQLite counts them.
    fn wal_backlog(&self) -> i64 {
        let read = |row: &rusqlite::Row<'_>| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?);
        self.conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], read).unwrap_or(0)
    }

    /// A WAL that cannot be moved now, because a reader still needs it, is moved later.
    fn move_wal(&self, mode: &str) {
        let _ = self.conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
    }

    /// Takes the next epoch: from here on no earlier writer can add a row.
    pub fn take_epoch(conn: &Connection, session: &str, hermit_version: &str) -> Result<u64, Error> {
        let sql = |e: rusqlite::Error| Error::sql("taking the store's next epoch", &e);
        conn.execute_batch("BEGIN IMMEDIATE").map_err(sql)?;
        let last: i64 = conn
            .query_row("SELECT coalesce(max(epoch), 0) FROM epochs", [], |row| row.get(0))
            .map_err(sql)?;
        let epoch = crate::rows::count(last) + 1;
        let text = "INSERT INTO epochs (epoch, session, pid, hermit_version) VALUES (?1, ?2, ?3, ?4)";
        conn.execute(text, rusqlite::params![int(epoch), session, std::process::id(), hermit_version])
            .map_err(sql)?;
        conn.execute_batch("COMMIT").map_err(sql)?;
        Ok(epoch)
    }
}

fn injected(error: &std::io::Error) -> Failed {
    match Error::file("committing", error) {
        Error::Full => Failed::Refused(Error::Full),
        other => Failed::Stop(other),
    }
}
