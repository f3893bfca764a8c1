//! The one door through which anything is recorded.

use crate::batch::{Batch, Committed, Projector};
use crate::engine::Engine;
use crate::lock::{Holder, Lock};
use crate::reader::Reader;
use crate::state::State;
use crate::{Error, schema};
use model::fault::Faults;
use model::{Entropy, limits};
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the writer waits for as many batches as came last time: a small part of one sync, and it lets the
/// callers that were just answered join the next commit.
const GATHER: Duration = Duration::from_micros(200);

/// What a writer needs from outside.
pub struct OpenOptions {
    /// Version of the program, kept with the epoch.
    pub hermit_version: String,
    /// Folds events into the views of the same file.
    pub projector: Box<dyn Projector>,
    /// Where tests stop the world.
    pub faults: Arc<dyn Faults>,
    /// Salts, the session, and the name of a new log.
    pub entropy: Arc<dyn Entropy>,
}

type Answer = Result<Committed, Error>;

enum Job {
    Commit(Box<Batch>, SyncSender<Answer>),
    /// Rewrites the whole file, so that nothing deleted is left in unused bytes.
    Scrub(SyncSender<Result<(), Error>>),
    /// Answers with the answer, having done nothing: why the writer stopped, if it did.
    Ask(SyncSender<Option<Error>>),
}

/// The only writer of a store. It holds the lock and the newest epoch until it is dropped.
pub struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    reader: Reader,
    epoch: u64,
    session: String,
    log_id: String,
    checkpointing: Mutex<()>,
    // Dropped last: the lock falls when nothing writes any more.
    lock: Mutex<Lock>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("log_id", &self.log_id)
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

impl Writer {
    /// Takes the lock and the next epoch of the store in `dir`, making the store when the folder has none.
    ///
    /// # Errors
    /// [`Error::Held`] when another process hosts it, [`Error::NewerSchema`], [`Error::Corrupt`] when it is damaged
    /// or its file is gone, [`Error::Full`], [`Error::Projection`], [`Error::Io`].
    pub fn open(dir: &Path, options: OpenOptions) -> Result<Self, Error> {
        let OpenOptions { hermit_version, mut projector, faults, entropy } = options;
        let session = random_hex(entropy.as_ref());
        let mut lock = Lock::take(dir, &session)?;
        refuse_a_lost_file(dir, &lock)?;
        let conn = schema::open_writer(dir)?;
        crate::check::ends(&conn, dir)?;
        let epoch = Engine::take_epoch(&conn, &session, &hermit_version)?;
        let log_id = log_id(&conn, epoch, entropy.as_ref())?;
        if lock.log_id().is_some_and(|known| known != log_id) {
            return Err(Error::corrupt(
                &schema::path(dir),
                "it is another store's ledger than this folder's",
            ));
        }
        lock.remember(&log_id)?;
        projector.prepare(&conn).map_err(|why| Error::Projection { why })?;
        let state = State::load(&conn)?;
        let reader = Reader::open(dir)?;
        let engine = Engine { conn, epoch, projector, faults, entropy, state, stopped: None };
        let (jobs, inbox) = channel();
        let thread = std::thread::Builder::new()
            .name("ledger-writer".to_owned())
            .spawn(move || work(engine, &inbox))
            .map_err(|e| Error::io("starting the writer", &e))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
            reader,
            epoch,
            session,
            log_id,
            checkpointing: Mutex::new(()),
            lock: Mutex::new(lock),
        })
    }

    /// Puts a batch on disk, all of it or nothing. Blocks until it is there. From many threads at once the batches
    /// share one commit and one sync.
    ///
    /// # Errors
    /// [`Error::Moved`], [`Error::GateMoved`], [`Error::GrantSpent`], [`Error::Duplicate`], [`Error::Invalid`],
    /// [`Error::Projection`], [`Error::Full`]: this batch was refused and nothing of it was written.
    /// [`Error::ReadOnly`]: a commit failed, nothing is written any more.
    pub fn commit(&self, batch: Batch) -> Result<Committed, Error> {
        self.ask(|answer| Job::Commit(Box::new(batch), answer))?
    }

    /// Rewrites the whole file so that erased values are left in no unused byte of it. Slow: it copies the store.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::ReadOnly`], [`Error::Io`] while a reader still looks at the old bytes.
    pub fn scrub(&self) -> Result<(), Error> {
        self.ask(Job::Scrub)?
    }

    /// Why nothing is written any more, when that is so.
    #[must_use]
    pub fn stopped(&self) -> Option<Error> {
        self.ask(Job::Ask).unwrap_or_else(Some)
    }

    fn ask<T>(&self, job: impl FnOnce(SyncSender<T>) -> Job) -> Result<T, Error> {
        let gone = || Error::ReadOnly {
            why: "the writer broke off; end this process and open the store again".to_owned(),
        };
        let (answer, wait) = sync_channel(1);
        self.jobs.as_ref().ok_or_else(gone)?.send(job(answer)).map_err(|_| gone())?;
        wait.recv().map_err(|_| gone())
    }

    /// A reader of the same store.
    #[must_use]
    pub fn reader(&self) -> Reader {
        self.reader.clone()
    }

    /// The epoch every row of this writer carries.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The name of this writer's session, as in the table `epochs`: 32 hex digits.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The name of the log, made once from chance: 32 hex digits.
    #[must_use]
    pub fn log_id(&self) -> &str {
        &self.log_id
    }

    /// Tells other processes where this host can be reached, or that it no longer can.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Full`].
    pub fn announce(&self, address: Option<&str>) -> Result<(), Error> {
        self.lock().announce(address)
    }

    /// What the lock says about this host.
    #[must_use]
    pub fn holder(&self) -> Option<Holder> {
        self.lock().holder().cloned()
    }

    pub(crate) fn checkpointing(&self) -> MutexGuard<'_, ()> {
        self.checkpointing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Lock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A writer that broke off has already answered; there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

/// Takes what waits, commits it, answers; between commits, when nobody waits, it tidies up.
fn work(mut engine: Engine, inbox: &Receiver<Job>) {
    let mut last = 1;
    while let Ok(first) = inbox.recv() {
        let (mut group, mut callers, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(job) = next {
            match job {
                Job::Commit(batch, caller) => {
                    group.push(*batch);
                    callers.push(caller);
                }
                other => others.push(other),
            }
            next = if group.len() >= limits::GROUP_COMMIT_MAX {
                None
            } else if group.len() < last && others.is_empty() {
                more(inbox)
            } else {
                inbox.try_recv().ok()
            };
        }
        last = group.len().max(1);
        if !group.is_empty() {
            for (caller, answer) in callers.into_iter().zip(engine.run(group)) {
                // A caller that no longer waits does not change what is on disk.
                let _ = caller.send(answer);
            }
        }
        for other in others {
            side_job(&mut engine, other);
        }
        engine.tidy();
    }
    engine.close();
}

fn more(inbox: &Receiver<Job>) -> Option<Job> {
    inbox.recv_timeout(GATHER).ok()
}

fn side_job(engine: &mut Engine, job: Job) {
    match job {
        Job::Scrub(caller) => {
            let done = match &engine.stopped {
                Some(why) => Err(why.clone()),
                None => scrub(&engine.conn),
            };
            let _ = caller.send(done);
        }
        Job::Ask(caller) => {
            let _ = caller.send(engine.stopped.clone());
        }
        Job::Commit(_, caller) => {
            let _ = caller.send(Err(Error::invalid("a commit came the wrong way")));
        }
    }
}

fn scrub(conn: &Connection) -> Result<(), Error> {
    let sql = |e: rusqlite::Error| Error::sql("rewriting the ledger", &e);
    conn.execute_batch("VACUUM").map_err(sql)?;
    let busy: i64 = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map_err(sql)?;
    if busy == 0 {
        return Ok(());
    }
    Err(Error::io("rewriting the ledger", &"a reader still looks at the old bytes; try again"))
}

/// A folder that has held a log and now has none, or an emptied one, has lost it: nothing is made anew.
fn refuse_a_lost_file(dir: &Path, lock: &Lock) -> Result<(), Error> {
    let path = schema::path(dir);
    let length = std::fs::metadata(&path).map_or(0, |m| m.len());
    let wal = std::fs::metadata(dir.join(format!("{}-wal", schema::FILE))).map_or(0, |m| m.len());
    match lock.log_id() {
        Some(log_id) if length == 0 => Err(Error::corrupt(
            &path,
            format!("the file is gone or empty, but this folder holds the log {log_id}"),
        )),
        None if length == 0 && wal > 0 => {
            Err(Error::corrupt(&path, "the file is gone or empty, but its WAL is not"))
        }
        _ => Ok(()),
    }
}

fn random_hex(entropy: &dyn Entropy) -> String {
    uuid::Uuid::from_bytes(entropy.salt()).as_simple().to_string()
}

/// The log's name, made with the first epoch.
fn log_id(conn: &Connection, epoch: u64, entropy: &dyn Entropy) -> Result<String, Error> {
    let sql = |e: rusqlite::Error| Error::sql("naming the log", &e);
    let known = conn.query_row("SELECT log_id FROM store", [], |row| row.get(0)).optional().map_err(sql)?;
    if let Some(known) = known {
        return Ok(known);
    }
    let fresh = random_hex(entropy);
    let values = rusqlite::params![crate::rows::int(epoch), fresh];
    conn.execute("INSERT INTO store (one, epoch, log_id) VALUES (1, ?1, ?2)", values).map_err(sql)?;
    Ok(fresh)
}
