//! Entries of the gate: chain, copies, tree.

use super::events::{TELL_EVERY, fault};
use super::notes::Heads;
use super::report::{Place, Stop};
use super::{Run, chunks};
use crate::CheckpointKind;
use crate::rows::{Hash, count, int};
use crate::tree::STORED_LEVELS;
use model::audit::AuditEntry;
use rusqlite::{Connection, OptionalExtension, Row, params};
use seal::Digest;
use seal::chain::ChainVerifier;
use seal::merkle::{Frontier, leaf_hash};

/// An entry whose bytes were read.
struct Read {
    seq: u64,
    prev: Digest,
    hash: Digest,
    leaf: Digest,
}

pub(super) fn check(run: &mut Run<'_>, heads: &Heads) -> Result<(), Stop> {
    let (conn, reader) = (run.conn, run.reader);
    let of: i64 = conn.query_row("SELECT coalesce(max(entry_seq), 0) FROM entries", [], |row| row.get(0))?;
    let mut gate =
        Gate { conn, chain: ChainVerifier::new(), tree: Frontier::new(), ahead: heads.of_gate(), nodes: 0 };
    chunks::each(
        conn,
        reader,
        of,
        |conn, start, _| entries(conn, start, of),
        |entries| {
            for entry in entries {
                gate.follow(&entry?)?;
                run.report.entries += 1;
                if run.report.entries.is_multiple_of(TELL_EVERY) {
                    run.tell("entries", run.report.entries, count(of))?;
                }
            }
            Ok(())
        },
    )?;
    if let Some((size, ..)) = gate.ahead.first() {
        return Err(Stop::Missing(format!(
            "the gate has {} entries, and {size} were signed for",
            run.report.entries
        )));
    }
    let stored: i64 = conn.query_row("SELECT count(*) FROM gate_nodes", [], |row| row.get(0))?;
    if count(stored) != gate.nodes {
        return Err(Stop::At(Place::Object("gate_nodes".to_owned()), "it has nodes of no entry".to_owned()));
    }
    run.tell("entries", run.report.entries, count(of))
}

/// Reads the next entries from a number on, behind a gap too; ends with the first whose bytes are not what they should be.
fn entries(conn: &Connection, start: i64, last: i64) -> Result<Vec<Result<Read, Stop>>, Stop> {
    let text = "SELECT entry_seq, request_id, hash, bytes FROM entries WHERE entry_seq BETWEEN ?1 AND ?2 \
                ORDER BY entry_seq LIMIT ?3";
    let mut found = conn.prepare_cached(text)?;
    let mut rows = found.query([start, last, chunks::STRIDE])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let entry = one(row)?;
        let last = entry.is_err();
        entries.push(entry);
        if last {
            break;
        }
    }
    Ok(entries)
}

fn one(row: &Row<'_>) -> Result<Result<Read, Stop>, Stop> {
    let seq = count(row.get(0)?);
    let at = |why: String| Stop::At(Place::Entry(seq), why);
    let bytes = row.get_ref(3)?.as_blob().map_err(|e| at(e.to_string()))?;
    let (stored, request) = (row.get::<_, Hash>(2)?.0, row.get::<_, String>(1)?);
    let read = read(bytes).and_then(|entry| {
        if entry.entry_hash != stored || entry.request_id != request {
            return Err("its columns differ from its bytes".to_owned());
        }
        Ok(Read { seq, prev: entry.prev_hash, hash: entry.entry_hash, leaf: leaf_hash(bytes) })
    });
    Ok(read.map_err(at))
}

/// The chain and the tree as far as they were followed.
struct Gate<'a> {
    conn: &'a Connection,
    chain: ChainVerifier,
    tree: Frontier,
    ahead: Vec<(u64, Digest, u64)>,
    nodes: u64,
}

impl Gate<'_> {
    /// The next entry, held against the one before it.
    fn follow(&mut self, entry: &Read) -> Result<(), Stop> {
        let followed = self.chain.follow(entry.seq, entry.prev, entry.hash);
        followed.map_err(|e| Stop::At(Place::Entry(entry.seq), fault(e)))?;
        let mut complete = Vec::new();
        self.tree.push_with(entry.leaf, &mut |level, index, hash| {
            if level > 0 && level.is_multiple_of(STORED_LEVELS) {
                complete.push((level, index, hash));
            }
        });
        for (level, index, hash) in complete {
            self.nodes += 1;
            node(self.conn, level, index, hash)?;
        }
        while let Some((size, root, number)) =
            self.ahead.last().copied().filter(|(size, ..)| *size <= entry.seq)
        {
            if self.tree.root() != root {
                let place = Place::Checkpoint { number, kind: CheckpointKind::Gate };
                let why = format!("the first {size} entries of the gate have another root");
                return Err(Stop::At(place, why));
            }
            self.ahead.pop();
        }
        Ok(())
    }
}

/// The entry in canonical bytes whose hash is that of its fields.
fn read(bytes: &[u8]) -> Result<AuditEntry, String> {
    let entry: AuditEntry =
        serde_json::from_slice(bytes).map_err(|e| format!("its bytes are no entry: {e}"))?;
    if entry.to_bytes().map_err(|e| e.to_string())? != bytes {
        return Err("its bytes are not canonical".to_owned());
    }
    if entry.computed_hash().map_err(|e| e.to_string())? != entry.entry_hash {
        return Err("its fields do not hash to its hash".to_owned());
    }
    Ok(entry)
}

fn node(conn: &Connection, level: u8, index: u64, hash: Digest) -> Result<(), Stop> {
    let text = "SELECT hash FROM gate_nodes WHERE level = ?1 AND idx = ?2";
    let stored = conn
        .prepare_cached(text)?
        .query_row(params![level, int(index)], |row| row.get::<_, Hash>(0))
        .optional()?;
    if stored.is_some_and(|s| s.0 == hash) {
        return Ok(());
    }
    Err(Stop::At(Place::GateNode { level, index }, "it is not the root of the entries below it".to_owned()))
}
