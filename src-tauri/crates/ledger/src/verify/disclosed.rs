//! Disclosures: the digest, the shape, and the event they were recorded with.
//!
//! They were recorded in the order of the log, so nearly always those of a range of events stand together, and are
//! looked at while the events' bytes are at hand ([`beside`]). Where anything about them is odd, all are looked at once
//! more, alone, which says what it is.

use super::fields::spelled;
use super::report::{Place, Stop};
use super::{Run, chunks};
use crate::rows::{Hash, Id, count};
use crate::severed::{self, Severed};
use rusqlite::Connection;
use seal::Digest;
use seal::disclose::concealed_in;

/// Up to here reading on is quicker than looking an event up.
const NEAR: i64 = 12;

/// Rows between two events' disclosures that may have been recorded with none; more are not looked through.
const BETWEEN_MAX: usize = 64;

/// Rows from one number to before another that fit to the events of a range.
pub(super) struct Beside {
    from: i64,
    to: i64,
    rows: u64,
}

/// How far disclosures were followed beside the events.
pub(super) struct Followed {
    /// The next number, or nothing behind a range that did not fit to the one before it.
    next: Option<i64>,
    rows: u64,
}

impl Followed {
    pub const fn new() -> Self {
        Self { next: Some(i64::MIN), rows: 0 }
    }

    pub fn take(&mut self, range: Option<Beside>) {
        let fits = range.filter(|range| self.next == Some(range.from));
        self.rows += fits.as_ref().map_or(0, |range| range.rows);
        self.next = fits.map(|range| range.to);
    }
}

/// A leaf that an event names, and the event.
pub(super) type Named = (i64, Digest);

/// The disclosures of the events from `start` to `end`, which name `leaves`; nothing where one of them is odd.
pub(super) fn beside(
    conn: &Connection,
    leaves: &[Named],
    (start, end): (i64, i64),
) -> Result<Option<Beside>, Stop> {
    let Some(from) = first_of(conn, start)? else { return Ok(None) };
    let text = "SELECT disclosure_seq, digest, bytes, log_seq FROM disclosures WHERE disclosure_seq >= ?1 \
                ORDER BY disclosure_seq";
    let mut found = conn.prepare_cached(text)?;
    let mut rows = found.query([from])?;
    let (mut leaves, mut done) = (leaves, 0);
    while let Some(row) = rows.next()? {
        let (digest, of) = (row.get::<_, Hash>(1)?.0, row.get::<_, Option<i64>>(3)?);
        if let Some(of) = of {
            if of > end {
                return Ok(Some(Beside { from, to: row.get(0)?, rows: done }));
            }
            let behind = leaves.iter().take_while(|(log_seq, _)| *log_seq < of).count();
            leaves = leaves.get(behind..).unwrap_or_default();
            if !leaves.iter().take_while(|(log_seq, _)| *log_seq == of).any(|(_, leaf)| *leaf == digest) {
                return Ok(None);
            }
        }
        let bytes = row.get_ref(2)?.as_blob().unwrap_or_default();
        if shape(bytes).is_err() || Digest::of(bytes) != digest {
            return Ok(None);
        }
        done += 1;
    }
    Ok(Some(Beside { from, to: i64::MAX, rows: done }))
}

/// The number of the first disclosure of the events from `start` on, which is looked for as if all stood in the order of
/// the log; nothing where too many of none stand between.
fn first_of(conn: &Connection, start: i64) -> Result<Option<i64>, Stop> {
    if start == i64::MIN {
        return Ok(Some(start));
    }
    let last: i64 = conn
        .prepare_cached("SELECT max(disclosure_seq) FROM disclosures")?
        .query_row([], |row| row.get::<_, Option<i64>>(0).map(Option::unwrap_or_default))?;
    let text =
        "SELECT disclosure_seq, log_seq FROM disclosures WHERE disclosure_seq >= ?1 ORDER BY disclosure_seq";
    let mut found = conn.prepare_cached(text)?;
    let (mut low, mut high, mut first) = (1, last.saturating_add(1), i64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        let mut rows = found.query([middle])?;
        let mut between = 0;
        let at = loop {
            let Some(row) = rows.next()? else { break None };
            if let Some(of) = row.get::<_, Option<i64>>(1)? {
                break Some((row.get::<_, i64>(0)?, of));
            }
            between += 1;
            if between > BETWEEN_MAX {
                return Ok(None);
            }
        };
        match at {
            Some((number, of)) if of < start => low = number.saturating_add(1),
            Some((number, _)) => (high, first) = (middle, number),
            None => high = middle,
        }
    }
    Ok(Some(first))
}

/// Every disclosure hashes to its digest, has the shape of one, and is named by the event it was recorded with.
pub(super) fn check(run: &mut Run<'_>, beside: &Followed) -> Result<(), Stop> {
    let known = run.report.severed.clone();
    let last = "SELECT coalesce(max(disclosure_seq), 0) FROM disclosures";
    let last: i64 = run.conn.query_row(last, [], |row| row.get(0))?;
    if known.is_empty() && run.report.events > 0 && beside.next.is_some_and(|next| next > last) {
        run.report.disclosures = beside.rows;
        return run.tell("disclosures", beside.rows, beside.rows);
    }
    // Of a log without events, or with events that were severed, something is known to be missing.
    let lost = run.report.events == 0 || !known.is_empty();
    let read = |conn: &Connection, start, end| read(conn, (&known, lost), start, end);
    chunks::sparse(run.conn, run.reader, "disclosures", "disclosure_seq", read, |done, of| {
        run.report.disclosures += done;
        run.tell("disclosures", run.report.disclosures, count(of))
    })
}

/// A disclosure whose own bytes fit, and the event it says it was recorded with.
struct Claim {
    log_seq: i64,
    epoch: u64,
    digest: Digest,
}

/// Checks a range; returns how many were there.
fn read(conn: &Connection, known: (&[Severed], bool), start: i64, end: i64) -> Result<u64, Stop> {
    let text = "SELECT digest, bytes, log_seq, epoch FROM disclosures WHERE disclosure_seq BETWEEN ?1 AND ?2 \
                ORDER BY disclosure_seq";
    let mut found = conn.prepare_cached(text)?;
    let mut rows = found.query([start, end])?;
    let (mut claims, mut done, mut odd) = (Vec::new(), 0, None);
    while let Some(row) = rows.next()? {
        let digest = row.get::<_, Hash>(0)?.0;
        if let Some(log_seq) = row.get::<_, Option<i64>>(2)? {
            claims.push(Claim { log_seq, epoch: count(row.get(3)?), digest });
        }
        let at = |why: String| Stop::At(Place::Disclosure(digest), why);
        let bytes = row.get_ref(1)?.as_blob().map_err(|e| at(e.to_string()))?;
        let hashes = || match Digest::of(bytes) == digest {
            true => Ok(()),
            false => Err("its bytes do not hash to its digest".to_owned()),
        };
        if let Err(why) = shape(bytes).and_then(|()| hashes()) {
            odd = Some(at(why));
            break;
        }
        done += 1;
    }
    named(conn, known, &claims)?;
    odd.map_or(Ok(done), Err)
}

/// Whether each is named by its event. Disclosures are recorded in the order of the log, so their events stand near
/// each other and are read in one go.
fn named(conn: &Connection, (known, lost): (&[Severed], bool), claims: &[Claim]) -> Result<(), Stop> {
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_by_key(|n| claims.get(*n).map(|claim| claim.log_seq));
    let mut sorted = order.iter().filter_map(|n| Some((*n, claims.get(*n)?))).peekable();
    let text =
        "SELECT log_seq, bytes, task_id, task_seq, epoch FROM events WHERE log_seq >= ?1 ORDER BY log_seq";
    let mut found = conn.prepare_cached(text)?;
    let mut first_odd = None::<usize>;
    // An event that is not there names nothing, unless it was lost, which was told already.
    let nowhere = |odd: Option<usize>, n: usize| match lost {
        false => Some(odd.map_or(n, |odd| odd.min(n))),
        true => odd,
    };
    while let Some((_, claim)) = sorted.peek() {
        let from = claim.log_seq;
        let mut rows = found.query([from])?;
        while let Some(row) = rows.next()? {
            let log_seq: i64 = row.get(0)?;
            while let Some((n, _)) = sorted.next_if(|(_, claim)| claim.log_seq < log_seq) {
                first_odd = nowhere(first_odd, n);
            }
            let mut leaves = None;
            while let Some((n, claim)) = sorted.next_if(|(_, claim)| claim.log_seq == log_seq) {
                let bytes = row.get_ref(1)?.as_blob().unwrap_or_default();
                let leaves = leaves.get_or_insert_with(|| concealed_in(bytes).collect::<Vec<_>>());
                // Of an event that was severed, or lost at the end so that its number was given again.
                let severed = || -> rusqlite::Result<bool> {
                    let (task, seq, epoch) =
                        (row.get::<_, Id>(2)?.task(), count(row.get(3)?), count(row.get(4)?));
                    let again = known.iter().any(|one| claim.epoch < one.epoch && one.epoch <= epoch);
                    Ok(again || severed::covered(known, task, seq, count(log_seq)))
                };
                if !leaves.contains(&spelled(claim.digest).as_slice()) && !severed()? {
                    first_odd = Some(first_odd.map_or(n, |odd| odd.min(n)));
                }
            }
            if sorted.peek().is_none_or(|(_, claim)| claim.log_seq > log_seq.saturating_add(NEAR)) {
                break;
            }
        }
        while let Some((n, _)) = sorted.next_if(|(_, claim)| claim.log_seq <= from) {
            first_odd = nowhere(first_odd, n);
        }
    }
    match first_odd.and_then(|n| claims.get(n)) {
        Some(claim) => {
            let why = "the event it is recorded with does not name it".to_owned();
            Err(Stop::At(Place::Disclosure(claim.digest), why))
        }
        None => Ok(()),
    }
}

/// The canonical bytes of `[salt, pointer, value]`.
fn shape(bytes: &[u8]) -> Result<(), String> {
    if is_text(bytes) {
        return Ok(());
    }
    seal::disclose::verify_disclosure(bytes).map(drop).map_err(|e| e.to_string())
}

/// Whether they open a text at a plain place, as nearly all do. Anything else is for the general reader.
fn is_text(bytes: &[u8]) -> bool {
    let is_digit = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    let shaped = || {
        let (salt, rest) = bytes.strip_prefix(b"[\"")?.split_at_checked(32)?;
        let rest = rest.strip_prefix(b"\",\"")?;
        let quote = rest.iter().position(|b| *b == b'"')?;
        let (pointer, rest) = rest.split_at_checked(quote)?;
        let text = rest.strip_prefix(b"\",\"")?.strip_suffix(b"\"]")?;
        let plain = pointer.first() == Some(&b'/') && !pointer.iter().any(|b| matches!(b, b'~' | b'\\'));
        // With no quote inside that a backslash does not stand before, it is one string and not several values.
        let whole = !text.contains(&b'"') && text.last() != Some(&b'\\');
        Some(salt.iter().all(is_digit) && plain && whole)
    };
    shaped() == Some(true) && seal::canon::check_canonical(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{is_text, shape};
    use seal::canon::to_canonical;
    use serde_json::{Value, json};

    const SALT: &str = "000102030405060708090a0b0c0d0e0f";

    #[test]
    fn what_is_taken_for_a_text_is_a_disclosure_for_the_general_reader_too() {
        let bytes = |value: Value| to_canonical(&value).unwrap();
        for text in ["", "a", "wörter \u{1f600}", "line\nbreak"] {
            assert!(is_text(&bytes(json!([SALT, "/payload/goal", text]))), "{text}");
        }
        for odd in [
            json!([SALT, "/payload/goal", "one", "two"]),
            json!([SALT, "/payload/goal", "quote \" inside"]),
            json!([SALT, "/payload/goal", "backslash \\"]),
            json!([SALT, "/payload/goal", 7]),
            json!([SALT, "/payload/~1", "x"]),
            json!([SALT, "payload", "x"]),
            json!([SALT, "", "x"]),
            json!([SALT.to_uppercase(), "/payload", "x"]),
            json!([SALT, "/payload"]),
            json!({ "a": SALT }),
        ] {
            assert!(!is_text(&bytes(odd.clone())), "{odd}");
            let general = seal::disclose::verify_disclosure(&bytes(odd.clone())).is_ok();
            assert_eq!(shape(&bytes(odd.clone())).is_ok(), general, "{odd}");
        }
        for broken in
            ["[\"\",\"/p\",\"x\"]", "", "[\"", "[\"000102030405060708090a0b0c0d0e0f\",\"/p\",\"\u{1}\"]"]
        {
            assert!(shape(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
