//! The three trees, derived from rows: a task's events, the gate's entries, the global log's notes.

use crate::rows::{Hash, Id, count, int};
use crate::severed::{self, Severed};
use crate::{Error, checkpoint::CheckpointKind};
use model::TaskId;
use rusqlite::{Connection, params};
use seal::Digest;
use seal::merkle::{Frontier, leaf_hash, proofs};

/// Every eighth level of the gate tree is stored.
pub(crate) const STORED_LEVELS: u8 = 8;

fn damaged(what: &str) -> Error {
    Error::Corrupt { path: crate::FILE.to_owned(), why: what.to_owned() }
}

fn sql(e: rusqlite::Error) -> Error {
    Error::sql("reading a tree", &e)
}

/// The gate tree's right edge at `size` entries: stored nodes for its large subtrees, entries for the rest.
pub(crate) fn gate_frontier(conn: &Connection, size: u64) -> Result<Frontier, Error> {
    let whole = size >> STORED_LEVELS << STORED_LEVELS;
    let mut peaks = Vec::new();
    let mut start = 0_u64;
    for level in (u32::from(STORED_LEVELS)..u64::BITS).rev() {
        if (whole >> level) & 1 == 1 {
            let level = u8::try_from(level).unwrap_or(u8::MAX);
            let node = gate_node(conn, level, start >> level)?;
            peaks.push(node.ok_or_else(|| damaged("the gate tree lacks a node"))?);
            start += 1 << level;
        }
    }
    let mut frontier = Frontier::from_parts(whole, peaks).map_err(|e| damaged(&e.to_string()))?;
    for leaf in gate_leaves(conn, whole, size)? {
        frontier.push(leaf);
    }
    if frontier.size() != size {
        return Err(damaged("the gate's chain has a gap"));
    }
    Ok(frontier)
}

/// Leaf hashes of the entries `low..high`, counted from 0.
pub(crate) fn gate_leaves(conn: &Connection, low: u64, high: u64) -> Result<Vec<Digest>, Error> {
    leaves(
        conn,
        "SELECT bytes FROM entries WHERE entry_seq > ?1 AND entry_seq <= ?2 ORDER BY entry_seq",
        low,
        high,
    )
}

fn leaves(conn: &Connection, text: &str, low: u64, high: u64) -> Result<Vec<Digest>, Error> {
    let mut found = conn.prepare_cached(text).map_err(sql)?;
    let mut rows = found.query(params![int(low), int(high)]).map_err(sql)?;
    let mut hashes = Vec::new();
    while let Some(row) = rows.next().map_err(sql)? {
        let bytes = row.get_ref(0).map_err(sql)?;
        hashes.push(leaf_hash(bytes.as_bytes().map_err(|e| damaged(&e.to_string()))?));
    }
    Ok(hashes)
}

/// A complete node of the gate tree, stored or computed from what is stored below it.
pub(crate) fn gate_node(conn: &Connection, level: u8, index: u64) -> Result<Option<Digest>, Error> {
    let base = level - level % STORED_LEVELS;
    let (low, high) = (index << (level - base), (index + 1) << (level - base));
    let hashes = if base == 0 {
        gate_leaves(conn, low, high)?
    } else {
        let text = "SELECT hash FROM gate_nodes WHERE level = ?1 AND idx >= ?2 AND idx < ?3 ORDER BY idx";
        let mut found = conn.prepare_cached(text).map_err(sql)?;
        let rows =
            found.query_map(params![base, int(low), int(high)], |row| row.get::<_, Hash>(0)).map_err(sql)?;
        rows.map(|h| h.map(|h| h.0).map_err(sql)).collect::<Result<Vec<_>, _>>()?
    };
    if hashes.len() as u64 != high - low {
        return Ok(None);
    }
    Ok(Some(seal::merkle::root(&hashes)))
}

/// A task's tree at its first `size` events, from its last checkpoint on.
pub(crate) fn task_frontier(conn: &Connection, task: TaskId, size: u64) -> Result<Frontier, Error> {
    let mut frontier = last_frontier(conn, CheckpointKind::Task, Some(task), size)?;
    for leaf in task_leaves(conn, task, frontier.size(), size)? {
        frontier.push(leaf);
    }
    if frontier.size() != size {
        return Err(damaged("a task has fewer events than it should"));
    }
    Ok(frontier)
}

/// Leaf hashes of a task's events `low..high`, counted from 0. A row that was lost and severed is the leaf of no bytes.
pub(crate) fn task_leaves(
    conn: &Connection,
    task: TaskId,
    low: u64,
    high: u64,
) -> Result<Vec<Digest>, Error> {
    leaves_among(conn, &severed::all(conn)?, task, low, high)
}

/// As [`task_leaves`], for whoever knows what was severed.
pub(crate) fn leaves_among(
    conn: &Connection,
    known: &[Severed],
    task: TaskId,
    low: u64,
    high: u64,
) -> Result<Vec<Digest>, Error> {
    let text = "SELECT task_seq, bytes FROM events WHERE task_id = ?1 AND task_seq > ?2 AND task_seq <= ?3 \
                ORDER BY task_seq";
    let mut found = conn.prepare_cached(text).map_err(sql)?;
    let mut rows = found.query(params![Id::from(task), int(low), int(high)]).map_err(sql)?;
    let (mut leaves, mut next) = (Vec::new(), low + 1);
    while let Some(row) = rows.next().map_err(sql)? {
        let seq = count(row.get(0).map_err(sql)?);
        while next < seq && severed::covered(known, task, next, 0) {
            leaves.push(leaf_hash(b""));
            next += 1;
        }
        let bytes = row.get_ref(1).map_err(sql)?;
        leaves.push(leaf_hash(bytes.as_bytes().map_err(|e| damaged(&e.to_string()))?));
        next += 1;
    }
    Ok(leaves)
}

/// The global log's tree at its first `size` notes, from its last checkpoint on.
pub(crate) fn global_frontier(conn: &Connection, size: u64) -> Result<Frontier, Error> {
    let mut frontier = last_frontier(conn, CheckpointKind::Global, None, size)?;
    for leaf in note_leaves(conn, frontier.size(), size)? {
        frontier.push(leaf);
    }
    if frontier.size() != size {
        return Err(damaged("the global log has a gap"));
    }
    Ok(frontier)
}

/// Proof that the global log's first `old_size` notes are the beginning of its first `size`. Of what was there before, its right
/// edge is enough, which stands with a checkpoint; of the notes, only those since are read.
pub(crate) fn global_consistency(conn: &Connection, old_size: u64, size: u64) -> Result<Vec<Digest>, Error> {
    if old_size == 0 || old_size == size {
        return Ok(Vec::new());
    }
    let old = global_frontier(conn, old_size)?;
    let since = note_leaves(conn, old_size, size)?;
    let node = |level: u8, index: u64| complete_node(&old, &since, (level, index));
    proofs::consistency(old_size, size, &node).map_err(|e| damaged(&e.to_string()))
}

/// A complete node of the tree that `since` make of `old`, where it is one of its right edge or lies behind it.
fn complete_node(old: &Frontier, since: &[Digest], (level, index): (u8, u64)) -> Option<Digest> {
    let low = index.checked_shl(u32::from(level))?;
    if low >= old.size() {
        let from = usize::try_from(low - old.size()).ok()?;
        let count = 1_usize.checked_shl(u32::from(level))?;
        return since.get(from..from.checked_add(count)?).map(seal::merkle::root);
    }
    let mut start = 0;
    let levels = (0..u64::BITS).rev().filter(|level| (old.size() >> level) & 1 == 1);
    for (peak_level, peak) in levels.zip(old.peaks()) {
        if (peak_level, start) == (u32::from(level), low) {
            return Some(*peak);
        }
        start += 1_u64 << peak_level;
    }
    None
}

/// Leaf hashes of the global log's notes `low..high`: the note's text with its final newline, no signatures.
pub(crate) fn note_leaves(conn: &Connection, low: u64, high: u64) -> Result<Vec<Digest>, Error> {
    let text = "SELECT note FROM checkpoints WHERE leaf_index >= ?1 AND leaf_index < ?2 ORDER BY leaf_index";
    let mut found = conn.prepare_cached(text).map_err(sql)?;
    let rows = found.query_map(params![int(low), int(high)], |row| row.get::<_, Vec<u8>>(0)).map_err(sql)?;
    let mut hashes = Vec::new();
    for note in rows {
        let note = seal::note::Note::parse(&note.map_err(sql)?).map_err(|e| damaged(&e.to_string()))?;
        hashes.push(leaf_hash(note.text.as_bytes()));
    }
    Ok(hashes)
}

fn last_frontier(
    conn: &Connection,
    kind: CheckpointKind,
    task: Option<TaskId>,
    size: u64,
) -> Result<Frontier, Error> {
    let known = severed::all(conn)?;
    let text = "SELECT size, epoch, frontier FROM checkpoints WHERE kind = ?1 AND task_id IS ?2 AND size <= ?3 \
                ORDER BY size DESC, checkpoint_seq DESC";
    let mut found = conn.prepare_cached(text).map_err(sql)?;
    let mut rows = found.query(params![kind.as_str(), task.map(Id::from), int(size)]).map_err(sql)?;
    let (bytes, size) = loop {
        let Some(row) = rows.next().map_err(sql)? else { return Ok(Frontier::new()) };
        let (size, epoch) = (count(row.get(0).map_err(sql)?), count(row.get(1).map_err(sql)?));
        if severed::stands(&known, task, size, epoch) {
            break (row.get::<_, Vec<u8>>(2).map_err(sql)?, size);
        }
    };
    let frontier = Frontier::from_bytes(&bytes).map_err(|e| damaged(&e.to_string()))?;
    if frontier.size() != size {
        return Err(damaged("a checkpoint's frontier has another size"));
    }
    Ok(frontier)
}
