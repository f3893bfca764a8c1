//! Everything else that must fit: schema, epochs, small artifacts, uses of grants.

use super::report::{Place, Stop};
use super::{Run, chunks};
use crate::rows::{Hash, Id, count};
use crate::schema;
use rusqlite::Connection;
use seal::Digest;

/// The ground objects are as the migrations made them: a trigger that is gone lets rows be changed.
pub(super) fn schema(conn: &Connection) -> Result<(), Stop> {
    let found = schema::objects(conn)?;
    for (kind, name, sql) in schema::expected_objects(conn)? {
        if !found.iter().any(|(k, n, s)| (k, n, s) == (&kind, &name, &sql)) {
            return Err(Stop::At(Place::Object(name), format!("the {kind} is missing or was changed")));
        }
    }
    Ok(())
}

/// Epochs count up by one. Returns the last.
pub(super) fn epochs(conn: &Connection) -> Result<u64, Stop> {
    let mut found = conn.prepare("SELECT epoch FROM epochs ORDER BY epoch")?;
    let mut last = 0;
    for epoch in found.query_map([], |row| row.get::<_, i64>(0))? {
        let epoch = count(epoch?);
        if epoch != last + 1 {
            return Err(Stop::At(Place::Epoch(epoch), format!("epochs go from {last} to {epoch}")));
        }
        last = epoch;
    }
    Ok(last)
}

/// Every small artifact hashes to its digest.
pub(super) fn blobs(run: &mut Run<'_>) -> Result<(), Stop> {
    let read = |conn: &Connection, start: i64, end: i64| {
        let text = "SELECT digest, bytes FROM blobs WHERE blob_seq BETWEEN ?1 AND ?2 ORDER BY blob_seq";
        let mut found = conn.prepare_cached(text)?;
        let mut rows = found.query([start, end])?;
        let mut done = 0;
        while let Some(row) = rows.next()? {
            let digest = row.get::<_, Hash>(0)?.0;
            let at = |why: String| Stop::At(Place::Blob(digest), why);
            let bytes = row.get_ref(1)?.as_blob().map_err(|e| at(e.to_string()))?;
            if Digest::of(bytes) != digest {
                return Err(at("its bytes do not hash to its digest".to_owned()));
            }
            done += 1;
        }
        Ok(done)
    };
    chunks::sparse(run.conn, run.reader, "blobs", "blob_seq", read, |done: u64, of| {
        run.report.blobs += done;
        run.tell("artifacts", run.report.blobs, count(of))
    })
}

/// Uses of a grant count from 1 and stay within one limit.
pub(super) fn grant_uses(run: &Run<'_>) -> Result<(), Stop> {
    let text = "SELECT grant_id FROM grant_uses GROUP BY grant_id HAVING min(use_no) <> 1 OR max(use_no) <> count(*) \
                OR max(use_no) > min(max_uses) OR min(max_uses) <> max(max_uses) ORDER BY grant_id LIMIT 1";
    let mut found = run.conn.prepare(text)?;
    let mut rows = found.query([])?;
    match rows.next()? {
        Some(row) => {
            let grant = model::GrantId::new(row.get::<_, Id>(0)?.0);
            Err(Stop::At(Place::GrantUse(grant), "they do not count up to one limit".to_owned()))
        }
        None => Ok(()),
    }
}
