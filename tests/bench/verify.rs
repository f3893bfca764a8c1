//! Verification of the ledger beside a bare chain check over the same database.

use crate::board::{Board, timed};
use crate::{Asked, grown};
use ledger::{Reader, Verdict};
use seal::{Digest, Signer};
use std::path::Path;

const ROUNDS: usize = 5;

/// Reads the bytes, hashes, compares.
fn bare(dir: &Path) -> u64 {
    let conn = rusqlite::Connection::open(dir.join(ledger::FILE)).expect("a database");
    let mut found = conn.prepare("SELECT hash, bytes FROM events ORDER BY log_seq").expect("a query");
    let mut rows = found.query([]).expect("rows");
    let mut events = 0;
    while let Some(row) = rows.next().expect("a row") {
        let hash = Digest::of(row.get_ref(1).expect("bytes").as_blob().expect("a blob"));
        assert_eq!(hash.as_bytes(), row.get_ref(0).expect("a hash").as_blob().expect("a blob"));
        events += 1;
    }
    events
}

pub fn run(asked: &Asked, board: &Board) {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = grown::writer(folder.path(), false);
    grown::grow(&writer, asked.events);
    let reader = Reader::open(folder.path()).expect("a reader");
    let keys = [grown::signer().public()];
    let (mut raw, mut whole) = (f64::MAX, f64::MAX);
    let mut events = 0;
    for _ in 0..ROUNDS {
        let (took, rows) = timed(|| bare(folder.path()));
        raw = raw.min(took.as_secs_f64());
        events = rows;
        let (took, report) =
            timed(|| ledger::verify(&reader, &keys, None, &mut |_| true).expect("it can be read"));
        assert_eq!(report.verdict, Verdict::Valid, "{}", report.reason);
        whole = whole.min(took.as_secs_f64());
    }
    let rate = |seconds: f64| events as f64 / seconds;
    let detail = format!("{:.0} of {:.0} events/s, {events} events", rate(whole), rate(raw));
    board.at_least("verification / bare chain check", raw / whole, 0.5, &detail);
}
