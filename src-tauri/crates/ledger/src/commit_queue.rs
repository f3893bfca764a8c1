//! Where callers queue: whoever comes first writes for all who wait, in its own thread.
//!
//! A writer in a thread of its own would cost two changes of threads for each commit, a good part of a step where the
//! disk is quick. So the one connection that writes is passed from caller to caller: one of them leads, takes what
//! waits, commits it in one go, names the next leader, and hands out the answers. Nothing else writes.

use crate::Error;
use crate::engine::{Answer, Engine};
use crate::prepare::Prepared;
use model::limits;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a leader waits for as many batches as came last time: a small part of one sync, and it lets the callers
/// that were just answered join the next commit.
const GATHER: Duration = Duration::from_micros(200);

/// Looks at the WAL that may be put off before a caller does it itself.
const PUT_OFF_MAX: u32 = 16;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that broke off while it wrote has stopped the engine; everything else is whole at any time.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a waiting caller is told.
enum Word {
    Answer(Box<Answer>),
    Lead,
}

struct Waiting {
    batch: Prepared,
    caller: SyncSender<Word>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Whether somebody leads. While nobody does, nobody waits.
    led: bool,
    /// Whether the leader waits for more.
    gathering: bool,
    /// Batches of the last group.
    last: usize,
}

struct Shared {
    engine: Mutex<Engine>,
    queue: Mutex<Queue>,
    arrived: Condvar,
    /// Looks at the WAL that were asked for since the last one.
    put_off: AtomicU32,
}

/// The queue, the engine behind it, and the thread that tidies up between commits.
pub(crate) struct CommitQueue {
    shared: Arc<Shared>,
    pokes: Option<Sender<()>>,
    tidier: Option<JoinHandle<()>>,
}

impl CommitQueue {
    /// # Errors
    /// [`Error::Io`] when no thread can be started.
    pub fn new(engine: Engine) -> Result<Self, Error> {
        let (engine, queue) = (Mutex::new(engine), Mutex::new(Queue::default()));
        let shared = Arc::new(Shared { engine, queue, arrived: Condvar::new(), put_off: AtomicU32::new(0) });
        let (pokes, inbox) = channel();
        let mine = Arc::clone(&shared);
        let tidier = std::thread::Builder::new()
            .name("ledger-tidier".to_owned())
            .spawn(move || tidy(&mine, &inbox))
            .map_err(|e| Error::io("starting the writer", &e))?;
        Ok(Self { shared, pokes: Some(pokes), tidier: Some(tidier) })
    }

    /// Waits until a batch is on disk or refused.
    pub fn commit(&self, batch: Prepared) -> Answer {
        let (caller, word) = sync_channel(2);
        let mine = Waiting { batch, caller };
        if !self.shared.join(mine) {
            match word.recv() {
                Ok(Word::Answer(answer)) => return *answer,
                Ok(Word::Lead) => {}
                Err(_) => return Err(lock(&self.shared.engine).broke_off()),
            }
        }
        self.lead();
        match word.try_recv() {
            Ok(Word::Answer(answer)) => *answer,
            _ => Err(lock(&self.shared.engine).broke_off()),
        }
    }

    /// Commits what waits, the caller's own batch first.
    fn lead(&self) {
        let group = self.shared.gather();
        let (batches, callers): (Vec<_>, Vec<_>) = group.into_iter().map(|w| (w.batch, w.caller)).unzip();
        let mut engine = lock(&self.shared.engine);
        let size = batches.len();
        let run = catch_unwind(AssertUnwindSafe(|| engine.run(batches)));
        let answers = run.unwrap_or_else(|_| vec![Err(engine.broke_off()); size]);
        let wants_tidying = engine.wants_tidying();
        drop(engine);
        // The next one begins while this one hands out what it has.
        self.shared.hand_on(size);
        for (caller, answer) in callers.into_iter().zip(answers) {
            // A caller that no longer waits does not change what is on disk.
            let _ = caller.send(Word::Answer(Box::new(answer)));
        }
        if wants_tidying {
            self.poke();
        }
    }

    /// Has somebody look at the WAL, soon: callers may keep the tidier from the engine for a while.
    fn poke(&self) {
        if self.shared.put_off.fetch_add(1, Ordering::Relaxed) >= PUT_OFF_MAX {
            self.shared.tidy();
        } else if let Some(pokes) = &self.pokes {
            // Without the tidier the callers' own looks remain.
            let _ = pokes.send(());
        }
    }

    /// The engine, between commits.
    pub fn engine(&self) -> MutexGuard<'_, Engine> {
        lock(&self.shared.engine)
    }
}

impl Drop for CommitQueue {
    fn drop(&mut self) {
        self.pokes = None;
        if let Some(tidier) = self.tidier.take() {
            // One that broke off has nobody left to tell.
            let _ = tidier.join();
        }
        lock(&self.shared.engine).close();
    }
}

fn tidy(shared: &Shared, inbox: &Receiver<()>) {
    while inbox.recv().is_ok() {
        // One look is enough for all who asked for one.
        while inbox.try_recv().is_ok() {}
        shared.tidy();
    }
}

impl Shared {
    fn tidy(&self) {
        lock(&self.engine).tidy();
        self.put_off.store(0, Ordering::Relaxed);
    }

    /// Joins the queue; answers whether the caller leads.
    fn join(&self, mine: Waiting) -> bool {
        let mut queue = lock(&self.queue);
        queue.waiting.push_back(mine);
        if queue.gathering {
            self.arrived.notify_one();
        }
        !std::mem::replace(&mut queue.led, true)
    }

    /// What waits, and for a moment what is about to.
    fn gather(&self) -> Vec<Waiting> {
        let mut queue = lock(&self.queue);
        let wanted = queue.last.min(limits::GROUP_COMMIT_MAX);
        if queue.waiting.len() < wanted {
            queue.gathering = true;
            let few = |queue: &mut Queue| queue.waiting.len() < wanted;
            let waited = self.arrived.wait_timeout_while(queue, GATHER, few);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
            queue.gathering = false;
        }
        let size = queue.waiting.len().min(limits::GROUP_COMMIT_MAX);
        queue.waiting.drain(..size).collect()
    }

    /// The first who waits leads; where nobody waits, the next one who comes.
    fn hand_on(&self, size: usize) {
        let mut queue = lock(&self.queue);
        queue.last = size;
        while let Some(next) = queue.waiting.front() {
            if next.caller.send(Word::Lead).is_ok() {
                return;
            }
            queue.waiting.pop_front();
        }
        queue.led = false;
    }
}
