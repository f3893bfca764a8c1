//! One digest over everything the views hold, for comparing live tables with rebuilt ones.

use model::Digest;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// What one table holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    /// Its name.
    pub table: String,
    /// How many rows.
    pub rows: u64,
    /// SHA-256 over its rows in the order of all their columns.
    pub sha256: Digest,
}

/// Every table with its digest, by name; the words of the search index included.
///
/// # Errors
/// What the database says.
pub fn tables(conn: &Connection) -> rusqlite::Result<Vec<TableDigest>> {
    // What an index keeps for itself hangs on when it was written; its words are what is compared.
    let text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'view\\_%' ESCAPE '\\' \
                AND name NOT IN ('view_search', 'view_memory_search') \
                AND name NOT GLOB 'view*_search_data' AND name NOT GLOB 'view*_search_idx' \
                AND name NOT GLOB 'view*_search_docsize' AND name NOT GLOB 'view*_search_config' \
                AND name NOT GLOB 'view*_search_content' ORDER BY name";
    let mut found = conn.prepare(text)?;
    let names: Vec<String> = found.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    names.into_iter().map(|table| one(conn, table)).collect()
}

/// SHA-256 over the digests of every table.
///
/// # Errors
/// What the database says.
pub fn digest(conn: &Connection) -> rusqlite::Result<Digest> {
    let tables = tables(conn)?;
    let lines: String = tables.iter().map(|t| format!("{} {} {}\n", t.sha256, t.rows, t.table)).collect();
    Ok(Digest::of(lines.as_bytes()))
}

fn one(conn: &Connection, table: String) -> rusqlite::Result<TableDigest> {
    let columns = conn.prepare(&format!("SELECT * FROM \"{table}\" LIMIT 0"))?.column_count();
    let order: Vec<String> = (1..=columns).map(|n| n.to_string()).collect();
    let mut found = conn.prepare(&format!("SELECT * FROM \"{table}\" ORDER BY {}", order.join(", ")))?;
    let mut read = found.query([])?;
    let (mut rows, mut sha256, mut bytes) = (0, Digest::ZERO, Vec::new());
    while let Some(row) = read.next()? {
        bytes.clear();
        bytes.extend_from_slice(sha256.as_bytes());
        for column in 0..columns {
            write(row.get_ref(column)?, &mut bytes);
        }
        sha256 = Digest::of(&bytes);
        rows += 1;
    }
    Ok(TableDigest { table, rows, sha256 })
}

/// A value with its type and length, so that no two rows are written alike.
fn write(value: ValueRef<'_>, bytes: &mut Vec<u8>) {
    let (tag, content): (u8, Vec<u8>) = match value {
        ValueRef::Null => (b'n', Vec::new()),
        ValueRef::Integer(n) => (b'i', n.to_be_bytes().to_vec()),
        ValueRef::Real(n) => (b'r', n.to_be_bytes().to_vec()),
        ValueRef::Text(text) => (b't', text.to_vec()),
        ValueRef::Blob(blob) => (b'b', blob.to_vec()),
    };
    bytes.push(tag);
    bytes.extend_from_slice(&(content.len() as u64).to_be_bytes());
    bytes.extend_from_slice(&content);
}
