//! Whether what was signed for still stands: what is looked at whenever a store is opened for writing, in a moment.
//!
//! The newest head that a trusted key signed vouches for every checkpoint below it. Of the store's own stream, which
//! says whose keys count, all is held against its checkpoint; of every other task the last rows it covers. Whoever
//! changes a row has to chain all that follow anew, so that the last one is another. A row that was changed and not
//! chained anew is found where it is read; all of it is [`super::verify`]'s.

use super::notes::open;
use super::report::Stop;
use crate::checkpoint::{CheckpointKind, origin};
use crate::reader::Reader;
use crate::rows::{Id, count};
use crate::severed::{self, Severed};
use crate::{Error, state, tree};
use model::TaskId;
use rusqlite::{Connection, OptionalExtension};
use seal::merkle::{Frontier, leaf_hash, root};
use seal::{Digest, PublicKey, note};
use std::collections::HashMap;

/// Rows of other streams that are read at most; beyond it only their number is looked at, the newest ones first.
const ROWS_MAX: u64 = 20_000;

/// Something that was signed for and is not what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// It is in the store's own stream, or in the notes that vouch for it.
    pub own: bool,
    /// What.
    pub why: String,
}

/// The first thing that was signed by one of these keys and does not stand any more.
///
/// # Errors
/// [`Error::Io`], [`Error::Corrupt`].
pub fn changed(reader: &Reader, keys: &[PublicKey]) -> Result<Option<Changed>, Error> {
    reader.with(|conn| {
        let tx = conn.unchecked_transaction().map_err(|e| Error::sql("looking at what was signed", &e))?;
        look(&tx, reader.log_id(), keys)
    })
}

pub(crate) fn look(conn: &Connection, log_id: &str, keys: &[PublicKey]) -> Result<Option<Changed>, Error> {
    let done = || -> Result<Option<Changed>, Stop> {
        let Some(head) = newest(conn, log_id, keys)? else { return Ok(None) };
        let known = severed::all(conn)?;
        let own = |why: String| Changed { own: true, why };
        match notes(conn, log_id, &head, &known)? {
            Ok(signed) => streams(conn, signed, &known),
            Err(why) => Ok(Some(own(why))),
        }
    };
    done().map_err(Stop::into_error)
}

/// The newest head of the whole log that one of these keys signed.
fn newest(conn: &Connection, log_id: &str, keys: &[PublicKey]) -> Result<Option<note::Checkpoint>, Stop> {
    let global = origin(log_id, CheckpointKind::Global, None);
    let mut found = conn.prepare(
        "SELECT note FROM checkpoints WHERE kind = 'global' ORDER BY size DESC, checkpoint_seq DESC",
    )?;
    let mut rows = found.query([])?;
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(0)?;
        if let Ok((said, _, true)) = open(&bytes, &global, keys) {
            return Ok(Some(said));
        }
    }
    Ok(None)
}

/// What was signed last of one stream.
struct Signed {
    number: u64,
    size: u64,
    root: Digest,
    frontier: Vec<u8>,
}

type Streams = HashMap<Option<TaskId>, Signed>;

/// The newest checkpoint of every stream that the head vouches for; none is `None`, the gate's.
fn notes(
    conn: &Connection,
    log_id: &str,
    head: &note::Checkpoint,
    known: &[Severed],
) -> Result<Result<Streams, String>, Stop> {
    let text = "SELECT checkpoint_seq, task_id, epoch, frontier, note FROM checkpoints \
                WHERE leaf_index < ?1 ORDER BY leaf_index";
    let mut found = conn.prepare(text)?;
    let mut rows = found.query([crate::rows::int(head.size)])?;
    let (mut all, mut streams) = (Frontier::new(), Streams::new());
    while let Some(row) = rows.next()? {
        let task = row.get::<_, Option<Id>>(1)?.map(Id::task);
        let kind = if task.is_some() { CheckpointKind::Task } else { CheckpointKind::Gate };
        let bytes: Vec<u8> = row.get(4)?;
        let Ok((said, text, _)) = open(&bytes, &origin(log_id, kind, task), &[]) else { break };
        all.push(leaf_hash(text.as_bytes()));
        let newer = streams.get(&task).is_none_or(|signed| signed.size <= said.size);
        if newer && severed::stands(known, task, said.size, count(row.get(2)?)) {
            let (number, frontier) = (count(row.get(0)?), row.get(3)?);
            streams.insert(task, Signed { number, size: said.size, root: said.root, frontier });
        }
    }
    Ok(if all.size() == head.size && all.root() == head.root {
        Ok(streams)
    } else {
        Err(format!("the {} checkpoints that were signed for are not those that stand here", head.size))
    })
}

fn streams(conn: &Connection, mut signed: Streams, known: &[Severed]) -> Result<Option<Changed>, Stop> {
    let gate = signed.remove(&None);
    if let Some(gate) = gate
        && tree::gate_frontier(conn, gate.size).map_or(true, |tree| tree.root() != gate.root)
    {
        let why = format!("the first {} entries of the gate are not those that were signed", gate.size);
        return Ok(Some(Changed { own: false, why }));
    }
    let first = "SELECT task_id FROM events ORDER BY log_seq LIMIT 1";
    let own = conn.query_row(first, [], |row| row.get::<_, Id>(0)).optional()?.map(Id::task);
    if let Some(stream) = signed.remove(&own) {
        let leaves = own.map(|task| tree::leaves_among(conn, known, task, 0, stream.size)).transpose()?;
        let leaves = leaves.unwrap_or_default();
        if leaves.len() as u64 != stream.size || root(&leaves) != stream.root {
            let size = stream.size;
            let why = format!(
                "the first {size} events of its own stream, which says whose keys count, are not those that were signed"
            );
            return Ok(Some(Changed { own: true, why }));
        }
    }
    let mut others: Vec<(TaskId, Signed)> =
        signed.into_iter().filter_map(|(task, signed)| Some((task?, signed))).collect();
    others.sort_by_key(|(_, signed)| std::cmp::Reverse(signed.number));
    let mut rows = 0;
    for (task, signed) in others {
        rows += last(signed.size);
        if let Some(why) = of_task(conn, known, task, &signed, rows <= ROWS_MAX)? {
            return Ok(Some(Changed { own: false, why }));
        }
    }
    Ok(None)
}

/// How many leaves the last of the complete subtrees has.
const fn last(size: u64) -> u64 {
    size & size.wrapping_neg()
}

fn of_task(
    conn: &Connection,
    known: &[Severed],
    task: TaskId,
    signed: &Signed,
    read: bool,
) -> Result<Option<String>, Stop> {
    let size = signed.size;
    if !read {
        let there = state::stored_head(conn, task)?.map_or(0, |head| head.seq);
        let why = || format!("task `{task}` has {there} events, and {size} were signed for");
        return Ok((there < size).then(why));
    }
    let frontier = Frontier::from_bytes(&signed.frontier).ok();
    let frontier = frontier.filter(|tree| tree.size() == size && tree.root() == signed.root);
    let leaves = tree::leaves_among(conn, known, task, size - last(size), size)?;
    let stands = leaves.len() as u64 == last(size)
        && frontier.is_some_and(|tree| tree.peaks().last() == Some(&root(&leaves)));
    let why = || format!("the first {size} events of task `{task}` are not those that were signed");
    Ok((!stands).then(why))
}
