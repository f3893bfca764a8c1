//! Dropped and folded again, the views are the same byte for byte; and a reader is never asked to do it.

use crate::history::History;
use crate::store::Store;
use crate::world::{Place, World, words};
use ledger::{Batch, OpenOptions, Writer};
use model::Entropy;
use model::body::DisclosuresErased;
use model::fault::{NoFaults, Point};
use projections::query::{Ask, Query};
use projections::{Error, Flow, Fold, Progress, VERSION, digest, rebuild, tables};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub fn again(conn: &Connection) -> u64 {
    rebuild(conn, &mut |_| Flow::Continue).expect("every stored event folds")
}

/// Chance that counts: no two draws of this process are alike.
struct Counting;

static DRAWN: AtomicU64 = AtomicU64::new(1);

impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        for byte in buffer.chunks_mut(8) {
            let n = DRAWN.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            byte.copy_from_slice(&n.to_be_bytes()[..byte.len()]);
        }
    }
}

pub fn writer(dir: &Path, fold: Fold) -> Result<Writer, ledger::Error> {
    let options = OpenOptions {
        hermit_version: "test".into(),
        projector: Box::new(fold),
        faults: Arc::new(NoFaults),
        entropy: Arc::new(Counting),
        log_keys: Vec::new(),
    };
    Writer::open(dir, options)
}

/// Everything of the views that the schema tells: tables and indexes, by name.
fn schema(conn: &Connection) -> Vec<(String, Option<String>)> {
    let text = "SELECT name, sql FROM sqlite_schema WHERE tbl_name LIKE 'view\\_%' ESCAPE '\\' ORDER BY name";
    let mut found = conn.prepare(text).expect("it reads");
    let rows = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("it reads");
    rows.collect::<Result<_, _>>().expect("it reads")
}

#[test]
fn folding_anew_leaves_every_table_and_index_of_a_new_store() {
    let fresh = Connection::open_in_memory().expect("memory");
    projections::migrate(&fresh).expect("empty views");
    let wanted = schema(&fresh);
    let sources = [
        include_str!("../../../../migrations/projections/0001_views.sql"),
        include_str!("../../../../migrations/projections/0002_search.sql"),
        include_str!("../../../../migrations/projections/0003_state_roots.sql"),
        include_str!("../../../../migrations/projections/0004_spent.sql"),
        include_str!("../../../../migrations/projections/0005_memory_uses.sql"),
        include_str!("../../../../migrations/projections/0006_withheld.sql"),
    ];
    let indexes: usize = sources.iter().map(|text| text.matches("CREATE INDEX").count()).sum();
    assert_eq!(
        wanted.iter().filter(|(_, sql)| sql.as_ref().is_some_and(|s| s.contains("INDEX"))).count(),
        indexes
    );
    let history = History::new(1).run(20);
    // An index that somebody took away comes back, and one that is none of ours goes with its table.
    let conn = &history.store.conn;
    conn.execute_batch("DROP INDEX view_tasks_by_status; CREATE INDEX view_odd ON view_tasks (title);")
        .expect("sql");
    again(conn);
    assert_eq!(schema(conn), wanted);
}

/// Grows each history, folds it again and compares; returns how many events and rows that were.
fn same_bytes(seeds: std::ops::Range<u64>) -> (u64, u64) {
    let (mut events, mut rows) = (0, 0);
    for seed in seeds {
        let history = History::new(seed).run(20 + u32::try_from(seed % 60).expect("small"));
        let conn = &history.store.conn;
        let live = tables(conn).expect("it reads");
        events += again(conn);
        let rebuilt = tables(conn).expect("it reads");
        for (a, b) in live.iter().zip(&rebuilt) {
            assert_eq!(a, b, "seed {seed}");
        }
        assert_eq!(live.len(), rebuilt.len(), "seed {seed}");
        rows += live.iter().map(|t| t.rows).sum::<u64>();
    }
    (events, rows)
}

#[conforms::conforms("HK-13.6-1", "HK-13.6-14", "HK-13.6-18")]
#[test]
fn a_thousand_random_histories_rebuild_to_the_same_bytes() {
    let (events, rows) = std::thread::scope(|scope| {
        let quarters: Vec<_> =
            (0..4).map(|n| scope.spawn(move || same_bytes(n * 250..(n + 1) * 250))).collect();
        let sum = |sum: (u64, u64), part: (u64, u64)| (sum.0 + part.0, sum.1 + part.1);
        quarters.into_iter().map(|q| q.join().expect("a seed failed, see above")).fold((0, 0), sum)
    });
    println!("1,000 histories, {events} events, {rows} rows and words compared");
    assert!(events > 30_000, "the histories are too short to say anything: {events} events");
}

#[test]
fn every_table_is_filled_by_some_history() {
    let mut empty: Vec<String> =
        tables(&Store::new().conn).expect("it reads").into_iter().map(|t| t.table).collect();
    // Some seeds come to few of them.
    for seed in 0..400 {
        if empty == ["view_leases"] {
            break;
        }
        let history = History::new(seed).run(150);
        for table in tables(&history.store.conn).expect("it reads").into_iter().filter(|t| t.rows > 0) {
            empty.retain(|name| *name != table.table);
        }
    }
    // Leases have no text of their own to get wrong; the views' tests take one.
    assert_eq!(empty, ["view_leases"]);
}

#[test]
fn the_digest_sees_every_change_of_a_row() {
    let history = History::new(3).run(80);
    let conn = &history.store.conn;
    let before = digest(conn).expect("it reads");
    conn.execute("UPDATE view_tasks SET reason = reason || '!'", []).expect("there are tasks");
    let changed = digest(conn).expect("it reads");
    assert_ne!(before, changed);
    again(conn);
    assert_eq!(digest(conn).expect("it reads"), before);
}

#[test]
fn an_erased_value_is_gone_from_rows_index_and_rebuild() {
    let (mut store, mut world) = (Store::new(), World::new());
    let (conversation, inbox, opened) = world.conversation();
    let (_, mut received) = world.ingress(conversation, inbox, model::ingress::Channel::App);
    if let model::Body::IngressReceived(b) = &mut received.body {
        b.record.raw_text = words("xylophone", 7);
        b.record.normalized_text = words("xylophone", 7);
    }
    store.commit(vec![opened, received], &[], &[]);
    let terms = "SELECT count(*) FROM view_search_words WHERE term = 'xylophone'";
    assert_eq!(store.get::<i64>(terms), 1);
    let digests = store.open.clone();
    let body = DisclosuresErased { digests: digests.clone(), reason: "asked for".into() };
    let said = world.draft(Place::task(inbox), body);
    store.commit(vec![said], &[], &digests);
    assert_eq!(store.get::<i64>(terms), 0);
    assert_eq!(store.get::<i64>("SELECT count(*) FROM view_search_docs"), 0);
    // Not one page of the index still spells it.
    let pages: Vec<Vec<u8>> = store
        .conn
        .prepare("SELECT block FROM view_search_data")
        .and_then(|mut s| s.query_map([], |row| row.get(0))?.collect())
        .expect("the index's own table");
    assert!(!pages.iter().any(|page| page.windows(6).any(|w| w == b"ylopho")));
    let live = tables(&store.conn).expect("it reads");
    again(&store.conn);
    assert_eq!(tables(&store.conn).expect("it reads"), live);
}

#[test]
fn what_repeats_a_secret_is_in_no_index_and_once_its_values_are_gone_nothing_that_came_behind_it_is() {
    let (mut store, mut world) = (Store::new(), World::new());
    let (conversation, inbox, opened) = world.conversation();
    let said = |text: &str, world: &mut World| {
        let (_, mut received) = world.ingress(conversation, inbox, model::ingress::Channel::App);
        if let model::Body::IngressReceived(b) = &mut received.body {
            b.record.raw_text = words(text, 7);
            b.record.normalized_text = words(text, 7);
        }
        received
    };
    let before = said("ostrich", &mut world);
    store.commit(vec![opened, before], &[], &[]);
    let secret = b"PET=flamingo\n".to_vec();
    let kind = model::artifact::ArtifactKind::ActionResult;
    let (made, mut looked) = world.artifact(Place::task(inbox), kind, &secret, vec![]);
    crate::world::looked_into_a_secret(&mut looked);
    store.commit(vec![looked], std::slice::from_ref(&secret), &[]);
    let behind = said("a pelican and a FLAMINGO", &mut world);
    store.commit(vec![behind], &[], &[]);
    let found = |store: &Store| {
        ["ostrich", "pelican", "flamingo"].map(|term| {
            let terms = format!("SELECT count(*) FROM view_search_words WHERE term = '{term}'");
            store.get::<i64>(&terms)
        })
    };
    assert_eq!(found(&store), [1, 1, 0]);
    let live = tables(&store.conn).expect("it reads");
    again(&store.conn);
    assert_eq!(tables(&store.conn).expect("it reads"), live);
    // As a store lets content go that is erased.
    store.conn.execute_batch("DROP TRIGGER blobs_stay").expect("it is there");
    store.conn.execute("DELETE FROM blobs WHERE digest = ?1", [made.sha256.0]).expect("it goes");
    let body = model::body::ArtifactExpired { artifact_id: made.artifact_id, reason: "old".into() };
    let expired = world.draft(Place::task(inbox), body);
    store.commit(vec![expired], &[], &[]);
    assert_eq!(found(&store), [1, 0, 0], "whoever folds anew cannot know what to take out");
    assert_eq!(store.get::<i64>("SELECT count(*) FROM view_withheld WHERE found IS NOT NULL"), 0);
    let live = tables(&store.conn).expect("it reads");
    again(&store.conn);
    assert_eq!(tables(&store.conn).expect("it reads"), live);
}

#[test]
fn a_cancelled_rebuild_leaves_everything_as_it_was() {
    let history = History::new(9).run(120);
    let conn = &history.store.conn;
    let before = tables(conn).expect("it reads");
    let mut told = Vec::new();
    let stopped = rebuild(conn, &mut |progress: Progress| {
        told.push(progress);
        if progress.done == progress.of { Flow::Cancel } else { Flow::Continue }
    });
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    assert!(told.len() >= 2 && told[0].done == 0, "{told:?}");
    assert_eq!(tables(conn).expect("it reads"), before);
}

/// A store on disk with one conversation in it.
fn on_disk(dir: &Path) {
    let writer = writer(dir, Fold::new()).expect("a new store");
    let mut world = World::new();
    let (_, _, opened) = world.conversation();
    let batch = Batch { drafts: vec![opened], ..Batch::new(Point::IngressReceive) };
    writer.commit(batch).expect("it is on disk");
}

#[test]
fn views_of_another_version_are_rebuilt_by_the_writer_and_refused_by_readers() {
    let dir = tempfile::tempdir().expect("a folder");
    on_disk(dir.path());
    let change = |statement: &str| {
        let conn = Connection::open(dir.path().join("ledger.db")).expect("the file");
        conn.execute_batch(statement).expect("a change by hand");
    };
    change("UPDATE view_meta SET version = 99; DELETE FROM view_conversations");
    let refused = Query::open(dir.path()).expect_err("another version");
    assert!(matches!(refused, Error::Version { found: 99, needed: VERSION }), "{refused}");
    drop(writer(dir.path(), Fold::new()).expect("it rebuilds"));
    let query = Query::open(dir.path()).expect("this version again");
    assert_eq!(query.conversations(Ask::default()).expect("it reads").rows.len(), 1);
    // Behind the log is as bad as another version.
    change("UPDATE view_meta SET log_seq = 0; DELETE FROM view_conversations");
    drop(writer(dir.path(), Fold::new()).expect("it rebuilds"));
    assert_eq!(query.conversations(Ask::default()).expect("it reads").rows.len(), 1);
    change("DROP TABLE view_meta");
    assert!(matches!(Query::open(dir.path()), Err(Error::Version { found: 0, .. })));
    let cancelled = Fold::new().with_progress(|_| Flow::Cancel);
    assert!(matches!(writer(dir.path(), cancelled), Err(ledger::Error::Projection { .. })));
    drop(writer(dir.path(), Fold::new().rebuilding()).expect("it rebuilds"));
    assert_eq!(query.head().expect("it reads"), 1);
}

#[conforms::conforms("HK-20.4-1")]
#[test]
fn views_are_folded_in_the_transaction_of_their_events_and_ask_no_lock() {
    let dir = tempfile::tempdir().expect("a folder");
    let writer = writer(dir.path(), Fold::new()).expect("a new store");
    let query = Query::open(dir.path()).expect("a reader beside the writer");
    let mut world = World::new();
    for n in 1..=20 {
        let (_, _, opened) = world.conversation();
        let batch = Batch { drafts: vec![opened], ..Batch::new(Point::IngressReceive) };
        writer.commit(batch).expect("it is on disk");
        // Never behind: the row is there when the commit is answered, and the head is the log's.
        assert_eq!(query.head().expect("it reads"), n);
        assert_eq!(query.reader().log_head().expect("it reads"), n);
    }
    // Read-only to the bone: nothing a view says can be made to say otherwise through it.
    let denied = query.reader().with(|conn| Ok(conn.execute("DELETE FROM view_conversations", []).is_err()));
    assert_eq!(denied, Ok(true));
}
