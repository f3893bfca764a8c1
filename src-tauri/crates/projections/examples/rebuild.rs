//! How fast the views are folded anew, beside raw insertion of the same rows and index entries (recovery.md 4).
//!
//! `cargo run --release -p hermit-projections --example rebuild -- 2000 5`: the length of the history, and rounds.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    dead_code,
    reason = "a measurement asks the clock, and says so when it cannot go on"
)]

#[path = "../tests/history.rs"]
mod history;
#[path = "../tests/store.rs"]
mod store;
#[path = "../tests/world.rs"]
mod world;

use projections::{Flow, digest, migrate, rebuild, tables};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::time::Instant;

/// Inserts the rows of one table, and for the documents their words, as fast as SQLite takes them.
fn raw(from: &Connection, to: &Connection) -> u64 {
    let mut rows = 0;
    let names = tables(from).expect("it reads").into_iter().map(|t| t.table);
    let mut all: Vec<(String, Vec<Vec<Value>>)> = Vec::new();
    for name in names.filter(|n| n != "view_search_words" && n != "view_meta") {
        let mut found = from.prepare(&format!("SELECT * FROM {name}")).expect("it reads");
        let width = found.column_count();
        let read = found.query_map([], |row| (0..width).map(|n| row.get(n)).collect()).expect("it reads");
        all.push((name, read.collect::<Result<_, _>>().expect("it reads")));
    }
    let mut words = from
        .prepare(
            "SELECT d.doc, coalesce((SELECT json_extract(CAST(x.bytes AS TEXT), '$[2]') FROM disclosures x \
             WHERE x.digest = d.leaf), (SELECT CAST(b.bytes AS TEXT) FROM blobs b WHERE b.digest = d.content)) \
             FROM view_search_docs d ORDER BY d.doc",
        )
        .expect("it reads");
    let words: Vec<(i64, Option<String>)> = words
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect)
        .expect("it reads");
    let began = Instant::now();
    to.execute_batch("BEGIN").expect("begin");
    for (name, content) in all.into_iter().filter(|(_, content)| !content.is_empty()) {
        let marks = vec!["?"; content.first().map_or(1, Vec::len)].join(", ");
        let mut insert = to.prepare(&format!("INSERT INTO {name} VALUES ({marks})")).expect("the same table");
        for row in content {
            insert.execute(params_from_iter(row)).expect("the same row");
            rows += 1;
        }
    }
    let mut insert = to.prepare("INSERT INTO view_search (rowid, text) VALUES (?1, ?2)").expect("the index");
    for (doc, text) in words {
        insert.execute((doc, text)).expect("the same words");
        rows += 1;
    }
    drop(insert);
    to.execute_batch("COMMIT").expect("commit");
    println!("raw insertion: {rows} rows in {:?}", began.elapsed());
    u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn main() {
    let steps = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let history = history::History::new(1).run(steps);
    let conn = &history.store.conn;
    let live = digest(conn).expect("it reads");
    let rounds = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(5);
    let mut best = (u64::MAX, u64::MAX);
    for _ in 0..rounds {
        let bare = Connection::open_in_memory().expect("memory");
        migrate(&bare).expect("empty views");
        let raw = raw(conn, &bare);
        let began = Instant::now();
        let events = rebuild(conn, &mut |_| Flow::Continue).expect("it folds");
        let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        println!("rebuild: {events} events in {:?}", began.elapsed());
        best = (best.0.min(raw), best.1.min(took));
    }
    let (raw, took) = best;
    println!("ratio to raw insertion, best of five each: {}.{:03}", raw / took, (raw * 1_000 / took) % 1_000);
    assert_eq!(digest(conn).expect("it reads"), live, "rebuilt tables are the live ones");
}
