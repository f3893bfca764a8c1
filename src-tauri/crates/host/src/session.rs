//! What a surface asks a store with, whoever holds it.

mod under_way;

pub use under_way::ToldBy;

use crate::local::Watch;
use crate::{Home, Local, Unlock, control_socket};
use api::{Host as _, Stands};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use under_way::Silence;
use wire::models::{Chosen, Embed, Standard};
use wire::{Access, Code, Command, Error};
use words::task::DriveState;

/// Whoever holds the store has this long to say where it is reached, or to end: a host that has just begun opens its
/// keys first, and a short command is over soon.
const HELD: Duration = Duration::from_secs(10);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What a command needs of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// To read it.
    Read,
    /// To change it, in this process or through the one that owns it.
    Write,
}

/// A store in this process, or a way to the one that owns it.
#[derive(Clone)]
enum Way {
    Local(Arc<Local>),
    Attached(Arc<Attached>),
}

struct Attached {
    client: gateway::Client,
    /// What only reads is read here: the store's folder is the same.
    reading: Local,
    silence: Silence,
}

/// A way to a store. When the process it is attached to ends, the next call takes the store over, or attaches to
/// whoever did.
pub struct Session {
    home: Home,
    unlock: Unlock,
    way: RwLock<Way>,
    /// Whether this process stays and serves.
    is_host: AtomicBool,
    /// Whether another process that holds the store is asked for what only it knows.
    asks: bool,
    silence: Silence,
}

impl Session {
    /// Opens a way to the store that a command needs. A new owner does not yet go on with interrupted tasks.
    ///
    /// # Errors
    /// [`Code::Held`] when another process owns the store and cannot be reached; what the store says.
    pub fn open(home: &Home, need: Need, unlock: &Unlock) -> Result<Self, Error> {
        let way = match need {
            Need::Read => Way::Local(Arc::new(read(home, unlock)?)),
            Need::Write => find(home, unlock)?,
        };
        Ok(Self::by(home.clone(), unlock.clone(), way))
    }

    /// A way through the process that serves the store now, if one does. It needs no key of this process.
    pub fn attach(home: &Home, unlock: &Unlock) -> Option<Self> {
        let holder = here(home)?;
        let way = reach(home, &holder.address?).ok()?;
        Some(Self::by(home.clone(), unlock.clone(), way))
    }

    /// A store that this process has opened already. No other process is asked for anything.
    pub fn of(local: Local) -> Self {
        let (home, way) = (local.home().clone(), Way::Local(local.shared()));
        Self { asks: false, ..Self::by(home, Unlock::Environment, way) }
    }

    fn by(home: Home, unlock: Unlock, way: Way) -> Self {
        let is_host = AtomicBool::new(false);
        Self { home, unlock, way: RwLock::new(way), is_host, asks: true, silence: Silence::default() }
    }

    /// This process stays and serves, also where it takes the store over later. To be said before work is gone on with: what runs
    /// beside the work for as long as a host does runs here.
    pub fn be_host(&self) {
        self.is_host.store(true, Ordering::SeqCst);
        if let Some(local) = self.local() {
            local.be_host();
        }
    }

    fn way(&self) -> Way {
        self.way.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The store as this process reads it, whoever owns it.
    pub(crate) fn reading(&self) -> Result<Arc<Local>, Error> {
        match self.way() {
            Way::Local(local) => Ok(local),
            Way::Attached(attached) => {
                Local::reading(attached.reading.home().clone()).map(Arc::new).map_err(crate::Error::to_wire)
            }
        }
    }

    /// The exact bytes that a signature of an approval is about, however many there are.
    ///
    /// # Errors
    /// [`Code::Damaged`] when they are not those whose digest was shown.
    pub fn packet(&self, of: &wire::approvals::Approval) -> Result<Vec<u8>, Error> {
        let damaged = |why: String| Error::new(Code::Damaged, why);
        let decoded = |text: &str| STANDARD.decode(text).map_err(|e| damaged(e.to_string()));
        let mut bytes = of.packet.as_deref().map(decoded).transpose()?.unwrap_or_default();
        let mut next = of.packet.is_none().then_some(0);
        while let Some(from) = next {
            let piece = wire::approvals::Packet { approval: of.row.approval_id.clone(), from: Some(from) };
            let piece = self.call(&piece)?;
            bytes.extend(decoded(&piece.bytes)?);
            next = piece.next;
        }
        match seal::Digest::of(&bytes).to_string() == of.packet_sha256 {
            true => Ok(bytes),
            false => Err(damaged("the bytes to sign are not those that were shown".to_owned())),
        }
    }

    /// The store's folder.
    pub const fn home(&self) -> &Home {
        &self.home
    }

    /// Whether this process owns the store.
    pub fn is_owner(&self) -> bool {
        self.local().is_some_and(|local| local.kernel().is_ok())
    }

    /// Whether another process owns it and does what is asked.
    pub fn is_attached(&self) -> bool {
        self.local().is_none()
    }

    /// The store in this process, when it is.
    pub fn local(&self) -> Option<Arc<Local>> {
        match self.way() {
            Way::Local(local) => Some(local),
            Way::Attached(_) => None,
        }
    }

    /// Lets others attach to this process for as long as it owns the store. Where that cannot be had the work goes on
    /// without, and the log says why.
    pub fn serve(&self) {
        if let Some(local) = self.local().filter(|local| local.kernel().is_ok())
            && let Err(error) = local.serve(None)
        {
            tracing::warn!(%error, "nobody can attach to this process");
        }
    }

    /// A link for a browser, where somebody serves.
    ///
    /// # Errors
    /// [`Code::NoHost`] when nobody serves, and what the host says.
    pub fn link(&self) -> Result<String, Error> {
        match self.way() {
            Way::Local(local) => local.link().ok_or_else(api::no_host),
            Way::Attached(attached) => attached.client.link(),
        }
    }

    /// The same, for a person who reads it at this process's terminal, and whose page may make and open keys.
    ///
    /// # Errors
    /// As [`Session::link`].
    pub fn link_at_terminal(&self) -> Result<String, Error> {
        match self.way() {
            Way::Local(local) => local.link_at_terminal().ok_or_else(api::no_host),
            // A host that hears no terminal still lets a person look, and approve.
            Way::Attached(attached) => control_socket::link(&self.home).or_else(|_| attached.client.link()),
        }
    }

    /// A link for a device elsewhere, for a person who reads it at this process's terminal.
    ///
    /// # Errors
    /// [`Code::NoHost`] when nobody serves, [`Code::Conflict`] when no origin was named.
    pub fn link_elsewhere(&self) -> Result<String, Error> {
        match self.way() {
            Way::Local(local) => local.link_elsewhere().map_err(crate::Error::to_wire),
            Way::Attached(_) => control_socket::link_elsewhere(&self.home),
        }
    }

    /// Where the host is that this is attached to.
    pub fn address(&self) -> Option<String> {
        match self.way() {
            Way::Local(local) => local.address().map(|address| address.to_string()),
            Way::Attached(attached) => Some(attached.client.address().to_string()),
        }
    }

    /// Runs a command. What only reads is read in this process, whoever owns the store, but for what only its owner knows.
    ///
    /// # Errors
    /// What the command says. [`Code::Unavailable`] when the owner went away while it was at a command that changes
    /// something: then only the store says how far it came.
    pub fn call<C: Command>(&self, command: &C) -> Result<C::Answer, Error> {
        let params = serde_json::to_value(command).map_err(api::failed)?;
        serde_json::from_value(self.ask(C::NAME, params)?).map_err(api::failed)
    }

    /// As [`Session::call`], for a read of what only the process that holds the store knows, and who told it.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub fn told<C: Command>(&self, command: &C) -> Result<(C::Answer, ToldBy), Error> {
        debug_assert!(under_way::is_asked(C::NAME), "the store tells `{}` by itself", C::NAME);
        let params = serde_json::to_value(command).map_err(api::failed)?;
        let (told, by) = self.asked(C::NAME, params)?;
        Ok((serde_json::from_value(told).map_err(api::failed)?, by))
    }

    /// Runs a command by its name.
    ///
    /// # Errors
    /// As [`Session::call`], and [`Code::UnknownCommand`].
    pub fn ask(&self, name: &str, params: Value) -> Result<Value, Error> {
        self.asked(name, params).map(|(told, _)| told)
    }

    fn asked(&self, name: &str, params: Value) -> Result<(Value, ToldBy), Error> {
        let way = self.way();
        let by = match self.of_owner(&way, name, &params) {
            Ok(told) => return Ok((told, ToldBy::Owner)),
            Err(by) => by,
        };
        let told = match way {
            Way::Local(local) => api::call(&*local, name, params),
            Way::Attached(attached) => self.through(&attached, name, params),
        };
        told.map(|told| (told, by))
    }

    /// What another process that holds the store says of what only it knows; else who tells it in its place.
    fn of_owner(&self, way: &Way, name: &str, params: &Value) -> Result<Value, ToldBy> {
        if matches!(way, Way::Local(local) if local.kernel().is_ok()) {
            return Err(ToldBy::Owner);
        }
        if !self.asks || !under_way::is_asked(name) {
            return Err(ToldBy::Store);
        }
        let (client, silence) = match way {
            Way::Local(_) => (under_way::client(&self.home)?, &self.silence),
            Way::Attached(attached) => (attached.client.clone(), &attached.silence),
        };
        let told = silence.look(|| client.look(name, params));
        // A host of another version may leave out what is told here.
        let told = told.and_then(|told| under_way::fits(name, &told).map_err(api::failed).and(Ok(told)));
        told.map_err(|error| {
            tracing::debug!(%error, command = name, "the host does not tell what is under way");
            ToldBy::Silent
        })
    }

    fn through(&self, attached: &Arc<Attached>, name: &str, params: Value) -> Result<Value, Error> {
        match wire::find(name).map(|info| info.access) {
            // What is in no table is refused by its name.
            Some(Access::read | Access::free) | None => api::call(&attached.reading, name, params),
            Some(Access::owner) => Err(Error::new(
                Code::Forbidden,
                format!("`{name}` cannot run while another process has this store open"),
            )
            .hint("stop that process first")),
            // Whoever has the files of this machine says what stands in them, also beside the process that owns the store.
            Some(Access::surface) if name == Standard::NAME => {
                let asked: Standard = serde_json::from_value(params).map_err(api::failed)?;
                attached.reading.set_standard_model(asked.address.as_deref())?;
                serde_json::to_value(Chosen { standard: asked.address }).map_err(api::failed)
            }
            Some(Access::surface) if name == Embed::NAME => {
                let asked: Embed = serde_json::from_value(params).map_err(api::failed)?;
                let told = attached.reading.set_embeddings(asked.address.as_deref())?;
                serde_json::to_value(told).map_err(api::failed)
            }
            Some(Access::write | Access::person | Access::surface) => {
                match attached.client.ask(name, &params) {
                    // Nobody has heard it, so it can be said again to whoever owns the store now.
                    Err(error) if is_unheard(&error) => {
                        self.again(attached)?;
                        match self.way() {
                            Way::Local(local) => api::call(&*local, name, params),
                            Way::Attached(attached) => attached.client.ask(name, &params),
                        }
                    }
                    other => other,
                }
            }
        }
    }

    /// Where the process that this is attached to has ended: takes the store over and goes on with everything, or attaches to
    /// whoever was faster. For whoever only looks, and would else see work stand that nobody does.
    pub fn follow(&self) {
        let Way::Attached(attached) = self.way() else { return };
        if here(&self.home).is_none()
            && let Err(error) = self.again(&attached)
        {
            tracing::warn!(%error, "the process that owned the store has ended, and this one cannot take its place");
        }
    }

    /// The owner is gone: takes the store over and goes on with everything, or attaches to whoever was faster.
    fn again(&self, gone: &Arc<Attached>) -> Result<(), Error> {
        let mut way = self.way.write().unwrap_or_else(PoisonError::into_inner);
        if !matches!(&*way, Way::Attached(now) if Arc::ptr_eq(now, gone)) {
            return Ok(());
        }
        *way = find(&self.home, &self.unlock)?;
        if let Way::Local(local) = &*way {
            tracing::info!("the process that owned the store has ended; this one took it over");
            if let Err(error) = local.serve(None) {
                tracing::warn!(%error, "nobody can attach to this process");
            }
            if self.is_host.load(Ordering::SeqCst) {
                local.be_host();
            }
            local.go_on()?;
        }
        Ok(())
    }

    /// Listens to what happens, where something can.
    pub fn listen(&self) -> Option<Receiver<wire::Notice>> {
        match self.way() {
            Way::Local(local) => local.listen(),
            // A host without a place for one more is watched through the store.
            Way::Attached(attached) => attached.client.listen().ok(),
        }
    }

    /// Tells whoever watches of long work in this process.
    pub fn watch(&self, watch: Watch) {
        match self.way() {
            Way::Local(local) => local.watch(watch),
            Way::Attached(attached) => attached.reading.watch(watch),
        }
    }

    /// Waits a moment for the task to come to rest; how it stands, as the process that drives it says. A host that
    /// ended meanwhile is followed by the next one.
    pub fn stands(&self, task: &str, patience: Duration) -> Stands {
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let patience_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
            let asked = wire::host::Wait { task: task.to_owned(), patience_ms };
            let stands = match self.call(&asked) {
                Ok(stood) => of_stood(stood),
                // Broken off in the middle of waiting, which nobody minds.
                Err(error) if error.code == Code::Unavailable => Stands::AtWork,
                Err(error) => Stands::Broke(error),
            };
            if stands != Stands::AtWork || Instant::now() >= until {
                return stands;
            }
        }
    }

    /// Lets go of the store.
    pub fn close(&self) {
        if let Some(local) = self.local() {
            local.close();
        }
    }
}

fn of_stood(stood: wire::host::Stood) -> Stands {
    match stood.stands {
        DriveState::AtWork => Stands::AtWork,
        DriveState::KeyLocked => Stands::KeyLocked,
        DriveState::Halted => Stands::Halted,
        DriveState::Broke => {
            Stands::Broke(stood.error.unwrap_or_else(|| api::failed("driving it broke off")))
        }
        DriveState::AtRest => Stands::AtRest,
    }
}

fn is_unheard(error: &Error) -> bool {
    error.code == Code::Unavailable
        && error.details.get("sent").and_then(serde_json::Value::as_bool) == Some(false)
}

fn reach(home: &Home, address: &str) -> Result<Way, String> {
    let client = gateway::Client::attach(address, home.dir()).map_err(|e| e.to_string())?;
    let reading = Local::reading(home.clone()).map_err(|e| e.to_string())?;
    Ok(Way::Attached(Arc::new(Attached { client, reading, silence: Silence::default() })))
}

/// Owns the store, or reaches whoever does; waits a while for one that has just begun or is about to end.
/// The store for reading. Lists that an older Hermit folded are folded anew first, where nobody else has the store:
/// whoever takes it over does that.
fn read(home: &Home, unlock: &Unlock) -> Result<Local, Error> {
    let reading = Local::reading(home.clone()).map_err(crate::Error::to_wire)?;
    if has_older_lists(&reading)
        && let Way::Local(owner) = find(home, unlock)?
    {
        owner.close();
    }
    Ok(reading)
}

fn has_older_lists(local: &Local) -> bool {
    let query = api::Host::reader(local).ok().map(projections::Query::over);
    matches!(query, Some(Err(projections::Error::Version { found, needed })) if found < needed)
}

/// Who holds the store on this machine. The address of one on another machine leads to nobody, or to a stranger.
fn here(home: &Home) -> Option<ledger::Holder> {
    ledger::holder(home.dir()).ok().flatten().filter(|holder| !holder.is_elsewhere())
}

fn find(home: &Home, unlock: &Unlock) -> Result<Way, Error> {
    let until = Instant::now() + HELD;
    loop {
        // Who serves is asked first: whoever tries the lock while it is given back could be taken for its holder.
        let (pid, said) = match here(home) {
            Some(holder) => match holder.address.map(|address| reach(home, &address)) {
                Some(Ok(way)) => return Ok(way),
                Some(Err(why)) => (holder.pid, format!(", which does not answer: {why}")),
                None => (holder.pid, String::new()),
            },
            // Nobody, somebody who is provably gone, or somebody elsewhere.
            None => match Local::owning(home.clone(), unlock) {
                Ok(local) => return Ok(Way::Local(local.shared())),
                Err(crate::Error::Kernel(kernel::Error::Ledger(ledger::Error::Held { pid, .. }))) => {
                    (pid, String::new())
                }
                Err(error) => return Err(error.to_wire()),
            },
        };
        if Instant::now() >= until {
            return Err(Error::new(Code::Held, format!("the store is in use by process {pid}{said}"))
                .hint("wait until it ends, or end it: nothing is lost, and what it did is kept")
                .details(serde_json::json!({ "pid": pid })));
        }
        std::thread::sleep(LOOK);
    }
}

/// The folder of the built UI: named, beside the program, or in the checkout that a debug build came from.
pub(crate) fn built_pages() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("HERMIT_UI_DIR").filter(|named| !named.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(std::path::Path::parent);
    let installed = beside.into_iter().flat_map(|dir| [dir.join("ui"), dir.join("../share/hermit/ui")]);
    // Left out of a release build, whose bytes name no folder of whoever built it.
    #[cfg(debug_assertions)]
    let checkout = Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../ui/dist")));
    #[cfg(not(debug_assertions))]
    let checkout = None::<PathBuf>;
    let mut all = installed.chain(checkout);
    // A checkout that has not built its UI yet may do so while the host runs.
    all.find(|dir| dir.join("index.html").is_file() || dir.ends_with("ui/dist"))
}
