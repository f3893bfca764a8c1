//! Stores made for measuring: by the real writer, of small events or of whole histories.

use crate::Asked;
use crate::board::{Board, timed};
use crate::history::History;
use ledger::{Batch, NoProjections, OpenOptions, Projector, Writer};
use model::body::{Body, TaskCancelRequested, TaskPauseRequested};
use model::event::{Actor, Draft};
use model::fault::{NoFaults, Point};
use model::principal::PrincipalType;
use model::{Clock, Entropy, EventId, GrantId, PrincipalId, TaskId, UnixMs};
use seal::{Digest, SeedSigner};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use testkit::World;

/// Numbers that repeat from run to run.
pub struct Dice(pub AtomicU64);

impl Entropy for Dice {
    fn fill(&self, buffer: &mut [u8]) {
        let roll = Digest::of(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        buffer.iter_mut().zip(roll.as_bytes()).for_each(|(to, from)| *to = *from);
    }
}

/// A clock that stands still.
pub struct Now;

impl Clock for Now {
    fn now(&self) -> UnixMs {
        UnixMs(1_700_000_000_000)
    }
}

static OPENED: AtomicU64 = AtomicU64::new(0);
pub static IDS: Dice = Dice(AtomicU64::new(1 << 40));

/// The key that signs checkpoints here.
pub fn signer() -> SeedSigner {
    SeedSigner::from_seed([7; 32])
}

/// A new task's name.
pub fn task() -> TaskId {
    TaskId::fresh(&Now, &IDS)
}

/// One small event.
pub fn draft(task: TaskId, sensitive: bool) -> Draft {
    let body: Body = if sensitive {
        TaskCancelRequested { about_task_id: task, reason: "a reason of some length".to_owned().into() }
            .into()
    } else {
        TaskPauseRequested { about_task_id: task }.into()
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

/// Opens the ledger of a folder for writing.
pub fn writer(dir: &Path, views: bool) -> Writer {
    // Each opening is a session of its own, also of the same folder.
    let opened = OPENED.fetch_add(1, Ordering::Relaxed) << 24;
    let entropy = Arc::new(Dice(AtomicU64::new((u64::from(std::process::id()) << 32) + opened)));
    let projector: Box<dyn Projector> =
        if views { Box::new(projections::Fold::new()) } else { Box::new(NoProjections) };
    let (hermit_version, log_keys) = ("bench".to_owned(), Vec::new());
    let faults = Arc::new(NoFaults);
    Writer::open(dir, OpenOptions { hermit_version, projector, faults, entropy, log_keys })
        .expect("the ledger opens")
}

/// Appends events of tasks with fifty events each, signing now and then.
pub fn grow(writer: &Writer, events: u64) {
    for _ in 0..events.div_ceil(1_000) {
        let tasks: Vec<TaskId> = (0..20).map(|_| task()).collect();
        let drafts = (0..1_000).map(|n: usize| draft(tasks[n % 20], n.is_multiple_of(4))).collect();
        writer.commit(Batch { drafts, ..Batch::new(Point::TaskStart) }).expect("committed");
        writer.checkpoint(&tasks, &signer(), UnixMs(1), |_, _| {}).expect("signed");
    }
}

/// Events after which a history ends its tasks and begins anew, signed: the generator's own memory stays bounded.
const HISTORY: u64 = 20_000;
/// Events of one commit: one sync for each, and few of them.
const COMMIT: usize = 4_000;

/// Appends legal histories of some hundred tasks each, thousands of events to a commit; returns how many events. Of all
/// but the last nearly every task has ended, as in a person's store. It is fastest into a writer without views, which
/// [`fold`] makes in one go afterwards.
pub fn live(writer: &Writer, events: u64) -> u64 {
    let (mut made, mut names) = (0, 1_000);
    while made < events {
        let mut history = History::new(made + 1);
        history.world.n = names;
        let (mut tasks, mut limits, begun) = (BTreeSet::new(), BTreeMap::new(), made);
        while made < events && made - begun < HISTORY {
            let mut batch = Batch::new(Point::TaskStart);
            while batch.drafts.len() < COMMIT {
                let (drafts, blobs) = history.next();
                take(&mut batch, drafts, &mut limits);
                batch.blobs.extend(blobs.into_iter().map(|bytes| (Digest::of(&bytes), bytes)));
            }
            if made + (batch.drafts.len() as u64) < events && made - begun + COMMIT as u64 >= HISTORY {
                take(&mut batch, history.finish(), &mut limits);
            }
            made += batch.drafts.len() as u64;
            tasks.extend(batch.drafts.iter().map(|draft| draft.task_id));
            writer.commit(batch).expect("committed");
        }
        names = history.world.n;
        let tasks: Vec<TaskId> = tasks.into_iter().collect();
        writer.checkpoint(&tasks, &signer(), UnixMs(1), |_, _| {}).expect("signed");
    }
    made
}

/// Puts drafts into a batch, with the uses of grants that they count.
fn take(batch: &mut Batch, drafts: Vec<Draft>, limits: &mut BTreeMap<GrantId, u32>) {
    for draft in &drafts {
        match &draft.body {
            Body::GrantIssued(issued) => _ = limits.insert(issued.grant_id, issued.max_uses),
            Body::EffectDispatched(used) => batch.consume.extend(limits.remove_entry(&used.grant_id)),
            _ => {}
        }
    }
    batch.drafts.extend(drafts);
}

/// Folds the views of what was grown without them, in one transaction, and closes the store.
pub fn fold(dir: &Path) {
    drop(writer(dir, true));
}

/// Grows a store into a new folder and leaves it there, for `hermit --home FOLDER` and for the browser's tests.
pub fn run(asked: &Asked, board: &Board) {
    let into = asked.into.clone().expect("`grow` wants --into FOLDER");
    assert!(!into.exists(), "`{}` is there already", into.display());
    let mut world = World::new(11);
    world.crash();
    let (took, events) = timed(|| live(&writer(world.store.path(), false), asked.events));
    board.figure(
        "grown by the writer",
        &format!("{events} events in {took:.1?}, {:.0}/s", events as f64 / took.as_secs_f64()),
    );
    let (took, ()) = timed(|| fold(world.store.path()));
    board.figure("views folded once", &format!("{took:.1?}"));
    // First beside its place, then at it: a store that broke off half way is never taken for a whole one.
    copied(world.store.path(), &into.with_extension("part"));
    std::fs::rename(into.with_extension("part"), &into).expect("it is put in its place");
}

fn copied(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (at, there) = (entry.path(), to.join(entry.file_name()));
        if at.is_dir() {
            copied(&at, &there);
        } else {
            std::fs::copy(&at, &there).expect("copied");
        }
    }
}
