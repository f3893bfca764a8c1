//! Entries of the gate: chain, copies, tree.

use super::Run;
use super::events::TELL_EVERY;
use super::notes::Heads;
use super::report::{Place, Stop};
use crate::CheckpointKind;
use crate::rows::{Hash, count, int};
use crate::tree::STORED_LEVELS;
use model::audit::AuditEntry;
use rusqlite::{Connection, OptionalExtension, params};
use seal::Digest;
use seal::merkle::{Frontier, leaf_hash};

pub(super) fn check(run: &mut Run<'_>, heads: &Heads) -> Result<(), Stop> {
    let conn = run.conn;
    let of: i64 = conn.query_row("SELECT coalesce(max(entry_seq), 0) FROM entries", [], |row| row.get(0))?;
    let mut found =
        conn.prepare("SELECT entry_seq, request_id, hash, bytes FROM entries ORDER BY entry_seq")?;
    let mut rows = found.query([])?;
    let (mut head, mut tree, mut ahead, mut nodes) = (Digest::ZERO, Frontier::new(), heads.of_gate(), 0_u64);
    while let Some(row) = rows.next()? {
        let seq = count(row.get(0)?);
        let at = |why: &str| Stop::At(Place::Entry(seq), why.to_owned());
        if seq != run.report.entries + 1 {
            return Err(at("an entry before it is missing"));
        }
        let bytes = row.get_ref(3)?.as_blob().map_err(|e| at(&e.to_string()))?;
        let entry = read(bytes).map_err(|why| at(&why))?;
        if entry.prev_hash != head {
            return Err(at("it does not point to the entry before it"));
        }
        if entry.entry_hash != row.get::<_, Hash>(2)?.0 || entry.request_id != row.get::<_, String>(1)? {
            return Err(at("its columns differ from its bytes"));
        }
        head = entry.entry_hash;
        let mut complete = Vec::new();
        tree.push_with(leaf_hash(bytes), &mut |level, index, hash| {
            if level > 0 && level.is_multiple_of(STORED_LEVELS) {
                complete.push((level, index, hash));
            }
        });
        for (level, index, hash) in complete {
            nodes += 1;
            node(conn, level, index, hash)?;
        }
        while let Some((size, root, number)) = ahead.last().copied().filter(|(size, ..)| *size <= seq) {
            if tree.root() != root {
                let place = Place::Checkpoint { number, kind: CheckpointKind::Gate };
                return Err(Stop::At(
                    place,
                    format!("the first {size} entries of the gate have another root"),
                ));
            }
            ahead.pop();
        }
        run.report.entries += 1;
        if run.report.entries.is_multiple_of(TELL_EVERY) {
            run.tell("entries", run.report.entries, count(of))?;
        }
    }
    if let Some((size, ..)) = ahead.first() {
        return Err(Stop::Missing(format!(
            "the gate has {} entries, and {size} were signed for",
            run.report.entries
        )));
    }
    let stored: i64 = conn.query_row("SELECT count(*) FROM gate_nodes", [], |row| row.get(0))?;
    if count(stored) != nodes {
        return Err(Stop::At(Place::Object("gate_nodes".to_owned()), "it has nodes of no entry".to_owned()));
    }
    run.tell("entries", run.report.entries, count(of))
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
