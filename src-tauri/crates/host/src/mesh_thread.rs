//! The mesh of a store that is open: one thread owns the node of this machine, and everything that happens to it goes through that
//! (mesh.md). What it believes is on record, so that nothing is lost with it; where the mesh is off there is no thread and no socket.

mod engine;
mod fault;
mod inbox;
mod keys;
mod meeting;
mod network;
mod places;
mod proof;
mod reach;
mod terms;
#[cfg(test)]
mod tests;
mod ways;

pub use keys::{NoKey, VaultSource, node_key, node_of};
pub use meeting::no_pairing;
pub use terms::proposer;

use crate::mesh_settings::MeshSettings;
use crate::notices::Notices;
use crate::task_drivers::TaskDrivers;
use crate::trainer::Letterbox;
use crate::{Error, Home};
use engine::{Engine, Parts};
use fault::Fault;
use kernel::Kernel;
use keys::MeshKeys;
use mesh::carry::Packed;
use mesh::{Command, NodeId};
use proof::NodeProof;
use socket::{Came, Sockets};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use terms::HomeTerms;
use ureq::tls::Certificate;
use ways::Ways;
use wire::mesh::{Code, PairingState};

/// Frames and words that wait for the thread.
const WAITING_MAX: usize = 256;
/// What is heard before it is looked at what is due.
const TOGETHER_MAX: usize = 64;
/// How often what is shown is renewed at most.
const SHOWN_EVERY: Duration = Duration::from_millis(250);

/// To whoever asked.
type Reply<T> = SyncSender<Result<T, wire::Error>>;

/// What the thread hears.
enum Heard {
    /// From a way.
    Came(Came),
    /// Something may be due.
    Look,
    /// Somebody asks.
    Asked(Asked),
}

/// What the thread is asked.
enum Asked {
    Say(Vec<Command>, Reply<()>),
    Take(Box<MeshSettings>, Reply<()>),
    Invite(Reply<Code>),
    Join(String, Vec<String>, Reply<PairingState>),
    Export(Option<NodeId>, Reply<Packed>),
    Import(Vec<u8>, Reply<usize>),
}

/// What is shown of the mesh.
struct Shown {
    live: api::MeshLive,
    pairing: PairingState,
}

/// What a thread begins with.
pub struct Begin {
    /// The store.
    pub kernel: Arc<Kernel>,
    /// Whoever drives tasks.
    pub drives: Arc<TaskDrivers>,
    /// Wakes it when something was committed.
    pub notices: Arc<Notices>,
    /// The keychain.
    pub vault: VaultSource,
    /// The store's folder.
    pub home: Home,
    /// What is set.
    pub settings: MeshSettings,
    /// Authorities that relays are checked against, where a person named some.
    pub authorities: Vec<Certificate<'static>>,
}

/// The thread. Dropped, it ends, and every way with it.
pub struct MeshThread {
    notices: Arc<Notices>,
    send: SyncSender<Heard>,
    over: Arc<AtomicBool>,
    shown: Arc<Mutex<Shown>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MeshThread {
    /// Begins it.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn begin(begin: Begin) -> Result<Self, Error> {
        let (send, receive) = sync_channel(WAITING_MAX);
        let (came, comes) = sync_channel(WAITING_MAX);
        let (over, woken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let ports = begin.kernel.ports();
        let proof = Arc::new(NodeProof::new(Arc::clone(&ports.clock), Arc::clone(&ports.entropy)));
        let sockets = Sockets::begin(came, Arc::clone(&proof) as _, begin.authorities);
        let engine = Engine::new(Parts {
            kernel: begin.kernel,
            drives: begin.drives,
            keys: MeshKeys::new(begin.vault),
            ways: sockets,
            proof,
            settings: begin.settings,
            terms: Box::new(HomeTerms(begin.home.clone())),
            letterbox: Some(Letterbox::of(begin.home)),
            woken: Arc::clone(&woken),
        });
        let shown = Shown { live: api::MeshLive::default(), pairing: no_pairing() };
        let shown = Arc::new(Mutex::new(shown));
        let failed = |e: std::io::Error| Error::io("start", Path::new("the thread of the mesh"), &e);
        let hands_on = send.clone();
        let ways = std::thread::Builder::new().name("mesh ways".to_owned());
        let ways = ways.spawn(move || hand_on(&comes, &hands_on)).map_err(failed)?;
        let (is_over, shows) = (Arc::clone(&over), Arc::clone(&shown));
        let thread = std::thread::Builder::new().name("mesh".to_owned());
        let thread = thread.spawn(move || {
            let mut engine = engine;
            run(&mut engine, &receive, &is_over, &shows);
            // Nobody waits for room in it any more, so that everything else can end.
            drop(receive);
            engine.parts.kernel.heard_machines(None);
            drop(engine);
            let _ = ways.join();
        });
        let thread = thread.map_err(failed)?;
        let wakes = send.clone();
        begin.notices.tell_of_commits(Some(Box::new(move || {
            // A word that waits already says the same; and whoever has no room for one looks anyhow.
            if !woken.swap(true, Ordering::SeqCst) {
                let _ = wakes.try_send(Heard::Look);
            }
        })));
        Ok(Self { notices: begin.notices, send, over, shown, thread: Mutex::new(Some(thread)) })
    }

    fn ask<T>(&self, asked: impl FnOnce(Reply<T>) -> Asked) -> Result<T, wire::Error> {
        let gone = || wire::Error::new(wire::Code::Unavailable, "the mesh does not answer; see the log");
        let (reply, answer) = sync_channel(1);
        self.send.send(Heard::Asked(asked(reply))).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }

    /// Has the node say something. It is on record when this returns.
    ///
    /// # Errors
    /// When it may not be said, or is not on record.
    pub fn say(&self, commands: Vec<Command>) -> Result<(), wire::Error> {
        self.ask(|reply| Asked::Say(commands, reply))
    }

    /// Other settings, from now on.
    ///
    /// # Errors
    /// When it cannot listen where it is to, or stands still.
    pub fn take(&self, settings: MeshSettings) -> Result<(), wire::Error> {
        self.ask(|reply| Asked::Take(Box::new(settings), reply))
    }

    /// Shows a code for another machine.
    ///
    /// # Errors
    /// Where nobody could meet this machine, or the mesh stands still.
    pub fn invite(&self) -> Result<Code, wire::Error> {
        self.ask(Asked::Invite)
    }

    /// Begins a pairing with the machine that shows a code.
    ///
    /// # Errors
    /// For what is no code or no place, or where the mesh stands still.
    pub fn join(&self, code: &str, at: &[String]) -> Result<PairingState, wire::Error> {
        self.ask(|reply| Asked::Join(code.to_owned(), at.to_vec(), reply))
    }

    /// Everything that waits, as a file to carry.
    ///
    /// # Errors
    /// When something cannot be sealed, or the mesh stands still.
    pub fn export(&self, only: Option<NodeId>) -> Result<Packed, wire::Error> {
        self.ask(|reply| Asked::Export(only, reply))
    }

    /// Takes a file in, and answers how many messages of it were new here.
    ///
    /// # Errors
    /// For what is no such file; when it is not on record.
    pub fn import(&self, file: Vec<u8>) -> Result<usize, wire::Error> {
        self.ask(|reply| Asked::Import(file, reply))
    }

    /// The mesh as it was just now.
    pub fn live(&self) -> api::MeshLive {
        lock(&self.shown).live.clone()
    }

    /// How the pairing stands that was begun last.
    pub fn pairing(&self) -> PairingState {
        lock(&self.shown).pairing.clone()
    }

    /// Ends it, and waits until nothing of it is open.
    pub fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        let Some(thread) = lock(&self.thread).take() else { return };
        self.notices.tell_of_commits(None);
        // Where there is no room for a word, it is at work, and sees that it is over.
        let _ = self.send.try_send(Heard::Look);
        let _ = thread.join();
    }
}

impl Drop for MeshThread {
    fn drop(&mut self) {
        self.end();
    }
}

/// Hands on what comes from the ways.
fn hand_on(comes: &Receiver<Came>, to: &SyncSender<Heard>) {
    while let Ok(came) = comes.recv() {
        if to.send(Heard::Came(came)).is_err() {
            return;
        }
    }
}

fn run<W: Ways>(engine: &mut Engine<W>, receive: &Receiver<Heard>, over: &AtomicBool, shown: &Mutex<Shown>) {
    let mut shown_at: Option<Instant> = None;
    loop {
        guarded(engine, Engine::go_on);
        // Whoever asked sees what came of it; whoever looks sees nothing older than a moment.
        let shows = shown_at.is_none_or(|at| at.elapsed() >= SHOWN_EVERY);
        if shows {
            guarded(engine, |engine| {
                *lock(shown) = Shown { live: engine.shown(), pairing: engine.pairing() };
            });
            shown_at = Some(Instant::now());
        }
        let wait = crate::chance::to_wait(engine.wait());
        let wait = if shows { wait } else { wait.min(SHOWN_EVERY) };
        let mut next = match receive.recv_timeout(wait) {
            Ok(heard) => Some(heard),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let mut count = 0;
        while let Some(heard) = next {
            if over.load(Ordering::SeqCst) {
                return;
            }
            if matches!(heard, Heard::Asked(_)) {
                shown_at = None;
            }
            guarded(engine, |engine| hear(engine, heard, shown));
            count += 1;
            next = if count < TOGETHER_MAX { receive.try_recv().ok() } else { None };
        }
        if over.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// Does something of the engine. Where that panics, the node is made anew from what is on record, and the thread goes on.
fn guarded<W: Ways>(engine: &mut Engine<W>, does: impl FnOnce(&mut Engine<W>)) {
    if catch_unwind(AssertUnwindSafe(|| does(engine))).is_err() {
        tracing::error!("the mesh panicked; it goes on from what is on record");
        engine.broke("it failed, and goes on from what is on record".to_owned());
    }
}

fn hear<W: Ways>(engine: &mut Engine<W>, heard: Heard, shown: &Mutex<Shown>) {
    match heard {
        Heard::Came(came) => engine.hears(came),
        Heard::Look => {}
        Heard::Asked(asked) => answer(engine, asked, shown),
    }
}

fn answer<W: Ways>(engine: &mut Engine<W>, asked: Asked, shown: &Mutex<Shown>) {
    // A caller that has gone hears nothing.
    match asked {
        Asked::Say(commands, reply) => {
            let _ = reply.send(engine.say(commands, None, true).map_err(Fault::into_wire));
        }
        Asked::Take(settings, reply) => drop(reply.send(engine.take(*settings))),
        Asked::Invite(reply) => {
            let code = engine.invite();
            lock(shown).pairing = engine.pairing();
            let _ = reply.send(code);
        }
        Asked::Join(code, at, reply) => {
            let begun = engine.join(&code, &at);
            lock(shown).pairing = engine.pairing();
            let _ = reply.send(begun);
        }
        Asked::Export(only, reply) => drop(reply.send(engine.export(only))),
        Asked::Import(file, reply) => {
            drop(reply.send(engine.import(file).map_err(Fault::into_wire)));
        }
    }
}
