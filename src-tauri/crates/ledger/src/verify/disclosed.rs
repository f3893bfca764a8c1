//! Disclosures: the digest, the shape, and the event they were recorded with.

use super::fields::spelled;
use super::report::{Place, Stop};
use super::{Run, chunks};
use crate::rows::{Hash, count};
use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection};
use seal::Digest;

/// Every disclosure hashes to its digest, has the shape of one, and is named by the event it was recorded with.
pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    chunks::sparse(run.conn, run.reader, "disclosures", "disclosure_seq", read, |done, of| {
        run.report.disclosures += done;
        run.tell("disclosures", run.report.disclosures, count(of))
    })
}

/// Checks a range; returns how many were there.
fn read(conn: &Connection, start: i64, end: i64) -> Result<u64, Stop> {
    let text = "SELECT digest, bytes, log_seq FROM disclosures WHERE disclosure_seq BETWEEN ?1 AND ?2 \
                ORDER BY disclosure_seq";
    let mut found = conn.prepare_cached(text)?;
    let mut rows = found.query([start, end])?;
    let mut event = Recorded::new(conn)?;
    let mut done = 0;
    while let Some(row) = rows.next()? {
        let digest = row.get::<_, Hash>(0)?.0;
        let at = |why: String| Stop::At(Place::Disclosure(digest), why);
        let bytes = row.get_ref(1)?.as_blob().map_err(|e| at(e.to_string()))?;
        shape(bytes).map_err(at)?;
        if let Some(log_seq) = row.get::<_, Option<i64>>(2)?
            && event.names(log_seq, digest)? == Some(false)
        {
            return Err(at("the event it is recorded with does not name it".to_owned()));
        }
        if Digest::of(bytes) != digest {
            return Err(at("its bytes do not hash to its digest".to_owned()));
        }
        done += 1;
    }
    Ok(done)
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

/// The event that disclosures were recorded with: several stand next to each other.
struct Recorded<'a> {
    found: CachedStatement<'a>,
    log_seq: i64,
    bytes: Option<Vec<u8>>,
}

impl<'a> Recorded<'a> {
    fn new(conn: &'a Connection) -> Result<Self, Stop> {
        let found = conn.prepare_cached("SELECT bytes FROM events WHERE log_seq = ?1")?;
        Ok(Self { found, log_seq: 0, bytes: None })
    }

    /// Whether the event names the digest; nothing where there is no such event.
    fn names(&mut self, log_seq: i64, digest: Digest) -> Result<Option<bool>, Stop> {
        if self.log_seq != log_seq {
            let mut rows = self.found.query([log_seq])?;
            let mut kept = self.bytes.take().unwrap_or_default();
            kept.clear();
            self.bytes = match rows.next()? {
                Some(row) => match row.get_ref(0)? {
                    ValueRef::Blob(bytes) => {
                        kept.extend_from_slice(bytes);
                        Some(kept)
                    }
                    _ => None,
                },
                None => None,
            };
            self.log_seq = log_seq;
        }
        Ok(self.bytes.as_ref().map(|bytes| contains(bytes, &spelled(digest))))
    }
}

/// Whether 64 digits stand somewhere in the bytes of an event, where a concealed leaf says its digest.
fn contains(bytes: &[u8], digits: &[u8; 64]) -> bool {
    // A concealed leaf is spelled `{"$sd":"…"}`, so only what follows its name is worth a look.
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|b| *b == b'$') {
        let Some((before, after)) = rest.split_at_checked(at + 1) else { return false };
        if before.ends_with(b"{\"$")
            && let Some(value) = after.strip_prefix(b"sd\":\"")
            && value.starts_with(digits)
        {
            return true;
        }
        rest = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{contains, is_text, shape};
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

    #[test]
    fn an_event_names_a_leaf_only_where_a_leaf_can_stand() {
        let digits = [b'7'; 64];
        let text = "7".repeat(64);
        let event = format!("{{\"a\":\"$\",\"b\":{{\"$sd\":\"{text}\"}}}}");
        assert!(contains(event.as_bytes(), &digits));
        for other in
            [format!("{{\"a\":\"{text}\"}}"), "{\"$sd\":\"77\"}".to_owned(), String::new(), "$".to_owned()]
        {
            assert!(!contains(other.as_bytes(), &digits), "{other}");
        }
    }
}
