//! A ledger in memory: the real ground tables and the real fold, without a disk under them.

use ledger::{Placed, Projector};
use model::event::Draft;
use model::{Digest, TaskId};
use projections::Fold;
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

const GROUND: &str = include_str!("../../../../migrations/ledger/0001_ground.sql");

/// The database, and where every task's chain stands.
pub struct Store {
    pub conn: Connection,
    fold: Fold,
    heads: BTreeMap<TaskId, (u64, Digest)>,
    log_seq: i64,
    salts: u64,
    /// Every disclosure that was made and not erased.
    pub open: Vec<Digest>,
}

impl Store {
    pub fn new() -> Self {
        let conn = Connection::open_in_memory().expect("memory");
        conn.execute_batch(GROUND).expect("the ground tables");
        let session = "0".repeat(32);
        conn.execute("INSERT INTO epochs VALUES (1, ?1, 1, 'test')", [session]).expect("an epoch");
        let mut fold = Fold::new();
        fold.prepare(&conn).expect("empty views");
        Self { conn, fold, heads: BTreeMap::new(), log_seq: 0, salts: 0, open: Vec::new() }
    }

    /// Commits one batch as the ledger does: place, insert, erase, fold, all in one transaction.
    pub fn commit(&mut self, drafts: Vec<Draft>, blobs: &[Vec<u8>], erase: &[Digest]) {
        self.conn.execute_batch("BEGIN IMMEDIATE").expect("begin");
        let placed: Vec<Placed> = drafts.into_iter().map(|draft| self.place(draft)).collect();
        for bytes in blobs {
            let statement = "INSERT OR IGNORE INTO blobs (epoch, digest, bytes) VALUES (1, ?1, ?2)";
            self.conn.execute(statement, params![Digest::of(bytes).0, bytes]).expect("a blob");
        }
        for digest in erase {
            self.conn.execute("DELETE FROM disclosures WHERE digest = ?1", [digest.0]).expect("an erasure");
        }
        self.open.retain(|d| !erase.contains(d));
        self.fold.apply(&self.conn, &placed).expect("every legal event folds");
        self.conn.execute_batch("COMMIT").expect("commit");
    }

    fn place(&mut self, draft: Draft) -> Placed {
        let (seq, head) = self.heads.get(&draft.task_id).copied().unwrap_or((0, Digest::ZERO));
        let salts = &mut self.salts;
        let mut salt = || {
            *salts += 1;
            u128::from(*salts).to_be_bytes()
        };
        let (event, disclosures) = draft.place(seq + 1, head, &mut salt).expect("it canonicalises");
        let bytes = event.to_bytes().expect("it canonicalises");
        let hash = Digest::of(&bytes);
        self.log_seq += 1;
        self.heads.insert(event.task_id, (seq + 1, hash));
        let statement = "INSERT INTO events (log_seq, epoch, task_id, task_seq, event_id, event_type, \
                         idempotency_key, hash, bytes) VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let (task, id) = (event.task_id.uuid().into_bytes(), event.event_id.uuid().into_bytes());
        let values = params![
            self.log_seq,
            task,
            self.int(event.task_seq),
            id,
            event.event_type,
            event.idempotency_key,
            hash.0,
            bytes
        ];
        self.conn.execute(statement, values).expect("an event");
        for d in &disclosures {
            let statement = "INSERT INTO disclosures (epoch, log_seq, digest, bytes) VALUES (1, ?1, ?2, ?3)";
            self.conn.execute(statement, params![self.log_seq, d.digest.0, d.bytes]).expect("a disclosure");
            self.open.push(d.digest);
        }
        Placed { log_seq: self.log_seq.unsigned_abs(), event, bytes, hash, disclosures }
    }

    fn int(&self, n: u64) -> i64 {
        i64::try_from(n).expect("small")
    }

    /// The column of the first row.
    pub fn get<T: rusqlite::types::FromSql>(&self, statement: &str) -> T {
        self.conn.query_row(statement, [], |row| row.get(0)).unwrap_or_else(|e| panic!("{statement}: {e}"))
    }
}
