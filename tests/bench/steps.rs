//! One durable step: one commit, one sync.

use crate::board::{Board, at, syncs, timed};
use crate::{Asked, grown};
use ledger::{Batch, Writer};
use model::TaskId;
use model::fault::Point;
use seal::Digest;
use std::path::Path;
use std::time::Duration;

const ROUNDS: usize = 10;
const EACH: u32 = 50;
const TASKS: u32 = 64;

fn one(writer: &Writer, task: TaskId) {
    let drafts = vec![grown::draft(task, true)];
    writer.commit(Batch { drafts, ..Batch::new(Point::TaskStart) }).expect("committed");
}

/// The raw limit: one row and one SHA-256 per commit, nothing else.
struct Raw(rusqlite::Connection, Digest);

impl Raw {
    fn open(dir: &Path) -> Self {
        let conn = rusqlite::Connection::open(dir.join("raw.db")).expect("a database");
        conn.pragma_update(None, "journal_mode", "wal").expect("wal");
        conn.pragma_update(None, "synchronous", "full").expect("full");
        conn.execute_batch("CREATE TABLE rows (n INTEGER PRIMARY KEY, hash BLOB, bytes BLOB)")
            .expect("a table");
        Self(conn, Digest::ZERO)
    }

    fn one(&mut self) {
        let bytes = [7_u8; 700];
        self.1 = Digest::of(&[self.1.as_bytes(), bytes.as_slice()].concat());
        let mut insert =
            self.0.prepare_cached("INSERT INTO rows (hash, bytes) VALUES (?1, ?2)").expect("a statement");
        insert.execute(rusqlite::params![self.1.as_bytes(), bytes.as_slice()]).expect("a row");
    }
}

fn each(mut run: impl FnMut()) -> Duration {
    timed(|| (0..EACH).for_each(|_| run())).0 / EACH
}

pub fn run(_: &Asked, board: &Board) {
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let mut raw = Raw::open(folders[0].path());
    let (bare, viewed) = (grown::writer(folders[1].path(), false), grown::writer(folders[2].path(), true));
    let (mut raws, mut bares, mut views) = (Vec::new(), Vec::new(), Vec::new());
    // In turns, so that a slow moment of the disk meets all three.
    for _ in 0..ROUNDS {
        let task = grown::task();
        raws.push(each(|| raw.one()));
        bares.push(each(|| one(&bare, task)));
        views.push(each(|| one(&viewed, task)));
    }
    let (raw, bare_one, viewed_one) = (at(&mut raws, 0.5), at(&mut bares, 0.5), at(&mut views, 0.5));
    let detail = |one: f64| format!("{:.0} of {:.0} commits/s", 1.0 / one, 1.0 / raw);
    board.at_least("durable step / raw single-row commit", raw / bare_one, 0.8, &detail(bare_one));
    board.figure(
        "the same with all views folded in",
        &format!("{:.2} ({})", raw / viewed_one, detail(viewed_one)),
    );
    let (took, ()) = timed(|| {
        std::thread::scope(|scope| {
            for _ in 0..TASKS {
                scope.spawn(|| {
                    let task = grown::task();
                    (0..EACH).for_each(|_| one(&bare, task));
                });
            }
        });
    });
    let group = f64::from(TASKS * EACH) / took.as_secs_f64();
    let detail = format!("{group:.0} commits/s");
    board.at_least("64 concurrent tasks / single rate", group * bare_one, 20.0, &detail);
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

/// Nothing but steps, for strace to watch.
pub fn only(words: &[String]) {
    let count: u32 = words.get(1).and_then(|n| n.parse().ok()).expect("a number");
    let folder = tempfile::tempdir().expect("a folder");
    let writer = grown::writer(folder.path(), true);
    let task = grown::task();
    (0..count).for_each(|_| one(&writer, task));
}
