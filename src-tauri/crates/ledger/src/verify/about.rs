//! What events say of rows that no chain holds: which notes were signed, which grants were issued and used.

use super::report::{Place, Stop};
use crate::rows::{Id, count};
use model::GrantId;
use rusqlite::Connection;
use seal::Digest;
use serde::Deserialize;
use std::collections::HashMap;

/// What an event says of such a row.
pub(super) enum About {
    /// A note was signed.
    Signed(Digest),
    /// Authority was given for so many uses.
    Issued(GrantId, u32),
    /// It was used.
    Used(GrantId),
}

#[derive(Deserialize)]
struct Event<T> {
    payload: T,
}

#[derive(Deserialize)]
struct Signed {
    note_sha256: Digest,
}

#[derive(Deserialize)]
struct Issued {
    grant_id: GrantId,
    max_uses: u32,
}

#[derive(Deserialize)]
struct Used {
    grant_id: GrantId,
}

/// What these bytes of an event of this type say; nothing for most.
pub(super) fn about(event_type: &str, bytes: &[u8]) -> Option<About> {
    fn payload<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
        serde_json::from_slice::<Event<T>>(bytes).ok().map(|event| event.payload)
    }
    match event_type {
        "checkpoint.signed" => payload::<Signed>(bytes).map(|said| About::Signed(said.note_sha256)),
        "grant.issued" => payload::<Issued>(bytes).map(|said| About::Issued(said.grant_id, said.max_uses)),
        "effect.dispatched" => payload::<Used>(bytes).map(|said| About::Used(said.grant_id)),
        _ => None,
    }
}

/// Grants that events name: for how many uses, and how often used.
#[derive(Default)]
pub(super) struct Grants {
    known: HashMap<GrantId, (Option<u32>, u64)>,
}

impl Grants {
    pub fn issued(&mut self, grant: GrantId, max_uses: u32) {
        self.known.entry(grant).or_default().0 = Some(max_uses);
    }

    pub fn used(&mut self, grant: GrantId) {
        self.known.entry(grant).or_default().1 += 1;
    }

    /// A use that the log tells of and the table has forgotten could be made again; so could one beyond a limit that
    /// was raised.
    pub fn check(&self, conn: &Connection) -> Result<(), Stop> {
        let text = "SELECT count(*), max(max_uses) FROM grant_uses WHERE grant_id = ?1";
        let mut found = conn.prepare(text)?;
        for (grant, (limit, used)) in &self.known {
            let (rows, most): (i64, Option<i64>) =
                found.query_row([Id::from(*grant)], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let at = |why: String| Stop::At(Place::GrantUse(*grant), why);
            if limit.is_some() && count(rows) < *used {
                return Err(at(format!("the log tells of {used}, and {} are kept", count(rows))));
            }
            if let (Some(limit), Some(most)) = (limit, most)
                && count(most) > u64::from(*limit)
            {
                return Err(at(format!("it was given for {limit}, and {} may be made", count(most))));
            }
        }
        Ok(())
    }
}
