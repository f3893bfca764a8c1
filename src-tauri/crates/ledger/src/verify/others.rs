//! Everything else that must fit: schema, epochs, disclosures, small artifacts, uses of grants.

use super::Run;
use super::events::TELL_EVERY;
use super::report::{Place, Stop};
use crate::rows::{Hash, Id, count};
use crate::schema;
use rusqlite::Connection;
use seal::Digest;

/// The ground objects are as the migrations made them: a trigger that is gone lets rows be changed.
pub(super) fn schema(conn: &Connection) -> Result<(), Stop> {
    let found = schema::objects(conn)?;
    for (kind, name, sql) in schema::expected_objects()? {
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

const OF_EVENT: &str = "(SELECT e.bytes FROM events e WHERE e.log_seq = disclosures.log_seq)";

/// Every disclosure hashes to its digest, has the shape of one, and is named by the event it was recorded with.
pub(super) fn disclosures(run: &mut Run<'_>) -> Result<(), Stop> {
    let named = |event: &[u8], digest: Digest| {
        std::str::from_utf8(event).is_ok_and(|text| text.contains(&digest.to_string()))
    };
    let wrong =
        |bytes: &[u8], event: Option<&[u8]>, digest: Digest| match seal::disclose::verify_disclosure(bytes) {
            Ok(_) if event.is_some_and(|event| !named(event, digest)) => {
                Some("the event it is recorded with does not name it".to_owned())
            }
            Ok((found, ..)) if found == digest => None,
            Ok(_) => Some("its bytes do not hash to its digest".to_owned()),
            Err(e) => Some(e.to_string()),
        };
    let found = content(run, "disclosures", "disclosures", OF_EVENT, Place::Disclosure, &wrong)?;
    run.report.disclosures = found;
    Ok(())
}

/// Every small artifact hashes to its digest.
pub(super) fn blobs(run: &mut Run<'_>) -> Result<(), Stop> {
    let wrong = |bytes: &[u8], _: Option<&[u8]>, digest: Digest| {
        (Digest::of(bytes) != digest).then(|| "its bytes do not hash to its digest".to_owned())
    };
    let found = content(run, "artifacts", "blobs", "NULL", Place::Blob, &wrong)?;
    run.report.blobs = found;
    Ok(())
}

/// What is wrong with content, given the event it was recorded with and its digest.
type Wrong<'a> = &'a dyn Fn(&[u8], Option<&[u8]>, Digest) -> Option<String>;

fn content(
    run: &mut Run<'_>,
    stage: &'static str,
    table: &str,
    event: &str,
    place: fn(Digest) -> Place,
    wrong: Wrong<'_>,
) -> Result<u64, Stop> {
    let conn = run.conn;
    let of = count(conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?);
    let mut found = conn.prepare(&format!("SELECT digest, bytes, {event} FROM {table} ORDER BY rowid"))?;
    let mut rows = found.query([])?;
    let mut done = 0_u64;
    while let Some(row) = rows.next()? {
        let digest = row.get::<_, Hash>(0)?.0;
        let bytes = row.get_ref(1)?.as_blob().map_err(|e| Stop::At(place(digest), e.to_string()))?;
        if let Some(why) = wrong(bytes, row.get_ref(2)?.as_blob_or_null().ok().flatten(), digest) {
            return Err(Stop::At(place(digest), why));
        }
        done += 1;
        if done.is_multiple_of(TELL_EVERY) {
            run.tell(stage, done, of)?;
        }
    }
    run.tell(stage, done, of)?;
    Ok(done)
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
