//! Ranges of rows, worked on by several threads and taken up in order.
//!
//! Hashing and reading rows needs nobody else; following a chain needs the row before. So threads, each with its own
//! connection, do the first for ranges of row numbers, and what they made of them is taken up one range after the
//! other: the first place that does not fit is the same as if one thread had read it all.

use super::report::Stop;
use crate::Error;
use crate::reader::Reader;
use rusqlite::Connection;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Rows of one range.
pub(super) const STRIDE: i64 = 256;

/// Ranges that may lie ready for each thread: memory stays bounded.
const READY: usize = 4;

/// Erasing leaves gaps; more than this for each row are worked through in one go.
const GAPS_MAX: i64 = 64;

/// More threads than this wait for the one that takes up, which spends an eighth of what they spend together.
const THREADS_MAX: usize = 8;

/// What one range was made into, or why not.
type Made<T> = Result<T, Stop>;

/// Makes something of the rows up to `last`, range by range, and takes it up in order. The first range begins at the
/// smallest number there is: a row that stands before 1 is read, too.
///
/// `conn` holds the snapshot that `last` was read from; the threads' own are never older, and rows are only added.
pub(super) fn each<T: Send>(
    conn: &Connection,
    reader: &Reader,
    last: i64,
    make: impl Fn(&Connection, i64, i64) -> Made<T> + Sync,
    mut take: impl FnMut(T) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let ranges = || {
        let begins = (0..).map(|n| 1 + n * STRIDE).take_while(move |begin| *begin <= last.max(1));
        begins.map(move |begin| (if begin == 1 { i64::MIN } else { begin }, last.min(begin + STRIDE - 1)))
    };
    if last <= 2 * STRIDE {
        return ranges().try_for_each(|(start, end)| take(make(conn, start, end)?));
    }
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(2, THREADS_MAX));
    std::thread::scope(|scope| {
        let hand = |n: usize| -> Receiver<Made<T>> {
            let (made, inbox) = sync_channel(READY);
            let mine = ranges().skip(n).step_by(threads);
            let make = &make;
            scope.spawn(move || work(reader, mine, make, &made));
            inbox
        };
        let inboxes: Vec<Receiver<Made<T>>> = (0..threads).map(hand).collect();
        // Leaving early drops the inboxes, and the threads find nobody to hand over to.
        for (_, inbox) in ranges().zip(inboxes.iter().cycle()) {
            take(inbox.recv().map_err(|_| broken())??)?;
        }
        Ok(())
    })
}

fn broken() -> Stop {
    Stop::Error(Error::io("verifying", &"a thread broke off"))
}

fn work<T>(
    reader: &Reader,
    ranges: impl Iterator<Item = (i64, i64)>,
    make: &(impl Fn(&Connection, i64, i64) -> Made<T> + Sync),
    made: &SyncSender<Made<T>>,
) {
    let done = reader.with(|conn| {
        let tx = conn.unchecked_transaction().map_err(|e| Error::sql("verifying", &e))?;
        for (start, end) in ranges {
            let one = make(&tx, start, end);
            let last = one.is_err();
            if made.send(one).is_err() || last {
                break;
            }
        }
        // The connection goes back to those that wait; the pages it has read would wait with it.
        conn.release_memory().map_err(|e| Error::sql("verifying", &e))
    });
    if let Err(error) = done {
        // Nobody listens any more when this fails, and then nobody needs to know.
        drop(made.send(Err(Stop::Error(error))));
    }
}

/// The last number of a table whose numbers may have gaps, and how to range over it: with more gaps than rows somebody
/// made them, and one range over everything is the only one that is sure to end.
pub(super) fn sparse<T: Send>(
    conn: &Connection,
    reader: &Reader,
    table: &str,
    column: &str,
    make: impl Fn(&Connection, i64, i64) -> Made<T> + Sync,
    mut take: impl FnMut(T, i64) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let text = format!("SELECT count(*), coalesce(max({column}), 0) FROM {table}");
    let (rows, last): (i64, i64) = conn.query_row(&text, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if last / GAPS_MAX > rows {
        return take(make(conn, i64::MIN, last)?, rows);
    }
    each(conn, reader, last, make, |made| take(made, rows))
}
