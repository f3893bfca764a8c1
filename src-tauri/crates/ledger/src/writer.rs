//! The one door through which anything is recorded.

use crate::batch::{Batch, Committed, Projector};
use crate::commit_queue::CommitQueue;
use crate::engine::Engine;
use crate::lock::{Holder, Lock};
use crate::prepare::Prepared;
use crate::reader::Reader;
use crate::state::State;
use crate::{Error, schema};
use model::Entropy;
use model::fault::Faults;
use rusqlite::{Connection, OptionalExtension};
use seal::PublicKey;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// Keys whose checkpoints are held against what stands in the store, now and before.
    pub log_keys: Vec<PublicKey>,
}

/// The only writer of a store. It holds the lock and the newest epoch until it is dropped.
pub struct Writer {
    commit_queue: CommitQueue,
    entropy: Arc<dyn Entropy>,
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
    /// or its file is gone, [`Error::Changed`] when something that was signed for is not what stands there, [`Error::Full`], [`Error::Projection`], [`Error::Io`].
    pub fn open(dir: &Path, options: OpenOptions) -> Result<Self, Error> {
        Self::take(dir, options, true)
    }

    /// [`Self::open`] for whoever anchors a broken chain anew, first of all: what does not fit is not looked at.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_broken(dir: &Path, options: OpenOptions) -> Result<Self, Error> {
        Self::take(dir, options, false)
    }

    fn take(dir: &Path, options: OpenOptions, whole: bool) -> Result<Self, Error> {
        let OpenOptions { hermit_version, mut projector, faults, entropy, log_keys } = options;
        let session = random_hex(entropy.as_ref());
        let mut lock = Lock::take(dir, &session)?;
        refuse_a_lost_file(dir, &lock)?;
        let conn = schema::open_writer(dir)?;
        if whole {
            crate::check::ends(&conn, dir)?;
            crate::check::signed(&conn, &log_keys)?;
        }
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
        let mut engine = Engine { conn, epoch, projector, faults, state, stopped: None, rows: 0 };
        engine.tidy();
        Ok(Self {
            commit_queue: CommitQueue::new(engine)?,
            entropy,
            reader,
            epoch,
            session,
            log_id,
            checkpointing: Mutex::new(()),
            lock: Mutex::new(lock),
        })
    }

    /// Puts a batch on disk, all of it or nothing. Blocks until it is there. From many threads at once the batches
    /// share one commit and one sync, which the thread of one of them makes.
    ///
    /// # Errors
    /// [`Error::Moved`], [`Error::GateMoved`], [`Error::GrantSpent`], [`Error::Duplicate`], [`Error::Invalid`],
    /// [`Error::Projection`], [`Error::Full`]: this batch was refused and nothing of it was written.
    /// [`Error::ReadOnly`]: a commit failed, nothing is written any more.
    pub fn commit(&self, batch: Batch) -> Result<Committed, Error> {
        self.commit_queue.commit(Prepared::new(batch, self.entropy.as_ref())?)
    }

    /// Rewrites the whole file so that erased values are left in no unused byte of it. Slow: it copies the store.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::ReadOnly`], [`Error::Io`] while a reader still looks at the old bytes.
    pub fn scrub(&self) -> Result<(), Error> {
        self.commit_queue.engine().scrub()
    }

    /// Why nothing is written any more, when that is so.
    #[must_use]
    pub fn stopped(&self) -> Option<Error> {
        self.commit_queue.engine().stopped.clone()
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
        // The power may have gone in the instant in which the first note was written: then nothing else was made yet.
        None if length == 0 && lock.is_damaged() && holds_folders(dir) => {
            Err(Error::corrupt(&path, "the file is gone or empty, and the note of who held it is damaged"))
        }
        None if length == 0 && wal > 0 => {
            Err(Error::corrupt(&path, "the file is gone or empty, but its WAL is not"))
        }
        _ => Ok(()),
    }
}

/// Whether anything was made here that comes after the log's first commit.
fn holds_folders(dir: &Path) -> bool {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.path().is_dir())
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
