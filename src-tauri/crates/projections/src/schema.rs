//! Making, finding and dropping the tables.

use rusqlite::{Connection, OptionalExtension};

/// Version of the tables and of the fold. Raise it with every change of either: the writer then folds anew.
pub const VERSION: u32 = 4;

const TABLES: &str = include_str!("../../../../migrations/projections/0001_views.sql");

/// Makes the tables, empty, where they are not there. The caller holds the transaction.
///
/// # Errors
/// What the database says.
pub fn migrate(conn: &Connection) -> rusqlite::Result<()> {
    if version(conn)?.is_none() {
        conn.execute_batch(TABLES)?;
        conn.execute("INSERT INTO view_meta (one, version, log_seq) VALUES (1, ?1, 0)", [VERSION])?;
    }
    Ok(())
}

/// The version and the last event folded, or nothing where there are no tables.
pub(crate) fn version(conn: &Connection) -> rusqlite::Result<Option<(u32, i64)>> {
    let there = "SELECT count(*) FROM sqlite_schema WHERE name = 'view_meta'";
    if conn.query_row(there, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(None);
    }
    let read = "SELECT version, log_seq FROM view_meta";
    conn.query_row(read, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Indexes that the fold itself asks; all others only cost while the log is folded anew, and are made at its end.
const ASKED: [&str; 2] = ["view_conversations_by_focus", "view_receipts_by_action"];

/// Takes away the indexes that only lists need; returns the words that make them again.
pub(crate) fn without_indexes(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let text = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL \
                AND name LIKE 'view\\_%' ESCAPE '\\' ORDER BY name";
    let mut found = conn.prepare(text)?;
    let all = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let all: Vec<(String, String)> = all.collect::<Result<_, _>>()?;
    drop(found);
    let mut again = Vec::new();
    for (name, sql) in all.into_iter().filter(|(name, _)| !ASKED.contains(&name.as_str())) {
        conn.execute_batch(&format!("DROP INDEX \"{name}\""))?;
        again.push(sql);
    }
    Ok(again)
}

/// Drops whatever is of ours, of any version.
pub(crate) fn drop_all(conn: &Connection) -> rusqlite::Result<()> {
    // Virtual tables first: they take their shadow tables along.
    let text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'view\\_%' ESCAPE '\\' \
                ORDER BY sql NOT LIKE 'CREATE VIRTUAL%fts5vocab%', sql NOT LIKE 'CREATE VIRTUAL%', name";
    loop {
        let next: Option<String> = conn.query_row(text, [], |row| row.get(0)).optional()?;
        let Some(name) = next else {
            return Ok(());
        };
        conn.execute_batch(&format!("DROP TABLE \"{}\"", name.replace('"', "\"\"")))?;
    }
}
