//! Making, finding and dropping the tables.

use rusqlite::{Connection, OptionalExtension};

/// Version of the tables and of the fold. Raise it with every change of either: the writer then folds anew.
pub const VERSION: u32 = 19;

const TABLES: &str = concat!(
    include_str!("../../../../migrations/projections/0001_views.sql"),
    include_str!("../../../../migrations/projections/0002_search.sql"),
    include_str!("../../../../migrations/projections/0003_state_roots.sql"),
    include_str!("../../../../migrations/projections/0004_spent.sql"),
    include_str!("../../../../migrations/projections/0005_memory_uses.sql"),
    include_str!("../../../../migrations/projections/0006_withheld.sql")
);

/// Makes the tables, empty, where they are not there. The caller holds the transaction.
///
/// # Errors
/// What the database says.
pub fn migrate(conn: &Connection) -> rusqlite::Result<()> {
    if version(conn)?.is_none() {
        make_tables(conn)?;
        make_indexes(conn)?;
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
const ASKED: [&str; 7] = [
    "view_conversations_by_focus",
    "view_receipts_by_action",
    "view_memory_docs_by_leaf",
    "view_withheld_by_artifact",
    "view_descent_by_root",
    "view_word_roots_by_root",
    "view_told_by_of",
];

/// Whether this line of [`TABLES`] makes an index that only lists need. Each stands in a line of its own.
fn is_late(line: &str) -> bool {
    let index = line.strip_prefix("CREATE INDEX ").and_then(|rest| rest.split(' ').next());
    index.is_some_and(|name| !ASKED.contains(&name))
}

fn lines(late: bool) -> String {
    let lines: Vec<&str> = TABLES.lines().filter(|line| is_late(line) == late).collect();
    lines.join("\n")
}

/// Makes the tables, empty, without the indexes that only lists need.
pub(crate) fn make_tables(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(&lines(false))?;
    conn.execute("INSERT INTO view_meta (one, version, log_seq) VALUES (1, ?1, 0)", [VERSION])?;
    Ok(())
}

/// Makes the indexes that only lists need.
pub(crate) fn make_indexes(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(&lines(true))
}

/// Drops whatever is of ours, of any version.
pub(crate) fn drop_all(conn: &Connection) -> rusqlite::Result<()> {
    // Virtual tables first: they take their shadow tables along, which are listed too.
    let text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'view\\_%' ESCAPE '\\' \
                ORDER BY sql NOT LIKE 'CREATE VIRTUAL%fts5vocab%', sql NOT LIKE 'CREATE VIRTUAL%', name";
    let mut found = conn.prepare(text)?;
    let names: Vec<String> = found.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    drop(found);
    for name in names {
        conn.execute_batch(&format!("DROP TABLE IF EXISTS \"{}\"", name.replace('"', "\"\"")))?;
    }
    Ok(())
}
