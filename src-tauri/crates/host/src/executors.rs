//! Executors for the kernel: real ones, behind the walls of this machine, away from the store's own folder.

use crate::chats::Chats;
use crate::fetch_client::FetchClient;
use crate::lent_secrets::LentSecrets;
use crate::logins::Logins;
use crate::own_clocks::OwnClocks;
use crate::own_trials::OwnTrials;
use crate::programs::Programs;
use crate::relay_client::OwnRelays;
use crate::secrets::SecretBook;
use crate::{Config, Error, Home, HostKeys, SystemClock};
use effects::{
    Contents, Executors as Real, Sandbox, ServerSessions, SkillBook, SkillPlaces, Spool, Workspace,
};
use kernel::ports::{ExecutorSource, Executors, Skills};
use model::fault::Faults;
use model::receipt::SandboxLevel;
use model::schedule::Condition;
use model::{Clock, WorkspaceId};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Names of variables whose values are told in an environment snapshot; all others may hold secrets.
const VARIABLES: [&str; 8] = ["LANG", "LC_ALL", "TERM", "SHELL", "TZ", "PATH", "NO_COLOR", "CI"];

/// Beside the store: files of trusted skills, as commands read them, and nothing else.
const SHELF: &str = "skill-files";

/// Opens executors.
pub struct LocalExecutors {
    dir: PathBuf,
    faults: Arc<dyn Faults>,
    clock: Arc<dyn Clock>,
    readable: Vec<PathBuf>,
    redactor: redact::Shared,
    secrets: Arc<dyn effects::Secrets>,
    web: Arc<dyn effects::Web>,
    chats: Arc<Chats>,
    clocks: Arc<OwnClocks>,
    relays: Arc<OwnRelays>,
    servers: ServerSessions,
    door: Arc<crate::guest_door::GuestDoors>,
    trials: Arc<OwnTrials>,
    skills: SkillBook,
    shelf: PathBuf,
    parallel_reads: AtomicUsize,
    programs: Programs,
    sandbox: OnceLock<Sandbox>,
}

impl LocalExecutors {
    /// Executors of a store. The walls are tried when they are first asked for, and only once.
    pub(crate) fn new(
        home: &Home,
        config: &Config,
        faults: Arc<dyn Faults>,
        keys: &HostKeys,
        secrets: &SecretBook,
        logins: Arc<Logins>,
    ) -> Self {
        let lent: Arc<dyn effects::Secrets> =
            Arc::new(LentSecrets::new(keys.secrets(), secrets.clone(), logins));
        Self {
            dir: home.dir().to_owned(),
            faults,
            clock: Arc::new(SystemClock),
            readable: config.readable.clone(),
            redactor: secrets.redactor(),
            chats: Arc::new(Chats::new(Arc::clone(&lent))),
            clocks: Arc::new(OwnClocks::new(home, keys.secrets(), secrets.clone())),
            relays: Arc::new(OwnRelays::new(home)),
            secrets: lent,
            web: Arc::new(FetchClient::new(config)),
            servers: ServerSessions::default(),
            door: Arc::default(),
            trials: Arc::default(),
            skills: SkillBook::new(SkillPlaces {
                store: Some(home.dir().to_owned()),
                home: crate::places::persons_home(),
            }),
            shelf: home.path(SHELF),
            parallel_reads: AtomicUsize::new(config.parallel_reads()),
            programs: Programs::of(home),
            sandbox: OnceLock::new(),
        }
    }

    /// Guests reach the tools of the store that this process holds, and changes of Hermit are tried by it.
    pub(crate) fn of(&self, local: &Arc<crate::Local>) {
        self.door.of(local);
        self.trials.of(local);
    }

    /// Keeps how many reads of one answer run at the same time; so many do from the next answer on.
    pub(crate) fn keep_parallel_reads(&self, home: &Home, at_once: Option<usize>) -> Result<(), Error> {
        let kept = Config::change(home, |config| {
            config.parallel_reads = at_once;
            Ok(config.parallel_reads())
        })?;
        self.parallel_reads.store(kept, Ordering::SeqCst);
        Ok(())
    }

    /// The way to chat services.
    pub(crate) fn chats(&self) -> Arc<Chats> {
        Arc::clone(&self.chats)
    }

    /// What a person has of Bitcoin, and which clocks are set.
    pub(crate) fn clocks(&self) -> &OwnClocks {
        &self.clocks
    }

    /// The way to relays.
    pub(crate) fn relays(&self) -> &OwnRelays {
        &self.relays
    }

    /// The way to chat services, for commands that ask.
    pub(crate) fn lent_chats(&self) -> &dyn api::Chats {
        &*self.chats
    }

    /// Skills of this machine.
    pub(crate) fn book(&self) -> &SkillBook {
        &self.skills
    }

    /// The walls of this machine.
    pub fn walls(&self) -> &Sandbox {
        self.sandbox.get_or_init(|| match executor() {
            Ok(path) => {
                Sandbox::probe(&path).with_readable(self.readable.iter().cloned().chain([self.shelf.clone()]))
            }
            Err(why) => Sandbox::none(why),
        })
    }
}

/// Where a package of an app has put `hermit-exec`.
static EXECUTOR: OnceLock<PathBuf> = OnceLock::new();

/// Names the executor for every store of this process, before the first one is opened. The first word stays.
pub fn executor_is_at(path: PathBuf) {
    let _ = EXECUTOR.set(path);
}

/// `hermit-exec` as it was named, or beside the running program; beside its folder for the programs that cargo puts into `deps`.
pub(crate) fn executor() -> Result<PathBuf, String> {
    if let Some(named) = EXECUTOR.get().filter(|named| named.is_file()) {
        return Ok(named.clone());
    }
    let program = std::env::current_exe().map_err(|e| format!("the running program is not known: {e}"))?;
    let name = crate::places::EXECUTOR;
    let folders = program.ancestors().skip(1).take(2);
    let found = folders.map(|folder| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| format!("`{name}` is not beside `{}`", program.display()))
}

impl ExecutorSource for LocalExecutors {
    fn open(
        &self,
        root: &Path,
        workspace: WorkspaceId,
        contents: Arc<dyn Contents>,
    ) -> Result<Arc<dyn Executors>, String> {
        let workspace = Workspace::open(root, workspace).map_err(|e| e.to_string())?.without(&self.dir);
        let (faults, clock) = (Arc::clone(&self.faults), Arc::clone(&self.clock));
        let spool = Spool::new(self.dir.join("spool"));
        let executors = Real::new(workspace, contents, faults, clock, spool, self.walls().clone());
        let executors =
            executors.with_redactor(self.redactor.clone()).with_secrets(Arc::clone(&self.secrets));
        let executors = executors.with_servers(Arc::new(toolservers::McpClient), self.servers.clone());
        let executors = executors.with_parallel_reads(self.parallel_reads.load(Ordering::SeqCst));
        let executors = executors.with_messenger(Arc::clone(&self.chats) as _);
        let executors = executors.with_clocks(Arc::clone(&self.clocks) as _);
        let executors = executors.with_relays(Arc::clone(&self.relays) as _);
        let executors = executors.with_trials(Arc::clone(&self.trials) as _);
        Ok(Arc::new(executors.with_web(Arc::clone(&self.web)).with_door(Arc::clone(&self.door) as _)))
    }

    fn sweep(&self, needed: &dyn effects::Needed) -> Result<usize, String> {
        Spool::new(self.dir.join("spool")).sweep(needed).map_err(|e| e.to_string())
    }

    fn sandbox(&self) -> SandboxLevel {
        self.walls().level()
    }

    fn remote(&self, root: &Path) -> Option<String> {
        effects::remote(root)
    }

    fn skills(&self) -> Option<Skills<'_>> {
        Some(Skills { book: &self.skills, shelf: &self.shelf })
    }

    fn adopting(&self) -> Option<&dyn kernel::ports::Adopting> {
        Some(&self.programs)
    }

    /// In a process that holds a store for others, too, and where clones can be confined.
    fn tries_changes(&self) -> Result<(), String> {
        self.trials.are_of_a_store()?;
        crate::clones::can_be_made(self.walls())
    }

    fn parallel_reads(&self) -> usize {
        self.parallel_reads.load(Ordering::SeqCst)
    }

    fn surroundings(&self, asked: &[Condition]) -> kernel::ports::Surroundings {
        crate::surroundings::now(asked)
    }

    fn environment(&self, root: &Path) -> serde_json::Value {
        let walls = self.walls();
        let variables: serde_json::Map<String, serde_json::Value> = VARIABLES
            .iter()
            .filter_map(|name| std::env::var(name).ok().map(|value| ((*name).to_owned(), value.into())))
            .collect();
        serde_json::json!({
            "os": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
            "kernel": kernel_release(),
            "shell": std::env::var("SHELL").unwrap_or_default(),
            "cwd": root.to_string_lossy(),
            "environment": variables,
            "network": network_behind(walls.level()),
            "sandbox_level": walls.level().as_str(),
            "sandbox_why": walls.why(),
            "hermit_version": env!("CARGO_PKG_VERSION"),
        })
    }
}

/// How the network stands for commands behind walls of this level.
const fn network_behind(level: SandboxLevel) -> &'static str {
    match level {
        SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces | SandboxLevel::Seatbelt => {
            "held, but for the hosts that a grant names"
        }
        SandboxLevel::Landlock | SandboxLevel::AppContainer => "held",
        SandboxLevel::SeatbeltOpen | SandboxLevel::RestrictedToken | SandboxLevel::Unconfined => "open",
        SandboxLevel::Beneath | SandboxLevel::NotApplicable => "not reached: no command runs",
    }
}

/// The operating system's own version, as far as it says so.
pub fn kernel_release() -> String {
    crate::machine_name::kernel_release()
}
