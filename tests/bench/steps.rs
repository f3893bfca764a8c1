//! One durable step: one commit, one sync.

use crate::board::{Board, at, ms, syncs, timed};
use crate::{Asked, grown};
use ledger::{Batch, Writer};
use model::TaskId;
use model::fault::Point;
use rusqlite::types::Value;
use seal::Digest;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

const ROUNDS: usize = 50;
const EACH: u32 = 10;
const TASKS: u32 = 64;
const STEPS: u32 = 50;

/// One durable step.
pub fn one(writer: &Writer, task: TaskId) {
    let drafts = vec![grown::draft(task, true)];
    writer.commit(Batch { drafts, ..Batch::new(Point::TaskStart) }).expect("committed");
}

/// The raw limit: one row and one SHA-256 per commit, nothing else.
struct Raw(rusqlite::Connection, Digest);

/// Bytes of zeros that stand in a WAL before anything is committed, where a raw commit shall find room as a step does.
const ROOM: usize = 16 << 20;

impl Raw {
    fn open(dir: &Path, name: &str) -> Self {
        let conn = rusqlite::Connection::open(dir.join(name)).expect("a database");
        conn.pragma_update(None, "journal_mode", "wal").expect("wal");
        conn.pragma_update(None, "synchronous", "full").expect("full");
        conn.execute_batch("CREATE TABLE rows (n INTEGER PRIMARY KEY, hash BLOB, bytes BLOB)")
            .expect("a table");
        Self(conn, Digest::ZERO)
    }

    /// Makes room in the WAL, as the ledger does.
    fn with_room(self) -> Self {
        let wal = format!("{}-wal", self.0.path().expect("a file"));
        let mut file = std::fs::OpenOptions::new().append(true).open(wal).expect("its WAL");
        file.write_all(&vec![0; ROOM]).and_then(|()| file.sync_all()).expect("written");
        self
    }

    fn one(&mut self) {
        let bytes = [7_u8; 700];
        self.1 = Digest::of(&[self.1.as_bytes(), bytes.as_slice()].concat());
        let mut insert =
            self.0.prepare_cached("INSERT INTO rows (hash, bytes) VALUES (?1, ?2)").expect("a statement");
        insert.execute(rusqlite::params![self.1.as_bytes(), bytes.as_slice()]).expect("a row");
    }
}

/// The raw limit of steps: the rows and index entries that they have left, so many to a commit, nothing else.
struct RawRows {
    conn: rusqlite::Connection,
    rows: Vec<(Vec<Value>, Vec<Value>)>,
}

const EVENT: &str = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const LEAF: &str = "INSERT INTO disclosures VALUES (?1, ?2, ?3, ?4, ?5)";

impl RawRows {
    fn of(ledger: &Path, dir: &Path) -> Self {
        let from = rusqlite::Connection::open(ledger.join(ledger::FILE)).expect("a database");
        let columns = |row: &rusqlite::Row<'_>, from: usize, to: usize| {
            (from..to).map(|n| row.get(n)).collect::<rusqlite::Result<Vec<Value>>>()
        };
        let text =
            "SELECT e.*, d.* FROM events e JOIN disclosures d ON d.log_seq = e.log_seq ORDER BY e.log_seq";
        let mut found = from.prepare(text).expect("a query");
        let read = found.query_map([], |row| Ok((columns(row, 0, 9)?, columns(row, 9, 14)?)));
        let rows = read.expect("rows").collect::<Result<_, _>>().expect("rows");
        let conn = rusqlite::Connection::open(dir.join("groups.db")).expect("a database");
        conn.pragma_update(None, "journal_mode", "wal").expect("wal");
        conn.pragma_update(None, "synchronous", "full").expect("full");
        conn.pragma_update(None, "foreign_keys", "off").expect("bare");
        // The same columns and the same indexes, no trigger and no check.
        conn.execute_batch(
            "CREATE TABLE events (log_seq INTEGER PRIMARY KEY, epoch, task_id, task_seq, event_id UNIQUE, \
             event_type, idempotency_key UNIQUE, hash, bytes, UNIQUE (task_id, task_seq)); \
             CREATE TABLE disclosures (disclosure_seq INTEGER PRIMARY KEY, epoch, log_seq, digest UNIQUE, bytes);",
        )
        .expect("tables");
        Self { conn, rows }
    }

    /// Rows of one event each, a second, `size` of them to a commit.
    fn rate(&self, size: usize) -> f64 {
        let (took, ()) = timed(|| {
            for group in self.rows.chunks(size) {
                self.conn.execute_batch("BEGIN IMMEDIATE").expect("begun");
                for (event, leaf) in group {
                    let insert = |text, row: &Vec<Value>| {
                        let mut insert = self.conn.prepare_cached(text).expect("a statement");
                        insert.execute(rusqlite::params_from_iter(row)).expect("a row");
                    };
                    insert(EVENT, event);
                    insert(LEAF, leaf);
                }
                self.conn.execute_batch("COMMIT").expect("committed");
            }
        });
        self.rows.len() as f64 / took.as_secs_f64()
    }
}

fn each(mut run: impl FnMut()) -> Duration {
    timed(|| (0..EACH).for_each(|_| run())).0 / EACH
}

pub fn run(_: &Asked, board: &Board) {
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let mut raw = Raw::open(folders[0].path(), "raw.db");
    let mut roomy = Raw::open(folders[0].path(), "roomy.db").with_room();
    let (bare, viewed) = (grown::writer(folders[1].path(), false), grown::writer(folders[2].path(), true));
    let (mut raws, mut roomies, mut bares, mut views) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // In short turns, so that a slow moment of the disk meets all of them.
    let task = grown::task();
    for _ in 0..ROUNDS {
        raws.push(each(|| raw.one()));
        roomies.push(each(|| roomy.one()));
        bares.push(each(|| one(&bare, task)));
        views.push(each(|| one(&viewed, task)));
    }
    let (raw, bare_one, viewed_one) = (at(&mut raws, 0.5), at(&mut bares, 0.5), at(&mut views, 0.5));
    let detail = |one: f64| format!("{:.0} of {:.0} commits/s", 1.0 / one, 1.0 / raw);
    board.at_least("durable step / raw single-row commit", raw / bare_one, 0.8, &detail(bare_one));
    let roomy = at(&mut roomies, 0.5);
    board.figure(
        "beside a raw commit whose WAL has room beforehand, too",
        &format!("{:.2} ({:.0} of {:.0} commits/s)", roomy / bare_one, 1.0 / bare_one, 1.0 / roomy),
    );
    board.figure(
        "the same with all views folded in",
        &format!("{:.2} ({})", raw / viewed_one, detail(viewed_one)),
    );
    let limit = RawRows::of(folders[1].path(), folders[0].path()).rate(1);
    board.figure(
        "the same rows with their indexes and no check, one to a commit",
        &format!("{:.2} ({})", raw * limit, detail(1.0 / limit)),
    );
    groups(board, &bare, folders[1].path(), bare_one);
    match syncs(&["--steps-only", "100"]).zip(syncs(&["--steps-only", "300"])) {
        Some((few, many)) => {
            let each = many.saturating_sub(few) as f64 / 200.0;
            let detail =
                format!("by strace; {each:.3} with the copying of the WAL into the database now and then");
            board.at_most("syncs of a durable step", each.floor(), 1.0, &detail);
        }
        None => board.figure("syncs of a durable step", "not counted: there is no strace"),
    }
}

/// 64 tasks at once, beside one alone, and beside the raw limit of groups of that size.
fn groups(board: &Board, bare: &Writer, dir: &Path, alone: f64) {
    let together = || {
        let (took, ()) = timed(|| {
            std::thread::scope(|scope| {
                for _ in 0..TASKS {
                    scope.spawn(|| {
                        let task = grown::task();
                        (0..STEPS).for_each(|_| one(bare, task));
                    });
                }
            });
        });
        f64::from(TASKS * STEPS) / took.as_secs_f64()
    };
    let group = (0..3).map(|_| together()).fold(0.0, f64::max);
    let folder = tempfile::tempdir().expect("a folder");
    let limit = RawRows::of(dir, folder.path()).rate(TASKS as usize);
    let detail = format!("{group:.0} commits/s, best of three; the disk syncs in less than {}", ms(alone));
    board.at_least("64 concurrent tasks / single rate", group * alone, 20.0, &detail);
    let detail = format!("{:.2} ({group:.0} of {limit:.0} events/s)", group / limit);
    board.figure("64 tasks / one thread inserting the same rows, 64 to a commit", &detail);
}

/// Nothing but steps, for strace to watch.
pub fn only(words: &[String]) {
    let count: u32 = words.get(1).and_then(|n| n.parse().ok()).expect("a number");
    let folder = tempfile::tempdir().expect("a folder");
    let writer = grown::writer(folder.path(), true);
    let task = grown::task();
    (0..count).for_each(|_| one(&writer, task));
}
