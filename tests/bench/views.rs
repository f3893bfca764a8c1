//! Folding the views anew beside raw insertion of the same rows and index entries.

use crate::Asked;
use crate::board::{Board, timed};
use crate::history;
use projections::{Flow, digest, migrate, rebuild, tables};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::time::Duration;

const STEPS: u32 = 6_000;
const ROUNDS: usize = 5;

/// Rows of every table, and the words of the index.
struct Rows {
    tables: Vec<(String, Vec<Vec<Value>>)>,
    words: Vec<(i64, Option<String>)>,
}

fn read(from: &Connection) -> Rows {
    let names = tables(from).expect("it reads").into_iter().map(|t| t.table);
    let mut all = Vec::new();
    for name in names.filter(|n| n != "view_search_words" && n != "view_meta") {
        let mut found = from.prepare(&format!("SELECT * FROM {name}")).expect("it reads");
        let width = found.column_count();
        let read = found.query_map([], |row| (0..width).map(|n| row.get(n)).collect()).expect("it reads");
        all.push((name, read.collect::<Result<_, _>>().expect("it reads")));
    }
    let text = "SELECT d.doc, coalesce((SELECT json_extract(CAST(x.bytes AS TEXT), '$[2]') FROM disclosures x \
                WHERE x.digest = d.leaf), (SELECT CAST(b.bytes AS TEXT) FROM blobs b WHERE b.digest = d.content)) \
                FROM view_search_docs d ORDER BY d.doc";
    let mut found = from.prepare(text).expect("it reads");
    let words = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("it reads");
    Rows { tables: all, words: words.collect::<Result<_, _>>().expect("it reads") }
}

/// Inserts them as fast as SQLite takes them.
fn insert(rows: &Rows, to: &Connection) {
    to.execute_batch("BEGIN").expect("begin");
    for (name, content) in rows.tables.iter().filter(|(_, content)| !content.is_empty()) {
        let marks = vec!["?"; content.first().map_or(1, Vec::len)].join(", ");
        let mut insert = to.prepare(&format!("INSERT INTO {name} VALUES ({marks})")).expect("the same table");
        for row in content {
            insert.execute(params_from_iter(row)).expect("the same row");
        }
    }
    let mut insert = to.prepare("INSERT INTO view_search (rowid, text) VALUES (?1, ?2)").expect("the index");
    for (doc, text) in &rows.words {
        insert.execute((doc, text)).expect("the same words");
    }
    drop(insert);
    to.execute_batch("COMMIT").expect("commit");
}

pub fn run(_: &Asked, board: &Board) {
    let history = history::History::new(1).run(STEPS);
    let conn = &history.store.conn;
    let live = digest(conn).expect("it reads");
    let rows = read(conn);
    let (mut raw, mut folded, mut events) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let bare = Connection::open_in_memory().expect("memory");
        migrate(&bare).expect("empty views");
        raw = raw.min(timed(|| insert(&rows, &bare)).0);
        let (took, done) = timed(|| rebuild(conn, &mut |_| Flow::Continue).expect("it folds"));
        (folded, events) = (folded.min(took), done);
    }
    assert_eq!(digest(conn).expect("it reads"), live, "rebuilt tables are the live ones");
    let detail = format!("{events} events in {folded:.0?}, the rows in {raw:.0?}");
    board.at_least(
        "rebuild of views / raw insertion",
        raw.as_secs_f64() / folded.as_secs_f64(),
        0.5,
        &detail,
    );
}
