//! Group commit: one transaction, one COMMIT and one sync for all who wait.
//!
//! Nearly every batch goes in. So a group is written as one; only when a batch of it is refused the group is taken
//! back and written again with a savepoint for every batch, so that the others go in all the same.

use crate::batch::{Committed, Projector};
use crate::insert::Place;
use crate::prepare::Prepared;
use crate::state::State;
use crate::{Error, rows::int, wal};
use model::fault::{Faults, Point};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

/// Pages in the WAL before they are moved into the database between two commits: 16 MB.
const WAL_PAGES_MAX: i64 = 4_000;

/// Rows written between two looks at the WAL. Few rows need more than a handful of pages.
const LOOK_EVERY: usize = 64;

pub(crate) type Answer = Result<Committed, Error>;

/// The connection that writes, and what it needs. One thread at a time has it.
pub(crate) struct Engine {
    pub conn: Connection,
    pub epoch: u64,
    pub projector: Box<dyn Projector>,
    pub faults: Arc<dyn Faults>,
    pub state: State,
    /// Why nothing is written any more.
    pub stopped: Option<Error>,
    /// Rows written since the WAL was last looked at, more or less.
    pub rows: usize,
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
    pub fn run(&mut self, mut group: Vec<Prepared>) -> Vec<Answer> {
        let size = group.len();
        if let Some(why) = &self.stopped {
            return vec![Err(why.clone()); size];
        }
        let done = match self.together(&mut group) {
            Ok(None) => self.one_by_one(&mut group),
            Ok(Some(answers)) => Ok(answers),
            Err(failed) => Err(failed),
        };
        match done {
            Ok(refused) => {
                self.rows += group.iter().map(Prepared::rows).sum::<usize>();
                refused.into_iter().zip(&mut group).map(|(r, batch)| r.map(|()| batch.take())).collect()
            }
            Err(failed) => {
                let error = self.give_up(failed);
                vec![Err(error); size]
            }
        }
    }

    /// The thread that wrote broke off in the middle: nothing is known of what it left behind.
    pub fn broke_off(&mut self) -> Error {
        self.stop(&Error::ReadOnly {
            why: "the writer broke off; end this process and open the store again".to_owned(),
        })
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

    fn control(&self, text: &'static str, doing: &str) -> Result<(), Error> {
        let done = self.conn.prepare_cached(text).and_then(|mut s| s.execute([]));
        done.map(drop).map_err(|e| Error::sql(doing, &e))
    }

    fn begin(&self) -> Result<(), Failed> {
        self.control("BEGIN IMMEDIATE", "beginning").map_err(Failed::Refused)
    }

    /// The group as if it were one batch. Where that batch would be refused and has others beside it, nothing is
    /// answered and nothing is left of it.
    fn together(&mut self, group: &mut [Prepared]) -> Result<Option<Vec<Result<(), Error>>>, Failed> {
        let mark = self.state.mark();
        self.begin()?;
        for batch in group.iter_mut() {
            let Err(error) = self.place(batch) else { continue };
            if matches!(error, Error::ReadOnly { .. } | Error::Corrupt { .. }) {
                return Err(Failed::Stop(error));
            }
            self.state.back_to(mark);
            // Some failures take the transaction back themselves.
            if !self.conn.is_autocommit() {
                self.control("ROLLBACK", "taking a batch back").map_err(Failed::Stop)?;
            }
            return Ok((group.len() == 1).then(|| vec![Err(error)]));
        }
        self.end(group, &vec![Ok(()); group.len()])?;
        Ok(Some(vec![Ok(()); group.len()]))
    }

    /// Each batch under its own savepoint: what it is refused for never touches the others.
    fn one_by_one(&mut self, group: &mut [Prepared]) -> Result<Vec<Result<(), Error>>, Failed> {
        self.begin()?;
        let mut answers = Vec::with_capacity(group.len());
        for batch in group.iter_mut() {
            answers.push(self.one(batch)?);
        }
        self.end(group, &answers)?;
        Ok(answers)
    }

    fn place(&mut self, batch: &mut Prepared) -> Result<(), Error> {
        let (epoch, projector) = (self.epoch, self.projector.as_mut());
        Place { conn: &self.conn, state: &mut self.state, epoch, projector }.batch(batch)
    }

    fn one(&mut self, batch: &mut Prepared) -> Result<Result<(), Error>, Failed> {
        let doing = "setting a savepoint";
        self.control("SAVEPOINT batch", doing).map_err(Failed::Stop)?;
        let mark = self.state.mark();
        let answer = self.place(batch);
        if let Err(error) = &answer {
            self.state.back_to(mark);
            if matches!(error, Error::ReadOnly { .. } | Error::Corrupt { .. }) {
                return Err(Failed::Stop(error.clone()));
            }
            // Some failures take the whole transaction back; then nobody of the group is in it.
            if self.conn.is_autocommit() {
                return Err(Failed::Refused(error.clone()));
            }
            self.control("ROLLBACK TO batch", doing).map_err(Failed::Stop)?;
        }
        self.control("RELEASE batch", doing).map_err(Failed::Stop)?;
        Ok(answer)
    }

    /// Commits what was placed. Behind this line it is on disk.
    fn end(&mut self, group: &[Prepared], answers: &[Result<(), Error>]) -> Result<(), Failed> {
        let placed =
            || group.iter().zip(answers).filter(|(_, answer)| answer.is_ok()).map(|(batch, _)| batch);
        let points: Vec<Point> = placed().map(|batch| batch.point).collect();
        for point in &points {
            self.faults.before(*point).map_err(|e| injected(&e))?;
        }
        let end = if placed().any(|batch| batch.writes) { "COMMIT" } else { "ROLLBACK" };
        self.control(end, "committing").map_err(|e| match e {
            Error::Full => Failed::Refused(Error::Full),
            other => Failed::Stop(other),
        })?;
        for point in &points {
            self.faults.after(*point).map_err(|e| Failed::Stop(Error::io("confirming a commit", &e)))?;
        }
        if placed().any(|batch| !(batch.erase.is_empty() && batch.erase_content.is_empty())) {
            // The WAL would keep the erased bytes until it is overwritten.
            self.move_wal("TRUNCATE");
        }
        Ok(())
    }

    /// Whether it is time to look at the WAL.
    pub const fn wants_tidying(&self) -> bool {
        self.rows >= LOOK_EVERY
    }

    /// Between commits: moves a grown WAL into the database, and makes room in it, so that no commit pays for either.
    pub fn tidy(&mut self) {
        self.rows = 0;
        if self.stopped.is_some() {
            return;
        }
        let (frames, moved) = self.wal_frames();
        if frames - moved > WAL_PAGES_MAX {
            self.move_wal("PASSIVE");
        } else if let Some(path) = self.conn.path() {
            wal::make_room(Path::new(&format!("{path}-wal")), frames.unsigned_abs());
        }
    }

    /// The end of a host that ended well: everything is in the one file.
    pub fn close(&mut self) {
        if self.stopped.is_none() {
            self.move_wal("TRUNCATE");
        }
    }

    /// Frames in the WAL, and those of them that are in the database, as SQLite counts them.
    fn wal_frames(&self) -> (i64, i64) {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(2)?));
        self.conn.query_row("PRAGMA wal_checkpoint(NOOP)", [], read).unwrap_or((0, 0))
    }

    /// A WAL that cannot be moved now, because a reader still needs it or the disk is full, is moved later. After
    /// anything else, such as a sync that failed, nobody knows what of it is on the disk, and nothing is written any
    /// more: the next host reads the WAL again.
    fn move_wal(&mut self, mode: &str) {
        let moved = self.conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
        if let Err(error) = moved {
            self.stop_unless_later(&error, "moving the WAL into the ledger");
        }
    }

    fn stop_unless_later(&mut self, error: &rusqlite::Error, doing: &str) -> Error {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        let said = Error::sql(doing, error);
        let later = matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked));
        if later || matches!(said, Error::Full) { said } else { self.stop(&said) }
    }

    /// Rewrites the whole file, so that no byte of what was erased is left in it.
    pub fn scrub(&mut self) -> Result<(), Error> {
        let doing = "rewriting the ledger";
        if let Some(why) = &self.stopped {
            return Err(why.clone());
        }
        let done = self.conn.execute_batch("VACUUM").and_then(|()| {
            self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        });
        match done {
            Ok(0) => Ok(()),
            Ok(_) => Err(Error::io(doing, &"a reader still looks at the old bytes; try again")),
            Err(error) => Err(self.stop_unless_later(&error, doing)),
        }
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
