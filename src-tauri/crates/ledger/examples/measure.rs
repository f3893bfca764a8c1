//! Measures the ledger beside the raw limit of the machine, in the same run (recovery.md 4).
//!
//! `cargo run --release -p hermit-ledger --example measure -- FOLDER [COMMITS] [EVENTS]`
#![allow(clippy::disallowed_methods, reason = "a measurement asks the clock")]
#![allow(clippy::unwrap_used, reason = "a measurement that cannot run stops")]

use ledger::{Batch, NoProjections, OpenOptions, Reader, Writer};
use model::body::{Body, TaskCancelRequested};
use model::event::{Actor, Draft};
use model::fault::{NoFaults, Point};
use model::principal::PrincipalType;
use model::{Clock, Entropy, EventId, PrincipalId, TaskId, UnixMs};
use seal::{Digest, SeedSigner, Signer};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

struct Dice(AtomicU64);

impl Entropy for Dice {
    fn fill(&self, buffer: &mut [u8]) {
        let roll = Digest::of(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        buffer.iter_mut().zip(roll.as_bytes()).for_each(|(to, from)| *to = *from);
    }
}

struct Now;

impl Clock for Now {
    fn now(&self) -> UnixMs {
        UnixMs(1_700_000_000_000)
    }
}

static IDS: Dice = Dice(AtomicU64::new(1 << 40));

fn draft(task: TaskId, sensitive: bool) -> Draft {
    let body: Body = if sensitive {
        TaskCancelRequested { about_task_id: task, reason: "a reason of some length".to_owned().into() }
            .into()
    } else {
        model::body::TaskPauseRequested { about_task_id: task }.into()
    };
    Draft {
        event_id: EventId::fresh(&Now, &IDS),
        task_id: task,
        step_id: None,
        attempt_id: None,
        occurred_at: Now.now(),
        actor: Actor { actor_type: PrincipalType::User, actor_id: PrincipalId::fresh(&Now, &IDS) },
        body,
        causation_id: None,
        correlation_id: "corr".to_owned(),
        idempotency_key: Some(format!("key:{}", EventId::fresh(&Now, &IDS))),
        workspace_id: None,
    }
}

fn open(dir: &Path) -> Writer {
    let entropy = Arc::new(Dice(AtomicU64::new(u64::from(std::process::id()) << 32)));
    let (projector, faults) = (Box::new(NoProjections), Arc::new(NoFaults));
    let (hermit_version, log_keys) = ("measure".to_owned(), Vec::new());
    Writer::open(dir, OpenOptions { hermit_version, projector, faults, entropy, log_keys }).unwrap()
}

fn one(writer: &Writer, task: TaskId) {
    let batch = Batch { drafts: vec![draft(task, true)], ..Batch::new(Point::TaskStart) };
    writer.commit(batch).unwrap();
}

/// The raw limit: one row and one SHA-256 per commit, nothing else.
fn raw(dir: &Path, commits: u32) -> f64 {
    let conn = rusqlite::Connection::open(dir.join("raw.db")).unwrap();
    conn.pragma_update(None, "journal_mode", "wal").unwrap();
    conn.pragma_update(None, "synchronous", "full").unwrap();
    conn.execute_batch("CREATE TABLE rows (n INTEGER PRIMARY KEY, hash BLOB, bytes BLOB)").unwrap();
    let (mut head, bytes) = (Digest::ZERO, vec![7_u8; 700]);
    let start = Instant::now();
    for _ in 0..commits {
        head = Digest::of(&[head.as_bytes(), bytes.as_slice()].concat());
        let values = rusqlite::params![head.as_bytes(), bytes];
        conn.prepare_cached("INSERT INTO rows (hash, bytes) VALUES (?1, ?2)")
            .unwrap()
            .execute(values)
            .unwrap();
    }
    f64::from(commits) / start.elapsed().as_secs_f64()
}

fn grouped(writer: &Writer, threads: u32, each: u32) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let task = TaskId::fresh(&Now, &IDS);
                (0..each).for_each(|_| one(writer, task));
            });
        }
    });
    f64::from(threads * each) / start.elapsed().as_secs_f64()
}

/// A bare chain check: read the bytes, hash, compare.
fn bare(dir: &Path) -> (u64, f64) {
    let conn = rusqlite::Connection::open(dir.join(ledger::FILE)).unwrap();
    let mut found = conn.prepare("SELECT hash, bytes FROM events ORDER BY log_seq").unwrap();
    let mut rows = found.query([]).unwrap();
    let (start, mut events) = (Instant::now(), 0_u64);
    while let Some(row) = rows.next().unwrap() {
        let hash = Digest::of(row.get_ref(1).unwrap().as_blob().unwrap());
        assert_eq!(hash.as_bytes(), row.get_ref(0).unwrap().as_blob().unwrap());
        events += 1;
    }
    (events, start.elapsed().as_secs_f64())
}

fn verification(dir: &Path, writer: &Writer, events: u32) {
    let tasks: Vec<TaskId> = (0..20).map(|_| TaskId::fresh(&Now, &IDS)).collect();
    for n in 0..events / 1000 {
        let drafts =
            (0..1000).map(|i| draft(tasks.get((i % 20) as usize).copied().unwrap(), i % 4 == 0)).collect();
        writer.commit(Batch { drafts, ..Batch::new(Point::TaskStart) }).unwrap();
        if n % 20 == 19 {
            writer.checkpoint(&tasks, &SeedSigner::from_seed([7; 32]), UnixMs(1), |_, _| {}).unwrap();
        }
    }
    let reader = Reader::open(dir).unwrap();
    let keys = [SeedSigner::from_seed([7; 32]).public()];
    for round in 1..=3 {
        let (rows, bare) = bare(dir);
        let start = Instant::now();
        let mut events_at = 0.0;
        let report = ledger::verify(&reader, &keys, None, &mut |p| {
            if p.stage == "events" {
                events_at = start.elapsed().as_secs_f64();
            }
            true
        })
        .unwrap();
        let whole = start.elapsed().as_secs_f64();
        println!("verify, round {round}: {rows} events, {:?}", report.verdict);
        println!("  bare chain check {:8.0} events/s", rows as f64 / bare);
        println!(
            "  verify, events   {:8.0} events/s   ratio {:.2}",
            rows as f64 / events_at,
            bare / events_at
        );
        println!("  verify, whole    {:8.0} events/s   ratio {:.2}", rows as f64 / whole, bare / whole);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = std::path::PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_owned()));
    let commits: u32 = arguments.next().map_or(300, |n| n.parse().unwrap());
    let events: u32 = arguments.next().map_or(0, |n| n.parse().unwrap());
    let only = arguments.next();
    let writer = open(&dir);
    let task = TaskId::fresh(&Now, &IDS);
    match only.as_deref() {
        Some("single") => return (0..commits).for_each(|_| one(&writer, task)),
        Some("group") => return println!("{:.0}", grouped(&writer, 64, commits / 64)),
        Some("verify") => return verification(&dir, &writer, 0),
        Some("raw") => return println!("{:.0}", raw(&dir, commits)),
        _ => {}
    }
    if commits > 0 {
        one(&writer, task);
        let raw_rate = raw(&dir, commits);
        let single = {
            let start = Instant::now();
            (0..commits).for_each(|_| one(&writer, task));
            f64::from(commits) / start.elapsed().as_secs_f64()
        };
        println!("raw rows with a hash   {raw_rate:8.0} commits/s");
        println!("ledger, one thread     {single:8.0} commits/s   ratio to raw {:.2}", single / raw_rate);
        let group = grouped(&writer, 64, commits / 4);
        println!("ledger, 64 threads     {group:8.0} commits/s   ratio to one thread {:.1}", group / single);
    }
    if events > 0 {
        verification(&dir, &writer, events);
    }
}
