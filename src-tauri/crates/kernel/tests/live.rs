//! Mutants of a live store: rows of its file changed, deleted, doubled, swapped, cut; content changed or taken away;
//! checkpoints and whole files of older and other stores. `HERMIT_LIVE_MUTANTS` asks for more than the sample.
//!
//! Left out by name, because nothing binds them or they may be withheld: that a disclosure or a small artifact is gone
//! (erasing is allowed; whoever reads it is told), the order of the log between tasks, numbers that only sort rows,
//! the program's version and process beside an epoch, and when a checkpoint was made.

use crate::story::completed;
use artifacts::NoInline;
use ledger::{CheckpointKind, Reader, Verdict};
use model::body::KeyPurpose;
use model::fault::NoFaults;
use rusqlite::Connection;
use seal::{Digest, PublicKey};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::{World, done, look, write};

/// About how many mutants of rows the suite makes.
const SAMPLE: usize = 300;

/// Tables, the number that orders their rows, and the columns that bind something.
const TABLES: [(&str, &str, &[&str]); 8] = [
    (
        "events",
        "log_seq",
        &[
            "log_seq",
            "epoch",
            "task_id",
            "task_seq",
            "event_id",
            "event_type",
            "idempotency_key",
            "hash",
            "bytes",
        ],
    ),
    ("entries", "entry_seq", &["entry_seq", "request_id", "hash", "bytes"]),
    ("blobs", "blob_seq", &["digest", "bytes"]),
    ("disclosures", "disclosure_seq", &["digest", "bytes", "log_seq"]),
    ("grant_uses", "grant_id", &["grant_id", "use_no", "max_uses"]),
    (
        "checkpoints",
        "checkpoint_seq",
        &["checkpoint_seq", "kind", "task_id", "size", "root", "leaf_index", "frontier", "note"],
    ),
    ("store", "one", &["log_id"]),
    ("epochs", "epoch", &["epoch"]),
];

/// Tables whose rows may not go, in which each follows the one before.
const CHAINED: [&str; 3] = ["events", "entries", "checkpoints"];

struct Live {
    world: World,
    keys: Vec<PublicKey>,
    pin: Vec<u8>,
    /// The file as it was, the file before its last task, and the file of another store.
    master: PathBuf,
    older: PathBuf,
    other: PathBuf,
    /// Where mutants are put.
    bench: tempfile::TempDir,
    triggers: Vec<(String, String)>,
}

fn act(world: &World, name: &str) {
    let task =
        world.script(&format!("write {name}"), vec![look("a.txt"), write(name, name), done("wrote it")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    world.kernel().checkpoint(&[task]).unwrap();
}

fn dump(dir: &Path, to: &Path) {
    let db = Connection::open(dir.join(ledger::FILE)).unwrap();
    db.execute("VACUUM INTO ?1", [to.to_str().unwrap()]).unwrap();
}

impl Live {
    fn new() -> Self {
        let bench = tempfile::tempdir().unwrap();
        let [master, older, other] = ["master", "older", "other"].map(|name| bench.path().join(name));
        let stranger = World::new(42);
        stranger.file("a.txt", "text");
        act(&stranger, "b.txt");
        dump(stranger.kernel().dir(), &other);
        let world = World::new(41);
        world.file("a.txt", "text");
        act(&world, "b.txt");
        dump(world.kernel().dir(), &older);
        act(&world, "c.txt");
        dump(world.kernel().dir(), &master);
        let pin =
            world.kernel().reader().last_checkpoint(CheckpointKind::Global, None).unwrap().unwrap().note;
        let keys = vec![world.kernel().store_state().keys[&KeyPurpose::Log].1];
        let triggers = {
            let db = Connection::open(&master).unwrap();
            let mut found = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
            let rows = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        Self { world, keys, pin, master, older, other, bench, triggers }
    }

    fn dir(&self) -> PathBuf {
        self.bench.path().join("store")
    }

    /// What verification says of the file after a change, made as somebody would who owns the machine; none when
    /// SQLite itself refuses it, or when it changes nothing.
    fn verdict(&self, change: &str) -> Option<Verdict> {
        let dir = self.dir();
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir(&dir).unwrap();
        std::fs::copy(&self.master, dir.join(ledger::FILE)).unwrap();
        {
            let db = Connection::open(dir.join(ledger::FILE)).unwrap();
            db.execute_batch("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on; PRAGMA synchronous = off; BEGIN").unwrap();
            for (name, _) in &self.triggers {
                db.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
            }
            let before = db.total_changes();
            db.execute_batch(change).ok()?;
            if db.total_changes() == before {
                return None;
            }
            for (_, sql) in &self.triggers {
                db.execute_batch(sql).unwrap();
            }
            db.execute_batch("COMMIT").unwrap();
        }
        Some(self.judged())
    }

    fn judged(&self) -> Verdict {
        let Ok(reader) = Reader::open(&self.dir()) else { return Verdict::Incomplete };
        ledger::verify(&reader, &self.keys, Some(&self.pin), &mut |_| true).unwrap().verdict
    }

    /// Every change of a row there is, with its kind.
    fn changes(&self) -> Vec<(String, String)> {
        let db = Connection::open(&self.master).unwrap();
        let mut all = Vec::new();
        for (table, key, columns) in TABLES {
            let mut found = db.prepare(&format!("SELECT rowid, quote({key}) FROM {table} ORDER BY {key}"));
            if table == "grant_uses" {
                // It has no row numbers.
                found = db.prepare(&format!("SELECT 0, quote({key}) FROM {table} ORDER BY {key}"));
            }
            let mut found = found.unwrap();
            let keys: Vec<String> =
                found.query_map([], |row| row.get(1)).unwrap().map(Result::unwrap).collect();
            for (at, value) in keys.iter().enumerate() {
                let here = format!("WHERE {key} = {value}");
                for column in columns {
                    all.extend(changed(table, column, &here, at));
                }
                if CHAINED.contains(&table) || ["grant_uses", "epochs", "store"].contains(&table) {
                    all.push((format!("{table}: row deleted"), format!("DELETE FROM {table} {here}")));
                }
                if CHAINED.contains(&table) {
                    all.push((
                        format!("{table}: cut"),
                        format!("DELETE FROM {table} WHERE {key} >= {value}"),
                    ));
                    all.extend(neighbours(table, key, value, keys.get(at + 1)));
                    all.push((format!("{table}: row doubled"), doubled(table, key, &here)));
                }
            }
        }
        all
    }
}

/// One column of one row, changed in the ways that its type allows.
fn changed(table: &str, column: &str, here: &str, at: usize) -> Vec<(String, String)> {
    let kind = format!("{table}.{column} changed");
    let set = |to: String| {
        (kind.clone(), format!("UPDATE {table} SET {column} = {to} {here} AND {column} IS NOT ({to})"))
    };
    match column {
        "hash" | "root" | "digest" | "task_id" | "event_id" | "grant_id" => {
            let flip = |n: usize| {
                let hex = 2 * (n % 16) + 1;
                set(format!(
                    "unhex(substr(hex({column}), 1, {hex} - 1) || iif(substr(hex({column}), {hex}, 1) = '0', '1', '0') || substr(hex({column}), {hex} + 1))"
                ))
            };
            vec![flip(at), flip(at + 7), set(format!("zeroblob(length({column}))"))]
        }
        "bytes" | "frontier" | "note" => {
            let place = format!("(1 + ({at} * 37) % length({column}))");
            let flipped = format!(
                "CAST(substr({column}, 1, {place} - 1) || iif(substr({column}, {place}, 1) = x'30', x'31', x'30') || substr({column}, {place} + 1) AS BLOB)"
            );
            vec![
                set(flipped),
                set(format!("CAST(substr({column}, 1, length({column}) - 1) AS BLOB)")),
                set(format!("CAST({column} || x'20' AS BLOB)")),
                set(format!("CAST(substr({column}, 2) AS BLOB)")),
            ]
        }
        "event_type" | "request_id" | "kind" | "log_id" => {
            vec![set(format!("'x' || substr({column}, 2)")), set(format!("{column} || 'x'"))]
        }
        "idempotency_key" => vec![set("iif(idempotency_key IS NULL, 'x', NULL)".to_owned())],
        // An event near it may name the same value.
        "log_seq" if table == "disclosures" => {
            vec![set("1".to_owned()), set("log_seq + 1000000".to_owned())]
        }
        _ => vec![
            set(format!("{column} + 1")),
            set(format!("{column} - 1")),
            set(format!("{column} + 1000000")),
        ],
    }
}

/// A row and the next one in each other's place; of events only those of one task, whose order is signed.
fn neighbours(table: &str, key: &str, one: &str, two: Option<&String>) -> Option<(String, String)> {
    let two = two?;
    let same = "(SELECT count(DISTINCT task_id) FROM events WHERE log_seq IN";
    let only =
        if table == "events" { format!(" AND {same} ({one}, {two}, -{one})) = 1") } else { String::new() };
    let change = format!(
        "UPDATE {table} SET {key} = -{one} WHERE {key} = {one}{only}; UPDATE {table} SET {key} = {one} WHERE {key} = {two} \
         AND EXISTS (SELECT 1 FROM {table} WHERE {key} = -{one}); UPDATE {table} SET {key} = {two} WHERE {key} = -{one}"
    );
    Some((format!("{table}: rows swapped"), change))
}

/// The row once more, at the end, with whatever must differ made to differ.
fn doubled(table: &str, key: &str, here: &str) -> String {
    let columns = match table {
        "events" => "epoch, task_id, 1000 + task_seq, randomblob(16), event_type, NULL, hash, bytes",
        "entries" => "epoch, request_id, hash, bytes",
        _ => {
            "epoch, kind, task_id, size, root, iif(leaf_index IS NULL, NULL, (SELECT max(leaf_index) + 1 FROM checkpoints)), made_at, frontier, note"
        }
    };
    format!("INSERT INTO {table} SELECT (SELECT max({key}) + 1 FROM {table}), {columns} FROM {table} {here}")
}

#[conforms::conforms("HK-13.4-1")]
#[test]
fn whatever_is_done_to_the_rows_of_a_live_store_is_found() {
    let live = Live::new();
    assert_eq!(live.verdict("UPDATE store SET log_id = log_id"), Some(Verdict::Valid), "the untouched one");
    let all = live.changes();
    let asked = std::env::var("HERMIT_LIVE_MUTANTS").ok().and_then(|n| n.parse().ok()).unwrap_or(SAMPLE);
    // Every kind has its turn, the rare ones more often.
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (kind, change) in &all {
        kinds.entry(kind).or_default().push(change);
    }
    let each = asked.div_ceil(kinds.len());
    let (mut found, mut missed) = (BTreeMap::<&str, u64>::new(), Vec::new());
    for (kind, changes) in &kinds {
        for change in changes.iter().step_by(changes.len().div_ceil(each)) {
            match live.verdict(change) {
                None => {}
                Some(Verdict::Invalid { .. } | Verdict::Incomplete) => *found.entry(kind).or_default() += 1,
                Some(verdict) => missed.push(format!("{verdict:?} {kind}: {change}")),
            }
        }
    }
    for (kind, count) in &found {
        println!("{count:>7} found: {kind}");
    }
    println!("{} mutants of {} of a live store, all found", found.values().sum::<u64>(), all.len());
    assert!(missed.is_empty(), "{} were not found:\n{}", missed.len(), missed.join("\n"));
    assert!(found.len() >= 30, "{found:?}");
}

#[test]
fn notes_and_files_of_an_older_or_another_store_in_the_place_of_its_own_are_found() {
    let live = Live::new();
    for foreign in [&live.older, &live.other] {
        let from = foreign.display();
        for table in ["checkpoints", "events", "entries", "disclosures", "grant_uses"] {
            // ATTACH does not go within a transaction.
            let change = format!(
                "COMMIT; ATTACH '{from}' AS foreign_one; BEGIN; DELETE FROM main.{table}; INSERT INTO main.{table} SELECT * FROM foreign_one.{table}; COMMIT; DETACH foreign_one; BEGIN"
            );
            let verdict = live.verdict(&change).unwrap_or_else(|| panic!("{table} of {from} was not taken"));
            let withheld = table == "disclosures" && foreign == &live.older;
            let found = matches!(verdict, Verdict::Invalid { .. } | Verdict::Incomplete);
            assert!(found || withheld, "{table} of {from}: {verdict:?}");
        }
        live.verdict("UPDATE store SET log_id = log_id").unwrap();
        std::fs::copy(foreign, live.dir().join(ledger::FILE)).unwrap();
        let verdict = live.judged();
        assert!(matches!(verdict, Verdict::Invalid { .. } | Verdict::Incomplete), "{from}: {verdict:?}");
    }
}

#[conforms::conforms("HK-14.2-2")]
#[test]
fn content_that_was_changed_cut_or_taken_away_is_never_handed_out() {
    let live = Live::new();
    let dir = live.world.kernel().dir().to_owned();
    let large: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let digest = live.world.kernel().artifacts().put_file(&large).unwrap();
    let read = |digest: &Digest| {
        artifacts::Store::open_for_reading(&dir, Arc::new(NoInline), Arc::new(NoFaults)).read(digest)
    };
    assert_eq!(read(&digest).unwrap(), large);
    let file = found_in(&dir, &digest.to_string()).expect("it is a file of its own");
    for at in (0..large.len()).step_by(39_989).chain([large.len() - 1]) {
        let mut changed = large.clone();
        changed[at] ^= 1;
        overwrite(&file, &changed);
        assert!(read(&digest).is_err(), "byte {at}");
        overwrite(&file, &large[..at]);
        assert!(read(&digest).is_err(), "cut at {at}");
    }
    overwrite(&file, &[large.as_slice(), b"x"].concat());
    assert!(read(&digest).is_err());
    std::fs::remove_file(&file).unwrap();
    assert!(read(&digest).is_err());
}

/// Content is kept read-only; whoever owns the machine is not held up by that.
fn overwrite(file: &Path, bytes: &[u8]) {
    std::fs::remove_file(file).unwrap();
    std::fs::write(file, bytes).unwrap();
}

fn found_in(folder: &Path, name: &str) -> Option<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find_map(|path| {
        if path.is_dir() {
            return found_in(&path, name);
        }
        path.file_name().is_some_and(|file| file == name).then_some(path)
    })
}
