//! A store in a temporary folder, and things to put into it.

use ledger::{
    Batch, Committed, Error, NoProjections, OpenOptions, Projector, Reader, Report, Verdict, Writer,
};
use model::audit::{AuditEntry, GateDecision, KernelState};
use model::body::{Body, TaskCancelRequested, TaskPauseRequested};
use model::event::{Actor, Draft};
use model::fault::{Faults, NoFaults, Point};
use model::principal::PrincipalType;
use model::{Clock, Entropy, EventId, GrantId, PrincipalId, TaskId, UnixMs};
use seal::{Digest, SeedSigner, Signer};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// Chance that is the same in every run: a counter, hashed.
#[derive(Default)]
pub struct Dice(AtomicU64);

impl Entropy for Dice {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(32) {
            let roll = self.0.fetch_add(1, Ordering::Relaxed);
            let random = Digest::of(&roll.to_be_bytes());
            chunk.copy_from_slice(&random.as_bytes()[..chunk.len()]);
        }
    }
}

pub struct Noon;

impl Clock for Noon {
    fn now(&self) -> UnixMs {
        UnixMs(1_700_000_000_000)
    }
}

/// One die for all identifiers of the process, so that no two are the same.
static IDS: Dice = Dice(AtomicU64::new(1 << 40));

/// Sessions of one test binary must differ although each store has dice of its own.
static STORES: AtomicU64 = AtomicU64::new(0);

pub fn task() -> TaskId {
    TaskId::fresh(&Noon, &IDS)
}

pub fn grant() -> GrantId {
    GrantId::fresh(&Noon, &IDS)
}

pub fn draft(task: TaskId, body: Body) -> Draft {
    Draft {
        event_id: EventId::fresh(&Noon, &IDS),
        task_id: task,
        step_id: None,
        attempt_id: None,
        occurred_at: Noon.now(),
        actor: Actor { actor_type: PrincipalType::User, actor_id: PrincipalId::fresh(&Noon, &IDS) },
        body,
        causation_id: None,
        correlation_id: "corr".to_owned(),
        idempotency_key: None,
        workspace_id: None,
    }
}

/// An event without a sensitive leaf.
pub fn plain(task: TaskId) -> Draft {
    draft(task, TaskPauseRequested { about_task_id: task }.into())
}

/// An event that says something which may be erased.
pub fn saying(task: TaskId, text: &str) -> Draft {
    draft(task, TaskCancelRequested { about_task_id: task, reason: text.to_owned().into() }.into())
}

pub fn keyed(task: TaskId, key: &str) -> Draft {
    Draft { idempotency_key: Some(key.to_owned()), ..plain(task) }
}

pub fn batch(drafts: Vec<Draft>) -> Batch {
    Batch { drafts, ..Batch::new(Point::TaskStart) }
}

/// `count` entries of one request, linked behind `head`.
pub fn entries(head: Digest, request: &str, count: usize) -> Vec<AuditEntry> {
    let mut head = head;
    let link = |_| {
        let mut entry = AuditEntry {
            prev_hash: head,
            entry_hash: Digest::ZERO,
            ts_ms: Noon.now(),
            request_id: request.to_owned(),
            actor: "prn".to_owned(),
            intent: "change".to_owned(),
            decision: GateDecision::Deny,
            state_from: KernelState::Idle,
            state_to: KernelState::Validating,
            tool_name: None,
            params_hash: None,
            evidence_hash: None,
            error: None,
        };
        entry.entry_hash = entry.computed_hash().unwrap();
        head = entry.entry_hash;
        entry
    };
    (0..count).map(link).collect()
}

pub fn signer() -> SeedSigner {
    SeedSigner::from_seed([7; 32])
}

/// A temporary store.
pub struct World {
    pub dir: TempDir,
}

impl World {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn db(&self) -> std::path::PathBuf {
        self.path().join(ledger::FILE)
    }

    pub fn writer(&self) -> Writer {
        self.open().unwrap()
    }

    pub fn open(&self) -> Result<Writer, Error> {
        open_at(self.path(), Box::new(NoProjections), Arc::new(NoFaults))
    }

    pub fn with_faults(&self, faults: Arc<dyn Faults>) -> Writer {
        open_at(self.path(), Box::new(NoProjections), faults).unwrap()
    }

    pub fn with_projector(&self, projector: Box<dyn Projector>) -> Writer {
        open_at(self.path(), projector, Arc::new(NoFaults)).unwrap()
    }

    pub fn reader(&self) -> Reader {
        Reader::open(self.path()).unwrap()
    }

    /// A connection of somebody who does not go through the writer.
    pub fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.db()).unwrap()
    }

    pub fn verify(&self) -> Report {
        verify_at(self.path())
    }
}

pub fn open_at(dir: &Path, projector: Box<dyn Projector>, faults: Arc<dyn Faults>) -> Result<Writer, Error> {
    let start = STORES.fetch_add(1, Ordering::Relaxed) << 20;
    let entropy = Arc::new(Dice(AtomicU64::new(start)));
    Writer::open(dir, options(projector, faults, entropy))
}

fn options(projector: Box<dyn Projector>, faults: Arc<dyn Faults>, entropy: Arc<Dice>) -> OpenOptions {
    let (hermit_version, log_keys) = ("test".to_owned(), vec![signer().public()]);
    OpenOptions { hermit_version, projector, faults, entropy, log_keys }
}

/// Opens a store whose chain is broken, to anchor it anew.
pub fn open_broken_at(dir: &Path) -> Result<Writer, Error> {
    let start = STORES.fetch_add(1, Ordering::Relaxed) << 20;
    let entropy = Arc::new(Dice(AtomicU64::new(start)));
    let (projector, faults) = (Box::new(NoProjections), Arc::new(NoFaults));
    Writer::open_broken(dir, options(projector, faults, entropy))
}

pub fn verify_at(dir: &Path) -> Report {
    ledger::verify(&Reader::open(dir).unwrap(), &[signer().public()], None, &mut |_| true).unwrap()
}

pub fn commit(writer: &Writer, drafts: Vec<Draft>) -> Committed {
    writer.commit(batch(drafts)).unwrap()
}

/// Checks that nothing is wrong, whether or not somebody signed.
pub fn assert_sound(report: &Report) {
    let sound = matches!(report.verdict, Verdict::Valid | Verdict::Unverifiable);
    assert!(sound, "{:?}: {}", report.verdict, report.reason);
}
