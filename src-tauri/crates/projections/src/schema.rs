//! Making, finding and dropping the tables.

use rusqlite::{Connection, OptionalExtension};

/// Version of the tables and of the fold. Raise it with every change of either: the writer then folds anew.
pub const VERSION: u32 = 1;

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
