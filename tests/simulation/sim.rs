//! A world that dies and comes back, and what its clients do meanwhile: they repeat what was not acknowledged.

use kernel::ports::Notice;
use kernel::{DriveOutcome, Error, Kernel, Waiting};
use model::body::Body;
use model::fault::Point;
use model::receipt::ResultCode;
use model::{Clock as _, Event, TaskId};
use reasoning::Reasoner;
use seal::Digest;
use std::cell::{Ref, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, Once};
use tempfile::{Builder, TempDir};
use testkit::{Crash, Edge, Listener, Mode, Model, Say, Server, World};

/// A fault at the nth pass of a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Where.
    pub point: Point,
    /// On which side.
    pub edge: Edge,
    /// What.
    pub mode: Mode,
    /// From 1.
    pub nth: u32,
}

/// Why a step did not come to its end.
#[derive(Debug)]
pub enum Stop {
    /// The process died there.
    Died,
    /// The kernel said no.
    Said(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Said(error)
    }
}

/// One thing a client wants. It looks at what is there first, and can therefore be repeated.
pub type Step = fn(&mut Sim) -> Result<(), Stop>;

/// Most repetitions of one step before it counts as stuck.
const TRIES: u32 = 8;

/// A world under simulation.
pub struct Sim {
    pub world: World,
    pub name: String,
    /// Tasks by the name the story gave them.
    pub tasks: BTreeMap<&'static str, TaskId>,
    /// Faults still to come, each planned when the one before has struck.
    pub plans: Vec<Plan>,
    /// What stood in the log when it was last looked at: task and place, digest of the bytes.
    seen: BTreeMap<(TaskId, u64), Digest>,
    /// How often a host died or had to be opened again.
    pub deaths: u32,
    /// The kernel may say no to what it is asked.
    pub lenient: bool,
    /// A fault is still to come.
    armed: bool,
    /// A fault has struck.
    struck: bool,
    /// Names of models that have their script.
    pub models: BTreeSet<&'static str>,
    /// Outcomes that nobody could tell, settled by the person at the end.
    pub settled: u32,
    /// The server of the story; it lives through every death of a host.
    pub server: Option<Server>,
    /// Events as they were read.
    read: RefCell<Vec<(Event, Body)>>,
    /// Whoever writes down what the world tells.
    pub scribe: Option<Arc<Scribe>>,
    /// What models were asked before this process began, in order.
    pub asked: BTreeMap<String, Vec<Digest>>,
}

/// Writes lines where somebody reads them in their order among everything else that this process does.
pub struct Scribe(File);

impl Scribe {
    /// At the end of a file.
    pub fn new(path: &Path) -> Self {
        Self(File::options().append(true).create(true).open(path).expect("a file for what is told"))
    }

    pub fn tell(&self, line: &str) {
        (&self.0).write_all(format!("{line}\n").as_bytes()).expect("told");
    }
}

/// Simulated deaths are no news; every other panic is.
pub fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload().downcast_ref::<Crash>().is_none() {
                before(info);
            }
        }));
    });
}

/// Whoever stops a long run leaves its folders behind, and here they take memory: the next run removes them.
fn sweep(memory: &Path) {
    for entry in std::fs::read_dir(memory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("hermit-simulation-")?.split('-').next());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A folder for a world: in memory where the system has such a place, for here processes die and disks do not.
pub fn folder(name: &str, fixed: bool) -> TempDir {
    static SWEPT: Once = Once::new();
    let memory = std::path::Path::new("/dev/shm");
    let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    if memory.is_dir() {
        SWEPT.call_once(|| sweep(memory));
    }
    let mut builder = Builder::new();
    let prefix = format!("hermit-simulation-{}-{name}", std::process::id());
    builder.prefix(&prefix);
    if fixed {
        builder.rand_bytes(0);
    }
    builder.tempdir_in(&parent).expect("a folder")
}

impl Sim {
    /// A world that was never opened; `fixed` gives it the same paths each time.
    pub fn new(name: &str, seed: u64, fixed: bool) -> Self {
        let world =
            World::inside(seed, folder(&format!("{name}-s"), fixed), folder(&format!("{name}-f"), fixed));
        Self::over(name, world)
    }

    /// Over a world that somebody made.
    pub fn over(name: &str, world: World) -> Self {
        quiet();
        Self {
            world,
            name: name.to_owned(),
            tasks: BTreeMap::new(),
            plans: Vec::new(),
            seen: BTreeMap::new(),
            deaths: 0,
            lenient: false,
            armed: false,
            struck: false,
            models: BTreeSet::new(),
            settled: 0,
            server: None,
            read: RefCell::default(),
            scribe: None,
            asked: BTreeMap::new(),
        }
    }

    /// Tells whoever reads it what is committed and what models are asked, when it is.
    pub fn tell(&mut self, scribe: Scribe) {
        let scribe = Arc::new(scribe);
        self.scribe = Some(Arc::clone(&scribe));
        let clock = Arc::clone(&self.world.clock);
        self.world.listener = Arc::new(Listener::aloud(move |notice| {
            if let Notice::Event { task_id, task_seq, .. } = notice {
                scribe.tell(&format!("event {task_id} {task_seq} {}", clock.now().0));
            }
        }));
    }

    /// The model of a story, which no death of a host touches.
    pub fn model(&self, name: &'static str, script: Vec<Say>) -> Arc<dyn Reasoner> {
        let model = Model::new(script).asked(self.asked.get(name).map_or(&[], Vec::as_slice));
        match self.scribe.clone() {
            Some(scribe) => model.aloud(move |request| scribe.tell(&format!("asked {name} {request}"))),
            None => model.reasoner(),
        }
    }

    /// These stood in the log and were told of before this process began.
    pub fn remember(&mut self, told: BTreeMap<(TaskId, u64), Digest>) {
        self.seen = told;
    }

    /// The kernel; a step runs only while it is open.
    pub fn kernel(&self) -> &Kernel {
        self.world.kernel()
    }

    /// A task by its name in the story.
    pub fn task(&self, name: &str) -> TaskId {
        *self.tasks.get(name).unwrap_or_else(|| panic!("{}: no task `{name}`", self.name))
    }

    /// Sets the next fault to come.
    pub fn arm(&mut self) {
        self.armed = !self.plans.is_empty();
        if self.plans.is_empty() {
            self.world.faults.clear();
        } else {
            let Plan { point, edge, mode, nth } = self.plans.remove(0);
            self.world.faults.plan(point, edge, mode, nth);
        }
    }

    /// Opens the store and makes the keys known.
    fn ready(&mut self) -> Result<(), Stop> {
        self.guarded(|sim| {
            sim.world.take_up()?;
            Ok(sim.world.register_keys()?)
        })
    }

    /// Opens the store if need be, binds what was left unbound, and runs a step; again until it comes to its end.
    pub fn run(&mut self, step: Step) {
        let mut last = None;
        for _ in 0..TRIES {
            let outcome = match self.ready() {
                Ok(()) => self.guarded(|sim| {
                    sim.kernel().bind_unbound()?;
                    step(sim)
                }),
                Err(stop) => Err(stop),
            };
            self.done_with(&outcome);
            match outcome {
                Ok(()) => return,
                Err(stop) => last = Some(stop),
            }
        }
        panic!("{}: a step did not come to its end in {TRIES} tries, at last: {last:?}", self.name);
    }

    /// As [`Sim::run`], tried once: a no of the kernel is an answer, only some are never given.
    pub fn once(&mut self, step: impl FnOnce(&mut Self) -> Result<(), Stop>) {
        let ready = (0..TRIES).find_map(|_| match self.ready() {
            Ok(()) => Some(()),
            Err(stop) => {
                self.done_with(&Err(stop));
                None
            }
        });
        assert!(ready.is_some(), "{}: the store does not open again", self.name);
        let outcome = self.guarded(step);
        if let Err(Stop::Said(error)) = &outcome {
            assert!(!super::seeds::never(error), "{}: {error}", self.name);
        }
        self.done_with(&outcome);
    }

    fn guarded(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        match catch_unwind(AssertUnwindSafe(|| work(self))) {
            Ok(outcome) => outcome,
            Err(payload) if payload.downcast_ref::<Crash>().is_some() => Err(Stop::Died),
            Err(payload) => resume_unwind(payload),
        }
    }

    /// The host is killed between two commands.
    pub fn leave(&mut self) {
        self.deaths += u32::from(self.world.is_open());
        self.world.crash();
        self.learn(true);
    }

    fn done_with(&mut self, outcome: &Result<(), Stop>) {
        self.learn(false);
        let struck = self.armed && self.world.faults.fired();
        if let Err(stop) = outcome {
            self.after(stop, struck);
        }
        if struck {
            self.world.faults.forget_hits();
            self.arm();
        }
    }

    /// What a host's owner does when it fails: a dead or read-only one is opened again, another goes on.
    fn after(&mut self, stop: &Stop, struck: bool) {
        let closed = |error: &Error| matches!(error, Error::Ledger(ledger::Error::ReadOnly { .. }));
        let reopen = match stop {
            Stop::Died => true,
            Stop::Said(Error::HaltUnrecorded(why)) if closed(why) => true,
            Stop::Said(error) if closed(error) => true,
            Stop::Said(error) => {
                assert!(
                    self.lenient || struck || self.struck || self.deaths > 0,
                    "{}: the kernel failed without a fault: {error}",
                    self.name
                );
                !self.world.is_open()
            }
        };
        if reopen {
            self.deaths += 1;
            self.world.crash();
        }
        self.struck |= struck;
        self.learn(true);
    }

    /// Looks at what is on disk: nothing that stood there before may be gone or different, nor may anything that the
    /// kernel told of as committed be missing. Between deaths only what is new is looked at.
    pub fn learn(&mut self, all: bool) {
        let open = self.world.is_open().then(|| self.kernel().reader().clone());
        let Some(reader) = open.or_else(|| ledger::Reader::open(self.world.store.path()).ok()) else {
            assert!(self.seen.is_empty(), "{}: the store cannot be read any more", self.name);
            return;
        };
        let mut now = if all { BTreeMap::new() } else { std::mem::take(&mut self.seen) };
        for stored in log_after(&reader, now.len() as u64) {
            now.insert((stored.task_id, stored.task_seq), Digest::of(&stored.bytes));
        }
        for (place, digest) in &self.seen {
            assert_eq!(
                now.get(place),
                Some(digest),
                "{}: an acknowledged event is gone or changed",
                self.name
            );
        }
        for notice in self.world.listener.0.lock().expect("no poison").drain(..) {
            if let Notice::Event { task_id, task_seq, event_type } = notice {
                let there = now.contains_key(&(task_id, task_seq));
                assert!(there, "{}: `{event_type}` was told of as committed and is not there", self.name);
            }
        }
        self.seen = now;
    }

    /// The end of every story: everything that can go on does, and the person allows what is asked and answers what
    /// nobody could tell, after it was told in so many words.
    pub fn settle(&mut self) {
        self.run(|sim| {
            for _ in 0..60 {
                let open = sim.open_tasks();
                let mut moved = false;
                for task in open {
                    moved |= sim.push(task)?;
                }
                if !moved {
                    return Ok(());
                }
            }
            panic!("{}: the tasks never come to rest", sim.name);
        });
    }

    /// Tasks of people that have not ended.
    fn open_tasks(&self) -> Vec<TaskId> {
        let store = self.kernel().store_state();
        let reserved = |id: &TaskId| {
            Some(*id) == store.system_task_id || store.conversations.iter().any(|c| c.inbox_task_id == *id)
        };
        let all = self.kernel().reader().task_ids().expect("readable");
        let open = |id: &TaskId| !self.kernel().task(*id).expect("a task").task.status.is_terminal();
        all.into_iter().filter(|id| !reserved(id)).filter(open).collect()
    }

    /// Drives a task once and does what it waits for; whether anything came of it.
    fn push(&mut self, task: TaskId) -> Result<bool, Stop> {
        match self.kernel().drive(task) {
            Ok(DriveOutcome::Waiting(Waiting::Approval(id))) => {
                self.world.person.allow(self.kernel(), task, id)?;
                Ok(true)
            }
            Ok(DriveOutcome::Waiting(Waiting::UnknownOutcome)) => {
                self.said_in_so_many_words(task);
                self.kernel().resolve_outcome(
                    task,
                    ResultCode::Partial,
                    "looked at by the person of the test",
                )?;
                self.settled += 1;
                Ok(true)
            }
            Ok(DriveOutcome::Waiting(Waiting::Answer(id))) => {
                self.kernel().answer(task, id, "as you like", model::ingress::Channel::Cli)?;
                Ok(true)
            }
            Ok(DriveOutcome::Waiting(Waiting::Resume)) => {
                self.kernel().resume(task)?;
                Ok(true)
            }
            Ok(DriveOutcome::Halted) => {
                self.kernel().boot()?;
                Ok(true)
            }
            Ok(_) => Ok(false),
            // The model is down: the task is paused, and that is how it stays when the script has run out.
            Err(Error::Reasoning(_)) => {
                self.kernel().cancel(task, "the model stays away")?;
                Ok(true)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// An outcome that is not known blocks the task, and a receipt says so.
    fn said_in_so_many_words(&self, task: TaskId) {
        let state = self.kernel().task(task).expect("a task");
        assert!(state.has_unknown_outcome(), "{}: waits for an outcome that is known", self.name);
        let unknown = state.receipts.iter().any(|r| r.result_code == ResultCode::UnknownOutcome);
        assert!(unknown, "{}: an unknown outcome without its receipt", self.name);
    }

    /// Every event with its body, in the order of the log.
    pub fn events(&self) -> Ref<'_, Vec<(Event, Body)>> {
        let reader = ledger::Reader::open(self.world.store.path()).expect("a store");
        let mut read = self.read.borrow_mut();
        for stored in log_after(&reader, read.len() as u64) {
            let event = Event::from_bytes(&stored.bytes).expect("an event");
            let body = event.body(&|digest| reader.disclosure(digest).ok().flatten()).expect("a body");
            read.push((event, body));
        }
        drop(read);
        self.read.borrow()
    }
}

/// The log behind a place.
pub fn log_after(reader: &ledger::Reader, mut after: u64) -> Vec<ledger::Stored> {
    let mut all = Vec::new();
    loop {
        let page = reader.log(after, 1_000).expect("the log is readable");
        let Some(last) = page.last() else { return all };
        after = last.log_seq;
        all.extend(page);
    }
}
