//! The kernel itself: the ledger's writer, the gate, the states of tasks, and the one way to commit.

use crate::drive::Calls;
use crate::gateway_registry::GatewayRegistry;
use crate::ports::{Days, Embedder, ExecutorSource, KeyRing, Notice, Observer, ReasonerSource};
use crate::schedule_registry::ScheduleRegistry;
use crate::state::TaskState;
use crate::store::StoreState;
use crate::writeup::{Scope, Sources, Writeup};
use crate::{Error, open};
use gate::Gate;
use governance::{PolicyEngine, RuleScope};
use ledger::{Placed, Reader, Writer};
use model::event::Actor;
use model::fault::{Faults, Point};
use model::principal::PrincipalType;
use model::tool_server::ServerRegistration;
use model::{AttemptId, Body, Clock, Entropy, Event, EventId, StepId, TaskId, UnixMs};
use seal::Digest;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everything the kernel asks of the outside.
#[derive(Clone)]
pub struct Ports {
    /// Opens executors in a workspace.
    pub executors: Arc<dyn ExecutorSource>,
    /// Finds reasoners.
    pub reasoners: Arc<dyn ReasonerSource>,
    /// Makes vectors of texts, where a person named a model for it.
    pub embedder: Arc<dyn Embedder>,
    /// Holds the keys that are open.
    pub keys: Arc<dyn KeyRing>,
    /// Listens.
    pub observer: Arc<dyn Observer>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Knows the person's days, and what models may cost in one.
    pub days: Arc<dyn Days>,
    /// Draws chance.
    pub entropy: Arc<dyn Entropy>,
    /// Stops the world, in tests.
    pub faults: Arc<dyn Faults>,
    /// Judges.
    pub policy: Arc<PolicyEngine>,
    /// Knows the values of secrets; everything observed or said passes it before it is kept.
    pub redactor: redact::Shared,
    /// Gives back the folder, projections and content searched by them.
    pub projector: Arc<dyn Fn() -> Box<dyn ledger::Projector> + Send + Sync>,
}

/// One task in memory.
pub(crate) struct Cell {
    pub(crate) state: Mutex<TaskState>,
    /// Somebody drives it; a second driver is turned away (HK-20.1-1).
    pub(crate) driving: AtomicBool,
    /// A person wants it to stop what it waits for.
    pub(crate) stop: AtomicBool,
    /// The asking whose answer comes in at this moment; 0 for none.
    pub(crate) asking: AtomicU64,
    /// What the command in hand came to in its staged view; a host that dies tries it anew, without harm.
    pub(crate) tried: Mutex<Option<crate::drive::Tried>>,
    /// What a person said to servers of tools that wait for it, by the question.
    pub(crate) said: Mutex<BTreeMap<model::ClarificationId, String>>,
    /// During which act a server asked a question, while that act is under way here.
    pub(crate) asked_in: Mutex<BTreeMap<model::ClarificationId, model::ActionRequestId>>,
    /// What the attempt at work was told of the task before.
    pub(crate) predecessor: Mutex<Option<crate::drive::Told>>,
    /// The state holds what never got into the log: it is folded again before it is believed.
    pub(crate) stale: AtomicBool,
}

type Engines = BTreeMap<Vec<(RuleScope, Digest)>, Arc<PolicyEngine>>;

/// The only writer.
pub struct Kernel {
    pub(crate) dir: PathBuf,
    pub(crate) writer: Writer,
    pub(crate) reader: Reader,
    pub(crate) artifacts: Arc<artifacts::Store>,
    pub(crate) ports: Ports,
    pub(crate) store: Mutex<StoreState>,
    pub(crate) gate: Mutex<Option<Gate>>,
    pub(crate) tasks: Mutex<HashMap<TaskId, Arc<Cell>>>,
    pub(crate) session: String,
    /// Policy with the rules of a person, a project and a task, by the digests of their texts.
    pub(crate) engines: Mutex<Engines>,
    /// Registrations of servers of tools that were read, by the digests of their artifacts.
    pub(crate) registrations: Mutex<BTreeMap<Digest, Arc<ServerRegistration>>>,
    /// The host ends: drivers leave off at the next boundary.
    pub(crate) winding: AtomicBool,
    /// A person halted, with this reason, and the disk would not take it: nothing executes in this process all the same.
    pub(crate) halted_unrecorded: Mutex<Option<String>>,
    /// Calls of agents outside, on their way into the ledger.
    pub(crate) calls: Mutex<HashMap<TaskId, Arc<Mutex<Calls>>>>,
    /// Memory by its meaning.
    pub(crate) meaning: crate::meaning::Meaning,
    /// The historian looks once at a time.
    pub(crate) looking: Mutex<crate::command::historian::Glanced>,
    /// Roots of state are stated once at a time.
    pub(crate) rooting: Mutex<()>,
    /// Anchors are asked for one at a time.
    pub(crate) anchoring: Mutex<()>,
    /// Limits are raised one at a time: two parts of one task would else both get what is left to it.
    pub(crate) raising: Mutex<()>,
    /// Money set aside for a call of a task whose commit may still be under way.
    pub(crate) promised: Mutex<BTreeMap<model::TaskId, u64>>,
    /// Schedules that could not be looked after just now, and until when each is left alone.
    pub(crate) slots_held: Mutex<BTreeMap<String, UnixMs>>,
    /// What was seen of the slots of schedules that the mesh holds.
    pub(crate) slots_seen: Mutex<BTreeMap<String, crate::mesh_schedules::SlotsSeen>>,
    /// Folders of schedules that the mesh holds: when each was looked at last, and whether it can be worked in.
    pub(crate) folders_seen: Mutex<BTreeMap<PathBuf, (UnixMs, bool)>>,
    /// What schedules wait for that is no time: what is to be looked at, and when.
    pub(crate) looks: Mutex<crate::command::triggers::Looks>,
    /// What a host tells of relays and other machines, for schedules that wait for them.
    pub(crate) afar: Mutex<crate::command::afar_looks::Afar>,
    /// How many askings this process has begun.
    pub(crate) askings: AtomicU64,
    /// Calls of hooks are taken one at a time.
    pub(crate) hooks: Mutex<crate::command::hooks::Hooks>,
    /// Messages of gateways are heard one at a time; what was refused and is not on record yet.
    pub(crate) hearing: Mutex<crate::command::inbound::Refused>,
    /// Whose turn it is in each folder.
    pub(crate) folders: Arc<crate::folders::Folders>,
    /// The clock and the count of milliseconds when this host began.
    pub(crate) began: (UnixMs, u64),
}

/// Locks, and goes on with what is there when another thread panicked: state is rebuilt from events anyway.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kernel {
    /// Opens a store for writing, makes it if it is new, boots the gate unless a halt is in force.
    ///
    /// # Errors
    /// [`Error::Ledger`] when another host holds the store, or the store is damaged or newer.
    pub fn open(dir: &Path, ports: Ports) -> Result<Self, Error> {
        open::open(dir, ports)
    }

    /// Who reads without writing.
    pub const fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The content store.
    pub fn artifacts(&self) -> &artifacts::Store {
        &self.artifacts
    }

    /// Says in the store's lock where this host can be reached, as `127.0.0.1:PORT`, or that it no longer can.
    ///
    /// # Errors
    /// [`Error::Ledger`] when the lock's note cannot be written.
    pub fn announce(&self, address: Option<&str>) -> Result<(), Error> {
        Ok(self.writer.announce(address)?)
    }

    /// The host ends: every driver leaves off at its next durable boundary, and a model that is asked is asked again
    /// by the next host. An effect under way is not interrupted. There is no way back in this process.
    pub fn wind_down(&self) {
        self.winding.store(true, Ordering::SeqCst);
        self.ports.reasoners.wind_down();
    }

    /// The store's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The ports it was given.
    pub const fn ports(&self) -> &Ports {
        &self.ports
    }

    /// What the store's own stream says.
    pub fn store_state(&self) -> StoreState {
        lock(&self.store).clone()
    }

    /// A task as its events say now.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none.
    pub fn task(&self, task_id: TaskId) -> Result<TaskState, Error> {
        Ok(self.lock_task(&*self.cell(task_id)?)?.clone())
    }

    /// Whether the task waits for another one that changes its folder just now.
    pub fn waits_for_folder(&self, task_id: TaskId) -> bool {
        self.folders.is_waiting(task_id)
    }

    /// The asking whose answer comes in at this moment, in this process: what another left behind is under way nowhere.
    pub fn asking(&self, task_id: TaskId) -> Option<u64> {
        let cell = lock(&self.tasks).get(&task_id).map(Arc::clone)?;
        Some(cell.asking.load(Ordering::SeqCst)).filter(|asking| *asking > 0)
    }

    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources {
            clock: &*self.ports.clock,
            entropy: &*self.ports.entropy,
            artifacts: &self.artifacts,
            redactor: &self.ports.redactor,
        }
    }

    pub(crate) fn actor(&self, kind: PrincipalType) -> Result<Actor, Error> {
        Ok(Actor { actor_type: kind, actor_id: lock(&self.store).principal(kind)? })
    }

    /// The cell of a task, folded from its events on first use.
    pub(crate) fn cell(&self, task_id: TaskId) -> Result<Arc<Cell>, Error> {
        if let Some(cell) = lock(&self.tasks).get(&task_id) {
            return Ok(Arc::clone(cell));
        }
        let state = self.load(task_id)?;
        let cell = Arc::new(Cell {
            state: Mutex::new(state),
            driving: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            asking: AtomicU64::new(0),
            tried: Mutex::new(None),
            said: Mutex::default(),
            asked_in: Mutex::default(),
            predecessor: Mutex::new(None),
            stale: AtomicBool::new(false),
        });
        Ok(Arc::clone(lock(&self.tasks).entry(task_id).or_insert(cell)))
    }

    /// A task's state, locked, and as its log says.
    ///
    /// # Errors
    /// When it has to be folded again and cannot be read.
    pub(crate) fn lock_task<'c>(&self, cell: &'c Cell) -> Result<MutexGuard<'c, TaskState>, Error> {
        let mut state = lock(&cell.state);
        if cell.stale.load(Ordering::SeqCst) {
            *state = self.load(state.task.task_id)?;
            cell.stale.store(false, Ordering::SeqCst);
        }
        Ok(state)
    }

    /// A task folded from the log, without a cell.
    pub(crate) fn load(&self, task_id: TaskId) -> Result<TaskState, Error> {
        if let Some(one) = self.reader.severed()?.into_iter().find(|one| one.task == task_id) {
            return Err(Error::Severed { task: task_id, from_seq: one.from_seq });
        }
        let mut chain = open::Chain::default();
        let mut state: Option<TaskState> = None;
        let mut after = 0;
        loop {
            let page = self.reader.events(task_id, after, 1_000)?;
            let Some(last) = page.last() else { break };
            after = last.task_seq;
            for stored in &page {
                let event = chain.next(stored)?;
                let body = self.body_of(&event)?;
                match state.as_mut() {
                    None => {
                        state = Some(TaskState::begin(&event, &body).map_err(|_| self.unknown_task(task_id))?)
                    }
                    Some(state) => state.apply(&event, &body)?,
                }
            }
        }
        state.ok_or_else(|| self.unknown_task(task_id))
    }

    fn unknown_task(&self, task_id: TaskId) -> Error {
        Error::NotFound { kind: "task", id: task_id.to_string() }
    }

    pub(crate) fn body_of(&self, event: &Event) -> Result<Body, Error> {
        Ok(self.reader.revealing(|shown| event.body(shown))??)
    }

    /// The time for a task: never before what its log says has happened, however far the clock was set back.
    pub(crate) fn now_of(&self, state: &TaskState) -> UnixMs {
        self.ports.clock.now().max(state.latest)
    }

    /// The time for the gate: what the clock said when this host began, and what a clock that nobody sets has counted
    /// since. One excursion of the clock would else stop every act until the next start.
    pub(crate) fn gate_now(&self) -> UnixMs {
        let (began, counted) = self.began;
        let elapsed = self.ports.clock.monotonic_ms().saturating_sub(counted);
        began.plus_ms(i64::try_from(elapsed).unwrap_or(i64::MAX))
    }

    /// A writeup for one task at a boundary.
    pub(crate) fn writeup(&self, point: Point, state: &TaskState, actor: Actor) -> Writeup<'_> {
        let attempt = state.attempt();
        let scope = Scope {
            task_id: state.task.task_id,
            step_id: state.step().map(|s| s.step_id),
            attempt_id: attempt.map(|a| a.attempt.attempt_id),
            workspace_id: state.task.workspace_hint,
        };
        let correlation =
            attempt.map_or_else(|| state.task.task_id.to_string(), |a| a.attempt.attempt_id.to_string());
        let mut writeup = Writeup::new(self.sources(), point, scope, actor, correlation, state.last_event);
        writeup.now = writeup.now.max(state.latest);
        writeup.batch.expect.push((state.task.task_id, state.seq));
        writeup
    }

    /// A writeup in the system task's stream.
    pub(crate) fn store_writeup(
        &self,
        point: Point,
        actor: Actor,
        correlation: String,
        cause: Option<EventId>,
    ) -> Result<Writeup<'_>, Error> {
        let task_id = lock(&self.store).system_task()?;
        let scope = Scope { task_id, step_id: None, attempt_id: None, workspace_id: None };
        Ok(Writeup::new(self.sources(), point, scope, actor, correlation, cause))
    }

    /// Commits a boundary; a task of it that is locked has folded it already ([`crate::tx::Tx`]).
    ///
    /// # Errors
    /// When it holds a secret, somebody was faster, or the ledger fails.
    pub(crate) fn commit(&self, writeup: Writeup<'_>) -> Result<Vec<Placed>, Error> {
        if !writeup.withheld.is_empty() {
            return Err(Error::Secret(crate::redaction::named(writeup.withheld)));
        }
        let batch = writeup.batch;
        let system = lock(&self.store).system_task_id;
        let is_store = |task_id| Some(task_id) == system || system.is_none();
        let of_store: Vec<Body> =
            batch.drafts.iter().filter(|d| is_store(d.task_id)).map(|d| d.body.clone()).collect();
        let of_slots = batch.drafts.iter().filter(|d| ScheduleRegistry::is_of_slots(&d.body));
        let of_slots: Vec<Body> = of_slots.map(|d| d.body.clone()).collect();
        let of_messages = batch.drafts.iter().filter(|d| GatewayRegistry::is_of_messages(&d.body));
        let of_messages: Vec<Body> = of_messages.map(|d| d.body.clone()).collect();
        let placed = self.writer.commit(batch)?.placed;
        self.take_note(system, &placed, &of_store);
        if !of_messages.is_empty() {
            let gateways = &mut lock(&self.store).gateways;
            of_messages.iter().for_each(|body| Arc::make_mut(gateways).apply_messages(body));
        }
        if !of_slots.is_empty() {
            let schedules = &mut lock(&self.store).schedules;
            of_slots.iter().for_each(|body| Arc::make_mut(schedules).apply_slots(body));
        }
        Ok(placed)
    }

    /// Folds what was committed into the store's own state, and tells whoever listens.
    pub(crate) fn take_note(&self, system: Option<TaskId>, placed: &[Placed], of_store: &[Body]) {
        let mut of_store = of_store.iter();
        for Placed { event, .. } in placed {
            if (Some(event.task_id) == system || system.is_none())
                && let Some(body) = of_store.next()
            {
                lock(&self.store).apply(event.task_seq, body);
            }
            self.ports.observer.notice(Notice::Event {
                task_id: event.task_id,
                task_seq: event.task_seq,
                event_type: event.event_type.clone(),
            });
        }
    }

    /// A fresh step identifier.
    pub(crate) fn fresh_step(&self) -> StepId {
        StepId::fresh(&*self.ports.clock, &*self.ports.entropy)
    }

    /// A fresh attempt identifier.
    pub(crate) fn fresh_attempt(&self) -> AttemptId {
        AttemptId::fresh(&*self.ports.clock, &*self.ports.entropy)
    }
}
