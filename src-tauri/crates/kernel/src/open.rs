//! Opening a store: making it, taking it, booting the gate, finding what was interrupted.

use crate::kernel::{Kernel, Ports, lock};
use crate::store::{BACKGROUND, StoreState};
use crate::writeup::{Scope, Sources, Writeup};
use crate::{Error, gatepass};
use artifacts::InlineBlobs;
use ledger::{NoProjections, OpenOptions, Projector, Reader, Stored, Writer};
use model::body::{ConversationOpened, HostStarted, HostStopped, PrincipalRegistered, StoreInitialised};
use model::event::Actor;
use model::fault::Point;
use model::principal::{Principal, PrincipalType};
use model::{ConversationId, Event, PrincipalId, Sensitive, TaskId, UnixMs};
use seal::Digest;
use seal::chain::ChainVerifier;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The version written into the store's first event and into every host's.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Small artifacts live in the ledger's file.
pub(crate) struct LedgerBlobs(pub(crate) Reader);

impl InlineBlobs for LedgerBlobs {
    fn inline(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.0.blob(digest).map_err(|e| e.to_string())
    }
}

/// The kernel's content store, as executors see it.
pub(crate) struct Shelf(pub(crate) Arc<artifacts::Store>, pub(crate) redact::Shared);

impl effects::Contents for Shelf {
    fn read(&self, digest: &Digest) -> Result<Vec<u8>, String> {
        self.0.read(digest).map_err(|e| e.to_string())
    }

    fn keep(&self, bytes: &[u8]) -> Result<Digest, String> {
        crate::redaction::exact(&self.1.now(), bytes).map_err(|e| e.to_string())?;
        self.0.put_file(bytes).map_err(|e| e.to_string())
    }
}

pub(crate) fn open(dir: &Path, ports: Ports) -> Result<Kernel, Error> {
    let writer = Writer::open(dir, options(&ports, (ports.projector)()))?;
    let kernel = over(dir, writer, ports)?;
    kernel.fold_store(true)?;
    if lock(&kernel.store).system_task_id.is_none() {
        kernel.initialise()?;
    }
    kernel.start_host()?;
    kernel.stop_left_trials()?;
    Ok(kernel)
}

/// A store whose chain is broken, taken only to anchor it anew: no host begins, and the next one makes the views.
pub(crate) fn open_broken(dir: &Path, ports: Ports) -> Result<Kernel, Error> {
    let writer = Writer::open_broken(dir, options(&ports, Box::new(NoProjections)))?;
    let kernel = over(dir, writer, ports)?;
    kernel.fold_store(false)?;
    Ok(kernel)
}

fn options(ports: &Ports, projector: Box<dyn Projector>) -> OpenOptions {
    OpenOptions {
        hermit_version: VERSION.to_owned(),
        projector,
        faults: Arc::clone(&ports.faults),
        entropy: Arc::clone(&ports.entropy),
        log_keys: ports.keys.log_keys(),
    }
}

fn over(dir: &Path, writer: Writer, ports: Ports) -> Result<Kernel, Error> {
    let reader = writer.reader();
    let blobs = Arc::new(LedgerBlobs(reader.clone()));
    let artifacts = artifacts::Store::open(dir, blobs, Arc::clone(&ports.faults))?;
    let session = writer.session().to_owned();
    let began = (ports.clock.now(), ports.clock.monotonic_ms());
    Ok(Kernel {
        dir: dir.to_owned(),
        writer,
        reader,
        artifacts: Arc::new(artifacts),
        ports,
        store: Mutex::new(StoreState::default()),
        gate: Mutex::new(None),
        tasks: Mutex::new(HashMap::new()),
        session,
        engines: Mutex::default(),
        registrations: Mutex::default(),
        winding: std::sync::atomic::AtomicBool::new(false),
        halted_unrecorded: Mutex::default(),
        calls: Mutex::default(),
        meaning: crate::meaning::Meaning::default(),
        looking: Mutex::default(),
        rooting: Mutex::default(),
        anchoring: Mutex::default(),
        raising: Mutex::default(),
        promised: Mutex::default(),
        slots_held: Mutex::default(),
        slots_seen: Mutex::default(),
        folders_seen: Mutex::default(),
        looks: Mutex::default(),
        afar: Mutex::default(),
        askings: std::sync::atomic::AtomicU64::new(0),
        hooks: Mutex::default(),
        hearing: Mutex::default(),
        folders: Arc::default(),
        began,
    })
}

/// A chain as it is read: an event that does not hash to its hash, or does not point to the one before it, is nothing
/// that anybody may act on.
#[derive(Default)]
pub(crate) struct Chain(ChainVerifier);

impl Chain {
    /// The next event of a task.
    pub fn next(&mut self, stored: &Stored) -> Result<Event, Error> {
        let broken = |why: &str| {
            Error::Broken(format!("event {} of task `{}` {why}", stored.task_seq, stored.task_id))
        };
        if Digest::of(&stored.bytes) != stored.hash {
            return Err(broken("does not hash to its hash"));
        }
        let event = Event::from_bytes(&stored.bytes).map_err(|e| broken(&format!("is none: {e}")))?;
        let followed = self.0.follow(event.task_seq, event.prev_event_hash, stored.hash);
        followed.map_err(|e| broken(&format!("does not follow the event before it: {e}")))?;
        Ok(event)
    }
}

/// A principal of every store: its kind, name and label.
pub(crate) type Known = (PrincipalType, &'static str, Option<&'static str>);

/// What watches over work that runs by itself, and stops it until a person looks; registered when it first does.
pub(crate) const SUPERVISOR: Known = (PrincipalType::Supervisor, "Hermit supervisor", None);
/// Principals of every store from its first commit; the kernel itself comes first.
const FIRST: [Known; 5] = [
    (PrincipalType::System, "Hermit kernel", None),
    (PrincipalType::PolicyEngine, "Hermit policy", None),
    (PrincipalType::Executor, "Hermit executor", None),
    (PrincipalType::Agent, "model", None),
    (PrincipalType::User, "owner of this store", None),
];
/// Principals that stores of earlier versions lack; a host that takes one registers them.
const LATER: [Known; 3] = [
    (PrincipalType::Service, "program", None),
    (PrincipalType::Service, "Hermit background work", Some(BACKGROUND)),
    (PrincipalType::Scheduler, "Hermit scheduler", None),
];

/// The event that makes a principal known.
pub(crate) fn registered(known: Known, principal_id: PrincipalId, created_at: UnixMs) -> PrincipalRegistered {
    let (principal_type, name, label) = known;
    PrincipalRegistered {
        principal: Principal {
            principal_id,
            principal_type,
            display_name: Sensitive::from(name.to_owned()),
            created_at,
            authn_context_ref: None,
            labels: label.into_iter().map(str::to_owned).collect(),
            external_identity_ref: None,
        },
    }
}

impl Kernel {
    fn register(&self, writeup: &mut Writeup<'_>, known: &[Known]) {
        for known in known {
            let id = match known.0 {
                PrincipalType::System => writeup.actor.actor_id,
                _ => PrincipalId::fresh(&*self.ports.clock, &*self.ports.entropy),
            };
            writeup.push(registered(*known, id, writeup.now));
        }
    }

    /// Folds the system task, the first stream of every store. What was severed of it is taken as far as it can be
    /// read; of a broken store that is anchored anew, everything is.
    fn fold_store(&self, whole: bool) -> Result<(), Error> {
        // The first event ever, not the first identifier: the inbox is made within the same millisecond.
        let Some(first) = self.reader.log(0, 1)?.into_iter().next() else { return Ok(()) };
        let task_id = first.task_id;
        let whole = whole && self.reader.severed()?.iter().all(|one| one.task != task_id);
        let (mut after, mut chain) = (0, Chain::default());
        loop {
            let page = self.reader.events(task_id, after, 1_000)?;
            let Some(last) = page.last() else {
                let mut store = lock(&self.store);
                Arc::make_mut(&mut store.gateways).read_traffic(&self.reader)?;
                return Arc::make_mut(&mut store.schedules).read_slots(&self.reader);
            };
            after = last.task_seq;
            for stored in &page {
                let read = match whole {
                    true => chain.next(stored).and_then(|event| Ok((event.task_seq, self.body_of(&event)?))),
                    false => Event::from_bytes(&stored.bytes)
                        .map_err(Error::from)
                        .and_then(|event| Ok((event.task_seq, self.body_of(&event)?))),
                };
                match read {
                    Ok((task_seq, body)) => lock(&self.store).apply(task_seq, &body),
                    Err(error) if whole => return Err(error),
                    Err(_) => lock(&self.store).seq = stored.task_seq,
                }
            }
        }
    }

    /// The store's first commit: its name, its principals, its first conversation.
    fn initialise(&self) -> Result<(), Error> {
        let (clock, entropy) = (&*self.ports.clock, &*self.ports.entropy);
        let system_task_id = TaskId::fresh(clock, entropy);
        let system_id = PrincipalId::fresh(clock, entropy);
        let actor = Actor { actor_type: PrincipalType::System, actor_id: system_id };
        let scope = Scope { task_id: system_task_id, step_id: None, attempt_id: None, workspace_id: None };
        let sources: Sources<'_> = self.sources();
        let mut writeup = Writeup::new(sources, Point::StoreInit, scope, actor, self.session.clone(), None);
        let store_id = self.writer.log_id().to_owned();
        writeup.push(StoreInitialised { store_id, system_task_id, hermit_version: VERSION.to_owned() });
        self.register(&mut writeup, &FIRST);
        self.register(&mut writeup, &LATER);
        let conversation = ConversationOpened {
            conversation_id: ConversationId::fresh(clock, entropy),
            inbox_task_id: TaskId::fresh(clock, entropy),
            title: Sensitive::from("Inbox".to_owned()),
            workspace_id: None,
        };
        writeup.push(conversation);
        self.commit(writeup)?;
        Ok(())
    }

    /// The host's entry in the log, and the gate's boot unless a halt is in force.
    fn start_host(&self) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::System)?;
        let mut writeup = self.store_writeup(Point::HostStart, actor, self.session.clone(), None)?;
        let halted = lock(&self.store).halted.is_some();
        let booted = if halted { None } else { Some(gatepass::boot(self, &mut writeup, &self.session)?) };
        let lacking: Vec<Known> = {
            let store = lock(&self.store);
            LATER.into_iter().filter(|known| !store.knows(known.0, known.2)).collect()
        };
        self.register(&mut writeup, &lacking);
        writeup.push(HostStarted {
            session: self.session.clone(),
            epoch: self.writer.epoch(),
            hermit_version: VERSION.to_owned(),
            recovered: 0,
        });
        self.commit(writeup)?;
        *lock(&self.gate) = booted;
        self.sweep_spool();
        Ok(())
    }

    /// Lets go of the store; a store that was not closed recovers all the same.
    ///
    /// # Errors
    /// When the last event cannot be written.
    pub fn close(&self) -> Result<(), Error> {
        let actor = self.actor(PrincipalType::System)?;
        let mut writeup = self.store_writeup(Point::HostStop, actor, self.session.clone(), None)?;
        writeup.push(HostStopped { session: self.session.clone(), epoch: self.writer.epoch() });
        self.commit(writeup)?;
        Ok(())
    }
}
