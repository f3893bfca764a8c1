//! Roots of state, as the store's own stream says them (HV-3.6-1).

use super::Seen;
use crate::Error;
use crate::rows::NewStateRoot;
use model::body::StateRooted;
use model::state_root::StateRoot;
use model::{Body, Digest, Sensitive};
use rusqlite::Connection;
use serde::de::IgnoredAny;

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::StateRooted(b) => stated(seen, b),
        Body::DisclosuresErased(b) => {
            for list in &b.digests {
                seen.run("DELETE FROM view_state_roots WHERE list = ?1", [list.to_string()])?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn stated(seen: &Seen<'_>, b: &StateRooted) -> Result<(), Error> {
    // A stored event shows no leaf: its digest is what the list is kept under.
    let Sensitive::Erased(list) = &b.roots else { return Ok(()) };
    for one in listed(seen.conn, list)? {
        seen.add(NewStateRoot {
            number: b.number,
            subject: one.subject,
            size: one.size,
            root: one.root,
            through: b.through,
            state_root: b.state_root,
            task_seq: seen.event.task_seq,
            at: seen.at(),
            list: *list,
        })?;
    }
    Ok(())
}

/// The roots that an event lists; none where the list was erased.
fn listed(conn: &Connection, list: &Digest) -> rusqlite::Result<Vec<StateRoot>> {
    let mut found = conn.prepare_cached("SELECT bytes FROM disclosures WHERE digest = ?1")?;
    let mut rows = found.query([list.0])?;
    let Some(row) = rows.next()? else { return Ok(Vec::new()) };
    let bytes = row.get_ref(0)?.as_bytes()?;
    let read = serde_json::from_slice::<(IgnoredAny, IgnoredAny, Vec<StateRoot>)>(bytes);
    Ok(read.map(|(_, _, roots)| roots).unwrap_or_default())
}
