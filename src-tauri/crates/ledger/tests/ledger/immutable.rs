//! The database itself refuses to change the ground, whoever asks.

use crate::world::{World, batch, entries, grant, plain, saying, signer, task};
use ledger::{Batch, Writer};
use model::UnixMs;
use seal::Digest;

/// One row in every ground table.
fn filled(world: &World) -> Writer {
    let writer = world.writer();
    let id = task();
    let mut all = Batch {
        entries: entries(Digest::ZERO, "req", 300),
        blobs: vec![(Digest::of(b"x"), b"x".to_vec())],
        consume: vec![(grant(), 2)],
        ..batch(vec![plain(id), saying(id, "secret")])
    };
    all.drafts[0].idempotency_key = Some("key".to_owned());
    writer.commit(all).unwrap();
    writer.checkpoint(&[id], &signer(), UnixMs(1), |_, _| {}).unwrap();
    writer
}

const GROUND: [(&str, &str); 9] = [
    ("epochs", "pid"),
    ("store", "log_id"),
    ("events", "bytes"),
    ("entries", "bytes"),
    ("gate_nodes", "hash"),
    ("blobs", "bytes"),
    ("disclosures", "bytes"),
    ("grant_uses", "max_uses"),
    ("checkpoints", "note"),
];

#[conforms::conforms("HK-13.1-1", "HK-25.1-3", "HK-8.4-1")]
#[test]
fn no_row_of_the_ground_is_changed_or_deleted_by_anyone() {
    let world = World::new();
    drop(filled(&world));
    let raw = world.raw();
    for (table, column) in GROUND {
        let rows: i64 = raw.query_row(&format!("SELECT count(*) FROM {table}"), [], |r| r.get(0)).unwrap();
        assert!(rows > 0, "`{table}` is empty, so nothing is shown");
        let update = raw.execute(&format!("UPDATE {table} SET {column} = {column}"), []);
        assert!(update.unwrap_err().to_string().contains("append-only"), "{table}");
        let deleted = raw.execute(&format!("DELETE FROM {table}"), []);
        match table {
            "disclosures" => assert_eq!(deleted.unwrap(), 1, "disclosures alone may go"),
            _ => assert!(deleted.unwrap_err().to_string().contains("append-only"), "{table}"),
        }
    }
}

#[test]
fn replacing_a_row_is_no_way_around() {
    let world = World::new();
    drop(filled(&world));
    let raw = world.raw();
    for (table, _) in GROUND {
        let before = dump(&raw, table);
        for way in ["REPLACE", "INSERT OR REPLACE", "INSERT OR IGNORE"] {
            // The very row again, under its own keys: REPLACE would delete it first without asking a trigger.
            let _ = raw.execute(&format!("{way} INTO {table} SELECT * FROM {table} LIMIT 1"), []);
            assert_eq!(dump(&raw, table), before, "{way} into {table}");
        }
    }
    let upsert = "INSERT INTO events SELECT * FROM events WHERE true ON CONFLICT DO UPDATE SET bytes = x'00'";
    assert!(raw.execute(upsert, []).is_err());
}

fn dump(raw: &rusqlite::Connection, table: &str) -> Vec<String> {
    let mut found = raw.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns = found.column_count();
    let rows = found.query_map([], |row| {
        (0..columns).map(|c| row.get_ref(c).map(|v| format!("{v:?}"))).collect::<Result<Vec<_>, _>>()
    });
    rows.unwrap().map(|row| row.unwrap().join("|")).collect()
}

#[test]
fn a_row_out_of_order_or_out_of_shape_is_refused() {
    let world = World::new();
    drop(filled(&world));
    let raw = world.raw();
    let insert = |log_seq: i64, epoch: i64, task: &str, seq: i64, kind: &str, hash: &str| {
        raw.execute_batch(&format!(
            "INSERT INTO events VALUES ({log_seq}, {epoch}, {task}, {seq}, randomblob(16), '{kind}', NULL, {hash}, x'00')"
        ))
    };
    let (task, hash) = ("randomblob(16)", "zeroblob(32)");
    for (what, refused) in [
        ("a gap in the log", insert(4, 1, task, 1, "x", hash)),
        ("a stale epoch", insert(3, 0, task, 1, "x", hash)),
        ("an epoch to come", insert(3, 2, task, 1, "x", hash)),
        ("a task that begins at two", insert(3, 1, task, 2, "x", hash)),
        ("a short identifier", insert(3, 1, "x'00'", 1, "x", hash)),
        ("no type", insert(3, 1, task, 1, "", hash)),
        ("a short hash", insert(3, 1, task, 1, "x", "x'00'")),
        ("a text for a hash", insert(3, 1, task, 1, "x", "'00000000000000000000000000000000'")),
    ] {
        assert!(refused.is_err(), "{what} was taken");
    }
    insert(3, 1, task, 1, "x", hash).unwrap();
}
